"""The turnstile: searches under way end on what they began with, and those that come wait for what is new."""

from __future__ import annotations

import threading

from kb.app.bootstrap.searching import Turnstile


def test_the_exchange_waits_for_searches_under_way_and_keeps_others_out() -> None:
    turnstile = Turnstile()
    inside, leave = threading.Event(), threading.Event()
    order: list[str] = []

    def first() -> None:
        with turnstile.searching():
            inside.set()
            leave.wait(10)
            order.append("first")

    def second() -> None:
        with turnstile.searching():
            order.append("second")

    def exchange() -> None:
        with turnstile.shut():
            order.append("exchange")
            later.start()
            later.join(0.1)  # it may not come in

    early, later, middle = (threading.Thread(target=work) for work in (first, second, exchange))
    early.start()
    assert inside.wait(10)
    middle.start()
    middle.join(0.1)
    assert order == []
    leave.set()
    for thread in (early, middle, later):
        thread.join(10)
    assert order == ["first", "exchange", "second"]


def test_a_search_that_hangs_is_not_waited_for_for_ever() -> None:
    turnstile = Turnstile(patience_s=0.05)
    with turnstile.searching(), turnstile.shut():
        pass
    with turnstile.searching():
        pass
