"""Pausing a rollout at once: by a record on the status branch, which takes no change of the source and no review."""

import time

from reconciler.branches.publication import Publication
from reconciler.branches.status_branch import Files, StatusBranch
from reconciler.ledger.rollout_pauses import PausesFile
from render.rollouts.policy import RolloutControl, RolloutVerb
from render.rollouts.state import RolloutState
from render.timing import epoch_text


def pause_at_once(publication: Publication, branch: str, state: RolloutState, reason: str) -> None:
    """Record that a rollout is paused; ``branch`` is the status branch."""
    author = publication.repository.author
    by = f"{author.name} <{author.email}>"
    pause = RolloutControl(
        name=by,
        rollout=str(state.plan),
        group=state.group,
        change=state.change,
        verb=RolloutVerb.PAUSE,
        reason=reason,
        by=by,
        at=epoch_text(time.time()),
    )
    _record_pauses(publication, branch, state, (pause,), f"Pause {state.name}")


def resume_at_once(publication: Publication, branch: str, state: RolloutState) -> bool:
    """Take back what records that a rollout is paused; say whether there was something."""
    return _record_pauses(publication, branch, state, (), f"Resume {state.name}")


def _record_pauses(
    publication: Publication, branch: str, state: RolloutState, pauses: tuple[RolloutControl, ...], subject: str
) -> bool:
    """Record the pauses of a change in place of those that it has; say whether that is another record."""
    status = StatusBranch(publication=publication, branch=branch)
    about = str(state.plan), state.group, state.change

    def files(tip: str | None) -> Files:
        content = status.files(tip, {"facts"}).get(PausesFile.PATH)
        known = PausesFile.read(PausesFile.PATH, content).controls if content else ()
        others = (each for each in known if (each.rollout, each.group, each.change) != about)
        file = PausesFile.of_controls((*others, *pauses))
        return {PausesFile.PATH: file.content() if file else None}

    return status.commit(files, subject, time=int(time.time())) is not None
