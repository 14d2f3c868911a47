"""The GitHub action on a hostile pull request: files named like modules and tools, inputs that are options."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.build import Repository
from tests.test_examples_ci import a_change, a_checkout, hub, run_action, shop
from tests.workflows import ACTION, ROOT, Runner

__all__ = ["hub", "shop"]

MODULES = ("json", "sys", "os", "encodings", "sitecustomize", "usercustomize", "click", "yaml", "reconciler", "render")


def test_nothing_of_a_pull_request_is_run(hub: Repository, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    a_change(hub, tmp_path / "clone", "Move to oregon\n\nArgosy-Allow-Movement: * 9\n\n::error::no")
    clone = Repository(tmp_path / "clone")
    touch = f"import os\nopen({str(canary)!r}, 'w').close()\n"
    shell = f"#!/bin/sh\ntouch {canary}\n"
    files = {f"{name}.py": touch for name in MODULES}
    files |= {f"{name}/__init__.py": touch for name in ("urllib3", "jsonpatch")}
    files |= {"pyproject.toml": "[project]\n", "pip.conf": "[global]\nindex-url = http://127.0.0.1:9/\n"}
    files |= dict.fromkeys(("git", "argosy", "python3", "sed", "pipx", "check"), shell)
    files |= {".gitattributes": "* filter=x diff=x\n", ".githooks/post-checkout": shell}
    clone.commit(files, "::set-output name=exit-code::0")
    for name in ("git", "argosy", "python3", "sed", "pipx", "check", ".githooks/post-checkout"):
        (clone.path / name).chmod(0o755)
    clone.git("commit", "-q", "-am", "Executable")
    clone.git("push", "-q", "--force", "origin", "HEAD:refs/pull/1/merge")
    runner = Runner.create(tmp_path / "runner", a_checkout(hub, tmp_path / "checkout", "refs/pull/1/merge"))
    codes = run_action(runner, hub)
    assert codes[0] == 0
    assert codes[1] == 6  # the guard of movement has the last word
    assert not canary.exists()


OPTIONS = {
    "base": ["--upload-pack=touch canary;", "-u", "a..b", "a b", "$(touch canary)", "a\nb", ""],
    "rendered-branch": ["--upload-pack=touch canary;", "a..b", "a b", "$(touch canary)", "x\ny", ""],
    "commits": ["a[$(touch canary)]", "1; touch canary", "-1", "9" * 20],
    "max-bytes": ["a[$(touch canary)]", "--rev=x"],
}


GOOD = {"base": "0" * 40, "rendered-branch": "argosy/rendered", "commits": "3", "max-bytes": "60000"}


def checked(tmp_path: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Return how the action's check of its inputs ends."""
    values = {f"ARGOSY_{name.upper().replace('-', '_')}": value for name, value in {**GOOD, **given}.items()}
    values["ARGOSY_RENDERED"] = values.pop("ARGOSY_RENDERED_BRANCH")
    environment = {"PATH": os.environ["PATH"], **values}
    return subprocess.run(
        ["bash", str(ACTION / "check")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in OPTIONS.items() for value in values])
def test_an_input_that_is_no_value_of_its_kind_is_refused(name: str, value: str, tmp_path: Path) -> None:
    done = checked(tmp_path, **{name: value})
    assert (done.returncode, done.stderr.partition(" is not ")[0]) == (2, f"argosy: the input {name}")
    assert not list(tmp_path.iterdir())


def test_inputs_as_they_should_be_are_taken(tmp_path: Path) -> None:
    assert checked(tmp_path).returncode == checked(tmp_path, base="origin/main").returncode == 0


def test_no_step_talks_to_git_before_its_inputs_were_checked() -> None:
    for script in ("fetch", "render"):
        text = (ACTION / script).read_text(encoding="utf-8")
        assert text.index('"$GITHUB_ACTION_PATH/check"') < text.index("git ")
    fetch = (ACTION / "fetch").read_text(encoding="utf-8")
    assert fetch.count("--end-of-options") == len(re.findall(r"^.*git (?:fetch|ls-remote)", fetch, re.MULTILINE))


def test_every_action_used_is_pinned_by_a_commit_with_its_version() -> None:
    files = [*ROOT.glob(".github/**/*.yml"), *ROOT.glob("examples/ci/github/*.yml")]
    used = [line.strip() for path in files for line in path.read_text(encoding="utf-8").splitlines() if "uses:" in line]
    pinned = re.compile(
        r"- uses: (?:[\w-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|__OWNER__/argosy/\S+@__COMMIT__ # .+)"
    )
    assert [line for line in used if not pinned.fullmatch(line)] == []
    assert len(used) > 10


def test_the_action_installs_itself_and_nothing_by_name() -> None:
    action = (ACTION / "action.yml").read_text(encoding="utf-8")
    install = (ACTION / "install").read_text(encoding="utf-8")
    assert "\n    default: action\n" in action
    assert 'ARGOSY_INSTALL=$(cd -- "$GITHUB_ACTION_PATH/../../.." && pwd)' in install
    assert (ACTION / "../../../pyproject.toml").resolve() == ROOT / "pyproject.toml"
    alone = (ACTION.parent / "install" / "action.yml").read_text(encoding="utf-8")
    assert "        ARGOSY_INSTALL: action\n" in alone
    assert '"$GITHUB_ACTION_PATH/../render/install"\n' in alone


@pytest.mark.parametrize("script", ["check", "comment", "fetch", "install", "render"])
def test_a_script_of_the_action_is_one_that_bash_reads(script: str) -> None:
    done = subprocess.run(["bash", "-n", str(ACTION / script)], capture_output=True, timeout=10, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "python3 -c" not in (ACTION / script).read_text(encoding="utf-8")
