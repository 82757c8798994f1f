"""Cutting one file to look at the result; nothing is kept."""

from __future__ import annotations

from dataclasses import replace

from kb.app.bootstrap import Parts
from kb.domain.chunks import Chunk
from kb.domain.collection_settings import Settings
from kb.domain.errors import InvalidInput, NotFound, Unreadable
from kb.domain.files import FileBytes, ScannedFile
from kb.ingest.chunking import chunker_version


class Cutting:
    """Reads files of an opened library and cuts them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def cut(self, item_id: str, settings: Settings) -> tuple[Chunk, ...]:
        """Return what an item's file would be cut into.

        Raises:
            NotFound: the item shows nothing.
            Unreadable: neither the file nor a copy can be read.
        """
        parts = self._parts
        shown = parts.generation_build.shown_item(item_id)
        if shown is None:
            raise NotFound("the file shows no passages", hint="run `kb ingest`; `kb list docs` says what it waits for")
        content, files = self._bytes(item_id), parts.workspace_files()
        recipe = parts.recipe
        policy = recipe.policy.with_settings(settings)
        tokenizer = parts.embedder.tokenizer if parts.embedder else None
        own = replace(recipe, policy=policy, chunker=chunker_version(policy))
        maker = parts.maker_of(own, tokenizer, is_lenient=True)
        media_type = files.media_type(shown.item.path, content.data)
        if maker.fingerprint(media_type) is None:
            raise InvalidInput("such files are not read by this version", hint="name another file")
        return maker.begin(shown.item.path, content, media_type).finish().chunks

    def _bytes(self, item_id: str) -> FileBytes:
        parts = self._parts
        shown = parts.generation_build.shown_item(item_id)
        if shown is None:
            raise NotFound("the file shows no passages", hint="run `kb ingest`")
        item = shown.item
        if not item.identity.depth:
            try:
                return parts.workspace_files().read(ScannedFile(item.path, item.disk_name, item.identity))
            except Unreadable:
                pass
        copy = parts.copy_of(shown)
        if copy is None:
            raise Unreadable("the file is gone, and no copy of it is kept", reason="vanished")
        return copy
