"""The rollouts: which change goes out by which waves, and what each waits for."""

from typing import TYPE_CHECKING

from reconciler.outputs.rollouts import recorded_rollouts_document
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.status.rollouts import read_recorded_rollouts

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading


def _answer(look: Look) -> ViewAnswer:
    return ViewAnswer(document=look.document("rollouts", rollouts_document_of_fleet), command=("rollout", "status"))


def rollouts_document_of_fleet(reading: "FleetReading") -> "OutputDocument":
    """Return the rollouts of a fleet, of all policies and groups."""
    recorded = read_recorded_rollouts(reading.repository)
    return recorded_rollouts_document(recorded, recorded.groups_meant("", "", ""))


VIEW = PageView(
    name="rollouts",
    path="/rollouts",
    question="What is going out?",
    template="rollouts.html",
    answer=_answer,
    group=ViewGroup.NOW,
    label="Rollouts",
    key="r",
    icon="rollouts",
)
