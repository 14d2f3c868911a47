"""Rollouts over clusters that agents, Argo CD or Flux apply to: what these report is the version that stands there."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from render.settings.emission import Deployer
from render.timing import instant_text

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .fakes import FakeCluster
from .memory_fleet import MemoryFleet, settle
from .rolling import WEB, a_rollout_policy, a_wave, web
from .served import serving_members
from .test_rollouts_members import sicken
from .test_tools_told import a_fleet, a_hub, an_application, passed, put, resources, tell

NODES = (1, {"cpu": "8", "pods": "20"})
SERVICE = {"apiVersion": "v1", "kind": "Service", "name": "web"}
WAVES = [a_wave("canary", "oslo"), a_wave("rest")]


def a_pulled_fleet(folder: Path, waves: list[Any], **files: Any) -> MemoryFleet:
    """Members that agents of their own apply to, with the Deployment web."""
    placed = a_policy("web", selectors=[WEB], placement=on_clusters())
    files = {"web": web(1), "policy": placed, "rollout": a_rollout_policy(waves=waves), **files}
    names = dict.fromkeys(("oslo", "paris"), NODES)
    fleet = MemoryFleet.create(
        folder / "fleet", names, {f"{name}.yaml": each for name, each in files.items()}, by_agent=True
    )
    for _ in range(3):
        run(fleet)
    return fleet


def run(fleet: MemoryFleet, *unwell: str, seconds: float = 0.0) -> str:
    """One pass, its agents, and one more pass; return the images of the newest rendered commit."""
    for name in unwell:
        sicken(fleet.members[name])
    fleet.run(seconds)
    for name in fleet.members.keys() - set(unwell):
        settle(fleet.members[name])
    found = fleet.repository.contents("argosy/rendered", under="clusters")
    texts = (found[path] for path in sorted(found) if path.endswith("Deployment.apps/web.yaml"))
    return "".join(text.split("image: web:")[1].splitlines()[0] for text in texts)


def test_a_wave_of_clusters_that_pull_begins_once_the_one_before_is_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waves = [a_wave("canary", "oslo", gate={"healthyFor": "5m"}), a_wave("rest")]
    fleet = a_pulled_fleet(tmp_path, waves)
    fleet.repository.commit({"web.yaml": web(2)})
    assert [run(fleet, "oslo") for _ in range(3)] == ["21"] * 3
    assert [run(fleet, seconds=each) for each in (10, 10, 299, 1, 10)] == ["21", "21", "21", "22", "22"]
    run(fleet)
    assert fleet.recorded("rollouts/default/web.yaml", "argosy/rendered")["phase"] == "Completed"
    assert argosy(fleet.repository, capsys, "verify", "-n", "9").code == 0


def test_replicas_that_an_agent_has_not_applied_yet_do_not_start_the_time_anew(tmp_path: Path) -> None:
    """The version is that of the commit which the agent reports; the newest one gives the same version."""
    fleet = a_pulled_fleet(tmp_path, [a_wave("canary", "oslo", gate={"healthyFor": "5m"}), a_wave("rest")])
    fleet.repository.commit({"web.yaml": web(2)})
    for seconds in (0, 10, 10):
        run(fleet, seconds=seconds)
    before = fleet.recorded("facts/_health.yaml")["workloads"][0]["clusters"]
    fleet.repository.commit({"web.yaml": web(2, replicas=3)})
    fleet.by_agent = False  # no agent comes
    fleet.run(100)
    assert fleet.recorded("facts/_health.yaml")["workloads"][0]["clusters"] == before
    assert len({each["version"] for each in before}) == 2
    fleet.repository.commit({"web.yaml": web(3, replicas=3)})
    fleet.run(10)
    assert fleet.recorded("facts/_health.yaml")["workloads"][0]["clusters"] == before


def test_an_agent_says_of_which_objects_a_status_may_be_from_before_its_write(tmp_path: Path) -> None:
    """A Service tells of no generation: the address that it has is that of the version before."""

    def balancer(port: int) -> dict[str, Any]:
        metadata = {"name": "web", "namespace": "default"}
        spec = {"type": "LoadBalancer", "ports": [{"port": port}]}
        return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}

    rollout = a_rollout_policy(selectors=[SERVICE], waves=WAVES)
    placed = a_policy("service", selectors=[SERVICE], placement=on_clusters())
    fleet = a_pulled_fleet(tmp_path, WAVES, service=balancer(1), placed=placed, rollout=rollout)
    for name in ("oslo", "paris"):
        service = fleet.members[name].objects["services.", "default", "web"]
        service["status"] = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
    fleet.run()
    fleet.run()
    fleet.repository.commit({"service.yaml": balancer(2)})
    path = "works/oslo/default/Service/web.yaml"
    found = []
    for _ in range(3):
        fleet.run()
        live = [fleet.members[name].objects["services.", "default", "web"] for name in ("oslo", "paris")]
        ports = "".join(str(service["spec"]["ports"][0]["port"]) for service in live)
        found.append((ports, fleet.recorded(path).get("mayBeEarlier")))
    assert found == [("21", True), ("21", None), ("22", None)]


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[FakeCluster]:
    """The cluster where a tool runs, whose kubeconfig is ``hub.yaml``."""
    made = a_hub()
    with serving_members([made], tmp_path / "kubeconfigs"):
        yield made


def a_rolling_fleet(folder: Path, deployer: Deployer) -> Repository:
    """Two clusters that a tool applies to, of which eu comes first."""
    work = a_fleet(folder / "work", folder / "kubeconfigs" / "hub.yaml", deployer)
    work.commit({"rollout.yaml": a_rollout_policy(waves=[a_wave("first", "eu"), a_wave("rest")])})
    return work


def given(work: Repository) -> str:
    """The images that the newest rendered commit has for eu and us."""
    texts = (work.show(f"clusters/{name}/default/Deployment.apps/web.yaml", "argosy/rendered") for name in ("eu", "us"))
    return " ".join(text.split("image: ")[1].split()[0] for text in texts)


@pytest.mark.parametrize("deployer", list(Deployer))
def test_a_wave_begins_once_the_tool_says_that_the_one_before_has_the_version_and_is_well(
    tmp_path: Path, hub: FakeCluster, capsys: pytest.CaptureFixture[str], deployer: Deployer
) -> None:
    work = a_rolling_fleet(tmp_path, deployer)
    first = passed(work, capsys, "--bootstrap")
    tell(hub, deployer, first, "eu", "us")
    passed(work, capsys)
    work.commit({"web.yaml": a_deployment("web", image="web:2")})
    second = passed(work, capsys)
    assert given(work) == "web:2 nginx:1.29"
    passed(work, capsys)
    assert passed(work, capsys) == second, "the tool says that the first version is well there"
    tell(hub, deployer, second, "eu")
    passed(work, capsys)
    assert passed(work, capsys) != second
    assert given(work) == "web:2 web:2"


def half_an_hour_later() -> tuple[str, str]:
    return "--now", instant_text(datetime.now(UTC) + timedelta(minutes=30))


@pytest.mark.parametrize("is_well", [True, False], ids=["is still well", "is well no more"])
def test_a_pass_that_comes_rarely_goes_by_what_the_tool_says_now(
    tmp_path: Path, hub: FakeCluster, capsys: pytest.CaptureFixture[str], *, is_well: bool
) -> None:
    work = a_rolling_fleet(tmp_path, Deployer.ARGO_CD)
    waves, gate = [a_wave("first", "eu"), a_wave("rest")], {"healthyFor": "5m", "maxStatusAge": "5m"}
    work.commit({"rollout.yaml": a_rollout_policy(waves=waves, gate=gate)})
    first = passed(work, capsys, "--bootstrap")
    tell(hub, Deployer.ARGO_CD, first, "eu", "us")
    passed(work, capsys)
    work.commit({"web.yaml": a_deployment("web", image="web:2")})
    second = passed(work, capsys)
    tell(hub, Deployer.ARGO_CD, second, "eu")
    passed(work, capsys)
    if not is_well:
        found = resources("Synced", "Synced", health={"status": "Degraded"})
        put(hub, an_application("eu", sync="Synced", revision=second, resources=found))
    passed(work, capsys, *half_an_hour_later())
    assert given(work) == ("web:2 web:2" if is_well else "web:2 nginx:1.29")
    assert argosy(work, capsys, "verify", "-n", "9").code == 0


def test_a_tool_that_cannot_be_asked_leaves_a_status_that_is_too_old(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work, made = a_rolling_fleet(tmp_path, Deployer.ARGO_CD), a_hub()
    gate = {"healthyFor": "5m", "maxStatusAge": "5m"}
    work.commit({"rollout.yaml": a_rollout_policy(waves=[a_wave("first", "eu"), a_wave("rest")], gate=gate)})
    with serving_members([made], tmp_path / "kubeconfigs"):
        tell(made, Deployer.ARGO_CD, passed(work, capsys, "--bootstrap"), "eu", "us")
        passed(work, capsys)
        work.commit({"web.yaml": a_deployment("web", image="web:2")})
        tell(made, Deployer.ARGO_CD, passed(work, capsys), "eu")
        passed(work, capsys)
    third = passed(work, capsys, *half_an_hour_later())
    assert "reason: StatusTooOld" in work.show("rollouts/default/web.yaml", "argosy/rendered")
    assert passed(work, capsys, *half_an_hour_later()) == third
    assert given(work) == "web:2 nginx:1.29"


@pytest.mark.parametrize("is_new", [True, False], ids=["which is new", "which is too old"])
def test_the_last_commit_of_an_agent_is_its_look(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, is_new: bool
) -> None:
    gate = {"maxStatusAge": "5m"}
    placed = a_policy("web", selectors=[WEB], placement=on_clusters())
    rollout = a_rollout_policy(waves=[a_wave("canary", "oslo", gate=gate), a_wave("rest")])
    files = {"web.yaml": web(1), "policy.yaml": placed, "rollout.yaml": rollout}
    names = dict.fromkeys(("oslo", "paris"), NODES)
    fleet = MemoryFleet.create(tmp_path / "fleet", names, files, by_agent=True)

    def pull() -> None:
        fleet.now = time.time()
        for name in names:
            fleet.pull(name)
            settle(fleet.members[name])
            fleet.pull(name)

    passed(fleet.repository, capsys, "--bootstrap")
    pull()
    passed(fleet.repository, capsys)
    fleet.repository.commit({"web.yaml": web(2)})
    passed(fleet.repository, capsys)
    pull()
    later = () if is_new else half_an_hour_later()
    commits = [passed(fleet.repository, capsys, *later) for _ in range(3)]
    assert commits[1] == commits[2]
    reason = fleet.recorded("rollouts/default/web.yaml", "argosy/rendered")["reason"]
    assert reason == ("ClustersUnderWay" if is_new else "StatusTooOld")
    paris = fleet.repository.show("clusters/paris/default/Deployment.apps/web.yaml", "argosy/rendered")
    assert ("web:2" in paris) is is_new


def test_a_part_that_has_an_older_commit_does_not_speak_for_the_newest(
    tmp_path: Path, hub: FakeCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Application of web is as it was; another one of the same cluster could not apply the newest commit."""
    work = a_rolling_fleet(tmp_path, Deployer.ARGO_CD)
    first = passed(work, capsys, "--bootstrap")
    tell(hub, Deployer.ARGO_CD, first, "eu", "us")
    passed(work, capsys)
    work.commit({"web.yaml": a_deployment("web", image="web:2"), "settings.yaml": a_config_map("settings", a="2")})
    second = passed(work, capsys)
    settings, deployed = resources("OutOfSync", "Synced", health={"status": "Healthy"})
    failed = {"phase": "Failed", "message": "no", "syncResult": {"revision": second}}
    other = an_application("eu", sync="OutOfSync", revision=second, resources=[settings], operationState=failed)
    other["metadata"] = {**other["metadata"], "name": "argosy-eu-settings"}
    put(hub, an_application("eu", sync="Synced", revision=first, resources=[deployed]), other)
    passed(work, capsys)
    assert passed(work, capsys) == second
    known = work.show("facts/_health.yaml", "argosy/status")
    assert known.count(" version: ") == 1, "of us alone is it known what stands there"


def test_a_gate_that_nobody_can_answer_is_refused_until_a_pass_has_seen_the_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Options of a pass may say how clusters are reached: then only the status branch knows of it."""
    work = Repository.create(tmp_path / "work")
    placed, rollout = a_policy("web", selectors=[WEB], placement=on_clusters()), a_rollout_policy(waves=WAVES)
    work.commit(
        {
            "clusters.yaml": [a_cluster("oslo"), a_cluster("paris")],
            "web.yaml": [web(1), placed],
            "rollout.yaml": rollout,
        }
    )
    refused = argosy(work, capsys, "validate")
    assert refused.code == 3
    assert "spec.waves[0]: no change goes out to wave canary or after it" in refused.err + refused.out
    folder = tmp_path / "kubeconfigs"
    with serving_members([FakeCluster(name="oslo"), FakeCluster(name="paris")], folder):
        passed(work, capsys, "--bootstrap", "--kubeconfigs", str(folder))
    assert argosy(work, capsys, "validate").code == 0


@pytest.mark.usefixtures("hub")
def test_what_is_emitted_names_the_gates_that_nobody_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = a_rolling_fleet(tmp_path, Deployer.FLUX)
    passed(work, capsys, "--bootstrap")
    note = "RolloutPolicy default/web is not told what the tool did: its gates have no answer in eu, us, unless"
    url = ("--url", "https://git.example.com/fleet.git")
    assert note not in argosy(work, capsys, "emit", "flux", *url).err
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    work.commit({"argosy.yaml": fleet})
    passed(work, capsys, "--accept-settings")
    for words in (("emit", "flux"), ("emit", "argocd"), ("export", "applicationset")):
        ended = argosy(work, capsys, *words, *url)
        assert (ended.code, note in ended.err) == (0, True), words
