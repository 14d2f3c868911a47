"""The loss of any one cluster or region: whether a fleet survives it today, as ``simulate --n-minus 1`` answers.

The answer costs a decision for each object that a loss concerns. So it is asked only where these are few, or where
somebody wants it; and it is kept beside the repository for the commits that it is about, so that it is asked once.
"""

from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from hashlib import sha256

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.console.log import Log
from reconciler.guards.allowances import Allowed
from reconciler.repository.cache import read_privately, write_privately
from reconciler.repository.trailers import engine_version
from reconciler.simulation.assumptions import words_of_cordoned_clusters, words_of_silent_refuges
from reconciler.simulation.loss_outcomes import LossOutcome
from reconciler.simulation.shared_work import outcomes_of_every_loss
from reconciler.simulation.supposed_fleet import SupposedSource, read_supposed_fleet
from render.errors import ReconcileError
from render.json_values import json_text, value_of_json_text
from render.placement import SpreadField
from render.resilience.losses import clusters_lost_together
from render.timing import instant_text
from render.words import counted_noun

from .waiting import AskedFleet

_FILE = "losses.json"
_LARGEST, _MOST_ANSWERS, _MOST_BREAKING = 4 << 20, 16, 20
MOST_DECISIONS = 5_000
"""So many decisions are made without being asked for: they take about a second."""
_PLACES = (SpreadField.CLUSTER, SpreadField.REGION)


class AskLosses(StrEnum):
    """The losses that are asked about: those that cost little or are known, all of them, or only what is known."""

    AUTO = "auto"
    ALWAYS = "always"
    KNOWN = "known"


class BreakingLoss(Struct, frozen=True, kw_only=True):
    """A loss that breaks something: how many objects, and the first of them; so many clusters would be overdrawn."""

    name: str
    objects: int
    first: tuple[str, ...] = ()
    overdrawn: int = 0


class Survival(Struct, frozen=True, kw_only=True):
    """The answer about the loss of any one cluster or region (``by``).

    ``asked_at`` is the time of the answer; where nobody asked it is empty, and ``reason`` says why. ``losses`` are how
    many there are, ``breaking`` how many of them break something, and ``worst`` the first of these. ``assumptions`` say
    which silent clusters are counted on, ``cordoned`` which cordoned ones.
    """

    by: str
    asked_at: str = ""
    reason: str = ""
    losses: int = 0
    breaking: int = 0
    worst: tuple[BreakingLoss, ...] = ()
    assumptions: tuple[str, ...] = ()
    cordoned: tuple[str, ...] = ()


class _AnswersFile(Struct, frozen=True, kw_only=True):
    """The answers that this machine keeps by what they are about, the newest last."""

    answers: dict[str, tuple[Survival, ...]] = field(default_factory=dict)


def survival_of_fleet(asked: AskedFleet, log: Log, when: AskLosses) -> tuple[Survival, ...]:
    """Return whether the fleet survives each kind of loss, as far as that is known or worth to be asked."""
    if asked.is_past:
        reason = f"of the past it is asked by argosy simulate --n-minus 1 --at {instant_text(asked.instant)}"
        return tuple(Survival(by=str(by), reason=reason) for by in _PLACES)
    path, key = asked.repository.cache_dir / _FILE, _key(asked)
    content = read_privately(path, _LARGEST)
    file = (value_of_json_text(content, _AnswersFile) if content else None) or _AnswersFile()
    if key in file.answers:
        return file.answers[key]
    if when is not AskLosses.ALWAYS and (reason := _reason_not_to_ask(asked, when)):
        return tuple(Survival(by=str(by), reason=reason) for by in _PLACES)
    found = _answers(asked, log)
    if all(each.asked_at for each in found):
        kept = dict([*file.answers.items(), (key, found)][-_MOST_ANSWERS:])
        with suppress(OSError):  # then it is asked again
            write_privately(path, json_text(_AnswersFile(answers=kept)).encode())
    return found


def _key(asked: AskedFleet) -> str:
    """Return what an answer is about: the fleet, its source, the commits of its branches, and this engine."""
    branches = asked.branches
    parts = (
        engine_version(),
        asked.repository.folder.under,
        branches.fleet.lag.newest,
        branches.fleet.previous.commit,
        branches.status_commit,
    )
    return sha256("\0".join(parts).encode()).hexdigest()


def _reason_not_to_ask(asked: AskedFleet, when: AskLosses) -> str:
    """Return why nobody asks now; an empty text where it costs little."""
    if when is AskLosses.KNOWN:
        return "nobody has asked: argosy overview --losses always"
    decisions = sum(len(each.targets) for each in asked.branches.fleet.bindings)
    if decisions <= MOST_DECISIONS:
        return ""
    return f"{counted_noun(decisions, 'placement')} would be decided anew: argosy overview --losses always"


def _answers(asked: AskedFleet, log: Log) -> tuple[Survival, ...]:
    commit = asked.branches.fleet.lag.newest
    try:
        fleet = read_supposed_fleet(asked.repository, SupposedSource(commit=commit), log, allowed=Allowed())
        with log.timed("place everything"):
            losses = fleet.losses(())
        at, silent = instant_text(fleet.now), tuple(words_of_silent_refuges(losses))
        cordoned = tuple(words_of_cordoned_clusters(losses.clusters, losses.placed.values()))
        return tuple(
            Survival(by=str(by), asked_at=at, reason=f"no {by} is known of any cluster, so none can be lost")
            if not clusters_lost_together(losses.inputs.desired.clusters, by)
            else replace(
                _survival(by, at, outcomes_of_every_loss(losses, by, 1, log)), assumptions=silent, cordoned=cordoned
            )
            for by in _PLACES
        )
    except ReconcileError as error:
        reason = f"it cannot be asked: {str(error).splitlines()[0]}"
        return tuple(Survival(by=str(by), reason=reason) for by in _PLACES)


def _survival(by: SpreadField, at: str, outcomes: tuple[LossOutcome, ...]) -> Survival:
    breaking = sorted(_breaking_losses(outcomes), key=lambda each: (-each.objects, -each.overdrawn, each.name))
    return Survival(
        by=str(by), asked_at=at, losses=len(outcomes), breaking=len(breaking), worst=tuple(breaking[:_MOST_BREAKING])
    )


def _breaking_losses(outcomes: tuple[LossOutcome, ...]) -> Iterator[BreakingLoss]:
    for each in outcomes:
        if not each.is_survived:
            first = tuple(str(broken.ref) for broken in each.broken[:3])
            name = " + ".join(each.loss.names)
            yield BreakingLoss(name=name, objects=len(each.broken), first=first, overdrawn=len(each.overdrawn))
