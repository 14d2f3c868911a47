"""A PolicyTest that names what is not there is refused by ``argosy test`` and warned of by ``argosy validate``."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.scheduling.filters import FILTERS
from tests.build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters

NGINX = {"group": "apps", "kind": "Deployment", "name": "nginx"}
PAUSED = {"path": "/spec/paused", "absent": True}


def a_test(given: dict[str, Any] | None = None, **expect: Any) -> dict[str, Any]:
    spec = {**({"given": given} if given else {}), "expect": [{**NGINX, **expect}]}
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "PolicyTest", "metadata": {"name": "nginx"}, "spec": spec}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    made.commit(
        {
            "fleet.yaml": [
                a_cluster("paris"),
                a_cluster("rome"),
                a_deployment(),
                a_policy(placement=on_clusters("paris")),
            ]
        }
    )
    return made


class Misnamed(NamedTuple):
    why: str
    test: dict[str, Any]
    problem: str


POLICY = "did you mean 'PropagationPolicy default/nginx'?"
FILTER = "did you mean 'ClusterAffinity'?"
ABSENT = "the source has no cluster called 'pari'\n  hint: did you mean 'paris'?"
MISNAMED = [
    Misnamed(
        "a cluster that is lost",
        a_test({"withoutClusters": ["pari"]}, clusters=[]),
        f"13: spec.given.withoutClusters[0]: {ABSENT}",
    ),
    Misnamed("clusters", a_test(clusters=["rome", "pari"]), f"7: spec.expect[0].clusters: {ABSENT}"),
    Misnamed("replicas", a_test(replicas={"pari": 2}), f"11: spec.expect[0].replicas.pari: {ABSENT}"),
    Misnamed(
        "a cluster that is refused",
        a_test(refused={"pari": "ClusterAffinity"}),
        f"11: spec.expect[0].refused.pari: {ABSENT}",
    ),
    Misnamed(
        "a filter",
        a_test(refused={"rome": "ClusterAfinity"}),
        f"11: spec.expect[0].refused.rome: there is no filter called 'ClusterAfinity'\n  hint: {FILTER}",
    ),
    Misnamed(
        "the cluster of a field",
        a_test(fields=[{"cluster": "pari", **PAUSED}]),
        f"9: spec.expect[0].fields[0].cluster: {ABSENT}",
    ),
    Misnamed(
        "a policy",
        a_test(policy="PropagationPolicy default/ngnix"),
        f"10: spec.expect[0].policy: the source has no PropagationPolicy default/ngnix\n  hint: {POLICY}",
    ),
    Misnamed(
        "a policy without its namespace",
        a_test(policy="nginx"),
        f"10: spec.expect[0].policy: the source has no nginx\n  hint: {POLICY}",
    ),
]


@pytest.mark.parametrize("case", MISNAMED, ids=lambda case: case.why)
def test_a_name_that_is_not_there_is_refused(
    case: Misnamed, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"one_test.yaml": case.test})
    ended = argosy(repository, capsys, "test")
    problem = f"one_test.yaml:{case.problem}\n"
    assert ended == (3, "", f"{problem}1 problem; no test was run\n")
    validated = argosy(repository, capsys, "validate")
    assert (validated.code, validated.out.startswith(f"warning: {problem}")) == (0, True)
    assert argosy(repository, capsys, "render", "--worktree").code == 0


def test_what_a_test_is_given_may_be_named(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    oslo = {"metadata": {"name": "oslo"}, "spec": {"syncMode": "Push"}}
    test = a_test({"clusters": [oslo]}, clusters=["paris"], refused={"oslo": "ClusterAffinity"})
    repository.write({"one_test.yaml": test})
    assert argosy(repository, capsys, "test").code == 0


def test_every_filter_may_be_named(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    expectations = [{**NGINX, "refused": {"rome": each.name}} for each in FILTERS]
    repository.write({"one_test.yaml": {**a_test(), "spec": {"expect": expectations}}})
    assert "there is no filter" not in argosy(repository, capsys, "validate").out


def test_what_is_written_anew_may_name_what_is_gone(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({"one_test.yaml": a_test(clusters=["lyon"], policy="PropagationPolicy default/old")})
    assert argosy(repository, capsys, "test", "--update").code == 0
    assert argosy(repository, capsys, "test").code == 0
