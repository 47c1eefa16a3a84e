"""Blocking work beside the event loop. Each piece has a daemon thread of its own, so that slow
tools and long replies do not wait for one another, and none keeps the program from ending. What a
function of the user's raises never ends the event loop: see :class:`Escape`."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Escape(Exception):
    """The stand-in for an exception that no task may raise, since it would end the event loop or
    look like a cancellation: ``SystemExit``, ``KeyboardInterrupt``, ``CancelledError`` and the
    like, raised by a function of the user's. Such a function may end itself, but not the program
    with all its agents."""

    def __init__(self, raised: BaseException) -> None:
        super().__init__(described(raised))


def described(error: BaseException) -> str:
    """Returns an exception as text: its type and its message."""
    try:
        words = str(error)
    except Exception:
        # An exception of the user's may have a broken `__str__`.
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


async def called(function: Callable[[], Any], name: str, *, is_async: bool) -> Any:
    """Calls a function of the user's, in a thread unless it is asynchronous, and awaits what it
    returns.

    Raises:
        Exception: What it raises; :class:`Escape` for anything that is not an ``Exception``.
    """
    said = await in_thread(function, name) if not is_async else function()
    # A plain function may return an awaitable, too: a `lambda` around an asynchronous one does.
    if not inspect.isawaitable(said):
        return said
    # In a task of its own, so that a function which cancels itself can be told from an effect
    # that is stopped: both raise `CancelledError`.
    task = asyncio.ensure_future(_awaited(said))
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task})
        raise
    if task.cancelled():
        raise Escape(asyncio.CancelledError())
    return task.result()


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    try:
        return await awaitable
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as raised:
        raise Escape(raised) from raised


async def in_thread(work: Callable[[], T], name: str) -> T:
    """Returns or raises what the work does; :class:`Escape` for anything that is not an
    ``Exception``. Cancelling stops the waiting, not the work."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    # As `asyncio.to_thread` does: tools see the context variables of their caller.
    context = contextvars.copy_context()

    def settle(value: T | None, error: Exception | None) -> None:
        # The waiting may have been cancelled while this was on its way into the loop.
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value: T | None = None
        error: Exception | None = None
        try:
            value = context.run(work)
        except StopIteration as raised:
            # A future refuses `StopIteration`, since raising it would end a generator.
            error = Escape(raised)
        except Exception as raised:
            error = raised
        except BaseException as raised:
            error = Escape(raised)
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            # The loop is closed, and nobody waits any more.
            pass

    # Not a pool's thread: a pool has few, and Python waits for them at exit.
    threading.Thread(target=run, name=name, daemon=True).start()
    return await future
