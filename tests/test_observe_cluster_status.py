"""A cluster's capacity, counted from its nodes and pods, and a status that keeps the parts nobody could read."""

from typing import Any, NamedTuple

from reconciler.ledger.cluster import ClusterState
from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Failure, FailureKind
from reconciler.observe.capacity import count_nodes, resource_summary
from reconciler.observe.cluster_status import MemberObservation, cluster_state_after
from render.cluster import Cluster, ResourceModel, ResourceModelRange

from .tables import each_row

DOWN = Failure(kind=FailureKind.UNREACHABLE, message="it is down")
SICK = Failure(kind=FailureKind.UNAVAILABLE, message="[-]etcd failed", status=500)


def a_node(name: str, *, ready: str = "True", **allocatable: str) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": ready}]
    return {"metadata": {"name": name}, "status": {"allocatable": allocatable, "conditions": conditions}}


def a_pod(node: str = "", phase: str = "Running", **requests: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "resources": {"requests": requests}}]}
    return {"metadata": {"name": "p"}, "spec": spec | ({"nodeName": node} if node else {}), "status": {"phase": phase}}


class Capacity(NamedTuple):
    why: str
    nodes: list[dict[str, Any]]
    pods: list[dict[str, Any]]
    want: dict[str, dict[str, str]]


CAPACITIES = [
    Capacity(
        "nodes add up exactly, ready or not, each resource in its own notation",
        [a_node("a", cpu="1500m", memory="3Gi"), a_node("b", ready="False", cpu="2500m", memory="1536Mi")],
        [],
        {"allocatable": {"cpu": "4", "memory": "4608Mi"}},
    ),
    Capacity(
        "a pod on a node takes its request and one of pods",
        [a_node("a", cpu="4", pods="10")],
        [a_pod("a", cpu="100m"), a_pod("a", cpu="250m", memory="64Mi")],
        {"allocatable": {"cpu": "4", "pods": "10"}, "allocated": {"cpu": "350m", "memory": "64Mi", "pods": "2"}},
    ),
    Capacity(
        "a pod without a node is being allocated",
        [a_node("a", cpu="4")],
        [a_pod(cpu="8", phase="Pending")],
        {"allocatable": {"cpu": "4"}, "allocating": {"cpu": "8", "pods": "1"}},
    ),
    Capacity(
        "a pod that ended takes nothing",
        [a_node("a", cpu="4")],
        [a_pod("a", cpu="1", phase="Succeeded"), a_pod("a", cpu="1", phase="Failed")],
        {"allocatable": {"cpu": "4"}},
    ),
    Capacity("no nodes hold nothing", [], [], {}),
]


@each_row("case", CAPACITIES, ids=lambda case: case.why)
def test_capacity(case: Capacity) -> None:
    assert resource_summary(case.nodes, case.pods) == case.want


def grade(number: int, cpu: str, memory: str) -> ResourceModel:
    ranges = (ResourceModelRange(name="cpu", min=cpu, max="9"), ResourceModelRange(name="memory", min=memory, max="9"))
    return ResourceModel(grade=number, ranges=ranges)


GRADES = [grade(2, "4", "16Gi"), grade(0, "0", "0"), grade(1, "2", "4Gi")]


class Graded(NamedTuple):
    why: str
    nodes: list[dict[str, Any]]
    pods: list[dict[str, Any]]
    want: list[tuple[int, int]]


GRADED = [
    Graded(
        "the scarcest resource decides the grade",
        [a_node("a", cpu="8", memory="4Gi", pods="9")],
        [],
        [(0, 0), (1, 1), (2, 0)],
    ),
    Graded(
        "what pods took does not count",
        [a_node("a", cpu="8", memory="64Gi", pods="9")],
        [a_pod("a", cpu="5"), a_pod(cpu="3")],
        [(0, 0), (1, 1), (2, 0)],
    ),
    Graded(
        "the minimum itself is enough",
        [a_node("a", cpu="4", memory="16Gi", pods="9")],
        [],
        [(0, 0), (1, 0), (2, 1)],
    ),
    Graded(
        "a node with no room for a pod is of no grade, and the ones after it still count",
        [a_node("a", cpu="4", memory="16Gi", pods="1"), a_node("b", cpu="4", memory="16Gi", pods="1")],
        [a_pod("a")],
        [(0, 0), (1, 0), (2, 1)],
    ),
    Graded(
        "a node without a modelled resource is of the lowest grade",
        [a_node("a", cpu="4", pods="1")],
        [],
        [(0, 1), (1, 0), (2, 0)],
    ),
]


@each_row("case", GRADED, ids=lambda case: case.why)
def test_grades(case: Graded) -> None:
    found = resource_summary(case.nodes, case.pods, GRADES)["allocatableModelings"]
    assert [(each["grade"], each["count"]) for each in found] == case.want


def test_nodes_are_counted_by_readiness() -> None:
    nodes = [a_node("a"), a_node("b", ready="False"), a_node("c", ready="Unknown"), {"metadata": {"name": "d"}}]
    assert count_nodes(nodes) == {"totalNum": 4, "readyNum": 1}


def served(*kinds: tuple[str, str], unavailable: tuple[str, ...] = ()) -> Discovery:
    resources = {}
    for group, kind in kinds:
        item = Resource(group=group, version="v1", kind=kind, plural=f"{kind.lower()}s", is_namespaced=True)
        resources[item.api_version, kind] = item
    return Discovery(resources=resources, unavailable=frozenset(unavailable))


def looked(discovery: Discovery | None = None, **known: Any) -> MemberObservation:
    return MemberObservation(cluster="m1", version="v1.36.3", discovery=discovery or served(("", "Pod")), **known)


CLUSTER = Cluster(name="m1")
NOON, LATER, MUCH_LATER = "2026-11-21T12:00:00Z", "2026-11-21T12:00:29Z", "2026-11-21T12:00:31Z"


def test_a_group_that_does_not_answer_keeps_its_kinds() -> None:
    before = cluster_state_after(CLUSTER, None, looked(served(("", "Pod"), ("shop.example.com", "Banner"))), NOON)
    partial = looked(served(("", "Pod"), unavailable=("shop.example.com",)))
    after = cluster_state_after(CLUSTER, before, partial, LATER)
    assert after.status["apiEnablements"] == [
        {
            "groupVersion": "shop.example.com/v1",
            "resources": [{"name": "banners", "kind": "Banner", "namespaced": True}],
        },
        {"groupVersion": "v1", "resources": [{"name": "pods", "kind": "Pod", "namespaced": True}]},
    ]
    assert after.status["conditions"][1] == {
        "type": "CompleteAPIEnablements",
        "status": "False",
        "reason": "Partial",
        "message": "no answer for shop.example.com",
        "lastTransitionTime": LATER,
    }
    gone = cluster_state_after(CLUSTER, before, looked(served(("", "Pod"))), LATER)
    assert [each["groupVersion"] for each in gone.status["apiEnablements"]] == ["v1"]


def test_the_kinds_of_members_that_serve_the_same_are_one_list_unless_something_is_known_of_one_alone() -> None:
    discovery = served(("", "Pod"), ("shop.example.com", "Banner"))
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    scaled = looked(discovery, scales={("shop.example.com/v1", "Banner"): scale})
    seen = (looked(discovery), scaled, looked(discovery), looked(served(("", "Pod"))))
    one, other, same, fewer = (cluster_state_after(CLUSTER, None, each, NOON).status["apiEnablements"] for each in seen)
    assert one is same
    assert [entry["resources"] for entry in one] == [
        [{"name": "banners", "kind": "Banner", "namespaced": True}],
        [{"name": "pods", "kind": "Pod", "namespaced": True}],
    ]
    assert other[0]["resources"] == [{"name": "banners", "kind": "Banner", "namespaced": True, "scale": scale}]
    assert fewer == one[1:]


def test_capacity_that_may_not_be_read_stays_as_it_was() -> None:
    before = cluster_state_after(CLUSTER, None, looked(nodes=(a_node("a", cpu="4"),), pods=()), NOON)
    after = cluster_state_after(CLUSTER, before, looked(unread=(DOWN,)), LATER)
    assert after.status["resourceSummary"] == {"allocatable": {"cpu": "4"}}
    assert after.status["nodeSummary"] == {"totalNum": 1, "readyNum": 1}


class Failing(NamedTuple):
    why: str
    seen: list[tuple[str, Failure | None]]
    want: tuple[str, str, str]


FAILING = [
    Failing("the first look at a dead cluster already says so", [(NOON, DOWN)], ("False", "ClusterNotReachable", NOON)),
    Failing("one that never was ready stays so", [(NOON, DOWN), (LATER, DOWN)], ("False", "ClusterNotReachable", NOON)),
    Failing("a hiccup is none", [(NOON, None), (LATER, DOWN)], ("True", "ClusterReady", NOON)),
    Failing(
        "a long one is one hiccup only, for it was ready between",
        [(NOON, None), (LATER, DOWN), (LATER, None), (MUCH_LATER, DOWN)],
        ("True", "ClusterReady", NOON),
    ),
    Failing(
        "half a minute of failing is enough",
        [(NOON, None), (NOON, DOWN), (MUCH_LATER, DOWN)],
        ("False", "ClusterNotReachable", MUCH_LATER),
    ),
    Failing(
        "a server that answers without ok is not ready, but reachable",
        [(NOON, None), (NOON, SICK), (MUCH_LATER, SICK)],
        ("False", "ClusterNotReady", MUCH_LATER),
    ),
    Failing(
        "who is back is ready at once",
        [(NOON, DOWN), (LATER, None), (MUCH_LATER, None)],
        ("True", "ClusterReady", LATER),
    ),
]


@each_row("case", FAILING, ids=lambda case: case.why)
def test_readiness(case: Failing) -> None:
    state: ClusterState | None = None
    for now, failure in case.seen:
        seen = looked() if failure is None else MemberObservation(cluster="m1", failure=failure)
        state = cluster_state_after(CLUSTER, state, seen, now)
    assert state is not None
    condition = next(each for each in state.status["conditions"] if each["type"] == "Ready")
    assert (condition["status"], condition["reason"], condition["lastTransitionTime"]) == case.want
