"""The child: it alone opens Chroma. `python -m kb.adapters.chroma.worker`, frames on stdin and stdout.

It ends with its parent (on Linux by signal, elsewhere when stdin closes), lowers its priority, and may not
write files beyond a limit: Chroma is known to fill a disk when its store is damaged.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from kb.adapters.chroma.frames import Facts, Frame, read_frame, write_frame

_GRACE_SECONDS = 5.0
_NICENESS = 5
_MISSING = "missing"


class _Store:
    """One Chroma folder with the one collection the parent asked for."""

    def __init__(self) -> None:
        self._client: Any = None
        self._collection: Any = None

    def open(self, facts: Facts, tail: bytes) -> Frame:
        """Open the folder; `create` makes the collection when it is not there."""
        del tail
        import chromadb
        from chromadb.config import Settings
        from chromadb.errors import NotFoundError

        # Never an embedding function: without one Chroma would fetch a model from the network.
        settings = Settings(anonymized_telemetry=False, allow_reset=False)
        self._client = chromadb.PersistentClient(str(facts["folder"]), settings=settings)
        name = str(facts["name"])
        if facts["create"]:
            hnsw = {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 16}
            self._collection = self._client.create_collection(
                name, embedding_function=None, configuration={"hnsw": hnsw}
            )
        else:
            try:
                self._collection = self._client.get_collection(name, embedding_function=None)
            except NotFoundError:
                return Frame({"error": _MISSING})
        return Frame({"count": self._collection.count()})

    def upsert(self, facts: Facts, tail: bytes) -> Frame:
        """Write `count` vectors: keys (u64), then vectors (float32)."""
        import numpy as np

        count = int(facts["count"])
        keys = np.frombuffer(tail, "<u8", count)
        vectors = np.frombuffer(tail, "<f4", offset=8 * count).reshape(count, -1)
        self._collection.upsert(ids=[str(key) for key in keys], embeddings=vectors)
        return Frame({})

    def delete(self, facts: Facts, tail: bytes) -> Frame:
        """Remove keys (u64); unknown ones are no error."""
        import numpy as np

        del facts
        self._collection.delete(ids=[str(key) for key in np.frombuffer(tail, "<u8")])
        return Frame({})

    def query(self, facts: Facts, tail: bytes) -> Frame:
        """Return keys (u64) and cosine distances (float32) of the nearest to one vector."""
        import numpy as np

        vector = np.frombuffer(tail, "<f4")
        found = self._collection.query(
            query_embeddings=vector.reshape(1, -1), n_results=int(facts["limit"]), include=["distances"]
        )
        keys = np.array([int(key) for key in found["ids"][0]], "<u8")
        distances = np.array(found["distances"][0], "<f4")
        return Frame({"count": len(keys)}, keys.tobytes() + distances.tobytes())

    def count(self, facts: Facts, tail: bytes) -> Frame:
        """Return how many vectors there are."""
        del facts, tail
        return Frame({"count": self._collection.count()})

    def keys(self, facts: Facts, tail: bytes) -> Frame:
        """Return up to `limit` keys (u64) from the one numbered `offset` on."""
        import numpy as np

        del tail
        found = self._collection.get(include=[], limit=int(facts["limit"]), offset=int(facts["offset"]))
        keys = np.array([int(key) for key in found["ids"]], "<u8")
        return Frame({"count": len(keys)}, keys.tobytes())

    def close(self) -> None:
        """Let Chroma write what it holds."""
        if self._client is not None:
            self._client.close()


def main() -> None:
    """Answer frames until stdin closes."""
    answers = _own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes stdin
    _end_with_parent()
    asked: queue.Queue[Frame | None] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, asked), daemon=True).start()
    store = _Store()
    operations: Mapping[str, Callable[[Facts, bytes], Frame]] = {
        "open": store.open,
        "upsert": store.upsert,
        "delete": store.delete,
        "query": store.query,
        "count": store.count,
        "keys": store.keys,
    }
    while (frame := asked.get()) is not None:
        if frame.facts["do"] == "limit":
            _limit(frame.facts)
            reply = Frame({})
        else:
            reply = _answer(operations[str(frame.facts["do"])], frame)
        try:
            write_frame(answers, reply)
        except OSError:
            break
    with contextlib.suppress(Exception):
        store.close()


def _answer(operation: Callable[[Facts, bytes], Frame], frame: Frame) -> Frame:
    try:
        return operation(frame.facts, frame.tail)
    except Exception as error:  # noqa: BLE001 - whatever Chroma raises, the parent decides
        return Frame({"error": type(error).__name__})


def _listen(stream: BinaryIO, asked: queue.Queue[Frame | None]) -> None:
    while (frame := read_frame(stream)) is not None:
        asked.put(frame)
    asked.put(None)
    # The parent is gone or wants an end; work that hangs must not outlive it.
    time.sleep(_GRACE_SECONDS)
    os._exit(1)


def _own_stdout() -> BinaryIO:
    """Keep stdout for frames alone: whatever a library prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _end_with_parent() -> None:
    if sys.platform != "linux":
        return
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def _limit(facts: Facts) -> None:
    """Lower the priority and bound memory and file size where the system can."""
    if sys.platform == "win32":
        return
    if sys.platform == "linux" and os.getppid() != facts["parent"]:
        os._exit(1)  # it died before we asked to be told
    import resource

    os.nice(_NICENESS)
    for kind, most in ((resource.RLIMIT_FSIZE, facts["file_bytes"]), (resource.RLIMIT_AS, facts["memory_bytes"])):
        # macOS knows no limit of address space.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (int(most), int(most)))


if __name__ == "__main__":
    main()
