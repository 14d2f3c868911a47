"""Engine upgrades as changes of their own: another engine makes other manifests of the very same version."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconciler.pipeline.rollouts.versions import parse_version, written_version
from render.interpreter import Interpreter
from render.interpreter.pruning import manifest_without_pruned_fields
from render.model import Manifest

from .build import Repository, a_config_map, a_policy, on_clusters
from .rolling import WEB, RollingFleet, a_rollout_policy, a_wave, web
from .served_rollouts import WAVES, served_rollouts
from .test_rollouts import CANARY, CLUSTERS, CONF

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
Upgrade = Callable[[RollingFleet], None]


def of_fleet(**spec: Any) -> dict[str, Any]:
    """A ClusterRolloutPolicy for the Deployment."""
    policy = a_rollout_policy(**{"waves": CANARY, **spec})
    return {**policy, "kind": "ClusterRolloutPolicy", "metadata": {"name": "web"}}


def made_by_engine_2(manifest: Manifest) -> Manifest:
    """Add a mark to images and to data, as an engine that has learned something new might do."""
    made: Any = manifest_without_pruned_fields(manifest)
    if made["kind"] == "ConfigMap":
        return {**made, "data": {**made["data"], "engine": "2"}}
    if made["kind"] != "Deployment":
        return {**made}
    pods = made["spec"]["template"]
    containers = [{**each, "image": f"{each['image']}+"} for each in pods["spec"]["containers"]]
    spec = {**made["spec"], "template": {**pods, "spec": {**pods["spec"], "containers": containers}}}
    return {**made, "spec": spec}


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch) -> Upgrade:
    def upgrade_engine(fleet: RollingFleet) -> None:
        monkeypatch.setattr("render.works.manifest_without_pruned_fields", made_by_engine_2)
        fleet.engine = "2"

    return upgrade_engine


def a_fleet(**files: Any) -> RollingFleet:
    """A fleet that a ClusterRolloutPolicy rolls out, and nothing else."""
    fleet = RollingFleet.of(CLUSTERS, {})
    fleet.commit(rollout=of_fleet(), **files).run()
    fleet.told.clear()
    return fleet


def test_an_upgrade_goes_out_by_the_waves_of_a_cluster_rollout_policy(upgrade: Upgrade) -> None:
    fleet = a_fleet()
    upgrade(fleet)
    fleet.unwell = {"oslo"}
    assert fleet.run() == ["1+111 Progressing"]
    assert fleet.run(3600) == []
    fleet.unwell = set()
    assert fleet.run() == ["1+1+1+1+ Progressing", "1+1+1+1+ Completed"]
    assert fleet.run(3600) == []
    assert len(fleet.files_below("versions")) == 1


def test_an_upgrade_is_at_once_where_a_namespace_rolls_out(upgrade: Upgrade) -> None:
    fleet = RollingFleet.of(CLUSTERS, {}, waves=CANARY)
    upgrade(fleet)
    assert fleet.run()[-1].startswith("1+1+1+1+")


def test_replicas_go_on_while_an_upgrade_waits(upgrade: Upgrade) -> None:
    fleet = a_fleet()
    upgrade(fleet)
    fleet.unwell = {"oslo"}
    fleet.run()
    assert fleet.commit(web=web(1, replicas=7)).run() == ["1+111 Progressing"]
    assert {fleet.manifest(name)["spec"]["replicas"] for name in CLUSTERS} == {7}


def test_an_upgrade_that_fails_goes_back_to_what_the_engine_before_made(upgrade: Upgrade) -> None:
    fleet = a_fleet()
    fleet.commit(rollout=of_fleet(gate={"deadline": "10m"}, onFailure="Rollback")).run()
    upgrade(fleet)
    fleet.unwell = {"oslo"}
    assert fleet.run() == ["1+111 Progressing"]
    assert fleet.run(600) == ["1111 Held"]
    assert fleet.run(3600) == []


def test_a_change_under_way_and_an_upgrade_are_two_changes(upgrade: Upgrade) -> None:
    fleet = a_fleet()
    fleet.unwell = {"oslo"}
    fleet.commit(web=web(2)).run()
    before = fleet.change
    upgrade(fleet)
    assert fleet.run() == ["2+111 Progressing"]
    assert fleet.change != before
    fleet.unwell = set()
    assert fleet.run() == ["2+2+2+2+ Progressing", "2+2+2+2+ Completed"]


def test_a_change_supersedes_an_upgrade_like_any_other(upgrade: Upgrade) -> None:
    fleet = a_fleet()
    upgrade(fleet)
    fleet.unwell = {"oslo"}
    fleet.run()
    assert fleet.commit(web=web(2)).run() == ["2+111 Progressing"]
    fleet.unwell = set()
    assert fleet.run()[-1] == "2+2+2+2+ Completed"


def test_an_engine_that_makes_the_same_objects_changes_nothing() -> None:
    fleet = a_fleet()
    fleet.engine = "2"
    assert fleet.run() == []


def test_objects_without_replicas_are_kept_as_well(upgrade: Upgrade) -> None:
    both = [WEB, CONFIG_MAP]
    fleet = a_fleet(
        conf=a_config_map("conf", color="red"), policy=a_policy("web", selectors=both, placement=on_clusters())
    )
    fleet.commit(rollout=of_fleet(selectors=both, waves=[a_wave("canary", "oslo"), a_wave("rest")])).run()
    upgrade(fleet)
    fleet.unwell = {"oslo"}
    fleet.run()
    data = {name: fleet.manifest(name, CONF)["data"] for name in CLUSTERS}
    assert data == {name: {"color": "red", **({"engine": "2"} if name == "oslo" else {})} for name in CLUSTERS}


def test_a_version_with_kept_manifests_comes_back_from_its_file(upgrade: Upgrade) -> None:
    fleet = a_fleet()
    upgrade(fleet)
    fleet.unwell = {"oslo"}
    fleet.run()
    assert fleet.previous is not None
    interpreter = Interpreter.of(())
    for path in fleet.files_below("versions"):
        entry = fleet.previous.tree.trees.entry(fleet.previous.tree.root, ("versions", *path.split("/")))
        assert entry is not None
        content = fleet.previous.tree.contents([entry.id])[entry.id]
        assert written_version(parse_version(content), interpreter).content == content


def as_made_by_another_engine(repository: Repository, folder: Path) -> None:
    """Let the newest rendered commit be one of an engine that makes other images."""
    repository.git("worktree", "add", "-q", str(folder), "argosy/rendered")
    rendered = Repository(folder)
    for path in folder.glob("clusters/*/default/Deployment.apps/web.yaml"):
        path.write_text(path.read_text().replace("image: web:1", "image: web:0"))
    message = rendered.git("log", "-1", "--format=%B")
    changed = re.sub("Argosy-Version: .*", "Argosy-Version: 0.0.1", message)
    rendered.git("commit", "-q", "-a", "--amend", "-m", changed)
    repository.git("worktree", "remove", str(folder))


def test_passes_go_on_from_a_commit_of_another_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The commit before is made to look as another engine would have made it; each step is made again by this one."""
    with served_rollouts(tmp_path, capsys) as fleet:
        fleet.begin()
        fleet.repository.commit({"rollout.yaml": of_fleet(waves=WAVES)})
        fleet.run()
        as_made_by_another_engine(fleet.repository, tmp_path / "rendered")
        seen = []
        for _ in range(5):
            ended = fleet.run()
            seen.append((ended.code, fleet.rendered()))
            fleet.settle()
        assert seen == [(0, "100"), (0, "110"), (0, "111"), (0, "111"), (0, "111")]
        assert fleet.live() == "111"
        said = fleet.verify()
    counts = [said.count(words) for words in (": equal\n", "not comparable: engine 0.0.1", "differs")]
    assert counts == [5, 1, 0], said
