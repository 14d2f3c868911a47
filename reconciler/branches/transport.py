"""The transport of a status branch: how whoever reads and writes it learns of its tip, and moves it."""

from collections.abc import Container
from contextlib import suppress
from typing import Protocol

from msgspec import Struct

from reconciler.repository import RefUpdate
from render.errors import GitError

from .publication import Publication


class Transport(Protocol):
    """The way between a status branch and whoever reads and writes it."""

    def tip(self) -> str | None:
        """Return where the branch stands now."""

    def ask_remote_again(self) -> None:
        """Have the remote asked once more where the branch stands; one that does not answer tells nothing new."""

    def is_carried(self, path: str) -> bool:
        """Say whether a file may be written by this way; others are left out of what is written."""

    def move_branch(self, commit: str, tip: str | None, written: Container[str]) -> None:
        """Move the branch from its tip to a commit that writes these files; SourceMoved if somebody was faster."""


class AtOnce(Struct, frozen=True):
    """The way of a pass: the remote is asked, and has whatever is written before the pass goes on."""

    publication: Publication
    branch: str

    def tip(self) -> str | None:
        """Return where the branch stands now, asking the remote."""
        return self.publication.current_tip(self.branch)

    def ask_remote_again(self) -> None:
        """Have the remote asked once more."""
        if self.publication.remote:
            with suppress(GitError):
                self.publication.repository.known_tips(
                    self.publication.remote, [f"refs/heads/{self.branch}"], again=True
                )

    def is_carried(self, path: str) -> bool:
        """Say that every file is."""
        del path
        return True

    def move_branch(self, commit: str, tip: str | None, written: Container[str]) -> None:
        """Move the branch where it is published."""
        del written
        repository, ref = self.publication.repository, self.publication.ref(self.branch)
        if self.publication.remote:
            repository.push(self.publication.remote, [RefUpdate(f"refs/heads/{self.branch}", commit, tip)])
            repository.update_ref(ref, commit, repository.tip(ref))
        else:
            repository.update_ref(ref, commit, tip, reason="argosy: status")
