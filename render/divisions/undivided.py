"""Objects that a policy divides and nothing can divide: nobody tells how many replicas they have, or takes a share.

Of custom kinds that have no replicas, and of most kinds of Kubernetes, that is how it should be: a policy names them
beside the workloads that it divides. So an object counts only if it looks like a workload - it has pod templates, or a
number by a name that replicas have - or if its policy has nothing else to divide.
"""

from collections.abc import Iterator
from typing import Any

from render.interpretation.pod_templates import is_pod_template, pod_specs_in
from render.interpreter import InterpreterError, Layer, Operation
from render.interpreter.scale import ScaleSubresource
from render.kinds import BUILT_IN
from render.model import Manifest, Template, is_encrypted_by_sops, mapping_or_empty

from .values import ONE_CLUSTER, DividedTemplate, DivisionContext, DivisionRule, DivisionWarning

_COUNTS = frozenset(
    {
        *("replicas", "replicaCount", "numReplicas", "parallelism", "instances", "shards"),
        *("nodeCount", "workers", "members", "completions"),
    }
)
_SIZE = ("spec", "size")
"""The place of a size that is a number of replicas; below another field it is that of a disk, or of a private key."""
_MOST_DEPTH = 8
_CRON_JOB = ("batch", "CronJob")
_EVERY = "every cluster"
_THE_REST = "each cluster for which no override writes that number"
_ONE = f"let one cluster run it: {ONE_CLUSTER}"


def undivided_warning(
    division: DividedTemplate, context: DivisionContext, *, is_in_vain: bool = False
) -> DivisionWarning | None:
    """Return the warning about an object that its policy divides in vain; None where it is divided, or need not be.

    ``is_in_vain``: the policy selects custom kinds alone, none of which is divided.
    """
    template = division.template
    if division.clusters < 2 or is_encrypted_by_sops(template.manifest):
        return None
    if division.is_held:
        return _warning_of_undivided_object(division, _reason_and_hint_of_pending_division(division), _EVERY)
    try:
        replicas = context.replicas(division)
    except InterpreterError:
        return None  # the object fails by itself
    if replicas is not None:
        found = _reason_why_no_share_is_written(template, replicas, context) if replicas > 1 else None
    elif context.has_components(template):
        found = f"{template.ref.group_kind} counts by its components, which nothing divides", _ONE
    else:
        found = _reason_of_unread_replicas(template, context, is_in_vain=is_in_vain)
    if found is None:
        return None
    receivers = _receivers_in_words(division, context)
    return _warning_of_undivided_object(division, found, receivers) if receivers else None


def _warning_of_undivided_object(division: DividedTemplate, found: tuple[str, str], receivers: str) -> DivisionWarning:
    template, (clause, hint) = division.template, found
    return DivisionWarning(
        ref=template.ref,
        field="",
        message=f"its policy divides it, but {clause}: {receivers} gets all of it",
        hint=hint,
        rule=DivisionRule.UNDIVIDED,
        policy=division.policy,
        workload=template.ref,
        clause=clause,
        receivers=receivers,
    )


def _reason_and_hint_of_pending_division(division: DividedTemplate) -> tuple[str, str]:
    """Return why an object is not divided yet, and what divides it."""
    ref = division.template.ref
    subject = f"{ref.group_kind.lower()}/{ref.name}{f' -n {ref.namespace}' if ref.namespace else ''}"
    shares = " ".join(f"{each.name}:{each.replicas}" for each in division.shares)
    clause = f"it was placed before anything told how many replicas {ref.group_kind} has"
    return clause, f"it can be divided now: argosy rebalance {subject}{f' would give {shares}' if shares else ''}"


def _reason_why_no_share_is_written(
    template: Template, replicas: int, context: DivisionContext
) -> tuple[str, str] | None:
    """Return why no share is written, and what to do; None where one is, as far as that is tried."""
    interpreter, manifest = context.interpreter, template.manifest
    layer = interpreter.answering_layer(Operation.REVISE_REPLICA, manifest)
    if layer is Layer.NONE:
        return _reason_of_unwritten_replicas(template)
    if layer is not Layer.CUSTOMIZATION or not context.tries_revisions:
        return None
    try:
        read = interpreter.replicas(interpreter.revise_replica(manifest, 1))
    except InterpreterError:
        return None  # the object fails by itself
    if read is None or read.replicas != replicas:
        return None
    clause = (
        f"the ReviseReplica of its customization changes nothing that GetReplicas of {template.ref.group_kind} reads"
    )
    return clause, "have it write the number that GetReplicas reads; argosy interpret tries both"


def _reason_of_unwritten_replicas(template: Template) -> tuple[str, str]:
    clause = f"nothing writes the share of a cluster into {template.ref.group_kind}"
    return clause, f"{_customization_to_write(template, 'replicaRevision')}, or {_ONE}"


def _reason_of_unread_replicas(
    template: Template, context: DivisionContext, *, is_in_vain: bool
) -> tuple[str, str] | None:
    """Return why nothing tells the replicas of an object, and what to do; None where it need not have any."""
    interpreter, kind = context.interpreter, template.ref.group_kind
    if (template.ref.group, template.ref.kind) == _CRON_JOB:
        return f"{kind} has no replicas, and runs its Jobs by each cluster's own clock", _ONE
    if (template.ref.group, template.ref.kind) in BUILT_IN and not _is_replication_controller(template):
        return None
    if interpreter.has(Operation.INTERPRET_COMPONENT, template.manifest):
        return f"{kind} has several pod templates, which nothing divides", _ONE
    if scale := interpreter.scales.get(template.versioned_kind):
        return _reason_of_unread_scale(template, scale)
    if not looks_like_workload(template.manifest) and not is_in_vain:
        return None
    written = _customization_to_write(template, "replicaResource and replicaRevision")
    other = (
        ", or add its CustomResourceDefinition if that has a scale subresource"
        if context.may_scale((template.ref.group, template.ref.kind))
        else ""
    )
    return f"nothing tells how many replicas {kind} has", f"{written}{other}; or {_ONE}"


def _reason_of_unread_scale(template: Template, scale: ScaleSubresource) -> tuple[str, str]:
    path = ".".join(scale.spec_replicas)
    clause = f"{template.ref.group_kind} says its replicas in {path}, where nothing is written"
    return clause, f"write {path} into {template.ref.name}: its scale subresource tells replicas by it"


def _is_replication_controller(template: Template) -> bool:
    return (template.ref.group, template.ref.kind) == ("", "ReplicationController")


def _customization_to_write(template: Template, rules: str) -> str:
    kind = f"{template.api_version} {template.ref.kind}"
    return f"write a ResourceInterpreterCustomization for {kind} with {rules} (see argosy interpret --show-doc)"


def _receivers_in_words(division: DividedTemplate, context: DivisionContext) -> str:
    """Return the clusters that get all of an object, in words; "" where overrides divide it by hand in each."""
    template, targets = division.template, division.targets
    masks = [
        context.overridden(template, path) & targets for path, _ in _numbers_named_like_replicas(template.manifest, ())
    ]
    if targets and targets in masks:
        return ""
    return _THE_REST if any(masks) else _EVERY


def looks_like_workload(manifest: Manifest) -> bool:
    """Say whether an object has a number by a name that replicas have, or a pod template."""
    spec = {"spec": manifest.get("spec")}
    return any(value > 0 for _, value in _numbers_named_like_replicas(spec, ())) or any(
        True for _ in pod_specs_in(spec)
    )


def _numbers_named_like_replicas(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the numbers by names that replicas have, with their keys, but for those in pod templates and in lists."""
    for key, child in mapping_or_empty(value).items():
        if type(child) is int and (key in _COUNTS or (*path, key) == _SIZE):
            yield (*path, key), child
        elif isinstance(child, dict) and len(path) < _MOST_DEPTH and not is_pod_template(child):
            yield from _numbers_named_like_replicas(child, (*path, str(key)))
