"""Every command looks first where it is run: at a fleet, and at a source and no branch that Argosy writes."""

from collections.abc import Mapping
from pathlib import Path

import click
import pytest

from reconciler.branches.place import check_place_of_pass
from reconciler.cli import COMMANDS
from reconciler.cli import argosy as program
from reconciler.commands.options.place_check import BEGINNING, WITHOUT_SOURCE
from reconciler.repository import open_repository
from reconciler.repository.command import GitCommand

from .build import Ended, Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy

NO_FLEET = (
    "argosy: there is no fleet here: no argosy.yaml, and no file holds a Kubernetes manifest\n"
    "  hint: argosy init writes the first files of one; -C names the folder of another\n"
)
ON_RENDERED = (
    "argosy: branch 'argosy/rendered' is checked out, which Argosy writes: there is no source of a fleet on it\n"
    "  hint: git switch main: the fleet is rendered from that branch\n"
)
ARGUMENTS: Mapping[str, str] = {
    "backtest": "--since 90d",
    "report": "out",
    "bisect": "deployment/nginx --unplaced",
    "blame": "deployment/nginx",
    "cluster agent": "member1 --repository https://example.com/fleet.git",
    "cluster label": "member1 tier=gold",
    "cluster rename": "member1 member2",
    "cluster set": "member1 --cpu 4",
    "cluster taint": "member1 gpu=true:NoSchedule",
    "emit argocd": "--url https://example.com/fleet.git",
    "emit flux": "--url https://example.com/fleet.git",
    "explain": "deployment/nginx",
    "import": "--print .",
    "attach": "web",
    "describe": "deployments",
    "exec": "web",
    "get": "deployments",
    "list": "objects",
    "logs": "web",
    "pods": "deployment/nginx",
    "port-forward": "web 80",
    "top": "nodes",
    "interpret": "--operation interpretreplica",
    "rebalance": "deployment/nginx",
    "rollout emergency": "--reason hotfix",
    "rollout expedite": "--reason hotfix",
}
"""The arguments of commands that take no name of a cluster, or more than that."""


def commands() -> Mapping[str, click.Command]:
    """Return each command that is for a source by its words, those in groups as well."""
    context, found = click.Context(program), dict[str, click.Command]()
    for name in {*COMMANDS} - {*WITHOUT_SOURCE}:
        command = program.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= {f"{name} {each}": below for each, below in command.commands.items()}
        else:
            found[name] = command
    return found


def run_in(repository: Repository, name: str, capsys: pytest.CaptureFixture[str]) -> Ended:
    """Run a command with its arguments, or with the name of a cluster for each that it requires."""
    required = [param for param in commands()[name].params if param.required]
    words = [f"{param.opts[0]} member1" if isinstance(param, click.Option) else "member1" for param in required]
    if name.startswith("cluster ") and not words:
        words = ["member1"]
    return argosy(repository, capsys, *name.split(), *ARGUMENTS.get(name, " ".join(words)).split())


def test_every_exception_names_a_command() -> None:
    assert {*WITHOUT_SOURCE} <= {*COMMANDS}
    assert {*BEGINNING, *ARGUMENTS} <= commands().keys()


@pytest.mark.parametrize("name", sorted(commands().keys() - BEGINNING.keys()))
@pytest.mark.parametrize("content", [{"README.md": "hello\n", "package.json": "{}\n"}, {}], ids=["no fleet", "nothing"])
def test_every_command_in_a_folder_without_a_fleet_says_how_to_begin(
    content: Mapping[str, str], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "repository")
    if content:
        repository.commit(content)
    assert run_in(repository, name, capsys) == (3, "", NO_FLEET)
    assert repository.git("status", "--porcelain") == ""


@pytest.mark.parametrize("name", sorted(commands().keys() - BEGINNING.keys()))
def test_every_command_outside_of_a_repository_says_how_to_begin(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run_in(Repository(tmp_path), name, capsys)
    assert (ended.code, ended.out) == (4, "")
    assert "hint: git init and argosy init begin one there" in ended.err


@pytest.mark.parametrize(
    "files",
    [
        {"argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\n"},
        {"apps/web.yaml": a_config_map("web")},
        {"kustomization.yaml": "resources: []\n"},
        {"eu/argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\n"},
    ],
    ids=lambda files: next(iter(files)),
)
@pytest.mark.parametrize("committed", [True, False])
def test_a_fleet_may_be_a_file_committed_or_not(
    files: Mapping[str, str], committed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "repository")
    repository.commit({"README.md": "hello\n"})
    if committed:
        repository.commit(files)
    else:
        repository.write(files)
    assert argosy(repository, capsys, "validate").code == 0


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A fleet that was rendered, with a mirror of a cluster's folder and a status branch."""
    repository = Repository.create(tmp_path_factory.mktemp("written") / "repository")
    repository.write({"clusters/member1.yaml": a_cluster("member1", syncMode="Pull")})
    repository.commit({"nginx.yaml": [a_deployment(), a_policy()]})
    return repository


@pytest.fixture
def rendered(written: Repository, capsys: pytest.CaptureFixture[str]) -> Repository:
    if not written.git("branch", "--list", "argosy/*"):
        assert argosy(written, capsys, "reconcile", "--bootstrap").code == 0
    return written


@pytest.mark.parametrize("kind", ["work tree", "of a remote", "bare"])
def test_a_place_is_found_without_a_process(
    kind: str, rendered: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of a fleet says it, in a bare repository that of HEAD, or the rendered branch, here or of a remote."""
    source = Repository.create(tmp_path / "source") if kind == "bare" else rendered
    if kind == "bare":
        source.commit({"argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\n"})
    place = source.path if kind == "work tree" else tmp_path / "place"
    if kind != "work tree":
        source.git("clone", "-q", *(["--bare"] if kind == "bare" else []), source.path.as_uri(), str(place))
    monkeypatch.setattr(GitCommand, "_started_process", None)
    with open_repository(place) as repository:
        check_place_of_pass(repository)


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_on_a_branch_that_argosy_writes_says_so_first(
    name: str, rendered: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rendered.git("switch", "-q", "argosy/rendered")
    assert run_in(rendered, name, capsys) == (3, "", ON_RENDERED)
    assert rendered.git("status", "--porcelain") == ""


def test_a_revision_that_is_named_is_looked_at_all_the_same(
    rendered: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rendered.git("switch", "-q", "argosy/rendered")
    warned = ON_RENDERED.replace("argosy: ", "warning: ")
    for words in (("validate", "--rev", "main"), ("render", "--rev", "main"), ("verify", "argosy/rendered")):
        ended = argosy(rendered, capsys, *words)
        assert (ended.code, ended.err) == (0, warned), words


def test_branches_of_every_kind_that_argosy_writes_are_known(
    rendered: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever they are called: their commits say it, as they do where one is checked out and no branch."""
    branches = rendered.git("for-each-ref", "--format=%(refname:short)", "refs/heads/argosy/").split()
    assert {"argosy/rendered", "argosy/cluster/member1"} <= {*branches}
    for branch in branches:
        for words in ((branch,), ("--detach", branch), ("-c", "mine", branch)):
            rendered.git("switch", "-q", *words)
            ended = argosy(rendered, capsys, "validate")
            assert (ended.code, "Argosy writes" in ended.err or "a commit of Argosy's" in ended.err) == (3, True), words
            assert "git switch main" in ended.err
        rendered.git("switch", "-q", "main")
        rendered.git("branch", "-q", "-D", "mine")
    assert argosy(rendered, capsys, "validate").code == 0
