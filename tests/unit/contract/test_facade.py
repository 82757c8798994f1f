"""The method table is read from annotations."""

from __future__ import annotations

from kb.contract.answers import Answer, AskRequest
from kb.contract.base import Request, Wire
from kb.contract.facade import contract_groups, methods_of


class Hello(Request):
    """Says hello."""


class Reply(Wire):
    """Answers."""


class Greeter:
    """Has two methods of the contract's form and three of other forms."""

    def hello(self, request: Hello) -> Reply:
        """Return a greeting.

        More about it.
        """
        return Reply()

    def abstain(self, request: Hello) -> None:
        """Return nothing."""

    def pair(self, request: Hello, other: int) -> Reply:
        """Take two things."""
        return Reply()

    def plain(self, request: str) -> Reply:
        """Take a text."""
        return Reply()

    def _hidden(self, request: Hello) -> Reply:
        return Reply()


def test_a_method_takes_one_request_and_gives_one_reply() -> None:
    (method,) = methods_of({"greeter": Greeter})
    assert (method.group, method.name, method.summary) == ("greeter", "hello", "Return a greeting.")
    assert (method.request, method.reply) == (Hello, Reply)


def test_the_groups_of_the_contract_have_their_methods() -> None:
    table = {(method.group, method.name): method for method in methods_of(contract_groups())}
    assert (table["answers", "ask"].request, table["answers", "ask"].reply) == (AskRequest, Answer)
    assert ("answers", "stream") not in table
    assert ("viewer", "file") not in table


def test_no_group_has_more_than_ten_methods_and_each_says_what_it_does() -> None:
    methods = methods_of(contract_groups())
    for group in contract_groups():
        assert len([method for method in methods if method.group == group]) <= 10
    assert all(method.summary.endswith(".") for method in methods)
