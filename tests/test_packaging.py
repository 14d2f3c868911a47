"""Promises about the distribution: its files, and the message when names clash."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.repository.trailers import engine_version
from tests.waiting import SECONDS

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def run_python(code: str, *, path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=path, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
    )


class Clash(NamedTuple):
    why: str
    package: str
    text: str


CLASHES = [
    Clash("decorators for overriding methods", "overrides", "from functools import wraps as overrides\n"),
    Clash("a template renderer", "render", ""),
]


@pytest.mark.parametrize("case", CLASHES, ids=lambda case: case.why)
def test_another_package_of_our_name_is_named_at_once(case: Clash, tmp_path: Path) -> None:
    foreign = tmp_path / case.package / "__init__.py"
    foreign.parent.mkdir()
    foreign.write_text(case.text)
    done = run_python("import reconciler", path=tmp_path)
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: the package '{case.package}' at {foreign} is not Argosy's: another distribution installed it "
        "over ours; give argosy an environment of its own (pipx, uv tool, a container)"
    )


def test_importing_the_packages_imports_nothing_of_them(tmp_path: Path) -> None:
    code = (
        "import sys, reconciler; print(sorted(m for m in sys.modules if m.startswith(('render', 'overrides', 'rec'))))"
    )
    assert run_python(code, path=tmp_path).stdout == "['overrides', 'reconciler', 'render']\n"


def test_commits_record_the_version_of_the_distribution() -> None:
    assert (engine_version(), version("argosy")) == (PROJECT["version"], PROJECT["version"])


def test_ci_runs_every_python_version_the_distribution_claims() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    matrix = re.search(r"python: \[(.*)\]", workflow)
    claimed = [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", name)]
    assert matrix is not None
    assert re.findall(r"[\d.]+", matrix[1]) == claimed
    assert PROJECT["requires-python"] == f">={claimed[0]}"


REPEATED_GROUP = re.compile(r"(?<![\\(])\)(?:[*+?]|\{[0-9,]+\})\+")
POSSESSIVE = re.compile(r"[*+?}]\+")
"""The end of such a repeat; only files that have one are parsed."""


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python before 3.11.5 goes on behind where the group matched last (gh-106052); ``(?>(?:...)*)`` is the same."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for package in ("render", "overrides", "reconciler")
        for path in sorted((ROOT / package).rglob("*.py"))
        if POSSESSIVE.search(text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and REPEATED_GROUP.search(_text(node.value))
    ]
    assert found == []


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def test_the_license_is_the_whole_apache_license() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert PROJECT["license"] == "Apache-2.0"
    assert [f"   {number}. " in text for number in range(1, 10)] == [True] * 9
    assert "END OF TERMS AND CONDITIONS" in text


def test_dependencies_have_lower_bounds_and_nothing_is_locked() -> None:
    assert [line for line in PROJECT["dependencies"] if not re.fullmatch(r"[A-Za-z0-9-]+>=[\d.]+", line)] == []
    tools = PROJECT["optional-dependencies"]["test"]  # one that breaks another may be held back, and is never exact
    assert [line for line in tools if not re.fullmatch(r"[A-Za-z0-9-]+>=[\d.]+(,<[\d.]+)?", line)] == []
    assert [path.name for path in ROOT.iterdir() if path.name.endswith((".lock", "requirements.txt"))] == []


def test_every_requirement_says_what_it_is_for() -> None:
    lines = (ROOT / "pyproject.toml").read_text().partition("dependencies = [")[2].partition("\n]")[0].splitlines()
    assert [line for line in lines if line and "# " not in line] == []


def test_every_make_target_is_documented_and_phony() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z0-9-]+):(?!=)", text, re.MULTILINE))
    documented = set(re.findall(r"^([a-z0-9-]+):.*  ## .+$", text, re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony is not None
    assert targets == documented == set(phony[1].split())
