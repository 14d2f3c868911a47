"""The history of what people name: an object, a cluster, a policy or a namespace, or the whole fleet."""

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

from reconciler.branches.in_force import fleet_in_force, rendered_tip_or_none
from reconciler.branches.publication import publication_of
from reconciler.branches.reading import read_previous
from reconciler.names.kinds import parse_kind_and_name, ref_of_named_object
from reconciler.names.subjects import error_of_unknown_cluster, is_cluster_noun, is_policy_noun, policy_kinds_meant_by
from reconciler.pipeline.namespaces import bare_namespace
from reconciler.pipeline.rollouts.state_files import ROLLOUTS_FOLDER
from reconciler.repository import Repository
from render.errors import UnknownName
from render.layout import file_name_of_object, object_path, ref_of_object_path
from render.model import ObjectRef, Template

from .events import BINDINGS, CLUSTERS, ObjectEvent, events_of_files
from .steps import members_of_tree

_NAMESPACE_NOUNS = frozenset({"namespace", "namespaces", "ns"})


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
        elif self.policy or not self.namespace:
            found = (f"{BINDINGS}/**",)
        else:
            folder = file_name_of_object(self.namespace)
            found = f"{BINDINGS}/{folder}/**", f"{CLUSTERS}/*/{folder}/**"
        return *found, f"{ROLLOUTS_FOLDER}/**"

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


class History(Struct, frozen=True, kw_only=True):
    """The events of a subject, the newest first, up to a rendered commit. ``has_more``: there are earlier ones."""

    commit: str
    subject: Subject
    events: tuple[ObjectEvent, ...]
    has_more: bool = False

    @property
    def is_cut_off(self) -> bool:
        """Say whether earlier commits are not in this clone."""
        return any(event.step.is_cut_off for event in self.events)


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
    """Return the newest events of a subject; ``limit`` 0 is no limit."""
    found = events_of_subject(repository, tip, subject)
    events = tuple(islice(found, limit + 1) if limit else found)
    has_more = bool(limit) and len(events) > limit
    return History(commit=tip, subject=subject, events=events[:limit] if has_more else events, has_more=has_more)


def events_of_subject(repository: Repository, tip: str, subject: Subject) -> Iterator[ObjectEvent]:
    """Yield the events of a subject, the newest first."""
    return filter(subject.concerns, events_of_files(repository, tip, subject.patterns))


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
