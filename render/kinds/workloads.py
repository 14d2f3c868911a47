"""Deployments and replica sets, and what the rules about all kinds with replicas are made of."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from render.interpretation.fields import (
    count_at,
    integer_at,
    manifest_with_other_integer,
    manifest_without_value,
    mapping_at,
    text_at,
    value_at,
)
from render.interpretation.operations import Interpretation, InterpreterError, Items, Replicas
from render.interpretation.progress import (
    NOT_OBSERVED,
    OLD_REPLICAS,
    LiveState,
    Progress,
    counter_in_status,
    live_condition,
    state_of_broken_object,
    state_of_missing_replicas,
    state_of_old_replicas,
    status_of,
    wanted_replicas,
)
from render.interpretation.references import pod_dependencies
from render.interpretation.requirements import pod_requirements
from render.interpretation.retention import Retained
from render.interpretation.statuses import (
    distinct_statuses,
    generation_of_manifest,
    observed_template_generation,
    reflected_status_fields,
    status_without_zeros,
    sums_of_counters,
)
from render.model import Manifest
from render.resources import DependentObject

from .kind import COMMON_MAPS, NO_DELIVERY_RULES, NO_LIVE_RULES, BuiltInKind, built_in_kinds_without_rules
from .pod_defaults import POD_DEFAULTS, defaults_below_path

PAUSED = "it is paused (spec.paused), so nothing is rolled out"
POD_TEMPLATE = ("spec", "template", "spec")
"""The path of the spec of pods in most kinds that make some."""
REPLICA_FIELD = ("spec", "replicas")
RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas"


class Counters(Struct, frozen=True, kw_only=True):
    """The numbers of a workload's status: those to add up, those always written, those a member reports.

    ``is_scaled`` kinds have spec.replicas, which must be an integer for every operation.
    """

    summed: tuple[str, ...]
    is_scaled: bool = True
    required: tuple[str, ...] = ()
    reflected: tuple[str, ...]


DEPLOYMENT = Counters(
    summed=("replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "unavailableReplicas"),
    reflected=(
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "observedGeneration",
    ),
)
REPLICA_SET = Counters(
    summed=("replicas", "readyReplicas", "availableReplicas"),
    required=("replicas",),
    reflected=("replicas", "readyReplicas", "availableReplicas", "observedGeneration"),
)


def workload_replicas(workload: Manifest) -> Replicas:
    """Return spec.replicas and the needs of a pod of spec.template."""
    spec = mapping_at(workload, *POD_TEMPLATE)
    return Replicas(replicas=integer_at(workload, *REPLICA_FIELD) or 0, requirements=pod_requirements(spec))


def revise_replicas(workload: Manifest, replicas: int) -> Manifest:
    """Set spec.replicas where there is one; a workload without the field stays as it is."""
    return manifest_with_other_integer(workload, replicas, *REPLICA_FIELD)


def asks_to_retain_replicas(manifest: Manifest) -> bool:
    """Say whether an object's label leaves its replicas to the member."""
    metadata = manifest.get("metadata")
    # Plans ask this twice of every object, so the ordinary ones are not walked with the care that finds wrong types.
    if type(metadata) is dict and not metadata.get("labels"):
        return False
    labels = metadata.get("labels") if type(metadata) is dict else None
    if type(labels) is not dict:
        labels = mapping_at(manifest, "metadata", "labels")
    return labels.get(RETAIN_REPLICAS) == "true"


def live_replicas(observed: Manifest, *path: str) -> int:
    """Return the replicas of a member's object, which must be a number where they are to be kept."""
    replicas = value_at(observed, *path)
    if isinstance(replicas, bool) or not isinstance(replicas, int):
        raise InterpreterError(f"label {RETAIN_REPLICAS} asks to keep the member's spec.replicas, which is no integer")
    return replicas


def template_dependencies(workload: Manifest) -> set[DependentObject]:
    """Return the objects the pods of spec.template refer to."""
    spec = mapping_at(workload, *POD_TEMPLATE)
    return pod_dependencies(spec, text_at(workload, "metadata", "namespace"))


def scaled_dependencies(workload: Manifest) -> set[DependentObject]:
    """Return the same for a kind with replicas, which must be a number."""
    integer_at(workload, *REPLICA_FIELD)
    return template_dependencies(workload)


def aggregation_of_counters(counters: Counters, *, by_member: bool = False) -> Callable[[Manifest, Items], Any]:
    """Return the aggregation of statuses: the sums, and observedGeneration once every member has caught up.

    ``by_member`` compares a member's template generation with its own generation instead of the template's: Karmada's
    rule for stateful sets.
    """
    optional = {*counters.summed, "observedGeneration", "fullyLabeledReplicas"} - {*counters.required}

    def aggregated_workload_status(template: Manifest, items: Items) -> Any:
        if counters.is_scaled:
            integer_at(template, *REPLICA_FIELD)
        wanted, current = generation_of_manifest(template), mapping_at(template, "status")
        new = sums_of_counters(items, counters.summed)
        caught_up = sum(
            times * _has_member_observed_generation(status, None if by_member else wanted)
            for status, times in distinct_statuses(items)
        )
        if caught_up == len(items or ()):
            new["observedGeneration"] = wanted
        if all(count_at(current, counter) == count for counter, count in new.items()):
            return template.get("status")
        return status_without_zeros({**current, **new}, sorted(optional))

    return aggregated_workload_status


def _has_member_observed_generation(status: Mapping[str, Any], wanted: int | None) -> bool:
    own = count_at(status, "generation")
    least = own if wanted is None else wanted
    return count_at(status, "observedGeneration") >= own and count_at(status, "resourceTemplateGeneration") >= least


def reflection_of_counters(counters: Counters) -> Callable[[Manifest], Any]:
    """Return the reflection of a member's status: its counters with both generations; None when all is zero."""

    def reflect(observed: Manifest) -> Any:
        status = reflected_status_fields(observed, counters.reflected, counters.required)
        if status is None:
            return None
        generations = {
            "generation": generation_of_manifest(observed),
            "resourceTemplateGeneration": observed_template_generation(observed),
        }
        return status_without_zeros({**generations, **status}, tuple(generations)) or None

    return reflect


def is_rollout_complete(observed: Manifest) -> bool:
    """Say whether the controller has seen the workload, every replica is updated, and every updated one available."""
    status, wanted = mapping_at(observed, "status"), integer_at(observed, *REPLICA_FIELD)
    updated = count_at(status, "updatedReplicas")
    return (
        is_newest_generation_observed(observed)
        and (wanted is None or updated >= wanted)
        and count_at(status, "availableReplicas") >= updated
    )


def is_replica_set_available(observed: Manifest) -> bool:
    """Say whether the controller has seen the replica set, and every replica is available."""
    wanted = integer_at(observed, *REPLICA_FIELD)
    available = count_at(observed, "status", "availableReplicas")
    return is_newest_generation_observed(observed) and (wanted is None or available >= wanted)


def is_newest_generation_observed(observed: Manifest) -> bool:
    """Say whether the controller has seen the newest generation."""
    return count_at(observed, "status", "observedGeneration") == generation_of_manifest(observed)


def deployment_progress(live: Manifest) -> LiveState | None:
    """Return how far a deployment is rolled out."""
    progressing = live_condition(live, "Progressing")
    if progressing.get("reason") == "ProgressDeadlineExceeded":
        return state_of_broken_object(progressing)
    failure = live_condition(live, "ReplicaFailure")
    if failure.get("status") == "True":
        return state_of_broken_object(failure)
    state = _rollout_progress(live)
    is_paused = (live.get("spec") or {}).get("paused") is True
    if state is not None and is_paused and state.reason != NOT_OBSERVED:
        return state._replace(reason="Paused", message=f"{PAUSED}; {state.message}")
    return state


def _rollout_progress(live: Manifest) -> LiveState | None:
    status, wanted = status_of(live), wanted_replicas(live)
    for counter in ("readyReplicas", "availableReplicas"):
        if counter_in_status(status, counter) < wanted:
            return state_of_missing_replicas(counter, counter_in_status(status, counter), wanted)
    updated = counter_in_status(status, "updatedReplicas")
    if updated < wanted:
        return state_of_old_replicas("updatedReplicas", updated, wanted)
    if counter_in_status(status, "replicas") > updated:
        return LiveState(Progress.IN_PROGRESS, OLD_REPLICAS, "replicas of an older revision are still there")
    if "observedGeneration" not in status:
        return LiveState(Progress.IN_PROGRESS, NOT_OBSERVED, "its controller has not seen it yet")
    return None


def replica_set_progress(live: Manifest) -> LiveState | None:
    """Return how far a replica set has its pods."""
    failure = live_condition(live, "ReplicaFailure")
    if failure.get("status") == "True":
        return state_of_broken_object(failure)
    status, wanted = status_of(live), wanted_replicas(live)
    ready = counter_in_status(status, "availableReplicas")
    return None if ready >= wanted else state_of_missing_replicas("availableReplicas", ready, wanted)


def workload_without_revision_notes(manifest: Manifest) -> Manifest:
    """Drop the notes of the controller about revisions."""
    if not mapping_at(manifest, "metadata").get("annotations"):
        return manifest
    for annotation in ("deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history"):
        manifest = manifest_without_value(manifest, "metadata", "annotations", annotation)
    return manifest


def scaled_interpretation(counters: Counters, **special: Any) -> Interpretation:
    """Return the interpretation of a kind with replicas; ``special`` are its operations that differ from most."""
    functions: dict[str, Any] = {
        "replicas": workload_replicas,
        "revise": revise_replicas,
        "replica_field": REPLICA_FIELD,
        "aggregate": aggregation_of_counters(counters),
        "reflect": reflection_of_counters(counters),
        "health": is_rollout_complete,
        "dependencies": scaled_dependencies,
    }
    return Interpretation(**{**functions, **special})


KINDS = (
    BuiltInKind(
        group="apps",
        kind="Deployment",
        version="v1",
        is_namespaced=True,
        defaults={
            ("spec", "progressDeadlineSeconds"): 600,
            ("spec", "revisionHistoryLimit"): 10,
            ("spec", "strategy", "rollingUpdate", "maxSurge"): "25%",
            ("spec", "strategy", "rollingUpdate", "maxUnavailable"): "25%",
            ("spec", "strategy", "type"): "RollingUpdate",
            **defaults_below_path(POD_TEMPLATE, POD_DEFAULTS),
        },
        prune=workload_without_revision_notes,
        pod_spec=POD_TEMPLATE,
        has_edited_containers=True,
        is_scaled=True,
        counts=("replicas",),
        is_recreatable=True,
        progress=deployment_progress,
        short_names=("deploy",),
        interpretation=scaled_interpretation(DEPLOYMENT),
        retained=(Retained(path=REPLICA_FIELD, condition=asks_to_retain_replicas, read=live_replicas),),
        has_no="filled_in clean stage takes_others_along maps is_transient pruned_fields",
    ),
    BuiltInKind(
        group="apps",
        kind="ReplicaSet",
        version="v1",
        is_namespaced=True,
        defaults=defaults_below_path(POD_TEMPLATE, POD_DEFAULTS),
        pod_spec=POD_TEMPLATE,
        has_edited_containers=True,
        is_scaled=True,
        counts=("replicas",),
        progress=replica_set_progress,
        short_names=("rs",),
        interpretation=scaled_interpretation(REPLICA_SET, health=is_replica_set_available),
        has_no=f"{NO_DELIVERY_RULES} retained filled_in clean prune pruned_fields",
    ),
    BuiltInKind(
        group="",
        kind="ReplicationController",
        version="v1",
        is_namespaced=True,
        defaults=defaults_below_path(POD_TEMPLATE, POD_DEFAULTS),
        pod_spec=POD_TEMPLATE,
        is_scaled=True,
        maps={**COMMON_MAPS, "selector": ""},
        short_names=("rc",),
        has_no=f"{NO_LIVE_RULES} has_edited_containers counts filled_in clean prune is_transient"
        " stage takes_others_along is_recreatable pruned_fields",
    ),
    *built_in_kinds_without_rules("apps", "ControllerRevision", is_namespaced=True, not_written="controllers write it"),
    *built_in_kinds_without_rules("extensions", "DaemonSet Deployment ReplicaSet", is_namespaced=True),
)
"""The kinds that run pods for as long as they are there; those of ``extensions`` are served no more."""
