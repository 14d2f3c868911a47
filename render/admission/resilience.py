"""ResiliencePolicy and ClusterResiliencePolicy of argosy.dev/v1alpha1: their schema, and the rules for them."""

from collections.abc import Mapping, Sequence
from typing import Any

from render.model import ARGOSY_API_VERSION

from .findings import Findings
from .policies import check_selectors, set_selector_namespaces
from .policy_warnings import warn_of_selectors
from .schema import INT32, ListOf, Portion, Record, Text, Whole
from .shared_schema import RESOURCE_SELECTOR
from .stages import AdmittedKind, Object
from .walking import Reading, walk_for_node

Plain = Mapping[str, Any]

RESILIENCE_KINDS = ("ResiliencePolicy", "ClusterResiliencePolicy")
RESCHEDULED, AT_ONCE = "Rescheduled", "AtOnce"
_MOST_LOST = 2

SURVIVED_LOSS = Record(
    {
        "loss!": Text(choices=("cluster", "region", "zone", "provider")),
        "count": Whole(INT32, minimum=1, maximum=_MOST_LOST),
        "minReplicas": Portion(minimum=1),
        "minCopies": Portion(minimum=1),
        "when": Text(choices=(RESCHEDULED, AT_ONCE), default=RESCHEDULED),
    }
)
RESILIENCE_SPEC = Record(
    {
        "resourceSelectors!": ListOf(RESOURCE_SELECTOR, min_items=1),
        "survive!": ListOf(SURVIVED_LOSS, min_items=1),
    }
)


def resilience_kinds() -> tuple[AdmittedKind, ...]:
    """Return the kinds; closures are made when they are first asked for."""
    return tuple(
        AdmittedKind(
            api_version=ARGOSY_API_VERSION,
            kind=kind,
            is_namespaced=kind == RESILIENCE_KINDS[0],
            schema=RESILIENCE_SPEC,
            spec=walk_for_node(RESILIENCE_SPEC, Reading(is_typed=False)),
            mutate=set_defaults_of_resilience_policy,
            check=check_resilience_policy,
            warn=warn_of_resilience_policy,
        )
        for kind in RESILIENCE_KINDS
    )


def set_defaults_of_resilience_policy(policy: Object, _findings: Findings) -> None:
    """Give selectors of a namespaced policy its namespace."""
    set_selector_namespaces(policy["spec"].get("resourceSelectors") or (), policy["metadata"].get("namespace"))


def check_resilience_policy(policy: Object, findings: Findings) -> None:
    """Report selectors of other namespaces, and losses that are named twice."""
    spec = policy["spec"]
    check_selectors(spec.get("resourceSelectors") or (), policy["metadata"].get("namespace"), findings)
    _check_losses_named_twice(spec.get("survive") or (), findings)


def _check_losses_named_twice(losses: Sequence[Plain], findings: Findings) -> None:
    seen: set[tuple[Any, ...]] = set()
    for number, loss in enumerate(losses):
        key = (loss["loss"], loss.get("count") or 1, loss.get("when") or RESCHEDULED)
        if key in seen:
            hint = "keep one of them"
            findings.problem(
                f"spec.survive[{number}].loss", "another entry is about the same loss", hint=hint, kind="Duplicate"
            )
        seen.add(key)


def warn_of_resilience_policy(policy: Plain, findings: Findings) -> None:
    """Warn of selectors that select nothing, or something else than they seem to."""
    warn_of_selectors(policy["spec"]["resourceSelectors"], findings)
