"""Builds that stop working because of another file than that which asks for them: their objects stay."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.branches.reading import snapshot_of_worktree
from reconciler.repository import open_repository
from render.documents import emit
from tests.build import Repository, a_cluster, a_policy, argosy, on_clusters
from tests.test_building_application_sets import a_fleet, a_set
from tests.test_building_argo import HERE, an_application
from tests.test_building_flux import MAP

FLEET = emit({"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet"})


class Vanishing(NamedTuple):
    why: str
    files: Mapping[str, str | bytes]
    change: Mapping[str, str | None]
    said: str


FOLDER: Mapping[str, str | bytes] = {"apps/a.yaml": MAP, "apps/b.yaml": MAP.replace("one", "two")}
BY_FILES = {"git": {"repoURL": HERE, "files": [{"path": "envs/*.json"}]}}
VANISHING = [
    Vanishing(
        "a file that a kustomization lists",
        {**FOLDER, "apps/kustomization.yaml": "resources: [a.yaml, b.yaml]\nnamespace: team\n"},
        {"apps/b.yaml": None},
        "apps/kustomization.yaml:1: resources[1]: there is no 'b.yaml'; ConfigMap team/one, ConfigMap team/two came"
        " from it\n  hint: it would be apps/b.yaml",
    ),
    Vanishing(
        "a file that an ApplicationSet takes parameters from",
        {
            **FOLDER,
            "argocd/set.yaml": a_set(BY_FILES, source={"repoURL": HERE, "path": "apps"}, name="{{n}}"),
            "envs/a.json": '{"n": "a"}',
        },
        {"envs/a.json": "[1]"},
        "argocd/set.yaml:8: spec.generators[0].git: envs/a.json is neither an object nor a list of objects; ConfigMap"
        " team/one, ConfigMap team/two came from it",
    ),
    Vanishing(
        "the folder of an Application",
        {**FOLDER, "argocd/app.yaml": an_application("a")},
        {"apps/a.yaml": None, "apps/b.yaml": None},
        "argocd/app.yaml:10: spec.source.path: there is no folder 'apps'; ConfigMap team/one, ConfigMap team/two came"
        " from it",
    ),
]


@pytest.mark.parametrize("case", VANISHING, ids=lambda case: case.why)
def test_nothing_vanishes_because_another_file_than_its_own_is_broken(
    case: Vanishing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A broken build that stands as it did is a warning, unless something was rendered from it before."""
    repository = Repository.create(tmp_path / "fleet")
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    policy = a_policy(namespace="team", selectors=selectors, placement=on_clusters("eu"))
    own = {"clusters/eu.yaml": a_cluster("eu"), "clusters/policy.yaml": policy}
    is_argo = any(path.startswith("argocd/") for path in case.files)
    fleet = a_fleet("Application", "ApplicationSet") if is_argo else FLEET
    repository.commit({"argosy.yaml": fleet, **own, **case.files})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    before = repository.files("argosy/rendered", "clusters")
    repository.commit(case.change)
    ended = argosy(repository, capsys, "reconcile")
    assert (ended.code, case.said in ended.err, repository.files("argosy/rendered", "clusters")) == (3, True, before)


TREES = {
    "a chart alone": {"web/Chart.yaml": "name: web\n", "web/templates/_web.tpl": "{{ }}", "web/.helmignore": "*.md\n"},
    "a kustomization alone": {"web/kustomization.yaml": "", "web/settings.txt": "a=b\n"},
    "locked content alone": {"argosy.lock": "", "values.conf": "a: b\n"},
}


@pytest.mark.parametrize("why", TREES)
def test_of_a_work_tree_that_has_something_to_build_every_file_is_read(why: str, tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.write(TREES[why])
    with open_repository(str(repository.path)) as opened:
        files = snapshot_of_worktree(opened).files
    assert {file.path: bool(file.id) for file in files} == dict.fromkeys(TREES[why], True)
