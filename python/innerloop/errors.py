"""The package's exceptions: mistakes of the caller. A failure outside, such as of the network, is
an event and a status instead."""

from __future__ import annotations

from .protocol import Input, JsonFault, LineRejected, RejectionReason


class InnerloopError(Exception):
    """A mistake of the caller, or a fault of the core itself.

    ``code`` tells which: one of the core (``bad_request``, ``bad_option``, ``unknown_provider``,
    ``missing_key``, ``unknown_session``, ``unknown_blueprint``, ``answered``, ``bad_log``,
    ``bad_snapshot``, ``replay_unreadable``, ``too_large``, ``no_memory``), the reason of a refusal
    (``busy``, ``closed``, ``unknown_effect``, …), or one of the package's: ``bad_tool``,
    ``bad_workspace``, ``no_loop``, ``internal``. ``field`` names the field of a configuration that
    does not fit; ``fault`` has the details, for programs with messages of their own.

    Example::

        try:
            agent.undo()
        except InnerloopError as error:
            print(error.code, error.message)
    """

    def __init__(
        self,
        code: str,
        message: str,
        field: str | None = None,
        fault: JsonFault | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.fault = fault

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class RejectedError(InnerloopError):
    """The error for an input that the session refuses. The session has not changed."""

    def __init__(self, rejected: LineRejected) -> None:
        self.reason: RejectionReason = rejected["reason"]
        self.input: Input = rejected["input"]
        code, message = next(iter(self.reason)), rejected["message"]
        config = self.reason.get("config")
        if config is None:
            super().__init__(code, message)
        else:
            super().__init__(code, message, config["field"], config.get("fault"))


class ToolError(Exception):
    """An error that a tool raises with a text for the model, which reads it without the type's
    name."""
