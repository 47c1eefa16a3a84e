"""Things to know. Made of the core's types, whose words these are: see
CONTRIBUTING.md#generated-files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .config import Limits
from .data import AgentState, ErrorKind, Outcome, Part, RunEnd, Usage
from .history import FoldKind, ModelOrigin, RewindReason
from .model import ProfileKind, VocabularyKind

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class EventStamp(TypedDict):
    """What every event has."""

    seq: int
    """Counted from 1 over the whole session, without gaps."""
    at: int
    """The session time of the event, in milliseconds since the session was opened."""
    wall: int
    """The time of the event in milliseconds since 1970, derived from the host's wall clock when
    the session was opened or restored."""
    session: str
    """The id of its session."""
    effect: NotRequired[int]
    """The effect (a request, a tool's run, a question) whose answer led to it; absent if a
    command or the time did."""
    agent: int
    """The agent that the event belongs to; the session's own agent is 0."""


class EventSessionStart(EventStamp):
    """The session is open."""

    type: Literal["session_start"]
    model: str
    """The name of the model."""
    provider: str
    """The host's name for the endpoint that serves it."""
    profile: ProfileKind
    """The model family whose tools and prompt are used."""
    vocabulary: VocabularyKind
    """The vocabulary under which the family's tools are shown."""
    tools: list[str]
    """The names of the tools."""
    context_window: int
    """The number of tokens that the model can read and write in one call."""
    limits: Limits
    """The limits of rounds, turns and spending."""


class EventSessionEnd(EventStamp):
    """The session is closed. The last event."""

    type: Literal["session_end"]
    state: AgentState
    """The state that it was in when it was closed."""


class EventUserInput(EventStamp):
    """The user's input: a run begins, or a further input of the same run."""

    type: Literal["user_input"]
    parts: list[Part]
    """The content of the user's input."""


class EventProcessingEnd(EventStamp):
    """A run is over and the agent is idle."""

    type: Literal["processing_end"]
    end: RunEnd
    """The way in which it ended."""
    text: str
    """The last text of the model."""
    usage: Usage
    """Tokens of the run."""
    cost_nano_usd: NotRequired[int]
    """The cost of these tokens in nano-dollars (10⁻⁹ US dollars), as far as the prices are
    known."""
    replies: int
    """The number of the model's replies in the run."""
    tool_calls: int
    """The number of tool calls in the run."""
    rounds: int
    """The number of rounds of tool calls in the run."""


class EventAssistantTextStart(EventStamp):
    """The model began to write text."""

    type: Literal["assistant_text_start"]


class EventAssistantTextDelta(EventStamp):
    """More of the model's text."""

    type: Literal["assistant_text_delta"]
    text: str
    """The new piece of text."""


class EventAssistantReasoningDelta(EventStamp):
    """More of the model's thinking."""

    type: Literal["assistant_reasoning_delta"]
    text: str
    """The new piece of thinking."""


class EventAssistantTextEnd(EventStamp):
    """A reply is complete. This event comes once for each reply, with or without text."""

    type: Literal["assistant_text_end"]
    text: str
    """The whole text of the reply."""
    reasoning: NotRequired[str]
    """The whole thinking, if there was any."""
    usage: NotRequired[Usage]
    """The tokens that the reply used, if the provider reported them."""
    cost_nano_usd: NotRequired[int]
    """The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is known."""
    ttft_ms: NotRequired[int]
    """The time from the request to the first piece of the reply, in milliseconds; absent if the
    reply was not streamed, or was cut off."""
    ms: NotRequired[int]
    """The time from the request to the end of the reply, in milliseconds; absent if it was cut
    off."""


class EventTextReset(EventStamp):
    """The current reply's output so far is void: the model is called again."""

    type: Literal["text_reset"]


class EventRequestStart(EventStamp):
    """A request for the next reply is sent to the model."""

    type: Literal["request_start"]
    attempt: int
    """The number of the try, counted from 1."""
    model: str
    """The model that it goes to."""


class EventQueued(EventStamp):
    """The host holds the request back, since others are ahead of it."""

    type: Literal["queued"]
    ahead: int
    """The number of requests ahead of it."""


class EventToolCallDelta(EventStamp):
    """The model writes a tool call: the call begins, or more of its arguments arrived. Nothing
    is carried out before the reply is complete; ``text_reset`` voids it."""

    type: Literal["tool_call_delta"]
    index: int
    """The number that distinguishes the calls of a reply."""
    call_id: str
    """The model's id for the call. ``tool_call_start`` has another one if this one is empty or
    not unique."""
    name: str
    """The tool's name, as far as it has arrived."""
    text: str
    """The new piece of the arguments' JSON text; empty when the call begins."""


class EventToolCallStart(EventStamp):
    """A tool call began."""

    type: Literal["tool_call_start"]
    call_id: str
    """The id of the call."""
    name: str
    """The name of the tool."""
    arguments: str
    """The arguments' JSON text, as the model wrote it."""


class EventToolCallOutputDelta(EventStamp):
    """More output of a running tool."""

    type: Literal["tool_call_output_delta"]
    call_id: str
    """The id of the call."""
    text: str
    """The new piece of output."""


class EventToolCallEnd(EventStamp):
    """A tool call is over."""

    type: Literal["tool_call_end"]
    call_id: str
    """The id of the call."""
    name: str
    """The name of the tool."""
    outcome: Outcome
    """The full, untruncated outcome."""


class EventResultKept(EventStamp):
    """An output of which the model has read only a part is kept for ``read_result``."""

    type: Literal["result_kept"]
    id: str
    """The id under which it is kept."""
    call_id: str
    """The id of the call."""
    name: str
    """The name of the tool."""
    chars: int
    """The number of its characters."""
    text: NotRequired[str]
    """The whole text, for the driver that keeps it; the driver's hosts get an empty text."""


class EventSteeringInjected(EventStamp):
    """A steering message entered the history."""

    type: Literal["steering_injected"]
    parts: list[Part]
    """The content of the message."""


class EventTurnLimit(EventStamp):
    """A limit of rounds or turns ended the run."""

    type: Literal["turn_limit"]
    limit: Literal["max_turns", "max_tool_rounds_per_input"]
    """The limit: ``max_turns`` or ``max_tool_rounds_per_input``."""
    value: int
    """The value of the limit."""


class EventBudgetLimit(EventStamp):
    """The budget is used up, which ends the run; the model may still be asked for a summary."""

    type: Literal["budget_limit"]
    which: Literal[
        "run.cost_nano_usd",
        "run.tokens",
        "run.ms",
        "session.cost_nano_usd",
        "session.tokens",
        "session.ms",
    ]
    """The limit's path below ``limits``, for example ``run.tokens``."""
    used: int
    """The amount used."""
    limit: int
    """The value of the limit."""


class EventLoopDetection(EventStamp):
    """The newest calls follow a repeating pattern; the model has been told."""

    type: Literal["loop_detection"]
    message: str
    """The text that the model was told."""
    period: int
    """The number of calls in the pattern."""


class EventCorrected(EventStamp):
    """A reply had a fault; the model has been told, and is called again."""

    type: Literal["corrected"]
    fault: ReplyFault
    """The fault."""
    attempt: int
    """The number of times that this fault was corrected in the run, counted from 1."""
    text: str
    """The text that the model was told."""


class EventAgentStarted(EventStamp):
    """An agent was started. Its events carry its own number."""

    type: Literal["agent_started"]
    parent: int
    """The agent that started it."""
    task: str
    """The task that it was given."""
    model: str
    """The model that it uses."""
    folder: NotRequired[str]
    """The folder of the workspace that it works in, relative to the root; empty for the root."""
    name: NotRequired[str]
    """The name in ``agents`` by which it was started, if it has one."""


class EventAgentEnded(EventStamp):
    """An agent is over."""

    type: Literal["agent_ended"]
    success: bool
    """True if its last run succeeded."""
    output: str
    """Its last text."""


class EventPlan(EventStamp):
    """The model has written or changed its plan."""

    type: Literal["plan"]
    items: list[PlanItem]
    """The whole plan, in order."""


class EventFinalAnswer(EventStamp):
    """The run's final answer in the required form."""

    type: Literal["final_answer"]
    value: Any
    """The answer; it fits the schema."""


class EventRetry(EventStamp):
    """A failed model call is tried again."""

    type: Literal["retry"]
    attempt: int
    """The number of the next try, counted from 2."""
    delay_ms: int
    """The delay before it, in milliseconds."""
    message: str
    """The text that says what went wrong."""


class EventRouted(EventStamp):
    """A model was chosen for an input, in a session that has several."""

    type: Literal["routed"]
    to: ModelOrigin
    """The model."""
    task: NotRequired[str]
    """The kind of the task, if the input shows one and models are chosen by it."""


class EventRerouted(EventStamp):
    """A model has failed, and another one takes over at once."""

    type: Literal["rerouted"]
    failed: ModelOrigin
    """The model that has failed."""
    to: ModelOrigin
    """The one that takes over."""
    message: str
    """The text that says what went wrong."""


class EventRewound(EventStamp):
    """The model's view of an earlier time is restored. Files do not change."""

    type: Literal["rewound"]
    why: RewindReason
    """The kind of rewind that the host asked for."""
    to: int
    """The number of turns in the log at that time."""
    undo_left: int
    """The number of steps that can be undone from here."""
    redo_left: int
    """The number of steps that can be redone."""


class EventCompactionStarted(EventStamp):
    """Turns are about to be folded by a model or the host's hook; ``compacted`` or
    ``compaction_failed`` follows."""

    type: Literal["compaction_started"]
    kind: FoldKind
    """The way in which the turns are to be folded."""
    why: FoldReason
    """The reason why they are to be folded."""
    tokens: int
    """The approximate number of tokens of the conversation."""


class EventCompacted(EventStamp):
    """The model reads less of the conversation from now on. The history keeps all of it."""

    type: Literal["compacted"]
    kind: FoldKind
    """The way in which the turns were folded."""
    why: FoldReason
    """The reason why they were folded."""
    turns: int
    """The number of turns that are left out."""
    before: int
    """The approximate number of tokens of the conversation before."""
    after: int
    """The approximate number of tokens of the conversation from now on."""
    text: NotRequired[str]
    """The text that replaces the turns that are left out."""
    usage: NotRequired[Usage]
    """The tokens that the summary has used, if the provider reported them."""
    cost_nano_usd: NotRequired[int]
    """The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is known."""


class EventCompactionFailed(EventStamp):
    """The conversation could not be shortened and does not change."""

    type: Literal["compaction_failed"]
    kind: FoldKind
    """The way in which it was to be shortened."""
    why: FoldReason
    """The reason why it was to be shortened."""
    message: str
    """The reason why it was not shortened."""
    usage: NotRequired[Usage]
    """The tokens that a summary has used nevertheless, if the provider reported them."""
    cost_nano_usd: NotRequired[int]
    """The cost of these tokens in nano-dollars (10⁻⁹ US dollars), if the model's price is known."""


class EventPrefixRebased(EventStamp):
    """The prefix of earlier requests that the provider has cached no longer matches."""

    type: Literal["prefix_rebased"]
    reason: str
    """The reason why it no longer matches."""


class EventWarning(EventStamp):
    """Something to be aware of; the run goes on."""

    type: Literal["warning"]
    message: str
    """The text of the warning."""


class EventError(EventStamp):
    """A permanent failure."""

    type: Literal["error"]
    kind: ErrorKind
    """The kind of failure."""
    message: str
    """The text that describes the failure, and what to do."""


Event = (
    EventSessionStart
    | EventSessionEnd
    | EventUserInput
    | EventProcessingEnd
    | EventAssistantTextStart
    | EventAssistantTextDelta
    | EventAssistantReasoningDelta
    | EventAssistantTextEnd
    | EventTextReset
    | EventRequestStart
    | EventQueued
    | EventToolCallDelta
    | EventToolCallStart
    | EventToolCallOutputDelta
    | EventToolCallEnd
    | EventResultKept
    | EventSteeringInjected
    | EventTurnLimit
    | EventBudgetLimit
    | EventLoopDetection
    | EventCorrected
    | EventAgentStarted
    | EventAgentEnded
    | EventPlan
    | EventFinalAnswer
    | EventRetry
    | EventRouted
    | EventRerouted
    | EventRewound
    | EventCompactionStarted
    | EventCompacted
    | EventCompactionFailed
    | EventPrefixRebased
    | EventWarning
    | EventError
)
"""One event for the host. Told apart by ``type``."""


ReplyFault = Literal[
    "promised",
    "too_short",
    "asked_instead",
    "wrote_only",
    "claimed",
    "fake_result",
    "named_tool",
    "greeting",
    "echo",
    "patch_spiral",
]
"""The fault of a reply that is corrected.

- ``promised``: The reply announces an action, and does nothing.
- ``too_short``: The reply is short, without a complete sentence.
- ``asked_instead``: The reply asks whether to begin.
- ``wrote_only``: The reply is long, and no tool was called yet.
- ``claimed``: The reply claims a change, and no tool was called yet.
- ``fake_result``: The reply invents a tool's result.
- ``named_tool``: The reply writes a call as text.
- ``greeting``: The reply greets the user instead of answering.
- ``echo``: The reply repeats one passage over and over.
- ``patch_spiral``: The reply edits a file again on which earlier edits have failed.
"""


class PlanItem(TypedDict):
    """A step of the model's plan."""

    text: str
    """The task of the step."""
    status: PlanStatus
    """The status of the step."""


PlanStatus = Literal["pending", "in_progress", "completed", "cancelled", "blocked"]
"""The status of a step of the plan.

- ``pending``: The step has not begun.
- ``in_progress``: The step is under way.
- ``completed``: The step is done.
- ``cancelled``: The step is no longer wanted.
- ``blocked``: The step waits for something else.
"""


FoldReason = Literal["full", "overflow", "asked"]
"""The reason why turns are folded.

- ``full``: A tier is reached.
- ``overflow``: The conversation did not fit the model.
- ``asked``: The host requested it.
"""
