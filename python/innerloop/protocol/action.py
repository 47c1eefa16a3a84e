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
    """The path of the file."""
    offset: NotRequired[int]
    """The first line to read, counted from 1."""
    limit: NotRequired[int]
    """The maximum number of lines to read; all if absent."""
    numbering: LineNumbering
    """The way in which lines are numbered in the outcome's text."""
    line_chars: NotRequired[int]
    """The maximum number of characters shown of a line; all if absent."""
    notice: NotRequired[NoticePosition]
    """The position of the notice that the file goes on."""


class ActionViewImage(TypedDict):
    """Reads an image, and nothing else."""

    action: Literal["view_image"]
    path: str
    """The path of the image."""


class ActionReadMany(TypedDict):
    """Reads all text files that match some patterns, one after the other."""

    action: Literal["read_many"]
    include: list[str]
    """Files, folders and patterns of paths, for example ``src/**/*.ts``."""
    exclude: NotRequired[list[str]]
    """Patterns of paths that are left out."""
    flat: NotRequired[bool]
    """True if only the files directly in a folder are read, not those below."""
    hidden: NotRequired[HiddenFiles]
    """The files that the search skips."""


class ActionWrite(TypedDict):
    """Writes a file, with the folders above it."""

    action: Literal["write"]
    path: str
    """The path of the file."""
    content: str
    """Its whole new content."""
    salt: NotRequired[int]
    """The salt of the masks in the content, if it has masks: the secrets that the file has take
    their places."""


class ActionEdit(TypedDict):
    """Replaces text in a file."""

    action: Literal["edit"]
    path: str
    """The path of the file."""
    old: str
    """The text to find; it must occur once unless ``all`` is set."""
    new: str
    """The replacement text."""
    all: bool
    """True if each occurrence is replaced."""
    salt: NotRequired[int]
    """The salt of the masks in its texts, as for ``Write``."""


class ActionPatch(TypedDict):
    """Applies a patch to any number of files: all of it or nothing."""

    action: Literal["patch"]
    patch: str
    """The patch's text, which ``parse`` reads."""
    salt: NotRequired[int]
    """The salt of the masks in the patch, as for ``Write``."""


class ActionList(TypedDict):
    """Lists a folder, folders first, sorted by name."""

    action: Literal["list"]
    path: NotRequired[str]
    """The folder; the agent's own if absent."""
    depth: int
    """The number of levels to go down, from 1."""
    ignore: NotRequired[list[str]]
    """Patterns of entries that are left out."""
    hidden: NotRequired[HiddenFiles]
    """The further entries that are left out."""
    style: NotRequired[ListStyle]
    """The way in which folders are distinguished from files."""


class ActionGlob(TypedDict):
    """Finds files by the pattern of their path, newest first."""

    action: Literal["glob"]
    pattern: str
    """The pattern, for example ``**/*.ts``."""
    path: NotRequired[str]
    """The folder to search; the agent's own if absent."""
    ignore_case: NotRequired[bool]
    """True if case is ignored."""
    max_results: NotRequired[int]
    """The maximum number of files to name; 1,000 if absent."""
    hidden: NotRequired[HiddenFiles]
    """The files that the search skips."""


class ActionGrep(TypedDict):
    """Searches files by a regular expression."""

    action: Literal["grep"]
    pattern: str
    """The regular expression to search for."""
    path: NotRequired[str]
    """The file or folder to search; the agent's own folder if absent."""
    glob: NotRequired[str]
    """Only files whose path or name matches this pattern."""
    file_type: NotRequired[str]
    """Only files of this type, for example ``rust``."""
    unless: NotRequired[str]
    """A regular expression; lines that match it as well are left out."""
    mode: GrepMode
    """The kind of result to report."""
    layout: NotRequired[GrepLayout]
    """The layout of the results."""
    before: NotRequired[int]
    """The number of lines to show before a match."""
    after: NotRequired[int]
    """The number of lines to show after a match."""
    offset: NotRequired[int]
    """The number of results to skip at the start."""
    max_results: NotRequired[int]
    """The maximum number of results; 100 if absent."""
    max_per_file: NotRequired[int]
    """The maximum number of results per file."""
    hidden: NotRequired[HiddenFiles]
    """The files that the search skips."""
    ignore_case: bool
    """True if case is ignored."""
    literal: NotRequired[bool]
    """True if the pattern is plain text, not a regular expression."""
    multiline: NotRequired[bool]
    """True if a match may span lines; ``.`` then matches line ends, too."""
    only_matching: NotRequired[bool]
    """True if only the matching part of a line is shown."""
    unnumbered: NotRequired[bool]
    """True if line numbers are left out."""


class ActionRunProgram(TypedDict):
    """Runs a WASI program of the host's registry over the workspace."""

    action: Literal["run_program"]
    program: str
    """The program's name in the registry."""
    args: list[str]
    """Its arguments, without the program's own name."""
    stdin: NotRequired[str]
    """The text that it reads from standard input."""


class ActionShell(TypedDict):
    """Runs a command line in the agent's shell, which keeps variables, functions and its current
    folder from one to the next."""

    action: Literal["shell"]
    command: str
    """The command line to run."""
    folder: NotRequired[str]
    """The folder in which this command runs, relative to the agent's own; the shell's current
    folder if absent."""


class ActionFetch(TypedDict):
    """Reads web pages, if the host offers that."""

    action: Literal["fetch"]
    urls: list[str]
    """The addresses of the pages, in the order in which they are named."""
    prompt: NotRequired[str]
    """The information that is wanted from the pages, in words."""


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
"""An action of a built-in tool."""


LineNumbering = Literal["none", "pipe", "tab"]
"""The way in which the lines of a file are numbered.

- ``none``: Lines are not numbered.
- ``pipe``: The form ``NNN | content``.
- ``tab``: The number in six columns, a tab, the content, as ``cat -n`` does.
"""


NoticePosition = Literal["below", "above"]
"""The position of the notice that a file goes on.

- ``below``: The notice is below the lines.
- ``above``: The notice is above the lines.
"""


HiddenFiles = Literal["ignored", "nothing"]
"""The files that searches and listings skip.

- ``ignored``: The files that ``.gitignore`` files name.
- ``nothing``: No files are skipped.
"""


ListStyle = Literal["slash", "tag"]
"""The way in which a listing distinguishes folders from files.

- ``slash``: A slash after the name: ``name/``.
- ``tag``: A tag before the name: ``[DIR] name``.
"""


GrepMode = Literal["content", "files_with_matches", "count"]
"""The kind of result that a search reports.

- ``content``: ``path:line:text`` for each matching line.
- ``files_with_matches``: The paths of files that match.
- ``count``: ``path:count`` for each file that matches.
"""


GrepLayout = Literal["lines", "by_file"]
"""The layout of the lines that a search finds.

- ``lines``: ``path:number:text``, lines of context ``path-number-text``.
- ``by_file``: ``File: path``, then ``Lnumber: text``, lines of context ``Lnumber- text``,
  then ``---``.
"""


class ToolRun(TypedDict):
    """One run of a tool, which ``run_tool`` asks the host for."""

    call_id: str
    """The call's id, as the model gave it."""
    name: str
    """The tool's name, as the model sees it."""
    job: Job
    """The job to run."""
    folder: NotRequired[str]
    """The folder of the workspace that the calling agent works in, relative to the root (empty
    for the root): the paths of a built-in action are relative to it, and a program runs in
    it."""
    known: NotRequired[list[str | None]]
    """The model's knowledge of the files that a built-in action names, in its order, if the
    guard is on: the digest of a file when the model last read or changed it, an empty text
    for any content, ``null`` for a file that it has not seen. A file that has changed since
    is not touched."""
    timeout_ms: int
    """The time after which the host stops the run and answers with the output so far, with
    ``timed_out`` set, in milliseconds."""


class Job(TypedDict, total=False):
    """The job of a tool's run. Exactly one of these keys is there."""

    builtin: Action
    """A built-in tool's action, already translated from the model's vocabulary."""
    custom: Any
    """A tool that the host registered; the arguments have been checked against its schema."""
    kept: ResultQuery
    """A query of kept outputs, which the driver answers: its hosts never see it."""


class ResultQuery(TypedDict):
    """A query of kept outputs. Without an id it lists them."""

    id: NotRequired[str]
    """The output to read from."""
    tool: NotRequired[str]
    """The tool whose outputs are listed."""
    offset: int
    """The number of characters to skip."""
    limit: int
    """The number of characters to read; 0 for as many as fit."""
