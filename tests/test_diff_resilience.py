"""Resilience in diff: what a change takes away is refused, whatever it does to the policy that asks for it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.build import Repository, argosy, on_clusters
from tests.test_check_resilience import AT_ONCE, BY_ROOM, THREE, a_member, web, web_of
from tests.test_source_resilience import ANY_CLUSTER, a_resilience

FILES = {"clusters.yaml": THREE, "web.yaml": web(6), "resilience.yaml": [a_resilience()]}
LOST = (
    "Deployment.apps shop/web does not survive the loss of cluster us-1 (0 of 6 replicas would be left): 6 are needed"
)
IN_ONE = {"clusters.yaml": [*THREE[:2], a_member("us-1", 8, region="us")],
          "web.yaml": web(6, placed=on_clusters("us-1", replicaScheduling=BY_ROOM))}  # fmt: skip


def labelled(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return web with the label that its ResiliencePolicy selects by."""
    template, *others = documents
    return [{**template, "metadata": {**template["metadata"], "labels": {"tier": "front"}}}, *others]


def a_fleet(path: Path, files: dict[str, Any] = FILES) -> Repository:
    repository = Repository.create(path)
    repository.commit(files)
    return repository


CHANGES: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("nothing about resilience", {"web.yaml": web(7)}, []),
    ("more than there is room for", {"web.yaml": web(9)}, [
        ("! Deployment.apps shop/web does not survive the loss of cluster eu-1 (6 of 9 replicas would be left), cluster"
         " eu-2 (6) or cluster us-1 (6): 9 are needed (ResiliencePolicy shop/web); before, it survived the loss of any"
         " cluster")
    ]),
    ("all in one cluster", IN_ONE, [
        f"! {LOST} (ResiliencePolicy shop/web); before, it survived the loss of any cluster"
    ]),
    ("all in one cluster, and nobody asks any more", {**IN_ONE, "resilience.yaml": []}, [
        (f"! {LOST} (ResiliencePolicy shop/web, which asks for it no more); before, it survived the loss of any"
         " cluster")
    ]),
    ("all in one cluster, and less is asked", {**IN_ONE, "resilience.yaml": [
        a_resilience({**ANY_CLUSTER, "minReplicas": 1})]}, [
        ("! Deployment.apps shop/web does not survive the loss of cluster us-1 (0 of 6 replicas would be left): 1 is"
         " needed (ResiliencePolicy shop/web); before, it survived the loss of any cluster")
    ]),
    ("nobody asks any more", {"resilience.yaml": []}, []),
    ("less is asked", {"resilience.yaml": [a_resilience({**AT_ONCE, "minReplicas": 1})]}, []),
    ("more is asked than there is", {"resilience.yaml": [a_resilience({"loss": "region"})]}, [
        ("! Deployment.apps shop/web does not survive the loss of region eu (2 of 6 replicas would be left): 6 are"
         " needed (ResiliencePolicy shop/web); nobody asked for it before")
    ]),
    ("a new object that does not survive", {"api.yaml": web_of("api", 6)}, [
        ("! Deployment.apps shop/api does not survive the loss of cluster eu-1 (4 of 6 replicas would be left), cluster"
         " eu-2 (4) or cluster us-1 (4): 6 are needed (ResiliencePolicy shop/web); nobody asked for it before"),
        ("! Deployment.apps shop/web does not survive the loss of cluster eu-1 (4 of 6 replicas would be left), cluster"
         " eu-2 (4) or cluster us-1 (4): 6 are needed (ResiliencePolicy shop/web); before, it survived the loss of any"
         " cluster"),
    ]),
    ("the object goes", {"web.yaml": []}, []),
    ("a cluster leaves", {"clusters.yaml": THREE[:2]}, [
        ("! Deployment.apps shop/web does not survive the loss of cluster eu-1 (3 of 6 replicas would be left) or"
         " cluster eu-2 (3): 6 are needed (ResiliencePolicy shop/web); before, it survived the loss of any cluster")
    ]),
)  # fmt: skip


LABELLED = {"apiVersion": "apps/v1", "kind": "Deployment", "labelSelector": {"matchLabels": {"tier": "front"}}}


def test_an_object_that_is_taken_out_of_a_selector_is_judged_as_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its label goes along with its places: that takes no less away than an edit of the policy does."""
    files = {**FILES, "web.yaml": labelled(web(6)), "resilience.yaml": [a_resilience(selector=LABELLED)]}
    repository = a_fleet(tmp_path, files)
    repository.write({"web.yaml": web(6)})
    still = argosy(repository, capsys, "diff", "--check", "--bootstrap", "--allow-removal", "*=99")
    assert ("RESILIENCE" in still.out, "resilience" in still.err) == (False, False)
    repository.write(IN_ONE)
    ended = argosy(repository, capsys, "diff", "--check", "--bootstrap", "--allow-removal", "*=99")
    message = (
        f"{LOST} (ResiliencePolicy shop/web, which selects it no more); before, it survived the loss of any cluster"
    )
    assert (ended.code, message in ended.err) == (6, True)
    shown = argosy(repository, capsys, "diff", "--bootstrap").out
    assert shown.partition("\nRESILIENCE\n")[2].partition("\n\n")[0] == f"  ! {message}"


@pytest.mark.parametrize(("why", "files", "lines"), CHANGES, ids=[each[0] for each in CHANGES])
def test_a_change_is_told_by_what_it_does_to_resilience(
    why: str, files: dict[str, Any], lines: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path)
    repository.write(files)
    out = argosy(repository, capsys, "diff", "--bootstrap").out
    section = out.partition("\nRESILIENCE\n")[2].partition("\n\n")[0]
    assert [line.strip() for line in section.splitlines()] == lines, why
    is_lost = any("before, it survived" in line for line in lines)
    ended = argosy(repository, capsys, "diff", "--check", "--bootstrap", "--allow-removal", "*=99")
    assert ("this change takes resilience away" in ended.err, ended.code == 6) == (is_lost, is_lost)


def test_what_survives_again_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path, {**FILES, "web.yaml": web(9)})
    repository.write({"web.yaml": web(6)})
    out = argosy(repository, capsys, "diff", "--bootstrap").out
    assert (
        "\nRESILIENCE\n  + Deployment.apps shop/web survives the loss of any cluster (ResiliencePolicy shop/web);"
        " it did not before\n"
    ) in out


def test_a_change_that_takes_resilience_away_is_refused_with_what_would_let_it_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path)
    repository.write({"web.yaml": web(9)})
    ended = argosy(repository, capsys, "diff", "--check", "--bootstrap")
    assert ended.code == 6
    assert ended.err.splitlines()[0] == "this change takes resilience away"
    assert ended.err.splitlines()[-2:] == [
        (
            "  hint: if it is meant, say so in a source commit with the trailer 'Argosy-Allow-Fragile: Deployment.apps"
            " shop/web', or pass --allow-fragile"
        ),
        "    git commit --allow-empty -m 'Allow it' --trailer 'Argosy-Allow-Fragile: Deployment.apps shop/web'",
    ]


ALLOWED = ("Deployment.apps shop/web", "*")


@pytest.mark.parametrize("subject", ALLOWED)
def test_what_is_allowed_by_an_option_or_a_trailer_passes(
    subject: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path)
    repository.write({"web.yaml": web(9)})
    check = ("diff", "--check", "--bootstrap")
    assert argosy(repository, capsys, *check, "--allow-fragile", subject).code == 0
    repository.git("commit", "-qam", "more", "--trailer", f"Argosy-Allow-Fragile: {subject}")
    assert argosy(repository, capsys, *check, "HEAD~1", "HEAD").code == 0


def test_another_object_is_not_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path, {**FILES, "api.yaml": web_of("api", 1)})
    repository.write({"web.yaml": web(9)})
    check = ("diff", "--check", "--bootstrap", "--allow-fragile")
    assert argosy(repository, capsys, *check, "Deployment.apps shop/api").code == 6
    unknown = argosy(repository, capsys, *check, "Deployment.apps shop/wep")
    assert (unknown.code, "there is no object called 'Deployment.apps shop/wep'" in unknown.err) == (2, True)


def test_the_comment_and_the_document_say_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path)
    repository.write({"web.yaml": web(9)})
    comment = argosy(repository, capsys, "diff", "--bootstrap", "-o", "markdown").out
    assert "this change takes resilience away" in comment
    assert "**Resilience (1)**\n\n- &#33; Deployment.apps shop/web does not survive the loss of cluster eu-1" in comment
    document = json.loads(argosy(repository, capsys, "diff", "--bootstrap", "-o", "json").out)
    (change,) = document["resilience"]
    assert {key: change[key] for key in ("effect", "policy", "asked", "loss", "count", "when", "total", "needed")} == {
        "effect": "Lost",
        "policy": "ResiliencePolicy shop/web",
        "asked": True,
        "loss": "cluster",
        "count": 1,
        "when": "Rescheduled",
        "total": 9,
        "needed": 9,
    }
    assert [(each["names"], each["left"]) for each in change["losses"]] == [(["eu-1"], 6), (["eu-2"], 6), (["us-1"], 6)]
