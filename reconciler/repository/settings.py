"""The configuration of one repository, read once, from all of git's files."""

from collections.abc import Mapping

from msgspec import field
from msgspec.structs import replace

from render.errors import ConfigError
from render.values import DiscreetStruct

from .command import GitCommand, is_run_by_git
from .commits import Signature

_PROGRAMS: Mapping[str, str] = {
    "core.askpass": "",
    "core.sshcommand": "ssh",
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.ssh.defaultkeycommand": "",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.x509.program": "gpgsm",
}
"""The keys that name programs which git runs for us, and what it runs without them."""
_TRUE = frozenset({"", "true", "yes", "on", "1"})
_WHO = ("NAME", "EMAIL")
_LOCAL = frozenset({"local", "worktree"})
"""The scopes of a repository's own configuration."""


CLONE_PROGRAMS = "ARGOSY_CLONE_PROGRAMS"
"""The variable that switches programs of a clone's own configuration off."""


def git_without_own_programs(git: GitCommand, settings: "Settings") -> GitCommand:
    """Return git without the programs that the clone's own configuration names, where the environment says ``off``."""
    said = git.environment.get(CLONE_PROGRAMS, "")
    if said not in {"", "off"}:
        raise ConfigError(f"{CLONE_PROGRAMS} is {said!r}", hint="write 'off', or nothing")
    return replace(git, options=(*git.options, *settings.without_own_programs)) if said else git


class Settings(DiscreetStruct, frozen=True, kw_only=True):
    """Every value of every key, in git's order, the last one counting; keys as git lists them.

    ``own`` are the keys that the repository's own configuration has, ``beside`` the values that stand elsewhere.

    git reads the configuration of a repository only where it has agreed that this is one, and whose it is.
    """

    UNSHOWN = ("values", "beside")

    values: Mapping[str, tuple[str, ...]]
    own: frozenset[str] = frozenset()
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def read(cls, git: GitCommand) -> "Settings":
        """Return the settings git runs under; a ``GitError`` says why git does not work in its folder."""
        values: dict[str, tuple[str, ...]] = {}
        beside: dict[str, tuple[str, ...]] = {}
        own = set[str]()
        listed = git.text("config", "--list", "-z", "--includes", "--show-scope").split("\0")
        for scope, entry in zip(listed[::2], listed[1::2], strict=False):
            key, _, value = entry.partition("\n")
            values[key] = (*values.get(key, ()), value)
            if scope in _LOCAL:
                own.add(key)
            else:
                beside[key] = (*beside.get(key, ()), value)
        if _LOCAL.isdisjoint(listed[::2]):
            git.run("rev-parse", "--git-dir")
        return cls(values=values, own=frozenset(own), beside=beside)

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

    @property
    def is_signing(self) -> bool:
        """Say whether git signs the commits of people."""
        return self.last("commit.gpgsign", "false").lower() in _TRUE

    @property
    def without_own_programs(self) -> tuple[str, ...]:
        """The options by which git runs no program that the repository's own configuration names."""
        options: list[str] = []
        for key in sorted(self.own):
            if key in _PROGRAMS:
                options.append(f"{key}={self.beside.get(key, (_PROGRAMS[key],))[-1]}")
            elif key.startswith("credential.") and key.endswith(".helper"):
                # An empty helper takes back those before it.
                options += [f"{key}={value}" for value in ("", *self.beside.get(key, ()))]
        return tuple(options)

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

    def author_of_commits(self, environment: Mapping[str, str]) -> Signature:
        """Return the author of new commits: ``ARGOSY_AUTHOR_NAME`` with ``ARGOSY_AUTHOR_EMAIL``, else whom git names.

        That is ``GIT_AUTHOR_NAME`` and ``GIT_AUTHOR_EMAIL``, or its configuration. Where another git runs us, these two
        are the author of what it does.
        """
        git = {} if is_run_by_git(environment) else environment
        name, address = (environment.get(f"ARGOSY_AUTHOR_{each}") or git.get(f"GIT_AUTHOR_{each}") for each in _WHO)
        return Signature(
            name or self.last("user.name", "Argosy"), address or self.last("user.email", "argosy@localhost")
        )
