"""The passes of a simulation: the fleet as it is, as an ideal reschedule would have it, and as it goes on by itself.

1. *base*: a pass over the source by what is recorded, with nothing altered;
2. *ideal*: one pass that places anew what the alterations concern. Clusters that are lost are no members any more;
   whatever stands in a cluster of another alteration is rescheduled, as ``argosy rebalance`` asks for it, and where
   that cluster is tainted, as if it did not stand there yet;
3. *configured*: the passes that would come after the base, at the time of the alterations and at each instant at which
   an answer flips by itself. So tolerations, the guard against mass failures, paced and graceful evictions act.

Clusters that answer apply at once what they are given, and it is healthy a second later, unless the record says
otherwise of what they have already. As in real passes, what one finds of workloads is known to the next one: so two
passes come after something was given, a second apart. Clusters that do not answer are as they were last seen.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.pipeline.following_passes import PassMemory, inputs_of_next_pass
from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.stages import render_pass
from render.binding import Binding
from render.errors import GuardRefused
from render.model import ObjectRef
from render.rebalancers.rebalancing import NamedWorkload
from render.rescheduling.requests import RescheduleRequest
from render.timing import SECOND, Flip

from .alterations import Alteration, altered, altered_clusters, lost_clusters, newly_tainted_clusters
from .answering_fleet import AnsweringFleet
from .simulated_pass import IdealPlacement, SimulatedPass

HORIZON = timedelta(hours=1)
"""The time that a simulation looks ahead, unless it is asked for another."""
_MOST_PASSES = 1000
_REQUEST = "argosy simulate"
_ANY_NUMBER = 2**31 - 1

RenderPass = Callable[[Inputs], Rendered]
"""Compute the tree of a pass; whoever reads a source of people's has the records named over which that stumbles."""


Judge = Callable[[SimulatedPass, SimulatedPass], GuardRefused | None]
"""Say which guard would refuse a pass, given the one before it; None lets it pass."""


class StoppedPass(Struct, frozen=True, kw_only=True):
    """A pass that a guard would refuse, and what it would say."""

    refused: SimulatedPass
    error: GuardRefused


class PassRules(Struct, frozen=True, kw_only=True):
    """The way passes are made: how one is rendered, and who judges it (None: no guard is asked)."""

    render: RenderPass = render_pass
    judge: Judge | None = None


_NO_GUARDS = PassRules()


class Simulation(Struct, frozen=True, kw_only=True):
    """A fleet with alterations: the pass without them, an ideal one, and those that would come one after the other.

    ``next_flip`` is what would happen after the ``horizon`` (None: nothing, by itself). ``is_whole``: no more passes
    would come within it than were looked at. ``refused`` is the first pass that a guard would refuse: it is none of
    those ``configured``, and nothing comes after it until somebody allows what it does.
    """

    alterations: tuple[Alteration, ...]
    base: SimulatedPass
    ideal: IdealPlacement
    configured: tuple[SimulatedPass, ...]
    horizon: datetime
    next_flip: Flip | None = None
    is_whole: bool = True
    refused: StoppedPass | None = None

    @property
    def last(self) -> SimulatedPass:
        """The pass by which the fleet stands when the horizon has come."""
        return self.configured[-1] if self.configured else self.base


def simulation_of(
    inputs: Inputs,
    alterations: Sequence[Alteration],
    now: datetime,
    *,
    horizon: timedelta = HORIZON,
    after: Inputs | None = None,
    rules: PassRules = _NO_GUARDS,
) -> Simulation:
    """Return what becomes of a fleet with some alterations, from the inputs of the pass that would come now.

    ``after`` are the inputs of a source with added files (None: nothing is added). No guard is asked about the base,
    which was judged when it was committed, nor about the ideal.
    """
    memory = PassMemory(beneath=inputs.previous.tree if inputs.previous else None)
    base = _pass_at(inputs, now, rules.render)
    wanted = replace(after, previous=inputs.previous) if after is not None else inputs
    following = inputs_of_next_pass(wanted, base.rendered, memory, now)
    changed = altered(following, alterations, now)
    ideal = IdealPlacement(at=now, inputs=ideal_inputs(changed, alterations, base.bindings))
    fleet = AnsweringFleet(inputs=changed, facts=inputs.facts, memory=memory, silent=lost_clusters(alterations))
    fleet.observe_base(base)
    course = _Course(fleet=fleet, end=now + horizon, rules=rules)
    course.run(base, now)
    return Simulation(
        alterations=tuple(alterations),
        base=base,
        ideal=ideal,
        configured=tuple(course.passes),
        horizon=now + horizon,
        next_flip=course.flip,
        is_whole=course.flip is None or course.flip.at > now + horizon,
        refused=course.refused,
    )


def _pass_at(inputs: Inputs, at: datetime, render: RenderPass) -> SimulatedPass:
    return SimulatedPass(at=at, inputs=inputs, rendered=render(inputs))


def ideal_inputs(inputs: Inputs, alterations: Sequence[Alteration], placed: Mapping[ObjectRef, Binding]) -> Inputs:
    """Return the inputs of a pass that places anew what alterations concern, all at once and whatever guards say."""
    lost, concerned = lost_clusters(alterations), altered_clusters(alterations)
    named = [ref for ref, each in placed.items() if any(target.name in concerned - lost for target in each.targets)]
    desired = inputs.desired
    request = RescheduleRequest(name=_REQUEST, workloads=tuple(map(_named_workload, sorted(named))))
    desired = replace(
        desired,
        clusters=tuple(each for each in desired.clusters if each.name not in lost),
        reschedule_requests=(*desired.reschedule_requests, *([request] if request.workloads else [])),
    )
    return replace(
        inputs,
        desired=desired,
        previous=_previous_without_targets(inputs.previous, named, newly_tainted_clusters(alterations)),
        allowed_removals=dict.fromkeys(inputs.allowed_removals, _ANY_NUMBER),
        rollouts=replace(inputs.rollouts, are_over=True),
    )


def _previous_without_targets(
    previous: Previous | None, refs: Iterable[ObjectRef], clusters: frozenset[str]
) -> Previous | None:
    """Return a previous commit in which some objects are not placed in some clusters."""
    if previous is None or not clusters:
        return previous
    bindings = dict(previous.bindings)
    for ref in refs:
        kept = tuple(each for each in bindings[ref].targets if each.name not in clusters)
        bindings[ref] = replace(bindings[ref], targets=kept)
    return replace(previous, bindings=bindings)


def _named_workload(ref: ObjectRef) -> NamedWorkload:
    api = f"{ref.group}/v1" if ref.group else "v1"
    return NamedWorkload(api_version=api, kind=ref.kind, namespace=ref.namespace, name=ref.name)


class _Course(Struct, kw_only=True):
    """The passes of a fleet one after the other, until nothing changes by itself, the end has come, or a guard refuses.

    ``flip`` is what comes after the last of them.
    """

    fleet: AnsweringFleet
    end: datetime
    rules: PassRules
    passes: list[SimulatedPass] = field(default_factory=list)
    flip: Flip | None = None
    refused: StoppedPass | None = None

    def run(self, base: SimulatedPass, now: datetime) -> None:
        """Take the passes from a time on."""
        before, at = base, now
        while len(self.passes) < _MOST_PASSES:
            done = _pass_at(self.fleet.inputs_at(at), at, self.rules.render)
            error = self.rules.judge(before, done) if self.rules.judge else None
            if error is not None:
                self.refused, self.flip = StoppedPass(refused=done, error=error), None
                return
            self.flip = self._flip_after(done, is_moving=self.fleet.apply(done))
            self.passes.append(done)
            if self.flip is None or self.flip.at > self.end:
                return
            before, at = done, self.flip.at

    @staticmethod
    def _flip_after(done: SimulatedPass, *, is_moving: bool) -> Flip | None:
        """Return when the next pass comes: at a flip, or in a second to see what clusters make of what they have."""
        seen = Flip(done.at + SECOND, "what was placed is seen to be healthy") if is_moving else None
        coming = [each for each in (done.rendered.built.flip, seen) if each is not None and each.at > done.at]
        return min(coming, key=lambda each: each.at, default=None)
