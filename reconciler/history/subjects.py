"""The history of what people name: an object, a cluster, a policy or a namespace, or the whole fleet."""

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.in_force import fleet_in_force, rendered_tip_or_none
from reconciler.branches.publication import publication_of
from reconciler.branches.reading import read_previous
from reconciler.names.kinds import parse_kind_and_name, ref_of_named_object
from reconciler.names.subjects import error_of_unknown_cluster, is_cluster_noun, is_policy_noun, policy_kinds_meant_by
from reconciler.pipeline.namespaces import bare_namespace
from reconciler.pipeline.rollouts.state_files import ROLLOUTS_FOLDER
from reconciler.repository import Repository
from reconciler.repository.changing_commits import ListingLimits
from render.errors import UnknownName
from render.layout import file_name_of_object, object_path, ref_of_object_path
from render.model import ObjectRef, Template

from .events import BINDINGS, CLUSTERS, ObjectEvent, events_by_step
from .steps import RenderedStep, members_of_tree

_NAMESPACE_NOUNS = frozenset({"namespace", "namespaces", "ns"})
_MOST_FILES = 20_000
"""Files of clusters that are looked at one by one, of a commit in the history of a fleet."""


class Subject(Struct, frozen=True, kw_only=True):
    """The subject of a history: one of an object, a cluster, policies and a namespace; the fleet without any.

    ``policy`` is the name of policies of some ``policy_kinds``, in ``namespace`` ("": any).
    """

    ref: ObjectRef | None = None
    cluster: str = ""
    policy: str = ""
    policy_kinds: frozenset[str] = frozenset()
    namespace: str = ""

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of the files on the rendered branch that tell of it, and of waves that changes go out by."""
        found: tuple[str, ...]
        if self.ref is not None:
            path = "/".join(object_path(self.ref))
            found = f"{BINDINGS}/{path}", f"{CLUSTERS}/*/{path}"
        elif self.cluster:
            found = f"{BINDINGS}/**", f"{CLUSTERS}/{self.cluster}/**"
        elif self.policy:
            found = (f"{BINDINGS}/**",)
        elif not self.namespace:
            found = f"{BINDINGS}/**", f"{CLUSTERS}/**"
        else:
            folder = file_name_of_object(self.namespace)
            found = f"{BINDINGS}/{folder}/**", f"{CLUSTERS}/*/{folder}/**"
        return *found, f"{ROLLOUTS_FOLDER}/**"

    @property
    def is_everything(self) -> bool:
        """Say whether it is the whole fleet."""
        return self == Subject()

    def limits(self, commits: int = 0) -> ListingLimits:
        """Return the limits of a search for it in so many commits (0: all): of a fleet, bindings are always read."""
        if not self.is_everything:
            return ListingLimits(commits=commits)
        return ListingLimits(files=_MOST_FILES, always=(f"{BINDINGS}/**", f"{ROLLOUTS_FOLDER}/**"), commits=commits)

    def concerns(self, event: ObjectEvent) -> bool:
        """Say whether an event is part of its history."""
        if self.ref is not None:
            return event.ref == self.ref
        if self.cluster:
            return self.cluster in event.clusters
        if self.policy:
            return any(map(self._is_meant_policy, (event.policy, event.former_policy, *event.overrides)))
        return self.namespace in {"", event.ref.namespace}

    def _is_meant_policy(self, policy: str) -> bool:
        kind, _, name = policy.partition(" ")
        namespace, _, short = name.rpartition("/")
        return kind in self.policy_kinds and short == self.policy and self.namespace in {"", namespace}


class StepEvents(Struct, frozen=True, kw_only=True):
    """A rendered commit with what it changed of a subject."""

    step: RenderedStep
    events: tuple[ObjectEvent, ...] = ()


class History(Struct, frozen=True, kw_only=True):
    """The events of a subject by commits, the newest first, up to a rendered one. ``has_more``: there are earlier ones.

    A commit stands here without an event, too, if it changed more files of clusters than are looked at one by one.
    """

    commit: str
    subject: Subject
    steps: tuple[StepEvents, ...]
    has_more: bool = False

    @property
    def events(self) -> tuple[ObjectEvent, ...]:
        """The events, the newest first."""
        return tuple(event for each in self.steps for event in each.events)

    @property
    def is_cut_off(self) -> bool:
        """Say whether earlier commits are not in this clone."""
        return any(each.step.is_cut_off for each in self.steps)


def rendered_tip_meant(repository: Repository, revision: str) -> str:
    """Return the rendered commit that a revision names; without one the newest that is known here."""
    if revision:
        return repository.resolve(revision)
    fleet, _ = fleet_in_force(repository, repository.resolve("HEAD"), rendered_tip_or_none)
    publication = publication_of(repository, fleet)
    tip = publication.known_tip(fleet.rendered_branch)
    if tip is None:
        raise publication.nothing_rendered(fleet.rendered_branch)
    return tip


def subject_of_words(repository: Repository, tip: str, words: Sequence[str], namespace: str) -> Subject:
    """Return the subject that words name; UnknownName where no rendered commit has anything of that name."""
    if not words:
        return Subject(namespace=namespace)
    noun, name = parse_kind_and_name(words)
    if is_cluster_noun(noun):
        refuse_unknown_cluster_of_history(repository, tip, name)
        return Subject(cluster=name)
    if is_policy_noun(noun):
        return Subject(policy=name, policy_kinds=policy_kinds_meant_by(noun), namespace=namespace)
    if noun.lower() in _NAMESPACE_NOUNS:
        return Subject(namespace=name)
    return Subject(ref=ref_of_rendered_object(repository, tip, words, namespace))


def history_of_subject(repository: Repository, tip: str, subject: Subject, limit: int) -> History:
    """Return the newest events of a subject; ``limit`` 0 is no limit.

    A commit without an event counts like one.
    """
    steps: list[StepEvents] = []
    room = limit
    for each in steps_of_subject(repository, tip, subject, most=limit + 1 if limit else 0):
        count = max(len(each.events), 1)
        if limit and count > room:
            if room:
                steps.append(replace(each, events=each.events[:room]))
            return History(commit=tip, subject=subject, steps=tuple(steps), has_more=True)
        steps.append(each)
        room -= count
    return History(commit=tip, subject=subject, steps=tuple(steps))


def history_of_commit(repository: Repository, commit: str, limit: int) -> History:
    """Return what a rendered commit changed itself, as far as so many events; ``has_more`` if there is one before."""
    subject = Subject()
    steps = tuple(steps_of_subject(repository, commit, subject, commits=1, most=limit + 1))
    is_whole = all(len(each.events) <= limit for each in steps)
    has_more = not is_whole or bool(repository.commit_info(commit).parents)
    steps = tuple(replace(each, events=each.events[:limit]) for each in steps)
    return History(commit=commit, subject=subject, steps=steps, has_more=has_more)


def steps_of_subject(
    repository: Repository, tip: str, subject: Subject, *, commits: int = 0, most: int = 0
) -> Iterator[StepEvents]:
    """Yield the events of a subject by rendered commits, the newest first, of so many (0: all that are here).

    A commit without one is yielded if it changed more files of clusters than are looked at one by one. Of each the
    first ``most`` events are read (0: all).
    """
    for step, found in events_by_step(repository, tip, subject.patterns, subject.limits(commits)):
        events = tuple(islice(filter(subject.concerns, found), most or None))
        if events or step.unlisted:
            yield StepEvents(step=step, events=events)


def events_of_subject(repository: Repository, tip: str, subject: Subject) -> Iterator[ObjectEvent]:
    """Yield the events of a subject, the newest first."""
    for _, found in events_by_step(repository, tip, subject.patterns, subject.limits()):
        yield from filter(subject.concerns, found)


def ref_of_rendered_object(repository: Repository, tip: str, words: Sequence[str], namespace: str) -> ObjectRef:
    """Return the object that is meant, of those that are rendered; of those that were once, where none is now."""
    noun_and_name = parse_kind_and_name(words)
    present = _refs_of_bindings(repository, tip)
    spaces = sorted({ref.namespace for ref in present if ref.namespace})
    known = (*map(_template_of_ref, present), *map(bare_namespace, spaces))
    try:
        return ref_of_named_object(*noun_and_name, namespace, known)
    except UnknownName as error:
        removed = repository.removed_files([tip], f"{BINDINGS}/")
        former = {ref_of_object_path(each.path.partition("/")[2]) for each in removed}
        try:
            return ref_of_named_object(*noun_and_name, namespace, map(_template_of_ref, sorted(former)))
        except UnknownName:
            raise error from None


def refuse_unknown_cluster_of_history(repository: Repository, tip: str, name: str) -> None:
    """Raise UnknownName for a cluster of which no rendered commit that is here has a folder or a line."""
    tree = read_previous(repository, tip).tree
    known = tree.clusters.keys() | members_of_tree(repository, tree)
    if name not in known and not repository.removed_files([tip], f"{CLUSTERS}/{name}/"):
        raise error_of_unknown_cluster(name, known)


def _refs_of_bindings(repository: Repository, tip: str) -> list[ObjectRef]:
    """Return the objects that have a binding at a rendered commit."""
    tree = read_previous(repository, tip).tree
    folder = tree.trees.entries(tree.root).get(BINDINGS)
    return [ref_of_object_path("/".join(path)) for path, _ in tree.files(folder.id)] if folder else []


def _template_of_ref(ref: ObjectRef) -> Template:
    return Template(ref=ref, manifest={"apiVersion": "v1", "kind": ref.kind})
