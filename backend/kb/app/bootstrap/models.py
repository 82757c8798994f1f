"""The models: the embedder in use and the language models, loaded when first needed."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import TYPE_CHECKING

from kb.adapters.sqlite.generations import SqliteGenerations
from kb.app.bootstrap.connections import ConnectionParts
from kb.app.bootstrap.made_once import made_once
from kb.app.bootstrap.searching import Turnstile
from kb.app.config_file import Configuration
from kb.app.counting import CountingEmbedder
from kb.app.models import find_folder, find_language_model
from kb.domain.answers import ModelRef
from kb.domain.embeddings import EmbeddingModel
from kb.domain.errors import KebabError
from kb.domain.failures import ModelUnavailable
from kb.domain.generations import Generation, Recipe
from kb.domain.search import Degradation
from kb.domain.servers import ServerUnreachable
from kb.retrieval.trace import NO_MODEL
from kb.retrieval.values import Degraded

_ENDPOINT = "openai_compatible"
_AT_ONCE = 16
"""Passages that wait for a server together: threads cost nothing there, and go in one request."""
_ASKING_S = 5.0
_PATIENCE_S = 30.0
"""After a server could not be asked it is left alone for so long."""
_RENEWED = ("retriever", "wanted", "recipe", "embedder", "maker")

if TYPE_CHECKING:
    from kb.adapters.models.language.llama_cpp_model import LlamaCppModel


class ModelParts(ConnectionParts):
    """What embeds and what writes."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.model_problem: ModelUnavailable | None = None
        self._wanted_embedder: CountingEmbedder | None = None
        self._asked_in_vain: tuple[float, ModelUnavailable] | None = None
        self.turnstile = Turnstile()
        self._models_lock = threading.RLock()
        self._language_models: dict[str, LlamaCppModel] = {}

    @made_once
    def generations(self) -> SqliteGenerations:
        """Return which generations there are."""
        return SqliteGenerations(self.library)

    @made_once
    def serving(self) -> Generation:
        """Return the generation that is shown; asked for anew after a switch."""
        return self.generations.serving()

    @made_once
    def embedder(self) -> CountingEmbedder | None:
        """Return the embedder of the serving generation; None without one, and `model_problem` says why."""
        if self.settings.models.embedding.provider == "none":
            return None
        recipe = self.serving.recipe
        try:
            return self.wanted_embedder() if recipe is None or recipe.model is None else self.embedder_of(recipe)
        except ModelUnavailable as error:
            self.model_problem = error
            return None

    def wanted_embedder(self) -> CountingEmbedder:
        """Return the embedder that the settings name.

        Raises:
            ModelUnavailable: it is not installed, or damaged.
        """
        if self._wanted_embedder is None:
            wanted = self.settings.models.embedding
            is_server = wanted.provider == _ENDPOINT
            self._wanted_embedder = self._of_server() if is_server else self._load_embedder(wanted.model)
        return self._wanted_embedder

    def embedder_of(self, recipe: Recipe) -> CountingEmbedder:
        """Return the embedder of a recipe that names a model, wherever it lies now.

        Raises:
            ModelUnavailable: it is not installed any more.
        """
        if recipe.model is not None and recipe.model.provider == _ENDPOINT:
            return self._of_its_server(recipe.model)
        if self.settings.models.embedding.provider != _ENDPOINT:
            with contextlib.suppress(ModelUnavailable):
                if (wanted := self.wanted_embedder()).model == recipe.model:
                    return wanted
        with contextlib.suppress(ModelUnavailable):
            if (found := self._load_embedder(recipe.model_name)).model == recipe.model:
                return found
        for place in self.model_places:
            for folder in sorted(place.iterdir()) if place.is_dir() else ():
                with contextlib.suppress(ModelUnavailable):
                    if (found := self._load_embedder(str(folder))).model == recipe.model:
                        return found
        name = recipe.model.id if recipe.model else "none"
        raise ModelUnavailable(
            f"the embedding model {name!r}, which made the vectors of this library, is not installed",
            hint="install it again, or run `kb index build` to make vectors with the one in the settings",
        )

    @property
    def wanted_model_problem(self) -> ModelUnavailable | None:
        """Return why the embedder that the settings name cannot be had, though another may serve; None if it can."""
        if self.settings.models.embedding.provider == "none":
            return None
        try:
            self.wanted_embedder()
        except ModelUnavailable as error:
            return error
        return None

    @property
    def model(self) -> EmbeddingModel | None:
        """Return the embedding model in use."""
        return self.embedder.model if self.embedder else None

    @property
    def no_vectors(self) -> Degraded:
        """Return what searches say as long as there is no embedder."""
        problem, recipe = self.model_problem, self.serving.recipe
        if isinstance(problem, ServerUnreachable):
            return Degraded("vector", Degradation.EMBEDDING_ENDPOINT_UNREACHABLE, problem.message)
        served = recipe.model if recipe else None
        if problem is not None and served is not None and served.provider == _ENDPOINT:
            return Degraded("vector", Degradation.INDEX_INCOMPATIBLE, problem.message)
        return NO_MODEL

    def language_model(self) -> LlamaCppModel:
        """Return the configured language model.

        Raises:
            ModelUnavailable: none is chosen, or it is not installed.
        """
        wanted = self.settings.models.llm
        file = find_language_model(wanted.model, self.model_places)
        with self._models_lock:
            if file.id not in self._language_models:
                from kb.adapters.models.language.llama_cpp_model import LlamaCppModel
                from kb.adapters.models.language.trial import ModelTrial

                window = min(wanted.context_tokens, file.context_tokens or wanted.context_tokens)
                self._language_models[file.id] = LlamaCppModel(
                    file.path,
                    ModelRef(file.id, "llama_cpp"),
                    window,
                    wanted.threads or None,
                    ModelTrial(self.configuration.locations.cache_dir / "model-trials.json"),
                )
            return self._language_models[file.id]

    @property
    def embedding_workers(self) -> int:
        """Return how many passages are embedded at once."""
        at_once = _AT_ONCE if self.settings.models.embedding.provider == _ENDPOINT else os.cpu_count() or 1
        return self.settings.indexing.max_parallel_embeddings or at_once

    def probe_server(self, timeout_s: float | None = None) -> int:
        """Ask the embedding server of the settings how many dimensions its model has; nothing is kept.

        Raises:
            ModelUnavailable: it does not answer, refuses, or gives no vector.
            InvalidSettings: there is no such server in the settings.
        """
        from kb.adapters.models.embedding.endpoint import ask_dimensions

        wanted = self.settings.models.embedding
        return ask_dimensions(self.server("embedding"), wanted.model, timeout_s or wanted.timeout_seconds)

    def ask_dimensions(self) -> int:
        """Do as `probe_server`, and go by what it says from now on."""
        wanted, address = self.settings.models.embedding, self.address("embedding")
        dimensions = self.probe_server()
        is_new = self.known_dimensions.get(address.base_url, wanted.model) != dimensions
        self._asked_in_vain = None
        if is_new:
            self.known_dimensions.keep(address.base_url, wanted.model, dimensions)
        with self.making:
            if is_new or self._wanted_embedder is None:
                self._wanted_embedder = self.model_problem = None
                for name in _RENEWED:
                    self.__dict__.pop(name, None)
        return dimensions

    def look_for_server(self) -> None:
        """Ask a server again that could not be asked for its dimensions before; others are known already."""
        if self.settings.models.embedding.provider == _ENDPOINT and self._wanted_embedder is None:
            with contextlib.suppress(KebabError), self.making:
                self.wanted_embedder()
                self.model_problem = None
                for name in _RENEWED:
                    self.__dict__.pop(name, None)

    def _of_server(self) -> CountingEmbedder:
        """Return the embedder of the server in the settings; asks it for its dimensions, once."""
        from kb.adapters.models.embedding.endpoint import ask_dimensions, endpoint_model

        wanted = self.settings.models.embedding
        try:
            address = self.address("embedding")
            dimensions = self.known_dimensions.get(address.base_url, wanted.model)
            if dimensions is None:
                self._require_patience()
                patience = min(wanted.timeout_seconds, _ASKING_S)
                dimensions = ask_dimensions(self.server("embedding"), wanted.model, patience)
                self.known_dimensions.keep(address.base_url, wanted.model, dimensions)
        except ModelUnavailable as error:
            self._asked_in_vain = self._asked_in_vain or (time.monotonic(), error)
            raise
        except KebabError as error:
            raise ModelUnavailable(error.message, hint=error.hint) from error
        return self._embedder_at(
            endpoint_model(
                wanted.model,
                address.base_url,
                address.host,
                dimensions,
                wanted.query_prefix,
                wanted.passage_prefix,
                wanted.max_tokens,
            )
        )

    def _require_patience(self) -> None:
        if self._asked_in_vain is not None:
            since, error = self._asked_in_vain
            if time.monotonic() - since < _PATIENCE_S:
                raise type(error)(error.message, hint=error.hint)
            self._asked_in_vain = None

    def _of_its_server(self, model: EmbeddingModel) -> CountingEmbedder:
        """Return the embedder of a library made by a server, as long as the settings name that server.

        Its questions could be sent there all the same; but whoever took an address out of the settings does not
        expect that.
        """
        with contextlib.suppress(KebabError):
            is_named = self.settings.models.embedding.provider == _ENDPOINT
            if is_named and self.address("embedding").base_url == model.endpoint:
                return self._embedder_at(model)
        raise ModelUnavailable(
            f"the vectors of this library are {model.id} ({model.version}), which the settings do not name any more: "
            "incompatible, rebuild pending",
            hint="run `kb index build`, or name that server again under models.embedding",
        )

    def _embedder_at(self, model: EmbeddingModel) -> CountingEmbedder:
        from kb.adapters.models.embedding.endpoint import EndpointEmbedder
        from kb.adapters.models.embedding.estimate import EstimatingTokenizer

        embedder = EndpointEmbedder(self.server("embedding"), model, self.settings.models.embedding.timeout_seconds)
        return CountingEmbedder(embedder, EstimatingTokenizer(), self.turnstile.let_by)

    def _load_embedder(self, name: str) -> CountingEmbedder:
        folder = find_folder(name, self.model_places)
        if folder is None:
            raise ModelUnavailable(
                f"the embedding model {name!r} is not installed",
                hint="run `python3 dev.py setup`, or set models.embedding.model to the folder of a model",
            )
        from kb.adapters.models.embedding.fastembed_embedder import FastembedEmbedder
        from kb.adapters.models.embedding.tokenizer import EmbedderTokenizer

        return CountingEmbedder(FastembedEmbedder(folder), EmbedderTokenizer(folder), self.turnstile.let_by)
