"""Secrets taken out of a parsed document before anything is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kb.domain.blocks import BlockKind, Code, Table
from kb.domain.documents import ParsedBlock, ParsedDocument, ParseWarning
from kb.domain.ids import Json
from kb.domain.masking import MaskedSecret
from kb.domain.pages import PageText
from kb.domain.placed import merge_spans, narrowed, spans_between
from kb.domain.spans import PageSpan, SourceSpan, TimeSpan
from kb.domain.transcripts import Transcript
from kb.governance.fields import Fields
from kb.governance.found import Found, Setting
from kb.governance.placeholders import KnownSecrets, Placeholders
from kb.governance.recutting import Cut, covered, recut, replaced
from kb.governance.strings import in_line, masked_path, masked_payload, same_cuts, strings_beside
from kb.governance.tables import find_in_table
from kb.governance.values import Change, Line, lines_of, rebuilt
from kb.governance.words import PROGRAMMING_LANGUAGES

VERSION = "mask-v1"


class SecretMasker:
    """Finds secrets by their published formats, by their place, and by the names beside them; puts placeholders there.

    It satisfies `kb.ingest.ports.Masker`.
    """

    version = VERSION

    def mask(self, parsed: ParsedDocument) -> tuple[ParsedDocument, tuple[MaskedSecret, ...]]:
        """Return the document without its secrets, and what was masked, in the order of the document.

        All characters that stay keep their exact places. Equal secrets get equal placeholders, `[masked:<kind>-<n>]`,
        numbered by first appearance; on pages, whose offsets may not move, full blocks cover them. A document without
        secrets comes back as it is.
        """
        search = _Search(parsed)
        return _Masking(parsed, search).result() if search.is_fruitful else (parsed, ())


class _Search:
    """All texts of a document and the secrets in them."""

    def __init__(self, parsed: ParsedDocument) -> None:
        self.lines = lines_of(parsed.front_matter)
        self.beside = strings_beside(parsed.blocks, (warning.note for warning in parsed.warnings))
        self._blocks = parsed.blocks
        spoken = parsed.transcript.segments if parsed.transcript else ()
        self.front = Fields([line.text for line in self.lines])
        self.text = Fields(
            [block.text for block in parsed.blocks], [_setting(block) for block in parsed.blocks], goes_on=self._goes_on
        )
        self.strings = Fields(list(self.beside))
        self.speech = Fields([segment.text for segment in spoken])
        self.pages = Fields([page.text for page in parsed.pages], goes_on=lambda _index: True)
        self._fields = (self.front, self.text, self.strings, self.speech, self.pages)
        self.text.add(one for index, block in enumerate(parsed.blocks) for one in self._in_table(index, block))
        self.is_fruitful = any(fields.found for fields in self._fields)
        if self.is_fruitful:
            self._find_again()

    def _goes_on(self, index: int) -> bool:
        """Return whether a block and the next are of pages, where a line may end one and begin the other."""
        return all(isinstance(block.span, PageSpan) for block in self._blocks[index : index + 2])

    def _in_table(self, index: int, block: ParsedBlock) -> list[Found]:
        if not isinstance(block.payload, Table):
            return []
        base = self.text.starts[index]
        return [
            Found(base + one.start, base + one.end, one.kind, one.value)
            for one in find_in_table(block.payload, block.text)
        ]

    def _find_again(self) -> None:
        """Find each secret wherever it stands: beside its name once is enough."""
        everything = [one for fields in self._fields for one in fields.found]
        known, every = KnownSecrets(everything), KnownSecrets(everything, every=True)
        for fields in self._fields:
            # Pages and speech repeat the text of blocks without what stands around it there.
            repeats = fields is self.pages or fields is self.speech
            fields.add(fields.literal((every if repeats else known).find))


class _Masking:
    """One document on its way to being masked."""

    def __init__(self, parsed: ParsedDocument, search: _Search) -> None:
        self._parsed = parsed
        self._search = search
        self._placeholders = Placeholders()
        self._masked: list[MaskedSecret] = []
        self._covers: dict[int, list[tuple[int, int]]] = {}
        self._reported: set[str] = set()

    def result(self) -> tuple[ParsedDocument, tuple[MaskedSecret, ...]]:
        parsed = self._parsed
        front_matter = self._front_matter()
        cuts = self._cuts_of_blocks()
        strings = self._strings()
        blocks = self._blocks(cuts, strings)
        transcript = self._transcript()
        pages = self._pages()
        masked = replace(
            parsed,
            blocks=blocks,
            front_matter=front_matter,
            warnings=tuple(ParseWarning(w.kind, strings.get(w.note, w.note)) for w in parsed.warnings),
            transcript=transcript,
            pages=pages,
        )
        return masked, tuple(self._masked)

    def _cuts(self, fields: Fields) -> dict[int, list[Cut]]:
        cuts: dict[int, list[Cut]] = {}
        for one in fields.found:
            placeholder = self._placeholders.of(one)
            for index, start, end in fields.parts(one):
                cuts.setdefault(index, []).append(Cut(start, end, placeholder))
        return cuts

    def _note(self, one: Found, where: str, spans: Iterable[SourceSpan | None]) -> None:
        placeholder = self._placeholders.of(one)
        self._reported.add(one.value)
        self._masked += [MaskedSecret(one.kind, placeholder, where, span) for span in spans]

    def _front_matter(self) -> dict[str, Json]:
        search = self._search
        cuts = self._cuts(search.front)
        for one in search.front.found:
            index = next(iter(search.front.parts(one)))[0]
            self._note(one, search.lines[index].where, [None])
        return rebuilt(self._parsed.front_matter, lambda number: _changed(search.lines[number], cuts.get(number)))

    def _cuts_of_blocks(self) -> dict[int, list[Cut]]:
        search, blocks = self._search, self._parsed.blocks
        cuts = self._cuts(search.text)
        for one in search.text.found:
            parts = list(search.text.parts(one))
            spans = [span for index, start, end in parts for span in _places(blocks[index], start, end)]
            is_heading = blocks[parts[0][0]].kind is BlockKind.HEADING
            self._note(one, "heading" if is_heading else "text", merge_spans(spans))
            for index, start, end in parts:
                self._cover(blocks[index], start, end)
        return cuts

    def _cover(self, block: ParsedBlock, start: int, end: int) -> None:
        for segment in block.segments:
            first, last = max(segment.start, start), min(segment.end, end)
            span = narrowed(segment, start, end) if first < last else None
            if not isinstance(span, PageSpan) or span.char_start is None or span.char_end is None:
                continue
            # Text that is not the page's letter for letter is found on the page by itself.
            if span.char_end - span.char_start == last - first:
                self._covers.setdefault(span.page, []).append((span.char_start, span.char_end))

    def _strings(self) -> dict[str, str]:
        search = self._search
        cuts = self._cuts(search.strings)
        origins = list(search.beside.values())
        for one in search.strings.found:
            origin = origins[next(iter(search.strings.parts(one)))[0]]
            place = MaskedSecret(one.kind, self._placeholders.of(one), origin.where, origin.span)
            if place not in self._masked:
                self._masked.append(place)
        texts = search.strings.texts
        return {texts[index]: replaced(texts[index], made) for index, made in cuts.items()}

    def _blocks(self, cuts: dict[int, list[Cut]], strings: dict[str, str]) -> tuple[ParsedBlock, ...]:
        blocks = self._parsed.blocks
        headings = {
            in_line(blocks[index].text): in_line(replaced(blocks[index].text, made))
            for index, made in cuts.items()
            if blocks[index].kind is BlockKind.HEADING
        }
        return tuple(_masked(block, cuts.get(index, ()), headings, strings) for index, block in enumerate(blocks))

    def _transcript(self) -> Transcript | None:
        search, transcript = self._search, self._parsed.transcript
        if transcript is None:
            return None
        cuts = self._cuts(search.speech)
        segments = list(transcript.segments)
        for one in search.speech.found:
            said = [segments[index] for index, _, _ in search.speech.parts(one)]
            if one.value not in self._reported:
                self._note(one, "text", merge_spans(TimeSpan(s.start_ms, s.end_ms) for s in said))
        for index, made in cuts.items():
            segments[index] = replace(segments[index], text=replaced(segments[index].text, made))
        return replace(transcript, segments=tuple(segments))

    def _pages(self) -> tuple[PageText, ...]:
        search, pages = self._search, self._parsed.pages
        for one in search.pages.found:
            for index, start, end in search.pages.parts(one):
                covers = self._covers.setdefault(pages[index].page, [])
                if not any(first <= start and end <= last for first, last in covers):
                    covers.append((start, end))
                    if one.value not in self._reported:
                        self._note(one, "page", [PageSpan(pages[index].page, start, end)])
        return tuple(
            replace(page, text=covered(page.text, self._covers[page.page])) if page.page in self._covers else page
            for page in pages
        )


def _setting(block: ParsedBlock) -> Setting:
    if not isinstance(block.payload, Code):
        return Setting.PROSE
    language = (block.payload.language or "").lower().strip("{}.")
    return Setting.PROGRAM if language.partition(",")[0] in PROGRAMMING_LANGUAGES else Setting.CONFIG


def _places(block: ParsedBlock, start: int, end: int) -> Sequence[SourceSpan]:
    return spans_between(block.segments, start, end) or (block.span,)


def _changed(line: Line, cuts: Sequence[Cut] | None) -> Change | None:
    """Return a key and its value with the cuts of their line made; what is between them is ours."""
    if not cuts:
        return None
    key, value = line.text[: line.key_end], line.text[line.offset :]
    in_key = [Cut(c.start, min(c.end, line.key_end), c.text) for c in cuts if c.start < line.key_end]
    in_value = [Cut(max(c.start - line.offset, 0), c.end - line.offset, c.text) for c in cuts if c.end > line.offset]
    return Change(replaced(key, in_key), replaced(value, in_value) if in_value else None)


def _masked(block: ParsedBlock, cuts: Sequence[Cut], headings: dict[str, str], strings: dict[str, str]) -> ParsedBlock:
    path = masked_path(block.heading_path, headings, strings) if headings or strings else block.heading_path
    if not cuts:
        payload = masked_payload(block.payload, strings, lambda part: part) if strings else block.payload
        return replace(block, heading_path=path, payload=payload)
    text, segments = recut(block.text, block.segments, cuts)
    payload = masked_payload(block.payload, strings, same_cuts(block.text, cuts))
    return replace(block, text=text, segments=segments, heading_path=path, payload=payload)
