"""The inside of an agent: it makes each step of its session durable, then carries out the step's
effects, each as a task of its own, and passes its events on. All changes of the session happen in
one event loop. The public commands are in :mod:`innerloop.agent`."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import time
import uuid
from collections import deque
from collections.abc import Callable
from pathlib import Path

from .core import Core
from .effects import Answers, Effects
from .errors import InnerloopError
from .hooks import HookCalls
from .http import Sender
from .journal import Journal, open_private
from .options import Options, header_of
from .protocol import Command, Event, EventCompacted, EventCompactionFailed, Input, Status
from .run import Run
from .sandbox import Workspace
from .session import Session, Step, Told
from .tools import tools_of

_LOGGER = logging.getLogger("innerloop")
_LATE = frozenset({"answered", "closed", "unknown_effect", "unknown_session"})
"""The refusals of answers that come late, such as that of an effect cancelled meanwhile."""

FoldingEnd = EventCompacted | EventCompactionFailed
"""The event that ends a summary."""


class Engine:
    """The base of an agent, without its commands."""

    _core: Core
    _run: Run | None
    _next: Run | None

    @property
    def id(self) -> str:
        """The session's id."""
        return self._session_id

    @property
    def current(self) -> Run | None:
        """The run under way, if there is one."""
        return self._run or self._next

    def status(self) -> Status:
        """Returns the agent's state and its usage.

        Example::

            print(agent.status()["state"])
        """
        status = self._session.status()
        # The session's own agent exists as long as the session.
        assert status is not None
        return status

    def interrupt(self) -> None:
        """Stops the run or summary under way, if there is one; the agent stays usable.

        Example::

            agent.interrupt()
        """

        def stop() -> None:
            if self.current is not None or self.status().get("compacting"):
                self._carry_out({"interrupt": None})

        self._in_loop(stop)

    def _set_up(
        self,
        options: Options,
        journal: Journal | None,
        *,
        resumes: bool = False,
        origin: Engine | None = None,
        turns: int | None = None,
    ) -> None:
        """Opens the session: a new one, that of the journal, or a fork of the ``origin`` with its
        first ``turns`` turns."""
        self._loop = running_loop()
        self._options = options
        self._journal = journal
        self._listeners = [options.on_event] if options.on_event else []
        self._record = Path(options.record) if options.record is not None else None
        self._is_replay = options.replay is not None
        self._outputs: deque[Told] = deque()
        self._is_following = False
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: int | None = None
        self._run = self._next = None
        self._folding: asyncio.Future[FoldingEnd] | None = None
        self._ended = asyncio.Event()
        self._fault: InnerloopError | None = None
        self._is_over = False
        self._raised: BaseException | None = None
        try:
            self._core = Core()
            self._tools = tools_of(list(options.tools or ()))
            if self._record is not None:
                _try_to_record(self._record)
            folder = options.workspace
            self._workspace = None if folder is None else Workspace(folder)
            if origin is not None:
                step = self._fork(options, origin, turns)
            else:
                step = self._resume(options) if resumes else self._open(options)
        except BaseException:
            # The journal holds a lock, which another try would find taken.
            if journal is not None:
                journal.close()
            raise
        self._begun = time.monotonic()
        self._effects = Effects(
            sender=Sender(),
            tools=self._tools,
            workspace=self._workspace,
            answers=Answers(options.approve, options.ask),
            hooks=HookCalls(options.hooks),
            journal=journal,
            session=self.id,
            hear=self._hear,
            chunk=self._chunk,
            loop=self._event_loop,
            is_restart=resumes,
        )
        status = self.status()
        if resumes and status["state"] != "idle" and not status.get("compacting"):
            self._run = Run(self.interrupt)
        self._follow(step)
        # Only the effects of the first step can have been begun by an earlier process.
        self._effects.is_restart = False

    def _open(self, options: Options) -> Step:
        provider = options.provider_of(self._core)
        config = options.settings(self._core, provider, self._tools)
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
        # The step's entries are a whole log: a header with the newest snapshot. They replace the
        # old one, so that logs do not grow from restart to restart.
        self._journal.replace(step.entries)
        step.entries = []
        return step

    def _fork(self, options: Options, origin: Engine, turns: int | None) -> Step:
        provider = options.provider_of(self._core)
        parts = options.parts(provider, keeps_log=self._journal is not None)
        self._session_id = options.id or str(uuid.uuid4())
        with options.explained(provider):
            # By way of a snapshot into a core of its own: a fault of one agent's core must not
            # break the other's.
            snapshot = origin._session.snapshot()
            same, _ = Session.restore(snapshot, parts=parts, core=self._core)
            self._session, step = same.fork(self._session_id, turns=turns, parts=parts)
            same.close()
        if self._journal is not None:
            self._journal.begin()
        return step

    def _state(self) -> str:
        return self.status()["state"]

    def _now(self) -> int:
        # By the monotonic clock: session time must not go back when the system's clock is set.
        return self._session.now + int((time.monotonic() - self._begun) * 1000)

    def _command(self, command: Command) -> None:
        self._in_loop(lambda: self._carry_out(command))

    def _carry_out(self, command: Command) -> None:
        self._live()
        self._follow(self._session.command(command, self._now()))

    def _in_loop(self, work: Callable[[], None]) -> None:
        """Does work that changes the session in its event loop. Another thread waits for it."""
        loop = self._loop
        if loop is None or not loop.is_running() or loop is running_loop():
            return work()
        done: concurrent.futures.Future[None] = concurrent.futures.Future()

        def carry_out() -> None:
            # The thread may have given up and raised; then the work must not happen either.
            if done.set_running_or_notify_cancel():
                try:
                    work()
                    done.set_result(None)
                except BaseException as error:
                    # Everything goes to the thread that waits, which would wait for ever.
                    done.set_exception(error)

        try:
            loop.call_soon_threadsafe(carry_out)
            # Looked at each second: a loop that has stopped runs nothing any more, and says so to
            # nobody.
            while not concurrent.futures.wait([done], timeout=1).done:
                if not loop.is_running() and done.cancel():
                    raise RuntimeError("it has stopped")
        except RuntimeError as error:
            raise InnerloopError("no_loop", f"the agent's event loop is gone: {error}") from error
        done.result()

    def _enter_loop(self, what: str) -> None:
        """Makes the running event loop the agent's, unless it works in another one that runs."""
        need_loop(what)
        running = running_loop()
        if self._loop is not running and self._loop is not None and self._loop.is_running():
            raise InnerloopError("no_loop", f"`{what}`: the agent works in another event loop")
        self._loop = running

    def _event_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop or asyncio.get_running_loop()

    def _hear(self, input: Input) -> None:
        """Gives an effect's answer to the session."""
        if self._fault is not None or self._is_over:
            return
        try:
            self._guarded(lambda: self._session.handle(input, self._now()))
        except InnerloopError as error:
            if "tick" not in input and "lost" not in input:
                raise
            # Every other answer has a caller that can report a failure in its place; for these
            # there is none, and without them the session would stand still.
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
        """Makes a step durable, and then carries it out. Steps that come meanwhile, such as from a
        listener that steers, are queued behind it instead of recursing."""
        try:
            self._keep(step)
        except OSError as error:
            # A step that is not durable must not be carried out: after a restart nobody would know
            # of its effects.
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
            # Only effects reach the outside. A step without any, lost in a power cut, can happen
            # again; syncing each chunk of a reply would make streaming slow.
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
        if event["type"] == "compacted" or event["type"] == "compaction_failed":
            self._end_folding(event)
        for listener in list(self._listeners):
            try:
                listener(event)
            except Exception:
                _LOGGER.exception("a listener of events failed")
            except BaseException as raised:
                # `KeyboardInterrupt` and the like end the program, but only behind the step: half
                # a step would leave effects that nobody begins.
                self._raised = raised

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._deadline is None or self._fault is not None:
            return
        seconds = max(0.0, (self._deadline - self._now()) / 1000)
        loop = self._event_loop()
        # One millisecond more: rounding could make the tick early, and the session ignores a tick
        # before its deadline.
        self._timer = loop.call_later(seconds + 0.001, lambda: self._hear({"tick": None}))

    def _break(self, error: InnerloopError) -> None:
        self._fault = error
        self._outputs.clear()
        self._effects.cancel_all()
        if self._timer is not None:
            self._timer.cancel()
        self._fail_runs(error.message, error.code)
        self._ended.set()

    def _end_folding(self, event: FoldingEnd) -> None:
        folding = self._folding
        if folding is None or event["agent"] != 0 or event["why"] != "asked":
            return
        self._folding = None
        if not folding.done():
            folding.set_result(event)

    def _fail_runs(self, why: str, code: str) -> None:
        folding, self._folding = self._folding, None
        if folding is not None and not folding.done():
            folding.set_exception(InnerloopError(code, why))
        for run in (self._run, self._next):
            if run is not None:
                run.fail(why)
        self._run = self._next = None


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs here, if one does."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def need_loop(what: str) -> None:
    """Refuses what only works where an event loop runs.

    Raises:
        InnerloopError: ``no_loop``.
    """
    if running_loop() is None:
        raise InnerloopError("no_loop", f"`{what}` needs a running event loop")


def _try_to_record(path: Path) -> None:
    try:
        open_private(path).close()
    except OSError as error:
        raise InnerloopError("bad_option", f"`record`: {error}", "record") from error
