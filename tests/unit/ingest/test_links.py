"""Links out of documents, and which items they mean."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.blocks import Heading, MediaRef, Prose
from kb.domain.edges import KnownName
from kb.domain.inlines import Link
from kb.domain.links import LinkKind, LinkOutcome, LinkSource, WrittenLink, folded, name_key, without_ending
from kb.domain.recipes import ItemId
from kb.ingest.links import links_of, meant


def written(*links: Link) -> Sequence[WrittenLink]:
    return links_of("Own", [LinkSource((), Prose(links))])


def known(*paths: str, alias: tuple[str, str] | None = None, title: tuple[str, str] | None = None) -> list[KnownName]:
    names = []
    for path in paths:
        file = path.rpartition("/")[2]
        names += [KnownName(ItemId(path), path, "file", name) for name in {folded(file), folded(without_ending(file))}]
    if alias:
        names.append(KnownName(ItemId(alias[0]), alias[0], "alias", folded(alias[1])))
    if title:
        names.append(KnownName(ItemId(title[0]), title[0], "title", folded(title[1])))
    return names


def wiki(target: str) -> WrittenLink:
    return WrittenLink(LinkKind.WIKI, target)


def markdown(target: str) -> WrittenLink:
    return WrittenLink(LinkKind.LINK, target)


def test_a_wiki_link_has_a_target_a_heading_and_a_label() -> None:
    (link,) = written(Link("the plan", "Plan#Goals", "wiki"))
    assert link == WrittenLink(LinkKind.WIKI, "Plan", "Goals", "the plan")


def test_a_markdown_link_is_percent_decoded_after_its_fragment_is_cut() -> None:
    (link,) = written(Link("x", "a%20b/c%23d.md#my%20part"))
    assert (link.target, link.fragment) == ("a b/c#d.md", "my part")


@pytest.mark.parametrize(
    "href", ["https://example.org/a.md", "mailto:a@example.org", "//example.org/a", "#here", "", "?q=1", "C:\\a.md"]
)
def test_what_leads_out_of_the_workspace_or_nowhere_is_no_link(href: str) -> None:
    assert written(Link("x", href)) == ()


def test_a_footnote_is_no_link() -> None:
    assert written(Link("1", "#fn-1", "footnote")) == ()


def test_an_embedded_picture_links_to_its_file() -> None:
    (link,) = links_of("Own", [LinkSource((), MediaRef("img/board.png", "board"))])
    assert (link.kind, link.target) == (LinkKind.LINK, "img/board.png")


def test_a_heading_may_name_a_document_but_for_the_own_title_and_short_ones() -> None:
    paths = [("Own",), ("Own", "Falcon"), ("Own", "FAQ"), ("Own", "백업"), ("Own", "falcon")]
    links = links_of("Own", [LinkSource(path, Heading(1)) for path in paths])
    assert [(link.kind, link.target) for link in links] == [(LinkKind.HEADING, "Falcon"), (LinkKind.HEADING, "백업")]


@pytest.mark.parametrize(
    ("link", "path", "files", "target"),
    [
        (wiki("Plan"), "a/x.md", ("a/Plan.md", "b/Plan.md"), "a/Plan.md"),
        (wiki("Plan"), "c/x.md", ("b/deep/Plan.md",), "b/deep/Plan.md"),
        (wiki("deep/Plan"), "x.md", ("b/deep/Plan.md", "b/Plan.md"), "b/deep/Plan.md"),
        (wiki("plan"), "x.md", ("ＰＬＡＮ.md",), "ＰＬＡＮ.md"),
        (wiki("Cafe\u0301"), "x.md", ("Café.md",), "Café.md"),
        (wiki("Plan"), "x.md", ("Plan.md", "Plan.pdf"), "Plan.md"),
        (wiki("Plan.pdf"), "x.md", ("Plan.md", "Plan.pdf"), "Plan.pdf"),
        (wiki("v1.2"), "x.md", ("v1.2.md",), "v1.2.md"),
        (markdown("../b/Plan.md"), "a/x.md", ("b/Plan.md", "a/b/Plan.md"), "b/Plan.md"),
        (markdown("Plan.md"), "a/x.md", ("Plan.md", "a/Plan.md"), "a/Plan.md"),
        (markdown("/Plan.md"), "a/x.md", ("Plan.md", "a/Plan.md"), "Plan.md"),
        (markdown("y.md"), "z.zip!/d/x.md", ("z.zip!/d/y.md", "y.md"), "z.zip!/d/y.md"),
        (wiki("Plan"), "x.md", ("a/plan.md", "b/Plan.md"), "b/Plan.md"),
    ],
)
def test_a_link_means_what_people_expect(link: WrittenLink, path: str, files: tuple[str, ...], target: str) -> None:
    assert meant(link, path, known(*files)) == (LinkOutcome.RESOLVED, target)


def test_a_wiki_link_finds_an_alias_or_a_title_when_no_file_is_called_so() -> None:
    names = known("a.md", alias=("a.md", "The Plan"))
    assert meant(wiki("the plan"), "x.md", names) == (LinkOutcome.RESOLVED, "a.md")
    assert meant(wiki("Big Title"), "x.md", known(title=("b.md", "Big Title"))) == (LinkOutcome.RESOLVED, "b.md")
    assert meant(markdown("the plan"), "x.md", names) == (LinkOutcome.UNRESOLVED, None)


def test_a_target_that_may_mean_two_files_means_none() -> None:
    assert meant(wiki("Plan"), "x.md", known("a/Plan.md", "b/Plan.md")) == (LinkOutcome.AMBIGUOUS, None)


def test_a_path_that_leaves_the_workspace_means_nothing() -> None:
    assert meant(markdown("../../Plan.md"), "a/x.md", known("Plan.md")) == (LinkOutcome.UNRESOLVED, None)


def test_a_link_to_its_own_document_is_none() -> None:
    assert meant(wiki("x"), "x.md", known("x.md")) == (LinkOutcome.NOTHING, None)


def test_a_heading_joins_only_the_one_document_of_that_name() -> None:
    heading = WrittenLink(LinkKind.HEADING, "Falcon")
    one = known("notes/Falcon.md")
    assert meant(heading, "x.md", one) == (LinkOutcome.RESOLVED, "notes/Falcon.md")
    assert meant(heading, "x.md", [*one, *known("b/falcon.md")]) == (LinkOutcome.NOTHING, None)
    assert meant(heading, "notes/Falcon.md", one) == (LinkOutcome.NOTHING, None)


LETTERS = st.text(alphabet="aA./#|%[]\\ Éé백ｆ\u0301\0!?:", max_size=12)


@given(href=LETTERS, wikis=st.booleans(), path=LETTERS, files=st.lists(LETTERS, max_size=6))
def test_no_link_and_no_name_breaks_the_reading_and_the_order_of_names_changes_nothing(
    href: str, wikis: bool, path: str, files: list[str]
) -> None:
    names = known(*files)
    for link in links_of("Own", [LinkSource((href,), Prose((Link("x", href, "wiki" if wikis else "link"),)))]):
        first = meant(link, path, names)
        assert first == meant(link, path, names[::-1])
        assert (first[1] is not None) == (first[0] is LinkOutcome.RESOLVED)
        assert first[1] in {None, *files}


@given(LETTERS)
def test_a_key_folded_again_is_the_same_key(name: str) -> None:
    assert name_key(name_key(name)) == name_key(name)
