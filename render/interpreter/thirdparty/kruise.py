"""OpenKruise workloads: clone sets, stateful sets, daemon sets and united deployments."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from render.interpreter.fields import mapping_at, text_at, value_at, with_value
from render.interpreter.operations import Interpretation, Items, Replicas
from render.interpreter.references import pod_dependencies
from render.interpreter.requirements import pod_requirements
from render.interpreter.statuses import summed
from render.model import Manifest
from render.resources import DependentObject

from .common import conditions_of, last_words, number_at, observed_generation, reported, required_status

REPLICA_FIELD = ("spec", "replicas")
CLONE_COUNTERS = (
    "replicas",
    "readyReplicas",
    "updatedReplicas",
    "availableReplicas",
    "updatedReadyReplicas",
    "expectedUpdatedReplicas",
)
CLONE_WORDS = ("updateRevision", "currentRevision", "labelSelector")
STATEFUL_COUNTERS = (
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "updatedReadyReplicas",
)
STATEFUL_WORDS = ("updateRevision", "currentRevision")
DAEMON_COUNTERS = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
)
UNITED_COUNTERS = ("replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "unavailableReplicas")


def workload_replicas(workload: Manifest) -> Replicas:
    """Return spec.replicas, which must be there, and the needs of a pod of spec.template."""
    requirements = pod_requirements(mapping_at(workload, "spec", "template", "spec"))
    return Replicas(replicas=int(number_at(workload, *REPLICA_FIELD)), requirements=requirements)


def revise_replicas(workload: Manifest, replicas: int) -> Manifest:
    """Set spec.replicas, even where there was none."""
    return with_value(workload, replicas, *REPLICA_FIELD)


def template_dependencies(workload: Manifest) -> set[DependentObject]:
    """Return the objects the pods of spec.template refer to; for some kinds Karmada's rule fails without any."""
    spec = mapping_at(workload, "spec", "template", "spec")
    return pod_dependencies(spec, text_at(workload, "metadata", "namespace"))


def is_rollout_complete(observed: Manifest) -> bool:
    """Say whether the workload was observed, every replica updated, every updated one available."""
    status = required_status(observed)
    if status.get("observedGeneration") != value_at(observed, "metadata", "generation"):
        return False
    if value_at(observed, *REPLICA_FIELD) is not None and number_at(status, "updatedReplicas") < number_at(
        observed, *REPLICA_FIELD
    ):
        return False
    return number_at(status, "availableReplicas") >= number_at(status, "updatedReplicas")


def is_daemon_set_available(observed: Manifest) -> bool:
    """Say whether the daemon set was observed, every node updated, every updated one available."""
    status = required_status(observed)
    if status.get("observedGeneration") != value_at(observed, "metadata", "generation"):
        return False
    if number_at(status, "updatedNumberScheduled") < number_at(status, "desiredNumberScheduled"):
        return False
    return number_at(status, "numberAvailable") >= number_at(status, "updatedNumberScheduled")


def aggregation(counters: Sequence[str], words: Sequence[str] = ()) -> Callable[[Manifest, Items], Any]:
    """Return the aggregation of statuses: sums, last values, and the generation every member has observed."""

    def aggregated(template: Manifest, items: Items) -> Any:
        return {
            **mapping_at(template, "status"),
            **summed(items, counters),
            **last_words(items, words),
            "observedGeneration": observed_generation(template, items),
        }

    return aggregated


def aggregated_daemon_set(template: Manifest, items: Items) -> Any:
    """Add up; the hash is a number while there is none."""
    status = aggregation(DAEMON_COUNTERS, ["daemonSetHash"])(template, items)
    return status if status["daemonSetHash"] else {**status, "daemonSetHash": 0}


def aggregated_united(template: Manifest, items: Items) -> Any:
    """Add up; of conditions of one type the last counts."""
    status = aggregation(UNITED_COUNTERS)(template, items)
    by_type = {text_at(condition, "type"): condition for _, condition in conditions_of(items)}
    return {**status, "conditions": list(by_type.values())} if by_type else status


def _scaled(counters: Sequence[str], words: Sequence[str], **special: Any) -> Interpretation:
    functions: dict[str, Any] = {
        "replicas": workload_replicas,
        "revise": revise_replicas,
        "replica_field": REPLICA_FIELD,
        "aggregate": aggregation(counters, words),
        "reflect": lambda observed: reported(observed, (*counters, *words, "observedGeneration")),
        "health": is_rollout_complete,
        "dependencies": template_dependencies,
    }
    return Interpretation(**{**functions, **special})


KINDS: Mapping[tuple[str, str], Interpretation] = {
    ("apps.kruise.io/v1alpha1", "CloneSet"): _scaled(CLONE_COUNTERS, CLONE_WORDS),
    ("apps.kruise.io/v1beta1", "StatefulSet"): _scaled(STATEFUL_COUNTERS, STATEFUL_WORDS),
    ("apps.kruise.io/v1alpha1", "UnitedDeployment"): _scaled(
        UNITED_COUNTERS,
        (),
        aggregate=aggregated_united,
        reflect=lambda observed: reported(observed, (*UNITED_COUNTERS, "conditions", "observedGeneration")),
    ),
    ("apps.kruise.io/v1alpha1", "DaemonSet"): Interpretation(
        aggregate=aggregated_daemon_set,
        reflect=lambda observed: reported(observed, (*DAEMON_COUNTERS, "daemonSetHash", "observedGeneration")),
        health=is_daemon_set_available,
        dependencies=template_dependencies,
    ),
}
"""The interpretation of each kind, by apiVersion and kind."""
