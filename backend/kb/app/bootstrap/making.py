"""What makes documents: by the recipe of the generation that serves, or by that of another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kb.adapters.sqlite.item_chunking import SqliteItemChunking
from kb.app.bootstrap.made_once import made_once
from kb.app.bootstrap.projections import ProjectionParts
from kb.domain.chunks import ChunkPolicy
from kb.domain.collection_settings import Settings
from kb.domain.failures import ModelUnavailable
from kb.domain.generations import Recipe, is_masked_now
from kb.ingest.chunk_policies import MakersByPolicy
from kb.ingest.chunking import chunker_version

if TYPE_CHECKING:
    from kb.adapters.workers.reader import ChildReader
    from kb.ingest.making import ParsedAndChunked
    from kb.ingest.ports import TextDecoder, Tokenizer


class MakingParts(ProjectionParts):
    """Parsers, masking, chunker and policy, and the recipe that names them."""

    @made_once
    def decoder(self) -> TextDecoder:
        """Return what makes text of bytes."""
        from kb.adapters.encoding.decoder import CharsetNormalizerDecoder

        return CharsetNormalizerDecoder()

    @made_once
    def reader(self) -> ChildReader:
        """Return what reads every kind of file but text, in child processes that start with the first such file."""
        from kb.app.readers import child_reader

        settings, folder = self.settings, self.configuration.data_dir / "scratch"
        limits, width = settings.limits.for_reading(), settings.indexing.max_parallel_files
        return child_reader(self.decoder, self.model_places, limits, folder, width)

    @made_once
    def wanted(self) -> Recipe:
        """Return the recipe that the settings and this program say, with the serving model where theirs is missing."""
        chunking, name = self.settings.chunking, self.settings.models.embedding.model
        policy = ChunkPolicy().with_settings(chunking.model_dump())
        model = None
        if self.settings.models.embedding.provider != "none":
            try:
                model = self.wanted_embedder().model
            except ModelUnavailable as error:
                self.model_problem = self.model_problem or error
        serving = self.serving.recipe
        if model is None and serving is not None:
            model, name = serving.model, serving.model_name
            policy = replace(policy, max_tokens=serving.policy.max_tokens)
        elif model is not None:
            policy = replace(policy, max_tokens=model.max_tokens)
        return Recipe(policy, chunker_version(policy), dict(self._parsers.versions), model, name)

    @made_once
    def recipe(self) -> Recipe:
        """Return the recipe that serves, with what is added to it in place."""
        stored = self.serving.recipe
        return self.wanted if stored is None else stored.joined(self.wanted)

    @property
    def pending(self) -> tuple[str, ...]:
        """Return in sentences what a generation made by the settings would have otherwise."""
        return self.recipe.differences(self.wanted)

    @made_once
    def maker(self) -> ParsedAndChunked:
        """Return what makes documents as they are made now."""
        is_known = self.serving.recipe is not None
        recipe, versions, cap = self.recipe, self._parsers.versions, self.recipe.policy.max_tokens
        policies = self.item_chunking.policies

        def knows(hashed: str) -> bool:
            known = policies().get(hashed)
            return known is not None and known.max_tokens == cap

        return self._parsers.cutting(
            recipe.policy,
            self._tokenizer,
            lambda fingerprint: is_known and recipe.accepts(fingerprint, versions),
            knows,
        )

    def maker_of(self, recipe: Recipe, tokenizer: Tokenizer | None, *, is_lenient: bool) -> ParsedAndChunked:
        """Return what makes documents by a recipe; a lenient one leaves alone what earlier parsers made by it."""
        versions = self._parsers.versions
        return self._parsers.cutting(
            recipe.policy, tokenizer, lambda fingerprint: is_lenient and recipe.accepts(fingerprint, versions)
        )

    @made_once
    def item_chunking(self) -> SqliteItemChunking:
        """Return how single items are cut."""
        return SqliteItemChunking(self.library)

    def makers_of(self, recipe: Recipe, tokenizer: Tokenizer | None, *, is_lenient: bool) -> MakersByPolicy:
        """Return what makes each item's document by a recipe, cut as is wanted of the item."""
        return self._makers(recipe, tokenizer, is_lenient=is_lenient, keeps=False)

    @property
    def makers(self) -> MakersByPolicy:
        """Return what makes each item's document as it is made now."""
        return self._makers(self.recipe, self._tokenizer, is_lenient=True, keeps=True)

    @property
    def makers_anew(self) -> MakersByPolicy:
        """Return what makes each item's document as its settings, a collection's or the workspace's say now."""
        wished = self.wanted.policy.settings
        return self._makers(self.recipe, self._tokenizer, is_lenient=True, keeps=False, workspace=wished)

    @property
    def _tokenizer(self) -> Tokenizer | None:
        return self.embedder.tokenizer if self.embedder else None

    def _makers(
        self,
        recipe: Recipe,
        tokenizer: Tokenizer | None,
        *,
        is_lenient: bool,
        keeps: bool,
        workspace: Settings | None = None,
    ) -> MakersByPolicy:
        def make(policy: ChunkPolicy) -> ParsedAndChunked:
            own = replace(recipe, policy=policy, chunker=chunker_version(policy))
            return self.maker_of(own, tokenizer, is_lenient=is_lenient)

        return MakersByPolicy(self.item_chunking, recipe.policy, make, keeps=keeps, workspace=workspace)

    @made_once
    def _parsers(self) -> ParsedAndChunked:
        from kb.app.readers import document_maker

        return document_maker(self.decoder, self.reader, ChunkPolicy(), None, self.settings.models.caption)

    def settle_chunking(self) -> None:
        """Let the recipe say how the workspace wants files cut, once none is left that was cut as it said before.

        Files that their own settings or a collection want cut so stay, and keep nobody waiting.
        """
        recipe, wanted = self.serving.recipe, self.wanted.policy
        if recipe is None or recipe.policy.cuts_as(wanted):
            return
        before, store = recipe.policy.hash(), self.item_chunking
        of_collections = {item_id: settings for item_id, (_, settings) in store.of_collections().items()}
        meant = {
            item_id
            for item_id, settings in {**of_collections, **store.overrides()}.items()
            if recipe.policy.with_settings(settings).cuts_as(recipe.policy)
        }
        if any(one.policy_hash == before and one.item_id not in meant for one in store.shown()):
            return
        self.item_chunking.remember(recipe.policy)
        policy = recipe.policy.with_settings(wanted.settings)
        now = replace(recipe, policy=policy, chunker=chunker_version(policy))
        self.generations.set_recipe(self.serving.generation_id, now)
        with self.making:
            for name in ("serving", "recipe", "maker"):
                self.__dict__.pop(name, None)

    def forget_masked_otherwise(self) -> None:
        """Let no generation that may come to serve hold what was masked by other rules than today's."""
        versions = self._parsers.versions
        self.generations.forget(lambda version: is_masked_now(version, versions))

    def settle_recipe(self, *, is_whole: bool) -> None:
        """Keep the recipe that documents are made by.

        Args:
            is_whole: every file was seen by it; before that, files of an old library are made anew by no recipe.
        """
        stored = self.serving.recipe
        if stored == self.recipe:
            return
        if stored is not None or is_whole or not self.library.rows("SELECT 1 FROM documents LIMIT 1"):
            self.generations.set_recipe(self.serving.generation_id, self.recipe)
            self.forget_masked_otherwise()
            with self.making:
                for name in ("serving", "recipe", "maker"):
                    self.__dict__.pop(name, None)
