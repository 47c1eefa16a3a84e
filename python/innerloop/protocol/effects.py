"""Things to do. Made of the core's types, whose words these are: see
CONTRIBUTING.md#generated-files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .action import ToolRun
from .config import HookPoint
from .events import Event
from .inputs import BodyBytes

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class EffectHttp(TypedDict):
    """Send a request and report the response as ``http`` inputs."""

    id: int
    """Its id."""
    request: SentRequest
    """The request."""


class EffectRunTool(TypedDict):
    """Run a tool and report it as ``tool`` inputs."""

    id: int
    """Its id."""
    agent: int
    """The agent that it belongs to."""
    run: ToolRun
    """The run to carry out."""


class EffectAsk(TypedDict):
    """Ask a person and report the ``answer``."""

    id: int
    """Its id."""
    agent: int
    """The agent that it belongs to."""
    ask: Ask
    """The question."""


class EffectRunHook(TypedDict):
    """Run a hook and report its reply as ``hook``."""

    id: int
    """Its id."""
    agent: int
    """The agent that it belongs to."""
    hook: HookRun
    """The hook to run."""


class EffectCancel(TypedDict):
    """Stop an open effect, which still owes its answer, with what there is."""

    id: int
    """The effect to stop."""


class Effect(TypedDict, total=False):
    """A thing to do, beside which there is nothing but events. Exactly one of these keys is
    there."""

    http: EffectHttp
    """Send a request and report the response as ``http`` inputs."""
    run_tool: EffectRunTool
    """Run a tool and report it as ``tool`` inputs."""
    ask: EffectAsk
    """Ask a person and report the ``answer``."""
    run_hook: EffectRunHook
    """Run a hook and report its reply as ``hook``."""
    cancel: EffectCancel
    """Stop an open effect, which still owes its answer, with what there is."""


class SentRequest(TypedDict):
    """A request to be sent as it is."""

    url: str
    """The URL that it goes to."""
    headers: list[list[str]]
    """The headers without the key, names in lower case."""
    key: NotRequired[list[str]]
    """The header that holds the key."""
    body: BodyBytes
    """The body of a POST."""


class AskApproval(TypedDict):
    """May this call run?"""

    call_id: str
    """The id of the call."""
    name: str
    """The name of the tool."""
    arguments: Any
    """The arguments of the call."""
    folder: NotRequired[str]
    """The folder of the workspace that the calling agent works in, relative to the root (empty
    for the root itself); paths in the arguments are relative to it."""
    after: NotRequired[list[str]]
    """The ids of earlier calls of the same reply that are not over yet, whose changes this call
    will see."""


class AskQuestion(TypedDict):
    """A question of the model."""

    text: str
    """The question to the user."""


class AskElicitation(TypedDict):
    """A question of a tool server."""

    message: str
    """The question to the user."""
    schema: Any
    """The schema that the answer must fit."""


class Ask(TypedDict, total=False):
    """A question to a person. Exactly one of these keys is there."""

    approval: AskApproval
    """May this call run?"""
    question: AskQuestion
    """A question of the model."""
    elicitation: AskElicitation
    """A question of a tool server."""


class HookRun(TypedDict):
    """One run of a hook."""

    point: HookPoint
    """The point in the loop at which it runs."""
    payload: Any
    """The data passed to the hook."""


class Output(TypedDict, total=False):
    """One output: an effect to carry out or an event to observe. Exactly one of these keys is
    there."""

    effect: SessionEffect
    """An effect to carry out."""
    event: Event
    """An event to observe."""


class SessionEffectHttp(TypedDict):
    """Send a request and report the response as ``HttpInput``s."""

    id: int
    """The id of the effect."""
    agent: int
    """The agent that it belongs to."""
    request: HttpRequest
    """The request to send."""
    purpose: RequestPurpose
    """The purpose of the request."""


class SessionEffectRunTool(TypedDict):
    """Run a tool and report it as ``ToolInput``s."""

    id: int
    """The id of the effect."""
    agent: int
    """The agent that it belongs to."""
    run: ToolRun
    """The run to carry out; the session keeps it until the answer has come."""


class SessionEffectAsk(TypedDict):
    """Ask a person and report the ``Answer``."""

    id: int
    """The id of the effect."""
    agent: int
    """The agent that it belongs to."""
    ask: Ask
    """The question to ask."""


class SessionEffectRunHook(TypedDict):
    """Run a hook and report its ``HookReply``."""

    id: int
    """The id of the effect."""
    agent: int
    """The agent that it belongs to."""
    hook: HookRun
    """The hook to run."""


class SessionEffectCancel(TypedDict):
    """Stop an open effect. It needs no answer of its own: the effect that it names is still
    answered once, with its output so far."""

    id: int
    """The effect to stop."""
    grace_ms: int
    """The time after which the session goes on without the answer, in milliseconds."""


class SessionEffect(TypedDict, total=False):
    """An effect: something that the host carries out. Exactly one of these keys is there."""

    http: SessionEffectHttp
    """Send a request and report the response as ``HttpInput``s."""
    run_tool: SessionEffectRunTool
    """Run a tool and report it as ``ToolInput``s."""
    ask: SessionEffectAsk
    """Ask a person and report the ``Answer``."""
    run_hook: SessionEffectRunHook
    """Run a hook and report its ``HookReply``."""
    cancel: SessionEffectCancel
    """Stop an open effect. It needs no answer of its own: the effect that it names is still
    answered once, with its output so far."""


class HttpRequest(TypedDict):
    """A request to an endpoint of the host's table, which adds origin and key."""

    endpoint: str
    """The endpoint to send it to."""
    path: str
    """The path below the endpoint's base URL, with its leading ``/``."""
    headers: list[list[str]]
    """Headers without any secret, names in lower case."""
    body: str
    """The body of a POST: JSON text."""


RequestPurpose = Literal["model", "summary", "mcp"]
"""The purpose of a request.

- ``model``: A reply of the model.
- ``summary``: A summary of the history.
- ``mcp``: A request to a tool server.
"""
