"""One run: its events as an asynchronous iterable, and its result, which is never an exception."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from . import protocol
from .protocol import ErrorKind, Event, EventAssistantTextEnd, EventProcessingEnd, RunEnd

_RETRYABLE = frozenset({"rate_limit", "overloaded", "server", "network", "protocol"})
_WITH_ERROR = frozenset({"failed", "incomplete", "refused"})
_COUNTS = ("input_total", "output_total", "cache_read", "cache_write", "reasoning")


@dataclass(frozen=True)
class Usage:
    """The tokens of a reply, a run or a session."""

    input_total: int = 0
    output_total: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @classmethod
    def of(cls, json: protocol.Usage | None) -> Usage:
        """Converts the session's JSON."""
        if json is None:
            return cls()
        return cls(
            input_total=json["input_total"],
            output_total=json["output_total"],
            cache_read=json["cache_read"],
            cache_write=json["cache_write"],
            reasoning=json["reasoning"],
        )

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, name) + getattr(other, name) for name in _COUNTS))


@dataclass(frozen=True)
class RunError:
    """The reason why a run is ``failed``, ``incomplete`` or ``refused``."""

    kind: ErrorKind
    message: str
    status: int | None = None
    """The HTTP status of the response that it was read from; ``None`` if there was none."""

    @property
    def retryable(self) -> bool:
        """True if a later try may succeed."""
        return self.kind in _RETRYABLE


@dataclass(frozen=True)
class RunResult:
    """The result of a run."""

    status: RunEnd
    """``completed``, ``incomplete`` (the last reply was cut), ``refused``, ``limit``, ``budget``,
    ``loop``, ``interrupted``, ``denied``, ``unverified`` or ``failed``."""
    text: str
    """The model's last text."""
    usage: Usage
    """The tokens of the run, those of agents that it has started included."""
    cost_usd: float | None
    """Their cost in US dollars; ``None`` if the prices are unknown."""
    replies: int
    tool_calls: int
    error: RunError | None = None
    answer: Any = None
    """The final answer, if the configuration asks for one."""


class Run:
    """One run of an agent, under way from the moment it is made.

    Iterate it for its events, as often as you like and each time from the first one on; or await
    :meth:`result` alone. Leaving the loop does not stop the run: :meth:`interrupt` does.

    Example::

        run = agent.run("Make the tests pass")
        async for event in run:
            print(event["type"])
        print((await run.result()).status)
    """

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._events: list[Event] = []
        self._news = asyncio.Event()
        self._result: RunResult | None = None
        self._usage = Usage()
        self._cost: int | None = None
        self._failure: RunError | None = None
        self._answer: Any = None

    @property
    def done(self) -> bool:
        """True if the run is over."""
        return self._result is not None

    def interrupt(self) -> None:
        """Stops the run; the agent stays usable."""
        if not self.done:
            self._interrupt()

    async def result(self) -> RunResult:
        """Returns the run's result. A failure is a status, not an exception."""
        while self._result is None:
            await self._news.wait()
        return self._result

    async def __aiter__(self) -> AsyncIterator[Event]:
        at = 0
        while True:
            while at < len(self._events):
                at += 1
                yield self._events[at - 1]
            if self.done:
                return
            await self._news.wait()

    def take(self, event: Event, status: int | None = None) -> None:
        """Takes the next event, the last one included, with the HTTP status of the response that
        led to it. Called by the agent."""
        is_own = event["agent"] == 0
        if is_own:
            self._events.append(event)
        elif event["type"] == "assistant_text_end":
            self._spend(event)
        if is_own and event["type"] == "error":
            self._failure = RunError(event["kind"], event["message"], status)
        elif is_own and event["type"] == "final_answer":
            self._answer = event["value"]
        elif is_own and event["type"] == "processing_end":
            self._spend(event)
            self._end(event["end"], event["text"], event["replies"], event["tool_calls"])
        elif is_own and event["type"] == "session_end":
            self._end("interrupted" if self._failure is None else "failed", "", 0, 0)
        # A new event object for each piece of news: all that wait now wake up, and those that come
        # later wait for the next one. At the end it stays set.
        self._news.set()
        if not self.done:
            self._news = asyncio.Event()

    def fail(self, message: str) -> None:
        """Ends the run by a fault of the core. Called by the agent."""
        self._failure = RunError("internal", message)
        self._end("failed", "", 0, 0)
        self._news.set()

    def _spend(self, event: EventProcessingEnd | EventAssistantTextEnd) -> None:
        self._usage += Usage.of(event.get("usage"))
        if "cost_nano_usd" in event:
            self._cost = (self._cost or 0) + event["cost_nano_usd"]

    def _end(self, status: RunEnd, text: str, replies: int, tool_calls: int) -> None:
        # The session ends behind its last run, which then keeps its own result.
        if self.done:
            return
        self._result = RunResult(
            status=status,
            text=text,
            usage=self._usage,
            cost_usd=None if self._cost is None else self._cost / 1e9,
            replies=replies,
            tool_calls=tool_calls,
            error=self._failure if status in _WITH_ERROR else None,
            answer=self._answer,
        )
