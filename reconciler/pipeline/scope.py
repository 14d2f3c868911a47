"""The scope of a pass: the objects to look at, when everything else is known to stay as the previous commit has it.

A pass done again changes nothing. So where nothing changed but resource templates, free capacity, and policies that are
none of its own, an object whose template is the same is decided and built as before - unless its binding is *volatile*:
something else than its own template decides it.

1. a checkpoint lists the volatile bindings of a pass and the digests of the templates it saw;
2. the next pass looks at the templates that changed, at what changed policies, overrides and customizations select
   (``reached``), at what is volatile, and at the namespaces of all of these;
3. whatever these turn out to require is added while rendering (``stages``).

A pass with a scope commits, byte for byte, what a pass over everything would.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from render.binding import Binding
from render.model import ObjectRef
from render.scheduling.rules import Strategy, strategy_of_scheduling
from render.settings.switches import Rescheduling
from render.timing import Flip

from .namespaces import namespace_ref
from .previous import StoredBindings
from .readme import Tally

if TYPE_CHECKING:
    from reconciler.source.desired import Desired


_CRD = "CustomResourceDefinition.apiextensions.k8s.io"


class Scope(Struct, frozen=True, kw_only=True):
    """The objects to look at; what the previous tree holds of all others stays.

    ``others`` are the bindings outside the scope, where those inside may compete with them for room, or for what a
    quota allows. ``tally`` holds the counts of the previous commit's README. ``facts`` are the clusters whose facts are
    not those of that commit. ``waits`` say when objects outside the scope change by themselves.
    """

    refs: frozenset[ObjectRef]
    tally: Tally
    others: tuple[Binding, ...] = ()
    facts: frozenset[str] = frozenset()
    waits: Mapping[ObjectRef, Flip] = field(default_factory=dict)

    def with_refs(self, refs: Iterable[ObjectRef]) -> "Scope":
        """Return the scope with more objects in it."""
        more = refs_with_their_namespaces(self.refs.union(refs))
        others = tuple(each for each in self.others if each.ref not in more)
        waits = {ref: flip for ref, flip in self.waits.items() if ref not in more}
        return replace(self, refs=more, others=others, waits=waits)


def changed_refs(
    digest_by_ref: Mapping[ObjectRef, str], volatile: frozenset[ObjectRef], desired: "Desired"
) -> frozenset[ObjectRef] | None:
    """Return the objects to look at after a pass that saw templates of these digests; None for all of them.

    Everything is looked at where Karmada's own triggers apply, or where most of the fleet is concerned anyway.
    """
    if desired.fleet.rescheduling is not Rescheduling.SOURCE:
        return None
    now = {template.ref: template.digest for template in desired.templates}
    refs = refs_with_their_namespaces(volatile.union(ref for ref, _ in now.items() ^ digest_by_ref.items()))
    return refs if len(refs) * 2 < len(now) else None


def refs_with_their_namespaces(refs: Iterable[ObjectRef]) -> frozenset[ObjectRef]:
    """Return objects and the namespaces they live in."""
    known = frozenset(refs)
    return known | {namespace_ref(ref.namespace) for ref in known if ref.namespace}


def is_decided_by_more_than_template(binding: Binding) -> bool:
    """Return whether more than its own template decides a binding, or something is left to be done about it.

    Such bindings are required by others or require them, keep away from others or go with them, are kinds or
    namespaces that others need, choose among clusters in every pass, are rolled out, are moving, or could not be
    placed or built as they should.
    """
    return bool(
        any(condition.status != "True" for condition in binding.conditions)
        or binding.required_by
        or binding.propagate_deps
        or binding.affinity_group
        or binding.anti_affinity_group
        or binding.eviction_tasks
        or binding.moving is not None
        or binding.suspension is not None
        or binding.undivided is not None
        or binding.is_reschedule_requested
        or (binding.rollout is not None and binding.rollout.is_unfinished)
        or binding.ref.group_kind in {_CRD, "Namespace"}
        or _chooses_in_every_pass(binding)
    )


def _chooses_in_every_pass(binding: Binding) -> bool:
    """Return whether clusters are chosen again in every pass, by spread constraints or affinity groups."""
    placement = binding.placement
    if placement is None or not (placement.spread_constraints or placement.cluster_affinities):
        return False
    return not binding.is_workload or strategy_of_scheduling(placement.replica_scheduling) in {
        Strategy.DUPLICATED,
        Strategy.UNDIVIDED,
    }


def bindings_competing_for_room(
    desired: "Desired", bindings: Mapping[ObjectRef, Binding], refs: frozenset[ObjectRef]
) -> Iterator[Binding]:
    """Yield the bindings outside a scope that keep what they take of what is shared.

    Declared capacity is shared by all, and a quota by its namespace.
    """
    if any(cluster.resource_summary is not None for cluster in desired.clusters):
        yield from (each for ref, each in bindings.items() if ref not in refs)
        return
    limited = {quota.ref.namespace for quota in desired.quotas}
    others = {each.ref for each in desired.templates if each.ref.namespace in limited} - refs if limited else set()
    if isinstance(bindings, StoredBindings):
        bindings.load(others)
    yield from (bindings[ref] for ref in sorted(others) if ref in bindings)
