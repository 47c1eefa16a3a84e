"""What built-in tools do. Made of the core's types, whose words these are: see
CONTRIBUTING.md#generated-files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class ActionRead(TypedDict):
    """Reads a text file's lines, or an image whole."""

    action: Literal["read"]
    path: str
    """The file."""
    offset: NotRequired[int]
    """The first line to read, counted from 1."""
    limit: NotRequired[int]
    """How many lines to read at most; all if absent."""
    numbering: LineNumbering
    """How lines are numbered in the outcome's text."""
    line_chars: NotRequired[int]
    """How many characters of a line are shown at most; all if absent."""
    notice: NotRequired[NoticePosition]
    """Where it is said that the file goes on."""


class ActionViewImage(TypedDict):
    """Reads an image, and nothing else."""

    action: Literal["view_image"]
    path: str
    """The file."""


class ActionReadMany(TypedDict):
    """Reads all text files of some patterns, one after the other."""

    action: Literal["read_many"]
    include: list[str]
    """Files, folders and patterns of paths, for example ``src/**/*.ts``."""
    exclude: NotRequired[list[str]]
    """Patterns of paths that are left out."""
    flat: NotRequired[bool]
    """Whether of a folder only the files directly in it are read."""
    hidden: NotRequired[HiddenFiles]
    """Which files a search passes over."""


class ActionWrite(TypedDict):
    """Writes a file, with the folders above it."""

    action: Literal["write"]
    path: str
    """The file."""
    content: str
    """Its whole new content."""


class ActionEdit(TypedDict):
    """Replaces text in a file."""

    action: Literal["edit"]
    path: str
    """The file."""
    old: str
    """The text to find; it must occur once unless ``all`` is set."""
    new: str
    """What to put in its place."""
    all: bool
    """Whether to replace each occurrence."""


class ActionPatch(TypedDict):
    """Applies a patch to any number of files: all of it or nothing."""

    action: Literal["patch"]
    patch: str
    """The patch's text, which ``parse`` reads."""


class ActionList(TypedDict):
    """Lists a folder, folders first, sorted by name."""

    action: Literal["list"]
    path: NotRequired[str]
    """The folder; the agent's own if absent."""
    depth: int
    """How many levels to go down, from 1."""
    ignore: NotRequired[list[str]]
    """Patterns of entries that are left out."""
    hidden: NotRequired[HiddenFiles]
    """Which entries are left out besides."""
    style: NotRequired[ListStyle]
    """How folders are told from files."""


class ActionGlob(TypedDict):
    """Finds files by the pattern of their path, newest first."""

    action: Literal["glob"]
    pattern: str
    """For example ``**/*.ts``."""
    path: NotRequired[str]
    """The folder to search; the agent's own if absent."""
    ignore_case: NotRequired[bool]
    """Whether case is ignored."""
    max_results: NotRequired[int]
    """How many files are named at most; 1,000 if absent."""
    hidden: NotRequired[HiddenFiles]
    """Which files the search passes over."""


class ActionGrep(TypedDict):
    """Searches files by a regular expression."""

    action: Literal["grep"]
    pattern: str
    """The regular expression."""
    path: NotRequired[str]
    """The file or folder to search; the agent's own folder if absent."""
    glob: NotRequired[str]
    """Only files whose path or name matches this pattern."""
    file_type: NotRequired[str]
    """Only files of this type, for example ``rust``."""
    unless: NotRequired[str]
    """Lines that match this regular expression, too, are left out."""
    mode: GrepMode
    """What to report."""
    layout: NotRequired[GrepLayout]
    """How it is reported."""
    before: NotRequired[int]
    """How many lines before a match are shown."""
    after: NotRequired[int]
    """How many lines behind a match are shown."""
    offset: NotRequired[int]
    """How many of the first results are passed over."""
    max_results: NotRequired[int]
    """How many results at most; 100 if absent."""
    max_per_file: NotRequired[int]
    """How many results of one file at most."""
    hidden: NotRequired[HiddenFiles]
    """Which files the search passes over."""
    ignore_case: bool
    """Whether case is ignored."""
    literal: NotRequired[bool]
    """Whether the pattern is a text that stands for itself."""
    multiline: NotRequired[bool]
    """Whether a match may span lines; ``.`` then matches line ends, too."""
    only_matching: NotRequired[bool]
    """Whether only what matches is shown of a line."""
    unnumbered: NotRequired[bool]
    """Whether the numbers of lines are left out."""


class ActionRunProgram(TypedDict):
    """Runs a WASI program of the host's registry over the workspace."""

    action: Literal["run_program"]
    program: str
    """The program's name in the registry."""
    args: list[str]
    """Its arguments, without the program's own name."""
    stdin: NotRequired[str]
    """What it reads from standard input."""


class ActionShell(TypedDict):
    """Carries out a command line in the agent's shell, which keeps variables, functions and the
    folder that it stands in from one to the next."""

    action: Literal["shell"]
    command: str
    """The command line."""
    folder: NotRequired[str]
    """The folder in which this one is carried out, from the agent's own on; else the one that
    the shell stands in."""


class ActionFetch(TypedDict):
    """Reads pages of the web, where the host offers that."""

    action: Literal["fetch"]
    urls: list[str]
    """Their addresses, in the order in which they are named."""
    prompt: NotRequired[str]
    """What is wanted of them, in words."""


Action = (
    ActionRead
    | ActionViewImage
    | ActionReadMany
    | ActionWrite
    | ActionEdit
    | ActionPatch
    | ActionList
    | ActionGlob
    | ActionGrep
    | ActionRunProgram
    | ActionShell
    | ActionFetch
)
"""What a built-in tool does."""


LineNumbering = Literal["none", "pipe", "tab"]
"""How the lines of a file are numbered.

- ``none``: Not at all.
- ``pipe``: ``NNN | content``.
- ``tab``: The number in six columns, a tab, the content, as ``cat -n`` does.
"""


NoticePosition = Literal["below", "above"]
"""Where it is said that a file goes on.

- ``below``: Below the lines.
- ``above``: Above the lines.
"""


HiddenFiles = Literal["ignored", "nothing"]
"""What searches and lists pass over.

- ``ignored``: What ``.gitignore`` files name.
- ``nothing``: Nothing.
"""


ListStyle = Literal["slash", "tag"]
"""How a list tells folders from files.

- ``slash``: ``name/``.
- ``tag``: ``[DIR] name``.
"""


GrepMode = Literal["content", "files_with_matches", "count"]
"""What a search reports.

- ``content``: ``path:line:text`` for each matching line.
- ``files_with_matches``: The paths of files that match.
- ``count``: ``path:count`` for each file that matches.
"""


GrepLayout = Literal["lines", "by_file"]
"""How the lines that a search finds are shown.

- ``lines``: ``path:number:text``, lines of context ``path-number-text``.
- ``by_file``: ``File: path``, then ``Lnumber: text``, lines of context ``Lnumber- text``,
  then ``---``.
"""


class ToolRun(TypedDict):
    """One run of a tool: what ``run_tool`` asks of the host."""

    call_id: str
    """The call's id, as the model gave it."""
    name: str
    """The tool's name, as the model is shown it."""
    job: Job
    """What to run."""
    folder: NotRequired[str]
    """The folder of the workspace that the calling agent works in, from the root on, which is
    empty: the paths of a built-in action begin there, and a program runs there."""
    known: NotRequired[list[str | None]]
    """Where the guard is on, what the model knows of the files that a built-in action names, in
    its order: their digests when it last read or changed them, an empty text for any content,
    ``null`` for what it has not seen. One that is another file by now is left alone."""
    timeout_ms: int
    """After how long the host stops the run and answers with what there is, ``timed_out`` set."""


class Job(TypedDict, total=False):
    """What to run. Exactly one of these keys is there."""

    builtin: Action
    """A built-in tool's action, already translated from the model's vocabulary."""
    custom: Any
    """A tool that the host registered; the arguments have been checked against its schema."""
