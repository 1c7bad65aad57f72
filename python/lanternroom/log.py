"""The agent's own append-only record (W23): JSON lines, the same format as the TypeScript client's."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock
from typing import Protocol

from .faults import LanternError


class Log(Protocol):
    """Where a client writes down what it does, and finds its deliveries again."""

    def append(self, line: str) -> None:
        """Adds one line; it is kept when this returns."""
        ...

    def new_lines(self) -> list[str]:
        """Lines that were appended since the last call, by anyone; at first all of them."""
        ...


class MemoryLog:
    """A log that lives as long as the process."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._seen = 0

    def append(self, line: str) -> None:
        """Adds one line; it is kept when this returns."""
        self.lines.append(line)

    def new_lines(self) -> list[str]:
        """Lines that were appended since the last call, by anyone; at first all of them."""
        fresh, self._seen = self.lines[self._seen :], len(self.lines)
        return fresh


def home_folder() -> Path:
    """The user's folder. An empty HOME is none: Python would take the root of the disk instead."""
    if os.name == "posix" and not os.environ.get("HOME", "unset").strip():
        import pwd  # only there

        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    return Path.home()


class FileLog:
    """A file that only its owner can read; ``~/.lantern/log.jsonl`` unless told otherwise.

    >>> log = FileLog("./agent-log.jsonl")
    """

    def __init__(self, path: str | Path | None = None) -> None:
        # As it is meant now: a program that changes its folder later goes on with the same file.
        self._path = Path(path if path is not None else home_folder() / ".lantern" / "log.jsonl").absolute()
        self._prepared = False
        self._offset = 0
        self._reading = Lock()

    def append(self, line: str) -> None:
        """Adds one line; it is kept when this returns."""
        try:
            if not self._prepared:
                self._prepare()
            # One write in append mode: lines of several processes must not mix.
            self._write(line.encode("utf-8", "backslashreplace") + b"\n")
        except OSError as error:
            self._prepared = False
            raise self._unusable("written", error) from error

    def new_lines(self) -> list[str]:
        """Lines that were appended since the last call, by anyone; at first all of them."""
        # Two concurrent reads would both move the offset.
        with self._reading:
            return self._read_on()

    def _read_on(self) -> list[str]:
        try:
            with open(self._path, "rb") as file:
                if os.fstat(file.fileno()).st_size < self._offset:
                    self._offset = 0
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unusable("read", error) from error
        # Only whole lines: another process may be in the middle of one.
        end = data.rfind(b"\n") + 1
        self._offset += end
        return [line for line in data[:end].decode("utf-8", "replace").split("\n") if line]

    def _prepare(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._write(b"")
        # The mode of open only counts for a new file.
        os.chmod(self._path, 0o600)
        with open(self._path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 1, 0))
            last = file.read(1)
        # A crash can leave half a line; without this the next line would be lost with it.
        if last not in (b"", b"\n"):
            self._write(b"\n")
        self._prepared = True

    def _write(self, data: bytes) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            # Only a full disk takes a part of it, and fails when it is given the rest.
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)

    def _unusable(self, verb: str, error: OSError) -> LanternError:
        return LanternError(
            "log_failed",
            f"The local log {self._path} cannot be {verb} ({error.strerror}): give the log a path that can be.",
        )
