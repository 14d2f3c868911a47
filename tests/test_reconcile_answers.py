"""Whole passes over objects that looking does not decide about: each is asked about once, and never again."""

import copy
from pathlib import Path
from typing import Any

import pytest

from reconciler.ledger.inventory import ApplyOutcome

from .build import a_config_map, a_policy, on_clusters
from .memory_fleet import MemoryFleet, put

KINDS = [("v1", "ConfigMap"), ("rbac.authorization.k8s.io/v1", "Role")]
POLICY = a_policy(
    "all",
    namespace="shop",
    selectors=[{"apiVersion": version, "kind": kind} for version, kind in KINDS],
    placement=on_clusters("member1"),
)
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
WEBHOOKS = (
    "admissionregistration.k8s.io/v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    False,
)
ROLE = ("roles.rbac.authorization.k8s.io", "shop", "reader")
PATH = "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles/reader"


def a_role(*names: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "reader", "namespace": "shop"},
        "rules": [{**rule, **({"resourceNames": list(names)} if names else {})}],
    }


def filled_in(body: dict[str, Any]) -> None:
    """Fill in what a rule does not say, as a server does."""
    for rule in body.get("rules") or ():
        rule.setdefault("default", "filled in")


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    files = {"policy.yaml": POLICY, "role.yaml": a_role("only-this"), "space.yaml": NAMESPACE}
    files["web.yaml"] = a_config_map("web", namespace="shop", a="1")
    made = MemoryFleet.create(tmp_path / "fleet", {"member1": (1, {"cpu": "4"})}, files)
    made.members["member1"].mutate = filled_in
    made.members["member1"].more_kinds = (WEBHOOKS,)
    return made


def patched(fleet: MemoryFleet, **how: Any) -> list[str]:
    """Run one pass, and return the paths of the fleet's objects that it patched."""
    member = fleet.members["member1"]
    member.requests.clear()
    fleet.run(**how)
    return [each.path for each in member.requests if each.method == "PATCH" and "/shop/" in each.path]


def rules(fleet: MemoryFleet) -> Any:
    return fleet.members["member1"].objects[ROLE]["rules"]


def stand_in_the_way(fleet: MemoryFleet, *names: str) -> None:
    """Have the member hold a Role that somebody made, of the name that Git has for one."""
    role, member = a_role(*names), fleet.members["member1"]
    put(member, "namespaces.", "", {**NAMESPACE, "metadata": {"name": "shop", "resourceVersion": "6"}})
    put(member, ROLE[0], ROLE[1], {**role, "metadata": {**role["metadata"], "resourceVersion": "7"}})


def forget_status(fleet: MemoryFleet) -> None:
    """Lose the status branch, and all that a machine keeps beside it."""
    fleet.repository.git("update-ref", "-d", "refs/heads/argosy/status")
    fleet.repository.git("update-ref", "-d", "refs/remotes/origin/argosy/status")


def test_what_git_takes_out_of_one_piece_leaves_the_member_by_one_request(fleet: MemoryFleet) -> None:
    patched(fleet)
    assert patched(fleet) == []
    fleet.repository.commit({"role.yaml": a_role()})
    assert patched(fleet) == [PATH]
    assert "resourceNames" not in rules(fleet)[0]
    assert [patched(fleet) for _ in range(2)] == [[], []]


def test_what_intercepts_writes_is_listed_once_where_something_had_to_be_asked_and_nowhere_else(
    fleet: MemoryFleet,
) -> None:
    member = fleet.members["member1"]
    for _ in range(2):
        patched(fleet)
    with_doubt = [each.path for each in member.requests]
    member.mutate = lambda _body: None
    member.objects[ROLE]["rules"][0].pop("default")
    for _ in range(3):
        patched(fleet)
    without = [each.path for each in member.requests]
    listed = [path for path in with_doubt if path.endswith("mutatingwebhookconfigurations")]
    assert len(listed) == 1
    assert [path for path in with_doubt if path not in listed] == without


def test_another_object_that_stays_in_the_way_is_asked_about_once(fleet: MemoryFleet) -> None:
    """Git wants a Role that reads all Secrets, and finds one made by hand that reads a single one."""
    stand_in_the_way(fleet, "only-this")
    fleet.repository.commit({"role.yaml": a_role()})
    assert PATH in patched(fleet)
    assert [patched(fleet) for _ in range(2)] == [[], []]
    assert rules(fleet)[0]["resourceNames"] == ["only-this"]
    stand_in_the_way(fleet, "another")
    assert [patched(fleet) for _ in range(2)] == [[PATH], []]


def test_after_the_status_branch_was_lost_each_object_in_doubt_is_asked_about_once(fleet: MemoryFleet) -> None:
    patched(fleet)
    forget_status(fleet)
    assert [patched(fleet) for _ in range(3)] == [[PATH], [], []]


def test_a_first_pass_sets_right_what_an_edit_lost_before(fleet: MemoryFleet) -> None:
    """The inventory of an engine that did not ask knows no answers."""
    patched(fleet)
    live = fleet.members["member1"].objects[ROLE]
    live["rules"] = [{**live["rules"][0], "resourceNames": ["only-this"], "nonResourceURLs": ["/left"]}]
    inventory = fleet.recorded("inventory/member1.yaml")
    assert inventory["answered"]
    forget_status(fleet)
    assert patched(fleet) == [PATH]
    assert "nonResourceURLs" not in rules(fleet)[0]


def test_a_member_that_was_restored_from_a_copy_is_asked_again(fleet: MemoryFleet) -> None:
    """Nobody owns what is put back below the server, as a restored etcd has it."""
    patched(fleet)
    before = copy.deepcopy(fleet.members["member1"].objects[ROLE])
    fleet.repository.commit({"role.yaml": a_role()})
    patched(fleet)
    assert patched(fleet) == []
    fleet.members["member1"].objects[ROLE] = before
    assert patched(fleet) == [PATH]
    assert "resourceNames" not in rules(fleet)[0]


def test_an_object_whose_manifest_is_another_is_sent_whatever_it_looks_like(fleet: MemoryFleet) -> None:
    """Somebody wrote in advance, by our name, what Git says next; only the server can say that it is the same."""
    patched(fleet)
    fleet.repository.commit({"web.yaml": a_config_map("web", namespace="shop", a="2")})
    live = fleet.members["member1"].objects["configmaps.", "shop", "web"]
    live["data"] = {"a": "2"}
    assert patched(fleet) == ["/api/v1/namespaces/shop/configmaps/web"]
    assert patched(fleet) == []


def test_what_was_sent_is_not_sent_again_while_another_object_fails(fleet: MemoryFleet) -> None:
    """The member does not converge, so that its inventory goes on naming the commit before."""
    patched(fleet)
    member = fleet.members["member1"]
    edited = member.objects["configmaps.", "shop", "web"]
    edited["metadata"]["managedFields"] = [
        {**each, "manager": "helm", "operation": "Update"} for each in edited["metadata"]["managedFields"]
    ]
    edited["data"] = {"a": "theirs"}
    fleet.repository.commit({"role.yaml": a_role()})
    assert PATH in patched(fleet)
    (report,) = fleet.run()
    assert report.applied is not None
    assert report.applied.outcome is ApplyOutcome.INCOMPLETE
    assert PATH not in patched(fleet)


def test_what_a_webhook_rewrites_is_a_line_of_the_status_for_as_long_as_it_does(
    fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    def rewritten(body: dict[str, Any]) -> None:
        if body["kind"] == "ConfigMap" and "a" in (body.get("data") or {}):
            body["data"]["a"] = "rewritten"

    member = fleet.members["member1"]
    webhook = {"rules": [{"apiGroups": [""], "resources": ["configmaps"]}]}
    put(
        member,
        f"{WEBHOOKS[2]}.admissionregistration.k8s.io",
        "",
        {
            "apiVersion": WEBHOOKS[0],
            "kind": WEBHOOKS[1],
            "metadata": {"name": "rewriter", "resourceVersion": "1"},
            "webhooks": [webhook],
        },
    )
    member.mutate = rewritten
    for _ in range(3):
        patched(fleet)
    assert patched(fleet) == []
    (told,) = fleet.recorded("clusters/member1.yaml")["deviations"]
    assert (told["reason"], told["field"]) == ("Rewritten", ".data.a")
    assert "an admission webhook, or the cluster, rewrites .data.a" in fleet.status(capsys).out
    member.objects.pop((f"{WEBHOOKS[2]}.admissionregistration.k8s.io", "", "rewriter"))
    member.mutate = lambda _body: None
    assert patched(fleet) == ["/api/v1/namespaces/shop/configmaps/web"]
    assert member.objects["configmaps.", "shop", "web"]["data"] == {"a": "1"}
    assert "deviations" not in fleet.recorded("clusters/member1.yaml")
