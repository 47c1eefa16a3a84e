"""Blocking work beside the event loop. Each piece has a thread of its own, so that slow tools and
long replies do not wait for one another, and none keeps the program from ending."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T], name: str) -> T:
    """What the work returns or raises. Cancelling stops the waiting, not the work."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value: T | None = None
        error: BaseException | None = None
        try:
            value = context.run(work)
        except BaseException as thrown:  # The waiting task hears of everything.
            # A future cannot hold it: it would end an iteration.
            error = RuntimeError("StopIteration") if isinstance(thrown, StopIteration) else thrown
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            pass  # The loop is closed, and nobody waits any more.

    threading.Thread(target=run, name=name, daemon=True).start()
    return await future
