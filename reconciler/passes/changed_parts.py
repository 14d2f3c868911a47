"""The objects that policies, overrides and customizations reach which changed since the last pass.

What is known of that pass names these parts of its source with their digests. Those that are gone or were others are
read from its source commit again: what an object was claimed by, or overridden by, is concerned as well as what is now.
"""

from collections.abc import Collection

from reconciler.branches.checkpoint import PassContents
from reconciler.pipeline.reached import refs_reached
from reconciler.repository import Repository
from reconciler.source.desired import Desired, KarmadaObjects
from reconciler.source.digests import SourcePart, part_at
from reconciler.source.karmada_objects import admitted_kind, load_karmada_objects
from reconciler.source.manifests import load_manifests
from render.errors import GitError
from render.interpreter.customization_keys import KIND as CUSTOMIZATION
from render.model import ObjectRef

_MOST_FILES = 64
"""From so many changed files on, everything is looked at: they would have to be read twice."""


def objects_reached_by_changed_parts(
    repository: Repository, desired: Desired, contents: PassContents, commit: str
) -> frozenset[ObjectRef] | None:
    """Return the objects that what changed since the source of a ``commit``, beside templates, can reach.

    None for all of them. ``contents`` are what the pass over that source saw.
    """
    digests = desired.source_digests
    if contents.source_digest == digests.whole:
        return frozenset()
    if contents.rest_digest != digests.rest:
        return None
    before, after = {SourcePart(*words) for words in contents.parts}, set(digests.parts)
    gone, come = before - after, after - before
    former = _former_objects(repository, commit, gone, desired)
    return None if former is None else refs_reached(desired, former, _objects_of_parts(desired, come))


def _former_objects(
    repository: Repository, commit: str, parts: Collection[SourcePart], desired: Desired
) -> KarmadaObjects | None:
    """Return parts of an earlier source commit; None where it cannot be read as it was."""
    paths = {part.path for part in parts}
    if len(paths) > _MOST_FILES:
        return None
    try:
        files = [file for file in repository.snapshot(commit).files if file.path in paths] if paths else []
        contents = load_manifests(files, read=repository.read_blobs)
    except GitError:  # the history may have been cut off since
        return None
    places = [place for place in contents.manifests if part_at(place) in parts]
    found = load_karmada_objects(
        ((place, kind) for place in places if (kind := admitted_kind(place.manifest)) is not None),
        default_namespace=desired.fleet.default_namespace,
    )
    is_whole = {part_at(place) for place in places} == set(parts) and not found.problems
    return found.objects if is_whole else None


def _objects_of_parts(desired: Desired, parts: Collection[SourcePart]) -> KarmadaObjects:
    """Return parts of a source as values, with whatever has the name of one as well: to look at more is no mistake."""
    policies, overrides, customizations, clusters = (
        {part.name for part in parts if part.kind.endswith(kind)}
        for kind in ("PropagationPolicy", "OverridePolicy", CUSTOMIZATION, "Cluster")
    )
    return KarmadaObjects(
        policies=tuple(each for each in desired.policies if each.name in policies),
        override_policies=tuple(each for each in desired.override_policies if each.name in overrides),
        customizations=tuple(each for each in desired.customizations if each.ref.name in customizations),
        clusters=tuple(each for each in desired.clusters if each.name in clusters),
    )
