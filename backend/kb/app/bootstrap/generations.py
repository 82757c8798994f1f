"""Generations: what builds one, what asks one questions, and the exchange of everything that serves."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from kb.adapters.sqlite.gate import SqliteGatedChunks
from kb.adapters.sqlite.generation_build import SqliteGenerationBuild
from kb.adapters.sqlite.generation_switch import SqliteGenerationSwitch
from kb.adapters.workers.confinement import give_back_memory
from kb.app.bootstrap.made_once import made_once
from kb.app.bootstrap.making import MakingParts
from kb.app.bootstrap.projections import index_folder
from kb.domain.errors import InvalidInput
from kb.domain.failures import ModelUnavailable
from kb.domain.files import FileBytes
from kb.domain.generations import FIRST, Generation, GenerationState, Recipe, ShownItem
from kb.domain.ids import content_hash
from kb.ingest.generations import GenerationPorts
from kb.ingest.ports import FileSource
from kb.retrieval.retriever import Retriever, VectorSide
from kb.retrieval.vector_channel import VectorChannel

_SERVED = ("text_index", "scan", "chroma", "retriever", "serving", "wanted", "recipe", "embedder", "maker")
_STREAMED = 64 << 20
_HEAD = 1 << 16


class GenerationParts(MakingParts):
    """Generations beside the serving one."""

    @made_once
    def generation_build(self) -> SqliteGenerationBuild:
        """Return what keeps a generation while it is made."""
        return SqliteGenerationBuild(self.library)

    @contextmanager
    def generation_ports(self, generation: Generation, files: FileSource, *, is_new: bool) -> Iterator[GenerationPorts]:
        """Give what building a generation works with; a new one takes over only what today's parsers would make.

        Raises:
            ModelUnavailable: its model is not there, though the settings want vectors.
        """
        recipe = _recipe_of(generation)
        embedder = None
        if recipe.model is not None and self.settings.models.embedding.provider != "none":
            embedder = self.embedder_of(recipe)
        tokenizer = embedder.tokenizer if embedder else None
        with closing(self.projections_of(generation.generation_id)) as projections:
            yield GenerationPorts(
                files=files,
                copies=self.copy_of,
                maker=self.maker_of(recipe, tokenizer, is_lenient=not is_new),
                build=self.generation_build,
                vectors=self.vectors,
                counts=lambda: self.generations.counts(generation),
                text_index=projections.text_index,
                vector_indexes=projections.vector_indexes if embedder else (),
                embedder=embedder,
                artifacts=self.artifacts,
                together=self.library.transaction,
                give_back=give_back_memory,
                makers=self.makers_of(recipe, tokenizer, is_lenient=not is_new),
            )

    @contextmanager
    def retriever_of(self, generation: Generation) -> Iterator[Retriever]:
        """Give the search of a generation that is ready or retired, as it would be if it served.

        Raises:
            InvalidInput: it is not made yet.
        """
        if generation.state not in {GenerationState.READY, GenerationState.RETIRED}:
            raise InvalidInput(
                f"generation {generation.generation_id} is {generation.state} and cannot be asked",
                hint="run `kb index build`, which finishes it",
            )
        recipe, side = _recipe_of(generation), None
        gate = SqliteGatedChunks(self.library, generation.generation_id)
        with closing(self.projections_of(generation.generation_id)) as projections:
            if recipe.model is not None:
                with suppress(ModelUnavailable):
                    embedder = self.embedder_of(recipe)
                    # The exact one alone: a graph would be started for a few questions.
                    channel = VectorChannel(projections.scan, None, "scan")
                    side = VectorSide(embedder, channel, projections.scan, gate)
            yield Retriever(
                gate,
                projections.text_index,
                side,
                clock_ms=lambda: time.perf_counter() * 1000,
                new_trace_id=lambda: "ret_preview",
            )

    def switch(self, target: Generation) -> None:
        """Serve another generation: at once for all searches, and for good with one commit.

        Raises:
            StorageFailed: it lacks something, or SQLite refused; nothing has changed.
        """
        recipe = _recipe_of(target)
        with ExitStack() as stack:
            with self.library.transaction():
                SqliteGenerationSwitch(self.library).switch(target.generation_id, recipe.model)
                # From the commit on other passages may be seen: searches that began before it end before it.
                stack.enter_context(self.turnstile.shut())
            with self.making:
                served = [self.__dict__.pop(name, None) for name in _SERVED]
                self.model_problem = None
        for part in served[:3]:
            if part is not None:
                part.close()

    def remove_discarded(self) -> None:
        """Remove what only discarded generations need, from the library and from the disk."""
        self.generations.sweep()
        kept = {str(one.generation_id) for one in self.generations.all()}
        folder = self.configuration.data_dir / "generations"
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.name not in kept:
                _remove(path)
        if str(FIRST) not in kept:
            for name in ("tantivy", "vectors", "chroma"):
                _remove(index_folder(self.configuration.data_dir, FIRST) / name)

    def copy_of(self, shown: ShownItem) -> FileBytes | None:
        """Return the kept bytes of an item's document; of a large recording the first, and where the rest is."""
        asset, root = shown.asset, self.configuration.data_dir.resolve()
        if asset.storage_kind != "copied":
            return None
        path = (root / asset.storage_path).resolve()
        if not path.is_relative_to(root) or not path.is_file():
            return None
        if asset.byte_len >= _STREAMED:
            with path.open("rb") as file:
                head = file.read(_HEAD)
            return FileBytes(head, asset.checksum, shown.item.identity, str(path), asset.byte_len)
        data = path.read_bytes()
        return FileBytes(data, asset.checksum, shown.item.identity) if content_hash(data) == asset.checksum else None


def _recipe_of(generation: Generation) -> Recipe:
    if generation.recipe is None:
        raise InvalidInput("nothing has been read under this generation yet", hint="run `kb ingest` first")
    return generation.recipe


def _remove(path: Path) -> None:
    # Links are removed themselves, never what they lead to.
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
