"""The durable inbox of one agent. What arrives while nobody reads is there at the next read, in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event as Flag
from typing import Any, Callable
from urllib.parse import quote

from ..clock import Clock, SystemClock
from ..endpoint import read_endpoint
from ..faults import LanternError
from ..log import FileLog, Log
from ..recorder import Recorder
from ..transport import Call, Transport
from .cursor import Bookmark, CursorStore, FileCursor, List, MemoryCursor
from .envelope import AckStatus, Event, envelope_of, is_event
from .follow import Wanted, follow
from .pages import Gap, InboxParts, odd
from .producer import Sent, accepted, encode
from .run import Handler, OnError, OnResume, Verdict, acknowledge, entry_path, run
from .subscriptions import list_subscriptions, subscribe, unsubscribe
from .waits import Awaited, end_wait, list_waits, open_wait, wait_for


class Inbox:
    """``cursor`` says where to remember how far the inbox was read: a file, or a store of your own. Left out, it is
    remembered as long as this object lives, and the next one starts at the beginning.

    >>> inbox = Inbox("http://127.0.0.1:8787", "wk_test_abc", cursor="./inbox.cursor")
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        cursor: str | Path | CursorStore | None = None,
        log: Log | None = None,
        clock: Clock | None = None,
        alert: Callable[[LanternError], None] | None = None,
        on_cursor_expired: Callable[[Gap], None] | None = None,
    ) -> None:
        base = read_endpoint(url, api_key)
        beat = clock or SystemClock()
        recorder = Recorder(log if log is not None else FileLog(), beat, api_key, base)
        store = FileCursor(cursor) if isinstance(cursor, (str, Path)) else (cursor or MemoryCursor())
        transport = Transport(base, api_key, beat, recorder.alerting(alert), stops_on_forbidden=True)
        told = on_cursor_expired if on_cursor_expired is not None else (lambda _: None)
        self._parts = InboxParts(transport, recorder, beat, Bookmark(store), told)

    def __iter__(self) -> Iterator[Event]:
        return self.events()

    def events(
        self,
        *,
        types: Sequence[str] | None = None,
        once: bool = False,
        limit: int = 100,
        stop: Flag | None = None,
    ) -> Iterator[Event]:
        """Every event from where the last reader stopped, then each as it comes, unless ``once``. An event counts as
        read when the next one is asked for; acknowledging it is up to you.

        ``for event in inbox.events(types=["human.approved"]): inbox.ack(event["event_id"], "applied")``
        """
        return (item.value for item in follow(self._parts, Wanted(("events",), types, once, limit, stop)))

    def resumes(self, *, once: bool = False, limit: int = 100, stop: Flag | None = None) -> Iterator[dict[str, Any]]:
        """Every decision of the server that a paused run may go on. ``run`` with ``on_resume`` is quicker.

        ``for resume in inbox.resumes(): load(resume["run_state_ref"])``
        """
        for item in follow(self._parts, Wanted(("resumes",), None, once, limit, stop)):
            self._parts.recorder.record("resume", item.value)
            yield item.value

    def run(
        self,
        handler: Handler,
        *,
        on_resume: OnResume | None = None,
        on_error: OnError | None = None,
        types: Sequence[str] | None = None,
        once: bool = False,
        limit: int = 100,
        stop: Flag | None = None,
    ) -> None:
        """Hands each event to the handler and acknowledges it afterwards: ``applied``, or what the handler returns. A
        handler that raises leaves its event unacknowledged and ends ``run`` with the error, unless ``on_error`` says
        otherwise. Ends after the item at hand when ``stop`` is set. After a crash an event may come twice.

        ``inbox.run(lambda event: remember(event["knowledge"]), on_resume=wake_the_run)``
        """
        lists: tuple[List, ...] = ("events",) if on_resume is None else ("events", "resumes")
        run(self._parts, Wanted(lists, types, once, limit, stop), handler, on_resume, on_error)

    def ack(
        self, event_id: str, status: AckStatus, *, reason: str | None = None, producer_id: str | None = None
    ) -> None:
        """Says what became of an event. The same again changes nothing; any change but from ``stored`` is fault
        ``conflict``.

        ``inbox.ack(event["event_id"], "rejected", reason="Not about this project.")``
        """
        acknowledge(self._parts, event_id, Verdict(status, reason), producer_id)

    def get(self, event_id: str, *, producer_id: str | None = None) -> dict[str, Any]:
        """One event, with what was said about it: ``{"event", "cursor", "ack"}``.

        ``inbox.get("evt_0123456789")["ack"]``
        """
        view = self._send("GET", entry_path(event_id, "", producer_id))
        if not isinstance(view, dict) or not is_event(view.get("event")):
            raise odd("an event")
        return view

    def task(self, task_id: str) -> dict[str, Any]:
        """The state of a task, as its events tell it.

        ``inbox.task("task_42")["status"] == "completed"``
        """
        return self._object("GET", f"/akep/tasks/{quote(task_id, safe='')}", None, "a task")

    def emit(self, draft: Mapping[str, Any]) -> Sent:
        """Makes something known to other agents, in this agent's own name.

        ``inbox.emit({"event_type": "knowledge.acquired", "subject": {"task_id": "task_42"},
        "knowledge": {"kind": "observation", "summary": "The supplier has closed."}})``
        """
        envelope = envelope_of(draft, {"name": "agent", "type": "agent"}, self._parts.clock.now())
        call = Call("POST", "/akep/emit", data=encode(envelope))
        sent = accepted(envelope, self._parts.transport.send(call))
        facts = {"event_type": envelope["event_type"], "duplicate": sent.duplicate}
        self._parts.recorder.record("emitted", {"event_id": sent.event_id, **facts})
        return sent

    def subscribe(self, event_types: Sequence[str], **more: Any) -> dict[str, Any]:
        """Takes more events into the inbox.

        ``inbox.subscribe(["tool.completed"], filters={"subject.task_id": "task_42"})``
        """
        base = {"spec": "akep.v1", "sink": "inbox", "delivery": {"type": "long_poll"}}
        return subscribe(self._parts, {**base, "event_types": list(event_types), **more})

    def subscriptions(self) -> list[dict[str, Any]]:
        """What comes into the inbox. ``[one["subscription_id"] for one in inbox.subscriptions()]``"""
        return list_subscriptions(self._parts)

    def unsubscribe(self, subscription_id: str) -> None:
        """Takes a subscription back. ``inbox.unsubscribe("sub_0123456789")``"""
        unsubscribe(self._parts, subscription_id)

    def open_wait(self, run_state_ref: str, **wait: Any) -> dict[str, Any]:
        """Says what a paused run waits for, before it is put away; by ``subject``, ``event_types``, ``interrupt_id``.

        ``inbox.open_wait("runs/42.json", subject={"task_id": "task_42"})["wait_id"]``
        """
        return open_wait(self._parts, {"run_state_ref": run_state_ref, **wait})

    def waits(self) -> list[dict[str, Any]]:
        """The waits that are still open. ``len(inbox.waits())``"""
        return list_waits(self._parts)

    def end_wait(self, wait_id: str) -> None:
        """Ends a wait that nobody waits for any more. ``inbox.end_wait("wait_0123456789")``"""
        end_wait(self._parts, wait_id)

    def wait_for(self, run_state_ref: str, *, timeout_seconds: float = 3600, **wait: Any) -> Awaited:
        """Opens a wait and stays until it is resumed or the time is up; then the wait is ended.

        ``inbox.wait_for("here", subject={"task_id": "task_42"}, timeout_seconds=600).event``
        """
        return wait_for(self._parts, {"run_state_ref": run_state_ref, **wait}, timeout_seconds)

    def policy(self) -> dict[str, Any]:
        """The agent's own limit on what may wake it. ``inbox.policy()["max_resume_policy"]``"""
        return self._object("GET", "/akep/policy", None, "a policy")

    def set_policy(self, **change: Any) -> dict[str, Any]:
        """Sets that limit. ``inbox.set_policy(max_resume_policy="resume_if_waiting")``"""
        return self._object("PUT", "/akep/policy", change, "a policy")

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self._parts.transport.send(Call(method, path, body))

    def _object(self, method: str, path: str, body: Mapping[str, Any] | None, what: str) -> dict[str, Any]:
        reply = self._send(method, path, body)
        if not isinstance(reply, dict):
            raise odd(what)
        return reply
