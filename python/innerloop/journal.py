"""A session's log in a file, and beside it the list of tool runs that have begun. Both are private
to their user: they hold the whole conversation and all that tools have read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from .errors import InnerloopError

_BEGINNING = b'{"format":"innerloop-log"'


class Journal:
    """The files of a log. One process at a time holds them, by a lock."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._runs_path = self.path.with_name(self.path.name + ".runs")
        self._log: BinaryIO | None = None
        # The lock is on this file, since `replace` puts another file in the place of the log.
        self._runs = _open(self._runs_path)
        if not _lock(self._runs):
            self._runs.close()
            raise InnerloopError("busy", f"another process goes on with {self.path}")
        self._begun = _ids(self._runs_path)

    def read(self) -> bytes:
        """Returns the content of the log.

        Raises:
            InnerloopError: ``bad_log`` if it cannot be read.
        """
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise InnerloopError("bad_log", str(error)) from error

    def is_empty(self) -> bool:
        """Returns whether the log has no whole line. A first line that was cut is as good as none:
        its session had carried out nothing yet."""
        log = self.read()
        return b"\n" not in log and log.startswith(_BEGINNING[: len(log)])

    def begin(self) -> None:
        """Begins a new log.

        Raises:
            InnerloopError: ``bad_option`` if the file has a session already.
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
        """Replaces the content of the log by these lines, all of them or none."""
        # Written beside it, synced and renamed: a crash leaves the old log or the new one.
        new = self.path.with_name(self.path.name + ".new")
        new.unlink(missing_ok=True)
        with _open(new) as file:
            file.writelines(line.encode() + b"\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.path)
        self._log = _open(self.path)

    def append(self, lines: list[str], *, durable: bool) -> None:
        """Appends lines; with ``durable`` they survive a power cut, too."""
        if self._log is None or not lines:
            return
        self._log.writelines(line.encode() + b"\n" for line in lines)
        self._log.flush()
        if durable:
            os.fsync(self._log.fileno())
        if lines[-1].startswith('{"snapshot"'):
            # A snapshot is taken while the session is idle, so that no run is under way.
            self._forget()

    def run_begins(self, id: int) -> None:
        """Notes durably that a run begins; to be called before it does."""
        self._begun.add(id)
        self._runs.write(b"%d\n" % id)
        self._runs.flush()
        os.fsync(self._runs.fileno())

    def has_begun(self, id: int) -> bool:
        """Returns whether a run may have taken effect."""
        return id in self._begun

    def close(self) -> None:
        """Closes the files, so that another process can use them."""
        for file in (self._log, self._runs):
            if file is not None:
                file.close()

    def _forget(self) -> None:
        self._begun.clear()
        self._runs.truncate(0)


def open_private(path: Path) -> BinaryIO:
    """Opens a file for appending; a new one can be read by its owner alone."""
    # The mode is given when the file is created: a later `chmod` would leave a moment in which
    # others can open it.
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
    # A last line without a line feed was cut by a crash, before its run began.
    whole = path.read_bytes().rpartition(b"\n")[0].split()
    return {int(line) for line in whole if line.isdigit()}


def _lock(file: BinaryIO) -> bool:
    # Windows has no `fcntl`.
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
