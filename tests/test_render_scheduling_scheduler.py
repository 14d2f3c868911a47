"""One binding through the whole scheduler: triggers, filters, fallback to other groups, and what is recorded."""

from typing import Any, NamedTuple

from msgspec.structs import replace

from render.binding import Binding, Condition, GracefulEvictionTask
from render.cluster import Cluster, Taint
from render.cluster_index import ClusterIndex
from render.placement import Placement, WorkloadAffinity
from render.resources import Component, ReplicaRequirements
from render.scheduling.decisions import (
    SUCCESS_MESSAGE,
    ScheduledReason,
    SchedulingDecision,
    Trigger,
    binding_with_decision,
)
from render.scheduling.options import SchedulingOptions
from render.scheduling.scheduler import Scheduler

from .schedulable import (
    AGGREGATED,
    DUPLICATED,
    DYNAMIC,
    EQUAL,
    a_binding,
    a_cluster,
    a_placement,
    replicas_of,
    scheduled,
    static,
    targets,
    with_room,
)
from .tables import each_row

ARGOSY, KARMADA = SchedulingOptions(), SchedulingOptions.karmada()
GPU = Taint(key="gpu", value="yes", effect="NoSchedule")
DRAIN = Taint(key="drain", effect="NoExecute")
EVICTED = (GracefulEvictionTask(from_cluster="a"),)


class Filtered(NamedTuple):
    why: str
    cluster: dict[str, Any]
    rules: dict[str, Any]
    reason: str
    binding: dict[str, Any] = {}  # noqa: RUF012  # a NamedTuple's default, never changed
    options: SchedulingOptions = KARMADA


def by(field: str) -> dict[str, Any]:
    return {"spreadConstraints": [{"spreadByField": field, "minGroups": 1, "maxGroups": 1}]}


NO_API = "cluster(s) did not have the API resource"
HELD = {"targets": targets(a=2)}
FILTERED = [
    Filtered("it does not serve the kind", {"api_enablements": frozenset()}, {}, NO_API),
    Filtered("Karmada takes no record for no API", {"api_enablements": None}, {}, NO_API),
    Filtered("we do not", {"api_enablements": None}, {}, "", options=ARGOSY),
    Filtered("what is recorded counts for us too", {"api_enablements": frozenset()}, {}, NO_API, options=ARGOSY),
    Filtered("it holds the binding already", {"api_enablements": frozenset()}, {}, "", HELD),
    Filtered("a taint", {"taints": (GPU,)}, {}, "cluster(s) had untolerated taint {gpu=yes:NoSchedule}"),
    Filtered("a taint without value", {"taints": (DRAIN,)}, {}, "cluster(s) had untolerated taint {drain:NoExecute}"),
    Filtered(
        "a tolerated taint",
        {"taints": (GPU,)},
        {"clusterTolerations": [{"key": "gpu", "operator": "Equal", "value": "yes"}]},
        "",
    ),
    Filtered("to Karmada no taint matters where it is", {"taints": (DRAIN,)}, {}, "", HELD),
    Filtered("NoSchedule does not matter where it is", {"taints": (GPU,)}, {}, "", HELD, ARGOSY),
    Filtered(
        "NoExecute does",
        {"taints": (DRAIN,)},
        {},
        "cluster(s) had untolerated taint {drain:NoExecute}",
        HELD,
        ARGOSY,
    ),
    Filtered(
        "the affinity",
        {},
        {"clusterAffinity": {"clusterNames": ["b"]}},
        "cluster(s) did not match the placement cluster affinity constraint",
        HELD,
    ),
    Filtered("no region", {}, by("region"), "cluster(s) did not have region property"),
    Filtered("no zone", {}, by("zone"), "cluster(s) did not have zones property"),
    Filtered("no provider", {}, by("provider"), "cluster(s) did not have provider property"),
    Filtered(
        "no region, though static weights ignore the constraint",
        {},
        {**by("region"), "replicaScheduling": static(a=1)},
        "cluster(s) did not have region property",
    ),
    Filtered("it is being evicted", {}, {}, "cluster(s) is in the process of eviction", {"eviction_tasks": EVICTED}),
]


@each_row("case", FILTERED, ids=lambda case: case.why)
def test_filters(case: Filtered) -> None:
    index = ClusterIndex((a_cluster("a", **case.cluster),))
    decision = scheduled(a_binding(2, a_placement(**case.rules), **case.binding), index, case.options)
    assert decision.condition is not None
    want = f"0/1 clusters are available: 1 {case.reason}." if case.reason else SUCCESS_MESSAGE
    assert decision.condition.message == want


def test_the_message_counts_clusters_by_their_first_reason() -> None:
    """A cluster that fails twice counts once, one being deleted counts in the total alone."""
    index = ClusterIndex(
        (
            a_cluster("a", api_enablements=frozenset(), taints=(GPU,)),
            a_cluster("b", taints=(GPU,)),
            a_cluster("c", taints=(DRAIN, GPU)),
            a_cluster("d", taints=(GPU,)),
            a_cluster("e", is_terminating=True),
        )
    )
    decision = scheduled(a_binding(2, a_placement(clusterAffinity={"exclude": ["a", "b"]})), index)
    assert decision.condition == Condition(
        type="Scheduled",
        status="False",
        reason="NoClusterFit",
        message=(
            "0/5 clusters are available: 1 cluster(s) did not have the API resource, "
            "1 cluster(s) had untolerated taint {drain:NoExecute}, "
            "2 cluster(s) had untolerated taint {gpu=yes:NoSchedule}."
        ),
    )


def test_without_clusters_the_message_says_so() -> None:
    decision = scheduled(a_binding(2, a_placement()), ClusterIndex(()))
    assert decision.condition is not None
    assert decision.condition.message == "0/0 clusters are available: no cluster exists."


class Due(NamedTuple):
    why: str
    binding: Binding
    want: Trigger
    options: SchedulingOptions = KARMADA
    clusters: ClusterIndex = with_room(a=9, b=9)


ON_A = a_placement(EQUAL, clusterAffinity={"clusterNames": ["a"]})
HELD_ON_A = a_binding(2, ON_A, targets(a=2))
GROUPS = [{"affinityName": "g1", "clusterNames": ["a"]}, {"affinityName": "g2", "clusterNames": ["b"]}]
GROUPED = a_placement(EQUAL, clusterAffinities=GROUPS)
OTHER_EDITED = a_placement(EQUAL, clusterAffinities=[{**GROUPS[0], "exclude": ["c"]}, GROUPS[1]])


def refused_on_a(reason: ScheduledReason = ScheduledReason.UNSCHEDULABLE) -> Binding:
    return replace(HELD_ON_A, conditions=(Condition(type="Scheduled", status="False", reason=reason, message="no"),))


DUE = [
    Due("never placed", a_binding(2, ON_A), Trigger.PLACEMENT_CHANGED),
    Due("nothing happened", HELD_ON_A, Trigger.NONE),
    Due("another placement", replace(HELD_ON_A, placement=a_placement(EQUAL)), Trigger.PLACEMENT_CHANGED),
    Due("an equal placement", replace(HELD_ON_A, placement=replace(ON_A)), Trigger.NONE),
    Due("other replicas", replace(HELD_ON_A, replicas=3), Trigger.REPLICAS_CHANGED),
    Due(
        "asked to",
        replace(HELD_ON_A, reschedule_triggered_at="2025-01-02T00:00:00Z", last_scheduled_at="2025-01-01T00:00:00Z"),
        Trigger.RESCHEDULE_TRIGGERED,
    ),
    Due(
        "asked to before",
        replace(HELD_ON_A, reschedule_triggered_at="2025-01-02T00:00:00Z", last_scheduled_at="2025-01-02T00:00:00Z"),
        Trigger.NONE,
    ),
    Due(
        "only another group was edited",
        a_binding(2, OTHER_EDITED, targets(b=2), observed_affinity="g2", applied_placement=GROUPED),
        Trigger.NONE,
    ),
    Due(
        "the group in use was edited",
        a_binding(2, OTHER_EDITED, targets(a=2), observed_affinity="g1", applied_placement=GROUPED),
        Trigger.PLACEMENT_CHANGED,
    ),
    Due(
        "the group in use is gone",
        a_binding(2, GROUPED, targets(a=2), observed_affinity="g9", applied_placement=OTHER_EDITED),
        Trigger.PLACEMENT_CHANGED,
    ),
    Due(
        "only workload affinity was edited, no group in use",
        replace(HELD_ON_A, placement=replace(ON_A, workload_affinity=WorkloadAffinity(affinity="app"))),
        Trigger.PLACEMENT_CHANGED,
    ),
    Due("Duplicated", a_binding(2, a_placement(DUPLICATED), targets(a=2)), Trigger.DUPLICATED_OR_NON_WORKLOAD),
    Due("no strategy", a_binding(2, a_placement(), targets(a=2)), Trigger.DUPLICATED_OR_NON_WORKLOAD),
    Due(
        "a non-workload",
        a_binding(0, a_placement(EQUAL), targets(a=0), requirements=None),
        Trigger.DUPLICATED_OR_NON_WORKLOAD,
    ),
    Due(
        "Duplicated with other replicas", a_binding(3, a_placement(DUPLICATED), targets(a=2)), Trigger.REPLICAS_CHANGED
    ),
    Due(
        "a target that is being deleted",
        HELD_ON_A,
        Trigger.TERMINATING_TARGET_CLUSTERS,
        clusters=ClusterIndex((a_cluster("a", is_terminating=True),)),
    ),
    Due("a target that is gone", HELD_ON_A, Trigger.TERMINATING_TARGET_CLUSTERS, clusters=with_room(b=9)),
    Due("a target gone, to us", HELD_ON_A, Trigger.TARGET_NOT_ALLOWED, ARGOSY, with_room(b=9)),
    Due(
        "a label that no longer matches moves nothing for Karmada",
        a_binding(2, a_placement(EQUAL, clusterAffinity={"labelSelector": {"matchLabels": {"x": "y"}}}), targets(a=2)),
        Trigger.NONE,
    ),
    Due(
        "a label that no longer matches, to us",
        a_binding(2, a_placement(EQUAL, clusterAffinity={"labelSelector": {"matchLabels": {"x": "y"}}}), targets(a=2)),
        Trigger.TARGET_NOT_ALLOWED,
        ARGOSY,
    ),
    Due(
        "NoExecute, to us",
        HELD_ON_A,
        Trigger.TARGET_NOT_ALLOWED,
        ARGOSY,
        ClusterIndex((a_cluster("a", taints=(DRAIN,)),)),
    ),
    Due("NoSchedule moves nothing", HELD_ON_A, Trigger.NONE, ARGOSY, ClusterIndex((a_cluster("a", taints=(GPU,)),))),
    Due(
        "an API that is gone moves nothing",
        HELD_ON_A,
        Trigger.NONE,
        ARGOSY,
        ClusterIndex((a_cluster("a", api_enablements=frozenset()),)),
    ),
    Due(
        "components that are nowhere",
        a_binding(0, ON_A, requirements=None, components=(Component(name="c", replicas=1),), applied_placement=ON_A),
        Trigger.REPLICAS_CHANGED,
    ),
    Due("what it was refused for is gone", refused_on_a(), Trigger.REFUSAL_OUTDATED, ARGOSY),
    Due("Karmada keeps a refusal", refused_on_a(), Trigger.NONE),
    Due("it was refused and is asked for still", replace(refused_on_a(), replicas=9), Trigger.REPLICAS_CHANGED, ARGOSY),
    Due(
        "it was refused for a cluster that is still drained",
        refused_on_a(),
        Trigger.TARGET_NOT_ALLOWED,
        ARGOSY,
        ClusterIndex((a_cluster("a", taints=(DRAIN,)),)),
    ),
    Due(
        "it was refused, and stays for want of another cluster",
        replace(refused_on_a(), staying=frozenset("a")),
        Trigger.NONE,
        ARGOSY,
        ClusterIndex((a_cluster("a", taints=(DRAIN,)),)),
    ),
    Due("another scheduler's", replace(HELD_ON_A, replicas=3, scheduler_name="mine"), Trigger.NONE),
    Due("suspended", replace(HELD_ON_A, replicas=3, scheduling_suspended=True), Trigger.NONE),
    Due("without a placement", replace(HELD_ON_A, replicas=3, placement=None), Trigger.NONE),
]


@each_row("case", DUE, ids=lambda case: case.why)
def test_what_triggers_a_decision(case: Due) -> None:
    decision = Scheduler(case.clusters, case.options).schedule(case.binding)
    assert decision.trigger is case.want
    if case.want is Trigger.NONE:
        assert binding_with_decision(case.binding, decision) is case.binding


@each_row("scheduling", [EQUAL, DYNAMIC, AGGREGATED], ids=["static", "dynamic", "aggregated"])
def test_a_refusal_ends_with_what_it_was_for_and_moves_no_replica(scheduling: dict[str, Any]) -> None:
    rules = a_placement(scheduling, spreadConstraints=[{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}])
    held, clusters = targets(a=3, b=1), with_room(a=1, b=1, c=99)
    asked = a_binding(4000, rules, held)
    drained = ClusterIndex([a_cluster("a", 1), a_cluster("b", 1, taints=(DRAIN,))])
    for refusal in (scheduled(asked, clusters, ARGOSY), scheduled(replace(asked, replicas=4), drained, ARGOSY)):
        if refusal.is_scheduled:  # static weights ask nobody for room
            continue
        waiting = replace(binding_with_decision(asked, refusal), replicas=4)
        again = scheduled(waiting, clusters, ARGOSY)
        assert again.condition is not None
        assert (again.condition.reason, again.targets) == (ScheduledReason.SUCCESS, held)
        settled = binding_with_decision(waiting, again)
        assert scheduled(settled, clusters, ARGOSY).trigger is Trigger.NONE
        assert scheduled(waiting, clusters).condition is None


def test_what_fits_nowhere_is_tried_again_though_it_asks_for_no_replicas() -> None:
    rules = a_placement(AGGREGATED, clusterAffinity={"labelSelector": {"matchLabels": {"tier": "gold"}}})
    nowhere, gold = with_room(a=9), ClusterIndex([a_cluster("a", 9, labels={"tier": "gold"})])
    waiting = a_binding(0, rules)
    for _ in range(2):
        refusal = scheduled(waiting, nowhere, ARGOSY)
        assert refusal.condition is not None
        assert refusal.condition.reason == ScheduledReason.NO_CLUSTER_FIT
        waiting = binding_with_decision(waiting, refusal)
    assert scheduled(waiting, gold, ARGOSY).is_scheduled


def test_success_is_recorded_with_the_placement_applied() -> None:
    binding = replace(a_binding(2, ON_A), conditions=(Condition(type="FullyApplied", status="True"),))
    decision = scheduled(binding, with_room(a=9))
    condition = Condition(type="Scheduled", status="True", reason="Success", message=SUCCESS_MESSAGE)
    assert decision == SchedulingDecision(
        ref=binding.ref,
        trigger=Trigger.PLACEMENT_CHANGED,
        targets=targets(a=2),
        condition=condition,
        applied_placement=ON_A,
    )
    assert binding_with_decision(binding, decision) == replace(
        binding, targets=targets(a=2), applied_placement=ON_A, conditions=(condition, *binding.conditions)
    )


def test_where_no_cluster_fits_a_binding_is_emptied() -> None:
    binding = replace(a_binding(5, a_placement(EQUAL), targets(a=3, b=2)), placement=ON_A)
    decision = scheduled(binding, with_room(b=9))
    assert (decision.targets, decision.applied_placement) == ((), ON_A)
    assert decision.condition is not None
    assert decision.condition.reason == ScheduledReason.NO_CLUSTER_FIT


def test_without_room_a_binding_stays_as_it_was() -> None:
    rules = a_placement(DYNAMIC)
    binding = a_binding(9, rules, targets(a=3, b=2))
    decision = scheduled(binding, with_room(a=1, b=1))
    assert (decision.targets, decision.applied_placement) == (binding.targets, rules)
    assert decision.condition is not None
    assert decision.condition.reason == ScheduledReason.UNSCHEDULABLE


def test_where_constraints_fail_a_binding_stays_as_it_was() -> None:
    rules = a_placement(spreadConstraints=[{"spreadByField": "cluster", "minGroups": 3, "maxGroups": 3}])
    binding = a_binding(2, rules, targets(a=2))
    decision = scheduled(binding, with_room(a=9, b=9))
    assert decision.targets == binding.targets
    assert decision.condition is not None
    assert (decision.condition.reason, decision.condition.message) == (
        ScheduledReason.SCHEDULER_ERROR,
        "failed to select clusters: the number of feasible clusters is less than spreadConstraint.MinGroups",
    )


def test_maximum_of_no_clusters_leaves_nothing_to_assign_to() -> None:
    rules = a_placement(spreadConstraints=[{"spreadByField": "cluster", "minGroups": 1}])
    decision = scheduled(a_binding(2, rules), with_room(a=9))
    assert decision.condition is not None
    assert decision.condition.message == "failed to assign replicas: no clusters available to schedule"


def grouped(replicas: int, held: dict[str, int], **fields: Any) -> Binding:
    return a_binding(replicas, a_placement(AGGREGATED, clusterAffinities=GROUPS), targets(**held), **fields)


def test_groups_are_tried_in_order_and_the_one_used_is_remembered() -> None:
    decision = scheduled(grouped(5, {}), with_room(a=3, b=9))
    assert (replicas_of(decision), decision.observed_affinity) == ({"b": 5}, "g2")
    later = grouped(6, {"b": 5}, observed_affinity="g2")
    again = scheduled(later, with_room(a=99, b=9))
    assert (replicas_of(again), again.observed_affinity) == ({"b": 6}, "g2")


def test_a_request_to_reschedule_starts_over_and_is_answered() -> None:
    asked = grouped(
        6,
        {"b": 6},
        observed_affinity="g2",
        last_scheduled_at="2025-01-01T00:00:00Z",
        reschedule_triggered_at="2025-01-02T00:00:00Z",
    )
    index = with_room(a=99, b=9)
    decision = scheduled(asked, index)
    assert (replicas_of(decision), decision.observed_affinity) == ({"a": 6}, "g1")
    assert scheduled(binding_with_decision(asked, decision), index).trigger is Trigger.NONE


def test_a_first_request_after_a_decision_without_a_time_counts() -> None:
    first = a_binding(6, a_placement(DYNAMIC))
    placed = binding_with_decision(first, scheduled(first, with_room(a=3, b=3)))
    asked = replace(placed, reschedule_triggered_at="2025-01-02T00:00:00Z")
    decision = scheduled(asked, with_room(a=90, b=0))
    assert decision.trigger is Trigger.RESCHEDULE_TRIGGERED
    assert replicas_of(decision) == {"a": 6}
    assert scheduled(binding_with_decision(asked, decision), with_room(a=0, b=90)).trigger is Trigger.NONE


def test_when_all_groups_fail_the_first_failure_is_the_answer() -> None:
    binding = grouped(5, {"a": 2}, observed_affinity="g1")
    decision = scheduled(binding, with_room(a=1))
    assert decision.condition is not None
    assert (decision.condition.reason, decision.targets) == (ScheduledReason.UNSCHEDULABLE, binding.targets)
    assert decision.observed_affinity == "g1"


def test_unknown_capacity_is_hinted_at() -> None:
    index = ClusterIndex(a_cluster(name) for name in "abcde")
    binding = a_binding(5, a_placement(DYNAMIC))
    decision = scheduled(binding, index)
    assert decision.hint == (
        "No capacity is known of a, b, c and 2 more: "
        "declare status.resourceSummary in the Cluster, or let it be observed."
    )
    (condition,) = binding_with_decision(binding, decision).conditions
    assert decision.condition is not None
    assert condition.message == f"{decision.condition.message} {decision.hint}"


def test_karmada_lists_the_roomiest_first_and_we_list_names() -> None:
    binding = a_binding(2, a_placement(DUPLICATED))
    index = with_room(a=1, b=9, c=5)
    assert list(replicas_of(scheduled(binding, index, KARMADA))) == ["b", "c", "a"]
    assert list(replicas_of(scheduled(binding, index, ARGOSY))) == ["a", "b", "c"]


def test_ties_break_by_uid_then_by_the_objects_own_name() -> None:
    """The names differ in one bit, and so do their hashes in the lowest one."""
    index, rules = with_room(a=0, b=0), a_placement(EQUAL)

    def first(options: SchedulingOptions, **fields: Any) -> dict[str, int]:
        return replicas_of(scheduled(a_binding(1, rules, **fields), index, options))

    by_name = {name: first(ARGOSY, name=name) for name in ("web", "wec")}
    assert sorted(map(str, by_name.values())) == ["{'a': 1}", "{'b': 1}"]
    assert {name: first(KARMADA, name=name) for name in by_name} == {"web": {"a": 1}, "wec": {"a": 1}}
    uid = "d43fdeeb-d750-4e2b-bee3-64eb94534f4c"
    assert [first(options, name=name, uid=uid) for options in (ARGOSY, KARMADA) for name in by_name] == [{"b": 1}] * 4


NO_ROOM = "failed to select clusters: no enough resource when selecting 1 clusters"


def test_components_go_together_to_one_cluster_where_the_constraint_says_one() -> None:
    one = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]}
    requirements = ReplicaRequirements()
    components = tuple(
        Component(name=name, replicas=replicas, requirements=requirements) for name, replicas in (("a", 1), ("b", 2))
    )
    fields: dict[str, Any] = {"requirements": None, "components": components}
    together = scheduled(a_binding(0, a_placement(DYNAMIC, **one), **fields), with_room(m1=6, m2=2))
    assert replicas_of(together) == {"m1": 0}
    everywhere = scheduled(a_binding(0, a_placement(), **fields), with_room(m1=6, m2=2))
    assert replicas_of(everywhere) == {"m1": 0, "m2": 0}
    full = scheduled(a_binding(0, a_placement(DYNAMIC, **one), **fields), with_room(m1=2, m2=2))
    assert full.condition is not None
    assert full.condition.message == NO_ROOM


SETS: list[tuple[str, str, int, Any]] = [
    ("one component is a set as well, and needs room", "a", 1, NO_ROOM),
    ("a set for one cluster needs room for all of it", "ab", 1, NO_ROOM),
    ("components for several clusters need no room", "ab", 2, {"m1": 0, "m2": 0}),
]


@each_row("why, names, most, want", SETS)
def test_only_a_set_that_goes_to_one_cluster_needs_room(why: str, names: str, most: int, want: Any) -> None:
    spread = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": most}]}
    components = tuple(Component(name=name, replicas=1, requirements=ReplicaRequirements()) for name in names)
    bound = a_binding(0, a_placement(DYNAMIC, **spread), requirements=None, components=components)
    decision = scheduled(bound, with_room(m1=0, m2=0))
    assert decision.condition is not None
    assert want in (replicas_of(decision), decision.condition.message), why


def test_a_placement_is_read_once_for_all_that_share_it() -> None:
    scheduler = Scheduler(with_room(a=1))
    rules: Placement = a_placement(EQUAL)
    assert scheduler.state.rules(rules) is scheduler.state.rules(rules)


def test_equal_targets_are_one_list() -> None:
    scheduler = Scheduler(ClusterIndex((Cluster(name="a"), Cluster(name="b"))))
    lists = [scheduler.schedule(a_binding(4, a_placement(EQUAL), name=name)).targets for name in ("x", "y")]
    assert lists[0] is lists[1]
