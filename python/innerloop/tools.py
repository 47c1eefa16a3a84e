"""Custom tools: Python functions whose signature and docstring the model reads as schema and
description. A call always has an outcome: what a function raises becomes one."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, get_args, get_type_hints, overload

from ._threads import Escape, called, described
from .core import Json
from .errors import InnerloopError, ToolError
from .protocol import Outcome, Part, ToolSpec
from .results import plain, text_of
from .schema import UnsupportedType, object_schema, schema_of, value_of

Function = Callable[..., Any]
_LONGEST = 1e9
"""The bound of a timeout in seconds, longer than any call takes."""


@dataclass(frozen=True)
class ToolContext:
    """The context of a call: a parameter of this type gets it, and is hidden from the model.

    ``key`` is unique to the call, and stays the same if the call is carried out again after a
    restart: use it as the idempotency key of what must not be done twice.
    """

    call_id: str
    key: str
    folder: str
    """The folder of the workspace that the calling agent works in; empty for the root."""
    output: Callable[[str], None]
    """Shows people a piece of output while the tool runs."""


@dataclass(frozen=True)
class ToolResult:
    """A tool's result that is more than a text: pictures, files, and ``details``, which only your
    program sees, in the event ``tool_call_end``.

    Example::

        @tool
        def plot() -> ToolResult:
            parts = [{"type": "image", "media_type": "image/png", "data": drawn()}]
            return ToolResult(parts=parts, details={"points": 12})
    """

    parts: list[Part] = field(default_factory=list)
    is_error: bool = False
    details: Any = None


@dataclass(frozen=True)
class Tool:
    """A function that the model can call."""

    name: str
    description: str
    parameters: Json
    """The JSON schema of the arguments."""
    function: Function
    """The function, called with the arguments by name; in a thread of its own unless it is
    asynchronous."""
    read_only: bool = False
    """True if it changes nothing: its calls run side by side, and none needs approval."""
    untrusted: bool = False
    """True if its results come from elsewhere, such as the web: the model reads them as information
    that nobody has checked."""
    timeout: float | None = None
    """The seconds that a call may take."""
    repeatable: bool = False
    """True if a call may be carried out again when its outcome is unknown, after a crash."""
    kinds: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The arguments' Python types, into which their JSON is converted."""
    context: str | None = None
    """The name of the parameter that takes the :class:`ToolContext`."""

    def __post_init__(self) -> None:
        seconds: Any = self.timeout
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (is_number and 0 < seconds < _LONGEST):
            raise InnerloopError(
                "bad_tool", f"tool {self.name}: `timeout` is a number of seconds, not {seconds!r}"
            )

    @property
    def spec(self) -> ToolSpec:
        """The tool as the session sees it."""
        spec: ToolSpec = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        if self.read_only:
            spec["read_only"] = True
        if self.untrusted:
            spec["untrusted"] = True
        if self.timeout is not None:
            spec["timeout_ms"] = max(1, round(self.timeout * 1000))
        return spec

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function itself, so that a decorated function can still be called in code."""
        return self.function(*args, **kwargs)

    async def run(self, arguments: Json, context: ToolContext) -> Outcome:
        """Carries out a call and returns its outcome, also if it fails."""
        try:
            kinds = self.kinds
            values = {
                name: value_of(kinds[name], value) if name in kinds else value
                for name, value in arguments.items()
            }
            if self.context is not None:
                values[self.context] = context
            said = await called(
                lambda: self.function(**values),
                f"tool {self.name}",
                is_async=inspect.iscoroutinefunction(self.function),
            )
            return _outcome(said)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            return _raised(error)


@overload
def tool(function: Function, /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    read_only: bool = False,
    untrusted: bool = False,
    timeout: float | None = None,
    repeatable: bool = False,
) -> Callable[[Function], Tool]: ...


def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    read_only: bool = False,
    untrusted: bool = False,
    timeout: float | None = None,
    repeatable: bool = False,
) -> Tool | Callable[[Function], Tool]:
    """Makes a tool of a function, as a decorator with or without options.

    The name, the parameters and their types come from the signature, descriptions from the
    docstring (``Args:`` or ``:param name:``) or from ``Annotated[str, "words"]``.

    Raises:
        InnerloopError: ``bad_tool`` if the signature has no schema.

    Example::

        @tool(description="The weather in a city", read_only=True)
        def weather(city: str) -> str:
            return forecast(city)
    """

    def made(function: Function) -> Tool:
        if not callable(function):
            raise InnerloopError("bad_tool", f"{function!r} is no function")
        words, of_parameters = _docstring(inspect.getdoc(function) or "")
        own = str(name or getattr(function, "__name__", ""))
        schema, kinds, context = _parameters(function, own, of_parameters)
        return Tool(
            name=own,
            description=words if description is None else description,
            parameters=schema,
            function=function,
            read_only=read_only,
            untrusted=untrusted,
            timeout=timeout,
            # What changes nothing can be done twice.
            repeatable=repeatable or read_only,
            kinds=kinds,
            context=context,
        )

    return made if function is None else made(function)


def _parameters(
    function: Function, name: str, words: dict[str, str]
) -> tuple[Json, dict[str, Any], str | None]:
    def bad(message: str) -> InnerloopError:
        return InnerloopError("bad_tool", f"tool {name}: {message}")

    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception as error:
        # Annotations may be texts, which are evaluated here and can raise anything.
        raise bad(f"its types cannot be read: {error}") from error
    properties: Json = {}
    required: list[str] = []
    kinds: dict[str, Any] = {}
    context = None
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise bad(f"its signature cannot be read: {error}") from error
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise bad("`*args` and `**kwargs` have no schema")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise bad(f"`{parameter.name}` cannot be given by name")
        kind = hints.get(parameter.name, Any)
        if kind is ToolContext or ToolContext in get_args(kind):
            context = parameter.name
            continue
        try:
            schema = schema_of(kind)
        except UnsupportedType as error:
            raise bad(f"`{parameter.name}` is of type {error}, which has no schema") from error
        if parameter.name in words:
            # The type's own description, from `Annotated`, wins over the docstring's.
            schema = {"description": words[parameter.name], **schema}
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        properties[parameter.name] = schema
        kinds[parameter.name] = kind
    return object_schema(properties, required), kinds, context


_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns|Yields|Raises|Examples?|Notes?):\s*$")
_FIELD = re.compile(r"^:(\w+)(?:\s+([^:]*))?:\s*(.*)$")
_GOOGLE = re.compile(r"^(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """Returns the description of a function in its docstring, and those of its parameters."""
    said: list[str] = []
    of_parameters: dict[str, str] = {}
    section, last = "", ""
    for line in text.splitlines():
        words = line.strip()
        if found := _SECTION.match(line):
            section, last = found[1], ""
        elif found := _FIELD.match(line):
            section, last = "fields", ""
            if found[1] in ("param", "parameter", "arg", "argument") and found[2]:
                last = found[2].split()[-1]
                of_parameters[last] = found[3]
        elif section in ("Args", "Arguments", "Parameters") and line.startswith(" "):
            # A line with more indentation continues the description before it.
            is_new = _indent(line) <= 4 or not last
            if is_new and (found := _GOOGLE.match(words)):
                last = found[1]
                of_parameters[last] = found[2]
            elif last and words:
                of_parameters[last] = f"{of_parameters[last]} {words}".strip()
        elif section == "fields" and last and line.startswith(" "):
            of_parameters[last] = f"{of_parameters[last]} {words}".strip()
        elif words and not line.startswith(" ") and section not in ("", "fields"):
            section = ""
            said.append(line)
        elif section == "":
            said.append(line)
    return "\n".join(said).strip(), of_parameters


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _outcome(said: Any) -> Outcome:
    if isinstance(said, ToolResult):
        outcome: Outcome = {"parts": plain(said.parts)}
        if said.is_error:
            outcome["error"] = "crashed"
        if said.details is not None:
            outcome["details"] = plain(said.details)
        return outcome
    if isinstance(said, BaseException):
        # An exception that is returned instead of raised is a failure, too.
        return _raised(said)
    return {"parts": [{"type": "text", "text": text_of(said)}]}


def _raised(error: BaseException) -> Outcome:
    # The text of a `ToolError` is meant for the model; that of an `Escape` already names the type.
    is_said = isinstance(error, ToolError | Escape)
    return _failed(str(error) if is_said else described(error))


def _failed(words: str) -> Outcome:
    return {"parts": [{"type": "text", "text": words}], "error": "crashed"}


def tools_of(functions: list[Function | Tool]) -> dict[str, Tool]:
    """Returns tools by their names.

    Raises:
        InnerloopError: ``bad_tool`` for a function that makes no tool, or has another one's name.
    """
    tools: dict[str, Tool] = {}
    for function in functions:
        made = function if isinstance(function, Tool) else tool(function)
        if made.name in tools:
            raise InnerloopError("bad_tool", f"there are two tools called {made.name}")
        tools[made.name] = made
    return tools
