"""The README may only name commands that exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from kb.cli.main import app

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(program: str) -> Iterator[list[str]]:
    """Arguments of every command line of a program that the README shows, in blocks and in between."""
    shown = re.findall(r"^\$ (.+)$", README, re.MULTILINE) + re.findall(r"`([^`\n]+)`", README)
    for line in shown:
        words = shlex.split(line)
        while words and "=" in words[0]:
            words.pop(0)
        if words and words[0].replace(".venv/bin/", "").endswith(program):
            yield words[1:]
        elif words[:2] == ["python3", program]:
            yield words[2:]


def test_every_kb_command_of_the_readme_exists_with_its_options() -> None:
    seen = 0
    for words in commands("kb"):
        command = typer.main.get_command(app)
        rest = list(words)
        while rest and hasattr(command, "commands") and not (rest[0].startswith("-") and len(rest) < len(words)):
            # `kb chunks DOC` lists, without saying so.
            named = rest.pop(0) if rest[0] in command.commands or words[0] != "chunks" else "list"
            assert named in command.commands, words
            command = command.commands[named]
        known = {option for parameter in command.params for option in parameter.opts}
        options = {word.partition("=")[0] for word in rest if word.startswith("-")}
        assert options <= known, words
        seen += 1
    assert seen >= 10


@pytest.mark.parametrize("words", list(commands("dev.py")), ids=" ".join)
def test_every_dev_command_of_the_readme_exists(words: list[str]) -> None:
    line = [sys.executable, str(ROOT / "dev.py"), *words, "--help"]
    assert subprocess.run(line, capture_output=True, check=False).returncode == 0


def test_every_file_that_the_readme_links_to_exists() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).exists(), link
