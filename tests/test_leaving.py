"""The commands by which a fleet leaves Argosy, as its guide has them, on a real API server."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reconciler.plans.applyset import PART_OF
from reconciler.reference.topics import load_topic
from render.documents import emit

from .applying import Cluster, outcomes
from .build import a_config_map, a_deployment
from .clusters import Member
from .waiting import SECONDS

GUIDE = Path(__file__).parent.parent / "examples" / "leaving" / "README.md"
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", GUIDE.read_text(), re.DOTALL) for line in block.splitlines()
]
NAME, APPLY, FIND, LOOK, GIVE_UP, DELETE = (line for line in COMMANDS if "kubectl" in line)
TAKE_OUT = next(line for line in COMMANDS if line.startswith("sed "))


def test_the_topic_and_the_guide_name_the_same_commands() -> None:
    said = " ".join(text for section in load_topic("leaving").sections for entry in section.entries for text in entry)
    short = [line.replace("paris", "NAME").replace("$MANAGER", "MANAGER") for line in (APPLY, GIVE_UP, DELETE)]
    assert [line for line in short if line not in said] == []


def run_on(cluster: Cluster, line: str, folder: Path, manager: str) -> None:
    """Run a command of the guide on a member, with its folder; a pipe leads from one kubectl to another."""
    assert isinstance(cluster.server, Member)
    printed = ""
    for each in line.replace("$MANAGER", manager).split(" | "):
        program, context, _, *words = shlex.split(each)
        assert (program, context) == ("kubectl", "--context")
        words = [str(folder) if word == "clusters/paris" else word for word in words]
        printed = cluster.server.kubectl(*words, stdin=printed)


def content(live: Any) -> Any:
    labels = {key: value for key, value in live["metadata"]["labels"].items() if key != PART_OF}
    return {**{key: value for key, value in live.items() if key not in {"metadata", "status"}}, "labels": labels}


def managers(live: Any) -> set[str]:
    return {each["manager"] for each in live["metadata"].get("managedFields") or () if not each.get("subresource")}


@pytest.mark.cluster
@pytest.mark.parametrize("is_kubectl", [True, False], ids=["by the same field manager", "by another one"])
def test_another_tool_owns_what_it_applies_alone(real_cluster: Cluster, tmp_path: Path, is_kubectl: bool) -> None:
    settings = a_config_map("settings", namespace=real_cluster.space, a="1", b="2")
    settings["metadata"]["labels"] = {"app": "x"}
    web = a_deployment("web", namespace=real_cluster.space)
    web["metadata"]["labels"] = {"app": "web"}
    assert set(outcomes(real_cluster.apply(settings, web)).values()) == {"created Missing"}
    reads = (("configmaps", "settings"), ("deployments", "web", "apis/apps/v1"))
    before, own = [real_cluster.read(*each) for each in reads], real_cluster.applyset.manager
    assert all(own in managers(each) for each in before)

    folder, manager = tmp_path / "shop", own if is_kubectl else "other"
    folder.mkdir()
    (folder / "settings.yaml").write_bytes(emit(settings))
    (folder / "web.yaml").write_bytes(emit(web))
    run_on(real_cluster, APPLY, tmp_path, manager)
    if not is_kubectl:
        run_on(real_cluster, GIVE_UP, tmp_path, own)
    after = [real_cluster.read(*each) for each in reads]
    assert [content(each) for each in after] == [content(each) for each in before]
    assert [PART_OF in each["metadata"]["labels"] for each in after] == [False, False]
    assert [managers(each) & {own, "other"} for each in after] == [{manager}] * 2

    (folder / "settings.yaml").write_bytes(emit({**settings, "data": {"a": "1"}}))
    run_on(real_cluster, APPLY, tmp_path, manager)
    assert real_cluster.read("configmaps", "settings")["data"] == {"a": "1"}


def scaled(cluster: Cluster, name: str, replicas: int) -> None:
    """Scale a Deployment as its autoscaler does."""
    path = f"{cluster.path('deployments', name, 'apis/apps/v1')}/scale?fieldManager=kube-controller-manager"
    body = {"spec": {"replicas": replicas}}
    status, answer = cluster.server.request("PATCH", path, body, content_type="application/merge-patch+json")
    assert status == 200, answer


def in_shell(cluster: Cluster, line: str, folder: Path) -> str:
    """Run a line of the guide in a folder with ``clusters/paris``, and return what it printed."""
    assert isinstance(cluster.server, Member)
    member = line.replace("--context paris", f"--kubeconfig {cluster.server.kubeconfig}")
    own = {"MANAGER": cluster.applyset.manager, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = ["sh", "-c", member]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **own}, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return done.stdout


def replicas_of(cluster: Cluster, name: str) -> int:
    return int(cluster.read("deployments", name, "apis/apps/v1")["spec"]["replicas"])


def an_autoscaled(space: str, name: str) -> list[dict[str, Any]]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": space, "labels": {"app": name}},
        "spec": {"minReplicas": 2, "maxReplicas": 9, "scaleTargetRef": target},
    }
    return [a_deployment(name, namespace=space, replicas=3), scaler]


@pytest.mark.cluster
def test_numbers_of_autoscalers_stay_as_they_are(real_cluster: Cluster, tmp_path: Path) -> None:
    """One has been scaled, the other not yet: kubectl refuses the former, and must not lose the latter's number."""
    space, own = real_cluster.space, real_cluster.applyset.manager
    objects = [*an_autoscaled(space, "web"), *an_autoscaled(space, "idle")]
    assert set(outcomes(real_cluster.apply(*objects)).values()) == {"created Missing"}
    scaled(real_cluster, "web", 7)
    assert set(outcomes(real_cluster.apply(*objects)).values()) == {"unchanged UpToDate"}
    for each in objects:
        path = tmp_path / "clusters" / "paris" / "shop" / f"{each['kind']}.apps" / f"{each['metadata']['name']}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(emit(each))
    folder = tmp_path / "clusters" / "paris"
    refused = 'conflict with "kube-controller-manager" with subresource "scale" using apps/v1: .spec.replicas'
    assert refused in GUIDE.read_text()
    with pytest.raises(AssertionError, match=re.escape(refused)):
        run_on(real_cluster, APPLY, folder, own)

    assert in_shell(real_cluster, FIND, tmp_path) == "clusters/paris/shop/Deployment.apps/web.yaml\n"
    in_shell(real_cluster, TAKE_OUT, tmp_path)
    run_on(real_cluster, APPLY, folder, own)
    assert (replicas_of(real_cluster, "web"), replicas_of(real_cluster, "idle")) == (7, 3)

    for file in folder.rglob("idle.yaml"):  # another tool that leaves all numbers alone
        file.write_text("".join(line for line in file.read_text().splitlines(True) if "  replicas: " not in line))
    run_on(real_cluster, APPLY, folder, "other")
    shown = in_shell(real_cluster, LOOK, tmp_path)
    assert [line for line in shown.splitlines() if "replicas: " in line] == ["-  replicas: 3", "+  replicas: 1"]
    assert (replicas_of(real_cluster, "web"), replicas_of(real_cluster, "idle")) == (7, 3)
