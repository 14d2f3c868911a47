"""A Fleet from an admitted argosy.yaml: a written switch wins over the one ``compatibility`` implies."""

from collections.abc import Mapping
from typing import Any

from render.fleet import (
    ClaimMode,
    ClusterAccess,
    Deployer,
    DeschedulerSettings,
    EmissionSettings,
    FailoverSettings,
    FeatureGates,
    FieldRule,
    FieldRuling,
    Fleet,
    ForgeKind,
    Grouping,
    KindScope,
    NamespacePropagation,
    NoExecuteEviction,
    OnPolicyRemoval,
    OtherFederation,
    Permission,
    Placing,
    PushMode,
    RenderedRelease,
    RenderedSettings,
    Rescheduling,
    SecretName,
    SourceSettings,
    TemplateValidation,
    TieBreak,
    ToolAccess,
)
from render.guards import EvictionGuard, GuardScope, MovementBudget, MovementGuard, PinnedObject, RemovalGuard
from render.model import Manifest

_NAMESPACE = "argosy-system"
_ARGOSY: Manifest = {
    "claims": "Pure",
    "rescheduling": "Source",
    "reserveCapacity": True,
    "tieBreak": "Identity",
    "requireRecordedAPIs": False,
    "guardsEvictions": True,
    "enforcesQuotas": True,
}
_KARMADA: Manifest = {
    "claims": "Sticky",
    "rescheduling": "Karmada",
    "reserveCapacity": False,
    "tieBreak": "Name",
    "requireRecordedAPIs": True,
    "guardsEvictions": False,
    "enforcesQuotas": False,
}


_UNGUARDED = EvictionGuard(mass_failure=100, keeps_last_copy=False, has_pauses=False, follows_policies=False)
"""The limits of Karmada, which has none."""


def fleet(manifest: Manifest, *, path: str = "") -> Fleet:
    """Return the settings of an admitted Fleet document."""
    spec = manifest.get("spec") or {}
    is_karmada_compatible = spec.get("compatibility") == "Karmada"
    switches = {**(_KARMADA if is_karmada_compatible else _ARGOSY), **spec}
    return Fleet(
        name=(manifest.get("metadata") or {}).get("name") or "default",
        source=_source(spec.get("source") or {}),
        rendered=_rendered(spec.get("rendered") or {}),
        mirrors=tuple(spec.get("mirrors") or ()),
        emit=tuple(map(_emission, spec.get("emit") or ())),
        default_namespace=spec.get("defaultNamespace") or "default",
        kinds=tuple(map(_kind_scope, spec.get("kinds") or ())),
        skipped_apis=tuple(spec.get("skippedAPIs") or ()),
        skipped_namespaces=tuple(spec.get("skippedNamespaces", ("kube-.*",))),
        namespaces=NamespacePropagation(spec.get("namespaces") or "Needed"),
        is_karmada_compatible=is_karmada_compatible,
        claims=ClaimMode(switches["claims"]),
        rescheduling=Rescheduling(switches["rescheduling"]),
        reserve_capacity=switches["reserveCapacity"],
        tie_break=TieBreak(switches["tieBreak"]),
        require_recorded_apis=switches["requireRecordedAPIs"],
        on_policy_removal=OnPolicyRemoval(spec.get("onPolicyRemoval") or "Keep"),
        secrets=Permission(spec.get("secrets") or "Allow"),
        validation=TemplateValidation(spec.get("validation") or "Strict"),
        removal_guard=_removal_guard(spec.get("removalGuard") or {}),
        movement_guard=_movement_guard(spec.get("movementGuard") or {}),
        feature_gates=_feature_gates(spec.get("featureGates") or {}, enforces_quotas=switches["enforcesQuotas"]),
        failover=_failover(spec.get("failover") or {}, is_guarded=switches["guardsEvictions"]),
        descheduler=_descheduler(spec.get("descheduler") or {}),
        cron_deadline=(spec.get("cron") or {}).get("startingDeadlineSeconds"),
        field_rules=tuple(map(_field_rule, spec.get("fieldRules") or ())),
        decryption_secret=_decryption_secret(spec.get("decryption") or {}),
        key_services=tuple((spec.get("decryption") or {}).get("keyServices") or ()),
        clusters=tuple(map(_cluster_access, spec.get("clusters") or ())),
        kubeconfigs=spec.get("kubeconfigs") or "",
        path=path,
    )


def _source(plain: Manifest) -> SourceSettings:
    return SourceSettings(
        paths=tuple(plain.get("paths") or (".",)),
        ignore=tuple(plain.get("ignore") or ()),
        is_strict=bool(plain.get("strict")),
        rendered=tuple(RenderedRelease(each) for each in plain.get("render") or ()),
        **_federations(plain),
    )


def _federations(plain: Manifest) -> dict[str, tuple[OtherFederation, ...]]:
    listed = plain.get("federations")
    return {} if listed is None else {"federations": tuple(map(OtherFederation, listed))}


def _rendered(plain: Manifest) -> RenderedSettings:
    return RenderedSettings(
        remote=plain.get("remote") or "",
        branch=plain.get("branch") or "",
        push=PushMode(plain.get("push") or PushMode.BRANCH),
        forge=ForgeKind(plain["forge"]) if plain.get("forge") else None,
    )


def _emission(plain: Manifest) -> EmissionSettings:
    return EmissionSettings(
        deployer=Deployer(plain["for"]),
        repository=plain["repository"],
        placing=Placing(plain.get("in") or Placing.HUB),
        grouping=Grouping(plain.get("as") or Grouping.APPLICATION_SET),
        namespace=plain.get("namespace") or "",
        git_secret=plain.get("gitSecret") or "",
        kubeconfig_secret=plain.get("kubeconfigSecret") or "",
        interval=plain.get("interval") or "",
        project=plain.get("project") or "",
        status=_tool_access(plain["status"]) if plain.get("status") is not None else None,
    )


def _tool_access(plain: Manifest) -> ToolAccess:
    return ToolAccess(
        context=plain.get("context") or "",
        kubeconfig=plain.get("kubeconfig") or "",
        is_in_cluster=bool(plain.get("inCluster")),
    )


def _kind_scope(plain: Manifest) -> KindScope:
    return KindScope(group=plain.get("group") or "", kind=plain["kind"], is_namespaced=plain["scope"] == "Namespaced")


def _removal_guard(plain: Manifest) -> RemovalGuard:
    default = RemovalGuard()
    return RemovalGuard(
        count=plain.get("count", default.count),
        percent=plain.get("percent", default.percent),
        whole=plain.get("whole", default.whole),
        scope=GuardScope(plain.get("scope", default.scope)),
    )


def _movement_guard(plain: Manifest) -> MovementGuard:
    return MovementGuard(
        fleet=_movement_budget(plain.get("fleet") or {}),
        workload=_movement_budget(plain.get("workload") or {}),
        minimum_clusters=plain.get("minimumClusters") or 0,
        minimum_regions=plain.get("minimumRegions") or 0,
        pinned=tuple(map(_pinned_object, plain.get("pinned") or ())),
    )


def _feature_gates(plain: Manifest, *, enforces_quotas: bool) -> FeatureGates:
    default = FeatureGates()
    return FeatureGates(
        failover=plain.get("Failover", default.failover),
        graceful_eviction=plain.get("GracefulEviction", default.graceful_eviction),
        stateful_failover_injection=plain.get("StatefulFailoverInjection", default.stateful_failover_injection),
        federated_quota_enforcement=plain.get("FederatedQuotaEnforcement", enforces_quotas),
    )


def _failover(plain: Manifest, *, is_guarded: bool) -> FailoverSettings:
    default = FailoverSettings()
    guard = default.guard if is_guarded else _UNGUARDED
    return FailoverSettings(
        no_execute_eviction=NoExecuteEviction(plain.get("noExecuteEviction") or default.no_execute_eviction),
        purge_mode=plain.get("purgeMode") or default.purge_mode,
        grace_seconds=plain.get("gracefulEvictionTimeoutSeconds", default.grace_seconds),
        guard=EvictionGuard(
            mass_failure=plain.get("massFailure", guard.mass_failure),
            per_minute=plain.get("evictionsPerMinute", guard.per_minute),
            keeps_last_copy=plain["lastCopy"] == "Keep" if plain.get("lastCopy") else guard.keeps_last_copy,
            has_pauses=plain["repeatedMoves"] == "Pause" if plain.get("repeatedMoves") else guard.has_pauses,
            follows_policies=plain["underWay"] == "Follow" if plain.get("underWay") else guard.follows_policies,
        ),
    )


def _descheduler(plain: Manifest) -> DeschedulerSettings:
    default = DeschedulerSettings()
    return DeschedulerSettings(
        is_enabled=plain.get("enabled", default.is_enabled),
        threshold_seconds=plain.get("unschedulableThresholdSeconds", default.threshold_seconds),
        interval_seconds=plain.get("intervalSeconds", default.interval_seconds),
    )


def _movement_budget(plain: Manifest) -> MovementBudget:
    return MovementBudget(replicas=plain.get("replicas"), percent=plain.get("percent"))


def _pinned_object(plain: Manifest) -> PinnedObject:
    return PinnedObject(
        group=plain.get("group") or "",
        kind=plain.get("kind") or "",
        namespace=plain.get("namespace") or "",
        name=plain.get("name") or "",
        clusters=tuple(plain.get("clusters") or ()),
    )


def _field_rule(plain: Manifest) -> FieldRule:
    return FieldRule(
        rule=FieldRuling(plain["rule"]),
        path=plain["path"],
        group=plain.get("group") or "",
        kind=plain.get("kind") or "",
        namespace=plain.get("namespace") or "",
        name=plain.get("name") or "",
        manager=plain.get("manager") or "",
    )


def _cluster_access(plain: Manifest) -> ClusterAccess:
    return ClusterAccess(
        name=plain["name"], context=plain.get("context") or "", kubeconfig=plain.get("kubeconfig") or ""
    )


def _decryption_secret(spec: Mapping[str, Any]) -> SecretName | None:
    found = spec.get("secret")
    return SecretName(found.get("namespace") or _NAMESPACE, found["name"]) if found else None
