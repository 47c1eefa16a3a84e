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
    """The model sees again what it saw when the log had ``at`` turns."""

    at: int
    """The number of turns that the log had."""
    why: RewindReason
    """The kind of rewind that the host asked for."""


class TurnKind(TypedDict, total=False):
    """The kind of a turn, with its content: who said what. Exactly one of these keys is there."""

    user: list[Part]
    """The user's input."""
    assistant: Reply
    """The model's reply."""
    tool_results: list[ToolResult]
    """The answers to the calls of the reply before, in call order."""
    system: str
    """A word of the host to the model, given as the system."""
    steering: list[Part]
    """A message put in between tool rounds; the model reads it as the user's."""
    folded: HistoryFold
    """Earlier turns are shown shorter from here on."""
    left_out: LeftOut
    """Parts of earlier turns are told in words from here on, or are seen again."""
    rewound: TurnKindRewound
    """The model sees again what it saw when the log had ``at`` turns."""


class Reply(TypedDict):
    """A whole reply of the model."""

    blocks: list[Block]
    """The blocks that the model sent, in order."""
    finish: FinishReason
    """The reason why it ended."""
    refusal: NotRequired[str]
    """The provider's own words on why the model refused."""
    reason: NotRequired[str]
    """The provider's explanation of an end that is neither a stop nor calls: its name for the
    reason, and its words."""
    usage: NotRequired[Usage]
    """The tokens that it used; ``None`` if the provider did not say."""
    wire: NotRequired[WireKind]
    """The protocol in which it came: what only its provider understands goes back to no other."""
    origin: NotRequired[ModelOrigin]
    """The model and the endpoint that were asked for it: signatures and sealed thinking go back
    to no others. If they are not known, the protocol decides."""
    response_id: NotRequired[str]
    """The provider's id of the response."""
    model: NotRequired[str]
    """The model that answered, where the provider said so."""


class Block(TypedDict, total=False):
    """A block of a reply, in the order in which the model sent it. Exactly one of these keys is
    there."""

    text: str
    """Text for the user."""
    marked_text: MarkedText
    """Text for the user that goes back with the provider's mark on it."""
    reasoning: ReasoningBlock
    """Thinking."""
    tool_call: ToolCall
    """A call that the host must carry out."""
    opaque: Any
    """A block that only the provider understands, sent back to it untouched."""


class MarkedText(TypedDict):
    """Text with what the provider needs back on it."""

    text: str
    """The text, which may be empty."""
    mark: str
    """The provider's mark: a signature (Gemini), a phase (OpenAI Responses)."""


class ReasoningBlock(TypedDict):
    """Thinking, with what the provider needs to get back unchanged."""

    text: str
    """The thinking itself, which may be empty."""
    signature: NotRequired[str]
    """The provider's signature over it."""
    item: NotRequired[Any]
    """The provider's own form of it, sent back untouched in place of text and signature."""


class ToolCall(TypedDict):
    """A call of a tool, as the model made it."""

    id: str
    """The provider's id, echoed verbatim."""
    name: str
    """The tool's name, whether or not such a tool exists."""
    arguments: str
    """The arguments' JSON text as it came; ``{}`` where the model sent nothing. It may be
    invalid. Of a free-form call, its raw input."""
    detail: NotRequired[CallDetail]
    """Further details that the provider gives of the call; most give none."""


class CallDetail(TypedDict, total=False):
    """The details that a provider gives of a call besides its name and arguments."""

    freeform: bool
    """True if the arguments are free text instead of JSON (OpenAI's custom tools)."""
    signature: str
    """The provider's signature, sent back on the same call (Gemini)."""
    item: Any
    """The provider's own form of the call, sent back untouched in place of ours."""


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
- ``refusal``: The model refused.
- ``pause``: The provider paused and wants the reply sent back to go on.
- ``context_window``: The context window was full.
- ``malformed_tool_call``: The provider could not read the model's own call.
- ``error``: The provider reported a failure.
- ``repetition``: It repeated one passage over and over, and was ended for that.
- ``unknown``: None of these.
"""


WireKind = Literal["openai_responses", "openai_chat", "anthropic", "gemini", "ollama"]
"""A model protocol.

- ``openai_responses``: OpenAI Responses.
- ``openai_chat``: OpenAI Chat Completions and its dialects.
- ``anthropic``: Anthropic Messages.
- ``gemini``: Gemini ``generateContent``.
- ``ollama``: Ollama's own ``/api/chat``.
"""


class ModelOrigin(TypedDict):
    """The model and the endpoint that a reply was asked from."""

    endpoint: str
    """The host's name for the endpoint."""
    model: str
    """The model's name, as it was asked for."""


class ToolResult(TypedDict):
    """The answer to one call, as the model reads it."""

    call_id: str
    """The call's id."""
    parts: list[Part]
    """The content that the model reads, already truncated."""
    is_error: bool
    """True if the call failed."""


class HistoryFold(TypedDict):
    """The replacement for earlier turns. Turns are named by their place in the log, which keeps
    them all."""

    upto: int
    """Turns before this one go; 0 if none does."""
    pin: NotRequired[list[int]]
    """Those of them that stay, in order."""
    stub_before: int
    """The results before this turn are shown in one line each."""
    text: NotRequired[str]
    """The text that the model reads in place of the turns that went, after those of them that
    stay."""
    kind: FoldKind
    """The way in which the turns are made shorter."""
    before: int
    """The approximate number of tokens that the model would have read without it."""
    after: int
    """The approximate number of tokens that the model reads with it."""


FoldKind = Literal["stub", "archive", "summary", "truncate"]
"""The way in which earlier turns are made shorter.

- ``stub``: Results are left out; the calls stay.
- ``archive``: The host keeps them.
- ``summary``: A model has summed them up.
- ``truncate``: They are left out.
"""


class LeftOut(TypedDict):
    """Parts that a provider refuses, or that are seen again since the fault was not theirs."""

    parts: list[PartPlace]
    """Which parts, in order. With none, what is left out is the signatures and the sealed
    thinking of all replies before."""
    how: LeftOutKind
    """The decision about these parts."""
    why: str
    """The provider's own words."""


class PartPlace(TypedDict):
    """The place of a part in the log."""

    turn: int
    """The turn."""
    result: NotRequired[int]
    """Which of its results, if it has such."""
    part: int
    """The part of it."""


LeftOutKind = Literal["named", "tried", "put_back"]
"""The decision about parts that may be at fault.

- ``named``: They are left out: the provider named them.
- ``tried``: They are left out: they may be what was meant.
- ``put_back``: They are seen again: without them the request was refused as well.
"""


RewindReason = Literal["undo", "redo", "restore", "clear"]
"""The reason why the model sees again what it saw before.

- ``undo``: The newest steps are taken back.
- ``redo``: Steps that were taken back are put back.
- ``restore``: The host named a turn of the log.
- ``clear``: All is to be forgotten.
"""
