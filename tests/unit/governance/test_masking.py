"""A parsed document without its secrets: every part of it, every other place as it was."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.domain.blocks import BlockKind, Code, Heading, MediaRef, Payload, Prose, Table
from kb.domain.documents import ParsedBlock, ParsedDocument, ParseWarning
from kb.domain.ids import Json
from kb.domain.inlines import Link, Styled
from kb.domain.masking import MaskedSecret
from kb.domain.pages import PageText, Word, WordBoxes
from kb.domain.placed import spans_between
from kb.domain.spans import LineSpan, PageSpan, PartSpan, Segment, SourceSpan, TimeSpan
from kb.domain.transcripts import Transcript, TranscriptSegment
from kb.governance.masking import SecretMasker
from kb.ingest.ports import Masker
from tests.unit.governance.made_up import line_with, pem, planted

MADE = planted(1)
GITHUB = MADE["github_token"]
STRIPE = MADE["stripe_key"]


def block(
    text: str,
    line: int = 1,
    kind: BlockKind = BlockKind.PARAGRAPH,
    payload: Payload | None = None,
    *,
    path: tuple[str, ...] = (),
    segments: tuple[Segment, ...] | None = None,
    span: SourceSpan | None = None,
) -> ParsedBlock:
    where = span or LineSpan(line, line + text.count("\n"))
    placed = segments if segments is not None else (Segment(0, len(text), where),)
    return ParsedBlock(kind, text, where, path, payload or Prose(), placed)


def masked(*blocks: ParsedBlock) -> tuple[ParsedDocument, tuple[MaskedSecret, ...]]:
    return SecretMasker().mask(ParsedDocument(blocks))


def texts(document: ParsedDocument) -> list[str]:
    return [one.text for one in document.blocks]


def test_it_is_what_ingest_asks_for() -> None:
    masker: Masker = SecretMasker()
    assert masker.version == "mask-v1"


def test_a_document_without_secrets_comes_back_as_it_is() -> None:
    parsed = ParsedDocument((block("The password must be long.", path=("Rules",)),), {"title": "Rules"})
    document, places = SecretMasker().mask(parsed)
    assert document is parsed
    assert places == ()


def test_equal_secrets_look_equal_and_are_numbered_by_first_appearance() -> None:
    other = planted(2)["github_token"]
    document, places = masked(block(f"Old {other}, new {GITHUB}.", 1), block(f"Again {GITHUB} {STRIPE}.", 3))
    assert texts(document) == [
        "Old [masked:github_token-1], new [masked:github_token-2].",
        "Again [masked:github_token-2] [masked:stripe_key-1].",
    ]
    assert [(p.kind, p.placeholder, p.where, p.span) for p in places] == [
        ("github_token", "[masked:github_token-1]", "text", LineSpan(1, 1)),
        ("github_token", "[masked:github_token-2]", "text", LineSpan(1, 1)),
        ("github_token", "[masked:github_token-2]", "text", LineSpan(3, 3)),
        ("stripe_key", "[masked:stripe_key-1]", "text", LineSpan(3, 3)),
    ]


def test_a_secret_known_from_one_place_is_masked_where_nothing_tells_it() -> None:
    document, _ = masked(block("Password: k7!Rq9zz"), block("I always type k7!Rq9zz there, not k7!Rq9zzz."))
    assert texts(document)[1] == "I always type [masked:password-1] there, not k7!Rq9zzz."


def test_a_short_word_that_is_a_password_stays_where_it_is_a_word() -> None:
    document, _ = masked(block("Password: summer"), block("In summer we swim."))
    assert texts(document) == ["Password: [masked:password-1]", "In summer we swim."]


def test_headings_and_the_paths_below_them_agree() -> None:
    heading = block(f"Key  {GITHUB}", 1, BlockKind.HEADING, Heading(1), path=(f"Key {GITHUB}",))
    below = block("Nothing here.", 3, path=(f"Key {GITHUB}", "Part"))
    document, places = masked(heading, below)
    assert document.blocks[0].text == "Key  [masked:github_token-1]"
    assert document.blocks[1].heading_path == ("Key [masked:github_token-1]", "Part")
    assert places == (MaskedSecret("github_token", "[masked:github_token-1]", "heading", LineSpan(1, 1)),)


def test_a_path_without_a_heading_of_its_own_is_masked_too() -> None:
    document, places = masked(block("Nothing here.", path=(f"fn {GITHUB}",)))
    assert document.blocks[0].heading_path == ("fn [masked:github_token-1]",)
    assert places[0].where == "heading"


def test_what_stands_beside_the_text_is_masked() -> None:
    address = line_with("url_password", MADE["url_password"])
    prose = Prose((Link("here", address), Styled(GITHUB, "code")))
    picture = MediaRef(f"https://x.invalid/{STRIPE}.png", f"shows {STRIPE}")
    document, _ = masked(
        block(f"See here and {GITHUB}", payload=prose),
        block("", 2, BlockKind.IMAGE_REF, picture),
        block("x = 1", 3, BlockKind.CODE, Code(f"python {GITHUB}")),
    )
    first, second, third = document.blocks
    assert first.payload == Prose(
        (
            Link("here", "https://deploy:[masked:url_password-1]@files.internal/feed"),
            Styled("[masked:github_token-1]", "code"),
        )
    )
    assert second.payload == MediaRef("https://x.invalid/[masked:stripe_key-1].png", "shows [masked:stripe_key-1]")
    assert third.payload == Code("python [masked:github_token-1]")


def a_table(headers: tuple[str, ...], *rows: tuple[str, ...]) -> ParsedBlock:
    lines = [" | ".join(row) for row in (headers, *rows)]
    segments = []
    at = 0
    for number, line in enumerate(lines, 1):
        segments.append(Segment(at, at + len(line), PartSpan("sheet", 1, "Keys", f"A{number}:C{number}")))
        at += len(line) + 1
    return block("\n".join(lines), 1, BlockKind.TABLE, Table(headers, rows), segments=tuple(segments))


def test_a_column_named_as_one_is_a_column_of_secrets() -> None:
    document, places = masked(
        a_table(
            ("User", "Password (old)", "Note"),
            ("root", "k7!Rq9", "all"),
            ("ann", "summer", "weak"),
            ("bob", "none", ""),
        )
    )
    assert document.blocks[0].payload == Table(
        ("User", "Password (old)", "Note"),
        (("root", "[masked:password-1]", "all"), ("ann", "[masked:password-2]", "weak"), ("bob", "none", "")),
    )
    assert texts(document)[0].splitlines()[1:3] == [
        "root | [masked:password-1] | all",
        "ann | [masked:password-2] | weak",
    ]
    assert [place.span for place in places] == [PartSpan("sheet", 1, "Keys", f"A{n}:C{n}") for n in (2, 3)]


def test_a_name_to_the_left_tells_a_secret() -> None:
    document, _ = masked(a_table(("비밀번호", "k7!Rq9"), ("PIN", "x"), ("API key", "9f8b7c6d5e4f3a2b1c0d")))
    assert texts(document)[0] == "비밀번호 | [masked:password-1]\nPIN | x\nAPI key | [masked:api_key-1]"


def test_a_table_about_passwords_stays() -> None:
    table = a_table(
        ("Parameter", "Type", "Description"), ("password", "string", "The password"), ("token", "str | None", "A token")
    )
    assert masked(table)[1] == ()
    assert (
        masked(a_table(("Feature", "Password", "Passkey"), ("Phishing", "yes", "no"), ("Speed", "slow", "fast")))[1]
        == ()
    )


def test_a_private_key_over_many_blocks_goes_from_all_of_them() -> None:
    lines = pem(5).split("\n")
    blocks = [block("Before.", 1), *(block(line, number) for number, line in enumerate(lines, 2)), block("Behind.", 9)]
    document, places = masked(*blocks)
    assert texts(document) == ["Before.", *["[masked:private_key-1]"] * len(lines), "Behind."]
    assert places == (MaskedSecret("private_key", "[masked:private_key-1]", "text", LineSpan(2, 7)),)


def test_front_matter_is_masked_at_every_depth() -> None:
    front: dict[str, Json] = {
        "title": f"Key {GITHUB}",
        "tags": ["ops", STRIPE],
        "db": {"password": "summer", "port": 5432, STRIPE: True, "pin": [{"secret": MADE["api_key"]}]},
        "password": 12345678,
        "draft": False,
    }
    document, places = SecretMasker().mask(ParsedDocument((block("Text."),), front))
    assert document.front_matter == {
        "title": "Key [masked:github_token-1]",
        "tags": ["ops", "[masked:stripe_key-1]"],
        "db": {
            "password": "[masked:password-1]",
            "port": 5432,
            "[masked:stripe_key-1]": True,
            "pin": [{"secret": "[masked:secret-1]"}],
        },
        "password": "[masked:password-2]",
        "draft": False,
    }
    assert {(place.where, place.span) for place in places} == {("title", None), ("tag", None), ("front_matter", None)}


def test_warnings_are_masked() -> None:
    parsed = ParsedDocument((), warnings=(ParseWarning("malformed_frontmatter", f"line 2: near {GITHUB}"),))
    document, places = SecretMasker().mask(parsed)
    assert document.warnings == (ParseWarning("malformed_frontmatter", "line 2: near [masked:github_token-1]"),)
    assert len(places) == 1


def test_speech_is_masked_with_its_times() -> None:
    words = ["the", "password", "is", "Tr0ub4dor&3", "today"]
    text, segments, at = " ".join(words), [], 0
    for number, word in enumerate(words):
        segments.append(Segment(at, at + len(word), TimeSpan(number * 100, number * 100 + 90)))
        at += len(word) + 1
    said = Transcript((TranscriptSegment(0, 490, text),), "test", "en", 500)
    spoken = block(text, kind=BlockKind.PARAGRAPH, segments=tuple(segments), span=TimeSpan(0, 490))
    document, places = SecretMasker().mask(ParsedDocument((spoken,), transcript=said))
    assert document.transcript is not None
    assert document.transcript.segments[0].text == texts(document)[0] == "the password is [masked:password-1] today"
    assert places == (MaskedSecret("password", "[masked:password-1]", "text", TimeSpan(300, 390)),)
    assert document.blocks[0].segments[-1] == Segment(36, 41, TimeSpan(400, 490))


def paged(*texts_of_pages: str) -> ParsedDocument:
    """A document whose only paragraph runs over all its pages."""
    joined, segments, at = " ".join(texts_of_pages), [], 0
    for number, text in enumerate(texts_of_pages, 1):
        segments.append(Segment(at, at + len(text), PageSpan(number, 0, len(text))))
        at += len(text) + 1
    pages = tuple(
        PageText(number, 600.0, 800.0, "text", text, WordBoxes([Word(0, len(text), 0, 0, 9, 9, 0)]))
        for number, text in enumerate(texts_of_pages, 1)
    )
    return ParsedDocument((block(joined, segments=tuple(segments), span=PageSpan(1)),), pages=pages)


def test_a_page_is_covered_and_its_offsets_stay() -> None:
    before, after = "Sign in with ", " and read on."
    parsed = paged(f"{before}{GITHUB}{after}")
    document, places = SecretMasker().mask(parsed)
    assert document.pages[0].text == f"{before}{'█' * len(GITHUB)}{after}"
    assert document.pages[0].words == parsed.pages[0].words
    end = len(before) + len(GITHUB)
    assert places == (MaskedSecret("github_token", "[masked:github_token-1]", "text", PageSpan(1, len(before), end)),)
    new = document.blocks[0]
    read_on = new.text.index("read on")
    assert spans_between(new.segments, read_on, read_on + 7) == (PageSpan(1, end + 5, end + 12),)


def test_a_secret_over_two_pages_goes_from_both() -> None:
    parsed = paged(f"The key is {GITHUB[:20]}", f"{GITHUB[20:]} for ever.")
    document, places = SecretMasker().mask(parsed)
    assert document.pages[0].text == f"The key is {'█' * 20}"
    assert document.pages[1].text == f"{'█' * (len(GITHUB) - 20)} for ever."
    assert texts(document) == ["The key is [masked:github_token-1] for ever."]
    assert [place.span for place in places] == [PageSpan(1, 11, 31), PageSpan(2, 0, len(GITHUB) - 20)]
    placeholder = document.blocks[0].text.index("[masked")
    assert len(spans_between(document.blocks[0].segments, placeholder, placeholder + 23)) == 2


def test_a_whole_token_goes_on_in_the_next_block_on_pages_only() -> None:
    ai_key, behind = MADE["ai_key"], "aB3dE5gH7jK9"
    document, _ = masked(block(ai_key, 1), block(behind, 3))
    assert texts(document) == ["[masked:ai_key-1]", behind]
    spans = PageSpan(1, 0, len(ai_key)), PageSpan(1, len(ai_key) + 1, len(ai_key) + 1 + len(behind))
    on_page, _ = masked(block(ai_key, span=spans[0]), block(behind, span=spans[1]))
    assert behind not in "".join(texts(on_page))


def test_a_page_whose_text_no_block_has_is_searched_by_itself() -> None:
    page = PageText(4, 600.0, 800.0, "text", f"Draft {GITHUB} p. 4", WordBoxes())
    document, places = SecretMasker().mask(ParsedDocument((block("Text."),), pages=(page,)))
    assert document.pages[0].text == f"Draft {'█' * len(GITHUB)} p. 4"
    assert places == (MaskedSecret("github_token", "[masked:github_token-1]", "page", PageSpan(4, 6, 6 + len(GITHUB))),)


def test_masking_again_changes_nothing() -> None:
    lines = [line_with(kind, secret) for kind, secret in MADE.items()]
    once, places = masked(*(block(line, number) for number, line in enumerate(lines, 1)))
    assert len(places) == len(lines)
    again, more = SecretMasker().mask(once)
    assert again is once
    assert more == ()


def test_a_long_document_is_searched_in_windows_without_a_gap() -> None:
    filler = "Nothing but words about the garden stands in this line.\n" * 600
    key = pem(6, lines=60)
    blocks = [block(f"{filler}{number}", number + 1) for number in range(60)]
    for number in (0, 29, 30, 31, 59):
        blocks[number] = block(f"{filler}{key}\n{filler}Password: k{number}!Rq9zz", number + 1)
    document, places = masked(*blocks)
    assert [place.kind for place in places].count("private_key") == 5
    assert [place.kind for place in places].count("password") == 5
    assert not any("Rq9zz" in text or "PRIVATE KEY" in text for text in texts(document))


def test_a_dump_of_many_passwords_goes_whole() -> None:
    secrets = [f"k{number}!Rq{number}zz" for number in range(300)]
    first = block("\n".join(f"password: {secret}" for secret in secrets))
    second = block("\n".join(secrets), 400)
    document, places = masked(first, second)
    assert len(places) == 600
    assert "Rq" not in "".join(texts(document))
    assert texts(document)[1].splitlines()[7] == "[masked:password-8]"


WORDS = st.sampled_from(["the", "key", "is", "비밀번호", "now", "가나다", "x", "of", "2026"])


@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=5),
    st.lists(
        st.sampled_from(sorted({"github_token", "stripe_key", "npm_token", "google_key"})), min_size=1, max_size=4
    ),
    st.data(),
)
def test_all_that_stays_keeps_its_exact_place(lines: list[list[str]], kinds: list[str], data: st.DataObject) -> None:
    words = [word for line in lines for word in line]
    for kind in kinds:
        words.insert(data.draw(st.integers(0, len(words))), MADE[kind])
    text = " ".join(words)
    border = data.draw(st.integers(1, len(text) - 1))
    # Two pages meet anywhere, in the middle of a word or a secret as well.
    segments = (
        Segment(0, border, PageSpan(1, 7, 7 + border)),
        Segment(border, len(text), PageSpan(2, 0, len(text) - border)),
    )
    pages = (
        PageText(1, 1.0, 1.0, "text", "." * 7 + text[:border], WordBoxes()),
        PageText(2, 1.0, 1.0, "text", text[border:], WordBoxes()),
    )
    parsed = ParsedDocument((block(text, segments=segments, span=PageSpan(1)),), pages=pages)
    document, _ = SecretMasker().mask(parsed)
    new = document.blocks[0]
    everything = new.text + "".join(page.text for page in document.pages)
    assert not any(MADE[kind] in everything for kind in kinds)
    assert [len(page.text) for page in document.pages] == [len(page.text) for page in pages]
    ends = [0, *(segment.end for segment in new.segments)]
    assert all(end <= segment.start < segment.end for end, segment in zip(ends, new.segments, strict=False))
    placeholders = [match.span() for match in re.finditer(r"\[masked:[a-z_]+-[0-9]+\]", new.text)]
    for segment in new.segments:
        if any(start <= segment.start and segment.end <= end for start, end in placeholders):
            continue
        assert isinstance(segment.span, PageSpan)
        shown = pages[segment.span.page - 1].text[segment.span.char_start : segment.span.char_end]
        assert new.text[segment.start : segment.end] == shown


@pytest.mark.parametrize("kind", sorted(MADE))
def test_a_placeholder_tells_nothing_of_its_secret(kind: str) -> None:
    one, _ = masked(block(line_with(kind, MADE[kind])))
    other, _ = masked(block(line_with(kind, planted(2)[kind])))
    assert texts(one) == texts(other) == [line_with(kind, f"[masked:{kind}-1]")]


def test_members_stay_as_they_are() -> None:
    parsed = ParsedDocument((block(f"Key {GITHUB}"),), line_count=3)
    document, _ = SecretMasker().mask(parsed)
    assert replace(document, blocks=parsed.blocks) == parsed
