"""A small matcher for GBNF, enough for our grammar: literals, classes, groups, alternatives, `? * +`, rule names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Match = Callable[[str, int], Iterator[int]]
"""From a text and a start to every end the rule can reach."""

_TOKEN = re.compile(r'\s*(?:(::=)|("(?:[^"\\]|\\.)*")|(\[\^?(?:[^\]\\]|\\.)+\])|([a-z][a-z-]*)|([|()?*+]))')
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def matches(grammar: str, text: str) -> bool:
    """Whether the whole text follows the grammar's `root`."""
    return len(text) in set(Grammar(grammar).rules["root"](text, 0))


def can_begin(grammar: str, text: str) -> bool:
    """Whether some text of the grammar begins with `text`."""
    reached = Grammar(grammar)
    list(reached.rules["root"](text, 0))
    return reached.furthest >= len(text)


class Grammar:
    def __init__(self, source: str) -> None:
        self.rules: dict[str, Match] = {}
        self.furthest = 0
        for line in source.splitlines():
            if line.strip():
                name, body = line.split("::=", 1)
                self.rules[name.strip()] = _Parser(self, body).alternatives()


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text)


@dataclass
class _Parser:
    grammar: Grammar
    rest: str

    def alternatives(self) -> Match:
        choices = [self.sequence()]
        while self.peek("|"):
            choices.append(self.sequence())

        def match(text: str, start: int) -> Iterator[int]:
            ends: set[int] = set()
            for choice in choices:
                ends.update(choice(text, start))
            yield from ends

        return match

    def sequence(self) -> Match:
        items: list[Match] = []
        while (item := self.item()) is not None:
            items.append(item)

        def match(text: str, start: int) -> Iterator[int]:
            ends = {start}
            for one in items:
                ends = {after for end in ends for after in one(text, end)}
            yield from ends

        return match

    def item(self) -> Match | None:
        token = _TOKEN.match(self.rest)
        if token is None or token[5] in {"|", ")"}:
            return None
        self.rest = self.rest[token.end() :]
        if token[2]:
            base = self.literal(_unescape(token[2][1:-1]))
        elif token[3]:
            base = self.letters(token[3])
        elif token[4]:
            base = self.named(token[4])
        else:
            base = self.alternatives()
            assert self.peek(")")
        for mark, low, many in (("?", 0, False), ("*", 0, True), ("+", 1, True)):
            if self.peek(mark):
                return repeated(base, low, many=many)
        return base

    def peek(self, mark: str) -> bool:
        stripped = self.rest.lstrip()
        if not stripped.startswith(mark):
            return False
        self.rest = stripped[len(mark) :]
        return True

    def literal(self, wanted: str) -> Match:
        def match(text: str, start: int) -> Iterator[int]:
            if text.startswith(wanted, start):
                self.reach(start + len(wanted))
                yield start + len(wanted)
            elif wanted.startswith(text[start:]):
                self.reach(len(text))

        return match

    def letters(self, source: str) -> Match:
        pattern = re.compile(source)

        def match(text: str, start: int) -> Iterator[int]:
            if start < len(text) and pattern.match(text, start):
                self.reach(start + 1)
                yield start + 1

        return match

    def named(self, name: str) -> Match:
        def match(text: str, start: int) -> Iterator[int]:
            # A rule may be used before it is read.
            yield from self.grammar.rules[name](text, start)

        return match

    def reach(self, place: int) -> None:
        self.grammar.furthest = max(self.grammar.furthest, place)


def repeated(base: Match, low: int, *, many: bool) -> Match:
    def match(text: str, start: int) -> Iterator[int]:
        ends, seen = {start}, {start} if low == 0 else set()
        while ends:
            ends = {after for end in ends for after in base(text, end)} - seen
            seen |= ends
            if not many:
                break
        yield from seen

    return match
