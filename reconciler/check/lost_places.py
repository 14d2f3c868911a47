"""Policies that would take the last copies of objects away, because no cluster is what they ask for any more."""

from collections.abc import Iterator, Mapping

from overrides.lint import LineOf
from reconciler.ledger.facts import Facts
from reconciler.source.desired import Desired
from reconciler.source.facts import clusters_corrected_by_facts
from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.errors import Problem
from render.model import ObjectRef
from render.policy import PropagationPolicy
from render.scheduling.unmet_placements import is_met_by_no_cluster
from render.words import first_few

LOST_PLACE = "LostPlace"


def lost_place_warnings(
    desired: Desired,
    claims: Mapping[ObjectRef, PropagationPolicy],
    previous: Mapping[ObjectRef, Binding],
    facts: Facts,
    line_of: LineOf | None = None,
) -> Iterator[Problem]:
    """Yield a warning for each policy that no cluster meets, and that claims what clusters hold by now.

    ``previous`` are the bindings that were rendered last.
    """
    placed: dict[str, list[ObjectRef]] = {}
    for ref in sorted(claims):
        if ref in previous and previous[ref].targets:
            placed.setdefault(str(claims[ref]), []).append(ref)
    if not placed or not desired.clusters:
        return
    index = ClusterIndex(clusters_corrected_by_facts(desired.clusters, facts))
    for policy in desired.policies:
        refs = [
            ref
            for ref in placed.get(str(policy), ())
            if is_met_by_no_cluster(policy.placement, index, previous[ref].observed_affinity)
        ]
        if refs:
            clusters = sorted({target.name for ref in refs for target in previous[ref].targets})
            leave, them = ("leaves", "it") if len(refs) == 1 else ("leave", "them")
            names = first_few(list(map(str, refs)))
            message = f"no cluster meets it, so that {names} {leave} {first_few(clusters)}, and no cluster takes {them}"
            hint = f"to keep {them}, mend the placement; to remove {them}, delete the template"
            line = line_of(policy.path, policy.document, "spec.placement") if line_of else 0
            yield Problem(policy.path, line, "spec.placement", message, hint, LOST_PLACE)
