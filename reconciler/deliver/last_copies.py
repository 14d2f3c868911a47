"""The last copies in a held cluster: what the newest commit has there, and no cluster would have once that is kept out.

Objects move between clusters. One that came after the commit at which a cluster is held is not in that commit's folder,
and by the newest commit it is nowhere else: going back must not delete it. What it needs stays with it, and so does
what serves it.
"""

from collections.abc import Callable, Iterator, Mapping

from reconciler.pipeline.companions import CompanionIndex
from reconciler.plans.stages import is_interceptor, needs_confirmation
from render.errors import GitError
from render.interpreter.needs import NamedObject, named_objects
from render.model import Manifest, ObjectRef

from .rendered_commits import RenderedCommits


def last_copies_lost_by_going_back(
    commits: RenderedCommits, cluster: str, newest: str, held: str, is_elsewhere: Callable[[ObjectRef], bool]
) -> frozenset[ObjectRef]:
    """Return what a cluster has by the newest commit, not by the one it is held at, and would be in no other cluster.

    Interceptors are none of them, for a webhook may be what somebody goes back for, and neither is what only leaves
    when somebody confirms it by name. A commit that cannot be read is not known to have anything.
    """
    try:
        leaving = commits.objects_that_leave(cluster, newest, held)
    except GitError:
        return frozenset()
    found = {ref for ref in leaving if not (is_interceptor(ref) or needs_confirmation(ref)) and not is_elsewhere(ref)}
    return frozenset(_with_needs_and_companions(found, leaving)) if found else frozenset()


def _with_needs_and_companions(found: set[ObjectRef], leaving: Mapping[ObjectRef, Manifest]) -> set[ObjectRef]:
    """Return objects with what they name and what serves them, of those that leave, as often as that finds more."""
    index = CompanionIndex.of(leaving.items())
    by_name = {NamedObject(ref.kind, ref.namespace, ref.name): ref for ref in leaving}
    open_refs = set(found)
    while open_refs:
        ref = open_refs.pop()
        more = {*_named_among(leaving[ref], by_name), *index.companions(ref, leaving[ref])} - found
        found |= more
        open_refs |= more
    return found


def _named_among(manifest: Manifest, by_name: Mapping[NamedObject, ObjectRef]) -> Iterator[ObjectRef]:
    for each in named_objects(manifest):
        ref = by_name.get(NamedObject(each.kind, each.namespace, each.name))
        if ref is not None:
            yield ref
