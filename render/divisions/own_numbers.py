"""Numbers of a divided workload itself that are about all of its replicas, and that each cluster gets whole."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from render.kinds import GroupKind
from render.kinds.batch import is_indexed_job
from render.model import mapping_or_empty

from .values import ONE_CLUSTER, DividedWorkload, DivisionContext, DivisionWarning, whole_number_at

Keys = tuple[str, ...]


class OwnNumber(NamedTuple):
    """A number of a kind: its keys, why it is wrong in each cluster, and the way out. ``is_off`` decides on a value."""

    keys: Keys
    message: str
    hint: str
    is_off: Callable[[int, DividedWorkload], bool]


def _is_any_number(number: int, _workload: DividedWorkload) -> bool:
    return number > 0


def _is_at_least_one_share(number: int, workload: DividedWorkload) -> bool:
    """Say whether a number is as large as a share though it leaves some of all replicas."""
    return workload.share <= number < workload.replicas


_EACH = "override it in each cluster"
_UPDATES = ("spec", "updateStrategy", "rollingUpdate")


def _own_partition_at(*keys: str) -> OwnNumber:
    message = "counts pods from 0 in each cluster, so that those of small shares are never updated"
    return OwnNumber((*keys, "partition"), message, f"leave it out, or {_EACH}", _is_any_number)


def _own_max_unavailable_at(*keys: str) -> OwnNumber:
    message = "is as many as a cluster may have in all, so that an update may stop all of its pods at once"
    return OwnNumber((*keys, "maxUnavailable"), message, f"write a percentage, or {_EACH}", _is_at_least_one_share)


def _own_max_surge_at(*keys: str) -> OwnNumber:
    message = "is as many as a cluster may have in all, so that an update may start all of its pods at once"
    return OwnNumber((*keys, "maxSurge"), message, f"write a percentage, or {_EACH}", _is_at_least_one_share)


_PREVIEW = OwnNumber(
    ("spec", "strategy", "blueGreen", "previewReplicaCount"),
    "counts in each cluster, where it is meant for all",
    f"leave it out, so that the preview has a cluster's share, or {_EACH}",
    _is_any_number,
)
_ORDINALS = OwnNumber(
    ("spec", "ordinals", "start"),
    "begins at the same number in each cluster, so that pods of different clusters have the same names",
    _EACH,
    _is_any_number,
)
_OF_STATEFUL_SET = (_own_partition_at(*_UPDATES), _ORDINALS, _own_max_unavailable_at(*_UPDATES))
OWN_NUMBERS: Mapping[GroupKind, tuple[OwnNumber, ...]] = {
    ("apps", "Deployment"): (
        _own_max_unavailable_at("spec", "strategy", "rollingUpdate"),
        _own_max_surge_at("spec", "strategy", "rollingUpdate"),
    ),
    ("apps", "StatefulSet"): _OF_STATEFUL_SET,
    ("apps.kruise.io", "StatefulSet"): _OF_STATEFUL_SET,
    ("apps.kruise.io", "CloneSet"): tuple(
        make("spec", "updateStrategy") for make in (_own_partition_at, _own_max_unavailable_at, _own_max_surge_at)
    ),
    ("argoproj.io", "Rollout"): (
        _PREVIEW,
        _own_max_unavailable_at("spec", "strategy", "canary"),
        _own_max_surge_at("spec", "strategy", "canary"),
    ),
}
"""The numbers of each kind that are about all replicas."""


def own_number_warnings(workload: DividedWorkload, context: DivisionContext) -> Iterator[DivisionWarning]:
    """Yield a warning for each number of a divided workload that is about all of its replicas."""
    template = workload.template
    kind = template.ref.group, template.ref.kind
    for rule in OWN_NUMBERS.get(kind, ()):
        number = whole_number_at(template.manifest, rule.keys)
        if number is not None and rule.is_off(number, workload) and not context.is_overridden(template, rule.keys):
            field = ".".join(rule.keys)
            yield workload.warning(template, field, f"{number} {rule.message}", rule.hint)
    for find in _FINDERS.get(kind, ()):
        for keys, message, hint in find(workload):
            yield workload.warning(template, keys, message, hint)


Found = Iterator[tuple[str, str, str]]


def _completions_of_indexed_job(workload: DividedWorkload) -> Found:
    """Find the completions of an Indexed Job: each cluster numbers its own from 0."""
    if is_indexed_job(workload.template.manifest):
        message = (
            "each cluster counts the indexes of its completions from 0, so they are not divided: one runs them all"
        )
        hint = f"say so: {ONE_CLUSTER}; or write a Job for each part of the indexes"
        if workload.is_as_in_karmada:
            message = "each cluster counts the indexes of its completions from 0, so that the last ones never run"
            hint = f"let one cluster run it: {ONE_CLUSTER}; or write a Job for each part of the indexes"
        yield "spec.completionMode", message, hint


def _replica_steps_of_canary(workload: DividedWorkload) -> Found:
    """Find the steps of a Rollout that set the replicas of its canary by a number."""
    canary = mapping_or_empty(
        mapping_or_empty(mapping_or_empty(workload.template.manifest.get("spec")).get("strategy")).get("canary")
    )
    steps = canary.get("steps")
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        if type(mapping_or_empty(mapping_or_empty(step).get("setCanaryScale")).get("replicas")) is int:
            field = f"spec.strategy.canary.steps[{index}].setCanaryScale.replicas"
            yield field, "counts in each cluster, where it is meant for all", "write a weight instead"


def _subsets_with_replicas(workload: DividedWorkload) -> Found:
    """Find the subsets of a UnitedDeployment that have a number of replicas."""
    topology = mapping_or_empty(mapping_or_empty(workload.template.manifest.get("spec")).get("topology"))
    subsets = topology.get("subsets")
    for index, subset in enumerate(subsets if isinstance(subsets, list) else ()):
        if type(mapping_or_empty(subset).get("replicas")) is int:
            message = "counts in each cluster, so that the subset may take all of a cluster's share"
            yield f"spec.topology.subsets[{index}].replicas", message, "write a percentage"


_FINDERS: Mapping[GroupKind, tuple[Callable[[DividedWorkload], Found], ...]] = {
    ("batch", "Job"): (_completions_of_indexed_job,),
    ("argoproj.io", "Rollout"): (_replica_steps_of_canary,),
    ("apps.kruise.io", "UnitedDeployment"): (_subsets_with_replicas,),
}
"""The functions that find such numbers where no path names them: field, message and way out."""
