"""Fleets that share a cluster keep off each other's objects; what an earlier version applied gets an identity."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from reconciler.deliver.cluster import apply_plan
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.members.exchange import Failure, FailureKind, Request
from reconciler.plans.applyset import ApplySet
from reconciler.plans.model import Action
from render.model import ObjectRef

from .applying import QUICK, Cluster, Send, outcomes
from .build import a_config_map, a_deployment

PART_OF = "applyset.kubernetes.io/part-of"
EDGE, SHOP = "argosy-edge-3f9c2d1a0b4c", "argosy-edge-81be07a4c9d2"


def fleet(cluster: Cluster, name: str) -> dict[str, Any]:
    return {"applyset": ApplySet(name=name, namespace=cluster.space)}


def former(cluster: Cluster) -> dict[str, Any]:
    return {"applyset": cluster.applyset.former}


def a_tree(cluster: Cluster) -> tuple[dict[str, Any], ...]:
    space = cluster.space
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "key", "namespace": space},
        "data": {"a": "eA=="},
    }
    return a_config_map("settings", namespace=space, a="1"), secret, a_deployment("web", namespace=space, replicas=2)


def owners(live: Mapping[str, Any]) -> list[str]:
    return [str(each["manager"]) for each in live["metadata"]["managedFields"] if each["operation"] == "Apply"]


PLACES = (("configmaps", "settings", "api/v1"), ("secrets", "key", "api/v1"), ("deployments", "web", "apis/apps/v1"))


def contents(cluster: Cluster) -> Iterator[tuple[Any, ...]]:
    """Yield what a migration must leave as it is: everything but the label, the managers and the version."""
    for plural, name, api in PLACES:
        live = cluster.read(plural, name, api)
        values = {key: value for key, value in live.items() if key not in {"metadata", "status"}}
        metadata = live["metadata"]
        labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != PART_OF}
        yield values, metadata["uid"], metadata.get("generation"), labels, metadata.get("annotations")


class TestMigration:
    def test_what_an_earlier_version_applied_is_taken_over_in_one_run_and_nothing_restarts(
        self, cluster: Cluster
    ) -> None:
        tree = a_tree(cluster)
        cluster.apply(*tree, **former(cluster))
        before = list(contents(cluster))
        applied = cluster.apply(*tree, inventory=cluster.inventory(*tree))
        assert set(outcomes(applied).values()) == {"configured Migrated"}
        assert applied.outcome is ApplyOutcome.CONVERGED
        assert list(contents(cluster)) == before
        for plural, name, api in PLACES:
            live = cluster.read(plural, name, api)
            assert owners(live) == [cluster.applyset.manager]
            assert live["metadata"]["labels"][PART_OF] == cluster.applyset.id
        assert cluster.read("configmaps", "argosy") is None
        client = cluster.client()
        again = cluster.apply(
            *tree, inventory=cluster.inventory(*tree, manager=cluster.applyset.manager), client=client
        )
        assert (set(outcomes(again).values()), client.writes) == ({"unchanged UpToDate"}, [])

    def test_a_field_that_left_the_manifest_meanwhile_leaves_with_it(self, cluster: Cluster) -> None:
        cluster.apply(a_config_map("settings", namespace=cluster.space, a="1", b="2"), **former(cluster))
        wanted = a_config_map("settings", namespace=cluster.space, a="1")
        cluster.apply(wanted, inventory=cluster.inventory(wanted))
        assert cluster.read("configmaps", "settings")["data"] == {"a": "1"}

    def test_what_is_no_longer_wanted_is_pruned(self, cluster: Cluster) -> None:
        tree = a_tree(cluster)
        cluster.apply(*tree, **former(cluster))
        applied = cluster.apply(*tree[:2], inventory=cluster.inventory(*tree))
        assert outcomes(applied)["Deployment.apps web"] == "deleted NotWanted"

    def test_a_run_that_ended_between_the_two_steps_is_completed(self, cluster: Cluster) -> None:
        """The field manager is ours already, the label is still the old one."""
        tree = a_tree(cluster)
        cluster.apply(*tree, **former(cluster))
        client = cluster.client()

        def ending(request: Request, send: Send) -> Any:
            if request.method == "PATCH" and "apply" in request.content_type and request.path.endswith("/settings"):
                return Failure(kind=FailureKind.UNREACHABLE, message="the connection is gone")
            return send(request)

        client.wire = ending
        cluster.apply(*tree, inventory=cluster.inventory(*tree), client=client)
        assert owners(cluster.read("configmaps", "settings")) == [cluster.applyset.manager]
        applied = cluster.apply(*tree, inventory=cluster.inventory(*tree))
        assert outcomes(applied)["ConfigMap settings"] == "configured Changed"
        assert applied.outcome is ApplyOutcome.CONVERGED
        assert cluster.read("configmaps", "argosy") is None

    def test_an_object_no_commit_names_is_another_fleets(self, cluster: Cluster) -> None:
        tree = a_tree(cluster)
        cluster.apply(*tree, **former(cluster))
        applied = cluster.apply(tree[0])
        assert outcomes(applied) == {"ConfigMap settings": "conflict OtherFleet"}
        assert applied.results[0].message == "it belongs to a fleet that an earlier version of Argosy applied"
        assert cluster.read("configmaps", "argosy") is not None

    def test_the_old_parent_stays_while_another_fleet_has_members_of_it(self, cluster: Cluster) -> None:
        tree = a_tree(cluster)
        cluster.apply(*tree, **former(cluster))
        applied = cluster.apply(tree[0], inventory=cluster.inventory(tree[0]))
        assert applied.outcome is ApplyOutcome.CONVERGED
        assert cluster.read("configmaps", "argosy") is not None
        other = cluster.apply(*tree[1:], inventory=cluster.inventory(*tree[1:]), **fleet(cluster, EDGE))
        assert other.outcome is ApplyOutcome.CONVERGED
        assert cluster.read("configmaps", "argosy") is None


class TestTwoFleetsInOneCluster:
    """Their names are equal; the commits that their branches began with are not."""

    def test_an_object_of_both_stays_with_the_first_and_the_second_is_told_whose_it_is(self, cluster: Cluster) -> None:
        first = a_config_map("shared", namespace=cluster.space, a="first")
        second = a_config_map("shared", namespace=cluster.space, a="second")
        cluster.apply(first, **fleet(cluster, EDGE))
        applied = cluster.apply(second, inventory=cluster.inventory(second), **fleet(cluster, SHOP))
        assert outcomes(applied) == {"ConfigMap shared": "conflict OtherFleet"}
        assert applied.results[0].message == "it belongs to the fleet 'edge' (3f9c2d1a0b4c)"
        assert applied.results[0].hint == "let one fleet deliver it, or take it over with --take-from applyset"
        assert cluster.read("configmaps", "shared")["data"] == {"a": "first"}
        assert set(outcomes(cluster.apply(first, **fleet(cluster, EDGE))).values()) == {"unchanged UpToDate"}

    def test_an_equal_object_is_no_ones_but_the_firsts(self, cluster: Cluster) -> None:
        shared = a_config_map("shared", namespace=cluster.space, a="1")
        cluster.apply(shared, **fleet(cluster, EDGE))
        applied = cluster.apply(shared, **fleet(cluster, SHOP))
        assert outcomes(applied) == {"ConfigMap shared": "conflict OtherFleet"}

    def test_a_label_that_was_taken_off_changes_nothing(self, cluster: Cluster) -> None:
        shared = a_config_map("shared", namespace=cluster.space, a="1")
        cluster.apply(shared, **fleet(cluster, EDGE))
        cluster.edit("configmaps", "shared", {"metadata": {"labels": None}})
        applied = cluster.apply(shared, **fleet(cluster, SHOP))
        assert applied.results[0].message == "it belongs to the fleet 'edge' (3f9c2d1a0b4c)"

    def test_neither_prunes_what_is_the_others_whatever_the_flags(self, cluster: Cluster) -> None:
        one, other = (a_config_map(name, namespace=cluster.space) for name in ("one", "other"))
        cluster.apply(one, **fleet(cluster, EDGE))
        cluster.apply(other, **fleet(cluster, SHOP))
        everything: dict[str, Any] = {"orphans": frozenset(map(ObjectRef.of, (one, other))), "allowed_removals": 100}
        inventory = cluster.inventory(one, other)
        applied = cluster.apply(inventory=inventory, confirm_all=True, **everything, **fleet(cluster, SHOP))
        assert outcomes(applied) == {"ConfigMap one": "kept LabelLost", "ConfigMap other": "deleted NotWanted"}
        assert applied.results[0].message == "it belongs to the fleet 'edge' (3f9c2d1a0b4c) now"
        assert cluster.read("configmaps", "one") is not None

    def test_an_object_is_taken_over_where_that_is_asked_for(self, cluster: Cluster) -> None:
        cluster.apply(a_config_map("shared", namespace=cluster.space, a="1", b="2"), **fleet(cluster, EDGE))
        wanted = a_config_map("shared", namespace=cluster.space, a="1")
        applied = cluster.apply(wanted, take_from=frozenset({"applyset"}), **fleet(cluster, SHOP))
        assert outcomes(applied) == {"ConfigMap shared": "configured Migrated"}
        live = cluster.read("configmaps", "shared")
        assert (live["data"], owners(live)) == ({"a": "1"}, [SHOP])

    def test_a_namespace_that_asks_for_nothing_is_shared(self, cluster: Cluster) -> None:
        name = f"{cluster.space}-both"
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        one, other = (a_config_map(each, namespace=name) for each in ("one", "other"))
        cluster.apply(namespace, one, **fleet(cluster, EDGE))
        applied = cluster.apply(namespace, other, **fleet(cluster, SHOP))
        assert outcomes(applied) == {
            f"Namespace {name}": "unchanged OtherFleet",
            "ConfigMap other": "created Missing",
        }
        labelled = {**namespace, "metadata": {"name": name, "labels": {"team": "shop"}}}
        refused = cluster.apply(labelled, **fleet(cluster, SHOP))
        assert outcomes(refused)[f"Namespace {name}"] == "conflict OtherFleet"
        cluster.server.request("DELETE", f"/api/v1/namespaces/{name}")

    def test_a_field_another_fleet_owns_is_a_conflict_even_where_others_are_overwritten(self, cluster: Cluster) -> None:
        wanted = a_config_map("shared", namespace=cluster.space, a="1")
        wanted["metadata"]["annotations"] = {"work.karmada.io/conflict-resolution": "overwrite"}
        cluster.apply(wanted, **fleet(cluster, SHOP))
        cluster.apply_as(EDGE, "configmaps", a_config_map("shared", namespace=cluster.space, a="2"))
        applied = cluster.apply(wanted, inventory=cluster.inventory(wanted), **fleet(cluster, SHOP))
        assert outcomes(applied) == {"ConfigMap shared": "conflict FieldManagerConflict"}
        assert applied.results[0].message == f"field manager '{EDGE}' owns .data.a"


@pytest.mark.parametrize("moment", ["the label", "the field manager"])
def test_an_object_of_ours_that_lost_half_of_its_identity_is_not_pruned(moment: str, cluster: Cluster) -> None:
    kept, going = (a_config_map(name, namespace=cluster.space) for name in ("kept", "going"))
    cluster.apply(kept, going)
    inventory = cluster.inventory(kept, going)
    if moment == "the label":
        cluster.edit("configmaps", "going", {"metadata": {"labels": None}})
    else:
        live = cluster.read("configmaps", "going")
        cluster.server.request("DELETE", cluster.path("configmaps", "going"))
        labels = live["metadata"]["labels"]
        cluster.create("configmaps", {**going, "metadata": {**going["metadata"], "labels": labels}})
    _, plan = cluster.plan([kept], inventory)
    applied = apply_plan(cluster.client(), plan, QUICK)
    assert applied.count(Action.DELETED) == 0
    assert cluster.read("configmaps", "going") is not None
