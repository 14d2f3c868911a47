"""Commits of a work tree as ``git add -A && git commit`` makes them, without a process.

Tests commit thousands of times, and both processes together cost four times what this does. Only what is plain is
committed here: where anything in a repository might have git do something else, git is asked.
"""

import hashlib
import os
import re
import stat
import struct
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

SPECIAL_FILES = frozenset({b".git", b".gitattributes", b".gitignore", b".gitmodules"})
UNUSUAL = ("packed-refs", "MERGE_HEAD", "info/exclude", "info/attributes", "info/grafts", "shallow", "index.lock")
PLAIN_CONFIG = re.compile(
    r"\[core\]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
    r"(?:\[(?:remote|branch) .*\n(?:\t.*\n)*)*"
)
FOLDER, FILE, PROGRAM, LINK = 0o40000, 0o100644, 0o100755, 0o120000


class UnusualFileError(Exception):
    """A file of which git knows better what to do."""


class Entry(NamedTuple):
    """A file of the work tree: its path, mode, object and status."""

    path: bytes
    mode: int
    id: bytes
    status: os.stat_result


def committed(work: Path, environment: Mapping[str, str], message: str) -> str:
    """Commit a work tree to its current branch, by the people and at the times that git would take from an environment.

    Return the commit, "" where git is to be asked.
    """
    folder = work / ".git"
    ref = _branch(folder)
    if not ref:
        return ""
    writer = _Writer(folder / "objects")
    try:
        tree = writer.tree(os.fsencode(work))
    except UnusualFileError:
        return ""
    path = folder / ref
    parent = path.read_text() if path.exists() else ""
    header = f"tree {tree.hex()}\n" + (f"parent {parent}" if parent else "")
    author, committer = _signature("AUTHOR", environment), _signature("COMMITTER", environment)
    text = f"{header}author {author}\ncommitter {committer}\n\n{message.strip()}\n"
    commit = writer.stored("commit", text.encode()).hex()
    (folder / "index").write_bytes(_index(writer.entries))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{commit}\n")
    return commit


def _branch(folder: Path) -> str:
    """Return the current branch of a repository in which nothing is unusual."""
    if not folder.is_dir() or any((folder / name).exists() for name in UNUSUAL):
        return ""
    if (folder / "hooks").exists() and any((folder / "hooks").iterdir()):
        return ""
    if not PLAIN_CONFIG.fullmatch((folder / "config").read_text()):
        return ""
    head = (folder / "HEAD").read_text().strip()
    return head.removeprefix("ref: ") if head.startswith("ref: ") else ""


def _signature(role: str, environment: Mapping[str, str]) -> str:
    name, email = environment[f"GIT_{role}_NAME"], environment[f"GIT_{role}_EMAIL"]
    moment = environment.get(f"GIT_{role}_DATE", f"@{int(time.time())} +0000")
    return f"{name} <{email}> {moment.removeprefix('@')}"


class _Writer:
    """The objects of one commit, and the files that it has."""

    def __init__(self, objects: Path) -> None:
        self.entries: list[Entry] = []
        self._objects = objects

    def stored(self, kind: str, content: bytes) -> bytes:
        """Store an object, unless it is there, and return its id."""
        whole = b"%s %d\0%s" % (kind.encode(), len(content), content)
        digest = hashlib.sha1(whole, usedforsecurity=False)
        name = digest.hexdigest()
        path = self._objects / name[:2] / name[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(zlib.compress(whole, 1))
            path.chmod(0o444)
        return digest.digest()

    def tree(self, folder: bytes, prefix: bytes = b"") -> bytes:
        """Store a folder and all below it; return its id, "" for one without files."""
        lines: list[tuple[bytes, bytes]] = []
        with os.scandir(folder) as listing:
            found = [each for each in listing if prefix or each.name != b".git"]
        for each in found:
            if each.name in SPECIAL_FILES:
                raise UnusualFileError
            status = each.stat(follow_symlinks=False)
            if not stat.S_ISDIR(status.st_mode):
                mode, content = _content(each.path, status)
                id_, order = self.stored("blob", content), each.name
                self.entries.append(Entry(prefix + each.name, mode, id_, status))
            else:
                mode, id_, order = FOLDER, self.tree(each.path, prefix + each.name + b"/"), each.name + b"/"
            if id_:
                lines.append((order, b"%o %s\0%s" % (mode, each.name, id_)))
        return self.stored("tree", b"".join(line for _, line in sorted(lines))) if lines or not prefix else b""


def _content(path: bytes, status: os.stat_result) -> tuple[int, bytes]:
    if stat.S_ISLNK(status.st_mode):
        return LINK, os.fsencode(Path(os.fsdecode(path)).readlink())
    if not stat.S_ISREG(status.st_mode):
        raise UnusualFileError
    return (PROGRAM if status.st_mode & stat.S_IXUSR else FILE), Path(os.fsdecode(path)).read_bytes()


def _index(entries: list[Entry]) -> bytes:
    """Return the index of these files, version 2."""
    parts = [struct.pack(">4sII", b"DIRC", 2, len(entries))]
    for entry in sorted(entries):
        seen = entry.status
        times = (*divmod(seen.st_ctime_ns, 10**9), *divmod(seen.st_mtime_ns, 10**9))
        numbers = (seen.st_dev, seen.st_ino, entry.mode, seen.st_uid, seen.st_gid, seen.st_size)
        fixed = struct.pack(">10I", *(number & 0xFFFFFFFF for number in (*times, *numbers)))
        line = fixed + entry.id + struct.pack(">H", min(len(entry.path), 0xFFF)) + entry.path
        parts.append(line + b"\0" * (8 - len(line) % 8))
    content = b"".join(parts)
    return content + hashlib.sha1(content, usedforsecurity=False).digest()
