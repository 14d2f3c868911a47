"""The history of a repository: the commit that a revision names, the one a branch began with, and files that left it.

A revision whose name could mean two things is refused.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from render.errors import GitError
from render.words import most_similar_word

from .command import GitCommand
from .commits import parse_commit
from .location import GitFolder, content_of_plain_file
from .refs import has_ref_files, head_branch, is_ref_name, read_ref_fast
from .stored_objects import StoredObjects

_SHORT_HISTORY = 32
"""So many commits are gone through sooner than a process starts."""

_PLACES = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")


class RemovedFile(NamedTuple):
    """A file as it was before a commit removed it: its path, its blob, and the last commit that had it."""

    path: str
    id: bytes
    commit: str


def resolve_revision(git: GitCommand, folder: GitFolder, revision: str, *, shallow: bool) -> str:
    """Return the id of the commit a revision names; a ``GitError`` says what to do when it names none or several.

    A branch is looked up without a process. A name that is a tag and a branch at once is refused: git would pick the
    tag and warn.
    """
    if not revision or "\0" in revision or "\n" in revision:
        raise GitError(f"{revision!r} is not a revision", hint="name a branch, a tag or a commit")
    if revision == "HEAD" and has_ref_files(folder.common_dir) and (tip := read_ref_fast(folder.git_dir, "HEAD")):
        return tip
    refs = _refs_named(folder, revision) if has_ref_files(folder.common_dir) else []
    if len(refs) > 1:
        raise GitError(f"{revision!r} is ambiguous: {' and '.join(refs)}", hint=f"write it in full: {refs[-1]}")
    name = refs[0] if refs else revision
    tip = read_ref_fast(folder.git_dir, name) if refs and name.startswith(("refs/heads/", "refs/remotes/")) else None
    return tip or _commit_at_name(git, folder, name, shallow=shallow)


def _refs_named(folder: GitFolder, revision: str) -> list[str]:
    """Return the refs a short name stands for, in git's order of search."""
    if is_ref_name(revision):
        return [revision] if read_ref_fast(folder.git_dir, revision) else []
    candidates = [place.format(revision) for place in _PLACES]
    return [ref for ref in candidates if is_ref_name(ref) and read_ref_fast(folder.git_dir, ref)]


def _commit_at_name(git: GitCommand, folder: GitFolder, name: str, *, shallow: bool) -> str:
    codes = frozenset({0, 1, 128})
    answer = git.run("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}", answers=codes)
    if answer.returncode and (tracked := _name_with_remote(git, name)):
        answer = git.run("rev-parse", "--verify", "--end-of-options", f"{tracked}^{{commit}}", answers=codes)
    if not answer.returncode:
        return answer.stdout.decode().strip()
    complaint = answer.stderr.decode("utf-8", "replace")
    if "ambiguous" in complaint:
        raise GitError(f"{name!r} is ambiguous: several objects begin like this", hint="write more of the id")
    raise GitError(f"there is no commit {name!r}", hint=_hint_for_missing_revision(git, folder, name, shallow=shallow))


def branch_and_suffix(name: str) -> tuple[str, str]:
    """Return a revision as the name it begins with and the rest, such as ``~1``; a suffix ends no name of a branch."""
    end = min((place for mark in ("~", "^", "@{", ":") if (place := name.find(mark)) >= 0), default=len(name))
    return name[:end], name[end:]


def _name_with_remote(git: GitCommand, name: str) -> str:
    """Return a revision by the remote-tracking branch that it begins with; empty where it is here, or in no one remote.

    Branches of a fleet are often here as those of a remote alone.
    """
    branch, suffix = branch_and_suffix(name)
    if not is_ref_name(f"refs/heads/{branch}") or branch in {"HEAD", "@"}:
        return ""
    refs = frozenset(git.text("for-each-ref", "--format=%(refname)").split())
    if any(place.format(branch) in refs for place in _PLACES):
        return ""
    found = [f"refs/remotes/{remote}/{branch}" for remote in git.text("remote").split()]
    there = [ref for ref in found if ref in refs]
    return f"{there[0]}{suffix}" if len(there) == 1 else ""


def _hint_for_missing_revision(git: GitCommand, folder: GitFolder, name: str, *, shallow: bool) -> str:
    if name == "HEAD" or f"refs/heads/{name}" == head_branch(folder.git_dir):
        return "commit something first: the branch is still empty"
    if shallow:
        return "this clone is shallow; fetch the whole history: git fetch --unshallow"
    refs = git.text("for-each-ref", "--format=%(refname:short)").split()
    branch, suffix = branch_and_suffix(name)
    if branch not in refs and not _name_with_remote(git, name) and (near := most_similar_word(branch, refs)):
        return f"did you mean {f'{near}{suffix}'!r}?"
    remotes = git.text("remote").split()
    fetch = f"fetch it first (git fetch {remotes[0]}), or " if remotes else ""
    return f"{fetch}check the spelling: git branch --all"


def history_without_process(
    stored: StoredObjects, commit: str, until: str = "", limit: int = 0
) -> tuple[str, ...] | None:
    """Return a commit and those before it, the newest first, without a process.

    They end behind ``until``, which must be one of those before, or with the first commit of all, or once there are
    ``limit`` (0: all). None says that git has to be asked: one has several parents or is not easily read here, or there
    are more of them than a process is worth.
    """
    found: list[str] = []
    while commit != until and (not limit or len(found) < limit):
        id_ = bytes.fromhex(commit)
        content = stored.read((id_,), "commit").get(id_)
        parents = parse_commit(commit, content).parents if content is not None else ("", "")
        if len(parents) > 1 or len(found) == _SHORT_HISTORY:
            return None
        found.append(commit)
        commit = parents[0] if parents else ""
        if not commit and until:
            return None
    return tuple(found)


def first_commit_of_history(git: GitCommand, folder: GitFolder, stored: StoredObjects, commit: str) -> str:
    """Return the commit a history began with; a ``GitError`` where a shallow clone cannot know."""
    shallow = folder.common_dir / "shallow"
    if not shallow.exists() and (near := history_without_process(stored, commit)):
        return near[-1]
    first = git.text("rev-list", "--first-parent", "--max-parents=0", "--end-of-options", commit)
    # git takes the commits listed there for roots, whatever parents they name.
    if shallow.exists() and first in content_of_plain_file(shallow).decode("utf-8", "replace").split():
        raise GitError(
            f"the history of {commit[:12]} is cut off, so the commit it began with is not known",
            hint="this clone is shallow; fetch the whole history: git fetch --unshallow",
        )
    return first


def has_whole_history(git: GitCommand, folder: GitFolder, commit: str) -> bool:
    """Say whether all that led to a commit is here, though the clone may be cut off elsewhere."""
    shallow = folder.common_dir / "shallow"
    if not shallow.exists():
        return True
    cut_off = content_of_plain_file(shallow).decode("utf-8", "replace").split()
    roots = git.text("rev-list", "--max-parents=0", "--end-of-options", commit).split()
    return not set(roots) & set(cut_off)


def commits_of_file(git: GitCommand, commit: str, name: str) -> tuple[str, ...]:
    """Return the commits that led to one and changed a file of a name, in any folder; the oldest first.

    Of a merge, what it merged counts as its own change. The first of them is the one before the oldest change.
    """
    pattern = f":(top,glob)**/{name}"
    wanted = ("rev-list", "--first-parent", "--reverse", "--parents", "--end-of-options", commit, "--", pattern)
    lines = git.text("--no-literal-pathspecs", *wanted).splitlines()
    changed = [line.split() for line in lines]
    before = git.text("rev-list", "--max-count=1", "--first-parent", f"{changed[0][0]}^@") if changed else ""
    return tuple(filter(None, [before, *(ids[0] for ids in changed)]))


def files_removed_by_commits(git: GitCommand, commits: Iterable[str], folder: str) -> tuple[RemovedFile, ...]:
    """Return the files below a folder that commits and those before them removed, each as it was last."""
    wanted = ("--no-renames", "--no-abbrev", "--diff-filter=D", "--raw", "-r", "-z", "--format=%x01%P")
    output = git.run("log", "--first-parent", *wanted, "--end-of-options", *commits, "--", folder)
    found: dict[str, RemovedFile] = {}
    for file in _parse_removed_files(output.stdout.split(b"\0")):
        found.setdefault(file.path, file)
    return tuple(found[path] for path in sorted(found))


def _parse_removed_files(parts: Iterable[bytes]) -> Iterator[RemovedFile]:
    """Read records, the newest first: a commit's parent, or a change followed by its path."""
    parent, rest = "", iter(parts)
    for part in rest:
        text = part.strip(b"\n")
        if text.startswith(b"\x01"):
            parent = text[1:].decode().partition(" ")[0]
        elif text.startswith(b":"):
            path = next(rest).decode("utf-8", "surrogateescape")
            yield RemovedFile(path, bytes.fromhex(text.split()[2].decode()), parent)
