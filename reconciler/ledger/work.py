"""The status of an object in a cluster, as in Karmada's Work: applied, healthy, and the status it reports.

It is plain data to whoever reads it, for it holds the status of an object of any kind. Its struct says what is known of
it, and what is asked of it before anybody reads it.
"""

from typing import Any, ClassVar, Self

from msgspec import Struct

from render.model import WORK_API_VERSION, Manifest

from .branch_file import BranchFile, FileFault, check_version, converted_to_struct
from .cluster_status import Conditions, check_conditions
from .facts import Metadata


class _Identifier(Struct, frozen=True, kw_only=True):
    group: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""


class _ManifestStatus(Struct, frozen=True, kw_only=True):
    identifier: _Identifier | None = None
    health: str | None = None


class _WorkStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    conditions: Conditions | None = None
    manifest_statuses: list[_ManifestStatus] | None = None


class _Changes(Struct, frozen=True, kw_only=True):
    since: str
    last: str
    times: int


class _ChangesInARow(Struct, frozen=True, kw_only=True):
    turns: _Changes | None = None
    numbers: _Changes | None = None
    seen: dict[str, str] | None = None


class LiveReplicas(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The replicas that an object asks for where it is, and the field manager that set them ("": Argosy, or nobody).

    They are another number than its tree says where an autoscaler or a person owns the field.
    """

    replicas: int
    manager: str = ""

    @classmethod
    def of_work(cls, work: Manifest) -> "LiveReplicas | None":
        """Return what a Work records; None where nothing is known, as in one that an earlier version wrote."""
        plain = work.get("live")
        return None if plain is None else cls(replicas=plain["replicas"], manager=plain.get("manager") or "")


class _WorkFields(Struct, frozen=True, kw_only=True, rename="camel"):
    metadata: Metadata
    findings: list[dict[str, Any]] | None = None
    observed_at: str | None = None
    healthy_until: str | None = None
    unsettled: str | None = None
    streaks: _ChangesInARow | None = None
    live: LiveReplicas | None = None
    rolled_out: str | None = None
    may_be_earlier: bool = False
    status: _WorkStatus | None = None


class WorkFile(BranchFile, frozen=True, kw_only=True):
    """The Work of one object in one cluster: its plain ``value``."""

    UNSHOWN: ClassVar[tuple[str, ...]] = ("value",)
    PATH: ClassVar[str] = "works/{cluster}/{namespace}/{kind}/{name}.yaml"
    API_VERSION: ClassVar[str] = WORK_API_VERSION
    KIND: ClassVar[str] = "Work"
    ABOUT: ClassVar[str] = "An object in a cluster: applied, healthy, and why not."

    value: Manifest

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return the Work in a plain object; FileFault where there is none."""
        check_version(value, cls.VERSION)
        status = converted_to_struct(value, _WorkFields).status
        if status is not None:
            check_conditions(status.conditions)
            _check_identifiers(status.manifest_statuses)
        return cls(value=cls.without_version(value))

    def plain(self) -> Manifest:
        """Return the object in the file, without its version."""
        return self.value


def _check_identifiers(found: list[_ManifestStatus] | None) -> None:
    for number, each in enumerate(found or ()):
        named = each.identifier
        if named is not None and named != _Identifier() and not (named.kind and named.name):
            raise FileFault(f"status.manifestStatuses[{number}].identifier has no kind or no name")
