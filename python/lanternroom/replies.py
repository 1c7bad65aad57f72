"""What a reply says: its answer, or the fault and the sentence that describes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from .faults import Fault, LanternError, WireTrouble
from .jsons import parse_json, text_of
from .retry import Attempt, retry_after_seconds

_NOTABLE_SKEW_SECONDS = 120  # well inside the five minutes that a signature may be old
# What a server without TLS answers is no record of TLS.
_WITHOUT_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST")
_REFUSALS: Mapping[int, Fault] = {403: "forbidden", 404: "not_found", 409: "conflict"}


@dataclass(frozen=True)
class Exchange:
    attempt: Attempt
    text: bytes = b""
    reason: str = ""
    #: Where a redirect leads.
    location: str | None = None
    #: How far this machine's clock is ahead of the server's, by the reply's own date; signed calls only.
    skew_seconds: float = 0.0


def read(exchange: Exchange, base: str) -> Any:
    status = exchange.attempt.status or 0
    if status >= 400:
        raise refusal(status, exchange)
    if not 200 <= status < 300:
        target = "another address" if exchange.location is None else json.dumps(exchange.location, ensure_ascii=False)
        raise LanternError(
            "bad_reply", f"{base} sends on to {target}: give the final address of the server instead."
        )
    if status == 204:
        return None
    body = parse_json(exchange.text)
    if body is None:
        raise LanternError(
            "bad_reply", f"{base} did not answer in JSON: check that this is the address of the server."
        )
    return body


def refusal(status: int, exchange: Exchange) -> LanternError:
    parsed = parse_json(exchange.text)
    body: Mapping[str, Any] = parsed if isinstance(parsed, dict) else {}
    said = body.get("error")
    # WAKE says {error: {code, message, field}}, AKEP {error: "sentence", path}.
    error: Mapping[str, Any] = said if isinstance(said, dict) else {"message": said, "field": body.get("path")}
    code, message, field = (text_of(error.get(name)) for name in ("code", "message", "field"))
    wire = WireTrouble(status, code, field, text_of(body.get("oldest_cursor")))
    name = status if code is None else f"{status} {code}"
    sentence = f"The server refused ({name}): {message or 'it gave no reason; check the address.'}"
    sentence += _version_advice(error.get("supported")) + _clock_advice(status, exchange.skew_seconds)
    # 410 means an expired cursor only if the reply says where to continue (K17).
    if status == 410 and wire.oldest_cursor is not None:
        return LanternError("cursor_expired", sentence, wire)
    return LanternError(_REFUSALS.get(status, "refused"), sentence, wire)


def _version_advice(supported: Any) -> str:
    if not isinstance(supported, list):
        return ""
    versions = ", ".join(str(one) for one in supported)
    return f" It speaks {versions}, this SDK v1: upgrade whichever of the two is older (the server's /packages says how to install the SDK that fits it)."


def _clock_advice(status: int, skew: float) -> str:
    """400 is the answer to a signature that is too old (K3)."""
    if status != 400 or abs(skew) < _NOTABLE_SKEW_SECONDS:
        return ""
    minutes, where = round(abs(skew) / 60), "ahead of" if skew > 0 else "behind"
    clock = f"This machine's clock is {minutes} min {where} the server's"
    return f" {clock}, and what is signed must be fresh: set it right."


def trouble(fault: Fault, exchange: Exchange, base: str) -> LanternError:
    return LanternError(fault, _sentence(fault, exchange, base), _wire(exchange.attempt))


def _wire(attempt: Attempt) -> WireTrouble | None:
    if attempt.status is None:
        return None
    asked = retry_after_seconds(attempt.retry_after, attempt.served_at)
    return WireTrouble(attempt.status, retry_after_seconds=asked)


def too_late(exchange: Exchange, seconds: float, base: str) -> LanternError:
    """Another attempt would come too late for the caller."""
    status = exchange.attempt.status
    if status is None:
        return trouble("unreachable", exchange, base)
    sentence = (
        f"{base} cannot answer now ({status}) and wants to be asked again in {ceil(seconds)} s, "
        "which is longer than this was to take: try again then."
    )
    sentence += _it_says(exchange)
    return LanternError("rate_limited" if status == 429 else "server_failed", sentence, _wire(exchange.attempt))


def stop_and_ask(base: str) -> str:
    return (
        f"{base} does not accept this API key: stop, ask a person for a new key "
        '("lanternroom agent rotate NAME"), set WAKE_API_KEY and start again.'
    )


def _it_says(exchange: Exchange) -> str:
    """The server's own words name the limit."""
    parsed = parse_json(exchange.text)
    error = parsed.get("error") if isinstance(parsed, dict) else None
    said = text_of(error.get("message") if isinstance(error, dict) else error)
    return "" if said is None else f" It says: {said}"


def _sentence(fault: Fault, exchange: Exchange, base: str) -> str:
    if fault == "unauthorized":
        return stop_and_ask(base)
    if fault == "rate_limited":
        return (
            "Still over the rate limit after waiting as asked and trying once more: check whether the agent is "
            f"caught in a loop before it goes on.{_it_says(exchange)}"
        )
    if fault == "unreachable":
        if "CERTIFICATE_VERIFY_FAILED" in exchange.reason:
            # The server is there: calling it unreachable would make people look at the wrong end.
            return (
                f"{base} shows a certificate that this machine does not trust ({exchange.reason}): mend the "
                "certificate, or name a PEM file with its authority in SSL_CERT_FILE."
            )
        if any(sign in exchange.reason for sign in _WITHOUT_TLS):
            return (
                f"{base} answers, but not in TLS ({exchange.reason}): give its address with http:// if it runs on this "
                "machine, else the https:// address of the proxy in front of it."
            )
        where = f"Nothing answers at {base} ({exchange.reason})"
        return f"{where}: check the address and that the server runs, then try again."
    return f"The server at {base} failed several times in a row: try again later, and look at its log if it keeps failing."
