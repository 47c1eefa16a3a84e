"""The agent: what most people need. It carries out what the session asks for, each effect as a task
of its own, and tells events to whoever watches."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from .core import Core
from .effects import Answers, Approve, Ask, Effects
from .errors import InnerloopError
from .http import Sender
from .journal import Journal, open_private
from .options import Options, check_names, header_of
from .protocol import (
    Command,
    ConfigPreset,
    EnvironmentFacts,
    Event,
    Input,
    Part,
    SessionConfigPatch,
    Status,
    Turn,
)
from .run import Run, Usage
from .sandbox import Workspace
from .session import Session, Step, Told
from .tools import Function, Tool, tools_of

_LOGGER = logging.getLogger("innerloop")
_LATE = frozenset({"answered", "closed", "unknown_effect", "unknown_session"})
"""How the session refuses what it does not want any more."""

Said = str | Sequence[Part]
"""A text, or a list of parts: texts, pictures, files."""


class Agent:
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

    _run: Run | None
    _next: Run | None

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
        self._set_up(options, _journal(log) if log is not None else None, resumes=False)

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
        """
        _need_loop("Agent.resume")
        wanted = Options.of(options)
        agent = cls.__new__(cls)
        journal = _existing(log)
        agent._set_up(wanted, journal, resumes=not journal.is_empty())
        return agent

    @property
    def id(self) -> str:
        """The session's id."""
        return self._session_id

    @property
    def current(self) -> Run | None:
        """The run under way, if there is one."""
        return self._run or self._next

    def run(self, said: Said) -> Run:
        """Lets the agent work until it is done. Call it where an event loop runs.

        Raises:
            RejectedError: ``busy`` while a run is under way.
            InnerloopError: ``closed`` after the end, ``no_loop`` outside of an event loop.
        """
        self._enter_loop("Agent.run")
        before = self._next
        # It takes the place of the last one when it begins: a listener may be told of the end of
        # that one only after this call.
        run = self._next = Run(self.interrupt)
        try:
            self._carry_out({"submit": {"parts": _said(said)}})
        except InnerloopError:
            self._next = before
            raise
        return run

    def steer(self, said: Said) -> None:
        """Tells the model something after the current round of tools; while idle, with the next
        run."""
        self._command({"steer": {"parts": _said(said)}})

    def follow_up(self, said: Said) -> None:
        """Gives the agent another input for when the current one is done, in the same run."""
        self._command({"follow_up": {"parts": _said(said)}})

    def interrupt(self) -> None:
        """Stops the run under way, if there is one; the agent stays usable."""

        def stop() -> None:
            if self.current is not None:
                self._carry_out({"interrupt": None})

        self._in_loop(stop)

    def configure(self, patch: SessionConfigPatch) -> None:
        """Changes the configuration by a merge patch, in force from the next model call."""
        self._command({"configure": {"patch": patch}})

    def undo(self, steps: int = 1) -> None:
        """Takes back the newest inputs with all that followed, for the model; files stay."""
        self._command({"undo": {"steps": steps}})

    def redo(self, steps: int = 1) -> None:
        """Puts back what was taken back."""
        self._command({"redo": {"steps": steps}})

    def clear(self) -> None:
        """The model sees nothing of what was said so far."""
        self._command({"clear": None})

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Tells every event from now on; the returned function ends that."""
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def status(self) -> Status:
        """Where the agent stands, and what it has used."""
        status = self._session.status()
        # The session's own agent is there as long as the session.
        assert status is not None
        return status

    def usage(self) -> Usage:
        """Tokens of the session so far."""
        return Usage.of(self.status()["usage"])

    def history(self) -> list[Turn]:
        """What was said so far, oldest first."""
        return self._session.history() or []

    def snapshot(self) -> bytes:
        """The session as bytes, for :meth:`innerloop.Session.restore`."""
        return self._session.snapshot()

    async def close(self) -> None:
        """Ends the session for good: stops what runs, then closes."""
        self._enter_loop("Agent.close")
        if self._fault is None and not self._is_over:
            if self._state() != "closed":
                self._carry_out({"close": None})
            await self._ended.wait()
        await self.leave()

    async def leave(self) -> None:
        """Stops what runs here, and lets go of the session: with a ``log`` it can go on by
        :meth:`resume`, where it stands."""
        self._enter_loop("Agent.leave")
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
        await self._effects.close()
        self._fail_runs("the agent has left its session")
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

    def _set_up(self, options: Options, journal: Journal | None, *, resumes: bool) -> None:
        self._loop = _running_loop()
        self._journal = journal
        self._listeners = [options.on_event] if options.on_event else []
        self._record = Path(options.record) if options.record is not None else None
        self._is_replay = options.replay is not None
        self._outputs: deque[Told] = deque()
        self._is_following = False
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: int | None = None
        self._run = self._next = None
        self._ended = asyncio.Event()
        self._fault: InnerloopError | None = None
        self._is_over = False
        self._raised: BaseException | None = None
        try:
            self._core = Core()
            tools = tools_of(list(options.tools or ()))
            if self._record is not None:
                _try_to_record(self._record)
            workspace = Workspace(options.workspace) if options.workspace is not None else None
            step = self._resume(options) if resumes else self._open(options, tools)
        except BaseException:
            if journal is not None:
                journal.close()
            raise
        self._begun = time.monotonic()
        self._effects = Effects(
            sender=Sender(),
            tools=tools,
            workspace=workspace,
            answers=Answers(options.approve, options.ask),
            journal=journal,
            session=self.id,
            hear=self._hear,
            chunk=self._chunk,
            loop=self._event_loop,
            is_restart=resumes,
        )
        if resumes and self._state() != "idle":
            self._run = Run(self.interrupt)
        self._follow(step)
        # What follows from now on was never begun before.
        self._effects.is_restart = False

    def _open(self, options: Options, tools: dict[str, Tool]) -> Step:
        provider = options.provider_of(self._core)
        config = options.settings(self._core, provider["name"], tools)
        parts = options.parts(provider, keeps_log=self._journal is not None)
        with options.explained(provider):
            self._session, step = Session.open(config, parts=parts, core=self._core)
        self._session_id = str(config["id"])
        if self._journal is not None:
            self._journal.begin()
        return step

    def _resume(self, options: Options) -> Step:
        assert self._journal is not None
        log = self._journal.read()
        provider = options.provider_of(self._core, log)
        parts = options.parts(provider, keeps_log=True)
        with options.explained(provider):
            self._session, step = Session.resume(log, parts=parts, owe_runs=True, core=self._core)
        self._session_id = str(header_of(log).get("id", ""))
        # The newest lines make a log of their own.
        self._journal.replace(step.entries)
        step.entries = []
        return step

    def _state(self) -> str:
        return self.status()["state"]

    def _now(self) -> int:
        return self._session.now + int((time.monotonic() - self._begun) * 1000)

    def _command(self, command: Command) -> None:
        self._in_loop(lambda: self._carry_out(command))

    def _carry_out(self, command: Command) -> None:
        self._live()
        self._follow(self._session.command(command, self._now()))

    def _in_loop(self, work: Callable[[], None]) -> None:
        """Does what changes the session where its event loop runs. Another thread waits for it."""
        loop = self._loop
        if loop is None or not loop.is_running() or loop is _running_loop():
            return work()
        done: concurrent.futures.Future[None] = concurrent.futures.Future()

        def carry_out() -> None:
            if done.set_running_or_notify_cancel():
                try:
                    work()
                    done.set_result(None)
                except BaseException as error:  # The thread that waits hears of everything.
                    done.set_exception(error)

        try:
            loop.call_soon_threadsafe(carry_out)
            while not concurrent.futures.wait([done], timeout=1).done:
                if not loop.is_running() and done.cancel():
                    raise RuntimeError("it has stopped")
        except RuntimeError as error:
            raise InnerloopError("no_loop", f"the agent's event loop is gone: {error}") from error
        done.result()

    def _enter_loop(self, what: str) -> None:
        """From now on the agent works in the event loop that runs here."""
        _need_loop(what)
        running = _running_loop()
        if self._loop is not running and self._loop is not None and self._loop.is_running():
            raise InnerloopError("no_loop", f"`{what}`: the agent works in another event loop")
        self._loop = running

    def _event_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop or asyncio.get_running_loop()

    def _hear(self, input: Input) -> None:
        """Takes in an answer to an effect."""
        if self._fault is not None or self._is_over:
            return
        try:
            self._guarded(lambda: self._session.handle(input, self._now()))
        except InnerloopError as error:
            if "tick" not in input and "lost" not in input:
                raise
            # Without it nothing goes on, and nothing else can be said in its place.
            self._break(error)

    def _chunk(self, id: int, data: bytes) -> None:
        if self._fault is None and not self._is_over:
            self._guarded(lambda: self._session.chunk(id, data, self._now()))

    def _guarded(self, hear: Callable[[], Step]) -> None:
        try:
            step = hear()
        except InnerloopError as error:
            if error.code == "internal":
                return self._break(error)
            if error.code in _LATE:
                return
            raise
        self._follow(step)

    def _live(self) -> None:
        if self._fault is not None:
            raise self._fault
        if self._is_over:
            raise InnerloopError("closed", "the agent is closed, or has left its session")

    def _follow(self, step: Step) -> None:
        """Makes a step durable, and then carries it out. What is heard meanwhile comes behind."""
        try:
            self._keep(step)
        except OSError as error:
            # What is not durable must not be carried out.
            self._break(InnerloopError("internal", f"what happens cannot be kept: {error}"))
            return
        if self._is_replay:
            self._effects.learn(step.entries)
        self._outputs.extend(step.outputs)
        self._deadline = step.deadline
        if self._is_following:
            return
        self._is_following = True
        try:
            while self._outputs:
                told = self._outputs.popleft()
                if told[0] == "event":
                    self._tell(told[1])
                else:
                    self._effects.begin(told[1])
        finally:
            self._is_following = False
        self._set_timer()
        if (raised := self._raised) is not None:
            self._raised = None
            raise raised

    def _keep(self, step: Step) -> None:
        if self._journal is not None:
            durable = any(kind == "effect" for kind, _ in step.outputs)
            self._journal.append(step.entries, durable=durable)
        if self._record is not None and step.recording:
            with open_private(self._record) as file:
                file.writelines(line.encode() + b"\n" for line in step.recording)

    def _tell(self, event: Event) -> None:
        if event["type"] == "user_input" and event["agent"] == 0 and self._run is None:
            self._run, self._next = self._next or Run(self.interrupt), None
        run = self._run
        if run is not None:
            run.take(event, self._effects.status_of(event.get("effect")))
            if run.done:
                self._run = None
        if event["type"] == "session_end":
            self._ended.set()
        for listener in list(self._listeners):
            try:
                listener(event)
            except Exception:
                _LOGGER.exception("a listener of events failed")
            except BaseException as raised:
                # It ends the program; but first the step, so that the session is whole.
                self._raised = raised

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._deadline is None or self._fault is not None:
            return
        seconds = max(0.0, (self._deadline - self._now()) / 1000)
        loop = self._event_loop()
        # A millisecond more: the session does not hear of what is not due.
        self._timer = loop.call_later(seconds + 0.001, lambda: self._hear({"tick": None}))

    def _break(self, error: InnerloopError) -> None:
        self._fault = error
        self._outputs.clear()
        self._effects.cancel_all()
        if self._timer is not None:
            self._timer.cancel()
        self._fail_runs(error.message)
        self._ended.set()

    def _fail_runs(self, why: str) -> None:
        for run in (self._run, self._next):
            if run is not None:
                run.fail(why)
        self._run = self._next = None


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _need_loop(what: str) -> None:
    if _running_loop() is None:
        raise InnerloopError("no_loop", f"`{what}` needs a running event loop")


def _said(said: Said) -> list[Part]:
    if isinstance(said, str):
        return [{"type": "text", "text": said}]
    if isinstance(said, Sequence):
        parts = [part for part in said if isinstance(part, dict)]
        if len(parts) == len(said):
            return parts
    raise InnerloopError("bad_request", f"what is said is a text or a list of parts, not {said!r}")


def _try_to_record(path: Path) -> None:
    try:
        open_private(path).close()
    except OSError as error:
        raise InnerloopError("bad_option", f"`record`: {error}", "record") from error


def _journal(log: Any) -> Journal:
    if not isinstance(log, str | os.PathLike):
        raise InnerloopError("bad_option", f"`log` is a path, not {log!r}", "log")
    return Journal(log)


def _existing(log: str | os.PathLike[str]) -> Journal:
    if isinstance(log, str | os.PathLike) and not Path(log).is_file():
        raise InnerloopError("bad_log", f"there is no {log}")
    return _journal(log)
