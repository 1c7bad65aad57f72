"""Where the server is, and whether a key may be sent there."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from .faults import LanternError

_KEY = re.compile(r"[\x21-\x7e]+")
#: The other secrets that a newcomer has in hand, by how they begin.
_NO_KEYS = {"lr_": "the token of a person", "ct_": "the token of a caller", "whsec_": "a secret for signatures"}


def read_endpoint(url: str, api_key: str) -> str:
    """The base URL without ``/wake/v1``: https only, except loopback with a test key (W23).

    >>> read_endpoint("http://127.0.0.1:8787/wake/v1/", "wk_test_abc")
    'http://127.0.0.1:8787'
    """
    if not isinstance(api_key, str) or not _KEY.fullmatch(api_key):
        raise LanternError(
            "wrong_usage",
            "The API key is missing or holds spaces or line breaks: set WAKE_API_KEY to the key as it was shown once.",
        )
    for start, kind in _NO_KEYS.items():
        if api_key.startswith(start):
            raise LanternError(
                "wrong_usage",
                f"This is {kind} ({start}…) and not the key of an agent: set WAKE_API_KEY to one that begins with wk_ "
                '("lanternroom agent key NAME" makes one).',
            )
    parts = _parse_alone(url)
    if parts.scheme != "https":
        _assert_plain_is_safe(parts, api_key)
    return _base(parts)


def read_producer_endpoint(url: str) -> str:
    """The same for a producer, which sends no key but a signature: https only, except on this machine.

    >>> read_producer_endpoint("https://desk.example.com/akep/events")
    'https://desk.example.com'
    """
    parts = _parse_alone(url)
    if parts.scheme != "https":
        _assert_loopback(parts)
    return _base(parts)


def _base(parts: SplitResult) -> str:
    path = re.sub(r"/(wake/v1|akep|akep/events)$", "", parts.path.rstrip("/"))
    return f"{parts.scheme}://{parts.netloc}{path}"


def _parse_alone(url: str) -> SplitResult:
    parts = _parse(url)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise LanternError("wrong_usage", 'Give the server address alone, without a login, "?" or "#" part.')
    return parts


def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _parse(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        # An empty or overlong part of a name ("a..b") would only fail when it is looked up, with the library's own message.
        has_name = bool((parts.hostname or "").encode("idna"))
        is_address = bool(parts.scheme) and has_name and (parts.port is None or parts.port > 0)
    except (ValueError, TypeError, AttributeError):
        is_address = False
    # urlsplit keeps spaces and control characters that a request line must not hold.
    if not is_address or not _KEY.fullmatch(url):
        raise LanternError(
            "wrong_usage", "The server address is not a URL: give it as https://host, or http://127.0.0.1:8787."
        )
    return parts


def _assert_loopback(parts: SplitResult) -> None:
    if parts.scheme != "http" or not is_loopback(parts.hostname or ""):
        raise LanternError(
            "insecure_url", f"What is sent would travel unprotected to {parts.netloc}: use an https:// address."
        )


def _assert_plain_is_safe(parts: SplitResult, api_key: str) -> None:
    _assert_loopback(parts)
    if not api_key.startswith("wk_test_"):
        raise LanternError(
            "insecure_url",
            "Plain http on this machine is for test keys only: use a wk_test_ key, or an https:// address.",
        )
