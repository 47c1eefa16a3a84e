"""A session's log in a file, and beside it which runs of tools have begun. Both are confidential:
they hold all that was said, and what tools have read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from .errors import InnerloopError

_BEGINNING = b'{"format":"innerloop-log"'


class Journal:
    """The files of a log: one process writes them at a time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._runs_path = self.path.with_name(self.path.name + ".runs")
        self._log: BinaryIO | None = None
        self._runs = _open(self._runs_path)
        if not _lock(self._runs):
            self._runs.close()
            raise InnerloopError("busy", f"another process goes on with {self.path}")
        self._begun = _ids(self._runs_path)

    def read(self) -> bytes:
        """What the file holds.

        Raises:
            InnerloopError: ``bad_log``, if it cannot be read.
        """
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise InnerloopError("bad_log", str(error)) from error

    def is_empty(self) -> bool:
        """Whether nothing was ever said: of a first line that was cut nothing has followed."""
        log = self.read()
        return b"\n" not in log and log.startswith(_BEGINNING[: len(log)])

    def begin(self) -> None:
        """Begins a log.

        Raises:
            InnerloopError: ``bad_option``, if there is one already.
        """
        self._log = _open(self.path)
        if self._log.tell() > 0:
            if not self.is_empty():
                self.close()
                raise InnerloopError(
                    "bad_option", f"{self.path} has a session already; go on with `Agent.resume`"
                )
            self._log.truncate(0)
        self._forget()

    def replace(self, lines: Iterable[str]) -> None:
        """Puts lines in the place of what the file holds: all of them or none."""
        new = self.path.with_name(self.path.name + ".new")
        new.unlink(missing_ok=True)
        with _open(new) as file:
            file.writelines(line.encode() + b"\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.path)
        self._log = _open(self.path)

    def append(self, lines: list[str], *, durable: bool) -> None:
        """Writes lines; with ``durable`` they outlive a power cut, too."""
        if self._log is None or not lines:
            return
        self._log.writelines(line.encode() + b"\n" for line in lines)
        self._log.flush()
        if durable:
            os.fsync(self._log.fileno())
        if lines[-1].startswith('{"snapshot"'):
            # The session is idle: no run is under way.
            self._forget()

    def run_begins(self, id: int) -> None:
        """Notes that a run begins, before it does."""
        self._begun.add(id)
        self._runs.write(b"%d\n" % id)
        self._runs.flush()
        os.fsync(self._runs.fileno())

    def has_begun(self, id: int) -> bool:
        """Whether a run may have taken effect."""
        return id in self._begun

    def close(self) -> None:
        """Lets others go on with it."""
        for file in (self._log, self._runs):
            if file is not None:
                file.close()

    def _forget(self) -> None:
        self._begun.clear()
        self._runs.truncate(0)


def open_private(path: Path) -> BinaryIO:
    """A file to append to, which nobody else reads if it is a new one."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags, 0o600), "ab")
    file.seek(0, os.SEEK_END)
    return file


def _open(path: Path) -> BinaryIO:
    try:
        return open_private(path)
    except OSError as error:
        raise InnerloopError("bad_log", str(error)) from error


def _ids(path: Path) -> set[int]:
    # Of a line that was cut nothing is known: its run had not begun.
    whole = path.read_bytes().rpartition(b"\n")[0].split()
    return {int(line) for line in whole if line.isdigit()}


def _lock(file: BinaryIO) -> bool:
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
