"""Errors and warnings about override policies, worded so that the author of the policy can act on them.

A message may name the policy's own words - paths, components, operators - but never the content of a manifest: it may
be a Secret.
"""

from msgspec import Struct

from render.errors import Problem


class Refused(Exception):
    """An overrider that cannot be applied to a manifest.

    ``within`` is the place inside the overrider's list, such as ``[1]`` or ``.json[0]``.
    """

    def __init__(self, message: str, *, hint: str = "", within: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.within = within


class PolicyOrigin(Struct, frozen=True, kw_only=True):
    """The place of a policy: its name as ``ClusterOverridePolicy name``, the file and the document in the file."""

    policy: str
    path: str = ""
    document: int = 0


class OverrideError(Exception):
    """The reason why an object has no manifest in some clusters: the policy, the field of it and what to do.

    A value among results, never raised: it concerns one object in one class of clusters.
    """

    def __init__(self, origin: PolicyOrigin, field: str, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.origin = origin
        self.field = field
        self.message = message
        self.hint = hint

    def problem(self, line: int = 0) -> Problem:
        """Return the error as a problem of the repository, at a line of the policy's file."""
        return Problem(self.origin.path, line, self.field, self.message, self.hint)

    def __str__(self) -> str:
        return f"{self.origin.policy}: {self.field}: {self.message}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OverrideError) and self._sort_key == other._sort_key

    def __hash__(self) -> int:
        return hash(self._sort_key)

    @property
    def _sort_key(self) -> tuple[PolicyOrigin, str, str, str]:
        return self.origin, self.field, self.message, self.hint


class LintFinding(Struct, frozen=True, kw_only=True):
    """A warning about a field of a policy."""

    origin: PolicyOrigin
    field: str
    message: str
    hint: str = ""
