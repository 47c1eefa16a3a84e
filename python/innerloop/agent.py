"""The agent: what most people need. Its inside is :mod:`innerloop.engine`."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, cast

from .effects import Approve, Ask
from .engine import Engine, FoldingEnd, need_loop
from .errors import InnerloopError
from .hooks import Hooks
from .journal import Journal
from .options import Options, check_names
from .protocol import (
    CommandSubmit,
    ConfigPreset,
    EnvironmentFacts,
    Event,
    Part,
    SeenTurn,
    SessionConfigPatch,
    Turn,
    TurnKind,
    TurnOptions,
)
from .run import Run, Usage
from .tools import Function, Tool
from .undoing import UndoneFiles, undo_files

Said = str | Sequence[Part]
"""A text, or a list of parts: texts, pictures, files."""


class Agent(Engine):
    """A coding agent over a folder, with your functions as tools.

    At the end of an ``async with`` block it is closed; if it has a log, it only leaves its session,
    which can go on.

    Args:
        provider: Who serves the model: ``anthropic``, ``openai``, ``gemini``, ``ollama``, …
        model: The model, as the provider knows it; the provider's own choice if left out.
        api_key: The key; otherwise the provider's variable of the environment has it.
        base_url: Where the provider is reached; otherwise its variable, otherwise its address.
        headers: What the endpoint wants besides.
        workspace: The folder that the built-in tools work on. Without one there are none.
        tools: Functions, or what :func:`innerloop.tool` has made of them.
        approve: Says which calls that change something may run.
        ask: Answers the model's questions.
        hooks: Functions that stand in the loop, by their points: see :class:`innerloop.Hooks`.
        on_event: Is told every event.
        log: A file for the session's log, from which :meth:`resume` goes on.
        record: A file to which the model traffic is appended.
        replay: A recording's text, which answers in place of the provider.
        instructions: What the model is told last.
        system_prompt: What it is told first, in place of the package's own words.
        preset: ``modern`` (the default), ``seed001``, ``ollama``, …
        facts: What the model is told of the place: project documents, the state of git.
        config: A merge patch of the whole configuration, over all of this.
        id: The session's id.

    Raises:
        InnerloopError: An option does not fit; ``code`` says which kind of mistake it is.
    """

    def __init__(
        self,
        provider: str | None = None,
        model: str | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        workspace: str | os.PathLike[str] | None = None,
        tools: Sequence[Function | Tool] = (),
        approve: Approve | None = None,
        ask: Ask | None = None,
        hooks: Hooks | None = None,
        on_event: Callable[[Event], None] | None = None,
        log: str | os.PathLike[str] | None = None,
        record: str | os.PathLike[str] | None = None,
        replay: str | None = None,
        instructions: str | None = None,
        system_prompt: str | None = None,
        preset: ConfigPreset | None = None,
        facts: EnvironmentFacts | None = None,
        config: SessionConfigPatch | None = None,
        id: str | None = None,
        **unknown: NoReturn,
    ) -> None:
        check_names(unknown)
        options = Options(
            provider=provider,
            model=model,
            api_key=api_key,
            base_url=base_url,
            headers=headers,
            workspace=workspace,
            tools=tools,
            approve=approve,
            ask=ask,
            hooks=hooks,
            on_event=on_event,
            record=record,
            replay=replay,
            instructions=instructions,
            system_prompt=system_prompt,
            preset=preset,
            facts=facts,
            config=config,
            id=id,
        )
        self._set_up(options, _journal(log) if log is not None else None)

    @classmethod
    def resume(cls, log: str | os.PathLike[str], **options: Any) -> Agent:
        """Goes on from a log, with the options with which the agent was made.

        Configuration and conversation are the log's; what concerns them in the options does not
        count. Requests that were under way are sent again and questions asked again. Tools' runs
        that had not begun are carried out; of those that had, the model is told that nobody knows
        what became of them, unless the tool is ``repeatable``. A run that was under way goes on: it
        is :attr:`current`. Where a crash left a log without a single whole line, the session begins
        as the constructor begins it. Call it where an event loop runs.

        Raises:
            InnerloopError: ``bad_log``, where the log cannot be read; ``busy``, while another
                process goes on with it; otherwise as the constructor.

        Example::

            async with Agent.resume("session.jsonl", provider="anthropic") as agent:
                print(len(agent.history()))
        """
        need_loop("Agent.resume")
        wanted = Options.of(options)
        agent = cls.__new__(cls)
        journal = _existing(log)
        agent._set_up(wanted, journal, resumes=not journal.is_empty())
        return agent

    def run(self, said: Said, options: TurnOptions | None = None) -> Run:
        """Lets the agent work until it is done. Call it where an event loop runs.

        ``options`` hold for this input only: which ``tools`` may be called, whether to ``hide`` the
        others from the model, which ``paths`` of the workspace calls may name, whether the model
        must, may or must not call tools (``tool_choice``), and its ``temperature``.

        Raises:
            RejectedError: ``busy`` while a run is under way, ``options`` where one does not fit.
            InnerloopError: ``closed`` after the end, ``no_loop`` outside of an event loop,
                ``bad_request`` for an option that there is not.

        Example::

            run = agent.run("Explain the parser", {"tools": ["Read", "Grep"], "paths": ["src"]})
            print((await run.result()).text)
        """
        self._enter_loop("Agent.run")
        before = self._next
        # It takes the place of the last one when it begins: a listener may be told of the end of
        # that one only after this call.
        run = self._next = Run(self.interrupt)
        try:
            self._carry_out({"submit": _input(said, options)})
        except InnerloopError:
            self._next = before
            raise
        return run

    def steer(self, said: Said) -> None:
        """Tells the model something after the current round of tools; while idle, with the next
        run.

        Example::

            agent.steer("The tests are in `spec`")
        """
        self._command({"steer": {"parts": _said(said)}})

    def follow_up(self, said: Said, options: TurnOptions | None = None) -> None:
        """Gives the agent another input for when the current one is done, in the same run;
        ``options`` as of :meth:`run`.

        Example::

            agent.follow_up("Now sum it up", {"tools": []})
        """
        self._command({"follow_up": _input(said, options)})

    def configure(self, patch: SessionConfigPatch) -> None:
        """Changes the configuration by a merge patch, in force from the next model call.

        Example::

            agent.configure({"limits": {"max_turns": 30}})
        """
        self._command({"configure": {"patch": patch}})

    def undo(self, steps: int = 1) -> None:
        """Takes back the newest inputs with all that followed, for the model. For files see
        :meth:`undo_files`.

        Raises:
            RejectedError: ``busy`` while a run is under way, ``nothing`` where there is no input.

        Example::

            agent.undo()
            await agent.undo_files()
        """
        self._command({"undo": {"steps": steps}})

    def redo(self, steps: int = 1) -> None:
        """Puts back what was taken back, the last first; an input makes an end of it.

        Example::

            agent.redo()
        """
        self._command({"redo": {"steps": steps}})

    def restore(self, at: int) -> None:
        """The model sees again what it saw when :meth:`history` had ``at`` turns.

        Raises:
            RejectedError: ``busy`` while a run is under way, ``nothing`` where there were never so
                many turns.

        Example::

            before = len(agent.history())
            await agent.run("Try it with a regular expression").result()
            agent.restore(before)
        """
        self._command({"restore": {"at": at}})

    def clear(self) -> None:
        """The model sees nothing of what was said so far; :meth:`undo` brings it back.

        Example::

            agent.clear()
        """
        self._command({"clear": None})

    def import_(self, turns: Sequence[SeenTurn]) -> None:
        """Takes over what was said elsewhere, behind what is there: turns of another agent's
        :meth:`seen`, or of your own making.

        Raises:
            RejectedError: ``busy`` while a run is under way, or where the turns do not answer each
                other's calls.

        Example::

            agent.import_(other.seen())
        """
        at = int(time.time() * 1000)
        # A turn that is seen is of the kinds that the history has.
        kinds = [cast(TurnKind, turn) for turn in turns]
        self._command({"import": {"turns": [{"at": at, "kind": kind} for kind in kinds]}})

    async def compact(self, instructions: str | None = None) -> FoldingEnd:
        """Has the oldest turns summed up; ``instructions`` say what matters. Returns the event that
        tells how it went. Whoever stops waiting leaves the summary alone: :meth:`interrupt` stops
        it.

        Raises:
            RejectedError: ``busy`` while a run is under way, ``nothing`` where no turn is old
                enough.

        Example::

            end = await agent.compact("Keep the names of the functions")
            print(end["type"])
        """
        self._enter_loop("Agent.compact")
        told: asyncio.Future[FoldingEnd] = self._event_loop().create_future()
        before, self._folding = self._folding, told
        try:
            self._carry_out({"compact": {"instructions": instructions}})
        except InnerloopError:
            if self._folding is told:
                self._folding = before
            raise
        return await told

    async def undo_files(self) -> UndoneFiles:
        """Takes back the files of the workspace that the inputs have changed which are undone now,
        as far as this agent has done them: where a file still is as it was left. The others stay
        as they are.

        Example::

            agent.undo()
            for kept in (await agent.undo_files()).kept:
                print(f"{kept.path}: {kept.why}")
        """
        self._enter_loop("Agent.undo_files")
        return await undo_files(self._session, self._workspace)

    def fork(
        self,
        *,
        turns: int | None = None,
        id: str | None = None,
        log: str | os.PathLike[str] | None = None,
        workspace: str | os.PathLike[str] | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> Agent:
        """Another agent that has heard what this one has, or the first ``turns`` turns of it, and
        goes its own way: with the same options but ``record``, in a session of its own. It works on
        the same folder unless it gets another ``workspace``.

        Raises:
            InnerloopError: ``bad_option`` where an option does not fit; otherwise as the
                constructor.

        Example::

            async with agent.fork(workspace="copy") as other:
                print((await other.run("Try it the other way").result()).text)
        """
        options = dataclasses.replace(
            self._options,
            tools=list(self._tools.values()),
            workspace=self._options.workspace if workspace is None else workspace,
            on_event=on_event,
            record=None,
            id=id,
        )
        agent = Agent.__new__(Agent)
        journal = _journal(log) if log is not None else None
        agent._set_up(options, journal, origin=self, turns=turns)
        return agent

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Tells every event from now on; the returned function ends that.

        Example::

            end = agent.subscribe(lambda event: print(event["type"]))
        """
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def usage(self) -> Usage:
        """Tokens of the session so far.

        Example::

            print(agent.usage().output_total)
        """
        return Usage.of(self.status()["usage"])

    def history(self) -> list[Turn]:
        """What was said so far, oldest first.

        Example::

            print(len(agent.history()))
        """
        return self._session.history() or []

    def seen(self) -> list[SeenTurn]:
        """What the model sees of that, after all that was undone, cleared or summed up.

        Example::

            for turn in agent.seen():
                print(*turn)
        """
        return self._session.seen() or []

    def snapshot(self) -> bytes:
        """The session as bytes, for :meth:`innerloop.Session.restore`.

        Example::

            Path("session.json").write_bytes(agent.snapshot())
        """
        return self._session.snapshot()

    async def close(self) -> None:
        """Ends the session for good: stops what runs, then closes.

        Example::

            await agent.close()
        """
        self._enter_loop("Agent.close")
        if self._fault is None and not self._is_over:
            if self._state() != "closed":
                self._carry_out({"close": None})
            await self._ended.wait()
        await self.leave()

    async def leave(self) -> None:
        """Stops what runs here, and lets go of the session: with a ``log`` it can go on by
        :meth:`resume`, where it stands.

        Example::

            await agent.leave()
        """
        self._enter_loop("Agent.leave")
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
        await self._effects.close()
        self._fail_runs("the agent has left its session", "closed")
        if self._journal is not None:
            self._journal.close()

    async def __aenter__(self) -> Agent:
        self._enter_loop("Agent")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A session with a log is meant to go on.
        await (self.close() if self._journal is None else self.leave())


def _input(said: Said, options: TurnOptions | None) -> CommandSubmit:
    parts = _said(said)
    return {"parts": parts} if options is None else {"parts": parts, "options": options}


def _said(said: Said) -> list[Part]:
    if isinstance(said, str):
        return [{"type": "text", "text": said}]
    if isinstance(said, Sequence):
        parts = [part for part in said if isinstance(part, dict)]
        if len(parts) == len(said):
            return parts
    raise InnerloopError("bad_request", f"what is said is a text or a list of parts, not {said!r}")


def _journal(log: Any) -> Journal:
    if not isinstance(log, str | os.PathLike):
        raise InnerloopError("bad_option", f"`log` is a path, not {log!r}", "log")
    return Journal(log)


def _existing(log: str | os.PathLike[str]) -> Journal:
    if isinstance(log, str | os.PathLike) and not Path(log).is_file():
        raise InnerloopError("bad_log", f"there is no {log}")
    return _journal(log)
