"""A question under a key of its own, and the answer to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union

from ..aio import AsyncWake
from ..faults import LanternError
from ..wake.answers import Checked, TimedOut
from ..wake.client import Wake


def answer_to(wake: Wake, key: str, draft: Mapping[str, Any], wait: bool) -> Union[Checked, TimedOut]:
    """Asks, unless it was asked before. A question that the server no longer has, because it was set up anew or does not
    keep it any more, is asked again: no answer to it can come."""
    if isinstance(wake, AsyncWake):
        raise LanternError("wrong_usage", "Give the adapter a Wake, not an AsyncWake: it waits in threads of its own.")
    # The server keeps an idempotency key for a day and a dedupe key while the question is open; the log, for good.
    earlier = wake.recall(key)
    if earlier is not None:
        try:
            return _look(wake, earlier, wait)
        except LanternError as error:
            if error.fault != "not_found":
                raise
    return _look(wake, wake.deliver(**draft, dedupe_key=key, idempotency_key=key).delivery_id, wait)


def _look(wake: Wake, delivery_id: str, wait: bool) -> Union[Checked, TimedOut]:
    return wake.wait_for(delivery_id) if wait else wake.check(delivery_id)
