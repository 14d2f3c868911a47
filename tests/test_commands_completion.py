"""Names offered to a shell after a tab: names that are there, quickly or not at all, and never a word on stderr."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.shell_completion import ShellComplete

from reconciler.cli import argosy as command
from reconciler.commands.options.global_options import REPOSITORY
from reconciler.names import quick_scan as quick_names
from reconciler.names.quick_scan import ScannedNames, collect_names_in_time
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


CLUSTERS = ("oslo", "paris", "pisa")


class Tab(NamedTuple):
    line: str
    want: list[str]


TABS = [
    Tab("render --cluster p", ["paris", "pisa"]),
    Tab("render --cluster ", ["oslo", "paris", "pisa"]),
    Tab("apply --in-cluster o", ["oslo"]),
    Tab("cluster cordon pa", ["paris"]),
    Tab("cluster join pa", []),
    Tab("explain c", ["cluster", *(f"cluster/{name}" for name in CLUSTERS), "configmap", "configmap/settings"]),
    Tab("explain deploy", ["deploy/api", "deploy/web", "deployment", "deployment/api", "deployment/web"]),
    Tab("explain -n shop deploy", ["deploy/web", "deployment", "deployment/web"]),
    Tab("explain po", ["policy", "policy/all", "policy/images", "policy/top"]),
    Tab("reconcile --allow-removal p", ["paris=", "pisa="]),
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
    Tab("re", ["report", "render", "reconcile", "rebalance"]),
]


def offered(repository: Path, line: str) -> list[str]:
    *words, incomplete = line.split(" ")
    completer = ShellComplete(command, {}, "argosy", "_ARGOSY_COMPLETE")
    return [item.value for item in completer.get_completions(["-C", str(repository), *words], incomplete)]


@pytest.mark.parametrize("case", TABS, ids=lambda case: case.line)
def test_a_tab(case: Tab, repository: Repository) -> None:
    assert offered(repository.path, case.line) == case.want


def test_of_many_objects_the_kinds_are_offered_first(tmp_path: Path) -> None:
    made = Repository.create(tmp_path)
    made.commit({"apps.yaml": [a_deployment(f"web-{number}") for number in range(80)]})
    assert offered(made.path, "explain ") == ["cluster", "deployment", "policy"]
    assert len(offered(made.path, "explain deploy")) == len(["deployment"]) + 80


def test_what_is_scanned_first_is_what_most_options_name(tmp_path: Path) -> None:
    """However many templates there are, clusters are known before the time for a scan is over."""
    for name in ("apps/web.yaml", "clusters/paris.yaml", "policies/web.yaml"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    paths = quick_names._short_manifest_files(tmp_path)
    assert [path.name for path in paths] == ["paris.yaml", "web.yaml", "web.yaml"]


def test_the_time_for_a_scan_is_not_spent_on_loading_what_scans() -> None:
    """A machine that takes a second to load git still offers what is there."""
    program = (
        "import sys\n"
        "from reconciler.names import quick_scan\n"
        "assert 'reconciler.repository' not in sys.modules\n"
        "begin = quick_scan.signal.setitimer\n"
        "quick_scan.signal.setitimer = lambda *when: (print('reconciler.repository' in sys.modules), begin(*when))\n"
        "quick_scan.collect_names_in_time('.', lambda repository, names: None)\n"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert finished.stdout.splitlines() == ["True", "True"]


def options_of(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Parameter]]:
    """Yield every parameter of a command and of those below it."""
    yield from ((context.command_path, param) for param in command.params)
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from options_of(below, click.Context(below, info_name=name, parent=context))


def test_every_cluster_and_every_revision_is_completed_wherever_it_is_asked_for(repository: Repository) -> None:
    tried = []
    for path, param in options_of(command, click.Context(command, info_name="argosy")):
        names_cluster = "--cluster" in param.opts and param.metavar == "NAME"
        names_revision = param.metavar in {"REV", "[REV]"}
        if names_cluster or names_revision:
            context = click.Context(command)
            context.meta[REPOSITORY] = str(repository.path)
            found = [item.value for item in param.shell_complete(context, "")]
            tried.append((path, found, list(CLUSTERS) if names_cluster else ["HEAD", "main", "v1"]))
    assert len(tried) > 15
    assert [(path, found) for path, found, want in tried if found != want] == []


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
    assert collect_names_in_time(str(repository.path), look).clusters == {"paris"}
    assert time.monotonic() - begun < 30
