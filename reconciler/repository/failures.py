"""Errors of git: the meaning of its complaints, and what to do about them.

git runs with ``LC_ALL=C``, so its words are those of its source. A message nobody mapped is passed on, in one line,
without anything that looks like a password.
"""

from typing import NamedTuple

from reconciler.console.cleaning import without_passwords
from render.errors import GitError, NoSuchBranch, SourceMoved
from render.expressions import lazy_expression

_MARK = lazy_expression(r"^(?:(?:fatal|error|remote): )+")
_REFUSED = lazy_expression(r"!\t[^:]*:(?P<ref>[^\t]+)\t\[[^\]]*\] ?\(?(?P<why>.*?)\)?")
_NOISE = lazy_expression(
    r"hint:|warning: redirecting|remote:$|To \S+$|(?:remote: )?Total \d+ \(|Done$|From |and the repository exists"
    r"|Please make sure you have|To add an exception for this|git config --global --add safe"
    r"|fatal: Could not read from remote|error: failed to push some refs"
    r"|Another git process seems|an editor opened by|are terminated then|may have crashed in|remove the file manually"
    r"|error: atomic push failed|.*\(atomic push failed\)$"
    r"|(?:remote: )?(?:Enumerating|Counting|Compressing|Writing|Resolving|Unpacking|Checking) |Delta compression using"
)
_LINES = 3
_CHECK_SERVER = "check the address of the server and the network"
_RUN_AGAIN = "somebody was faster; run again"
_MAY_NOT_PUSH = "this account may not push to the repository"
_MAY_NOT_READ = "this account may not read the repository, or its token has ended"
_READING = frozenset({"clone", "fetch", "ls-remote"})
_CHECK_PROXY = "see the proxy that git goes through: http.proxy, HTTPS_PROXY"
_TRUST_SERVER = "have git trust the server's certificate: http.sslCAInfo names the file of who signed it"
_OTHER_SIDE = "the connection was broken off: check the network and the server, and run again"


class _Meaning(NamedTuple):
    words: str
    kind: type[GitError]
    hint: str


_MEANINGS = (
    _Meaning(
        "detected dubious ownership",
        GitError,
        "the repository belongs to another user; if you trust it: git config --global --add safe.directory FOLDER",
    ),
    _Meaning("couldn't find remote ref", NoSuchBranch, ""),
    _Meaning("but expected", SourceMoved, _RUN_AGAIN),
    _Meaning("reference already exists", SourceMoved, _RUN_AGAIN),
    _Meaning("stale info", SourceMoved, _RUN_AGAIN),
    _Meaning("fetch first", SourceMoved, _RUN_AGAIN),
    _Meaning("non-fast-forward", SourceMoved, _RUN_AGAIN),
    _Meaning("incorrect old value provided", SourceMoved, _RUN_AGAIN),
    _Meaning(
        ".lock': File exists",
        SourceMoved,
        "another git is writing this branch; if none runs, remove the .lock file it left behind",
    ),
    _Meaning("; cannot create", GitError, "a branch whose name is a folder of this one is in the way: git branch -m"),
    _Meaning("protected branch", GitError, "let Argosy's account push to this branch, or take its protection away"),
    _Meaning("pre-receive hook declined", GitError, "a rule of the server refused the push; its words are above"),
    _Meaning(
        "Permission denied (publickey",
        GitError,
        "the server does not know this SSH key: add it there, or name another in core.sshCommand",
    ),
    _Meaning("Permission denied (", GitError, "the server lets nobody in by what this account has: give it an SSH key"),
    _Meaning("Permission to", GitError, _MAY_NOT_PUSH),
    _Meaning("not allowed to push", GitError, _MAY_NOT_PUSH),
    _Meaning("not allowed to download", GitError, _MAY_NOT_READ),
    _Meaning("from proxy after CONNECT", GitError, _CHECK_PROXY),
    _Meaning("error: 403", GitError, _MAY_NOT_PUSH),
    _Meaning("Authentication failed", GitError, "check the credential helper or the token; Argosy never asks for one"),
    _Meaning("could not read Username", GitError, "set up a credential helper or a token; Argosy never asks for one"),
    _Meaning("could not read Password", GitError, "set up a credential helper or a token; Argosy never asks for one"),
    _Meaning("Host key verification failed", GitError, "add the server to ~/.ssh/known_hosts; Argosy never does"),
    _Meaning(
        "Could not resolve host",
        GitError,
        "check the name of the server and the network",
    ),
    _Meaning("Could not resolve proxy", GitError, _CHECK_PROXY),
    _Meaning("name resolution", GitError, "check the name of the server and the network"),
    _Meaning("certificate problem", GitError, _TRUST_SERVER),
    _Meaning("certificate verification failed", GitError, _TRUST_SERVER),
    _Meaning("Connection refused", GitError, _CHECK_SERVER),
    _Meaning("Connection timed out", GitError, _CHECK_SERVER),
    _Meaning("Failed to connect", GitError, _CHECK_SERVER),
    _Meaning("Could not connect", GitError, _CHECK_SERVER),
    _Meaning("Operation timed out", GitError, _CHECK_SERVER),
    _Meaning("No route to host", GitError, _CHECK_SERVER),
    _Meaning("Network is unreachable", GitError, _CHECK_SERVER),
    _Meaning("Connection reset", GitError, _OTHER_SIDE),
    _Meaning("Connection closed", GitError, _OTHER_SIDE),
    _Meaning("hung up unexpectedly", GitError, _OTHER_SIDE),
    _Meaning("returned error: 429", GitError, "the server asks for fewer requests; run again later"),
    _Meaning("returned error: 5", GitError, "the server has a problem of its own; run again later"),
    _Meaning("does not appear to be a git repository", GitError, "check the address of the remote: git remote -v"),
    _Meaning(
        "epository not found",
        GitError,
        "check the address of the remote (git remote -v), and that this account may read it",
    ),
    _Meaning(
        "' not found", GitError, "check the address of the remote (git remote -v), and that this account may read it"
    ),
    _Meaning("' does not exist", GitError, "check the address of the remote: git remote -v"),
    _Meaning("shallow update not allowed", GitError, "fetch the whole history: git fetch --unshallow"),
    _Meaning(
        "branch is currently checked out", GitError, "this branch is checked out there: push to a bare repository"
    ),
    _Meaning("' not allowed", GitError, "Argosy speaks to remotes over file, https and ssh only"),
    _Meaning("from promisor remote", GitError, "this is a partial clone: git fetch --refetch --no-filter"),
    _Meaning("ambiguous", GitError, "write more of the id, or the whole ref: refs/heads/NAME, refs/tags/NAME"),
    _Meaning("not a tree object", GitError, "objects are missing from the repository or damaged: git fsck"),
    _Meaning("not a git repository", GitError, "the repository is damaged: look at HEAD in its .git folder"),
    _Meaning("No space left on device", GitError, "make room on the disk; nothing was changed"),
    # All that git says of a ref that it could not write: nothing of why.
    _Meaning("couldn't write '", GitError, "make room on the disk, if it is full; nothing was changed"),
    _Meaning("Disk quota exceeded", GitError, "make room on the disk; nothing was changed"),
    _Meaning("Permission denied", GitError, "check who owns the repository's folder"),
    _Meaning("insufficient permission", GitError, "check who owns the repository's folder and what is in .git/objects"),
    _Meaning("Read-only file system", GitError, "the repository's file system is read-only: mount it for writing"),
)


def error_of_failed_command(command: str, stderr: bytes, code: int) -> GitError:
    """Return the error for a git command that failed with this text and exit code."""
    text = without_passwords(stderr.decode("utf-8", "replace"))
    meaning = next((meaning for meaning in _MEANINGS if meaning.words in text), None)
    lines = [
        _message_without_mark(line) for line in text.splitlines() if line.strip() and not _NOISE.match(line.strip())
    ]
    message = f"git {command}: {'; '.join(lines[:_LINES]) or f'ended with exit code {code}'}"
    if meaning is None:
        return GitError(message)
    is_read = meaning.hint == _MAY_NOT_PUSH and command in _READING
    return meaning.kind(message, hint=_MAY_NOT_READ if is_read else meaning.hint)


def error_of_missing_git() -> GitError:
    """Return the error for a git that cannot be started."""
    return GitError("git is not installed", hint="install git 2.32 or newer and put it on PATH")


def error_of_cut_off_history(ancestor: str, commit: str) -> GitError:
    """Return the error for a history that was cut off before it answered."""
    return GitError(
        f"this shallow clone does not reach from {commit[:12]} back to {ancestor[:12]}",
        hint="fetch the whole history: git fetch --unshallow",
    )


def error_of_slow_command(command: str, seconds: float, *, network: bool) -> GitError:
    """Return the error for a git command that was ended because its time was up."""
    hint = "allow more with ARGOSY_GIT_TIMEOUT, or check the network" if network else "check the disk and its load"
    return GitError(f"git {command} did not finish within {seconds:g} seconds", hint=hint)


def _message_without_mark(line: str) -> str:
    """Return a line without its mark; of a line about a ref that was not pushed, the ref and the reason."""
    refused = _REFUSED.fullmatch(line.strip())
    return f"{refused['ref']}: {refused['why']}" if refused else _MARK.sub("", line.strip())
