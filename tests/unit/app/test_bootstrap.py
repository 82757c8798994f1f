"""The parts of a library are made once, and the exact index never falls behind by a race."""

from __future__ import annotations

import threading
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from kb.app.bootstrap import Parts, library
from kb.app.config_file import load_configuration
from kb.domain.embeddings import EmbeddingModel
from tests.builders import MODEL


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    home = {"KB_HOME": str(tmp_path), "KB_MODELS_EMBEDDING_PROVIDER": "none", "KB_SEARCH_VECTOR_ENGINE": "scan"}
    return Parts(load_configuration(home))


def test_two_threads_that_ask_at_once_get_the_same_part(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        made = 0
        begun = threading.Event()

        def __init__(self, _library: object) -> None:
            Slow.made += 1
            Slow.begun.set()
            # Time enough for the other to come in, if it may.
            second.join(0.2)

    # As Python 3.12 has it: without a lock of its own.
    def unlocked(self: Any, instance: Any, _owner: Any = None) -> Any:
        if self.attrname not in instance.__dict__:
            instance.__dict__[self.attrname] = self.func(instance)
        return instance.__dict__[self.attrname]

    monkeypatch.setattr(cached_property, "__get__", unlocked, raising=True)
    monkeypatch.setattr(library, "SqliteVectorStore", Slow)
    second = threading.Thread(target=lambda: Slow.begun.wait() and parts.vectors)
    second.start()
    first = parts.vectors
    second.join()
    parts.library.close()
    assert (Slow.made, parts.vectors is first) == (1, True)


def test_what_is_committed_while_the_exact_index_follows_is_followed_next_time(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed: list[int] = []

    def freshen(_parts: Parts, _model: EmbeddingModel) -> None:
        followed.append(parts.library.revision)
        if len(followed) == 1:
            parts.library.revision += 1

    monkeypatch.setattr(Parts, "model", property(lambda _parts: MODEL))
    monkeypatch.setattr(Parts, "_freshen", freshen)
    for _ in range(3):
        parts.fresh_retriever()
    parts.close()
    assert followed == [0, 1]


def test_what_a_backup_may_still_read_stays_until_it_is_done(parts: Parts) -> None:
    artifact = parts.configuration.data_dir / "artifacts" / ("0" * 32) / "transcript"
    artifact.parent.mkdir(parents=True)
    artifact.write_bytes(b"")
    with parts.files_held.holding():
        parts.discard_orphans()
        assert artifact.exists()
    parts.discard_orphans()
    assert not artifact.exists()
