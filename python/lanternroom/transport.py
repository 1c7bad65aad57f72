"""Performs one call: retried, waited for, or turned into a fault."""

from __future__ import annotations

import http.client
import random
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Callable
from urllib.parse import urlsplit

from .abandon import end_if_abandoned
from .clock import Clock
from .endpoint import is_loopback
from .faults import Fault, LanternError
from .jsons import json_of
from .replies import Exchange, read, refusal, stop_and_ask, too_late, trouble
from .retry import Attempt, GiveUp, Take, Tried, judge

_REPLY_SECONDS = 30.0
_LATE_SECONDS = 10.0  # for a reply that is on its way when the time is up
_PIECE_BYTES = 65_536
_STREAM_SECONDS = 45.0  # a server sends a comment line every 15 s; three missed ones are a dead connection

Headings = Mapping[str, str]


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    body: Mapping[str, Any] | None = None
    #: Fixed, or made anew for every attempt: a signature carries the time of its attempt.
    headers: Headings | Callable[[], Headings] | None = None
    #: How long the server may hold the reply on purpose, on top of the ordinary limit.
    held_seconds: float = 0.0
    #: Instead of ``body``: exactly these bytes, the same in every attempt.
    data: bytes | None = None
    #: When the caller must have an answer, or know that there is none. Nothing waits beyond it.
    until: float | None = None
    #: Not sent again when it is unknown whether it arrived: doing it twice would do harm.
    once: bool = False

    def limit(self, now: float) -> float:
        """How long one attempt may take."""
        most = _REPLY_SECONDS + self.held_seconds
        return most if self.until is None else min(most, max(self.until - now, 0.0) + _LATE_SECONDS)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The key must not follow a redirect to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Transport:
    """Without a key where the request is signed instead; 403 may be about the key, as 401 is (K11)."""

    def __init__(
        self,
        base: str,
        api_key: str | None,
        clock: Clock,
        alert: Callable[[LanternError], None],
        stops_on_forbidden: bool = False,
    ) -> None:
        self._base = base
        self._stop_faults: list[Fault] = ["unauthorized"]
        if stops_on_forbidden:
            self._stop_faults.append("forbidden")
        self._api_key = api_key
        self._clock = clock
        self._alert = alert
        self._stopped: LanternError | None = None
        self._limited = False
        #: Whether the server has ever answered sensibly: then the address is right.
        self.has_answered = False
        self._opener = _opener(base)

    def send(self, call: Call) -> Any:
        tried = Tried()
        while True:
            if self._stopped is not None:
                raise self._stopped
            end_if_abandoned()
            exchange = self._exchange(call)
            verdict = judge(exchange.attempt, tried, self._clock.now(), random.random())
            if isinstance(verdict, GiveUp):
                raise self._give_up(trouble(verdict.fault, exchange, self._base))
            if isinstance(verdict, Take):
                # "Gone" on the second attempt means that the first one succeeded and its reply got lost.
                was_removed = call.method == "DELETE" and tried.failures > 0 and exchange.attempt.status == 404
                return None if was_removed else self._take(exchange)
            if call.once and verdict.tried.failures > 0:
                fault: Fault = "unreachable" if exchange.attempt.status is None else "server_failed"
                raise trouble(fault, exchange, self._base)
            tried = verdict.tried
            if call.until is not None and self._clock.now() + verdict.seconds > call.until:
                raise too_late(exchange, verdict.seconds, self._base)
            self._clock.sleep(verdict.seconds)

    def _take(self, exchange: Exchange) -> Any:
        self._limited = False
        try:
            reply = read(exchange, self._base)
            self.has_answered = True
            return reply
        except LanternError as error:
            if error.fault not in self._stop_faults:
                raise
            raise self._give_up(
                LanternError("forbidden", f"{error} {stop_and_ask(self._base)}", error.wire)
            ) from error

    def _give_up(self, error: LanternError) -> LanternError:
        stops = error.fault in self._stop_faults
        # One alert per spell of rate limiting, not one for every call of a loop.
        is_news = stops or (error.fault == "rate_limited" and not self._limited)
        if stops:
            self._stopped = error
        if error.fault == "rate_limited":
            self._limited = True
        if is_news:
            self._alert(error)
        return error

    def _exchange(self, call: Call) -> Exchange:
        data = call.data if call.body is None else json_of(call.body).encode()
        headers = self._headers(call, data is not None)
        request = urllib.request.Request(self._base + call.path, data=data, headers=headers, method=call.method)
        limit = call.limit(self._clock.now())
        ends = time.monotonic() + limit
        try:
            with self._opener.open(request, timeout=limit) as reply:
                text = _read_until(ends, reply)
                if not text and _is_cut(reply):
                    return Exchange(Attempt(None), reason="the reply broke off")
                return Exchange(Attempt(reply.status, reply.headers.get("retry-after")), text)
        except urllib.error.HTTPError as error:
            with error:
                return _error_exchange(error, ends, None if self._api_key is not None else self._clock.now())
        except (OSError, http.client.HTTPException) as error:
            return Exchange(Attempt(None), reason=_reason(error))

    def open_stream(self, call: Call) -> Any:
        """A reply that stays open, read by the caller. Not retried here: only the caller knows from where to continue."""
        if self._stopped is not None:
            raise self._stopped
        end_if_abandoned()
        headers = {**self._headers(call, True), "Accept": "text/event-stream"}
        data = json_of(call.body).encode()
        request = urllib.request.Request(self._base + call.path, data=data, headers=headers, method=call.method)
        try:
            return self._opener.open(request, timeout=_STREAM_SECONDS)
        except urllib.error.HTTPError as error:
            with error:
                exchange = _error_exchange(error, time.monotonic() + _REPLY_SECONDS)
            if error.code == 401:
                raise self._give_up(trouble("unauthorized", exchange, self._base)) from error
            if error.code >= 500 or error.code == 408:
                raise trouble("server_failed", exchange, self._base) from error
            if error.code == 429:
                raise trouble("rate_limited", exchange, self._base) from error
            raise refusal(error.code, exchange) from error
        except (OSError, http.client.HTTPException) as error:
            raise trouble("unreachable", Exchange(Attempt(None), reason=_reason(error)), self._base) from error

    def _headers(self, call: Call, has_body: bool) -> dict[str, str]:
        content = {"Content-Type": "application/json"} if has_body else {}
        own = call.headers() if callable(call.headers) else call.headers
        key = {} if self._api_key is None else {"Authorization": f"Bearer {self._api_key}"}
        return {**content, **(own or {}), **key, "Accept": "application/json"}


def _opener(base: str) -> urllib.request.OpenerDirector:
    host = urlsplit(base).hostname or ""
    # On loopback a proxy from the environment would see the key in the clear.
    proxies = [urllib.request.ProxyHandler({})] if is_loopback(host) else []
    return urllib.request.build_opener(_NoRedirects, *proxies)


def _is_cut(reply: Any) -> bool:
    """The library takes headers that break off for complete ones. Then the length of the body is missing too."""
    named = ("content-length", "transfer-encoding")
    return reply.status != 204 and not any(name in reply.headers for name in named)


def _read_until(ends: float, reply: Any) -> bytes:
    """The socket's own limit is per read, so a reply that drips would take for ever."""
    pieces: list[bytes] = []
    while piece := reply.read1(_PIECE_BYTES):
        pieces.append(piece)
        if time.monotonic() > ends:
            raise TimeoutError("the reply did not come to its end in time")
    text = b"".join(pieces)
    if reply.length:
        raise http.client.IncompleteRead(text, reply.length)
    return text


def _error_exchange(error: urllib.error.HTTPError, ends: float, now: float | None = None) -> Exchange:
    try:
        text = _read_until(ends, error.fp)
    except (OSError, http.client.HTTPException) as cause:
        return Exchange(Attempt(None), reason=_reason(cause))
    served_at = _served_at(error.headers.get("date"))
    skew = 0.0 if served_at is None or now is None else now - served_at
    attempt = Attempt(error.code, error.headers.get("retry-after"), served_at)
    return Exchange(attempt, text, location=error.headers.get("location"), skew_seconds=skew)


def _served_at(date: str | None) -> float | None:
    try:
        return None if date is None else parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _reason(error: Exception) -> str:
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    return str(inner) or type(inner).__name__
