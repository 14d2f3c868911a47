"""Signatures of commits by SSH keys: made by ssh-keygen, and checked by git against a list of signers."""

import subprocess
from pathlib import Path

from msgspec.structs import replace

from render.errors import ConfigError, GitError
from render.gitobjects import git_object_id

from .command import GitCommand
from .commits import NewCommit

_SECONDS = 30.0
_HEADER = b"gpgsig"
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


def _is_signed(git: GitCommand, commit: str) -> bool:
    head = git.run("cat-file", "commit", commit).stdout.partition(b"\n\n")[0]
    return any(line.startswith(_HEADER) for line in head.splitlines())
