"""Field rules: who gets a field that others write as well, in memory and on a real API server."""

from typing import Any, NamedTuple

import pytest

from reconciler.deliver.reports import report_lines
from reconciler.deliver.results import ClusterReport
from reconciler.plans.conflicts import Decision, OwnershipClaims, decide
from reconciler.plans.field_rules import FIELD_ANNOTATIONS, claims_of, rules_of, ruling_for
from reconciler.plans.ownership import Owner
from reconciler.reference.pages import ANNOTATIONS
from render.fleet import FieldRule, FieldRuling
from render.model import ObjectRef

from .applying import Cluster, outcomes
from .build import a_config_map, a_deployment
from .tables import each_row

WEB = ObjectRef("apps", "Deployment", "shop", "web")
OWN_REPLICAS = FieldRule(rule=FieldRuling.OWN, path=".spec.replicas")
OWN_TEMPLATE = FieldRule(rule=FieldRuling.OWN, path="spec.template")
IMAGE = '.spec.template.spec.containers[name="web"].image'
YIELD_IMAGE = FieldRule(rule=FieldRuling.YIELD, path=".spec.template.spec.containers[*].image", manager="*-updater")


class Ruled(NamedTuple):
    why: str
    field: str
    manager: str
    rules: tuple[FieldRule, ...]
    want: FieldRuling | None


RULED = [
    Ruled("no rule", IMAGE, "image-updater", (), None),
    Ruled("an item of a list", IMAGE, "image-updater", (YIELD_IMAGE,), FieldRuling.YIELD),
    Ruled("another manager", IMAGE, "somebody", (YIELD_IMAGE,), None),
    Ruled("another field", ".spec.replicas", "image-updater", (YIELD_IMAGE,), None),
    Ruled("what is in the field", IMAGE, "a", (OWN_TEMPLATE,), FieldRuling.OWN),
    Ruled(
        "a field that only begins alike",
        ".spec.replicasMax",
        "a",
        (FieldRule(rule=FieldRuling.OWN, path=".spec.replicas"),),
        None,
    ),
    Ruled(
        "the first that fits",
        ".spec.replicas",
        "a",
        (FieldRule(rule=FieldRuling.IGNORE, path=".spec.*"), FieldRule(rule=FieldRuling.OWN, path=".spec.replicas")),
        FieldRuling.IGNORE,
    ),
]


@each_row("case", RULED, ids=lambda case: case.why)
def test_which_rule_counts(case: Ruled) -> None:
    assert ruling_for(case.field, [Owner(case.manager)], case.rules) is case.want


def test_annotations_count_before_the_rules_of_the_fleet() -> None:
    annotations = {"argosy.dev/own-fields": '.spec.replicas, .spec.ports[containerPort=80,protocol="TCP"].name'}
    manifest = {"metadata": {"annotations": annotations}}
    other = FieldRule(rule=FieldRuling.IGNORE, path=".spec.replicas", kind="StatefulSet")
    meant = FieldRule(rule=FieldRuling.IGNORE, path=".spec.replicas", kind="Deploy*", namespace="shop")
    assert rules_of(manifest, WEB, [other, meant]) == (
        FieldRule(rule=FieldRuling.OWN, path=".spec.replicas"),
        FieldRule(rule=FieldRuling.OWN, path='.spec.ports[containerPort=80,protocol="TCP"].name'),
        meant,
    )


def test_a_rule_beats_what_is_decided_without_one() -> None:
    scaler, person = Owner("kube-controller-manager", "scale"), Owner("kubectl-edit")
    own = claims_of([FieldRule(rule=FieldRuling.OWN, path=".spec.replicas")], overwrite=False)
    left = claims_of([FieldRule(rule=FieldRuling.YIELD, path=".spec.replicas")], overwrite=True)
    assert (decide(scaler, ".spec.replicas", OwnershipClaims()), decide(scaler, ".spec.replicas", own)) == (
        Decision.YIELD,
        Decision.OVERWRITE,
    )
    assert decide(person, ".spec.replicas", left) is Decision.YIELD


def test_every_field_annotation_is_in_the_reference() -> None:
    named = {entry.name for section in ANNOTATIONS for entry in section.entries}
    assert FIELD_ANNOTATIONS.keys() <= named


def settings(cluster: Cluster, value: str, **annotations: str) -> dict[str, Any]:
    manifest = a_config_map("settings", namespace=cluster.space, size=value, other=value)
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": {"a": "test", **annotations}}}


def edited(cluster: Cluster, manager: str) -> None:
    cluster.edit("configmaps", "settings", {"data": {"size": "9"}}, manager=manager)


@pytest.mark.parametrize("manager", ["image-controller", "web-operator", "keda-operator"])
def test_a_manager_that_is_called_a_controller_does_not_win(manager: str, cluster: Cluster) -> None:
    cluster.apply(settings(cluster, "1"))
    edited(cluster, manager)
    applied = cluster.apply(settings(cluster, "2"))
    assert outcomes(applied) == {"ConfigMap settings": "conflict FieldManagerConflict"}
    assert applied.results[0].message == f"field manager {manager!r} owns .data.size"


def test_a_field_that_is_yielded_is_left_and_shown(cluster: Cluster) -> None:
    rule = FieldRule(rule=FieldRuling.YIELD, path=".data.size", kind="ConfigMap", manager="*-controller")
    cluster.apply(settings(cluster, "1"), field_rules=(rule,))
    edited(cluster, "image-controller")
    applied = cluster.apply(settings(cluster, "2"), field_rules=(rule,))
    assert cluster.read("configmaps", "settings")["data"] == {"size": "9", "other": "2"}
    assert report_lines(ClusterReport(cluster="eu", applied=applied))[1:] == [
        f"eu: ConfigMap {cluster.space}/settings: field manager 'image-controller' decides .data.size (Yielded)"
    ]


def test_a_field_that_is_owned_is_written_by_annotation(cluster: Cluster) -> None:
    own = {"argosy.dev/own-fields": ".data.size"}
    cluster.apply(settings(cluster, "1", **own))
    edited(cluster, "image-controller")
    cluster.apply(settings(cluster, "2", **own))
    assert cluster.read("configmaps", "settings")["data"] == {"size": "2", "other": "2"}


def test_a_field_that_is_ignored_is_set_once(cluster: Cluster) -> None:
    """Also while nobody else owns it: leaving it out would remove it."""
    ignore = {"argosy.dev/ignore-fields": ".data.size"}
    cluster.apply(settings(cluster, "1", **ignore))
    cluster.apply(settings(cluster, "2", **ignore))
    assert cluster.read("configmaps", "settings")["data"] == {"size": "1", "other": "2"}
    edited(cluster, "kubectl-edit")
    cluster.apply(settings(cluster, "3", **ignore))
    assert cluster.read("configmaps", "settings")["data"] == {"size": "9", "other": "3"}


def test_replicas_that_are_owned_are_not_left_to_an_autoscaler(cluster: Cluster) -> None:
    web = a_deployment("web", namespace=cluster.space, replicas=3)
    web["metadata"]["annotations"] = {"argosy.dev/own-fields": ".spec.replicas"}
    web["metadata"]["labels"] = {"resourcetemplate.karmada.io/retain-replicas": "true"}
    cluster.apply(web)
    cluster.edit("deployments", "web", {"spec": {"replicas": 7}}, api="apis/apps/v1", manager="scaler")
    cluster.apply(web)
    assert cluster.read("deployments", "web", "apis/apps/v1")["spec"]["replicas"] == 3
