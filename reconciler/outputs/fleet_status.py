"""The document of ``argosy status``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, UnsetType

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .fleet_bindings import BindingPart, binding_parts
from .parts import (
    ClusterName,
    Held,
    Message,
    NextChange,
    ObjectName,
    PendingObjects,
    Reason,
    RefusalPart,
    Rendered,
    UnknownCapacityPart,
    next_change_part,
    pending_part,
    refusal_part,
    unknown_capacity_part,
)
from .planned_rollouts import RolloutsUnderWay, rollout_part
from .status_parts import (
    Applied,
    FleetDeviationPart,
    Hint,
    Known,
    LateReason,
    Observation,
    as_recorded,
    fields_of_deviation,
    fields_of_progress,
    observation_part,
)

if TYPE_CHECKING:
    from reconciler.record.cluster_files import ClusterLine
    from reconciler.status.branches import RecordedFleet
    from reconciler.status.live_replicas import LiveShare
    from render.binding import Binding
    from render.quota.enforcement import QuotaUsage
    from render.rebalancers.rebalancing import RebalancerPass
    from render.rescheduling.requests import RescheduleRequest

Unsettled = Mapping[tuple[str, str, str], tuple[str, str]]
Amounts = Mapping[str, str]


class FleetClusterPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster of a fleet."""

    objects: Annotated[int, meaning_of_field("How many objects its folder has.")]
    replicas: Annotated[
        int, meaning_of_field("How many replicas are placed there, without those of Jobs that have ended.")
    ]
    live: (
        Annotated[
            int, meaning_of_field("How many replicas its objects ask for; left out unless all of them are known.")
        ]
        | UnsetType
    ) = UNSET
    live_seen_at: (
        Annotated[
            str,
            meaning_of_field("Present if one of these changes more often than it is recorded: when it was seen so."),
        ]
        | UnsetType
    ) = UNSET
    connected: Annotated[bool, meaning_of_field("False if it left the source.")]
    taints: (
        Annotated[
            tuple[str, ...], meaning_of_field("The taints that its file has, such as `argosy.dev/drain:NoExecute`.")
        ]
        | UnsetType
    ) = UNSET
    unbuilt: Annotated[tuple[str, ...], meaning_of_field("The objects that could not be built for it.")]
    ready: Annotated[str, meaning_of_field("Its Ready condition: `True`, `False` or `Unknown`.")] | UnsetType = UNSET
    version: Annotated[str, meaning_of_field("Its Kubernetes version.")] | UnsetType = UNSET
    converged: Annotated[str | None, meaning_of_field("The rendered commit it converged to.")] | UnsetType = UNSET
    outcome: Annotated[str, meaning_of_field("How the last pass over it ended.")] | UnsetType = UNSET
    unhealthy: Annotated[int, meaning_of_field("How many of its objects are not applied and healthy.")] | UnsetType = (
        UNSET
    )
    since: Annotated[str, meaning_of_field("The time since when the outcome is so.")] | UnsetType = UNSET
    remedy_actions: (
        Annotated[tuple[str, ...], meaning_of_field("The actions that Remedies call for by its conditions.")]
        | UnsetType
    ) = UNSET
    applied: Applied | UnsetType = UNSET
    known: Known | UnsetType = UNSET
    reason: LateReason | UnsetType = UNSET
    message: Message | UnsetType = UNSET
    hint: Hint | UnsetType = UNSET
    held: Held | UnsetType = UNSET
    observation: Observation | UnsetType = UNSET


class CronRunPart(DocumentPart, frozen=True, kw_only=True):
    """A run of a rule."""

    due: Annotated[str, meaning_of_field("The time at which it was due.")]
    ran: Annotated[str, meaning_of_field("The time of the pass that ran it.")]
    replicas: Annotated[int, meaning_of_field("The replicas that it set.")] | UnsetType = UNSET
    minimum: Annotated[int, meaning_of_field("The minReplicas that it set for a FederatedHPA.")] | UnsetType = UNSET
    maximum: Annotated[int, meaning_of_field("The maxReplicas that it set for a FederatedHPA.")] | UnsetType = UNSET
    message: Annotated[str, meaning_of_field("Why it failed.")] | UnsetType = UNSET


class CronRulePart(DocumentPart, frozen=True, kw_only=True):
    """A rule that scales an object."""

    name: Annotated[str, meaning_of_field("The rule.")]
    in_force: (
        Annotated[Mapping[str, Any], meaning_of_field("What it says; left out while it is suspended.")] | UnsetType
    ) = UNSET
    next: Annotated[str, meaning_of_field("The time at which it fires next.")] | UnsetType = UNSET
    runs: Annotated[tuple[CronRunPart, ...], meaning_of_field("Its latest runs, newest first.")] | UnsetType = UNSET
    failed_runs: (
        Annotated[tuple[CronRunPart, ...], meaning_of_field("Those that failed, newest first.")] | UnsetType
    ) = UNSET


class CronPart(DocumentPart, frozen=True, kw_only=True):
    """An object that a CronFederatedHPA scales."""

    object: ObjectName
    autoscaler: Annotated[str, meaning_of_field("The CronFederatedHPA.")]
    rules: Annotated[tuple[CronRulePart, ...], meaning_of_field("Its rules.")]


class ObservedWorkloadPart(DocumentPart, frozen=True, kw_only=True):
    """A workload of a rebalancer."""

    workload: Annotated[Mapping[str, str], meaning_of_field("The workload as it is named there.")]
    result: (
        Annotated[str, meaning_of_field("`Successful` or `Failed`; left out while it is not rescheduled yet.")]
        | UnsetType
    ) = UNSET
    reason: Reason | UnsetType = UNSET


class RebalancerPart(DocumentPart, frozen=True, kw_only=True):
    """A rebalancer of the source."""

    rebalancer: Annotated[str, meaning_of_field("The WorkloadRebalancer.")]
    file: Annotated[str, meaning_of_field("The file it stands in.")]
    observed_workloads: Annotated[tuple[ObservedWorkloadPart, ...], meaning_of_field("What became of its workloads.")]
    finish_time: (
        Annotated[str, meaning_of_field("The time of the pass that was done with all of them.")] | UnsetType
    ) = UNSET
    expires: (
        Annotated[str, meaning_of_field("The end of its time to live, after which the file may go.")] | UnsetType
    ) = UNSET


class QuotaSharePart(DocumentPart, frozen=True, kw_only=True):
    """A member's share of a quota."""

    hard: Amounts
    used: Amounts
    unsettled_since: (
        Annotated[str, meaning_of_field("Present if it changes more often than it is recorded: since when.")]
        | UnsetType
    ) = UNSET
    observed_at: (
        Annotated[str, meaning_of_field("The time at which it was seen so; present with `unsettledSince`.")] | UnsetType
    ) = UNSET


class QuotaPart(DocumentPart, frozen=True, kw_only=True):
    """A quota of the source."""

    quota: Annotated[str, meaning_of_field("The FederatedResourceQuota, as `namespace/name`.")]
    limits: Annotated[Amounts, meaning_of_field("Its limits, by resource.")]
    used: Annotated[
        Amounts, meaning_of_field("What is used of them: requests of what is placed, or what members report.")
    ]
    clusters: Annotated[Mapping[str, QuotaSharePart], meaning_of_field("What members report of their shares.")]


class UnwellPart(DocumentPart, frozen=True, kw_only=True):
    """An object that is not applied and healthy."""

    object: ObjectName
    cluster: ClusterName
    reason: Reason
    since: str
    message: Message


class FleetStatusDocument(OutputDocument, frozen=True, kw_only=True):
    """A fleet: the rendered branch, and the observation of every member."""

    kind = "FleetStatus"
    about = "The state of the fleet."
    printed_by = ("status",)

    branch: Annotated[str, meaning_of_field("The rendered branch.")]
    rendered: Rendered
    source: Annotated[str, meaning_of_field("The source commit that is rendered.")]
    newest: Annotated[str, meaning_of_field("The newest source commit that is known.")]
    head: Annotated[str, meaning_of_field("The commit HEAD points to.")]
    current: Annotated[bool, meaning_of_field("True if the newest source is known to be rendered.")]
    engine: Annotated[str, meaning_of_field("The version of Argosy that rendered it.")]
    next: NextChange | UnsetType = UNSET
    clusters: Annotated[
        Mapping[str, FleetClusterPart],
        meaning_of_field("For each cluster: what is rendered for it, and what was seen of it."),
    ]
    bindings: Annotated[tuple[BindingPart, ...], meaning_of_field("The bindings.")]
    pending: PendingObjects
    unselected: (
        Annotated[
            tuple[ObjectName, ...], meaning_of_field("The templates that go nowhere, because no policy selects them.")
        ]
        | UnsetType
    ) = UNSET
    unknown_capacities: (
        Annotated[
            tuple[UnknownCapacityPart, ...],
            meaning_of_field("The clusters that get no replicas by room, as nobody knows how much they have."),
        ]
        | UnsetType
    ) = UNSET
    cron: (
        Annotated[
            tuple[CronPart, ...],
            meaning_of_field("What CronFederatedHPAs scale, with the latest runs of their rules."),
        ]
        | UnsetType
    ) = UNSET
    quotas: (
        Annotated[tuple[QuotaPart, ...], meaning_of_field("The FederatedResourceQuotas of the source.")] | UnsetType
    ) = UNSET
    rollouts: RolloutsUnderWay | UnsetType = UNSET
    rebalancers: (
        Annotated[
            tuple[RebalancerPart, ...],
            meaning_of_field("The WorkloadRebalancers of the source, as passes that reach members recorded them."),
        ]
        | UnsetType
    ) = UNSET
    refused: (
        Annotated[RefusalPart, meaning_of_field("Present if passes refuse the newest source: why.")] | UnsetType
    ) = UNSET
    recorded_at: (
        Annotated[
            str,
            meaning_of_field("The time of the newest commit of the status branch; without changes there is none."),
        ]
        | UnsetType
    ) = UNSET
    unwell: (
        Annotated[tuple[UnwellPart, ...], meaning_of_field("The objects that are not applied and healthy.")] | UnsetType
    ) = UNSET
    deviations: (
        Annotated[
            tuple[FleetDeviationPart, ...],
            meaning_of_field(
                "What the last pass kept, left in finalizers or yielded, so that it is not as the commit says."
            ),
        ]
        | UnsetType
    ) = UNSET


def fleet_status_document(branches: "RecordedFleet") -> FleetStatusDocument:
    """Return the fleet as a document."""
    from reconciler.pipeline.pending import pending_of
    from reconciler.status.live_replicas import live_shares_of_bindings
    from render.timing import epoch_text

    fleet = branches.fleet
    is_recorded = bool(branches.recorded.files)
    shares = tuple(live_shares_of_bindings(branches, fleet.bindings)) if is_recorded else ()
    return FleetStatusDocument(
        branch=fleet.branch,
        rendered=fleet.previous.commit,
        source=fleet.previous.source,
        newest=fleet.lag.newest,
        head=fleet.lag.head,
        current=fleet.lag.is_current,
        engine=fleet.previous.version,
        next=next_change_part(branches.flip),
        clusters=_cluster_parts(branches, shares),
        bindings=binding_parts(fleet.bindings, shares),
        pending=tuple(map(pending_part, pending_of(fleet.bindings))),
        unselected=value_unless_empty(tuple(map(str, fleet.templates_of_no_cluster))),
        unknown_capacities=value_unless_empty(tuple(map(unknown_capacity_part, fleet.unknown_capacities))),
        **_fields_of_timed_rules(branches),
        refused=UNSET if branches.refusal is None else refusal_part(branches.refusal),
        recorded_at=epoch_text(branches.status_time) if is_recorded else UNSET,
        unwell=tuple(_unwell_parts(branches)) if is_recorded else UNSET,
        deviations=tuple(_deviation_parts(branches)) if is_recorded else UNSET,
    )


def _cluster_parts(branches: "RecordedFleet", shares: Sequence["LiveShare"]) -> dict[str, FleetClusterPart]:
    from reconciler.record.recorded_status import line_by_cluster
    from reconciler.status.blind_spots import reasons_members_are_unseen
    from reconciler.status.live_replicas import live_total_by_cluster

    fleet, recorded = branches.fleet, branches.recorded
    lines = line_by_cluster(recorded, fleet.members)
    progress = branches.progress if branches.is_applied_by_passes else {}
    spots = reasons_members_are_unseen(recorded, fleet.members) if progress else {}
    known = {name for name in lines if name in progress and progress[name].is_known}
    totals = {name: each for name, each in live_total_by_cluster(shares).items() if name in known and not each.unknown}
    return {
        name: FleetClusterPart(
            objects=fleet.objects.get(name, 0),
            replicas=branches.replicas.get(name, 0),
            live=totals[name].replicas if name in totals else UNSET,
            live_seen_at=value_unless_empty(totals[name].seen) if name in totals else UNSET,
            connected=name in fleet.members,
            taints=value_unless_empty(tuple(map(str, fleet.taints_of(name)))),
            unbuilt=tuple(str(binding.ref) for binding in fleet.unbuilt_bindings_by_cluster.get(name, ())),
            **_fields_of_cluster_line(lines.get(name)),
            **fields_of_progress(progress.get(name)),
            observation=observation_part(spots.get(name)),
        )
        for name in fleet.clusters
    }


def _fields_of_cluster_line(line: "ClusterLine | None") -> dict[str, Any]:
    """Return the fields that say what was seen of a cluster; none where nothing was."""
    if line is None:
        return {}
    return {
        "ready": line.ready,
        "version": line.version,
        "converged": line.converged or None,
        "outcome": line.outcome,
        "unhealthy": line.unhealthy,
        "since": line.since,
        "remedy_actions": value_unless_empty(tuple(line.remedies)),
    }


def _fields_of_timed_rules(branches: "RecordedFleet") -> dict[str, Any]:
    """Return what cron rules, quotas and rebalancers do, as far as there are any."""
    from reconciler.record.quota_usage import unsettled_quota_shares
    from reconciler.status.rule_views import rebalancers_with_outcome, usage_of_quotas

    unsettled = unsettled_quota_shares(branches.fleet.source.desired, branches.recorded)
    return {
        "cron": value_unless_empty(tuple(each for binding in branches.fleet.bindings for each in _cron_parts(binding))),
        "quotas": value_unless_empty(tuple(_quota_part(usage, unsettled) for usage in usage_of_quotas(branches))),
        "rollouts": value_unless_empty(tuple(map(rollout_part, branches.fleet.rollouts_under_way))),
        "rebalancers": value_unless_empty(
            tuple(_rebalancer_part(*each) for each in rebalancers_with_outcome(branches))
        ),
    }


def _cron_parts(binding: "Binding") -> Iterator[CronPart]:
    from render.cron.records import plain_memories

    for memory in plain_memories(binding.cron):
        yield CronPart(object=str(binding.ref), autoscaler=memory["name"], rules=as_recorded(memory["rules"]))


def _quota_part(usage: "QuotaUsage", unsettled: Unsettled) -> QuotaPart:
    namespace, name, status = usage.quota.namespace, usage.quota.name, usage.status
    shares = {}
    for each in status.get("aggregatedStatus", ()):
        since, seen = unsettled.get((namespace, name, each["clusterName"]), ("", ""))
        shares[each["clusterName"]] = QuotaSharePart(
            hard=each["hard"],
            used=each["used"],
            unsettled_since=value_unless_empty(since),
            observed_at=seen if since else UNSET,
        )
    return QuotaPart(quota=f"{namespace}/{name}", limits=status["overall"], used=status["overallUsed"], clusters=shares)


def _rebalancer_part(request: "RescheduleRequest", done: "RebalancerPass") -> RebalancerPart:
    from reconciler.record.rebalancer_status import rebalancer_status_file
    from render.timing import instant_text

    status = rebalancer_status_file(request, done).plain()["status"]
    return RebalancerPart(
        rebalancer=request.name,
        file=request.path,
        observed_workloads=as_recorded(status["observedWorkloads"]),
        finish_time=status.get("finishTime", UNSET),
        expires=instant_text(done.expires) if done.expires else UNSET,
    )


def _unwell_parts(branches: "RecordedFleet") -> Iterator[UnwellPart]:
    from reconciler.status.fleet_views import objects_not_healthy

    for each in objects_not_healthy(branches):
        yield UnwellPart(
            object=each.object, cluster=each.cluster, reason=each.reason, since=each.since, message=each.message
        )


def _deviation_parts(branches: "RecordedFleet") -> Iterator[FleetDeviationPart]:
    members = branches.fleet.members
    for name, record in sorted(branches.recorded.clusters().items()):
        if name in members:
            yield from (FleetDeviationPart(cluster=name, **fields_of_deviation(each)) for each in record.deviations)
