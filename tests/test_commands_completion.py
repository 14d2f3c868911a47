"""Names offered to a shell after a tab: names that are there, quickly or not at all, and never a word on stderr."""

import signal
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from click.shell_completion import ShellComplete

from reconciler.cli import argosy as command
from reconciler.names import quick_scan as quick_names
from reconciler.names.quick_scan import ScannedNames, scanned_names
from reconciler.repository import Repository as Opened
from tests.build import Repository, a_cluster, a_cluster_policy, a_config_map, a_deployment, a_policy, argosy
from tests.tables import each_row

POLICIES = """\
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: "images", namespace: shop}
spec: {overrideRules: []}
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = Repository.create(tmp_path_factory.mktemp("fleet"))
    made.commit(
        {
            "clusters.yaml": [a_cluster("paris"), a_cluster("pisa"), a_cluster("oslo")],
            "apps.yaml": [a_deployment("web", namespace="shop"), a_deployment("api"), a_config_map("settings")],
            "policies.yaml": [a_policy("all"), a_cluster_policy("top", selectors=[])],
            "overrides.yaml": POLICIES,
            ".hidden/cluster.yaml": a_cluster("hidden"),
        }
    )
    made.git("tag", "v1")
    return made


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is."""
    monkeypatch.setattr(quick_names, "SECONDS", 30.0)


class Tab(NamedTuple):
    line: str
    want: list[str]


TABS = [
    Tab("render --cluster p", ["paris", "pisa"]),
    Tab("render --cluster ", ["oslo", "paris", "pisa"]),
    Tab("apply --in-cluster o", ["oslo"]),
    Tab("cluster cordon pa", ["paris"]),
    Tab("cluster join pa", []),
    Tab("explain c", ["cluster", "configmap"]),
    Tab("explain deploy/", ["deploy/api", "deploy/web"]),
    Tab("explain deploy w", ["web"]),
    Tab("explain -n shop deployments ", ["web"]),
    Tab("explain cluster/o", ["cluster/oslo"]),
    Tab("explain policy/", ["policy/all", "policy/images", "policy/top"]),
    Tab("explain cpp ", ["top"]),
    Tab("explain op/", ["op/images"]),
    Tab("status cm/", ["cm/settings"]),
    Tab("wait cluster ", ["oslo", "paris", "pisa"]),
    Tab("status -n ", ["default", "shop"]),
    Tab("render --rev ", ["HEAD", "main", "v1"]),
    Tab("diff m", ["main"]),
    Tab("diff main v", ["v1"]),
    Tab("render --as w", ["works"]),
    Tab("re", ["render", "reconcile", "rebalance"]),
]


def offered(repository: Path, line: str) -> list[str]:
    *words, incomplete = line.split(" ")
    completer = ShellComplete(command, {}, "argosy", "_ARGOSY_COMPLETE")
    return [item.value for item in completer.get_completions(["-C", str(repository), *words], incomplete)]


@pytest.mark.parametrize("case", TABS, ids=lambda case: case.line)
def test_a_tab(case: Tab, repository: Repository) -> None:
    assert offered(repository.path, case.line) == case.want


def test_the_repository_may_be_named_behind_the_command(repository: Repository) -> None:
    completer = ShellComplete(command, {}, "argosy", "_ARGOSY_COMPLETE")
    words = ["cluster", "cordon", "-C", str(repository.path)]
    assert [item.value for item in completer.get_completions(words, "o")] == ["oslo"]


@each_row(
    ("words", "kind"),
    [
        (["-C"], "dir"),
        (["render", "-C"], "dir"),
        (["apply", "--kubeconfigs"], "dir"),
        (["apply", "--kubeconfig"], "file"),
        (["test"], "file"),
        (["render", "--output-dir"], "dir"),
        (["interpret", "-f"], "file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_files_are_the_shell_s_to_find(words: list[str], kind: str) -> None:
    completer = ShellComplete(command, {}, "argosy", "_ARGOSY_COMPLETE")
    assert [(item.type, item.value) for item in completer.get_completions(words, "ab")] == [(kind, "ab")]


def test_what_was_rendered_is_offered_where_there_are_no_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Repository.create(tmp_path / "fleet")
    everywhere = a_cluster_policy("all", selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}])
    made.commit({"fleet.yaml": [a_cluster("paris"), a_config_map("settings"), everywhere]})
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    made.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    assert offered(tmp_path / "bare.git", "explain cm/") == ["cm/settings"]
    assert offered(tmp_path / "bare.git", "render --cluster ") == ["paris"]


@pytest.mark.parametrize("location", ["nowhere", "https://example.invalid/fleet.git"])
def test_where_nothing_is_found_nothing_is_said(location: str, capfd: pytest.CaptureFixture[str]) -> None:
    completer = ShellComplete(command, {}, "argosy", "_ARGOSY_COMPLETE")
    for words in (["explain"], ["render", "--cluster"], ["diff"]):
        completer.get_completions(["-C", location, *words], "de")
    assert capfd.readouterr() == ("", "")


def test_a_shell_does_not_wait(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick_names, "SECONDS", 0.05)

    def look(_repository: Opened, names: ScannedNames) -> None:
        names.clusters.add("paris")
        signal.pause()

    begun = time.monotonic()
    assert scanned_names(str(repository.path), look).clusters == {"paris"}
    assert time.monotonic() - begun < 30
