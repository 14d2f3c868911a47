"""The payload of a manifest: our fields and the user's, none of a server's, in a form that can be compared."""

import copy
from typing import Any, NamedTuple

from reconciler.members.discovery import Resource
from reconciler.plans.applyset import PART_OF
from reconciler.plans.payload import manifest_as_sent, value_without_nulls

from .tables import each_row

SET = "applyset-x-v1"


def a_resource(kind: str, group: str = "", *, is_namespaced: bool = True) -> Resource:
    return Resource(group=group, version="v1", kind=kind, plural=f"{kind.lower()}s", is_namespaced=is_namespaced)


class Sent(NamedTuple):
    why: str
    resource: Resource
    manifest: dict[str, Any]
    want: dict[str, Any]


def of(kind: str, metadata: dict[str, Any] | None = None, *, api: str = "v1", **content: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "x", **(metadata or {})}, **content}


LABELLED = {"labels": {PART_OF: SET}}
CASES = [
    Sent("it carries our label", a_resource("ConfigMap"), of("ConfigMap"), of("ConfigMap", LABELLED)),
    Sent(
        "other labels stay",
        a_resource("ConfigMap"),
        of("ConfigMap", {"labels": {"a": "b"}}),
        of("ConfigMap", {"labels": {"a": "b", PART_OF: SET}}),
    ),
    Sent(
        "what a server writes goes",
        a_resource("ConfigMap"),
        of(
            "ConfigMap", {"uid": "u", "resourceVersion": "1", "creationTimestamp": None, "managedFields": []}, status={}
        ),
        of("ConfigMap", LABELLED),
    ),
    Sent(
        "kubectl's copy of the manifest goes",
        a_resource("ConfigMap"),
        of("ConfigMap", {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b"}}),
        of("ConfigMap", {"annotations": {"a": "b"}, **LABELLED}),
    ),
    Sent(
        "a kind without namespaces has none",
        a_resource("Namespace", is_namespaced=False),
        of("Namespace", {"namespace": "shop"}),
        of("Namespace", LABELLED),
    ),
    Sent(
        "nulls claim nothing",
        a_resource("Deployment", "apps"),
        of("Deployment", api="apps/v1", spec={"a": None, "b": [{"c": None, "d": 1}]}, data=None),
        of("Deployment", LABELLED, api="apps/v1", spec={"b": [{"d": 1}]}),
    ),
    Sent(
        "a null is an empty text where a mapping has texts",
        a_resource("ConfigMap"),
        of("ConfigMap", data={"a": None}, immutable=None),
        of("ConfigMap", LABELLED, data={"a": ""}),
    ),
    Sent(
        "a map of texts keeps the key of a null, which is an empty text",
        a_resource("Service"),
        of("Service", spec={"selector": {"app": None}, "ports": None}),
        of("Service", LABELLED, spec={"selector": {"app": ""}}),
    ),
    Sent(
        "a map of amounts keeps the key of a null, which is none",
        a_resource("RuntimeClass", "node.k8s.io"),
        of("RuntimeClass", api="node.k8s.io/v1", overhead={"podFixed": {"cpu": None}}, scheduling={"a": None}),
        of("RuntimeClass", LABELLED, api="node.k8s.io/v1", overhead={"podFixed": {"cpu": "0"}}, scheduling={}),
    ),
    Sent(
        "a selector elsewhere is no map of texts",
        a_resource("Deployment", "apps"),
        of("Deployment", api="apps/v1", spec={"selector": {"matchLabels": None}, "template": None}),
        of("Deployment", LABELLED, api="apps/v1", spec={"selector": {}}),
    ),
    Sent(
        "what is opaque stays as it is",
        a_resource("DeviceClass", "resource.k8s.io"),
        of("DeviceClass", api="resource.k8s.io/v1", spec={"config": [{"opaque": {"parameters": {"a": None}}}]}),
        of(
            "DeviceClass",
            LABELLED,
            api="resource.k8s.io/v1",
            spec={"config": [{"opaque": {"parameters": {"a": None}}}]},
        ),
    ),
    Sent(
        "a custom resource may mean its nulls",
        a_resource("HelmRelease", "helm.toolkit.fluxcd.io"),
        of("HelmRelease", api="helm.toolkit.fluxcd.io/v1", spec={"values": {"a": None}}),
        of("HelmRelease", LABELLED, api="helm.toolkit.fluxcd.io/v1", spec={"values": {"a": None}}),
    ),
    Sent(
        "a Secret's texts are encoded, over its data",
        a_resource("Secret"),
        of("Secret", data={"a": "YWJj\nZGVm\n", "b": "eA=="}, stringData={"b": "abc"}),
        of("Secret", LABELLED, data={"a": "YWJjZGVm", "b": "YWJj"}),
    ),
    Sent(
        "what is no text is left for the server to refuse",
        a_resource("Secret"),
        of("Secret", stringData={"a": 1}),
        of("Secret", LABELLED, stringData={"a": 1}),
    ),
    Sent(
        "a Secret's null is an empty text",
        a_resource("Secret"),
        of("Secret", data={"a": None}, stringData={"b": None}),
        of("Secret", LABELLED, data={"a": "", "b": ""}),
    ),
    Sent(
        "a ConfigMap's binary data is written the server's way",
        a_resource("ConfigMap"),
        of("ConfigMap", data={"a": "YWJj\n"}, binaryData={"b": "YWJj\n"}),
        of("ConfigMap", LABELLED, data={"a": "YWJj\n"}, binaryData={"b": "YWJj"}),
    ),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_what_is_sent(case: Sent) -> None:
    before = copy.deepcopy(case.manifest)
    assert manifest_as_sent(case.manifest, case.resource, SET) == case.want
    assert case.manifest == before


def test_without_nulls_there_is_nothing_to_copy() -> None:
    value = {"a": [{"b": 1}], "c": {"d": "e"}}
    assert value_without_nulls(value) is value
