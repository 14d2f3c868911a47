"""Rollouts as people see them: the plan before a change is merged, and how far it is afterwards."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reconciler.run.pass_job import PassJob, PassReport, RolloutEnd

from .build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters, weighted
from .rolling import WEB, a_control, a_rollout_policy, a_wave, web
from .waiting import running

NOW = ("--now", "2026-03-01T09:00:00Z")
CHANGE, HELD = "7852ddab8767c4d2", "d8034f1ff58a1372"


@pytest.fixture
def fleet(tmp_path: Path) -> Repository:
    """Four clusters at the first version, of which none was observed."""
    waves = [a_wave("canary", "oslo", gate={"healthyFor": "90m"}), a_wave("rest", approval=True, maxConcurrent=2)]
    repository = Repository.create(tmp_path / "fleet")
    names = ("oslo", "paris", "rome", "tokyo")
    repository.commit(
        {
            **{f"clusters/{name}.yaml": a_cluster(name) for name in names},
            "web.yaml": web(1),
            "policy.yaml": a_policy("web", selectors=[WEB], placement=on_clusters()),
            "rollout.yaml": a_rollout_policy(waves=waves),
        }
    )
    return repository


def test_a_difference_has_the_plan_by_which_the_change_goes_out(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", *NOW).code == 0
    fleet.commit({"web.yaml": web(2)})
    shown = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW)
    assert shown.out.partition(": ")[2] == (
        "4 clusters change, 1 object changed, 1 rollout\n"
        "risk: touches 4 of 4 clusters\n"
        "\n"
        "OBJECTS\n"
        "  ~ Deployment.apps default/web in all 4 clusters\n"
        '      spec.template.spec.containers[web].image: "web:1" -> "web:2"\n'
        "\n"
        "ROLLOUTS\n"
        f"  RolloutPolicy default/web lets change {CHANGE} out to 4 clusters\n"
        "      wave canary: oslo\n"
        "      wave rest: tokyo, rome, paris, 2 at once, once it is approved,"
        " 1h30m after the beginning at the earliest\n"
    )
    markdown = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW, "-o", "markdown").out
    assert (
        "**Rollouts (1)**\n"
        "\n"
        f"- RolloutPolicy default/web lets change {CHANGE} out to 4 clusters\n"
        "  - wave canary&#58; oslo\n"
        "  - wave rest&#58; tokyo, rome, paris, 2 at once, once it is approved,"
        " 1h30m after the beginning at the earliest\n"
    ) in markdown
    (planned,) = json.loads(argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW, "-o", "json").out)["rollouts"]
    assert planned == {
        "policy": "RolloutPolicy default/web",
        "change": CHANGE,
        "waves": [
            {"name": "canary", "clusters": ["oslo"], "given": [], "earliest": 0},
            {
                "name": "rest",
                "clusters": ["tokyo", "rome", "paris"],
                "given": [],
                "earliest": 5400,
                "atOnce": 2,
                "approval": True,
            },
        ],
    }


def test_each_pass_says_what_a_rollout_waits_for(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    argosy(fleet, capsys, "reconcile", "--bootstrap", *NOW)
    fleet.commit({"web.yaml": web(2)})
    said = (
        "warning: RolloutPolicy default/web is Waiting: waits for a cluster of wave canary that can be reached and is"
        " not suspended, or for allowEmpty in it\n"
    )
    assert [argosy(fleet, capsys, "reconcile", *NOW).err for _ in range(2)] == [said, said]


def test_a_change_that_has_to_wait_for_another_is_a_difference(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    waves = [a_wave("canary", "oslo"), a_wave("rest")]
    fleet.commit({"rollout.yaml": a_rollout_policy(waves=waves, onNewChange="Wait")})
    argosy(fleet, capsys, "reconcile", "--bootstrap", *NOW)
    fleet.commit({"web.yaml": web(2)})
    argosy(fleet, capsys, "reconcile", *NOW)
    fleet.commit({"web.yaml": web(3)})
    shown = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW).out
    assert "4 clusters change, 1 object changed, 1 rollout\n" in shown
    assert "      1 object of a newer change waits until it is over\n" in shown


def test_a_change_that_does_not_go_back_is_said_before_it_is_merged_and_while_it_goes_out(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    conf = {"apiVersion": "v1", "kind": "ConfigMap"}
    fleet.commit(
        {
            "rollout.yaml": a_rollout_policy(waves=[a_wave("canary", "oslo"), a_wave("rest")], selectors=[conf]),
            "policy.yaml": a_policy("web", selectors=[WEB, conf], placement=on_clusters()),
            "conf.yaml": a_config_map("conf", a="1"),
        }
    )
    argosy(fleet, capsys, "reconcile", "--bootstrap", *NOW)
    fleet.commit({"conf.yaml": {**a_config_map("conf", a="2"), "immutable": True}})
    reason = "it is immutable from then on, so that its server refuses what was before"
    line = f"cannot go back: ConfigMap default/conf: {reason}\n"
    assert line in argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW).out
    argosy(fleet, capsys, "reconcile", *NOW)
    assert line in argosy(fleet, capsys, "rollout", "status", "web").out
    assert line in argosy(fleet, capsys, "rollout", "plan").out
    document = json.loads(argosy(fleet, capsys, "rollout", "status", "-o", "json").out)
    assert document["rollouts"][0]["cannotGoBack"] == [{"object": "ConfigMap default/conf", "reason": reason}]


def test_replicas_that_a_rollback_gives_back_are_said_before_it_and_after_it(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rollout = a_rollout_policy(waves=[a_wave("canary", "oslo"), a_wave("rest")], onFailure="Rollback")
    placed = a_policy(
        "web", selectors=[WEB], placement=on_clusters("oslo", "rome", replicaScheduling=weighted(oslo=1, rome=1))
    )
    fleet.commit({"rollout.yaml": rollout, "policy.yaml": placed, "web.yaml": web(1, replicas=4)})
    argosy(fleet, capsys, "reconcile", "--bootstrap", *NOW)
    fleet.commit({"web.yaml": web(2, replicas=8)})
    line = "goes back to: Deployment.apps default/web: oslo=2, rome=2\n"
    assert line in argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW).out
    argosy(fleet, capsys, "reconcile", *NOW)
    assert line in argosy(fleet, capsys, "rollout", "status", "web").out
    assert line in argosy(fleet, capsys, "rollout", "plan").out
    document = json.loads(argosy(fleet, capsys, "rollout", "status", "-o", "json").out)
    had = [{"object": "Deployment.apps default/web", "clusters": {"oslo": 2, "rome": 2}}]
    assert document["rollouts"][0]["restores"] == had
    change = document["rollouts"][0]["change"]
    fleet.commit({"stop.yaml": a_control("stop", change, "Abort")})
    argosy(fleet, capsys, "reconcile", *NOW)
    shown = argosy(fleet, capsys, "status").out
    assert "RolledBack   RolloutPolicy default/web went back; asked for is oslo=4, rome=4\n" in shown
    shown = argosy(fleet, capsys, "explain", "Deployment", "web", "-n", "default", *NOW).out
    assert f"went back, and gave each cluster what it had before change {change}" in shown
    fleet.commit({"web.yaml": web(2, replicas=6)})
    argosy(fleet, capsys, "reconcile", *NOW)
    line = "not restored: Deployment.apps default/web keeps its replicas: it was scaled or placed anew since"
    assert line in argosy(fleet, capsys, "rollout", "status", "web").out
    assert argosy(fleet, capsys, "verify").out


def test_changes_that_wait_are_shown_in_their_order(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    waves = [a_wave("canary", "oslo"), a_wave("rest")]
    fleet.commit({"rollout.yaml": a_rollout_policy(waves=waves, onNewChange="Wait")})
    argosy(fleet, capsys, "reconcile", "--bootstrap", *NOW)
    for version in (2, 3, 4):
        fleet.commit({"web.yaml": web(version)})
        said = argosy(fleet, capsys, "reconcile", *NOW).err
    assert "warning: RolloutPolicy default/web: 2 newer changes to go out after the one under way\n" in said
    document = json.loads(argosy(fleet, capsys, "rollout", "status", "-o", "json").out)
    queue = [each["change"] for each in document["rollouts"][0]["queue"]]
    assert [each["objects"] for each in document["rollouts"][0]["queue"]] == [["Deployment.apps default/web"]] * 2
    then = [line for line in argosy(fleet, capsys, "rollout", "status", "web").out.splitlines() if "then" in line]
    commits = [fleet.git("rev-parse", f"HEAD~{back}").strip()[:12] for back in (1, 0)]
    assert then == [
        f"then: change {change} of {commit}, 1 object" for change, commit in zip(queue, commits, strict=True)
    ]


def test_the_status_of_a_fleet_has_what_goes_out(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    argosy(fleet, capsys, "reconcile", "--bootstrap", *NOW)
    assert "Rollout" not in argosy(fleet, capsys, "status").out
    fleet.commit({"web.yaml": web(2)})
    argosy(fleet, capsys, "reconcile", *NOW)
    said = "waits for a cluster of wave canary that can be reached and is not suspended, or for allowEmpty in it"
    assert argosy(fleet, capsys, "status").out.endswith(
        f"\nRolloutPolicy default/web: Waiting, 0 of 4 clusters have change {CHANGE}\n  next: {said}\n"
        "  not asked: oslo (never seen), paris (never seen), rome (never seen) and 1 more\n"
    )
    (rollout,) = json.loads(argosy(fleet, capsys, "status", "-o", "json").out)["rollouts"]
    assert {name: rollout[name] for name in ("policy", "change", "phase", "reason", "since", "next")} == {
        "policy": "RolloutPolicy default/web",
        "change": CHANGE,
        "phase": "Waiting",
        "reason": "NobodyReachable",
        "since": "2026-03-01T09:00:00Z",
        "next": said,
    }


def test_an_explanation_says_in_which_wave_a_cluster_gets_a_change(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    argosy(fleet, capsys, "reconcile", "--bootstrap", *NOW)
    fleet.commit({"web.yaml": web(2)})
    argosy(fleet, capsys, "reconcile", *NOW)
    said = argosy(fleet, capsys, "explain", "deployment/web", *NOW).out
    waits = "waits for a cluster of wave canary that can be reached and is not suspended, or for allowEmpty in it"
    goes_out = f"RolloutPolicy default/web lets change {CHANGE} out in wave"
    assert said.endswith(
        "Kept as an earlier commit had it\n"
        "  CLUSTERS           REASON    MESSAGE\n"
        f"  oslo               Waiting   {goes_out} canary: {waits}\n"
        f"  paris rome tokyo   Waiting   {goes_out} rest: {waits}\n"
    )


FROZEN = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "Fleet",
    "metadata": {"name": "default"},
    "spec": {
        "rollouts": {
            "freezes": [
                {"until": "2126-03-02T00:00:00Z", "reason": "audit", "clusters": ["rome", "tokyo"]},
                {"until": "2026-01-02T00:00:00Z", "reason": "winter"},
            ]
        }
    },
}


@pytest.fixture
def frozen(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> Repository:
    """The clusters without a rollout policy, two of them frozen, and a change."""
    fleet.commit({"argosy.yaml": FROZEN, "rollout.yaml": None})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", *NOW).code == 0
    fleet.commit({"web.yaml": web(2)})
    return fleet


def test_a_difference_says_what_a_freeze_holds_back(frozen: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    shown = argosy(frozen, capsys, "diff", "HEAD~1", "HEAD", *NOW)
    assert shown.out.partition("ROLLOUTS\n")[2] == (
        f"  Fleet default holds change {HELD} back from 2 clusters\n"
        "      Deployment.apps default/web waits for the end of the freeze (audit) in rome, tokyo\n"
    )
    (planned,) = json.loads(argosy(frozen, capsys, "diff", "HEAD~1", "HEAD", *NOW, "-o", "json").out)["rollouts"]
    assert (planned["policy"], planned["heldBy"]) == (
        "Fleet default",
        "Deployment.apps default/web waits for the end of the freeze (audit) in rome, tokyo",
    )


def test_a_freeze_is_shown_by_each_pass_and_by_status(frozen: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    passed = argosy(frozen, capsys, "reconcile", *NOW)
    waits = "Deployment.apps default/web waits for the end of the freeze (audit) in rome, tokyo"
    assert f"Fleet default is Waiting: {waits}" in passed.err
    shown = argosy(frozen, capsys, "status").out
    assert f"Fleet default: Waiting, change {HELD} is held back from 2 clusters\n  next: {waits}\n" in shown
    listed = argosy(frozen, capsys, "rollout", "status")
    assert (listed.code, f"Fleet default: Frozen: {waits}\n" in listed.out) == (1, True)
    explained = argosy(frozen, capsys, "explain", "deployment", "web", *NOW).out
    assert f"Fleet default holds change {HELD} back: {waits}" in explained
    assert "spec.rollouts.freezes[1] (winter) is over since 2026-01-02T00:00:00Z: remove it from argosy.yaml\n" in shown
    assert "freezes[0]" not in shown


def test_nobody_pauses_what_a_freeze_holds_back(frozen: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    argosy(frozen, capsys, "reconcile", *NOW)
    asked = argosy(frozen, capsys, "rollout", "pause")
    assert (asked.code, asked.err) == (
        3,
        (
            f"argosy: the calendar of argosy.yaml holds change {HELD} back, and nothing else: Pause means nothing\n"
            "  hint: Deployment.apps default/web waits for the end of the freeze (audit) in rome, tokyo;"
            " argosy rollout emergency lets it out at once\n"
        ),
    )


def test_verify_replays_what_a_freeze_holds_back(frozen: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    argosy(frozen, capsys, "reconcile", *NOW)
    assert argosy(frozen, capsys, "verify").code == 0


def test_the_controller_gets_the_rollouts_of_a_pass(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", *NOW).code == 0
    fleet.commit({"web.yaml": web(2)})
    pipe, program = subprocess.PIPE, "from reconciler.run.processes.pass_process import main; main()"
    with running([sys.executable, "-c", program], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(PassJob(fleet="shop", repository=str(fleet.path)).to_json() + "\n")
        process.stdin.flush()
        lines = [line for line in process.stdout if line.strip()]
    said = "waits for a cluster of wave canary that can be reached and is not suspended, or for allowEmpty in it"
    assert PassReport.from_json(lines[-1]).rollouts == {
        "RolloutPolicy default/web": RolloutEnd(
            change=CHANGE, phase="Waiting", reason="NobodyReachable", next_step=said, clusters=4
        )
    }


def test_a_change_that_is_held_stands_where_holds_on_clusters_do(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """In status beside the clusters, and in a difference under HELD, with whether that ends it."""
    argosy(fleet, capsys, "reconcile", "--bootstrap", *NOW)
    fleet.commit({"web.yaml": web(2)})
    argosy(fleet, capsys, "reconcile", *NOW)
    argosy(fleet, capsys, "rollout", "abort", "--commit")
    argosy(fleet, capsys, "reconcile", *NOW)
    hold = (
        f"RolloutPolicy default/web is held: change {CHANGE} is kept out since 2026-03-01T09:00:00Z"
        " (AbortedByControl)\n"
    )
    shown = argosy(fleet, capsys, "status").out
    hint = "a newer change, or argosy rollout retry web -n default, as web-abort-1 has aborted it"
    assert f"\n\n{hold}  hint: {hint}\n" in shown
    assert "RolloutPolicy default/web: Held" not in shown
    fleet.commit({"other.yaml": web(1) | {"metadata": {"name": "other", "namespace": "default"}}})
    beside = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW).out
    assert f"HELD\n  ! {hold}      nothing here ends the hold: a newer change of its objects does" in beside
    fleet.commit({"web.yaml": web(3)})
    newer = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW)
    assert f"HELD\n  ! {hold}      this ends the hold: a newer change takes its place\n" in newer.out
    document = json.loads(argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", *NOW, "-o", "json").out)
    assert document["heldChanges"] == [{"rollout": "RolloutPolicy default/web", "change": CHANGE, "isEnded": True}]
