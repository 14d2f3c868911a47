"""Changes that an approver expedites: they take the place of all others, and go to all waves at once."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, field

from .build import Repository, a_cluster, a_policy, argosy, on_clusters
from .rolling import WEB, RollingFleet, a_control, a_rollout_policy, a_wave, web

CLUSTERS = ("oslo", "paris", "rome", "tokyo")
ADA, EVE = "ada@example.com", "eve@example.com"
FROZEN = {"freezes": [{"until": "2026-04-01T00:00:00Z", "reason": "a fair"}]}


class Row(Struct, kw_only=True):
    """A hotfix, the fourth version, that comes while the second goes out and the third waits."""

    why: str
    commits: Sequence[str]
    policy: Mapping[str, Any] = field(default_factory=dict)
    signer: str = ADA
    unwell: Sequence[str] = ()
    down: Sequence[str] = ()
    waits_for: str = ""


ROWS = (
    Row(why="all clusters at once", commits=["4444 Progressing", "4444 Completed"]),
    Row(
        why="past approvals",
        commits=["4444 Progressing", "4444 Completed"],
        policy={"waves": [a_wave("canary", "oslo"), a_wave("rest", approval=True)]},
    ),
    Row(why="as many as may be under way", commits=["4111 Progressing", "4114 Progressing", "4144 Progressing",
        "4444 Progressing", "4444 Completed"], policy={"maxConcurrent": 1}),
    Row(why="nobody after too many failures", commits=["4111 Progressing", "4111 Failed"], unwell=["oslo"],
        policy={"maxConcurrent": 1, "gate": {"deadline": "10m"}}),
    Row(why="nobody while too many are silent", commits=["2111 Waiting"], down=["tokyo"],
        policy={"maxUnreachable": 0}),
    Row(why="who is silent gets it when he is back", commits=["4441 Progressing", "4444 Completed"], down=["tokyo"]),
    Row(why="a wave that does not answer holds nobody up", commits=["2444 Progressing", "4444 Completed"],
        down=["oslo"]),
    Row(why="a person who is no approver", commits=["2111 Progressing"], signer=EVE, unwell=["oslo"],
        waits_for="hurry expedites nothing: it is by eve@example.com, who is none of the approvers"),
    Row(why="nobody whom anybody knows", commits=[], signer="", unwell=["oslo"],
        waits_for="hurry expedites nothing: it is unverified"),
)  # fmt: skip


def a_hurried_fleet(**policy: Any) -> RollingFleet:
    waves = [a_wave("canary", "oslo"), a_wave("rest")]
    spec = {"waves": waves, "onNewChange": "Expedite", "approvers": [ADA], **policy}
    return RollingFleet.of(CLUSTERS, {}, **spec)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.why)
def test_a_hotfix_while_two_changes_are_before_it(row: Row) -> None:
    fleet = a_hurried_fleet(**row.policy)
    fleet.unwell = {"oslo"}
    for version in (2, 3, 4):
        fleet.commit(web=web(version)).run()
    assert (fleet.told[-1], len(fleet.state().queue)) == ("2111 Progressing", 2)
    fleet.unwell, fleet.down = set(row.unwell), set(row.down)
    newest = fleet.state().queue[-1].digest
    fleet.signers = {"hurry": row.signer} if row.signer else {}
    fleet.commit(hurry=a_control("hurry", newest, "Expedite", reason="on fire"))
    commits = fleet.run()
    if "gate" in row.policy:
        commits += fleet.run(600)
    assert commits == list(row.commits)
    assert [note for note in fleet.notes if "expedites" in note] == [row.waits_for][: len(row.waits_for)]


def test_the_change_under_way_is_expedited_through_a_freeze() -> None:
    fleet = a_hurried_fleet(**FROZEN)
    assert fleet.commit(web=web(2)).run() == ["1111 Waiting"]
    fleet.signers = {"hurry": ADA}
    fleet.commit(hurry=a_control("hurry", fleet.change, "Expedite", reason="on fire"))
    change = fleet.change
    assert fleet.run() == ["2222 Progressing", "2222 Completed"]
    assert fleet.notes == ()
    assert f"hurry by {ADA} lets change {change} go past its waves: on fire" in fleet.said


def test_what_is_expedited_may_be_paused_and_the_next_change_goes_by_its_waves() -> None:
    fleet = a_hurried_fleet(maxConcurrent=1)
    fleet.unwell = {"oslo"}
    fleet.commit(web=web(2)).run()
    fleet.signers = {"hurry": ADA}
    fleet.commit(hurry=a_control("hurry", fleet.change, "Expedite", reason="on fire"))
    fleet.commit(stop=a_control("stop", fleet.change, "Pause"))
    assert fleet.run() == ["2111 Paused"]
    fleet.unwell = set()
    fleet.commit(stop=None)
    fleet.run()
    assert fleet.told[-1] == "2222 Completed"
    fleet.unwell = {"oslo"}
    assert fleet.commit(web=web(3)).run() == ["3222 Progressing"]


def test_a_change_before_the_newest_is_not_expedited() -> None:
    fleet = a_hurried_fleet()
    fleet.unwell = {"oslo"}
    for version in (2, 3, 4):
        fleet.commit(web=web(version)).run()
    first, newest = (each.digest for each in fleet.state().queue)
    fleet.signers = {"hurry": ADA}
    fleet.commit(hurry=a_control("hurry", first, "Expedite", reason="on fire"))
    assert fleet.run() == ["2111 Progressing"], "who signed it is recorded, and nothing else"
    assert f"hurry expedites nothing: change {newest} is newer" in fleet.notes


def test_the_command_asks_for_the_newest_change_and_for_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    policy = a_rollout_policy(waves=[a_wave("canary", "oslo"), a_wave("rest")])
    clusters = {f"{name}.yaml": a_cluster(name) for name in CLUSTERS}
    placed = a_policy("web", selectors=[WEB], placement=on_clusters())
    repository.commit({"p.yaml": placed, "r.yaml": policy, "web.yaml": web(1), **clusters})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    repository.commit({"web.yaml": web(2)})
    argosy(repository, capsys, "reconcile")
    refused = argosy(repository, capsys, "rollout", "expedite", "web", "--reason", "on fire")
    assert (refused.code, refused.err.splitlines()[0]) == (
        3,
        "argosy: RolloutPolicy default/web lets nobody expedite a change",
    )
    asking = {**policy, "spec": {**policy["spec"], "onNewChange": "Expedite", "approvers": [ADA]}}
    repository.commit({"r.yaml": asking})
    argosy(repository, capsys, "reconcile")
    repository.commit({"web.yaml": web(3)})
    argosy(repository, capsys, "reconcile")
    assert argosy(repository, capsys, "rollout", "expedite", "web").code == 2
    document = json.loads(argosy(repository, capsys, "rollout", "status", "-o", "json").out)
    newest = document["rollouts"][0]["queue"][-1]["change"]
    asked = argosy(repository, capsys, "rollout", "expedite", "web", "--reason", "on fire", "--commit")
    said = f"RolloutPolicy default/web is expedited for change {newest}, from the next pass on"
    assert (asked.code, asked.out.splitlines()[0]) == (0, said)
    said = argosy(repository, capsys, "reconcile").err
    assert "warning: web-expedite-1 expedites nothing: it is unverified" in said
