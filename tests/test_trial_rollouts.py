"""PolicyTests that step through the waves of a rollout: what each cluster has at a time."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .asked import a_fleet_asking
from .build import Repository, a_cluster, a_policy, argosy, on_clusters
from .rolling import WEB, a_rollout_policy, a_wave, web

NAMES = ("oslo", "paris", "rome")
IMAGE = "/spec/template/spec/containers/0/image"
POLICY = "RolloutPolicy default/web"
WAVES = [a_wave("canary", "oslo", gate={"healthyFor": "5m", "deadline": "10m"}), a_wave("rest", approval=True)]
SINCE, MERGED = "2026-03-01T09:00:00Z", "2026-03-01T09:10:00Z"
APPROVED = {"at": "2026-03-01T09:20:00Z", "verb": "Approve", "policy": POLICY, "wave": "rest"}


def a_change(version: int, at: str = MERGED) -> dict[str, Any]:
    return {"at": at, "templates": [web(version)]}


def expected(at: str, versions: str, names: tuple[str, ...] = NAMES) -> dict[str, Any]:
    """The versions that clusters have at a time, one digit for each."""
    fields = [
        {"cluster": name, "path": IMAGE, "value": f"web:{version}"}
        for name, version in zip(names, versions, strict=True)
    ]
    return {"group": "apps", "kind": "Deployment", "name": "web", "at": f"2026-03-01T{at}Z", "fields": fields}


class Course(NamedTuple):
    why: str
    given: dict[str, Any]
    expect: list[dict[str, Any]]
    rollout: dict[str, Any] | None = None


COURSES = [
    Course(
        "each wave begins after the gate of the one before",
        {"changes": [a_change(2)], "controls": [{**APPROVED, "at": MERGED}]},
        [
            expected("09:09:59", "111"),
            expected("09:10:00", "211"),
            expected("09:14:59", "211"),
            expected("09:15:00", "222"),
        ],
    ),
    Course(
        "a wave waits for its approval",
        {"changes": [a_change(2)], "controls": [APPROVED]},
        [expected("09:19:59", "211"), expected("09:20:00", "222")],
    ),
    Course(
        "an approval is of the change that goes out when it is given",
        {"changes": [a_change(2), a_change(3, "2026-03-01T09:30:00Z")], "controls": [APPROVED]},
        [expected("09:29:59", "222"), expected("09:36:00", "322")],
    ),
    Course(
        "what is unwell in the first wave reaches no other",
        {"changes": [a_change(2)], "controls": [APPROVED], "unhealthy": {"oslo": "2026-03-01T09:12:00Z"}},
        [expected("09:14:59", "211"), expected("09:59:00", "211")],
    ),
    Course(
        "and goes back where the policy says so",
        {"changes": [a_change(2)], "unhealthy": {"oslo": "2026-03-01T09:12:00Z"}},
        [expected("09:19:59", "211"), expected("09:20:00", "111")],
        {"onFailure": "Rollback"},
    ),
    Course(
        "two persons approve, who are known, and are not the same one",
        {
            "changes": [a_change(2)],
            "controls": [
                {**APPROVED, "by": "ada"},
                {**APPROVED, "at": "2026-03-01T09:25:00Z", "by": "ada"},
                {**APPROVED, "at": "2026-03-01T09:30:00Z"},
                {**APPROVED, "at": "2026-03-01T09:35:00Z", "by": "bob"},
            ],
        },
        [expected("09:34:59", "211"), expected("09:35:00", "222")],
        {"waves": [WAVES[0], a_wave("rest", approvals=2)], "approvers": ["ada", "bob"]},
    ),
    Course(
        "a silent cluster is passed over",
        {"changes": [a_change(2)], "controls": [APPROVED], "notReady": {"paris": "2026-03-01T09:05:00Z"}},
        [expected("09:30:00", "222")],
    ),
    Course(
        "one that joins gets the version that was completed last",
        {
            "changes": [
                a_change(2),
                {"at": "2026-03-01T09:11:00Z", "clusters": [a_cluster("tokyo")]},
            ],
            "controls": [APPROVED],
        },
        [
            expected("09:19:59", "2111", (*NAMES, "tokyo")),
            expected("09:20:00", "2222", (*NAMES, "tokyo")),
        ],
    ),
]

AGED = {"healthyFor": "5m", "maxStatusAge": "5m"}
COURSES += [
    Course(
        "without an age what was seen last counts, however old it is",
        {
            "changes": [a_change(2)],
            "controls": [{**APPROVED, "at": MERGED}],
            "notLookedAt": {"oslo": "2026-03-01T09:11:00Z"},
        },
        [expected("09:59:00", "222")],
        {"gate": {"healthyFor": "5m"}},
    ),
    Course(
        "with one nobody is through by a status that is older",
        {
            "changes": [a_change(2)],
            "controls": [{**APPROVED, "at": "2026-03-01T09:17:00Z"}],
            "notLookedAt": {"oslo": "2026-03-01T09:11:00Z"},
        },
        [expected("09:59:00", "211")],
        {"gate": AGED},
    ),
]

ERRORS = {"name": "errors", "http": {"url": "https://errors.example.com"}}
COURSES += [
    Course(
        "a check is met where the test does not say otherwise, and nobody is asked",
        {"changes": [a_change(2)], "controls": [{**APPROVED, "at": MERGED}]},
        [expected("09:14:59", "211"), expected("09:15:00", "222")],
        {"gate": {"checks": [ERRORS]}},
    ),
    Course(
        "a wave whose check is not met has failed by its deadline",
        {
            "changes": [a_change(2)],
            "controls": [{**APPROVED, "at": MERGED}],
            "notMet": {"errors": "2026-03-01T09:12:00Z"},
        },
        [expected("09:24:59", "211"), expected("09:25:00", "111")],
        {"gate": {"checks": [ERRORS]}, "onFailure": "Rollback"},
    ),
]


def a_test(given: dict[str, Any], expect: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "PolicyTest",
        "metadata": {"name": "t"},
        "spec": {"given": {"since": SINCE, "now": "2026-03-01T10:00:00Z", **given}, "expect": expect},
    }


def tried(
    folder: Path, capsys: pytest.CaptureFixture[str], test: dict[str, Any], rollout: dict[str, Any] | None = None
) -> tuple[int, str]:
    repository = Repository.create(folder)
    repository.commit(
        {
            **{f"{name}.yaml": a_cluster(name) for name in NAMES},
            "web.yaml": web(1),
            "policy.yaml": a_policy("web", selectors=[WEB], placement=on_clusters()),
            "rollout.yaml": a_rollout_policy(**{"waves": WAVES, **(rollout or {})}),
            "argosy.yaml": a_fleet_asking("https://errors.example.com"),
            "test.yaml": test,
        }
    )
    ended = argosy(repository, capsys, "test")
    return ended.code, ended.out + ended.err


@pytest.mark.parametrize("course", COURSES, ids=lambda course: course.why)
def test_a_test_steps_through_waves(course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = tried(tmp_path / "fleet", capsys, a_test(course.given, course.expect), course.rollout)
    assert code == 0, said


def test_what_a_cluster_has_at_another_time_is_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    test = a_test({"changes": [a_change(2)]}, [expected("09:12:00", "222")])
    code, said = tried(tmp_path / "fleet", capsys, test)
    assert code == 1
    assert f'{IMAGE} in paris: want "web:2", got "web:1"' in said
    assert f"{IMAGE} in oslo" not in said


class Mistake(NamedTuple):
    why: str
    given: dict[str, Any]
    expect: dict[str, Any]
    says: str


MISTAKES = [
    Mistake("a change at no time", {"changes": [a_change(2, "noon")]}, expected("09:12:00", "111"),
            "spec.given.changes[0].at: 'noon' is no time"),
    Mistake("an expectation at no time", {}, {**expected("09:12:00", "111"), "at": "noon"},
            "spec.expect[0].at: 'noon' is no time"),
    Mistake("an expectation after the last pass", {}, expected("11:00:00", "111"),
            "spec.expect[0].at: must not be after spec.given.now"),
    Mistake("a time without the one that is asked about", {"now": "", "since": ""}, expected("09:12:00", "111"),
            "spec.expect[0].at: means nothing without spec.given.now"),
    Mistake("a verb that there is not", {"controls": [{**APPROVED, "verb": "Approved"}]}, expected("09:12:00", "111"),
            "spec.given.controls[0].verb: unknown value 'Approved'"),
    Mistake("a policy that there is not", {"controls": [{**APPROVED, "policy": "RolloutPolicy default/wep"}]},
            expected("09:12:00", "111"), "spec.given.controls[0].policy: the source has no RolloutPolicy default/wep"),
    Mistake("a cluster to look at that there is not", {"notLookedAt": {"osl": MERGED}}, expected("09:12:00", "111"),
            "spec.given.notLookedAt.osl: the source has no cluster called"),
    Mistake("a check that there is not", {"notMet": {"errors": MERGED}},
            expected("09:12:00", "111"), "spec.given.notMet.errors: no rollout policy has a check 'errors'"),
    Mistake("a check that is not met at no time", {"notMet": {"errors": "noon"}},
            expected("09:12:00", "111"), "spec.given.notMet.errors: 'noon' is no time"),
    Mistake("a template that is none", {"changes": [{"at": MERGED, "templates": [{"kind": "Deployment"}]}]},
            expected("09:12:00", "111"), "must have apiVersion and kind"),
    Mistake("a cluster that there is not", {"changes": [{"at": MERGED, "withoutClusters": ["osl"]}]},
            expected("09:12:00", "111"), "spec.given.changes[0].withoutClusters[0]: the source has no cluster called"),
]  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: case.why)
def test_what_a_test_says_of_its_way_is_checked(
    case: Mistake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = tried(tmp_path / "fleet", capsys, a_test(case.given, [case.expect]))
    assert (code, case.says in said) == (3, True), said
