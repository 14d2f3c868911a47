"""The passes that really ran, told from those that did not.

If a pass over the source as it was, from what really stood, would have changed something, and no rendered commit tells
of it, then no pass ran at that time, or somebody refused it.
"""

from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.reading import Source, read_previous
from reconciler.console.log import Log
from reconciler.pipeline.claims import SCHEDULED
from reconciler.pipeline.decisions import Decisions, decisions_of_pass
from reconciler.pipeline.pass_values import Inputs
from reconciler.pipeline.previous import Previous
from reconciler.rendering.inputs import RenderInputs, pipeline_inputs_of_source
from reconciler.rendering.outcome import run_pass
from reconciler.repository import Repository
from reconciler.repository.trailers import engine_version
from render.binding import Binding
from render.timing import LAST, Flip, earliest_flip

from .past import RecordedInstant


class RealPasses(Struct, kw_only=True):
    """Passes from what really stood; that one changed nothing is remembered until its answer flips."""

    repository: Repository
    log: Log
    _parsed: dict[bytes, Binding] = field(default_factory=dict)
    _previous: tuple[str, Previous] | None = None
    _unchanged: tuple[str, str, datetime] | None = None

    def would_change(self, last: RecordedInstant, source: Source, given: RenderInputs, observation: str) -> bool:
        """Say whether a pass by an observation would have changed what stood since the last rendered commit."""
        commit = last.commit.id
        if self._is_known_to_stay(commit, observation, given.now):
            return False
        previous = self._read_previous(commit)
        inputs = pipeline_inputs_of_source(self.repository, source, previous, given)
        if inputs.rollouts.states or source.desired.rollout_policies or inputs.moves.health.conditions:
            outcome = run_pass(self.repository, source, previous, given, self.log)
            is_changed, flip = outcome.is_changed, outcome.flip
        else:  # what was built of the same decisions is the same
            decisions = decisions_of_pass(inputs)
            is_changed, flip = _is_decision_changed(inputs, decisions), _flip_of_decisions(decisions)
        if not is_changed:
            self._unchanged = commit, observation, flip.at if flip is not None else LAST
        return is_changed

    def _is_known_to_stay(self, commit: str, observation: str, now: datetime | None) -> bool:
        known = self._unchanged
        return known is not None and known[:2] == (commit, observation) and now is not None and now < known[2]

    def _read_previous(self, commit: str) -> Previous:
        if self._previous is None or self._previous[0] != commit:
            previous = read_previous(self.repository, commit, self._parsed)
            self._previous = commit, replace(previous, version=engine_version())
        return self._previous[1]


def _is_decision_changed(inputs: Inputs, decisions: Decisions) -> bool:
    """Say whether a pass decides otherwise about anything than the outcome that it starts from."""
    if decisions.tainted.recorded != inputs.failover.taints:
        return True
    before = inputs.previous.bindings if inputs.previous is not None else {}
    unread = {template.ref for template, _ in decisions.claimed.claims.failed}
    after = {each.ref: each for each in decisions.bindings if each.ref not in unread}
    if after.keys() != before.keys() - unread:
        return True
    return any(_decision(binding) != _decision(before[ref]) for ref, binding in after.items())


def _decision(binding: Binding) -> object:
    """Return what was decided about an object, apart from what was built of it."""
    tasks = tuple((task.from_cluster, task.creation_timestamp) for task in binding.eviction_tasks)
    said = tuple((each.status, each.reason) for each in binding.conditions if each.type == SCHEDULED)
    places = sorted(binding.targets), sorted(binding.final_targets)
    return places, tasks, said, binding.moved, binding.descheduled, binding.scaled, binding.cron


def _flip_of_decisions(decisions: Decisions) -> Flip | None:
    return earliest_flip((decisions.failover.flip, decisions.descheduling.flip, decisions.claimed.cron.flip))
