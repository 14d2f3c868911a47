"""Spark applications: a driver and its executors."""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from render.expressions import lazy_expression
from render.interpretation.fields import mapping_at, text_at, value_at
from render.interpretation.finishing import COMPLETE, FAILED, finish_of_status_word
from render.interpretation.operations import Interpretation, InterpreterError, Items
from render.interpretation.requirements import node_claim_of_pod
from render.interpretation.statuses import statuses_by_cluster, sums_of_counters
from render.model import Manifest
from render.quantity import QuantityFormat, format_quantity
from render.resources import Component, ReplicaRequirements

from .common import reported_fields, required_number_at

REPORTED = (
    "applicationState",
    "driverInfo",
    "executionAttempts",
    "executorState",
    "lastSubmissionAttemptTime",
    "sparkApplicationId",
    "submissionAttempts",
    "submissionID",
    "terminationTime",
)
FINISHES = {"COMPLETED": COMPLETE, "FAILED": FAILED}
STATES = (
    "FAILED",
    "SUBMISSION_FAILED",
    "FAILING",
    "INVALIDATING",
    "UNKNOWN",
    "PENDING_RERUN",
    "PENDING_SUBMISSION",
    "SUBMITTED",
    "RUNNING",
    "SUCCEEDING",
    "COMPLETED",
)
"""The states from worst to best; any other state is better than all."""
MEMORY = lazy_expression(r"([0-9]+(?:\.[0-9]+)?)([kmgt]?)(?:i?b)?", re.ASCII | re.IGNORECASE)
UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
LEAST_OVERHEAD = Fraction(384 * 2**20)
JVM = {"Java", "Scala"}


def application_components(application: Manifest) -> Iterator[Component]:
    """Yield driver and executors; memory is the JVM's and the overhead beside it."""
    spec = mapping_at(application, "spec")
    yield Component(name="driver", replicas=1, requirements=_requirements_of_role(spec, "driver"))
    yield Component(
        name="executor", replicas=_count_of_executors(spec), requirements=_requirements_of_role(spec, "executor")
    )


def _count_of_executors(spec: Mapping[str, Any]) -> int:
    """Return the declared number, or 1; with dynamic allocation at least its initial number."""
    numbers = [
        1 if value_at(spec, "executor", "instances") is None else required_number_at(spec, "executor", "instances")
    ]
    allocation = mapping_at(spec, "dynamicAllocation")
    if allocation.get("enabled") is True:
        fields = ("initialExecutors", "minExecutors")
        numbers += [required_number_at(allocation, field) for field in fields if allocation.get(field) is not None]
    return int(max(numbers))


def _requirements_of_role(spec: Mapping[str, Any], role: str) -> ReplicaRequirements:
    pod = mapping_at(spec, role)
    memory = _memory_as_spark_reads_it(pod, "memory", default="1g")
    if pod.get("memoryOverhead"):
        overhead = _memory_as_spark_reads_it(pod, "memoryOverhead")
    else:
        share = Fraction("0.1") if text_at(spec, "type") in JVM else Fraction("0.4")
        overhead = max(memory * share, LEAST_OVERHEAD)
    request = {
        "cpu": str(1 if pod.get("cores") is None else required_number_at(pod, "cores")),
        "memory": _bytes_as_quantity(memory + overhead),
    }
    if pod.get("gpu") is not None and value_at(pod, "gpu", "quantity") is not None:
        request[text_at(pod, "gpu", "name")] = str(required_number_at(pod, "gpu", "quantity"))
    return ReplicaRequirements(node_claim=node_claim_of_pod(pod), resource_request=request)


def _memory_as_spark_reads_it(pod: Mapping[str, Any], field: str, default: str = "") -> Fraction:
    """Read memory as Spark does: ``512m`` are mebibytes."""
    match = MEMORY.fullmatch(text_at(pod, field) or default)
    if match is None:
        raise InterpreterError(f"{field} is no amount of memory such as '512m' or '2g'")
    return Fraction(match[1]) * (1 << UNITS[match[2].lower()])


def _bytes_as_quantity(amount: Fraction) -> str:
    is_whole = amount == amount // 1
    return format_quantity(amount, QuantityFormat.BINARY_SI if is_whole else QuantityFormat.DECIMAL_SI)


def aggregated_application(_template: Manifest, items: Items) -> Any:
    """Take a lone member's status as it is; of several, the worst state, all executors and the latest times."""
    if items and len(items) == 1:
        return items[0].get("status")
    statuses = [status for _, status in statuses_by_cluster(items)]
    has_state = [status for status in statuses if value_at(status, "applicationState", "state") is not None]
    states = [text_at(status, "applicationState", "state") for status in has_state]
    rank = {state: index for index, state in enumerate(STATES)}
    times = ("lastSubmissionAttemptTime", "terminationTime")
    return {
        **sums_of_counters(items, ("executionAttempts", "submissionAttempts")),
        **{field: max((text_at(status, field) for status in statuses), default="") for field in times},
        "executorState": {
            name: state for status in statuses for name, state in mapping_at(status, "executorState").items()
        },
        "applicationState": {"state": min(states, key=lambda state: rank.get(state, len(rank)))} if states else {},
    }


def reflect_application(observed: Manifest) -> Any:
    """Report the fields of the status that are known."""
    return reported_fields(observed, REPORTED)


def is_application_healthy(observed: Manifest) -> bool:
    """Say whether the application has a state and has not failed."""
    state = value_at(observed, "status", "applicationState", "state")
    return state is not None and state != "FAILED"


KINDS: Mapping[tuple[str, str], Interpretation] = {
    ("sparkoperator.k8s.io/v1beta2", "SparkApplication"): Interpretation(
        components=application_components,
        aggregate=aggregated_application,
        reflect=reflect_application,
        health=is_application_healthy,
        finish=lambda application: finish_of_status_word(
            text_at(application, "status", "applicationState", "state"), FINISHES
        ),
    )
}
"""The interpretation of each kind, by apiVersion and kind."""
