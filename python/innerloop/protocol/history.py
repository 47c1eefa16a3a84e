"""What was said. Made of the core's types, whose words these are: see
CONTRIBUTING.md#generated-files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .data import Part, Usage

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class Turn(TypedDict):
    """One entry of the history."""

    at: int
    """The time at which it was appended."""
    kind: TurnKind
    """The kind of turn, with its content."""


class TurnKindRewound(TypedDict):
    """The model's view of the time when the log had ``at`` turns is restored."""

    at: int
    """The number of turns in the log at that time."""
    why: RewindReason
    """The kind of rewind that the host asked for."""


class TurnKind(TypedDict, total=False):
    """The kind of a turn, which says whose it is, with its content. Exactly one of these keys is
    there."""

    user: list[Part]
    """An input of the user."""
    assistant: Reply
    """A reply of the model."""
    tool_results: list[ToolResult]
    """The results of the calls of the reply before, in call order."""
    system: str
    """A message of the host to the model, in the system's name."""
    steering: list[Part]
    """A message inserted between tool rounds; the model reads it as the user's."""
    folded: HistoryFold
    """Earlier turns are shown in a shorter form from here on."""
    left_out: LeftOut
    """Parts of earlier turns are replaced by a text from here on, or are shown again."""
    rewound: TurnKindRewound
    """The model's view of the time when the log had ``at`` turns is restored."""


class Reply(TypedDict):
    """A complete reply of the model."""

    blocks: list[Block]
    """The blocks that the model sent, in order."""
    finish: FinishReason
    """The reason why it ended."""
    refusal: NotRequired[str]
    """The provider's own explanation of the model's refusal."""
    reason: NotRequired[str]
    """The provider's explanation of an end that is neither a stop nor calls: its name for the
    reason, and its message."""
    usage: NotRequired[Usage]
    """The tokens that it used; ``None`` if the provider did not report them."""
    wire: NotRequired[WireKind]
    """The protocol in which it came: items that only its provider understands are not sent back
    in another one."""
    origin: NotRequired[ModelOrigin]
    """The model and the endpoint that produced it: signatures and encrypted thinking are sent
    back to no others. If they are not known, the protocol decides."""
    response_id: NotRequired[str]
    """The provider's id of the response."""
    model: NotRequired[str]
    """The model that answered, if the provider reported it."""


class Block(TypedDict, total=False):
    """A block of a reply, in the order in which the model sent it. Exactly one of these keys is
    there."""

    text: str
    """Text for the user."""
    marked_text: MarkedText
    """Text for the user that is sent back to the provider with its mark."""
    reasoning: ReasoningBlock
    """Thinking before the answer."""
    tool_call: ToolCall
    """A call that the host must carry out."""
    opaque: Any
    """A block that only the provider understands, sent back to it unchanged."""


class MarkedText(TypedDict):
    """Text with a mark that the provider needs back."""

    text: str
    """The text, which may be empty."""
    mark: str
    """The provider's mark: a signature (Gemini), a phase (OpenAI Responses)."""


class ReasoningBlock(TypedDict):
    """Thinking, with the data that the provider needs back unchanged."""

    text: str
    """The text of the thinking, which may be empty."""
    signature: NotRequired[str]
    """The provider's signature over it."""
    item: NotRequired[Any]
    """The provider's own form of it, sent back unchanged in place of text and signature."""


class ToolCall(TypedDict):
    """A call of a tool, as the model made it."""

    id: str
    """The provider's id, echoed verbatim."""
    name: str
    """The tool's name, whether or not such a tool exists."""
    arguments: str
    """The unchanged JSON text of the arguments, which may be invalid; ``{}`` if the model sent
    nothing. For a free-form call, its raw input."""
    detail: NotRequired[CallDetail]
    """Further details of the call from the provider; most calls have none."""


class CallDetail(TypedDict, total=False):
    """The details of a call besides its name and arguments."""

    freeform: bool
    """True if the arguments are free text instead of JSON (OpenAI's custom tools)."""
    signature: str
    """The provider's signature, sent back on the same call (Gemini)."""
    item: Any
    """The provider's own form of the call, sent back unchanged in place of ours."""


FinishReason = Literal[
    "stop",
    "tool_calls",
    "length",
    "content_filter",
    "refusal",
    "pause",
    "context_window",
    "malformed_tool_call",
    "error",
    "repetition",
    "unknown",
]
"""The reason why a reply ended.

- ``stop``: The model was done.
- ``tool_calls``: The model wants tools to run.
- ``length``: The output limit was reached.
- ``content_filter``: A filter stopped the reply.
- ``refusal``: The model refused to answer.
- ``pause``: The provider paused and needs the reply sent back to go on.
- ``context_window``: The context window was full.
- ``malformed_tool_call``: The provider could not read the model's own call.
- ``error``: The provider reported a failure.
- ``repetition``: The reply repeated one passage over and over, and was ended for that.
- ``unknown``: The provider gave no reason, or an unknown one.
"""


WireKind = Literal["openai_responses", "openai_chat", "anthropic", "gemini", "ollama"]
"""A protocol in which models are called.

- ``openai_responses``: The Responses API of OpenAI.
- ``openai_chat``: OpenAI Chat Completions and its dialects.
- ``anthropic``: The Messages API of Anthropic.
- ``gemini``: The method ``generateContent`` of Gemini.
- ``ollama``: Ollama's own protocol, ``/api/chat``.
"""


class ModelOrigin(TypedDict):
    """The model and the endpoint that produced a reply."""

    endpoint: str
    """The host's name for the endpoint."""
    model: str
    """The model's name, as it was requested."""


class ToolResult(TypedDict):
    """The result of one call, as the model reads it."""

    call_id: str
    """The id of the call."""
    parts: list[Part]
    """The content that the model reads, already truncated."""
    is_error: bool
    """True if the call failed."""


class HistoryFold(TypedDict):
    """The replacement for earlier turns. Turns are named by their position in the log, which
    keeps all of them."""

    upto: int
    """The position of the first turn that is kept; 0 if no turn is left out."""
    pin: NotRequired[list[int]]
    """The positions of earlier turns that are kept nevertheless and whole, in order."""
    stub_before: int
    """The position of the turn before which each result is shown as one line."""
    text: NotRequired[str]
    """The text that replaces the turns that are left out, after the earlier inputs that are
    kept."""
    kind: FoldKind
    """The way in which the turns are shortened."""
    before: int
    """The approximate number of tokens that the model would have read without it."""
    after: int
    """The approximate number of tokens that the model reads with it."""


FoldKind = Literal["stub", "archive", "summary", "truncate"]
"""The way in which earlier turns are shortened.

- ``stub``: Results are left out; the calls stay.
- ``archive``: The host stores the turns.
- ``summary``: A model has summarised them.
- ``truncate``: They are left out.
"""


class LeftOut(TypedDict):
    """Parts that a provider refuses, or that are shown again because they were not the cause."""

    parts: list[PartPlace]
    """The parts, in order. An empty list means the signatures and the encrypted thinking of all
    earlier replies."""
    how: LeftOutKind
    """The decision about these parts."""
    why: str
    """The provider's own message."""


class PartPlace(TypedDict):
    """The position of a part in the log."""

    turn: int
    """The position of the turn."""
    result: NotRequired[int]
    """The result within the turn, if the turn consists of results."""
    part: int
    """The part within the turn or result."""


LeftOutKind = Literal["named", "tried", "put_back"]
"""The decision about parts that may have caused a refusal.

- ``named``: They are left out, because the provider named them.
- ``tried``: They are left out as a guess.
- ``put_back``: They are shown again: without them the request was refused as well.
"""


RewindReason = Literal["undo", "redo", "restore", "clear"]
"""The reason why an earlier view is restored.

- ``undo``: The newest steps are undone.
- ``redo``: Steps that were undone are redone.
- ``restore``: The host named a turn of the log.
- ``clear``: The host cleared the conversation.
"""


class SeenTurn(TypedDict, total=False):
    """The part of a turn that the model sees, in the JSON form of ``TurnKind``. Exactly one of
    these keys is there."""

    user: list[Part]
    """An input of the user."""
    assistant: Reply
    """A reply of the model."""
    tool_results: list[ToolResult]
    """The results of the calls of the reply before, in call order."""
    system: str
    """A message of the host to the model, in the system's name."""
    steering: list[Part]
    """Another message that the model reads as the user's."""
