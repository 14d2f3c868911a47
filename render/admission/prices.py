"""PriceList of argosy.dev/v1alpha1: its schema, and the rules for it."""

from collections.abc import Mapping
from typing import Any

from render.model import ARGOSY_API_VERSION
from render.notations import is_currency
from render.syntax import fault_of_label_key, quoted_text
from render.words import most_similar_word

from .findings import Findings
from .placements import check_cluster_affinity
from .policy_warnings import warn_of_affinity
from .schema import DecimalNumber, ListOf, MapOf, Record, Text
from .shared_schema import CLUSTER_AFFINITY
from .stages import AdmittedKind, Object
from .walking import Reading, walk_for_node

PRICE_KIND = "PriceList"
_COMPUTED = ("cpu", "memory", "ephemeral-storage")
_HUGE_PAGES = "hugepages-"
_RATES = ("perHour", "carbon")
PRICE_SPEC = Record(
    {
        "currency!": Text(min_length=1),
        "prices!": ListOf(
            Record(
                {
                    "clusterAffinity": CLUSTER_AFFINITY,
                    "perHour": MapOf(DecimalNumber()),
                    "carbon": MapOf(DecimalNumber()),
                }
            ),
            min_items=1,
        ),
    }
)


def price_list_kind() -> AdmittedKind:
    """Return the kind; its closures are made when it is first asked for."""
    return AdmittedKind(
        api_version=ARGOSY_API_VERSION,
        kind=PRICE_KIND,
        is_namespaced=False,
        schema=PRICE_SPEC,
        spec=walk_for_node(PRICE_SPEC, Reading(is_typed=False)),
        check=check_price_list,
        warn=warn_of_price_list,
    )


def check_price_list(prices: Object, findings: Findings) -> None:
    """Report a currency that is none, entries that say nothing, and names that no workload requests."""
    spec = prices["spec"]
    if not is_currency(spec["currency"]):
        hint = "write its three letters, such as EUR or USD"
        findings.problem("spec.currency", f"{quoted_text(spec['currency'])} is no currency", hint=hint)
    for index, entry in enumerate(spec["prices"]):
        path = f"spec.prices[{index}]"
        check_cluster_affinity(entry.get("clusterAffinity"), f"{path}.clusterAffinity", findings)
        if not any(entry.get(name) for name in _RATES):
            hint = "say what cpu and memory cost, such as {cpu: 0.03, memory: 0.004}"
            findings.required(f"{path}.perHour", hint=hint)
        for name in _RATES:
            _check_resources(entry.get(name) or {}, f"{path}.{name}", findings)


def _check_resources(rates: Mapping[str, Any], path: str, findings: Findings) -> None:
    for resource in rates:
        if is_requested_resource(resource):
            continue
        near = most_similar_word(resource, _COMPUTED)
        known = "write cpu, memory, ephemeral-storage, or a name such as nvidia.com/gpu"
        hint = f"did you mean {near!r}?" if near else known
        message = f"{quoted_text(resource)} is nothing that containers request"
        findings.problem(f"{path}.{resource}", message, hint=hint, kind="NotSupported")


def is_requested_resource(name: str) -> bool:
    """Say whether containers can request a resource of this name.

    >>> [is_requested_resource(name) for name in ("cpu", "nvidia.com/gpu", "hugepages-2Mi", "gpu", "limits.cpu")]
    [True, True, True, False, False]
    """
    if name in _COMPUTED or (name.startswith(_HUGE_PAGES) and name != _HUGE_PAGES):
        return True
    return "/" in name and not name.startswith("requests.") and not fault_of_label_key(name)


def warn_of_price_list(prices: Object, findings: Findings) -> None:
    """Warn of affinities that select nothing, or other clusters than they seem to."""
    for index, entry in enumerate(prices["spec"]["prices"]):
        warn_of_affinity(entry.get("clusterAffinity"), f"spec.prices[{index}].clusterAffinity", findings)
