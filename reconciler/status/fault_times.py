"""The times since when objects are not placed or built as they should be: those of the commits that led to it.

Some conditions record the source commit since which they are false. Of the others the rendered commits tell, as far
back as is looked at: a fleet with thousands of commits shows its state without reading all of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from reconciler.pipeline.binding_files import BindingReader
from reconciler.pipeline.previous import parse_binding_file
from reconciler.repository import CommitInfo, Repository
from reconciler.repository.changing_commits import ChangedPath, ListingLimits, commits_changing_files
from reconciler.repository.trailers import NOW
from render.binding import Binding, Condition
from render.errors import GitError
from render.layout import object_path
from render.model import ObjectRef
from render.timing import epoch_text

_MOST_COMMITS, _MOST_OBJECTS = 300, 100

FaultTimes = Mapping[tuple[ObjectRef, str], str]
"""The times since when conditions are false, by object and type of condition; those that are not known are left out."""


def times_of_faults(repository: Repository, tip: str, bindings: Iterable[Binding]) -> FaultTimes:
    """Return since when the conditions are false that are so at a rendered commit, as far as that is known."""
    since: dict[tuple[ObjectRef, str], str] = {}
    undated: dict[ObjectRef, list[Condition]] = {}
    for binding in bindings:
        for each in binding.conditions:
            if each.status != "False":
                continue
            if each.since:
                since[binding.ref, each.type] = each.since
            elif binding.ref in undated or len(undated) < _MOST_OBJECTS:
                undated.setdefault(binding.ref, []).append(each)
    known = _times_of_commits(repository, frozenset(since.values()))
    times = {key: known[commit] for key, commit in since.items() if commit in known}
    return {**times, **dict(_times_by_history(repository, tip, undated))} if undated else times


def _times_of_commits(repository: Repository, commits: Iterable[str]) -> Mapping[str, str]:
    """Return the times of commits; without those that a shallow clone lacks, or whose source was written anew."""
    times: dict[str, str] = {}
    for commit in commits:
        with suppress(GitError):
            times[commit] = epoch_text(repository.commit_info(commit).time)
    return times


def _times_by_history(
    repository: Repository, tip: str, undated: dict[ObjectRef, list[Condition]]
) -> Iterator[tuple[tuple[ObjectRef, str], str]]:
    """Yield since when conditions are false by the newest commits that changed the bindings of their objects."""
    ref_by_path = {"/".join(("bindings", *object_path(ref))): ref for ref in undated}
    reader, is_shallow = BindingReader(), repository.is_shallow
    for commit in commits_changing_files(repository, tip, ref_by_path, ListingLimits(commits=_MOST_COMMITS)):
        if is_shallow and not commit.parent:  # it may have been so before
            return
        before = _bindings_before(repository, commit.files, reader)
        for path, binding in before.items():
            still = [
                each for each in undated[ref_by_path[path]] if binding and _is_false_for_same_reason(binding, each)
            ]
            for each in undated[ref_by_path[path]]:
                if each not in still:
                    yield (ref_by_path[path], each.type), _time_of_pass(repository.commit_info(commit.id))
            undated[ref_by_path[path]] = still
        if not any(undated.values()):
            return


def _bindings_before(
    repository: Repository, files: Sequence[ChangedPath], reader: BindingReader
) -> Mapping[str, Binding | None]:
    contents = repository.read_blobs({each.before for each in files if each.before})
    return {
        each.path: parse_binding_file(each.path, reader.parse, contents[each.before]) if each.before else None
        for each in files
    }


def _is_false_for_same_reason(binding: Binding, condition: Condition) -> bool:
    wanted = condition.type, condition.status, condition.reason
    return any((each.type, each.status, each.reason) == wanted for each in binding.conditions)


def _time_of_pass(commit: CommitInfo) -> str:
    """Return the time of a pass, or the earliest at which it can have been."""
    times = commit.trailer(NOW)
    return times[0] if times else epoch_text(commit.time)
