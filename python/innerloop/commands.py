"""What people type: commands, answers and texts, read alike in every language. A small module of
its own reads them, which is compiled at the first call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

from .core import ModuleInstance, compiled
from .errors import InnerloopError
from .protocol import CommandWord, CustomCommand, PendingAsks


@cache
def _supervisor() -> ModuleInstance:
    return ModuleInstance(compiled("innerloop_supervisor.wasm"))


def parse_command(
    text: str,
    *,
    pending: PendingAsks | None = None,
    custom: Sequence[CustomCommand] = (),
    without: Sequence[str] = (),
) -> CommandWord:
    """Reads what a person has typed: a command, an answer to what is pending, or text for the
    model. ``custom`` adds commands, of equal names the first; ``without`` names those of the table
    that your program does not have.

    Raises:
        InnerloopError: ``bad_request`` if an argument does not fit; the message names the field.

    Example::

        assert parse_command("/UNDO 2") == {"type": "undo", "steps": 2}
    """
    commands = {"custom": list(custom), "without": list(without)}
    request = {"command": {"text": text, "pending": pending or {}, "commands": commands}}
    try:
        return cast(CommandWord, _supervisor().ask(request)[0].value)
    except InnerloopError as error:
        if error.code == "internal":
            # An instance that has failed cannot be used any more: the next call makes another.
            _supervisor.cache_clear()
        raise
