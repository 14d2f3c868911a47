"""Pods that no node takes: which Deployments they are of, since when, and what is ready beside them."""

from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.observe.pending_pods import Pending, observe_pending
from render.model import ObjectRef
from render.rescheduling.descheduling import PendingPods, PendingReplicas

from .fakes import FakeCluster
from .pending import add_pods, add_replica_set

WEB = ObjectRef("apps", "Deployment", "default", "web")
NINE, TEN = "2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"


def found(member: FakeCluster) -> Pending | Failure:
    pods = [each for (plural, _, _), each in member.objects.items() if plural == "pods."]
    return observe_pending(member, "paris", pods)


def test_pods_of_the_newest_revision_count_and_what_is_ready_of_any() -> None:
    member = FakeCluster()
    add_pods(member, add_replica_set(member, "web", 9), ready=2, since=(NINE,))
    add_pods(member, add_replica_set(member, "web", 10), ready=1, since=(TEN, NINE, TEN))
    pending = (PendingPods(since=NINE, pods=1), PendingPods(since=TEN, pods=2))
    assert found(member) == {WEB: PendingReplicas(cluster="paris", ready=3, pending=pending)}


def test_a_workload_of_which_only_an_older_revision_waits_is_left_alone() -> None:
    member = FakeCluster()
    add_pods(member, add_replica_set(member, "web", 1), since=(NINE,))
    add_pods(member, add_replica_set(member, "web", 2), ready=1)
    assert found(member) == {}


def test_pods_of_nobody_and_those_that_are_being_deleted_do_not_count() -> None:
    member = FakeCluster()
    add_pods(member, add_replica_set(member, "web", 1), since=(NINE,))
    add_pods(member, "stray", since=(NINE,))
    member.objects["pods.", "default", "web-1-waiting-0"]["metadata"]["deletionTimestamp"] = TEN
    assert found(member) == {}


def test_without_pods_that_wait_nothing_is_asked() -> None:
    member = FakeCluster()
    add_pods(member, add_replica_set(member, "web", 1), ready=2)
    before = len(member.requests)
    assert (found(member), len(member.requests)) == ({}, before)


def test_a_namespace_that_may_not_be_read_is_left_out_and_another_failure_is_one() -> None:
    refused = Failure(kind=FailureKind.FORBIDDEN, message="no", status=403)
    broken = Failure(kind=FailureKind.UNAVAILABLE, message="etcd failed", status=500)

    def answer(failure: Failure) -> Answer | Failure | Pending:
        def fault(request: Request) -> Answer | Failure | None:
            return failure if "replicasets" in request.path else None

        member = FakeCluster(faults=[fault])
        add_pods(member, "web-1", since=(NINE,))
        return found(member)

    assert answer(refused) == {}
    assert answer(broken) == broken


def test_an_answer_of_another_shape_is_a_failure_of_the_member() -> None:
    pods = [{"metadata": {"name": "p", "ownerReferences": [{"kind": "ReplicaSet", "controller": True}]}}]
    failure = observe_pending(FakeCluster(), "paris", pods)
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.UNEXPECTED
