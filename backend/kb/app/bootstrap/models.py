"""The models: the embedder in use and the language models, loaded when first needed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kb.adapters.sqlite.generations import SqliteGenerations
from kb.app.bootstrap.library import LibraryParts
from kb.app.bootstrap.made_once import made_once
from kb.app.bootstrap.searching import Turnstile
from kb.app.config_file import Configuration
from kb.app.counting import CountingEmbedder
from kb.app.models import find_folder, find_language_model
from kb.domain.answers import ModelRef
from kb.domain.embeddings import EmbeddingModel
from kb.domain.failures import ModelUnavailable
from kb.domain.generations import Generation, Recipe

if TYPE_CHECKING:
    from kb.adapters.models.language.llama_cpp_model import LlamaCppModel


class ModelParts(LibraryParts):
    """What embeds and what writes."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self.model_problem: ModelUnavailable | None = None
        self._wanted_embedder: CountingEmbedder | None = None
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
            self._wanted_embedder = self._load_embedder(self.settings.models.embedding.model)
        return self._wanted_embedder

    def embedder_of(self, recipe: Recipe) -> CountingEmbedder:
        """Return the embedder of a recipe that names a model, wherever it lies now.

        Raises:
            ModelUnavailable: it is not installed any more.
        """
        for find in (self.wanted_embedder, lambda: self._load_embedder(recipe.model_name)):
            with contextlib.suppress(ModelUnavailable):
                if (found := find()).model == recipe.model:
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
    def model_places(self) -> Sequence[Path]:
        """Return the folders in which models lie, the first that has one wins."""
        return [self.configuration.locations.bundled_models, self.configuration.data_dir / "models"]

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
