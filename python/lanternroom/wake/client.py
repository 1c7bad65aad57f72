"""A client for one agent. It holds the rules of conduct of WAKE (W23), so that the agent does not have to."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any, Callable

from ..clock import Clock, SystemClock, end_of
from ..endpoint import read_endpoint
from ..faults import LanternError
from ..log import FileLog, Log
from ..signed_request import Headers
from ..transport import Transport
from .answers import (
    ANSWERED,
    Answer,
    Checked,
    Content,
    Delivered,
    DeliveryType,
    Pending,
    Rejected,
    ResponseStatus,
    Swept,
    TimedOut,
    to_answer,
)
from .deliver import deliver, discover_agent_id
from .journal import Journal
from .parts import Parts, look
from .sweep import OnForeign, SweepOptions, sweep
from .wait import wait_for
from .webhook import Refused, verify_webhook
from .withdraw import withdraw


class Wake:
    """One agent's side of WAKE: it delivers to a person, and learns what they say.

    >>> wake = Wake("http://127.0.0.1:8787", "wk_test_abc", provider="claude")
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        agent_id: str | None = None,
        provider: str = "custom",
        log: Log | None = None,
        clock: Clock | None = None,
        alert: Callable[[LanternError], None] | None = None,
    ) -> None:
        base = read_endpoint(url, api_key)
        beat = clock or SystemClock()
        journal = Journal(log if log is not None else FileLog(), beat, api_key, base, agent_id)
        self._parts = Parts(Transport(base, api_key, beat, journal.alerting(alert)), journal, beat)
        self._agent_id = agent_id
        self._asked_agent_id = agent_id
        self._provider = provider

    def deliver(
        self,
        *,
        type: DeliveryType,
        headline: str,
        summary: str,
        details: Content = None,
        timeout_seconds: int | None = None,
        callback_webhook: str | None = None,
        allow_secrets: list[dict[str, str]] | None = None,
        task_id: str | None = None,
        thread_id: str | None = None,
        interrupt_id: str | None = None,
        revises: str | None = None,
        dedupe_key: str | None = None,
        idempotency_key: str | None = None,
        within_seconds: float | None = None,
    ) -> Delivered:
        """Puts work or a question before a person. Retries by itself and never delivers twice. ``within_seconds`` is how
        long it may take: left out, it waits as long as the server asks for, which over the limit of a key can be an hour.

        ``wake.deliver(type="question", headline="Release is ready", summary="Ship 2.1 today?")``
        """
        until = None if within_seconds is None else end_of(self._parts.clock, "within_seconds", within_seconds)
        optional = {
            "details": details,
            "timeout_seconds": timeout_seconds,
            "callback_webhook": callback_webhook,
            "allow_secrets": allow_secrets,
            "task_id": task_id,
            "thread_id": thread_id,
            "interrupt_id": interrupt_id,
            "revises": revises,
            "dedupe_key": dedupe_key,
        }
        body: dict[str, Any] = {
            "agent_id": self._who_am_i(until),
            "provider": self._provider,
            "type": type,
            "headline": headline,
            "summary": summary,
            **{name: value for name, value in optional.items() if value is not None},
        }
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        return deliver(self._parts, body, key, until)

    def check(self, delivery_id: str) -> Checked:
        """Looks once, without waiting.

        ``wake.check(delivery_id).status  # may be "pending"``
        """
        return to_answer(look(self._parts, delivery_id))

    def wait_for(
        self,
        delivery_id: str,
        *,
        timeout_seconds: float | None = None,
        assumption: str | None = None,
        poll_seconds: float = 60,
    ) -> Answer | TimedOut:
        """Waits for the answer, never for ever. Going on after the timeout takes an assumption, logged first.

        ``if wake.wait_for(delivery_id, assumption="Nobody objects.").may_proceed: ship()``
        """
        return wait_for(self._parts, delivery_id, timeout_seconds, assumption, poll_seconds)

    def sweep(
        self,
        *,
        since: str | None = None,
        statuses: Sequence[ResponseStatus] = ANSWERED,
        limit: int | None = None,
        follow: bool = False,
        poll_seconds: float = 10,
        on_foreign: OnForeign | None = None,
    ) -> Iterator[Swept]:
        """Every answer since a point, oldest change first, in one loop for all deliveries.

        ``for swept in wake.sweep(follow=True): dispatch(swept.answer)``
        """
        options = SweepOptions(statuses, limit, follow, poll_seconds, on_foreign, self._agent_id)
        return sweep(self._parts, since, options)

    def withdraw(self, delivery_id: str, reason: str) -> Rejected:
        """Takes back what nobody has decided yet; fault ``conflict`` afterwards.

        ``wake.withdraw(delivery_id, "The build failed.")``
        """
        return withdraw(self._parts, delivery_id, reason)

    def receive(
        self,
        body: bytes | str,
        headers: Headers,
        *,
        secret: str | None = None,
        secrets: Sequence[str] | None = None,
    ) -> Answer | Refused:
        """Checks a callback's signature and that it answers a delivery of this client.

        ``wake.receive(request.data, request.headers, secret=os.environ["WAKE_WEBHOOK_SECRET"])``
        """
        verified = verify_webhook(body, headers, secret=secret, secrets=secrets, now=self._parts.clock.now())
        if isinstance(verified, Refused):
            return verified
        answer = to_answer(verified.response)
        # A callback announces a decision; "pending" is none.
        if isinstance(answer, Pending):
            return Refused("bad_body")
        if self._parts.journal.find(answer.delivery_id) is None:
            self._parts.journal.record("refused", {"delivery_id": answer.delivery_id})
            return Refused("foreign_delivery")
        self._parts.journal.record_answer(verified.response)
        return answer

    def adopt(self, delivery_id: str) -> None:
        """Accepts the answers to a delivery that another program submitted with this agent's key.

        ``wake.adopt(id_from_my_database)``
        """
        if self._parts.journal.find(delivery_id) is None:
            self._parts.journal.keep("adopted", delivery_id, {"timeout_seconds": None})

    def recall(self, idempotency_key: str) -> str | None:
        """The delivery that this agent submitted under an idempotency key, out of the local log; None when there was
        none. The server forgets a key after a day, the log does not: look here before asking a person again. Without
        ``agent_id``, and when the log has the key, the server is asked whose key this client has: several agents may
        share a log.

        ``delivery_id = wake.recall(key) or wake.deliver(**draft, idempotency_key=key).delivery_id``
        """
        found = self._parts.journal.find_by_key(idempotency_key)
        return found.get(self._who_am_i(None)) if found else None

    def _who_am_i(self, until: float | None) -> str:
        if self._asked_agent_id is None:
            self._asked_agent_id = discover_agent_id(self._parts, until)
        return self._asked_agent_id
