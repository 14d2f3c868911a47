"""An edit of a policy that no cluster meets: the last copies that it would delete are asked for before they go."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .stories import a_fleet, held, settings

ANY_CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
THREE = {f"c{number}.yaml": a_config_map(f"c{number}") for number in range(3)}
REFUSED = "this change removes too much at once; nothing was committed\n  member1: 1 of 4 objects"


def a_policy_of_last_copy(placement: dict[str, Any], **fields: Any) -> dict[str, Any]:
    selectors = [{**ANY_CONFIG_MAP, "name": "last"}]
    return a_policy("last", selectors=selectors, placement=placement, **fields)


def selecting(**affinity: Any) -> dict[str, Any]:
    return {"clusterAffinity": affinity}


class Edit(NamedTuple):
    """A placement, another one in its place, the words of the guard (none: it lets that pass) and more files."""

    why: str
    first: dict[str, Any]
    then: dict[str, Any]
    reason: str = ""
    files: dict[str, Any] = {}  # noqa: RUF012 - a row's own, which nothing changes
    fields: dict[str, Any] = {}  # noqa: RUF012 - a row's own, which nothing changes


ON_ONE, GOLD = on_clusters("member1"), selecting(labelSelector={"matchLabels": {"tier": "gold"}})
ASKS = "1 last copy, as no cluster meets its policy"
TAINTED = {"clusters/member1.yaml": a_cluster("member1", taints=[{"key": "a", "value": "b", "effect": "NoExecute"}])}
TOLERATED = {**ON_ONE, "clusterTolerations": [{"key": "a", "operator": "Exists"}]}
GROUPS = {"clusterAffinities": [{"affinityName": "near", "clusterNames": ["member1"]}]}
EDITS = [
    Edit("a name that no cluster has", ON_ONE, on_clusters("membr1"), ASKS),
    Edit("a label that no cluster has", GOLD, selecting(labelSelector={"matchLabels": {"tier": "golt"}}), ASKS),
    Edit("every cluster left out", ON_ONE, selecting(exclude=["member1", "member2", "member3"]), ASKS),
    Edit(
        "a region that no cluster is in",
        ON_ONE,
        selecting(fieldSelector={"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu"]}]}),
        ASKS,
    ),
    Edit(
        "the only group without a cluster",
        GROUPS,
        {"clusterAffinities": [{"affinityName": "near", "clusterNames": ["x"]}]},
        ASKS,
    ),
    Edit(
        "the group in use without a cluster, and none behind it",
        {"clusterAffinities": [{"affinityName": "far", "clusterNames": ["x"]}, *GROUPS["clusterAffinities"]]},
        {
            "clusterAffinities": [
                {"affinityName": "far", "clusterNames": ["member2"]},
                {"affinityName": "near", "clusterNames": ["x"]},
            ]
        },
        ASKS,
    ),
    Edit(
        "a toleration that was taken away",
        TOLERATED,
        ON_ONE,
        ASKS,
        files=TAINTED,
    ),
    Edit(
        "a property asked for that no cluster has",
        ON_ONE,
        {
            **ON_ONE,
            "spreadConstraints": [
                {"spreadByField": field, "minGroups": 1, "maxGroups": 1} for field in ("region", "cluster")
            ],
        },
        ASKS,
    ),
    Edit("another cluster takes it", ON_ONE, on_clusters("member2", "nowhere")),
    Edit("a copy fewer of two", on_clusters("member1", "member2"), on_clusters("member2")),
    Edit(
        "Karmada's rule for last copies",
        ON_ONE,
        on_clusters("membr1"),
        files={"argosy.yaml": settings(failover={"lastCopy": "Evict"})},
    ),
    Edit("what stays in the cluster", ON_ONE, on_clusters("x"), fields={"preserveResourcesOnDeletion": True}),
]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = a_fleet(tmp_path / "fleet")
    made.write(
        {
            "clusters/member3.yaml": a_cluster("member3"),
            "clusters/member1.yaml": a_cluster("member1", labels={"tier": "gold"}),
        }
    )
    everywhere = {**on_clusters("member1", "member2", "member3"), "clusterTolerations": [{"operator": "Exists"}]}
    others = a_policy("others", selectors=[ANY_CONFIG_MAP], placement=everywhere)
    made.write({"others.yaml": others, "last.yaml": a_config_map("last"), **THREE})
    return made


def edit(repository: Repository, case: Edit, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({**case.files, "policy.yaml": a_policy_of_last_copy(case.first, **case.fields)})
    ended = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert (ended.code, "member1 default/ConfigMap/last" in held(repository)) == (0, True), (ended, held(repository))
    repository.commit({"policy.yaml": a_policy_of_last_copy(case.then, **case.fields)})


@pytest.mark.parametrize("case", EDITS, ids=lambda case: case.why)
def test_a_last_copy_goes_by_a_policy_that_no_cluster_meets_only_if_that_is_allowed(
    case: Edit, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(repository, case, capsys)
    before = held(repository)
    checked = argosy(repository, capsys, "diff", "--check", "HEAD~", "HEAD")
    ended = argosy(repository, capsys, "reconcile")
    if not case.reason:
        assert checked.code != 6
        assert (ended.code == 6, "member1 default/ConfigMap/last" in held(repository)) == (False, False), ended
        return
    assert (checked.code, ended.code, held(repository)) == (6, 6, before)
    assert f"{REFUSED} ({case.reason}): default/ConfigMap/last.yaml\n" in ended.err
    assert "hint: argosy validate says what no cluster meets; to remove an object, delete its template\n" in ended.err
    allowed = argosy(repository, capsys, "reconcile", "--allow-removal", "member1=1")
    assert (allowed.code, "member1 default/ConfigMap/last" in held(repository)) == (1, False)


def test_a_cluster_that_is_held_back_for_it_stays_so_in_later_passes(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"argosy.yaml": settings(removalGuard={"scope": "Cluster"})})
    edit(repository, EDITS[0], capsys)
    for number in range(3):
        ended = argosy(repository, capsys, "reconcile")
        assert (ended.code, "member1 default/ConfigMap/last" in held(repository)) == (6, True), number
        repository.commit({"c0.yaml": a_config_map("c0", a=str(number))})


def test_validate_and_diff_say_what_leaves_which_cluster(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(repository, EDITS[0], capsys)
    warned = argosy(repository, capsys, "validate")
    assert warned.out.splitlines()[:2] == [
        (
            "warning: policy.yaml:7: spec.placement: no cluster meets it, so that ConfigMap default/last leaves"
            " member1, and no cluster takes it"
        ),
        "  hint: to keep it, mend the placement; to remove it, delete the template",
    ]
    assert argosy(repository, capsys, "validate", "--strict").code == 1
    shown = argosy(repository, capsys, "diff", "HEAD~", "HEAD").out
    assert "1 object ends in no cluster" in shown.splitlines()[0]
    assert "\nENDS IN NO CLUSTER\n  ! ConfigMap default/last: leaves member1, and no cluster takes it\n" in shown
    assert f"\nREFUSED\n  this change removes too much at once\n    member1: 1 of 4 objects ({ASKS})" in shown


def test_a_policy_for_clusters_to_come_takes_nothing_away_and_is_not_refused(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"policy.yaml": a_policy_of_last_copy(on_clusters("to-come"))})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 1
    repository.commit({"last.yaml": a_config_map("last", a="2")})
    assert argosy(repository, capsys, "reconcile").code == 1
    assert "leaves" not in argosy(repository, capsys, "validate").out


def test_a_cluster_that_nothing_is_left_for_counts_among_those_that_change(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message of the commit said that 3 of 1 cluster change."""
    repository.commit({"policy.yaml": a_policy_of_last_copy(ON_ONE)})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit(
        {"others.yaml": None, "policy.yaml": a_policy("all", placement=ON_ONE, selectors=[ANY_CONFIG_MAP])}
    )
    ended = argosy(repository, capsys, "reconcile", "--allow-removal", "*=9")
    assert ended.code == 0, ended
    message = repository.git("log", "-1", "--format=%B", "argosy/rendered")
    assert "2 of 3 clusters change: member2, member3\n" in message
