"""What inputs, effects, events and the history hold. Made of the core's types, whose words these
are: see CONTRIBUTING.md#generated-files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class PartText(TypedDict):
    """A piece of plain text."""

    type: Literal["text"]
    text: str
    """The text of the part."""


class PartImage(TypedDict):
    """A picture with its data."""

    type: Literal["image"]
    media_type: str
    """The type, for example ``image/png``."""
    data: str
    """The file's bytes in base64."""


class PartImageUrl(TypedDict):
    """A picture that the provider fetches itself."""

    type: Literal["image_url"]
    url: str
    """The URL of the picture."""


class PartFile(TypedDict):
    """A document, such as a PDF."""

    type: Literal["file"]
    media_type: str
    """The type, for example ``application/pdf``."""
    name: str
    """The name of the file, which the model reads."""
    data: str
    """The file's bytes in base64."""


Part = PartText | PartImage | PartImageUrl | PartFile
"""A part of a message from a user or a tool."""


class Outcome(TypedDict):
    """The outcome of an action or of a custom tool's run."""

    parts: list[Part]
    """The whole output of the tool; ``streams`` describes the layout of a program's output."""
    streams: NotRequired[bool]
    """True if the first two parts are a program's standard output and standard error, each of
    which may be empty. Further parts are remarks on the run. The model reads them all as one
    text, ``joined_text``."""
    error: NotRequired[ToolErrorName]
    """The kind of error, if there was one; ``parts`` then say what went wrong and what to do."""
    denied_by: NotRequired[DeniedBy]
    """The source of the denial, if the call needed an approval and got none."""
    exit: NotRequired[int]
    """A program's exit code."""
    count: NotRequired[int]
    """The number of places that were found or changed: results of a search, replacements of an
    edit, occurrences of a text that should be unique."""
    duration_ms: NotRequired[int]
    """The duration of the run since its launch, in milliseconds, without the time in which a
    person was asked. If the host does not report it, the session measures it; it is absent
    only if nothing ran, or if the run was lost."""
    timed_out: NotRequired[bool]
    """True if the time limit ended the run; ``parts`` then hold the output up to then."""
    changes: NotRequired[list[ReportedChange]]
    """The files that changed."""
    digests: NotRequired[list[str]]
    """The digests of the files that the action names, in its order, after it was carried out; an
    empty text for a file that does not exist. Present only if ``known`` was."""
    capped_at_source: NotRequired[bool]
    """True if the tool itself dropped a part of its output."""
    secrets: NotRequired[list[str]]
    """The kinds of secrets that it holds, or held before they were masked."""
    details: NotRequired[Any]
    """The details that a host's tool passes to its user interface, in ``tool_call_end``; the
    model does not read them."""


ToolErrorName = Literal[
    "not_found",
    "permission_denied",
    "edit_conflict",
    "invalid_arguments",
    "unknown_tool",
    "wrong_file_type",
    "binary",
    "too_large",
    "exit",
    "timeout",
    "denied",
    "interrupted",
    "limit",
    "io",
    "crashed",
]
"""The kinds of failure that a model can act on.

- ``not_found``: No such file, folder or program.
- ``permission_denied``: The path is outside the workspace or protected.
- ``edit_conflict``: The text to replace was not found, or not once.
- ``invalid_arguments``: The arguments do not fit the tool's schema, or a pattern does not
  parse.
- ``unknown_tool``: No tool of that name.
- ``wrong_file_type``: A folder where a file is needed, or the other way round.
- ``binary``: The file is not text.
- ``too_large``: The file or the output is larger than the tool handles.
- ``exit``: The program ended with an exit code other than 0.
- ``timeout``: The time limit ended the run.
- ``denied``: The call was denied; ``denied_by`` says by whom.
- ``interrupted``: The user or the host interrupted the run.
- ``limit``: A limit of the sandbox (memory, output, disk) ended the run.
- ``io``: Reading or writing failed for another reason.
- ``crashed``: The tool itself broke.
"""


DeniedBy = Literal["person", "nobody", "hook", "options"]
"""The source of a denial.

- ``person``: A person, or a function that decides for them.
- ``nobody``: Nobody was there to approve it.
- ``hook``: A hook of the host.
- ``options``: The options of the input, which exclude the tool.
"""


class ReportedChange(TypedDict):
    """A file that an action changed."""

    path: str
    """The path of the file, relative to the workspace's root."""
    kind: ChangeKind
    """The kind of change."""
    before: NotRequired[str]
    """The text before; absent if the file did not exist, is not UTF-8 or is larger than 256 KiB."""
    after: NotRequired[str]
    """The text after, with the same exceptions."""


ChangeKind = Literal["created", "modified", "deleted"]
"""The kind of change to a file.

- ``created``: The file is new.
- ``modified``: The content of the file changed.
- ``deleted``: The file is gone.
"""


class Status(TypedDict):
    """The state of an agent and its usage."""

    state: AgentState
    """The state of the agent."""
    compacting: NotRequired[bool]
    """True if the agent is only shortening the conversation at the host's request: no run is
    under way."""
    turns: int
    """User and assistant turns so far."""
    tool_calls: int
    """Tool calls so far."""
    usage: Usage
    """The tokens used so far."""
    cost_nano_usd: NotRequired[int]
    """The cost of these tokens in nano-dollars (10⁻⁹ US dollars), as far as the prices are
    known."""


AgentState = Literal["idle", "processing", "awaiting_input", "closed"]
"""The state of an agent.

- ``idle``: Waiting for the user.
- ``processing``: The agent runs the loop.
- ``awaiting_input``: The model asked the user a question.
- ``closed``: The agent is over and takes no more commands.
"""


class Usage(TypedDict):
    """Tokens of one reply or of many."""

    input_total: int
    """All input tokens, cached ones included."""
    output_total: int
    """All output tokens, reasoning included."""
    cache_read: int
    """Input tokens read from the provider's cache."""
    cache_write: int
    """Input tokens written to the provider's cache."""
    reasoning: int
    """Output tokens spent on reasoning, if the provider reports them."""


class ContextUsage(TypedDict):
    """The tokens in an agent's context window, by use. The parts are estimates that add up to
    the total."""

    system: int
    """The system prompt without the project's instructions."""
    documents: int
    """The project's instructions: in the prompt, and those that calls have brought up."""
    tools: int
    """The tools, with their schemas."""
    history: int
    """The inputs and the replies: texts, thinking, calls, and summaries of folded turns."""
    results: int
    """The results of tool calls."""
    total: int
    """All of them: the provider's count of its last reply and everything before it, plus an
    estimate of later turns."""
    window: int
    """The tokens that count as the context window."""
    free: int
    """The tokens of the window that are free."""


RunEnd = Literal[
    "completed",
    "limit",
    "budget",
    "loop",
    "interrupted",
    "denied",
    "unverified",
    "incomplete",
    "refused",
    "failed",
]
"""The way in which a run ended.

- ``completed``: The model was done.
- ``limit``: A limit of rounds or turns.
- ``budget``: Its budget is used up.
- ``loop``: Its calls repeated themselves.
- ``interrupted``: The host interrupted it.
- ``denied``: A hook of the host denied it.
- ``unverified``: The hook before the end has denied it more often than
  ``hooks.max_denials`` allows.
- ``incomplete``: The last reply was cut; the partial text is the run's text.
- ``refused``: The model or a filter of its provider refused.
- ``failed``: The model or its endpoint failed for good.
"""


ErrorKind = Literal[
    "authentication",
    "quota",
    "rate_limit",
    "overloaded",
    "context_overflow",
    "invalid_request",
    "content_filter",
    "refusal",
    "output_limit",
    "reply",
    "server",
    "network",
    "host",
    "protocol",
    "limit",
    "answer",
    "internal",
]
"""The kinds of failure that end a run, as ``incomplete``, ``refused`` or ``failed``.

- ``authentication``: The endpoint refused the key.
- ``quota``: The account's credit, quota or plan is used up.
- ``rate_limit``: The endpoint limits the rate, and the retries are used up.
- ``overloaded``: The endpoint is overloaded, and the retries are used up.
- ``context_overflow``: The conversation no longer fits the model.
- ``invalid_request``: The endpoint refused the request.
- ``content_filter``: A filter of the provider refused the request or the reply.
- ``refusal``: The model refused to answer.
- ``output_limit``: The output limit cut the reply.
- ``reply``: The model's replies are empty or broken, and a retry did not help.
- ``server``: The endpoint failed, and the retries are used up.
- ``network``: The connection failed, and the retries are used up.
- ``host``: The host did not send the request.
- ``protocol``: The provider broke its protocol, and the retries are used up.
- ``limit``: A limit is reached, and ``limits.action`` makes that a failure.
- ``answer``: The model did not give the final answer in the required form.
- ``internal``: A bug in Innerloop itself.
"""
