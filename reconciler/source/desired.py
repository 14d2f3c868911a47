"""The value of a source: everything a commit says, checked and defaulted."""

from collections.abc import Iterable, Mapping

from msgspec import field
from msgspec.structs import replace

from overrides.policy import OverridePolicy
from render.autoscaling import FederatedAutoscaler
from render.binding import Binding
from render.cluster import Cluster, is_applied_by_own_agent
from render.cron.rules import CronAutoscaler
from render.errors import Problem
from render.interpretation.operations import Operation
from render.interpreter import Interpreter
from render.interpreter.customization_keys import KIND as CUSTOMIZATION
from render.interpreter.scale import REPLICATION_CONTROLLERS, Scales, kinds_of_definitions, scales_of, scales_of_members
from render.interpreter.webhooks import Send, webhooks_of
from render.model import ObjectRef, Template, group_of
from render.policy import ClusterTaintPolicy, PropagationPolicy
from render.prices.price_list import PriceList
from render.remedies import Remedy
from render.rescheduling.requests import RescheduleRequest
from render.rescheduling.rollbacks import RollbackRequest
from render.resilience.policy import ResiliencePolicy
from render.rollouts.policy import RolloutControl, RolloutPolicy
from render.settings.fleet import Fleet
from render.values import SelectiveStruct

from .digests import NO_DIGESTS, SourceDigests
from .files import NO_OBJECTS, Skipped
from .provenance import SourceBuild


class KarmadaObjects(SelectiveStruct, frozen=True, kw_only=True):
    """The objects of Karmada's kinds in a source, and of ours, which decide on others.

    ``taint_policies`` taint clusters, ``customizations`` extend the interpreter. ``reschedule_requests`` are the
    WorkloadRebalancers, ``cron_autoscalers`` the CronFederatedHPAs, ``federated_autoscalers`` the FederatedHPAs,
    ``quotas`` the FederatedResourceQuotas, ``remedies`` the actions that conditions of clusters call for.
    ``rollout_policies`` say how changes go out, ``rollout_controls`` what people say about one that does.
    ``price_lists`` say what clusters charge for what workloads request; no placement goes by them.
    ``rollback_requests`` ask for the splits that an earlier rendered commit had.
    ``resilience_policies`` say which losses of clusters objects have to survive.
    ``starting_bindings`` say where objects are that were delivered by Karmada before, and that no pass has placed yet.
    """

    policies: tuple[PropagationPolicy, ...] = ()
    override_policies: tuple[OverridePolicy, ...] = ()
    taint_policies: tuple[ClusterTaintPolicy, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    customizations: tuple[Template, ...] = ()
    reschedule_requests: tuple[RescheduleRequest, ...] = ()
    cron_autoscalers: tuple[CronAutoscaler, ...] = ()
    federated_autoscalers: tuple[FederatedAutoscaler, ...] = ()
    quotas: tuple[Template, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    rollout_policies: tuple[RolloutPolicy, ...] = ()
    rollout_controls: tuple[RolloutControl, ...] = ()
    price_lists: tuple[PriceList, ...] = ()
    rollback_requests: tuple[RollbackRequest, ...] = ()
    resilience_policies: tuple[ResiliencePolicy, ...] = ()
    starting_bindings: tuple[Binding, ...] = ()


class Desired(KarmadaObjects, frozen=True, kw_only=True):
    """The source of one commit, checked and defaulted; every tuple is sorted by name.

    ``templates`` are all objects that may be propagated. ``webhooks`` extend the interpreter, as customizations do.
    ``files`` counts the files with manifests, ``skipped`` names those that are not read. ``fact_scoped_kinds``
    are the groups and kinds of templates whose scope neither Kubernetes nor the source tells (see ``scopes``).
    ``right_minors`` are the minor versions of Kubernetes for which templates are right, of those that are not for all.
    ``judged_by_clusters`` are templates that are wrong as they stand and that an override may correct.
    ``tools`` are the names and versions of the programs that built some of it; ``is_built_by_facts``: what they made
    depends on what members are observed to be. ``builds`` are those that templates come from,
    and ``charts`` what asks for charts, as override policies select it. ``taken`` are files that would be read by
    themselves, by the kustomization of another folder that builds upon them instead.

    ``source_digests`` cover everything but ordinary templates. While they are the
    same, policies, overrides, clusters and settings are the same, and so are the templates that others depend on
    (namespaces, CRDs, priority classes): only the bindings of templates that changed have to be looked at.
    """

    UNSHOWN = ("charts", "builds", "taken", "source_digests")
    UNCOMPARED = ("right_minors", "judged_by_clusters", "charts", "builds", "taken", "source_digests")

    fleet: Fleet = field(default_factory=Fleet)
    templates: tuple[Template, ...] = ()
    webhooks: tuple[Template, ...] = ()
    warnings: tuple[Problem, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    fact_scoped_kinds: frozenset[tuple[str, str]] = frozenset()
    right_minors: Mapping[ObjectRef, range] = field(default_factory=dict)
    judged_by_clusters: frozenset[ObjectRef] = frozenset()
    files: int = 0
    tools: tuple[str, ...] = ()
    is_built_by_facts: bool = False
    charts: tuple[Template, ...] = ()
    builds: tuple[SourceBuild, ...] = ()
    taken: Mapping[str, str] = field(default_factory=dict)
    source_digests: SourceDigests = NO_DIGESTS

    @property
    def source_digest(self) -> str:
        """The digest of everything but ordinary templates."""
        return self.source_digests.whole

    @property
    def without_objects(self) -> tuple[Skipped, ...]:
        """The files, and documents of files, that were skipped because they are no Kubernetes objects."""
        return tuple(each for each in self.skipped if each.reason in NO_OBJECTS)

    @property
    def crds(self) -> tuple[Template, ...]:
        """The CustomResourceDefinitions of the source."""
        return self._templates_of_kind("apiextensions.k8s.io", "CustomResourceDefinition")

    @property
    def forgotten_clusters(self) -> frozenset[str]:
        """The clusters that left the source and are forgotten; nothing of a member is."""
        return frozenset(self.fleet.forgotten) - {cluster.name for cluster in self.clusters}

    @property
    def namespaces(self) -> tuple[Template, ...]:
        """The Namespaces of the source."""
        return self._templates_of_kind("", "Namespace")

    def _templates_of_kind(self, group: str, kind: str) -> tuple[Template, ...]:
        return tuple(each for each in self.templates if each.ref.kind == kind and each.ref.group == group)


def desired_without_objects(desired: Desired, refs: Iterable[ObjectRef]) -> Desired:
    """Return a source without some of its objects."""
    left_out = frozenset(refs)
    if not left_out:
        return desired
    return replace(desired, templates=tuple(each for each in desired.templates if each.ref not in left_out))


def interpreter_of_source(
    desired: Desired, send: Send | None = None, *, members: Iterable[Cluster] = ()
) -> Interpreter:
    """Return the interpreter of a source; ``send`` asks its webhooks (None: they are not asked).

    ``members`` are its clusters as their facts describe them.
    """
    extensions = (each.manifest for each in (*desired.customizations, *desired.webhooks))
    return Interpreter.of(extensions, send=send, scales=known_scales(desired, members))


def known_scales(desired: Desired, members: Iterable[Cluster]) -> Scales:
    """Return the scale subresources that count: those that the source defines go before those that members have."""
    if not desired.fleet.interprets_scale:
        return {}
    definitions = [each.manifest for each in desired.crds]
    of_members, defined = scales_of_members(each.scales for each in members), kinds_of_definitions(definitions)
    left = {kind: scale for kind, scale in of_members.items() if (group_of(kind[0]), kind[1]) not in defined}
    return {**REPLICATION_CONTROLLERS, **left, **scales_of(definitions)}


def is_about_kind(extension: Template, api_version: str, kind: str) -> bool:
    """Say whether a customization, or a configuration of webhooks, is about a kind."""
    if extension.ref.kind == CUSTOMIZATION:
        target = (extension.manifest.get("spec") or {}).get("target") or {}
        return (target.get("apiVersion"), target.get("kind")) == (api_version, kind)
    rules = (rule for webhook in webhooks_of([extension.manifest]) for rule in webhook.rules)
    return any(rule.matches(operation, api_version, kind) for rule in rules for operation in Operation)


def is_failing_over(desired: Desired) -> bool:
    """Say whether something may be evicted from clusters: the fleet or a policy asks for it."""
    fleet = desired.fleet
    by_fleet = fleet.feature_gates.failover or fleet.descheduler.is_enabled
    return by_fleet or any(policy.failover for policy in desired.policies)


def clusters_of_unknown_health(desired: Desired) -> frozenset[str]:
    """Return the clusters that no pass reaches and that nobody reports about: no agent in them, and no other tool."""
    reached = desired.fleet.reachable_members
    if reached is None or desired.fleet.is_reported_by_tools:
        return frozenset()
    return frozenset(
        each.name for each in desired.clusters if each.name not in reached and not is_applied_by_own_agent(each)
    )
