"""Karmada's walk-throughs and what leaving Git means, through the command line on real repositories."""

from pathlib import Path

import pytest

from tests.build import (
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


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    made.write({f"clusters/member{number}.yaml": a_cluster(f"member{number}") for number in (1, 2, 3)})
    return made


def replicas(repository: Repository, cluster: str, name: str = "nginx") -> str:
    text = repository.show(f"clusters/{cluster}/default/Deployment.apps/{name}.yaml")
    return next(line.strip() for line in text.splitlines() if line.startswith("  replicas:"))


def reconcile(repository: Repository, capsys: pytest.CaptureFixture[str], *options: str) -> None:
    """Run a pass that must succeed."""
    ended = argosy(repository, capsys, "reconcile", *options)
    assert (ended.code, ended.err) == (0, "")


def objects(repository: Repository) -> list[str]:
    return [path.removeprefix("clusters/") for path in repository.files(under="clusters")]


def test_two_replicas_at_one_to_one(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    placement = on_clusters("member1", "member2", replicaScheduling=weighted(member1=1, member2=1))
    repository.commit({"nginx.yaml": [a_deployment(replicas=2), a_policy(placement=placement)]})
    reconcile(repository, capsys, "--bootstrap")
    assert objects(repository) == [
        "member1/default/Deployment.apps/nginx.yaml",
        "member2/default/Deployment.apps/nginx.yaml",
    ]
    assert [replicas(repository, "member1"), replicas(repository, "member2")] == ["replicas: 1", "replicas: 1"]


def test_six_replicas_at_two_to_one(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    placement = on_clusters("member1", "member2", replicaScheduling=weighted(member1=2, member2=1))
    repository.commit({"nginx.yaml": [a_deployment(replicas=6), a_policy(placement=placement)]})
    reconcile(repository, capsys, "--bootstrap")
    assert [replicas(repository, "member1"), replicas(repository, "member2")] == ["replicas: 4", "replicas: 2"]


def test_without_a_strategy_every_cluster_runs_them_all(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"nginx.yaml": [a_deployment(replicas=3), a_policy(placement=on_clusters("member1", "member3"))]})
    reconcile(repository, capsys, "--bootstrap")
    assert [replicas(repository, "member1"), replicas(repository, "member3")] == ["replicas: 3", "replicas: 3"]


def test_clusters_are_chosen_by_labels(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    placement = {"clusterAffinity": {"labelSelector": {"matchLabels": {"env": "prod"}}}}
    repository.commit(
        {
            "nginx.yaml": [a_deployment(), a_policy(placement=placement)],
            "clusters/member2.yaml": a_cluster("member2", labels={"env": "prod"}),
        }
    )
    reconcile(repository, capsys, "--bootstrap")
    assert objects(repository) == ["member2/default/Deployment.apps/nginx.yaml"]


def test_a_crd_goes_by_a_cluster_policy(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    selector = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    policy = a_cluster_policy("crds", selectors=[selector], placement=on_clusters("member1"))
    repository.commit({"crd.yaml": [CRD, policy]})
    reconcile(repository, capsys, "--bootstrap")
    assert objects(repository) == [
        "member1/_cluster/CustomResourceDefinition.apiextensions.k8s.io/guestbooks.example.io.yaml"
    ]


def test_a_second_pass_commits_nothing(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member1"))]})
    reconcile(repository, capsys, "--bootstrap")
    first = repository.git("rev-parse", "argosy/rendered")
    reconcile(repository, capsys)
    assert repository.git("rev-parse", "argosy/rendered") == first


def test_a_first_run_must_be_meant(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"nginx.yaml": a_deployment()})
    ended = argosy(repository, capsys, "reconcile")
    assert (ended.code, ended.err) == (
        3,
        (
            "argosy: there is no branch 'argosy/rendered' here: is this the first run?\n"
            "  hint: then pass --bootstrap; otherwise look for who removed the branch,"
            " or every workload is dealt anew\n"
        ),
    )


def test_changing_a_policy_empties_the_old_clusters_folder(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member1"))]})
    reconcile(repository, capsys, "--bootstrap")
    repository.commit(
        {"nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member2"))]},
        "Move nginx\n\nIt is meant.\n\nArgosy-Allow-Removal: member1 1",
    )
    reconcile(repository, capsys)
    assert objects(repository) == ["member2/default/Deployment.apps/nginx.yaml"]


def test_deleting_the_policy_keeps_every_byte(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    placement = on_clusters("member1", "member2", replicaScheduling=weighted(member1=2, member2=1))
    repository.commit({"nginx.yaml": a_deployment(replicas=6), "policy.yaml": a_policy(placement=placement)})
    reconcile(repository, capsys, "--bootstrap")
    before = repository.git("rev-parse", "argosy/rendered:clusters")
    repository.commit({"policy.yaml": None, "nginx.yaml": a_deployment(replicas=9, image="nginx:2")})
    reconcile(repository, capsys)
    assert repository.git("rev-parse", "argosy/rendered:clusters") == before
    assert "reason: NoPolicy" in repository.show("bindings/default/Deployment.apps/nginx.yaml")


def test_deleting_the_template_removes_it(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    everything = {"apiVersion": "v1", "kind": "ConfigMap"}
    repository.commit(
        {
            "one.yaml": a_config_map("one"),
            "two.yaml": a_config_map("two"),
            "policy.yaml": a_policy(selectors=[everything], placement=on_clusters("member1")),
        }
    )
    reconcile(repository, capsys, "--bootstrap")
    repository.commit({"two.yaml": None})
    reconcile(repository, capsys)
    assert objects(repository) == ["member1/default/ConfigMap/one.yaml"]


def test_deleting_a_cluster_disconnects_it(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    placement = {"replicaScheduling": weighted(member1=1, member2=1, member3=1)}
    repository.commit({"nginx.yaml": [a_deployment(replicas=6), a_policy(placement=placement)]})
    reconcile(repository, capsys, "--bootstrap")
    before = repository.git("rev-parse", "argosy/rendered:clusters/member3")
    repository.commit({"clusters/member3.yaml": None})
    ended = argosy(repository, capsys, "reconcile")
    assert (ended.code, ended.err) == (
        0,
        (
            "warning: nginx.yaml:43: spec.placement.replicaScheduling.weightPreference.staticWeightList[2]."
            "targetCluster.clusterNames: no cluster of the source is called 'member3'\n"
        ),
    )
    assert repository.git("rev-parse", "argosy/rendered:clusters/member3") == before
    assert [replicas(repository, "member1"), replicas(repository, "member2")] == ["replicas: 3", "replicas: 3"]
    assert "member3](clusters/member3) | 0 | 0 | disconnected: left as it was" in repository.show("README.md")


def test_too_much_at_once_is_refused_before_the_commit(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    many = {f"cm/{number}.yaml": a_config_map(f"c{number:02}") for number in range(20)}
    policy = a_policy(selectors=selectors, placement=on_clusters("member1"))
    repository.commit({**many, "policy.yaml": policy})
    reconcile(repository, capsys, "--bootstrap")
    before = repository.git("rev-parse", "argosy/rendered")
    repository.commit({f"cm/{number}.yaml": None for number in range(11)})
    ended = argosy(repository, capsys, "reconcile")
    names = ", ".join(f"default/ConfigMap/c{number:02}.yaml" for number in range(5))
    assert (ended.code, ended.err) == (
        6,
        (
            "this change removes too much at once; nothing was committed\n"
            f"  member1: 11 of 20 objects (more than 10): {names} and 6 more\n"
            "  hint: if it is meant, say so in a source commit with the trailer 'Argosy-Allow-Removal: member1 11',"
            " or pass --allow-removal\n"
        ),
    )
    assert repository.git("rev-parse", "argosy/rendered") == before
    reconcile(repository, capsys, "--allow-removal", "member1=11")
    assert len(objects(repository)) == 9


def test_a_rewound_source_is_refused_until_it_is_accepted(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    first = repository.commit({"nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member1"))]})
    second = repository.commit({"nginx.yaml": [a_deployment(replicas=5), a_policy(placement=on_clusters("member1"))]})
    reconcile(repository, capsys, "--bootstrap")
    repository.git("reset", "-q", "--hard", first)
    ended = argosy(repository, capsys, "reconcile")
    assert (ended.code, ended.err) == (
        6,
        (
            f"argosy: source {first[:12]} does not follow {second[:12]}, which the clusters were rendered from\n"
            "  hint: if the branch was rewound on purpose, pass --accept-rewind\n"
        ),
    )
    reconcile(repository, capsys, "--accept-rewind")
    assert replicas(repository, "member1") == "replicas: 2"


def test_what_was_rendered_can_be_verified(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    placement = {"replicaScheduling": weighted(member1=1, member2=1, member3=1)}
    for number in (2, 5, 4):
        repository.commit({"nginx.yaml": [a_deployment(replicas=number), a_policy(placement=placement)]})
        reconcile(repository, capsys, *(["--bootstrap"] if number == 2 else []))
    ended = argosy(repository, capsys, "verify", "-n", "9")
    assert [ended.code, [line.rpartition(": ")[2] for line in ended.out.splitlines()]] == [0, ["equal"] * 3]


def test_a_quiet_pass_repeats_what_is_wrong(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member9"))]})
    first = argosy(repository, capsys, "reconcile", "--bootstrap")
    second = argosy(repository, capsys, "reconcile")
    note = repository.path / ".git" / "argosy" / "last-pass.json"
    assert note.stat().st_mode & 0o777 == 0o600
    note.unlink()
    third = argosy(repository, capsys, "reconcile")
    assert (first.code, second.code) == (1, 1)
    assert (second.code, second.out, second.err) == (third.code, third.out, third.err)
    assert second.err == first.err


def test_a_damaged_note_only_costs_time(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"nginx.yaml": [a_deployment(), a_policy(placement=on_clusters("member1"))]})
    reconcile(repository, capsys, "--bootstrap")
    (repository.path / ".git" / "argosy" / "last-pass.json").write_text("{")
    reconcile(repository, capsys)
