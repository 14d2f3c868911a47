"""The controller beside a real Git server with webhooks, and its alerts as Prometheus reads them.

``make e2e-peers`` builds these programs and runs this; elsewhere it runs where they are there.
"""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from render.documents import emit, parse_documents

from .build import Repository, a_cluster, a_config_map, a_policy, on_clusters
from .clusters import Member, remove_namespaces
from .controllers import controller
from .gitea import PROJECT, Gitea, serving_gitea
from .hooks import an_authority
from .waiting import SECONDS, eventually

ROOT = Path(__file__).parent.parent
NAMES = ("member1", "member2", "member3")
SPACE = "run-peers"
SECRET = "a secret of enough bytes"
FLEET = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}


@pytest.fixture
def server(gitea: Path, tmp_path: Path) -> Iterator[Gitea]:
    with serving_gitea(gitea, tmp_path / "gitea", an_authority(tmp_path)) as running:
        yield running


@pytest.fixture
def kubeconfigs(members: tuple[Member, ...], tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "kubeconfigs"
    folder.mkdir()
    for member in members:
        shutil.copy(member.kubeconfig, folder / f"{member.name}.yaml")
    yield folder
    remove_namespaces(members, SPACE)


def a_fleet(server: Gitea, folder: Path, **files: Any) -> Repository:
    work = server.clone(folder / "work")
    every = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    policy = a_policy("all", selectors=every, namespace=SPACE, placement=on_clusters(*NAMES))
    work.commit({**{f"{name}.yaml": a_cluster(name) for name in NAMES}, "policy.yaml": policy, **files})
    pushed(work, "first")
    return work


def pushed(work: Repository, text: str) -> str:
    commit = work.commit({"settings.yaml": a_config_map("settings", namespace=SPACE, text=text)})
    work.git("push", "-q", "origin", "HEAD:main")
    return commit


def texts(members: tuple[Member, ...]) -> set[str]:
    found = [member.read(f"/api/v1/namespaces/{SPACE}/configmaps/settings") for member in members]
    return {each["data"]["text"] if each else "" for each in found}


def status_of(server: Gitea, commit: str) -> tuple[str, str]:
    """The status of a commit, as the server shows it, and the name under which it was set."""
    told = server.ask("GET", f"/repos/{PROJECT}/commits/{commit}/status")
    return told["state"], told["statuses"][0]["context"] if told["statuses"] else ""


@pytest.mark.cluster
def test_a_push_to_a_real_git_server_changes_real_members_within_seconds(
    server: Gitea, members: tuple[Member, ...], kubeconfigs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is polled: the server's webhook says that somebody pushed, and is told what became of the commit."""
    work = a_fleet(server, tmp_path)
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "token").write_text(server.token)
    options = ("--webhook", "0", "--webhook-secret", f"gitea={tmp_path}/secret", "--notify", f"gitea={tmp_path}/token")
    environment = {**server.environment, "ARGOSY_FORGE_API": server.api}
    given = ("--bootstrap", "--kubeconfigs", str(kubeconfigs), *options)
    with controller(tmp_path, server.address, *given, environment=environment) as argosy:
        eventually(lambda: texts(members) == {"first"}, "the first objects", seconds=60)
        argosy.says("pass ended code=0")
        port = argosy.said.partition("webhooks at 127.0.0.1:")[2].partition("\n")[0]
        server.hook(f"http://127.0.0.1:{port}/webhook/gitea", SECRET)
        took = []
        for turn in ("second", "third", "fourth"):
            begun = time.monotonic()
            commit = pushed(work, turn)
            eventually(lambda turn=turn: texts(members) == {turn}, "the new objects", seconds=60)  # type: ignore[misc]
            took.append(time.monotonic() - begun)
            eventually(lambda commit=commit: status_of(server, commit)[0] == "success", "the status")  # type: ignore[misc]
        assert status_of(server, commit) == ("success", f"argosy/{PROJECT.partition('/')[2]}")
        assert argosy.said.count("pass cause=") == 4
        assert argosy.ended() == 0
    with capsys.disabled():
        print(f"\npush to a real Git server until the objects of three members changed: {took}")
    assert min(took) < 5


@pytest.mark.cluster
def test_what_a_person_merges_on_a_real_git_server_is_applied(
    server: Gitea, members: tuple[Member, ...], kubeconfigs: Path, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(server.token)
    spec = {"rendered": {"push": "PullRequest", "forge": "Gitea"}}
    work = a_fleet(server, tmp_path, **{"argosy.yaml": {**FLEET, "spec": spec}})
    forge = {"ARGOSY_FORGE_API": server.api, "ARGOSY_FORGE_TOKEN_FILE": str(tmp_path / "token")}
    given = ("--bootstrap", "--kubeconfigs", str(kubeconfigs), "--poll", "500ms")
    with controller(tmp_path, server.address, *given, environment={**server.environment, **forge}) as argosy:
        eventually(lambda: texts(members) == {"first"}, "the first objects", seconds=60)
        pushed(work, "second")
        (asked,) = eventually(lambda: server.ask("GET", f"/repos/{PROJECT}/pulls"), "the pull request")
        argosy.says("pass ended code=0", times=2)
        assert texts(members) == {"first"}
        server.ask("POST", f"/repos/{PROJECT}/pulls/{asked['number']}/merge", {"Do": "merge"})
        pushed(work, "second")
        work.commit({"note.txt": "anything"})
        work.git("push", "-q", "origin", "HEAD:main")
        eventually(lambda: texts(members) == {"second"}, "what was merged", seconds=60)
        assert argosy.ended() == 0


def test_prometheus_takes_the_alerts(promtool: Path, tmp_path: Path) -> None:
    (rule,) = parse_documents((ROOT / "examples" / "deploy" / "monitoring" / "rules.yaml").read_bytes())
    rules = tmp_path / "rules.yaml"
    rules.write_bytes(emit(rule.value["spec"]))
    done = subprocess.run(
        [str(promtool), "check", "rules", "--lint=all", "--lint-fatal", str(rules)],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    alerts = sum(len(group["rules"]) for group in rule.value["spec"]["groups"])
    assert (done.returncode, f"SUCCESS: {alerts} rules found" in done.stdout) == (0, True), done.stdout + done.stderr


def test_prometheus_reads_every_query_of_the_dashboard(promtool: Path) -> None:
    board = json.loads((ROOT / "examples" / "deploy" / "monitoring" / "dashboard.json").read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    for query in queries:
        plain = query.replace("$__rate_interval", "5m").replace("$__range", "1h").replace("$__interval", "1m")
        done = subprocess.run(
            [str(promtool), "promql", "format", "--experimental", plain],
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        assert done.returncode == 0, f"{query}: {done.stderr}"
    assert queries
