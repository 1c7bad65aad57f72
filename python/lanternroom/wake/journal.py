"""The log as the client uses it: what happened, and which deliveries are ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any, Callable
from weakref import WeakKeyDictionary, ref

from ..clock import Clock
from ..faults import LanternError
from ..jsons import text_of
from ..log import Log
from ..recorder import Recorder


@dataclass(frozen=True)
class Known:
    delivered_at: float
    timeout_seconds: float | None


class Journal(Recorder):
    def __init__(self, log: Log, clock: Clock, api_key: str, server: str, agent_id: str | None) -> None:
        super().__init__(log, clock, api_key, server)
        self._agent_id = agent_id
        self._known: dict[str, Known] = {}
        self._by_key: dict[str, dict[str, str]] = {}
        self._answered: set[tuple[str, str]] = set()
        self._past = _past_of(log)
        self._seen = 0

    def record_answer(self, body: Mapping[str, Any]) -> None:
        mark = (body["delivery_id"].lower(), body["status"])
        if body["status"] == "pending" or mark in self._answered:
            return
        self.record("answer", {"delivery_id": body["delivery_id"], "response": body})
        self._answered.add(mark)

    def keep(self, event: str, delivery_id: str, facts: Mapping[str, Any]) -> None:
        """Makes an id ours, and writes that down."""
        # In memory first: should the line fail, this process still knows what it sent.
        self._known[delivery_id.lower()] = Known(self._clock.now(), facts.get("timeout_seconds"))
        self._keep_key(text_of(facts.get("idempotency_key")), text_of(facts.get("agent_id")), delivery_id)
        self.record(event, {"delivery_id": delivery_id, **facts})

    def find(self, delivery_id: str) -> Known | None:
        if not isinstance(delivery_id, str):
            raise LanternError("wrong_usage", "A delivery id is a text: give delivery_id of what deliver() returned.")
        if delivery_id.lower() not in self._known:
            self._read_on()
        return self._known.get(delivery_id.lower())

    def find_by_key(self, idempotency_key: str) -> Mapping[str, str]:
        """What was submitted under a key, by this process or by an earlier one with this log: the deliveries by agent.
        Several agents of one machine share a log, and each has keys of its own."""
        self._read_on()
        return self._by_key.get(idempotency_key, {})

    def _keep_key(self, key: str | None, agent_id: str | None, delivery_id: str) -> None:
        if key is not None and agent_id is not None:
            self._by_key.setdefault(key, {})[agent_id] = delivery_id

    def _read_on(self) -> None:
        # Another process may have delivered in the meantime, or this one before a restart.
        with self._past.lock:
            self._past.read_on()
            fresh, self._seen = self._past.kept[self._seen :], len(self._past.kept)
            for entry in fresh:
                self._restore(entry)

    def demand(self, delivery_id: str) -> Known:
        known = self.find(delivery_id)
        if known is None:
            raise foreign(delivery_id)
        return known

    def _restore(self, entry: _Kept) -> None:
        if entry.server != self._server:
            return
        if entry.agent_id is not None and self._agent_id is not None and entry.agent_id != self._agent_id:
            return
        self._known.setdefault(entry.delivery_id, entry.known)
        # What was asked again under its key, because the server had lost it, stands further down. And a delivery has
        # several keys when later ones met its dedupe key (W26).
        self._keep_key(entry.key, entry.agent_id, entry.delivery_id)


@dataclass(frozen=True)
class _Kept:
    delivery_id: str
    server: Any
    agent_id: str | None
    key: str | None
    known: Known


class _Past:
    """What a log says about deliveries, for all clients that share it: a log tells each line only once."""

    def __init__(self, new_lines: Callable[[], list[str]]) -> None:
        self._new_lines = new_lines
        self.kept: list[_Kept] = []
        self.lock = Lock()

    def read_on(self) -> None:
        self.kept.extend(kept for kept in map(_read_line, self._new_lines()) if kept is not None)


_pasts: WeakKeyDictionary[Log, _Past] = WeakKeyDictionary()


def _past_of(log: Log) -> _Past:
    try:
        past = _pasts.get(log)
        if past is None:
            # The log must not be kept alive by what is known of it.
            reference = ref(log)
            past = _pasts[log] = _Past(lambda: [] if (alive := reference()) is None else alive.new_lines())
        return past
    except TypeError:
        return _Past(log.new_lines)  # one that cannot be a key is its client's alone


def _read_line(line: str) -> _Kept | None:
    try:
        entry = _parse(line)
        at = datetime.fromisoformat(entry["at"].replace("Z", "+00:00")).timestamp()
        if entry.get("event") not in ("delivered", "adopted"):
            return None
        seconds = entry.get("timeout_seconds")
        known = Known(at, seconds if isinstance(seconds, (int, float)) else None)
        return _Kept(
            entry["delivery_id"].lower(),
            entry.get("server"),
            text_of(entry.get("agent_id")),
            text_of(entry.get("idempotency_key")),
            known,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _parse(line: str) -> Any:
    """Half a line, left by a crash or a full disk, may stand before a whole one that another process has written."""
    try:
        return json.loads(line)
    except ValueError:
        return json.loads(line[max(line.rfind('{"at":"'), 0) :])


def foreign(delivery_id: str) -> LanternError:
    """The refusal of W23: an answer to something this client never asked."""
    return LanternError(
        "foreign_delivery",
        f"Delivery {delivery_id!r} was not submitted by this client, so its answer is not taken: "
        "call adopt() with the id if it was submitted elsewhere on purpose.",
    )
