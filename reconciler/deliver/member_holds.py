"""The holds of an apply, with what they mean for its members: which commit each gets, and what others must wait for.

A held cluster gets the commit that it is held at, as often as passes apply: drift is healed there, and nothing newer
comes. So what another commit would have moved to it is not there, and must not leave where it is.
"""

from collections.abc import Mapping
from functools import partial

from msgspec import Struct

from reconciler.ledger.holds import ClusterHold, ClusterHolds, HoldRules, release_hint
from reconciler.ledger.inventory import Inventory
from reconciler.members.exchange import Failure, FailureKind
from reconciler.plans.model import ClusterDesired
from render.errors import GitError
from render.layout import object_path
from render.model import ObjectRef

from .fleet import ClusterJob, JobIfChanged
from .last_copies import last_copies_lost_by_going_back
from .rendered_commits import RenderedCommits
from .results import ClusterReport


class HoldWish(Struct, frozen=True, kw_only=True):
    """The wish of whoever applies a commit: members that are held at another one refuse one that ``is_named``.

    ``newest`` is the source of the newest rendered commit, by which holds are over or not ("": that of the commit that
    is applied), and ``tip`` is that commit ("": the one that is applied). Where it ``is_set``, the members and the
    ``pulling`` ones are held from now on (``hold``), or no more (None).
    """

    is_named: bool = False
    newest: str = ""
    tip: str = ""
    is_set: bool = False
    hold: ClusterHold | None = None
    pulling: tuple[str, ...] = ()

    def hold_rules(self, commit: str, source: str, now: str, members: tuple[str, ...]) -> HoldRules:
        """Return the holds that the apply goes by."""
        chosen = frozenset((*members, *self.pulling)) if self.is_set else frozenset[str]()
        return HoldRules(
            commit=commit, source=source, now=now, set_for=chosen, hold=self.hold, members=frozenset(members)
        )


class MemberHolds(Struct, frozen=True, kw_only=True):
    """The members that are held while a commit is applied to the others, with the inventories that say so.

    ``newest`` is the newest rendered commit, whose objects they would have if they were not held.
    ``is_only_asked``: what somebody wants to be held would be so, if this were no dry run.
    """

    commit: str
    commits: RenderedCommits
    inventories: Mapping[str, Inventory]
    by_cluster: ClusterHolds
    newest: str
    is_named: bool = False
    is_observing: bool = False
    is_only_asked: bool = False

    def hold_in_force(self, cluster: str) -> ClusterHold | None:
        """Return the hold that is told of a member: none that a dry run would set, for nothing is held by it."""
        return None if self.is_only_asked else self.by_cluster.get(cluster)

    def commit_for(self, cluster: str) -> str:
        """Return the commit that a member gets; one that somebody asked to see is shown whatever is held."""
        hold = self.by_cluster.get(cluster)
        return self.commit if hold is None or (self.is_named and self.is_observing) else hold.commit

    def inventory(self, cluster: str) -> Inventory:
        """Return the inventory of a member; an empty one where none is recorded."""
        return self.inventories.get(cluster) or Inventory(cluster=cluster)

    def has_folder(self, cluster: str) -> bool:
        """Say whether a member has converged at a commit with the folder it gets, and was given no other one since."""
        inventory = self.inventory(cluster)
        if not inventory.uid or not inventory.converged or inventory.attempted:
            return False
        try:
            old, new = (
                self.commits.commit_contents(each).tree.clusters
                for each in (inventory.converged, self.commit_for(cluster))
            )
        except GitError:  # the rendered branch may have been squashed since
            return False
        return old.get(cluster) == new.get(cluster)

    def refusal(self, cluster: str) -> Failure | None:
        """Return why a member gets nothing: another commit was named, or that which it is held at cannot be read."""
        hold = self.by_cluster.get(cluster)
        if hold is None or (self.is_named and self.is_observing):
            return None
        hint = release_hint(hold, cluster)
        if self.is_named and hold.commit != self.commit:
            message = f"{cluster!r} is {hold}; it gets no other commit"
            return Failure(kind=FailureKind.HELD, message=message, hint=f"{hint}; --allow-older holds it at this one")
        try:
            self.commits.commit_contents(hold.commit)
        except GitError as error:
            message = f"{cluster!r} is {hold}, and that commit cannot be read: {error.message}"
            return Failure(kind=FailureKind.HELD, message=message, hint=error.hint or hint)
        return None

    def refused_job(self, cluster: str) -> JobIfChanged | None:
        """Return the job of a member that gets nothing, which reports why; None for any other."""
        refusal = self.refusal(cluster)
        if refusal is None:
            return None
        report = ClusterReport(cluster=cluster, failure=refusal)
        nothing = ClusterJob(desired=ClusterDesired(cluster=cluster), inventory=self.inventory(cluster))
        return JobIfChanged(
            cluster=cluster, inventory=nothing.inventory, report=lambda _client: report, job=lambda: nothing
        )

    def is_elsewhere(self, cluster: str, ref: ObjectRef) -> bool:
        """Say whether another cluster is to hold an object, each by the commit that it gets."""
        if not self.by_cluster:
            return self.commits.is_elsewhere(cluster, self.commit, ref)
        names = self.commits.commit_contents(self.newest).tree.clusters.keys() | self.by_cluster.keys()
        return any(self._is_to_have(name, ref) for name in names if name != cluster)

    def awaited_in(self, cluster: str, ref: ObjectRef) -> str:
        """Return why an object must not leave a cluster yet: it is to be in a held one alone, and is not there.

        It is empty where nothing speaks against that.
        """
        held = [name for name in sorted(self.by_cluster) if name != cluster and self._has(name, self.newest, ref)]
        if not held or self.is_elsewhere(cluster, ref):
            return ""
        return f"it is to be in {held[0]}, which is {self.by_cluster[held[0]]}, and is in no other cluster yet"

    def last_copies(self, cluster: str) -> frozenset[ObjectRef]:
        """Return what a held cluster keeps beside what the commit it is held at has: no other cluster would have it."""
        if cluster not in self.by_cluster:
            return frozenset()
        elsewhere = partial(self.is_elsewhere, cluster)
        return last_copies_lost_by_going_back(self.commits, cluster, self.newest, self.commit_for(cluster), elsewhere)

    def _is_to_have(self, cluster: str, ref: ObjectRef) -> bool:
        """Say whether a cluster is to have an object: one that is not chosen stays at the newest commit."""
        if cluster in self.by_cluster:
            return self._has(cluster, self.commit_for(cluster), ref)
        others = {self.newest, self.commit} if self.is_named else {self.newest}
        return all(self._has(cluster, commit, ref) for commit in others)

    def _has(self, cluster: str, commit: str, ref: ObjectRef) -> bool:
        try:
            tree = self.commits.commit_contents(commit).tree
        except GitError:  # what cannot be read is not known to have anything
            return False
        folder = tree.clusters.get(cluster)
        return folder is not None and tree.trees.entry(folder, object_path(ref)) is not None
