"""`kb search`: dense, four lines a hit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from kb.cli.command import command
from kb.cli.explaining import print_features, print_steps, print_why
from kb.cli.kept import Forget, Replace, Save, Saved, TakesSaved, is_about_kept, keep, show_kept
from kb.cli.layout import line_ranges, padded, spaced
from kb.cli.naming import show_names
from kb.cli.output import HIT, NO_HIT, Exit, Output, counted, width
from kb.cli.session import library
from kb.cli.wording import channel_names, degraded_lines, place_label

if TYPE_CHECKING:
    from kb.contract.facade import Facade
    from kb.contract.retrieval import RetrievalResponse
    from kb.contract.search import Filters, FindRequest, SearchHit

Top = Annotated[int | None, typer.Option("-k", "--top-k", help="How many hits, 1 to 20.")]
Mode = Annotated[str, typer.Option("--mode", help="lexical, vector or hybrid.")]
Tag = Annotated[list[str] | None, typer.Option("--tag", help="Only documents with one of these tags.")]
Lang = Annotated[str | None, typer.Option("--lang", help="Only this language, such as ko.")]
PathGlob = Annotated[str | None, typer.Option("--path", help="Only paths that match, such as 'notes/**'.")]
Type = Annotated[list[str] | None, typer.Option("--type", help="Only these types, such as note, pdf, office or mail.")]
Trust = Annotated[str | None, typer.Option("--trust-min", help="primary, secondary or generated.")]
Within = Annotated[
    list[str] | None, typer.Option("--collection", metavar="NAME", help="Only files of one of these collections.")
]
After = Annotated[str | None, typer.Option("--after", metavar="DAY", help="Only changed on this day or later.")]
Before = Annotated[str | None, typer.Option("--before", metavar="DAY", help="Only changed on this day or earlier.")]
Explain = Annotated[bool, typer.Option("--explain", help="Say how it was found.")]
Rerank = Annotated[str | None, typer.Option("--rerank", help="off, local or model: order the hits again.")]
WhyNot = Annotated[
    str | None, typer.Option("--why", metavar="DOC", help="Say which step dropped this path, document or chunk.")
]

Plain = Annotated[
    bool, typer.Option("--plain", help='Take tag:, path:, "phrase", -word and the like as words to look for.')
]
Names = Annotated[bool, typer.Option("--names", help="Look for files by their names instead.")]

_SNIPPET_LINES = 2
_CELLS = " | "


def add_to(app: typer.Typer) -> None:
    """Add `search`."""

    @command(app, cls=TakesSaved)
    def search(
        out: Output,
        query: Annotated[list[str] | None, typer.Argument(help="Words or a question.")] = None,
        *,
        top_k: Top = None,
        mode: Mode = "hybrid",
        tag: Tag = None,
        lang: Lang = None,
        path: PathGlob = None,
        types: Type = None,
        trust_min: Trust = None,
        collection: Within = None,
        after: After = None,
        before: Before = None,
        rerank: Rerank = None,
        explain: Explain = False,
        plain: Plain = False,
        names: Names = False,
        why: WhyNot = None,
        save: Save = None,
        saved: Saved = None,
        forget: Forget = None,
        replace: Replace = False,
    ) -> Exit:
        """Find passages, best first."""
        from kb.app.named import search_named
        from kb.app.requests import one_query, refuse_beside

        how = _How(tag, lang, path, types, trust_min, collection, after, before, rerank, plain, mode)
        if names:
            refuse_beside("--names", saved=saved, forget=forget, save=save, why=why, explain=explain, **how.given())
            with library(out, "kb search") as facade:
                return show_names(out, facade, one_query(query, "query"), top_k)
        request = None
        if forget is not None or saved is not None:
            refuse_beside("--saved" if forget is None else "--forget", words=query, **how.given())
        else:
            request = how.asked(one_query(query, "query"), top_k, explain=explain)
        with library(out, "kb search") as facade:
            if is_about_kept(saved, forget):
                return show_kept(out, facade, forget)
            if request is None:
                request = search_named(facade, saved or "", top_k, explain=explain)
            ended = _find(out, facade, request) if why is None else _show_why(out, facade, request, why)
            if save is not None:  # only now: a search that is refused is not kept
                keep(facade, save, request, replaces=replace)
            return ended


class _How(NamedTuple):
    """How a search is narrowed and ordered."""

    tag: list[str] | None
    lang: str | None
    path: str | None
    types: list[str] | None
    trust_min: str | None
    collection: list[str] | None
    after: str | None
    before: str | None
    rerank: str | None
    plain: bool
    mode: str

    def given(self) -> dict[str, object]:
        """Return what was asked for by the names of the options."""
        named = self._asdict()
        return {**named, "type": named.pop("types"), "mode": self.mode != "hybrid"}

    def asked(self, query: str, top_k: int | None, *, explain: bool) -> FindRequest:
        """Return the search for some words."""
        from kb.app.requests import request_of
        from kb.contract.search import FindRequest

        days = (self.after, self.before)
        return request_of(
            FindRequest,
            query=query,
            mode=self.mode,
            top_k=top_k,
            filters=filters_of(self.tag, self.lang, self.path, self.types, self.trust_min, days=days),
            collections=tuple(self.collection) if self.collection else None,
            rerank=self.rerank,
            explain=explain,
            syntax="plain" if self.plain else "query",
        )


def _find(out: Output, facade: Facade, request: FindRequest) -> Exit:
    response = facade.search.find(request)
    out.wire(response)
    if not out.as_json:
        _print(out, response, explain=request.explain)
    return HIT if response.results else NO_HIT


def _show_why(out: Output, facade: Facade, request: FindRequest, expected: str) -> Exit:
    from kb.app.requests import request_of
    from kb.contract.why import WhyRequest

    found = facade.search.why(request_of(WhyRequest, expected=expected, **request.model_dump(exclude_none=True)))
    out.wire(found)
    if not out.as_json:
        print_why(out, found, expected)
    return HIT if found.step == "found" else NO_HIT


def filters_of(
    tags: list[str] | None,
    lang: str | None,
    path: str | None,
    types: list[str] | None,
    trust_min: str | None,
    *,
    days: tuple[str | None, str | None] = (None, None),
) -> Filters | None:
    """Make the filters of the options, None without any."""
    from kb.app.requests import known_types, request_of
    from kb.contract.search import Filters

    after, before = days
    if not (tags or lang or path or types or trust_min or after or before):
        return None
    return request_of(
        Filters,
        tags_any=tuple(tags or ()),
        lang=lang,
        path_glob=path,
        types=known_types(types or ()),
        trust_min=trust_min,
        changed_from=after,
        changed_to=before,
    )


def _print(out: Output, response: RetrievalResponse, *, explain: bool) -> None:
    for hit in response.results:
        _print_hit(out, hit)
        if explain:
            _print_reasons(out, hit, response.diagnostics.fusion)
        out.line()
    if response.results:
        names = channel_names(response.diagnostics)
        index = response.results[0].index_version
        out.line(f"{counted(len(response.results), 'hit')}  {response.settings.mode}  index {index}  {names}")
    else:
        out.line(f"no hits; {_extent(response)}")
    # Of an empty library nothing more needs to be said.
    for line in degraded_lines(response.diagnostics.degraded_channels if response.passages_searched else ()):
        out.line(line)
    if explain:
        steps = "  ".join(f"{name} {ms:.1f}" for name, ms in response.diagnostics.milliseconds.items())
        out.line(f"milliseconds  {steps}  all {response.duration_ms:.1f}")
        print_steps(out, response)


def _extent(response: RetrievalResponse) -> str:
    searched = response.passages_searched or 0
    if not searched:
        return "the library is empty: run `kb ingest` first"
    if not response.diagnostics.used_channels:
        return f"none of the {counted(searched, 'passage')} could be searched"
    return f"{counted(searched, 'passage')} searched"


def _print_hit(out: Output, hit: SearchHit) -> None:
    relevance = hit.relevance if hit.relevance is not None else hit.score
    edited = "  (edited here: the file says it otherwise)" if hit.edited else ""
    out.line(f"{hit.rank}. {relevance:.2f}  {typer.style(place_label(hit.citation.uri), bold=True)}{edited}")
    if hit.section_label:
        out.line(f"   {typer.style(hit.section_label, dim=True)}")
    ranges = _lines(hit, width() - 4)
    cut = not hit.snippet_full_text or len(ranges) > _SNIPPET_LINES
    for number, (start, end) in enumerate(ranges[:_SNIPPET_LINES]):
        is_last = number == min(len(ranges), _SNIPPET_LINES) - 1
        tail = "…" if cut and is_last and not hit.snippet[start:end].endswith("…") else ""
        out.line(f"   {_marked(hit, start, end)}{tail}")


def _lines(hit: SearchHit, columns: int) -> list[tuple[int, int]]:
    """Return the lines of a snippet; rows of a table keep lines of their own, those with the words first."""
    if _CELLS not in hit.snippet or "\n" not in hit.snippet:
        return line_ranges(hit.snippet, columns)
    rows: list[tuple[int, list[tuple[int, int]]]] = []
    begin = 0
    for row in hit.snippet.split("\n"):
        lines = [(begin + start, begin + end) for start, end in line_ranges(row, columns)]
        found = {hit.snippet[m.start : m.end].casefold() for m in hit.highlights if begin <= m.start < begin + len(row)}
        rows += [(len(found), lines)] if lines else []
        begin += len(row) + 1
    # Python's sort keeps the order of equals.
    rows.sort(key=lambda row: -row[0])
    return [line for _, lines in rows for line in lines]


def _marked(hit: SearchHit, start: int, end: int) -> str:
    """Return a part of the snippet with the words that matched underlined."""
    snippet = spaced(hit.snippet)
    text, at = "", start
    for mark in hit.highlights:
        first, last = max(mark.start, at), min(mark.end, end)
        if first < last:
            text += snippet[at:first] + typer.style(snippet[first:last], underline=True)
            at = last
    return text + snippet[at:end]


def _print_reasons(out: Output, hit: SearchHit, fusion: str) -> None:
    scores = hit.retrieval
    channels = [
        ("lexical (bm25)", scores.lexical_rank, scores.lexical_score),
        ("cjk (bm25)", hit.cjk_rank, hit.cjk_score),
        ("vector (cosine)", scores.vector_rank, scores.vector_score),
        ("graph", hit.graph_rank, hit.graph_score),
    ]
    rows = [(name, rank, score) for name, rank, score in channels if rank is not None or score is not None]
    if scores.fusion_score is not None:
        rows.append((f"{fusion} fusion", hit.rank, scores.fusion_score))
    for number, (name, rank, score) in enumerate(rows):
        branch = "└" if number == len(rows) - 1 else "├"
        place = f"rank {rank}" if rank is not None else "unranked"
        value = f"score {score:.3f}" if score is not None else ""
        out.line(f"   {branch} {padded(name, 17)}{padded(place, 10)}{value}".rstrip())
    print_features(out, hit.features, hit.rank_before_rerank)
    out.line(f"   chunker {hit.chunker_version}   chunk_id {hit.chunk_id}")
