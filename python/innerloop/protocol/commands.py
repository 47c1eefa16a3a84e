"""What people type, as commands, answers and texts. Made of the core's types, whose words these
are: see CONTRIBUTING.md#generated-files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class CommandWordText(TypedDict):
    """A text for the model: as it was typed, or made of a template."""

    type: Literal["text"]
    text: str
    """The text."""


class CommandWordSecret(TypedDict):
    """The credential that is pending. It holds no text, so that a log of words holds no secret;
    the caller has the text and must not log it either."""

    type: Literal["secret"]


class CommandWordUnknown(TypedDict):
    """A command that is not known, or a known one with wrong arguments. Its answer goes to the
    person and never to the model."""

    type: Literal["unknown"]
    name: str
    """The command's name in small letters, without the slash."""
    near: NotRequired[str]
    """The known name that is most like it, if one is."""
    usage: NotRequired[str]
    """How the command is used, such as ``/undo [N] | /undo files``, if it is known."""


class CommandWordUndo(TypedDict):
    """Undo that many steps."""

    type: Literal["undo"]
    steps: int
    """The number of steps, at least one."""


class CommandWordUndoFiles(TypedDict):
    """Undo the changes of undone steps to files."""

    type: Literal["undo_files"]


class CommandWordRedo(TypedDict):
    """Redo that many steps."""

    type: Literal["redo"]
    steps: int
    """The number of steps, at least one."""


class CommandWordClear(TypedDict):
    """Have the agent forget what was said."""

    type: Literal["clear"]


class CommandWordCompact(TypedDict):
    """Sum the conversation up."""

    type: Literal["compact"]
    instructions: NotRequired[str]
    """What matters in it."""


class CommandWordInterrupt(TypedDict):
    """Stop what goes on."""

    type: Literal["interrupt"]


class CommandWordHeartbeat(TypedDict):
    """Look at once whether there is something to do."""

    type: Literal["heartbeat"]


class CommandWordSummarize(TypedDict):
    """Summarize the thread for the person."""

    type: Literal["summarize"]


class CommandWordSuggest(TypedDict):
    """Suggest what to do next."""

    type: Literal["suggest"]


class CommandWordNewThread(TypedDict):
    """Begin another thread."""

    type: Literal["new_thread"]


class CommandWordThread(TypedDict):
    """Go to a thread."""

    type: Literal["thread"]
    id: str
    """Its UUID, or four or more characters that it begins with, in small letters."""


class CommandWordListThreads(TypedDict):
    """List the threads."""

    type: Literal["list_threads"]


class CommandWordResumeThread(TypedDict):
    """Go on with a stored thread."""

    type: Literal["resume_thread"]
    id: str
    """Its UUID, or four or more characters that it begins with, in small letters."""


class CommandWordCreateJob(TypedDict):
    """Begin a job."""

    type: Literal["create_job"]
    text: str
    """What is to be done."""


class CommandWordJobStatus(TypedDict):
    """Tell how a job stands, or how all does."""

    type: Literal["job_status"]
    id: NotRequired[str]
    """The job; none where the whole is meant."""


class CommandWordListJobs(TypedDict):
    """List the jobs."""

    type: Literal["list_jobs"]
    filter: NotRequired[str]
    """The words that they are chosen by."""


class CommandWordCancelJob(TypedDict):
    """Cancel a job."""

    type: Literal["cancel_job"]
    id: str
    """The job."""


class CommandWordHelpJob(TypedDict):
    """Help a job that is stuck."""

    type: Literal["help_job"]
    id: str
    """The job."""


class CommandWordSystem(TypedDict):
    """A question to the program itself. It is answered in any state, whatever is pending."""

    type: Literal["system"]
    name: str
    """``help``, ``version``, ``tools``, ``skills``, ``ping``, ``debug`` or ``model``."""
    args: str
    """The text behind it; empty if there is none."""


class CommandWordOwn(TypedDict):
    """A command of the host's own."""

    type: Literal["own"]
    name: str
    """The command's name, as the host has given it."""
    args: str
    """The text behind it; empty if there is none."""


class CommandWordApprove(TypedDict):
    """Allow the call that waits for it. Without one the person is told so."""

    type: Literal["approve"]
    always: bool
    """True if calls like it are allowed from now on."""


class CommandWordDeny(TypedDict):
    """Deny the call that waits for an approval. Without one the person is told so."""

    type: Literal["deny"]


class CommandWordQuit(TypedDict):
    """Leave."""

    type: Literal["quit"]


CommandWord = (
    CommandWordText
    | CommandWordSecret
    | CommandWordUnknown
    | CommandWordUndo
    | CommandWordUndoFiles
    | CommandWordRedo
    | CommandWordClear
    | CommandWordCompact
    | CommandWordInterrupt
    | CommandWordHeartbeat
    | CommandWordSummarize
    | CommandWordSuggest
    | CommandWordNewThread
    | CommandWordThread
    | CommandWordListThreads
    | CommandWordResumeThread
    | CommandWordCreateJob
    | CommandWordJobStatus
    | CommandWordListJobs
    | CommandWordCancelJob
    | CommandWordHelpJob
    | CommandWordSystem
    | CommandWordOwn
    | CommandWordApprove
    | CommandWordDeny
    | CommandWordQuit
)
"""The word that a text is read as."""


class CustomCommand(TypedDict):
    """A command that a host or a user adds."""

    name: str
    """The name without the slash."""
    template: NotRequired[str | None]
    """The text that it becomes, with ``$ARGUMENTS``, ``$1`` to ``$9``, and ``$$`` for a dollar
    sign. The table's own words go before a command with a template. Without one it is the
    host's own word, ``own``, and goes before the table."""


class PendingAsks(TypedDict, total=False):
    """What waits for an answer of the person."""

    approval: bool
    """True if a call waits for an approval: bare words such as ``yes`` then answer it."""
    question: bool
    """True if the model waits for the answer to a question. Bare words may be meant for that, so
    that they approve nothing: ``/yes`` does."""
    credential: bool
    """True if a credential is wanted: all but commands is taken for it."""
    choices: list[str]
    """The answers that a question names. A text that is one of them, in any case, is a text as
    the question spells it."""
