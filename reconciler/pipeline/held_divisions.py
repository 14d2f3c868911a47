"""Divisions that nothing in the source asked for: objects that were placed before anything told their replicas.

A custom kind is divided as soon as a definition of it is known. Where that is so because a member was looked at, or
because of another engine, an object that has a place would lose replicas though nobody changed anything. So it stays
as it is in each cluster, and its binding has a note, until

1. the number of its replicas, or the placement of its policy, is another one;
2. the source defines what only members defined, or customizes the kind;
3. it is to be rescheduled.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reconciler.ledger.facts import ClusterFacts
from reconciler.ledger.health import HealthFile
from reconciler.ledger.webhook_answers import AnswersFile
from reconciler.source.desired import Desired, known_scales
from reconciler.source.facts import with_facts
from render.binding import Binding, Undivided
from render.cluster import Cluster
from render.gitobjects import TREE_MODE
from render.interpreter import Interpreter, Layer, Operation
from render.interpreter.scale import Scales, scales_of_members
from render.model import ObjectRef, TargetCluster, Template
from render.scheduling.scheduler import Scheduler
from render.scheduling.triggers import is_placement_changed

from .previous import Previous, RenderedTree

_ASKED = "argosy rebalance"
_NO_FACTS = frozenset({HealthFile.NAME, AnswersFile.NAME})
"""The files among facts that are not of one cluster."""


class PastDivisions(Struct, frozen=True, kw_only=True):
    """The previous commit of a pass, with what tells now how many replicas objects have; ``source`` is its commit."""

    previous: Previous
    source: str
    desired: Desired
    interpreter: Interpreter

    def with_held_divisions(self, bindings: Iterable[Binding], templates: Iterable[Template]) -> Iterator[Binding]:
        """Yield bindings to schedule, without replicas where nothing in the source asks to divide them."""
        listed = list(bindings)
        candidates = {each.ref: former for each in listed if (former := self._undivided_before(each)) is not None}
        kept = self._kept(listed, candidates, templates) if candidates else {}
        for each in listed:
            found = kept.get(each.ref)
            yield each if found is None else replace(each, replicas=0, requirements=None, undivided=found)

    def _undivided_before(self, binding: Binding) -> Binding | None:
        """Return the former binding of an object that has a place and had no replicas, if these are divided now."""
        if not binding.replicas or not binding.is_divided or not binding.targets:
            return None
        former = self.previous.bindings.get(binding.ref)
        if former is None or former.is_workload or not former.targets:
            return None
        return None if binding.is_reschedule_requested or is_placement_changed(binding) else former

    def _kept(
        self, bindings: Iterable[Binding], candidates: Mapping[ObjectRef, Binding], templates: Iterable[Template]
    ) -> Mapping[ObjectRef, Undivided]:
        """Return what each cluster keeps of those objects that nothing in the source asks to divide."""
        replicas = {each.ref: each.replicas for each in bindings if each.ref in candidates}
        by_source = known_scales(self.desired, ())
        by_former_members = _former_scales(self.previous.tree)
        found = {}
        for template in templates:
            former = candidates.get(template.ref)
            if former is None or not self._is_scaled(template):
                continue
            kind = template.versioned_kind
            now = Undivided(replicas=replicas[template.ref], is_by_members=kind not in by_source)
            is_news = now.is_by_members and kind not in by_former_members
            if _stays(former.undivided, now) if former.undivided else is_news or self._is_source_same:
                found[template.ref] = now
        return found

    @property
    def _is_source_same(self) -> bool:
        return self.previous.source == self.source

    def _is_scaled(self, template: Template) -> bool:
        return self.interpreter.layer(Operation.INTERPRET_REPLICA, template.manifest) is Layer.SCALE


def _stays(before: Undivided, now: Undivided) -> bool:
    """Say whether what was kept stays: its number is the same, and the source defines no more than it did."""
    return before.replicas == now.replicas and (now.is_by_members or not before.is_by_members)


def _former_scales(tree: RenderedTree) -> Scales:
    """Return the scale subresources of members that the facts of a rendered commit knew."""
    folder = tree.trees.entries(tree.root).get("facts")
    files = tree.trees.entries(folder.id).values() if folder is not None and folder.mode == TREE_MODE else ()
    path_by_id = {each.id: f"facts/{each.text}" for each in files if each.text not in _NO_FACTS}
    contents = tree.contents(path_by_id) if path_by_id else {}
    read = (ClusterFacts.read(path_by_id[id_], content) for id_, content in contents.items())
    facts = {each.name: each for each in read}
    return scales_of_members(each.scales for each in with_facts(map(_cluster_named, facts), facts))


def _cluster_named(name: str) -> Cluster:
    return Cluster(name=name)


def shares_if_asked(binding: Binding, replicas: int, scheduler: Scheduler) -> tuple[TargetCluster, ...]:
    """Return the shares that an object would get if it were rescheduled; none where it could not be placed."""
    requests = (*binding.answered_requests, _ASKED)
    decision = scheduler.schedule(replace(binding, replicas=replicas, undivided=None, reschedule_requests=requests))
    return decision.targets if decision.is_scheduled else ()
