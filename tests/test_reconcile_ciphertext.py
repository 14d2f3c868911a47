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


def test_an_upgrade_that_refuses_what_was_delivered_takes_nothing_away(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.commit({"list.yaml": emit(a_list("plain"))})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    before = fleet.git("rev-parse", "argosy/rendered")
    source = fleet.commit({"list.yaml": emit(a_list(TOKEN, sops={"mac": TOKEN}))})
    fleet.git("checkout", "-q", "argosy/rendered")
    note = f"Argosy-Source: {source}\nArgosy-Version: 0.0.1\nArgosy-Previous: {before}\n"
    delivered = fleet.commit({"README.md": "as 0.0.1 wrote it\n"}, f"Render\n\n{note}")
    fleet.git("checkout", "-q", "main")
    for files in ({}, {"b.yaml": a_config_map("b", b="c")}):
        if files:
            fleet.commit(files)
        ended = argosy(fleet, capsys, "reconcile")
        assert (ended.code, SAID in ended.err) == (3, True), ended
        assert fleet.git("rev-parse", "argosy/rendered") == delivered
