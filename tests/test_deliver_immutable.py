"""Fields that cannot change, as real API servers refuse them: the reason, the whole message, and the way out."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import pytest

from .applying import Cluster, outcomes
from .clusters import Member

pytestmark = pytest.mark.cluster

UNDO = "undo the change, or rename the object"
RECREATE = 'undo the change, rename the object, or let it be recreated: annotate it with argosy.dev/recreate: "true"'
RUN_AGAIN = RECREATE + " - it then runs from the beginning, also what has been done"
CONTAINER = {"name": "web", "image": "nginx:1"}
POD = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER]}}
LABELS = {"app": "web", "tier": "front"}
WORKLOAD = {"selector": {"matchLabels": {"app": "web"}}, "template": POD}
RELABELLED = {"selector": {"matchLabels": LABELS}, "template": {"metadata": {"labels": LABELS}}}
BATCH = {"template": {"spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "storageClassName": "a", "resources": {"requests": {"storage": "2Gi"}}}
VOLUME = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/a"}}
STATEFUL_SET = (
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template',"
    " 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are"
    " forbidden"
)
PODS = (
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing"
    " tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
CLAIMS = (
    "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for"
    " bound claims"
)


class Fixed(NamedTuple):
    """A kind, its content, the change (None takes a field away), and what is said of it."""

    kind: str
    body: dict[str, Any]
    change: dict[str, Any]
    message: str
    hint: str = UNDO


FIXED = [
    Fixed(
        "apps/v1 Deployment", {"spec": WORKLOAD}, {"spec": RELABELLED}, "spec.selector: field is immutable", RECREATE
    ),
    Fixed("apps/v1 DaemonSet", {"spec": WORKLOAD}, {"spec": RELABELLED}, "spec.selector: field is immutable"),
    Fixed("apps/v1 ReplicaSet", {"spec": WORKLOAD}, {"spec": RELABELLED}, "spec.selector: field is immutable"),
    Fixed("apps/v1 StatefulSet", {"spec": WORKLOAD}, {"spec": RELABELLED}, STATEFUL_SET, RECREATE),
    Fixed(
        "batch/v1 Job", {"spec": BATCH}, {"spec": {"completions": 3}}, "spec.completions: field is immutable", RUN_AGAIN
    ),
    Fixed(
        "batch/v1 Job",
        {"spec": BATCH},
        {"spec": {"template": {"spec": {"hostNetwork": True}}}},
        "spec.template: field is immutable",
        RUN_AGAIN,
    ),
    Fixed("v1 Pod", {"spec": POD["spec"]}, {"spec": {"restartPolicy": "Never"}}, PODS, RUN_AGAIN),
    Fixed(
        "v1 ConfigMap",
        {"data": {"a": "1"}, "immutable": True},
        {"data": {"a": "2"}},
        "data: Forbidden: field is immutable when `immutable` is set",
        RECREATE,
    ),
    Fixed(
        "v1 Secret",
        {"stringData": {"a": "1"}, "immutable": True},
        {"stringData": {"a": "2"}},
        "data: it cannot change",
        RECREATE,
    ),
    Fixed("v1 Secret", {"type": "example.com/a"}, {"type": "example.com/b"}, "type: it cannot change", RECREATE),
    Fixed("v1 PersistentVolumeClaim", {"spec": CLAIM}, {"spec": {"storageClassName": "b"}}, CLAIMS),
    Fixed(
        "v1 PersistentVolume",
        {"spec": VOLUME},
        {"spec": {"hostPath": {"path": "/b"}}},
        "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation",
    ),
    Fixed(
        "storage.k8s.io/v1 StorageClass",
        {"provisioner": "example.com/a", "parameters": {"a": "1"}},
        {"parameters": {"a": "2"}},
        "parameters: field is immutable",
    ),
    Fixed(
        "storage.k8s.io/v1 StorageClass",
        {"provisioner": "example.com/a"},
        {"provisioner": "example.com/b"},
        "provisioner: field is immutable",
    ),
    Fixed(
        "rbac.authorization.k8s.io/v1 RoleBinding",
        {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}},
        {"roleRef": {"name": "b"}},
        "roleRef: cannot change roleRef",
        RECREATE,
    ),
    Fixed(
        "rbac.authorization.k8s.io/v1 ClusterRoleBinding",
        {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "a"}},
        {"roleRef": {"name": "b"}},
        "roleRef: cannot change roleRef",
        RECREATE,
    ),
    Fixed(
        "scheduling.k8s.io/v1 PriorityClass",
        {"value": 5},
        {"value": 6},
        "value: Forbidden: may not be changed in an update.",
    ),
    Fixed("node.k8s.io/v1 RuntimeClass", {"handler": "a"}, {"handler": "b"}, "handler: field is immutable"),
    Fixed(
        "networking.k8s.io/v1 IngressClass",
        {"spec": {"controller": "example.com/a"}},
        {"spec": {"controller": "example.com/b"}},
        "spec.controller: field is immutable",
    ),
    Fixed(
        "discovery.k8s.io/v1 EndpointSlice",
        {"addressType": "IPv4", "endpoints": []},
        {"addressType": "IPv6"},
        "addressType: field is immutable",
    ),
    Fixed(
        "v1 Service",
        {"spec": {"type": "LoadBalancer", "loadBalancerClass": "example.com/a", "ports": [{"port": 80}]}},
        {"spec": {"loadBalancerClass": "example.com/b"}},
        "spec.loadBalancerClass: may not change once set",
    ),
]


def changed(value: Any, change: Any) -> Any:
    """Return a manifest with a change merged into it."""
    if not isinstance(change, dict) or not isinstance(value, dict):
        return change
    return {**value, **{name: changed(value.get(name), each) for name, each in change.items()}}


@pytest.fixture
def cluster(real_cluster: Cluster) -> Iterator[Cluster]:
    """A real cluster, whose objects without a namespace go with the test."""
    yield real_cluster
    assert isinstance(real_cluster.server, Member)
    for manifest in manifests(real_cluster):
        path = real_cluster.server.path_of(manifest)
        real_cluster.server.request("DELETE", f"{path}/{manifest['metadata']['name']}")


def manifests(cluster: Cluster) -> list[dict[str, Any]]:
    """Return the objects of the table, each by the number of its row."""
    made = []
    for number, row in enumerate(FIXED):
        version, kind = row.kind.split()
        metadata = {"name": f"{cluster.space}-{number}", "namespace": cluster.space}
        made.append({"apiVersion": version, "kind": kind, "metadata": metadata, **deepcopy(row.body)})
    return made


def test_what_cannot_change_is_told_by_its_name_with_the_way_out(cluster: Cluster) -> None:
    before = manifests(cluster)
    cluster.apply(*before)
    applied = cluster.apply(*(changed(each, row.change) for each, row in zip(before, FIXED, strict=True)))
    found = {result.ref.name: result for result in applied.results}
    told = [found[each["metadata"]["name"]] for each in before]
    assert [(result.reason, result.message, result.hint) for result in told] == [
        ("Immutable", row.message, row.hint) for row in FIXED
    ]


def test_a_pod_is_recreated_where_allowed_and_what_it_had_in_its_environment_is_not_told(cluster: Cluster) -> None:
    """A server shows how the pod would change, with the values that the manifest no longer has."""

    def pod(password: str, **annotations: str) -> dict[str, Any]:
        container = {**CONTAINER, "env": [{"name": "PASSWORD", "value": password}]}
        spec = {"terminationGracePeriodSeconds": 0, "containers": [container]}
        metadata = {"name": "web", "namespace": cluster.space, "annotations": {"a": "test", **annotations}}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    cluster.apply(pod("former-password"))
    (refused,) = cluster.apply(pod("newer-password")).results
    assert str(refused) == f"Pod {cluster.space}/web: failed (Immutable): {PODS}\n  hint: {RUN_AGAIN}"
    allowed = pod("newer-password", **{"argosy.dev/recreate": "true"})
    assert outcomes(cluster.apply(allowed)) == {"Pod web": "created Recreated"}
