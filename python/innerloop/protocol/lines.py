"""Requests to sessions, and the lines of their answers. Made of the core's types, whose words
these are: see CONTRIBUTING.md#generated-files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .config import ConfigPreset, EnvironmentFacts, SessionConfig, ToolSpec
from .data import ContextUsage, Part, Status
from .effects import Effect, Output
from .events import Event
from .history import SeenTurn, Turn
from .inputs import BodyBytes, Input, JsonFault, RejectionReason, TurnOptions
from .model import ModelConfig, ProfileKind
from .parts import DocsAnswer, Parts, Provider, UndoneAnswer
from .patch import SessionConfigPatch

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class RequestModel(TypedDict):
    """The configuration of a model; of the provider's own choice if none is named."""

    provider: str
    name: NotRequired[str | None]


class RequestDocNames(TypedDict):
    """The names of the files that instruct a family's models."""

    profile: ProfileKind


class RequestBlueprint(TypedDict):
    """The parts that sessions of one configuration share."""

    config: SessionConfig
    parts: NotRequired[Parts]


class RequestResume(TypedDict):
    """A session that goes on from the log behind the line."""

    parts: NotRequired[Parts]
    wall: int
    owe_runs: NotRequired[bool]
    """True if tools' runs are owed again, and not lost."""


class RequestRestore(TypedDict):
    """A session that goes on from the snapshot behind the line."""

    parts: NotRequired[Parts]
    wall: int
    owe_runs: NotRequired[bool]


class RequestFork(TypedDict):
    """Another session that has heard the first turns of this one, all if nothing is said."""

    session: int
    id: str
    turns: NotRequired[int | None]
    parts: NotRequired[Parts]
    wall: int


class RequestHandle(TypedDict):
    """Something happened."""

    session: int
    at: int
    input: Input


class RequestChunk(TypedDict):
    """The bytes behind the line are a piece of a response's body."""

    session: int
    at: int
    id: int


class RequestRekey(TypedDict):
    """Another key for the session's endpoint."""

    session: int
    key: str


class RequestSnapshot(TypedDict):
    """The session as it stands."""

    session: int


class RequestOwed(TypedDict):
    """All that is open, again."""

    session: int


class RequestStatus(TypedDict):
    """The status of an agent."""

    session: int
    agent: NotRequired[int]


class RequestContext(TypedDict):
    """The tokens that fill an agent's context window, by what they are spent on."""

    session: int
    agent: NotRequired[int]


class RequestOverview(TypedDict):
    """The data that a session holds beside its history; the words that wait are the agent's."""

    session: int
    agent: NotRequired[int]


RequestHistory = TypedDict(
    "RequestHistory",
    {
        "session": "int",
        "agent": "NotRequired[int]",
        "from": "NotRequired[int]",
    },
)
"""The turns of an agent and its user."""


class RequestSeen(TypedDict):
    """The turns that an agent's model sees."""

    session: int
    agent: NotRequired[int]


class RequestUndone(TypedDict):
    """The files whose changes are undone with their steps, each with what undoes them."""

    session: int
    texts: NotRequired[dict[str, str | None]]
    """The texts of those that were asked for; ``None`` where there is no such file."""


class RequestSaid(TypedDict):
    """The text that is new to an agent's model, as recordings compare it."""

    session: int
    agent: NotRequired[int]


class RequestClose(TypedDict):
    """The host needs the session no more."""

    session: int


class RequestDiscard(TypedDict):
    """The host opens no more sessions of the blueprint."""

    blueprint: int


class Request(TypedDict, total=False):
    """A request. Exactly one of these keys is there."""

    providers: None
    """The table of providers."""
    model: RequestModel
    """The configuration of a model; of the provider's own choice if none is named."""
    doc_names: RequestDocNames
    """The names of the files that instruct a family's models."""
    docs: DocFiles
    """The instruction files among those of a workspace, with what they import."""
    config: Settings
    """The configuration that settings come to."""
    blueprint: RequestBlueprint
    """The parts that sessions of one configuration share."""
    open: Opening
    """A session."""
    resume: RequestResume
    """A session that goes on from the log behind the line."""
    restore: RequestRestore
    """A session that goes on from the snapshot behind the line."""
    fork: RequestFork
    """Another session that has heard the first turns of this one, all if nothing is said."""
    handle: RequestHandle
    """Something happened."""
    chunk: RequestChunk
    """The bytes behind the line are a piece of a response's body."""
    rekey: RequestRekey
    """Another key for the session's endpoint."""
    snapshot: RequestSnapshot
    """The session as it stands."""
    owed: RequestOwed
    """All that is open, again."""
    status: RequestStatus
    """The status of an agent."""
    context: RequestContext
    """The tokens that fill an agent's context window, by what they are spent on."""
    overview: RequestOverview
    """The data that a session holds beside its history; the words that wait are the agent's."""
    history: RequestHistory
    """The turns of an agent and its user."""
    seen: RequestSeen
    """The turns that an agent's model sees."""
    undone: RequestUndone
    """The files whose changes are undone with their steps, each with what undoes them."""
    said: RequestSaid
    """The text that is new to an agent's model, as recordings compare it."""
    replay: None
    """The outputs that followed from each line of the log behind the line."""
    close: RequestClose
    """The host needs the session no more."""
    discard: RequestDiscard
    """The host opens no more sessions of the blueprint."""


class DocFiles(TypedDict):
    """The facts that a host knows about a workspace's files."""

    profile: ProfileKind
    paths: list[str]
    texts: NotRequired[dict[str, str | None]]
    """The texts of those that were asked for; ``None`` where one cannot be read."""


class Settings(TypedDict, total=False):
    """Settings of a host's user, see ``Settings``."""

    id: str
    provider: str
    model: str | None
    fallbacks: list[FallbackSpec]
    """The models that take over where that one fails, in this order."""
    models: dict[str, Any] | None
    """A catalogue of models, in place of the one that comes along."""
    preset: ConfigPreset | None
    facts: EnvironmentFacts
    tools: list[ToolSpec]
    patches: list[SessionConfigPatch]
    """Merge patches of the configuration, one over the other."""


class FallbackSpec(TypedDict):
    """A model beside the session's own, see ``FallbackModel``."""

    provider: str
    endpoint: NotRequired[str | None]
    """The name of its endpoint, where it is not the provider's."""
    model: NotRequired[str | None]
    """The model; the provider's default if absent."""
    cheap: NotRequired[bool]
    """True if it writes the summaries, and takes over only when no other model is left."""
    tasks: NotRequired[list[str]]
    """The kinds of tasks for which it goes before the others."""


class OwnOpening(TypedDict):
    config: SessionConfig
    """The configuration."""
    parts: NotRequired[Parts]
    """The parts that the session's driver works with."""
    wall: int
    """The wall time."""


class SharedOpening(TypedDict):
    blueprint: int
    """The blueprint's number."""
    id: str
    """The session's id."""
    wall: int
    """The wall time."""


Opening = OwnOpening | SharedOpening
"""A session of its own configuration, or of a blueprint under an id of its own."""


class LineRejected(TypedDict):
    """An input that the session refuses."""

    input: Input
    """The input, whole."""
    reason: RejectionReason
    """The reason why it was refused."""
    message: str
    """The same in words."""


class Line(TypedDict, total=False):
    """A line of an answer. The log's lines and the recording's stand in theirs as they are.
    Exactly one of these keys is there."""

    providers: list[Provider]
    """The table of providers."""
    model: ModelConfig
    """The configuration of a model."""
    doc_names: list[str]
    """The names of the files that instruct a family's models."""
    docs: DocsAnswer
    """The instruction files of a workspace."""
    config: SessionConfig
    """The configuration that settings come to."""
    blueprint: int
    """The number of a new blueprint."""
    session: int
    """The number of a new session."""
    now: int
    """The session time at which it goes on."""
    effect: Effect
    """A thing to do."""
    event: Event
    """A thing to know."""
    deadline: int | None
    """The time to send a tick if nothing else happens; ``null`` for never."""
    status: Status | None
    """The status of an agent; ``null`` if there is no such agent."""
    context: ContextUsage | None
    """The tokens that fill an agent's context window; ``null`` if there is no such agent."""
    overview: SessionOverview
    """The data that a session holds beside its history."""
    history: list[Turn] | None
    """The turns of an agent and its user; ``null`` if there is no such agent."""
    seen: list[SeenTurn] | None
    """The turns that an agent's model sees; ``null`` if there is no such agent."""
    undone: UndoneAnswer
    """The files whose changes are undone."""
    said: str | None
    """The text that is new to an agent's model; ``null`` if there is no such agent."""
    outputs: list[Output]
    """The outputs that followed from a line of a log."""
    rejected: LineRejected
    """An input that the session refuses."""
    error: RequestError
    """A request that is refused."""
    entry: LogEntry
    """A line of the log, to be made durable before what follows."""
    recording: TrafficExchange
    """A line of the recording."""


class SessionOverview(TypedDict):
    """The data of a session besides its history."""

    pending: PendingInputs | None
    """The agent's waiting inputs; ``None`` if there is no such agent."""
    agents: list[SubagentInfo]
    """The agents that were started, in the order of their numbers."""
    config: SessionConfig
    """The configuration in force. It holds no key."""


class PendingInputs(TypedDict):
    """The inputs that wait for an agent, oldest first."""

    steering: list[list[Part]]
    """The messages for the model after the current round of tool calls."""
    follow_ups: list[PendingInput]
    """The inputs for when the current one is done."""


class PendingInput(TypedDict):
    """An input that waits."""

    parts: list[Part]
    """The content of the input."""
    options: NotRequired[TurnOptions]
    """The options that apply to this input only."""


class SubagentInfo(TypedDict):
    """An agent that another one has started."""

    id: int
    """The agent."""
    parent: int
    """The agent that started it."""
    state: SubagentState
    """Its state, as reported to the agent that started it."""
    task: str
    """The task that it was started with."""
    output: str
    """Its result when its last run ended; empty before."""
    folder: str
    """The folder of the workspace that it works in; empty for the root."""
    model: NotRequired[str]
    """The model that it was started with, if one was named."""
    name: str
    """The name in ``agents`` by which it was started; empty for none."""


SubagentState = Literal["running", "completed", "failed", "closed"]
"""The state of a started agent, as reported to the agent that started it.

- ``running``: A run is under way.
- ``completed``: Its last run completed the task.
- ``failed``: Its last run ended otherwise.
- ``closed``: It is closed and takes no more messages.
"""


class RequestError(TypedDict):
    """The reason why a request has no other answer: a mistake of the host, and nothing has
    changed."""

    code: str
    """Which kind of mistake it is."""
    message: str
    """The text that says what is wrong."""
    field: NotRequired[str]
    """Of a request or a configuration that does not fit: the field."""
    tool: NotRequired[str]
    """Of a configuration's tool: its name."""
    fault: NotRequired[JsonFault]
    """The kind of fault if the JSON does not fit, for a host that words it itself."""


class LogHeader(TypedDict):
    """The log's first line."""

    format: str
    """``innerloop-log``."""
    replay: int
    """The version of what follows from the inputs."""
    wall: int
    """The wall time at which the session was opened."""
    config: SessionConfig
    """The configuration that it was opened with."""


class EntryRef(TypedDict):
    """An input."""

    at: int
    """The session time at which it came."""
    input: Input
    """The input."""


class SnapshotRef(TypedDict):
    """A snapshot."""

    snapshot: Any
    """The session as it stood."""


LogEntry = LogHeader | EntryRef | SnapshotRef
"""A line of a log: a header first, then inputs and snapshots."""


class TrafficExchange(TypedDict):
    """One recorded exchange: a line of the recording."""

    call: int
    """The model call, counted from 1."""
    digest: str
    """The digest of what was new in the request (FNV-1a, 64 bits, hexadecimal)."""
    said: str
    """The beginning of what was new in the request, for people."""
    status: int
    """The response's status."""
    headers: list[list[str]]
    """The response's headers that a replay needs: the content type and what says when to retry."""
    body: BodyBytes
    """The response's body, as far as it came."""
    failed: NotRequired[str]
    """The text that says how the exchange broke, if it did."""
