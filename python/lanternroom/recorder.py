"""One line in the log for each thing that happened, never with the key in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Callable

from .clock import Clock
from .faults import LanternError
from .log import Log


class Recorder:
    def __init__(self, log: Log, clock: Clock, api_key: str, server: str) -> None:
        self._log = log
        self._clock = clock
        self._api_key = api_key
        #: One file may hold the lines of several servers.
        self._server = server

    def record(self, event: str, facts: Mapping[str, Any]) -> None:
        at = datetime.fromtimestamp(self._clock.now(), timezone.utc).isoformat(timespec="milliseconds")
        entry = {"at": at.replace("+00:00", "Z"), "event": event, "server": self._server, **facts}
        line = json.dumps(entry, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        # Agents do paste their environment into `details`; whatever else they log, it must not be this key.
        self._log.append(line.replace(json.dumps(self._api_key)[1:-1], "[api key]"))

    def alerting(self, alert: Callable[[LanternError], None] | None) -> Callable[[LanternError], None]:
        """An alert that is written down before it is raised."""

        def raise_alert(error: LanternError) -> None:
            try:
                self.record("alert", {"fault": error.fault, "message": str(error)})
            except LanternError:
                pass  # the alert matters more than its line in the log
            if alert is not None:
                alert(error)

        return raise_alert
