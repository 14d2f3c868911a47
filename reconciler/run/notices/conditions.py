"""The conditions of a fleet that people are told of: which hold after a pass, and what changed since they were told.

A condition has a key, by which it is the same one, and a text. It is told when it begins and when it is over. Drift
that was healed is an event: it is over when it is told of.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from reconciler.ledger.notices import CommitState, Notice, SourceVerdict
from reconciler.run.pass_job import PassReport, RolloutEnd
from render.words import counted_noun, first_few

from .rollouts import conditions_of_rollouts, is_about_rollout, notices_of_ended_rollouts

_MOST_OBJECTS = 50
_SOURCE = "source"
_HOLD = "hold"
_REFUSED = frozenset({3, 6})


class Message(Struct, frozen=True, kw_only=True):
    """Notices of one pass over a fleet, or its verdict on the source; ``remote`` is the address of that."""

    id: str
    fleet: str
    source: str
    rendered: str
    remote: str = ""
    notices: Sequence[Notice] = ()
    verdict: SourceVerdict | None = None


def verdict_on_source(report: PassReport) -> SourceVerdict | None:
    """Return the verdict of a pass on its source; None where it says nothing of that."""
    held = report.held or {}
    converged = sorted(name for name, end in report.clusters.items() if end.is_converged and name not in held)
    silent = sorted(name for name, end in report.clusters.items() if not end.is_reached)
    behind = sorted(name for name in report.clusters if name not in {*converged, *silent, *held})
    where = f", applied to {counted_noun(len(converged), 'cluster')}" if report.clusters else ""
    kept = f", held back from {first_few(sorted(held))}" if held else ""
    text = f"rendered as {report.rendered[:12]}{where}{kept}"
    if not report.source:
        return None
    if report.code in _REFUSED:
        return SourceVerdict(
            state=CommitState.FAILURE, text=f"refused: {report.refused or report.message}".partition("\n")[0]
        )
    if report.code == 1:
        said = [f"not placed: {first_few(report.unplaced)}"] if report.unplaced else []
        said += [f"incomplete in {first_few(behind)}"] if behind else []
        return SourceVerdict(state=CommitState.FAILURE, text=f"{text}; {', '.join(said)}" if said else text)
    if report.code in {5, 7}:
        return SourceVerdict(state=CommitState.PENDING, text=f"{text}; no answer from {first_few(silent or behind)}")
    return SourceVerdict(state=CommitState.SUCCESS, text=text) if report.code == 0 else None


def conditions_after_pass(known: Mapping[str, str], report: PassReport) -> dict[str, str]:
    """Return the conditions that hold after a pass; what it did not look at is as it was told."""
    found = {key: text for key, text in known.items() if not _is_condition_observed(key, report)}
    for name, end in sorted(report.clusters.items()):
        if end.unseen:
            found[f"cluster/{name}"] = f"cluster {name} cannot be seen: {end.unseen}"
        elif not end.is_reached:
            found[f"cluster/{name}"] = f"cluster {name} does not answer"
    found |= {f"{_HOLD}/{name}": f"cluster {name} is {words}" for name, words in sorted((report.held or {}).items())}
    for text in report.unplaced[:_MOST_OBJECTS] if report.code not in _REFUSED else ():
        subject, _, why = text.partition(": ")
        found[f"object/{subject}: {why.partition(': ')[0]}"] = text
    if report.code in _REFUSED:
        why = report.refused or report.message.partition("\n")[0]
        found[_SOURCE] = f"source {report.source[:12]} is refused: {why}"
    return found | dict(conditions_of_rollouts(report.rollouts or {}))


def _is_condition_observed(key: str, report: PassReport) -> bool:
    kind, _, name = key.partition("/")
    if kind == "cluster":
        # Of one that left the fleet, or that passes apply to no more, nobody will ever say that it is over.
        return name in report.clusters or (report.members is not None and name not in report.members)
    if kind == _HOLD:
        return report.held is not None
    if is_about_rollout(key):
        return report.rollouts is not None
    return kind == _SOURCE or report.code not in _REFUSED


def notices_of_changed_conditions(
    known: Mapping[str, str],
    now: Mapping[str, str],
    ended_holds: Mapping[str, str] = MappingProxyType({}),
    rollouts: Mapping[str, RolloutEnd] | None = None,
) -> tuple[Notice, ...]:
    """Return what to tell: conditions that began, another source that is refused, and conditions that are over.

    Of ``ended_holds`` it is known by cluster what ended them. That solves nothing: the cluster gets what was kept out.
    ``rollouts`` are those of the fleet as the pass left them.
    """
    began = [
        Notice(text=text)
        for key, text in sorted(now.items())
        if key not in known or (key == _SOURCE and known[key] != text)
    ]
    keys_of_ended_holds = {f"{_HOLD}/{name}" for name in ended_holds}
    over = [
        Notice(text=text, is_solved=True)
        for key, text in sorted(known.items())
        if key not in now and key not in keys_of_ended_holds and not is_about_rollout(key)
    ]
    ended = [Notice(text=f"cluster {name} is {words}") for name, words in sorted(ended_holds.items())]
    return (*began, *over, *ended, *notices_of_ended_rollouts(known, now, rollouts or {}))


def notices_of_healed_drift(report: PassReport) -> tuple[Notice, ...]:
    """Return what to tell of drift that a pass healed."""
    return tuple(
        Notice(text=f"cluster {name}: drift healed, objects written again: {end.drifted}")
        for name, end in sorted(report.clusters.items())
        if end.drifted
    )
