"""One tool call before a person, and what came of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Union

from ..faults import LanternError
from ..threads import in_thread
from ..wake.answers import Answer, Approved, Redirected, Rejected, TimedOut
from ..wake.answers import Pending as Undecided
from ..wake.client import Wake
from .asking import answer_to
from .call import HeldCall, draft_of, edited_args, key_of

_DAY_SECONDS = 86_400


@dataclass(frozen=True)
class Run:
    """Run it with exactly these arguments: they are what the person has seen, or has put in their place."""

    delivery_id: str
    args: dict[str, Any]
    edited: bool
    #: For the model, beside the tool's result.
    note: str | None
    kind: Literal["run"] = field(default="run", init=False)


@dataclass(frozen=True)
class Refuse:
    """Do not run it, and tell the model why."""

    delivery_id: str
    message: str
    kind: Literal["refuse"] = field(default="refuse", init=False)


@dataclass(frozen=True)
class Pending:
    delivery_id: str
    kind: Literal["pending"] = field(default="pending", init=False)


Verdict = Union[Run, Refuse, Pending]


def review(
    framework: str, call: HeldCall, wake: Wake, *, wait: bool = True, timeout_seconds: int = _DAY_SECONDS
) -> Verdict:
    """Puts one tool call before a person and says what came of it. Made again for the same call, also after a crash or
    by another process with the same log, it finds the question it has already asked. ``wait=False`` looks once.

    ``verdict = review("mine", HeldCall([run_id, call_id], "refund", args), wake)``
    """
    answer = answer_to(wake, key_of(framework, call), draft_of(call, timeout_seconds), wait)
    if isinstance(answer, Undecided) and answer.timed_out_at is None:
        return Pending(answer.delivery_id)
    if isinstance(answer, (Undecided, TimedOut)):
        return _too_late(call, answer.delivery_id, wake)
    return _verdict(call, answer)


async def together(framework: str, calls: Sequence[HeldCall], wake: Wake, **options: Any) -> list[Verdict]:
    """What is held at the same time is asked at the same time: the person sees them all, and the longest wait is the
    only one."""
    asked = [asyncio.ensure_future(in_thread(review, framework, call, wake, **options)) for call in calls]
    try:
        return await asyncio.gather(*asked)
    finally:
        # If one fails, the others are not awaited: their questions stay on the desk, and are found again.
        for one in asked:
            one.cancel()


def _too_late(call: HeldCall, delivery_id: str, wake: Wake) -> Verdict:
    """Nobody should approve later what will no longer run. If somebody has just done so, that counts."""
    try:
        wake.withdraw(delivery_id, f"No answer in time: {call.tool} was not run.")
    except LanternError as error:
        if error.fault != "conflict":
            raise
        checked = wake.check(delivery_id)
        if not isinstance(checked, Undecided):
            return _verdict(call, checked)
    return Refuse(
        delivery_id, f"Nobody answered in time, so {call.tool} was not run. Go on without it, or ask again later."
    )


def _verdict(call: HeldCall, answer: Answer) -> Verdict:
    if isinstance(answer, Approved):
        return Run(answer.delivery_id, dict(call.args), False, _said(answer.feedback))
    if isinstance(answer, Rejected):
        return Refuse(answer.delivery_id, _rejected(call, answer))
    args = edited_args(call, answer.instructions.edited_content)
    if args is None:
        return Refuse(answer.delivery_id, _redirected(call, answer))
    note = f"A person changed the arguments to {json.dumps(args)}; {call.tool} ran with these."
    said = _said(answer.instructions.feedback)
    return Run(answer.delivery_id, args, True, note if said is None else f"{note} {said}")


def _rejected(call: HeldCall, answer: Rejected) -> str:
    if answer.withdrawn_at is not None:
        return f"The question about {call.tool} was taken back, so it was not run. {answer.feedback or ''}".strip()
    reason = _said(answer.feedback) or "They gave no reason."
    return (
        f"A person rejected this call, and {call.tool} was not run. {reason} "
        "Do not try the same again: find another way, or ask."
    )


def _redirected(call: HeldCall, answer: Redirected) -> str:
    edited = answer.instructions.edited_content
    theirs = None if edited is None else f"Their version: {json.dumps(edited)}."
    words = " ".join(filter(None, [_said(answer.instructions.feedback), theirs]))
    return f"A person wants this done differently, so {call.tool} was not run. {words} Follow that before you go on."


def _said(feedback: str | None) -> str | None:
    return None if feedback is None or not feedback.strip() else f"They said: {json.dumps(feedback)}."
