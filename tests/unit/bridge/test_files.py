"""File bytes: ranges, attachments, and nothing but what the facade names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.bridge.files import Conditions, file_reply, parse_range
from kb.contract.files import LocalFile
from tests.unit.bridge.conftest import Live

CONTENT = bytes(range(128)) * 8


def test_a_whole_file_comes_with_its_tag(live: Live) -> None:
    reply = live.send("GET", "/api/v1/files/text")
    assert (reply.status, reply.body) == (200, CONTENT)
    assert reply.header("etag") == '"text-1"'
    assert reply.header("accept-ranges") == "bytes"
    assert reply.header("content-length") == "1024"
    assert reply.header("content-disposition") is None
    assert (reply.header("content-type") or "").startswith("text/plain")


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("0-0", 0, 1),
        ("0-99", 0, 100),
        ("100-", 100, 1024),
        ("-24", 1000, 1024),
        ("1000-9999", 1000, 1024),
        ("-9999", 0, 1024),
    ],
)
def test_a_part_is_a_part(live: Live, asked: str, start: int, end: int) -> None:
    reply = live.send("GET", "/api/v1/files/text", headers=[("Range", f"bytes={asked}")])
    assert (reply.status, reply.body) == (206, CONTENT[start:end])
    assert reply.header("content-range") == f"bytes {start}-{end - 1}/1024"


@pytest.mark.parametrize("asked", ["1024-", "5000-6000", "-0"])
def test_a_part_that_is_not_there_cannot_be_had(live: Live, asked: str) -> None:
    reply = live.send("GET", "/api/v1/files/text", headers=[("Range", f"bytes={asked}")])
    assert (reply.status, reply.code) == (416, "range_not_satisfiable")
    assert reply.header("content-range") == "bytes */1024"


@pytest.mark.parametrize("asked", ["bytes=0-1,5-6", "lines=1-2", "bytes=9-3", "bytes=x-y", "bytes=-", "0-5"])
def test_a_range_of_another_form_is_ignored(live: Live, asked: str) -> None:
    assert live.send("GET", "/api/v1/files/text", headers=[("Range", asked)]).status == 200


def test_a_part_of_another_version_is_not_mixed_in(live: Live) -> None:
    asked = [("Range", "bytes=0-9"), ("If-Range", '"older"')]
    assert live.send("GET", "/api/v1/files/text", headers=asked).status == 200
    asked = [("Range", "bytes=0-9"), ("If-Range", '"text-1"')]
    assert live.send("GET", "/api/v1/files/text", headers=asked).status == 206


def test_head_tells_the_size_without_the_bytes(live: Live) -> None:
    reply = live.send("HEAD", "/api/v1/files/text")
    assert (reply.status, reply.body, reply.header("content-length")) == (200, b"", "1024")


def test_what_a_browser_could_run_is_an_attachment(live: Live) -> None:
    reply = live.send("GET", "/api/v1/files/page")
    assert reply.header("content-disposition") == "attachment"
    assert reply.header("content-type") == "application/octet-stream"
    assert "sandbox" in (reply.header("content-security-policy") or "")


@pytest.mark.parametrize("kind", ["image/svg+xml", "text/html", "application/xhtml+xml", "text/xml", "image/png\nx"])
def test_dangerous_kinds_are_never_shown(live: Live, kind: str) -> None:
    live.facade.files["odd"] = (live.facade.files["text"][0], kind)
    assert live.send("GET", "/api/v1/files/odd").header("content-disposition") == "attachment"


def test_a_version_may_be_named(live: Live) -> None:
    live.send("GET", "/api/v1/files/text?doc_id=d1")
    live.send("GET", "/api/v1/sources/text/markdown?doc_id=d2")
    assert [call[2] for call in live.facade.calls] == [("text", "d1"), ("text", "d2")]


def test_a_source_comes_as_text(live: Live) -> None:
    reply = live.send("GET", "/api/v1/sources/page/markdown")
    assert reply.body == b"<script>alert(1)</script>"
    assert (reply.header("content-type") or "").startswith("text/markdown")


def test_what_the_facade_does_not_know_is_not_found(live: Live) -> None:
    for name in ("nothing", "..", "%2e%2e", "..%5c..%5cetc", "C:%5C", "a%00b", "text%2f..%2fpage", "x" * 5_000):
        reply = live.send("GET", f"/api/v1/files/{name}")
        assert reply.status == 404, name


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes and links of POSIX")
def test_a_link_or_pipe_put_in_the_place_of_a_file_is_not_read(live: Live, tmp_path: Path) -> None:
    outside, link, pipe = tmp_path / "outside", tmp_path / "link", tmp_path / "pipe"
    outside.write_text("secret", encoding="utf-8")
    link.symlink_to(outside)
    os.mkfifo(pipe)
    live.facade.files |= {
        "link": (link, "text/plain"),
        "pipe": (pipe, "text/plain"),
        "folder": (tmp_path, "text/plain"),
    }
    for name in ("link", "pipe", "folder"):
        reply = live.send("GET", f"/api/v1/files/{name}")
        assert (name, reply.status, reply.code) == (name, 404, "not_found")


@given(st.one_of(st.none(), st.text(max_size=30), st.from_regex(r"bytes=\d{0,19}-\d{0,19}")), st.integers(0, 2_000))
def test_a_range_is_always_inside_the_file(header: str | None, size: int) -> None:
    part = parse_range(header, size)
    if part:
        start, end = part
        assert 0 <= start < end <= size


@pytest.mark.parametrize("tags", ['"text-1"', 'W/"text-1"', '"other", "text-1"', "*"])
def test_a_reader_that_has_the_file_is_told_so(live: Live, tags: str) -> None:
    reply = live.send("GET", "/api/v1/files/text", headers=[("If-None-Match", tags), ("Range", "bytes=0-9")])
    assert (reply.status, reply.body, reply.header("etag")) == (304, b"", '"text-1"')


def test_a_reader_that_has_another_version_gets_the_file(live: Live) -> None:
    assert live.send("GET", "/api/v1/files/text", headers=[("If-None-Match", '"text-0"')]).body == CONTENT


@pytest.mark.parametrize(
    "kind",
    [
        "text/csv; charset=utf-8",
        "text/markdown; charset=utf-8",
        "message/rfc822",
        "application/epub+zip",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "image/tiff",
    ],
)
def test_what_no_browser_runs_keeps_its_type_and_is_not_shown(live: Live, kind: str) -> None:
    live.facade.files["odd"] = (live.facade.files["text"][0], kind)
    reply = live.send("GET", "/api/v1/files/odd")
    assert (reply.header("content-type"), reply.header("content-disposition")) == (kind, "attachment")
    assert reply.header("x-content-type-options") == "nosniff"


def test_a_name_is_sent_so_that_no_letter_of_it_can_end_the_header() -> None:
    file = LocalFile(Path(__file__), "text/csv", "e", 'a"\r\nx: 1;\ud55c.csv')
    reply = file_reply(file, Conditions(), head=True)
    assert reply.headers["content-disposition"] == "attachment; filename*=UTF-8''a%22%0D%0Ax%3A%201%3B%ED%95%9C.csv"


def test_a_rendition_is_asked_for_by_name(live: Live) -> None:
    live.send("GET", "/api/v1/files/text?rendition=opus&doc_id=d1")
    assert live.facade.calls[-1][2] == ("text", "d1", "opus")
