"""A session's log in a file, and beside it the list of tool runs that have begun. Both are private
to their user: they hold the whole conversation and all that tools have read."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from .errors import InnerloopError

_BEGINNING = b'{"format":"innerloop-log"'
_SNAPSHOT = b'{"snapshot":'
_SPARE = 64 << 10
"""The bytes of older snapshots that a log may have however short it is."""


class Journal:
    """The files of a log. One process at a time holds them, by a lock."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._runs_path = self.path.with_name(self.path.name + ".runs")
        self._log: BinaryIO | None = None
        self._newest = 0
        """The bytes of the newest snapshot."""
        self._spare = 0
        """The bytes of the snapshots before that one."""
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
        self._replace(line.encode() for line in lines)

    def append(self, lines: list[str], *, durable: bool) -> None:
        """Appends lines; with ``durable`` they survive a power cut, too."""
        if self._log is None or not lines:
            return
        self._log.writelines(line.encode() + b"\n" for line in lines)
        self._log.flush()
        if durable:
            os.fsync(self._log.fileno())
        newest = lines[-1].encode()
        if newest.startswith(_SNAPSHOT):
            # A snapshot is taken while the session is idle, so that no run is under way.
            self._forget()
            self._on_snapshot(len(newest) + 1)

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

    def _on_snapshot(self, size: int) -> None:
        self._spare, self._newest = self._spare + self._newest, size
        assert self._log is not None
        # With all of them a log would grow with the square of the conversation.
        if self._spare > max(_SPARE, (self._log.tell() - self._spare) // 2):
            lines = self.read().split(b"\n")[:-1]
            # The newest must stay: a program of another version reads no more than that. One behind
            # the header may stand for inputs that are in no line.
            kept = [
                line
                for number, line in enumerate(lines, 1)
                if number in (1, 2, len(lines)) or not line.startswith(_SNAPSHOT)
            ]
            # A log that cannot be written anew stays as it is, which is whole.
            with contextlib.suppress(OSError, InnerloopError):
                self._replace(kept)
                self._spare = 0

    def _replace(self, lines: Iterable[bytes]) -> None:
        new = self.path.with_name(self.path.name + ".new")
        new.unlink(missing_ok=True)
        with _open(new) as file:
            file.writelines(line + b"\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        # Windows replaces no file that is open.
        if self._log is not None:
            self._log.close()
        try:
            os.replace(new, self.path)
        finally:
            self._log = _open(self.path)

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
