"""A repository whose branches stand where they stood at some time, wherever they are moved meanwhile."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .access import Repository

if TYPE_CHECKING:
    from .location import GitFolder


class PinnedRepository(Repository):
    """A repository read at some tips: of ``HEAD`` and of whole ref names (None: no such branch).

    So whoever reads branches reads a fleet as it was, or beside a branch of the source; of other refs it says where
    they stand now. No remote is asked.
    """

    def __init__(self, repository: Repository, tips: Mapping[str, str | None]) -> None:
        folder: GitFolder = repository.folder
        super().__init__(folder, repository._command, mirrors=repository.mirrors)  # noqa: SLF001 - of its own class
        self._tips = tips

    def tip(self, ref: str) -> str | None:
        """Return the commit at which a ref is read."""
        return self._tips[ref] if ref in self._tips else super().tip(ref)

    def resolve(self, revision: str) -> str:
        """Return the commit that a revision names; ``HEAD`` and whole names of refs are those that are read."""
        return self._tips.get(revision) or super().resolve(revision)

    def known_tips(self, remote: str, refs: Iterable[str], *, again: bool = False) -> dict[str, str | None]:  # noqa: ARG002 - nothing is asked
        """Return where refs of a remote are read, as far as that is known here."""
        return {name: self.tip(f"refs/remotes/{remote}/{name.removeprefix('refs/heads/')}") for name in refs}
