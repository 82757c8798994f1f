"""Numbers of sheets as a person reads them: dates in ISO form, percents and amounts as their format shows them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from functools import lru_cache

_CURRENCY = re.compile(r"\[\$([^\]-]{1,4})[^\]]*\]|([$€£¥₩])|\"([$€£¥₩]|[A-Z]{3}|원|元|円)\"")
_COUNTRY = re.compile(r"\[\$-[^\]]*\]")
_DECIMALS = re.compile(r"[0#]\.(0+)")
_GROUPED = re.compile(r"[#0],[#0]{3}")
_MOST_DECIMALS = 10
_EXACT = 15
"""Digits a double keeps."""


def shown(value: float, number_format: str) -> str:
    """Return a number the way its format shows it, percents, amounts and thousands; else all its digits."""
    return _writer(number_format)(value)


def plain(value: float) -> str:
    """Return a number with all digits it has, whole ones without a point."""
    if value == int(value) if abs(value) < 10**_EXACT else False:
        return str(int(value))
    return format(value, f".{_EXACT}g")


def moment(value: datetime | date | time | timedelta) -> str:
    """Return a date, time or duration: `2024-05-06`, `2024-05-06 14:30`, `14:30:15`."""
    if isinstance(value, datetime):
        if value.time() == time():
            return value.date().isoformat()
        return value.isoformat(sep=" ", timespec="seconds" if value.second else "minutes")
    if isinstance(value, time):
        return value.isoformat(timespec="seconds" if value.second else "minutes")
    return str(value)


@lru_cache(maxsize=512)
def _writer(number_format: str) -> Callable[[float], str]:
    positive = _COUNTRY.sub("", number_format.split(";", maxsplit=1)[0])
    found = _DECIMALS.search(positive)
    decimals = min(len(found[1]), _MOST_DECIMALS) if found else 0
    grouping = "," if _GROUPED.search(positive) else ""
    if positive.rstrip().endswith("%"):
        return lambda value: f"{value * 100:.{decimals}f}%"
    currency = _CURRENCY.search(positive)
    if currency:
        sign = next(filter(None, currency.groups()), "")
        behind = positive.find(currency[0]) > max(positive.find("0"), positive.find("#"))
        return lambda value: _amount(value, sign, behind=behind, form=f"{grouping}.{decimals}f")
    if grouping:
        return lambda value: f"{value:,.{decimals}f}"
    return plain


def _amount(value: float, sign: str, *, behind: bool, form: str) -> str:
    digits = format(abs(value), form)
    minus = "-" if value < 0 else ""
    return f"{minus}{digits} {sign}" if behind else f"{minus}{sign}{digits}"
