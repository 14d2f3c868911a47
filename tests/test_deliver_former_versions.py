"""Custom resources that move to another version of their kind, on real API servers: their owners move with them."""

from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.deliver.former_versions import entries_in_former_versions
from reconciler.deliver.results import ApplySettings
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import APPLY, Cause, Failure, FailureKind

from .applying import QUICK, Cluster, outcomes
from .build import a_config_map
from .fakes import MERGE_PATCH
from .tables import each_row
from .waiting import eventually

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FIELDS = {"v1": ("a", "old"), "v2": ("a", "b")}
"""The fields of each version: none of them has all of the other's."""


def group_of(cluster: Cluster) -> str:
    return f"{cluster.space}.example.com"


def a_definition(cluster: Cluster, *versions: str) -> dict[str, Any]:
    """A kind that is served and, in the last of these versions, stored."""

    def schema(version: str) -> dict[str, Any]:
        fields = {name: {"type": "string"} for name in FIELDS[version]}
        spec = {"type": "object", "properties": fields}
        return {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}

    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"gadgets.{group_of(cluster)}"},
        "spec": {
            "group": group_of(cluster),
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
            "scope": "Namespaced",
            "versions": [
                {"name": name, "served": True, "storage": name == versions[-1], "schema": schema(name)}
                for name in versions
            ],
        },
    }


def a_gadget(cluster: Cluster, version: str, **spec: str) -> dict[str, Any]:
    metadata = {"name": "g", "namespace": cluster.space}
    return {"apiVersion": f"{group_of(cluster)}/{version}", "kind": "Gadget", "metadata": metadata, "spec": spec}


def api(cluster: Cluster, version: str) -> str:
    return f"apis/{group_of(cluster)}/{version}"


def entries(cluster: Cluster) -> dict[str, str]:
    """The version in which each manager's fields are recorded."""
    live = cluster.read("gadgets", "g", api(cluster, "v2"))
    return {
        each["manager"]: each["apiVersion"].rpartition("/")[2] for each in live["metadata"].get("managedFields", ())
    }


def define(cluster: Cluster, *versions: str) -> None:
    """Let the kind have these versions, and wait until the server serves them and no others."""
    path = f"{CRDS}/gadgets.{group_of(cluster)}"
    if versions == ("v2",):
        status = {"status": {"storedVersions": ["v2"]}}
        assert cluster.server.request("PATCH", f"{path}/status", status, content_type=MERGE_PATCH)[0] == 200
    made = cluster.server.request(
        "PATCH", f"{path}?fieldManager=somebody&force=true", a_definition(cluster, *versions), content_type=APPLY
    )
    assert made[0] in {200, 201}, made

    def is_as_defined() -> bool:
        served = {name: cluster.server.request("GET", f"/{api(cluster, name)}/gadgets")[0] == 200 for name in FIELDS}
        return served == {name: name in versions for name in FIELDS}

    eventually(is_as_defined, "the versions of the kind")


def migrate_storage(cluster: Cluster) -> None:
    """Write the object as it is, so that it is stored in the newest version."""
    path = cluster.path("gadgets", "g", api(cluster, "v2"))
    assert cluster.server.request("PUT", f"{path}?fieldManager=migrator", cluster.server.read(path))[0] == 200


@pytest.fixture
def old(real_cluster: Cluster) -> Iterator[Cluster]:
    """A cluster with an object that was applied in v1, whose kind has v2 as well now."""
    cluster = real_cluster
    define(cluster, "v1")
    assert cluster.apply(a_gadget(cluster, "v1", a="1")).outcome is ApplyOutcome.CONVERGED
    yield cluster
    cluster.server.request("DELETE", f"{CRDS}/gadgets.{group_of(cluster)}")


def label(cluster: Cluster, manager: str, version: str = "v1", **labels: str) -> None:
    cluster.edit("gadgets", "g", {"metadata": {"labels": labels}}, api=api(cluster, version), manager=manager)


@pytest.mark.cluster
class TestOnServers:
    def test_an_object_gets_a_field_that_only_its_new_version_has(self, old: Cluster) -> None:
        """It was refused for ever: "field not declared in schema", with a hint to correct the template."""
        define(old, "v1", "v2")
        wanted = a_gadget(old, "v2", a="1", b="2")
        assert outcomes(old.apply(wanted)) == {f"Gadget.{group_of(old)} g": "configured Changed"}
        assert old.read("gadgets", "g", api(old, "v2"))["spec"] == {"a": "1", "b": "2"}
        assert entries(old) == {old.applyset.manager: "v2"}
        again = old.client()
        assert old.apply(wanted, client=again).outcome is ApplyOutcome.CONVERGED
        assert again.writes == []
        assert outcomes(old.apply(a_gadget(old, "v2", b="2"))) == {f"Gadget.{group_of(old)} g": "configured Changed"}
        assert old.read("gadgets", "g", api(old, "v2"))["spec"] == {"b": "2"}

    def test_what_others_own_in_a_version_that_cannot_be_read_is_kept_in_the_new_one(self, old: Cluster) -> None:
        label(old, "labeler", team="shop")
        define(old, "v1", "v2")
        (result,) = old.apply(a_gadget(old, "v2", a="1", b="2")).results
        assert (result.action, result.reason) == ("configured", "Changed")
        v1, v2 = (f"{group_of(old)}/{version}" for version in ("v1", "v2"))
        assert result.message == (
            f"the managed fields of 'labeler' in {v1}, which kept it from being applied, are recorded in {v2} now"
        )
        assert entries(old) == {old.applyset.manager: "v2", "labeler": "v2"}
        assert old.read("gadgets", "g", api(old, "v2"))["metadata"]["labels"]["team"] == "shop"

    def test_a_version_that_is_gone_costs_nobody_the_fields_that_are_recorded_in_it(self, old: Cluster) -> None:
        """It was ``ServerUnavailable`` for ever."""
        label(old, "labeler", team="shop")
        define(old, "v1", "v2")
        migrate_storage(old)
        define(old, "v2")
        assert set(entries(old).values()) == {"v1"}
        (result,) = old.apply(a_gadget(old, "v2", a="2", b="2")).results
        assert (result.action, result.reason) == ("configured", "Changed")
        assert entries(old) == {old.applyset.manager: "v2", "labeler": "v2"}
        assert old.read("gadgets", "g", api(old, "v2"))["spec"] == {"a": "2", "b": "2"}

    def test_what_a_server_forgot_the_owners_of_is_ours_again(self, old: Cluster) -> None:
        """Whoever writes an object while a version in its managed fields is gone makes the server forget them all."""
        define(old, "v1", "v2")
        migrate_storage(old)
        define(old, "v2")
        label(old, "labeler", "v2", team="shop")
        assert entries(old) == {}
        held = old.inventory(a_gadget(old, "v2"))
        (result,) = old.apply(a_gadget(old, "v2", a="2", b="2"), inventory=held).results
        assert (result.action, result.reason) == ("configured", "OwnersLost")
        assert entries(old) == {old.applyset.manager: "v2"}
        assert old.apply(a_gadget(old, "v2", b="2"), inventory=held).outcome is ApplyOutcome.CONVERGED
        live = old.read("gadgets", "g", api(old, "v2"))
        assert (live["spec"], live["metadata"]["labels"]["team"]) == ({"b": "2"}, "shop")

    def test_what_is_handed_over_leaves_the_others_their_fields(self, old: Cluster) -> None:
        """Of a record with an entry in a version that is gone a server keeps nothing, whoever writes it."""
        label(old, "labeler", team="shop")
        define(old, "v1", "v2")
        migrate_storage(old)
        define(old, "v2")
        settings = a_config_map("settings", namespace=old.space)
        old.apply(settings)
        held = old.inventory(a_gadget(old, "v2"), preserve=True)
        assert outcomes(old.apply(settings, inventory=held))[f"Gadget.{group_of(old)} g"] == (
            "handedOff PreserveResourcesOnDeletion"
        )
        assert entries(old) == {"labeler": "v2"}

    def test_whoever_is_taken_over_is_so_whatever_version_is_gone(self, old: Cluster) -> None:
        label(old, "labeler", team="shop")
        define(old, "v1", "v2")
        migrate_storage(old)
        define(old, "v2")
        applied = old.apply(a_gadget(old, "v2", a="1"), migrate_from=frozenset({"labeler"}))
        assert outcomes(applied) == {f"Gadget.{group_of(old)} g": "configured Changed"}
        assert entries(old) == {old.applyset.manager: "v2"}
        assert "team" not in old.read("gadgets", "g", api(old, "v2"))["metadata"]["labels"]

    def test_an_object_of_others_is_not_adopted_while_nobody_can_ask_and_may_be_overwritten(self, old: Cluster) -> None:
        """It was blocked for ever, whatever its policy said: the dry run by which a server is asked fails as well."""
        path = old.path("gadgets", "g", api(old, "v1"))
        assert old.server.request("DELETE", path)[0] == 200
        old.create("gadgets", a_gadget(old, "v1", a="1"), api(old, "v1"), manager="kubectl-create")
        define(old, "v1", "v2")
        migrate_storage(old)
        define(old, "v2")
        before = old.read("gadgets", "g", api(old, "v2"))
        (result,) = old.apply(a_gadget(old, "v2", a="1")).results
        assert (result.action, result.reason) == ("blocked", "FormerVersion")
        assert "its managed fields in" in result.message
        assert "conflictResolution: Overwrite" in result.hint
        assert old.read("gadgets", "g", api(old, "v2")) == before
        wanted = a_gadget(old, "v2", a="2", b="2")
        wanted["metadata"]["annotations"] = {"work.karmada.io/conflict-resolution": "overwrite"}
        (result,) = old.apply(wanted).results
        assert (result.action, result.reason) == ("adopted", "Overwrite")
        assert old.read("gadgets", "g", api(old, "v2"))["spec"] == {"a": "2", "b": "2"}

    def test_a_dry_run_says_what_it_could_not_ask(self, old: Cluster) -> None:
        define(old, "v1", "v2")
        how = ApplySettings(dry_run=True, version=QUICK.version)
        (result,) = old.apply(a_gadget(old, "v2", a="1", b="2"), how=how).results
        assert (result.action, entries(old)) == ("configured", {old.applyset.manager: "v1"})
        assert result.message.startswith("not verified: its managed fields in a former version cannot be read any more")


V1, V2, GONE = "example.com/v1", "example.com/v2", "example.com/v1alpha1"
GADGET = Resource(group="example.com", version="v2", kind="Gadget", plural="gadgets", is_namespaced=True)
SERVED = Discovery(resources={(version, "Gadget"): GADGET for version in (V1, V2)})


def an_entry(manager: str, version: str, operation: str = "Update") -> dict[str, Any]:
    return {"manager": manager, "operation": operation, "apiVersion": version, "fieldsV1": {"f:spec": {}}}


MOVED = [
    ("ours first", {"us": V1, "other": V1}, "", {"us": V2, "other": V1}),
    ("with it what nobody can read", {"us": V1, "other": GONE}, "", {"us": V2, "other": V2}),
    ("then the version that is named", {"us": V2, "other": V1, "third": V2}, V1, {"us": V2, "other": V2, "third": V2}),
    ("no other version than that", {"us": V2, "other": V1}, "example.com/v3", None),
    ("all, where none is named", {"us": V2, "other": V1}, "", {"us": V2, "other": V2}),
    ("nothing, where all are in the right version", {"us": V2, "other": V2}, "", None),
]


@each_row("why, before, named, after", MOVED, ids=lambda case: case)
def test_the_entries_that_are_in_the_way_move(
    why: str, before: dict[str, str], named: str, after: dict[str, str] | None
) -> None:
    del why
    managed = [an_entry(name, version, "Apply" if name == "us" else "Update") for name, version in before.items()]
    causes = (Cause(reason="FormerVersion", field=named),) if named else ()
    failure = Failure(kind=FailureKind.FORMER_VERSION, message="", causes=causes)
    live = {"metadata": {"managedFields": managed}}
    found = entries_in_former_versions(live, GADGET, SERVED, failure, "us")
    moved = None if found is None else {each["manager"]: each["apiVersion"] for each in found.moved_entries}
    assert moved == after
    assert live == {"metadata": {"managedFields": managed}}
