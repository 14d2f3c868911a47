"""The configuration of one repository, read once, from all of git's files."""

from collections.abc import Mapping

from render.values import DiscreetStruct

from .command import GitCommand
from .commits import Signature

_TRUE = frozenset({"", "true", "yes", "on", "1"})
_LOCAL = frozenset({"local", "worktree"})
"""The scopes of a repository's own configuration."""


class Settings(DiscreetStruct, frozen=True, kw_only=True):
    """Every value of every key, in git's order, the last one counting; keys as git lists them.

    git reads the configuration of a repository only where it has agreed that this is one, and whose it is.
    """

    UNSHOWN = ("values",)

    values: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, git: GitCommand) -> "Settings":
        """Return the settings git runs under; a ``GitError`` says why git does not work in its folder."""
        values: dict[str, tuple[str, ...]] = {}
        listed = git.text("config", "--list", "-z", "--includes", "--show-scope").split("\0")
        for entry in listed[1::2]:
            key, _, value = entry.partition("\n")
            values[key] = (*values.get(key, ()), value)
        if _LOCAL.isdisjoint(listed[::2]):
            git.run("rev-parse", "--git-dir")
        return cls(values=values)

    def last(self, key: str, default: str = "") -> str:
        """Return the value that counts: git lets the last one win."""
        return self.values.get(key, (default,))[-1]

    @property
    def algorithm(self) -> str:
        """The hash of the repository's objects."""
        return self.last("extensions.objectformat", "sha1").lower()

    @property
    def is_partial(self) -> bool:
        """Say whether objects may be missing because the clone left them at the remote."""
        promised = [key for key in self.values if key.startswith("remote.") and key.endswith(".promisor")]
        return "extensions.partialclone" in self.values or any(self.last(key).lower() in _TRUE for key in promised)

    def may_have_passwords(self, remote: str) -> bool:
        """Say whether a password may stand in an address of a remote; only that of a configured one is known."""
        addresses = (
            text
            for key, values in self.values.items()
            if key.startswith(("remote.", "url."))
            for text in (key, *values)
        )
        return f"remote.{remote}.url" not in self.values or any("@" in text for text in addresses)

    @property
    def filters(self) -> tuple[str, ...]:
        """The content filters that are configured, which never run here."""
        names = {key.removeprefix("filter.").rpartition(".")[0] for key in self.values if key.startswith("filter.")}
        return tuple(sorted(names))

    @property
    def author(self) -> Signature:
        """The name and address of the person at this machine."""
        return Signature(self.last("user.name", "Argosy"), self.last("user.email", "argosy@localhost"))
