"""`kb ask`: a cited answer, or a refusal that says what was searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kb.cli.answer_text import finish
from kb.cli.command import command
from kb.cli.output import Exit, Output
from kb.cli.search import After, Before, Explain, Lang, Mode, PathGlob, Tag, Top, Trust, Type, Within, filters_of
from kb.cli.session import configuration, library
from kb.cli.wording import place_label, withdrawal

if TYPE_CHECKING:
    from kb.contract.answers import Answer, AskRequest
    from kb.contract.events import StreamEvent, Token
    from kb.contract.facade import Facade
    from kb.contract.retrieval import RetrievalResponse


def add_to(app: typer.Typer) -> None:
    """Add `ask`."""

    @command(app)
    def ask(
        out: Output,
        question: Annotated[list[str] | None, typer.Argument(help="The question.")] = None,
        *,
        top_k: Top = None,
        mode: Mode = "hybrid",
        tag: Tag = None,
        lang: Lang = None,
        path: PathGlob = None,
        types: Type = None,
        trust_min: Trust = None,
        collection: Within = None,
        after: After = None,
        before: Before = None,
        retrieval: Annotated[str, typer.Option("--retrieval", help="always or auto.")] = "always",
        temperature: Annotated[float | None, typer.Option("--temperature", help="0 to 2.")] = None,
        seed: Annotated[int | None, typer.Option("--seed", help="Makes an answer repeatable.")] = None,
        explain: Explain = False,
        replay: Annotated[str | None, typer.Option("--replay", help="Show a kept answer by its trace id.")] = None,
    ) -> Exit:
        """Answer a question, every sentence with its source."""
        from kb.app.requests import one_query, request_of
        from kb.contract.answers import AnswerRequest, AskRequest

        settings = configuration(out)
        explain = explain or settings.settings.rag.explain_default
        if replay:
            with library(out, "kb ask", settings) as facade:
                answer = facade.answers.get(request_of(AnswerRequest, trace_id=replay))
                now = {} if out.as_json else _now(facade, answer)
            return finish(out, answer, None, explain=explain, printed=False, now=now)
        request = request_of(
            AskRequest,
            question=one_query(question, "question"),
            mode=mode,
            retrieval_mode=retrieval,
            top_k=top_k,
            temperature=temperature,
            seed=seed,
            filters=filters_of(tag, lang, path, types, trust_min, days=(after, before)),
            collections=tuple(collection) if collection else None,
        )
        with library(out, "kb ask", settings) as facade:
            return _ask(out, facade, request, explain=explain)


def _ask(out: Output, facade: Facade, request: AskRequest, *, explain: bool) -> Exit:
    watching = _Watching(out if out.streams and not explain else None)
    answer = facade.answers.stream(request, watching.take)
    printed = watching.ends_with(answer.answer)
    return finish(out, answer, watching.found, explain=explain, printed=printed)


def _now(facade: Facade, answer: Answer) -> dict[str, str]:
    """Return in words, by their marker, what became of the sources of an old answer."""
    from kb.app.lookup import changed_sources

    changed = changed_sources(facade, answer)
    return {mark: f"now {place_label(uri)}" if uri else "gone: the file or these words in it" for mark, uri in changed}


class _Watching:
    """Prints text as it comes, when a person watches, and remembers what stands on the screen."""

    def __init__(self, out: Output | None) -> None:
        self.found: RetrievalResponse | None = None
        self._out = out
        self._written = ""

    def take(self, event: StreamEvent) -> None:
        """Take one event of the stream."""
        from kb.contract.events import Token
        from kb.contract.retrieval import RetrievalResponse

        if isinstance(event.data, RetrievalResponse):
            self.found = event.data
        elif isinstance(event.data, Token):
            self._print(event.data)

    def ends_with(self, answer: str) -> bool:
        """Return whether the answer stands on the screen already; if not, take back what does."""
        if self._out is None or not self._written:
            return False
        if self._written.strip() == answer.strip():
            self._out.line()
            return True
        self._take_back("the final answer differs")
        return False

    def _print(self, token: Token) -> None:
        if self._out is None:
            return
        if token.withdrawn is not None and self._written:
            self._take_back(withdrawal(token.withdrawn))
        self._out.piece(token.text)
        self._written += token.text

    def _take_back(self, reason: str) -> None:
        if self._out is not None:
            self._out.line(f"\n{typer.style(f'(taken back: {reason})', dim=True)}\n")
        self._written = ""
