"""An object that a cluster's webhook rewrites is applied until that is known, then left until something changes."""

from pathlib import Path
from typing import Any

import pytest

from .build import a_config_map, a_policy, on_clusters
from .memory_fleet import MemoryFleet

POLICY = a_policy(
    "all",
    namespace="shop",
    selectors=[{"apiVersion": "v1", "kind": kind} for kind in ("ConfigMap", "Secret")],
    placement=on_clusters("member1"),
)
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s", "namespace": "shop"},
    "data": {"image": "YQ=="},
}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    manifest = a_config_map("web", namespace="shop", image="nginx")
    files = {"policy.yaml": POLICY, "web.yaml": manifest, "s.yaml": SECRET, "space.yaml": NAMESPACE}
    made = MemoryFleet.create(tmp_path / "fleet", {"member1": (1, {"cpu": "4"})}, files)
    made.members["member1"].mutate = mirrored
    return made


def mirrored(body: dict[str, Any]) -> None:
    """Rewrite an image to where a mirror has it."""
    image = (body.get("data") or {}).get("image", "")
    if image and not image.startswith("bWlycm9y"):
        body["data"]["image"] = (
            "bWlycm9yL2E=" if body["kind"] == "Secret" else f"mirror/{image.removeprefix('mirror/')}"
        )


def applied(fleet: MemoryFleet, kind: str = "configmaps") -> list[str]:
    """One pass over the objects of a kind: the results, and the requests for them."""
    member = fleet.members["member1"]
    member.requests.clear()
    reports = fleet.run()
    assert reports[0].applied is not None
    named = {"configmaps": "ConfigMap", "secrets": "Secret"}[kind]
    said = [f"{item.action} {item.reason}" for item in reports[0].applied.results if item.ref.kind == named]
    sent = (f"{each.method} {each.path}" for each in member.requests if each.method == "PATCH")
    return said + [each for each in sent if f"/shop/{kind}/" in each]


WRITTEN = "PATCH /api/v1/namespaces/shop/configmaps/web"


def test_what_a_webhook_rewrites_is_tried_twice_and_then_left(fleet: MemoryFleet) -> None:
    assert [applied(fleet) for _ in range(4)] == [
        ["created Missing", WRITTEN],
        ["unchanged NoEffect", WRITTEN],
        ["unchanged Settled"],
        ["unchanged Settled"],
    ]


def test_a_change_of_what_is_wanted_is_applied(fleet: MemoryFleet) -> None:
    for _ in range(3):
        applied(fleet)
    fleet.repository.commit({"web.yaml": a_config_map("web", namespace="shop", image="nginx:2")})
    assert [applied(fleet) for _ in range(3)] == [
        ["configured Changed", WRITTEN],
        ["unchanged Settled"],
        ["unchanged Settled"],
    ]


def test_a_change_of_what_is_there_is_set_right(fleet: MemoryFleet) -> None:
    for _ in range(3):
        applied(fleet)
    path = "/api/v1/namespaces/shop/configmaps/web?fieldManager=kubectl-edit"
    status, _ = fleet.members["member1"].request(
        "PATCH", path, {"data": {"image": "by hand"}}, content_type="application/merge-patch+json"
    )
    assert status == 200
    assert applied(fleet) == ["configured Drifted", WRITTEN]
    assert fleet.members["member1"].objects["configmaps.", "shop", "web"]["data"] == {"image": "mirror/nginx"}


def test_an_object_that_is_another_one_is_applied_again(fleet: MemoryFleet) -> None:
    for _ in range(3):
        applied(fleet)
    member = fleet.members["member1"]
    member.mutate = lambda _body: None
    live = member.objects["configmaps.", "shop", "web"]
    live["metadata"]["uid"] = "another"
    assert applied(fleet) == ["configured Drifted", WRITTEN]
    assert live is not member.objects["configmaps.", "shop", "web"]
    assert member.objects["configmaps.", "shop", "web"]["data"] == {"image": "nginx"}


def test_nothing_is_remembered_of_a_secret(fleet: MemoryFleet) -> None:
    for _ in range(3):
        applied(fleet)
    assert applied(fleet, "secrets") == ["unchanged NoEffect", "PATCH /api/v1/namespaces/shop/secrets/s"]
    assert len(fleet.recorded("inventory/member1.yaml")["answered"].split()) == 1
