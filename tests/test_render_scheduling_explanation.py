"""A decision explains itself: failing filters, the order, regions, votes and single seats; and the numbers add up."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from render.binding import GracefulEvictionTask
from render.cluster import Taint
from render.cluster_index import ClusterIndex
from render.scheduling.batch import explanations_of_decisions, schedule_all
from render.scheduling.decisions import Refusal, ScheduledReason, Trigger
from render.scheduling.explanation import (
    Candidate,
    ExplainedDivision,
    ExplainedSeat,
    Explanation,
    Rejected,
    ScoredRegion,
    Vote,
)
from render.scheduling.replicas import Mode
from render.scheduling.rules import Strategy

from .schedulable import (
    AGGREGATED,
    DESCENDING,
    DUPLICATED,
    DYNAMIC,
    EQUAL,
    a_binding,
    a_cluster,
    a_placement,
    static,
    targets,
    with_room,
)


def explained(binding: Any, index: ClusterIndex, others: tuple[Any, ...] = ()) -> Explanation:
    found = next(explanations_of_decisions((*others, binding), index, among={binding.ref}), None)
    assert found is not None
    return found


def test_every_filter_a_cluster_fails_is_named() -> None:
    index = ClusterIndex(
        (
            a_cluster("a", api_enablements=frozenset(), taints=(Taint(key="gpu", effect="NoSchedule"),)),
            a_cluster("b"),
            a_cluster("c", is_terminating=True),
        )
    )
    binding = a_binding(
        2,
        a_placement(clusterAffinity={"clusterNames": ["b"]}),
        eviction_tasks=(GracefulEvictionTask(from_cluster="b"),),
    )
    explanation = explained(binding, index)
    (attempt,) = explanation.attempts
    assert explanation.terminating == ("c",)
    assert attempt.rejected == (
        Rejected(
            cluster="a",
            reasons=(
                ("APIEnablement", "cluster(s) did not have the API resource"),
                ("TaintToleration", "cluster(s) had untolerated taint {gpu:NoSchedule}"),
                ("ClusterAffinity", "cluster(s) did not match the placement cluster affinity constraint"),
            ),
        ),
        Rejected(cluster="b", reasons=(("ClusterEviction", "cluster(s) is in the process of eviction"),)),
    )
    assert attempt.refusal == Refusal(
        ScheduledReason.NO_CLUSTER_FIT,
        "0/3 clusters are available: 1 cluster(s) did not have the API resource, "
        "1 cluster(s) is in the process of eviction.",
    )
    assert explanation.decision.condition is not None
    assert explanation.decision.condition.message == attempt.refusal.message


def test_a_scale_up_shows_room_votes_and_what_was_there() -> None:
    explanation = explained(a_binding(7, a_placement(DYNAMIC), targets(a=2)), with_room(a=3, b=6, c=0))
    (attempt,) = explanation.attempts
    assert (explanation.trigger, explanation.strategy) == (Trigger.REPLICAS_CHANGED, Strategy.DYNAMIC_WEIGHT)
    assert attempt.candidates == (
        Candidate(cluster="a", tier=0, score=100, room=5, held=2, is_selected=True, replicas=4),
        Candidate(cluster="b", tier=0, score=0, room=6, held=None, is_selected=True, replicas=3),
        Candidate(cluster="c", tier=0, score=0, room=0, held=None, is_selected=True, replicas=0),
    )
    assert attempt.divisions == (
        ExplainedDivision(
            mode=Mode.SCALE_UP,
            replicas=5,
            votes=(
                Vote(cluster="a", base=2, votes=3, more=2),
                Vote(cluster="b", base=0, votes=6, more=3),
                Vote(cluster="c", base=0, votes=0, more=0),
            ),
            is_descending=attempt.divisions[0].is_descending,
        ),
    )


def test_taints_that_a_cluster_passes_in_spite_of_are_named_with_the_reason() -> None:
    taint = Taint(key="cluster.karmada.io/unschedulable", effect="NoSchedule")
    index = ClusterIndex((a_cluster("a", 5, taints=(taint,)), a_cluster("b", 5)))
    (attempt,) = explained(a_binding(3, a_placement(DYNAMIC), targets(a=2)), index).attempts
    reason = "cluster.karmada.io/unschedulable:NoSchedule: taints refuse no cluster that has it already"
    assert {each.cluster: each.in_spite_of for each in attempt.candidates} == {"a": reason, "b": ""}
    tolerating = a_placement(DYNAMIC, clusterTolerations=[{"operator": "Exists"}])
    (attempt,) = explained(a_binding(3, tolerating), index).attempts
    reason = "cluster.karmada.io/unschedulable:NoSchedule: tolerated by the placement"
    assert {each.cluster: each.in_spite_of for each in attempt.candidates} == {"a": reason, "b": ""}


def test_a_division_can_be_followed_seat_by_seat() -> None:
    explanation = explained(a_binding(3, a_placement(EQUAL), uid=DESCENDING), with_room(a=0, b=0))
    (division,) = explanation.attempts[0].divisions
    assert (division.mode, division.is_descending) == (Mode.STATIC, True)
    assert list(division.seats()) == [
        ExplainedSeat(number=1, cluster="b", average=1.0, tied=("a",)),
        ExplainedSeat(number=2, cluster="a", average=1.0, tied=()),
        ExplainedSeat(number=3, cluster="b", average=1 / 3, tied=("a",)),
    ]


def test_regions_show_their_scores_and_which_were_chosen() -> None:
    rules = a_placement(
        DUPLICATED,
        spreadConstraints=[
            {"spreadByField": "region", "minGroups": 1, "maxGroups": 1},
            {"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2},
        ],
    )
    index = ClusterIndex(a_cluster(name, room, region=name[0]) for name, room in (("a1", 9), ("b1", 5), ("b2", 7)))
    (attempt,) = explained(a_binding(4, rules), index).attempts
    assert attempt.regions == (
        ScoredRegion(
            name="a",
            clusters=("a1",),
            score=1000,
            is_chosen=False,
            why="minGroups and maxGroups ask for 1 by region: others score more together",
        ),
        ScoredRegion(name="b", clusters=("b2", "b1"), score=2000, is_chosen=True),
    )
    assert [(each.cluster, each.room, each.is_selected, each.replicas) for each in attempt.candidates] == [
        ("a1", 9, False, 0),
        ("b2", 7, True, 4),
        ("b1", 5, True, 4),
    ]


def test_every_group_tried_is_told_and_the_last_one_succeeded() -> None:
    groups = [{"affinityName": "g1", "clusterNames": ["a"]}, {"affinityName": "g2", "clusterNames": ["b"]}]
    explanation = explained(a_binding(5, a_placement(AGGREGATED, clusterAffinities=groups)), with_room(a=1, b=9))
    first, second = explanation.attempts
    assert (first.affinity, first.refusal) == (
        "g1",
        Refusal(
            ScheduledReason.UNSCHEDULABLE,
            "failed to assign replicas: failed to scale up: Clusters available replicas 1 are not enough to schedule.",
        ),
    )
    assert (second.affinity, second.refusal) == ("g2", None)
    assert explanation.decision.observed_affinity == "g2"


def test_a_binding_is_explained_with_the_room_its_predecessors_left() -> None:
    before = a_binding(4, a_placement(DYNAMIC), name="a")
    (attempt,) = explained(a_binding(6, a_placement(DYNAMIC), name="b"), with_room(m=9), (before,)).attempts
    assert [each.room for each in attempt.candidates] == [5]


def test_what_is_not_scheduled_has_no_explanation() -> None:
    binding = a_binding(4, a_placement(DYNAMIC), scheduling_suspended=True)
    assert list(explanations_of_decisions((binding,), with_room(m=9), among={binding.ref})) == []


strategies = st.sampled_from((DUPLICATED, DYNAMIC, AGGREGATED, EQUAL, static(a=3, b=2)))
rooms = st.dictionaries(st.sampled_from("abcde"), st.integers(0, 9), min_size=1)


@given(strategies, rooms, st.integers(0, 12), st.dictionaries(st.sampled_from("abc"), st.integers(0, 4)))
def test_the_numbers_add_up(
    scheduling: dict[str, Any], room: dict[str, int], replicas: int, held: dict[str, int]
) -> None:
    index = ClusterIndex(
        a_cluster(name, pods, region="r" if pods % 2 else "", is_terminating=pods == 7) for name, pods in room.items()
    )
    rules = a_placement(scheduling, clusterAffinity={"exclude": ["e"]})
    binding = a_binding(replicas, rules, targets(**held))
    explanation = explained(binding, index)
    assert (explanation.decision,) == schedule_all((binding,), index).decisions
    for attempt in explanation.attempts:
        told = {each.cluster for each in attempt.rejected} | {each.cluster for each in attempt.candidates}
        assert len(told) == len(attempt.rejected) + len(attempt.candidates)
        assert told | set(explanation.terminating) == set(room)
        shares = {each.cluster: each.replicas for each in attempt.candidates if each.replicas}
        votes = [vote for division in attempt.divisions for vote in division.votes]
        if attempt.refusal is None:
            placed = {each.name: each.replicas for each in explanation.decision.targets if each.replicas}
            # Where nothing was to be decided, the attempts are those there would have been.
            assert explanation.trigger is Trigger.NONE or shares == placed
            assert shares == {vote.cluster: vote.base + vote.more for vote in votes if vote.base + vote.more}
        for division in attempt.divisions:
            assert sum(vote.more for vote in division.votes) == division.replicas
            assert len(list(division.seats())) == division.replicas
