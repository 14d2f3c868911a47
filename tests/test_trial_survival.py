"""PolicyTests say which losses of clusters an object survives, and which it does not."""

from pathlib import Path
from typing import Any

import pytest

from tests.build import Repository, a_cluster, argosy
from tests.test_check_resilience import AT_ONCE, THREE, a_member, web, web_of
from tests.test_source_resilience import ANY_CLUSTER, a_resilience

WEB = {"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web"}
REGION = {"loss": "region"}


def a_test(expected: dict[str, Any], **given: Any) -> dict[str, Any]:
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "PolicyTest",
        "metadata": {"name": "lost"},
        "spec": {"expect": [{**WEB, **expected}], **({"given": given} if given else {})},
    }


TRIED: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("any cluster", a_test({"survives": [ANY_CLUSTER]}), []),
    ("no region", a_test({"doesNotSurvive": [REGION]}), []),
    ("both, and where it is", a_test({
        "survives": [ANY_CLUSTER, {**REGION, "minReplicas": 2}], "doesNotSurvive": [REGION, AT_ONCE],
        "clusters": ["eu-1", "eu-2", "us-1"]}), []),
    ("any region", a_test({"survives": [ANY_CLUSTER, REGION]}), [
        ("spec.expect[0].survives[1]: Deployment.apps shop/web does not survive the loss of region eu (2 of 6 replicas"
         " would be left): 6 are needed")
    ]),
    ("it survives after all", a_test({"doesNotSurvive": [REGION, {**REGION, "minReplicas": "30%"}]}), [
        "spec.expect[0].doesNotSurvive[1]: want it not to survive the loss of any region, but it does"
    ]),
    ("with more room", a_test({"survives": [REGION]}, clusters=[a_member("us-1", 6, region="us")]), []),
    ("of a time", a_test({"survives": [ANY_CLUSTER], "at": "2026-03-01T09:00:00Z"}, now="2026-03-01T09:30:00Z",
                         changes=[{"at": "2026-03-01T09:10:00Z", "withoutClusters": ["us-1", "eu-2"]}]), []),
    ("of a later time", a_test({"doesNotSurvive": [ANY_CLUSTER]}, now="2026-03-01T09:30:00Z",
                               changes=[{"at": "2026-03-01T09:10:00Z", "withoutClusters": ["us-1"]}]), []),
)  # fmt: skip


@pytest.mark.parametrize(("why", "test", "mismatches"), TRIED, ids=[each[0] for each in TRIED])
def test_an_expected_loss_is_judged(
    why: str, test: dict[str, Any], mismatches: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path)
    repository.commit({"fleet.yaml": [*THREE, *web(6)], "lost_test.yaml": test})
    ended = argosy(repository, capsys, "test")
    assert ended.code == (1 if mismatches else 0), why
    for each in mismatches:
        assert each.partition(": ")[2] in " ".join(ended.out.split()), ended.out


def test_what_policies_of_the_source_name_takes_room(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path)
    fleet = [*THREE, *web(4), *web_of("api", 5)]
    repository.commit({"fleet.yaml": fleet, "lost_test.yaml": a_test({"survives": [ANY_CLUSTER]})})
    assert argosy(repository, capsys, "test").code == 0
    repository.commit({"resilience.yaml": a_resilience(selector={**THE_OTHER})})
    assert argosy(repository, capsys, "test").code == 1


THE_OTHER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"}


def test_a_loss_of_an_absent_object_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path)
    test = a_test({"absent": True, "survives": [ANY_CLUSTER]})
    repository.commit({"fleet.yaml": [a_cluster("eu-1"), *web(6)], "lost_test.yaml": test})
    ended = argosy(repository, capsys, "validate")
    assert "spec.expect[0].absent: is expected beside survives" in ended.out
