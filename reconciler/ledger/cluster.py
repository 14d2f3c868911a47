"""The record of a cluster: Karmada's Cluster with its status, and how the last apply to it ended."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from render.failover.health import OBSERVED, READY
from render.model import CLUSTER_API_VERSION, Manifest, ObjectRef

from .branch_file import BranchFile, ObjectName, check_version, converted_to_struct
from .cluster_status import checked_cluster_status
from .conditions import condition_of_type
from .facts import Metadata

REMEDIES = "remedyActions"
FAILING = "argosy.dev/failing-since"
UNSEEN_HINT = "argosy.dev/unseen-hint"
_WORDS = {
    "applied": "argosy.dev/applied",
    "outcome": "argosy.dev/outcome",
    "since": "argosy.dev/outcome-since",
    "message": "argosy.dev/outcome-message",
    "hint": "argosy.dev/outcome-hint",
    "heartbeat": "argosy.dev/heartbeat",
    "refused": "argosy.dev/refused",
    "refused_hint": "argosy.dev/refused-hint",
    "clock": "argosy.dev/clock",
    "deployer": "argosy.dev/deployer",
}
"""The annotations of a record by the words they keep."""
TIMES = (FAILING, _WORDS["since"], _WORDS["heartbeat"])
"""The annotations that are times."""


class ClusterState(Struct, frozen=True, kw_only=True):
    """A cluster's status as the status branch keeps it, and since when it does not answer ("": it does).

    ``unseen_hint`` is what to do about the reason why it cannot be seen.
    """

    name: str
    status: Manifest = field(default_factory=dict)
    failing_since: str = ""
    unseen_hint: str = ""

    @property
    def ready(self) -> str:
        """The status of the Ready condition; empty before the first observation."""
        return str(condition_of_type(self.status.get("conditions"), READY).get("status") or "")

    @property
    def condition_of_unseen_cluster(self) -> Mapping[str, Any]:
        """The condition that says why we cannot see the cluster; empty where we can, as far as we know."""
        found = condition_of_type(self.status.get("conditions"), OBSERVED)
        return found if found.get("status") == "False" else {}

    def without_looks(self) -> "ClusterState":
        """Return the state without what was found by looking at a cluster that is looked at no more."""
        conditions = [each for each in self.status.get("conditions") or () if each["type"] != OBSERVED]
        status = {**self.status, "conditions": conditions} if self.status else self.status
        return replace(self, status=status, failing_since="", unseen_hint="")

    def with_capacity_of(self, facts: Manifest) -> "ClusterState":
        """Return the state with the capacity of the facts rendered by, so that it changes when they do."""
        summary = facts.get("resourceSummary")
        status = {**self.status, "resourceSummary": summary} if summary else self.status
        return replace(self, status=status)


class Deviation(Struct, frozen=True, kw_only=True):
    """One object that is not as the commit says, or one field of it (``field``, owned by ``manager``), and why."""

    ref: ObjectRef
    action: str
    reason: str
    message: str = ""
    field: str = ""
    manager: str = ""


class _RecordedDeviation(ObjectName, frozen=True, kw_only=True):
    """A deviation as it is recorded, beside the fields that name its object."""

    action: str
    reason: str = ""
    message: str = ""
    field: str = ""
    manager: str = ""

    @classmethod
    def of_deviation(cls, each: Deviation) -> "_RecordedDeviation":
        return cls(
            **to_builtins(ObjectName.of_ref(each.ref)),
            action=str(each.action),
            reason=str(each.reason),
            message=each.message,
            field=each.field,
            manager=each.manager,
        )

    @property
    def deviation(self) -> Deviation:
        """The deviation that is recorded."""
        return Deviation(
            ref=self.ref,
            action=self.action,
            reason=self.reason,
            message=self.message,
            field=self.field,
            manager=self.manager,
        )


class _RecordFields(Struct, frozen=True, kw_only=True):
    metadata: Metadata
    deviations: tuple[_RecordedDeviation, ...] | None = None


class ClusterRecord(BranchFile, frozen=True, kw_only=True):
    """The record of a cluster.

    ``applied`` is the rendered commit that was last applied, ``outcome`` the end of the last apply, ``message`` and
    ``hint`` say why, and ``since`` is the time of the first pass that ended so. ``heartbeat`` is the time its agent
    last observed it, where the agent promises any; ``refused`` and ``refused_hint`` say why its agent refuses what its
    mirror has now, and ``clock`` by how much the agent found its clock to be wrong. ``deployer`` is the tool that
    applies its folder and told all this.
    ``deviations`` are what that pass left other than the commit says, without the failures that Works tell.
    """

    PATH: ClassVar[str] = "clusters/{cluster}.yaml"
    API_VERSION: ClassVar[str] = CLUSTER_API_VERSION
    KIND: ClassVar[str] = "Cluster"
    ABOUT: ClassVar[str] = "Karmada's Cluster with its status, and how the last pass over it ended."

    state: ClusterState
    applied: str = ""
    outcome: str = ""
    since: str = ""
    message: str = ""
    hint: str = ""
    heartbeat: str = ""
    refused: str = ""
    refused_hint: str = ""
    clock: str = ""
    deployer: str = ""
    deviations: tuple[Deviation, ...] = ()

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return the record in a plain object; FileFault where there is none."""
        check_version(value, cls.VERSION)
        fields, status = converted_to_struct(value, _RecordFields), checked_cluster_status(value)
        known = fields.metadata.annotations or {}
        state = ClusterState(
            name=fields.metadata.name,
            status=status,
            failing_since=known.get(FAILING, ""),
            unseen_hint=known.get(UNSEEN_HINT, ""),
        )
        words = {name: known.get(key, "") for name, key in _WORDS.items()}
        return cls(state=state, deviations=tuple(each.deviation for each in fields.deviations or ()), **words)

    def plain(self) -> Manifest:
        """Return the object in the file, without its version."""
        words = {FAILING: self.state.failing_since, UNSEEN_HINT: self.state.unseen_hint}
        words |= {key: getattr(self, name) for name, key in _WORDS.items()}
        written = {key: word for key, word in words.items() if word}
        metadata = {"name": self.state.name, **({"annotations": written} if written else {})}
        listed = [to_builtins(_RecordedDeviation.of_deviation(each)) for each in self.deviations]
        head = {"apiVersion": self.API_VERSION, "kind": self.KIND, "metadata": metadata}
        return {**head, "status": self.state.status, **({"deviations": listed} if listed else {})}

    @property
    def ready_since(self) -> str:
        """The time at which the cluster last became ready, or ceased to be."""
        return str(condition_of_type(self.state.status.get("conditions"), READY).get("lastTransitionTime") or "")

    @property
    def remedies(self) -> tuple[str, ...]:
        """The actions that its conditions call for, such as ``TrafficControl``."""
        found = self.state.status.get(REMEDIES)
        return tuple(map(str, found)) if isinstance(found, list) else ()

    @property
    def version(self) -> str:
        """The version of Kubernetes there."""
        return str(self.state.status.get("kubernetesVersion") or "")
