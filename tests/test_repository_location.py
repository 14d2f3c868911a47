"""Locations: what is an address, which addresses are spoken to, and what error messages never show."""

from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.console.cleaning import without_passwords
from reconciler.repository.failures import error_of_failed_command
from reconciler.repository.location import address_and_secret_configuration, checked_address, is_address
from render.errors import GitError, SourceMoved

from .tables import each_row


class Place(NamedTuple):
    why: str
    location: str
    address: bool
    spoken: bool = False


PLACES = [
    Place("a folder", "fleet", address=False),
    Place("a folder with an absolute path", "/srv/fleet.git", address=False),
    Place("a folder with a colon after a slash", "./a:b", address=False),
    Place("https", "https://example.com/fleet.git", address=True, spoken=True),
    Place("https in capitals", "HTTPS://example.com/fleet.git", address=True, spoken=True),
    Place("ssh", "ssh://git@example.com:22/fleet.git", address=True, spoken=True),
    Place("a file", "file:///srv/fleet.git", address=True, spoken=True),
    Place("the short form", "git@example.com:fleet.git", address=True, spoken=True),
    Place("the short form without a user", "example.com:fleet.git", address=True, spoken=True),
    Place("the short form by IPv6", "git@[::1]:fleet.git", address=True, spoken=True),
    Place("plain http", "http://example.com/fleet.git", address=True),
    Place("git", "git://example.com/fleet.git", address=True),
    Place("ftp", "ftp://example.com/fleet.git", address=True),
    Place("a command", "ext::sh -c id", address=True),
    Place("a helper before an address", "fd::17", address=True),
    Place("an option for a host", "ssh://-oProxyCommand=id/x", address=True),
    Place("an option for a host behind a user", "ssh://a@-oProxyCommand=id/x", address=True),
    Place("a control character", "https://example.com/\x1b[31m", address=True),
    Place("an option in the short form", "-oProxyCommand=id:x", address=False),
    Place("an option for a path in the short form", "example.com:-x", address=False),
]


@each_row("case", PLACES, ids=lambda case: case.why)
def test_what_is_an_address(case: Place) -> None:
    assert is_address(case.location) is case.address


@each_row("case", [case for case in PLACES if case.address], ids=lambda case: case.why)
def test_which_addresses_are_spoken_to(case: Place) -> None:
    if case.spoken:
        assert checked_address(case.location) == case.location
        return
    with pytest.raises(GitError):
        checked_address(case.location)


def test_a_refused_address_says_which_are_not() -> None:
    with pytest.raises(GitError) as caught:
        checked_address("git://example.com/x")
    assert str(caught.value) == (
        "cannot fetch over 'git'\n  hint: use an https://, ssh:// or file:// address, or user@host:path"
    )


def test_an_existing_folder_is_never_an_address(tmp_path: Path) -> None:
    folder = tmp_path / "a:b"
    folder.mkdir()
    assert not is_address(str(folder))


class Credentials(NamedTuple):
    why: str
    address: str
    public: str
    header: str


CREDENTIALS = [
    Credentials("user and password", "https://me:pw@x.com/a.git", "https://x.com/a.git", "bWU6cHc="),
    Credentials("a token alone", "https://tok@x.com:8443/a", "https://x.com:8443/a", "dG9rOg=="),
    Credentials("escaped letters", "https://a%40b:p%3Aw@x.com/", "https://x.com/", "YUBiOnA6dw=="),
]


@pytest.mark.parametrize("case", CREDENTIALS, ids=lambda case: case.why)
def test_credentials_leave_the_address(case: Credentials) -> None:
    settings = ((f"http.{case.public}.extraHeader", f"Authorization: Basic {case.header}"),)
    assert address_and_secret_configuration(case.address) == (case.public, settings)


@pytest.mark.parametrize("address", ["https://x.com/a@b", "ssh://git@x.com/a", "git@x.com:a", "file:///a@b"])
def test_an_address_without_credentials_stays(address: str) -> None:
    assert address_and_secret_configuration(address) == (address, ())


class Secret(NamedTuple):
    why: str
    text: str
    want: str


SECRETS = [
    Secret("user and password", "at 'https://me:s3cret@example.com/x'", "at 'https://***@example.com/x'"),
    Secret("a token alone", "https://ghp_token@github.com/x", "https://***@github.com/x"),
    Secret("an ssh user is no secret", "ssh://git@example.com/x", "ssh://git@example.com/x"),
    Secret("an ssh password is", "ssh://git:s3cret@example.com/x", "ssh://***@example.com/x"),
    Secret("nothing to hide", "https://example.com/a@b", "https://example.com/a@b"),
    Secret("two of them", "https://a:b@x https://c@y", "https://***@x https://***@y"),
]


@each_row("case", SECRETS, ids=lambda case: case.why)
def test_passwords_never_show(case: Secret) -> None:
    assert without_passwords(case.text) == case.want


class Failure(NamedTuple):
    why: str
    stderr: str
    kind: type[GitError]
    want: str


FAILURES = [
    Failure(
        "the lease was lost",
        "To https://x/y\n!\tabc:refs/heads/a\t[rejected] (stale info)\nDone\nerror: failed to push some refs to 'https://x/y'\n",
        SourceMoved,
        "git push: refs/heads/a: stale info\n  hint: somebody was faster; run again",
    ),
    Failure(
        "the server was faster still",
        "!\tabc:refs/heads/a\t[remote rejected] (cannot lock ref 'refs/heads/a': is at 1 but expected 2)\n",
        SourceMoved,
        "git push: refs/heads/a: cannot lock ref 'refs/heads/a': is at 1 but expected 2"
        "\n  hint: somebody was faster; run again",
    ),
    Failure(
        "a protected branch of GitHub",
        "remote: error: GH006: Protected branch update failed for refs/heads/a.\n"
        "!\tabc:refs/heads/a\t[remote rejected] (protected branch hook declined)\n",
        GitError,
        "git push: GH006: Protected branch update failed for refs/heads/a.; refs/heads/a: protected branch hook "
        "declined\n  hint: let Argosy's account push to this branch, or take its protection away",
    ),
    Failure(
        "a hook of the server",
        "!\tabc:refs/heads/a\t[remote rejected] (pre-receive hook declined)\n",
        GitError,
        "git push: refs/heads/a: pre-receive hook declined\n  hint: a rule of the server refused the push; its words "
        "are above",
    ),
    Failure(
        "no permission",
        "remote: Permission to o/r.git denied to bot.\n"
        "fatal: unable to access 'https://t@x/o/r.git/': The requested URL returned error: 403\n",
        GitError,
        "git push: Permission to o/r.git denied to bot.; unable to access 'https://***@x/o/r.git/': The requested URL "
        "returned error: 403\n  hint: this account may not push to the repository",
    ),
    Failure(
        "no key",
        "git@x: Permission denied (publickey).\nfatal: Could not read from remote repository.\n\n"
        "Please make sure you have the correct access rights\nand the repository exists.\n",
        GitError,
        "git push: git@x: Permission denied (publickey).\n  hint: the server does not know this SSH key: add it there, "
        "or name another in core.sshCommand",
    ),
    Failure(
        "no password",
        "fatal: could not read Username for 'https://x': terminal prompts disabled\n",
        GitError,
        "git push: could not read Username for 'https://x': terminal prompts disabled\n  hint: set up a credential "
        "helper or a token; Argosy never asks for one",
    ),
    Failure(
        "no such server",
        "fatal: unable to access 'https://x/': Could not resolve host: x\n",
        GitError,
        "git push: unable to access 'https://x/': Could not resolve host: x\n  hint: check the name of the server and "
        "the network",
    ),
    Failure(
        "a server that is down",
        "fatal: unable to access 'https://x/': Failed to connect to x port 443: No route to host\n",
        GitError,
        "git push: unable to access 'https://x/': Failed to connect to x port 443: No route to host"
        "\n  hint: check the address of the server and the network",
    ),
    Failure(
        "a server with a fault",
        "fatal: unable to access 'https://x/': The requested URL returned error: 503\n",
        GitError,
        "git push: unable to access 'https://x/': The requested URL returned error: 503\n"
        "  hint: the server has a problem of its own; run again later",
    ),
    Failure(
        "an unknown host key",
        "Host key verification failed.\nfatal: Could not read from remote repository.\n",
        GitError,
        "git push: Host key verification failed.\n  hint: add the server to ~/.ssh/known_hosts; Argosy never does",
    ),
    Failure(
        "a git that was killed says how far the server was",
        "remote: Total 48 (delta 11), reused 0 (delta 0), pack-reused 0        \n",
        GitError,
        "git push: ended with exit code 128",
    ),
    Failure("nothing said", "", GitError, "git push: ended with exit code 128"),
    Failure("something nobody mapped", "fatal: odd\nfatal: b\nc\nd\n", GitError, "git push: odd; b; c"),
]


@each_row("case", FAILURES, ids=lambda case: case.why)
def test_what_git_complains_of_becomes_what_to_do(case: Failure) -> None:
    error = error_of_failed_command("push", case.stderr.encode(), 128)
    assert (type(error), str(error)) == (case.kind, case.want)


HINTS = [
    ("push", "git@x: Permission denied (password,keyboard-interactive).", "give it an SSH key"),
    ("push", "git@x: Permission denied (publickey,password).", "core.sshCommand"),
    ("push", "fatal: unable to access 'https://x/': The requested URL returned error: 403", "may not push"),
    ("fetch", "fatal: unable to access 'https://x/': The requested URL returned error: 403", "may not read"),
    ("ls-remote", "remote: Permission to o/r.git denied to bot.", "may not read"),
    ("fetch", "remote: You are not allowed to download code from this project.", "may not read"),
    ("fetch", "remote: Repository not found.\nfatal: repository 'https://x/y/' not found", "may read it"),
    ("fetch", "fatal: repository 'https://x/y/' not found", "may read it"),
    ("ls-remote", "fatal: repository '/srv/gone.git' does not exist", "git remote -v"),
    ("fetch", "fatal: unable to access 'https://x/': Could not resolve proxy: p", "HTTPS_PROXY"),
    (
        "fetch",
        "fatal: unable to access 'https://x/': CONNECT tunnel failed; Received HTTP code 407 from proxy after CONNECT",
        "HTTPS_PROXY",
    ),
    ("fetch", "ssh: Could not resolve hostname x: Temporary failure in name resolution", "name of the server"),
    ("fetch", "fatal: unable to look up x (port 9418) (Temporary failure in name resolution)", "name of the server"),
    (
        "fetch",
        "fatal: unable to access 'https://x/': SSL certificate problem: self-signed certificate",
        "http.sslCAInfo",
    ),
    (
        "fetch",
        "fatal: unable to access 'https://x/': server certificate verification failed. CAfile: none",
        "http.sslCAInfo",
    ),
    ("fetch", "ssh: connect to host x port 22: No route to host", "address of the server"),
    ("fetch", "ssh: connect to host x port 22: Network is unreachable", "address of the server"),
    ("fetch", "ssh: connect to host x port 22: Operation timed out", "address of the server"),
    ("fetch", "error: RPC failed; curl 56 Recv failure: Connection reset by peer", "broken off"),
    ("push", "fatal: the remote end hung up unexpectedly", "broken off"),
    ("fetch", "kex_exchange_identification: Connection closed by remote host", "broken off"),
    ("fetch", "fatal: unable to access 'https://x/': The requested URL returned error: 429", "fewer requests"),
    ("push", "fatal: could not read Password for 'https://bot@x': terminal prompts disabled", "credential helper"),
    ("push", "! [remote rejected] a -> a (shallow update not allowed)", "--unshallow"),
    ("push", "! [remote rejected] a -> a (branch is currently checked out)", "bare repository"),
    ("ls-remote", "fatal: transport 'ext' not allowed", "file, https and ssh only"),
    ("push", "error: unable to write file: Disk quota exceeded", "make room"),
]
"""Commands of git, what they say, and a part of the hint, which must be true of that."""


@each_row(("command", "said", "hint"), HINTS)
def test_the_hint_is_true_of_what_git_said(command: str, said: str, hint: str) -> None:
    assert hint in error_of_failed_command(command, said.encode(), 128).hint


@pytest.mark.parametrize("address", ["https://[x/fleet", "https://[::1", "https://me:hidden@[x]/fleet"])
def test_half_an_address_is_refused_without_what_it_may_hide(address: str) -> None:
    with pytest.raises(GitError) as refused:
        address_and_secret_configuration(address)
    assert refused.value.message == "the address of a remote cannot be read"
    assert "hidden" not in str(refused.value)
