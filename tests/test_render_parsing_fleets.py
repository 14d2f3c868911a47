"""argosy.yaml becomes a Fleet; ``compatibility: Karmada`` turns every switch that is not written."""

from typing import Any

from msgspec import to_builtins

from render.limits import Limit
from render.settings.clusters import ClusterAccess
from render.settings.emission import Deployer, EmissionSettings, ToolAccess
from render.settings.failover import EvictionGuard, FailoverSettings, NoExecuteEviction
from render.settings.feature_gates import FeatureGates
from render.settings.field_rules import FieldRule, FieldRuling
from render.settings.fleet import Fleet
from render.settings.kinds import KindScope
from render.settings.movement_guard import MovementBudget, MovementGuard, PinnedObject
from render.settings.moves import MoveSettings
from render.settings.reading import parse_fleet
from render.settings.removal_guard import GuardScope, RemovalGuard
from render.settings.rendered import RenderedSettings
from render.settings.source import SourceSettings
from render.settings.switches import (
    ClaimMode,
    NamespacePropagation,
    OnPolicyRemoval,
    Permission,
    Rescheduling,
    TieBreak,
)


def an_argosy_yaml(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}


def test_an_empty_document_says_what_no_document_says() -> None:
    assert parse_fleet(an_argosy_yaml()) == Fleet()
    assert parse_fleet({"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet"}) == Fleet()


def test_every_setting_has_its_default() -> None:
    """By hand, for the documents name them: another default changes fleets whose files say nothing of it."""
    assert to_builtins(Fleet()) == {
        "name": "default",
        "source": {
            "paths": (".",),
            "branch": "",
            "ignore": (),
            "is_strict": False,
            "rendered": (),
            "federations": ("KubeFed", "KubeSphere", "Clusternet"),
        },
        "rendered": {"remote": "", "branch": "", "push": "Branch", "forge": None},
        "mirrors": (),
        "emit": (),
        "default_namespace": "default",
        "kinds": (),
        "skipped_apis": (),
        "skipped_namespaces": ("kube-.*",),
        "not_propagated": (),
        "forgotten": (),
        "namespaces": "Needed",
        "is_karmada_compatible": False,
        "claims": "Pure",
        "rescheduling": "Source",
        "reserve_capacity": True,
        "interprets_scale": True,
        "tie_break": "Identity",
        "require_recorded_apis": False,
        "on_policy_removal": "Keep",
        "secrets": "Allow",
        "validation": "Strict",
        "removal_guard": {"count": 10, "percent": 20, "whole": 5, "scope": "Fleet"},
        "movement_guard": {
            "fleet": {"replicas": None, "percent": None},
            "workload": {"replicas": None, "percent": None},
            "minimum_clusters": 0,
            "minimum_regions": 0,
            "pinned": (),
        },
        "cost_guard": {"percent": None, "amount": None},
        "feature_gates": {
            "failover": False,
            "graceful_eviction": True,
            "stateful_failover_injection": False,
            "federated_quota_enforcement": True,
            "multiple_pod_templates_scheduling": False,
            "customized_cluster_resource_modeling": True,
            "propagation_policy_preemption": True,
            "workload_affinity": True,
            "propagate_deps": None,
            "priority_based_scheduling": None,
            "scheduling_overcommit_protection": None,
            "resource_quota_estimate": None,
            "multi_cluster_service": None,
            "controller_priority_queue": None,
            "contextual_logging": None,
            "logging_alpha_options": None,
            "logging_beta_options": None,
        },
        "failover": {
            "no_execute_eviction": "Policy",
            "purge_mode": "Gracefully",
            "grace_seconds": 600,
            "guard": {
                "mass_failure": 33,
                "per_minute": None,
                "keeps_last_copy": True,
                "has_pauses": True,
                "follows_policies": True,
            },
        },
        "descheduler": {"is_enabled": False, "threshold_seconds": 300, "interval_seconds": 120},
        "cron": {"deadline": None},
        "rollouts": {
            "freezes": (),
            "windows": (),
            "signers": (),
            "reviewers": (),
            "sources": (),
            "confirm_within": "24h",
        },
        "moves": {
            "is_make_before_break": False,
            "surge": {"amount": 25, "is_percentage": True},
            "max_unavailable": {"amount": 0, "is_percentage": False},
            "deadline": "",
        },
        "field_rules": (),
        "decryption": {"key_services": (), "secret": None},
        "clusters": (),
        "kubeconfigs": "",
        "path": "",
    }


def test_what_a_tool_is_given_has_its_defaults() -> None:
    emitted = EmissionSettings(deployer=Deployer.ARGO_CD, repository="https://git.example/fleet", status=ToolAccess())
    assert to_builtins(emitted) == {
        "deployer": "ArgoCD",
        "repository": "https://git.example/fleet",
        "placing": "Hub",
        "grouping": "ApplicationSet",
        "namespace": "",
        "git_secret": "",
        "kubeconfig_secret": "",
        "interval": "",
        "project": "",
        "status": {"context": "", "kubeconfig": "", "is_in_cluster": False},
    }


def test_limits_are_numbers_or_percentages() -> None:
    spec = {"moves": "MakeBeforeBreak", "surge": "10%", "maxUnavailable": 2147483647}
    assert parse_fleet({"spec": spec}).moves == MoveSettings(
        is_make_before_break=True, surge=Limit(10, is_percentage=True), max_unavailable=Limit(2147483647)
    )


def test_every_field_is_read() -> None:
    found = parse_fleet(
        {
            "metadata": {"name": "edge"},
            "spec": {
                "source": {"paths": ["fleet"], "ignore": ["*.tmp.yaml"]},
                "rendered": {"remote": "trees", "branch": "live"},
                "mirrors": ["*"],
                "defaultNamespace": "apps",
                "kinds": [
                    {"group": "example.io", "kind": "Widget", "scope": "Namespaced"},
                    {"kind": "Odd", "scope": "Cluster"},
                ],
                "skippedAPIs": ["batch/v1/Job"],
                "skippedNamespaces": ["infra"],
                "namespaces": "All",
                "claims": "Sticky",
                "rescheduling": "Karmada",
                "reserveCapacity": False,
                "tieBreak": "Name",
                "requireRecordedAPIs": True,
                "interpretScale": False,
                "onPolicyRemoval": "Remove",
                "secrets": "Refuse",
                "removalGuard": {"count": 0, "percent": 50, "whole": 1, "scope": "Cluster"},
                "movementGuard": {
                    "fleet": {"replicas": 30},
                    "workload": {"percent": 0},
                    "minimumClusters": 2,
                    "minimumRegions": 1,
                    "pinned": [{"group": "apps", "kind": "StatefulSet", "namespace": "db", "clusters": ["eu-1"]}],
                },
                "clusters": [{"name": "eu-1", "context": "prod-eu", "kubeconfig": "eu.conf"}],
                "kubeconfigs": "~/.kube/fleet",
                "fieldRules": [{"rule": "Yield", "path": ".data.a", "kind": "ConfigMap", "manager": "*-updater"}],
            },
        },
        path="argosy.yaml",
    )
    assert found == Fleet(
        name="edge",
        source=SourceSettings(paths=("fleet",), ignore=("*.tmp.yaml",)),
        rendered=RenderedSettings(remote="trees", branch="live"),
        mirrors=("*",),
        default_namespace="apps",
        kinds=(
            KindScope(group="example.io", kind="Widget", is_namespaced=True),
            KindScope(group="", kind="Odd", is_namespaced=False),
        ),
        skipped_apis=("batch/v1/Job",),
        skipped_namespaces=("infra",),
        namespaces=NamespacePropagation.ALL,
        claims=ClaimMode.STICKY,
        rescheduling=Rescheduling.KARMADA,
        reserve_capacity=False,
        tie_break=TieBreak.NAME,
        require_recorded_apis=True,
        interprets_scale=False,
        on_policy_removal=OnPolicyRemoval.REMOVE,
        secrets=Permission.REFUSE,
        removal_guard=RemovalGuard(count=0, percent=50, whole=1, scope=GuardScope.CLUSTER),
        movement_guard=MovementGuard(
            fleet=MovementBudget(replicas=30),
            workload=MovementBudget(percent=0),
            minimum_clusters=2,
            minimum_regions=1,
            pinned=(PinnedObject(group="apps", kind="StatefulSet", namespace="db", clusters=("eu-1",)),),
        ),
        clusters=(ClusterAccess(name="eu-1", context="prod-eu", kubeconfig="eu.conf"),),
        kubeconfigs="~/.kube/fleet",
        field_rules=(FieldRule(rule=FieldRuling.YIELD, path=".data.a", kind="ConfigMap", manager="*-updater"),),
        path="argosy.yaml",
    )


def test_compatibility_turns_every_switch_but_the_written_ones() -> None:
    assert parse_fleet(an_argosy_yaml(compatibility="Karmada", reserveCapacity=True)) == Fleet(
        is_karmada_compatible=True,
        claims=ClaimMode.STICKY,
        rescheduling=Rescheduling.KARMADA,
        reserve_capacity=True,
        tie_break=TieBreak.NAME,
        require_recorded_apis=True,
        interprets_scale=False,
        feature_gates=FeatureGates(
            federated_quota_enforcement=False, propagation_policy_preemption=False, workload_affinity=False
        ),
        failover=FailoverSettings(
            guard=EvictionGuard(mass_failure=100, keeps_last_copy=False, has_pauses=False, follows_policies=False)
        ),
    )


def test_the_gates_and_settings_of_failover_are_read() -> None:
    settings = {
        "noExecuteEviction": "Always",
        "purgeMode": "Directly",
        "gracefulEvictionTimeoutSeconds": 60,
        "massFailure": 50,
        "evictionsPerMinute": 30,
        "lastCopy": "Evict",
    }
    gates = {"Failover": True, "GracefulEviction": False, "StatefulFailoverInjection": True}
    found = parse_fleet(an_argosy_yaml(featureGates=gates, failover=settings))
    assert found.feature_gates == FeatureGates(failover=True, graceful_eviction=False, stateful_failover_injection=True)
    assert found.failover == FailoverSettings(
        no_execute_eviction=NoExecuteEviction.ALWAYS,
        purge_mode="Directly",
        grace_seconds=60,
        guard=EvictionGuard(mass_failure=50, per_minute=30, keeps_last_copy=False),
    )


def test_branches_carry_the_name_of_a_fleet_that_has_one() -> None:
    names = [
        (each.rendered_branch, each.status_branch, each.mirror_branch("eu"), each.agent_branch("eu"))
        for each in (Fleet(), Fleet(name="edge"), Fleet(rendered=RenderedSettings(branch="live")))
    ]
    assert names == [
        ("argosy/rendered", "argosy/status", "argosy/cluster/eu", "argosy/agent/eu"),
        ("argosy-edge/rendered", "argosy-edge/status", "argosy-edge/cluster/eu", "argosy-edge/agent/eu"),
        ("live", "argosy/status", "argosy/cluster/eu", "argosy/agent/eu"),
    ]


def test_an_empty_text_that_must_be_written_is_read_as_it_stands() -> None:
    """Admission takes it, and whoever asks by it finds nothing; anything else empty means the default."""
    spec = {"clusters": [{"name": "", "context": ""}], "fieldRules": [{"rule": "Own", "path": "", "kind": ""}]}
    read = parse_fleet(an_argosy_yaml(**spec))
    assert (read.clusters, read.field_rules) == (
        (ClusterAccess(name=""),),
        (FieldRule(rule=FieldRuling.OWN, path=""),),
    )
