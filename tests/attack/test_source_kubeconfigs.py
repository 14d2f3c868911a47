"""A kubeconfig in the source asks for a program to be run: it is not, wherever the repository and the caller stand."""

import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run
from reconciler.members.exchange import Failure
from reconciler.members.opening import MemberAccess, Members
from tests.build import Repository, a_cluster, a_config_map, a_policy, on_clusters

FLEET = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet"}


def a_kubeconfig(canary: Path) -> dict[str, Any]:
    """A kubeconfig whose user is a program that leaves a file behind."""
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "touch",
        "args": [str(canary)],
        "interactiveMode": "Never",
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "contexts": [{"name": "member1", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"exec": plugin}}],
    }


def a_hostile_checkout(folder: Path, canary: Path, spec: dict[str, Any]) -> Repository:
    checkout = Repository.create(folder / "checkout")
    files: dict[str, Any] = {
        "argosy.yaml": {**FLEET, "spec": spec},
        "clusters/member1.yaml": a_cluster("member1"),
        "a.yaml": a_config_map("a"),
        "policy.yaml": a_policy(placement=on_clusters("member1")),
    }
    checkout.commit(files)
    checkout.write({"creds/member1.yaml": a_kubeconfig(canary)})
    checkout.git("add", "creds")
    checkout.git("commit", "-q", "-m", "Credentials")
    return checkout


ARRANGEMENTS = ("its checkout", "a linked work tree", "a bare clone", "a file:// address", "a clone elsewhere")
SPECS = ("a folder", "a file", "an absolute folder", "an absolute file")


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_no_program_named_in_the_source_runs(
    arrangement: str, spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    canary, folder = tmp_path / "canary", tmp_path / "checkout" / "creds"
    base = str(folder) if spec.startswith("an absolute") else "creds"
    access = (
        {"kubeconfigs": base}
        if spec.endswith("folder")
        else {"clusters": [{"name": "member1", "kubeconfig": f"{base}/member1.yaml"}]}
    )
    checkout = a_hostile_checkout(tmp_path, canary, access)
    location = str(checkout.path)
    if arrangement == "a linked work tree":
        location = str(tmp_path / "linked")
        checkout.git("worktree", "add", "-q", "--detach", location)
    elif arrangement == "a bare clone":
        location = str(tmp_path / "bare.git")
        checkout.git("clone", "-q", "--bare", ".", location)
    elif arrangement == "a file:// address":
        location = checkout.path.as_uri()
    elif arrangement == "a clone elsewhere":
        location = str(tmp_path / "clone")
        checkout.git("clone", "-q", ".", location)
    monkeypatch.chdir(checkout.path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for command in (["reconcile", "--bootstrap"], ["apply"], ["diff", "--live"]):
        assert run(["-C", location, *command]) not in {0, 70}, capsys.readouterr()
        assert not canary.exists(), (command, capsys.readouterr())


def test_a_link_to_a_kubeconfig_of_the_source_is_of_the_source(tmp_path: Path) -> None:
    checkout = a_hostile_checkout(tmp_path, tmp_path / "canary", {})
    link = tmp_path / "config"
    link.symlink_to(checkout.path / "creds" / "member1.yaml")
    opened = Members(MemberAccess(kubeconfig=str(link), untrusted=(str(checkout.path),))).open("member1", 0.0)
    assert isinstance(opened, Failure)
    assert opened.message == "the context 'member1' would run an exec plugin named in the source repository"


@pytest.mark.parametrize("name", ["tokenFile", "client-certificate", "client-key"])
def test_no_file_of_this_machine_is_sent_away(name: str, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    config = a_kubeconfig(tmp_path)
    config["users"] = [{"name": "u", "user": {name: "../../etc/hostname"}}]
    (checkout / "config").write_text(json.dumps(config))
    access = MemberAccess(kubeconfig=str(checkout / "config"), untrusted=(str(checkout),))
    opened = Members(access).open("member1", 0.0)
    assert isinstance(opened, Failure)
    assert opened.message == "the context 'member1' would send away a file from outside of the source repository"
