"""``listen`` and ``send-event``."""

from __future__ import annotations

import json
import signal
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event as Flag
from typing import Any, Callable

from ..akep import Inbox, Producer, Verdict
from ..akep.run import HandlerSays
from ..faults import LanternError
from ..jsons import unmarked
from .command import run_command
from .machine import Machine
from .wake import shown

_REJECTED = 10


def listen(flags: Namespace, machine: Machine) -> int:
    inbox = machine.inbox(flags.cursor_file, looking=flags.exec is None)
    options: dict[str, Any] = {"once": flags.once, "types": flags.types}
    if not flags.once:
        # It may be quiet for hours: nobody should think that it hangs.
        machine.err(f"Listening to the inbox at {machine.url()}. Ctrl-C ends.\n")
    if flags.exec is None:
        inbox.run(lambda event: _print("event", event, machine), on_resume=lambda it: _show(it, machine), **options)
        return 0
    with _stopping() as (stop, busy):
        hand = _hand(flags, machine, stop, busy)

        def on_resume(resume: dict[str, Any]) -> None:
            hand(resume["resume_id"], {"type": "resume", "resume": resume, "event": _event_of(inbox, resume)})

        def on_event(event: dict[str, Any]) -> HandlerSays:
            return hand(event["event_id"], {"type": "event", "event": event})

        inbox.run(on_event, on_resume=on_resume, stop=stop, **options)
    return 0


def send_event(flags: Namespace, machine: Machine) -> int:
    secret, producer_id = machine.setting("AKEP_WEBHOOK_SECRET"), machine.setting("AKEP_PRODUCER_ID")
    if secret is None or producer_id is None:
        raise LanternError(
            "wrong_usage",
            "Set AKEP_PRODUCER_ID and AKEP_WEBHOOK_SECRET (and AKEP_KEY_ID): "
            '"lanternroom producer add NAME" makes them.',
        )
    producer = Producer(
        machine.url(),
        producer_id=producer_id,
        name=flags.name,
        type=flags.type,
        secret=secret,
        key_id=machine.setting("AKEP_KEY_ID"),
        clock=machine.clock,
    )
    sent = producer.send(_read_event(flags.event, machine))
    machine.out(f"{json.dumps({'event_id': sent.event_id, 'accepted': True, 'duplicate': sent.duplicate})}\n")
    return 0


def _read_event(given: str, machine: Machine) -> dict[str, Any]:
    try:
        event = json.loads(unmarked(machine.stdin() if given == "-" else Path(given).read_text("utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise LanternError("wrong_usage", f"{given} is not a readable JSON object with an event.") from error
    if not isinstance(event, dict):
        raise LanternError("wrong_usage", f"{given} is not a JSON object with an event.")
    return event


def _hand(
    flags: Namespace, machine: Machine, stop: Flag, busy: Flag
) -> Callable[[str, dict[str, Any]], HandlerSays]:
    """Hands one item to the command, again and again while it fails and retries are left."""

    def hand(id: str, item: dict[str, Any]) -> HandlerSays:
        text = json.dumps(item, ensure_ascii=False) + "\n"
        code = 0
        for tried in range(flags.retries + 1):
            if tried > 0:
                pause = min(2.0 ** (tried - 1), 60.0)
                machine.err(f"{id}: the command ended with code {code}; trying again in {pause:g} s.\n")
                machine.clock.sleep(pause)
            busy.set()
            code, tail = run_command(flags.exec, text, machine.env, machine.out, machine.err)
            busy.clear()
            if code == 0:
                return Verdict("applied")
            if code == _REJECTED:
                return Verdict("rejected", tail or "exit code 10")
            if stop.is_set():
                raise KeyboardInterrupt
        times = "once" if flags.retries == 0 else f"{flags.retries + 1} times"
        raise LanternError(
            "refused",
            f"The command ended with code {code} on {id}, {times}: fix it and listen again; {id} "
            "then comes first (exit code 10 would reject it).",
        )

    return hand


@contextmanager
def _stopping() -> Iterator[tuple[Flag, Flag]]:
    """The first signal lets a running command finish; where nothing runs it ends the wait at once."""
    stop, busy = Flag(), Flag()

    def asked(*_: Any) -> None:
        stop.set()
        if not busy.is_set():
            raise KeyboardInterrupt

    before = {name: signal.signal(name, asked) for name in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop, busy
    except KeyboardInterrupt:
        if not stop.is_set():
            raise
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def _event_of(inbox: Inbox, resume: dict[str, Any]) -> dict[str, Any] | None:
    try:
        event: dict[str, Any] = inbox.get(resume["event_id"])["event"]
        return event
    except LanternError as error:
        if error.fault not in ("not_found", "conflict"):
            raise
        return None


def _show(resume: dict[str, Any], machine: Machine) -> None:
    _print("resume", resume, machine)


def _print(type: str, value: dict[str, Any], machine: Machine) -> HandlerSays:
    """Printing is not handling, so nothing is acknowledged."""
    machine.out(shown(json.dumps({"type": type, type: value})) + "\n")
    return "skip"
