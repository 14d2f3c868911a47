"""Matrices: hostile characters through every form of output, clocks that jump, a read-only .git, submodules, LFS."""

import ctypes
import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from tests.fakes import FakeCluster
from tests.served import serving_members
from tests.waiting import SECONDS
from tests.workflows import ROOT

from .test_writers import HOSTILE, obeyed

# What a file may be called, and what Git takes for a message: no zero, and for a name no slash.
NAMED = HOSTILE.replace("\x00", "")
NO_TEXT = b"\xff"
"""A byte of which no text in UTF-8 consists."""
LINES = f"{NAMED}\n::error::{NAMED}\n##[error]{NAMED}"
FORMS = {
    "render": ["table", "wide", "json", "name", "yaml"],
    "render --as works": ["yaml", "json"],
    "render --as bindings": ["yaml", "json"],
    "diff HEAD~1 HEAD": ["text", "json", "markdown"],
    "explain cm/a": ["text", "json", "markdown"],
    "explain cluster/m1": ["text", "json", "markdown"],
    "explain policy/p": ["text", "json", "markdown"],
    "validate": ["text", "json", "sarif", "junit", "github"],
    "status": ["table", "wide", "json", "yaml", "name"],
    "test": ["text", "tap", "junit", "json"],
    "verify": ["text", "json"],
    "doctor": ["text", "json"],
    "reconcile": ["text", "json"],
    "rbac --cluster m1": ["yaml", "json"],
    "wait --timeout 1": ["text", "json"],
}


@pytest.fixture(scope="module")
def hostile_fleet(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A fleet with such characters in file names, values, keys, labels, a subject, an author and a branch's files."""
    repository = Repository.create(tmp_path_factory.mktemp("hostile") / "fleet")
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "v1", "kind": "Secret"}]
    refused = a_config_map("labelled") | {"metadata": {"name": f"x{NAMED}", "labels": {NAMED: NAMED}}}
    test = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "PolicyTest",
        "metadata": {"name": "t"},
        "spec": {"expect": [{"object": {"apiVersion": "v1", "kind": "ConfigMap", "name": NAMED}, "clusters": [NAMED]}]},
    }
    annotated: dict[str, Any] = a_config_map("a", key=HOSTILE, lines=LINES)
    annotated["metadata"]["annotations"] = {"example.com/note": LINES}
    repository.commit(
        {
            "m1.yaml": a_cluster("m1", region=NAMED),
            f"apps/{NAMED}.yaml": annotated,
            f"broken/{NAMED}.yaml": refused,
            f"broken/{os.fsdecode(NO_TEXT)}.yaml": refused,
            f"broken/::error::{NAMED}.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: [\n",
            f"tests/{NAMED}.yaml": test,
            "p.yaml": a_policy("p", selectors=selectors, placement=on_clusters("m1")),
        },
        LINES,
    )
    annotated["data"]["key"] = f"{HOSTILE} {HOSTILE}"
    repository.git("config", "user.name", NAMED.replace("\r", ""))
    repository.commit({f"apps/{NAMED}.yaml": annotated}, f"{NAMED}\n\n{LINES}\n\nArgosy-Allow-Removal: {NAMED}")
    repository.git("branch", "x\u202ey")
    return repository


@pytest.mark.parametrize(("command", "form"), [(command, form) for command, forms in FORMS.items() for form in forms])
def test_no_output_of_any_form_has_a_character_that_is_obeyed(
    command: str, form: str, hostile_fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(hostile_fleet, capsys, "-v", *command.split(), "-o", form)
    assert ended.code in {0, 1, 2, 3, 4}, ended.err
    assert obeyed(ended.out + ended.err) == set()
    if form not in {"yaml", "json", "sarif"}:
        lines = [line.lstrip() for line in (*ended.out.splitlines(), *ended.err.splitlines())]
        commands = [line for line in lines if line.startswith("::") or "##[" in line]
        assert [line for line in commands if form != "github" or not line.startswith(("::error ", "::warning "))] == []


DAY = 86_400.0
JUMPS = {
    "ten years ahead": 3650 * DAY,
    "ten years back": -3650 * DAY,
    "hours ahead": 1.5 * 3600,
    "hours back": -1.5 * 3600,
    "decades ahead": 1e9,
    "to the first second of all": -time.time() + 1,
}


@pytest.mark.parametrize("jump", JUMPS.values(), ids=JUMPS)
def test_a_clock_that_jumps_between_passes_removes_nothing(
    jump: float,
    repository: Repository,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy = a_policy(placement=on_clusters("m1"))
    repository.commit({"m1.yaml": a_cluster("m1"), "nginx.yaml": a_deployment(), "policy.yaml": policy})
    member, real = FakeCluster(name="m1"), time.time
    key = ("deployments.apps", "default", "nginx")
    for number, offset in enumerate((0.0, jump, 0.0, -jump if jump > -1e9 else 0.0, 0.0)):
        monkeypatch.setattr(time, "time", lambda offset=offset: max(real() + offset, 1.0))
        with serving_members([member], tmp_path / f"kubeconfigs-{number}") as served:
            options = ("--kubeconfigs", str(served.kubeconfigs), "--timeout", "10")
            ended = argosy(repository, capsys, "reconcile", *options, *([] if number else ["--bootstrap"]))
        assert ended.code in {0, 1}, ended.err
        assert key in member.objects
        repository.commit({"nginx.yaml": a_deployment(replicas=3 + number)})
    monkeypatch.undo()
    assert argosy(repository, capsys, "status").code in {0, 1}
    assert argosy(repository, capsys, "verify").code == 0


def without_overriding_rights() -> None:
    """Have root obey permissions, too, as anybody else does."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


READ_ONLY = {
    "all of .git": ".git",
    "objects": ".git/objects",
    "branches": ".git/refs",
    "packs": ".git/objects/pack",
}
READING = ["render", "validate", "diff HEAD HEAD", "explain deploy/nginx", "status", "verify", "doctor"]
WRITING = ["reconcile", "cluster label m1 a=b --commit"]


@pytest.mark.parametrize("why", READ_ONLY)
def test_a_read_only_repository_is_read_and_said_to_be_read_only(why: str, repository: Repository) -> None:
    policy = a_policy(placement=on_clusters("m1"))
    repository.commit({"m1.yaml": a_cluster("m1"), "nginx.yaml": a_deployment(), "policy.yaml": policy})
    assert ended_in(repository, "reconcile --bootstrap")[0] == 0
    repository.commit({"nginx.yaml": a_deployment(replicas=5)})
    before = repository.git("for-each-ref")
    folder = repository.path / READ_ONLY[why]
    modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
    try:
        for path in modes:
            path.chmod(0o555 if path.is_dir() else 0o444)
        reading = {command: ended_in(repository, command) for command in READING}
        writing = {command: ended_in(repository, command) for command in WRITING}
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
    assert {command: end for command, end in reading.items() if end[0] not in {0, 1}} == {}
    assert {command: end for command, end in writing.items() if end[0] not in {0, 4}} == {}
    assert writing["reconcile"][0] == 4
    assert repository.git("for-each-ref") == before or why != "all of .git"
    assert repository.git("status", "--porcelain") in {"", "M m1.yaml"}, writing
    assert ended_in(repository, "reconcile")[0] == 0


def ended_in(repository: Repository, command: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "reconciler", "-C", str(repository.path), *command.split()],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=without_overriding_rights,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stderr


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n".format("a" * 64)
REVISIONS: list[tuple[str, ...]] = [("--rev", "HEAD"), ()]


@pytest.mark.parametrize("revision", REVISIONS, ids=["the commit", "the work tree"])
@pytest.mark.parametrize("address", ["../elsewhere", "ext::sh -c touch% canary", "--upload-pack=touch canary"])
def test_submodules_and_lfs_pointers_are_named_and_never_followed(
    address: str, revision: tuple[str, ...], repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    modules = f'[submodule "apps"]\n\tpath = apps\n\turl = {address}\n\tupdate = !touch canary\n'
    repository.commit(
        {
            ".gitmodules": modules,
            ".gitattributes": "*.yaml filter=lfs diff=lfs merge=lfs\n",
            "big.yaml": LFS,
            "a.yaml": a_config_map("a"),
        }
    )
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},apps")
    repository.git("commit", "-q", "-m", "A submodule")
    ended = argosy(repository, capsys, "validate", *revision)
    assert ended.code in {0, 3}
    assert "big.yaml: not read: a Git LFS pointer" in ended.out
    assert not revision or "apps: not read: a submodule" in ended.out
    assert not any(path.name.startswith("canary") for path in repository.path.parent.rglob("*"))


def test_every_form_of_output_is_in_the_matrix() -> None:
    """A form that is added has to be added above."""
    for command, forms in FORMS.items():
        name = command.split()[0]
        params = import_module(f"reconciler.commands.{name}").command.params
        (output,) = (each for each in params if "-o" in each.opts)
        assert set(output.type.choices) == set(forms) or command.startswith("render --as"), name
