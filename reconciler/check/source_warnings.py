"""Warnings about a source, beside those about its policies.

They are about text of a template engine that nobody filled in, about fields that no cluster gets, about rules of time
that can never fire for want of what they go by, and about workloads that an autoscaler or a WorkloadRebalancer names
and that are not there. Text in custom resources and in the data of ConfigMaps is left alone: much of what stands there
is a template by intention.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from overrides.lint import LineOf
from reconciler.source.desired import Desired
from reconciler.source.lines import template_problem
from render.cluster_index import ClusterIndex
from render.errors import Problem
from render.expressions import lazy_expression
from render.interpretation.fields import value_at
from render.interpreter.pruning import manifest_without_pruned_fields
from render.kinds import BUILT_IN, KUBERNETES
from render.kinds.kind import PrunedField
from render.model import ObjectRef, Template, is_encrypted_by_sops
from render.prices.cluster_prices import prices_of_clusters
from render.rescheduling.descheduling import is_divided_by_room
from render.template_annotations import PROTECTED, PROTECTED_ALWAYS
from render.words import first_few, most_similar_word

_TEMPLATE_TEXT = "TemplateText"
_HELM = lazy_expression(r"\.(?:Values|Release|Chart|Capabilities)\.\w|\binclude +\"")
_VARIABLE = lazy_expression(r"\$[({][A-Za-z_]\w*[)}]")
_DATA = frozenset({"data", "stringData", "binaryData", "annotations"})
_ELSEWHERE = frozenset({"CustomResourceDefinition", "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"})
_PRUNED_FIELD = "PrunedField"
_NOT_PROTECTED = "NotProtected"
_OF_ANY_KIND = (
    PrunedField(path="metadata.finalizers", why="they belong to the controllers of each cluster"),
    PrunedField(path="metadata.ownerReferences", why="each cluster knows the owner by another UID"),
)
# By kind alone, as pruning goes.
_PRUNED = {kind.kind: kind.pruned_fields for kind in KUBERNETES if kind.pruned_fields}
_UNMATCHED_WORKLOAD = "UnmatchedWorkload"
_IDLE_RULE = "IdleRule"
_NO_PRICE = "NoPrice"
_FIELD = "spec.descheduler.enabled"
_NOT_DIVIDED = "no policy divides replicas by room, so there is nothing to deschedule"
_DIVIDE = "divide them with Aggregated, or with weightPreference.dynamicWeight"
_UNOBSERVED = "no member is reached by passes, so that none tells which replicas it cannot start"
_REACH = "list members under spec.clusters; one with syncMode: Pull does not tell"


def warnings_of_unfilled_texts(templates: Iterable[Template], line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for each field with text that Helm, or a tool that puts in variables, was to replace."""
    for template in templates:
        if (template.ref.group, template.ref.kind) not in BUILT_IN or template.ref.kind in _ELSEWHERE:
            continue
        for field, text in _texts_of_manifest(template.manifest, ""):
            if (found := _message_and_hint_of_unfilled_text(text, is_image=field.endswith(".image"))) is not None:
                problem = Problem(template.path, 0, field, found[0], found[1], _TEMPLATE_TEXT)
                yield template_problem(template, problem, line_of)


def _texts_of_manifest(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield every text of a manifest that is no data, with its field."""
    if isinstance(value, dict):
        for key, child in value.items():
            if key not in _DATA:
                yield from _texts_of_manifest(child, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield from _texts_of_manifest(child, f"{path}[{number}]")
    elif isinstance(value, str):
        yield path, value


def _message_and_hint_of_unfilled_text(text: str, *, is_image: bool) -> tuple[str, str] | None:
    """Return a message and a hint about what is left in a text; None where nothing is."""
    if "{{" in text and _HELM.search(text):
        return "text of a Helm template is left here", "commit what `helm template` makes of the chart"
    if is_image and (found := _VARIABLE.search(text)):
        return f"the variable {found[0]} is left here", "nothing puts in variables: write the value"
    return None


def pruned_field_warnings(templates: Iterable[Template], line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for each field that somebody wrote on purpose and that no cluster gets."""
    for template in templates:
        left = None if is_encrypted_by_sops(template.manifest) else manifest_without_pruned_fields(template.manifest)
        if left is None or left is template.manifest:
            continue
        for field in (*_PRUNED.get(template.ref.kind, ()), *_OF_ANY_KIND):
            path = tuple(field.path.split("."))
            if value_at(template.manifest, *path) and not value_at(left, *path):
                message = f"no cluster gets it: {field.why}"
                problem = Problem(template.path, 0, field.path, message, field.hint, _PRUNED_FIELD)
                yield template_problem(template, problem, line_of)


def protection_warnings(templates: Iterable[Template], line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for each label that is meant to protect an object from deletion, and does not."""
    for template in templates:
        value = template.labels.get(PROTECTED)
        if value is not None and value != PROTECTED_ALWAYS:
            field = f"metadata.labels.{PROTECTED}"
            message = f"{value!r} protects nothing, in Karmada neither"
            problem = Problem(template.path, 0, field, message, f"write {PROTECTED_ALWAYS!r}", _NOT_PROTECTED)
            yield template_problem(template, problem, line_of)


def named_workload_warnings(desired: Desired, line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for each workload that is named and not there."""
    refs = [
        *(template.ref for template in desired.templates),
        *(autoscaler.ref for autoscaler in desired.federated_autoscalers),
    ]
    known = {(ref.kind, ref.namespace, ref.name) for ref in refs}
    for path, document, field, ref, loss in _named_workloads(desired):
        if (ref.kind, ref.namespace, ref.name) not in known:
            line = line_of(path, document, field) if line_of else 0
            named = f"{ref.kind} {'/'.join(filter(None, (ref.namespace, ref.name)))}"
            message = f"there is no {named} in the source, so nothing is {loss}"
            yield Problem(path, line, field, message, _hint_of_nearest_workload(ref, refs), _UNMATCHED_WORKLOAD)


def _named_workloads(desired: Desired) -> Iterator[tuple[str, int, str, ObjectRef, str]]:
    """Yield the place and the field that names each workload, the workload, and what is not done without it."""
    for request in desired.reschedule_requests:
        for index, workload in enumerate(request.workloads):
            yield request.path, request.document, f"spec.workloads[{index}]", workload.ref, "rescheduled"
    for rollback in desired.rollback_requests:
        for index, ref in enumerate(rollback.objects):
            yield rollback.path, rollback.document, f"spec.objects[{index}]", ref, "restored"
    for autoscaler in desired.cron_autoscalers:
        yield autoscaler.path, autoscaler.document, "spec.scaleTargetRef", autoscaler.target, "scaled"
    for bounding in desired.federated_autoscalers:
        yield bounding.path, bounding.document, "spec.scaleTargetRef", bounding.target, "scaled"


def _hint_of_nearest_workload(wanted: ObjectRef, refs: list[ObjectRef]) -> str:
    of_kind = [ref for ref in refs if ref.kind == wanted.kind]
    if elsewhere := sorted(ref.namespace for ref in of_kind if ref.name == wanted.name):
        return f"there is one in namespace {elsewhere[0]!r}" if elsewhere[0] else "it has no namespace"
    near = most_similar_word(wanted.name, [ref.name for ref in of_kind if ref.namespace == wanted.namespace])
    return f"did you mean {near!r}?" if near else ""


def idle_rule_warnings(desired: Desired, line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for each rule that is on and can never fire."""
    fleet = desired.fleet
    if not fleet.descheduler.is_enabled:
        return
    line = line_of(fleet.path, 0, _FIELD) if line_of else 0
    if desired.policies and not any(is_divided_by_room(policy.placement) for policy in desired.policies):
        yield Problem(fleet.path, line, _FIELD, _NOT_DIVIDED, _DIVIDE, _IDLE_RULE)
    if desired.clusters and not _is_any_observed(desired):
        yield Problem(fleet.path, line, _FIELD, _UNOBSERVED, _REACH, _IDLE_RULE)


def _is_any_observed(desired: Desired) -> bool:
    reached = desired.fleet.reachable_members
    return any(
        cluster.sync_mode != "Pull" and (reached is None or cluster.name in reached) for cluster in desired.clusters
    )


def price_warnings(desired: Desired, line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for the clusters that no PriceList has prices for, while others have some."""
    if not desired.price_lists:
        return
    index = ClusterIndex(desired.clusters)
    known = prices_of_clusters(desired.price_lists, index).by_cluster
    if unknown := [name for name in index.names if known and name not in known]:
        first = min(desired.price_lists, key=lambda each: each.name)
        line = line_of(first.path, first.document, "spec.prices") if line_of else 0
        message = f"no entry has prices for {first_few(unknown)}: what is placed there is of unknown cost"
        hint = "an entry without clusterAffinity is for all clusters that none before it selects"
        yield Problem(first.path, line, "spec.prices", message, hint, _NO_PRICE)
