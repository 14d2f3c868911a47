"""The commits that gave an object its replicas and each of its fields, cluster by cluster, and the rules of fields.

Going back through what rendered commits changed, a number or a field comes from the newest commit that made it what it
is. The rule that sets a field is the template, or the last override that wrote it, at the version of the cluster.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from overrides.secrecy import HIDDEN
from reconciler.branches.reading import read_observed_inputs, read_previous
from reconciler.branches.rendered_sources import rendered_source
from reconciler.console.log import Log
from reconciler.diff.objects import Leaf, leaves_of_manifest, path_of_names
from reconciler.explain.overrides import OverriddenClusters, overridden_clusters
from reconciler.explain.replay import pass_time_of_commit
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.readme import Tally
from reconciler.pipeline.scope import Scope, refs_with_their_namespaces
from reconciler.plans.rendered_object import mapping_of_rendered_file
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome, run_pass
from reconciler.repository import CommitInfo, Repository
from reconciler.repository.trailers import commit_written_by_argosy
from render.binding import Binding
from render.errors import ReconcileError, UnknownName
from render.layout import object_path
from render.model import ObjectRef

from .events import ObjectEvent, names_given_by_commit
from .reasons import ChangeReason
from .steps import RenderedStep, members_of_tree
from .subjects import Subject, events_of_subject

TEMPLATE = "the template"
OTHER_VERSION = "not known: it stands at another version than that of the newest source"
UNKNOWN_RULE = "not known"
_Mark = tuple[str, str]
"""The rule that sets a field, and the commit that it comes from."""
_Marks = tuple[tuple[_Mark, tuple[str, ...]], ...]
"""The rules and commits of a field, each with the clusters in which they are its."""


class ChangeOrigin(Struct, frozen=True, kw_only=True):
    """The rendered commit that something comes from, and its reasons.

    ``step`` None: it is older than the commits that are here, or as old as the first of a shallow clone.
    """

    step: RenderedStep | None = None
    reasons: tuple[ChangeReason, ...] = ()

    @classmethod
    def of_event(cls, event: ObjectEvent) -> "ChangeOrigin":
        """Return the origin of what an event changed."""
        return cls(step=event.step, reasons=event.reasons)


class BlamedPlace(Struct, frozen=True, kw_only=True):
    """An object in a cluster: its replicas (None: it has none), and where they, or its being there, come from."""

    cluster: str
    replicas: int | None
    origin: ChangeOrigin


class BlamedFields(Struct, frozen=True, kw_only=True):
    """Fields of an object that come from one commit by one rule in some clusters; a path stands for all below it."""

    paths: tuple[str, ...]
    clusters: tuple[str, ...]
    rule: str
    origin: ChangeOrigin


class Blame(Struct, frozen=True, kw_only=True):
    """The origins of an object at a rendered commit. ``rule_error``: why the rules of fields are not known."""

    commit: str
    ref: ObjectRef
    policy: str
    places: tuple[BlamedPlace, ...]
    fields: tuple[BlamedFields, ...]
    rule_error: str = ""


class _ClusterFields(Struct):
    """The fields of an object in a cluster whose origins are looked for, by path, and those that are found."""

    open: set[str]
    origins: dict[str, ChangeOrigin] = field(default_factory=dict)

    def close(self, paths: Iterable[str], origin: ChangeOrigin) -> None:
        """Take an origin for fields that are still open: those at some paths or below; all for an empty path."""
        for changed in paths:
            found = [path for path in self.open if not changed or _is_at_or_below(path, changed)]
            for path in found:
                self.open.remove(path)
                self.origins[path] = origin


def _is_at_or_below(path: str, above: str) -> bool:
    return path == above or (path.startswith(above) and path[len(above)] in ".[")


def blame_of_object(repository: Repository, tip: str, ref: ObjectRef, log: Log, *, cluster: str = "") -> Blame:
    """Return where an object's replicas and fields come from at a rendered commit, in one cluster or in all.

    UnknownName where it is in no cluster, or not in that one.
    """
    previous = read_previous(repository, tip)
    binding = previous.bindings.get(ref)
    leaves = _leaves_by_cluster(repository, previous, ref)
    if not leaves:
        raise UnknownName(f"{ref} is in no cluster", hint=f"argosy explain {ref.kind.lower()}/{ref.name} says why")
    if cluster and cluster not in leaves:
        raise UnknownName(f"{ref} is not in {cluster}", hint=f"it is in {', '.join(sorted(leaves))}")
    names = [cluster] if cluster else sorted(leaves)
    fields = {name: _ClusterFields({leaf.path for leaf in leaves[name]}) for name in names}
    places = _places_and_fields(repository, tip, ref, fields)
    rules, error = _rules_by_cluster(repository, tip, ref, log)
    return Blame(
        commit=tip,
        ref=ref,
        policy=binding.policy if binding is not None else "",
        places=tuple(_blamed_place(binding, name, places.get(name, ChangeOrigin())) for name in names),
        fields=tuple(_grouped_fields(fields, leaves, None if error else rules)),
        rule_error=error,
    )


def _leaves_by_cluster(repository: Repository, previous: Previous, ref: ObjectRef) -> Mapping[str, tuple[Leaf, ...]]:
    """Return the fields of an object in each cluster of the fleet that has it; equal manifests have one value."""
    trees, path = previous.tree.trees, object_path(ref)
    members = members_of_tree(repository, previous.tree)
    folders = {name: folder for name, folder in previous.tree.clusters.items() if name in members}
    entries = {name: trees.entry(folder, path) for name, folder in folders.items()}
    ids = {name: entry.id for name, entry in entries.items() if entry is not None}
    contents = repository.read_blobs(set(ids.values()))
    leaves = {id_: tuple(leaves_of_manifest(mapping_of_rendered_file(each))) for id_, each in contents.items()}
    return {name: leaves[id_] for name, id_ in ids.items()}


class _OriginSearch(Struct):
    """The clusters in which origins are looked for, going back: their fields, and where their replicas come from.

    ``name_now`` has the clusters by the names that they have at the commit looked at.
    """

    fields: Mapping[str, _ClusterFields]
    name_now: dict[str, str]
    places: dict[str, ChangeOrigin] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Say whether all is known."""
        return len(self.places) == len(self.fields) and not any(each.open for each in self.fields.values())

    def take(self, event: ObjectEvent) -> None:
        """Note what an event gave to clusters, and go on by the names that they had before it."""
        origin = ChangeOrigin.of_event(event)
        for name in self._here((*event.gained, *(each.cluster for each in event.replicas))):
            self.places.setdefault(name, origin)
        for change in event.changes:
            for name in self._here(change.clusters):
                self.fields[name].close((each.path for each in change.fields), origin)
        for name in self._here(event.gained):
            self.fields[name].close([""], origin)
        for old, new in names_given_by_commit(event.step).items():
            if new in self.name_now:
                self.name_now[old] = self.name_now.pop(new)

    def _here(self, names: Iterable[str]) -> list[str]:
        return [self.name_now[name] for name in names if name in self.name_now]


def _places_and_fields(
    repository: Repository, tip: str, ref: ObjectRef, fields: Mapping[str, _ClusterFields]
) -> Mapping[str, ChangeOrigin]:
    """Return where the replicas of each cluster come from, and note where its fields do, going back until all is known.

    Clusters that were renamed meanwhile are followed by the names that they had.
    """
    search = _OriginSearch(fields=fields, name_now={name: name for name in fields})
    for event in events_of_subject(repository, tip, Subject(ref=ref)):
        if event.step.is_cut_off:  # what this clone begins with may have been so before
            break
        search.take(event)
        if search.is_over:
            break
    for each in fields.values():
        each.close([""], ChangeOrigin())
    return search.places


def _rules_by_cluster(
    repository: Repository, tip: str, ref: ObjectRef, log: Log
) -> tuple[Mapping[str, tuple[OverriddenClusters, ...]], str]:
    """Return what overrides do to an object in each cluster, as a pass over the same source has it; or why not."""
    info = commit_written_by_argosy(repository, tip)
    try:
        outcome = _pass_over_object(repository, info, ref, log)
    except ReconcileError as error:
        return {}, error.message
    built, desired = outcome.rendered.built, outcome.source.desired
    template = next((each for each in desired.templates if each.ref == ref), None)
    binding = next((each for each in built.bindings if each.ref == ref), None)
    if template is None or binding is None:
        return {}, f"source {outcome.source.commit[:12]} has no {ref}"
    found: dict[str, list[OverriddenClusters]] = {}
    for each in overridden_clusters(template, binding, desired, built, outcome.previous):
        for name in each.clusters:
            found.setdefault(name, []).append(each)
    return {name: tuple(several) for name, several in found.items()}, ""


def _pass_over_object(repository: Repository, info: CommitInfo, ref: ObjectRef, log: Log) -> Outcome:
    """Return a pass that goes on from a rendered commit with the same source, and looks at one object alone."""
    observed = read_observed_inputs(repository, info.id)
    source = rendered_source(repository, info.id)
    scope = Scope(refs=refs_with_their_namespaces([ref]), tally=Tally())
    inputs = RenderInputs(observed=observed, now=pass_time_of_commit(info), scope=scope)
    return run_pass(repository, source, read_previous(repository, info.id), inputs, log)


def _blamed_place(binding: Binding | None, cluster: str, origin: ChangeOrigin) -> BlamedPlace:
    replicas = binding.placed_replicas.get(cluster) if binding is not None and binding.is_workload else None
    return BlamedPlace(cluster=cluster, replicas=replicas, origin=origin)


def _grouped_fields(
    fields: Mapping[str, _ClusterFields],
    leaves: Mapping[str, tuple[Leaf, ...]],
    rules: Mapping[str, Sequence[OverriddenClusters]] | None,
) -> Iterator[BlamedFields]:
    """Yield the fields of all clusters by rule and commit; a path stands for all below it that has the same ones.

    ``rules`` None: nobody knows them.
    """
    clusters_by_mark: dict[tuple[str, ...], dict[_Mark, list[str]]] = {}
    for name, each in fields.items():
        for leaf in leaves[name]:
            rule = UNKNOWN_RULE if rules is None else _rule_of_field(leaf, rules.get(name, ()))
            mark = rule, _commit_of_origin(each.origins[leaf.path])
            clusters_by_mark.setdefault(leaf.names, {}).setdefault(mark, []).append(name)
    marks = {
        names: tuple(sorted((mark, tuple(clusters)) for mark, clusters in found.items()))
        for names, found in clusters_by_mark.items()
    }
    paths: dict[tuple[_Mark, tuple[str, ...]], list[str]] = {}
    for names, several in _parts_with_same_marks((), marks):
        for each_mark in several:
            paths.setdefault(each_mark, []).append(path_of_names(names))
    for ((rule, commit), clusters), found in paths.items():
        origins = fields[clusters[0]].origins.values()
        origin = next(each for each in origins if _commit_of_origin(each) == commit)
        yield BlamedFields(paths=tuple(found), clusters=clusters, rule=rule, origin=origin)


def _parts_with_same_marks(
    above: tuple[str, ...], marks: Mapping[tuple[str, ...], _Marks]
) -> Iterator[tuple[tuple[str, ...], _Marks]]:
    """Yield the largest parts in which all leaves have the same marks; ``marks`` are those of leaves below one."""
    if above and len(set(marks.values())) == 1:
        yield above, next(iter(marks.values()))
        return
    below: dict[str, dict[tuple[str, ...], _Marks]] = {}
    for names, mark in marks.items():
        below.setdefault(names[len(above)], {})[names] = mark
    for name, found in below.items():
        yield from _parts_with_same_marks((*above, name), found)


def _commit_of_origin(origin: ChangeOrigin) -> str:
    return origin.step.id if origin.step is not None else ""


def _rule_of_field(leaf: Leaf, overridden: Sequence[OverriddenClusters]) -> str:
    """Return the last rule that wrote a field, or the template.

    A cluster may stand at a version that rules of now did not make: then its value is not the one that the rule writes.
    """
    steps = (step for each in overridden for step in each.steps if step.error is None)
    writes = [
        (step, change) for step in steps for change in step.changes if f"{leaf.pointer}/".startswith(f"{change.path}/")
    ]
    if not writes:
        return TEMPLATE
    step, change = writes[-1]
    is_so = change.path != leaf.pointer or change.after in (leaf.value, HIDDEN)
    return f"{step.applied.policy} {step.applied.rule}".rstrip() if is_so else OTHER_VERSION
