"""Ciphertext that would be a value: whoever checks is told no, and an upgrade takes away nothing that was delivered."""

from pathlib import Path
from typing import Any

import pytest

from render.documents import emit

from .build import Repository, a_cluster, a_cluster_policy, a_config_map, argosy, on_clusters

TOKEN = "ENC[AES256_GCM,data:Zg==,iv:aXY=,tag:dGFn,type:str]"
MAPS = a_cluster_policy("maps", selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("m1"))
SAID = (
    "list.yaml:11: sops: SOPS encrypted the List as a whole, so that no item of it can be decrypted alone\n"
    "  hint: encrypt each object in a file of its own\n"
)


def a_list(value: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "items": [a_config_map("a", a=value)], **more}


@pytest.fixture
def fleet(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"m1.yaml": a_cluster("m1"), "policy.yaml": MAPS})
    return repository


def test_validate_says_no_before_anything_is_rendered(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.commit({"list.yaml": emit(a_list(TOKEN, sops={"mac": TOKEN}))})
    ended = argosy(fleet, capsys, "validate")
    assert (ended.code, SAID in ended.out) == (3, True)


VARIABLES = {
    "argosy.yaml": emit(
        {
            "apiVersion": "argosy.dev/v1alpha1",
            "kind": "Fleet",
            "metadata": {"name": "default"},
            "spec": {"source": {"render": ["Kustomization"]}},
        }
    ),
    "apps.yaml": emit(
        {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": "apps", "namespace": "flux-system"},
            "spec": {
                "path": "./apps",
                "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
                "postBuild": {"substituteFrom": [{"kind": "ConfigMap", "name": "v"}]},
            },
        }
    ),
    "apps/a.yaml": emit(a_config_map("a", a="${A}")),
}
SAID_OF_VARIABLES = "SOPS encrypted ConfigMap flux-system/v, and nothing decrypts what variables come from"


def variables_of(value: str, **more: Any) -> bytes:
    return emit({**a_config_map("v", namespace="flux-system", A=value), **more})


def test_validate_says_no_to_encrypted_variables_before_anything_is_rendered(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.commit({**VARIABLES, "v.yaml": variables_of(TOKEN, sops={"mac": TOKEN})})
    ended = argosy(fleet, capsys, "validate")
    assert (ended.code, SAID_OF_VARIABLES in ended.out) == (3, True), ended


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"list.yaml": emit(a_list("plain"))}, {"list.yaml": emit(a_list(TOKEN, sops={"mac": TOKEN}))}, SAID),
        (
            {**VARIABLES, "v.yaml": variables_of("plain")},
            {"v.yaml": variables_of(TOKEN, sops={"mac": TOKEN})},
            SAID_OF_VARIABLES,
        ),
    ],
    ids=["a list", "variables"],
)
def test_an_upgrade_that_refuses_what_was_delivered_takes_nothing_away(
    before: dict[str, Any], after: dict[str, Any], said: str, fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.commit(before)
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    first = fleet.git("rev-parse", "argosy/rendered")
    source = fleet.commit(after)
    fleet.git("checkout", "-q", "argosy/rendered")
    note = f"Argosy-Source: {source}\nArgosy-Version: 0.0.1\nArgosy-Previous: {first}\n"
    delivered = fleet.commit({"README.md": "as 0.0.1 wrote it\n"}, f"Render\n\n{note}")
    fleet.git("checkout", "-q", "main")
    for files in ({}, {"b.yaml": a_config_map("b", b="c")}):
        if files:
            fleet.commit(files)
        ended = argosy(fleet, capsys, "reconcile")
        assert (ended.code, said in ended.err) == (3, True), ended
        assert fleet.git("rev-parse", "argosy/rendered") == delivered
