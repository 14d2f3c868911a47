"""An object that mutating admission rewrites is told of while it differs, and sent again once that may be another."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from reconciler.deliver.deviations import cluster_deviations
from reconciler.deliver.results import ClusterReport, ClusterResult

from .applying import Cluster, outcomes
from .build import a_config_map, a_deployment
from .fakes import MERGE_PATCH
from .waiting import eventually

pytestmark = pytest.mark.cluster

ADMISSION = "/apis/admissionregistration.k8s.io/v1"


def policy(
    cluster: Cluster, *, plural: str = "configmaps", group: str = "", **mutation: dict[str, str]
) -> dict[str, Any]:
    """Return a policy that changes what is written to the test's namespace: ``jsonPatch`` or ``applyConfiguration``."""
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": [plural]}
    spaces = {"matchLabels": {"kubernetes.io/metadata.name": cluster.space}}
    (way,) = mutation
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": cluster.space},
        "spec": {
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": spaces},
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": way.replace("jsonP", "JSONP").replace("apply", "Apply"), **mutation}],
        },
    }


@contextmanager
def intercepted(cluster: Cluster, made: dict[str, Any]) -> Iterator[None]:
    """Have a policy in force, by a binding of its name."""
    server, name = cluster.server, cluster.space
    binding = {
        "apiVersion": made["apiVersion"],
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name},
    }
    for plural, body in (("mutatingadmissionpolicies", made), ("mutatingadmissionpolicybindings", binding)):
        status, answer = server.request("POST", f"{ADMISSION}/{plural}", body)
        assert status == 201, answer
    try:
        yield
    finally:
        for plural in ("mutatingadmissionpolicybindings", "mutatingadmissionpolicies"):
            server.request("DELETE", f"{ADMISSION}/{plural}/{name}")


def is_mutated(cluster: Cluster, wanted: dict[str, Any]) -> bool:
    """Ask whether the server has learnt of a policy."""
    probe = {**wanted, "metadata": {**wanted["metadata"], "name": "probe"}}
    status, answer = cluster.server.request("POST", f"{cluster.path('configmaps')}?dryRun=All", probe)
    assert status == 201, answer
    return bool(answer["data"] != wanted["data"])


def lines(applied: ClusterResult) -> list[str]:
    report = ClusterReport(cluster=applied.cluster, applied=applied)
    return [f"{each.ref.name} {each.reason} {each.field}" for each in cluster_deviations(report)]


MIRRORED = {"expression": 'Object{data: Object.data{image: "mirror/nginx"}}'}


def test_what_a_policy_rewrites_is_told_while_it_differs_and_set_right_once_it_is_gone(real_cluster: Cluster) -> None:
    wanted = a_config_map("web", namespace=real_cluster.space, image="nginx")
    with intercepted(real_cluster, policy(real_cluster, applyConfiguration=MIRRORED)):
        eventually(lambda: is_mutated(real_cluster, wanted), "the policy is in force")
        for _ in range(2):
            real_cluster.apply(wanted)
        client = real_cluster.client()
        settled = real_cluster.apply(wanted, client=client)
        assert outcomes(settled) == {"ConfigMap web": "unchanged Settled"}
        assert lines(settled) == ["web Rewritten .data.image"]
        assert client.writes == []
    eventually(lambda: not is_mutated(real_cluster, wanted), "the policy is out of force")
    after = real_cluster.apply(wanted)
    assert (outcomes(after), lines(after)) == ({"ConfigMap web": "configured Changed"}, [])
    assert real_cluster.read("configmaps", "web")["data"] == {"image": "nginx"}
    client = real_cluster.client()
    assert outcomes(real_cluster.apply(wanted, client=client)) == {"ConfigMap web": "unchanged UpToDate"}
    assert client.writes == []


def test_what_a_policy_adds_to_one_piece_leaves_with_it(real_cluster: Cluster) -> None:
    """Such an addition looks like a default that the server fills in."""
    rule = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
    wanted = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "reader", "namespace": real_cluster.space},
        "rules": [rule],
    }
    added = {"expression": '[JSONPatch{op: "add", path: "/rules/0/resourceNames", value: ["added"]}]'}
    made = policy(real_cluster, plural="roles", group="rbac.authorization.k8s.io", jsonPatch=added)
    api = "apis/rbac.authorization.k8s.io/v1"
    with intercepted(real_cluster, made):
        probe = real_cluster.path("roles", "probe", api) + "?fieldManager=test&dryRun=All"
        named = {**wanted, "metadata": {**wanted["metadata"], "name": "probe"}}  # type: ignore[dict-item]  # a mapping

        def is_added() -> bool:
            answer = real_cluster.server.request("PATCH", probe, named, content_type="application/apply-patch+yaml")[1]
            return "resourceNames" in (answer.get("rules") or [{}])[0]

        eventually(is_added, "the policy is in force")
        for _ in range(3):
            real_cluster.apply(wanted)
        assert real_cluster.read("roles", "reader", api)["rules"] == [{**rule, "resourceNames": ["added"]}]
        client = real_cluster.client()
        settled = real_cluster.apply(wanted, client=client)
        assert outcomes(settled) == {"Role.rbac.authorization.k8s.io reader": "unchanged Settled"}
        assert lines(settled) == ["reader Rewritten .rules"]
        assert client.writes == []
    eventually(lambda: not is_added(), "the policy is out of force")
    real_cluster.apply(wanted)
    assert real_cluster.read("roles", "reader", api)["rules"] == [rule]


def test_a_webhook_configuration_that_changes_has_the_server_asked_again(real_cluster: Cluster) -> None:
    """It is so whether or not it is about an object: nobody knows what it answers."""
    space = real_cluster.space
    guard = {
        "name": "rewriter.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [{"apiGroups": ["x.example.com"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["*"]}],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
    }
    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": space},
        "webhooks": [guard],
    }
    wanted = a_deployment("web", namespace=space, replicas=0)
    wanted["spec"]["strategy"] = {}
    path = f"{ADMISSION}/mutatingwebhookconfigurations"
    real_cluster.apply(wanted)
    try:
        counts = []
        for step in ("none", "made", "none", "changed", "none"):
            if step == "made":
                assert real_cluster.server.request("POST", path, configuration)[0] == 201
            if step == "changed":
                patch = {"metadata": {"labels": {"a": "b"}}}
                real_cluster.server.request("PATCH", f"{path}/{space}", patch, content_type=MERGE_PATCH)
            client = real_cluster.client()
            applied = real_cluster.apply(wanted, client=client)
            assert [str(each.action) for each in applied.results] == ["unchanged"]
            counts.append(sum("deployments" in each for each in client.writes))
        assert counts == [0, 1, 0, 1, 0]
    finally:
        real_cluster.server.request("DELETE", f"{path}/{space}")
