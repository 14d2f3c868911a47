"""The files of Works on the status branch: which of them are written in a pass, and which go with what was removed."""

from collections.abc import Iterable, Mapping
from functools import cache

from reconciler.branches.status_branch import Files
from reconciler.deliver.results import ClusterReport

from .recorded_status import RecordedStatus, path_in_cluster
from .versions_in_clusters import VersionsOfCommit, may_be_earlier_status
from .work_changes import WorkStatuses, time_of_unrecorded_numbers
from .work_status import WorkInputs, work_inputs_of_report


def work_files_to_write(
    recorded: RecordedStatus, statuses: WorkStatuses, versions: VersionsOfCommit, reports: Iterable[ClusterReport]
) -> Files:
    """Return the files of Works that differ from those recorded, of the clusters that were applied to.

    Works that change again and again wait for their turn (``streaks``), but go along where any other is written.
    """
    below = cache(path_in_cluster)
    known: dict[str, set[str]] = {}
    for path in recorded.paths_below("works"):
        known.setdefault(path.split("/", 2)[1], set()).add(path)
    seen: dict[str, WorkInputs] = {}
    removed: dict[str, bytes | None] = {}
    for report in reports:
        if report.applied is None or report.plan is None or report.plan.refusal:
            continue
        found = {
            f"works/{report.cluster}/{below(work.item.ref)}": work._replace(
                version=versions.version_after(report, work),
                # An agent knows of no versions: a pass takes them from the commit that it has applied.
                may_be_earlier=statuses.asked is None and may_be_earlier_status(work),
            )
            for work in work_inputs_of_report(report)
        }
        removed |= dict.fromkeys(known.get(report.cluster, set()) - found.keys())
        seen |= found
    made = _files_of_works(recorded, statuses, seen)
    if made or removed:
        waiting = {path: work for path, work in seen.items() if path not in made and _is_work_unsettled(path, recorded)}
        made |= _files_of_works(recorded, statuses, waiting, has_commit=True)
    return {**removed, **made}


def _files_of_works(
    recorded: RecordedStatus, statuses: WorkStatuses, seen: Mapping[str, WorkInputs], *, has_commit: bool = False
) -> dict[str, bytes]:
    """Return the Works to write of those seen, by path."""
    files: dict[str, bytes] = {}
    for path, work in seen.items():
        made = statuses.file(work, recorded.manifest(path), has_commit=has_commit)
        if made is not None:
            files[path] = made.content
            recorded.remember_parsed_object(path, made.content, made.manifest)
    return files


def _is_work_unsettled(path: str, recorded: RecordedStatus) -> bool:
    work = recorded.manifest(path)
    return work is not None and bool(time_of_unrecorded_numbers(work))
