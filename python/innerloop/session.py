"""The bare session, for engines of your own: it takes what happened, returns what follows, and does
nothing else. Sessions live in a :class:`innerloop.Core`, which each call names by their number."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from .core import Core, Json, Line, utf8
from .errors import InnerloopError
from .protocol import (
    Command,
    ContextUsage,
    Effect,
    Event,
    Input,
    Parts,
    SeenTurn,
    SessionConfig,
    SessionOverview,
    Status,
    Turn,
    UndoneAnswer,
)

Told = tuple[Literal["effect"], Effect] | tuple[Literal["event"], Event]
"""An effect or an event, behind its kind."""


@dataclass
class Step:
    """The outputs of one input."""

    entries: list[str] = field(default_factory=list)
    """Lines of the log. Make them durable before you carry out an effect of this step."""
    recording: list[str] = field(default_factory=list)
    """Lines of the recording."""
    outputs: list[Told] = field(default_factory=list)
    """Effects and events in causal order: ``("effect", …)``, ``("event", …)``."""
    deadline: int | None = None
    """The session time for a ``tick`` if nothing else happens before; ``None`` for never."""

    @property
    def effects(self) -> list[Effect]:
        """The effects: things to carry out."""
        return [told[1] for told in self.outputs if told[0] == "effect"]

    @property
    def events(self) -> list[Event]:
        """The events: things to know."""
        return [told[1] for told in self.outputs if told[0] == "event"]


class Session:
    """A session by lines, as the protocol describes it.

    Time is yours: ``at`` counts milliseconds of session time, which begins at :attr:`now`. The
    session has no requests, timers or files: your engine carries out its effects.

    Example::

        core = Core()
        config = core.config("ollama", id="s-1", model="qwen3-coder:30b")
        parts = {"endpoints": [{"provider": "ollama"}], "entries": True}
        session, step = Session.open(config, parts=parts, core=core)
        step = session.submit("Is it warm in Rome?", at=10)
    """

    def __init__(self, core: Core, number: int, now: int) -> None:
        self.core = core
        self.now = now
        """The session time at which it was opened."""
        self._number = number

    @classmethod
    def open(
        cls,
        config: SessionConfig,
        *,
        parts: Parts | None = None,
        wall: int | None = None,
        core: Core | None = None,
    ) -> tuple[Session, Step]:
        """Opens a session. ``parts`` are those of its driver: endpoints, whether people can be
        asked, whether the log's lines are wanted."""
        request = {"config": config, "parts": parts or {}, "wall": _wall(wall)}
        return cls._enter(core or Core(), {"open": request})

    @classmethod
    def open_as(
        cls, core: Core, blueprint: int, id: str, *, wall: int | None = None
    ) -> tuple[Session, Step]:
        """Opens a session of a blueprint, which costs little memory."""
        return cls._enter(core, {"open": {"blueprint": blueprint, "id": id, "wall": _wall(wall)}})

    @classmethod
    def resume(
        cls,
        log: str | bytes,
        *,
        parts: Parts | None = None,
        owe_runs: bool = False,
        wall: int | None = None,
        core: Core | None = None,
    ) -> tuple[Session, Step]:
        """Goes on from a log. Tool runs that were under way are reported as lost; with ``owe_runs``
        they are effects of the step instead, if you know what became of them."""
        data = utf8(log) if isinstance(log, str) else log
        request = {"parts": parts or {}, "owe_runs": owe_runs, "wall": _wall(wall)}
        return cls._enter(core or Core(), {"resume": request}, data)

    @classmethod
    def restore(
        cls,
        snapshot: bytes,
        *,
        parts: Parts | None = None,
        owe_runs: bool = False,
        wall: int | None = None,
        core: Core | None = None,
    ) -> tuple[Session, Step]:
        """Makes a session from a snapshot; for ``owe_runs`` see :meth:`resume`."""
        request = {"parts": parts or {}, "owe_runs": owe_runs, "wall": _wall(wall)}
        return cls._enter(core or Core(), {"restore": request}, snapshot)

    def fork(
        self,
        id: str,
        *,
        turns: int | None = None,
        parts: Parts | None = None,
        wall: int | None = None,
    ) -> tuple[Session, Step]:
        """Returns another session with the first ``turns`` turns of this one, all if ``None``."""
        request: Json = {"id": id, "parts": parts or {}, "wall": _wall(wall)}
        if turns is not None:
            request["turns"] = turns
        return self._enter(self.core, {"fork": {"session": self._number, **request}})

    def handle(self, input: Input, at: int) -> Step:
        """Takes in what happened at ``at`` and returns all that follows.

        Raises:
            RejectedError: The session refuses it, and has not changed.
        """
        return _step(self._ask("handle", at=at, input=input))

    def command(self, command: Command, at: int, agent: int = 0) -> Step:
        """Does :meth:`handle` with a command: ``{"submit": …}``, ``{"steer": …}``, …"""
        return self.handle({"command": {"agent": agent, "command": command}}, at)

    def submit(self, text: str, at: int) -> Step:
        """Does :meth:`handle` with a text of the user, which starts a run."""
        return self.command({"submit": {"parts": [{"type": "text", "text": text}]}}, at)

    def chunk(self, id: int, data: bytes, at: int) -> Step:
        """Does :meth:`handle` with a piece of a response's body, cut anywhere."""
        return _step(self._ask("chunk", data, at=at, id=id))

    def rekey(self, key: str) -> None:
        """Sets another key of the session's endpoint for the requests from now on."""
        self._ask("rekey", key=key)

    def snapshot(self) -> bytes:
        """Returns the session as bytes, at any moment."""
        return self._ask("snapshot")[0].text.encode()

    def owed(self) -> Step:
        """Returns every open effect again, whole, under its id."""
        return _step(self._ask("owed"))

    def status(self, agent: int = 0) -> Status | None:
        """Returns an agent's status; ``None`` if there is no such agent."""
        return cast("Status | None", self._ask("status", agent=agent)[0].value)

    def context(self, agent: int = 0) -> ContextUsage | None:
        """Returns the tokens that fill an agent's context window, by what they are spent on;
        ``None`` if there is no such agent.

        Example::

            usage = session.context()
            print(usage["tools"], "of", usage["total"])
        """
        return cast("ContextUsage | None", self._ask("context", agent=agent)[0].value)

    def overview(self, agent: int = 0) -> SessionOverview:
        """Returns what the session holds beside its history: the words that wait for an agent
        (``None`` if there is no such agent), the agents that were started, and the configuration in
        force.

        Example::

            print(session.overview()["config"]["model"]["name"])
        """
        return cast(SessionOverview, self._ask("overview", agent=agent)[0].value)

    def history(self, agent: int = 0, start: int = 0) -> list[Turn] | None:
        """Returns an agent's history from a turn on; ``None`` if there is no such agent."""
        # `from` is a keyword of Python, so that it cannot be a keyword argument of `_ask`.
        fields: Json = {"agent": agent, "from": start}
        lines = self.core.ask({"history": {"session": self._number, **fields}})
        return cast("list[Turn] | None", lines[0].value)

    def seen(self, agent: int = 0) -> list[SeenTurn] | None:
        """Returns the turns that an agent's model sees; ``None`` if there is no such agent.

        Example::

            for turn in session.seen() or []:
                print(*turn)
        """
        return cast("list[SeenTurn] | None", self._ask("seen", agent=agent)[0].value)

    def undone(self, texts: Mapping[str, str | None] | None = None) -> UndoneAnswer:
        """Returns how to restore the files of undone steps, for a session with ``undo`` in its
        parts: first the files to be read, until ``texts`` has them all, then what to do, once. The
        text of a file that is not there is ``None``.

        Example::

            missing = session.undone()["missing"]
            files = session.undone({path: Path(path).read_text() for path in missing})["files"]
        """
        return cast(UndoneAnswer, self._ask("undone", texts=dict(texts or {}))[0].value)

    def said(self, agent: int = 0) -> str | None:
        """Returns the part of the conversation that is new to an agent's model, in the form that
        recordings compare."""
        return cast("str | None", self._ask("said", agent=agent)[0].value)

    def close(self) -> None:
        """Frees the session's memory. It can be used no more."""
        self._ask("close")

    def _ask(self, verb: str, data: bytes = b"", **fields: Any) -> list[Line]:
        return self.core.ask({verb: {"session": self._number, **fields}}, data)

    @classmethod
    def _enter(cls, core: Core, request: Json, data: bytes = b"") -> tuple[Session, Step]:
        lines = core.ask(request, data)
        if [line.kind for line in lines[:2]] != ["session", "now"]:
            raise InnerloopError("internal", "the core answers something else")
        return cls(core, lines[0].value, lines[1].value), _step(lines[2:])


def _step(lines: Iterable[Line]) -> Step:
    step = Step()
    for line in lines:
        if line.kind == "entry":
            step.entries.append(line.raw)
        elif line.kind == "recording":
            step.recording.append(line.raw)
        elif line.kind == "deadline":
            step.deadline = line.value
        else:
            step.outputs.append(cast(Told, (line.kind, line.value)))
    return step


def _wall(wall: int | None) -> int:
    return int(time.time() * 1000) if wall is None else wall
