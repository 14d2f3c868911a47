"""Signatures of commits by SSH keys: made by ssh-keygen, and checked by git against a list of signers."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from render.errors import ConfigError, GitError
from render.expressions import lazy_expression
from render.gitobjects import git_object_id

from .command import GitCommand
from .commits import NewCommit

_SECONDS = 30.0
_HEADER = b"gpgsig"
_GOOD = lazy_expression(r'^Good "git" signature for (\S+) with \S+ key SHA256:\S+$', re.MULTILINE)
_SSH_SIGNATURE = lazy_expression(rb"^gpgsig(?:-sha256)? -----BEGIN SSH SIGNATURE-----$", re.MULTILINE)
_HEADERS = {"sha1": b"gpgsig", "sha256": b"gpgsig-sha256"}


def sign_commit(commit: NewCommit, key: str, algorithm: str = "sha1") -> NewCommit:
    """Return a commit signed by the SSH key in a file; ConfigError where that key signs nothing."""
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", str(Path(key).expanduser())]
    try:
        done = subprocess.run(
            command, input=commit.data, capture_output=True, check=False, timeout=_SECONDS, start_new_session=True
        )
    except FileNotFoundError as error:
        raise ConfigError(
            "commits are to be signed, and ssh-keygen is not installed", hint="install OpenSSH"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise ConfigError(
            f"{key}: ssh-keygen did not sign within {_SECONDS:g} s", hint=_hint_on_signing_keys()
        ) from error
    if done.returncode or not done.stdout.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        raise ConfigError(f"{key}: ssh-keygen did not sign with this key", hint=_hint_on_signing_keys())
    head, _, message = commit.data.partition(b"\n\n")
    signature = done.stdout.rstrip(b"\n").replace(b"\n", b"\n ")
    data = b"%s\n%s %s\n\n%s" % (head, _HEADERS[algorithm], signature, message)
    return NewCommit(git_object_id("commit", data, algorithm).hex(), data)


def _hint_on_signing_keys() -> str:
    return "name a file with a private SSH key that has no passphrase, readable by this user alone"


def fault_of_signature(git: GitCommand, commit: str, allowed_signers: str) -> str:
    """Return why a commit is not signed by a signer whom a file lists; empty for one that is."""
    path = Path(allowed_signers).expanduser()
    if not path.is_file():
        raise ConfigError(f"{allowed_signers}: there is no such file", hint='write a line: NAME namespaces="git" KEY')
    settings = ("gpg.format=ssh", f"gpg.ssh.allowedSignersFile={path.absolute()}", "gpg.minTrustLevel=fully")
    checking = replace(git, options=(*git.options, *settings))
    try:
        checking.run("verify-commit", "--", commit)
    except GitError:
        return "it is signed by none of them" if _is_signed(git, commit) else "it is not signed"
    return ""


def signer_of_file(git: GitCommand, commit: str, path: str, signers: Iterable[str]) -> str:
    """Return who signed the commit by which a file came to be as it is at another; "" where nobody known did."""
    found = _last_commit_of_file(git, commit, path)
    return signer_of_commit(git, found, signers) if found else ""


def commit_that_landed_file(git: GitCommand, commit: str, path: str) -> str:
    """Return the commit, a merge or another, by which a file came to the branch of another; "" where nobody knows."""
    return _last_commit_of_file(git, commit, path, "--first-parent")


def signer_of_commit(git: GitCommand, commit: str, signers: Iterable[str]) -> str:
    """Return the name of the signer of a commit, among lines of ``NAME TYPE KEY``; "" where none of them signed it."""
    import tempfile

    head = git.run("cat-file", "commit", commit).stdout.partition(b"\n\n")[0]
    if not _SSH_SIGNATURE.search(head):
        return ""
    lines = (each.partition(" ") for each in signers)
    content = "".join(f'{name} namespaces="git" {key}\n' for name, _, key in lines)
    with tempfile.NamedTemporaryFile("w", prefix="argosy-signers-", encoding="utf-8") as file:
        file.write(content)
        file.flush()
        settings = ("gpg.format=ssh", f"gpg.ssh.allowedSignersFile={file.name}", "gpg.minTrustLevel=fully")
        checking = replace(git, options=(*git.options, *settings))
        answer = checking.run("verify-commit", "--raw", "--", commit, answers=frozenset({0, 1}))
    found = [] if answer.returncode else _GOOD.findall(answer.stderr.decode("utf-8", "replace"))
    return str(found[0]) if len(found) == 1 else ""


def _last_commit_of_file(git: GitCommand, commit: str, path: str, *options: str) -> str:
    """Return the commit by which a file came to be as it is at another one; "" where history does not tell.

    A merge that takes the file from one side is not it. The first commit of a shallow clone seems to bring every file.
    """
    found = git.run("log", "-1", "--format=%H", *options, commit, "--", path).stdout.decode().strip()
    if not found:
        return ""
    head = git.run("cat-file", "commit", found).stdout.partition(b"\n\n")[0]
    recorded = sum(line.startswith(b"parent ") for line in head.splitlines())
    known = git.run("rev-list", "--parents", "-1", found).stdout.split()
    return found if len(known) == recorded + 1 else ""


def _is_signed(git: GitCommand, commit: str) -> bool:
    head = git.run("cat-file", "commit", commit).stdout.partition(b"\n\n")[0]
    return any(line.startswith(_HEADER) for line in head.splitlines())
