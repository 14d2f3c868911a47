"""A repository that holds no Kubernetes object says what it is, and its commands answer no."""

from pathlib import Path
from typing import NamedTuple

import pytest

from .build import Repository, a_config_map, a_policy, argosy, on_clusters
from .test_init_charts import a_chart

HELM = "argosy init --charts writes a HelmChart for each chart"


class Unread(NamedTuple):
    """A repository: what ``init`` finds, and what passes say of it ("": nothing, as it is not meant to be objects)."""

    why: str
    files: dict[str, bytes]
    what: str
    advice: str
    is_meant: bool = True


UNREAD = [
    Unread("Helm", {**a_chart("charts/a"), **a_chart("b")}, "2 Helm charts", HELM),
    Unread("Helm, a chart at the root", a_chart("", "web"), "1 Helm chart and 1 template with {{ }}", HELM),
    Unread("a library", a_chart("common", type="library"), "1 Helm chart", HELM),
    Unread(
        "Jsonnet", {"a.jsonnet": b"{}", "lib/b.libsonnet": b"{}"}, "2 files in Jsonnet", "commit what Jsonnet makes"
    ),
    Unread("CUE", {"a.cue": b"a: 1"}, "1 file in CUE", "commit what CUE makes"),
    Unread(
        "Timoni",
        {"web/timoni.cue": b"a: 1", "web/templates/a.cue": b"b: 1"},
        "2 files in CUE and 1 module of Timoni",
        "commit what CUE makes",
    ),
    Unread(
        "ytt",
        {"a.yaml": b"#@ load('@ytt:data', 'data')\n---\napiVersion: v1\nkind: Service\n"},
        "1 template of ytt",
        "commit what it makes",
    ),
    Unread("helmfile", {"helmfile.yaml": b"releases: []"}, "1 helmfile", "commit what 'helmfile template' makes"),
    Unread("Docker Compose", {"docker-compose.yml": b"services: {}"}, "1 file of Docker Compose", "", is_meant=False),
    Unread("Terraform", {"main.tf": b"", "vpc/main.tf": b""}, "2 files of Terraform", "", is_meant=False),
]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "fleet")


@pytest.mark.parametrize("case", UNREAD, ids=lambda case: case.why)
def test_what_a_repository_is_that_nothing_reads_is_said_and_the_answer_is_no(
    case: Unread, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write(case.files)
    begun = argosy(repository, capsys, "init", "--new-cluster", "eu")
    said = f"warning: nothing here is read, of {case.what}: Argosy reads manifests, what kustomizations build of them"
    assert (begun.code, said in begun.err) == (1, True), begun.err
    repository.commit({"policies/maps.yaml": a_policy("maps", placement=on_clusters())})
    checked = argosy(repository, capsys, "validate")
    nothing = f"nothing is read of {case.what}\n  hint: {case.advice}\n"
    assert (checked.code, nothing in checked.out) == (int(case.is_meant), case.is_meant), checked.out
    first = argosy(repository, capsys, "reconcile", "--bootstrap")
    nothing = f"warning: nothing is rendered of {case.what}: nothing reads them\n  hint: {case.advice}\n"
    assert (first.code, nothing in first.err) == (int(case.is_meant), case.is_meant), first.err


def test_one_object_beside_them_is_read(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({**a_chart("charts/a"), "a.jsonnet": b"{}", "a.yaml": a_config_map("a")})
    begun = argosy(repository, capsys, "init", "--new-cluster", "eu")
    assert (begun.code, "nothing here is read" in begun.err) == (0, False)
    assert argosy(repository, capsys, "validate").code == 0


KUSTOMIZATION = b"resources: [a.yaml]\n"


def test_kustomizations_alone_are_read(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({"web/kustomization.yaml": KUSTOMIZATION, "web/a.yaml": a_config_map("a")})
    begun = argosy(repository, capsys, "init", "--new-cluster", "eu")
    assert (begun.code, "found 1 kustomization is built, and needs no tool for it\n" in begun.err) == (0, True)


def test_nothing_is_asked_of_what_stands_outside_of_a_fleet(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\n"
    repository.write({"main.tf": b"", "a.cue": b"a: 1", ".github/b.cue": b"", "fleet/argosy.yaml": fleet})
    assert argosy(Repository(repository.path / "fleet"), capsys, "validate").code == 0
