"""The connections of an opened library: what each sends where, whether it answers, whether its vectors fit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kb.contract.connections import Connection, Connections, ConnectionTest, Role
from kb.domain.errors import InvalidInput, KebabError, NotFound
from kb.domain.failures import ModelUnavailable

if TYPE_CHECKING:
    from kb.app.bootstrap import Parts
    from kb.app.bootstrap.connections import Role as KeyedRole

_HERE = "stays on this computer"
_PROBES = ("Which sentence is about the sea?", ("The sea is salty.", "Bread is baked in an oven."))
_GLANCE_S = 5.0
_BUILD = "run `kb index build`, which makes vectors with it"


def ask_servers(parts: Parts) -> Iterator[tuple[str, str | None]]:
    """Ask every server that embeds or ranks, and yield what it said, with a hint where it did not answer."""
    models = parts.settings.models
    trials: list[tuple[str, Callable[[], object]]] = []
    if models.embedding.provider == "openai_compatible":
        trials.append(("embedding", lambda: parts.probe_server(_GLANCE_S)))
    if models.rerank.provider == "endpoint":
        trials.append(("rerank", lambda: _probe_reranker(parts, _GLANCE_S)))
    for role, trial in trials:
        try:
            trial()
        except KebabError as error:
            yield error.message, error.hint or None
        else:
            yield f"the {role} server answers", None


class ConnectionBoard:
    """Looks at the connections of an opened library."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def all(self) -> Connections:
        """Return every role; asks no server."""
        return Connections(
            key_store=self._parts.keys.is_available(),
            connections=(self._embedding(), self._rerank(), self._caption(), self._answers()),
        )

    def test(self, role: Role) -> ConnectionTest:
        """Send one harmless sentence; a connection that does not answer is a result, not an error.

        Raises:
            NotFound: nothing is configured for the role, or nothing that can be tried.
        """
        run, connection = self._trial(role), next(one for one in self.all().connections if one.role == role)
        started = time.perf_counter()
        detail, hint, dimensions = "it answers", None, None
        ok = True
        try:
            dimensions = run()
        except KebabError as error:
            ok, detail, hint = False, error.message, error.hint or None
        milliseconds = round((time.perf_counter() - started) * 1000, 1)
        fits = self._fits() if role == "embedding" and ok else None
        if fits is False:
            detail, hint = "it answers; the vectors of this library are another model's: rebuild pending", _BUILD
        return ConnectionTest(
            role=role,
            ok=ok,
            host=connection.host,
            milliseconds=milliseconds,
            dimensions=dimensions,
            fits_index=fits,
            detail=detail,
            hint=hint,
        )

    def set_key(self, role: Role, key: str) -> None:
        """Keep the key of a server.

        Raises:
            NotFound: the role has no server.
            StorageFailed: there is no key store, or it refused.
        """
        self._parts.keys.set(self._parts.key_name(self._keyed(role)), key)

    def remove_key(self, role: Role) -> None:
        """Forget the key of a server.

        Raises:
            NotFound: the role has no server, or no key in the key store.
            StorageFailed: there is no key store, or it refused.
        """
        name = self._parts.key_name(self._keyed(role))
        if not self._parts.keys.remove(name):
            raise NotFound(f"the key store has no key of the {role} server", hint="`kb connections list` shows keys")

    def _keyed(self, role: Role) -> KeyedRole:
        models = self._parts.settings.models
        if role == "embedding" and models.embedding.provider == "openai_compatible":
            return role
        if role == "rerank" and models.rerank.provider == "endpoint":
            return role
        if role == "caption" and models.caption.provider != "none":
            raise InvalidInput(
                "the key of the caption server comes from an environment variable",
                hint="name it in models.caption.key_variable",
            )
        raise NotFound(f"no server is set for {role}", hint=f"set models.{_section(role)} in the settings first")

    def _trial(self, role: Role) -> Callable[[], int | None]:
        parts, models = self._parts, self._parts.settings.models
        if role == "embedding" and models.embedding.provider == "openai_compatible":
            return parts.ask_dimensions
        if role == "embedding" and models.embedding.provider == "fastembed":
            return self._embed_here
        if role == "rerank" and parts.reranker is not None:
            return self._rerank_probe
        raise NotFound(f"there is nothing to try for {role}", hint=f"set models.{_section(role)} in the settings first")

    def _embed_here(self) -> int:
        return len(self._parts.wanted_embedder().embed_query(_PROBES[0])) // 4

    def _rerank_probe(self) -> None:
        _probe_reranker(self._parts, self._parts.settings.models.rerank.timeout_seconds)

    def _fits(self) -> bool | None:
        """Return whether the model of the settings made the vectors that serve; None without vectors."""
        recipe = self._parts.serving.recipe
        if recipe is None or recipe.model is None:
            return None
        wanted, served = self._parts.settings.models.embedding, recipe.model
        if wanted.provider == "openai_compatible":
            with suppress(KebabError):
                named = (wanted.provider, self._parts.address("embedding").base_url, wanted.model)
                if named != (served.provider, served.endpoint, served.id):
                    return False
            if self._parts.known_dimensions.get(served.endpoint, served.id) is None:
                return None
        try:
            return self._parts.wanted_embedder().model == recipe.model
        except ModelUnavailable:
            return None

    def _embedding(self) -> Connection:
        wanted = self._parts.settings.models.embedding
        if wanted.provider == "none":
            return _connection("embedding", "none", "", data_path="nothing is embedded")
        if wanted.provider == "fastembed":
            problem = self._parts.wanted_model_problem
            model = None if problem else self._parts.wanted_embedder().model
            return _connection(
                "embedding",
                wanted.provider,
                wanted.model,
                dimensions=model.dimensions if model else None,
                fits=self._fits(),
                problem=problem,
            )
        return self._of_server("embedding", wanted.provider, wanted.model, "every passage and question goes to")

    def _rerank(self) -> Connection:
        wanted = self._parts.settings.models.rerank
        if wanted.provider == "none":
            return _connection("rerank", "none", "", data_path="nothing is ordered by a model")
        if wanted.provider == "cross_encoder":
            return _connection("rerank", wanted.provider, wanted.model)
        return self._of_server(
            "rerank", wanted.provider, wanted.model, "with `search.rerank` = model, questions and passages found go to"
        )

    def _of_server(self, role: KeyedRole, provider: str, model: str, sent: str) -> Connection:
        parts = self._parts
        try:
            address, name = parts.address(role), parts.key_name(role)
        except KebabError as error:
            return _connection(role, provider, model, data_path="nothing is sent", problem=error)
        key = parts.keys.get(name)
        known = parts.known_dimensions.get(address.base_url, model) if role == "embedding" else None
        problem = None
        if role == "embedding" and known is None:
            problem = ModelUnavailable(
                "the server has not said its dimensions yet", hint="run `kb connections test embedding`"
            )
        fits = self._fits() if role == "embedding" else None
        if fits is False:
            problem = ModelUnavailable("the vectors of this library are another model's: rebuild pending", hint=_BUILD)
        path = f"{sent} {address.host}"
        return _connection(
            role,
            provider,
            model,
            host=address.host,
            data_path=f"{path}, on this computer" if address.is_loopback else path,
            leaves=not address.is_loopback,
            key=key.source if key else "none",
            key_variable=name.variable,
            dimensions=known,
            fits=fits,
            problem=problem,
        )

    def _caption(self) -> Connection:
        wanted = self._parts.settings.models.caption
        if wanted.provider == "none":
            return _connection("caption", "none", "", data_path="no picture is described")
        host = urlsplit(wanted.base_url).netloc.rpartition("@")[2]
        is_here = urlsplit(wanted.base_url).hostname in {"localhost", "127.0.0.1", "::1"}
        return _connection(
            "caption",
            wanted.provider,
            wanted.model,
            host=host,
            data_path=f"every picture goes to {host}" + (", on this computer" if is_here else ""),
            leaves=not is_here,
            key="environment" if wanted.key_variable else "none",
            key_variable=wanted.key_variable or None,
        )

    def _answers(self) -> Connection:
        wanted = self._parts.settings.models.llm
        return _connection("answers", wanted.provider, wanted.model)


def _connection(  # noqa: PLR0913 - the fields of the wire object, most of them usually absent
    role: Role,
    provider: str,
    model: str,
    *,
    host: str | None = None,
    data_path: str = _HERE,
    leaves: bool = False,
    key: str = "none",
    key_variable: str | None = None,
    dimensions: int | None = None,
    fits: bool | None = None,
    problem: KebabError | None = None,
) -> Connection:
    return Connection.model_validate(
        {
            "role": role,
            "provider": provider,
            "model": model,
            "host": host,
            "leaves_computer": leaves,
            "data_path": data_path,
            "key": key,
            "key_variable": key_variable,
            "dimensions": dimensions,
            "fits_index": fits,
            "problem": problem.message if problem else None,
            "hint": (problem.hint or None) if problem else None,
        }
    )


def _probe_reranker(parts: Parts, timeout_s: float) -> None:
    if parts.reranker is not None:
        question, texts = _PROBES
        parts.reranker.scores(question, texts, timeout_s)


def _section(role: Role) -> str:
    return "llm" if role == "answers" else role
