"""The restoring of files that undone inputs had changed. The session knows their old texts, and
decides once it knows the present ones; the files are written by the sandboxed tools, so that the
rules for paths hold here, too."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from ._threads import in_thread
from .protocol import UndoneFile
from .sandbox import Workspace
from .session import Session


@dataclass(frozen=True)
class KeptFile:
    """A file that stays as it is."""

    path: str
    why: str


@dataclass(frozen=True)
class UndoneFiles:
    """The files that undone inputs had changed."""

    restored: list[str] = field(default_factory=list)
    """The paths of files that are as they were before."""
    kept: list[KeptFile] = field(default_factory=list)
    """The files that stay as they are, with the reasons."""


async def undo_files(session: Session, workspace: Workspace | None) -> UndoneFiles:
    """Restores the files, and returns what became of each."""
    done = UndoneFiles()
    if workspace is None:
        # Without a workspace there are no built-in tools that could have changed files.
        return done
    texts: dict[str, str | None] = {}
    while missing := (answer := session.undone(texts))["missing"]:
        for path in missing:
            texts[path] = await in_thread(partial(workspace.text, path), "innerloop undo")
    for file in answer["files"]:
        why = await in_thread(partial(_undo, workspace, file), "innerloop undo")
        if why is None:
            done.restored.append(file["path"])
        else:
            done.kept.append(KeptFile(file["path"], why))
    return done


def _undo(workspace: Workspace, file: UndoneFile) -> str | None:
    """Restores one file; returns the reason if it stays."""
    path, undo = file["path"], file["undo"]
    if undo == "remove":
        # The tools remove files by a patch alone, whose lines are read as text: a line feed in a
        # name could begin another instruction.
        if not path.isprintable():
            return "its name cannot stand in a patch"
        patch = f"*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n"
        return workspace.perform({"action": "patch", "patch": patch})
    if "keep" in undo:
        return undo["keep"]
    return workspace.perform({"action": "write", "path": path, "content": undo["write"]})
