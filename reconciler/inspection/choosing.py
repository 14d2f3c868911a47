"""The members that a command asks for their objects: those its options choose, and the way to each."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.fleet_context import context_and_source_of_commit
from reconciler.console.log import Log
from reconciler.members.choice import members_for_command
from reconciler.members.exchange import Failure
from reconciler.members.kubeconfig import Context
from reconciler.members.opening import Members
from reconciler.members.options import AccessOptions
from reconciler.members.visits import MemberReach
from reconciler.members.ways import member_access
from reconciler.names.subjects import error_of_unknown_cluster
from reconciler.repository import open_repository
from render.cluster import is_applied_by_own_agent
from render.errors import ClusterError, UnknownName
from render.words import first_few

from .pulled import lines_about_pull_members

_SIGNS = frozenset("*?[")


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
