"""The files of clusters on the status branch, and its front page: Karmada's Cluster, and the end of the last apply."""

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reconciler.deliver.deviations import Deviation
from reconciler.ledger.refusal import SourceRefusal
from reconciler.observe.cluster_status import ClusterState
from reconciler.observe.conditions import condition_of_type
from render.documents import emit
from render.failover.health import READY
from render.model import CLUSTER_API_VERSION, Manifest, ObjectRef
from render.remedies import Remedy, remedy_actions

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
"""The annotations of a record by the words they keep, in the order they are written."""
TIMES = (FAILING, _WORDS["since"], _WORDS["heartbeat"])
"""The annotations that are times."""


class ClusterRecord(Struct, frozen=True, kw_only=True):
    """The record of a cluster.

    ``applied`` is the rendered commit that was last applied, ``outcome`` the end of the last apply, ``message`` and
    ``hint`` say why, and ``since`` is the time of the first pass that ended so. ``heartbeat`` is the time its agent
    last observed it, where the agent promises any; ``refused`` and ``refused_hint`` say why its agent refuses what its
    mirror has now, and ``clock`` by how much the agent found its clock to be wrong. ``deployer`` is the tool that
    applies its folder and told all this.
    ``deviations`` are what that pass left other than the commit says, without the failures that Works tell.
    """

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


def with_remedies(record: ClusterRecord, remedies: Iterable[Remedy]) -> ClusterRecord:
    """Return a record with the actions that remedies call for by the conditions in it."""
    status = {name: value for name, value in record.state.status.items() if name != REMEDIES}
    actions = remedy_actions(record.state.name, status.get("conditions") or (), remedies)
    status |= {REMEDIES: list(actions)} if actions else {}
    return record if status == record.state.status else replace(record, state=replace(record.state, status=status))


def cluster_file(record: ClusterRecord) -> bytes:
    """Return a record as its file."""
    annotations = {FAILING: record.state.failing_since, UNSEEN_HINT: record.state.unseen_hint}
    annotations |= {key: getattr(record, name) for name, key in _WORDS.items()}
    written = {key: value for key, value in annotations.items() if value}
    metadata = {"name": record.state.name, **({"annotations": written} if written else {})}
    head = {"apiVersion": CLUSTER_API_VERSION, "kind": "Cluster", "metadata": metadata}
    listed = [_plain_deviation(each) for each in record.deviations]
    return emit({**head, "status": record.state.status, **({"deviations": listed} if listed else {})})


def _plain_deviation(each: Deviation) -> dict[str, str]:
    ref = each.ref
    words = {
        "group": ref.group,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "action": str(each.action),
        "reason": str(each.reason),
        "message": each.message,
        "field": each.field,
        "manager": each.manager,
    }
    return {key: word for key, word in words.items() if word}


def _parsed_deviation(manifest: Mapping[str, str]) -> Deviation:
    return Deviation(
        ref=ObjectRef(manifest.get("group", ""), manifest["kind"], manifest.get("namespace", ""), manifest["name"]),
        action=manifest["action"],
        reason=manifest.get("reason", ""),
        message=manifest.get("message", ""),
        field=manifest.get("field", ""),
        manager=manifest.get("manager", ""),
    )


def parse_cluster_record(manifest: Manifest) -> ClusterRecord:
    """Read a record back; KeyError, TypeError or AttributeError when the file is none."""
    metadata = manifest["metadata"]
    annotations = metadata.get("annotations") or {}
    state = ClusterState(
        name=str(metadata["name"]),
        status=manifest.get("status") or {},
        failing_since=str(annotations.get(FAILING) or ""),
        unseen_hint=str(annotations.get(UNSEEN_HINT) or ""),
    )
    words = {name: str(annotations.get(key) or "") for name, key in _WORDS.items()}
    deviations = tuple(_parsed_deviation(each) for each in manifest.get("deviations") or ())
    return ClusterRecord(state=state, deviations=deviations, **words)


class UnhealthyObject(Struct, frozen=True, kw_only=True):
    """An object that is not as it should be: the cluster, the reason and the time since then."""

    cluster: str
    object: str
    reason: str
    since: str
    message: str = ""


class ClusterLine(Struct, frozen=True, kw_only=True):
    """A cluster's line on the front page. ``ready`` is True, False, Unknown or nothing.

    One that is no member any more is disconnected: it is not observed, so what was last seen says nothing.
    """

    is_connected: bool = True
    ready: str = ""
    version: str = ""
    converged: str = ""
    outcome: str = ""
    objects: int = 0
    unhealthy: int = 0
    remedies: tuple[str, ...] = ()
    since: str = ""


_INTRODUCTION = """\
# The fleet as it was last seen

Written by Argosy. `clusters/` tells what each cluster is and can hold, `works/` how every object is in every cluster,
`bindings/` how it is all in all. `inventory/` is what pruning goes by: leave it alone.
"""
_MOST_UNHEALTHY = 50
DISCONNECTED = "disconnected: left as it was"


def status_page(
    lines: Mapping[str, ClusterLine], unhealthy: Iterable[UnhealthyObject], refusal: SourceRefusal | None = None
) -> bytes:
    """Return README.md of the status branch: what is refused, a line per cluster, what is not as it should be."""
    page = [_INTRODUCTION]
    if refusal is not None:
        page += [*(f"    {line}" for line in refusal.lines), "", "The last good commit stays applied meanwhile.", ""]
    page += ["| cluster | ready | version | converged | objects | unhealthy | since | |"]
    page += ["|---|---|---|---|---:|---:|---|---|"]
    for name, line in sorted(lines.items()):
        page.append(f"| [{name}](clusters/{name}.yaml) | {' | '.join(_cells(line))} |")
    worst = sorted(unhealthy, key=lambda each: (each.since, each.cluster, each.object))
    if worst:
        page += ["", "| not as it should be | cluster | reason | since |", "|---|---|---|---|"]
        page += [
            f"| {each.object} | {each.cluster} | {each.reason} | {each.since} |" for each in worst[:_MOST_UNHEALTHY]
        ]
    if len(worst) > _MOST_UNHEALTHY:
        page += ["", f"{len(worst) - _MOST_UNHEALTHY} more."]
    return ("\n".join(page) + "\n").encode()


def _cells(line: ClusterLine) -> tuple[str, ...]:
    converged = line.converged[:12]
    if not line.is_connected:
        return "", "", converged, "", "", "", DISCONNECTED
    outcome = "" if line.outcome == "Converged" else line.outcome
    return line.ready, line.version, converged, str(line.objects), str(line.unhealthy), line.since, outcome
