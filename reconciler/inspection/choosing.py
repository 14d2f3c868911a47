"""The members that a command asks for their objects: those its options choose, and the way to each.

Of those that pull, which nobody here reaches, it tells what their agents last reported, with its date.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.fleet_context import context_and_source_of_commit
from reconciler.branches.publication import publication_of
from reconciler.branches.status_branch import StatusBranch
from reconciler.console.clock import age_in_words
from reconciler.console.log import Log
from reconciler.members.choice import members_chosen_by_options, members_for_command
from reconciler.members.exchange import Failure
from reconciler.members.kubeconfig import Context
from reconciler.members.opening import Members
from reconciler.members.options import AccessOptions
from reconciler.members.visits import MemberReach
from reconciler.members.ways import member_access
from reconciler.names.subjects import error_of_unknown_cluster
from reconciler.record.recorded_status import RecordedStatus, line_by_cluster, read_recorded
from reconciler.repository import Repository, open_repository
from render.cluster import Cluster, is_applied_by_own_agent
from render.errors import ClusterError, UnknownName
from render.settings.fleet import Fleet
from render.timing import parse_instant
from render.words import counted_noun, first_few

_SIGNS = frozenset("*?[")
_UNASKED = "pods, events and logs of it are seen only where its cluster is reached"


class Chosen(Struct, frozen=True, kw_only=True):
    """The members to ask, the reach of the command, and the contexts by which they are reached.

    ``pulling`` are those that pull and are not asked, where the command shows what their agents reported, which is
    ``recorded``; ``named_pulling`` are those among them that were asked for by name.
    """

    names: tuple[str, ...]
    reach: MemberReach
    members: Members
    pulling: tuple[str, ...] = ()
    named_pulling: tuple[str, ...] = ()
    recorded: RecordedStatus = field(default_factory=RecordedStatus)

    def contexts(self) -> tuple[dict[str, Context], dict[str, Failure]]:
        """Return the contexts of the members, and why some have none that may be used."""
        found = {name: self.members.usable_context(name) for name in self.names}
        usable = {name: each for name, each in found.items() if isinstance(each, Context)}
        return usable, {name: each for name, each in found.items() if isinstance(each, Failure)}


@contextmanager
def chosen_members(log: Log, access: AccessOptions, *, shows_reports: bool = False) -> Iterator[Chosen]:
    """Yield the members that options choose; names of clusters may be patterns such as ``prod-*``.

    ``shows_reports``: the command shows what agents reported. Otherwise a line tells of those that are named.
    """
    with open_repository(log.repository, progress=log.transfer) as repository:
        context, _, _ = context_and_source_of_commit(repository, "")
        context.warn_of_waiting(log)
        names = clusters_named_by(access.clusters, [cluster.name for cluster in context.members])
        access = replace(access, clusters=names)
        members = members_for_command(context.fleet, context.members, access, log)
        pulling = _members_that_pull(context.members, access)
        named = tuple(name for name in pulling if name in names)
        is_read = bool(pulling if shows_reports else named)
        recorded = _recorded_status(repository, context.fleet) if is_read else RecordedStatus()
        if not shows_reports:
            for line in lines_about_pull_members(recorded, named, time.time()):
                log.info(line)
        opened = Members(member_access(context.fleet, access, repository.folder))
        names = tuple(member.name for member in members)
        if not (names or (shows_reports and pulling)):
            raise error_of_nobody_to_ask()
        reach = MemberReach.of(access, opened.open)
        chosen = Chosen(names=names, reach=reach, members=opened)
        if shows_reports:
            chosen = replace(chosen, pulling=pulling, named_pulling=named, recorded=recorded)
        yield chosen


def error_of_nobody_to_ask() -> ClusterError:
    """Return the error of a command for which no cluster is left."""
    return ClusterError(
        "there is no cluster to ask",
        hint="members that pull are left to their agents; argosy status tells what these published",
    )


def _members_that_pull(members: Iterable[Cluster], access: AccessOptions) -> tuple[str, ...]:
    chosen = members_chosen_by_options({each.name: each for each in members}, access)
    return tuple(each.name for each in chosen if is_applied_by_own_agent(each))


def _recorded_status(repository: Repository, fleet: Fleet) -> RecordedStatus:
    publication = publication_of(repository, fleet)
    tip = repository.tip(publication.ref(fleet.status_branch))
    return read_recorded(StatusBranch(publication=publication, branch=fleet.status_branch), tip)


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


def lines_about_pull_members(recorded: RecordedStatus, names: Collection[str], now: float) -> Iterator[str]:
    """Yield a line for each member: what its agent last reported, when, and what nobody here can tell."""
    lines = line_by_cluster(recorded, frozenset(names))
    for name in names:
        line, when = lines.get(name), recorded.time_of_report(name)
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
