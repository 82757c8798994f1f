"""Examples of connections: which models are used and where they run."""

from __future__ import annotations

from kb.contract.connections import Connection, Connections, ConnectionTest


def connections() -> Connections:
    """Embeddings by a server on this computer, the rest as it comes."""
    here, nothing = "stays on this computer", {"host": None, "leaves_computer": False, "key": "none"}
    nothing |= {"key_variable": None, "dimensions": None, "fits_index": None, "problem": None, "hint": None}
    embedding = {
        "role": "embedding",
        "provider": "openai_compatible",
        "model": "bge-m3",
        "host": "127.0.0.1:11434",
        "data_path": "every passage and question goes to 127.0.0.1:11434, on this computer",
        "key_variable": "KB_KEY_EMBEDDING",
        "dimensions": 1024,
        "fits_index": False,
        "problem": "the vectors of this library are another model's: rebuild pending",
        "hint": "run `kb index build`, which makes vectors with it",
    }
    others = (
        {"role": "rerank", "provider": "none", "model": "", "data_path": "nothing is ordered by a model"},
        {"role": "caption", "provider": "none", "model": "", "data_path": "no picture is described"},
        {"role": "answers", "provider": "extractive", "model": "", "data_path": here},
    )
    shown = tuple(Connection.model_validate(nothing | one) for one in (embedding, *others))
    return Connections(key_store=True, connections=shown)


def connection_test() -> ConnectionTest:
    """A server that answers with another model than the one the library's vectors are of."""
    return ConnectionTest(
        role="embedding",
        ok=True,
        host="127.0.0.1:11434",
        milliseconds=38.5,
        dimensions=1024,
        fits_index=False,
        detail="it answers; the vectors of this library are another model's: rebuild pending",
        hint="run `kb index build`, which makes vectors with it",
    )
