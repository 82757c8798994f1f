"""Errors on the wire and back."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from kb.contract.problems import error_of, problem, problem_of, problem_of_bug, problem_of_invalid
from kb.contract.search import FindRequest
from kb.domain.errors import Conflict, ErrorCode, InvalidInput, InvalidSettings, KebabError, NotFound, Unreadable
from kb.domain.failures import Busy, Cancelled, ModelUnavailable, StorageFailed, Unreachable

ERRORS = [
    (InvalidInput("no", hint="do"), 400),
    (InvalidInput("no", hint="do", code=ErrorCode.INVALID_CITATION), 400),
    (InvalidSettings("no", hint="do"), 400),
    (NotFound("no", hint="do"), 404),
    (Conflict("no", hint="do"), 409),
    (Busy("no", hint="do"), 409),
    (Cancelled("no", hint="do"), 409),
    (Unreadable("no", hint="do"), 422),
    (Unreachable("no", hint="do"), 502),
    (StorageFailed("no", hint="do"), 503),
    (ModelUnavailable("no", hint="do"), 503),
    (KebabError("no", hint="do"), 500),
]


@pytest.mark.parametrize(("error", "status"), ERRORS, ids=lambda value: getattr(value, "code", value))
def test_an_error_comes_back_as_it_went(error: KebabError, status: int) -> None:
    sent = problem_of(error)
    assert sent is not None
    assert sent.status == status
    back = error_of(sent)
    assert type(back) is type(error)
    assert (back.code, back.message, back.hint) == (error.code, "no", "do")


def test_every_code_has_a_status() -> None:
    for code in ErrorCode:
        sent = problem_of(InvalidInput("no", code=code))
        assert sent is not None
        assert 400 <= sent.status < 600


def test_a_bug_is_not_an_error_of_ours() -> None:
    assert problem_of(RuntimeError("secret")) is None


def test_an_invalid_request_is_explained_without_its_values() -> None:
    with pytest.raises(ValidationError) as caught:
        FindRequest.model_validate_json('{"query": "", "top_k": 99, "mode": "s3cret"}')
    sent = problem_of_invalid(caught.value)
    assert (sent.status, sent.code) == (400, "bad_request")
    assert "query: " in sent.detail
    assert "top_k: " in sent.detail
    assert "s3cret" not in sent.detail


def test_a_long_list_of_complaints_is_cut() -> None:
    unknown = ", ".join(f'"x{n}": 1' for n in range(50))
    with pytest.raises(ValidationError) as caught:
        FindRequest.model_validate_json(f'{{"query": "q", {unknown}}}')
    assert problem_of_invalid(caught.value).detail.endswith("and 45 more")


def test_a_bug_says_its_incident_and_nothing_else() -> None:
    sent = problem_of_bug("1234abcd")
    assert (sent.status, sent.code, sent.incident) == (500, "internal", "1234abcd")
    assert type(error_of(sent)) is KebabError


def test_being_kept_out_means_the_server_cannot_be_used() -> None:
    assert isinstance(error_of(problem(401, "unauthorized", "no token")), Unreachable)


def test_a_code_of_a_later_version_is_still_an_error() -> None:
    assert isinstance(error_of(problem(418, "teapot", "short and stout")), InvalidInput)
