"""How `kb` behaves as a program: exit codes, pipes, terminals, Ctrl-C, two at once, a server."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from kb.contract.answers import Answer
from kb.contract.retrieval import RetrievalResponse
from kb.contract.setup import InitReport
from tests.homes import Home, command, needs_embedder, sample_home, sample_questions

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals and terminals")


def two_notes(home: Home) -> Home:
    """Read two notes into a home."""
    home.put("plums.md", "# Plums\n\nPlums are purple and grow on the southern wall.\n")
    home.put("자두.md", "# 자두\n\n자두는 남쪽 담장에서 자란다.\n")
    home.ok("ingest")
    return home


@pytest.fixture
def notes(home: Home) -> Home:
    """A home of one test, which has read two notes."""
    return two_notes(home)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home that has read two notes; not to be changed."""
    home = Home(tmp_path_factory.mktemp("kept"))
    home.ok("init")
    return two_notes(home)


# what is asked wrongly


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["serach", "x"], "no such command 'serach'", "did you mean 'search'? see `kb --help`"),
        (["list", "dosc"], "no such command 'dosc'", "did you mean 'docs'? see `kb list --help`"),
        (["search", "--tga", "a", "x"], "no such option: --tga", "did you mean --tag? see `kb search --help`"),
        (["show"], "missing argument 'doc'", "see `kb show --help`"),
        (["search"], "the query is empty", "write the query in quotes after the command"),
        (["ask", "  "], "the question is empty", "write the question in quotes after the command"),
        (["search", "-k", "21", "x"], "top_k must be less than or equal to 20", "see the command's --help"),
        (
            ["search", "--mode", "fuzzy", "x"],
            "mode must be 'lexical', 'vector' or 'hybrid'",
            "see the command's --help",
        ),
        (["show", "nothing.md"], "there is no document 'nothing.md'", "list them with `kb list docs`"),
        (["inspect", "nothing.md"], "there is no document 'nothing.md'", "list them with `kb list docs`"),
        (["ask", "--replay", "ans_0"], "there is no kept answer 'ans_0'", "`kb ask --explain` prints the trace id"),
        (["ask", "--retrieval", "auto", "x"], "retrieval mode `auto` needs a model", "use --retrieval always"),
        (["ingest", "nothing.md"], "'nothing.md' does not exist", "check the name, or leave it out"),
        (["ingest", Path("/").anchor], "'' is not in the workspace", "copy it into the workspace folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_asked_wrongly_gets_one_line_a_hint_and_exit_code_2(
    kept: Home, arguments: list[str], error: str, hint: str
) -> None:
    ran = kept.kb(*arguments)
    assert (ran.code, ran.out) == (2, ""), ran
    first, second = ran.err.splitlines()
    assert first.startswith(f"error: {error}")
    assert second.startswith(f"hint: {hint}")


def test_without_a_command_kb_prints_its_help(tmp_path: Path) -> None:
    bare = Home(tmp_path).kb()
    assert bare.code == 0
    assert bare.out.startswith("Usage: kb ")
    names = re.findall(r"^  (\w+)  ", bare.out.partition("Commands:")[2], re.MULTILINE)
    assert names[:4] == ["init", "ingest", "search", "ask"]
    assert "..." not in bare.out.partition("Commands:")[2]
    assert Home(tmp_path).kb("--version").out.startswith("kb ")


def test_before_init_every_command_says_to_run_it(tmp_path: Path) -> None:
    for arguments in (["search", "x"], ["ask", "x"], ["ingest"], ["list", "docs"], ["index", "verify"], ["jobs"]):
        ran = Home(tmp_path).kb(*arguments)
        assert (ran.code, ran.err) == (2, "error: there is no library yet\nhint: run `kb init` first\n")
    doctor = Home(tmp_path).kb("doctor")
    assert doctor.code == 3
    assert "hint: run `kb init`" in doctor.out


# init


def test_init_makes_what_is_missing_and_keeps_what_is_there(tmp_path: Path) -> None:
    home = Home(tmp_path)
    first = [line.split(None, 1)[0] for line in home.ok("init").splitlines()]
    assert first == ["created", "created", "created", "opened", "hint"]
    folders = {path.name for path in home.workspace.iterdir()}
    assert folders == {"inbox", "notes", "papers", "photos", "recordings", ".kbignore"}
    (home.workspace / "inbox").rmdir()
    again = InitReport.read(home.ok("init", "--json"))
    assert [step.action for step in again.steps] == ["kept", "kept", "kept", "opened", "hint"]
    assert not (home.workspace / "inbox").exists()


def test_init_with_force_writes_the_config_anew_and_keeps_the_old_one(home: Home) -> None:
    home.config_file.write_text("[search]\ntop_k = 3\n", encoding="utf-8")
    assert "replaced " in home.ok("init", "--force")
    assert "\ntop_k = 3\n" in home.config_file.read_text(encoding="utf-8")
    assert home.config_file.with_name("config.toml.bak").read_text(encoding="utf-8") == "[search]\ntop_k = 3\n"


@posix
def test_what_kebab_writes_is_readable_for_its_owner_alone(kept: Home) -> None:
    for path in [kept.data, *kept.data.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE((kept.folder / "home" / "logs" / "kb.log").stat().st_mode) == 0o600


# output


def test_json_is_one_object_a_line_and_nothing_else(kept: Home) -> None:
    for arguments, lines in ((["search", "plums"], 1), (["ask", "What colour are plums?"], 1), (["list", "docs"], 2)):
        ran = kept.kb(*arguments, "--json", "--schema-version", "v1")
        assert ran.code == 0
        assert ran.err == ""
        objects = [json.loads(line) for line in ran.out.splitlines()]
        assert len(objects) == lines
        assert all(found["schema_version"].endswith(".v1") for found in objects)


def test_verbose_adds_the_causes_of_an_error(home: Home) -> None:
    home.config_file.write_text("[search]\ntop_k = 99\n", encoding="utf-8")
    plain, verbose = home.kb("search", "x"), home.kb("search", "x", "--verbose")
    assert len(plain.err.splitlines()) == 2
    assert verbose.err.splitlines()[2].startswith("caused by: ValidationError: ")


@posix
def test_a_reader_that_leaves_early_is_no_error(notes: Home) -> None:
    notes.put("long.md", "# Long\n\n" + "\n\n".join(f"Paragraph {n} says little. " * 40 for n in range(600)))
    notes.ok("ingest")
    arguments = command("inspect", "long.md")
    with subprocess.Popen(arguments, env=notes.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as pipe:
        assert pipe.stdout is not None
        assert pipe.stderr is not None
        assert pipe.stdout.readline().startswith(b"long.md")
        pipe.stdout.close()
        assert pipe.stderr.read() == b""
        assert pipe.wait(20) == 2


def terminal(home: Home, *arguments: str, **extra: str) -> tuple[int, str]:
    """Run `kb` on a terminal of 80 columns; return its exit code and what stands there, escapes and all."""
    import pty

    ours, theirs = pty.openpty()
    environment = {**home.environment, "COLUMNS": "80", "LINES": "24", "TERM": "xterm", **extra}
    process = subprocess.Popen(
        command(*arguments), env=environment, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    return process.wait(30), shown.decode().replace("\r\n", "\n")


@posix
def test_a_terminal_gets_styles_unless_no_color_is_set(kept: Home) -> None:
    code, styled = terminal(kept, "search", "plums")
    assert code == 0
    assert "\x1b[1mplums.md#L" in styled
    assert "\x1b[4mPlums\x1b[0m" in styled
    assert "\x1b" not in terminal(kept, "search", "plums", NO_COLOR="1")[1]
    assert "\x1b" not in kept.ok("search", "plums")


@posix
def test_on_a_terminal_an_answer_is_streamed_and_stands_there_once(kept: Home) -> None:
    code, shown = terminal(kept, "ask", "What colour are plums?", NO_COLOR="1")
    assert code == 0
    before, rule, after = shown.partition("─" * 80)
    assert rule
    assert before.count("Plums are purple") == 1
    assert after.count("grounded ✓") == 1


@posix
def test_short_work_shows_no_progress(kept: Home) -> None:
    # A busy machine may make it long: once in a few times it is short.
    assert any(" %" not in terminal(kept, "ingest")[1] for _ in range(8))
    assert kept.kb("ingest").err == ""


# stopping, and two at once


def many(home: Home, count: int) -> None:
    """Put notes into the workspace that take a while to read."""
    for number in range(count):
        body = "\n\n".join(f"Paragraph {n} of note {number} about topic {n * number % 97}. " * 8 for n in range(20))
        home.put(f"many/{number:04}.md", f"# Note {number}\n\n{body}\n")


@posix
def test_ctrl_c_stops_an_ingest_keeps_what_is_committed_and_exits_2(home: Home) -> None:
    many(home, 600)
    process = subprocess.Popen(
        command("ingest"), env=home.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: any((home.data / "assets").rglob("*/*")))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "stopping; what is committed stays" in err
    assert "stopped before the end: what was committed is kept, `kb ingest` goes on from there" in out
    assert "Traceback" not in err
    assert "searchable: 600 documents" in home.ok("ingest")


@posix
def test_a_second_command_waits_for_the_holder_and_then_says_who_it_is(notes: Home) -> None:
    import fcntl

    with (notes.data / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate()
        lock.write('{"owner": "kb ingest", "pid": 4711, "started_at": "2026-03-01T12:00:00+00:00"}')
        lock.flush()
        began = time.monotonic()
        ran = notes.kb("search", "plums")
        waited = time.monotonic() - began
    assert ran.code == 2
    assert ran.err.splitlines() == [
        "waiting: `kb ingest` (process 4711) holds the library",
        "error: `kb ingest` (process 4711) holds the library",
        "hint: wait until it has finished, or stop it, then try again",
    ]
    assert waited >= 10
    assert notes.ok("search", "plums").startswith("1. ")


def wait_until(happened: object, seconds: float = 60.0) -> None:
    """Wait for something to become true."""
    assert callable(happened)
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@posix
def test_while_a_server_runs_commands_work_through_it(notes: Home) -> None:
    question = "What colour are plums?"
    alone = Answer.read(notes.ok("ask", "--json", question))
    with notes.serving():
        assert stat.S_IMODE((notes.data / "server.json").stat().st_mode) == 0o600
        found = RetrievalResponse.read(notes.ok("search", "--json", "plums"))
        assert found.results[0].doc_path == "plums.md"
        through = Answer.read(notes.ok("ask", "--json", question))
        assert (through.answer, through.grounded) == (alone.answer, True)
        notes.put("pears.md", "# Pears\n\nPears are green.\n")
        assert "1 new" in notes.ok("ingest")
        assert notes.ok("search", "pears").splitlines()[0].partition("  ")[2].startswith("pears.md")
        assert notes.kb("doctor").code == 0
        missing = notes.kb("show", "nothing.md")
        assert (missing.code, missing.err.splitlines()[0]) == (2, "error: there is no document 'nothing.md'")
        second = notes.kb("serve")
        assert (second.code, "`kb serve`" in second.err) == (2, True)
    assert not (notes.data / "server.json").exists()


@posix
def test_word_of_a_server_that_was_killed_is_ignored(notes: Home) -> None:
    with notes.serving() as server:
        server.kill()
        server.wait(10)
    assert (notes.data / "server.json").exists()
    assert notes.ok("search", "plums").startswith("1. ")


def test_the_log_has_trace_ids_but_no_words_and_no_absolute_paths(kept: Home) -> None:
    answer = Answer.read(kept.ok("ask", "--json", "What colour are plums?"))
    log = (kept.folder / "home" / "logs" / "kb.log").read_text(encoding="utf-8")
    assert f"answered trace_id={answer.retrieval.trace_id}" in log
    assert "colour" not in log
    assert str(kept.folder) not in log


# without a network


@needs_embedder
@posix
def test_without_a_network_everything_works(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    alone = [unshare or "", "--net"] if os.getuid() == 0 else [unshare or "", "--net", "--map-root-user"]
    if unshare is None or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a network may not be taken away here")
    home = Home(tmp_path, {"KB_MODELS_EMBEDDING_PROVIDER": "fastembed"})
    assert home.kb("init", before=alone).code == 0
    home.put("plums.md", "# Plums\n\nPlums are purple and grow on the southern wall.\n")
    ingested = home.kb("ingest", before=alone)
    assert "1 passage, all with vectors" in ingested.out
    found = home.kb("search", "--mode", "vector", "fruit colour", before=alone)
    assert (found.code, "plums.md" in found.out) == (0, True)
    answer = home.kb("ask", "What colour are plums?", before=alone)
    assert (answer.code, "purple" in answer.out) == (0, True)


@needs_embedder
def test_a_missing_embedding_model_costs_meaning_but_not_words(tmp_path: Path) -> None:
    home = Home(tmp_path, {"KB_MODELS_EMBEDDING_PROVIDER": "fastembed", "KB_MODELS_EMBEDDING_MODEL": "nowhere"})
    home.ok("init")
    home.put("plums.md", "# Plums\n\nPlums are purple.\n")
    assert "search finds words only" in home.ok("ingest")
    found = home.ok("search", "plums")
    assert "degraded: searching by keywords only: no embedding model" in found
    doctor = home.kb("doctor")
    assert doctor.code == 3
    assert "✗ embedding_model     the embedding model 'nowhere' is not installed" in doctor.out


@needs_embedder
def test_a_language_model_for_tests_answers_with_a_citation_or_refuses(tmp_path: Path) -> None:
    from tests.homes import MODELS

    pytest.importorskip("llama_cpp")
    if not (MODELS / "smollm2-135m-instruct").is_dir():
        pytest.skip("the language model is made by `dev.py setup`")
    home = sample_home(tmp_path)
    model = {"KB_MODELS_LLM_PROVIDER": "llama_cpp", "KB_MODELS_LLM_MODEL": "smollm2-135m-instruct"}
    ran = home.kb("ask", "--json", sample_questions()[0]["text"], **model)  # type: ignore[arg-type]
    answer = Answer.read(ran.out)
    assert ran.code == (0 if answer.grounded else 1)
    assert answer.model.provider == "llama_cpp"
    markers = {source.marker for source in answer.citations if source.marker}
    assert set(re.findall(r"\[\d+\]", answer.answer)) == (markers if answer.grounded else set())
