"""What goes into a session, and why it may be refused. Made of the core's types, whose words
these are: see CONTRIBUTING.md#generated-files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .config import ApprovalRule
from .data import DeniedBy, Outcome, Part
from .history import Turn
from .model import ToolChoice
from .patch import SessionConfigPatch

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class InputCommand(TypedDict):
    """A command of the host to an agent."""

    agent: int
    """The agent; the session's own is 0."""
    command: Command
    """The command to carry out."""


class InputHttp(TypedDict):
    """A part of an HTTP exchange."""

    id: int
    """The effect that asked for it."""
    input: HttpInput
    """The part of the exchange."""


class InputTool(TypedDict):
    """A report on a tool's run."""

    id: int
    """The effect that asked for it."""
    input: ToolInput
    """The report on the run."""


class InputAnswer(TypedDict):
    """An answer to a question that was asked."""

    id: int
    """The effect that asked for it."""
    answer: Answer
    """The answer to the question."""


class InputHook(TypedDict):
    """A reply of a hook."""

    id: int
    """The effect that asked for it."""
    reply: HookReply
    """The reply of the hook."""


class InputLost(TypedDict):
    """The host cannot know the outcome of an effect, for example after a crash."""

    id: int
    """The effect that is lost."""


class Input(TypedDict, total=False):
    """An input: one thing that happened. Exactly one of these keys is there."""

    command: InputCommand
    """A command of the host to an agent."""
    http: InputHttp
    """A part of an HTTP exchange."""
    tool: InputTool
    """A report on a tool's run."""
    answer: InputAnswer
    """An answer to a question that was asked."""
    hook: InputHook
    """A reply of a hook."""
    lost: InputLost
    """The host cannot know the outcome of an effect, for example after a crash."""
    tick: None
    """Time has passed. One tick fires all deadlines that are due."""


class CommandSubmit(TypedDict):
    """The user's input; starts a run. Refused while one is under way."""

    parts: list[Part]
    """The content of the input."""
    options: NotRequired[TurnOptions | None]
    """The options for this input only."""


class CommandSteer(TypedDict):
    """A message for the model after the current tool round; while idle it waits for the next
    submit."""

    parts: list[Part]
    """The content of the message."""


class CommandFollowUp(TypedDict):
    """An input that starts when the current one is done."""

    parts: list[Part]
    """The content of the input."""
    options: NotRequired[TurnOptions | None]
    """The options for this input only."""


class CommandConfigure(TypedDict):
    """A change of the configuration, which takes effect at the next model call."""

    patch: SessionConfigPatch
    """A merge patch (RFC 7396) of the configuration's JSON. The session's id stays."""


class CommandCompact(TypedDict, total=False):
    """Shortens the conversation that the model reads: the oldest turns are summarised. Refused
    while a run is under way, and if no turn is old enough."""

    instructions: str | None
    """The instructions for the summary: what it should focus on."""


class CommandUndo(TypedDict, total=False):
    """Undoes the newest steps; a step begins with each input. Refused while a run is under way,
    as are the four commands below."""

    steps: int
    """The maximum number of steps."""


class CommandRedo(TypedDict, total=False):
    """Redoes steps that were undone, the last one first."""

    steps: int
    """The maximum number of steps."""


class CommandRestore(TypedDict):
    """Restores the model's view of the time when the log had this many turns."""

    at: int
    """The number of turns."""


class CommandImport(TypedDict):
    """Appends the turns of another conversation."""

    turns: list[Turn]
    """The turns, oldest first. Calls of the last one without a result get one that says that
    they were interrupted."""


Command = TypedDict(
    "Command",
    {
        # The user's input; starts a run. Refused while one is under way.
        "submit": "CommandSubmit",
        # A message for the model after the current tool round; while idle it waits for the next
        # submit.
        "steer": "CommandSteer",
        # An input that starts when the current one is done.
        "follow_up": "CommandFollowUp",
        # A change of the configuration, which takes effect at the next model call.
        "configure": "CommandConfigure",
        # Shortens the conversation that the model reads: the oldest turns are summarised. Refused
        # while a run is under way, and if no turn is old enough.
        "compact": "CommandCompact",
        # Undoes the newest steps; a step begins with each input. Refused while a run is under way,
        # as are the four commands below.
        "undo": "CommandUndo",
        # Redoes steps that were undone, the last one first.
        "redo": "CommandRedo",
        # Restores the model's view of the time when the log had this many turns.
        "restore": "CommandRestore",
        # Hides the whole conversation so far from the model. Can be undone.
        "clear": "None",
        # Appends the turns of another conversation.
        "import": "CommandImport",
        # Stops the run; the session stays usable.
        "interrupt": "None",
        # Ends the session after its shutdown sequence.
        "close": "None",
    },
    total=False,
)
"""A command of the host to an agent. Exactly one of these keys is there."""


class TurnOptions(TypedDict, total=False):
    """The options for one input only: they hold until its run ends, or until the run's next
    input begins. Agents that are started meanwhile have the same tools and paths."""

    tools: list[str] | None
    """The tools that may be called, by the names that the model sees; all if absent. A call of
    another tool is denied, and the model reads why. The final answer can always be given."""
    hide: bool
    """True if the other tools are not shown to the model either, which costs the provider's
    cache of earlier requests twice: now, and when they come back."""
    paths: list[str] | None
    """Files and folders of the workspace, relative to its root, that calls may name; all if
    absent. Tools that do not name their files, such as a shell, are denied. Links are not
    resolved."""
    tool_choice: ToolChoice | None
    """The rule for tool calls, which overrides the configuration's: the model must, may or must
    not make them. A required call is required only once."""
    temperature: float | None
    """The model's temperature: a number, 0 or more."""


class HttpInputHeld(TypedDict, total=False):
    """The host holds the request back, since others are ahead of it. The idle timeout is paused
    until the request is sent."""

    ahead: int | None
    """The number of requests ahead of it; absent when this one is sent."""


class HttpInput(TypedDict, total=False):
    """A part of an HTTP exchange, in the order head, chunks, end. A failure may come at any
    time; before the head, the host may report that it holds the request back. A further head
    restarts the response: the host was restarted and sends the request again. Exactly one of
    these keys is there."""

    held: HttpInputHeld
    """The host holds the request back, since others are ahead of it. The idle timeout is paused
    until the request is sent."""
    head: ResponseHead
    """The status and the headers of the response."""
    chunk: BodyBytes
    """A piece of the body, cut at any byte."""
    end: None
    """The body is complete. Answers the effect."""
    failed: HttpFailure
    """The exchange broke or was cancelled. Answers the effect."""


class ResponseHead(TypedDict):
    """Status and headers of a response."""

    status: int
    """The status code of the response."""
    headers: NotRequired[list[list[str]]]
    """The headers, names in lower case."""
    at: NotRequired[int]
    """The wall time in milliseconds since 1970; 0 if unknown."""


class EncodedBytes(TypedDict):
    """The object that represents bytes that are not UTF-8."""

    base64: str
    """The bytes in base64."""


BodyBytes = str | EncodedBytes
"""Bytes: a text where they are UTF-8."""


class HttpFailure(TypedDict):
    """The failure of an exchange."""

    kind: HttpFailureKind
    """The kind, which decides whether a retry makes sense."""
    message: str
    """A sentence that describes the failure to the user."""


HttpFailureKind = Literal["network", "timeout", "cancelled", "refused"]
"""The kinds of broken exchange.

- ``network``: No connection, or it broke. Worth a retry.
- ``timeout``: Nothing was received for too long. Worth a retry.
- ``cancelled``: The exchange was cancelled on request.
- ``refused``: The host does not send this request: unknown endpoint, missing key, redirect.
  Not worth a retry.
"""


class ToolInputParked(TypedDict):
    """The run goes on in the background; this answers the model's call."""

    handle: str
    """The host's name for the run."""
    outcome: Outcome
    """The outcome that the model reads for now."""


class ToolInput(TypedDict, total=False):
    """News of a tool's run. Exactly one of these keys is there."""

    delta: str
    """Output while it runs, for people to watch."""
    parked: ToolInputParked
    """The run goes on in the background; this answers the model's call."""
    done: Outcome
    """The run is over. Answers the effect."""


class AnswerDeny(TypedDict):
    """The call may not run."""

    reason: str
    """The reason, for the model to read."""
    by: NotRequired[DeniedBy]
    """The one who denied the call: a person, or nobody if nobody is there."""


class Answer(TypedDict, total=False):
    """An answer to an ``Ask``. Exactly one of these keys is there."""

    allow: None
    """The call may run."""
    allow_always: None
    """The call may run, and so may every later one of its tool."""
    allow_rule: ApprovalRule
    """The call may run, and so may later ones that match the rule."""
    allow_edited: Any
    """The call may run with these arguments, which are checked again."""
    deny: AnswerDeny
    """The call may not run."""
    abort: None
    """The run is to stop."""
    text: str
    """The text of the person's answer."""


class HookReplyDeny(TypedDict):
    """The hook denies the step."""

    reason: str
    """The reason, for the model to read."""


class HookReplyFailed(TypedDict):
    """The hook itself failed."""

    message: str
    """The text that describes the failure."""


class HookReply(TypedDict, total=False):
    """A reply to a ``HookRun``. Exactly one of these keys is there."""

    allow: None
    """The run goes on unchanged."""
    deny: HookReplyDeny
    """The hook denies the step."""
    replace: Any
    """The run goes on with this replacement."""
    failed: HookReplyFailed
    """The hook itself failed."""


RejectionReason = TypedDict(
    "RejectionReason",
    {
        # A submit, or a change of the view, while a run is under way.
        "busy": "None",
        # Any command after the session has closed.
        "closed": "None",
        # A text that holds secrets of these kinds, which the firewall refuses, or a secret at that
        # place of an option, where none can be.
        "holds_secret": "str",
        # The session has no such agent.
        "unknown_agent": "int",
        # The session never issued such an effect.
        "unknown_effect": "int",
        # The answer does not fit the effect, such as a part of an HTTP exchange for a tool's run.
        "wrong_kind": "int",
        # A part of an HTTP exchange out of order: a body before its head.
        "out_of_order": "int",
        # A submit, steer or follow-up without content.
        "empty": "None",
        # The command has nothing to act on.
        "nothing": "str",
        # An input that needs a model call while the session's budget is used up.
        "budget": "None",
        # Turns that cannot be taken over.
        "import": "str",
        # An invalid configuration.
        "config": "ConfigError",
        # This version does not support the input.
        "unsupported": "str",
    },
    total=False,
)
"""The reason why an input was refused. Each is a mistake of the host. Exactly one of these keys
is there."""


class ConfigError(TypedDict):
    """The reason why a configuration cannot work."""

    field: str
    """The field, as a path in the configuration, for example ``tools[2].name``."""
    tool: NotRequired[str]
    """The tool's name, if the field is a tool's."""
    message: str
    """The text that describes the fault and the correct form."""
    fault: NotRequired[JsonFault]
    """The kind of fault if the JSON is invalid, for hosts that word errors themselves."""


class JsonFaultEof(TypedDict):
    """The text ends in the middle of a value, so that it may be the beginning of a valid one."""

    kind: Literal["eof"]


class JsonFaultSyntax(TypedDict):
    """The text is not JSON."""

    kind: Literal["syntax"]
    message: str
    """The text that says what is wrong with it."""


class JsonFaultUnexpected(TypedDict):
    """A value of another type."""

    kind: Literal["unexpected"]
    found: str
    """The value that stands there, for example ``null`` or ``"ten"``."""
    expected: str
    """The value that is expected there, for example ``an object``."""


class JsonFaultRange(TypedDict):
    """A number that does not fit."""

    kind: Literal["range"]
    found: str
    """The number."""
    expected: str
    """The numbers that fit, for example ``a whole number from 0 to 255``."""


class JsonFaultUnknownField(TypedDict):
    """A field that there is not; the path ends with it."""

    kind: Literal["unknown_field"]
    name: str
    """Its name."""
    known: list[str]
    """The fields that there are."""


class JsonFaultUnknownValue(TypedDict):
    """A value that is none of those that there are."""

    kind: Literal["unknown_value"]
    name: str
    """The value."""
    known: list[str]
    """The values that there are."""


class JsonFaultMissingField(TypedDict):
    """A field that must be there and is not; the path ends with it."""

    kind: Literal["missing_field"]
    name: str
    """Its name."""


class JsonFaultDuplicateField(TypedDict):
    """A field that is there twice."""

    kind: Literal["duplicate_field"]
    name: str
    """Its name."""


class JsonFaultInvalid(TypedDict):
    """Another reason why the value is refused."""

    kind: Literal["invalid"]
    message: str
    """The text that says what is wrong with it."""


JsonFault = (
    JsonFaultEof
    | JsonFaultSyntax
    | JsonFaultUnexpected
    | JsonFaultRange
    | JsonFaultUnknownField
    | JsonFaultUnknownValue
    | JsonFaultMissingField
    | JsonFaultDuplicateField
    | JsonFaultInvalid
)
"""The kind of fault."""
