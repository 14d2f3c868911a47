"""The overview of a fleet: every answer of the first look, joined."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from reconciler.branches.rendered_history import RenderedSource
from reconciler.branches.source_commits import UnrenderedCommit, unrendered_commits
from reconciler.console.log import Log
from reconciler.status.branches import RecordedFleet
from reconciler.status.fleet_views import is_fleet_well
from reconciler.survey.states import SurveyedState
from reconciler.survey.surveying import Survey, counts_of_objects
from render.rollouts.state import RolloutState

from .changes import ChangeReader, RecentChange, recent_changes
from .deliveries import DeliveredFleet, Deliveries, deliveries_of_fleet
from .instants import KnownBranches, known_branches
from .owners import Owners
from .silence import MembersNow, members_of_fleet
from .survival import AskLosses, Survival, survival_of_fleet
from .unwell import Unwell, unwell_objects
from .waiting import AskedFleet, Waiting, what_waits

MOST_PASSES, MOST_LOOKS = 300, 3_000
"""So many rendered commits and records of members are gone through, the newest."""
RECENT = timedelta(hours=24)


class FleetOverview(Struct, frozen=True, kw_only=True):
    """The first look at a fleet. ``is_past``: it is of an earlier time. ``is_cut_off``: earlier passes are not here.

    ``states`` counts its objects as ``argosy list objects`` does. ``unrendered`` are the source commits of late of
    which no rendered commit was made for themselves.
    """

    branches: RecordedFleet
    now: datetime
    is_past: bool
    is_well: bool
    states: Mapping[SurveyedState, int]
    unwell: Unwell
    changes: tuple[RecentChange, ...]
    going_out: tuple[RolloutState, ...]
    waiting: tuple[Waiting, ...]
    survival: tuple[Survival, ...]
    members: MembersNow
    deliveries: Deliveries
    unrendered: tuple[UnrenderedCommit, ...] = ()
    is_cut_off: bool = False


def overview_of_fleet(
    asked: AskedFleet, log: Log, losses: AskLosses, known_survey: Survey | None = None
) -> FleetOverview:
    """Return the first look at a fleet, read from its branches; ``known_survey`` is theirs, if there is one already."""
    branches, repository = asked.branches, asked.repository
    survey = known_survey or Survey(branches)
    fleet, status = branches.fleet, branches.status_commit
    with log.timed("read history"):
        known = known_branches(repository, fleet.previous.commit, status or None, MOST_PASSES, MOST_LOOKS)
        reader = ChangeReader(repository=repository, passes=known.passes)
        since = asked.instant - RECENT
        changes = tuple(recent_changes(reader, since))
        made = [RenderedSource(commit=each.commit.id, source=each.source) for each in reversed(known.passes)]
        unrendered = tuple(unrendered_commits(repository, made, fleet.lag.newest, since.timestamp()))
    with log.timed("measure deliveries"):
        deliveries = deliveries_of_fleet(_delivered_fleet(asked, known), reader)
    owners = Owners(repository=repository, source=fleet.source.commit, templates=fleet.source.desired.templates)
    return FleetOverview(
        branches=branches,
        now=asked.instant,
        is_past=asked.is_past,
        is_well=is_fleet_well(branches),
        states=counts_of_objects(survey.objects),
        unwell=unwell_objects(survey, owners),
        changes=changes,
        going_out=fleet.rollouts_under_way,
        waiting=what_waits(asked),
        survival=survival_of_fleet(asked, log, losses),
        members=members_of_fleet(survey),
        deliveries=deliveries,
        unrendered=unrendered,
        is_cut_off=known.is_cut_off,
    )


def _delivered_fleet(asked: AskedFleet, known: KnownBranches) -> DeliveredFleet:
    """Return the fleet as one whose deliveries are asked for."""
    branches = asked.branches
    return DeliveredFleet(
        repository=asked.repository,
        branches=known,
        status=branches.status_commit,
        recorded=branches.recorded,
        members=frozenset(branches.fleet.members),
        now=asked.instant,
    )
