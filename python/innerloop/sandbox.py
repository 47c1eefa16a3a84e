"""The workspace: the built-in tools run as a WASI program that can open the workspace's folder and
nothing else. The runtime refuses links that lead out of it."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
import tempfile
import threading
from pathlib import Path
from typing import cast

from wasmtime import (
    Config,
    Engine,
    ExitTrap,
    Func,
    Linker,
    Module,
    Store,
    Trap,
    WasiConfig,
    WasmtimeError,
)

from . import protocol
from ._listing import list_by_bytes
from .core import cached, module_bytes, utf8
from .errors import InnerloopError
from .protocol import Outcome, ToolErrorName, ToolRun

READING = frozenset({"read", "view_image", "read_many", "list", "glob", "grep"})
"""The actions that change nothing: they may be repeated, and get the folder read-only."""

_MEMORY = 512 << 20
_OUTPUT = 64 << 20
_LARGEST_TEXT = 16 << 20
"""The most bytes of text that a session keeps to undo changes of files."""
_lock = threading.Lock()
_artefact: bytes | None = None


class Workspace:
    """A folder that the built-in tools work on."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).resolve()
        if not self.folder.is_dir():
            raise InnerloopError("bad_workspace", f"{self.folder} is no folder")
        # A model that may change everything that a user owns is nearly always a mistake.
        if self.folder == Path(self.folder.anchor) or self.folder == Path.home():
            raise InnerloopError(
                "bad_workspace", f"{self.folder} is too much to be open; give a project's folder"
            )

    def run(self, run: ToolRun) -> Action:
        """Returns a run of a built-in tool that has not begun."""
        return Action(self.folder, run)

    def perform(self, action: protocol.Action) -> str | None:
        """Carries out an action without a call of the model; returns why it failed, if it did."""
        job: protocol.Job = {"builtin": action}
        run: ToolRun = {"call_id": "", "name": "", "job": job, "timeout_ms": 0}
        outcome = self.run(run).perform()
        if "error" not in outcome:
            return None
        return "".join(part["text"] for part in outcome["parts"] if part["type"] == "text")

    def text(self, path: str) -> str | None:
        """Returns a file's text; ``None`` if there is no such file."""
        place = Path(self.folder, path)
        try:
            is_inside = place.resolve().is_relative_to(self.folder)
            if is_inside and place.stat().st_size <= _LARGEST_TEXT:
                return place.read_bytes().decode("utf-8", "replace")
        except FileNotFoundError:
            return None
        except (OSError, RuntimeError):
            pass
        # Something is there that no tool can have left as text. This text equals none that the
        # session knows, so that the file counts as changed by others and is kept.
        return "\N{REPLACEMENT CHARACTER}"


class Action:
    """One run of the tools' program. It has an engine of its own: the epoch by which it is stopped
    belongs to the engine, and would stop all runs of it."""

    def __init__(self, folder: Path, run: ToolRun) -> None:
        self._folder = folder
        self._run = run
        config = cached(_config())
        self._engine = Engine(config)

    def stop(self) -> None:
        """Stops the run; may be called from another thread, and before it has begun."""
        self._engine.increment_epoch()

    def perform(self) -> Outcome:
        """Runs the program to its end, or until it is stopped, and returns the outcome."""
        # wasmtime-py takes standard input from a file only. Its folder is private to the user.
        with tempfile.TemporaryDirectory(prefix="innerloop-") as scratch:
            action = self._run["job"]["builtin"]
            stdin = Path(scratch, "action.json")
            stdin.write_bytes(utf8(json.dumps(action, ensure_ascii=False)))
            output = bytearray()
            modes = _modes(self._folder, self._run.get("folder", ""), action)
            fault = self._start(stdin, output)
            _restore(modes)
        try:
            outcome = json.loads(output)
        except ValueError:
            outcome = None
        if fault is not None or not isinstance(outcome, dict):
            return _failed("crashed", f"The tool failed: {fault or 'it said nothing'}.")
        return cast(Outcome, outcome)

    def _start(self, stdin: Path, output: bytearray) -> str | None:
        """Runs the program, and returns what went wrong, if anything did."""
        known = self._run.get("known")
        arguments = ["innerloop-tools", self._run.get("folder", "")]
        wasi = WasiConfig()
        wasi.argv = arguments if known is None else [*arguments, json.dumps(known)]
        wasi.stdin_file = stdin
        # The runtime holds a reading action to its word, whatever the program does.
        is_mutable = self._run["job"]["builtin"]["action"] not in READING
        wasi.preopen_dir(str(self._folder), "/", is_mutable)

        def take(piece: bytes) -> int:
            if len(output) + len(piece) > _OUTPUT:
                return -errno.EFBIG
            output.extend(piece)
            return len(piece)

        wasi.stdout_custom = take
        store = Store(self._engine)
        store.set_limits(memory_size=_MEMORY)
        store.set_epoch_deadline(1)
        store.set_wasi(wasi)
        linker = Linker(self._engine)
        linker.define_wasi()
        list_by_bytes(linker, store, self._folder)
        try:
            instance = linker.instantiate(store, _module(self._engine))
            start = instance.exports(store)["_start"]
            assert isinstance(start, Func)
            start(store)
        except ExitTrap as exit:
            return None if exit.code == 0 else f"exit code {exit.code}"
        except (Trap, WasmtimeError) as error:
            return str(error).splitlines()[0]
        return None


def _modes(folder: Path, base: str, action: protocol.Action) -> dict[Path, int]:
    """Returns the permissions of the files that an action names. The program replaces a file as a
    whole, and WASI shows it no permissions to keep: a script would not be executable any more."""
    patch = action["patch"] if action["action"] == "patch" else ""
    patched = re.findall(r"^\*\*\* (?:Add|Update) File: (.+)$", patch, re.M)
    modes = {}
    for name in [*patched, str(action.get("path") or "")]:
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            place = Path(folder, base, name.strip().lstrip("/")).resolve()
            found = place.stat()
            if place.is_relative_to(folder) and stat.S_ISREG(found.st_mode):
                modes[place] = stat.S_IMODE(found.st_mode)
    return modes


def _restore(modes: dict[Path, int]) -> None:
    for place, mode in modes.items():
        with contextlib.suppress(OSError):
            found = place.lstat().st_mode
            if stat.S_ISREG(found) and stat.S_IMODE(found) != mode:
                place.chmod(mode)


def _config() -> Config:
    config = Config()
    config.epoch_interruption = True
    return config


def _module(engine: Engine) -> Module:
    """Returns the tools' program for an engine. The first engine compiles it; the others take the
    compiled code from memory."""
    global _artefact
    with _lock:
        if _artefact is None:
            module = Module(engine, module_bytes("tools.wasm"))
            _artefact = bytes(module.serialize())
            return module
    return Module.deserialize(engine, _artefact)


def _failed(error: ToolErrorName, text: str) -> Outcome:
    return {"parts": [{"type": "text", "text": text}], "error": error}
