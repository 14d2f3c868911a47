"""A second ``argosy init``: what a fleet lacks is added, and every byte that is there stays."""

import json
from pathlib import Path
from typing import Any

import pytest

from render.documents import parse_documents

from .build import Repository, a_config_map, a_policy, argosy, on_clusters

FLEET = """\
# Ours, and nobody else's.
apiVersion: argosy.dev/v1alpha1
kind: Fleet
spec:
  clusters:
  - name: eu # in Frankfurt
  defaultNamespace: shop
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "fleet")


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    contexts: list[dict[str, Any]] = [{"name": name, "context": {}} for name in ("eu", "us", "admin@Asia")]
    path = tmp_path / "config"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "contexts": contexts}))
    return str(path)


def begun(repository: Repository, capsys: pytest.CaptureFixture[str], *words: str, **files: Any) -> None:
    """Begin a fleet of one cluster over some files, and commit it."""
    repository.write({"apps/a.yaml": a_config_map("a"), **files})
    assert argosy(repository, capsys, "init", *(words or ("--new-cluster", "eu"))).code == 0
    repository.commit({})


def settings_of(repository: Repository) -> dict[str, Any]:
    spec: dict[str, Any] = parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value["spec"]
    return spec


def test_members_are_added_and_nothing_else_changes(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    begun(repository, capsys)
    repository.commit({"argosy.yaml": FLEET, "policies/starter.yaml": a_policy("mine")})
    ended = argosy(
        repository, capsys, "init", "--kubeconfig", kubeconfig, "--context", "admin@*", "--new-cluster", "oslo"
    )
    assert ended.code == 0, ended.err
    assert (repository.path / "argosy.yaml").read_text() == FLEET.replace(
        "  defaultNamespace", "  - context: admin@Asia\n    name: admin-asia\n  defaultNamespace"
    )
    changed = repository.git("status", "--porcelain", "-uall").splitlines()
    assert [line.split()[-1] for line in changed] == ["argosy.yaml", "clusters/admin-asia.yaml", "clusters/oslo.yaml"]
    assert ended.out.splitlines() == [
        "3 of 3 objects are read",
        "next:",
        "  git add argosy.yaml clusters/admin-asia.yaml clusters/oslo.yaml",
        "  git commit -m 'Add to a fleet'",
        "  argosy reconcile --bootstrap --dry-run",
        "  argosy reconcile --bootstrap",
        "  argosy diff --live",
    ]


def test_what_is_printed_is_not_written(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    begun(repository, capsys)
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig, "--context", "us", "--print")
    assert [line for line in ended.out.splitlines() if line.startswith("# ")] == ["# argosy.yaml", "# clusters/us.yaml"]
    assert repository.git("status", "--porcelain") == ""


def test_a_context_that_nobody_names_is_said_and_not_taken(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever began with some contexts has left the others out, and passes write to every member."""
    begun(repository, capsys, "--kubeconfig", kubeconfig, "--context", "eu")
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig)
    assert (ended.code, ended.err) == (0, "found 2 contexts of no member, which --context adds: admin@Asia, us\n")
    assert ended.out.splitlines()[1:] == ["nothing is added: the fleet has what was found and named"]
    assert repository.git("status", "--porcelain") == ""


def test_a_second_time_nothing_is_added(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    begun(repository, capsys)
    words = ("init", "--kubeconfig", kubeconfig, "--context", "*", "--new-cluster", "oslo", "--ci", "github")
    assert argosy(repository, capsys, *words).code == 0
    repository.commit({})
    ended = argosy(repository, capsys, *words)
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "nothing is added: the fleet has what was found and named")
    assert repository.git("status", "--porcelain") == ""


def test_a_context_whose_name_a_member_has_gets_another(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    begun(repository, capsys, "--new-cluster", "admin-asia")
    assert argosy(repository, capsys, "init", "--kubeconfig", kubeconfig, "--context", "admin@Asia").code == 0
    assert settings_of(repository)["clusters"] == [{"context": "admin@Asia", "name": "admin-asia-2"}]


def test_a_first_policy_is_written_where_there_is_none(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"argosy.yaml": FLEET, "apps/a.yaml": a_config_map("a")})
    assert argosy(repository, capsys, "init", "--new-cluster", "us").code == 0
    assert (repository.path / "policies/starter.yaml").exists()
    repository.commit({"policies/mine.yaml": a_policy("mine", placement=on_clusters())})
    repository.git("rm", "-q", "policies/starter.yaml")
    argosy(repository, capsys, "init", "--new-cluster", "us")
    assert not (repository.path / "policies/starter.yaml").exists()


def test_folders_that_paths_leave_out_are_read_on_request(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec: {source: {paths: [apps]}}\n"
    repository.commit({"argosy.yaml": fleet, "apps/a.yaml": a_config_map("a"), "web/b.yaml": a_config_map("b")})
    first = argosy(repository, capsys, "init", "--new-cluster", "eu")
    assert first.code == 0, first.err
    assert settings_of(repository)["source"]["paths"] == ["apps", "clusters", "policies"]
    assert "  not read: 1 object in 1 file of web: outside of source.paths of argosy.yaml" in first.out.splitlines()
    second = argosy(repository, capsys, "init", "--path", "web/")
    assert (second.code, settings_of(repository)["source"]["paths"]) == (0, ["apps", "clusters", "policies", "web"])
    assert second.out.splitlines()[0] == "4 of 4 objects are read"


def test_a_folder_that_is_not_there_is_refused(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    begun(repository, capsys)
    ended = argosy(repository, capsys, "init", "--path", "wbe")
    assert ended == (3, "", "argosy: there is no folder 'wbe'\n  hint: it is seen from argosy.yaml\n")


def test_scopes_of_new_kinds_are_guessed(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    begun(repository, capsys)
    repository.write(
        {"apps/w.yaml": {"apiVersion": "acme.example/v1", "kind": "ClusterWidget", "metadata": {"name": "w"}}}
    )
    assert argosy(repository, capsys, "init").code == 0
    assert settings_of(repository)["kinds"] == [{"group": "acme.example", "kind": "ClusterWidget", "scope": "Cluster"}]


def test_files_beside_those_of_the_first_time(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Argosy's files stand in a folder of their own where a tool deploys from here."""
    repository.write(
        {
            "argosy/clusters/eu.yaml": {
                "apiVersion": "cluster.karmada.io/v1alpha1",
                "kind": "Cluster",
                "metadata": {"name": "eu"},
                "spec": {"syncMode": "Push"},
            }
        }
    )
    repository.commit(
        {"argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec: {source: {paths: [argosy]}}\n"}
    )
    assert argosy(repository, capsys, "init", "--new-cluster", "us").code == 0
    assert settings_of(repository)["source"]["paths"] == ["argosy"]
    assert (repository.path / "argosy/clusters/us.yaml").exists()


def test_what_contradicts_the_fleet_by_now_is_said(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run leaves to the author which of two variants is meant: one may be delivered already."""
    begun(repository, capsys)
    repository.write({"staging/a.yaml": a_config_map("a", at="staging")})
    ended = argosy(repository, capsys, "init", "--new-cluster", "eu")
    assert (ended.code, ended.err.endswith("left out: argosy validate\n")) == (0, True), ended.err
    assert "spec" not in parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value
