"""Names made to meet where they should not: on file systems that ignore case, and in what is printed."""

import os
from pathlib import Path
from typing import Any

import pytest

from reconciler.repository.safe_folder import SafeFolder
from tests.build import Repository, a_cluster, a_cluster_policy, argosy, on_clusters


def a_widget(kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": "a", "namespace": "shop"}, "spec": spec}


def a_fleet_of(repository: Repository, *kinds: str) -> None:
    selectors = [{"apiVersion": "example.com/v1", "kind": kind} for kind in kinds]
    repository.commit(
        {
            "m1.yaml": a_cluster("m1"),
            "policy.yaml": a_cluster_policy("all", selectors=selectors, placement=on_clusters("m1")),
            **{f"{number}.yaml": a_widget(kind, is_of=kind) for number, kind in enumerate(kinds)},
        }
    )


def test_kinds_of_the_same_letters_have_files_that_do_not_meet(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    a_fleet_of(repository, "Widget", "WIDGET")
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    shouted = "shop/%57%49%44%47%45%54.example.com/a.yaml"
    paths = repository.files()
    for folder in ("bindings", "clusters/m1"):
        assert {f"{folder}/shop/Widget.example.com/a.yaml", f"{folder}/{shouted}"} <= set(paths)
    assert len({path.lower() for path in paths}) == len(paths)
    assert "is_of: WIDGET" in repository.show(f"clusters/m1/{shouted}")
    ended = argosy(repository, capsys, "explain", "WIDGET.example.com/a", "-n", "shop")
    assert (ended.code, ended.out.splitlines()[0].split()[0]) == (0, "WIDGET.example.com"), ended
    assert argosy(repository, capsys, "verify").code == 0


@pytest.mark.parametrize(("one", "other"), [("PodSet", "Podset"), ("ROLE", "Role"), ("postgresql", "Postgresql")])
def test_other_kinds_of_the_same_letters_are_refused(
    one: str, other: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    a_fleet_of(repository, one, other)
    ended = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert ended.code == 3
    assert (
        f"1.yaml:2: kind: {other}.example.com and {one}.example.com (at 0.yaml:1) differ in capitals alone" in ended.err
    )


@pytest.mark.parametrize("name", ["../../x", "..", "a/b", "/tmp/x", "A", "-x", "\x1b[2K", "x" * 300, "", "a\nb"])
def test_no_name_of_a_cluster_leads_out_of_its_folder(
    name: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    before = everything(repository)
    assert argosy(repository, capsys, "init", f"--new-cluster={name}").code == 3
    assert argosy(repository, capsys, "cluster", "join", "--", name).code == 3
    assert everything(repository) == before


def everything(repository: Repository) -> set[str]:
    return {str(path) for path in repository.path.parent.rglob("*") if ".git" not in path.parts}


@pytest.mark.parametrize("path", ["../x", "a/../../x", "a//x", "./x", "a/./x"])
def test_a_file_is_only_written_below_its_folder(path: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with SafeFolder(root) as folder, pytest.raises(OSError, match="is no path below a folder"):
        folder.write(path, b"")
    assert [each.name for each in tmp_path.rglob("*")] in (["root"], ["root", "a"])


NO_TEXT = os.fsdecode(b"x\xff")
ARGUMENTS = [
    ["cluster", "label", "m1", f"a={NO_TEXT}"],
    ["cluster", "join", NO_TEXT],
    ["init", f"--new-cluster={NO_TEXT}"],
    ["reconcile", "--bootstrap", f"--kubeconfig={NO_TEXT}"],
    ["reconcile", "--bootstrap", f"--kubeconfigs={NO_TEXT}"],
    ["explain", f"cm/{NO_TEXT}"],
    ["render", f"--cluster={NO_TEXT}"],
    ["diff", NO_TEXT],
    ["rbac", "--cluster=m1", f"--service-account={NO_TEXT}"],
    ["import", ".", "--print"],
    ["validate", "-o", "sarif"],
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=lambda arguments: " ".join(arguments[:2]).rstrip(NO_TEXT))
def test_what_is_no_utf8_is_answered(
    arguments: list[str], repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    a_fleet_of(repository, "Widget", "Gadget")
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"clusters": [{"name": "m1"}]}}
    repository.commit({"argosy.yaml": fleet, f"{NO_TEXT}.yaml": a_widget("Widget") | {"metadata": {"name": "no name"}}})
    monkeypatch.chdir(repository.path)
    repository.git("config", "user.name", NO_TEXT)
    assert argosy(repository, capsys, *arguments).code in {0, 1, 2, 3, 4, 5}


def test_a_path_that_is_no_utf8_stands_in_a_report_by_its_bytes(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({f"{NO_TEXT}.yaml": a_widget("Widget") | {"metadata": {"name": "no name"}}})
    assert '"uri": "x%FF.yaml"' in argosy(repository, capsys, "validate", "-o", "sarif").out
