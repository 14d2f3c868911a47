"""``argosy rebalance``: a WorkloadRebalancer in a file of its own, and what it moves, shown before it is committed."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count

from reconciler.names.kinds import parse_kind_and_name, ref_of_named_object
from reconciler.source.desired import Desired
from render.documents import emit
from render.errors import ConfigError
from render.model import APPS_API_VERSION, Manifest, ObjectRef
from render.timing import instant_text

from .cluster_files import MemberSource, SourceChange

_FOLDER = "rebalancers"


def refs_named_by_words(source: MemberSource, words: Sequence[str], namespace: str) -> tuple[ObjectRef, ...]:
    """Return the objects that words such as deploy/web mean, sorted; UnknownName for one that is not there."""
    templates = source.loaded.desired.templates
    return tuple(sorted({ref_of_named_object(*parse_kind_and_name([word]), namespace, templates) for word in words}))


def rebalancer_for_objects(source: MemberSource, refs: Sequence[ObjectRef]) -> tuple[str, SourceChange]:
    """Return the path of a rebalancer for objects, and the change that adds it."""
    path, name = _free_path_and_name(source)
    change = SourceChange(
        contents={path: emit(_rebalancer_manifest(name, refs, source.loaded.desired))},
        subject=f"Rebalance {', '.join(map(str, refs))}" if len(refs) == 1 else f"Rebalance {len(refs)} objects",
    )
    after = source.checked_source(change.contents).desired
    if path not in {each.path for each in after.reschedule_requests}:
        raise ConfigError(
            f"{path} would not be read: source.paths or an ignore file leaves it out",
            hint=f"add the folder to source.paths in {source.home.expected_path}",
        )
    return path, change


def _free_path_and_name(source: MemberSource) -> tuple[str, str]:
    """Return the first path and name that nothing has: rebalance-1, rebalance-2 and so on."""
    taken = {file.path for file in source.files}
    names = {each.name.partition("@")[0] for each in source.loaded.desired.reschedule_requests}
    for number in count(1):
        name = f"rebalance-{number}"
        path = "/".join(filter(None, (source.home.folder, _FOLDER, f"{name}.yaml")))
        if path not in taken and name not in names:
            return path, name
    raise AssertionError("numbers do not end")


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
