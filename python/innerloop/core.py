"""The core: the WebAssembly module that decides everything and touches nothing, and the requests
to it that need no session. All requests go through :meth:`Core.call`, as lines of JSON."""

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
    """Returns the bytes of a module of the package."""
    return resources.files(__package__ or "innerloop").joinpath(name).read_bytes()


def utf8(text: str) -> bytes:
    """Returns a text as UTF-8. A pair of surrogates, as other languages write it, becomes one
    character; a lone one, for which there is no UTF-8, becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def cached(config: Config) -> Config:
    """Returns the configuration with wasmtime's cache of compiled modules, if it can be used."""
    try:
        config.cache = True
    except WasmtimeError:
        # No folder can be written: each process compiles for itself.
        pass
    return config


def _compiled() -> tuple[Engine, Module]:
    engine = Engine(cached(Config()))
    return engine, Module(engine, module_bytes("innerloop_core.wasm"))


# Compiled when the package is imported: the first agent of a server would otherwise block the event
# loop for a second.
_ENGINE, _MODULE = _compiled()


@dataclass(frozen=True)
class _Signature:
    """The part of a function's type that wasmtime reads at each call."""

    params: list[ValType]
    results: list[ValType]


def _quick(function: Func, store: Store) -> Func:
    """Returns the function with its type read once: wasmtime-py reads it at each call, which takes
    longer than the call itself."""
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
        """The value's text, byte for byte: log lines are kept as the core has written them."""
        return self.text[len(self.kind) + 4 : -1]

    @property
    def value(self) -> Any:
        """The value, decoded."""
        return json.loads(self.raw)


class Core:
    """An instance of the core, which holds any number of sessions.

    A session makes one for itself if it is given none. Calls from several threads wait for each
    other. An instance that has failed (``internal``) cannot be used any more: make another one and
    resume its sessions from their logs.

    Example::

        core = Core()
        print([provider["name"] for provider in core.providers()])
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
        """Returns the answer to a request, as bytes with one line for each part. ``data`` follows
        the request's line.

        Raises:
            InnerloopError: ``bad_request`` if the request is not JSON, ``no_memory``, or
                ``internal`` if the core has failed.
        """
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
        # The buffer in the module is used again, since asking for one is a call of its own. One
        # that grew large is given back with the next request.
        if length > self._size or self._size > _LARGE:
            self._address = self._room(store, length) & 0xFFFF_FFFF
            self._size = length if self._address else 0
            self._base = self._found_base()
            if not self._address:
                raise InnerloopError("no_memory", f"there is no memory for {length} bytes")
        ctypes.memmove(self._base + self._address, request, length)
        packed = self._call(store, length) & 0xFFFF_FFFF_FFFF_FFFF
        # A memory that grew may have moved, and the answer lies at its new place.
        if self._memory.data_len(store) != self._extent:
            self._base = self._found_base()
        return ctypes.string_at(self._base + (packed >> 32), packed & 0xFFFF_FFFF)

    def _found_base(self) -> int:
        """Returns the address at which the memory begins, and notes its size."""
        self._extent = self._memory.data_len(self._store)
        pointer = ctypes.cast(self._memory.data_ptr(self._store), ctypes.c_void_p)
        return pointer.value or 0

    def ask(self, request: Mapping[str, Any], data: bytes = b"") -> list[Line]:
        """Returns the answer's lines.

        Raises:
            RejectedError: The session refuses the input.
            InnerloopError: The request is invalid, or the core has failed.
        """
        lines: list[Line] = []
        # Not `splitlines`, which would also split at other line ends within a text.
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
        """Returns the table of providers: addresses, variables of keys, default models."""
        return cast(list[Provider], self._value({"providers": None}))

    def model(self, provider: str, name: str | None = None) -> ModelConfig:
        """Returns what the catalogue knows of a model: window, limits, price."""
        return cast(ModelConfig, self._value({"model": _given(provider=provider, name=name)}))

    def doc_names(self, profile: ProfileKind) -> list[str]:
        """Returns the names of the instruction files of a model family."""
        return cast(list[str], self._value({"doc_names": {"profile": profile}}))

    def docs(
        self, profile: ProfileKind, paths: Sequence[str], read: Callable[[str], str | None]
    ) -> EnvironmentFacts:
        """Returns the facts ``project_docs``, ``nested_docs`` and ``skills`` for a model family:
        the instruction files among ``paths``, with the files that they import, and the skills.
        ``read`` returns the text of a file."""
        texts: dict[str, str | None] = {}
        # The core does no I/O: it names the files that it needs, imports only once it has the
        # files that import them, until none is missing.
        while True:
            wanted = {"profile": profile, "paths": list(paths), "texts": texts}
            found: DocsAnswer = self._value({"docs": wanted})
            if not found["missing"]:
                return {
                    "project_docs": found["project_docs"],
                    "nested_docs": found["nested_docs"],
                    "skills": found["skills"],
                }
            texts |= {path: read(path) for path in found["missing"]}

    def config(
        self,
        provider: str,
        *,
        id: str,
        model: str | None = None,
        fallbacks: Sequence[Json] = (),
        models: Json | None = None,
        preset: ConfigPreset | None = None,
        facts: EnvironmentFacts | None = None,
        tools: Sequence[ToolSpec] = (),
        patches: Sequence[SessionConfigPatch] = (),
    ) -> SessionConfig:
        """Returns a session's configuration: a preset, over it the provider and the model with
        their facts from the catalogue, and over both the merge patches (RFC 7396)."""
        wanted = _given(
            id=id,
            provider=provider,
            model=model,
            fallbacks=list(fallbacks),
            models=models,
            preset=preset,
            facts=facts,
            tools=list(tools),
            patches=list(patches),
        )
        return cast(SessionConfig, self._value({"config": wanted}))

    def blueprint(self, config: SessionConfig, parts: Parts | None = None) -> int:
        """Returns the number of a blueprint, which sessions of one configuration share, for
        :meth:`innerloop.Session.open_as`."""
        return cast(int, self._value({"blueprint": _given(config=config, parts=parts)}))

    def discard(self, blueprint: int) -> None:
        """Frees the memory of a blueprint."""
        self.ask({"discard": {"blueprint": blueprint}})

    def replay(self, log: str | bytes) -> list[list[Output]]:
        """Replays a log, and returns the outputs of the session's opening and of each line. Nothing
        is carried out."""
        data = utf8(log) if isinstance(log, str) else log
        return [line.value for line in self.ask({"replay": None}, data)]

    def _value(self, request: Json) -> Any:
        return self.ask(request)[0].value


def _given(**fields: Any) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
