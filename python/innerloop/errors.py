"""What is thrown: mistakes of the host. What fails in the world is an event and a status."""

from __future__ import annotations

from typing import Any


class InnerloopError(Exception):
    """A mistake of the caller's, or a fault of the core's own.

    ``code`` tells which: those of the core (``bad_request``, ``bad_option``, ``unknown_provider``,
    ``missing_key``, ``unknown_session``, ``unknown_blueprint``, ``answered``, ``bad_log``,
    ``bad_snapshot``, ``replay_unreadable``, ``too_large``, ``no_memory``), the reason of a refusal
    (``busy``, ``closed``, ``unknown_effect``, …), or one of the package's: ``bad_tool``,
    ``bad_workspace``, ``no_loop``, ``internal``. ``field`` names the field of a configuration that
    does not fit.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class RejectedError(InnerloopError):
    """An input that the session refuses; the session is as it was."""

    def __init__(self, rejected: dict[str, Any]) -> None:
        reason: dict[str, Any] = rejected["reason"]
        super().__init__(next(iter(reason)), rejected["message"])
        self.reason = reason
        self.input: dict[str, Any] = rejected["input"]


class ToolError(Exception):
    """Raised by a tool: what went wrong, in words for the model."""
