"""A fleet rendered in cells, by a process each, whose trees are joined: the scripts of examples/deploy/cells."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .build import AUTHOR, Ended, Repository, a_cluster, a_cluster_policy, a_deployment
from .waiting import SECONDS, running

SCRIPTS = Path(__file__).parent.parent / "examples" / "deploy" / "cells"
ROOT = SCRIPTS.parent.parent.parent
CELLS = ("0", "1")
SETTINGS: Mapping[str, Any] = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "Fleet",
    "metadata": {"name": "cell-{cell}"},
    "spec": {"source": {"paths": ["apps", "policies", "clusters/{cell}"]}},
}
DEPLOYMENTS = {"apiVersion": "apps/v1", "kind": "Deployment"}


class CellFleet:
    """A repository with a fleet in two cells, and what scripts do to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bare = Repository.create(folder / "fleet.git", bare=True)
        self.work = Repository.create(folder / "work")
        (folder / "bin").mkdir()
        program = folder / "bin" / "argosy"
        program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m reconciler -q "$@"\n')
        program.chmod(0o755)

    def push(self, files: Mapping[str, Any]) -> None:
        self.work.commit(files)
        self.work.git("push", "-q", str(self.bare.path), "HEAD:main")

    @property
    def tips(self) -> str:
        """All branches of the repository, each with its commit."""
        return self.bare.git("for-each-ref")

    def run_script(self, script: str, *words: str, environment: Mapping[str, str] | None = None) -> Ended:
        """Run a script to its end."""
        ended = subprocess.run(
            ["sh", str(SCRIPTS / script), *words],
            env={**self.environment, **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    def command(self, script: str, *words: str) -> list[str]:
        return ["sh", str(SCRIPTS / script), str(self.bare.path), *words]

    @property
    def environment(self) -> dict[str, str]:
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return {**os.environ, **AUTHOR, "PATH": path, "XDG_CACHE_HOME": str(self.folder / "cache")}

    def render(self, *options: str) -> None:
        """Render all cells side by side, each by a process of its own."""
        commands = [self.command("cell.sh", cell, *options) for cell in CELLS]
        with ExitStack() as stack:
            begun = [stack.enter_context(running(each, seconds=SECONDS, env=self.environment)) for each in commands]
            assert [process.wait(timeout=SECONDS) for process in begun] == [0, 0]

    def join_cells(self) -> Ended:
        return self.run_script("join.sh", str(self.bare.path), str(len(CELLS)))


@pytest.fixture
def fleet(tmp_path: Path) -> CellFleet:
    made = CellFleet(tmp_path)
    members = {
        f"clusters/{cell}/member-{cell}-{n}.yaml": a_cluster(f"member-{cell}-{n}") for cell in CELLS for n in "ab"
    }
    policy = a_cluster_policy("all", selectors=[DEPLOYMENTS], placement={})
    made.push({"cell.yaml": SETTINGS, "apps/web.yaml": a_deployment("web"), "policies/all.yaml": policy, **members})
    return made


def test_joined_cells_are_what_one_process_renders(fleet: CellFleet) -> None:
    """Byte for byte, the first time and after a change; a second join of the same commits nothing."""
    for turn, options in enumerate((["--bootstrap"], [])):
        fleet.push({"apps/web.yaml": a_deployment("web", image=f"nginx:{turn}")})
        fleet.render(*options)
        assert fleet.join_cells().err == ""
        whole = Repository.create(fleet.folder / f"whole-{turn}")
        shutil.copytree(fleet.work.path / "clusters", whole.path / "clusters")
        shutil.copytree(fleet.work.path / "policies", whole.path / "policies")
        whole.commit({"apps/web.yaml": a_deployment("web", image=f"nginx:{turn}")})
        command = [sys.executable, "-m", "reconciler", "-q", "-C", str(whole.path), "reconcile", "--bootstrap"]
        subprocess.run(command, cwd=ROOT, env=fleet.environment, check=True, timeout=SECONDS)
        joined = fleet.bare.git("rev-parse", "joined:clusters")
        assert joined == whole.git("rev-parse", "argosy/rendered:clusters")
    commit = fleet.bare.git("rev-parse", "joined")
    assert (fleet.join_cells().code, fleet.bare.git("rev-parse", "joined")) == (0, commit)
    assert fleet.bare.git("fsck", "--no-dangling") == ""


def test_a_cluster_in_two_cells_is_not_joined(fleet: CellFleet) -> None:
    fleet.push({"clusters/1/member-0-a.yaml": a_cluster("member-0-a")})
    fleet.render("--bootstrap")
    ended = fleet.join_cells()
    assert (ended.code, ended.err) == (1, "in more than one cell: member-0-a\n")


def test_without_a_cell_yaml_nothing_is_pushed(fleet: CellFleet) -> None:
    """An empty argosy.yaml would make one fleet of all clusters."""
    fleet.push({"cell.yaml": None})
    before = fleet.tips
    ended = fleet.run_script("cell.sh", str(fleet.bare.path), "0", "--bootstrap")
    assert (ended.code, "cell.yaml" in ended.err, fleet.tips) == (128, True, before)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("cell.sh", []),
        ("cell.sh", ["", "0"]),
        ("cell.sh", ["fleet"]),
        ("cell.sh", ["fleet", "x/1"]),
        ("join.sh", ["fleet"]),
        ("join.sh", ["fleet", "0"]),
        ("join.sh", ["fleet", "all"]),
    ],
)
def test_a_script_that_is_called_wrong_says_how(fleet: CellFleet, script: str, words: list[str]) -> None:
    """The Job does not try again after exit code 2."""
    ended = fleet.run_script(script, *words)
    assert (ended.code, ended.err.startswith(f"usage: {script} REPOSITORY CELL")) == (2, True)


def test_where_git_names_nobody_argosy_commits_and_a_cell_follows_main_back(fleet: CellFleet) -> None:
    """A Pod has neither a name nor an address; and who takes a commit off main means every cell."""
    nobody = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.useConfigOnly", "GIT_CONFIG_VALUE_0": "true"}
    nobody |= {**dict.fromkeys(AUTHOR, ""), "HOME": str(fleet.folder)}
    images = []
    for image, options in (("nginx:1", ["--bootstrap"]), ("nginx:2", []), ("", [])):
        if image:
            fleet.push({"apps/web.yaml": a_deployment("web", image=image)})
        else:
            fleet.work.git("push", "-q", "--force", str(fleet.bare.path), "HEAD~1:main")
        ended = fleet.run_script("cell.sh", str(fleet.bare.path), "0", *options, environment=nobody)
        assert ended.code == 0, ended.err
        shown = fleet.bare.show("clusters/member-0-a/default/Deployment.apps/web.yaml", "argosy-cell-0/rendered")
        images.append(re.findall("image: (.*)", shown))
    assert images == [["nginx:1"], ["nginx:2"], ["nginx:1"]]
    assert fleet.bare.git("log", "-1", "--format=%cn <%ce>", "cells/0") == "Argosy <argosy@localhost>"
