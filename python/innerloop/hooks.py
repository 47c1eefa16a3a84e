"""Hooks: functions of the user's that stand in the loop, by the points at which they run."""

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
    """A tool's call, before it runs or with what came of it."""

    name: str
    arguments: Any
    """The arguments; a text, where a tool takes no JSON."""
    call_id: str
    folder: str
    """The folder that the arguments' paths begin in; empty for the workspace's root."""
    text: str | None = None
    """After the call: what the model will read."""
    is_error: bool = False
    """After the call: whether it failed."""


@dataclass(frozen=True)
class FoldedTurns:
    """Turns that are to be archived or summed up."""

    kind: Literal["archive", "summary"]
    transcript: str
    """What was said and done."""
    files: Mapping[str, list[str]]
    """The files that were ``read`` and ``changed``, where there are any."""
    tokens: int
    """About how many tokens the whole conversation has."""


class HookDenial(TypedDict):
    """No, and why; the model reads it."""

    deny: str


class HookReplacement(TypedDict):
    """Go on with this in its place."""

    replace: Any


HookResult = bool | HookDenial | HookReplacement | None
"""``None`` or ``True``: go on. ``False`` or ``{"deny": why}``: do not. ``{"replace": value}``: go
on with this in its place."""
TextHook = Callable[[str], "HookResult | Awaitable[HookResult]"]
CallHook = Callable[[HookedCall], "HookResult | Awaitable[HookResult]"]
FoldHook = Callable[[FoldedTurns], "HookResult | Awaitable[HookResult]"]


class Hooks(TypedDict, total=False):
    """Functions that stand in the loop, ``async`` or not. What one raises is told in an event, and
    the run goes on unless ``fail_closed`` is set.

    Example::

        def before_tool(call: HookedCall) -> HookResult:
            return {"deny": "not there"} if "secrets" in str(call.arguments) else None

        agent = Agent("anthropic", hooks={"before_tool": before_tool, "fail_closed": True})
    """

    submit: TextHook
    """The user has said something; another text may take its place."""
    before_model: TextHook
    """A model call is next; a replacement is said to the model, as the system. It is told an empty
    text."""
    before_tool: CallHook
    """A tool is to run; other arguments may take the place of its own."""
    after_tool: CallHook
    """A tool has run; another text may take the place of what the model reads."""
    before_stop: TextHook
    """The run is to end with this text; the model reads why that is denied, and goes on."""
    outbound: TextHook
    """The run has come to this, which goes out as its result unless another text takes its place;
    the conversation keeps what the model said. What is denied goes to nobody."""
    compact: FoldHook
    """The oldest turns are to be archived or summed up: ``True`` once they are stored; another text
    may take their place. What it denies leaves the conversation as it is."""
    timeout: float
    """Seconds that a hook may take; one that takes longer counts as broken. No limit if absent."""
    fail_closed: bool
    """Whether a hook that breaks counts as a denial."""


_POINTS: tuple[HookPoint, ...] = get_args(HookPoint)


def points_of(hooks: Hooks) -> list[HookPoint]:
    """The points at which there are hooks."""
    return [point for point in _POINTS if hooks.get(point) is not None]


def check_hooks(hooks: Hooks) -> None:
    """Refuses what are no hooks.

    Raises:
        InnerloopError: ``bad_option``.
    """
    for name, value in hooks.items():
        field = f"hooks.{name}"
        if name == "fail_closed":
            if not isinstance(value, bool):
                raise _bad(f"`{field}` is true or false, not {value!r}", field)
        elif name == "timeout":
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
    """Calls the hooks of an agent."""

    def __init__(self, hooks: Hooks | None) -> None:
        self._hooks: Hooks = hooks or {}

    async def reply_to(self, run: HookRun) -> HookReply:
        """What a hook says. What it raises is a reply, too."""
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
            # A thread cannot be stopped: what it does goes on, unheard.
            if not work.done():
                work.cancel()
        if not work.done():
            return _failed(f"`{point}` took longer than {timeout} s")
        try:
            return _reply(work.result(), point)
        except Exception as error:
            return _failed(described(error))


def _said(point: HookPoint, payload: Any) -> Any:
    """What a hook is told."""
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
    if isinstance(result, dict) and len(result) == 1:
        if "deny" in result:
            return {"deny": {"reason": str(result["deny"])}}
        if "replace" in result:
            return {"replace": plain(result["replace"])}
    raise TypeError(f"`{point}` returned {result!r}, which says neither yes nor no")


def _failed(message: str) -> HookReply:
    return {"failed": {"message": message}}
