"""Waiting for an answer, never for ever."""

from __future__ import annotations

from dataclasses import dataclass

from ..clock import end_of
from ..faults import PASSING, LanternError
from .answers import Answer, Pending, TimedOut, to_answer
from .parts import Parts, look

_LONGEST_HOLD_SECONDS = 60
_DEFAULT_WAIT_SECONDS = 3600.0


@dataclass(frozen=True)
class Look:
    answer: Answer | None
    trouble: LanternError | None
    was_held: bool


def wait_for(
    parts: Parts, delivery_id: str, timeout_seconds: float | None, assumption: str | None, poll_seconds: float
) -> Answer | TimedOut:
    if assumption is not None and not assumption.strip():
        raise LanternError("wrong_usage", "An assumption must say what the agent assumes: it is empty.")
    deadline = _deadline(parts, delivery_id, timeout_seconds)
    # A wrong address is told at once, so until the server has answered nothing is waited for and nothing forgiven.
    is_trial = not parts.transport.has_answered
    failures = 0
    while True:
        is_last = parts.clock.now() >= deadline
        seen = _look_once(parts, delivery_id, deadline, is_trial)
        if seen.answer is not None:
            return seen.answer
        left = max(deadline - parts.clock.now(), 0.0)
        if left == 0 and seen.trouble is None:
            return _conclude(parts, delivery_id, assumption)
        # Out of reach is not "no answer": a person may have said no in the meantime. What began in time and broke off
        # afterwards, as on a laptop that slept, is looked at once more.
        if is_last and seen.trouble is not None:
            raise seen.trouble
        failures = 0 if seen.trouble is None else failures + 1
        if not seen.was_held and not is_trial:
            # A restart takes seconds; whoever waits for an answer should not lose a minute over it.
            pause = poll_seconds if failures == 0 else min(2.0 ** (failures - 1), poll_seconds)
            parts.clock.sleep(min(pause, left))
        is_trial = False


def _look_once(parts: Parts, delivery_id: str, deadline: float, is_trial: bool) -> Look:
    started = parts.clock.now()
    hold = 0 if is_trial else max(0, min(int(deadline - started), _LONGEST_HOLD_SECONDS))
    try:
        checked = to_answer(look(parts, delivery_id, hold, deadline))
    except LanternError as error:
        # A wait of hours survives a restart of the server.
        if is_trial or error.fault not in PASSING:
            raise
        return Look(None, error, False)
    was_held = hold > 0 and parts.clock.now() - started >= hold / 2
    return Look(None if isinstance(checked, Pending) else checked, None, was_held)


def _deadline(parts: Parts, delivery_id: str, timeout_seconds: float | None) -> float:
    if timeout_seconds is not None:
        return end_of(parts.clock, "timeout_seconds", timeout_seconds)
    known = parts.journal.demand(delivery_id)
    if known.timeout_seconds is None:
        return parts.clock.now() + _DEFAULT_WAIT_SECONDS
    return known.delivered_at + known.timeout_seconds


def _conclude(parts: Parts, delivery_id: str, assumption: str | None) -> TimedOut:
    if assumption is None:
        parts.journal.record("timed_out", {"delivery_id": delivery_id})
    else:
        parts.journal.record("assumption", {"delivery_id": delivery_id, "assumption": assumption})
    return TimedOut(delivery_id, assumption)
