"""What the status branch has of members that pull, where a command asks for one: nobody here reaches them.

It has a date: the newest report of the member's agent, as far as this clone knows.
"""

from collections.abc import Collection, Iterator

from reconciler.branches.publication import publication_of
from reconciler.branches.status_branch import StatusBranch
from reconciler.console.clock import age_in_words
from reconciler.record.recorded_status import RecordedStatus, line_by_cluster, read_recorded
from reconciler.repository import Repository
from render.settings.fleet import Fleet
from render.timing import parse_instant
from render.words import counted_noun

_UNASKED = "pods, events and logs of it are seen only where its cluster is reached"


def lines_about_pull_members(repository: Repository, fleet: Fleet, names: Collection[str], now: float) -> Iterator[str]:
    """Yield a line for each member: what its agent last reported, when, and what nobody here can tell."""
    if not names:
        return
    publication = publication_of(repository, fleet)
    tip = repository.tip(publication.ref(fleet.status_branch))
    recorded = read_recorded(StatusBranch(publication=publication, branch=fleet.status_branch), tip)
    lines = line_by_cluster(recorded, frozenset(names))
    for name in names:
        line, when = lines.get(name), _time_of_report(recorded, name)
        if line is None or not when:
            yield f"{name} pulls and is not asked: its agent has reported nothing that is known here; {_UNASKED}"
            continue
        seen = parse_instant(when)
        age = f", {age_in_words(int(now - seen.timestamp()))} ago" if seen else ""
        unwell = f", {line.unhealthy} of them not applied or healthy" if line.unhealthy else ""
        yield (
            f"{name} pulls and is not asked: as of {when}{age}, its agent reported"
            f" {counted_noun(line.objects, 'object')}{unwell}; argosy status cluster/{name} -o wide lists them,"
            f" and {_UNASKED}"
        )


def _time_of_report(recorded: RecordedStatus, name: str) -> str:
    """Return when an agent last said something: by itself, or as a pass heard it, or since when it is as it is."""
    record, word = recorded.cluster(name), recorded.agents().get(name)
    said = record.heartbeat if record is not None else ""
    heard = word.heard if word is not None else ""
    return max(said, heard) or (record.since if record is not None else "")
