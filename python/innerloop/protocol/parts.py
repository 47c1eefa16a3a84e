"""What a session's driver works with, and what it knows. Made of the core's types, whose words
these are: see CONTRIBUTING.md#generated-files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .config import ConfigPreset, HookPoint, ProjectDoc, SkillFacts
from .history import WireKind
from .model import EndpointCompat, ProfileKind, TextCalls

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class Parts(TypedDict, total=False):
    """The parts that a session's driver works with, see ``DriverOptions``."""

    endpoints: list[Endpoint]
    approve: bool
    """True if somebody says which calls may run."""
    answer: bool
    """True if somebody answers the model's questions."""
    hooks: list[HookPoint]
    entries: bool
    """True if the log's lines are wanted."""
    record: bool
    """True if the recording's lines are wanted."""
    undo: bool
    """True if the changes of files are kept, for ``undone``."""
    replay: Recording | None


class Endpoint(TypedDict):
    """An endpoint."""

    provider: str
    """The provider that serves it, which determines how a key is sent."""
    name: NotRequired[str | None]
    """Its name in configurations, where it is not the provider's."""
    base_url: NotRequired[str | None]
    key: NotRequired[str]
    keyless: NotRequired[bool]
    """True if the host adds the key to the requests by itself."""
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
    """The URL at which it is reached if no other is given; absent if every user has a URL of
    their own. The protocol's paths go below it."""
    base_url_example: str | None
    """An example of such a URL of one's own."""
    base_url_variable: str
    """The environment variable that may hold another base URL."""
    auth: AuthHeader
    """The header that carries a key."""
    key_variables: list[str]
    """The environment variables that may hold the key; the first that is set counts."""
    key_optional: bool
    """True if it works without a key, as servers of one's own do."""
    default_model: str | None
    """The model that is used if none is named."""
    compat: EndpointCompat
    """The ways in which it differs from the endpoint of the protocol's author."""
    text_calls: TextCalls | None
    """The cases in which calls are also looked for in the models' text; those of the family if
    absent."""
    context_window_variable: str | None
    """The environment variable that may hold the number of tokens of a model's window, where the
    user decides that."""
    preset: ConfigPreset | None
    """The preset that a session with it starts from if none is named; ``modern`` if absent."""
    config: dict[str, Any]
    """The further settings that a session with it starts from, as a merge patch (RFC 7396) of
    the configuration."""
    page_headers: list[list[str]]
    """Headers that it wants from a web page, whose visitors can see the key."""


class AuthHeader(TypedDict):
    """The header that carries a key."""

    header: str
    """The header's name."""
    prefix: str
    """The text in front of the key."""


class DocsAnswer(TypedDict):
    """The instruction files and skills that are found, as far as texts are known."""

    project_docs: list[ProjectDoc]
    """Those of the workspace's topmost folder."""
    nested_docs: list[ProjectDoc]
    """Those of folders below."""
    skills: list[SkillFacts]
    """The project's skills."""
    warnings: list[str]
    """The reasons why other files of skills are not used."""
    missing: list[str]
    """The files whose texts are to be known first."""


class UndoneAnswer(TypedDict):
    """The files whose changes are undone, as far as texts are known."""

    files: list[UndoneFile]
    """The files in the order in which they were first changed; none while texts are missing."""
    missing: list[str]
    """The files whose texts are to be known first."""


class UndoneFile(TypedDict):
    """A file whose changes are undone, and the action that does it."""

    path: str
    """The file's path from the workspace's root on."""
    undo: FileUndo
    """The action that undoes its changes."""


class FileUndoObject(TypedDict, total=False):
    """Exactly one of these keys is there."""

    write: str
    """Write this text, which the file had before."""
    keep: str
    """Leave the file as it is, for that reason."""


FileUndo = Literal["remove"] | FileUndoObject
"""The action that undoes the changes to a file.

- ``remove``: Remove the file, which was not there before.
"""
