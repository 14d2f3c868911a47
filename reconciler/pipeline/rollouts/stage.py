"""The stage of a pass that holds changes back: each cluster gets the version of an object that it is due.

It stands between the works of the newest source and the tree. A fleet without rollout policies, and without a rollout
that is under way by one that was deleted, passes through as it is.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from overrides.matching import PossibleOverrides
from reconciler.pipeline.cluster_removals import NO_DEPARTURES, Departures
from reconciler.pipeline.previous import RenderedTree, parse_file_at_root
from reconciler.source.desired import Desired, is_about_kind
from render.binding import Binding
from render.model import ObjectRef, Template
from render.object_rollout import ABSENT, ObjectRollout, name_of_rollout
from render.rollouts.policy import GradualAction, RolloutPolicy
from render.rollouts.selection import RolloutIndex, only_scales
from render.rollouts.state import RolloutState
from render.rollouts.status_ages import answers_in_order
from render.settings.removal_guard import GuardScope
from render.timing import earliest_flip
from render.works import Works

from .attributes import FormerAttributes, attributes_file
from .frozen import FrozenFleet, leaves_by_calendar, plan_of_fleet
from .groups import RolloutGroup, groups_of_objects, own_group
from .leaving import (
    asks_for_removals,
    departures_of_objects,
    leaves_wave_by_wave,
    leaving_object,
    refs_that_leave,
    version_in_use,
)
from .objects import RolledObject, VersionedObject, contents_of_versions
from .placed_objects import (
    binding_after_step,
    object_with_placement,
    object_with_split_of_before,
    object_with_unrecorded_placement,
    version_with_placement,
)
from .placements import PlacementInRollout
from .policies import RolledPolicy, RollingPolicy, RolloutContext
from .splits_before_change import RestoredSplits, SplitsBefore
from .stage_values import RolledOut
from .state_files import RolloutStates
from .upgrades import EngineUpgrade, object_as_delivered
from .versions import ClusterAttributes, ObjectVersion, parse_version, version_path, written_version
from .works import VersionContexts, template_without_place


class RolloutStage(Struct, frozen=True, kw_only=True, dict=True):
    """The stage with its inputs: the source, the rollouts and bindings before, and how versions are built.

    ``tree`` is the previous one, in which versions stand by value. ``among`` are the objects that the pass looks at
    (None: all). Those that are ``unbuilt`` keep what they have.
    """

    desired: Desired
    states: RolloutStates
    before: Mapping[ObjectRef, Binding]
    tree: RenderedTree | None
    context: RolloutContext
    contexts: VersionContexts
    are_over: bool = False
    among: frozenset[ObjectRef] | None = None
    unbuilt: frozenset[ObjectRef] = frozenset()
    attributes: Mapping[str, ClusterAttributes] = field(default_factory=dict)
    upgrade: str = ""
    placements: Mapping[ObjectRef, PlacementInRollout] = field(default_factory=dict)
    splits: SplitsBefore | None = None
    restored_splits: RestoredSplits = field(default_factory=dict)

    def rolled_out(
        self, bindings: Sequence[Binding], works: Mapping[ObjectRef, Works], templates: Mapping[ObjectRef, Template]
    ) -> RolledOut:
        """Return the bindings and works of a pass with the version of each object that every cluster is due.

        ``works`` are those of the newest source. An object without any, though it has a template here, keeps all.
        """
        if self.are_over or not (self.desired.rollout_policies or self.states or self.context.calendar):
            return RolledOut.of_newest(bindings, works)
        policies = {str(each): each for each in self.desired.rollout_policies}
        objects = self._objects_by_policy(bindings, works, templates)
        unbuilt = frozenset(templates.keys() - works.keys())
        rolled = {
            name: self._rolled_group(policies.get(policy), name, group, unbuilt)
            for name, (policy, group) in sorted(self._groups_by_rollout(policies, objects).items())
        }
        found = {ref: each for policy in rolled.values() for ref, each in policy.objects.items()}
        active = {*policies, self._fleet, *(name for name, each in rolled.items() if each.state is not None)}
        every = [each for several in objects.values() for each in several]
        freed = [each for each in every if self._is_freed(each, found[each.ref], active)]
        found |= {each.ref: found[each.ref].in_policy(self._policy_of_freed_object(each)) for each in freed}
        leaving = [each for each in every if each.is_leaving and not found[each.ref].has_left]
        works = {**works, **{each.ref: each.works for each in leaving}}
        bindings = (*bindings, *(each.binding for each in leaving))
        return RolledOut(
            bindings=tuple(self._binding_after_step(each, found, works, active) for each in bindings),
            works={ref: found[ref].works if ref in found else each for ref, each in works.items()},
            contents=contents_of_versions(every),
            states={name: each.state for name, each in rolled.items() if each.state is not None},
            flip=earliest_flip(each.flip for each in rolled.values()),
            notes=tuple(note for each in rolled.values() for note in each.notes),
            under_way=frozenset(ref for each in rolled.values() for ref in each.under_way),
            waiting={name: each.waiting for name, each in rolled.items() if each.waiting},
            has_calendar=bool(self.context.calendar) and self.context.now is not None,
            questions=tuple(question for each in rolled.values() for question in each.questions),
            status_ages=answers_in_order(age for each in rolled.values() for age in each.status_ages),
            attributes=attributes_file(self.context.index.clusters),
            departures=self._departures((each for each in every if each.ref in found), found),
        )

    def _departures(self, objects: Iterable[VersionedObject], found: Mapping[ObjectRef, RolledObject]) -> Departures:
        """Return what guards judge at once; clusters that are held back one by one are judged in their wave."""
        is_judged_whole = self.desired.fleet.removal_guard.scope is GuardScope.FLEET
        return departures_of_objects(objects, found) if is_judged_whole else NO_DEPARTURES

    def _is_freed(self, each: VersionedObject, rolled: RolledObject, active: Collection[str]) -> bool:
        """Say whether no policy is about an object any more, nor anything that is not over.

        What a policy that was edited selects no longer is free in the pass in which that ends, and not one later.
        """
        if rolled.rollout_by_policy(active) is None:
            return True
        has_ended = each.before.is_under_way and not rolled.rollout.is_unfinished
        if not has_ended or each.is_leaving or rolled.rollout.policy == self._fleet:
            return False
        return self._selection.policy_for_template(each.newest.template) is None

    def _policy_of_freed_object(self, each: VersionedObject) -> str:
        """Return the policy that is about an object which is free of its own ("": none is)."""
        return self._fleet if not each.is_leaving and self._is_covered(each.newest.template) else ""

    @cached_property
    def _selection(self) -> RolloutIndex:
        return RolloutIndex(self.desired.rollout_policies)

    def _binding_after_step(
        self,
        binding: Binding,
        found: Mapping[ObjectRef, RolledObject],
        works: Container[ObjectRef],
        active: Collection[str],
    ) -> Binding:
        if binding.ref not in found:
            return self._binding_without_rollout(binding, works, active)
        return binding_after_step(binding, found[binding.ref], active, self.placements.get(binding.ref))

    def _groups_by_rollout(
        self, policies: Mapping[str, RolloutPolicy], objects: Mapping[str, Sequence[VersionedObject]]
    ) -> Mapping[str, tuple[str, RolloutGroup]]:
        """Return the groups of objects that go out by themselves, and those of rollouts before, with their policies."""
        found = {
            name_of_rollout(policy, group.name): (policy, group)
            for policy, several in objects.items()
            if policy != self._fleet
            for group in groups_of_objects(policies.get(policy), several, self.contexts.newest.interpreter)
        }
        if self._fleet in objects:
            found[self._fleet] = self._fleet, RolloutGroup(name="", objects=tuple(objects[self._fleet]))
        for name, state in self.states.items():
            policy = str(state.plan)
            if name not in found and not self._is_forgotten(policies.get(policy), state):
                found[name] = policy, RolloutGroup(name=state.group, objects=())
        return found

    def _is_forgotten(self, policy: RolloutPolicy | None, state: RolloutState) -> bool:
        """Say whether the objects of a group that went out are in other groups now, or are no more."""
        if not state.group or not state.is_completed:
            return False
        return all(own_group(policy, each) != state.group for each in self.desired.templates)

    def _rolled_group(
        self, policy: RolloutPolicy | None, name: str, group: RolloutGroup, unbuilt: frozenset[ObjectRef]
    ) -> RolledPolicy:
        """Return a group after its step; its rollout is not over while an object of it could not be built."""
        state = self.states.get(name)
        before = None if group.is_joined else state
        if name == self._fleet:
            rolled = self._frozen_fleet(state, group.objects).rolled()
        else:
            rolled = RollingPolicy(
                policy=policy,
                state=before,
                objects=[each.in_group(group.name) for each in group.objects],
                context=self.context,
                group=group.name,
                unbuilt=unbuilt,
            ).rolled()
        is_held = name == self._fleet and rolled.state is not None
        if is_held or rolled.under_way or not any(self._is_under_way_by(name, ref) for ref in unbuilt):
            return rolled
        return replace(rolled, state=state)

    def _frozen_fleet(self, state: RolloutState | None, objects: Sequence[VersionedObject]) -> FrozenFleet:
        context = self.context
        return FrozenFleet(
            plan=plan_of_fleet(self.desired.fleet.name),
            state=state,
            objects=objects,
            calendar=context.calendar,
            index=context.index,
            source=context.source,
            controls=context.controls,
        )

    @property
    def _fleet(self) -> str:
        """The rollout of what the calendar holds back, as text."""
        return str(plan_of_fleet(self.desired.fleet.name))

    def _is_under_way_by(self, name: str, ref: ObjectRef) -> bool:
        before = self.before.get(ref)
        rollout = before.rollout if before is not None else None
        return rollout is not None and rollout.name == name and rollout.is_under_way

    def _binding_without_rollout(
        self, binding: Binding, works: Container[ObjectRef], active: Collection[str]
    ) -> Binding:
        """Return a binding that nothing rolls out; where nothing was built, its clusters stand where they stood."""
        before = None if binding.ref in works else self.before.get(binding.ref)
        rollout = before.rollout if before is not None else None
        if rollout is not None and not {rollout.policy, rollout.name}.intersection(active):
            rollout = None
        return binding if binding.rollout == rollout else replace(binding, rollout=rollout)

    def _objects_by_policy(
        self, bindings: Sequence[Binding], works: Mapping[ObjectRef, Works], templates: Mapping[ObjectRef, Template]
    ) -> Mapping[str, list[VersionedObject]]:
        """Return the objects that rollout policies select, or whose policy was deleted meanwhile, by policy."""
        possible = PossibleOverrides(self.desired.override_policies)
        found: dict[str, list[VersionedObject]] = {}
        for binding in bindings:
            if binding.ref not in works:
                continue
            policy = self._policy_of_object(templates[binding.ref])
            if policy:
                version = self._newest_version(templates[binding.ref], possible)
                selecting = [each for each in self.desired.rollout_policies if str(each) == policy]
                is_covered = self._is_covered(templates[binding.ref])
                version = version_with_placement(version, binding, selecting, is_covered=is_covered)
                found.setdefault(policy, []).append(
                    self._versioned_object(binding, version, works[binding.ref], policy)
                )
        for each in self._leaving_objects(bindings, possible):
            found.setdefault(each.before.policy, []).append(each)
        return found

    def _leaving_objects(self, bindings: Sequence[Binding], possible: PossibleOverrides) -> Iterator[VersionedObject]:
        """Yield the objects that nothing asks for any more, and that leave wave by wave."""
        if not (asks_for_removals(self.desired.rollout_policies) or self.states or self.context.calendar):
            return
        for ref in refs_that_leave(self.before, self.among, {*(each.ref for each in bindings), *self.unbuilt}):
            before = self.before[ref]
            is_frozen = leaves_by_calendar(before, self.context.calendar, self.context.index)
            if is_frozen or leaves_wave_by_wave(before, self.desired.rollout_policies, self.states):
                recorded = self.recorded_version(ref, version_in_use(before))
                version = self._newest_version(recorded.template, possible)
                leaving = leaving_object(before, version, self.contexts, self.recorded_version)
                yield self._object_as_before(leaving)

    def _policy_of_object(self, template: Template) -> str:
        """Return the policy of an object as text; without any, the one by which it is still under way."""
        selecting = self._selection.policy_for_template(template)
        if selecting is not None:
            return str(selecting)
        before = self.before.get(template.ref)
        rollout = before.rollout if before is not None else None
        if rollout and rollout.has_gates and rollout.is_under_way and rollout.name in self.states:
            return rollout.policy
        return self._fleet if self._is_covered(template) else ""

    def _is_covered(self, template: Template) -> bool:
        """Say whether the calendar covers an object."""
        return self.context.calendar.calendar.covers(template.ref) and not only_scales(template)

    def _newest_version(self, template: Template, possible: PossibleOverrides) -> ObjectVersion:
        policies = possible.policies_for(template.manifest)
        return ObjectVersion(
            template=template_without_place(template),
            override_policies=tuple(replace(each, path="", document=0) for each in policies),
            customizations=tuple(
                each.manifest
                for each in self.desired.customizations
                if is_about_kind(each, template.api_version, template.ref.kind)
            ),
        )

    def _versioned_object(self, binding: Binding, newest: ObjectVersion, works: Works, policy: str) -> VersionedObject:
        written = written_version(newest, self.contexts.newest.interpreter)
        before = self.before.get(binding.ref)
        rollout = before.rollout if before is not None else None
        if self._is_delivered_gradually(binding.ref, policy, before):
            rollout = ObjectRollout(policy=policy, target=ABSENT, completed=ABSENT)
        elif rollout is None:
            rollout = ObjectRollout(policy=policy, target=written.digest, completed=written.digest)
        found = VersionedObject(
            binding=binding,
            newest=newest,
            written=written,
            works=works,
            before=replace(rollout, policy=policy),
            contexts=self.contexts,
            read=self.recorded_version,
            splits=self.splits,
        )
        placement, is_known = self.placements.get(binding.ref), before is not None and before.rollout is not None
        if placement is not None and before is not None and not is_known:
            found = object_with_unrecorded_placement(found, placement, before)
        elif placement is not None:
            found = object_with_placement(found, placement)
        elif binding.ref in self.restored_splits:
            found = object_with_split_of_before(found)
        if before is not None and not is_known and self.context.calendar.closed_clusters(binding.ref).mask:
            return object_as_delivered(found, before, self.tree)
        return self._object_as_before(found) if is_known else found

    def _object_as_before(self, each: VersionedObject) -> VersionedObject:
        """Return an object that is what it was, where new attributes of clusters or an engine make it otherwise."""
        found = self._former_attributes.object_with_former_bytes(each)
        return EngineUpgrade(engine=self.upgrade, tree=self.tree).object_with_former_bytes(found, self.before[each.ref])

    @cached_property
    def _former_attributes(self) -> FormerAttributes:
        return FormerAttributes(index=self.context.index, before=self.attributes)

    def _is_delivered_gradually(self, ref: ObjectRef, policy: str, before: Binding | None) -> bool:
        """Say whether an object is in no cluster yet, and is not given to all at once: by waves, or by the calendar."""
        if before is not None and (before.targets or before.required_by):
            return False
        also_for = next((each.also_for for each in self.desired.rollout_policies if str(each) == policy), ())
        is_closed = self.tree is not None and self.context.calendar.closed_clusters(ref).mask
        return GradualAction.FIRST_DELIVERY in also_for or bool(is_closed)

    def recorded_version(self, ref: ObjectRef, digest: str) -> ObjectVersion:
        """Return a version of an object as the previous commit has it; GitError where it has none."""
        path = version_path(ref, digest)
        entry = self.tree.trees.entry(self.tree.root, path) if self.tree is not None else None
        content = self.tree.contents([entry.id])[entry.id] if self.tree is not None and entry is not None else b""
        return parse_file_at_root("/".join(path), content, parse_version)
