"""``argosy cluster drain`` and its like show what a pass will do, and what they say to run does that and no more."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.deliver.reports import exit_code_of_reports
from reconciler.members.options import DeliveryOptions
from render.cluster import DRAIN
from render.model import ObjectRef

from .applying import outcomes
from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .failing import observed
from .memory_fleet import MemoryFleet
from .test_companions import SERVICE, a_drained_fleet
from .test_failover import a_fleet

SETTINGS = {"removalGuard": {"whole": 100, "count": 100}}
MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
DEPLOYMENTS = {"apiVersion": "apps/v1", "kind": "Deployment"}
COPY = "clusters/paris/shop/StatefulSet.apps/db.yaml"
NOWHERE = "this leaves objects without any cluster; nothing was changed\n  StatefulSet.apps shop/db: leaves paris, and"


def run_steps(fleet: Repository, capsys: pytest.CaptureFixture[str], steps: list[str]) -> list[int]:
    """Run commands to the letter, and return their exit codes; what is behind ``#`` is for people."""
    codes = []
    for step in steps:
        tool, *words = shlex.split(step, comments=True)
        if tool == "git":
            fleet.git(*words)
            codes.append(0)
        else:
            codes.append(argosy(fleet, capsys, *words).code)
    return codes


def steps_in(text: str) -> list[str]:
    return [line.strip() for line in text.partition("\nnext:\n")[2].splitlines()]


def undrained(folder: Path, capsys: pytest.CaptureFixture[str], **settings: Any) -> Repository:
    """Only paris takes the StatefulSet; its Service and a Deployment are in paris and in rome."""
    fleet = a_drained_fleet(folder, capsys, (SERVICE,))
    web = [a_deployment(name="web"), a_policy(placement={"replicaScheduling": DIVIDED}, selectors=[DEPLOYMENTS])]
    fleet.commit({"paris.yaml": a_cluster("paris"), "web.yaml": web, "argosy.yaml": a_fleet(**SETTINGS, **settings)})
    assert argosy(fleet, capsys, "reconcile", "--accept-settings").code == 0
    return fleet


DIVIDED = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}


def test_following_a_drain_to_the_letter_loses_no_last_copy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before, the printed commit allowed the removal of everything, counting what stays among what leaves."""
    fleet = undrained(tmp_path, capsys)
    before = set(fleet.files(under="clusters/paris"))
    ended = argosy(fleet, capsys, "cluster", "drain", "paris")
    assert ended.code == 0
    assert ended.out == (
        "cluster/paris draining: 1 object is to leave, 2 stay\n"
        "\nOBJECTS\n  - Deployment.apps default/web in paris\n  ~ 1 by its replicas\n"
        "\nREPLICAS\n  Deployment.apps default/web: 2 replicas, 1 moved\n      paris 1 -> 0, rome 1 -> 2\n"
        "\nSTAYS\n  Service shop/read: StillNeeded: stays in paris as it was: StatefulSet.apps shop/db stays there and"
        " needs it\n"
        "\nPROBLEMS\n  StatefulSet.apps shop/db: EvictionBlocked: stays in paris: no other cluster takes it\n"
        "\nnext:\n  git commit -m 'Drain paris' -- paris.yaml\n  argosy reconcile\n"
        "  argosy cluster uncordon paris  # when things may come back\n"
    )
    assert run_steps(fleet, capsys, steps_in(ended.out)[:2]) == [0, 1]
    after = set(fleet.files(under="clusters/paris"))
    assert {each for each in before - after if "Namespace" not in each} == {
        "clusters/paris/default/Deployment.apps/web.yaml"
    }
    assert COPY in after
    again = argosy(fleet, capsys, "cluster", "drain", "paris").out
    assert again.startswith("cluster/paris already draining: 0 objects are to leave, 2 stay\n\nnext:\n  argosy rec")


@pytest.mark.parametrize("folder", ["", "fleet"])
def test_the_commit_that_a_drain_names_can_be_made_where_it_runs(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths are quoted, go from the folder that somebody stands in, and a file that is new is added first."""
    root = Repository.create(tmp_path / "repository")
    policy = a_policy(selectors=[MAPS], placement={})
    root.commit({f"{folder}/a.yaml".lstrip("/"): [a_cluster("oslo"), a_config_map("one"), policy]})
    fleet = Repository(root.path / folder)
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    root.write({f"{folder}/my clusters/paris.yaml".lstrip("/"): a_cluster("paris")})
    monkeypatch.chdir(fleet.path)
    ended = argosy(Repository(Path()), capsys, "cluster", "drain", "paris")
    assert steps_in(ended.out)[:2] == [
        "git add -- 'my clusters/paris.yaml'",
        "git commit -m 'Drain paris' -- 'my clusters/paris.yaml'",
    ]
    assert run_steps(fleet, capsys, steps_in(ended.out)[:3]) == [0, 0, 0]
    monkeypatch.chdir(fleet.path / "my clusters")
    argosy(Repository(Path()), capsys, "cluster", "uncordon", "paris", "--commit")
    again = argosy(Repository(Path()), capsys, "cluster", "drain", "paris")
    assert steps_in(again.out)[0] == "git commit -m 'Drain paris' -- paris.yaml"


def test_a_drain_is_told_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = undrained(tmp_path, capsys)
    ended = argosy(fleet, capsys, "cluster", "unjoin", "paris", "--drain", "--commit", "-o", "json")
    document = json.loads(ended.out)
    told = {key: document[key] for key in ("kind", "subject", "files", "commit", "leaving", "staying", "next")}
    assert told == {
        "kind": "SourceEdit",
        "subject": "Drain paris",
        "files": ["paris.yaml"],
        "commit": fleet.git("rev-parse", "HEAD"),
        "leaving": 1,
        "staying": 2,
        "next": ["argosy reconcile", "argosy cluster unjoin paris  # once nothing stays there"],
    }
    assert [each["object"]["name"] for each in document["difference"]["staying"]] == ["read"]
    assert [each["reason"] for each in document["difference"]["problems"]] == ["EvictionBlocked"]


def test_what_would_end_in_no_cluster_is_refused_and_allowed_by_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = undrained(tmp_path, capsys, failover={"lastCopy": "Evict"})
    refused = argosy(fleet, capsys, "cluster", "drain", "paris", "--commit")
    assert (refused.code, refused.out) == (6, "")
    assert NOWHERE in refused.err
    assert fleet.git("status", "--short") == ""
    allowed = argosy(fleet, capsys, "cluster", "drain", "paris", "--commit", "--allow-unplaced")
    assert "cluster/paris draining: 3 objects are to leave, 1 Namespace is kept\n" in allowed.out
    assert "ENDS IN NO CLUSTER\n  ! StatefulSet.apps shop/db: leaves paris, and no cluster takes it\n" in allowed.out
    assert fleet.git("log", "-1", "--format=%B") == "Drain paris\n\nArgosy-Allow-Removal: paris 3"
    assert run_steps(fleet, capsys, steps_in(allowed.out)[:1]) == [1]
    assert fleet.files(under="clusters/paris") == []


def test_an_allowed_drain_lets_the_last_copy_go_and_ends_byte_for_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = undrained(tmp_path, capsys)
    text = (fleet.path / "paris.yaml").read_text()
    assert argosy(fleet, capsys, "cluster", "drain", "paris", "--commit").code == 0
    argosy(fleet, capsys, "reconcile")
    assert COPY in fleet.files()
    allowed = argosy(fleet, capsys, "cluster", "drain", "paris", "--allow-unplaced", "--commit")
    assert allowed.out.startswith("cluster/paris draining: 2 objects are to leave, 1 Namespace is kept\n")
    assert "argosy.dev/drain\n    value: allow-unplaced" in (fleet.path / "paris.yaml").read_text()
    assert argosy(fleet, capsys, "reconcile").code == 1
    assert fleet.files(under="clusters/paris") == []
    assert argosy(fleet, capsys, "verify", "-n", "3").out.count("equal") == 3
    assert argosy(fleet, capsys, "cluster", "uncordon", "paris").code == 0
    assert (fleet.path / "paris.yaml").read_text() == text


def test_a_copy_that_leaves_gracefully_ends_in_a_drain_that_allows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With failover, a drained cluster keeps a copy until one elsewhere is well; here none ever is, as was seen."""
    fleet = undrained(tmp_path, capsys, featureGates={"Failover": True})
    seen = "2026-03-01T09:00:00Z"
    observed(
        fleet,
        ready=dict.fromkeys(("paris", "rome"), ("True", seen)),
        health={"paris": ("Healthy", seen)},
        ref=ObjectRef("apps", "StatefulSet", "shop", "db"),
    )
    at = ("reconcile", "--now")
    argosy(fleet, capsys, *at, "2026-03-01T10:00:00Z")
    drained = argosy(fleet, capsys, "cluster", "drain", "paris", "--commit", "--allow-unplaced").out
    assert drained.startswith("cluster/paris draining: 0 objects are to leave, 3 once they are well elsewhere\n")
    argosy(fleet, capsys, *at, "2026-03-01T10:01:00Z")
    assert COPY in fleet.files()
    argosy(fleet, capsys, *at, "2026-03-01T11:00:00Z")
    argosy(fleet, capsys, *at, "2026-03-01T11:01:00Z")
    assert COPY not in fleet.files()


@pytest.fixture
def moving(tmp_path: Path) -> Repository:
    """Twelve ConfigMaps in paris and rome, and a Deployment divided over them, of which few replicas may move."""
    fleet = Repository.create(tmp_path / "fleet")
    policies = [
        a_policy("maps", selectors=[MAPS], placement=on_clusters("paris", "rome")),
        a_policy("web", selectors=[DEPLOYMENTS], placement={"replicaScheduling": DIVIDED}),
    ]
    clusters = {"paris.yaml": a_cluster("paris"), "rome.yaml": a_cluster("rome")}
    maps = [a_config_map(f"one-{number}") for number in range(12)]
    fleet.commit({**clusters, "policies.yaml": policies, "maps.yaml": maps, "web.yaml": a_deployment(replicas=8)})
    return fleet


def test_what_another_guard_refuses_is_said_before_the_next_steps(
    moving: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    moving.commit({"argosy.yaml": a_fleet(movementGuard={"workload": {"replicas": 2}})})
    assert argosy(moving, capsys, "reconcile", "--bootstrap").code == 0
    ended = argosy(moving, capsys, "cluster", "drain", "paris", "--commit")
    assert "REFUSED\n  this change moves too much at once\n" in ended.out
    assert "\nnext, once a commit allows what is refused above:\n  argosy reconcile\n" in ended.out
    assert argosy(moving, capsys, "reconcile").code == 6
    hint = next(line for line in ended.out.splitlines() if "git commit --allow-empty" in line)
    assert run_steps(moving, capsys, [hint, "argosy reconcile"]) == [0, 0]
    assert moving.files(under="clusters/paris") == []


def test_a_guard_of_clusters_lets_pass_what_the_drain_counts(
    moving: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    moving.commit({"argosy.yaml": a_fleet(removalGuard={"scope": "Cluster"})})
    assert argosy(moving, capsys, "reconcile", "--bootstrap").code == 0
    ended = argosy(moving, capsys, "cluster", "drain", "paris", "--commit")
    assert ended.out.startswith("cluster/paris draining: 13 objects are to leave\n")
    assert moving.git("log", "-1", "--format=%B").endswith("Argosy-Allow-Removal: paris 13")
    assert run_steps(moving, capsys, steps_in(ended.out)[:1]) == [0]
    assert moving.files(under="clusters/paris") == []


def test_the_outcome_is_that_of_the_commit_and_of_nothing_beside_it(
    moving: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another edit in the work tree is not in the commit that a drain prints, and so not in what it shows."""
    assert argosy(moving, capsys, "reconcile", "--bootstrap").code == 0
    moving.write({"web.yaml": a_deployment(replicas=80), "maps.yaml": []})
    ended = argosy(moving, capsys, "cluster", "drain", "paris")
    assert "Deployment.apps default/nginx: 8 replicas, 4 moved\n" in ended.out
    assert ended.out.startswith("cluster/paris draining: 13 objects are to leave\n")
    assert run_steps(moving, capsys, steps_in(ended.out)[:2]) == [0, 0]


def test_what_is_not_rendered_yet_is_counted_as_the_pass_will(
    moving: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two maps were deleted since the last pass: they leave paris in the pass of the drain as well."""
    assert argosy(moving, capsys, "reconcile", "--bootstrap").code == 0
    moving.commit({"maps.yaml": [a_config_map(f"one-{number}") for number in range(10)]})
    ended = argosy(moving, capsys, "cluster", "drain", "paris", "--commit")
    assert ended.out.startswith("cluster/paris draining: 13 objects are to leave\n")
    assert run_steps(moving, capsys, steps_in(ended.out)[:1]) == [0]


def test_a_drain_without_any_commit_says_what_it_does_not_know(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = Repository.create(tmp_path / "fleet")
    fleet.write({"paris.yaml": a_cluster("paris"), "rome.yaml": a_cluster("rome")})
    ended = argosy(fleet, capsys, "cluster", "drain", "paris")
    assert (ended.code, ended.out.splitlines()[0]) == (0, "cluster/paris draining")
    assert "is not known, for nothing is committed here yet" in ended.err


def test_another_name_says_that_nothing_changes_and_what_does(
    moving: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(moving, capsys, "reconcile", "--bootstrap").code == 0
    ended = argosy(moving, capsys, "cluster", "rename", "paris", "lyon")
    assert ended.outcome == "cluster/lyon renamed from paris: nothing changes in any cluster\n"
    moving.git("checkout", "-q", ".")
    moving.git("clean", "-fdq")
    document = json.loads(argosy(moving, capsys, "cluster", "rename", "paris", "lyon", "-o", "json").out)
    assert (document["subject"], document["difference"]["renamed"]) == ("Rename paris to lyon", {"paris": "lyon"})
    assert document["files"] == ["lyon.yaml", "paris.yaml", "policies.yaml"]
    commit = "git commit -m 'Rename paris to lyon' -- lyon.yaml paris.yaml policies.yaml"
    assert document["next"] == ["git add -- lyon.yaml", commit, "argosy reconcile"]


def test_options_of_a_drain_go_with_it_alone(moving: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(moving, capsys, "cluster", "unjoin", "paris", "--allow-unplaced")
    assert (ended.code, "goes with --drain" in ended.err) == (2, True)


def test_a_member_that_is_disconnected_shows_what_is_placed_anew(
    moving: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(moving, capsys, "reconcile", "--bootstrap").code == 0
    document = json.loads(argosy(moving, capsys, "cluster", "unjoin", "paris", "--disconnect", "-o", "json").out)
    assert (document["subject"], document["difference"]["disconnected"]) == ("Disconnect paris", ["paris"])
    forget = "argosy cluster forget paris  # once it is gone for good: branches keep its files, nobody empties it"
    assert document["next"] == ["git commit -m 'Disconnect paris' -- paris.yaml", "argosy reconcile", forget]
    assert not (moving.path / "paris.yaml").exists()


def test_a_rebalancer_that_moves_nothing_is_told_as_json(
    moving: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(moving, capsys, "reconcile", "--bootstrap").code == 0
    document = json.loads(argosy(moving, capsys, "rebalance", "deploy/nginx", "-o", "json").out)
    assert (document["files"], document["next"]) == ([], [])
    assert document["difference"]["different"] is False


def test_where_the_remote_does_not_answer_what_was_fetched_counts(
    moving: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """To show what a rebalancer moves takes no network, and a drain says what it goes by."""
    hub = Repository.create(tmp_path / "hub.git", bare=True)
    moving.git("remote", "add", "origin", str(hub.path))
    moving.git("push", "-q", "origin", "main")
    assert argosy(moving, capsys, "reconcile", "--bootstrap").code == 0
    moving.git("fetch", "-q", "origin")
    hub.path.rename(tmp_path / "away.git")
    rebalanced = argosy(moving, capsys, "rebalance", "deploy/nginx")
    assert (rebalanced.code, "what is shown goes by what was fetched before" in rebalanced.err) == (0, True)
    drained = argosy(moving, capsys, "cluster", "drain", "paris")
    assert drained.out.startswith("cluster/paris draining: 13 objects are to leave\n"), drained


def test_another_name_that_leaves_an_object_nowhere_is_refused_and_allowed_by_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file of a policy that lists the member is committed with what else was changed in it."""
    fleet = Repository.create(tmp_path / "fleet")
    one, two = ({**MAPS, "name": name} for name in ("one", "two"))
    placed = a_policy("one", selectors=[one], placement=on_clusters("paris"))
    policies = [placed, a_policy("two", selectors=[two], placement=on_clusters("rome"))]
    members = [a_cluster("paris"), a_cluster("rome"), a_config_map("one"), a_config_map("two")]
    fleet.commit({"members.yaml": members, "policies.yaml": policies})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    fleet.write({"policies.yaml": [placed, a_policy("two", selectors=[two], placement=on_clusters("oslo"))]})
    before = fleet.git("diff")
    refused = argosy(fleet, capsys, "cluster", "rename", "paris", "lyon")
    assert (refused.code, refused.out, fleet.git("diff")) == (6, "", before)
    assert "nothing was changed\n  ConfigMap default/two: leaves rome, and no cluster takes it\n" in refused.err
    allowed = argosy(fleet, capsys, "cluster", "rename", "paris", "lyon", "--allow-unplaced")
    assert allowed.out.startswith("cluster/lyon renamed from paris, and more changes by that:\n")
    assert "ENDS IN NO CLUSTER\n  ! ConfigMap default/two: leaves rome, and no cluster takes it\n" in allowed.out


@pytest.mark.parametrize("gates", [{}, {"Failover": True}], ids=["at once", "gracefully"])
def test_a_drain_names_what_is_down_until_it_is_well_elsewhere(
    gates: dict[str, bool], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The only copy was deleted in the pass that made another one, and nothing said so before."""
    fleet = Repository.create(tmp_path / "fleet")
    spread = [{"spreadByField": "cluster", "maxGroups": 1, "minGroups": 1}]
    policy = a_policy(placement={"spreadConstraints": spread}, selectors=[DEPLOYMENTS])
    clusters = {f"{name}.yaml": a_cluster(name) for name in ("paris", "rome")}
    fleet.commit(
        {**clusters, "web.yaml": [a_deployment(name="web"), policy], "argosy.yaml": a_fleet(featureGates=gates)}
    )
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    (holder,) = {
        path.split("/")[1]
        for path in fleet.files()
        if path.endswith("Deployment.apps/web.yaml") and "clusters/" in path
    }
    ended = argosy(fleet, capsys, "cluster", "drain", holder, "--allow-unplaced")
    assert ("web leaves at once, before being well elsewhere: down until then" in ended.err) == (not gates), ended
    assert ("with 'featureGates: {Failover: true}' in argosy.yaml" in ended.err) == (not gates)


def kept_namespaces(fleet: MemoryFleet) -> Iterator[tuple[str, str]]:
    """Run a pass; yield the state of paris and the outcome of its Namespace."""
    for report in fleet.run():
        if report.cluster == "paris" and report.applied is not None:
            yield report.state, outcomes(report.applied).get("Namespace shop", "")


@pytest.mark.parametrize("by_agent", [False, True])
def test_a_namespace_that_a_drained_cluster_keeps_is_no_failure_of_a_pass(by_agent: bool, tmp_path: Path) -> None:
    """Before, every pass ended with 1 for as long as the cluster was drained, and called for a confirmation."""
    maps = [a_config_map("a", namespace="shop"), a_config_map("b", namespace="shop")]
    policy = a_policy(selectors=[MAPS], namespace="shop", placement={})
    names: dict[str, Any] = {"paris": (0, {}), "rome": (0, {})}
    files = {"shop.yaml": [*maps, policy]}
    fleet = MemoryFleet.create(tmp_path / "fleet", names, files, by_agent=by_agent)
    assert exit_code_of_reports(fleet.run()) == 0
    sync = "Pull" if by_agent else "Push"
    taints = [{"key": each.key, "effect": each.effect} for each in DRAIN]
    drained = {"clusters/paris.yaml": a_cluster("paris", syncMode=sync, taints=taints)}
    fleet.repository.commit(drained, message="Drain\n\nArgosy-Allow-Removal: paris 2")
    for _ in range(3):
        assert list(kept_namespaces(fleet)) == [("Converged", "kept Drained")]
    assert [each["kind"] for each in fleet.recorded("inventory/paris.yaml")["left"]] == ["Namespace"]
    ended = fleet.run(options=DeliveryOptions(confirmed=("Namespace/shop",)))
    assert exit_code_of_reports(ended) == 0
    assert fleet.members["paris"].read("/api/v1/namespaces/shop") is None
    fleet.repository.commit({"clusters/paris.yaml": a_cluster("paris", syncMode=sync)})
    assert exit_code_of_reports(fleet.run()) == 0
    fleet.repository.commit({"shop.yaml": policy}, message="Go\n\nArgosy-Allow-Removal: * 2")
    assert list(kept_namespaces(fleet)) == [("Incomplete", "kept NeedsConfirmation")]


def test_the_preview_of_a_drain_counts_a_namespace_as_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before, it was listed as leaving, and every pass over the drain then said that it was kept."""
    fleet = Repository.create(tmp_path / "repository")
    policy = a_policy(selectors=[MAPS], namespace="shop", placement={})
    files = {"rome.yaml": a_cluster("rome"), "paris.yaml": a_cluster("paris")}
    fleet.commit({**files, "shop.yaml": [a_config_map("a", namespace="shop"), policy]})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    ended = argosy(fleet, capsys, "cluster", "drain", "paris")
    assert ended.out.startswith(
        "cluster/paris draining: 1 object is to leave, 1 Namespace is kept\n"
        "\nOBJECTS\n  - ConfigMap shop/a in paris\n"
        "\nSTAYS\n  Namespace shop: Drained: stays in paris: a drain deletes no Namespace\n\nnext:"
    )
    document = json.loads(argosy(fleet, capsys, "cluster", "drain", "paris", "-o", "json").out)
    assert [each["object"]["name"] for each in document["difference"]["objects"]] == ["a"]


def test_copies_in_a_cluster_that_does_not_answer_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before, an object that was drained from a cluster nobody reached was shown as if it ran elsewhere alone."""
    names: dict[str, Any] = {"paris": (0, {}), "rome": (0, {})}
    policy = a_policy(selectors=[MAPS], namespace="shop", placement={})
    fleet = MemoryFleet.create(tmp_path / "fleet", names, {"shop.yaml": [a_config_map("a", namespace="shop"), policy]})
    fleet.run()
    taints = [{"key": each.key, "effect": each.effect} for each in DRAIN]
    drained = {"clusters/paris.yaml": a_cluster("paris", syncMode="Push", taints=taints)}
    fleet.repository.commit(drained, message="Drain\n\nArgosy-Allow-Removal: paris 1")
    fleet.down.add("paris")
    fleet.run(60)
    fleet.run(60)
    line = "may still run in paris, which does not answer (Unreachable)\n"
    assert f"\nConfigMap shop/a {line}" in fleet.status(capsys).out
    assert f"\n{line}" in fleet.status(capsys, "cm/a").out
    fleet.down.clear()
    fleet.run(600)
    assert "may still run" not in fleet.status(capsys).out + fleet.status(capsys, "cm/a").out
