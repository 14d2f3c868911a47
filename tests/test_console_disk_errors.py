"""Errors of this machine come with what helps against them, whoever meets them."""

import errno
import os
from pathlib import Path

import pytest

from reconciler import cli
from reconciler.cli import run
from reconciler.console.disk_errors import hint_for_disk_error
from reconciler.repository import worktree
from reconciler.repository.failures import error_of_failed_command
from reconciler.repository.worktree import put_files
from render.errors import GitError

from .tables import each_row


@each_row("number", sorted(cli._REFUSED))
def test_every_error_that_only_somebody_here_removes_has_its_own_hint(number: int) -> None:
    assert hint_for_disk_error(OSError(number, "x")) != ""


def test_a_folder_that_is_read_only_ends_a_command_with_what_helps(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "/fleet/out")

    monkeypatch.setattr(cli.argosy, "main", refuse)
    assert run(["render"]) == 4
    assert capsys.readouterr().err == (
        "argosy: /fleet/out: read-only file system\n"
        "  hint: this file system is read-only: mount it for writing, or name a folder elsewhere\n"
    )


def test_a_file_that_may_not_be_written_says_what_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(worktree, "_put_file", refuse)
    with pytest.raises(GitError) as refused:
        put_files(tmp_path, {"a.yaml": b""})
    assert (refused.value.message, refused.value.hint) == (
        "a.yaml cannot be written: Permission denied",
        "see who owns it and its folder: Argosy reads and writes as the user that runs it",
    )


@each_row(
    ("said", "hint"),
    [
        (b"error: insufficient permission for adding an object to repository database .git/objects", ".git/objects"),
        (b"fatal: cannot lock ref 'HEAD': Unable to create 'HEAD.lock': Read-only file system", "read-only"),
        (b"fatal: cannot open '.git/FETCH_HEAD': Permission denied", "who owns"),
        (b"git@host: Permission denied (publickey).", "core.sshCommand"),
        (b"fatal: prepare: cannot update ref 'x': couldn't write '/fleet/.git/refs/x.lock'", "make room on the disk"),
    ],
)
def test_what_git_may_not_do_has_a_hint(said: bytes, hint: str) -> None:
    assert hint in error_of_failed_command("push", said, 128).hint
