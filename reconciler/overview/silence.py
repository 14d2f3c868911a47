"""The members that are silent or behind, and what drifts: objects that are otherwise in members than was committed."""

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct

from reconciler.status.blind_spots import reasons_members_are_unseen
from reconciler.status.branches import RecordedFleet
from reconciler.status.live_replicas import live_shares_of_bindings, shares_asking_for_other_replicas
from reconciler.survey.states import SurveyedState, rank_of_state, state_of_member
from reconciler.survey.surveying import Survey

SCALED = "ScaledOtherwise"
"""The reason of what asks for other replicas in a member than its tree says."""
_MOST_NAMED = 3


class LateMember(Struct, frozen=True, kw_only=True):
    """A member that has not what it is asked for, or of which nobody knows.

    ``is_silent``: what is recorded of its objects cannot be relied on. ``is_awaited``: passes apply to it.
    """

    cluster: str
    state: SurveyedState
    reason: str
    message: str
    hint: str = ""
    since: str = ""
    is_silent: bool
    is_awaited: bool = True


class Drift(Struct, frozen=True, kw_only=True):
    """A deviation of a member from what was committed, for one reason: how many objects, and the first of them."""

    cluster: str
    reason: str
    count: int
    first: tuple[str, ...]


class MembersNow(Struct, frozen=True, kw_only=True):
    """The members: how many there are and are known to have what they are asked for, those that are not, and drift.

    ``states`` counts all clusters, those that left the source among them.
    """

    count: int
    applied: int
    states: Mapping[SurveyedState, int]
    late: tuple[LateMember, ...]
    drift: tuple[Drift, ...]


def members_of_fleet(survey: Survey) -> MembersNow:
    """Return what is known of the members: the silent ones first, and of these the longest first."""
    branches, counts = survey.branches, Counter(each.state for each in survey.usual.reasons.values())
    late = sorted(_late_members(branches), key=lambda each: (not each.is_silent, each.since or "~", each.cluster))
    found = branches.progress.values() if branches.is_applied_by_passes else ()
    return MembersNow(
        count=len(branches.fleet.members),
        applied=sum(1 for each in found if each.is_reached and each.is_known),
        states={state: counts[state] for state in sorted(counts, key=rank_of_state)},
        late=tuple(late),
        drift=tuple(_drift(branches)),
    )


def _late_members(branches: RecordedFleet) -> Iterator[LateMember]:
    spots = reasons_members_are_unseen(branches.recorded, branches.fleet.members)
    for name, each in sorted(branches.progress.items()) if branches.is_applied_by_passes else ():
        spot = spots.get(name)
        if not each.is_reached:
            yield LateMember(
                cluster=name,
                state=state_of_member(each).state,
                reason=each.reason,
                message=each.message,
                hint=each.hint,
                since=each.since,
                is_silent=not each.is_known,
                is_awaited=each.is_awaited,
            )
        elif spot is not None:
            yield LateMember(
                cluster=name,
                state=state_of_member(each).state,
                reason=spot.state,
                message=spot.message,
                hint=spot.hint,
                since=spot.since,
                is_silent=False,
            )


def _drift(branches: RecordedFleet) -> Iterator[Drift]:
    """Yield what the last passes left otherwise than committed, by member and reason."""
    members = branches.fleet.members
    for name, record in sorted(branches.recorded.clusters().items()) if branches.recorded.files else ():
        found: dict[str, dict[str, None]] = {}
        for each in record.deviations if name in members else ():
            if each.field:
                found.setdefault(each.reason, {})[str(each.ref)] = None
        for reason, refs in sorted(found.items()):
            yield Drift(cluster=name, reason=reason, count=len(refs), first=tuple(refs)[:_MOST_NAMED])
    yield from _shares_scaled_otherwise(branches)


def _shares_scaled_otherwise(branches: RecordedFleet) -> Iterator[Drift]:
    if not branches.recorded.files:
        return
    shares = live_shares_of_bindings(branches, branches.fleet.bindings)
    counts: Counter[str] = Counter()
    first: dict[str, list[str]] = {}
    for each in shares_asking_for_other_replicas(branches, shares):
        counts[each.cluster] += 1
        first.setdefault(each.cluster, []).append(str(each.ref))
    for name, count in sorted(counts.items()):
        yield Drift(cluster=name, reason=SCALED, count=count, first=tuple(first[name][:_MOST_NAMED]))
