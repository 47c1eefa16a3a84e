"""The carrying out of effects: each is a task of its own, side by side with the others, and
answers once under its id."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, cast

from ._threads import called, in_thread
from .errors import InnerloopError
from .hooks import HookCalls
from .http import Request, Sender
from .journal import Journal
from .protocol import Answer, Effect, HookRun, HttpInput, Input, Outcome, ToolErrorName, ToolRun
from .protocol import Ask as Question
from .sandbox import READING, Action, Workspace
from .tools import Tool, ToolContext

_LOGGER = logging.getLogger("innerloop")


@dataclass(frozen=True)
class Approval:
    """A call that waits for a person's approval."""

    name: str
    arguments: Any
    call_id: str
    folder: str
    """The folder that the arguments' paths begin in; empty for the workspace's root."""


Decision = bool | str | Answer | None
"""The decision about a call: ``True`` or a word for it (``"yes"``, ``"allow"``, …), ``False`` or a
word for it, ``"always"`` (this tool is not asked about again), ``"abort"`` (the run ends), any
other text as the reason of a denial, or an answer of the protocol. ``None`` is a denial."""
_YES = frozenset({"yes", "y", "ok", "okay", "allow", "allowed", "approve", "approved", "true"})
_NO = frozenset({"", "no", "n", "deny", "denied", "reject", "rejected", "false"})

Approve = Callable[[Approval], "Decision | Awaitable[Decision]"]
Ask = Callable[[str], "str | Awaitable[str | None] | None"]


class Answers:
    """The functions that answer the session's questions."""

    def __init__(self, approve: Approve | None, ask: Ask | None) -> None:
        self._approve = approve
        self._ask = ask

    async def to(self, ask: Question) -> Answer:
        """Returns the answer to a question. A question that nobody can answer is denied."""
        if "approval" in ask and self._approve is not None:
            approve, asked = self._approve, ask["approval"]
            approval = Approval(
                name=asked["name"],
                arguments=asked["arguments"],
                call_id=asked["call_id"],
                folder=asked.get("folder", ""),
            )
            return _answer(await _asked(lambda: approve(approval), approve))
        if "question" in ask and self._ask is not None:
            ask_person, text = self._ask, ask["question"]["text"]
            said = await _asked(lambda: ask_person(text), ask_person)
            return {"deny": {"reason": "nobody answered"}} if said is None else {"text": str(said)}
        return {"deny": {"reason": "nobody is here to answer"}}


async def _asked(call: Callable[[], Any], function: Callable[..., Any]) -> Any:
    is_async = inspect.iscoroutinefunction(function)
    return await called(call, "innerloop answer", is_async=is_async)


def _answer(decision: Any) -> Answer:
    if isinstance(decision, dict):
        return cast(Answer, decision)
    # `None` is a denial: a function that forgets to return must not allow anything.
    if isinstance(decision, bool) or decision is None:
        return {"allow": None} if decision else {"deny": {"reason": "the user said no"}}
    if not isinstance(decision, str):
        raise TypeError(f"`approve` returned {decision!r}, which says neither yes nor no")
    word = decision.strip().lower()
    if word in _YES:
        return {"allow": None}
    if word in _NO:
        return {"deny": {"reason": "the user said no"}}
    if word == "always":
        return {"allow_always": None}
    if word == "abort":
        return {"abort": None}
    return {"deny": {"reason": decision}}


class Effects:
    """The effects that an agent has under way."""

    def __init__(
        self,
        *,
        sender: Sender,
        tools: dict[str, Tool],
        workspace: Workspace | None,
        answers: Answers,
        hooks: HookCalls,
        journal: Journal | None,
        session: str,
        hear: Callable[[Input], None],
        chunk: Callable[[int, bytes], None],
        loop: Callable[[], asyncio.AbstractEventLoop],
        is_restart: bool,
    ) -> None:
        self._sender = sender
        self._tools = tools
        self._workspace = workspace
        self._answers = answers
        self._hooks = hooks
        self._journal = journal
        self._session = session
        self._hear = hear
        self._chunk = chunk
        self._loop = loop
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._runs: set[int] = set()
        self._statuses: dict[int, int] = {}
        self.is_restart = is_restart
        """True while effects are begun that an earlier process may have begun already."""

    def begin(self, effect: Effect) -> None:
        """Begins an effect, or stops one."""
        # A cancelled effect still answers: the core waits for one answer to each.
        if "cancel" in effect:
            if (task := self._tasks.get(effect["cancel"]["id"])) is not None:
                task.cancel()
        elif "http" in effect:
            id = effect["http"]["id"]
            self._start(id, self._send(id, Request.of(effect["http"]["request"])))
        elif "run_tool" in effect:
            id = effect["run_tool"]["id"]
            self._runs.add(id)
            self._start(id, self._run(id, effect["run_tool"]["run"], self.is_restart))
        elif "ask" in effect:
            id = effect["ask"]["id"]
            self._start(id, self._ask(id, effect["ask"]["ask"]))
        elif "run_hook" in effect:
            id = effect["run_hook"]["id"]
            self._start(id, self._run_hook(id, effect["run_hook"]["hook"]))

    def cancel_all(self) -> None:
        """Stops all effects under way."""
        for task in self._tasks.values():
            task.cancel()

    def status_of(self, id: Any) -> int | None:
        """Returns the HTTP status of the response to a request that is not over yet, if there is
        one."""
        return self._statuses.get(id)

    def learn(self, entries: Iterable[str]) -> None:
        """Takes the statuses of responses from the log's lines. In a replay no request is sent, so
        that they are told nowhere else."""
        for entry in entries:
            http = json.loads(entry).get("input", {}).get("http", {})
            if (head := http.get("input", {}).get("head")) is not None:
                self._statuses[http["id"]] = head["status"]

    async def close(self) -> None:
        """Stops all effects under way, and waits until they have ended."""
        self.cancel_all()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self._sender.close()

    def _start(self, id: int, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop().create_task(work, name=f"innerloop effect {id}")
        self._tasks[id] = task
        task.add_done_callback(lambda ended: self._on_end(id, ended))

    def _on_end(self, id: int, task: asyncio.Task[None]) -> None:
        if self._tasks.get(id) is task:
            del self._tasks[id]
        if task.cancelled():
            # A task that is cancelled before its first step runs none of its code, so that the
            # run's answer is owed from here.
            if id in self._runs:
                self._tell_run(id, _stopped_outcome())
        elif (error := task.exception()) is not None:
            # A fault of this package. Without an answer the session would wait for ever.
            _LOGGER.error("effect %d failed", id, exc_info=error)
            self._hear({"lost": {"id": id}})
        self._runs.discard(id)
        self._statuses.pop(id, None)

    async def _send(self, id: int, request: Request) -> None:
        def tell(news: HttpInput | bytes) -> None:
            if isinstance(news, bytes):
                self._chunk(id, news)
            else:
                if "head" in news:
                    self._statuses[id] = news["head"]["status"]
                self._hear({"http": {"id": id, "input": news}})

        await self._sender.send(request, tell)

    async def _ask(self, id: int, ask: Question) -> None:
        answer = await self._answers.to(ask)
        self._hear({"answer": {"id": id, "answer": answer}})

    async def _run_hook(self, id: int, hook: HookRun) -> None:
        reply = await self._hooks.reply_to(hook)
        try:
            self._hear({"hook": {"id": id, "reply": reply}})
        except InnerloopError as error:
            said = f"what it returned does not fit: {error.message}"
            self._hear({"hook": {"id": id, "reply": {"failed": {"message": said}}}})

    async def _lose(self, id: int) -> None:
        self._hear({"lost": {"id": id}})

    async def _run(self, id: int, run: ToolRun, is_restart: bool) -> None:
        # Noted before it runs: after a crash in between, a run that changed something must count
        # as one that may have taken effect.
        if self._journal is not None:
            if is_restart and self._journal.has_begun(id) and not self._may_repeat(run):
                return await self._lose(id)
            self._journal.run_begins(id)
        self._tell_run(id, await self._outcome(id, run))

    def _tell_run(self, id: int, outcome: Outcome) -> None:
        try:
            self._hear({"tool": {"id": id, "input": {"done": outcome}}})
        except InnerloopError as error:
            # The outcome of a user's tool may not fit; the call must be answered all the same.
            outcome = _failed("crashed", f"What the tool said does not fit: {error.message}")
            self._hear({"tool": {"id": id, "input": {"done": outcome}}})

    async def _outcome(self, id: int, run: ToolRun) -> Outcome:
        """Returns the outcome of a run, also of one that was stopped or ran out of time."""
        work = asyncio.ensure_future(self._carry_out(id, run))
        try:
            done, _ = await asyncio.wait({work}, timeout=run["timeout_ms"] / 1000)
        except asyncio.CancelledError:
            await _stopped(work)
            return _stopped_outcome()
        if not done:
            await _stopped(work)
            return {"parts": [], "error": "timeout", "timed_out": True}
        return work.result()

    async def _carry_out(self, id: int, run: ToolRun) -> Outcome:
        job = run["job"]
        if "builtin" in job:
            if self._workspace is None:
                return _failed("unknown_tool", "There is no workspace.")
            name = f"innerloop {job['builtin']['action']}"
            return await _performed(self._workspace.run(run), name)
        tool = self._tools.get(run["name"])
        if tool is None:
            return _failed("unknown_tool", f"There is no tool {run['name']}.")

        def output(text: str) -> None:
            self._hear({"tool": {"id": id, "input": {"delta": text}}})

        loop = asyncio.get_running_loop()
        context = ToolContext(
            call_id=run["call_id"],
            key=f"{self._session}/{id}",
            folder=run.get("folder", ""),
            output=lambda text: _soon(loop, output, text),
        )
        return await tool.run(job.get("custom", {}), context)

    def _may_repeat(self, run: ToolRun) -> bool:
        job = run["job"]
        if "builtin" in job:
            return job["builtin"]["action"] in READING
        tool = self._tools.get(run["name"])
        return tool is not None and tool.repeatable


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[str], None], text: str) -> None:
    try:
        loop.call_soon_threadsafe(call, text)
    except RuntimeError:
        # The loop is closed, and nobody watches any more.
        pass


async def _performed(action: Action, name: str) -> Outcome:
    """Returns the outcome of a built-in tool's run. Once it is stopped, it writes nothing more."""
    # Shielded, since cancelling would only stop the waiting: the program is stopped by its epoch,
    # and the second is for it to notice.
    work = asyncio.ensure_future(in_thread(action.perform, name))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        action.stop()
        await asyncio.wait({work}, timeout=1)
        raise


async def _stopped(work: asyncio.Future[Outcome]) -> None:
    """Stops a run, and gives it a second to end. A thread cannot be stopped: its work goes on, and
    its result is dropped."""
    work.cancel()
    await asyncio.wait({work}, timeout=1)


def _stopped_outcome() -> Outcome:
    return {"parts": [], "error": "interrupted"}


def _failed(error: ToolErrorName, text: str) -> Outcome:
    return {"parts": [{"type": "text", "text": text}], "error": error}
