"""The context that reaches a cluster, and the message when none does."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from reconciler.members.exchange import Failure, FailureKind
from reconciler.members.kubeconfig import Context, Contexts, default_kubeconfig_files, load_kubeconfig
from render.settings.clusters import ClusterAccess


def a_kubeconfig(path: Path, *names: str, current: str = "", token: str = "secret-token") -> Path:
    """A file with a context, a cluster and a user of each name; the server is called like the file and the name."""
    config: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "current-context": current}
    config["clusters"] = [{"name": name, "cluster": {"server": f"https://{path.stem}/{name}"}} for name in names]
    config["users"] = [{"name": name, "user": {"token": token}} for name in names]
    config["contexts"] = [{"name": name, "context": {"cluster": name, "user": name}} for name in names]
    path.write_text(json.dumps(config))
    return path


class Found(NamedTuple):
    why: str
    access: tuple[ClusterAccess, ...]
    use_folder: bool
    want: str


FINDS = [
    Found("the context is named like the cluster", (), False, "https://usual/member1"),
    Found("argosy.yaml names another", (ClusterAccess(name="member1", context="blue"),), False, "https://usual/blue"),
    Found("a folder has a file for it, whatever its context is called", (), True, "https://member1/only"),
    Found(
        "argosy.yaml names a file and a context of it",
        (ClusterAccess(name="member1", context="green", kubeconfig="other.yaml"),),
        True,
        "https://other/green",
    ),
]


@pytest.mark.parametrize("case", FINDS, ids=lambda case: case.why)
def test_a_cluster_is_found(case: Found, tmp_path: Path) -> None:
    usual = a_kubeconfig(tmp_path / "usual.yaml", "member1", "blue")
    a_kubeconfig(tmp_path / "other.yaml", "green")
    folder = tmp_path / "clusters"
    folder.mkdir()
    a_kubeconfig(folder / "member1.yaml", "only", current="only")
    access = [
        replace(item, kubeconfig=str(tmp_path / item.kubeconfig)) if item.kubeconfig else item for item in case.access
    ]
    found = Contexts(access=access, folder=folder if case.use_folder else None, files=[usual]).find("member1")
    assert isinstance(found, Context)
    assert found.cluster["server"] == case.want


def test_an_unknown_context_is_told_with_the_nearest(tmp_path: Path) -> None:
    usual = a_kubeconfig(tmp_path / "usual.yaml", "member-1")
    failure = Contexts(files=[usual]).find("member1")
    assert failure == Failure(
        kind=FailureKind.CREDENTIALS,
        message=f"no context named 'member1' in {usual}",
        hint="did you mean 'member-1'? say under clusters: in argosy.yaml which context reaches 'member1'",
    )


@pytest.mark.parametrize("content", [None, "{}"], ids=["without another kubeconfig", "with another kubeconfig"])
def test_a_folder_without_a_file_of_the_cluster_is_named(content: str | None, tmp_path: Path) -> None:
    folder, usual = tmp_path / "folder", tmp_path / "usual.yaml"
    folder.mkdir()
    if content is not None:
        usual.write_text(content)
    told = f"there is no kubeconfig at {usual}" if content is None else f"no context named 'member1' in {usual}"
    assert Contexts(folder=folder, files=[usual]).find("member1") == Failure(
        kind=FailureKind.CREDENTIALS,
        message=f"{told}, and no member1.yaml in {folder}",
        hint="put the kubeconfig of 'member1' there, as member1.yaml",
    )


def test_of_two_files_the_first_counts_and_each_brings_its_folder(tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    one = a_kubeconfig(tmp_path / "one.yaml", "a")
    two = a_kubeconfig(tmp_path / "two" / "two.yaml", "a", "b")
    config = load_kubeconfig([one, two, tmp_path / "missing.yaml"])
    assert not isinstance(config, Failure)
    assert {name: context.cluster["server"] for name, context in config.contexts.items()} == {
        "a": "https://one/a",
        "b": "https://two/b",
    }
    assert config.contexts["b"].user_folder == tmp_path / "two"


def test_yaml_is_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("contexts:\n- {name: a, context: {cluster: c}}\nclusters:\n- {name: c, cluster: {server: s}}\n")
    config = load_kubeconfig([path])
    assert not isinstance(config, Failure)
    assert config.contexts["a"].cluster == {"server": "s"}


class Broken(NamedTuple):
    why: str
    content: str | None
    told: str


BROKEN = [
    Broken("it is not there", None, "there is no kubeconfig at {path}"),
    Broken("it is no YAML", "a: [secret-token", "the kubeconfig {path} is no YAML"),
    Broken("a section is a text", "users: secret-token", "the kubeconfig {path}: users is no list of objects"),
    Broken("an entry is none", "clusters: [[]]", "the kubeconfig {path}: clusters is no list of objects"),
    Broken(
        "a context is a number",
        "contexts: [{name: member1, context: 5}]",
        "the kubeconfig {path}: contexts[0].context is no object, or its exec is none",
    ),
    Broken(
        "a program is a text",
        "users: [{name: a, user: {exec: secret-token}}]",
        "the kubeconfig {path}: users[0].user is no object, or its exec is none",
    ),
    Broken(
        "variables are a text",
        "users: [{name: a, user: {exec: {env: secret-token}}}]",
        "the kubeconfig {path}: users[0].user has extensions, or variables of exec, that are no list of objects",
    ),
    Broken(
        "a variable has no value",
        "users: [{name: a, user: {exec: {env: [{name: secret-token}]}}}]",
        "the kubeconfig {path}: users[0].user.exec.env has one without a name or value",
    ),
    Broken(
        "arguments are a number",
        "users: [{name: a, user: {exec: {args: 5}}}]",
        "the kubeconfig {path}: users[0].user has groups, or arguments of exec, that are no list of texts",
    ),
    Broken(
        "groups are a text",
        "users: [{name: a, user: {as: me, as-groups: secret-token}}]",
        "the kubeconfig {path}: users[0].user has groups, or arguments of exec, that are no list of texts",
    ),
    Broken("it is empty", "", "no context named 'member1' in {path}"),
    Broken(
        "its context has no cluster",
        "contexts: [{name: member1, context: {}}]",
        "the context 'member1' names no server",
    ),
]


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.why)
def test_a_file_that_cannot_be_used_is_told_without_its_content(case: Broken, tmp_path: Path) -> None:
    path = tmp_path / "config"
    if case.content is not None:
        path.write_text(case.content)
    failure = Contexts(files=[path]).find("member1")
    assert isinstance(failure, Failure)
    assert failure.message == case.told.format(path=path)
    assert "secret-token" not in str(failure)


def test_a_context_never_shows_its_user(tmp_path: Path) -> None:
    found = Contexts(files=[a_kubeconfig(tmp_path / "config", "member1")]).find("member1")
    assert "secret-token" not in repr(found)


def test_the_usual_files_are_kubectls() -> None:
    assert default_kubeconfig_files({"HOME": "/home/ada"}) == (Path("/home/ada/.kube/config"),)
    assert default_kubeconfig_files({"HOME": "/home/ada", "KUBECONFIG": "/a::/b"}) == (Path("/a"), Path("/b"))
