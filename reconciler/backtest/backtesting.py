"""A backtest of a fleet: its branches found, its recorded past replayed, and how far all of that reaches."""

from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct

from reconciler.branches.in_force import fleet_in_force, rendered_tip_or_none
from reconciler.branches.publication import Publication, publication_of, remote_of_source
from reconciler.console.log import Log
from reconciler.repository import Repository
from render.settings.fleet import Fleet

from .past import AskedTime, RecordedPast, past_of_time
from .proposed import ProposedChanges, read_proposed_changes, refuse_clusters_of_no_source
from .replay import FLAP_WITHIN, PastReplay, Replayed


class BacktestQuestion(Struct, frozen=True, kw_only=True):
    """The question of a backtest: which time, with which proposed files, and what is a flap."""

    asked: AskedTime
    policies: tuple[Path, ...] = ()
    fleet_file: Path | None = None
    flap_within: timedelta = FLAP_WITHIN


class Backtest(Struct, frozen=True, kw_only=True):
    """The outcome of a backtest.

    ``fetches`` are the commands that bring what is missing of the time that was asked about.
    """

    commit: str
    past: RecordedPast
    proposed: tuple[str, ...]
    replayed: Replayed
    flap_within: timedelta
    fetches: tuple[str, ...] = ()

    @property
    def is_as_it_was(self) -> bool:
        """Say whether every rendered commit came out as it really was."""
        return self.replayed.identical == len(self.past.rendered)


def backtest_of_fleet(repository: Repository, question: BacktestQuestion, log: Log) -> Backtest:
    """Replay the recorded past of the fleet as it is known here."""
    fleet, _ = fleet_in_force(repository, repository.resolve("HEAD"), rendered_tip_or_none)
    return backtest_of_changes(
        repository, fleet, question, read_proposed_changes(question.policies, question.fleet_file, fleet), log
    )


def backtest_of_changes(
    repository: Repository, fleet: Fleet, question: BacktestQuestion, proposed: ProposedChanges, log: Log
) -> Backtest:
    """Replay the recorded past of a fleet with what is proposed, whatever files the question names."""
    publication = publication_of(repository, fleet)
    tip = publication.known_tip(fleet.rendered_branch)
    if tip is None:
        raise publication.nothing_rendered(fleet.rendered_branch)
    status = repository.tip(publication.ref(fleet.status_branch))
    asked = _with_whole_commit(repository, question.asked)
    past = past_of_time(repository, tip, status, asked)
    replay = PastReplay.of(repository, past, proposed, log, question.flap_within)
    replayed = replay.run()
    refuse_clusters_of_no_source(proposed, replay.members)
    return Backtest(
        commit=tip,
        past=past,
        proposed=proposed.names,
        replayed=replayed,
        flap_within=question.flap_within,
        fetches=tuple(_fetches(publication, past)) if past.is_cut_off else (),
    )


def _with_whole_commit(repository: Repository, asked: AskedTime) -> AskedTime:
    """Return the time that is asked about, with the whole id of a commit that it names by another one."""
    if isinstance(asked.since, datetime):
        return asked
    return AskedTime(since=repository.resolve(asked.since), until=asked.until)


def _fetches(publication: Publication, past: RecordedPast) -> list[str]:
    """Return the commands that bring the earlier commits."""
    repository = publication.repository
    source = remote_of_source(repository)
    if repository.is_shallow:
        remotes = dict.fromkeys(filter(None, (source, publication.remote)))
        return [f"git fetch --unshallow {each} '+refs/heads/*:refs/remotes/{each}/*'" for each in remotes]
    return [f"git fetch {source or 'FOLDER'} {past.missing_source}"] if past.missing_source else []
