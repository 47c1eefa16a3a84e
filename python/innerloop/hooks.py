"""Hooks: functions of the user's that are called at points of the loop. What they return is checked
here: a hook that breaks is reported as failed and never counts as a yes or a no by itself."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, cast, get_args

from ._threads import called, described
from .errors import InnerloopError
from .protocol import HookPoint, HookReply, HookRun
from .results import plain

_LONGEST = 1e9
"""More seconds than any hook takes."""


@dataclass(frozen=True)
class HookedCall:
    """A tool's call, before it runs or with its result."""

    name: str
    arguments: Any
    """The arguments; the text as it is if it is not JSON."""
    call_id: str
    folder: str
    """The folder that the arguments' paths begin in; empty for the workspace's root."""
    text: str | None = None
    """The text that the model will read; only after the call."""
    is_error: bool = False
    """True if the call failed; only after the call."""


@dataclass(frozen=True)
class FoldedTurns:
    """The turns that are to be archived or summarised."""

    kind: Literal["archive", "summary"]
    transcript: str
    """The turns as text."""
    files: Mapping[str, list[str]]
    """The files that were ``read`` and ``changed``, if there are any."""
    tokens: int
    """The estimated tokens of the whole conversation."""


class HookDenial(TypedDict):
    """A refusal with its reason, which the model reads."""

    deny: str


class HookReplacement(TypedDict):
    """A value to go on with instead of what the hook was given."""

    replace: Any


HookResult = bool | HookDenial | HookReplacement | None
"""The return value of a hook: ``None`` or ``True`` to go on, ``False`` or ``{"deny": why}`` to
refuse, ``{"replace": value}`` to go on with another value."""
TextHook = Callable[[str], "HookResult | Awaitable[HookResult]"]
CallHook = Callable[[HookedCall], "HookResult | Awaitable[HookResult]"]
FoldHook = Callable[[FoldedTurns], "HookResult | Awaitable[HookResult]"]


class Hooks(TypedDict, total=False):
    """Functions that are called in the loop, ``async`` or not. If one raises, an event tells it,
    and the run goes on unless ``fail_closed`` is set.

    Example::

        def before_tool(call: HookedCall) -> HookResult:
            return {"deny": "not there"} if "secrets" in str(call.arguments) else None

        agent = Agent("anthropic", hooks={"before_tool": before_tool, "fail_closed": True})
    """

    submit: TextHook
    """Called with the user's text, which it may replace."""
    before_model: TextHook
    """Called with an empty text before a model call; a replacement becomes a system message."""
    before_tool: CallHook
    """Called before a tool runs; it may replace the arguments."""
    after_tool: CallHook
    """Called after a tool has run; it may replace the text that the model reads."""
    after_iteration: TextHook
    """Called after a round of calls, with what the model said beside them; a replacement is a
    message that the model reads behind the results. If it denies, the run ends."""
    before_stop: TextHook
    """Called before the run ends with this text; if it denies, the model reads why and goes on."""
    outbound: TextHook
    """Called with the run's result, which it may replace for whoever reads it; the history keeps
    the model's text. If it denies, nobody gets the result."""
    compact: FoldHook
    """Called with the oldest turns before they are archived or summarised; it returns ``True`` once
    they are stored, or a text in their place. If it denies, the conversation stays as it is."""
    timeout: float
    """The seconds that a hook may take, after which it counts as broken. No limit if absent."""
    fail_closed: bool
    """True if a hook that breaks counts as a denial."""


_POINTS: tuple[HookPoint, ...] = get_args(HookPoint)


def points_of(hooks: Hooks) -> list[HookPoint]:
    """Returns the points at which there are hooks."""
    return [point for point in _POINTS if hooks.get(point) is not None]


def check_hooks(hooks: Hooks) -> None:
    """Checks the option ``hooks``.

    Raises:
        InnerloopError: ``bad_option``.
    """
    for name, value in hooks.items():
        field = f"hooks.{name}"
        if name == "fail_closed":
            if not isinstance(value, bool):
                raise _bad(f"`{field}` is true or false, not {value!r}", field)
        elif name == "timeout":
            # `bool` is an `int` in Python; not-a-number fails the comparison.
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (is_number and 0 < cast(float, value) < _LONGEST):
                raise _bad(f"`{field}` is a number of seconds, not {value!r}", field)
        elif name not in _POINTS:
            known = ", ".join(_POINTS)
            raise _bad(f"there is no hook `{name}`; there are {known}", field)
        elif not callable(value):
            raise _bad(f"`{field}` is a function, not {value!r}", field)


def _bad(message: str, field: str) -> InnerloopError:
    return InnerloopError("bad_option", message, field)


class HookCalls:
    """The calls of an agent's hooks."""

    def __init__(self, hooks: Hooks | None) -> None:
        self._hooks: Hooks = hooks or {}

    async def reply_to(self, run: HookRun) -> HookReply:
        """Returns the reply of a hook; if it raises, the reply is ``failed``."""
        point = run["point"]
        hook = cast("Callable[[Any], Any] | None", self._hooks.get(point))
        if hook is None:
            return _failed("there is no such hook here")
        said, is_async = _said(point, run["payload"]), inspect.iscoroutinefunction(hook)
        name = f"innerloop hook {point}"
        work = asyncio.ensure_future(called(lambda: hook(said), name, is_async=is_async))
        timeout = self._hooks.get("timeout")
        try:
            await asyncio.wait({work}, timeout=timeout)
        finally:
            # Also if this task is cancelled: `wait` leaves the work running. A thread cannot be
            # stopped: its work goes on, and its result is dropped.
            if not work.done():
                work.cancel()
        if not work.done():
            return _failed(f"`{point}` took longer than {timeout} s")
        try:
            return _reply(work.result(), point)
        except Exception as error:
            return _failed(described(error))


def _said(point: HookPoint, payload: Any) -> Any:
    """Returns the argument of a hook."""
    if point == "compact":
        return FoldedTurns(
            kind=payload["kind"],
            transcript=payload["transcript"],
            files=payload["files"],
            tokens=payload["tokens"],
        )
    if not isinstance(payload, dict):
        return payload
    try:
        arguments = json.loads(payload["arguments"])
    except ValueError:
        arguments = payload["arguments"]
    return HookedCall(
        name=payload["name"],
        arguments=arguments,
        call_id=payload["call_id"],
        folder=payload.get("folder", ""),
        text=payload.get("text"),
        is_error=payload.get("is_error") or False,
    )


def _reply(result: Any, point: HookPoint) -> HookReply:
    if result is None or result is True:
        return {"allow": None}
    if result is False:
        return {"deny": {"reason": "a hook has denied this"}}
    # With two keys it would be both a denial and a replacement: that is refused, not guessed.
    if isinstance(result, dict) and len(result) == 1:
        if "deny" in result:
            return {"deny": {"reason": str(result["deny"])}}
        if "replace" in result:
            return {"replace": plain(result["replace"])}
    raise TypeError(f"`{point}` returned {result!r}, which says neither yes nor no")


def _failed(message: str) -> HookReply:
    return {"failed": {"message": message}}
