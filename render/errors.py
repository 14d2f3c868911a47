"""The errors that stop a run, and the problems a repository can have.

Everyday events of a fleet - a cluster unreachable, an object that fits nowhere - are values elsewhere, never
exceptions. An exception here ends the run with its exit code, a message and, where there is one, a hint.
"""

from collections.abc import Iterable

from msgspec import Struct

from .words import counted_noun


class Problem(Struct, frozen=True, order=True):
    """One thing wrong in a repository: its place, the field, the fault and a hint.

    ``path`` is relative to the repository root, ``line`` counts from 1 (0: the whole file), ``field`` is a dotted
    path such as ``spec.placement.spreadConstraints[0]`` ("" for the document). ``message`` never quotes a manifest.
    ``kind`` is the Kubernetes field error type (``Required``, ``Invalid``, ``NotSupported`` ...) where one applies.
    """

    path: str
    line: int
    field: str
    message: str
    hint: str = ""
    kind: str = ""

    @property
    def place(self) -> str:
        """The file and line, such as ``apps/web.yaml:3``; empty where no file is to blame."""
        path = _name_safe_on_terminal(self.path)
        return f"{path}:{self.line}" if self.line else path

    def __str__(self) -> str:
        where, field = self.place, _name_safe_on_terminal(self.field)
        what = f"{field}: {self.message}" if field else self.message
        text = f"{where}: {what}" if where else what
        return f"{text}\n  hint: {self.hint}" if self.hint else text


def _name_safe_on_terminal(text: str) -> str:
    r"""Return a name out of a repository that is safe on a terminal: no line breaks, no escapes, no broken UTF-8.

    >>> _name_safe_on_terminal("apps/\x1b[2Jweb.yaml")
    'apps/\\x1b[2Jweb.yaml'
    """
    return text if text.isprintable() else text.encode("unicode_escape").decode()


class ReconcileError(Exception):
    """Base of everything that ends a run on purpose; the bare class is a bug."""

    exit_code = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class InputError(ReconcileError):
    """The repository's content cannot be used; carries every problem, sorted, and warnings beside them."""

    exit_code = 3

    def __init__(self, problems: Iterable[Problem], *, summary: str = "", warnings: Iterable[Problem] = ()) -> None:
        self.problems = tuple(sorted(problems))
        self.warnings = tuple(warnings)
        self.summary = summary or f"{counted_noun(len(self.problems), 'problem')}; nothing was changed"
        super().__init__("\n".join([*map(str, self.problems), self.summary]))


class ConfigError(ReconcileError):
    """The reconciler's own configuration or environment cannot be used."""

    exit_code = 3


class UnknownName(ReconcileError):
    """The command line names something that does not exist, or that may be more than one thing."""

    exit_code = 2


class GitError(ReconcileError):
    """A Git operation failed: open, clone, fetch, push, read."""

    exit_code = 4


class SourceMoved(GitError):
    """A branch advanced while this run was using it; the loop retries, a command reports it."""


class NoSuchBranch(GitError):
    """A remote does not have a branch that it is asked for."""


class NoSuchRevision(GitError):
    """The name of a commit, branch or tag that this repository does not have."""


class ClusterError(ReconcileError):
    """No cluster could be used at all."""

    exit_code = 5


class GuardRefused(ReconcileError):
    """A removal, prune or movement guard refused before anything was written."""

    exit_code = 6
