"""Failover under way: it follows its policy, ends where copies recover, goes in no circles, and leaves a trace."""

from pathlib import Path
from typing import Any

import pytest

from reconciler.pipeline.binding_files import BindingReader
from render.binding import LastMove
from render.documents import parse_documents

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, weighted
from .failing import observed
from .memory_fleet import MemoryFleet, settle
from .test_failover import BINDING, FIVE_MINUTES, WEB, a_failing_policy, a_fleet, binding, targets
from .test_failover_members import MEMBERS, has_web
from .test_failover_members import targets as placed

NEVER = {"decisionConditions": {"tolerationSeconds": 300}, "purgeMode": "Never"}
DIRECTLY = {"decisionConditions": {"tolerationSeconds": 300}, "purgeMode": "Directly"}
ILL, WELL = ("Unhealthy", "2026-03-01T09:00:00Z"), ("Healthy", "2026-03-01T08:00:00Z")
PARIS_COPY = "clusters/paris/default/Deployment.apps/web.yaml"


def passed(repository: Repository, capsys: pytest.CaptureFixture[str], time: str, *options: str) -> str:
    ended = argosy(repository, capsys, "reconcile", "--now", f"2026-03-01T{time}Z", *options)
    assert ended.code == 0, ended
    return ended.out + ended.err


def failed_over(
    folder: Path, capsys: pytest.CaptureFixture[str], application: dict[str, Any], **spec: Any
) -> Repository:
    """A workload that left paris for rome at 09:05:01, because it was not healthy since nine."""
    repository = Repository.create(folder / "fleet")
    repository.commit(
        {
            "argosy.yaml": a_fleet(**spec),
            **{f"{name}.yaml": a_cluster(name) for name in ("oslo", "paris", "rome")},
            "web.yaml": a_deployment("web", replicas=6),
            "policy.yaml": a_failing_policy(application),
        }
    )
    observed(repository, health={"paris": WELL})
    passed(repository, capsys, "08:00:00", "--bootstrap")
    observed(repository, health={"paris": ILL})
    passed(repository, capsys, "09:05:01")
    assert targets(repository) == {"rome": 6}
    return repository


def tasks(repository: Repository) -> list[tuple[str, str, bool | None]]:
    found = binding(repository)["spec"].get("gracefulEvictionTasks", ())
    return [(each["fromCluster"], each["purgeMode"], each.get("suppressDeletion")) for each in found]


def is_kept(repository: Repository) -> bool:
    return bool(repository.files(under="clusters/paris"))


def test_what_is_kept_for_ever_goes_once_its_policy_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before, an edit of the policy changed nothing for tasks under way: there was no way to end them."""
    fleet = failed_over(tmp_path, capsys, NEVER)
    observed(fleet, health={"paris": ILL, "rome": WELL})
    passed(fleet, capsys, "09:30:00")
    assert (tasks(fleet), is_kept(fleet)) == ([("paris", "Never", True)], True)
    said = argosy(fleet, capsys, "explain", "deploy/web").out
    assert "what is there stays until its policy says otherwise, or it is healthy again" in said
    fleet.commit({"policy.yaml": a_failing_policy(DIRECTLY)})
    passed(fleet, capsys, "09:31:00")
    assert (tasks(fleet), is_kept(fleet), targets(fleet)) == ([], False, {"rome": 6})
    ended = argosy(fleet, capsys, "verify", "-n", "3")
    assert (ended.code, ended.out.count("equal")) == (0, 3)


def test_the_last_copy_stays_though_its_policy_says_directly_by_now(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = failed_over(tmp_path, capsys, NEVER)
    observed(fleet, health={"paris": ILL, "rome": ("Unhealthy", "2026-03-01T09:05:10Z")})
    fleet.commit({"policy.yaml": a_failing_policy(DIRECTLY)})
    passed(fleet, capsys, "09:06:00")
    assert (tasks(fleet), is_kept(fleet)) == ([("paris", "Never", True)], True)


def test_a_grace_period_that_is_edited_counts_for_what_is_under_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = failed_over(tmp_path, capsys, NEVER)
    fleet.commit({"policy.yaml": a_failing_policy({**FIVE_MINUTES, "gracePeriodSeconds": 60})})
    passed(fleet, capsys, "09:05:30")
    (task,) = binding(fleet)["spec"]["gracefulEvictionTasks"]
    assert (task["purgeMode"], task["gracePeriodSeconds"], "suppressDeletion" in task) == ("Gracefully", 60, False)


def test_what_is_under_way_leaves_gracefully_when_its_policy_asks_for_no_failover_any_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = failed_over(tmp_path, capsys, NEVER)
    policy = a_failing_policy(NEVER)
    del policy["spec"]["failover"]
    fleet.commit({"policy.yaml": policy})
    passed(fleet, capsys, "09:06:00")
    assert tasks(fleet) == [("paris", "Gracefully", None)]
    observed(fleet, health={"paris": ILL, "rome": WELL})
    passed(fleet, capsys, "09:07:00")
    assert (tasks(fleet), is_kept(fleet)) == ([], False)


@pytest.mark.parametrize("spec", [{"compatibility": "Karmada"}, {"failover": {"underWay": "Keep"}}])
def test_as_in_karmada_tasks_keep_what_they_began_with(
    spec: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("oslo", "paris", "rome"):
        spec = {**spec, "kinds": []} if name == "" else spec
    fleet = failed_over(tmp_path, capsys, NEVER, **{**spec, "requireRecordedAPIs": False})
    fleet.commit({"policy.yaml": a_failing_policy(DIRECTLY)})
    observed(fleet, health={"paris": WELL, "rome": WELL})
    passed(fleet, capsys, "09:31:00")
    assert (tasks(fleet), is_kept(fleet)) == ([("paris", "Never", True)], True)


def test_a_copy_that_is_healthy_again_takes_its_place_back_before_its_replacement_is_healthy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = failed_over(tmp_path, capsys, FIVE_MINUTES)
    observed(fleet, health={"paris": ("Healthy", "2026-03-01T09:06:00Z"), "rome": ILL})
    passed(fleet, capsys, "09:06:10")
    assert (tasks(fleet), targets(fleet)) == ([], {"paris": 6})
    assert not fleet.files(under="clusters/rome")
    assert binding(fleet)["status"]["lastMove"] == {
        "at": "2026-03-01T09:06:10Z",
        "from": ["rome"],
        "reason": "Recovered",
        "message": "it is healthy again in paris",
    }
    assert "unchanged" in passed(fleet, capsys, "09:06:20")


def test_a_divided_workload_gives_back_what_is_not_healthy_yet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    placement = {"replicaScheduling": weighted(paris=1, rome=1, oslo=1)}
    policy = a_policy("web", selectors=[WEB], placement=placement, propagateDeps=True, failover={"application": NEVER})
    repository = Repository.create(tmp_path / "fleet")
    clusters = {f"{name}.yaml": a_cluster(name) for name in ("oslo", "paris", "rome")}
    repository.commit({**clusters, "web.yaml": a_deployment("web", replicas=6), "policy.yaml": policy})
    observed(repository, health=dict.fromkeys(("oslo", "paris", "rome"), WELL))
    passed(repository, capsys, "08:00:00", "--bootstrap")
    observed(repository, health={"oslo": WELL, "paris": ILL, "rome": WELL})
    passed(repository, capsys, "09:05:01")
    assert targets(repository) == {"oslo": 3, "rome": 3}
    growing = ("Unhealthy", "2026-03-01T09:05:10Z")
    observed(repository, health={"oslo": WELL, "paris": ("Healthy", "2026-03-01T09:06:00Z"), "rome": growing})
    passed(repository, capsys, "09:06:10")
    assert (tasks(repository), targets(repository)) == ([], {"oslo": 3, "paris": 2, "rome": 1})


ANSWERS, UNSEEN = ("True", "2026-03-01T08:00:00Z"), ("Unknown", "2026-03-01T09:05:30Z")


def test_a_replacement_that_nobody_can_see_any_more_gives_nothing_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """That it was not seen to be healthy is no sign that it is not: its copies stay."""
    fleet = failed_over(tmp_path, capsys, FIVE_MINUTES)
    ready = {"oslo": ANSWERS, "paris": ANSWERS, "rome": UNSEEN}
    observed(fleet, ready=ready, health={"paris": ("Healthy", "2026-03-01T09:06:00Z"), "rome": WELL})
    passed(fleet, capsys, "09:06:10")
    assert (targets(fleet), is_kept(fleet)) == ({"rome": 6}, True)


TWO = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]}


@pytest.mark.parametrize(
    ("placement", "after"),
    [
        ({"replicaScheduling": weighted(paris=1, rome=1, oslo=1)}, {"oslo": 3, "rome": 3}),
        (TWO, {"oslo": 6, "rome": 6}),
    ],
    ids=["divided", "copied"],
)
def test_what_comes_back_takes_no_place_of_a_cluster_that_nobody_can_see(
    placement: dict[str, Any], after: dict[str, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = a_policy(
        "web", selectors=[WEB], placement=placement, propagateDeps=True, failover={"application": FIVE_MINUTES}
    )
    repository = Repository.create(tmp_path / "fleet")
    clusters = {f"{name}.yaml": a_cluster(name) for name in ("oslo", "paris", "rome")}
    repository.commit({**clusters, "web.yaml": a_deployment("web", replicas=6), "policy.yaml": policy})
    ready = dict.fromkeys(("oslo", "paris", "rome"), ANSWERS)
    observed(repository, ready=ready)
    passed(repository, capsys, "08:00:00", "--bootstrap")
    observed(repository, ready=ready, health={"oslo": WELL, "paris": ILL, "rome": WELL})
    passed(repository, capsys, "09:05:01")
    assert targets(repository) == after
    back = ("Healthy", "2026-03-01T09:06:00Z")
    observed(repository, ready={**ready, "rome": UNSEEN}, health={"oslo": WELL, "paris": back, "rome": WELL})
    passed(repository, capsys, "09:06:10")
    assert targets(repository) == after


def test_a_copy_that_is_kept_for_ever_goes_a_minute_after_it_is_healthy_and_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = failed_over(tmp_path, capsys, NEVER)
    observed(fleet, health={"paris": ("Healthy", "2026-03-01T09:20:00Z"), "rome": WELL})
    said = passed(fleet, capsys, "09:20:30", "-o", "json")
    assert (tasks(fleet), '"2026-03-01T09:21:00Z"' in said) == ([("paris", "Never", True)], True)
    passed(fleet, capsys, "09:21:00")
    assert (tasks(fleet), is_kept(fleet), targets(fleet)) == ([], False, {"rome": 6})


def test_the_binding_tells_of_the_last_move_when_it_is_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = failed_over(tmp_path, capsys, FIVE_MINUTES)
    message = "it was not healthy since 2026-03-01T09:00:00Z, for longer than 300 s"
    move = {
        "at": "2026-03-01T09:05:01Z",
        "from": ["paris"],
        "reason": "ApplicationFailure",
        "message": message,
    }
    assert binding(fleet)["status"]["lastMove"] == move
    observed(fleet, health={"paris": ILL, "rome": WELL})
    passed(fleet, capsys, "09:06:00")
    assert (tasks(fleet), binding(fleet)["status"]["lastMove"]) == ([], move)
    read = BindingReader().parse(fleet.show(BINDING).encode())
    assert read.moved == LastMove(
        at="2026-03-01T09:05:01Z", clusters=("paris",), reason="ApplicationFailure", message=message
    )
    words = f"moved: it was evicted from paris at 2026-03-01T09:05:01Z (ApplicationFailure): {message}\n"
    assert words in argosy(fleet, capsys, "status", "deploy/web").out
    value = parse_documents(argosy(fleet, capsys, "status", "deploy/web", "-o", "json").out.encode())[0].value
    assert value["lastMove"] == move
    said = argosy(fleet, capsys, "explain", "deploy/web").out
    assert f"It was evicted from paris at 2026-03-01T09:05:01Z (ApplicationFailure): {message}." in said
    assert "its replicas have changed" not in said


THREE = {"replicaScheduling": {"replicaDivisionPreference": "Aggregated", "replicaSchedulingType": "Divided"}}


def a_restless_fleet(folder: Path, seconds: int, *, mode: str = "Gracefully", **spec: Any) -> MemoryFleet:
    """A workload of one replica that one of three members gets, and that is healthy nowhere."""
    application = {"decisionConditions": {"tolerationSeconds": seconds}, "purgeMode": mode}
    files = {
        "argosy.yaml": a_fleet(**spec),
        "web.yaml": a_deployment("web", replicas=1),
        "policy.yaml": a_policy(
            "web", selectors=[WEB], placement=THREE, propagateDeps=True, failover={"application": application}
        ),
    }
    return MemoryFleet.create(folder / "fleet", MEMBERS, files)


def moves(fleet: MemoryFleet, passes: int, seconds: float) -> int:
    before, count = None, -1
    for _ in range(passes):
        fleet.run(seconds)
        now = placed(fleet)
        count += now != before
        before = now
    return count


def test_what_is_healthy_nowhere_does_not_go_in_circles(tmp_path: Path) -> None:
    """With tolerationSeconds 0 it went over three clusters in 25 seconds."""
    fleet = a_restless_fleet(tmp_path, 0)
    assert moves(fleet, 24, 5) == 1
    assert moves(fleet, 12, 5) == 1  # 120 seconds after the first one
    assert moves(fleet, 60, 5) == 0  # no cluster is left that it has not failed in


def test_a_pause_between_moves_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = a_restless_fleet(tmp_path, 0)
    moves(fleet, 10, 5)
    note = next(each for each in binding(fleet.repository)["status"]["conditions"] if each["type"] == "Evicted")
    left, at = binding(fleet.repository)["status"]["lastMove"]["from"][0], "2027-01-15T08:00:10Z"
    (stays,) = placed(fleet)
    words = f"though it is not well there: it left {left} at {at}, and does not go in circles"
    assert note == {
        "type": "Evicted",
        "status": "False",
        "reason": "MovePaused",
        "message": f"stays in {stays} until 2027-01-15T08:02:10Z, {words}",
        "clusters": [stays],
    }
    assert note["message"] in argosy(fleet.repository, capsys, "explain", "deploy/web").out
    assert note["message"] in argosy(fleet.repository, capsys, "status").out
    ended = argosy(fleet.repository, capsys, "verify", "-n", "3")
    assert (ended.code, ended.out.count("equal")) == (0, 3)


def test_where_pauses_are_switched_off_it_goes_on_at_once(tmp_path: Path) -> None:
    fleet = a_restless_fleet(tmp_path, 0, failover={"repeatedMoves": "AtOnce"})
    assert moves(fleet, 6, 5) == 2


def test_a_workload_that_was_healthy_for_long_leaves_at_once_again(tmp_path: Path) -> None:
    fleet = a_restless_fleet(tmp_path, 30)
    assert moves(fleet, 20, 5) == 1
    for _ in range(6):
        for member in fleet.members.values():
            settle(member)
        fleet.run(300)
    for member in fleet.members.values():
        for key in [key for key in member.objects if key[0] == "deployments.apps"]:
            member.objects[key]["status"]["readyReplicas"] = 0
    assert moves(fleet, 9, 5) == 1
    assert binding(fleet.repository)["status"]["lastMove"].get("times") is None


def test_a_duplicated_workload_is_not_deleted_and_made_again_every_minute(tmp_path: Path) -> None:
    application = {"decisionConditions": {"tolerationSeconds": 30}, "purgeMode": "Directly"}
    policy = a_policy("web", selectors=[WEB], propagateDeps=True, placement={}, failover={"application": application})
    files = {"web.yaml": a_deployment("web", replicas=2), "policy.yaml": policy}
    fleet = MemoryFleet.create(tmp_path / "fleet", MEMBERS, files)
    losses, had = 0, True
    for _ in range(180):  # half an hour
        for name in ("paris", "rome"):
            settle(fleet.members[name])
        fleet.run(10)
        has = has_web(fleet, "oslo")
        losses += had and not has
        had = has
    assert 1 <= losses <= 5
