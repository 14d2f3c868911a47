"""``argosy rollback``: the former source of what is asked for, and a request for its former split, as one change.

What people asked of passes (requests, controls) and the clusters of the fleet stay as they are: they are no outcome of
a change that could be taken back. What decides about other objects, too, stays as well, and is named.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct, field

from overrides.matching import selected_templates
from reconciler.branches.reading import read_loaded, reader_of_recorded_facts
from reconciler.branches.rendered_history import RenderedSource
from reconciler.branches.rendered_sources import check_source_is_here
from reconciler.locked.model import LOCK_FILE
from reconciler.pipeline.claims import claims_of
from reconciler.source.desired import Desired
from reconciler.source.files import IGNORE_FILE
from render.documents import emit
from render.model import ARGOSY_API_VERSION, POLICY_API_VERSION, Manifest, ObjectRef, group_of
from render.rollouts.one_way import one_way_changes
from render.words import counted_noun, first_few

from .cluster_files import MemberSource, SourceChange
from .former_documents import RestoredFiles, SourceSide, files_restored, paths_of_builds
from .new_files import free_path_and_name, refuse_unread_file

_FOLDER = "rollbacks"
_CLUSTER = "Cluster.cluster.karmada.io"
_KEPT_KINDS = frozenset(
    {
        _CLUSTER,
        "RollbackRequest.argosy.dev",
        "RolloutControl.argosy.dev",
        "WorkloadRebalancer.apps.karmada.io",
    }
)
"""The kinds whose documents are the fleet as it is, or what people asked once."""
_JOB = "Job.batch"


class RollbackSubject(Struct, frozen=True, kw_only=True):
    """The subject of a rollback: some objects, a namespace, or a cluster; everything without any."""

    refs: frozenset[ObjectRef] = frozenset()
    namespace: str = ""
    cluster: str = ""

    def __str__(self) -> str:
        if self.refs:
            return first_few([str(ref) for ref in sorted(self.refs)])
        if self.namespace:
            return f"namespace {self.namespace}"
        return f"cluster {self.cluster}" if self.cluster else "everything"

    def is_about_object(self, ref: ObjectRef) -> bool:
        """Say whether an object is to be as it was."""
        if self.refs:
            return ref in self.refs
        if self.namespace:
            return ref.namespace == self.namespace or ref == ObjectRef("", "Namespace", "", self.namespace)
        return True

    def is_about_document(self, ref: ObjectRef, owned: Collection[ObjectRef]) -> bool:
        """Say whether the document of an object is put back; ``owned`` decide about nothing else."""
        if self.cluster:
            return ref == ObjectRef("cluster.karmada.io", "Cluster", "", self.cluster)
        return ref.group_kind not in _KEPT_KINDS and (self.is_about_object(ref) or ref in owned)


class KeptDocument(Struct, frozen=True, kw_only=True, order=True):
    """A document that is another one than it was, and stays as it is; ``others`` objects it decides about as well."""

    ref: ObjectRef
    path: str
    reason: str


class IrreversiblePart(Struct, frozen=True, kw_only=True, order=True):
    """Something that does not go back with an object, and the reason."""

    ref: ObjectRef
    reason: str


class RollbackPlan(Struct, frozen=True, kw_only=True):
    """A rollback before it is carried out: where to, what becomes of files, and what stays or cannot go back."""

    target: RenderedSource
    subject: RollbackSubject
    restored: RestoredFiles
    change: SourceChange
    kept: tuple[KeptDocument, ...] = ()
    one_way: tuple[IrreversiblePart, ...] = ()


class _Deciders(Struct, frozen=True, kw_only=True):
    """The policies and overrides of both sides with the objects that they decide about."""

    objects: Mapping[ObjectRef, frozenset[ObjectRef]] = field(default_factory=dict)

    def of_subject_alone(self, subject: RollbackSubject) -> frozenset[ObjectRef]:
        """Return those that decide about objects of the subject, and about none else."""
        return frozenset(
            decider for decider, refs in self.objects.items() if refs and all(map(subject.is_about_object, refs))
        )


def plan_of_rollback(source: MemberSource, target: RenderedSource, subject: RollbackSubject) -> RollbackPlan:
    """Return the plan of a rollback; InputError where what comes of it would be refused."""
    now, then = sides_of_rollback(source, target)
    deciders = _deciders_of_sides((now.loaded.desired, then.loaded.desired))
    owned = deciders.of_subject_alone(subject) if subject.refs or subject.namespace else frozenset()
    is_everything = subject == RollbackSubject()
    paths = sorted({*_paths_without_documents(source), *paths_of_builds(now), *paths_of_builds(then)})
    restored = files_restored(
        now,
        then,
        lambda ref: subject.is_about_document(ref, owned) and not _is_named_otherwise(ref, now, then),
        paths if is_everything else (),
    )
    path, contents = _request_file(source, target, subject, then.loaded.desired)
    change = SourceChange(
        contents={**restored.contents, **contents}, subject=f"Roll {subject} back to {target.commit[:12]}"
    )
    after = source.checked_source(change.contents).desired
    if path:
        refuse_unread_file(source, path, {each.path for each in after.rollback_requests})
    return RollbackPlan(
        target=target,
        subject=subject,
        restored=restored,
        change=change,
        kept=tuple(sorted(_kept_documents(now, then, deciders, subject, restored))),
        one_way=tuple(sorted(set(_one_way_of_objects(now.loaded.desired, then.loaded.desired, subject)))),
    )


def sides_of_rollback(source: MemberSource, target: RenderedSource) -> tuple[SourceSide, SourceSide]:
    """Return the present source and the former one; GitError where that is not in this clone."""
    repository = source.repository
    check_source_is_here(repository, target.source, target.commit)
    snapshot = repository.snapshot(target.source)
    facts = reader_of_recorded_facts(repository)
    loaded = read_loaded(repository, target.source, source.earlier.parsed, facts=facts)
    return (
        SourceSide(repository=repository, files=source.files, loaded=source.loaded),
        SourceSide(repository=repository, files=tuple(snapshot.files), loaded=loaded),
    )


def _paths_without_documents(source: MemberSource) -> Iterator[str]:
    """Yield the files that a source reads though no object stands in them."""
    yield f"{source.base}{IGNORE_FILE}"
    yield f"{source.base}{LOCK_FILE}"


def _request_file(
    source: MemberSource, target: RenderedSource, subject: RollbackSubject, then: Desired
) -> tuple[str, Mapping[str, bytes]]:
    """Return the path and the file of a request for the former split; none where all objects are to be gone again."""
    version_by_ref = {each.ref: each.api_version for each in then.templates}
    refs = sorted(subject.refs & version_by_ref.keys())
    if subject.refs and not refs:
        return "", {}
    names = {each.name for each in source.loaded.desired.rollback_requests}
    path, name = free_path_and_name(source, _FOLDER, "rollback", names)
    parts = {
        "objects": [_named_object(ref, version_by_ref[ref]) for ref in refs],
        "namespace": subject.namespace,
        "cluster": subject.cluster,
    }
    request = {
        "apiVersion": ARGOSY_API_VERSION,
        "kind": "RollbackRequest",
        "metadata": {"name": name},
        "spec": {"to": target.commit, **{part: value for part, value in parts.items() if value}},
    }
    return path, {path: emit(request)}


def _named_object(ref: ObjectRef, api_version: str) -> Manifest:
    namespace = {"namespace": ref.namespace} if ref.namespace else {}
    return {"apiVersion": api_version, "kind": ref.kind, **namespace, "name": ref.name}


def _deciders_of_sides(sides: Iterable[Desired]) -> _Deciders:
    found: dict[ObjectRef, set[ObjectRef]] = {}
    for desired in sides:
        for ref, policy in claims_of(desired, {}).items():
            found.setdefault(_ref_of_policy(str(policy)), set()).add(ref)
        for override in desired.override_policies:
            refs = (each.ref for each in selected_templates((override,), desired.templates))
            found.setdefault(_ref_of_policy(str(override)), set()).update(refs)
    return _Deciders(objects={decider: frozenset(refs) for decider, refs in found.items()})


def _ref_of_policy(policy: str) -> ObjectRef:
    kind, _, name = policy.partition(" ")
    namespace, _, short = name.rpartition("/")
    return ObjectRef(group_of(POLICY_API_VERSION), kind, namespace, short)


def _kept_documents(
    now: SourceSide, then: SourceSide, deciders: _Deciders, subject: RollbackSubject, restored: RestoredFiles
) -> Iterator[KeptDocument]:
    """Yield what was changed since, decides about what is rolled back, and stays as it is now."""
    done = {*restored.refs}
    for ref, reason in restored.unrestorable.items():
        yield KeptDocument(ref=ref, path=_path_of(now, then, ref), reason=reason)
    for decider, refs in deciders.objects.items():
        concerned = any(map(subject.is_about_object, refs))
        if decider in done or decider in restored.unrestorable or not concerned:
            continue
        if now.text_of(decider) != then.text_of(decider):
            others = sum(1 for ref in refs if not subject.is_about_object(ref))
            reason = f"it decides about {counted_noun(others, 'other object')}" if others else "it is of all clusters"
            yield KeptDocument(ref=decider, path=_path_of(now, then, decider), reason=reason)
    for ref in sorted(now.documents.keys() | then.documents.keys()):
        reason = _reason_to_keep_cluster(ref, now, then, subject)
        if reason and ref not in done and now.text_of(ref) != then.text_of(ref):
            yield KeptDocument(ref=ref, path=_path_of(now, then, ref), reason=reason)


def _reason_to_keep_cluster(ref: ObjectRef, now: SourceSide, then: SourceSide, subject: RollbackSubject) -> str:
    """Return why a Cluster stays as it is; empty where it does not, or is none that is asked about."""
    if ref.group_kind != _CLUSTER or subject.cluster not in {"", ref.name}:
        return ""
    if subject.cluster:
        return "it had another name then" if _is_named_otherwise(ref, now, then) else ""
    return "it is the fleet as it is"


def _is_named_otherwise(ref: ObjectRef, now: SourceSide, then: SourceSide) -> bool:
    """Say whether it is a Cluster that an earlier source has by a former name alone."""
    if ref.group_kind != _CLUSTER or ref in then.documents:
        return False
    former = {each.name for each in then.loaded.desired.clusters}
    return any(each.name == ref.name and former & {*each.former_names} for each in now.loaded.desired.clusters)


def _path_of(now: SourceSide, then: SourceSide, ref: ObjectRef) -> str:
    places = (*now.documents.get(ref, ()), *then.documents.get(ref, ()))
    return places[0].file.path if places else ""


def _one_way_of_objects(now: Desired, then: Desired, subject: RollbackSubject) -> Iterator[IrreversiblePart]:
    """Yield what of the changes since does not go back, by the manifests of both sides."""
    if subject.cluster:
        return
    former = {each.ref: each.manifest for each in then.templates if subject.is_about_object(each.ref)}
    present = {each.ref: each.manifest for each in now.templates if subject.is_about_object(each.ref)}
    for ref in former.keys() & present.keys():
        yield from (
            IrreversiblePart(ref=ref, reason=each.reason) for each in one_way_changes(ref, former[ref], present[ref])
        )
    for ref in (ref for ref in present.keys() - former.keys() if ref.group_kind == _JOB):
        yield IrreversiblePart(ref=ref, reason="what a Job has done is not undone")
    for ref in (ref for ref in former.keys() - present.keys() if ref.group_kind == _JOB):
        yield IrreversiblePart(ref=ref, reason="a Job that comes again runs again")
