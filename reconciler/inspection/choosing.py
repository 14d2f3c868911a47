"""The members that a command asks for their objects: those its options choose, and the way to each.

Of those that pull, which nobody here reaches, it tells what their agents last reported, with its date.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.fleet_context import context_and_source_of_commit
from reconciler.branches.publication import publication_of
from reconciler.branches.status_branch import StatusBranch
from reconciler.console.clock import age_in_words
from reconciler.console.log import Log
from reconciler.members.choice import members_for_command
from reconciler.members.exchange import Failure
from reconciler.members.kubeconfig import Context
from reconciler.members.opening import Members
from reconciler.members.options import AccessOptions
from reconciler.members.visits import MemberReach
from reconciler.members.ways import member_access
from reconciler.names.subjects import error_of_unknown_cluster
from reconciler.record.recorded_status import RecordedStatus, line_by_cluster, read_recorded
from reconciler.repository import Repository, open_repository
from render.cluster import is_applied_by_own_agent
from render.errors import ClusterError, UnknownName
from render.settings.fleet import Fleet
from render.timing import parse_instant
from render.words import counted_noun, first_few

_SIGNS = frozenset("*?[")
_UNASKED = "pods, events and logs of it are seen only where its cluster is reached"


class Chosen(Struct, frozen=True, kw_only=True):
    """The members to ask, the reach of the command, and the contexts by which they are reached."""

    names: tuple[str, ...]
    reach: MemberReach
    members: Members

    def contexts(self) -> tuple[dict[str, Context], dict[str, Failure]]:
        """Return the contexts of the members, and why some have none that may be used."""
        found = {name: self.members.usable_context(name) for name in self.names}
        usable = {name: each for name, each in found.items() if isinstance(each, Context)}
        return usable, {name: each for name, each in found.items() if isinstance(each, Failure)}


@contextmanager
def chosen_members(log: Log, access: AccessOptions) -> Iterator[Chosen]:
    """Yield the members that options choose; names of clusters may be patterns such as ``prod-*``."""
    with open_repository(log.repository, progress=log.transfer) as repository:
        context, _, _ = context_and_source_of_commit(repository, "")
        context.warn_of_waiting(log)
        names = clusters_named_by(access.clusters, [cluster.name for cluster in context.members])
        access = replace(access, clusters=names)
        members = members_for_command(context.fleet, context.members, access, log)
        pulling = [each.name for each in context.members if each.name in names and is_applied_by_own_agent(each)]
        for line in lines_about_pull_members(repository, context.fleet, pulling, time.time()):
            log.info(line)
        opened = Members(member_access(context.fleet, access, repository.folder))
        names = tuple(member.name for member in members)
        if not names:
            raise ClusterError(
                "there is no cluster to ask",
                hint="members that pull are left to their agents; argosy status tells what these published",
            )
        yield Chosen(names=names, reach=MemberReach.of(access, opened.open), members=opened)


def clusters_named_by(patterns: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the clusters that names or patterns mean; UnknownName for one that means none.

    >>> clusters_named_by(["eu-*", "us-1"], ["eu-1", "eu-2", "us-1", "us-2"])
    ('eu-1', 'eu-2', 'us-1')
    """
    meant = dict[str, None]()
    for pattern in patterns:
        if _SIGNS.isdisjoint(pattern):
            if pattern not in known:
                raise error_of_unknown_cluster(pattern, known)
            meant[pattern] = None
            continue
        matching = [name for name in known if fnmatchcase(name, pattern)]
        if not matching:
            raise UnknownName(
                f"no cluster of the source is called like {pattern!r}", hint=f"they are {first_few(sorted(known))}"
            )
        meant.update(dict.fromkeys(matching))
    return tuple(meant)


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
