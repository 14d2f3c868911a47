"""PolicyTests that step through time: what they are given, and what is wrong with it."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, weighted
from .test_failover import DOWN, TOLERATED, WEB, a_fleet


def a_test(given: dict[str, Any], **replicas: int) -> dict[str, Any]:
    expected = {"group": "apps", "kind": "Deployment", "name": "web", "replicas": replicas}
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "PolicyTest",
        "metadata": {"name": "t"},
        "spec": {"given": given, "expect": [expected]},
    }


def tried(tmp_path: Path, capsys: pytest.CaptureFixture[str], test: dict[str, Any]) -> tuple[int, str]:
    repository = Repository.create(tmp_path / "fleet")
    placement = {"clusterTolerations": TOLERATED, "replicaScheduling": weighted(oslo=1, paris=1, rome=1)}
    repository.commit(
        {
            "argosy.yaml": a_fleet(featureGates={"Failover": True}),
            **{f"{name}.yaml": a_cluster(name) for name in ("oslo", "paris", "rome")},
            "down.yaml": DOWN,
            "web.yaml": a_deployment("web", replicas=6),
            "policy.yaml": a_policy("web", selectors=[WEB], placement=placement, failover={"cluster": {}}),
            "test.yaml": test,
        }
    )
    ended = argosy(repository, capsys, "test")
    return ended.code, ended.out + ended.err


def test_a_second_too_early_nothing_has_moved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"now": "2026-03-01T09:05:00Z", "notReady": {"paris": "2026-03-01T09:00:01Z"}}
    code, said = tried(tmp_path, capsys, a_test(given, oslo=3, rome=3))
    assert code == 1
    assert "want oslo:3 rome:3, got oslo:2 paris:2 rome:2" in said


def test_a_test_may_try_a_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {
        "now": "2026-03-01T09:05:01Z",
        "notReady": {"paris": "2026-03-01T09:00:01Z"},
        "argosy": {"spec": {"featureGates": {"Failover": False}}},
    }
    code, said = tried(tmp_path, capsys, a_test(given, oslo=2, paris=2, rome=2))
    assert (code, said.splitlines()[0]) == (0, "ok    t  test.yaml")


class Mistake(NamedTuple):
    why: str
    given: dict[str, Any]
    says: str


MISTAKES = [
    Mistake(
        "a time that is none",
        {"now": "noon"},
        "spec.given.now: 'noon' is no time\n  hint: write it as '2026-03-01T14:05:00Z'",
    ),
    Mistake(
        "a failure at no time",
        {"now": "2026-03-01T09:05:00Z", "unhealthy": {"paris": "noon"}},
        "spec.given.unhealthy.paris: 'noon' is no time\n  hint: write it as '2026-03-01T14:05:00Z'",
    ),
    Mistake(
        "a failure without the time that is asked about",
        {"notReady": {"paris": "2026-03-01T09:00:00Z"}},
        "spec.given.notReady: means nothing without spec.given.now",
    ),
    Mistake(
        "a cluster that there is not",
        {"now": "2026-03-01T09:05:00Z", "notReady": {"pariss": "2026-03-01T09:00:00Z"}},
        "spec.given.notReady.pariss: the source has no cluster called 'pariss'\n  hint: did you mean 'paris'?",
    ),
]


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: case.why)
def test_what_a_test_is_given_is_checked(case: Mistake, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = tried(tmp_path, capsys, a_test(case.given, oslo=2, paris=2, rome=2))
    assert code == 3
    assert case.says in said
