"""A model file's own chat template, rendered as data: in Jinja's sandbox, and without the messages in it.

Templates come from strangers and once ran code (CVE-2024-34359). Messages come from strangers too: a note can hold
`<|im_start|>`. So the template is rendered around two placeholders, and only its own words are read as control
tokens; question and evidence become plain text tokens whatever they spell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn

from kb.domain.failures import ModelUnavailable

_SYSTEM = "Q8SYSTEMTEXTQ8"
_USER = "Q8USERTEXTQ8"
_PLAIN = "{system}\n\n{user}\n\n"


@dataclass(frozen=True, slots=True)
class Part:
    """A run of a prompt; `control` text comes from the template."""

    text: str
    control: bool = False


Tokenize = Callable[[Part], list[int]]
"""A part to tokens, none of which adds a begin or end mark."""


def chat_parts(template: str | None, system: str, user: str, *, bos: str, eos: str) -> list[Part]:
    """Return the prompt for one system and one user message, in parts.

    A model without a template (None) gets the messages one after the other. A template that takes no system message
    gets it at the head of the user's.

    Raises:
        ModelUnavailable: the template fails, does something else than placing text, or loses a message.
    """
    if template is None:
        return [Part(_PLAIN.format(system=system, user=user))]
    frame = _frame(template, bos, eos)
    before, _, rest = frame.partition(_SYSTEM)
    between, _, after = rest.partition(_USER)
    parts = (
        Part(before, control=True),
        Part(system),
        Part(between, control=True),
        Part(user),
        Part(after, control=True),
    )
    return [part for part in parts if part.text]


def tokens_of(parts: Sequence[Part], tokenize: Tokenize) -> list[int]:
    """Return the tokens of a prompt, control tokens only from the template."""
    return [token for part in parts for token in tokenize(part)]


def _frame(template: str, bos: str, eos: str) -> str:
    """Return the rendered template with both placeholders in it, once each and in order."""
    both = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": _USER}]
    merged = [{"role": "user", "content": f"{_SYSTEM}\n\n{_USER}"}]
    for messages in (both, merged):
        frame = _render(template, messages, bos, eos)
        if (
            frame is not None
            and frame.count(_SYSTEM) == frame.count(_USER) == 1
            and (frame.index(_SYSTEM) < frame.index(_USER))
        ):
            return frame
    raise ModelUnavailable(
        "the model file's chat template is not usable",
        hint="choose another model file; a template may only place messages",
    )


def _render(template: str, messages: Sequence[dict[str, str]], bos: str, eos: str) -> str | None:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, autoescape=False)
    # `lipsum` and `cycler` are doors that no chat template needs.
    environment.globals = {name: environment.globals[name] for name in ("range", "dict", "namespace")}
    try:
        return environment.from_string(template).render(
            messages=messages,
            add_generation_prompt=True,
            bos_token=bos,
            eos_token=eos,
            raise_exception=_raise,
            strftime_now=_fixed_date,
        )
    # A template may fail in any way a small program can.
    except Exception:  # noqa: BLE001 - each failure means the same: this template does not work with these messages
        return None


def _raise(message: str) -> NoReturn:
    raise ValueError(message)


def _fixed_date(form: str) -> str:
    """Return one day for ever: a prompt must not change with the calendar."""
    return datetime(2026, 1, 1, tzinfo=UTC).strftime(form)


def template_of(metadata: dict[str, Any]) -> str | None:
    """Return the chat template a GGUF file carries, None when it has none."""
    template = metadata.get("tokenizer.chat_template")
    return template if isinstance(template, str) and template.strip() else None
