"""The part of a fleet that a pass looks at, when all else is known to stay as the previous commit has it.

A pass done again changes nothing. So where nothing changed but resource templates and free capacity, an object whose
template is the same is decided and built as before - unless it is *restless*: something else than its own template has
a say in it.

1. what is restless after a pass is written down with the template contents it saw (``footing``);
2. the next pass looks at the templates that changed, at what is restless, and at the namespaces of both;
3. whatever these turn out to require is looked at as well (``pipeline``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from render.binding import Binding
from render.fleet import Rescheduling
from render.model import ObjectRef
from render.scheduling.rules import Strategy, strategy_of

from .namespaces import namespace_ref
from .readme import Tally

if TYPE_CHECKING:
    from reconciler.source.desired import Desired


_CRD = "CustomResourceDefinition.apiextensions.k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The objects to look at; what the previous tree holds of all others stays.

    ``others`` are the bindings beside it where its own may compete with them for room, and ``tally`` is what the
    previous commit's front page counts. ``facts`` are the clusters whose facts are not those of the previous commit.
    """

    refs: frozenset[ObjectRef]
    tally: Tally
    others: tuple[Binding, ...] = ()
    facts: frozenset[str] = frozenset()

    def with_refs(self, refs: Iterable[ObjectRef]) -> "Scope":
        """Return the part with more objects in it."""
        more = with_namespaces(self.refs.union(refs))
        return replace(self, refs=more, others=tuple(each for each in self.others if each.ref not in more))


@dataclass(frozen=True, slots=True, kw_only=True)
class Footing:
    """What a pass stood on, as far as the next one may stand on it too.

    ``ground`` names all of the source but ordinary templates, ``digests`` their contents by object. ``restless`` are
    the objects to look at in every pass. ``facts`` is the id of the folder of facts it went by ("": none).
    """

    rendered: str
    ground: str
    digests: Mapping[ObjectRef, str]
    restless: frozenset[ObjectRef]
    facts: str = ""


def footing_of(
    desired: "Desired", rendered: str, bindings: Iterable[Binding], troubled: Iterable[ObjectRef]
) -> Footing:
    """Return what the pass that rendered a commit stood on; ``troubled`` are objects it had something to say of."""
    return Footing(
        rendered=rendered,
        ground=desired.ground,
        digests={template.ref: template.digest for template in desired.templates},
        restless=frozenset(troubled).union(binding.ref for binding in bindings if is_restless(binding)),
    )


def refs_to_look_at(footing: Footing, desired: "Desired", rendered: str) -> frozenset[ObjectRef] | None:
    """Return the objects that a pass on a footing looks at, None for all of them.

    That is where the ground moved, where Karmada's own triggers apply, or where most of the fleet is concerned anyway.
    """
    is_same = (footing.rendered, footing.ground) == (rendered, desired.ground)
    if not is_same or desired.fleet.rescheduling is not Rescheduling.SOURCE:
        return None
    now = {template.ref: template.digest for template in desired.templates}
    refs = with_namespaces(footing.restless.union(ref for ref, _ in now.items() ^ footing.digests.items()))
    return refs if len(refs) * 2 < len(now) else None


def with_namespaces(refs: Iterable[ObjectRef]) -> frozenset[ObjectRef]:
    """Return objects and the namespaces they live in."""
    known = frozenset(refs)
    return known | {namespace_ref(ref.namespace) for ref in known if ref.namespace}


def is_restless(binding: Binding) -> bool:
    """Say whether more than its own template has a say in a binding, or something is left to be done about it.

    That is what is required or requires, what keeps away from others or goes with them, what kinds and namespaces
    depend on, what has a choice among clusters in every pass, and what could not be placed or built as it should.
    """
    return bool(
        any(condition.status != "True" for condition in binding.conditions)
        or binding.required_by
        or binding.propagate_deps
        or binding.affinity_group
        or binding.anti_affinity_group
        or binding.eviction_tasks
        or binding.suspension is not None
        or binding.is_reschedule_requested
        or binding.ref.group_kind in {_CRD, "Namespace"}
        or _chooses_in_every_pass(binding)
    )


def _chooses_in_every_pass(binding: Binding) -> bool:
    """Say whether clusters are chosen anew in every pass, by spread constraints or affinity groups."""
    placement = binding.placement
    if placement is None or not (placement.spread_constraints or placement.cluster_affinities):
        return False
    return not binding.is_workload or strategy_of(placement.replica_scheduling) in {
        Strategy.DUPLICATED,
        Strategy.UNDIVIDED,
    }
