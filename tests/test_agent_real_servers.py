"""An agent beside a real API server: from join to healthy objects, with the rights that are printed and no others.

Both are in a network that lets only Git out, so that nothing but them reaches the API server. Python in there refuses
what else somebody would connect to, too, for machines on which no network namespace can be made.
"""

import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run

from .build import AUTHOR, Repository, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .clusters import Member
from .namespaces import GitOnly
from .processes import kill_all
from .waiting import SECONDS, eventually, running

pytestmark = pytest.mark.cluster
SELECTORS = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
POLICY = a_policy(selectors=SELECTORS, namespace="shop", placement=on_clusters("far"))
FAR = on_clusters("far")
MAPS = "/api/v1/namespaces/shop/configmaps"
GUARDED = """
import runpy, sys
def refuse(event, words):
    if event == "socket.connect":
        print(words[1], file=open({log!r}, "a"))
        if words[1] != ("127.0.0.1", {port}):
            raise PermissionError(f"{{words[1]}} is out of bounds")
sys.addaudithook(refuse)
sys.argv[0] = "argosy"
runpy.run_module("reconciler", run_name="__main__")
"""
KILLS = 6
AWAY = 10


@dataclass
class Pulled:
    """A fleet, its hub, the member that pulls from it, both networks, and the kubeconfig of the agent's account."""

    source: Repository
    hub: Repository
    network: GitOnly
    member: Member
    kubeconfig: Path
    folder: Path
    token: str = ""

    def reconcile(self) -> None:
        self.source.git("push", "-q")
        assert run(["-q", "-C", str(self.source.path), "reconcile", "--bootstrap"]) == 0
        self.source.git("fetch", "-q")

    def ask(self, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
        """Ask the member, from within its network."""
        return self.network.run(self.member.request, method, path, body, token=token)

    def agent(self, *words: str, is_endless: bool = False) -> AbstractContextManager["subprocess.Popen[str]"]:
        """Begin a pass of the agent, or passes, as a process in its network that notes where it connects to."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        environment |= {"XDG_CACHE_HOME": str(self.folder / "cache"), **AUTHOR, **self.network.environment}
        program = GUARDED.format(log=str(self.folder / "connected"), port=self.member.port)
        command = [sys.executable, "-c", program, "-v", "agent", "--cluster", "far"]
        command += [*([] if is_endless else ["--once"]), "--kubeconfig", str(self.kubeconfig), *words]
        return running(
            self.network.command([*command, self.network.address]),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def pull(self, *words: str) -> tuple[int, str]:
        with self.agent(*words) as process:
            out, errors = process.communicate(timeout=SECONDS)
        return process.returncode, out + errors

    def turn(self) -> Any:
        status, found = self.ask("GET", f"{MAPS}/settings")
        return found["data"]["turn"] if status == 200 else None


@pytest.fixture(scope="module")
def pulled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pulled]:
    folder = tmp_path_factory.mktemp("pulled")
    hub, source = Repository.create(folder / "hub.git", bare=True), Repository.create(folder / "source")
    files = {"web.yaml": a_deployment("web", namespace="shop"), "policy.yaml": POLICY}
    source.commit({**files, "settings.yaml": a_config_map("settings", namespace="shop", turn="0")})
    source.git("remote", "add", "origin", str(hub.path))
    source.git("push", "-q", "-u", "origin", "main")
    source.git("fetch", "-q")
    assert run(["-q", "-C", str(source.path), "cluster", "join", "far", "--mode", "Pull", "--commit"]) == 0
    with GitOnly(folder, hub.path) as network, ExitStack() as inside:
        member = network.run(lambda: inside.enter_context(Member("far", nodes=1)))
        made = Pulled(source, hub, network, member, folder / "kubeconfig", folder)
        made.reconcile()
        set_up(made)
        yield made


def set_up(pulled: Pulled) -> None:
    """Do in the member what a person does: apply the agent's manifests; its Pod is the test's own process."""
    apply_printed(pulled)
    pulled.network.run(pulled.member.kubectl, "-n", "argosy-system", "scale", "deployment/argosy-agent", "--replicas=0")
    accounts = "/api/v1/namespaces/argosy-system/serviceaccounts/argosy/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    status, answer = pulled.ask("POST", accounts, request)
    assert status == 201, answer
    pulled.token = answer["status"]["token"]
    pulled.kubeconfig.write_text(pulled.member.kubeconfig.read_text().replace(pulled.member.token, pulled.token))
    pulled.kubeconfig.chmod(0o600)


def apply_printed(pulled: Pulled) -> None:
    """Apply what ``argosy cluster agent`` prints, with the rights that the tree needs by now."""
    folder = pulled.folder
    (folder / "known_hosts").write_text("git.example.com ssh-ed25519 AAAA\n")
    words = ["cluster", "agent", "far", "--repository", "ssh://git@git.example.com/fleet.git"]
    command = [sys.executable, "-m", "reconciler", "-C", str(pulled.source.path), *words]
    printed = subprocess.run(
        [*command, "--known-hosts", str(folder / "known_hosts")],
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    pulled.network.run(pulled.member.kubectl, "apply", "--server-side", "-f", "-", stdin=printed.stdout)


def test_from_joining_to_healthy_objects(pulled: Pulled, capsys: pytest.CaptureFixture[str]) -> None:
    """The agent connects to its own API server and to nothing else; Git is a process of its own.

    Its network has no way out but Git's, and passes have no way in.
    """
    code, said = pulled.pull()
    assert code == 0, said

    def is_healthy() -> bool:
        pulled.pull()
        pulled.reconcile()
        return argosy(pulled.source, capsys, "wait", "--for", "healthy", "--timeout", "1s").code == 0

    eventually(is_healthy, "a healthy fleet")
    hosts = set((pulled.folder / "connected").read_text().splitlines())
    assert hosts == {str(("127.0.0.1", pulled.member.port))}
    if pulled.network.is_apart:
        assert [name for _, name in pulled.network.run(socket.if_nameindex)] == ["lo"]
        with pytest.raises(OSError):
            pulled.member.request("GET", "/readyz")


def test_its_account_can_do_nothing_beyond_the_kinds_of_its_tree(pulled: Pulled) -> None:
    shop, system = "/api/v1/namespaces/shop", "/api/v1/namespaces/kube-system"
    a_map = a_config_map("more", namespace="shop")
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "mine"}}
    role |= {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}}
    tries = {
        ("GET", f"{shop}/configmaps"): 200,
        ("GET", f"{shop}/secrets"): 403,
        ("GET", f"{system}/secrets"): 403,
        ("GET", f"{system}/configmaps"): 403,
        ("GET", "/api/v1/secrets"): 403,
        ("DELETE", "/api/v1/namespaces/shop"): 403,
        ("DELETE", f"{system}/serviceaccounts/default"): 403,
        ("POST", f"{shop}/pods"): 403,
        ("POST", "/api/v1/namespaces/default/configmaps"): 403,
        ("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"): 403,
        ("POST", "/api/v1/namespaces/argosy-system/serviceaccounts/default/token"): 403,
    }
    bodies = {"POST": {**a_map, **role}}
    answers = {(verb, path): pulled.ask(verb, path, bodies.get(verb), token=pulled.token)[0] for verb, path in tries}
    assert answers == tries


def test_drift_is_healed_while_git_is_away_and_what_is_new_comes_when_it_is_back(pulled: Pulled) -> None:
    """One agent lives through ten passes without Git, and says once that it is away and once that it is back."""
    assert pulled.pull()[0] == 0
    pulled.source.commit({"settings.yaml": a_config_map("settings", namespace="shop", turn="new")})
    pulled.network.keep_git_away()
    with pulled.agent("--interval", "1s", "--drift", "1s", is_endless=True) as process:
        try:
            pulled.reconcile()
            for number in range(AWAY):
                assert pulled.ask("DELETE", f"{MAPS}/settings")[0] == 200
                eventually(lambda: pulled.turn() == "0", f"drift healed in pass {number}")
        finally:
            pulled.network.let_git_in()
        eventually(lambda: pulled.turn() == "new", "what is new")
        process.terminate()
        said = process.communicate(timeout=SECONDS)[1]
    applied = pulled.source.git("rev-parse", "origin/argosy/rendered")[:12]
    assert (process.returncode, said.count("Git is away; "), said.count(f"Git is back; applied {applied}")) == (0, 1, 1)


def test_an_agent_that_is_killed_again_and_again_loses_nothing(pulled: Pulled) -> None:
    """Objects change, come and go meanwhile; in the end the member has what the newest commit says, and no more."""
    draw = random.Random(7)
    for turn in range(1, KILLS + 1):
        extra = {f"extra-{number}.yaml": None for number in range(1, turn - 1)}
        kept = {f"extra-{turn}.yaml": a_config_map(f"extra-{turn}", namespace="shop")}
        settings = {"settings.yaml": a_config_map("settings", namespace="shop", turn=str(turn))}
        present = {path: body for path, body in extra.items() if (pulled.source.path / path).exists()}
        pulled.source.commit({**present, **kept, **settings}, f"turn {turn}")
        pulled.reconcile()
        with pulled.agent() as process:
            try:
                process.communicate(timeout=draw.uniform(0.2, 3.0))
            except subprocess.TimeoutExpired:
                kill_all(process.pid)
    code, said = pulled.pull()
    assert code == 0, said
    held = {each["metadata"]["name"] for each in pulled.network.run(pulled.member.read, MAPS)["items"]} - {
        "kube-root-ca.crt"
    }
    assert (pulled.turn(), held) == (str(KILLS), {"settings", f"extra-{KILLS - 1}", f"extra-{KILLS}"})
    # Killed between the objects of a push and its branch, an agent leaves a commit that nothing names.
    assert pulled.hub.git("fsck", "--no-progress", "--no-dangling") == ""
    commits = pulled.hub.git("rev-list", "--count", "argosy/agent/far")
    assert pulled.pull()[0] == 0
    assert pulled.hub.git("rev-list", "--count", "argosy/agent/far") == commits


def test_a_namespace_without_rights_costs_its_own_objects_and_names_the_cure(
    pulled: Pulled, capsys: pytest.CaptureFixture[str]
) -> None:
    """A list of a kind is refused for all of the cluster, and in that namespace; the others can be listed."""
    going = {f"{name}.yaml": a_config_map(name, namespace="shop", turn="a") for name in ("settings", "going")}
    policy = {"everywhere.yaml": a_policy(name="everywhere", selectors=SELECTORS, namespace="later", placement=FAR)}
    pulled.source.commit({**going, **policy})
    pulled.reconcile()
    assert pulled.pull()[0] == 0
    newer = {"settings.yaml": a_config_map("settings", namespace="shop", turn="b"), "going.yaml": None}
    pulled.source.commit({**newer, "later.yaml": a_config_map("later", namespace="later", turn="a")})
    pulled.reconcile()
    code, said = pulled.pull()
    assert code == 1, said
    assert pulled.turn() == "b"
    assert pulled.ask("GET", f"{MAPS}/going")[0] == 404
    assert "configmaps is forbidden" in said
    assert "ConfigMap shop/" not in "".join(line for line in said.splitlines() if "Forbidden" in line)
    cure = "argosy cluster agent far | kubectl --context far apply -f -"
    assert f"hint: grant what is missing: in a clone of the fleet, {cure}" in said
    pulled.reconcile()
    assert cure in argosy(pulled.source, capsys, "status", "ConfigMap/later", "-n", "later").out
    doctor = argosy(pulled.source, capsys, "doctor")
    assert doctor.code == 1
    assert f"hint: grant what is missing: {cure}" in doctor.out
    apply_printed(pulled)
    code, said = pulled.pull()
    assert code == 0, said
    pulled.reconcile()
    assert "far: agent" not in argosy(pulled.source, capsys, "doctor").out
