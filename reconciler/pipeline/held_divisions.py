"""Divisions that nothing in the source asked for: objects that were placed before anything told their replicas.

A custom kind is divided as soon as a definition of it is known. Where that is so because a member was looked at, or
because of another engine, an object that has a place would lose replicas though nobody changed anything. So it stays
as it is in each cluster, and its binding has a note, until

1. the number of its replicas, or the placement of its policy, is another one;
2. the source defines what only members defined, or customizes the kind;
3. it is to be rescheduled.

Likewise an object that is divided by what members define stays as it is where they say something else, or nothing.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reconciler.ledger.facts import ClusterFacts
from reconciler.ledger.health import HealthFile
from reconciler.ledger.rollout_checks import ChecksFile
from reconciler.ledger.rollout_pauses import PausesFile
from reconciler.ledger.webhook_answers import AnswersFile
from reconciler.source.desired import Desired, known_scales
from reconciler.source.facts import clusters_corrected_by_facts
from render.binding import Binding, Undivided
from render.cluster import Cluster
from render.gitobjects import TREE_MODE
from render.interpreter import Interpreter, InterpreterError, Layer, Operation
from render.interpreter.scale import Scales, kinds_of_definitions, scales_of_members
from render.model import ObjectRef, TargetCluster, Template
from render.scheduling.scheduler import Scheduler
from render.scheduling.triggers import is_placement_changed

from .claims import Claims
from .previous import Previous, RenderedTree

_ASKED = "argosy rebalance"
_LOST = (
    "the definitions that members have of its kind say no longer that its replicas stand in {}; add the one to go by to"
    " the source"
)
_NO_FACTS = frozenset({HealthFile.NAME, AnswersFile.NAME, ChecksFile.NAME, PausesFile.NAME})
"""The files among facts that are not of one cluster."""


class PastDivisions(Struct, frozen=True, kw_only=True):
    """The previous commit of a pass, with what tells now how many replicas objects have; ``source`` is its commit."""

    previous: Previous | None
    source: str
    desired: Desired
    interpreter: Interpreter

    def without_changes_by_facts(self, claims: Claims, templates: Iterable[Template]) -> Claims:
        """Return claims to schedule, in which facts alone neither divide objects nor end or change their division."""
        by_source, template_by_ref = known_scales(self.desired, ()), {each.ref: each for each in templates}
        divided = {each.ref: each for each in claims.bindings if each.is_divided}
        candidates = {ref: former for ref, each in divided.items() if (former := self._undivided_before(each))}
        kept = self._undivided_objects_kept(divided, candidates, template_by_ref, by_source) if candidates else {}
        bindings, failed = [], [*claims.failed]
        for each in claims.bindings:
            if each.ref in kept:
                bindings.append(replace(each, replicas=0, requirements=None, undivided=kept[each.ref]))
                continue
            template = template_by_ref[each.ref]
            path = self._path_by_members(template, by_source) if each.ref in divided and each.is_workload else ""
            if self._is_lost(each, template, path):
                failed.append(
                    (template, InterpreterError(_LOST.format(self._replicas_path_before(each)), where=str(each.ref)))
                )
            else:
                bindings.append(each if path == each.replicas_at else replace(each, replicas_at=path))
        return replace(claims, bindings=tuple(bindings), failed=tuple(failed))

    def _undivided_before(self, binding: Binding) -> Binding | None:
        """Return the former binding of an object that has a place and had no replicas, if these are divided now."""
        if self.previous is None or not binding.replicas or not binding.targets:
            return None
        former = self.previous.bindings.get(binding.ref)
        if former is None or former.is_workload or not former.targets:
            return None
        return None if binding.is_reschedule_requested or is_placement_changed(binding) else former

    def _undivided_objects_kept(
        self,
        divided: Mapping[ObjectRef, Binding],
        candidates: Mapping[ObjectRef, Binding],
        template_by_ref: Mapping[ObjectRef, Template],
        by_source: Scales,
    ) -> Mapping[ObjectRef, Undivided]:
        """Return what each cluster keeps of those objects that nothing in the source asks to divide."""
        assert self.previous is not None, "a candidate stood in the previous commit"
        by_former_members = _former_scales(self.previous.tree)
        found = {}
        for ref, former in candidates.items():
            if self._answering_layer(template_by_ref[ref]) is not Layer.SCALE:
                continue
            kind = template_by_ref[ref].versioned_kind
            now = Undivided(replicas=divided[ref].replicas, is_by_members=kind not in by_source)
            is_news = self.previous.source == self.source or (now.is_by_members and kind not in by_former_members)
            if _is_kept_division_valid(former.undivided, now) if former.undivided else is_news:
                found[ref] = now
        return found

    def _path_by_members(self, template: Template, by_source: Scales) -> str:
        """Return where the replicas of an object stand, if only definitions of members tell; else nothing."""
        scale = self.interpreter.scales.get(template.versioned_kind)
        if scale is None or template.versioned_kind in by_source or self._answering_layer(template) is not Layer.SCALE:
            return ""
        return f".{'.'.join(scale.spec_replicas)}"

    def _is_lost(self, binding: Binding, template: Template, path: str) -> bool:
        """Say whether members alone told the replicas of an object, and say otherwise now."""
        before = self._replicas_path_before(binding)
        if not before or path == before or binding.is_reschedule_requested or not self.desired.fleet.interprets_scale:
            return False
        if (template.ref.group, template.ref.kind) in kinds_of_definitions(each.manifest for each in self.desired.crds):
            return False
        return self._answering_layer(template) in {Layer.SCALE, Layer.NONE}

    def _replicas_path_before(self, binding: Binding) -> str:
        former = self.previous.bindings.get(binding.ref) if self.previous else None
        return former.replicas_at if former else ""

    def _answering_layer(self, template: Template) -> Layer:
        return self.interpreter.answering_layer(Operation.INTERPRET_REPLICA, template.manifest)


def _is_kept_division_valid(before: Undivided, now: Undivided) -> bool:
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
    return scales_of_members(
        each.scales for each in clusters_corrected_by_facts(map(_bare_cluster_named, facts), facts)
    )


def _bare_cluster_named(name: str) -> Cluster:
    return Cluster(name=name)


def shares_if_asked(binding: Binding, replicas: int, scheduler: Scheduler) -> tuple[TargetCluster, ...]:
    """Return the shares that an object would get if it were rescheduled; none where it could not be placed."""
    requests = (*binding.answered_requests, _ASKED)
    decision = scheduler.schedule(replace(binding, replicas=replicas, undivided=None, reschedule_requests=requests))
    return decision.targets if decision.is_scheduled else ()
