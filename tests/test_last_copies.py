"""The last copy: what becomes of a cluster takes no object away that no other cluster takes; an edit of it does."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reconciler.pipeline.failover import FailoverInputs
from reconciler.pipeline.rounds import schedule_in_rounds
from reconciler.pipeline.runs import RunsOfPass
from reconciler.pipeline.schedules import schedule_bindings
from reconciler.pipeline.taints import TaintedClusters
from render.binding import Binding
from render.cluster import Cluster, ResourceSummary, Taint
from render.cluster_index import ClusterIndex
from render.documents import parse_documents
from render.model import ObjectRef
from render.settings.failover import EvictionGuard, FailoverSettings
from render.settings.fleet import Fleet

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters, weighted
from .schedulable import AGGREGATED, DUPLICATED, EQUAL, a_binding, a_placement
from .test_failover import a_fleet

BINDING = "bindings/default/Deployment.apps/nginx.yaml"
COPY = "clusters/paris/default/Deployment.apps/nginx.yaml"
SAID = "Deployment.apps default/nginx: EvictionBlocked: stays in paris: no other cluster takes it"
LABELS = {"tier": "gold"}
SELECTED = {"clusterAffinity": {"labelSelector": {"matchLabels": LABELS}}}
BY_REGION = [{"spreadByField": field, "minGroups": 1, "maxGroups": 1} for field in ("region", "cluster")]
DOWN = [{"key": "down", "effect": "NoExecute"}]
DRAINED = [{"key": "argosy.dev/drain", "effect": effect} for effect in ("NoExecute", "NoSchedule")]
TOLERATED = [{"key": "down", "operator": "Exists"}]
IN_EUROPE = {"clusterAffinity": {"fieldSelector": {"matchExpressions": [
    {"key": "provider", "operator": "In", "values": ["ours"]}
]}}}  # fmt: skip

ANYWHERE = a_policy(
    "other",
    selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}],
    placement={"clusterTolerations": [{"operator": "Exists"}]},
)


def paris(**fields: Any) -> dict[str, Any]:
    return a_cluster("paris", **{"region": "eu", "labels": LABELS, "provider": "ours", **fields})


class Case(NamedTuple):
    """A placement that paris alone meets, and the files of the commit after which it does not any more."""

    why: str
    placement: Mapping[str, Any]
    files: Mapping[str, Any]
    settings: Mapping[str, Any] = {}


TAKEN_AWAY = [
    Case("a NoExecute taint", on_clusters("paris"), {"paris.yaml": paris(taints=DOWN)}),
    Case("a drain", on_clusters("paris"), {"paris.yaml": paris(taints=DRAINED)}),
    Case("a label", SELECTED, {"paris.yaml": paris(labels={})}),
    Case("a provider", IN_EUROPE, {"paris.yaml": paris(provider="theirs")}),
    Case("a region", on_clusters("paris", spreadConstraints=BY_REGION), {"paris.yaml": paris(region="")}),
    Case(
        "a label of the first group of clusters",
        {"clusterAffinities": [{"affinityName": "gold", **SELECTED["clusterAffinity"]}]},
        {"paris.yaml": paris(labels={})},
    ),
    Case(
        "a taint where replicas are divided",
        on_clusters("paris", replicaScheduling=weighted(paris=1)),
        {"paris.yaml": paris(taints=DOWN)},
    ),
    Case(
        "a label with Karmada's own triggers",
        SELECTED,
        {"paris.yaml": paris(labels={})},
        {"rescheduling": "Karmada"},
    ),
    Case(
        "a label with failover",
        SELECTED,
        {"paris.yaml": paris(labels={})},
        {"featureGates": {"Failover": True}},
    ),
    Case(
        "a taint, and an edit of another part of the policy",
        on_clusters("paris"),
        {
            "paris.yaml": paris(taints=DOWN),
            "policy.yaml": a_policy(placement=on_clusters("paris", "atlantis", clusterTolerations=[])),
        },
    ),
    Case(
        "a taint in the commit of a new template",
        on_clusters("paris"),
        {"paris.yaml": paris(taints=DOWN), "web.yaml": a_deployment(image="nginx:2")},
    ),
]
LEAVES = [
    Case("an edit of the affinity", on_clusters("paris"), {"policy.yaml": a_policy(placement=on_clusters("atlantis"))}),
    Case(
        "a toleration that goes",
        on_clusters("paris", clusterTolerations=TOLERATED),
        {"policy.yaml": a_policy(placement=on_clusters("paris")), "paris.yaml": paris(taints=DOWN)},
    ),
    Case(
        "a taint, with lastCopy: Evict",
        on_clusters("paris"),
        {"paris.yaml": paris(taints=DOWN)},
        {"failover": {"lastCopy": "Evict"}},
    ),
    Case(
        "a label, as in Karmada",
        SELECTED,
        {"paris.yaml": paris(labels={})},
        {"compatibility": "Karmada", "requireRecordedAPIs": False},
    ),
    Case("its template", on_clusters("paris"), {"web.yaml": None}),
]


def rendered(folder: Path, capsys: pytest.CaptureFixture[str], case: Case) -> Repository:
    """A fleet in which paris has a Deployment, and rome could have others, after both commits."""
    repository = Repository.create(folder / "fleet")
    files = {
        "argosy.yaml": a_fleet(removalGuard={"whole": 100}, **case.settings),
        "paris.yaml": paris(),
        "rome.yaml": a_cluster("rome"),
        "web.yaml": a_deployment(),
        "policy.yaml": a_policy(placement=case.placement),
        # Something else stays in paris, so that it is never empty.
        "other.yaml": [a_config_map("other"), ANYWHERE],
    }
    repository.commit(files)
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert COPY in repository.files()
    repository.commit(case.files)
    return repository


def notes(repository: Repository) -> list[tuple[str, str, str]]:
    conditions = parse_documents(repository.show(BINDING).encode())[0].value["status"]["conditions"]
    return [(each["type"], each["status"], each["reason"]) for each in conditions]


@pytest.mark.parametrize("case", TAKEN_AWAY, ids=lambda case: case.why)
def test_the_last_copy_stays_whatever_becomes_of_its_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: Case
) -> None:
    """Before, only failover kept it: without that gate it left its only cluster, and the pass warned afterwards."""
    fleet = rendered(tmp_path, capsys, case)
    ended = argosy(fleet, capsys, "reconcile")
    assert (ended.code, SAID in ended.err) == (1, True), ended
    assert COPY in fleet.files()
    assert notes(fleet) == [("Scheduled", "True", "Success"), ("Evicted", "False", "EvictionBlocked")]
    explained = argosy(fleet, capsys, "explain", "deploy/nginx").out
    assert "paris      EvictionBlocked   stays in paris: no other cluster takes it" in explained
    assert argosy(fleet, capsys, "reconcile").out.startswith("unchanged: ")
    assert argosy(fleet, capsys, "verify", "-n", "2").out.count("equal") == 2


@pytest.mark.parametrize("case", LEAVES, ids=lambda case: case.why)
def test_what_somebody_takes_away_from_an_object_leaves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: Case
) -> None:
    fleet = rendered(tmp_path, capsys, case)
    if case in LEAVES[:2]:  # no cluster meets what the policy says now, which may be a typo
        assert argosy(fleet, capsys, "reconcile").code == 6
        assert COPY in fleet.files()
        argosy(fleet, capsys, "reconcile", "--allow-removal", "paris=1")
    else:
        argosy(fleet, capsys, "reconcile")
    assert COPY not in fleet.files()


def test_a_last_copy_gets_new_replicas_and_leaves_once_another_cluster_takes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = rendered(tmp_path, capsys, TAKEN_AWAY[2])
    argosy(fleet, capsys, "reconcile")
    fleet.commit({"web.yaml": a_deployment(replicas=5)})
    argosy(fleet, capsys, "reconcile")
    assert "replicas: 5" in fleet.show(COPY)
    fleet.commit({"rome.yaml": a_cluster("rome", labels=LABELS)})
    ended = argosy(fleet, capsys, "reconcile")
    assert (ended.code, ended.err) == (0, "")
    assert (COPY in fleet.files(), COPY.replace("paris", "rome") in fleet.files()) == (False, True)
    assert notes(fleet) == [("Scheduled", "True", "Success")]


def test_unjoining_says_what_to_do_with_what_stays_in_a_drained_member(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = rendered(tmp_path, capsys, TAKEN_AWAY[1])
    argosy(fleet, capsys, "reconcile")
    refused = argosy(fleet, capsys, "cluster", "unjoin", "paris")
    assert refused.code == 3
    assert refused.err == (
        "argosy: 2 objects are still rendered for 'paris': default/ConfigMap/other.yaml,"
        " default/Deployment.apps/nginx.yaml\n"
        "  hint: it is drained, and argosy reconcile makes everything leave that another cluster takes; let the"
        " policies of the rest name another one, or delete their templates; --drain --allow-unplaced makes"
        " the rest leave as well,"
        " --disconnect leaves it there for good\n"
    )


NAMES = ("oslo", "paris", "rome")
TAINTS = (
    (),
    (Taint(key="down", effect="NoExecute"),),
    (Taint(key="down", effect="NoSchedule"),),
)
PLACEMENTS = [
    a_placement(scheduling, **affinity, **spread)
    for scheduling in (AGGREGATED, DUPLICATED, EQUAL, None)
    for affinity in (
        {},
        {"clusterAffinity": {"labelSelector": {"matchLabels": LABELS}}},
        {
            "clusterAffinities": [
                {"affinityName": "gold", "labelSelector": {"matchLabels": LABELS}},
                {"affinityName": "rest", "clusterNames": ["oslo"]},
            ]
        },
    )
    for spread in ({}, {"spreadConstraints": BY_REGION})
]
clusters_of_a_fleet = st.tuples(
    *(
        st.builds(
            Cluster,
            name=st.just(name),
            region=st.sampled_from(("", "eu")),
            labels=st.sampled_from(({}, LABELS)),
            taints=st.sampled_from(TAINTS),
            resource_summary=st.just(ResourceSummary(allocatable={"pods": "100"})),
        )
        for name in NAMES
    )
)
bindings_of_a_pass = st.lists(st.tuples(st.sampled_from(PLACEMENTS), st.integers(0, 5)), min_size=1, max_size=4).map(
    lambda rows: [
        a_binding(count, rules, ref=ObjectRef("apps", "Deployment", "shop", f"web-{number}"), requirements=None)
        for number, (rules, count) in enumerate(rows)
    ]
)


def passed(bindings: list[Binding], clusters: tuple[Cluster, ...], *, keeps: bool = True) -> list[Binding]:
    """The bindings after a pass over clusters, in their order."""
    fleet = Fleet(reserve_capacity=False, failover=FailoverSettings(guard=EvictionGuard(keeps_last_copy=keeps)))
    index = ClusterIndex(clusters)
    tainted = TaintedClusters(clusters=clusters)
    _, _, done = schedule_in_rounds(
        RunsOfPass(bindings=bindings),
        tainted,
        fleet,
        FailoverInputs(),
        lambda bound: schedule_bindings(bound, index, fleet),
    )
    return list(done.bindings)


@given(bindings_of_a_pass, clusters_of_a_fleet, clusters_of_a_fleet)
def test_no_change_of_clusters_leaves_an_object_nowhere(
    bindings: list[Binding], before: tuple[Cluster, ...], after: tuple[Cluster, ...]
) -> None:
    """An object that has a place keeps one, and a second pass over the same clusters changes nothing."""
    placed = passed(bindings, before)
    changed = passed(placed, after)
    for one, other in zip(placed, changed, strict=True):
        assert not one.targets or other.targets
        assert not other.staying
    assert passed(changed, after) == changed


@given(bindings_of_a_pass, clusters_of_a_fleet, clusters_of_a_fleet)
def test_what_another_cluster_takes_goes_as_if_no_copy_were_kept(
    bindings: list[Binding], before: tuple[Cluster, ...], after: tuple[Cluster, ...]
) -> None:
    """Keeping last copies changes the outcome of those alone that would be left nowhere."""
    placed = passed(bindings, before)
    for kept, plain in zip(passed(placed, after), passed(placed, after, keeps=False), strict=True):
        assert kept == plain or not plain.targets


@given(bindings_of_a_pass, clusters_of_a_fleet, clusters_of_a_fleet)
def test_an_edit_of_every_part_of_a_placement_keeps_nothing(
    bindings: list[Binding], before: tuple[Cluster, ...], after: tuple[Cluster, ...]
) -> None:
    edited = a_placement(
        DUPLICATED,
        clusterAffinity={"labelSelector": {"matchLabels": {"tier": "none"}}},
        clusterTolerations=[{"key": "else", "operator": "Exists"}],
        spreadConstraints=[{"spreadByField": "zone", "minGroups": 1}],
    )
    placed = [replace(each, placement=edited) for each in passed(bindings, before)]
    for known in (placed, [replace(each, applied_placement=None) for each in placed]):
        assert [each.targets for each in passed(known, after)] == [()] * len(bindings)
