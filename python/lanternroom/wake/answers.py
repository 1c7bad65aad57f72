"""What a person decided. ``may_proceed`` answers one question: may I do what I proposed, as I proposed it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Union

from ..faults import LanternError
from ..jsons import text_of

DeliveryType = Literal["update", "question", "output", "alert"]
ResponseStatus = Literal["pending", "approved", "rejected", "redirected"]
Content = Union[dict[str, Any], str, None]

ANSWERED: tuple[ResponseStatus, ...] = ("approved", "rejected", "redirected")


@dataclass(frozen=True)
class Delivered:
    """Keep the id: it is the only way to the answer."""

    delivery_id: str
    created_at: str
    deduplicated: bool
    idempotency_key: str


@dataclass(frozen=True)
class Approved:
    """Go on as proposed: the person has left it as it was."""

    delivery_id: str
    feedback: str | None
    responded_at: str | None
    status: Literal["approved"] = field(default="approved", init=False)
    may_proceed: Literal[True] = field(default=True, init=False)


@dataclass(frozen=True)
class Rejected:
    """Do not do what was proposed. ``withdrawn_at`` is set when the agent itself took it back, and
    ``edited_content`` when the person wrote another version all the same."""

    delivery_id: str
    feedback: str | None
    responded_at: str | None
    withdrawn_at: str | None
    edited_content: Content = None
    status: Literal["rejected"] = field(default="rejected", init=False)
    may_proceed: Literal[False] = field(default=False, init=False)


@dataclass(frozen=True)
class Instructions:
    """What a person wants instead: words, another version, or both."""

    feedback: str | None
    edited_content: Content


@dataclass(frozen=True)
class Redirected:
    """Not as proposed: merge both parts of ``instructions`` into the work first. An approval that comes
    with edited content is one too, whatever its word: who has written another version does not mean
    the first one (W23)."""

    delivery_id: str
    instructions: Instructions
    responded_at: str | None
    status: Literal["redirected"] = field(default="redirected", init=False)
    may_proceed: Literal[False] = field(default=False, init=False)


@dataclass(frozen=True)
class Pending:
    """Nobody has decided yet."""

    delivery_id: str
    timed_out_at: str | None
    status: Literal["pending"] = field(default="pending", init=False)
    may_proceed: Literal[False] = field(default=False, init=False)


@dataclass(frozen=True)
class TimedOut:
    """No answer in time. One may proceed only with an assumption, which is in the local log by then."""

    delivery_id: str
    assumption: str | None
    status: Literal["timed_out"] = field(default="timed_out", init=False)

    @property
    def may_proceed(self) -> bool:
        return self.assumption is not None


Answer = Union[Approved, Rejected, Redirected]
Checked = Union[Approved, Rejected, Redirected, Pending]


@dataclass(frozen=True)
class Swept:
    """One answer of a sweep. A later sweep with ``since=resume_from`` misses nothing that follows it."""

    answer: Checked
    resume_from: str | None


def to_answer(body: Mapping[str, Any]) -> Checked:
    delivery_id, status, feedback = body["delivery_id"], body["status"], body["feedback"]
    responded_at, edited = body["responded_at"], body["edited_content"]
    if status == "approved" and edited is None:
        return Approved(delivery_id, feedback, responded_at)
    if status == "rejected":
        return Rejected(delivery_id, feedback, responded_at, body.get("withdrawn_at"), edited)
    if status in ("redirected", "approved"):
        return Redirected(delivery_id, Instructions(feedback, edited), responded_at)
    return Pending(delivery_id, body.get("timed_out_at"))


def from_answer(answer: Checked | TimedOut) -> dict[str, Any]:
    """An answer in the words of the wire."""
    said = answer.instructions if isinstance(answer, Redirected) else answer
    facts = {
        "delivery_id": answer.delivery_id,
        "status": answer.status,
        "feedback": getattr(said, "feedback", None),
        "edited_content": getattr(said, "edited_content", None),
        "responded_at": getattr(answer, "responded_at", None),
    }
    if isinstance(answer, TimedOut):
        return {**facts, "assumption": answer.assumption}
    more = {name: getattr(answer, name, None) for name in ("withdrawn_at", "timed_out_at")}
    return {**facts, **{name: at for name, at in more.items() if at is not None}}


def read_response(value: Any) -> dict[str, Any] | None:
    """A W14 body out of anything, or None: nobody may proceed on a word we cannot read."""
    if not isinstance(value, dict) or not isinstance(value.get("delivery_id"), str):
        return None
    if value.get("status") not in ("pending", *ANSWERED):
        return None
    if not isinstance(value.get("feedback"), (str, type(None))):
        return None
    if not isinstance(value.get("edited_content"), (dict, str, type(None))):
        return None
    names = ("delivery_id", "status", "feedback", "edited_content")
    more = {name: value[name] for name in ("timed_out_at", "withdrawn_at") if isinstance(value.get(name), str)}
    return {**{name: value.get(name) for name in names}, "responded_at": text_of(value.get("responded_at")), **more}


def demand_response(value: Any) -> dict[str, Any]:
    body = read_response(value)
    if body is None:
        raise LanternError(
            "bad_reply",
            "The server answered with something that is not a WAKE response: check the address and its version.",
        )
    return body
