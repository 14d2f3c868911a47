"""``argosy init`` and the contexts of a kubeconfig: whoever has more than belong to a fleet is asked or told."""

import io
import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from render.documents import parse_documents

from .build import Repository, argosy

EKS = "arn:aws:eks:eu-west-1:123456789012:cluster/shop"
SERVERS = {"kind-eu": "https://eu", "kind-us": "https://us", EKS: "https://shop", "kind-eu-again": "https://eu"}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "fleet")


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    clusters = [{"name": server, "cluster": {"server": server}} for server in set(SERVERS.values())]
    contexts = [{"name": name, "context": {"cluster": server}} for name, server in SERVERS.items()]
    path = tmp_path / "config"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "clusters": clusters, "contexts": contexts}))
    return str(path)


WRITES = "warning: a pass WRITES to"
ONLY = "; --context takes only those it names, also by a pattern such as 'kind-*'"


class Terminal(io.StringIO):
    """Somebody who types these lines."""

    def isatty(self) -> bool:
        return True


def clusters_of(repository: Repository) -> dict[str, str]:
    """Return the contexts by cluster that argosy.yaml names."""
    fleet = parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value
    return {each["name"]: each.get("context", each["name"]) for each in fleet.get("spec", {}).get("clusters", ())}


class Answer(NamedTuple):
    typed: str
    contexts: set[str]
    again: str = ""


ANSWERS = [
    Answer("all\n", set(SERVERS)),
    Answer("2\n", {"kind-eu"}),
    Answer("2-3 1\n", {EKS, "kind-eu", "kind-eu-again"}),
    Answer("kind-u*, arn:*\n", {"kind-us", EKS}),
    Answer("\n2\n", {"kind-eu"}),
    Answer("7\n2\n", {"kind-eu"}, "there is no context 7: they are numbered from 1 to 4"),
    Answer(
        "kind-eux\n2\n", {"kind-eu"}, "the kubeconfig has no context called 'kind-eux'\n  hint: did you mean 'kind-eu'?"
    ),
    Answer(",\n2\n", {"kind-eu"}, "no context is named"),
]


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: repr(case.typed))
def test_whoever_sits_at_a_terminal_is_asked_which_contexts_become_clusters(
    case: Answer,
    repository: Repository,
    kubeconfig: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(case.typed))
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig)
    assert (ended.code, set(clusters_of(repository).values())) == (0, case.contexts), ended.err
    assert ended.err.splitlines()[:6] == [
        "The kubeconfig has 4 contexts:",
        f"  1  {EKS}",
        "  2  kind-eu (the server of kind-eu-again)",
        "  3  kind-eu-again (the server of kind-eu)",
        "  4  kind-us",
        "A pass WRITES to every cluster of the fleet.",
    ]
    assert case.again in ended.err
    assert ONLY not in ended.err


def test_at_a_terminal_without_contexts_names_of_clusters_are_asked_for(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("none\neast, west\n"))
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig)
    assert (ended.code, clusters_of(repository)) == (0, {}), ended.err
    assert sorted(each.name for each in (repository.path / "clusters").iterdir()) == ["east.yaml", "west.yaml"]
    assert "WRITES to 1" not in ended.err


def test_whoever_leaves_the_question_writes_nothing(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    assert argosy(repository, capsys, "init", "--kubeconfig", kubeconfig).code == 130
    assert repository.git("status", "--porcelain") == ""


def test_names_leave_no_question(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    argosy(repository, capsys, "init", "--kubeconfig", kubeconfig, "--context", "kind-us", "--context", "arn:*")
    assert clusters_of(repository) == {"kind-us": "kind-us", "shop": EKS}


def test_in_a_pipe_each_cluster_that_passes_write_to_is_named_even_to_whoever_wants_no_word(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "-q", "init", "--kubeconfig", kubeconfig)
    assert (ended.code, set(clusters_of(repository))) == (0, {"kind-eu", "kind-us", "shop"})
    assert ended.err == f"{WRITES} 3 clusters of the kubeconfig: shop (context {EKS}), kind-eu, kind-us{ONLY}\n"


def test_of_contexts_of_one_server_one_becomes_a_cluster(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both as members would be one cluster twice, and each would take the other's objects for its own."""
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig)
    assert "of contexts that reach one server, kind-eu becomes a cluster, and kind-eu-again not\n" in ended.err
    assert "kind-eu-again" not in clusters_of(repository)


def test_contexts_that_are_named_are_said_without_a_way_to_name_them(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig, "--context", "kind-*s")
    assert f"{WRITES} 1 cluster of the kubeconfig: kind-us\n" in ended.err


def test_a_pattern_that_chooses_nothing_is_refused(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig, "--context", "gke_*")
    hint = "  hint: kubectl config get-contexts lists them\n"
    assert ended == (3, "", f"argosy: the kubeconfig has no context that fits 'gke_*'\n{hint}")


def test_a_fleet_without_clusters_says_so(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    ended = argosy(repository, capsys, "init")
    assert (ended.code, ended.out.splitlines()[1:3]) == (
        0,
        ["the fleet has no cluster, so that nothing goes anywhere: argosy init --new-cluster NAME adds one", "next:"],
    )
    assert "so that no context becomes a cluster\n" in ended.err
