"""The objects of which rendered commits changed files in clusters, whether they moved or not.

A history of the whole fleet goes by bindings, for these are few. What a commit edits without moving it, such as an
image, is found here by the files that differ.
"""

from collections.abc import Collection, Mapping

from msgspec import Struct

from reconciler.repository import Repository
from reconciler.repository.changing_commits import ChangingCommit, ListingLimits, commits_changing_files
from render.layout import ref_of_object_path
from render.model import ObjectRef

from .events import CLUSTERS

_MOST_COMMITS, _MOST_FILES = 1_000, 20_000


class EditedObjects(Struct, frozen=True, kw_only=True):
    """The objects that a commit changed, the clusters in which, and how many files these are.

    Where there are too many files to look at, they are counted alone.
    """

    objects: tuple[ObjectRef, ...] = ()
    clusters: tuple[str, ...] = ()
    files: int = 0


def edited_objects_by_commit(repository: Repository, tip: str, wanted: Collection[str]) -> Mapping[str, EditedObjects]:
    """Return what some rendered commits before a tip, or itself, changed in clusters; those that changed nothing too.

    Of a commit that is not among the newest so many nothing is told.
    """
    place_by_commit = {info.id: place for place, info in enumerate(repository.history(tip, _MOST_COMMITS))}
    found = {commit: EditedObjects() for commit in wanted if commit in place_by_commit}
    last = max((place_by_commit[commit] for commit in found), default=-1)
    limits = ListingLimits(with_first=False, files=_MOST_FILES)
    for each in commits_changing_files(repository, tip, (f"{CLUSTERS}/**",), limits):
        if place_by_commit.get(each.id, _MOST_COMMITS) > last:
            break
        if each.id in found:
            found[each.id] = _edited_objects(each)
    return found


def _edited_objects(commit: ChangingCommit) -> EditedObjects:
    places = [each.path.split("/", 2)[1:] for each in commit.files]
    return EditedObjects(
        objects=tuple(sorted({ref_of_object_path(path) for _, path in places})),
        clusters=tuple(sorted({cluster for cluster, _ in places})),
        files=commit.total,
    )
