"""The core: the WebAssembly module that decides everything and touches nothing, and what it can be
asked without a session."""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, cast

from wasmtime import (
    Config,
    Engine,
    Func,
    Instance,
    Memory,
    Module,
    Store,
    Trap,
    ValType,
    WasmtimeError,
)

from .errors import InnerloopError, RejectedError
from .protocol import (
    ConfigPreset,
    DocsAnswer,
    EnvironmentFacts,
    ModelConfig,
    Output,
    Parts,
    ProfileKind,
    Provider,
    SessionConfig,
    SessionConfigPatch,
    ToolSpec,
)

Json = dict[str, Any]
"""An object of the protocol's JSON."""

_ABI = 1
_LARGE = 1 << 20
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def module_bytes(name: str) -> bytes:
    """A module that comes along."""
    return resources.files(__package__ or "innerloop").joinpath(name).read_bytes()


def utf8(text: str) -> bytes:
    """A text's bytes. Pairs of surrogates, as other languages write them, are one character; a lone
    one, of which there is no UTF-8, becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def cached(config: Config) -> Config:
    """A configuration whose modules are compiled once for the user, where that can be kept."""
    try:
        config.cache = True
    except WasmtimeError:
        pass  # No folder can be written: each process compiles for itself.
    return config


def _compiled() -> tuple[Engine, Module]:
    engine = Engine(cached(Config()))
    return engine, Module(engine, module_bytes("innerloop_core.wasm"))


# Compiled when the package is imported, once for the user where that can be kept: the first agent
# of a server would block the event loop for a second.
_ENGINE, _MODULE = _compiled()


@dataclass(frozen=True)
class _Signature:
    """What wasmtime wants to know of a function at each call."""

    params: list[ValType]
    results: list[ValType]


def _quick(function: Func, store: Store) -> Func:
    """A function whose type is read once: wasmtime reads it at each call, for longer than the call
    takes."""
    known = function.type(store)
    signature = _Signature(known.params, known.results)
    function.type = lambda _store: signature  # type: ignore[assignment, method-assign, return-value]
    return function


@dataclass(frozen=True)
class Line:
    """A line of an answer: an object with one key, its kind."""

    kind: str
    text: str

    @property
    def raw(self) -> str:
        """The value as it stands there, byte for byte."""
        return self.text[len(self.kind) + 4 : -1]

    @property
    def value(self) -> Any:
        """The value, read."""
        return json.loads(self.raw)


class Core:
    """An instance of the core, which holds any number of sessions.

    A session makes one for itself if it is given none. Calls of several threads wait for one
    another. An instance that has failed (``internal``) is of no use any more: make another one and
    resume its sessions from their logs.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._store = Store(_ENGINE)
        try:
            exports = Instance(self._store, _MODULE, []).exports(self._store)
        except WasmtimeError as error:
            raise InnerloopError("no_memory", f"there is no room for the core: {error}") from error
        self._memory = cast(Memory, exports["memory"])
        self._room = cast(Func, exports["innerloop_room"])
        self._call = _quick(cast(Func, exports["innerloop_call"]), self._store)
        if cast(Func, exports["innerloop_abi"])(self._store) != _ABI:
            raise InnerloopError("internal", "the module has another version of the interface")
        self._address, self._size = 0, 0
        self._base = self._found_base()

    def call(self, request: Mapping[str, Any], data: bytes = b"") -> bytes:
        """The answer to a request, as the lines come. ``data`` are the bytes behind its line."""
        try:
            line = _encode(request)
        except (TypeError, ValueError, RecursionError) as error:
            raise InnerloopError("bad_request", f"there is no JSON for it: {error}") from error
        whole = utf8(line)
        if data:
            whole += b"\n" + data
        with self._lock:
            try:
                return self._exchange(whole)
            except (Trap, WasmtimeError) as error:
                raise InnerloopError("internal", f"the core has failed: {error}") from error

    def _exchange(self, request: bytes) -> bytes:
        store, length = self._store, len(request)
        # The room stays where it is as long as it is large enough; one that is too large goes back.
        if length > self._size or self._size > _LARGE:
            self._address = self._room(store, length) & 0xFFFF_FFFF
            self._size = length if self._address else 0
            self._base = self._found_base()
            if not self._address:
                raise InnerloopError("no_memory", f"there is no memory for {length} bytes")
        ctypes.memmove(self._base + self._address, request, length)
        packed = self._call(store, length) & 0xFFFF_FFFF_FFFF_FFFF
        if self._memory.data_len(store) != self._extent:
            self._base = self._found_base()
        return ctypes.string_at(self._base + (packed >> 32), packed & 0xFFFF_FFFF)

    def _found_base(self) -> int:
        """Where the memory begins. Calls that let it grow may move it."""
        self._extent = self._memory.data_len(self._store)
        pointer = ctypes.cast(self._memory.data_ptr(self._store), ctypes.c_void_p)
        return pointer.value or 0

    def ask(self, request: Mapping[str, Any], data: bytes = b"") -> list[Line]:
        """The answer's lines.

        Raises:
            RejectedError: The session refuses the input.
            InnerloopError: The request is none, or the core has failed.
        """
        lines: list[Line] = []
        # Other ends of lines than the line feed may stand in a text.
        for text in self.call(request, data).decode().rstrip("\n").split("\n"):
            if not text:
                continue
            line = Line(text[2 : text.index('"', 2)], text)
            if line.kind == "error":
                fault: Json = line.value
                said = fault["code"], fault["message"]
                raise InnerloopError(*said, fault.get("field"), fault.get("fault"))
            if line.kind == "rejected":
                raise RejectedError(line.value)
            lines.append(line)
        return lines

    def providers(self) -> list[Provider]:
        """The table of providers: their addresses, their keys' variables, their default models."""
        return cast(list[Provider], self._value({"providers": None}))

    def model(self, provider: str, name: str | None = None) -> ModelConfig:
        """What is known of a model: its window, its limits, its price."""
        return cast(ModelConfig, self._value({"model": _given(provider=provider, name=name)}))

    def doc_names(self, profile: ProfileKind) -> list[str]:
        """The names of the files that instruct a family's models."""
        return cast(list[str], self._value({"doc_names": {"profile": profile}}))

    def docs(
        self, profile: ProfileKind, paths: Sequence[str], read: Callable[[str], str | None]
    ) -> EnvironmentFacts:
        """The facts ``project_docs`` and ``nested_docs``: what instructs a family's models among
        files of a workspace, with what it imports. ``read`` gives the text of a file."""
        texts: dict[str, str | None] = {}
        while True:
            wanted = {"profile": profile, "paths": list(paths), "texts": texts}
            found: DocsAnswer = self._value({"docs": wanted})
            if not found["missing"]:
                return {"project_docs": found["project_docs"], "nested_docs": found["nested_docs"]}
            texts |= {path: read(path) for path in found["missing"]}

    def config(
        self,
        provider: str,
        *,
        id: str,
        model: str | None = None,
        models: Json | None = None,
        preset: ConfigPreset | None = None,
        facts: EnvironmentFacts | None = None,
        tools: Sequence[ToolSpec] = (),
        patches: Sequence[SessionConfigPatch] = (),
    ) -> SessionConfig:
        """The configuration that settings come to: a provider and a model, completed from the
        catalogue, over a preset, and over all of it merge patches (RFC 7396)."""
        wanted = _given(
            id=id,
            provider=provider,
            model=model,
            models=models,
            preset=preset,
            facts=facts,
            tools=list(tools),
            patches=list(patches),
        )
        return cast(SessionConfig, self._value({"config": wanted}))

    def blueprint(self, config: SessionConfig, parts: Parts | None = None) -> int:
        """The number of what sessions of one configuration share, for ``Session.open_as``."""
        return cast(int, self._value({"blueprint": _given(config=config, parts=parts)}))

    def discard(self, blueprint: int) -> None:
        """Gives back the memory of a blueprint."""
        self.ask({"discard": {"blueprint": blueprint}})

    def replay(self, log: str | bytes) -> list[list[Output]]:
        """What followed from the opening of a log's session and from each of its lines. Nothing is
        carried out."""
        data = utf8(log) if isinstance(log, str) else log
        return [line.value for line in self.ask({"replay": None}, data)]

    def _value(self, request: Json) -> Any:
        return self.ask(request)[0].value


def _given(**fields: Any) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
