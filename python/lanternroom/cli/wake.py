"""``deliver``, ``wait`` and ``responses``."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from ..faults import LanternError
from ..jsons import parse_exact, unmarked
from ..wake.answers import Answer, Content, TimedOut, from_answer
from ..wake.sweep import OnForeign
from .machine import Machine

_EXIT = {"approved": 0, "rejected": 3, "redirected": 4, "timed_out": 5}


def deliver(flags: Namespace, machine: Machine) -> int:
    details = _details(flags.details, machine)
    wake = machine.wake()
    delivered = wake.deliver(
        type=flags.type,
        headline=flags.headline,
        summary=flags.summary,
        details=details,
        timeout_seconds=flags.timeout,
        task_id=flags.task_id,
        thread_id=flags.thread_id,
        interrupt_id=flags.interrupt_id,
        idempotency_key=flags.idempotency_key,
    )
    if flags.wait:
        machine.err(f"Delivered {delivered.delivery_id}, waiting for the answer.\n")
        return _report(wake.wait_for(delivered.delivery_id), flags.json, machine)
    if not flags.json:
        machine.out(f"{delivered.delivery_id}\n")
        return 0
    facts = {name: getattr(delivered, name) for name in ("delivery_id", "created_at", "deduplicated")}
    machine.out(f"{json.dumps({**facts, 'status': 'received'})}\n")
    return 0


def wait(flags: Namespace, machine: Machine) -> int:
    wake = machine.wake()
    # Naming the id on the command line is what ``adopt`` asks for: the caller vouches for it.
    wake.adopt(flags.delivery_id)
    return _report(wake.wait_for(flags.delivery_id, timeout_seconds=flags.timeout), flags.json, machine)


def responses(flags: Namespace, machine: Machine) -> int:
    on_foreign: OnForeign | None = (lambda _: "adopt") if flags.all else None
    for swept in machine.wake().sweep(since=flags.since, follow=flags.follow, on_foreign=on_foreign):
        machine.out(f"{json.dumps({**from_answer(swept.answer), 'resume_from': swept.resume_from})}\n")
    return 0


def _report(answer: Answer | TimedOut, as_json: bool, machine: Machine) -> int:
    facts = from_answer(answer)
    if as_json:
        machine.out(f"{json.dumps(facts)}\n")
        return _EXIT[answer.status]
    lines = [answer.status, facts["feedback"], facts["edited_content"]]
    for line in lines:
        if line is not None:
            machine.out(f"{shown(line if isinstance(line, str) else json.dumps(line, indent=2))}\n")
    return _EXIT[answer.status]


def shown(text: str) -> str:
    """Other people's text, without anything that could control a terminal."""
    return "".join(one if one in "\n\t" or one.isprintable() else "\ufffd" for one in text)


def _details(given: str | None, machine: Machine) -> Content:
    if given is None:
        return None
    text = machine.stdin() if given == "-" else given
    if given.startswith("@"):
        try:
            text = Path(given[1:]).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise LanternError("wrong_usage", f"The file {given[1:]} for --details cannot be read.") from error
    text = unmarked(text)
    value = parse_exact(text)
    return value if isinstance(value, dict) else text
