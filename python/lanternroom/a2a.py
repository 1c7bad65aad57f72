"""Calling other agents over A2A 1.0 (JSON-RPC over HTTP): send, get, cancel, and follow a task as it happens."""

from __future__ import annotations

import http.client
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, Union

from .abandon import end_if_abandoned
from .clock import Clock, SystemClock
from .endpoint import read_endpoint, read_producer_endpoint
from .faults import PASSING, Fault, LanternError, WireTrouble
from .jsons import json_of, parse_json, text_of
from .retry import LIMIT_WAIT_SECONDS
from .transport import Call, Transport

__all__ = ["Caller", "Said", "text_in"]

#: A text, or the parts of a message as A2A 1.0 writes them.
Said = Union[str, Sequence[Mapping[str, Any]]]

_ENDED = ("TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED")
_ASKING = ("TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED")
_FAULTS: Mapping[int, Fault] = {-32001: "not_found", -32002: "conflict", -32603: "server_failed"}
_HELD_SECONDS = 30.0  # the server waits for the agent this long before it answers a send
_FAILURES_MOST = 5
_UNSUPPORTED = "-32004"  # the answer of 1.0 to following a task that has ended


class Caller:
    """Whoever talks to one agent over A2A. ``token`` is a key of the same space or a caller token; a public agent needs none.

    >>> caller = Caller("http://127.0.0.1:8787/@home/helper", "wk_test_abc")
    """

    def __init__(self, agent: str, token: str | None = None, *, clock: Clock | None = None) -> None:
        # Only an agent's own key tells a test from the real thing; a caller token never leaves this machine in the clear.
        is_key = token is not None and token.startswith("wk_")
        self._base = read_endpoint(agent, token or "") if is_key else read_producer_endpoint(agent)
        self._clock = clock or SystemClock()
        self._transport = Transport(self._base, token, self._clock, lambda _: None)

    def send(
        self,
        said: Said,
        *,
        message_id: str | None = None,
        task_id: str | None = None,
        context_id: str | None = None,
        return_immediately: bool = False,
        push: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """``{"task": …}`` or ``{"message": …}``. Waits for the agent up to half a minute; the same ``message_id`` gives
        the same task, so that sending again is safe. ``push={"url": …, "token": …}`` is where the server tells about every
        change, also when nobody waits here.

        ``caller.send("Review the latest deployment")["task"]["id"]``
        """
        params = _sending(said, message_id, task_id, context_id, return_immediately, push)
        result = self._ask("SendMessage", params)
        if isinstance(result, dict) and (_is_task(result.get("task")) or isinstance(result.get("message"), dict)):
            return result
        raise self._strange()

    def get(self, task_id: str, *, history_length: int | None = None) -> dict[str, Any]:
        """The task as it is now, also when the agent is not there.

        ``caller.get(task_id)["status"]["state"]``
        """
        more = {} if history_length is None else {"historyLength": history_length}
        return self._task(self._ask("GetTask", {"id": task_id, **more}))

    def cancel(self, task_id: str) -> dict[str, Any]:
        """Asks for the end of a task; fault ``conflict`` when it has ended otherwise.

        ``caller.cancel(task_id)``
        """
        try:
            return self._task(self._ask("CancelTask", {"id": task_id}))
        except LanternError as refusal:
            if refusal.fault != "conflict":
                raise
            # A retry after a lost reply may be refused because the task is already cancelled: its current state decides.
            task = self.get(task_id)
            if task["status"].get("state") != "TASK_STATE_CANCELED":
                raise refusal from None
            return task

    def stream(
        self,
        said: Said,
        *,
        message_id: str | None = None,
        task_id: str | None = None,
        context_id: str | None = None,
        return_immediately: bool = False,
        push: Mapping[str, str] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Everything that happens to the task, to its end or its next question; goes on after a lost connection.

        ``for item in caller.stream("Review it"): print(item)``
        """
        params = _sending(said, message_id, task_id, context_id, return_immediately, push)
        return self._follow("SendStreamingMessage", params)

    def subscribe(self, task_id: str) -> Iterator[dict[str, Any]]:
        """The same for an existing task.

        ``for item in caller.subscribe(task_id): print(item)``
        """
        return self._follow("SubscribeToTask", {"id": task_id})

    def _ask(self, method: str, params: Mapping[str, Any]) -> Any:
        call = Call("POST", "/", _request(method, params), {"A2A-Version": "1.0"}, _HELD_SECONDS)
        return self._result(self._transport.send(call))

    def _follow(self, method: str, params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        last_id: str | None = None
        tries = _Tries()
        while True:
            try:
                for event_id, data in self._events(method, params, last_id):
                    item = self._result(parse_json(data.encode()))
                    if not isinstance(item, dict):
                        raise self._strange()
                    tries = _Tries()
                    yield item
                    if _is_last(item):
                        return
                    last_id = event_id or last_id
                    task_id = _task_id(item)
                    if task_id is not None:
                        method, params = "SubscribeToTask", {"id": task_id}
                raise LanternError("unreachable", "The stream ended before the task did.")
            except LanternError as error:
                if method == "SubscribeToTask" and error.wire is not None and error.wire.code == _UNSUPPORTED:
                    # A task that has ended is read instead of followed (A10).
                    yield {"task": self.get(params["id"])}
                    return
                pause = tries.pause_after(error)
                if pause is None:
                    raise
                self._clock.sleep(pause)

    def _events(self, method: str, params: Mapping[str, Any], last_id: str | None) -> Iterator[tuple[str | None, str]]:
        headers = {"A2A-Version": "1.0", **({} if last_id is None else {"Last-Event-ID": last_id})}
        with self._transport.open_stream(Call("POST", "/", _request(method, params), headers)) as reply:
            if not str(reply.headers.get("content-type")).startswith("text/event-stream"):
                self._result(parse_json(_unbroken(reply.read)))
                raise self._strange()
            event_id: str | None = None
            lines: list[str] = []
            while True:
                end_if_abandoned()
                # An event that breaks off in the middle of a character is never handed out: its blank line is missing.
                line = _unbroken(reply.readline).decode("utf-8", "replace")
                if line == "":
                    return
                name, _, value = line.rstrip("\r\n").partition(":")
                if name == "" and value == "" and lines:
                    yield event_id, "\n".join(lines)
                    lines = []
                elif name == "data":
                    lines.append(value[1:] if value.startswith(" ") else value)
                elif name == "id":
                    event_id = value.strip()

    def _result(self, answer: Any) -> Any:
        if not isinstance(answer, dict):
            raise self._strange()
        error = answer.get("error")
        if not isinstance(error, dict):
            return answer.get("result")
        code = error.get("code")
        fault = _FAULTS.get(code, "refused") if isinstance(code, int) else "refused"
        said = text_of(error.get("message")) or "no reason given"
        wire = WireTrouble(200, str(code), _field_in(error.get("data")))
        raise LanternError(fault, f"The agent's server refused ({code}): {said}", wire)

    def _task(self, result: Any) -> dict[str, Any]:
        if _is_task(result):
            return dict(result)
        raise self._strange()

    def _strange(self) -> LanternError:
        message = f"{self._base} did not answer as A2A 1.0 does: check that this is the address of an agent."
        return LanternError("bad_reply", message)


class _Tries:
    """What went wrong in a row, and for how long that is worth another try: over the limit once (W23), otherwise a few
    times."""

    def __init__(self) -> None:
        self._failures = 0
        self._was_limited = False

    def pause_after(self, error: LanternError) -> float | None:
        asked = None if error.wire is None else error.wire.retry_after_seconds
        if error.fault == "rate_limited":
            if self._was_limited:
                return None
            self._was_limited = True
            return LIMIT_WAIT_SECONDS if asked is None else asked
        self._failures += 1
        if error.fault not in PASSING or self._failures >= _FAILURES_MOST:
            return None
        return max(min(2.0 ** (self._failures - 1), 15.0), asked or 0.0)


def _unbroken(read: Callable[[], bytes]) -> bytes:
    try:
        return read()
    except (OSError, http.client.HTTPException) as error:
        raise LanternError("unreachable", f"The answer broke off ({error}).") from error


def _field_in(data: Any) -> str | None:
    """The member that is wrong, from the details of 1.0 (google.rpc.BadRequest)."""
    for detail in data if isinstance(data, list) else []:
        violations = detail.get("fieldViolations") if isinstance(detail, dict) else None
        if isinstance(violations, list) and violations and isinstance(violations[0], dict):
            return text_of(violations[0].get("field"))
    return None


def text_in(message: Mapping[str, Any] | None) -> str:
    """The text parts of a message, joined: what a person would read.

    >>> text_in({"parts": [{"text": "All checks"}, {"data": {}}, {"text": "passed."}]})
    'All checks\\npassed.'
    """
    parts = (message or {}).get("parts") or []
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def is_ended(state: str) -> bool:
    """Whether a task in this state will never change again.

    >>> is_ended("TASK_STATE_COMPLETED"), is_ended("TASK_STATE_WORKING")
    (True, False)
    """
    return state in _ENDED


def _request(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _sending(
    said: Said,
    message_id: str | None,
    task_id: str | None,
    context_id: str | None,
    return_immediately: bool,
    push: Mapping[str, str] | None,
) -> dict[str, Any]:
    message: dict[str, Any] = {
        "messageId": message_id or str(uuid.uuid4()),
        "role": "ROLE_USER",
        "parts": [{"text": said}] if isinstance(said, str) else list(said),
    }
    message.update({"taskId": task_id} if task_id else {})
    message.update({"contextId": context_id} if context_id else {})
    configuration: dict[str, Any] = {"returnImmediately": True} if return_immediately else {}
    configuration.update({"taskPushNotificationConfig": dict(push)} if push else {})
    params = {"message": message, "configuration": configuration}
    # Parsed again, so that a stream can be restarted with exactly the same message.
    copy: dict[str, Any] = json.loads(json_of(params))
    return copy


def _is_task(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("id"), str) and isinstance(value.get("status"), dict)


def _task_id(item: Mapping[str, Any]) -> str | None:
    task = item.get("task") or {}
    update = item.get("statusUpdate") or item.get("artifactUpdate") or {}
    return text_of(task.get("id")) or text_of(update.get("taskId"))


def _is_last(item: Mapping[str, Any]) -> bool:
    if item.get("message") is not None:
        return True
    about = item.get("statusUpdate") or item.get("task") or {}
    state = (about.get("status") or {}).get("state")
    return state in _ENDED or state in _ASKING
