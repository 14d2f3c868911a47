"""Revisions that people type, resolved to commits; a name that could mean two things is refused."""

from render.errors import GitError
from render.suggestions import nearest

from .command import GitCommand
from .location import GitFolder
from .refs import has_ref_files, head_branch, is_ref_name, read_ref_fast

_PLACES = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")


def resolve_revision(git: GitCommand, folder: GitFolder, revision: str, *, shallow: bool) -> str:
    """Return the id of the commit a revision names; a ``GitError`` says what to do when it names none or several.

    A branch is looked up without a process. A name that is a tag and a branch at once is refused: git would pick the
    tag and warn.
    """
    if not revision or "\0" in revision or "\n" in revision:
        raise GitError(f"{revision!r} is not a revision", hint="name a branch, a tag or a commit")
    if revision == "HEAD" and has_ref_files(folder.common_dir) and (tip := read_ref_fast(folder.git_dir, "HEAD")):
        return tip
    refs = _named(folder, revision) if has_ref_files(folder.common_dir) else []
    if len(refs) > 1:
        raise GitError(f"{revision!r} is ambiguous: {' and '.join(refs)}", hint=f"write it in full: {refs[-1]}")
    name = refs[0] if refs else revision
    tip = read_ref_fast(folder.git_dir, name) if refs and name.startswith(("refs/heads/", "refs/remotes/")) else None
    return tip or _asked(git, folder, name, shallow=shallow)


def _named(folder: GitFolder, revision: str) -> list[str]:
    """Return the refs a short name stands for, in git's order of search."""
    if is_ref_name(revision):
        return [revision] if read_ref_fast(folder.git_dir, revision) else []
    candidates = [place.format(revision) for place in _PLACES]
    return [ref for ref in candidates if is_ref_name(ref) and read_ref_fast(folder.git_dir, ref)]


def _asked(git: GitCommand, folder: GitFolder, name: str, *, shallow: bool) -> str:
    answer = git.run("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}", answers=frozenset({0, 1, 128}))
    if not answer.returncode:
        return answer.stdout.decode().strip()
    complaint = answer.stderr.decode("utf-8", "replace")
    if "ambiguous" in complaint:
        raise GitError(f"{name!r} is ambiguous: several objects begin like this", hint="write more of the id")
    raise GitError(f"there is no commit {name!r}", hint=_hint(git, folder, name, shallow=shallow))


def _hint(git: GitCommand, folder: GitFolder, name: str, *, shallow: bool) -> str:
    if name == "HEAD" or f"refs/heads/{name}" == head_branch(folder.git_dir):
        return "commit something first: the branch is still empty"
    if shallow:
        return "this clone is shallow; fetch the whole history: git fetch --unshallow"
    refs = git.text("for-each-ref", "--format=%(refname:short)").split()
    if near := nearest(name, refs):
        return f"did you mean {near!r}?"
    remotes = git.text("remote").split()
    fetch = f"fetch it first (git fetch {remotes[0]}), or " if remotes else ""
    return f"{fetch}check the spelling: git branch --all"
