"""The files of inputs that are undone, taken back. The session knows what was in them, and says it
once it has heard what is in them now; they are written as the model's tools write."""

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
    """What became of the files that undone inputs had changed."""

    restored: list[str] = field(default_factory=list)
    """Paths of those that are as they were before."""
    kept: list[KeptFile] = field(default_factory=list)
    """Those that stay as they are, and why."""


async def undo_files(session: Session, workspace: Workspace | None) -> UndoneFiles:
    """Takes the files back."""
    done = UndoneFiles()
    if workspace is None:
        return done  # Nothing has changed files that is known here.
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
    """Takes one file back; why not, if it stays."""
    path, undo = file["path"], file["undo"]
    if undo == "remove":
        if not path.isprintable():
            return "its name cannot stand in a patch"
        patch = f"*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n"
        return workspace.perform({"action": "patch", "patch": patch})
    if "keep" in undo:
        return undo["keep"]
    return workspace.perform({"action": "write", "path": path, "content": undo["write"]})
