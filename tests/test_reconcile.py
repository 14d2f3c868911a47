"""Karmada's walk-throughs, and what every pass promises, through the command line on real repositories."""

from pathlib import Path
from typing import NamedTuple

import pytest

from .build import (
    Repository,
    a_cluster,
    a_cluster_policy,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    on_clusters,
    weighted,
)
from .stories import NO_CLUSTER_OF_THREE, UNPLACED, Files, Run, Story, a_fleet, check_runs, held, play, tips, told

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "guestbooks.example.io"},
    "spec": {
        "group": "example.io",
        "scope": "Namespaced",
        "names": {"kind": "Guestbook", "plural": "guestbooks"},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}
ANY_CRD = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
ANY_CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
ONE_TO_ONE = on_clusters("member1", "member2", replicaScheduling=weighted(member1=1, member2=1))
TWO_TO_ONE = on_clusters("member1", "member2", replicaScheduling=weighted(member1=2, member2=1))
BY_LABEL = {"clusterAffinity": {"labelSelector": {"matchLabels": {"env": "prod"}}}}
NGINX = "default/Deployment.apps/nginx"
UNCHANGED = "unchanged: argosy/rendered <rendered> holds source <main>\n"


def committed(clusters: str) -> str:
    return f"committed <rendered> to argosy/rendered: source <main> for {clusters}\n"


class Walk(NamedTuple):
    """A first pass: what is in the repository beside three members, and what each of them holds then."""

    why: str
    files: Files
    clusters: str
    holds: tuple[str, ...]


WALKS = [
    Walk(
        "two replicas at 1:1",
        {"nginx.yaml": [a_deployment(replicas=2), a_policy(placement=ONE_TO_ONE)]},
        "2 clusters",
        (f"member1 {NGINX} 1 nginx:1.29", f"member2 {NGINX} 1 nginx:1.29"),
    ),
    Walk(
        "six replicas at 2:1",
        {"nginx.yaml": [a_deployment(replicas=6), a_policy(placement=TWO_TO_ONE)]},
        "2 clusters",
        (f"member1 {NGINX} 4 nginx:1.29", f"member2 {NGINX} 2 nginx:1.29"),
    ),
    Walk(
        "three and three by cluster names: without a strategy every cluster runs them all",
        {"nginx.yaml": [a_deployment(replicas=3), a_policy(placement=on_clusters("member1", "member3"))]},
        "2 clusters",
        (f"member1 {NGINX} 3 nginx:1.29", f"member3 {NGINX} 3 nginx:1.29"),
    ),
    Walk(
        "clusters chosen by their labels",
        {
            "nginx.yaml": [a_deployment(), a_policy(placement=BY_LABEL)],
            "clusters/member2.yaml": a_cluster("member2", labels={"env": "prod"}),
        },
        "1 cluster",
        (f"member2 {NGINX} 2 nginx:1.29",),
    ),
    Walk(
        "Duplicated: all replicas in each of the clusters",
        {
            "nginx.yaml": [
                a_deployment(replicas=5),
                a_policy(placement={"replicaScheduling": {"replicaSchedulingType": "Duplicated"}}),
            ]
        },
        "3 clusters",
        tuple(f"member{number} {NGINX} 5 nginx:1.29" for number in (1, 2, 3)),
    ),
    Walk(
        "a CRD by a ClusterPropagationPolicy",
        {"crd.yaml": [CRD, a_cluster_policy("crds", selectors=[ANY_CRD], placement=on_clusters("member1"))]},
        "1 cluster",
        ("member1 _cluster/CustomResourceDefinition.apiextensions.k8s.io/guestbooks.example.io",),
    ),
]


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.why)
def test_a_first_pass(walk: Walk, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path / "fleet")
    repository.commit(walk.files)
    runs = (
        Run("reconcile --bootstrap", 0, committed(walk.clusters)),
        Run("reconcile", 0, UNCHANGED),
        Run("verify", 0, "<rendered> source <main>: equal\n"),
    )
    check_runs(runs, repository, capsys)
    assert held(repository) == walk.holds


ABSENT = (
    "warning: nginx.yaml:43: spec.placement.replicaScheduling.weightPreference.staticWeightList[2]."
    "targetCluster.clusterNames: no cluster of the source is called 'member3'\n"
)
OVER_THREE = {"replicaScheduling": weighted(member1=1, member2=1, member3=1)}
RELEASED = (
    "warning: Deployment.apps default/nginx is released: no policy selects it, so member1, member2 keep it as it is\n"
)

CHANGES = [
    Story(
        "changing the clusters of a policy empties the folder of the old one, though it held nothing else",
        {"nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member1"))]},
        {"nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member2"))]},
        (Run("reconcile", 0, committed("1 cluster")),),
        (f"member2 {NGINX} 2 nginx:1.29",),
    ),
    Story(
        "deleting the policy keeps everything",
        {"nginx.yaml": a_deployment(replicas=6), "policy.yaml": a_policy(placement=TWO_TO_ONE)},
        {"policy.yaml": None},
        (Run("reconcile", 0, committed("2 clusters"), RELEASED),),
        (f"member1 {NGINX} 4 nginx:1.29", f"member2 {NGINX} 2 nginx:1.29"),
    ),
    Story(
        "deleting the template removes it",
        {
            "one.yaml": a_config_map("one"),
            "two.yaml": a_config_map("two"),
            "policy.yaml": a_policy(selectors=[ANY_CONFIG_MAP], placement=on_clusters("member1")),
        },
        {"two.yaml": None},
        (Run("reconcile", 0, committed("1 cluster")),),
        ("member1 default/ConfigMap/one",),
    ),
    Story(
        "deleting a cluster disconnects it: its folder stays, its replicas go where they can be seen",
        {"nginx.yaml": [a_deployment(replicas=6), a_policy(placement=OVER_THREE)]},
        {"clusters/member3.yaml": None},
        (
            Run("reconcile", 0, committed("3 clusters"), ABSENT),
            Run("reconcile", 0, UNCHANGED, ABSENT),
        ),
        (
            f"member1 {NGINX} 3 nginx:1.29",
            f"member2 {NGINX} 3 nginx:1.29",
            f"member3 {NGINX} 2 nginx:1.29",
        ),
    ),
]


@pytest.mark.parametrize("story", CHANGES, ids=lambda story: story.why)
def test_a_change(story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(story, a_fleet(tmp_path / "fleet"), capsys)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return a_fleet(tmp_path / "fleet")


def test_what_is_released_stays_byte_for_byte_and_the_binding_says_so(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"nginx.yaml": a_deployment(replicas=6), "policy.yaml": a_policy(placement=TWO_TO_ONE)})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    before = repository.git("rev-parse", "argosy/rendered:clusters")
    repository.commit({"policy.yaml": None, "nginx.yaml": a_deployment(replicas=9, image="nginx:2")})
    assert argosy(repository, capsys, "reconcile").code == 0
    assert repository.git("rev-parse", "argosy/rendered:clusters") == before
    binding = repository.show("bindings/default/Deployment.apps/nginx.yaml")
    assert binding.partition("status:\n")[2] == (
        "  conditions:\n"
        "  - message: no policy selects it\n"
        "    reason: NoPolicy\n"
        '    status: "False"\n'
        "    type: Scheduled"
    )


def test_what_was_rendered_can_be_verified(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (2, 5, 4):
        repository.commit({"nginx.yaml": [a_deployment(replicas=number), a_policy(placement=OVER_THREE)]})
        argosy(repository, capsys, "reconcile", *(["--bootstrap"] if number == 2 else []))
    ended = told(argosy(repository, capsys, "verify", "-n", "9"), repository)
    assert ended == (
        0,
        "<rendered> source <main>: equal\n<rendered~1> source <main~1>: equal\n<rendered~2> source <main~2>: equal\n",
        "",
    )


def test_a_idle_pass_repeats_what_is_wrong(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member9"))]})
    first = argosy(repository, capsys, "reconcile", "--bootstrap")
    second = argosy(repository, capsys, "reconcile")
    note = repository.path / ".git" / "argosy" / "checkpoint.json"
    assert note.stat().st_mode & 0o777 == 0o600
    note.unlink()
    assert argosy(repository, capsys, "reconcile") == second
    absent = (
        "warning: nginx.yaml:30: spec.placement.clusterAffinity.clusterNames: no cluster of the source is called"
        " 'member9'\n"
    )
    nowhere = (
        "warning: Deployment.apps default/nginx: NoClusterFit: 0/3 clusters are available: 3 cluster(s) did not match"
        " the placement cluster affinity constraint.\n" + UNPLACED
    )
    assert told(first, repository) == (
        1,
        committed(NO_CLUSTER_OF_THREE),
        absent + nowhere,
    )
    assert told(second, repository) == (1, UNCHANGED, absent + nowhere)


@pytest.mark.parametrize("damage", [b"{", b"", b"[]", b'{"standing": 1}', b"\xff", b"null"], ids=repr)
def test_a_damaged_note_only_costs_time(
    repository: Repository, capsys: pytest.CaptureFixture[str], damage: bytes
) -> None:
    repository.commit({"nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member1"))]})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    (repository.path / ".git" / "argosy" / "checkpoint.json").write_bytes(damage)
    assert told(argosy(repository, capsys, "reconcile"), repository) == (0, UNCHANGED, "")
    assert len(tips(repository)) == 1
