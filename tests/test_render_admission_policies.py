"""Admission of propagation policies: defaults, mutations, namespaces, and the kinds of problems."""

from typing import Any

from render.admission import admit

NAMED = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def a_policy(kind: str = "PropagationPolicy", **spec: Any) -> dict[str, Any]:
    selected = {"resourceSelectors": [NAMED], **spec}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {key: value for key, value in selected.items() if value is not ...},
    }


def placed(**placement: Any) -> dict[str, Any]:
    return a_policy(placement=placement)


def named(**metadata: Any) -> dict[str, Any]:
    policy = a_policy()
    return {**policy, "metadata": {**policy["metadata"], **metadata}}


def test_defaults_and_mutations_are_those_of_karmada() -> None:
    policy = a_policy(
        resourceSelectors=[{"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ServiceImport"}],
        placement={
            "clusterAffinity": {"clusterNames": []},
            "clusterAffinities": [],
            "spreadConstraints": [{"maxGroups": 2.0}],
            "replicaScheduling": {"weightPreference": {}},
        },
        failover={"application": {"decisionConditions": {}}, "cluster": {}},
        schedulerName="",
        propagateDeps=False,
        preserveResourcesOnDeletion=False,
        suspension={"dispatching": False, "dispatchingOnClusters": {"clusterNames": []}},
    )
    assert admit(policy).object == {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "resourceSelectors": [
                {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ServiceImport", "namespace": "shop"}
            ],
            "placement": {
                "clusterAffinity": {},
                "spreadConstraints": [{"maxGroups": 2, "spreadByField": "cluster", "minGroups": 1}],
                "replicaScheduling": {
                    "weightPreference": {},
                    "replicaSchedulingType": "Divided",
                    "replicaDivisionPreference": "Weighted",
                },
            },
            "failover": {
                "application": {
                    "decisionConditions": {"tolerationSeconds": 300},
                    "purgeMode": "Gracefully",
                    "gracePeriodSeconds": 600,
                },
                "cluster": {"purgeMode": "Gracefully"},
            },
            "schedulerName": "default-scheduler",
            "propagateDeps": True,
            "preserveResourcesOnDeletion": False,
            "suspension": {"dispatching": False, "dispatchingOnClusters": {}},
            "priority": 0,
            "preemption": "Never",
            "conflictResolution": "Abort",
        },
    }


def test_a_policy_without_namespace_goes_to_the_default_one() -> None:
    policy = named(namespace="")
    admitted = admit(policy, default_namespace="apps").object
    assert admitted is not None
    assert admitted["metadata"] == {"name": "web", "namespace": "apps"}
    assert admitted["spec"]["resourceSelectors"] == [{**NAMED, "namespace": "apps"}]


def test_a_policy_with_only_a_typo_is_still_read() -> None:
    admitted = admit(a_policy(prioritty=3))
    assert [str(problem) for problem in admitted.problems] == [
        "spec.prioritty: unknown field\n  hint: did you mean 'priority'?"
    ]
    assert admitted.object == admit(a_policy()).object


def test_the_kind_of_a_problem_is_the_api_s() -> None:
    kinds = {
        "Decode": named(name=5),
        "Required": a_policy(resourceSelectors=...),
        "TypeInvalid": a_policy(priority="7"),
        "Invalid": a_policy(priority=2**31),
        "NotSupported": a_policy(preemption="x"),
        "TooLong": placed(clusterAffinities=[{"affinityName": "x" * 33}]),
        "Unknown": a_policy(x=1),
    }
    assert {kind: [problem.kind for problem in admit(manifest).problems] for kind, manifest in kinds.items()} == {
        kind: [kind] for kind in kinds
    }
