"""The forge, asked once who stands behind RolloutControls and the changes that they are about.

It is asked where argosy.yaml lists ``reviewers``, in a thread of its own and for seconds alone: whoever hangs or is
away holds up nothing, and what is not known is unverified. What it says is recorded by value in the rendered commit;
where it says nothing, it is asked again two minutes later.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from queue import Empty, SimpleQueue

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.publication import Publication
from reconciler.branches.reading import Source
from reconciler.console.log import Log
from reconciler.forge.address import Forge
from reconciler.forge.reviews import MergedRequest, request_merged_as
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.rollouts.origins import ChangeAuthors, Review, RolloutOrigins
from reconciler.pipeline.rollouts.speakers import digest_of_control
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.verified_controls import commits_of_source_change, known_origins, matters_who_says
from reconciler.repository import Repository
from reconciler.repository.cache import read_privately, write_privately
from reconciler.repository.signing import commit_that_landed_file
from render.errors import ConfigError, GitError
from render.json_values import json_text, value_of_json_text
from render.timing import Flip, earliest_flip, instant_after, instant_text, parse_instant
from render.words import first_few

SECONDS = 10.0
"""The time that the forge has to answer all questions of a pass."""
_AGAIN = 120
_MOST_ASKED = 50
_FILE_NAME = "asked-reviews.json"
_LARGEST = 1 << 20

Answers = Mapping[str, MergedRequest | None]
"""The pull request that was merged as each commit; None: there is none."""


class _TimesOfAsking(Struct, frozen=True, kw_only=True):
    times: dict[str, str] = field(default_factory=dict)


class _AskedCommits(Struct, frozen=True, kw_only=True):
    """The commits about which the forge is asked, by the digests of controls and by the commits of changes."""

    controls: Mapping[str, str]
    changes: Mapping[str, Collection[str]]

    @property
    def commits(self) -> tuple[str, ...]:
        found = [*self.controls.values(), *(each for several in self.changes.values() for each in several)]
        return tuple(dict.fromkeys(each for each in found if each))


def inputs_with_reviews(
    given: RenderInputs, publication: Publication, source: Source, previous: Previous | None, log: Log
) -> tuple[RenderInputs, Flip | None]:
    """Return the inputs of a pass with the origins of controls and changes, and when the forge is asked again.

    The forge is asked for those that nobody knows yet. Where it says anything the pass looks at everything.
    """
    now = given.now
    if now is None or not source.commit or not source.desired.rollout_controls:
        return given, None
    repository = publication.repository
    known = known_origins(repository, source, previous)
    wanted = _wanted_answers(repository, source, known)
    asked = _read_asked_times(repository)
    due = [each for each in wanted.commits if _next_time(asked, each, now) <= now][:_MOST_ASKED]
    answers: Answers = {}
    if due:
        with log.timed("ask the forge for reviews"):
            answers = _answers_of_forge(due, lambda: _forge(publication, source), log)
    found = _origins_with_answers(known, wanted, answers)
    # Also of those that it told of: a pass that changes nothing by it records nothing.
    times = {each: asked.times[each] for each in wanted.commits if each in asked.times}
    asked = _TimesOfAsking(times=times | dict.fromkeys(due, instant_text(now)))
    _write_asked_times(repository, asked)
    flips = (
        Flip(_next_time(asked, each, now), f"the forge is asked for reviews of {each[:12]} again")
        for each in wanted.commits
        if answers.get(each) is None
    )
    scope = given.scope if found == known else None
    return replace(given, origins=found, scope=scope), earliest_flip(flips)


def _forge(publication: Publication, source: Source) -> Forge:
    from .asked_checks import forge_of_remote

    return forge_of_remote(publication, source.desired.fleet)


def _wanted_answers(repository: Repository, source: Source, known: RolloutOrigins) -> _AskedCommits:
    """Return what the forge has to say, of commits that Git tells of."""
    desired, git = source.desired, repository.git
    controls = {
        digest: commit_that_landed_file(git, source.commit, each.path)
        for each in desired.rollout_controls
        if matters_who_says(each, desired.rollout_policies) and (digest := digest_of_control(each)) not in known.reviews
    }
    changes = {}
    for commit, origin in known.changes.items():
        if not origin.is_forge_asked:
            found = commits_of_source_change(repository, source, origin.base, commit, "--first-parent")
            if found is not None:
                changes[commit] = found
    return _AskedCommits(controls=controls, changes=changes)


def _answers_of_forge(commits: Iterable[str], forge: Callable[[], Forge], log: Log) -> Answers:
    """Return what the forge says about commits in the time that it has; those it says nothing about are left out."""
    until, said = time.monotonic() + SECONDS, SimpleQueue[tuple[str, MergedRequest | None, str]]()
    asked = list(commits)

    def ask() -> None:
        for commit in asked:
            said.put((commit, *_answer_or_fault(forge, commit, until)))

    threading.Thread(target=ask, daemon=True).start()
    answers: dict[str, MergedRequest | None] = {}
    faults: dict[str, None] = {}
    for left in range(len(asked), 0, -1):
        try:
            commit, request, fault = said.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            faults[f"no answer about {left} of {len(asked)} within {SECONDS:g} s"] = None
            break
        if fault:
            faults[fault] = None
        else:
            answers[commit] = request
    if faults:
        log.warning(f"who reviewed RolloutControls is not known, and they are unverified: {first_few([*faults])}")
    return answers


def _answer_or_fault(forge: Callable[[], Forge], commit: str, until: float) -> tuple[MergedRequest | None, str]:
    """Return the pull request that was merged as a commit, or why nobody knows."""
    try:
        return request_merged_as(forge(), commit, until), ""
    except (GitError, ConfigError) as error:
        return None, error.message
    except Exception as error:  # noqa: BLE001 - whatever a forge leads to costs its own answer alone
        return None, type(error).__name__


def _origins_with_answers(known: RolloutOrigins, wanted: _AskedCommits, answers: Answers) -> RolloutOrigins:
    reviews = {
        digest: Review(author=request.author, reviewers=request.reviewers)
        for digest, commit in wanted.controls.items()
        if (request := answers.get(commit)) is not None
    }
    changes = dict(known.changes)
    for commit, several in wanted.changes.items():
        if all(each in answers for each in several):
            changes[commit] = _asked_origin(changes[commit], (answers[each] for each in several))
    return RolloutOrigins(reviews={**known.reviews, **reviews}, changes=changes)


def _asked_origin(origin: ChangeAuthors, requests: Iterable[MergedRequest | None]) -> ChangeAuthors:
    found = {each.author for each in requests if each is not None}
    return replace(origin, authors=tuple(sorted(found.union(origin.authors))), is_forge_asked=True)


def _next_time(asked: _TimesOfAsking, commit: str, now: datetime) -> datetime:
    """Return when the forge is asked about a commit; a time that is yet to come was told by a wrong clock."""
    last = parse_instant(asked.times.get(commit, ""))
    return now if last is None or last > now else instant_after(last, _AGAIN)


def _read_asked_times(repository: Repository) -> _TimesOfAsking:
    content = read_privately(repository.cache_dir / _FILE_NAME, _LARGEST)
    return (value_of_json_text(content, _TimesOfAsking) if content else None) or _TimesOfAsking()


def _write_asked_times(repository: Repository, asked: _TimesOfAsking) -> None:
    try:
        write_privately(repository.cache_dir / _FILE_NAME, json_text(asked).encode())
    except OSError:  # then the next pass asks again
        return
