"""An apply says each thing once: many successes in a line, failures in groups, and each object with ``-v`` alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.deliver.grouped_problems import hint_lines, problem_groups, problem_lines
from reconciler.deliver.reports import change_lines, hold_lines, report_text
from reconciler.deliver.results import ClusterReport, ClusterResult, ObjectResult
from reconciler.ledger.holds import ClusterHold, EndedHold
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.members.exchange import Failure, FailureKind
from reconciler.plans.model import Action
from render.model import ObjectRef

from .build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .fakes import FakeCluster
from .served import serving_members

NAMES = ("eu", "us", "za")
KEYS = ("one", "two", "three")
CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
NOT_OURS = "it is in the cluster already, different and not ours (managers: somebody)"
HINT = (
    "delete or rename it there, or set conflictResolution: Overwrite in its policy,"
    " or take its fields over once: argosy apply --migrate-from somebody"
)


def a_result(name: str, action: Action = Action.CREATED, **fields: Any) -> ObjectResult:
    return ObjectResult(ref=ObjectRef("", "ConfigMap", "shop", name), action=action, **fields)


def a_report(cluster: str, *results: ObjectResult, **fields: Any) -> ClusterReport:
    is_well = not any(result.is_failure for result in results)
    outcome = ApplyOutcome.CONVERGED if is_well else ApplyOutcome.INCOMPLETE
    applied = ClusterResult(cluster=cluster, results=results, outcome=outcome)
    return ClusterReport(cluster=cluster, applied=applied, **fields)


def test_five_objects_that_changed_have_a_line_each_and_more_have_one_line() -> None:
    changes = [a_result("a"), a_result("b", Action.CONFIGURED, reason="Drifted"), a_result("c", Action.DELETED)]
    besides = [a_result("d", Action.UNCHANGED), a_result("e", Action.DELETED, reason="Finalizing")]
    assert change_lines([a_report("eu", *changes, *besides), a_report("us", *changes[:2])]) == [
        "eu: ConfigMap shop/a: created",
        "eu: ConfigMap shop/b: configured (Drifted)",
        "eu: ConfigMap shop/c: deleted",
        "us: ConfigMap shop/a: created",
        "us: ConfigMap shop/b: configured (Drifted)",
    ]
    others = [a_result("f", Action.ADOPTED), a_result("g", Action.HANDED_OFF), a_result("h", Action.FAILED)]
    reports = [a_report("eu", *changes, *besides, *others), a_report("us", *changes), a_report("za", *besides)]
    assert change_lines(reports) == [
        "applied 8 objects to 2 clusters: 2 created, 2 configured, 1 adopted, 2 deleted, 1 let go"
    ]
    assert change_lines([ClusterReport(cluster="eu")]) == []


def test_clusters_that_are_held_at_one_commit_have_one_line() -> None:
    hold = ClusterHold(commit="a" * 40, source="b" * 40, by="Ada", since="2026-01-15T09:00:00Z")
    reports = [a_report(name, hold=hold) for name in ("eu", "us")] + [ClusterReport(cluster="za", hold=hold)]
    assert list(hold_lines(reports)) == [
        (
            "eu, us are held at aaaaaaaaaaaa by Ada since 2026-01-15T09:00:00Z\n"
            "  hint: it ends with a newer source, or by hand: argosy cluster release eu us"
        )
    ]


def test_many_clusters_in_which_all_went_well_have_one_row() -> None:
    well = [a_report(f"m{number}", a_result("a"), a_result("b", Action.UNCHANGED)) for number in range(6)]
    firsts = [line.split()[0] for line in "".join(report_text(well[:5])).splitlines()]
    assert firsts == ["CLUSTER", "m0", "m1", "m2", "m3", "m4"]
    unseen = a_report("out", a_result("a"), unseen="DeadlineExceeded")
    hold = ClusterHold(commit="a" * 40, source="b" * 40, by="Ada", since="2026-01-15T09:00:00Z")
    held = a_report("old", a_result("a"), hold=hold)
    released = a_report("new", a_result("a"), ended_hold=EndedHold(hold=hold, ended_by="its time"))
    failed = a_report("za", a_result("a", Action.FAILED, reason="Forbidden", message="no right", hint="ask for it"))
    assert "".join(report_text([*well[:3], failed, *well[3:], unseen, held, released])) == (
        "CLUSTER                 UNCHANGED   WRITTEN   DELETED   KEPT   FAILED   STATE\n"
        "za                      0           0         0         0      1        Incomplete\n"
        "out                     0           1         0         0      0        Converged\n"
        "old                     0           1         0         0      0        Converged, held\n"
        "new                     0           1         0         0      0        Converged, no longer held\n"
        "m0, m1, m2 and 3 more   6           6         0         0      0        Converged\n"
        "\n"
        "OBJECT             CLUSTER   ACTION   REASON      MESSAGE\n"
        "ConfigMap shop/a   za        failed   Forbidden   no right\n"
        "\n"
        "hint for Forbidden: ask for it\n"
    )


def test_failures_are_grouped_by_reason_with_each_hint_once_the_worst_first() -> None:
    """Names that a server has in the middle of its words make no two reasons of one."""

    def refused(name: str) -> ObjectResult:
        said = f'configmaps "{name}" is forbidden'
        return a_result(name, Action.FAILED, reason="Forbidden", message=said, hint="ask for the right")

    alone = a_result("y", Action.FAILED, reason="Invalid", message="is odd")
    blocked = a_result("z", Action.BLOCKED, reason="NoNamespace", message="no shop", hint="ask for the right")
    waiting = [
        a_result(name, Action.KEPT, reason="NeedsConfirmation", message="much goes", hint=f"--confirm {name}")
        for name in "stuvw"
    ]
    down = Failure(kind=FailureKind.UNREACHABLE, message="refuses connections", hint="see whether it is up")
    reports = [
        a_report("eu", *waiting, blocked, alone, *map(refused, "abc")),
        a_report("us", *map(refused, "ab")),
        *(ClusterReport(cluster=name, failure=down) for name in ("w", "x", "y", "z")),
    ]
    assert problem_lines(reports) == (
        "w, x, y and 1 more: Unreachable: refuses connections\n  hint: see whether it is up",
        (
            'eu, us: ConfigMap shop/a and 2 more: failed (Forbidden): configmaps "a" is forbidden\n'
            "  hint: ask for the right"
        ),
        "eu: ConfigMap shop/y: failed (Invalid): is odd",
        "eu: ConfigMap shop/z: blocked (NoNamespace): no shop",
        (
            "eu: ConfigMap shop/s and 4 more: kept (NeedsConfirmation): much goes\n"
            "  hint: --confirm s\n  hint: --confirm t\n  hint: --confirm u\n  hint: 2 more like it, which -v lists"
        ),
    )
    hints = [
        "hint for Unreachable: see whether it is up",
        "hint for Forbidden: ask for the right",
        "hint for NeedsConfirmation: --confirm s",
        "hint for NeedsConfirmation: --confirm t",
        "hint for NeedsConfirmation: --confirm u",
        "hint for NeedsConfirmation: 2 more like it, which -v lists",
    ]
    assert "".join(report_text(reports)).rpartition("\n\n")[2].splitlines() == hints
    assert list(hint_lines(problem_groups(reports), is_of_objects=True)) == hints[1:]


def test_clusters_that_are_held_refuse_a_commit_for_one_reason() -> None:
    """Each names itself in the middle of its words, so that fifty of them had fifty rows, and as many hints."""

    def refusal(name: str) -> ClusterReport:
        said = Failure(kind=FailureKind.HELD, message=f"{name!r} is held at aaaa by Ada", hint=f"release {name}")
        return ClusterReport(cluster=name, failure=said)

    names = [f"m{number}" for number in range(5)]
    assert problem_lines(map(refusal, names)) == (
        (
            "m0, m1, m2 and 2 more: ClusterHeld: 'm0' is held at aaaa by Ada\n"
            "  hint: release m0\n  hint: release m1\n  hint: release m2\n  hint: 2 more like it, which -v lists"
        ),
    )
    elsewhere = [ClusterReport(cluster=each, failure=refusal("m0").failure) for each in names[1:4]]
    assert len(problem_lines([refusal("m0"), *elsewhere])) == 2


def applied(tmp_path: Path, capsys: pytest.CaptureFixture[str], *words: str, before: tuple[str, ...] = ()) -> Ended:
    """Apply three objects to three clusters, of which each has one already, made by somebody."""
    repository = Repository.create(tmp_path / "fleet")
    policy = a_policy("all", selectors=[CONFIG_MAPS], placement=on_clusters(*NAMES))
    clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in NAMES}
    repository.commit({**clusters, "policy.yaml": policy, **{f"{key}.yaml": a_config_map(key, a="1") for key in KEYS}})
    assert argosy(repository, capsys, "-q", "reconcile", "--bootstrap").code == 0
    members = [FakeCluster(name=name) for name in NAMES]
    for member in members:
        path = "/api/v1/namespaces/default/configmaps?fieldManager=somebody"
        assert member.request("POST", path, a_config_map("one", a="theirs"))[0] < 300
    with serving_members(members, tmp_path / "kubeconfigs") as served:
        return argosy(repository, capsys, *before, "apply", "--kubeconfigs", str(served.kubeconfigs), *words)


TABLE = (
    "CLUSTER   UNCHANGED   WRITTEN   DELETED   KEPT   FAILED   STATE\n"
    "eu        0           2         0         0      1        Incomplete\n"
    "us        0           2         0         0      1        Incomplete\n"
    "za        0           2         0         0      1        Incomplete\n"
    "\n"
    "OBJECT                  CLUSTER      ACTION     REASON    MESSAGE\n"
    f"ConfigMap default/one   eu, us, za   conflict   NotOurs   {NOT_OURS}\n"
    "\n"
    f"hint for NotOurs: {HINT}\n"
)
SUMMARY = "applied 6 objects to 3 clusters: 6 created\n"
GROUPED = f"eu, us, za: ConfigMap default/one: conflict (NotOurs): {NOT_OURS}\n  hint: {HINT}\n"


def test_an_apply_says_failures_in_its_table_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each was said by a log line with its hint, and again in the table; each success had a line."""
    assert applied(tmp_path, capsys) == Ended(1, TABLE, SUMMARY)


def test_an_apply_that_prints_json_says_failures_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = applied(tmp_path, capsys, "-o", "json")
    assert (ended.code, ended.err) == (1, SUMMARY + GROUPED)
    objects = [each["objects"] for each in json.loads(ended.out)["clusters"].values()]
    assert [[each["hint"] for each in of_cluster if each["action"] == "conflict"] for of_cluster in objects] == [
        [HINT]
    ] * 3


def test_a_dry_run_says_hints_once_and_nothing_was_applied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = applied(tmp_path, capsys, "--dry-run", "server")
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.splitlines()[-1] == f"hint for NotOurs: {HINT}"
    assert ended.out.count(HINT) == 1


@pytest.mark.parametrize("before", [("-v",), ("--log-format", "json")])
def test_verbose_lines_and_those_of_programs_are_about_one_object_each(
    before: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = applied(tmp_path, capsys, before=before)
    said = lines.err if before == ("-v",) else "\n".join(json.loads(line)["event"] for line in lines.err.splitlines())
    for name in NAMES:
        for key in ("two", "three"):
            assert f"{name}: ConfigMap default/{key}: created (Missing)\n" in f"{said}\n"
        assert f"{name}: ConfigMap default/one: conflict (NotOurs): {NOT_OURS}\n  hint: {HINT}\n" in f"{said}\n"
    assert "applied 6 objects" not in said
    assert lines.out == TABLE
