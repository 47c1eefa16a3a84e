"""Tools of one's own: Python functions, whose signature and docstring are what the model reads."""

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
"""More seconds than any call takes."""


@dataclass(frozen=True)
class ToolContext:
    """What a tool may know of its call: give a parameter this type, and the model does not see it.

    ``key`` is the same when the call is carried out again after a restart, and no other call's:
    give it to what must not be done twice.
    """

    call_id: str
    key: str
    folder: str
    """The folder of the workspace that the calling agent works in; empty for the root."""
    output: Callable[[str], None]
    """Shows people more of the output while the tool runs."""


@dataclass(frozen=True)
class ToolResult:
    """What a tool says, where a text is not all: pictures, files, and what only your program sees
    (``details``, in the event ``tool_call_end``)."""

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
    """Called with the arguments by name, in a thread of its own unless it is asynchronous."""
    read_only: bool = False
    """Changes nothing: its calls run side by side, and none needs approval."""
    timeout: float | None = None
    """Seconds that a call may take."""
    repeatable: bool = False
    """May be carried out again where nobody knows what became of a call, after a crash."""
    kinds: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The arguments' types, where they are more than JSON."""
    context: str | None = None
    """The parameter that takes the :class:`ToolContext`."""

    def __post_init__(self) -> None:
        seconds: Any = self.timeout
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (is_number and 0 < seconds < _LONGEST):
            raise InnerloopError(
                "bad_tool", f"tool {self.name}: `timeout` is a number of seconds, not {seconds!r}"
            )

    @property
    def spec(self) -> ToolSpec:
        """The tool as the session knows it."""
        spec: ToolSpec = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        if self.read_only:
            spec["read_only"] = True
        if self.timeout is not None:
            spec["timeout_ms"] = max(1, round(self.timeout * 1000))
        return spec

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function itself."""
        return self.function(*args, **kwargs)

    async def run(self, arguments: Json, context: ToolContext) -> Outcome:
        """Carries out a call; the outcome, also of what fails."""
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
    timeout: float | None = None,
    repeatable: bool = False,
) -> Tool | Callable[[Function], Tool]:
    """Makes a tool of a function, as a decorator with or without options.

    The name, the parameters and their types come from the signature, descriptions from the
    docstring (``Args:`` or ``:param name:``) or from ``Annotated[str, "words"]``.

    Raises:
        InnerloopError: ``bad_tool``, where the signature has no schema.
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
            timeout=timeout,
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
    """What a docstring says of a function, and of its parameters."""
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
            # Deeper lines go on with what was said.
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
        # What is returned in place of being raised is a failure, too.
        return _raised(said)
    return {"parts": [{"type": "text", "text": text_of(said)}]}


def _raised(error: BaseException) -> Outcome:
    # An `Escape` is in words what it stands for.
    is_said = isinstance(error, ToolError | Escape)
    return _failed(str(error) if is_said else described(error))


def _failed(words: str) -> Outcome:
    return {"parts": [{"type": "text", "text": words}], "error": "crashed"}


def tools_of(functions: list[Function | Tool]) -> dict[str, Tool]:
    """The tools by their names.

    Raises:
        InnerloopError: ``bad_tool``, for what makes no tool or has the name of another one.
    """
    tools: dict[str, Tool] = {}
    for function in functions:
        made = function if isinstance(function, Tool) else tool(function)
        if made.name in tools:
            raise InnerloopError("bad_tool", f"there are two tools called {made.name}")
        tools[made.name] = made
    return tools
