"""The parser of Jupyter notebooks: cells one by one, with what they printed and drew."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from kb.adapters.parsers.notebook.prose import add_markdown
from kb.adapters.parsers.shared.building import BlockBuilder, clean
from kb.adapters.parsers.shared.html import OnePlace, read_html
from kb.adapters.parsers.shared.pictures import worth_reading
from kb.domain.blocks import BlockKind
from kb.domain.coverage import CoverageUnit
from kb.domain.documents import Member, ParsedDocument
from kb.domain.errors import Unreadable
from kb.domain.ids import Json
from kb.domain.items import MediaType
from kb.domain.limits import ReadingLimits
from kb.domain.spans import PartSpan
from kb.ingest.reading_ports import SourceFile, Tell

VERSION = "notebook-v1"

_LARGEST = 256 << 20
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_PICTURES: Mapping[str, str] = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
# How version 3 called the kinds of output.
_OLD_KINDS: Mapping[str, str] = {
    "text": "text/plain",
    "html": "text/html",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "latex": "text/latex",
    "svg": "image/svg+xml",
}
_Object = Mapping[str, Json]


class NotebookParser:
    """Reads notebooks of the formats 3 and 4, forgiving what is not as their schema says."""

    media_types = frozenset({MediaType.NOTEBOOK})
    version = VERSION

    def read(self, source: SourceFile, limits: ReadingLimits, tell: Tell) -> ParsedDocument:
        """Return the cells: their text, code, and outputs; pictures drawn are members `cell-<n>.png`.

        Raises:
            Unreadable: `damaged`, `wrong_type`, `too_big`, `too_many_entries`, `too_complex`.
        """
        notebook = _loaded(source.data)
        cells = _cells_of(notebook)
        if len(cells) > limits.entries:
            raise Unreadable("it has more cells than the limit allows", reason="too_many_entries")
        reader = _Cells(_language(notebook), limits)
        units: list[CoverageUnit] = []
        for number, cell in enumerate(cells, 1):
            tell(number - 1, len(cells), "cell")
            state = reader.take(number, cell)
            last = units[-1] if units else None
            if last and last.state == state:
                units[-1] = CoverageUnit("cell", last.start, number, last.state, reason=last.reason)
            elif state == "failed":
                units.append(CoverageUnit("cell", number, number, "failed", reason="damaged"))
            else:
                units.append(CoverageUnit("cell", number, number, "text" if state == "text" else "blank"))
        return ParsedDocument(
            blocks=tuple(reader.builder.blocks),
            front_matter=_facts(notebook),
            coverage=tuple(units),
            members=tuple(reader.members),
        )


class _Cells:
    """Turns cells into blocks."""

    def __init__(self, language: str | None, limits: ReadingLimits) -> None:
        self.builder = BlockBuilder()
        self.members: list[Member] = []
        self._language, self._limits = language, limits
        self._characters = 0
        self._drawn: Counter[int] = Counter()

    def take(self, number: int, cell: Json) -> str:
        """Add a cell; return its state in the ledger."""
        if not _is_object(cell):
            return "failed"
        span = PartSpan("cell", number)
        before = len(self.builder.blocks)
        text = _text(cell.get("source") or cell.get("input"))
        self._count(text)
        kind = cell.get("cell_type")
        if kind == "code":
            language = cell.get("language")
            self.builder.code(text, span, language if isinstance(language, str) else self._language)
            outputs = cell.get("outputs")
            for output in outputs if _is_list(outputs) else ():
                if _is_object(output):
                    self._output(output, span)
        elif kind == "heading":
            level = cell.get("level")
            self.builder.heading(level if isinstance(level, int) else 1, text, span)
        elif kind == "markdown":
            add_markdown(text, self.builder, span, self._limits)
        else:
            self.builder.paragraph(text, span)
        return "text" if len(self.builder.blocks) > before else "blank"

    def _output(self, output: _Object, span: PartSpan) -> None:
        kind = output.get("output_type")
        if kind == "stream":
            self._plain(_text(output.get("text")), span)
            return
        if kind in {"error", "pyerr"}:
            # What went wrong in the notebook is part of what it says; the trace behind it is not.
            self._plain(": ".join(filter(None, (_text(output.get("ename")), _text(output.get("evalue"))))), span)
            return
        data = _data_of(output)
        for media, suffix in _PICTURES.items():
            self._picture(_text(data.get(media)), suffix, span)
        page = _text(data.get("text/html"))
        plain = _text(data.get("text/plain"))
        self._count(page)
        before = len(self.builder.blocks)
        if page and not isinstance(data.get("text/markdown"), str | list):
            read_html(page, self.builder, OnePlace(span), self._limits, deepen=6)
        if len(self.builder.blocks) > before:
            return
        prose = _text(data.get("text/markdown")) or _text(data.get("text/latex"))
        if prose:
            self._count(prose)
            add_markdown(prose, self.builder, span, self._limits)
        elif not _drawing_only(data, plain):
            self._plain(plain, span)

    def _plain(self, text: str, span: PartSpan) -> None:
        self._count(text)
        # Print-outs of whole runs are cut into passages of their own; the builder keeps their lines.
        self.builder.code(_COLOURS.sub("", text), span)

    def _picture(self, encoded: str, suffix: str, span: PartSpan) -> None:
        if not encoded:
            return
        try:
            data = base64.b64decode(encoded, validate=False)
        except (binascii.Error, ValueError):
            return
        if not worth_reading(data):
            return
        self._drawn[span.number] += 1
        name = f"cell-{span.number}.{self._drawn[span.number]}.{suffix}"
        if len(self.members) >= self._limits.entries:
            raise Unreadable("its cells draw more pictures than the limit allows", reason="too_many_entries")
        self.members.append(Member(name, data))
        self.builder.reference(BlockKind.IMAGE_REF, name, "", span)

    def _count(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > self._limits.characters:
            raise Unreadable("it has more text than the limit allows", reason="too_big")


def _loaded(data: bytes) -> _Object:
    if len(data) > _LARGEST:
        raise Unreadable("the notebook is larger than the limit allows", reason="too_big")
    try:
        value: Json = json.loads(data.decode("utf-8-sig"))
    except RecursionError as error:
        raise Unreadable("its data are nested beyond reason", reason="nested_too_deep") from error
    except ValueError as error:
        raise Unreadable(
            "the notebook is damaged or only a part of one",
            hint="open it in Jupyter and save it again",
            reason="damaged",
        ) from error
    if not _is_object(value) or not ("cells" in value or "worksheets" in value):
        raise Unreadable("this is no notebook, though its name says so", reason="wrong_type")
    return value


def _cells_of(notebook: _Object) -> list[Json]:
    cells = notebook.get("cells")
    if _is_list(cells):
        return list(cells)
    sheets = notebook.get("worksheets")
    found: list[Json] = []
    for sheet in sheets if _is_list(sheets) else ():
        inner = sheet.get("cells") if _is_object(sheet) else None
        found += inner if _is_list(inner) else ()
    return found


def _language(notebook: _Object) -> str | None:
    metadata = notebook.get("metadata")
    for outer, inner in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(outer) if _is_object(metadata) else None
        name = part.get(inner) if _is_object(part) else None
        if isinstance(name, str) and name.strip():
            return name.strip().lower()
    return None


def _facts(notebook: _Object) -> dict[str, Json]:
    metadata = notebook.get("metadata")
    if not _is_object(metadata):
        return {}
    facts: dict[str, Json] = {}
    title = metadata.get("title") or metadata.get("name")
    if isinstance(title, str) and title.strip():
        facts["title"] = clean(title).strip()
    authors = metadata.get("authors")
    names = [one.get("name") for one in authors if _is_object(one)] if _is_list(authors) else []
    joined = ", ".join(clean(name).strip() for name in names if isinstance(name, str))
    if joined:
        facts["author"] = joined
    return facts


def _data_of(output: _Object) -> dict[str, Json]:
    data = output.get("data")
    if _is_object(data):
        return dict(data)
    return {new: output[old] for old, new in _OLD_KINDS.items() if old in output}


def _drawing_only(data: Mapping[str, Json], plain: str) -> bool:
    """Return whether the text only names the drawing beside it, as `<Figure size 640x480 with 1 Axes>` does."""
    return plain.startswith("<") and plain.endswith(">") and any(kind.startswith("image/") for kind in data)


def _text(value: Json) -> str:
    """Return a text, which notebooks keep whole or as a list of lines."""
    if isinstance(value, str):
        return value
    if _is_list(value):
        return "".join(line for line in value if isinstance(line, str))
    return ""


def _is_object(value: Json) -> TypeGuard[_Object]:
    return isinstance(value, Mapping)


def _is_list(value: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, list)
