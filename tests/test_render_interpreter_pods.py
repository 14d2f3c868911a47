"""The requirements of a pod template, and the objects it refers to."""

from typing import Any, NamedTuple

import pytest

from render.interpretation.operations import InterpreterError
from render.interpretation.references import pod_dependencies
from render.interpretation.requirements import pod_requirements
from render.interpreter.answers import plain_requirements

from .tables import each_row


def a_container(requests: dict[str, Any] | None = None, limits: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"resources": {"requests": requests, "limits": limits}}


class Need(NamedTuple):
    why: str
    spec: dict[str, Any]
    want: dict[str, Any] | None


TERM = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "arch", "operator": "In", "values": ["amd64"]}]}]}
NEEDS = [
    Need("a pod that asks for nothing needs nothing", {"containers": [{}]}, None),
    Need(
        "containers add up",
        {"containers": [a_container({"cpu": "100m", "memory": "1Gi"}), a_container({"cpu": "2"})]},
        {"resourceRequest": {"cpu": "2100m", "memory": "1Gi"}},
    ),
    Need(
        "a limit stands in for a missing request, resource by resource",
        {"containers": [a_container({"cpu": "1"}, {"cpu": "4", "memory": "64Mi"})]},
        {"resourceRequest": {"cpu": "1", "memory": "64Mi"}},
    ),
    Need(
        "of init containers the largest counts, then the overhead comes on top",
        {
            "containers": [a_container(limits={"cpu": "1"})],
            "initContainers": [a_container({"cpu": "2"}), a_container({"cpu": "500m", "memory": "1Ki"})],
            "overhead": {"cpu": "100m"},
        },
        {"resourceRequest": {"cpu": "2100m", "memory": "1Ki"}},
    ),
    Need(
        "a sidecar is an init container like others",
        {"containers": [], "initContainers": [{**a_container({"cpu": "1"}), "restartPolicy": "Always"}]},
        {"resourceRequest": {"cpu": "1"}},
    ),
    Need(
        "cpu rounds up to thousandths, memory to bytes, per container",
        {"containers": [a_container({"cpu": "0.0001", "memory": "0.1"})] * 2},
        {"resourceRequest": {"cpu": "2m", "memory": "2"}},
    ),
    Need(
        "memory keeps binary units where it can, others decimal ones",
        {"containers": [a_container({"memory": "500M", "ephemeral-storage": "0.5Gi", "nvidia.com/gpu": 2000})]},
        {"resourceRequest": {"memory": "500000000", "ephemeral-storage": "512Mi", "nvidia.com/gpu": "2k"}},
    ),
    Need(
        "numbers are quantities, unknown names are none",
        {"containers": [a_container({"cpu": 1.5, "hugepages-2Mi": "4Mi", "bananas": "3", "requests.cpu/x": "1"})]},
        {"resourceRequest": {"cpu": "1500m", "hugepages-2Mi": "4Mi"}},
    ),
    Need("zero is nothing", {"containers": [a_container({"cpu": "0", "memory": "0"})]}, None),
    Need(
        "where a pod may land",
        {
            "nodeSelector": {"disk": "ssd"},
            "tolerations": [{"key": "gpu", "operator": "Exists", "unknown": 1}],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": TERM}},
        },
        {
            "nodeClaim": {
                "nodeSelector": {"disk": "ssd"},
                "tolerations": [{"key": "gpu", "operator": "Exists"}],
                "hardNodeAffinity": TERM,
            }
        },
    ),
    Need(
        "a preference is no claim",
        {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}}},
        None,
    ),
    Need("an empty selector is a claim", {"nodeSelector": {}}, {"nodeClaim": {}}),
]


@each_row("case", NEEDS, ids=lambda case: case.why)
def test_requirements(case: Need) -> None:
    assert plain_requirements(pod_requirements(case.spec)) == case.want


class Wrong(NamedTuple):
    why: str
    spec: dict[str, Any]
    message: str


WRONGS = [
    Wrong("no list", {"containers": {}}, "containers is an object, not a list"),
    Wrong("no objects", {"containers": ["app"]}, "containers[0] is a string, not an object"),
    Wrong(
        "no quantity",
        {"containers": [a_container({"cpu": "lots"})]},
        "containers[0].resources.cpu: 'lots' is not a quantity such as '500m', '2' or '64Mi'",
    ),
    Wrong(
        "no text",
        {"containers": [a_container({"cpu": True})]},
        "containers[0].resources.cpu is a boolean, not a quantity",
    ),
    Wrong("no affinity", {"affinity": "near"}, "affinity is a string, not an object"),
    Wrong(
        "no required affinity",
        {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["near"]}}},
        "requiredDuringSchedulingIgnoredDuringExecution is a list, not an object",
    ),
]


@each_row("case", WRONGS, ids=lambda case: case.why)
def test_a_wrong_type_names_the_field_and_not_its_value(case: Wrong) -> None:
    with pytest.raises(InterpreterError) as raised:
        pod_requirements(case.spec)
    assert str(raised.value) == case.message


class Reference(NamedTuple):
    why: str
    spec: dict[str, Any]
    want: set[tuple[str, str]]


def secret_volume(kind: str, field: str) -> dict[str, Any]:
    return {"volumes": [{kind: {field: {"name": "s"}}}]}


ENVIRONMENT = {
    "envFrom": [{"configMapRef": {"name": "c1", "optional": True}}, {"secretRef": {"name": "s1"}}],
    "env": [
        {"name": "A", "value": "1"},
        {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "c2"}}},
        {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s2"}}},
        {"name": "D", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    ],
}
FROM_ENVIRONMENT = {("ConfigMap", "c1"), ("ConfigMap", "c2"), ("Secret", "s1"), ("Secret", "s2")}
REFERENCES = [
    Reference("nothing", {"containers": [{}]}, set()),
    Reference("containers", {"containers": [ENVIRONMENT]}, FROM_ENVIRONMENT),
    Reference("init containers", {"initContainers": [ENVIRONMENT]}, FROM_ENVIRONMENT),
    Reference("ephemeral containers", {"ephemeralContainers": [ENVIRONMENT]}, FROM_ENVIRONMENT),
    Reference("a config map as a volume", {"volumes": [{"configMap": {"name": "c"}}]}, {("ConfigMap", "c")}),
    Reference(
        "a claim", {"volumes": [{"persistentVolumeClaim": {"claimName": "p"}}]}, {("PersistentVolumeClaim", "p")}
    ),
    Reference("a secret as a volume", {"volumes": [{"secret": {"secretName": "s"}}]}, {("Secret", "s")}),
    Reference("an Azure file's secret", {"volumes": [{"azureFile": {"secretName": "s"}}]}, {("Secret", "s")}),
    *(
        Reference(f"the secret of {kind}", secret_volume(kind, "secretRef"), {("Secret", "s")})
        for kind in ("cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos")
    ),
    Reference("a CSI driver's secret", secret_volume("csi", "nodePublishSecretRef"), {("Secret", "s")}),
    Reference(
        "projected sources",
        {
            "volumes": [
                {
                    "projected": {
                        "sources": [
                            {"configMap": {"name": "c"}},
                            {"secret": {"name": "s"}},
                            {"serviceAccountToken": {}},
                        ]
                    }
                }
            ]
        },
        {("ConfigMap", "c"), ("Secret", "s")},
    ),
    Reference("pull secrets", {"imagePullSecrets": [{"name": "s"}, {}]}, {("Secret", "s")}),
    Reference("a service account", {"serviceAccountName": "sa"}, {("ServiceAccount", "sa")}),
    Reference("the default service account is everywhere", {"serviceAccountName": "default"}, set()),
    Reference("the deprecated field is not read", {"serviceAccount": "sa"}, set()),
    Reference("claims made for the pod are its own", {"volumes": [{"ephemeral": {"volumeClaimTemplate": {}}}]}, set()),
]


@each_row("case", REFERENCES, ids=lambda case: case.why)
def test_references(case: Reference) -> None:
    found = pod_dependencies(case.spec, "shop")
    assert {(dependency.kind, dependency.name) for dependency in found} == case.want
    assert all((dependency.api_version, dependency.namespace) == ("v1", "shop") for dependency in found)
