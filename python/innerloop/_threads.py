"""Blocking work beside the event loop. Each piece has a thread of its own, so that slow tools and
long replies do not wait for one another, and none keeps the program from ending."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Escape(Exception):
    """Stands for what no task may raise, since it would end the event loop or look like a stop:
    ``SystemExit``, ``KeyboardInterrupt``, ``CancelledError`` and their like, raised by a function
    of the user's. Such a function may end itself, not the program with all its agents."""

    def __init__(self, raised: BaseException) -> None:
        super().__init__(described(raised))


def described(error: BaseException) -> str:
    """An exception in words: its type, and what it says."""
    try:
        words = str(error)
    except Exception:  # Its own words are broken.
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


async def called(function: Callable[[], Any], name: str, *, is_async: bool) -> Any:
    """Calls a function of the user's, in a thread unless it is asynchronous, and awaits what it
    returns.

    Raises:
        Exception: What it raises; :class:`Escape` in place of what is no ``Exception``.
    """
    said = await in_thread(function, name) if not is_async else function()
    if not inspect.isawaitable(said):
        return said
    # A task of its own tells what cancels itself from what is stopped.
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
    """What the work returns or raises; :class:`Escape` in place of what is no ``Exception``.
    Cancelling stops the waiting, not the work."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: T | None, error: Exception | None) -> None:
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
            error = Escape(raised)  # A future cannot hold it: it would end an iteration.
        except Exception as raised:
            error = raised
        except BaseException as raised:
            error = Escape(raised)
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            pass  # The loop is closed, and nobody waits any more.

    threading.Thread(target=run, name=name, daemon=True).start()
    return await future
