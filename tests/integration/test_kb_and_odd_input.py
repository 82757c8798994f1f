"""What a person sees when files, folders or the configuration are odd: a clear message or a correct result."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.contract.answers import Answer
from kb.contract.ingest import IngestItem, IngestReport
from kb.contract.items import ItemEntry
from kb.contract.retrieval import RetrievalResponse
from tests.homes import Home

NOBODY = 65534


def one(home: Home, path: str) -> IngestItem:
    """What ingest says of one file."""
    report = IngestReport.read(home.ok("ingest", "--json", path))
    (item,) = report.items or ()
    return item


def first(home: Home, query: str) -> str:
    """The place of the best hit."""
    return RetrievalResponse.read(home.ok("search", "--json", query)).results[0].citation.uri


def test_front_matter_that_is_not_yaml_is_a_warning_and_the_text_is_found(home: Home) -> None:
    home.put("plums.md", "---\ntitle: [unclosed\n---\n# Plums\n\nPlums are purple.\n")
    item = one(home, "plums.md")
    assert (item.kind, [warning.kind for warning in item.warnings]) == ("new", ["malformed_frontmatter"])
    assert first(home, "purple plums") in {"plums.md#L4-L6", "plums.md#L6"}
    assert "warning     malformed_frontmatter: not YAML in line 3" in home.ok("show", "plums.md")


@pytest.mark.slow
def test_a_file_of_one_line_of_50_mb_is_read(home: Home) -> None:
    line = ("The quick brown fox number {} jumps over the lazy dog. " * 20).format(*range(20))
    text = line * (50_000_000 // len(line)) + " Axolotls sleep at the very end."
    home.put("long.txt", text)
    assert one(home, "long.txt").kind == "new"
    assert first(home, "axolotls sleep") == "long.txt#L1"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_other_unicode_encodings_are_read(home: Home, encoding: str) -> None:
    home.put("odd.txt", "Cherries are red in spring, 체리는 봄에 빨갛다.\n".encode(encoding))
    assert one(home, "odd.txt").kind == "new"
    assert first(home, "cherries") == "odd.txt#L1"


def test_latin_1_is_read_and_the_guess_is_said(home: Home) -> None:
    home.put("koeln.txt", "Äpfel und Öl für fünf Häuser, Grüße aus Köln, eine schöne Straße.\n".encode("latin-1"))
    item = one(home, "koeln.txt")
    assert [warning.kind for warning in item.warnings] == ["encoding_fallback"]
    assert "schöne Straße" in home.ok("search", "Straße in Köln")


def test_nul_bytes_in_a_text_do_no_harm(home: Home) -> None:
    home.put("nul.txt", b"Apples are\0 round.\nBananas are yellow.\n")
    assert one(home, "nul.txt").kind == "new"
    out = home.ok("search", "bananas yellow")
    assert "nul.txt" in out
    assert "\0" not in out


def test_bytes_that_are_no_text_fail_once_with_a_reason(home: Home) -> None:
    home.put("noise.txt", bytes(range(256)) * 40)
    home.put("fine.md", "# Fine\n\nThis can be read.\n")
    out = home.ok("ingest")
    assert "2 files in" in out
    assert "1 new, 1 failed" in out
    assert "  ✗ noise.txt\n    this file is not text; its content is binary" in out
    again = home.ok("ingest")
    assert "nothing changed" in again
    assert "not read: 1 file that failed before" in again
    assert "1 failed" in home.ok("ingest", "--retry")


@pytest.mark.parametrize(
    "name",
    ["가" * 82 + ".md", unicodedata.normalize("NFD", "한글 이름.md"), "🍇 grapes.md", "a #b %20 c?.md"],
    ids=["250 bytes of Hangul", "NFD", "emoji", "signs of an address"],
)
def test_odd_names_are_read_cited_and_shown(home: Home, name: str) -> None:
    home.put(name, "# Grapes\n\nGrapes are green.\n")
    assert "1 new" in home.ok("ingest")
    shown = unicodedata.normalize("NFC", name)
    assert home.ok("search", "grapes green").splitlines()[0].split("  ", 1)[1] in {f"{shown}#L1-L3", f"{shown}#L3"}
    assert f"path        {shown}" in home.ok("show", name)


def test_links_that_lead_out_or_in_circles_are_not_followed_and_said(home: Home, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\nNobody may read this pangolin.\n", encoding="utf-8")
    home.put("sub/fine.md", "# Fine\n\nThis can be read.\n")
    (home.workspace / "out.md").symlink_to(tmp_path / "secret.md")
    (home.workspace / "sub/up").symlink_to("..")
    (home.workspace / "broken.md").symlink_to("nowhere")
    out = home.ok("ingest")
    assert "note: out.md: the link leads out of the workspace and is not followed" in out
    assert "note: sub/up: the link leads back to a folder it is in" in out
    assert "note: broken.md: the link leads to nothing" in out
    found = RetrievalResponse.read(home.kb("search", "--json", "pangolin").out)
    assert all("pangolin" not in hit.snippet for hit in found.results)


def test_files_of_other_kinds_are_listed_with_the_reason(home: Home) -> None:
    home.put("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert "not read: 1 file of other kinds (`kb list items --state unsupported`)" in home.ok("ingest")
    (entry,) = [ItemEntry.read(line) for line in home.ok("list", "items", "--json").splitlines()]
    assert (entry.state, entry.doc_path) == ("unsupported", "old.doc")
    assert "office documents of this make are not read by this version" in " ".join(
        home.ok("list", "items", "--state", "unsupported").split()
    )


@pytest.fixture
def modest() -> Iterator[Home]:
    """A home that runs `kb` without root's powers over permissions."""
    folder = Path(tempfile.mkdtemp(prefix="kb-modest-"))
    home = Home(folder)
    home.workspace.mkdir()
    if os.getuid() == 0:
        for path in (folder, home.workspace):
            os.chown(path, NOBODY, NOBODY)
        if shutil.which("setpriv") is None:
            pytest.skip("root reads everything, and there is no setpriv")
    yield home
    shutil.rmtree(folder)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
def test_a_folder_without_permission_is_said_and_the_rest_is_read(modest: Home) -> None:
    before = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.getuid() == 0 else []
    if subprocess.run([*before, sys.executable, "-c", "import kb"], env=modest.environment, check=False).returncode:
        pytest.skip("another user cannot reach this checkout")
    modest.put("fine.md", "# Fine\n\nThis can be read.\n")
    locked = modest.put("locked/hidden.md", "# Hidden\n").parent
    locked.chmod(0)
    try:
        assert modest.kb("init", before=before, cwd=Path("/")).code == 0
        ran = modest.kb("ingest", before=before, cwd=Path("/"))
    finally:
        locked.chmod(0o755)
    assert ran.code == 0, ran
    assert "note: locked: no permission to look into the folder" in ran.out
    assert "searchable: 1 document" in ran.out


def test_an_empty_workspace_says_what_to_put_into_it(home: Home) -> None:
    ran = home.kb("ingest")
    assert ran.code == 0
    assert "the workspace is empty: put Markdown, text or source files into it" in ran.out
    asked = home.kb("ask", "--json", "What is in here?")
    answer = Answer.read(asked.out)
    assert (asked.code, answer.refusal_reason) == (1, "no_index")
    searched = home.kb("search", "anything")
    assert (searched.code, searched.out.splitlines()[0]) == (1, "no hits; the library is empty: run `kb ingest` first")
    listed = home.kb("list", "docs")
    assert (listed.code, listed.out) == (1, "no documents: put files into the workspace and run `kb ingest`\n")


def test_a_workspace_that_has_gone_is_an_error_and_nothing_is_forgotten(home: Home) -> None:
    home.put("fine.md", "# Fine\n\nThis can be read.\n")
    home.ok("ingest")
    home.workspace.rename(home.folder / "elsewhere")
    ran = home.kb("ingest")
    assert ran.code == 2
    assert ran.err.splitlines()[0] == "error: the workspace folder 'KnowledgeBase' does not exist"
    assert ran.err.splitlines()[1].startswith("hint: ")
    (home.folder / "elsewhere").rename(home.workspace)
    assert "nothing changed" in home.ok("ingest")
    assert home.ok("search", "fine").startswith("1. ")


def test_a_typo_in_the_config_is_a_warning_that_names_file_line_and_nearest_key(home: Home) -> None:
    home.config_file.write_text("schema_version = 1\n[search]\ntopk = 3\n", encoding="utf-8")
    home.put("fine.md", "# Fine\n\nThis can be read.\n")
    ran = home.kb("ingest")
    assert ran.code == 0
    assert "config.toml line 3: unknown key `search.topk`; did you mean `search.top_k`?" in ran.err
    assert home.kb("doctor").code == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[search]\n\ntop_k = "many"\n', "config.toml line 3: `search.top_k`: "),
        ("[search]\ntop_k = 99\n", "config.toml line 2: `search.top_k`: "),
        ("[search\n", "config.toml is not valid TOML: "),
        ('[workspace]\nroot = "$NOWHERE_SET/kb"\n', "uses $NOWHERE_SET, which is not set"),
    ],
)
def test_a_wrong_config_stops_every_command_with_the_place(home: Home, text: str, said: str) -> None:
    home.config_file.write_text(text, encoding="utf-8")
    # the root would come from the environment, which is stronger than the file
    ran = home.kb("search", "x", KB_WORKSPACE_ROOT="") if "root" in text else home.kb("search", "x")
    assert ran.code == 2, ran
    error, hint = ran.err.splitlines()
    assert error.startswith("error: ")
    assert said in error
    assert hint.startswith("hint: ")
    if "root" not in text:
        assert home.kb("doctor").code == 3
        assert "✗ config_loaded" in home.kb("doctor").out
        assert "replaced" in home.ok("init", "--force")
        assert home.kb("doctor").code == 0
        assert home.config_file.with_name("config.toml.bak").read_text(encoding="utf-8") == text
