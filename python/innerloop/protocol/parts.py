"""What a session's driver works with, and what it knows. Made of the core's types, whose words
these are: see CONTRIBUTING.md#generated-files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypedDict

from .config import HookPoint, ProjectDoc
from .history import WireKind
from .model import EndpointCompat, ProfileKind, TextCalls

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class Parts(TypedDict, total=False):
    """What a session's driver works with, see ``DriverOptions``."""

    endpoints: list[Endpoint]
    approve: bool
    """Whether somebody says which calls may run."""
    answer: bool
    """Whether somebody answers the model's questions."""
    hooks: list[HookPoint]
    entries: bool
    """Whether the log's lines are wanted."""
    record: bool
    """Whether the recording's lines are wanted."""
    replay: Recording | None


class Endpoint(TypedDict):
    """An endpoint."""

    provider: str
    """Who serves it: the provider says how a key is sent."""
    name: NotRequired[str | None]
    """Its name in configurations, where it is not the provider's."""
    base_url: NotRequired[str | None]
    key: NotRequired[str]
    keyless: NotRequired[bool]
    """Whether the host adds the key to the requests by itself."""
    headers: NotRequired[list[list[str]]]


class Recording(TypedDict):
    """A recording that answers in place of the endpoints."""

    traffic: str
    pace_ms: NotRequired[int]


class Provider(TypedDict):
    """A provider of models."""

    name: str
    """Its name in options, which is also its endpoint's."""
    title: str
    """Its name for people."""
    wire: WireKind
    """The protocol it speaks."""
    profile: ProfileKind
    """The family whose tools and prompt its models get."""
    families: dict[str, ProfileKind]
    """Other families, by what a model's name has in it."""
    base_url: str | None
    """Where it is reached if nothing else is said; nowhere if every user has a place of their
    own. The protocol's paths go below it."""
    base_url_example: str | None
    """What such a place of one's own looks like."""
    base_url_variable: str
    """The environment variable that may hold another base URL."""
    auth: AuthHeader
    """How a key is sent."""
    key_variables: list[str]
    """The environment variables that may hold the key; the first that is set counts."""
    key_optional: bool
    """Whether it works without a key, as servers of one's own do."""
    default_model: str | None
    """The model that is used if none is named."""
    compat: EndpointCompat
    """What it does otherwise than the protocol's author."""
    text_calls: TextCalls | None
    """Whether calls are also looked for in the models' text; as the family has it if absent."""
    config: dict[str, Any]
    """What a session with it starts from besides, as a merge patch (RFC 7396) of the
    configuration."""
    page_headers: list[list[str]]
    """Headers that it wants from a web page, whose visitors can see the key."""


class AuthHeader(TypedDict):
    """How a key is sent."""

    header: str
    """The header's name."""
    prefix: str
    """What stands in front of the key."""


class DocsAnswer(TypedDict):
    """What is known of them."""

    project_docs: list[ProjectDoc]
    """Those of the workspace's topmost folder."""
    nested_docs: list[ProjectDoc]
    """Those of folders below."""
    missing: list[str]
    """The files whose texts are to be known first."""
