"""The project's instruction files: those at the top of the workspace, and those below it that git
tracks, with their imports. A link counts as the file that it leads to, if that is in the workspace;
of two names for one file the first counts. The paths come from the project, which is not trusted:
nothing outside of the workspace is read. Skills are looked for in their folders, tracked or not."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from .core import Core
from .protocol import EnvironmentFacts, ProfileKind

_MOST_BYTES = (32 << 10) + 1
"""The most bytes read of one file: one more than the prompt takes, which shows that it is cut."""
_MOST_INDEX_BYTES = 64 << 20
# The core says which of the files below count, and how deep they may be.
_SKILL_FOLDERS = (".agents/skills", ".claude/skills")
_MOST_FOLDERS = 2000
_MOST_DEPTH = 6
_MOST_PATH_BYTES = 4096
_EXTENDED = 0x4000


def documents(
    core: Core, profile: ProfileKind, workspace: str | os.PathLike[str]
) -> EnvironmentFacts:
    """Returns the facts ``project_docs``, ``nested_docs`` and ``skills`` for a model family."""
    root = Path(workspace).resolve()
    names = core.doc_names(profile)
    known: dict[Path, str] = {}
    for path in [*names, *_tracked(root, names), *_skills(root)]:
        if (real := _real(root, path)) is not None:
            known.setdefault(real, path)
    return core.docs(profile, list(known.values()), lambda path: _text(root, path))


def _skills(root: Path) -> Iterator[str]:
    """Yields the files of skills, relative to the root."""
    left = _MOST_FOLDERS
    for top in _SKILL_FOLDERS:
        for folder, below, files in os.walk(root / top):
            left -= 1
            place = Path(folder).relative_to(root)
            if len(place.parts) - 2 >= _MOST_DEPTH:
                below.clear()
            below.sort()
            if "SKILL.md" in files:
                yield place.as_posix() + "/SKILL.md"
            if left <= 0:
                return


def _real(root: Path, path: str) -> Path | None:
    """Returns the real path of a file in the workspace; ``None`` for one outside, or git's own."""
    try:
        real = (root / path).resolve()
        # Raises for a path outside, also for one that leads there by a link.
        inside = real.relative_to(root).parts
        is_file = real.is_file()
    except (OSError, ValueError, RuntimeError):
        return None
    # In lower case, since file systems that ignore case open `.GIT` as `.git`.
    is_git = any(name.lower() == ".git" for name in inside)
    return real if is_file and not is_git else None


def _text(root: Path, path: str) -> str | None:
    real = _real(root, path)
    data = None if real is None else _start(real, _MOST_BYTES)
    return None if data is None else data.decode("utf-8", "replace")


def _start(path: Path, most: int) -> bytes | None:
    """Returns the first bytes of a plain file, and ``None`` for anything else."""
    # Without blocking: a pipe that nobody writes to would be waited for. Without following a link,
    # which may have been put there since the path was resolved.
    names = ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK")
    flags = sum(getattr(os, name, 0) for name in names)
    try:
        opened = os.open(path, os.O_RDONLY | flags)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return None
        with open(opened, "rb", closefd=False) as file:
            return file.read(most)
    except OSError:
        return None
    finally:
        os.close(opened)


def _tracked(root: Path, names: Sequence[str]) -> Iterator[str]:
    """Yields the files of these names that git tracks in folders below the root, relative to it;
    none without a repository."""
    # From git's index, without walking the workspace, which may hold many untracked files, such as
    # those of dependencies.
    ends = tuple(f"/{name}".encode() for name in names)
    for above in (root, *root.parents):
        git = above / ".git"
        if not os.path.lexists(git):
            continue
        if (link := _start(git, 4096)) is not None:
            # In a linked work tree or a submodule `.git` is a file that names the real folder.
            git = above / os.fsdecode(link.removeprefix(b"gitdir:").strip())
        index = _start(git / "index", _MOST_INDEX_BYTES + 1) or b""
        if len(index) <= _MOST_INDEX_BYTES:
            below = b"".join(os.fsencode(name) + b"/" for name in root.relative_to(above).parts)
            for path in _entries(index):
                if path.endswith(ends) and path.startswith(below):
                    yield path[len(below) :].decode("utf-8", "replace")
        return


def _entries(index: bytes) -> Iterator[bytes]:
    """Yields the paths in git's index, as far as it can be read: gitformat-index(5)."""
    if len(index) < 12 or index[:4] != b"DIRC":
        return
    version, count = struct.unpack_from(">II", index, 4)
    at, path = 12, b""
    for _ in range(count if version in (2, 3, 4) else 0):
        if at + 64 > len(index):
            return
        (flags,) = struct.unpack_from(">H", index, at + 60)
        begin = at + (64 if flags & _EXTENDED else 62)
        kept = 0
        if version == 4:
            dropped, begin = _number(index, begin)
            kept = max(0, len(path) - dropped)
        end = index.find(b"\0", begin)
        if end < 0 or kept + end - begin > _MOST_PATH_BYTES:
            return
        path = path[:kept] + index[begin:end]
        yield path
        # Before version 4, entries are padded to a multiple of eight bytes.
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8


def _number(index: bytes, at: int) -> tuple[int, int]:
    """Returns a number in the encoding of pack files, seven bits to a byte, and where it ends."""
    # Each further byte adds one, so that no number has two encodings: hence the -1.
    number = -1
    for byte in index[at : at + 9]:
        number = (number + 1) << 7 | byte & 0x7F
        at += 1
        if byte < 0x80:
            break
    return number, at
