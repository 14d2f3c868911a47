"""Field rules: who gets a field that others write as well, in memory and on a real API server."""

import base64
from typing import Any, NamedTuple

import pytest

from reconciler.deliver.reports import report_lines
from reconciler.deliver.results import ClusterReport
from reconciler.plans.conflicts import Decision, OwnershipClaims, decide_on_foreign_field
from reconciler.plans.field_paths import Key, Path, parse_path
from reconciler.plans.field_rules import claims_of_field_rules, field_rules_of_object, ruling_for
from reconciler.plans.ownership import Owner
from render.model import ObjectRef
from render.settings.field_rules import FieldRule, FieldRuling

from .applying import Cluster, outcomes
from .build import a_config_map, a_deployment
from .clusters import Member
from .tables import each_row

WEB = ObjectRef("apps", "Deployment", "shop", "web")
OWN_REPLICAS = FieldRule(rule=FieldRuling.OWN, path=".spec.replicas")
OWN_TEMPLATE = FieldRule(rule=FieldRuling.OWN, path="spec.template")
REPLICAS: Path = ("spec", "replicas")
IMAGE: Path = ("spec", "template", "spec", "containers", Key((("name", "web"),)), "image")
NODE_PORT: Path = ("spec", "ports", Key((("port", 80), ("protocol", "TCP"))), "nodePort")
YIELD_IMAGE = FieldRule(rule=FieldRuling.YIELD, path=".spec.template.spec.containers[*].image", manager="*-updater")


class Ruled(NamedTuple):
    why: str
    field: Path
    manager: str
    rules: tuple[FieldRule, ...]
    want: FieldRuling | None


RULED = [
    Ruled("no rule", IMAGE, "image-updater", (), None),
    Ruled("an item of a list", IMAGE, "image-updater", (YIELD_IMAGE,), FieldRuling.YIELD),
    Ruled("another manager", IMAGE, "somebody", (YIELD_IMAGE,), None),
    Ruled("another field", REPLICAS, "image-updater", (YIELD_IMAGE,), None),
    Ruled("what is in the field", IMAGE, "a", (OWN_TEMPLATE,), FieldRuling.OWN),
    Ruled(
        "a field that only begins alike",
        ("spec", "replicasMax"),
        "a",
        (FieldRule(rule=FieldRuling.OWN, path=".spec.replicas"),),
        None,
    ),
    Ruled(
        "the first that fits",
        REPLICAS,
        "a",
        (FieldRule(rule=FieldRuling.IGNORE, path=".spec.*"), FieldRule(rule=FieldRuling.OWN, path=".spec.replicas")),
        FieldRuling.IGNORE,
    ),
]


class Meant(NamedTuple):
    """A path as people write it, and whether it means a field."""

    path: str
    field: Path
    is_meant: bool = True


FINALIZER = parse_path('.metadata.finalizers[="example.com/hold"]')
LABEL: Path = ("metadata", "labels", "app.kubernetes.io/name")
MEANT = [
    Meant(".metadata.labels.app.kubernetes.io/name", LABEL),
    Meant(".metadata.labels.app.kubernetes.io/*", LABEL),
    Meant(".metadata.labels.*/name", LABEL),
    Meant(".metadata.labels.*", LABEL),
    Meant("metadata.labels", LABEL),
    # A label that only begins alike.
    Meant(".metadata.labels.app", LABEL, is_meant=False),
    Meant(".metadata.labels.app.kubernetes.io/na", LABEL, is_meant=False),
    Meant(".data.size", ("data", "size.max"), is_meant=False),
    Meant(".spec.ports[port=80,protocol=TCP].nodePort", NODE_PORT),
    Meant(".spec.ports[protocol='TCP', port=80].nodePort", NODE_PORT),
    Meant(".spec.ports[port=80].nodePort", NODE_PORT),
    Meant('.spec.ports[protocol="TCP"].*', NODE_PORT),
    Meant(".spec.ports[*]", NODE_PORT),
    Meant(".spec.ports[port=8].nodePort", NODE_PORT, is_meant=False),
    Meant(".spec.ports[port=801].nodePort", NODE_PORT, is_meant=False),
    Meant('.spec.ports[port="80"].nodePort', NODE_PORT, is_meant=False),
    Meant(".spec.ports[*].nodePort", ("spec", "ports"), is_meant=False),
    Meant(".spec.template.spec.containers[name=web]", IMAGE),
    Meant(".spec.template.spec.containers[name=we].image", IMAGE, is_meant=False),
    Meant('.a[name="x],y"].b', ("a", Key((("name", "x],y"),)), "b")),
    Meant(".a[*].b", ("a", Key((("name", "x],y"),)), "b")),
    Meant('.metadata.finalizers[="example.com/hold"]', FINALIZER),
    Meant(".metadata.finalizers[*]", FINALIZER),
    # A text that is no path means nothing.
    Meant("/spec/ports", NODE_PORT, is_meant=False),
    Meant(".spec.ports[0].nodePort", NODE_PORT, is_meant=False),
    Meant(".spec.ports[port=80.nodePort", NODE_PORT, is_meant=False),
    Meant("", NODE_PORT, is_meant=False),
]


@each_row("case", MEANT, ids=lambda case: f"{case.path} {case.field}")
def test_which_fields_a_path_means(case: Meant) -> None:
    own = FieldRule(rule=FieldRuling.OWN, path=case.path)
    assert ruling_for(case.field, (), [own]) is (FieldRuling.OWN if case.is_meant else None)


@each_row("case", RULED, ids=lambda case: case.why)
def test_which_rule_counts(case: Ruled) -> None:
    assert ruling_for(case.field, [Owner(case.manager)], case.rules) is case.want


def test_annotations_count_before_the_rules_of_the_fleet() -> None:
    annotations = {"argosy.dev/own-fields": '.spec.replicas, .spec.ports[containerPort=80,protocol="TCP"].name'}
    manifest = {"metadata": {"annotations": annotations}}
    other = FieldRule(rule=FieldRuling.IGNORE, path=".spec.replicas", kind="StatefulSet")
    meant = FieldRule(rule=FieldRuling.IGNORE, path=".spec.replicas", kind="Deploy*", namespace="shop")
    assert field_rules_of_object(manifest, WEB, [other, meant]) == (
        FieldRule(rule=FieldRuling.OWN, path=".spec.replicas"),
        FieldRule(rule=FieldRuling.OWN, path='.spec.ports[containerPort=80,protocol="TCP"].name'),
        meant,
    )


def test_a_rule_beats_what_is_decided_without_one() -> None:
    scaler, person = Owner("kube-controller-manager", "scale"), Owner("kubectl-edit")
    own = claims_of_field_rules([FieldRule(rule=FieldRuling.OWN, path=".spec.replicas")], overwrite=False)
    left = claims_of_field_rules([FieldRule(rule=FieldRuling.YIELD, path=".spec.replicas")], overwrite=True)
    assert (
        decide_on_foreign_field(scaler, REPLICAS, OwnershipClaims()),
        decide_on_foreign_field(scaler, REPLICAS, own),
    ) == (
        Decision.YIELD,
        Decision.OVERWRITE,
    )
    assert decide_on_foreign_field(person, REPLICAS, left) is Decision.YIELD


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


def test_an_ignored_field_of_an_item_is_set_once(cluster: Cluster) -> None:
    """Also while nobody else changed it, and whatever else of the item changes."""
    ignore = {"argosy.dev/ignore-fields": ".spec.template.spec.containers[*].image"}

    def web(image: str, port: int) -> dict[str, Any]:
        made = a_deployment("web", namespace=cluster.space, image=image)
        made["metadata"]["annotations"] = ignore
        made["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": port}]
        return made

    cluster.apply(web("nginx:1", 80))
    applied = cluster.apply(web("nginx:2", 81))
    (container,) = cluster.read("deployments", "web", "apis/apps/v1")["spec"]["template"]["spec"]["containers"]
    assert (container["image"], [each["containerPort"] for each in container["ports"]]) == ("nginx:1", [81])
    (left,) = applied.results[0].yielded
    assert (left.path, left.live, left.want) == (
        '.spec.template.spec.containers[name="web"].image',
        "nginx:1",
        "nginx:2",
    )


@pytest.mark.cluster
def test_an_owned_field_of_an_item_is_written_though_it_is_usually_the_clusters(real_cluster: Cluster) -> None:
    def hooks(bundle: str) -> dict[str, Any]:
        client = {"url": "https://127.0.0.1/x", "caBundle": base64.b64encode(bundle.encode()).decode()}
        hook = {"name": "a.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "rules": []}
        annotations = {"argosy.dev/own-fields": ".webhooks[*].clientConfig.caBundle"}
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": real_cluster.space, "annotations": annotations},
            "webhooks": [{**hook, "clientConfig": client}],
        }

    path = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{real_cluster.space}"
    assert isinstance(real_cluster.server, Member)
    certificate = real_cluster.server.ca_file.read_text()
    try:
        for bundle in (certificate, certificate * 2):
            real_cluster.apply(hooks(bundle))
            (live,) = real_cluster.server.read(path)["webhooks"]
            assert live["clientConfig"] == hooks(bundle)["webhooks"][0]["clientConfig"]
    finally:
        real_cluster.server.request("DELETE", path)
