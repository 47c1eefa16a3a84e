"""Listings of folders that hold a name which is not UTF-8, as Linux has them. The runtime fails for
the whole of such a folder; here a folder is listed by its bytes, and the tools leave out the names
that no call can name, and say so."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

from wasmtime import Caller, Func, FuncType, Linker, Memory, Store, ValType

_WASI = "wasi_snapshot_preview1"
_SUCCESS, _IO, _NOT_CAPABLE = 0, 29, 76
_HANDLES = "/proc/self/fd"
_LONGEST = 4096
"""The bytes of the longest path."""
_FOLDER, _FILE, _LINK, _OTHER = 3, 4, 7, 0


def list_by_bytes(linker: Linker, store: Store, root: Path) -> None:
    """Replaces the function that lists a folder for a program that has ``root`` as its ``/``."""
    if sys.platform != "linux" or not os.path.isdir(_HANDLES):
        return

    def read_folder(caller: Caller, _: int, into: int, size: int, cookie: int, used: int) -> int:
        memory = caller["memory"]
        assert isinstance(memory, Memory)
        # The tools put the folder's path there, since a function of this side cannot ask the
        # runtime for it.
        given = bytes(memory.read(caller, into, into + min(size, _LONGEST)))
        path = given.partition(b"\0")[0].lstrip(b"/")
        try:
            listing = _entries(os.path.join(os.fsencode(root), path), root)
        except PermissionError:
            return _NOT_CAPABLE
        except OSError:
            return _IO
        data = b"".join(listing[cookie:])[:size]
        memory.write(caller, data, into)
        memory.write(caller, struct.pack("<I", len(data)), used)
        return _SUCCESS

    i32, i64 = ValType.i32, ValType.i64
    kind = FuncType([i32(), i32(), i32(), i64(), i32()], [i32()])
    linker.allow_shadowing = True
    linker.define(store, _WASI, "fd_readdir", Func(store, kind, read_folder, access_caller=True))


def _entries(folder: bytes, root: Path) -> list[bytes]:
    """Returns the entries of a folder as WASI writes them, each with the number of the next.

    Raises:
        OSError: it is no folder below ``root``, or cannot be listed.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # The runtime has opened that path, too, and follows no link out of its folder; another
        # process may have put one there since.
        if not Path(os.readlink(f"{_HANDLES}/{handle}")).is_relative_to(root):
            raise PermissionError(folder)
        with os.scandir(handle) as found:
            # In one order, since a long listing is asked for in parts.
            entries = sorted((os.fsencode(entry.name), _kind(entry)) for entry in found)
    finally:
        os.close(handle)
    return [
        struct.pack("<QQIB3x", number, 0, len(name), kind) + name
        for number, (name, kind) in enumerate(entries, 1)
    ]


def _kind(entry: os.DirEntry[str]) -> int:
    if entry.is_symlink():
        return _LINK
    if entry.is_dir(follow_symlinks=False):
        return _FOLDER
    return _FILE if entry.is_file(follow_symlinks=False) else _OTHER
