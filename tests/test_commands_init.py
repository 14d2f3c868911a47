"""``argosy init``: from an empty folder, or any repository, to files that are valid and propagate nothing yet."""

from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.edit.beginning import named_contexts
from render.documents import parse_documents

from .build import Repository, a_config_map, a_deployment, argosy

KUBECONFIG = """\
apiVersion: v1
kind: Config
contexts:
- {name: kind-eu, context: {cluster: eu, user: me}}
- {name: admin@Prod, context: {cluster: prod, user: me}}
- {name: kind-us, context: {cluster: us, user: me}}
clusters: []
users: []
"""
FLEET = """\
apiVersion: argosy.dev/v1alpha1
kind: Fleet
metadata:
  name: default
spec:
  clusters:
  - context: admin@Prod
    name: admin-prod
  - name: kind-eu
  - name: kind-us
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    return str(path)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "fleet")


def files_of(repository: Repository) -> list[str]:
    return repository.git("ls-files", "--others", "--exclude-standard").splitlines()


def test_every_context_becomes_a_cluster(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig)
    assert (ended.code, ended.out.splitlines()[0]) == (0, "next:")
    assert files_of(repository) == [
        "argosy.yaml",
        "clusters/admin-prod.yaml",
        "clusters/kind-eu.yaml",
        "clusters/kind-us.yaml",
        "policies/starter.yaml",
    ]
    assert (repository.path / "argosy.yaml").read_text() == FLEET
    checked = argosy(repository, capsys, "validate")
    assert (checked.code, checked.out.splitlines()[0]) == (
        0,
        "warning: policies/starter.yaml:14: spec.resourceSelectors[0]: selects no template",
    )


def test_a_first_pass_over_a_new_fleet_places_nothing(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"apps/nginx.yaml": a_deployment()})
    assert argosy(repository, capsys, "init", "--new-cluster", "eu", "--new-cluster", "us").code == 0
    assert not parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value.get("spec")
    repository.commit({})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert repository.files("argosy/rendered", "clusters") == []


def test_what_is_printed_is_not_written(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig, "--context", "kind-eu", "--print")
    assert (ended.code, [line for line in ended.out.splitlines() if line.startswith("# ")][:3]) == (
        0,
        ["# argosy.yaml", "# clusters/kind-eu.yaml", "# policies/starter.yaml"],
    )
    assert files_of(repository) == []


@pytest.mark.parametrize(("host", "path"), [("github", ".github/workflows/argosy.yml"), ("gitlab", ".gitlab-ci.yml")])
def test_pipelines_are_written_on_request(
    host: str, path: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, "init", "--new-cluster", "eu", "--ci", host).code == 0
    text = (repository.path / path).read_bytes()
    assert parse_documents(text)[0].value
    assert b"argosy diff --check" in text
    assert b"argosy reconcile\n" in text


def test_folders_that_repeat_others_are_left_out(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write(
        {
            f"{folder}/{name}.yaml": a_config_map(name, at=folder)
            for folder in ("production", "staging")
            for name in ("one", "two")
        }
    )
    assert argosy(repository, capsys, "init", "--new-cluster", "eu").code == 0
    fleet = parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value
    assert fleet["spec"] == {"source": {"ignore": ["/staging/"]}}
    assert "left out" not in argosy(repository, capsys, "validate").out


class Refusal(NamedTuple):
    why: str
    files: dict[str, bytes]
    words: tuple[str, ...]
    said: str


REFUSALS = [
    Refusal(
        "a fleet is there",
        {"argosy.yaml": b"apiVersion: argosy.dev/v1alpha1\nkind: Fleet\n"},
        (),
        "argosy: argosy.yaml is there already\n  hint: argosy cluster join NAME --context CONTEXT adds a member\n",
    ),
    Refusal(
        "a context is not there",
        {},
        ("--context", "kind-eux"),
        "argosy: the kubeconfig has no context called 'kind-eux'\n  hint: did you mean 'kind-eu'?\n",
    ),
    Refusal(
        "a file is in the way",
        {"policies/starter.yaml": b"a: 1\n"},
        (),
        "argosy: policies/starter.yaml is there already\n  hint: move that file away\n",
    ),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.why)
def test_what_is_refused_writes_nothing(
    case: Refusal, repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write(case.files)
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig, *case.words)
    assert ended == (3, "", case.said)
    assert files_of(repository) == sorted(case.files)


def test_two_contexts_never_become_one_cluster() -> None:
    assert named_contexts(["a.b", "a-b", "A_B", "@"]) == {"a-b": "a.b", "a-b-2": "a-b", "a-b-3": "A_B", "cluster": "@"}
