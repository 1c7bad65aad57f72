"""The retry rules of W23 in one place: 401 stops, 429 waits and tries once more, the rest backs off."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal, Union

_BACKOFF_SECONDS = (0.25, 1.0, 3.0)
LIMIT_WAIT_SECONDS = 60.0  # over the limit, and the server does not say for how long
_LONGEST_WAIT_SECONDS = 24 * 3600.0


@dataclass(frozen=True)
class Attempt:
    """What came of one attempt; no status means no reply at all."""

    status: int | None
    retry_after: str | None = None
    #: When it left, by the clock of whoever sent it.
    served_at: float | None = None


@dataclass(frozen=True)
class Tried:
    failures: int = 0
    limits: int = 0


@dataclass(frozen=True)
class Take:
    pass


@dataclass(frozen=True)
class Wait:
    seconds: float
    tried: Tried


@dataclass(frozen=True)
class GiveUp:
    fault: Literal["unauthorized", "rate_limited", "unreachable", "server_failed"]


Verdict = Union[Take, Wait, GiveUp]


def judge(attempt: Attempt, tried: Tried, now: float, chance: float) -> Verdict:
    """What to do after one attempt. ``chance`` is a random number from 0 to 1."""
    if attempt.status is None:
        return _back_off("unreachable", tried, chance, None)
    # A date is by the server's clock: by our own it could be hours away, or past.
    asked = retry_after_seconds(attempt.retry_after, now if attempt.served_at is None else attempt.served_at)
    if attempt.status == 401:
        return GiveUp("unauthorized")
    if attempt.status == 429:
        if tried.limits > 0:
            return GiveUp("rate_limited")
        return Wait(LIMIT_WAIT_SECONDS if asked is None else asked, Tried(tried.failures, tried.limits + 1))
    if attempt.status >= 500 or attempt.status == 408:
        return _back_off("server_failed", tried, chance, asked)
    return Take()


def _back_off(
    fault: Literal["unreachable", "server_failed"], tried: Tried, chance: float, asked: float | None
) -> Verdict:
    if tried.failures >= len(_BACKOFF_SECONDS):
        return GiveUp(fault)
    # ±20 %, so that many agents do not come back in the same instant after an outage.
    seconds = _BACKOFF_SECONDS[tried.failures] * (0.8 + 0.4 * chance)
    return Wait(max(seconds, asked or 0.0), Tried(tried.failures + 1, tried.limits))


def retry_after_seconds(header: str | None, now: float | None) -> float | None:
    """``Retry-After`` as seconds or as a date; None when it is absent or unreadable, as a date is to who has no clock.

    >>> retry_after_seconds("12", 0)
    12.0
    """
    if header is None:
        return None
    text = header.strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        seconds = float(text)
    elif now is None:
        return None
    else:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - now
        except (TypeError, ValueError, IndexError, OverflowError):
            return None
    return min(max(seconds, 0.0), _LONGEST_WAIT_SECONDS)
