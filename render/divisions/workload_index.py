"""Divided workloads by what companions find them by: their names, and the labels of their pods.

A source may have thousands of workloads and thousands of budgets. So a companion is compared with few workloads: those
with one label that its selector asks for. Of many that it selects, the first few are enough for a warning.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from render.model import ObjectRef, Template, group_of, mapping_or_empty
from render.selectors import LabelSelector, Requirement, matches_labels

from .values import DividedWorkload, mapping_in

_MOST_COMPARED = 200
_MOST_SELECTED = 3
_LABELS = ("spec", "template", "metadata", "labels")


class WorkloadIndex:
    """The divided workloads of a source or of a pass."""

    def __init__(self, workloads: Iterable[DividedWorkload]) -> None:
        self._by_ref: dict[ObjectRef, DividedWorkload] = {}
        self._by_label: dict[tuple[str, str, str], list[DividedWorkload]] = defaultdict(list)
        self._by_namespace: dict[str, list[DividedWorkload]] = defaultdict(list)
        for workload in workloads:
            ref = workload.template.ref
            self._by_ref[ref] = workload
            self._by_namespace[ref.namespace].append(workload)
            for key, value in mapping_in(workload.template.manifest, *_LABELS).items():
                self._by_label[ref.namespace, str(key), str(value)].append(workload)

    def workload_named_by(self, companion: Template, field: str) -> DividedWorkload | None:
        """Return the workload that a companion names in a field; without a kind it is a Deployment, as in KEDA."""
        named = mapping_in(companion.manifest, "spec", field)
        name, kind = named.get("name"), named.get("kind") or "Deployment"
        if not isinstance(name, str) or not isinstance(kind, str):
            return None
        group = group_of(str(named.get("apiVersion") or "apps/v1"))
        return self._by_ref.get(ObjectRef(group, kind, companion.ref.namespace, name))

    def workloads_selected_by(self, companion: Template) -> Iterator[DividedWorkload]:
        """Yield the first workloads whose pods a companion selects; without a selector it selects none."""
        written = mapping_in(companion.manifest, "spec").get("selector")
        if not isinstance(written, dict):
            return
        selector, found = _label_selector_as_written(written), 0
        for workload in self._workloads_for_selector(companion.ref.namespace, selector)[:_MOST_COMPARED]:
            if found < _MOST_SELECTED and matches_labels(selector, mapping_in(workload.template.manifest, *_LABELS)):
                found += 1
                yield workload

    def _workloads_for_selector(self, namespace: str, selector: LabelSelector) -> Sequence[DividedWorkload]:
        lists = [self._by_label.get((namespace, *label), []) for label in selector.match_labels]
        return min(lists, key=len) if lists else self._by_namespace.get(namespace, [])


def _label_selector_as_written(written: Mapping[str, Any]) -> LabelSelector:
    expressions = written.get("matchExpressions")
    return LabelSelector(
        match_labels=tuple(
            (str(key), str(value)) for key, value in mapping_or_empty(written.get("matchLabels")).items()
        ),
        match_expressions=tuple(map(_requirement_as_written, expressions if isinstance(expressions, list) else ())),
    )


def _requirement_as_written(written: Any) -> Requirement:
    each = mapping_or_empty(written)
    values = each.get("values")
    return Requirement(
        key=str(each.get("key")),
        operator=str(each.get("operator")),
        values=tuple(map(str, values if isinstance(values, list) else ())),
    )
