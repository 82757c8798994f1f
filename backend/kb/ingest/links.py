"""Links out of documents: what they point to, and which items are meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from kb.domain.blocks import MediaRef, Prose
from kb.domain.edges import DerivedEdge, KnownName
from kb.domain.inlines import Link
from kb.domain.links import (
    LinkKind,
    LinkOutcome,
    LinkSource,
    WrittenLink,
    folded,
    name_key,
    without_ending,
)
from kb.domain.recipes import ItemId
from kb.ingest.link_ports import Led, LinkProgress, LinkStore, WaitingItem

LINKS_VERSION = "1"
"""Rises when the same blocks give other links: every document is then read once more."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_MOST_LINKS = 2_000
_MOST_HEADINGS = 200
_LONGEST = 500
_SHORTEST_HEADING = 4
_EAST_ASIAN = 0x2E80
_NOTES = (".md", ".markdown")
_PART = 200
_AT_A_LOOK = 5_000


def links_of(title: str, sources: Iterable[LinkSource]) -> tuple[WrittenLink, ...]:
    """Return the links of a document, each once, in order: at most 2,000, and 200 headings.

    Headings count as links to a document of that name; the document's own title does not.
    """
    found: dict[tuple[LinkKind, str, str], WrittenLink] = {}
    headings: dict[str, WrittenLink] = {}
    for source in sources:
        name = source.heading_path[-1] if source.heading_path else ""
        key = folded(name)
        if _names_something(key) and key != folded(title) and len(headings) < _MOST_HEADINGS:
            headings.setdefault(key, WrittenLink(LinkKind.HEADING, name, "", name))
        for link in _written(source):
            if len(found) < _MOST_LINKS:
                found.setdefault((link.kind, folded(link.target), folded(link.fragment)), link)
    return (*found.values(), *headings.values())


def meant(link: WrittenLink, path: str, names: Sequence[KnownName]) -> tuple[LinkOutcome, ItemId | None]:
    """Return which item a link of the document at `path` means, among those that have a name under its key.

    The same folder goes first, then the path from the root, then a path that ends so, at last titles and aliases. Where
    several are left the one spelled exactly so is meant, then the note among files of one name; otherwise nobody knows.
    """
    if link.kind is LinkKind.HEADING:
        titled = {name.item_id: name for name in names if name.name == folded(link.target)}
        others = [item for item, name in titled.items() if name.path != path]
        return (LinkOutcome.RESOLVED, others[0]) if len(titled) == len(others) == 1 else (LinkOutcome.NOTHING, None)
    for candidates in _steps(link, path, names):
        items = {name.item_id: name for name in candidates}
        if not items:
            continue
        one = _the_one(link, list(items.values()))
        if one is None:
            return LinkOutcome.AMBIGUOUS, None
        return (LinkOutcome.NOTHING, None) if one.path == path else (LinkOutcome.RESOLVED, one.item_id)
    return LinkOutcome.UNRESOLVED, None


def led(item: WaitingItem, names: Mapping[str, Sequence[KnownName]]) -> Led:
    """Return where the links of an item lead; of several to one item and of one kind the first is kept."""
    edges: dict[tuple[ItemId, LinkKind], DerivedEdge] = {}
    outcomes = []
    for link in item.links:
        outcome, target = meant(link, item.path, names.get(link.key, ()))
        outcomes.append(outcome)
        if target is not None and target != item.item_id:
            edges.setdefault((target, link.kind), DerivedEdge(target, link.kind, link.label, link.fragment))
    return Led(tuple(edges.values()), tuple(outcomes))


def read_links(
    store: LinkStore,
    *,
    heed: Callable[[], object] = lambda: None,
    progress: LinkProgress = lambda _stage, _done: None,
) -> int:
    """Read the links of documents that are new, then lead to their targets all links that may lead elsewhere now.

    It goes in small steps, each whole: stopped or killed anywhere, the next call goes on from there.

    Args:
        store: the library.
        heed: called between steps; what it raises ends the work.
        progress: told after each step.

    Returns:
        How many documents were read.
    """
    read = 0
    # Each such look goes over all documents: not for every small step.
    while found := store.unread(LINKS_VERSION, _AT_A_LOOK):
        for start in range(0, len(found), _PART):
            heed()
            documents = store.sources(found[start : start + _PART])
            store.keep(LINKS_VERSION, {one.doc_id: links_of(one.title, one.sources) for one in documents})
            read += len(documents)
            progress("reading links", read)
    noted = 0
    while count := store.note_names(_AT_A_LOOK):
        noted += count
        progress("comparing names", noted)
        heed()
    done = 0
    while True:
        # First: what is done meanwhile shows other documents, whose links these would be put in place of.
        heed()
        waiting = store.waiting(_PART)
        if not waiting:
            return read
        names = store.names(sorted({link.key for item in waiting for link in item.links}))
        store.lead({item: led(item, names) for item in waiting})
        done += len(waiting)
        progress("finding what is meant", done)


def _written(source: LinkSource) -> Iterator[WrittenLink]:
    match source.payload:
        case Prose(inlines=inlines):
            for inline in inlines:
                if isinstance(inline, Link) and inline.kind != "footnote":
                    kind = LinkKind.WIKI if inline.kind == "wiki" else LinkKind.LINK
                    yield from _link(kind, inline.href, inline.text)
        case MediaRef(src=src, alt=alt):
            yield from _link(LinkKind.LINK, src, alt)
        case _:
            pass


def _link(kind: LinkKind, href: str, label: str) -> Iterator[WrittenLink]:
    href = href.strip()
    if kind is LinkKind.LINK and (_SCHEME.match(href) or href.startswith("//")):
        return
    # In a wiki link everything is a letter of the name, but `|` and `#`.
    name, _, fragment = href.partition("|")[0].partition("#")
    if kind is LinkKind.LINK:
        name, fragment = unquote(name.partition("?")[0]), unquote(fragment)
    name = name.replace("\\", "/").strip()
    if not name_key(name) or "\0" in name or len(name) > _LONGEST:
        return
    # Of `#Chapter#Section` the last is the place; `#^block` is a mark that parsers do not keep.
    place = fragment.rpartition("#")[2].strip()
    yield WrittenLink(kind, name, "" if place.startswith("^") else place[:_LONGEST], label[:_LONGEST])


def _names_something(key: str) -> bool:
    """Return whether a heading is long enough to name a document: four letters, or two of a script without cases."""
    return any(letter.isalpha() for letter in key) and (
        len(key) >= _SHORTEST_HEADING or (len(key) > 1 and any(ord(letter) >= _EAST_ASIAN for letter in key))
    )


def _steps(link: WrittenLink, path: str, names: Sequence[KnownName]) -> Iterator[list[KnownName]]:
    files = [name for name in names if name.kind == "file"]
    target = folded(link.target)
    folder = folded(path).rpartition("/")[0]
    if not target.startswith("/"):
        here = _joined(folder, target)
        yield [name for name in files if here is not None and _is_at(name, here)]
    root = _joined("", target.lstrip("/"))
    if root is None or ".." in target.split("/"):
        return
    yield [name for name in files if _is_at(name, root)]
    yield [name for name in files if _ends_so(name, root)]
    if link.kind is LinkKind.WIKI:
        yield [name for name in names if name.kind != "file" and name.name == target]


def _the_one(link: WrittenLink, names: Sequence[KnownName]) -> KnownName | None:
    if len(names) == 1:
        return names[0]
    last = link.target.rstrip("/").rpartition("/")[2]
    narrowings: tuple[Callable[[KnownName], bool], ...] = (
        lambda name: name.path.rpartition("/")[2] in {last, f"{last}.md"},
        lambda name: name.path.casefold().endswith(_NOTES),
    )
    for narrows in narrowings:
        left = [name for name in names if narrows(name)]
        if len(left) == 1:
            return left[0]
        names = left or names
    return None


def _joined(folder: str, target: str) -> str | None:
    """Return a relative path from the root, None when it leaves it."""
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _is_at(name: KnownName, path: str) -> bool:
    own = folded(name.path)
    return path in {own, _bare(own)}


def _ends_so(name: KnownName, path: str) -> bool:
    own = folded(name.path)
    return own.endswith(f"/{path}") or _bare(own).endswith(f"/{path}")


def _bare(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{without_ending(name)}"
