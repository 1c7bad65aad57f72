"""Events as they travel (K4): plain dictionaries with the names of the wire."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Literal

from ..faults import LanternError

Event = dict[str, Any]
AckStatus = Literal["stored", "applied", "rejected"]
ACK_STATUSES: tuple[AckStatus, ...] = ("stored", "applied", "rejected")

_PARTS = (
    "spec",
    "event_id",
    "event_type",
    "occurred_at",
    "source",
    "subject",
    "knowledge",
    "routing",
    "links",
    "extensions",
)
_SUBJECTS = ("task_id", "thread_id", "agent_id", "user_id", "artifact_id")


def envelope_of(draft: Mapping[str, Any], source: Mapping[str, Any], now: float) -> Event:
    """The whole envelope, checked for what would surely be refused. The server judges the rest."""
    unknown = next((name for name in draft if name not in _PARTS), None)
    if unknown is not None:
        raise LanternError(
            "wrong_usage",
            f'AKEP events carry knowledge, not commands: leave out "{unknown}", or put it under extensions.',
        )
    knowledge = draft.get("knowledge") or {}
    plain = "text/plain" if isinstance(knowledge.get("content", ""), str) else "application/json"
    envelope: Event = {
        "spec": "akep.v1",
        "event_id": draft.get("event_id") or f"evt_{uuid.uuid4().hex}",
        "event_type": draft.get("event_type"),
        "occurred_at": draft.get("occurred_at") or iso(now),
        "source": {**source, **(draft.get("source") or {})},
        "subject": draft.get("subject"),
        "knowledge": {"content_type": plain, **knowledge},
        "routing": {"resume_policy": "resume_if_waiting", **(draft.get("routing") or {})},
        **{name: draft[name] for name in ("links", "extensions") if draft.get(name) is not None},
    }
    flaw = _flaw(envelope)
    if flaw is not None:
        raise LanternError("wrong_usage", flaw)
    return envelope


def is_event(value: Any) -> bool:
    """Enough of an envelope to be handled as one; the server checks the full schema."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("spec"), str)
        and re.fullmatch(r"akep\.v1(\.[0-9]+)?", value["spec"]) is not None
        and isinstance(value.get("event_id"), str)
        and isinstance(value.get("event_type"), str)
        and all(isinstance(value.get(name), dict) for name in ("source", "subject", "knowledge", "routing"))
    )


def iso(seconds: float) -> str:
    at = datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds")
    return at.replace("+00:00", "Z")


def _flaw(envelope: Event) -> str | None:
    subject, summary = envelope["subject"], envelope["knowledge"].get("summary")
    if not re.fullmatch(r"[A-Za-z0-9_:-]{8,128}", str(envelope["event_id"])):
        return 'An event_id has 8 to 128 letters, digits, "_", ":" or "-": give another one, or none.'
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]{1,126}[a-z0-9]", str(envelope["event_type"])):
        return 'An event_type is like "tool.completed": small letters, digits, ".", "_" and "-".'
    if not isinstance(subject, Mapping) or not any(isinstance(subject.get(name), str) for name in _SUBJECTS):
        return f"The subject says whom it concerns: give at least one of {', '.join(_SUBJECTS)}."
    if not isinstance(summary, str) or not summary:
        return "knowledge.summary is missing: say in a sentence what is known now."
    return None
