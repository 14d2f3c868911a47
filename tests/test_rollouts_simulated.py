"""Rollouts over members with controllers and simulated nodes: pods start or do not, and nobody writes a status here."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .build import Repository, a_cluster, a_policy, argosy, on_clusters
from .clusters import Member, remove_namespaces
from .rolling import a_rollout_policy, a_wave, web
from .waiting import eventually

pytestmark = pytest.mark.cluster

SPACE = "waves"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{SPACE}/deployments/web"
WEBS = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
NAMES = ("small", "middle", "big")
WAVES = [a_wave("first", "small"), a_wave("second", "middle"), a_wave("rest")]


def a_workload(version: int, *, cpu: str = "1") -> dict[str, Any]:
    """Version ``version`` of web, each of whose two replicas asks for so much."""
    made = web(version, namespace=SPACE)
    made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return made


def in_namespace(manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": SPACE}}


@pytest.fixture
def fleet(
    simulated: tuple[Member, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[[dict[str, Any]], list[str]]]:
    """A fleet at version 1; a call commits files, and returns the versions of members as passes change them."""
    members = {member.name: member for member in simulated}
    folder = tmp_path / "kubeconfigs"
    folder.mkdir()
    for member in simulated:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    repository = Repository.create(tmp_path / "fleet")

    def versions() -> str:
        images = (
            members[name].read(DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]["image"] for name in NAMES
        )
        return "".join(str(image).removeprefix("web:") for image in images)

    def phase() -> str:
        ended = argosy(repository, capsys, "wait", "--for", "rolled-out", "--timeout", "1s")
        return "over" if ended.code == 0 else ended.out + ended.err

    def committed(files: dict[str, Any], end: str = "") -> list[str]:
        repository.commit(files)
        seen = [versions()] if members[NAMES[0]].read(DEPLOYMENT) else []

        def has_ended() -> bool:
            options = () if seen else ("--bootstrap",)
            argosy(repository, capsys, "reconcile", "--kubeconfigs", str(folder), *options)
            now = versions()
            if seen[-1:] != [now]:
                seen.append(now)
            return len(seen) > 1 and now == end if end else phase() == "over"

        eventually(has_ended, "the end of the rollout", seconds=150, pause=0.5)
        return seen

    committed(
        {
            **{f"{name}.yaml": a_cluster(name) for name in NAMES},
            "web.yaml": a_workload(1),
            "policy.yaml": a_policy("web", namespace=SPACE, selectors=[WEBS], placement=on_clusters(*NAMES)),
            "rollout.yaml": in_namespace(
                a_rollout_policy(waves=WAVES, selectors=[WEBS], onFailure="Rollback", gate={"deadline": "10s"})
            ),
        }
    )
    yield committed
    remove_namespaces(simulated, SPACE, "argosy-system")


def test_each_wave_begins_when_the_pods_of_the_one_before_are_ready(fleet: Any) -> None:
    assert fleet({"web.yaml": a_workload(2)}) == ["111", "211", "221", "222"]


def test_a_change_whose_pods_find_no_node_goes_back_and_comes_to_nobody_else(fleet: Any) -> None:
    assert fleet({"web.yaml": a_workload(2, cpu="1000")}, "111") == ["111", "211", "111"]
