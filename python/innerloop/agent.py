"""The agent: the class that most users need. It checks what it is given and has the commands;
:mod:`innerloop.engine` carries out what follows."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NoReturn, cast

from .effects import Approve, Ask
from .engine import Engine, FoldingEnd, need_loop
from .errors import InnerloopError
from .fallbacks import Fallback
from .hooks import Hooks
from .journal import Journal
from .options import Options, check_names
from .protocol import (
    CommandSubmit,
    ConfigPreset,
    ContextUsage,
    CorrectionPolicyPatch,
    EnvironmentFacts,
    Event,
    NamedAgentPatch,
    Part,
    PendingInputs,
    ResultPolicyPatch,
    SeenTurn,
    SessionConfig,
    SessionConfigPatch,
    SubagentInfo,
    ToolsShown,
    Turn,
    TurnKind,
    TurnOptions,
)
from .run import Run, Usage
from .skills import Skill
from .tools import Function, Tool
from .undoing import UndoneFiles, undo_files

Said = str | Sequence[Part]
"""A text, or a list of parts: texts, pictures, files."""


class Agent(Engine):
    """A coding agent over a folder, with your functions as tools.

    At the end of an ``async with`` block it is closed; if it has a log, it only leaves its session,
    which can go on.

    Args:
        provider: The provider of the model: ``anthropic``, ``openai``, ``gemini``, ``ollama``, …
        model: The model's name at the provider; the provider's default if left out.
        api_key: The key; if left out, the provider's environment variable.
        base_url: The provider's address; if left out, its environment variable or its own address.
        fallbacks: Models that take over, in this order, where one is overloaded, has had too many
            requests, refuses its key or cannot be reached: see :class:`innerloop.Fallback`.
        headers: Further headers of each request to the provider.
        workspace: The folder that the built-in tools work on. Without one there are none.
        tools: Functions, or tools that :func:`innerloop.tool` has made of them.
        approve: A function that decides which calls that change something may run.
        ask: A function that answers the model's questions.
        hooks: Functions that are called in the loop, by their points: see
            :class:`innerloop.Hooks`.
        on_event: A function that is called with every event.
        log: A file for the session's log, from which :meth:`resume` goes on.
        record: A file to which the model traffic is appended.
        replay: A recording's text, which answers instead of the provider.
        instructions: Instructions at the end of the system prompt.
        system_prompt: The beginning of the system prompt, instead of the package's own.
        preset: The defaults: ``modern``, ``seed001``, ``ollama``, …; if left out, the provider's,
            which is ``modern`` for all but ``ollama``.
        tools_shown: The tools that a request shows: ``all``, ``{"deferred": 30}`` (if left out) or
            ``staged``. Beyond the number your functions are only named, and the model finds them by
            a tool ``tool_search``; staged, for small models, it chooses a kind of tools first.
        results: Keeps outputs of tools whole of which the model reads only a part, so that it can
            read on: ``{}``, or ``{"preview_chars": 2000}`` for the most that it reads at first.
        preset: The defaults: ``modern`` (if left out), ``seed001``, ``ollama``, …; for deliberation
            without any tool ``council_member``, ``council_discusser``, ``council_reviewer``.
        agents: Agents that can be started by name, each with a prompt, a model and tools of its
            own: see :class:`innerloop.protocol.NamedAgent` and :func:`innerloop.agents_from`.
        skills: Skills beside those of the workspace (``.agents/skills/NAME/SKILL.md``, also below
            ``.claude``), which come before these if names are equal: see :class:`innerloop.Skill`.
            ``False`` for none at all.
        facts: Facts for the model: project documents, the state of git.
        corrections: The faults of replies that are corrected, and how often:
            ``{"faults": {"greeting": 2, "echo": 0}, "max_per_run": 5}``. What is left out stays as
            in the preset; ``{"faults": None}`` is for none.
        config: A merge patch of the whole configuration, which wins over all other options.
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
        fallbacks: Sequence[Fallback] = (),
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
        tools_shown: ToolsShown | None = None,
        results: ResultPolicyPatch | None = None,
        agents: Mapping[str, NamedAgentPatch] | None = None,
        skills: Sequence[Skill] | Literal[False] | None = None,
        facts: EnvironmentFacts | None = None,
        corrections: CorrectionPolicyPatch | None = None,
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
            fallbacks=fallbacks,
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
            tools_shown=tools_shown,
            results=results,
            agents=agents,
            skills=skills,
            facts=facts,
            corrections=corrections,
            config=config,
            id=id,
        )
        self._set_up(options, _journal(log) if log is not None else None)

    @classmethod
    def resume(cls, log: str | os.PathLike[str], **options: Any) -> Agent:
        """Goes on from a log, with the options with which the agent was made.

        The configuration and the conversation are the log's, whatever the options say of them.
        Requests that were under way are sent again, and questions are asked again. Tool runs that
        had not begun are carried out. For those that had, the model reads that their outcome is
        unknown, unless the tool is ``repeatable``. A run that was under way goes on as
        :attr:`current`. If a crash left no whole line in the log, the session begins anew. Call
        this where an event loop runs.

        Raises:
            InnerloopError: ``bad_log`` if the log cannot be read; ``busy`` while another process
                uses it; otherwise as the constructor.

        Example::

            async with Agent.resume("session.jsonl", provider="anthropic") as agent:
                print(len(agent.history()))
        """
        need_loop("Agent.resume")
        wanted = Options.of(options)
        # Without the constructor, which would open a session of its own.
        agent = cls.__new__(cls)
        journal = _existing(log)
        agent._set_up(wanted, journal, resumes=not journal.is_empty())
        return agent

    def run(self, said: Said, options: TurnOptions | None = None) -> Run:
        """Starts a run: the agent works on the input until it is done. Call it where an event loop
        runs.

        ``options`` hold for this input only: the ``tools`` that may be called, ``hide`` to leave
        the others out of the model's sight, the ``paths`` of the workspace that calls may name, the
        ``tool_choice``, and the ``temperature``.

        Raises:
            RejectedError: ``busy`` while a run is under way, ``options`` if one does not fit.
            InnerloopError: ``closed`` after the end, ``no_loop`` outside of an event loop,
                ``bad_request`` for an unknown option.

        Example::

            run = agent.run("Explain the parser", {"tools": ["Read", "Grep"], "paths": ["src"]})
            print((await run.result()).text)
        """
        self._enter_loop("Agent.run")
        before = self._next
        # Not `_run` yet: a listener that starts a run at the end of another is called while the
        # events of that one are still being told. This one takes its place with its first event.
        run = self._next = Run(self.interrupt)
        try:
            self._carry_out({"submit": _input(said, options)})
        except InnerloopError:
            self._next = before
            raise
        return run

    def steer(self, said: Said) -> None:
        """Gives the model a message after the current round of tools; while idle, with the next
        run.

        Example::

            agent.steer("The tests are in `spec`")
        """
        self._command({"steer": {"parts": _said(said)}})

    def follow_up(self, said: Said, options: TurnOptions | None = None) -> None:
        """Queues an input for when the current one is done; it belongs to the same run.
        ``options`` are those of :meth:`run`.

        Example::

            agent.follow_up("Now sum it up", {"tools": []})
        """
        self._command({"follow_up": _input(said, options)})

    def configure(self, patch: SessionConfigPatch) -> None:
        """Changes the configuration by a merge patch from the next model call on.

        Raises:
            RejectedError: A field does not fit; then nothing has changed.

        Example::

            agent.configure({"limits": {"max_turns": 30}})
        """
        self._command({"configure": {"patch": patch}})

    def undo(self, steps: int = 1) -> None:
        """Undoes the newest inputs with all that followed: the model sees them no more. Files stay
        as they are until :meth:`undo_files`.

        Raises:
            RejectedError: ``busy`` while a run is under way, ``nothing`` where there is no input.

        Example::

            agent.undo()
            await agent.undo_files()
        """
        self._command({"undo": {"steps": steps}})

    def redo(self, steps: int = 1) -> None:
        """Redoes inputs that were undone, the last undone first. After another input there are
        none.

        Example::

            agent.redo()
        """
        self._command({"redo": {"steps": steps}})

    def restore(self, at: int) -> None:
        """Goes back to when :meth:`history` had ``at`` turns: the model sees what it saw then.

        Raises:
            RejectedError: ``busy`` while a run is under way, ``nothing`` if there were never so
                many turns.

        Example::

            before = len(agent.history())
            await agent.run("Try it with a regular expression").result()
            agent.restore(before)
        """
        self._command({"restore": {"at": at}})

    def clear(self) -> None:
        """Hides all turns so far from the model; :meth:`undo` brings them back.

        Example::

            agent.clear()
        """
        self._command({"clear": None})

    def import_(self, turns: Sequence[SeenTurn]) -> None:
        """Appends turns to the history: those of another agent's :meth:`seen`, or your own.

        Raises:
            RejectedError: ``busy`` while a run is under way, or if a call has no result or a result
                no call.

        Example::

            agent.import_(other.seen())
        """
        at = int(time.time() * 1000)
        # The kinds of seen turns are a subset of the history's, which the types cannot say.
        kinds = [cast(TurnKind, turn) for turn in turns]
        self._command({"import": {"turns": [{"at": at, "kind": kind} for kind in kinds]}})

    async def compact(self, instructions: str | None = None) -> FoldingEnd:
        """Replaces the oldest turns by a summary; ``instructions`` say what it must keep. Returns
        the event that ends it, ``compacted`` or ``compaction_failed``. Cancelling stops only the
        waiting: :meth:`interrupt` stops the summary.

        Raises:
            RejectedError: ``busy`` while a run is under way, ``nothing`` if no turn is old enough.

        Example::

            end = await agent.compact("Keep the names of the functions")
            print(end["type"])
        """
        self._enter_loop("Agent.compact")
        told: asyncio.Future[FoldingEnd] = self._event_loop().create_future()
        # Set before the command, whose events may end the summary within the call.
        before, self._folding = self._folding, told
        try:
            self._carry_out({"compact": {"instructions": instructions}})
        except InnerloopError:
            if self._folding is told:
                self._folding = before
            raise
        return await told

    async def undo_files(self) -> UndoneFiles:
        """Restores the files that undone inputs had changed, and returns which. A file that differs
        from what its input left, or that this agent did not change itself, stays as it is.

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
        """Returns another agent with this one's history, or its first ``turns`` turns, in a session
        of its own. It has the same options except for ``record``, and works on the same folder
        unless it gets another ``workspace``.

        Raises:
            InnerloopError: ``bad_option`` if an option does not fit; otherwise as the constructor.

        Example::

            async with agent.fork(workspace="copy") as other:
                print((await other.run("Try it the other way").result()).text)
        """
        options = dataclasses.replace(
            self._options,
            tools=list(self._tools.values()),
            workspace=self._options.workspace if workspace is None else workspace,
            on_event=on_event,
            # A recording is the traffic of one session.
            record=None,
            id=id,
        )
        agent = Agent.__new__(Agent)
        journal = _journal(log) if log is not None else None
        agent._set_up(options, journal, origin=self, turns=turns)
        return agent

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Calls ``listener`` with every event from now on, and returns a function that ends that.

        Example::

            end = agent.subscribe(lambda event: print(event["type"]))
        """
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def usage(self) -> Usage:
        """Returns the tokens of the session so far.

        Example::

            print(agent.usage().output_total)
        """
        return Usage.of(self.status()["usage"])

    def context(self, agent: int = 0) -> ContextUsage:
        """Returns how many tokens fill the context window of this agent, or of one that it has
        started: its ``system`` prompt, ``documents``, ``tools``, ``history`` and ``results``, which
        add up to the ``total``.

        Raises:
            InnerloopError: ``bad_option`` if there is no agent of that number.

        Example::

            usage = agent.context()
            print(f"{usage['total']} of {usage['window']} tokens, {usage['results']} in results")
        """
        usage = self._session.context(agent)
        if usage is None:
            raise _no_agent(agent)
        return usage

    def pending(self, agent: int = 0) -> PendingInputs:
        """Returns the inputs that this agent, or one that it has started, has not read yet:
        ``steering``, and ``follow_ups`` with their options.

        Raises:
            InnerloopError: ``bad_option`` if there is no agent of that number.

        Example::

            for waiting in agent.pending()["follow_ups"]:
                print(waiting["parts"])
        """
        pending = self._session.overview(agent)["pending"]
        if pending is None:
            raise _no_agent(agent)
        return pending

    def agents(self) -> list[SubagentInfo]:
        """Returns the agents that this one, or one of them, has started, in the order of their
        numbers.

        Example::

            for started in agent.agents():
                print(started["id"], started["state"], started["task"])
        """
        return self._session.overview()["agents"]

    def config(self) -> SessionConfig:
        """Returns the configuration in force, without keys.

        Example::

            print(agent.config()["model"]["name"])
        """
        return self._session.overview()["config"]

    def history(self) -> list[Turn]:
        """Returns the history, oldest turn first.

        Example::

            print(len(agent.history()))
        """
        return self._session.history() or []

    def seen(self) -> list[SeenTurn]:
        """Returns the turns that the model sees: the history without what is undone, cleared or
        folded.

        Example::

            for turn in agent.seen():
                print(*turn)
        """
        return self._session.seen() or []

    def snapshot(self) -> bytes:
        """Returns the session as bytes, for :meth:`innerloop.Session.restore`.

        Example::

            Path("session.json").write_bytes(agent.snapshot())
        """
        return self._session.snapshot()

    async def close(self) -> None:
        """Ends the session for good: stops all that runs, then closes.

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
        """Stops what runs here without ending the session: with a ``log``, :meth:`resume` goes on
        from where it stands.

        Example::

            await agent.leave()
        """
        self._enter_loop("Agent.leave")
        # First of all: what the effects report while they are stopped must not enter the log, or
        # a resumed session would take the stop for their outcome.
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


def _no_agent(agent: int) -> InnerloopError:
    return InnerloopError("bad_option", f"there is no agent {agent}", "agent")


def _journal(log: Any) -> Journal:
    if not isinstance(log, str | os.PathLike):
        raise InnerloopError("bad_option", f"`log` is a path, not {log!r}", "log")
    return Journal(log)


def _existing(log: str | os.PathLike[str]) -> Journal:
    if isinstance(log, str | os.PathLike) and not Path(log).is_file():
        raise InnerloopError("bad_log", f"there is no {log}")
    return _journal(log)
