"""Blind spots: a word for each way in which passes do not see how a member is, with what to do about it.

None of them is a sign that the member is unwell, and nothing leaves it for that.
"""

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from msgspec import Struct

from reconciler.ledger.cluster import ClusterRecord
from reconciler.ledger.conditions import condition_of_type
from reconciler.members.exchange import BLIND, FailureKind
from reconciler.record.heard_words import CLOCK_HINT, MOST_SKEW, clock_skew_in_words
from reconciler.record.recorded_status import RecordedStatus
from reconciler.record.work_status import APPLIED
from render.cluster import Cluster, is_applied_by_own_agent
from render.failover.health import READY, UNKNOWN
from render.words import counted_noun, first_few

from .staleness import NO_AGENT, NO_AGENT_HINT, SILENT_AGENT_HINT

AGENT_SILENT, NO_AGENT_STATE, CLOCK_WRONG = "AgentSilent", "NoAgent", "ClockWrong"
_OUTCOMES = frozenset(map(str, BLIND))


class BlindSpot(Struct, frozen=True, kw_only=True):
    """The reason why nobody sees how a member is: a word, a sentence, what to do, and the time since when it is so."""

    state: str
    message: str = ""
    hint: str = ""
    since: str = ""


def reasons_members_are_unseen(recorded: RecordedStatus, members: Mapping[str, Cluster]) -> dict[str, BlindSpot]:
    """Return why members are not seen, by name; those that are seen have no entry."""
    records = recorded.clusters()
    found = {name: _blind_spot_in_record(records.get(name), member) for name, member in members.items()}
    partly = {**wrong_clocks_by_member(recorded, members), **rights_missing_by_member(recorded, members)}
    whole = {name: spot for name, spot in found.items() if spot is not None}
    return {**partly, **whole}


def lines_of_partly_seen_members(recorded: RecordedStatus, members: Mapping[str, Cluster]) -> Iterator[str]:
    """Yield a line for each member of which something is not seen though it answers, with what to do."""
    found = (*wrong_clocks_by_member(recorded, members).items(), *rights_missing_by_member(recorded, members).items())
    for name, spot in sorted(found, key=itemgetter(0)):
        yield f"\n{name}: {spot.state}: {spot.message}\n  hint: {spot.hint}\n"


def rights_missing_by_member(recorded: RecordedStatus, members: Mapping[str, Cluster]) -> dict[str, BlindSpot]:
    """Return what passes or agents may not see of members that answer: a kind, or what is in a namespace.

    A kind that they see elsewhere is hidden by its namespace, and so are several kinds of one namespace alone.
    """
    refused: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    seen: dict[str, set[str]] = {}
    for below, by_cluster in recorded.works().items():
        space, kind, _ = below.split("/", 2)
        for name in by_cluster.keys() & members.keys():
            applied = condition_of_type((by_cluster[name].get("status") or {}).get("conditions"), APPLIED)
            if applied.get("status") == "True":
                seen.setdefault(name, set()).add(kind)
            elif str(applied.get("message") or "").startswith(f"{FailureKind.FORBIDDEN}: "):
                refused.setdefault(name, []).append((space, kind, applied))
    return {
        name: _blind_spot_of_refusals(members[name], found, seen.get(name, set())) for name, found in refused.items()
    }


def _blind_spot_of_refusals(
    member: Cluster, refused: list[tuple[str, str, Mapping[str, Any]]], seen: set[str]
) -> BlindSpot:
    kinds, spaces = {kind for _, kind, _ in refused}, {space for space, _, _ in refused}
    is_space = len(spaces) == 1 and (bool(kinds & seen) or len(kinds) > 1)
    what = f"in namespace {next(iter(spaces))}" if is_space else f"of {first_few(sorted(kinds))}"
    first = min(refused, key=lambda each: str(each[2].get("lastTransitionTime") or ""))[2]
    printing = (
        f"argosy cluster agent {member.name}"
        if is_applied_by_own_agent(member)
        else f"argosy rbac --cluster {member.name}"
    )
    return BlindSpot(
        state="NamespaceForbidden" if is_space else "KindForbidden",
        message=f"{counted_noun(len(refused), 'object')} {what} cannot be seen or written: {first.get('message')}",
        hint=f"grant what is missing: {printing} | kubectl --context {member.name} apply -f -",
        since=str(first.get("lastTransitionTime") or ""),
    )


def wrong_clocks_by_member(recorded: RecordedStatus, members: Mapping[str, Cluster]) -> dict[str, BlindSpot]:
    """Return what is known of clocks that are wrong by more than a minute: those of members, or of their agents."""
    records, words = recorded.clusters(), recorded.agents()
    found = {}
    for name, member in members.items():
        ahead = words[name].ahead if name in words else 0
        own = records[name].clock if name in records else ""
        said = clock_skew_in_words(ahead) if abs(ahead) > MOST_SKEW else own
        whose = "the clock of its agent" if is_applied_by_own_agent(member) else "its clock"
        if said:
            message = f"{whose} is {said}; what passes wait for goes by their own"
            found[name] = BlindSpot(state=CLOCK_WRONG, message=message, hint=CLOCK_HINT)
    return found


def _blind_spot_in_record(record: ClusterRecord | None, member: Cluster) -> BlindSpot | None:
    if record is None:
        is_awaited = is_applied_by_own_agent(member)
        return BlindSpot(state=NO_AGENT_STATE, message=NO_AGENT, hint=NO_AGENT_HINT) if is_awaited else None
    if unseen := record.state.condition_of_unseen_cluster:
        return BlindSpot(
            state=str(unseen.get("reason") or ""),
            message=str(unseen.get("message") or ""),
            hint=record.state.unseen_hint,
            since=str(unseen.get("lastTransitionTime") or ""),
        )
    ready: Mapping[str, Any] = condition_of_type(record.state.status.get("conditions"), READY)
    if ready.get("status") == UNKNOWN and not record.deployer:
        message, since = str(ready.get("message") or ""), str(ready.get("lastTransitionTime") or "")
        return BlindSpot(state=AGENT_SILENT, message=message, hint=SILENT_AGENT_HINT, since=since)
    if record.outcome in _OUTCOMES:
        return BlindSpot(state=record.outcome, message=record.message, hint=record.hint, since=record.since)
    return None
