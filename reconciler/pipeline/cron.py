"""CronFederatedHPAs and the bounds of FederatedHPAs in a pass: they set the replicas of templates.

1. A number that a rule set stays in force in place of the template's own, until another rule sets one, the template's
   own number changes in the source, or the CronFederatedHPA leaves it. So do bounds that a rule set, in place of the
   FederatedHPA's own.
2. Rules that are due fire, of several that one rule missed only the latest; of all rules the one that was due last
   decides. A rule that fires in a pass wins over a template that changed since the pass before.
3. The rules of the source are put in force. A rule that is new, or was changed, counts from this pass on.
4. The number is kept within the bounds of the first FederatedHPA of the workload, by name.

Without a time no rule fires, and nothing of what is recorded changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from render.autoscaling import FederatedAutoscaler, ReplicaBounds
from render.binding import Binding
from render.cron.execution import state_after_due_rules, state_with_rules_in_force
from render.cron.rules import CronAutoscaler, CronMemory, CronState, Execution, Scale, ScaledBounds, ScaledReplicas
from render.interpreter import Interpreter, InterpreterError
from render.model import ObjectRef, Template
from render.timing import Flip, earliest_flip

Autoscaler = CronAutoscaler | FederatedAutoscaler


class CappedReplicas(Struct, frozen=True, kw_only=True):
    """The replicas that a FederatedHPA keeps within its bounds, or those of a rule, and what was asked for."""

    replicas: int
    asked: int
    autoscaler: ObjectRef
    bounds: ReplicaBounds


class Scaling(Struct, frozen=True, kw_only=True):
    """The state of what scales one template after a pass: CronFederatedHPAs, and the numbers that rules set."""

    memories: tuple[CronMemory, ...] = ()
    scaled: ScaledReplicas | None = None
    bounds: ScaledBounds | None = None

    @classmethod
    def of(cls, binding: Binding | None) -> "Scaling":
        """Return what a binding records."""
        return cls(memories=binding.cron, scaled=binding.scaled, bounds=binding.bounds) if binding else cls()


class Scalers(Struct, frozen=True, kw_only=True):
    """The objects of a source that scale a template: CronFederatedHPAs, its FederatedHPA, and the rules for that."""

    rules: tuple[CronAutoscaler, ...] = ()
    federated: FederatedAutoscaler | None = None
    bounding: tuple[CronAutoscaler, ...] = ()


class CronScaling(Struct, frozen=True, kw_only=True):
    """The templates of a pass with the replicas that rules and bounds set, and what bindings record of them.

    ``flip`` is when the next rule fires. ``is_timed``: rules asked for the time. ``fired`` are the objects for which a
    rule set something in this pass, ``capped`` those that bounds keep from what is asked for. Of those that ``failed``,
    the number could not be written: their templates are as the source has them, and are not to be rendered.
    """

    templates: tuple[Template, ...]
    scalings: Mapping[ObjectRef, Scaling] = field(default_factory=dict)
    capped: Mapping[ObjectRef, CappedReplicas] = field(default_factory=dict)
    flip: Flip | None = None
    is_timed: bool = False
    fired: frozenset[ObjectRef] = frozenset()
    failed: Mapping[ObjectRef, InterpreterError] = field(default_factory=dict)

    def with_cron_states(self, bindings: Iterable[Binding]) -> tuple[Binding, ...]:
        """Return bindings with the state of what scales them."""
        return tuple(map(self._with_memories, bindings))

    def _with_memories(self, binding: Binding) -> Binding:
        scaling = self.scalings.get(binding.ref, Scaling())
        if scaling == Scaling.of(binding):
            return binding
        return replace(binding, cron=scaling.memories, scaled=scaling.scaled, bounds=scaling.bounds)


def scaled_by_cron(
    templates: Sequence[Template],
    autoscalers: Iterable[Autoscaler],
    interpreter: Interpreter,
    before: Mapping[ObjectRef, Binding],
    now: datetime | None,
) -> CronScaling:
    """Return templates with the replicas that CronFederatedHPAs and FederatedHPAs give them at a time."""
    by_target = _scalers_by_target(tuple(autoscalers))
    if not by_target:
        return CronScaling(templates=tuple(templates))
    result: list[Template] = []
    scalings: dict[ObjectRef, Scaling] = {}
    capped: dict[ObjectRef, CappedReplicas] = {}
    failed: dict[ObjectRef, InterpreterError] = {}
    for template in templates:
        scalers = by_target.get(template.ref)
        own = _own_replicas(template, interpreter) if scalers else None
        if not scalers or own is None:
            result.append(template)
            continue
        scaling = scalings[template.ref] = _scaling_after_pass(scalers, own, Scaling.of(before.get(template.ref)), now)
        number, kept = _number_in_force(scalers, scaling, own)
        is_own = number == own and not scaling.scaled
        scaled = template if is_own else _template_with_replicas(template, number, interpreter)
        if isinstance(scaled, InterpreterError):
            failed[template.ref], scaled = scaled, template
        elif kept:
            capped[template.ref] = kept
        result.append(scaled)
    return CronScaling(
        templates=tuple(result),
        scalings=scalings,
        capped=capped,
        flip=earliest_flip(next_firing(ref, found.memories) for ref, found in scalings.items()),
        is_timed=now is not None and any(each.memories for each in scalings.values()),
        fired=_fired_refs({ref: found for ref, found in scalings.items() if ref not in failed}, before),
        failed=failed,
    )


def targets_of_rules(autoscalers: Iterable[Autoscaler]) -> frozenset[ObjectRef]:
    """Return the objects that rules of cron scale, also by the bounds of a FederatedHPA."""
    by_target = _scalers_by_target(tuple(autoscalers))
    return frozenset(ref for ref, scalers in by_target.items() if scalers.rules or scalers.bounding)


def _scalers_by_target(autoscalers: Iterable[Autoscaler]) -> dict[ObjectRef, Scalers]:
    rules: dict[ObjectRef, list[CronAutoscaler]] = {}
    by_workload: dict[ObjectRef, FederatedAutoscaler] = {}
    for each in autoscalers:
        if isinstance(each, CronAutoscaler):
            rules.setdefault(each.target, []).append(each)
        elif each.target not in by_workload or each.ref < by_workload[each.target].ref:
            by_workload[each.target] = each
    bounding = {found.ref: tuple(rules.pop(found.ref, ())) for found in by_workload.values()}
    return {
        ref: Scalers(
            rules=tuple(rules.get(ref, ())),
            federated=by_workload.get(ref),
            bounding=bounding[by_workload[ref].ref] if ref in by_workload else (),
        )
        for ref in {**rules, **by_workload}
    }


def _replicas_within_bounds(
    autoscaler: FederatedAutoscaler, set_by_rule: ScaledBounds | None, asked: int
) -> CappedReplicas:
    bounds = autoscaler.bounds if set_by_rule is None else set_by_rule.bounds
    return CappedReplicas(
        replicas=bounds.clamped_replicas(asked), asked=asked, autoscaler=autoscaler.ref, bounds=bounds
    )


def _fired_refs(scalings: Mapping[ObjectRef, Scaling], before: Mapping[ObjectRef, Binding]) -> frozenset[ObjectRef]:
    return frozenset(ref for ref, found in scalings.items() if _has_any_rule_fired(found, Scaling.of(before.get(ref))))


def _has_any_rule_fired(after: Scaling, before: Scaling) -> bool:
    is_scaled = after.scaled is not None and after.scaled != before.scaled
    return is_scaled or (after.bounds is not None and after.bounds != before.bounds)


def _number_in_force(scalers: Scalers, scaling: Scaling, own: int) -> tuple[int, CappedReplicas | None]:
    """Return the number that a template is to have, with what is asked for where bounds keep it from that."""
    asked = scaling.scaled.replicas if scaling.scaled else own
    if scalers.federated is None:
        return asked, None
    kept = _replicas_within_bounds(scalers.federated, scaling.bounds, asked)
    return kept.replicas, None if kept.replicas == asked else kept


def _template_with_replicas(template: Template, number: int, interpreter: Interpreter) -> Template | InterpreterError:
    try:
        return replace(template, manifest=interpreter.revise_replica(template.manifest, number))
    except InterpreterError as error:
        return error


def _own_replicas(template: Template, interpreter: Interpreter) -> int | None:
    """Return the replicas that a template itself asks for; None where it has none, or cannot be read."""
    try:
        answer = interpreter.replicas(template.manifest)
    except InterpreterError:
        return None
    return answer.replicas if answer else None


def _scaling_after_pass(scalers: Scalers, own: int, before: Scaling, now: datetime | None) -> Scaling:
    """Return what scales a template after a pass."""
    scaled, bounds = before.scaled, before.bounds
    if scaled is not None and (scaled.template != own or scaled.autoscaler not in _names_of_autoscalers(scalers.rules)):
        scaled = None
    if bounds is not None and not _are_bounds_in_force(bounds, scalers):
        bounds = None
    before = replace(before, scaled=scaled, bounds=bounds)
    if now is None:
        return before
    known = {each.autoscaler: each.state for each in before.memories}
    after = _fire_rules(scalers.rules, own, replace(before, memories=()), known, now)
    return _scaling_with_bounds(scalers, after, known, now) if scalers.federated else after


def _fire_rules(
    rules: Iterable[CronAutoscaler], own: int, scaling: Scaling, known: Mapping[str, CronState], now: datetime
) -> Scaling:
    """Fire what is due of the rules that set replicas."""
    scaled, memories = scaling.scaled, list(scaling.memories)
    for each in rules:
        before = known.get(each.name, CronState())
        state = state_after_due_rules(before, now, _no_scaling_failure, only_latest=True, deadline=each.deadline)
        for rule, run in _fired_rules(before, state):
            if scaled is None or run.due >= scaled.due:
                number = run.scale.replicas or 0
                scaled = ScaledReplicas(replicas=number, template=own, autoscaler=each.name, rule=rule, due=run.due)
        memories.append(CronMemory(autoscaler=each.name, state=state_with_rules_in_force(state, each.rules, now).state))
    return replace(scaling, scaled=scaled, memories=tuple(memories))


def _scaling_with_bounds(scalers: Scalers, scaling: Scaling, known: Mapping[str, CronState], now: datetime) -> Scaling:
    """Fire what is due of the rules that set the bounds of the FederatedHPA."""
    assert scalers.federated is not None
    own, bounds, memories = scalers.federated.bounds, scaling.bounds, list(scaling.memories)
    for each in scalers.bounding:
        before, moving = known.get(each.name, CronState()), _MovingBounds(own, bounds)
        state = state_after_due_rules(before, now, moving.scaling_failure, only_latest=True, deadline=each.deadline)
        for rule, run in _fired_rules(before, state):
            bounds = ScaledBounds(bounds=moving.now, own=own, autoscaler=each.name, rule=rule, due=run.due)
        memories.append(CronMemory(autoscaler=each.name, state=state_with_rules_in_force(state, each.rules, now).state))
    return replace(scaling, bounds=bounds, memories=tuple(memories))


def _names_of_autoscalers(autoscalers: Iterable[CronAutoscaler]) -> set[str]:
    return {each.name for each in autoscalers}


def _are_bounds_in_force(bounds: ScaledBounds, scalers: Scalers) -> bool:
    """Say whether bounds that a rule set are still in force: the rule's object is there, and so are the own ones."""
    federated = scalers.federated
    is_same = federated is not None and federated.bounds == bounds.own
    return is_same and bounds.autoscaler in _names_of_autoscalers(scalers.bounding)


class _MovingBounds:
    """Bounds as rules set one of them or both; a minimum above the maximum is refused, as Karmada's webhook does."""

    def __init__(self, own: ReplicaBounds, before: ScaledBounds | None) -> None:
        self.now = before.bounds if before else own

    def scaling_failure(self, scale: Scale) -> str:
        """Set the bounds of a rule; return why that failed, or an empty text."""
        minimum = self.now.minimum if scale.minimum is None else scale.minimum
        maximum = self.now.maximum if scale.maximum is None else scale.maximum
        if minimum > maximum:
            return f"a minimum of {minimum} would be above the maximum of {maximum}"
        self.now = ReplicaBounds(minimum=minimum, maximum=maximum)
        return ""


def _no_scaling_failure(_scale: Scale) -> str:
    return ""


def _fired_rules(before: CronState, after: CronState) -> list[tuple[str, Execution]]:
    """Return the rules that fired in between, each with its run, in the order in which they were due."""
    known = {each.name: each.successes for each in before.histories}
    runs = [
        (each.name, each.successes[0])
        for each in after.histories
        if each.successes and each.successes[0] not in known.get(each.name, ())
    ]
    return sorted(runs, key=lambda found: found[1].due)


def next_firing(ref: ObjectRef, memories: Iterable[CronMemory]) -> Flip | None:
    """Return when a rule fires next of all that scale an object, and what it does then."""
    return earliest_flip(
        Flip(each.upcoming, f"{memory.autoscaler} {scale_words(memory.state.in_force[each.name].scale, str(ref))}")
        for memory in memories
        for each in memory.state.histories
        if each.upcoming is not None and each.name in memory.state.in_force
    )


def scale_words(scale: Scale, what: str) -> str:
    """Return what a rule does to a workload, as the end of a sentence about it.

    >>> scale_words(Scale(replicas=5), "web"), scale_words(Scale(minimum=2, maximum=9), "web")
    ('sets web to 5', 'keeps web between 2 and 9')
    """
    if scale.replicas is not None:
        return f"sets {what} to {scale.replicas}"
    if scale.minimum is not None and scale.maximum is not None:
        return f"keeps {what} between {scale.minimum} and {scale.maximum}"
    if scale.minimum is not None:
        return f"keeps {what} at {scale.minimum} or more"
    return f"keeps {what} at {scale.maximum} or less"
