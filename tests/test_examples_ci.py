"""CI as the examples write it: the action, the pre-commit hooks, and the three uses on GitHub and GitLab.

Each runs its own commands on a shallow checkout of one branch, as runners make them.
"""

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run
from reconciler.edit.pipelines import PIPELINES
from render.documents import parse_documents
from tests.build import Repository
from tests.workflows import ROOT, Runner, Step, action_steps, job_steps, parsed

pytestmark = pytest.mark.xdist_group("examples ci")  # one process makes the shared fleet for all of them

GITHUB, GITLAB = ROOT / "examples" / "ci" / "github", ROOT / "examples" / "ci" / "gitlab" / "gitlab-ci.yml"
EDIT = ("policies/web.yaml", "          weight: 2\n", "          weight: 5\n")
GUARD = "  movementGuard:\n    fleet:\n      replicas: 1\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A server with the quickstart, rendered; to be copied."""
    folder = tmp_path_factory.mktemp("shop")
    fleet = folder / "work"
    shutil.copytree(ROOT / "examples" / "quickstart", fleet, ignore=shutil.ignore_patterns("rendered"))
    work, server = Repository.create(fleet), Repository.create(folder / "hub.git", bare=True)
    settings = fleet / "argosy.yaml"
    settings.write_text(f"{settings.read_text(encoding='utf-8').rstrip()}\n{_spec(settings)}{GUARD}", encoding="utf-8")
    work.commit({}, "The shop")
    work.git("remote", "add", "origin", server.path.as_uri())
    work.git("push", "-q", "-u", "origin", "main")
    assert run(["-q", "-C", str(fleet), "reconcile", "--bootstrap"]) == 0
    return server


@pytest.fixture
def hub(shop: Repository, tmp_path: Path) -> Repository:
    """A server of the test's own."""
    shutil.copytree(shop.path, tmp_path / "hub.git")
    return Repository(tmp_path / "hub.git")


def _spec(settings: Path) -> str:
    return "" if "\nspec:" in settings.read_text(encoding="utf-8") else "spec:\n"


def a_change(hub: Repository, folder: Path, message: str = "Move to oregon") -> str:
    """Push a branch that changes a weight, and its merge as ``refs/pull/1/merge``; return the merge."""
    hub.git("clone", "-q", str(hub.path), str(folder))
    clone = Repository(folder)
    clone.git("switch", "-q", "-c", "change")
    path, before, after = EDIT
    text = (folder / path).read_text(encoding="utf-8")
    assert before in text
    clone.commit({path: text.replace(before, after)}, message)
    clone.git("switch", "-q", "main")
    clone.git("merge", "-q", "--no-ff", "--no-edit", "change")
    clone.git("push", "-q", "origin", "main:refs/pull/1/merge")
    return clone.git("rev-parse", "HEAD")


def a_checkout(hub: Repository, folder: Path, ref: str, branch: str = "") -> Repository:
    """A checkout as a runner makes it: one ref, one commit deep, on a branch or on none."""
    checkout = Repository.create(folder)
    checkout.git("remote", "add", "origin", hub.path.as_uri())
    target = f"refs/remotes/origin/{branch}" if branch else "refs/remotes/pull/1/merge"
    checkout.git("fetch", "-q", "--no-tags", "--depth=1", "origin", f"+{ref}:{target}")
    checkout.git("checkout", "-q", *(["-B", branch] if branch else ["--detach"]), target)
    return checkout


def context(hub: Repository, *, is_fork: bool = False) -> dict[str, str]:
    """Return the values that GitHub has for a pull request."""
    same = "github.event.pull_request.head.repo.full_name == github.repository"
    return {
        "github.event.pull_request.base.sha || github.event.before": hub.git("rev-parse", "main"),
        "github.event.pull_request.commits || 50": "1",
        f"github.event_name == 'pull_request' && {same}": str(not is_fork).lower(),
        "github.token": "t0ken",
        "github.event.pull_request.number": "1",
    }


REPORT_URL = "https://github.com/example/fleet/actions/runs/1/artifacts/2"


def run_action(runner: Runner, hub: Repository, *, is_fork: bool = False, **given: str) -> list[int]:
    """Run the steps of the action, what computes offline; return their exit codes."""
    (use,) = (
        step for step in parsed(GITHUB / "pull-request.yml")["jobs"]["check"]["steps"] if "render@" in step["uses"]
    )
    codes = []
    for step in action_steps({**use["with"], **given}, context(hub, is_fork=is_fork)):
        if step.name == "Comment" and is_fork:
            continue
        written = {"ARGOSY_MARKDOWN": runner.output()["markdown"]} if step.name == "Comment" else {}
        written |= {"ARGOSY_REPORT_URL": REPORT_URL} if step.name == "Comment" else {}
        whole = Step(name=step.name, command=step.command, environment={**step.environment, **written})
        codes.append(runner.run(whole, is_offline=step.name in {"Render", "Report"}).returncode)
    return codes


def test_a_pull_request_is_answered(hub: Repository, tmp_path: Path) -> None:
    a_change(hub, tmp_path / "clone", "Move to oregon\n\nArgosy-Allow-Movement: * 9")
    runner = Runner.create(tmp_path / "runner", a_checkout(hub, tmp_path / "checkout", "refs/pull/1/merge"))
    assert run_action(runner, hub) == [0, 0, 0, 0]
    output = runner.output()
    assert {name: output[name] for name in ("exit-code", "different", "clusters", "moved", "problems")} == {
        "exit-code": "0",
        "different": "true",
        "clusters": "3",
        "moved": "2",
        "problems": "0",
    }
    assert json.loads(Path(output["json"]).read_text(encoding="utf-8"))["summary"]["moved"] == 2
    assert runner.read("summary").startswith("### 3 clusters change, 1 object changed, 2 of 8 replicas move\n")
    asked, written = runner.read("gh.log").splitlines()
    assert asked.startswith("api --paginate repos/example/fleet/issues/1/comments --jq ")
    assert written.startswith("api --silent --method POST repos/example/fleet/issues/1/comments --field body=@")
    body = Path(written.partition("@")[2]).read_text(encoding="utf-8")
    link = f"\n[The fleet as pages, and a picture of what moves]({REPORT_URL})\n"
    assert body == f"<!-- argosy . -->\n{Path(output['markdown']).read_text(encoding='utf-8')}{link}"
    pages = Path(output["report"]) / "fleet"
    assert (pages / "index.html").is_file()
    assert ">Workloads whose replicas change: 1<" in (pages.parent / "moves.svg").read_text(encoding="utf-8")


def test_the_same_comment_is_written_anew(hub: Repository, tmp_path: Path) -> None:
    a_change(hub, tmp_path / "clone", "Move\n\nArgosy-Allow-Movement: * 9")
    runner = Runner.create(tmp_path / "runner", a_checkout(hub, tmp_path / "checkout", "refs/pull/1/merge"))
    (runner.home / "gh.answer").write_text("4711\n4712\n")
    assert run_action(runner, hub) == [0, 0, 0, 0]
    _, written = runner.read("gh.log").splitlines()
    assert written.startswith("api --silent --method PATCH repos/example/fleet/issues/comments/4711 --field body=@")


def test_a_refused_change_fails_and_says_why(hub: Repository, tmp_path: Path) -> None:
    a_change(hub, tmp_path / "clone")
    runner = Runner.create(tmp_path / "runner", a_checkout(hub, tmp_path / "checkout", "refs/pull/1/merge"))
    assert run_action(runner, hub) == [0, 6, 0, 0]
    assert runner.output()["exit-code"] == "6"
    assert "\nRefused:\n\n    this change moves too much at once" in runner.read("summary")


def test_a_fork_gets_a_summary_and_no_comment(hub: Repository, tmp_path: Path) -> None:
    a_change(hub, tmp_path / "clone", "Move\n\nArgosy-Allow-Movement: * 9")
    runner = Runner.create(tmp_path / "runner", a_checkout(hub, tmp_path / "checkout", "refs/pull/1/merge"))
    comment = parsed(ROOT / ".github" / "actions" / "render" / "action.yml")["runs"]["steps"][-1]
    assert comment["if"] == "${{ !cancelled() && inputs.comment == 'true' && steps.render.outputs.markdown != '' }}"
    assert run_action(runner, hub, is_fork=True) == [0, 0, 0]
    assert (runner.read("gh.log"), runner.read("summary")[:3]) == ("", "###")
    assert [path.name for path in GITHUB.glob("*") if "pull_request_target" in path.read_text(encoding="utf-8")] == []


def test_before_the_first_rendering_a_change_is_compared_all_the_same(hub: Repository, tmp_path: Path) -> None:
    a_change(hub, tmp_path / "clone", "Move\n\nArgosy-Allow-Movement: * 9")
    hub.git("branch", "-q", "-D", "argosy/rendered")
    runner = Runner.create(tmp_path / "runner", a_checkout(hub, tmp_path / "checkout", "refs/pull/1/merge"))
    assert run_action(runner, hub) == [0, 0, 0, 0]
    assert runner.output()["moved"] == "2"


def test_a_broken_file_is_annotated_and_hides_no_settings(hub: Repository, tmp_path: Path) -> None:
    """The comment names both: once the file is mended, nobody may have looked at the settings."""
    a_change(hub, tmp_path / "clone")
    checkout = a_checkout(hub, tmp_path / "checkout", "refs/pull/1/merge")
    runner = Runner.create(tmp_path / "runner", checkout)
    steps = {step.name: step for step in action_steps({}, context(hub))}
    assert runner.run(steps["Fetch what the change is compared with"]).returncode == 0
    checkout.commit({"policies/web.yaml": "kind: [\n", "policies/more.yaml": "apiVersion: v1\nkind: {\n"})
    done = runner.run(steps["Render"], is_offline=True)
    assert (done.returncode, sorted(runner.output())) == (3, ["exit-code", "markdown"])
    assert "::error file=policies/more.yaml,line=" in done.stdout
    summary = runner.read("summary")
    assert "\nRefused:\n\n    policies/more.yaml:" in summary
    assert "settings" not in summary
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    checkout.commit({"argosy.yaml": {**fleet, "spec": {"rendered": {"branch": "elsewhere"}}}})
    assert runner.run(steps["Render"], is_offline=True).returncode == 3
    body = Path(runner.output()["markdown"]).read_text(encoding="utf-8")
    assert "    policies/more.yaml:" in body
    assert "      argosy.yaml: spec.rendered.branch: none -> elsewhere\n" in body


def test_a_change_of_settings_is_refused_and_shown(hub: Repository, tmp_path: Path) -> None:
    """The base's argosy.yaml judges it, until somebody says in the workflow that it is meant."""
    a_change(hub, tmp_path / "clone", "Move\n\nArgosy-Allow-Movement: * 9")
    checkout = a_checkout(hub, tmp_path / "checkout", "refs/pull/1/merge")
    runner = Runner.create(tmp_path / "runner", checkout)
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    steps = {step.name: step for step in action_steps({}, context(hub))}
    assert runner.run(steps["Fetch what the change is compared with"]).returncode == 0
    checkout.commit({"argosy.yaml": {**fleet, "spec": {"validation": "Off", "rendered": {"branch": "elsewhere"}}}})
    assert runner.run(steps["Render"], is_offline=True).returncode == 6
    summary = runner.read("summary")
    assert "| <code>spec.rendered.branch</code> | <code>none</code> | <code>elsewhere</code> | **waits" in summary
    assert "    settings that reach outside of the repository or weaken a guard are to change\n" in summary
    accepting = {step.name: step for step in action_steps({"accept-settings": "true"}, context(hub))}
    assert runner.run(accepting["Render"], is_offline=True).returncode == 0


def test_no_untrusted_text_reaches_a_shell() -> None:
    """Expressions stand in ``env`` alone, where the shell sees a variable and not what is in it."""
    action = parsed(ROOT / ".github" / "actions" / "render" / "action.yml")
    steps = [*action["runs"]["steps"], *(each for path in GITHUB.glob("*.yml") for each in _steps(path))]
    assert [step["name"] for step in steps if "${{" in step.get("run", "")] == []


def _steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in parsed(path)["jobs"].values() for step in job["steps"]]


def test_denied_means_denied(hub: Repository, tmp_path: Path) -> None:
    """The same denial under which rendering works stops what talks to the remote."""
    runner = Runner.create(tmp_path / "runner", a_checkout(hub, tmp_path / "checkout", "refs/heads/main", "main"))
    (step,) = job_steps(GITHUB / "push.yml")
    assert runner.run(step, is_offline=True).returncode == 4


@pytest.mark.parametrize("name", ["push", "schedule"])
def test_what_was_merged_is_published_from_github(name: str, hub: Repository, tmp_path: Path) -> None:
    merge = a_change(hub, tmp_path / "clone", "Move\n\nArgosy-Allow-Movement: * 9")
    hub.git("update-ref", "refs/heads/main", merge)
    runner = Runner.create(tmp_path / "runner", a_checkout(hub, tmp_path / "checkout", "refs/heads/main", "main"))
    for step in job_steps(GITHUB / f"{name}.yml"):
        done = runner.run(step)
        assert done.returncode == 0, done.stderr
    assert f"Argosy-Source: {merge}" in hub.git("log", "-1", "--format=%B", "argosy/rendered")
    assert hub.git("log", "-1", "--format=%cn", "argosy/rendered") == "argosy"


def gitlab_step(name: str, hub: Repository) -> Step:
    """The script of a GitLab job, with the variables GitLab gives it."""
    file = parsed(GITLAB)
    variables = {
        "CI_COMMIT_SHA": hub.git("rev-parse", "refs/pull/1/merge"),
        "CI_COMMIT_BRANCH": "main",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": hub.git("rev-parse", "main"),
    }
    return Step(name=name, command="\n".join(file[name]["script"]), environment={**file["variables"], **variables})


@pytest.mark.parametrize("name", ["push", "schedule"])
def test_what_was_merged_is_published_from_gitlab(name: str, hub: Repository, tmp_path: Path) -> None:
    """GitLab checks out a commit and no branch."""
    merge = a_change(hub, tmp_path / "clone", "Move\n\nArgosy-Allow-Movement: * 9")
    hub.git("update-ref", "refs/heads/main", merge)
    runner = Runner.create(tmp_path / "runner", a_checkout(hub, tmp_path / "checkout", "refs/heads/main"))
    done = runner.run(gitlab_step(name, hub))
    assert done.returncode == 0, done.stderr
    assert f"Argosy-Source: {merge}" in hub.git("log", "-1", "--format=%B", "argosy/rendered")


@pytest.mark.parametrize(("message", "code"), [("Move", 6), ("Move\n\nArgosy-Allow-Movement: * 9", 0)])
def test_a_merge_request_is_checked(message: str, code: int, hub: Repository, tmp_path: Path) -> None:
    a_change(hub, tmp_path / "clone", message)
    runner = Runner.create(tmp_path / "runner", a_checkout(hub, tmp_path / "checkout", "refs/pull/1/merge"))
    whole = gitlab_step("check", hub)
    fetches = [line for line in whole.command.splitlines() if line.startswith("git fetch")]
    rest = [line for line in whole.command.splitlines() if not line.startswith("git fetch")]
    assert runner.run(Step(name="fetch", command="\n".join(fetches), environment=whole.environment)).returncode == 0
    check = Step(name="check", command="\n".join(rest), environment=whole.environment)
    assert runner.run(check, is_offline=True).returncode == code
    markdown = (runner.checkout.path / "argosy.md").read_text(encoding="utf-8")
    assert markdown.startswith("### 3 clusters change, 1 object changed, 2 of 8 replicas move\n")


@pytest.mark.parametrize(
    ("found", "asked"), [("[]", "POST"), ('[{"id": 3, "body": "LGTM"}, {"id": 7, "body": "<!-- argosy . -->"}]', "PUT")]
)
def test_a_merge_request_gets_one_comment(found: str, asked: str, hub: Repository, tmp_path: Path) -> None:
    runner = Runner.create(tmp_path / "runner", a_checkout(hub, tmp_path / "checkout", "refs/heads/main", "main"))
    curl = runner.home / "bin" / "curl"
    answer = f"case \"$*\" in *--output*) ;; *) echo '{found}';; esac"
    curl.write_text(f"#!/bin/sh\necho \"$*\" >>'{runner.home}/curl.log'\n{answer}\n")
    curl.chmod(0o755)
    (runner.checkout.path / "argosy.md").write_text("### No difference\n")
    project = {"CI_API_V4_URL": "https://git.example.com/api/v4", "CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_IID": "9"}
    for text in (GITLAB.read_text(encoding="utf-8"), PIPELINES["gitlab"][".gitlab-ci.yml"]):
        (command,) = parse_documents(text.encode())[0].value["check"]["after_script"]
        assert runner.run(Step(name="none", command=command, environment=project)).returncode == 0
        assert runner.read("curl.log") == ""
        done = runner.run(
            Step(name="comment", command=command, environment={**project, "ARGOSY_COMMENT_TOKEN": "t0ken"})
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        _, written = runner.read("curl.log").splitlines()
        notes = "https://git.example.com/api/v4/projects/5/merge_requests/9/notes" + ("/7" if asked == "PUT" else "")
        assert written.endswith(f"--request {asked} --data-urlencode body@argosy-comment.md {notes}")
        comment = (runner.checkout.path / "argosy-comment.md").read_text(encoding="utf-8")
        assert comment == "<!-- argosy . -->\n### No difference\n"
        (runner.home / "curl.log").unlink()


def test_the_hooks_of_pre_commit_run(hub: Repository, tmp_path: Path) -> None:
    a_change(hub, tmp_path / "clone")
    checkout = Repository(tmp_path / "clone")
    runner = Runner.create(tmp_path / "runner", checkout)
    hooks = {hook["id"]: hook for hook in parsed(ROOT / ".pre-commit-hooks.yaml")}
    path, before, after = EDIT
    checkout.git("reset", "-q", "--hard", "origin/main")
    checkout.write({path: (checkout.path / path).read_text(encoding="utf-8").replace(before, after)})
    codes = {
        name: runner.run(Step(name=name, command=shlex.join(shlex.split(hook["entry"])))).returncode
        for name, hook in hooks.items()
    }
    assert codes == {"argosy-validate": 0, "argosy-diff": 6}
    assert {hook["pass_filenames"] for hook in hooks.values()} == {False}
