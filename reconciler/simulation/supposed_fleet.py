"""A fleet about which something is to be supposed: its source, its past and what was observed of it, read once.

Nothing is asked of clusters or of a remote: what this clone has of the status branch is what is known.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.in_force import published_fleet
from reconciler.branches.publication import Publication, publication_of
from reconciler.branches.reading import Source, read_observed_inputs, read_previous, read_source
from reconciler.console.clock import given_or_current_time
from reconciler.console.log import Log
from reconciler.guards.allowances import Allowed
from reconciler.guards.limits import check_allowed_subjects
from reconciler.pipeline.following_passes import PassMemory, inputs_of_next_pass
from reconciler.pipeline.pass_values import Inputs
from reconciler.pipeline.previous import Previous
from reconciler.rendering.inputs import RenderInputs, pipeline_inputs_of_source, time_not_before_last_pass
from reconciler.rendering.outcome import Outcome
from reconciler.rendering.stumbles import render_or_name_culprits
from reconciler.repository import Repository

from .alterations import Alteration, altered
from .guarded_passes import PassGuard
from .losses import Losses
from .passes import PassRules, Simulation, simulation_of
from .simulated_pass import SimulatedPass

AddedFiles = Mapping[str, bytes]
"""The contents of files that are supposed to be in the source, by their paths in the repository."""


class SupposedFleet(Struct, frozen=True, kw_only=True):
    """A source and its past, at a time; ``facts_commit`` is the one of the status branch that facts are read from.

    ``after`` is the source with the files that are supposed to be in it (None: none is).
    """

    repository: Repository
    source: Source
    previous: Previous | None
    given: RenderInputs
    now: datetime
    allowed: Allowed
    facts_commit: str = ""
    after: Source | None = None

    @property
    def source_in_force(self) -> Source:
        """The source that the simulated passes go by."""
        return self.after or self.source

    def inputs_of(self, source: Source) -> Inputs:
        """Return the inputs of the pass over a source that would come now."""
        known = source.without_objects_never_delivered(self.previous.bindings if self.previous else ())
        return pipeline_inputs_of_source(self.repository, known, self.previous, replace(self.given, now=self.now))

    def simulation(self, alterations: Sequence[Alteration], horizon: timedelta) -> Simulation:
        """Return what becomes of the fleet with some alterations."""
        source = self.source_in_force
        guard = PassGuard(repository=self.repository, source=source, allowed=self.allowed)
        return simulation_of(
            self.inputs_of(self.source),
            alterations,
            self.now,
            horizon=horizon,
            after=self.inputs_of(self.after) if self.after is not None else None,
            rules=PassRules(render=partial(render_or_name_culprits, source=source), judge=guard.refusal_of_pass),
        )

    def losses(self, alterations: Sequence[Alteration]) -> Losses:
        """Return the fleet with some alterations as one of which clusters may be lost."""
        source = self.source_in_force
        inputs = altered(self.inputs_of(source), alterations, self.now)
        rendered = render_or_name_culprits(inputs, source=source)
        memory = PassMemory(beneath=inputs.previous.tree if inputs.previous else None)
        return Losses.of(inputs_of_next_pass(inputs, rendered, memory, self.now), self.now)

    def outcome_of_pass(self, done: SimulatedPass) -> Outcome:
        """Return a simulated pass as those who explain passes take it."""
        guard = PassGuard(repository=self.repository, source=self.source_in_force, allowed=self.allowed)
        return replace(guard.outcome_of_pass(done), previous=done.inputs.previous)


class SupposedSource(Struct, frozen=True, kw_only=True):
    """The commit of a source ("": the work tree as it stands), and the files that are supposed to be in it."""

    commit: str
    added: AddedFiles = {}


def read_supposed_fleet(
    repository: Repository, wanted: SupposedSource, log: Log, *, now: datetime | None = None, allowed: Allowed
) -> SupposedFleet:
    """Read a source, the newest rendered commit and the newest facts, as far as this clone has them."""
    source = read_source(repository, wanted.commit)
    fleet = published_fleet(repository, wanted.commit, source.desired.fleet)
    publication = publication_of(repository, fleet)
    tip = publication.known_tip(fleet.rendered_branch)
    previous = read_previous(repository, tip) if tip else None
    status = repository.tip(publication.ref(fleet.status_branch))
    _warn_of_unknown_facts(publication, fleet.status_branch, log)
    check_allowed_subjects(allowed, source.desired, previous)
    at = time_not_before_last_pass(repository, previous, given_or_current_time(now))
    after = read_source(repository, wanted.commit, contents=wanted.added) if wanted.added else None
    return SupposedFleet(
        repository=repository,
        source=source,
        previous=previous,
        given=RenderInputs(observed=read_observed_inputs(repository, status), now=at, allowed=allowed),
        now=at or given_or_current_time(now),
        allowed=allowed,
        facts_commit=status or "",
        after=after,
    )


def _warn_of_unknown_facts(publication: Publication, branch: str, log: Log) -> None:
    if not publication.is_known(branch):
        log.warning(
            f"branch {branch!r} of {publication.remote!r} was never fetched here, so nothing is known of the clusters"
            f"\n  hint: git fetch {publication.remote} '+refs/heads/{branch}:{publication.ref(branch)}'"
        )
