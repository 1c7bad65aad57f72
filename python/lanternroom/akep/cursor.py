"""How far an inbox was read. The file is the same as the TypeScript client's."""

from __future__ import annotations

import json
import os
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from ..faults import LanternError
from ..jsons import parse_json

List = Literal["events", "resumes"]
Place = dict[str, Any]


class CursorStore(Protocol):
    """Where the place is kept between two runs: plain JSON, or None when there is none yet."""

    def load(self) -> Place | None:
        """The place as it was saved last."""
        ...

    def save(self, place: Place) -> None:
        """Keeps it until the next one comes; called after each item."""
        ...


@dataclass
class MemoryCursor:
    """After a restart the inbox is read from its beginning."""

    place: Place | None = None

    def load(self) -> Place | None:
        """The place as it was saved last; None when there is none."""
        return self.place

    def save(self, place: Place) -> None:
        """Keeps it until the next one comes."""
        self.place = place


class FileCursor:
    """A file that only its owner can read; replaced as a whole, so that a crash leaves the old one or the new one.

    >>> cursor = FileCursor("./inbox.cursor")
    """

    def __init__(self, path: str | Path) -> None:
        # As it is meant now: a program that changes its folder later goes on with the same file.
        self._path = Path(path).absolute()

    def load(self) -> Place | None:
        """The place as it was saved last; None when there is none."""
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable("read", error) from error
        return self._demand_place(parse_json(text))

    def save(self, place: Place) -> None:
        """Keeps it until the next one comes."""
        fresh = self._path.with_name(f"{self._path.name}.{uuid.uuid4().hex}.tmp")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(place, separators=(",", ":")) + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, self._path)
        except OSError as error:
            with suppress(OSError):
                fresh.unlink()
            raise self._unusable("written", error) from error

    def _demand_place(self, value: Any) -> Place:
        if isinstance(value, dict) and all(_is_track(value.get(name)) for name in ("events", "resumes")):
            return value
        # Starting over silently would hand everything out a second time.
        raise LanternError(
            "cursor_failed",
            f"{self._path} does not hold the place in an inbox: restore it, or remove it to read the inbox from its "
            "beginning.",
        )

    def _unusable(self, verb: str, error: OSError) -> LanternError:
        return LanternError(
            "cursor_failed",
            f"The cursor file {self._path} cannot be {verb} ({error.strerror}): give it a path that can be.",
        )


@dataclass
class Bookmark:
    """The place as the inbox uses it: loaded once, saved after every step."""

    store: CursorStore
    _place: Place | None = field(default=None, init=False)

    def cursor(self, of: List) -> str | None:
        cursor: str | None = self._track(of)["cursor"]
        return cursor

    def done(self, of: List) -> list[str]:
        return list(self._track(of)["done"])

    def mark(self, of: List, id: str) -> None:
        """One item of the page after the cursor was handled."""
        self._set(of, self.cursor(of), [*self.done(of), id])

    def turn(self, of: List, cursor: str) -> None:
        """The page was handled to its end."""
        if cursor != self.cursor(of) or self.done(of):
            self._set(of, cursor, [])

    def _track(self, of: List) -> dict[str, Any]:
        if self._place is None:
            self._place = self.store.load() or {name: {"cursor": None, "done": []} for name in ("events", "resumes")}
        track: dict[str, Any] = self._place[of]
        return track

    def _set(self, of: List, cursor: str | None, done: list[str]) -> None:
        self._track(of)
        self._place = {**(self._place or {}), of: {"cursor": cursor, "done": done}}
        self.store.save(self._place)


def _is_track(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "cursor" in value
        and isinstance(value["cursor"], (str, type(None)))
        and isinstance(value.get("done"), list)
    )
