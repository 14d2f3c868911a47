"""``argosy rebalance``: a WorkloadRebalancer in a file of its own, and what it moves, shown before it is committed."""

from collections.abc import Sequence
from datetime import UTC, datetime

from reconciler.names.kinds import parse_kind_and_name, ref_of_named_object
from reconciler.source.desired import Desired
from render.documents import emit
from render.model import APPS_API_VERSION, Manifest, ObjectRef
from render.timing import instant_text

from .cluster_files import MemberSource, SourceChange
from .new_files import free_path_and_name, refuse_unread_file

_FOLDER = "rebalancers"


def refs_named_by_words(source: MemberSource, words: Sequence[str], namespace: str) -> tuple[ObjectRef, ...]:
    """Return the objects that words such as deploy/web mean, sorted; UnknownName for one that is not there."""
    templates = source.loaded.desired.templates
    return tuple(sorted({ref_of_named_object(*parse_kind_and_name([word]), namespace, templates) for word in words}))


def rebalancer_for_objects(source: MemberSource, refs: Sequence[ObjectRef]) -> tuple[str, SourceChange]:
    """Return the path of a rebalancer for objects, and the change that adds it."""
    names = {each.name.partition("@")[0] for each in source.loaded.desired.reschedule_requests}
    path, name = free_path_and_name(source, _FOLDER, "rebalance", names)
    change = SourceChange(
        contents={path: emit(_rebalancer_manifest(name, refs, source.loaded.desired))},
        subject=f"Rebalance {', '.join(map(str, refs))}" if len(refs) == 1 else f"Rebalance {len(refs)} objects",
    )
    after = source.checked_source(change.contents).desired
    refuse_unread_file(source, path, {each.path for each in after.reschedule_requests})
    return path, change


def _rebalancer_manifest(name: str, refs: Sequence[ObjectRef], desired: Desired) -> Manifest:
    version_by_ref = {each.ref: each.api_version for each in desired.templates}
    # The time makes the request another one than an earlier one of the same name, whose file is gone.
    workloads = [
        {
            "apiVersion": version_by_ref[ref],
            "kind": ref.kind,
            "name": ref.name,
            **({"namespace": ref.namespace} if ref.namespace else {}),
        }
        for ref in refs
    ]
    return {
        "apiVersion": APPS_API_VERSION,
        "kind": "WorkloadRebalancer",
        "metadata": {"name": name, "creationTimestamp": instant_text(datetime.now(UTC))},
        "spec": {"workloads": workloads},
    }
