"""Companions of what stays: what serves an object stays in its cluster, where no edit takes it away."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.pipeline.companions import CompanionIndex
from render.model import ObjectRef

from .build import Repository, a_cluster, a_cluster_policy, a_config_map, a_policy, argosy, on_clusters
from .test_kept_needs import plain

DRAINED = [{"key": "argosy.dev/drain", "effect": effect} for effect in ("NoExecute", "NoSchedule")]
LABELS = {"app": "db"}
SELECTED = {"selector": {"matchLabels": LABELS}}
TARGET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"}
RBAC = "rbac.authorization.k8s.io/v1"
ROBOT = [{"kind": "ServiceAccount", "name": "robot", "namespace": "shop"}]


def pods(**pod: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "a", "image": "x"}], "serviceAccountName": "robot", **pod}
    return {"replicas": 2, **SELECTED, "template": {"metadata": {"labels": {**LABELS, "tier": "1"}}, "spec": spec}}


DATABASE = plain("StatefulSet", "db", "apps/v1", spec={**pods(), "serviceName": "db"})
SERVICE = plain("Service", "read", spec={"selector": LABELS, "ports": [{"port": 80}]})


class Served(NamedTuple):
    """Objects beside a StatefulSet, and those of them that stay with it."""

    why: str
    objects: tuple[Mapping[str, Any], ...]
    stays: tuple[str, ...]


SERVED = [
    Served("a Service of its pods", (SERVICE,), ("Service/read",)),
    Served(
        "a Service of other pods",
        (plain("Service", "web", spec={"selector": {"app": "web"}, "ports": [{"port": 80}]}),),
        (),
    ),
    Served("a Service without a selector", (plain("Service", "out", spec={"ports": [{"port": 80}]}),), ()),
    Served(
        "an autoscaler",
        (
            plain(
                "HorizontalPodAutoscaler",
                "db",
                "autoscaling/v2",
                spec={"scaleTargetRef": TARGET, "maxReplicas": 3},
            ),
        ),
        ("HorizontalPodAutoscaler.autoscaling/db",),
    ),
    Served(
        "a disruption budget, by an expression",
        (
            plain(
                "PodDisruptionBudget",
                "db",
                "policy/v1",
                spec={
                    "selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["db"]}]},
                    "minAvailable": 1,
                },
            ),
        ),
        ("PodDisruptionBudget.policy/db",),
    ),
    Served(
        "a NetworkPolicy of all pods, and one of others",
        (
            plain("NetworkPolicy", "deny", "networking.k8s.io/v1", spec={"podSelector": {}}),
            plain(
                "NetworkPolicy", "web", "networking.k8s.io/v1", spec={"podSelector": {"matchLabels": {"app": "web"}}}
            ),
        ),
        ("NetworkPolicy.networking.k8s.io/deny",),
    ),
    Served(
        "an Ingress of its Service, and the class of that",
        (
            SERVICE,
            plain(
                "Ingress",
                "db",
                "networking.k8s.io/v1",
                spec={
                    "ingressClassName": "edge",
                    "defaultBackend": {"service": {"name": "read", "port": {"number": 80}}},
                },
            ),
            plain("IngressClass", "edge", "networking.k8s.io/v1", "", spec={"controller": "x.example.com/edge"}),
        ),
        (
            "_cluster/IngressClass.networking.k8s.io/edge",
            "Ingress.networking.k8s.io/db",
            "Service/read",
        ),
    ),
    Served(
        "the rights of its ServiceAccount, in all namespaces and in one",
        (
            plain("ServiceAccount", "robot"),
            plain("Role", "reader", RBAC, rules=[]),
            plain("ClusterRole", "lister", RBAC, "", rules=[]),
            plain(
                "RoleBinding",
                "robot",
                RBAC,
                subjects=ROBOT,
                roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            ),
            plain(
                "ClusterRoleBinding",
                "robot",
                RBAC,
                "",
                subjects=ROBOT,
                roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "lister"},
            ),
        ),
        (
            "_cluster/ClusterRole.rbac.authorization.k8s.io/lister",
            "_cluster/ClusterRoleBinding.rbac.authorization.k8s.io/robot",
            "Role.rbac.authorization.k8s.io/reader",
            "RoleBinding.rbac.authorization.k8s.io/robot",
            "ServiceAccount/robot",
        ),
    ),
    Served(
        "what runs pods of its own and needs the same",
        (
            plain("ServiceAccount", "robot"),
            plain("Deployment", "other", "apps/v1", spec=pods()),
        ),
        ("ServiceAccount/robot",),
    ),
]


def a_drained_fleet(
    folder: Path, capsys: pytest.CaptureFixture[str], objects: tuple[Mapping[str, Any], ...]
) -> Repository:
    """Only paris takes the StatefulSet, all else goes to both clusters, and paris is drained."""
    fleet = Repository.create(folder / "fleet")
    selectors = [{"apiVersion": each["apiVersion"], "kind": each["kind"]} for each in (*objects, a_config_map("x"))]
    policies = [
        a_policy("db", namespace="shop", selectors=[TARGET], placement=on_clusters("paris")),
        a_cluster_policy("rest", selectors=selectors),
    ]
    files = {"paris.yaml": a_cluster("paris"), "rome.yaml": a_cluster("rome"), "policies.yaml": policies}
    fleet.commit({**files, "db.yaml": [DATABASE, *objects], "argosy.yaml": WIDE})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    fleet.commit({"paris.yaml": a_cluster("paris", taints=DRAINED)})
    return fleet


WIDE = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "Fleet",
    "metadata": {"name": "default"},
    "spec": {"removalGuard": {"whole": 100, "count": 100}},
}


def held(fleet: Repository) -> list[str]:
    """The objects in paris beside its Namespace and the StatefulSet."""
    paths = (each.removeprefix("clusters/paris/").removeprefix("shop/") for each in fleet.files(under="clusters/paris"))
    names = (each.removesuffix(".yaml") for each in paths)
    return sorted(each for each in names if each not in {"_cluster/Namespace/shop", "StatefulSet.apps/db"})


@pytest.mark.parametrize("case", SERVED, ids=lambda case: case.why)
def test_what_serves_a_last_copy_stays_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: Served
) -> None:
    """Before, a database that stayed in a drained cluster lost its Service, its autoscaler and its budget there."""
    fleet = a_drained_fleet(tmp_path, capsys, case.objects)
    assert argosy(fleet, capsys, "reconcile").code == 1
    assert held(fleet) == sorted(case.stays)
    assert argosy(fleet, capsys, "reconcile").out.startswith("unchanged: ")
    assert argosy(fleet, capsys, "verify", "-n", "2").out.count("equal") == 2


def test_a_companion_leaves_by_an_edit_and_with_what_it_serves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {**SERVICE, "metadata": {"name": "write", "namespace": "shop"}}
    fleet = a_drained_fleet(tmp_path, capsys, (SERVICE, other))
    argosy(fleet, capsys, "reconcile")
    assert held(fleet) == ["Service/read", "Service/write"]
    fleet.commit({"db.yaml": [DATABASE, SERVICE]})
    argosy(fleet, capsys, "reconcile")
    assert held(fleet) == ["Service/read"]
    moved = a_policy("db", namespace="shop", selectors=[TARGET], placement=on_clusters("paris", "rome"))
    fleet.commit(
        {
            "db.policy.yaml": moved,
            "policies.yaml": a_cluster_policy("rest", selectors=[{"apiVersion": "v1", "kind": "Service"}]),
        }
    )
    assert argosy(fleet, capsys, "reconcile", "--allow-removal", "paris=2").code == 0
    assert fleet.files(under="clusters/paris") == []


def test_what_stays_as_its_policy_asks_keeps_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A database and the ServiceAccount that follows it tolerate the drain; what names these two does not."""
    fleet = Repository.create(tmp_path / "fleet")
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    binding = plain("RoleBinding", "robot", RBAC, subjects=ROBOT, roleRef=role)
    tolerant = {**on_clusters("paris"), "clusterTolerations": [{"key": "argosy.dev/drain", "operator": "Exists"}]}
    rest = [{"apiVersion": each["apiVersion"], "kind": each["kind"]} for each in (SERVICE, binding)]
    policies = [
        a_policy("db", namespace="shop", selectors=[TARGET], placement=tolerant, propagateDeps=True),
        a_cluster_policy("rest", selectors=rest),
    ]
    files = {"paris.yaml": a_cluster("paris"), "rome.yaml": a_cluster("rome"), "policies.yaml": policies}
    templates = [DATABASE, SERVICE, binding, plain("ServiceAccount", "robot")]
    fleet.commit({**files, "db.yaml": templates, "argosy.yaml": WIDE})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    assert held(fleet) == ["RoleBinding.rbac.authorization.k8s.io/robot", "Service/read", "ServiceAccount/robot"]
    fleet.commit({"paris.yaml": a_cluster("paris", taints=DRAINED)})
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert held(fleet) == ["ServiceAccount/robot"]


def test_what_cannot_be_scheduled_keeps_its_companions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A spread that the cluster which is left cannot meet: the Deployment keeps its clusters, and its Service."""
    fleet = Repository.create(tmp_path / "fleet")
    spread = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}]}
    web = plain("Deployment", "web", "apps/v1", spec=pods())
    kinds = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "Service"}]
    policies = [
        a_policy("web", namespace="shop", selectors=kinds[:1], placement=spread),
        a_policy("service", namespace="shop", selectors=kinds[1:]),
    ]
    fleet.commit({"paris.yaml": a_cluster("paris"), "rome.yaml": a_cluster("rome"), "policies.yaml": policies})
    fleet.commit({"web.yaml": [web, SERVICE]})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    fleet.commit({"paris.yaml": a_cluster("paris", taints=DRAINED)})
    ended = argosy(fleet, capsys, "reconcile")
    assert "Deployment.apps shop/web: SchedulerError: " in ended.err
    assert held(fleet) == ["Deployment.apps/web", "Service/read"]


def test_what_waited_to_leave_stays_where_a_last_copy_needs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A ConfigMap stays in a drained cluster while it is suspended, and then for the database that cannot leave."""
    fleet = Repository.create(tmp_path / "fleet")
    database = {**DATABASE, "spec": pods(volumes=[{"name": "conf", "configMap": {"name": "conf"}}])}
    conf, one = (
        a_config_map("conf", namespace="shop"),
        {"spreadConstraints": [{"spreadByField": "cluster", "maxGroups": 1}]},
    )
    maps = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    moving = a_policy("conf", namespace="shop", selectors=maps, placement=one)
    waiting = a_policy("conf", namespace="shop", selectors=maps, placement=one, suspension={"dispatching": True})
    pinned = a_policy("db", namespace="shop", selectors=[TARGET], placement=on_clusters("paris"))
    clusters = {"paris.yaml": a_cluster("paris"), "rome.yaml": a_cluster("rome")}
    fleet.commit({**clusters, "db.yaml": [database, conf, pinned], "conf.yaml": moving, "argosy.yaml": WIDE})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    fleet.commit({"conf.yaml": waiting})
    assert argosy(fleet, capsys, "reconcile").code == 0
    fleet.commit({"paris.yaml": a_cluster("paris", taints=DRAINED)})
    assert "ConfigMap shop/conf: EvictionBlocked: stays in paris" in argosy(fleet, capsys, "reconcile").err
    fleet.commit({"conf.yaml": moving})
    assert argosy(fleet, capsys, "reconcile").code == 1
    assert "clusters/rome/shop/ConfigMap/conf.yaml" in fleet.files()
    assert held(fleet) == ["ConfigMap/conf"]


MALFORMED = [
    {"matchLabels": {"app": 1}},
    {"matchExpressions": ["app"]},
    {"matchExpressions": [{"key": "app"}]},
    {"matchExpressions": [{"key": "app", "operator": "In", "values": "db"}]},
    "app=db",
]


@pytest.mark.parametrize("selector", MALFORMED, ids=str)
def test_a_malformed_selector_selects_nothing(selector: Any) -> None:
    ref = ObjectRef("example.com", "Watcher", "shop", "a")
    index = CompanionIndex.of([(ref, plain("Watcher", "a", "example.com/v1", spec={"selector": selector}))])
    assert list(index.companions(ObjectRef.of(DATABASE), DATABASE)) == []
