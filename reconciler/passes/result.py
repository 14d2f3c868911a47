"""The result of a pass that was guarded and committed, as whoever asked for it is told."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.publication import Publication
from reconciler.branches.status_branch import StatusBranch, read_holds
from reconciler.console.clock import given_or_current_time
from reconciler.ledger.holds import ClusterHolds, EndedHold, end_of_first_hold
from reconciler.rendering.outcome import Outcome
from reconciler.repository.trailers import source_of_rendered_commit
from render.errors import GitError
from render.timing import Flip, earliest_flip, instant_text

if TYPE_CHECKING:  # what speaks to clusters is only imported for fleets whose members are reached
    from reconciler.deliver.results import ClusterReport

    from .proposing import Proposal


class PassResult(Struct, frozen=True, kw_only=True):
    """A pass that was guarded and committed; ``commit`` is None where nothing changed or nothing may be written.

    ``publication`` is where its branches are. ``reports`` are those of the members, None where none are reached.
    ``proposal`` is the commit that a person is asked to merge, where that is the way of one to the rendered branch.
    ``behind`` are the seconds by which the clock here was found to be behind; ``fault`` is that of its mirrors.
    ``holds`` are those that keep what is rendered from clusters, and ``ended_holds`` those that are over with it.
    ``is_taken_back``: clusters of a rollout that was rolled back are not seen well yet.
    """

    outcome: Outcome
    publication: Publication
    commit: str | None
    reports: "tuple[ClusterReport, ...] | None" = None
    proposal: "Proposal | None" = None
    behind: float = 0.0
    fault: GitError | None = None
    holds: ClusterHolds = field(default_factory=dict)
    ended_holds: Mapping[str, EndedHold] = field(default_factory=dict)
    is_taken_back: bool = False

    @property
    def flip(self) -> Flip | None:
        """The next change that happens by itself: of what is rendered, or the end of a hold."""
        return earliest_flip((self.outcome.flip, end_of_first_hold(self.holds)))

    @property
    def waits_for_clusters(self) -> bool:
        """Say whether a rollout or a move can go on, or is over, by what the next pass sees of members it reaches."""
        built = self.outcome.rendered.built
        is_waiting = built.rolled.waits_for_clusters or built.moved.is_under_way or self.is_taken_back
        return self.reports is not None and is_waiting

    def with_holds(self) -> "PassResult":
        """Return this with the holds that the status branch records, and that were in force when the pass began.

        One that ended meanwhile kept its cluster from the newest commit in this pass, so that the next one has to come.
        """
        fleet, rendered = self.outcome.source.desired.fleet, self.rendered
        if rendered is None:
            return self
        source = source_of_rendered_commit(self.publication.repository, rendered)
        status = StatusBranch(publication=self.publication, branch=fleet.status_branch)
        began = instant_text(self.outcome.clock or given_or_current_time())
        return replace(self, holds=read_holds(status, status.tip(), source, began))

    @property
    def rendered(self) -> str | None:
        """The commit the rendered branch is at now."""
        return self.commit or (self.outcome.previous.commit if self.outcome.previous else None)


OnCommit = Callable[[PassResult], None]
"""Called once the rendered branch is committed, before any member is written to."""
