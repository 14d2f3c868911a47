"""A cluster's status from its observation: Karmada's Cluster status, with conditions that do not flip at a hiccup.

A cluster that stops answering is *failing* from its first failed observation; only when it has been failing for the
threshold does Ready become False. One that answers is Ready at once. One that we cannot see, for our credentials, our
rights, our names or our proxies fail, is as it was last known, and its condition ``Observed`` says why. What could not
be read - a group whose backend is down, nodes one may not list - keeps what was last known of it: unknown is never the
same as gone.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from msgspec import field
from msgspec.structs import replace

from reconciler.console.cleaning import on_one_line
from reconciler.ledger.cluster import ClusterState
from reconciler.ledger.conditions import condition_of_type, conditions_with_times, new_condition
from reconciler.ledger.member_schemas import KindVersion
from reconciler.members.discovery import Discovery
from reconciler.members.exchange import SILENT, Failure, FailureKind
from render.cluster import Cluster, ClusterCondition
from render.failover.health import (
    OBSERVED,
    READY,
    REPORTING,
    HealthThresholds,
    Probed,
    condition_of_single_probe,
    ready_condition_after_probe,
)
from render.model import Manifest
from render.timing import FIRST, parse_instant
from render.values import DiscreetStruct

from .capacity import count_nodes, resource_summary
from .pending_pods import Pending
from .schemas import SchemaObservation

_MOST_TEXT = 500
_THRESHOLDS = HealthThresholds(success=0)
"""A cluster must have been failing for Karmada's default before it counts as not ready, and is believed at once."""
_NOT_ASKED = frozenset({FailureKind.CREDENTIALS, FailureKind.WRONG_CLUSTER})
"""The failures of a cluster that was not even asked how it is."""
COMPLETE = "CompleteAPIEnablements"
AGENT_GRACE = 600.0
"""The seconds for which an agent may be silent before nobody goes by what it said."""


class MemberObservation(DiscreetStruct, frozen=True, kw_only=True):
    """The answers of one cluster to an observation.

    ``failure``: why it is not healthy. ``nodes`` and ``pods`` are None where they could not be listed; ``unread`` says
    why. ``uid``: its identity, where it was asked and answered. ``schemas`` are those of its custom kinds. ``pending``
    are the replicas that it cannot start, where that was asked (None: it was not). ``ahead`` are the seconds by which
    its clock was ahead of the one here (None: it does not tell). ``scales`` are the scale subresources of custom kinds.
    ``identity`` is the UID that it gave, whether or not that was known ("": not asked), and ``at`` the time of its last
    answer on the clock of the visits.
    """

    UNSHOWN = ("nodes", "pods", "pending")

    cluster: str
    failure: Failure | None = None
    uid: str = ""
    version: str = ""
    discovery: Discovery | None = None
    nodes: tuple[Manifest, ...] | None = None
    pods: tuple[Manifest, ...] | None = None
    unread: tuple[Failure, ...] = ()
    schemas: SchemaObservation | None = None
    pending: Pending | Failure | None = None
    ahead: float | None = None
    scales: Mapping[KindVersion, Manifest] = field(default_factory=dict)
    identity: str = ""
    at: float = float("-inf")

    @property
    def failure_of_silent_cluster(self) -> Failure | None:
        """The failure of a cluster that did not answer, or no more once it had said that it is healthy."""
        return self.failure or next((each for each in self.unread if each.kind in SILENT), None)


def cluster_state_after(
    cluster: Cluster,
    before: ClusterState | None,
    observed: MemberObservation,
    now: str,
    *,
    counts_blindness: bool = False,
) -> ClusterState:
    """Return a cluster's state after an observation. ``now`` is RFC 3339, to the second, in UTC.

    ``counts_blindness``: a cluster that refuses us or that we find no way to is failing, as in Karmada.
    """
    known = before or ClusterState(name=cluster.name)
    failure = observed.failure
    if failure is not None and observed.discovery is None:
        is_counted = counts_blindness and failure.kind not in _NOT_ASKED
        is_unseen = failure.is_without_sight_of_member and not is_counted
        return _state_of_unseen(known, failure, now) if is_unseen else _state_of_failing(known, failure, now)
    old = known.status
    status = {
        **old,
        "kubernetesVersion": observed.version or old.get("kubernetesVersion"),
        "apiEnablements": _api_enablements(observed, old.get("apiEnablements") or ()),
        **_capacity_fields_of_status(cluster, observed),
    }
    ready = condition_of_single_probe(is_online=True, is_healthy=True)
    conditions = [_condition_as_plain_data(ready), _complete_apis_condition(observed.discovery)]
    if condition_of_type(old.get("conditions"), OBSERVED):
        conditions.append(new_condition(OBSERVED, "True", "Answers"))
    status["conditions"] = conditions_with_times(conditions, old.get("conditions") or (), now)
    return ClusterState(name=cluster.name, status={key: value for key, value in status.items() if value})


def _state_of_unseen(known: ClusterState, failure: Failure, now: str) -> ClusterState:
    """Return the state of a cluster that we cannot see: as it was, with the reason."""
    old = known.status.get("conditions") or ()
    word = new_condition(OBSERVED, "False", str(failure.kind), on_one_line(failure.message)[:_MOST_TEXT])
    others = [each for each in old if each["type"] not in {OBSERVED, REPORTING}]
    status = {**known.status, "conditions": conditions_with_times([*others, word], old, now)}
    return ClusterState(name=known.name, status=status, unseen_hint=on_one_line(failure.hint)[:_MOST_TEXT])


def _state_of_failing(known: ClusterState, failure: Failure, now: str) -> ClusterState:
    """Return the state of a cluster that does not answer as it should: not ready once the threshold is over."""
    recorded = known.status.get("conditions") or ()
    old = [each for each in recorded if each["type"] != OBSERVED or each["status"] == "True"]
    if len(old) < len(recorded):
        known = replace(known, status={**known.status, "conditions": old})
    current = next((each for each in map(_parse_ready_condition, old) if each), None)
    probed = Probed("False", parse_instant(known.failing_since)) if known.failing_since else Probed("True")
    found = condition_of_single_probe(is_online=bool(failure.status), is_healthy=False)
    ready, _ = ready_condition_after_probe(found, current, probed, parse_instant(now) or FIRST, _THRESHOLDS).answer
    since = known.failing_since or now
    if ready == current:
        return ClusterState(name=known.name, status=known.status, failing_since=since)
    others = [each for each in old if each["type"] != READY]
    conditions = conditions_with_times([_condition_as_plain_data(ready), *others], old, now)
    return ClusterState(name=known.name, status={**known.status, "conditions": conditions}, failing_since=since)


def _parse_ready_condition(plain: Mapping[str, Any]) -> ClusterCondition | None:
    """Return the value of a Ready condition; None for another one."""
    if plain["type"] != READY:
        return None
    words = {name: str(plain.get(name) or "") for name in ("type", "status", "reason", "message")}
    return ClusterCondition(**words, since=str(plain.get("lastTransitionTime") or ""))


def _condition_as_plain_data(found: ClusterCondition) -> dict[str, str]:
    return new_condition(found.type, found.status, found.reason, found.message)


def status_with_unknown_condition(status: Manifest, recorded: Manifest, now: str) -> Manifest:
    """Return the status of a cluster whose agent has been silent for too long, given that recorded by the last pass."""
    old = status.get("conditions") or []
    unknown = new_condition(READY, "Unknown", "ClusterStatusUnknown", "its agent has stopped telling its status")
    known = [each for each in recorded.get("conditions") or () if each["type"] == READY]
    others = [each for each in old if each["type"] != READY]
    return {**status, "conditions": [*conditions_with_times([unknown], known, now), *others]}


def state_with_agent_condition(state: ClusterState, heard: str, now: str) -> ClusterState:
    """Return the state of a cluster with the condition that its agent reports, where that counts.

    It does for one that does not answer, once its agent was ``heard`` since then, and as long as that goes on.
    """
    old = state.status.get("conditions") or ()
    is_later = seconds_between(state.failing_since, heard) >= 0 if state.failing_since and heard else False
    is_heard = is_later and seconds_between(heard, now) <= AGENT_GRACE
    if not is_heard and all(each["type"] != REPORTING for each in old):
        return state
    word = new_condition(REPORTING, "True", "AgentReports", "its agent has reported since it stopped answering")
    others = [each for each in old if each["type"] != REPORTING]
    conditions = conditions_with_times([*others, word] if is_heard else others, old, now)
    return replace(state, status={**state.status, "conditions": conditions})


def seconds_between(earlier: str, later: str) -> float:
    """Return the seconds between two RFC 3339 times; what is no time counts as long ago."""
    try:
        return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
    except (ValueError, TypeError):
        return float("inf")


def _capacity_fields_of_status(cluster: Cluster, observed: MemberObservation) -> dict[str, Any]:
    if observed.nodes is None or observed.pods is None:
        return {}
    summary = resource_summary(observed.nodes, observed.pods, cluster.resource_models)
    return {"nodeSummary": count_nodes(observed.nodes), "resourceSummary": summary}


def _complete_apis_condition(discovery: Discovery | None) -> dict[str, str]:
    if discovery is None or not discovery.resources:
        return new_condition(COMPLETE, "False", "Empty", "collected empty APIEnablements from the cluster")
    if discovery.unavailable:
        return new_condition(COMPLETE, "False", "Partial", f"no answer for {', '.join(sorted(discovery.unavailable))}")
    return new_condition(COMPLETE, "True", "Complete", "collected complete APIEnablements from the cluster")


class _SameDiscovery:
    """The kinds of a cluster; equal to others only where they are the same object, as of members that serve the same.

    So it is listed once for all of them, and whoever reads the list can know it for the one that was read before.
    """

    def __init__(self, discovery: Discovery) -> None:
        self.discovery = discovery

    def __hash__(self) -> int:
        return id(self.discovery)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameDiscovery) and other.discovery is self.discovery


@lru_cache(maxsize=8)
def _enablements_of_answer(same: _SameDiscovery) -> list[Mapping[str, Any]]:
    return _listed_kinds(same.discovery, {}, ())


def _api_enablements(observed: MemberObservation, before: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return what is served, sorted, each resource with its scope; groups that did not answer stay as they were.

    A custom kind that only its scale subresource interprets has that as well.
    """
    discovery = observed.discovery
    if discovery is None or observed.scales or discovery.unavailable:
        return _listed_kinds(discovery, observed.scales, before)
    return _enablements_of_answer(_SameDiscovery(discovery))


def _listed_kinds(
    discovery: Discovery | None,
    scales: Mapping[KindVersion, Mapping[str, Any]],
    before: Sequence[Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    served = dict[str, list[dict[str, Any]]]()
    for item in discovery.resources.values() if discovery else ():
        entry: dict[str, Any] = {"name": item.plural, "kind": item.kind, "namespaced": item.is_namespaced}
        if scale := scales.get((item.api_version, item.kind)):
            entry["scale"] = scale
        served.setdefault(item.api_version, []).append(entry)
    listed: dict[str, Mapping[str, Any]] = {
        version: {"groupVersion": version, "resources": sorted(items, key=lambda item: str(item["name"]))}
        for version, items in served.items()
    }
    unanswered = discovery.unavailable if discovery else frozenset()
    for each in before:
        version = each["groupVersion"]
        if version not in listed and version.rpartition("/")[0] in unanswered:
            listed[version] = each
    return [listed[version] for version in sorted(listed)]
