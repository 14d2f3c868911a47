"""The subject of a rollback, from words, and the rendered commit that it goes back to."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from msgspec import Struct

from reconciler.branches.publication import publication_of, remote_of_source
from reconciler.branches.reading import read_previous
from reconciler.branches.rendered_history import RenderedSource, rendered_commit_before_change, rendered_commits
from reconciler.edit.cluster_files import MemberSource
from reconciler.edit.rollback import RollbackPlan, RollbackSubject, plan_of_rollback
from reconciler.history.subjects import ref_of_rendered_object
from reconciler.names.kinds import parse_kind_and_name, ref_of_named_object
from reconciler.names.subjects import error_of_unknown_cluster
from reconciler.overview.instants import known_branches
from reconciler.pipeline.previous import RenderedTree, StoredBindings
from reconciler.pipeline.renames import previous_by_new_names
from reconciler.repository.branch_commits import refuse_unusable_branch
from render.binding import Binding
from render.errors import ConfigError, UnknownName
from render.layout import file_name_of_object
from render.model import ObjectRef
from render.timing import instant_text

from .rollbacks import blobs_of_objects

_BINDINGS, _COPIES = "bindings", "copies"
_MOST_COMMITS = 1_000_000


class CommitOfTime(Struct, frozen=True, kw_only=True):
    """The rendered commit that stood at a time that is asked for, and when it was made; ``is_exact``: its pass says so.

    Of any other it is known when it was made at the earliest.
    """

    asked: datetime
    target: RenderedSource
    made: datetime
    is_exact: bool

    @property
    def words(self) -> str:
        """The commit and its time in words."""
        later = "" if self.is_exact else " or later"
        return f"at {instant_text(self.asked)} stood what was rendered at {instant_text(self.made)}{later}"


def refuse_branch(source: MemberSource, branch: str) -> None:
    """Raise ConfigError for a new branch that is the fleet's own, that git does not take, or that is there already."""
    prefix = source.published_fleet.branch_prefix
    if branch == prefix or branch.startswith(f"{prefix}/"):
        raise ConfigError(f"{branch!r} is a branch that passes write", hint=f"name one that is not below {prefix}/")
    refuse_unusable_branch(source.repository, branch, remote_of_source(source.repository))


def newest_rendered_commit(source: MemberSource) -> str:
    """Return the newest rendered commit that is known here."""
    fleet = source.published_fleet
    publication = publication_of(source.repository, fleet)
    tip = publication.known_tip(fleet.rendered_branch)
    if tip is None:
        raise publication.nothing_rendered(fleet.rendered_branch)
    return tip


def subject_meant(
    source: MemberSource, tip: str, words: Sequence[str], namespace: str, cluster: str
) -> RollbackSubject:
    """Return the subject that words name; UnknownName for what neither the source nor a rendered commit has."""
    if words:
        return RollbackSubject(refs=frozenset(_ref_meant(source, tip, word, namespace) for word in words))
    if cluster:
        tree = read_previous(source.repository, tip).tree
        known = {each.name for each in source.loaded.desired.clusters} | tree.clusters.keys()
        if cluster not in known:
            raise error_of_unknown_cluster(cluster, sorted(known))
    return RollbackSubject(namespace=namespace, cluster=cluster)


def _ref_meant(source: MemberSource, tip: str, word: str, namespace: str) -> ObjectRef:
    """Return the object that a word means, in the source or in what was rendered once."""
    noun, name = parse_kind_and_name([word])
    try:
        return ref_of_named_object(noun, name, namespace, source.loaded.desired.templates)
    except UnknownName:
        return ref_of_rendered_object(source.repository, tip, [word], namespace)


def commit_of_time(source: MemberSource, tip: str, asked: datetime) -> CommitOfTime:
    """Return the newest rendered commit that a time may have seen; UnknownName where none that is here is so old."""
    repository, fleet = source.repository, source.published_fleet
    status = repository.tip(publication_of(repository, fleet).ref(fleet.status_branch))
    instants = known_branches(repository, tip, status, _MOST_COMMITS, _MOST_COMMITS).passes
    found = next((each for each in reversed(instants) if each.at <= asked), None)
    if found is not None:
        target = RenderedSource(commit=found.commit.id, source=found.source)
        return CommitOfTime(asked=asked, target=target, made=found.at, is_exact=found.now is not None)
    oldest = f"the oldest that is here is of {instant_text(instants[0].at)}" if instants else "no source of it is here"
    shallow = "; this clone is shallow: git fetch --unshallow" if repository.is_shallow else ""
    raise UnknownName(f"nothing that is here was rendered by {instant_text(asked)}", hint=f"{oldest}{shallow}")


def plan_without_commit(source: MemberSource, tip: str, subject: RollbackSubject) -> RollbackPlan:
    """Return the plan of going back to before the newest change of the source that is about a subject.

    A change that is not rendered yet counts: then it is the newest rendered commit that is gone back to.
    """
    newest = next(rendered_commits(source.repository, tip))
    if newest.source != source.repository.tip("HEAD"):
        plan = plan_of_rollback(source, newest, subject)
        if plan.restored.contents:
            return plan
    is_everything = subject == RollbackSubject()
    part = None if is_everything else partial(_part_of_commit, source, subject, {})
    found = rendered_commit_before_change(source.repository, tip, part)
    if found is None:
        raise UnknownName(
            f"no rendered commit that is here has {subject} otherwise than now",
            hint="this clone is shallow; fetch the whole history: git fetch --unshallow"
            if source.repository.is_shallow
            else "argosy history tells what changed; name a commit with --to",
        )
    return plan_of_rollback(source, found, subject)


def _part_of_commit(
    source: MemberSource, subject: RollbackSubject, parsed: dict[bytes, Binding], commit: str
) -> Mapping[str, object]:
    """Return what was decided of a subject at a rendered commit, and what clusters had of it, to be compared."""
    clusters = source.loaded.desired.clusters
    stored = read_previous(source.repository, commit, parsed)
    if subject.refs and isinstance(stored.bindings, StoredBindings):
        stored.bindings.load(subject.refs)
    previous = previous_by_new_names(stored, clusters)
    tree = previous.tree
    if subject.cluster:
        shares = {str(ref): each.target_replicas.get(subject.cluster) for ref, each in previous.bindings.items()}
        return {**shares, _COPIES: tree.clusters.get(subject.cluster)}
    decided: Mapping[str, object] = {}
    folders = tree.clusters
    if any(each.former_names for each in clusters):  # the files of bindings name clusters as they were called then
        asked = subject.refs or filter(subject.is_about_object, previous.bindings)
        decided = {str(ref): previous.bindings.get(ref) for ref in asked}
    else:
        folders = {**folders, **_folder_of_bindings(tree)}
    if subject.namespace:
        path = (file_name_of_object(subject.namespace),)
        entries = {name: tree.trees.entry(tree_id, path) for name, tree_id in folders.items()}
        return {**decided, **{name: entry.id for name, entry in entries.items() if entry is not None}}
    refs = sorted(subject.refs)
    copies = {name: blobs_of_objects(tree.trees, tree_id, refs) for name, tree_id in folders.items()}
    return {**decided, **{name: blobs for name, blobs in copies.items() if blobs}}


def _folder_of_bindings(tree: RenderedTree) -> Mapping[str, bytes]:
    entry = tree.trees.entries(tree.root).get(_BINDINGS)
    return {f"{_BINDINGS}/": entry.id} if entry is not None else {}
