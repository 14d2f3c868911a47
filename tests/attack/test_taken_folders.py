"""Kustomizations that build upon what is another team's: nothing of that team's leaves a cluster, or unsaid."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.documents import emit
from tests.build import Ended, Repository, a_cluster, a_cluster_policy, a_config_map, argosy, on_clusters

SELECTORS = [{"apiVersion": "v1", "kind": kind} for kind in ("ConfigMap", "Secret")]
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "login", "namespace": "b"},
    "stringData": {"a": "x"},
}
BASE = {
    "argosy.yaml": {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}},
    "clusters/m1.yaml": a_cluster("m1"),
    "policies/all.yaml": a_cluster_policy("all", selectors=SELECTORS, placement=on_clusters("m1")),
    "teams/a/own.yaml": a_config_map("own", namespace="a"),
    "teams/a/kustomization.yaml": b"resources: [own.yaml]\nnameSuffix: -1\n",
}
PLAIN: Mapping[str, Any] = {"teams/b/web.yaml": a_config_map("web", namespace="b"), "teams/b/secret.yaml": SECRET}
KUSTOMIZED: Mapping[str, Any] = {
    **PLAIN,
    "teams/b/kustomization.yaml": b"resources: [web.yaml, secret.yaml]\nnamePrefix: ''\n",
}
OF_B = ["clusters/m1/b/ConfigMap/web.yaml", "clusters/m1/b/Secret/login.yaml"]


def a_fleet(path: Path, capsys: pytest.CaptureFixture[str], files: Mapping[str, Any]) -> Repository:
    repository = Repository.create(path)
    repository.commit({**BASE, **files})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert of_b(repository) == OF_B
    return repository


def of_b(repository: Repository) -> list[str]:
    return repository.files("argosy/rendered", "clusters/m1/b")


class Theft(NamedTuple):
    why: str
    files: Mapping[str, Any]
    kustomization: bytes


LISTED = b"resources: [own.yaml, ../b/web.yaml, ../b/secret.yaml]\n"
THEFTS = [
    Theft("files, moved into another namespace", PLAIN, LISTED + b"namespace: a\n"),
    Theft("files, under another name", PLAIN, LISTED + b"namePrefix: a-\n"),
    Theft("files, changed where they stand", PLAIN, LISTED + b"commonAnnotations: {owned: by-a}\n"),
    Theft("files, by a build that is refused", PLAIN, LISTED + b"Namespace: a\n"),
    Theft("files, by a build that fails", PLAIN, LISTED + b"namespace: {}\n"),
    Theft("files, as what they are", PLAIN, LISTED + b"nameSuffix: ''\n"),
    Theft("files that the folder's own kustomization lists", KUSTOMIZED, LISTED + b"namespace: a\n"),
]


@pytest.mark.parametrize("case", THEFTS, ids=lambda case: case.why)
def test_a_manifest_outside_the_folder_of_a_kustomization_stays_one_of_its_own(
    case: Theft, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path / "fleet", capsys, case.files)
    before = {path: repository.git("show", f"argosy/rendered:{path}") for path in OF_B}
    repository.commit({"teams/a/kustomization.yaml": case.kustomization})
    argosy(repository, capsys, "reconcile")
    assert {path: repository.git("show", f"argosy/rendered:{path}") for path in OF_B} == before


def test_it_stays_one_from_the_first_commit_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theft = {"teams/a/kustomization.yaml": LISTED + b"namespace: a\n"}
    repository = a_fleet(tmp_path / "fleet", capsys, {**PLAIN, **theft})
    assert "clusters/m1/a/ConfigMap/web.yaml" in repository.files("argosy/rendered", "clusters/m1/a")


class Vanishing(NamedTuple):
    why: str
    files: Mapping[str, Any]
    kustomization: bytes
    path: str


COMPONENT = b"kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [../../b]\n"
VANISHING = [
    Vanishing(
        "a file as a patch", PLAIN, b"resources: [own.yaml]\npatches: [{path: ../b/web.yaml}]\n", "teams/b/web.yaml"
    ),
    Vanishing(
        "a file as data",
        PLAIN,
        b"resources: [own.yaml]\nconfigMapGenerator: [{name: x, files: [../b/web.yaml]}]\n",
        "teams/b/web.yaml",
    ),
    Vanishing("a folder", KUSTOMIZED, b"resources: [own.yaml, ../b]\nnamespace: a\n", "teams/b/kustomization.yaml"),
    Vanishing(
        "a folder by a component",
        {**KUSTOMIZED, "teams/a/c/kustomization.yaml": COMPONENT},
        b"resources: [own.yaml]\ncomponents: [c]\nnamespace: a\n",
        "teams/b/kustomization.yaml",
    ),
]


@pytest.mark.parametrize("case", VANISHING, ids=lambda case: case.why)
def test_what_another_folder_takes_so_that_objects_vanish_is_a_problem(
    case: Vanishing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {path: content for path, content in case.files.items() if "/c/" not in path}
    repository = a_fleet(tmp_path / "fleet", capsys, files)
    repository.commit({**case.files, "teams/a/kustomization.yaml": case.kustomization})
    said = f"{case.path}: taken over by teams/a/kustomization.yaml, which builds upon it; "
    for command in ("validate", "reconcile", "diff"):
        ended = argosy(repository, capsys, command)
        assert (ended.code, said in ended.out + ended.err) == (3, True), (command, ended)
    assert of_b(repository) == OF_B


def diffed(repository: Repository, capsys: pytest.CaptureFixture[str], *arguments: str) -> Ended:
    return argosy(repository, capsys, "diff", "HEAD~1", "HEAD", *arguments)


def test_a_folder_that_another_one_takes_over_is_told_by_diff(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Overlays over bases are ordinary; that the base was somebody's own is worth a word, even if nothing changes."""
    repository = a_fleet(tmp_path / "fleet", capsys, KUSTOMIZED)
    repository.commit({"teams/a/kustomization.yaml": b"resources: [own.yaml, ../b]\nnameSuffix: ''\n"})
    ended = diffed(repository, capsys)
    assert "TAKEN OVER\n  ConfigMap b/web: taken over by teams/a/kustomization.yaml\n" in ended.out, ended
    assert "2 objects taken over by other folders" in ended.out
    found = json.loads(diffed(repository, capsys, "-o", "json").out)
    assert [(each["object"]["name"], each["by"]) for each in found["taken"]] == [
        ("web", "teams/a/kustomization.yaml"),
        ("login", "teams/a/kustomization.yaml"),
    ]
    assert found["different"] is True
    row = "| <code>ConfigMap b/web</code> | <code>teams/a/kustomization.yaml</code> |\n"
    assert row in diffed(repository, capsys, "-o", "markdown").out


def test_a_base_may_be_kept_by_itself_or_given_up_in_so_many_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path / "fleet", capsys, KUSTOMIZED)
    taking = {"teams/a/kustomization.yaml": b"resources: [own.yaml, ../b]\nnamespace: a\n"}

    def with_source(**source: list[str]) -> bytes:
        return emit({**BASE["argosy.yaml"], "spec": {"source": source}})  # type: ignore[dict-item] # a fleet, as above

    repository.commit({**taking, "argosy.yaml": with_source(paths=[".", "teams/b"])})
    assert argosy(repository, capsys, "validate").code == 0
    repository.commit({"argosy.yaml": with_source(ignore=["teams/b/"])})
    assert argosy(repository, capsys, "validate").code == 0


def test_an_overlay_over_a_base_that_was_no_object_of_its_own_is_no_takeover(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    overlay = {"teams/c/kustomization.yaml": b"resources: [../b]\nnamespace: b\n"}
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({**BASE, **KUSTOMIZED, **overlay})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"teams/c/kustomization.yaml": b"resources: [../b]\nnamespace: c\n"})
    ended = diffed(repository, capsys)
    assert ("taken over" in ended.out + ended.err, "TAKEN" in ended.out, ended.code) == (False, False, 1), ended
