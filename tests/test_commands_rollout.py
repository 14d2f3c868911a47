"""``argosy rollout``: what goes out is shown, and what people say about it is a file that the next pass obeys."""

import json
from pathlib import Path

import pytest

from render.documents import parse_documents

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters
from .rolling import WEB, a_rollout_policy, a_wave

WAVES = [a_wave("canary", "oslo"), a_wave("rest", approval=True)]
NAMES = ("oslo", "paris", "rome")


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """Three clusters with the first version of web; the second waits, for nobody knows how they are."""
    repository = Repository.create(tmp_path / "fleet")
    placed = a_policy("web", selectors=[WEB], placement=on_clusters())
    clusters = {f"{name}.yaml": a_cluster(name) for name in NAMES}
    policy = a_rollout_policy(waves=WAVES)
    repository.commit({"p.yaml": placed, "r.yaml": policy, "web.yaml": a_deployment("web", image="web:1"), **clusters})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"web.yaml": a_deployment("web", image="web:2")})
    assert argosy(repository, capsys, "reconcile").code == 0
    return repository


def state_of(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(argosy(fleet, capsys, "rollout", "status", "-o", "json").out)["rollouts"][0]
    return found


def test_each_rollout_has_a_line_and_each_cluster_of_one(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(fleet, capsys, "rollout", "status")
    change = state_of(fleet, capsys)["change"]
    header, row, empty, waits, _, unasked = ended.out.splitlines()
    assert (ended.code, header.split(), row.split()[:8], empty) == (
        1,
        ["ROLLOUT", "CHANGE", "STATE", "WAVE", "GIVEN", "THROUGH", "SINCE"],
        ["RolloutPolicy", "default/web", change, "Waiting", "-", "0/3", "0/3", row.split()[-1]],
        "",
    )
    assert waits.startswith("RolloutPolicy default/web: NobodyReachable: ")
    never = [f"{name} (never seen)" for name in sorted(NAMES)]
    assert unasked == f"RolloutPolicy default/web: not asked: {', '.join(never)}"
    for words in (["web"], ["web", "-n", "default"], ["RolloutPolicy default/web"]):
        one = argosy(fleet, capsys, "rollout", "status", *words)
        rows = [line.split()[:3] for line in one.out.splitlines()[-4:]]
        assert (one.code, rows) == (
            1,
            [
                ["WAVE", "CLUSTER", "STATE"],
                ["canary", "oslo", "waits"],
                ["rest", "paris", "waits"],
                ["rest", "rome", "waits"],
            ],
        )
    plan = argosy(fleet, capsys, "rollout", "plan")
    assert (plan.code, plan.out) == (
        0,
        (
            f"RolloutPolicy default/web lets change {change} out to 3 clusters\n"
            "  wave canary: oslo\n"
            "  wave rest: paris, rome, once it is approved\n"
        ),
    )


VERBS = ["pause", "approve", "abort", "retry", "resume"]


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_said_is_a_file_about_this_change_alone(
    verb: str, fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    change = state_of(fleet, capsys)["change"]
    ended = argosy(fleet, capsys, "rollout", verb, "web", "--reason", "so it is", "--commit")
    path = f"rollouts/web-{verb}-1.yaml"
    assert ended.code == 0
    assert ended.steps == ["  argosy reconcile"]
    written = parse_documents((fleet.path / path).read_bytes())[0].value
    assert written["spec"].pop("at").endswith("Z")
    assert written["spec"].pop("by").endswith(">")
    assert written["spec"] == {
        "rollout": {"kind": "RolloutPolicy", "namespace": "default", "name": "web"},
        "change": change,
        "verb": verb.capitalize(),
        "reason": "so it is",
        **({"wave": "rest"} if verb == "approve" else {}),
    }
    assert fleet.git("log", "-1", "--format=%s", "--", path).startswith(
        f"{verb.capitalize()} RolloutPolicy default/web"
    )
    again = argosy(fleet, capsys, "rollout", verb, "-o", "json")
    assert json.loads(again.out)["files"] == [f"rollouts/web-{verb}-2.yaml"]


def test_the_next_pass_obeys(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    for verb, phase in (("pause", "Paused"), ("resume", "Waiting"), ("abort", "Held"), ("retry", "Waiting")):
        assert argosy(fleet, capsys, "rollout", verb, "--commit").code == 0
        assert argosy(fleet, capsys, "reconcile").code == 0
        assert state_of(fleet, capsys)["phase"] == phase


def test_what_nobody_can_mean_is_refused(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    def refusal(*words: str) -> tuple[int, str]:
        ended = argosy(fleet, capsys, "rollout", *words)
        return ended.code, ended.err

    known = "\n  hint: known here: RolloutPolicy default/web\n"
    assert refusal("pause", "wbe") == (2, f"argosy: there is no rollout 'wbe'{known}")
    assert refusal("status", "web", "-n", "shop") == (2, f"argosy: there is no rollout 'shop/web'{known}")
    assert refusal("approve", "--wave", "canary") == (
        2,
        "argosy: RolloutPolicy default/web has no wave 'canary' that needs an approval\n  hint: these do: rest\n",
    )
    assert not (fleet.path / "rollouts").exists()


def test_each_group_of_objects_is_asked_for_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    selected = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    placed = a_policy("web", selectors=selected, placement=on_clusters())
    policy = a_rollout_policy(waves=WAVES, selectors=selected, group={"by": "Object"})
    names = ("api", "web")
    images = ("it:1", "it:2")
    first, second = ({f"{name}.yaml": a_deployment(name, image=image) for name in names} for image in images)
    repository.commit({"p.yaml": placed, "r.yaml": policy, "oslo.yaml": a_cluster("oslo"), **first})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit(second)
    assert argosy(repository, capsys, "reconcile").code == 0
    found = json.loads(argosy(repository, capsys, "rollout", "status", "web", "-o", "json").out)["rollouts"]
    groups = [f"Deployment.apps default/{name}" for name in names]
    assert [each["group"] for each in found] == groups
    refused = argosy(repository, capsys, "rollout", "pause", "web")
    hint = "name one, with -n for its namespace and --group for its objects: "
    hint += ", ".join(f"RolloutPolicy default/web for {group}" for group in groups)
    assert (refused.code, refused.err) == (2, f"argosy: more than one rollout is meant\n  hint: {hint}\n")
    assert argosy(repository, capsys, "rollout", "pause", "--group", groups[1], "--commit").code == 0
    assert argosy(repository, capsys, "reconcile").code == 0
    one = argosy(repository, capsys, "rollout", "status", "--group", groups[1])
    assert one.out.startswith(f"RolloutPolicy default/web for {groups[1]}: Paused (PausedByControl)")
    other = argosy(repository, capsys, "rollout", "status", "web", "--group", groups[0])
    assert other.out.startswith(f"RolloutPolicy default/web for {groups[0]}: Waiting")


def test_what_tells_of_an_object_says_where_it_is_not_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    placed = a_policy("web", selectors=[WEB], placement=on_clusters())
    clusters = {f"{name}.yaml": a_cluster(name) for name in NAMES}
    policy = a_rollout_policy(waves=WAVES, alsoFor=["FirstDeliveries"])
    repository.commit({"p.yaml": placed, "r.yaml": policy, **clusters})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"web.yaml": a_deployment("web")})
    planned = argosy(repository, capsys, "diff", "HEAD~1", "HEAD").out
    assert "out to 3 clusters\n      wave canary: oslo\n" in planned
    assert argosy(repository, capsys, "reconcile").code == 0
    assert not (repository.git("ls-tree", "-r", "--name-only", "argosy/rendered", "clusters")).strip()
    said = "RolloutPolicy default/web has not let it out there yet"
    assert said in argosy(repository, capsys, "explain", "cluster/rome").out
    explained = argosy(repository, capsys, "explain", "deployment/web").out
    assert "lets change" in explained
    assert "suspends dispatching" not in explained
    assert "dispatching" not in argosy(repository, capsys, "status", "deployment/web").out


def test_a_fleet_without_rollouts_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    placed = a_policy("web", selectors=[WEB], placement=on_clusters())
    repository.commit({"p.yaml": placed, "web.yaml": a_deployment("web"), "oslo.yaml": a_cluster("oslo")})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    said = "no rollout has begun: argosy diff shows by which waves a change would go out"
    ended = argosy(repository, capsys, "rollout", "status")
    assert (ended.code, ended.out) == (0, f"{said}\n")
    refused = argosy(repository, capsys, "rollout", "pause")
    assert (refused.code, refused.err.splitlines()[-1]) == (2, f"  hint: {said}")
