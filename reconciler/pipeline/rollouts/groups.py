"""The groups in which objects of a rollout policy go out: each has a rollout of its own.

By default all that changes is one group. Where a policy makes groups, of single objects or of those with a value of a
label, an object goes out with what needs it: were a ConfigMap to go out with one of two changed Deployments that name
it, the other would find it torn.

1. An object that is under way, or waits, stays in its group until that is over. Any other has its own: its label, or
   itself.
2. Objects that change and need each other (by name, as dependencies, as their namespace, as the definition of their
   kind) are one group, and with them all else that is in theirs.
3. It has the name of the group that is under way in it, else that of an object which none of the others needs. Where
   several are under way, their objects begin anew together.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from reconciler.pipeline.dependencies import TemplateIndex
from reconciler.pipeline.namespaces import namespace_ref
from render.interpreter import Interpreter, InterpreterError
from render.interpreter.needs import named_objects
from render.model import Manifest, ObjectRef, Template, mapping_or_empty
from render.rollouts.policy import GroupKey, RolloutPolicy

from .objects import VersionedObject

_DEFINITION = "CustomResourceDefinition.apiextensions.k8s.io"


class RolloutGroup(Struct, frozen=True, kw_only=True):
    """Objects that go out together, and the groups of which some of them were under way before."""

    name: str
    objects: Sequence[VersionedObject]
    under_way: frozenset[str] = frozenset()

    @property
    def is_joined(self) -> bool:
        """Say whether several groups that were under way are this one now."""
        return len(self.under_way) > 1


def own_group(policy: RolloutPolicy | None, template: Template) -> str:
    """Return the group that a policy puts an object in by itself; "" where it makes none."""
    if policy is None or policy.group_by is GroupKey.CHANGE:
        return ""
    label = template.labels.get(policy.group_label, "") if policy.group_by is GroupKey.LABEL else ""
    return label or str(template.ref)


def groups_of_objects(
    policy: RolloutPolicy | None, objects: Sequence[VersionedObject], interpreter: Interpreter
) -> Iterator[RolloutGroup]:
    """Yield the groups in which objects of a policy go out; what does not change is in one without a name."""
    recorded = {each.before.group for each in objects if each.before.is_unfinished}
    if (policy is None or policy.group_by is GroupKey.CHANGE) and recorded <= {""}:
        yield RolloutGroup(name="", objects=objects)
        return
    moving = {each.ref: each for each in objects if each.before.waiting or each.changed_goal()}
    groups = _groups_that_move(policy, moving, interpreter)
    others = [each for each in objects if each.ref not in moving]
    found = {each.name: each for each in groups}
    unnamed = found.pop("", RolloutGroup(name="", objects=()))
    yield RolloutGroup(name="", objects=(*unnamed.objects, *others), under_way=unnamed.under_way)
    yield from found.values()


def _groups_that_move(
    policy: RolloutPolicy | None, moving: Mapping[ObjectRef, VersionedObject], interpreter: Interpreter
) -> Iterator[RolloutGroup]:
    own = {
        ref: each.before.group if each.before.is_unfinished else own_group(policy, each.newest.template)
        for ref, each in moving.items()
    }
    needed = needed_objects(moving.values(), interpreter) if len(set(own.values())) > 1 else {}
    joined = {name: name for name in own.values()}
    for ref, others in needed.items():
        for other in others:
            joined[_first_of_joined(joined, own[ref])] = _first_of_joined(joined, own[other])
    by_group: dict[str, list[VersionedObject]] = {}
    for ref, each in moving.items():
        by_group.setdefault(_first_of_joined(joined, own[ref]), []).append(each)
    named = {other for ref, others in needed.items() for other in others if other != ref}
    for members in by_group.values():
        under_way = frozenset(each.before.group for each in members if each.before.is_under_way)
        first = [own[each.ref] for each in members if each.ref not in named] or [own[each.ref] for each in members]
        yield RolloutGroup(name=min(under_way or first), objects=members, under_way=under_way)


def _first_of_joined(joined: Mapping[str, str], name: str) -> str:
    """Return the name by which all groups that are one with another are found."""
    while joined[name] != name:
        name = joined[name]
    return name


def needed_objects(
    objects: Iterable[VersionedObject], interpreter: Interpreter
) -> Mapping[ObjectRef, Collection[ObjectRef]]:
    """Return which of some objects each of them needs, as their newest versions say."""
    known = {each.ref: each for each in objects}
    index = TemplateIndex(each.newest.template for each in known.values())
    by_name: dict[tuple[str, str], list[ObjectRef]] = {}
    for ref in known:
        by_name.setdefault((ref.kind, ref.name), []).append(ref)
    definitions = dict(_kinds_defined_by(known.values()))
    return {
        ref: {
            *(other for manifest in _manifests(each) for other in _refs_named_in(manifest, by_name)),
            *(other for manifest in _manifests(each) for other in _dependencies(manifest, index, interpreter)),
            *({definitions[ref.group, ref.kind]} if (ref.group, ref.kind) in definitions else ()),
            *({namespace_ref(ref.namespace)} & known.keys() if ref.namespace else ()),
        }
        for ref, each in known.items()
    }


def _manifests(each: VersionedObject) -> Iterator[Manifest]:
    """Yield the manifests of an object, as the source has them and as clusters are to have them."""
    yield from each.newest.template.manifests
    yield from (content.manifest for content in each.works.contents)


def _refs_named_in(manifest: Manifest, by_name: Mapping[tuple[str, str], Sequence[ObjectRef]]) -> Iterator[ObjectRef]:
    for named in named_objects(manifest):
        for ref in by_name.get((named.kind, named.name), ()):
            if ref.namespace in {"", named.namespace} and named.group in {None, ref.group}:
                yield ref


def _dependencies(manifest: Manifest, index: TemplateIndex, interpreter: Interpreter) -> Iterator[ObjectRef]:
    try:
        wanted = interpreter.dependencies(manifest)
    except InterpreterError:  # what the manifest names by itself is found all the same
        return
    for dependency in wanted:
        yield from index.refs_matching(dependency)


def _kinds_defined_by(objects: Iterable[VersionedObject]) -> Iterator[tuple[tuple[str, str], ObjectRef]]:
    """Yield the group and kind that each definition among some objects is of."""
    for each in objects:
        if each.ref.group_kind == _DEFINITION:
            spec = mapping_or_empty(each.newest.template.manifest.get("spec"))
            kind = mapping_or_empty(spec.get("names")).get("kind")
            group = spec.get("group")
            if isinstance(kind, str) and isinstance(group, str):
                yield (group, kind), each.ref
