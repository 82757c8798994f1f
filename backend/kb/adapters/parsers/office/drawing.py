"""What DrawingML says beside plain text: charts, diagrams and formulas as lines of words (ECMA-376 part 1, 20-22)."""

from __future__ import annotations

from collections.abc import Iterator

from kb.adapters.parsers.office.elements import attribute, below, child, first, whole
from kb.adapters.parsers.shared.xml import Element, local, words_of

_ACCENTED = {"sSup": "^", "sSub": "_"}


def paragraphs(element: Element) -> list[str]:
    """Return the paragraphs of DrawingML text (`a:p`) below an element, those with words only."""
    found = []
    for paragraph in below(element, "p"):
        pieces: list[str] = []
        for node in paragraph.iter():
            name = local(node)
            if name == "t":
                pieces.append(node.text or "")
            elif name in {"br", "tab"}:
                pieces.append("\n" if name == "br" else "\t")
            elif name == "oMath":
                pieces.append(formula(node))
        text = "".join(pieces).strip()
        if text:
            found.append(text)
    return found


def chart_table(root: Element) -> tuple[str, list[str], list[list[str]]]:
    """Return title, headers and rows of a chart: a row for each category, a column for each series."""
    title = first(root, "title")
    name = " ".join(paragraphs(title)) if title is not None else ""
    categories: dict[int, str] = {}
    series: list[tuple[str, dict[int, str]]] = []
    for element in below(root, "ser"):
        labels = child(element, "cat")
        labels = child(element, "xVal") if labels is None else labels
        values = child(element, "val")
        values = child(element, "yVal") if values is None else values
        for index, value in _points(labels).items():
            categories.setdefault(index, value)
        words = child(element, "tx")
        series.append((" ".join(_points(words).values()) or f"{len(series) + 1}", _points(values)))
    rows = sorted({*categories, *(index for _, values in series for index in values)})
    table = [
        [categories.get(index, str(index + 1)), *(values.get(index, "") for _, values in series)] for index in rows
    ]
    return name, [" ".join(_axis(root)), *(words for words, _ in series)], table


def diagram(root: Element) -> list[str]:
    """Return the texts of a diagram's points (SmartArt), in the order of its data."""
    found: list[str] = []
    for point in below(root, "pt"):
        if point.get("type") in {None, "node", "asst"}:
            found += paragraphs(point)
    return found


def formula(element: Element) -> str:
    """Return an Office formula on one line: `(a)/(b)`, `x^2`, `√(x)`."""
    # U+2061 is the invisible sign between a function and its argument.
    return "".join(_formula_pieces(element)).replace("\u2061", " ").replace("  ", " ")


def _formula_pieces(element: Element) -> Iterator[str]:
    for node in element:
        name = local(node)
        if name == "t":
            yield node.text or ""
        elif name == "f":
            yield f"{_group(child(node, 'num'))}/{_group(child(node, 'den'))}"
        elif name in _ACCENTED:
            yield _of(node, "e") + _ACCENTED[name] + _group(child(node, name[1:].lower()))
        elif name == "sSubSup":
            yield f"{_of(node, 'e')}_{_group(child(node, 'sub'))}^{_group(child(node, 'sup'))}"
        elif name == "rad":
            yield f"{_of(node, 'deg')}√({_of(node, 'e')})"
        elif name == "nary":
            sign = first(node, "chr")
            yield f"{(attribute(sign, 'val') if sign is not None else None) or '∫'}"
            yield f"_{_group(child(node, 'sub'))}^{_group(child(node, 'sup'))} {_of(node, 'e')}"
        elif name == "d":
            yield from _delimited(node)
        elif name in {"rPr", "fPr", "ctrlPr", "dPr"}:
            continue
        else:
            yield from _formula_pieces(node)


def _delimited(node: Element) -> Iterator[str]:
    begin, end = first(node, "begChr"), first(node, "endChr")
    yield (attribute(begin, "val") or "") if begin is not None else "("
    yield ", ".join(formula(part) for part in node if local(part) == "e")
    yield (attribute(end, "val") or "") if end is not None else ")"


def _of(node: Element, name: str) -> str:
    part = child(node, name)
    return formula(part) if part is not None else ""


def _group(part: Element) -> str:
    text = formula(part) if part is not None else ""
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _points(element: Element) -> dict[int, str]:
    """Return the cached values of a reference, or the literal ones, by their index."""
    if element is None:
        return {}
    found: dict[int, str] = {}
    for point in below(element, "pt"):
        value = child(point, "v")
        number = whole(point.get("idx"))
        if value is not None and number is not None:
            text = " ".join(words_of(value).split())
            found[number] = f"{found[number]} {text}" if number in found else text
    if not found and (value := child(element, "v")) is not None:
        found[0] = words_of(value).strip()
    return found


def _axis(root: Element) -> list[str]:
    for axis in below(root, "catAx", "dateAx"):
        title = child(axis, "title")
        if title is not None:
            return paragraphs(title)
    return []
