"""Admission of override policies: mutation for the namespaced kind, none for the other."""

from typing import Any

from overrides.admission import admit, all_admitted_kinds
from render.admission import render_kinds

RULE = {"overriders": {"plaintext": [{"path": "/spec/x", "operator": "add", "value": False}]}, "targetCluster": {}}


def an_override_policy(kind: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "eu", "namespace": "shop"} if kind == "OverridePolicy" else {"name": "eu"}
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


def test_selectors_of_a_namespaced_policy_get_its_namespace() -> None:
    selector = {"apiVersion": "v1", "kind": "Secret", "labelSelector": {}}
    policy = an_override_policy("OverridePolicy", resourceSelectors=[selector], overrideRules=[RULE])
    assert admit(policy).object == an_override_policy(
        "OverridePolicy",
        resourceSelectors=[{**selector, "namespace": "shop"}],
        overrideRules=[RULE],
        overriders={},
    )


def test_a_cluster_scoped_policy_is_stored_as_it_is() -> None:
    selector = {"apiVersion": "v1", "kind": "Secret", "namespace": "", "name": ""}
    policy = an_override_policy("ClusterOverridePolicy", resourceSelectors=[selector], overrideRules=[RULE])
    assert admit(policy).object == policy


def test_any_value_of_an_operation_is_kept() -> None:
    values = [False, 0, "", [], {}, [None], {"a": None}]
    rules = [{"overriders": {"plaintext": [{"path": "/x", "operator": "add", "value": value} for value in values]}}]
    admitted = admit(an_override_policy("OverridePolicy", overrideRules=rules)).object
    assert admitted is not None
    assert admitted["spec"]["overrideRules"] == rules


def test_every_kind_of_render_is_admitted_here_too() -> None:
    assert all_admitted_kinds().keys() - render_kinds().keys() == {"OverridePolicy", "ClusterOverridePolicy"}
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet"}
    assert admit(fleet).object == {**fleet, "metadata": {"name": "default"}, "spec": {}}
