"""A cluster that pulls joins and leaves: its file, the manifests of its agent, and what takes them back."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters

EVERYTHING = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
GUIDE = Path(__file__).parents[1] / "examples" / "pull" / "README.md"
ADDRESS = "ssh://git@git.example.com/team/fleet.git"


@pytest.fixture
def repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    files = {"web.yaml": a_deployment("web"), "settings.yaml": a_config_map("settings")}
    policy = a_policy(selectors=EVERYTHING, placement=on_clusters("near", "far"))
    made.commit({"clusters/near.yaml": a_cluster("near"), "policy.yaml": policy, **files})
    ended = argosy(made, capsys, "cluster", "join", "far", "--mode", "Pull", "--region", "moon", "--commit")
    assert (ended.code, ended.out.splitlines()) == (
        0,
        [
            "cluster/far joined",
            "",
            "next:",
            "  argosy diff HEAD~1 HEAD  # what this changes in the clusters",
            "  argosy reconcile",
            "  argosy cluster agent far | kubectl --context far apply -f -",
        ],
    )
    assert (
        "argosy reconcile writes what is placed in far to argosy/cluster/far, and never reaches the cluster\n"
        "nothing is applied to far before its agent runs there, which reads that branch\n"
    ) in ended.err
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    return made


def printed(repository: Repository, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Mapping[str, Any]]:
    ended = argosy(repository, capsys, "cluster", "agent", "far", *words, "-o", "json")
    assert ended.code == 0, ended.err
    return {f"{each['kind']}/{each['metadata']['name']}": each for each in json.loads(ended.out)["items"]}


def test_joining_makes_passes_mirror_the_cluster(repository: Repository) -> None:
    assert repository.files("argosy/cluster/far") == [
        ".argosy",
        "default/ConfigMap/settings.yaml",
        "default/Deployment.apps/web.yaml",
    ]
    assert "syncMode: Pull" in repository.show("clusters/far.yaml", "HEAD")


def test_the_agent_has_the_rights_of_its_tree_and_a_key_that_nobody_prints(
    repository: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "known_hosts").write_text("git.example.com ssh-ed25519 AAAA\n")
    found = printed(repository, capsys, "--repository", ADDRESS, "--known-hosts", str(tmp_path / "known_hosts"))
    assert list(found) == [
        "Namespace/argosy-system",
        "ServiceAccount/argosy",
        "ClusterRole/argosy",
        "ClusterRoleBinding/argosy",
        "Role/argosy",
        "RoleBinding/argosy",
        "ConfigMap/argosy-agent",
        "Deployment/argosy-agent",
    ]
    assert {each["metadata"].get("labels", {}).get("argosy.dev/agent") for each in list(found.values())[1:]} == {"far"}
    assert found["ConfigMap/argosy-agent"]["data"] == {"known_hosts": "git.example.com ssh-ed25519 AAAA\n"}
    pod = found["Deployment/argosy-agent"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["args"] == ["agent", "--cluster", "far", "--grace", "45s", ADDRESS]
    assert pod["containers"][0]["env"] == [
        {
            "name": "GIT_SSH_COMMAND",
            "value": "ssh -i /etc/argosy/git/identity -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes"
            " -o UserKnownHostsFile=/etc/argosy/pinned/known_hosts",
        }
    ]
    assert pod["volumes"][2] == {"name": "git", "secret": {"secretName": "argosy-git", "defaultMode": 0o440}}
    assert not any(key.startswith("Secret/") for key in found)


def test_over_https_as_a_job(repository: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "signers").write_text("passes ssh-ed25519 AAAA\n")
    words = ("--repository", "https://somebody:word@git.example.com/fleet", "--schedule", "*/5 * * * *")
    found = printed(repository, capsys, *words, "--allowed-signers", str(tmp_path / "signers"))
    container = found["CronJob/argosy-agent"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
    signers = ["--allowed-signers", "/etc/argosy/pinned/allowed_signers"]
    address = "https://git.example.com/fleet"
    assert container["args"] == ["agent", "--cluster", "far", "--once", *signers, address]
    assert container["env"] == [{"name": "GIT_CONFIG_GLOBAL", "value": "/etc/argosy/git/gitconfig"}]


REFUSED = {
    "a host key that is not pinned": (
        ("--repository", ADDRESS),
        2,
        "--known-hosts is required for SSH: ssh-keyscan HOST, compared with what the host says",
    ),
    "a private key where a public one belongs": (
        ("--repository", ADDRESS, "--known-hosts", "{folder}/key"),
        2,
        "is no such file: it is printed as it is, so it may hold no secret",
    ),
    "an address of this machine": ((), 3, "'this repository' is no address that an agent could reach"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_an_agent_cannot_do_with_is_refused(
    why: str, repository: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words, code, message = REFUSED[why]
    (tmp_path / "key").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    ended = argosy(repository, capsys, "cluster", "agent", "far", *(word.format(folder=tmp_path) for word in words))
    assert (ended.code, ended.out) == (code, "")
    assert message in ended.err


def test_a_cluster_that_passes_reach_gets_no_agent(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(repository, capsys, "cluster", "agent", "near", "--repository", "https://git.example.com/fleet.git")
    assert (ended.code, ended.out) == (3, "")
    assert "'near' does not pull, so that an agent would find no mirror" in ended.err


def test_a_cluster_that_pulls_has_no_context(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(repository, capsys, "cluster", "join", "moon", "--mode", "Pull", "--context", "moon")
    assert ended.code == 2
    assert "--context is how passes reach a cluster, and they never reach one with --mode Pull" in ended.err


def test_leaving_says_what_takes_the_agent_back(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(repository, capsys, "cluster", "unjoin", "far", "--disconnect")
    kinds = "deployment,cronjob,configmap,rolebinding,role,clusterrolebinding,clusterrole,serviceaccount"
    assert (ended.code, ended.out.splitlines()) == (
        0,
        [
            "cluster/far disconnected",
            "",
            "CLUSTERS",
            "  - far: disconnected, keeps what it holds",
            "",
            "next:",
            "  git commit -m 'Disconnect far' -- clusters/far.yaml",
            "  argosy reconcile",
            f"  kubectl delete {kinds} --all-namespaces -l argosy.dev/agent=far",
            "  git push --delete REMOTE argosy/cluster/far argosy/agent/far",
            "  argosy cluster forget far  # once it is gone for good: branches keep its files, nobody empties it",
        ],
    )


def test_what_stands_beside_a_cluster_in_its_file_changes_nothing_of_it(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another group's Cluster of the same name, and one without any, are no settings of an agent."""
    models = [{"grade": 0, "ranges": [{"name": "cpu", "min": "0", "max": str((1 << 63) - 1)}]}]
    other = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "spec": {"resourceModels": "none"}}
    others = [{**other, "metadata": {"name": "far", "namespace": "default"}}]
    own = a_cluster("far", syncMode="Pull", resourceModels=models)
    repository.commit({"clusters/far.yaml": [own, *others]})
    assert argosy(repository, capsys, "reconcile").code == 0
    settings = repository.show(".argosy", "argosy/cluster/far")
    assert "grade: 0" in settings
    assert "none" not in settings


def test_the_key_of_the_guide_reads_and_writes_the_branches_of_its_agent_alone(tmp_path: Path) -> None:
    """Nor does a server name the others to it, which a push would otherwise cost 40 bytes of each."""
    forced = re.findall(r'^restrict,command="(.*)" ssh-ed25519', GUIDE.read_text(), re.MULTILINE)[0].replace('\\"', '"')
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\nfor SSH_ORIGINAL_COMMAND; do :; done\nexport SSH_ORIGINAL_COMMAND\n{forced}\n")
    ssh.chmod(0o755)
    served = Repository.create(tmp_path / "served")
    tip = served.commit({"a.yaml": "a: 1\n"})
    own, mirror = "refs/heads/argosy/agent/ferry", "refs/heads/argosy/cluster/ferry"
    for ref in (own, mirror, "refs/heads/argosy/cluster/other", "refs/heads/argosy/rendered"):
        served.git("update-ref", ref, tip)
    clone, address = Repository.create(tmp_path / "clone"), f"ssh://here{served.path}"
    reaching = ("-c", f"core.sshCommand={ssh}", "-c", "ssh.variant=ssh")
    assert clone.git(*reaching, "ls-remote", address).split() == [tip, own, tip, mirror]
    newer = clone.commit({"b.yaml": "b: 1\n"})
    for ref in (own, mirror, "refs/heads/argosy/rendered", "refs/heads/main"):
        clone.git(*reaching, "push", "-q", "--force", address, f"HEAD:{ref}", check=False)
    tips = dict(line.split() for line in served.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines())
    assert [ref for ref, id_ in tips.items() if id_ == newer] == [own]
