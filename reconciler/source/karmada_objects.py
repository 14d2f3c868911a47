"""Karmada's own kinds in the source: policies, overrides, clusters and interpreter customizations, admitted.

Admission applies the defaults and the validation of Karmada's CRDs and webhooks, which nobody else runs here.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial

from msgspec import Struct, field
from msgspec.structs import replace

from overrides.admission import all_kinds
from overrides.parsing import override_policy
from overrides.policy import OverridePolicy
from render.admission import Admitted, AdmittedKind, Kinds, admitted, kind_of
from render.admission.policy_warnings import WITHOUT_ENFORCEMENT, WITHOUT_FAILOVER, WITHOUT_INJECTION
from render.autoscaling import FederatedAutoscaler, federated_autoscaler
from render.binding import Binding
from render.cluster import Cluster
from render.cron.rules import CronAutoscaler, cron_autoscaler
from render.errors import Problem
from render.model import Manifest, ObjectRef, Template
from render.parsing import SharedPlacements, binding, cluster, cluster_taint_policy, propagation_policy
from render.policy import ClusterTaintPolicy, PropagationPolicy
from render.remedies import Remedy, remedy
from render.rescheduling.requests import RescheduleRequest, reschedule_request
from render.settings.feature_gates import FeatureGates

from .manifests import FieldProblem, LocatedManifest
from .templates import template_of

_PREFERENCE = "PreferNoSchedule"


@cache
def source_kinds() -> Kinds:
    """Return the kinds that a source may hold and that are admitted."""
    return all_kinds()


def admitted_kind(manifest: Manifest) -> AdmittedKind | None:
    """Return the admitted kind that a manifest is of, if it is of one."""
    return kind_of(manifest["apiVersion"], manifest["kind"], source_kinds())


class KarmadaObjects(Struct):
    """The policies, overrides, clusters, customizations and rebalancers of the source, and what is wrong with others.

    ``taint_policies`` taint clusters, ``bindings`` say where objects are that were delivered by Karmada before.
    ``admitted`` has the name and the place of each of these.
    """

    policies: list[PropagationPolicy] = field(default_factory=list)
    override_policies: list[OverridePolicy] = field(default_factory=list)
    taint_policies: list[ClusterTaintPolicy] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)
    customizations: list[Template] = field(default_factory=list)
    reschedule_requests: list[RescheduleRequest] = field(default_factory=list)
    cron_autoscalers: list[CronAutoscaler] = field(default_factory=list)
    federated_autoscalers: list[FederatedAutoscaler] = field(default_factory=list)
    quotas: list[Template] = field(default_factory=list)
    remedies: list[Remedy] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    admitted: list[tuple[str, LocatedManifest]] = field(default_factory=list)
    problems: list[FieldProblem] = field(default_factory=list)
    warnings: list[FieldProblem] = field(default_factory=list)

    def warnings_beside(self, gates: FeatureGates) -> Iterator[FieldProblem]:
        """Yield the warnings, but for what a gate of the fleet makes work."""
        is_on = {
            WITHOUT_FAILOVER: gates.failover,
            WITHOUT_INJECTION: gates.stateful_failover_injection,
            WITHOUT_ENFORCEMENT: gates.federated_quota_enforcement,
        }
        moot = [said for said, is_so in is_on.items() if is_so]
        for warning in self.warnings:
            if not any(said in warning.problem.message for said in moot):
                yield warning


def load_karmada_objects(
    places: Iterable[tuple[LocatedManifest, AdmittedKind]], *, default_namespace: str
) -> KarmadaObjects:
    """Admit each object and return the values of those that are admitted."""
    objects, placements = KarmadaObjects(), SharedPlacements()
    admit = partial(admitted, default_namespace=default_namespace)
    for place, kind in places:
        outcome = partial(admit, place.manifest, kind)
        objects.problems += place.problems_of_call(partial(_admit, objects, place, outcome, placements))
    return objects


def _admit(
    objects: KarmadaObjects, place: LocatedManifest, admit: Callable[[], Admitted], placements: SharedPlacements
) -> list[FieldProblem]:
    """Add the value of an object that is admitted, and return what is wrong with it."""
    outcome = admit()
    if place.manifest["kind"] == "Cluster" and outcome.object is None:
        outcome = _with_preferences_left_out(place.manifest, outcome)
    objects.warnings += (FieldProblem(place, warning) for warning in outcome.warnings)
    if outcome.object is not None:
        objects.admitted.append((_add(objects, place, outcome.object, placements), place))
    return [FieldProblem(place, problem) for problem in outcome.problems]


def _with_preferences_left_out(manifest: Manifest, refused: Admitted) -> Admitted:
    """Admit a Cluster whose only fault is a taint that Karmada refuses and its scheduler would not look at."""
    taints = manifest["spec"].get("taints") if isinstance(manifest.get("spec"), dict) else None
    if not isinstance(taints, list):
        return refused
    blocking = [taint for taint in taints if not (isinstance(taint, dict) and taint.get("effect") == _PREFERENCE)]
    outcome = admitted({**manifest, "spec": {**manifest["spec"], "taints": blocking}}, source_kinds()["Cluster"])
    if outcome.object is None:
        return refused
    warning = Problem("", 0, "spec.taints", f"{_PREFERENCE} means nothing for clusters; taints with it are left out")
    return replace(outcome, warnings=(*outcome.warnings, warning))


def _add(objects: KarmadaObjects, place: LocatedManifest, manifest: Manifest, placements: SharedPlacements) -> str:
    """Add the value of an admitted object and return its name for messages."""
    path, document = place.file.path, place.number
    match manifest["kind"]:
        case "PropagationPolicy" | "ClusterPropagationPolicy":
            policy = propagation_policy(manifest, path=path, document=document, placements=placements)
            objects.policies.append(policy)
            return str(policy)
        case "OverridePolicy" | "ClusterOverridePolicy":
            override = override_policy(manifest, path=path, document=document)
            objects.override_policies.append(override)
            return str(override)
        case "ClusterTaintPolicy":
            objects.taint_policies.append(cluster_taint_policy(manifest, path=path, document=document))
        case "Cluster":
            objects.clusters.append(cluster(manifest, path=path, document=document))
        case "ResourceInterpreterCustomization":
            objects.customizations.append(template_of(place, manifest))
        case "ResourceBinding" | "ClusterResourceBinding":
            objects.bindings.append(binding(manifest, placements=placements))
            return str(ObjectRef.of(manifest))
        case _:
            _add_timed(objects, place, manifest)
            return str(ObjectRef.of(manifest))
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def _add_timed(objects: KarmadaObjects, place: LocatedManifest, manifest: Manifest) -> None:
    """Add the value of an object that acts on time, or on what is observed."""
    path, document = place.file.path, place.number
    match manifest["kind"]:
        case "WorkloadRebalancer":
            objects.reschedule_requests.append(reschedule_request(manifest, path=path, document=document))
        case "FederatedResourceQuota":
            objects.quotas.append(template_of(place, manifest))
        case "CronFederatedHPA":
            objects.cron_autoscalers.append(cron_autoscaler(manifest, path=path, document=document))
        case "FederatedHPA":
            objects.federated_autoscalers.append(federated_autoscaler(manifest, path=path, document=document))
        case _:
            objects.remedies.append(remedy(manifest))
