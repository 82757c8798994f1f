"""`FastembedEmbedder`: a local ONNX model through fastembed, one text a call, never a network."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from kb.adapters.models.embedding.folder import ModelFolder, read_folder, unavailable
from kb.adapters.models.embedding.tokenizer import sound
from kb.domain.embeddings import EmbeddingModel, Vector
from kb.domain.errors import Unreadable

if TYPE_CHECKING:
    from fastembed import TextEmbedding

_REGISTERING = threading.Lock()
"""fastembed keeps custom models in a list of the class, which all embedders of a process share."""


class FastembedEmbedder:
    """`PassageEmbedder` and `QueryEmbedder` over a model folder.

    The manifest is read at once, the model when a text comes. Texts go through one by one: a vector of the int8
    model depends on its neighbours in a batch, and single texts without padding are the faster way too.
    May be used from several threads; they share the one session, which may run concurrently.
    """

    def __init__(self, model_folder: Path, threads: int = 1) -> None:
        """Read the manifest.

        Raises:
            ModelUnavailable: the folder or its manifest is missing or wrong.
        """
        self._folder: ModelFolder = read_folder(model_folder, "fastembed")
        self._threads = threads
        self._lock = threading.Lock()
        self._embedding: TextEmbedding | None = None

    @property
    def model(self) -> EmbeddingModel:
        """The model, known without loading it."""
        return self._folder.model

    def embed_passage(self, text: str) -> Vector:
        """Return the vector of one passage; what is beyond the window does not count.

        Raises:
            ModelUnavailable: the model cannot be loaded or run.
        """
        return self._embed(self.model.passage_prefix + text)

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question.

        Raises:
            ModelUnavailable: the model cannot be loaded or run.
        """
        return self._embed(self.model.query_prefix + text)

    def _embed(self, text: str) -> Vector:
        embedding = self._loaded()
        try:
            (vector,) = embedding.embed([sound(text)])
        # onnxruntime has a tree of its own under Exception, and none of its errors can be mended here.
        except Exception as error:
            if _runs(embedding):
                raise Unreadable("this text cannot be embedded", reason="embedding") from error
            raise unavailable(f"the embedding model {self.model.id} failed to run") from error
        if vector.shape != (self.model.dimensions,):
            raise unavailable(f"the embedding model {self.model.id} gives {vector.shape[-1]} dimensions")
        return Vector(vector.astype("<f4").tobytes())

    def _loaded(self) -> TextEmbedding:
        if self._embedding is None:
            with self._lock:
                if self._embedding is None:
                    self._embedding = self._load()
        return self._embedding

    def _load(self) -> TextEmbedding:
        # Read at import: without it a missing file would mean half a minute of tries to reach a hub.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        from fastembed import TextEmbedding

        name = f"kb/{self.model.fingerprint()}"
        _register(name, self._folder)
        try:
            return TextEmbedding(
                name,
                cache_dir=str(self._folder.path),
                threads=self._threads,
                providers=["CPUExecutionProvider"],
                specific_model_path=str(self._folder.path),
                local_files_only=True,
            )
        # fastembed, tokenizers and onnxruntime each raise what they like for a damaged file.
        except Exception as error:
            raise unavailable(f"the files of the embedding model {self.model.id} are missing or damaged") from error


def _runs(embedding: TextEmbedding) -> bool:
    """Return whether the model runs at all: then a failure was that of one text."""
    try:
        return len(list(embedding.embed(["probe"]))) == 1
    except Exception:  # noqa: BLE001 - whatever it raises, it does not run
        return False


def _register(name: str, folder: ModelFolder) -> None:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    with _REGISTERING:
        if any(known["model"] == name for known in TextEmbedding.list_supported_models()):
            return
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.MEAN,
            normalization=True,
            # A source is demanded; it is never asked, for the path is given and only local files are allowed.
            sources=ModelSource(hf=name),
            dim=folder.model.dimensions,
            model_file=folder.model_file,
        )
