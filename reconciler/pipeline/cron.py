"""CronFederatedHPAs in a pass: rules that are due set the replicas of templates, and bindings record that.

1. A number that a rule set stays in force in place of the template's own, until another rule sets one, the template's
   own number changes in the source, or the CronFederatedHPA leaves it.
2. Rules that are due fire, of several that one rule missed only the latest; of all rules the one that was due last
   decides. A rule that fires in a pass wins over a template that changed since the pass before.
3. The rules of the source are put in force. A rule that is new, or was changed, counts from this pass on.

Without a time no rule fires, and nothing of what is recorded changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from render.binding import Binding
from render.cron.execution import run_until, with_rules
from render.cron.rules import CronAutoscaler, CronMemory, CronState, Execution, Scale, ScaledReplicas
from render.interpreter import Interpreter, InterpreterError
from render.model import ObjectRef, Template
from render.timing import Flip, earliest


@dataclass(frozen=True, slots=True, kw_only=True)
class CronScaling:
    """The templates of a pass with the replicas that rules set, and what bindings record of them.

    ``flip`` is when the next rule fires. ``is_timed``: rules asked for the time. ``fired`` are the objects whose
    replicas a rule set in this pass.
    """

    templates: tuple[Template, ...]
    memories: Mapping[ObjectRef, tuple[CronMemory, ...]] = field(default_factory=dict)
    scaled: Mapping[ObjectRef, ScaledReplicas] = field(default_factory=dict)
    flip: Flip | None = None
    is_timed: bool = False
    fired: frozenset[ObjectRef] = frozenset()

    def recorded(self, bindings: Iterable[Binding]) -> tuple[Binding, ...]:
        """Return bindings with the state of what scales them."""
        return tuple(
            replace(each, cron=self.memories.get(each.ref, ()), scaled=self.scaled.get(each.ref))
            if each.ref in self.memories or each.cron
            else each
            for each in bindings
        )


def scaled_by_cron(
    templates: Sequence[Template],
    autoscalers: Iterable[CronAutoscaler],
    interpreter: Interpreter,
    before: Mapping[ObjectRef, Binding],
    now: datetime | None,
) -> CronScaling:
    """Return templates with the replicas that CronFederatedHPAs give them at a time."""
    by_target: dict[ObjectRef, list[CronAutoscaler]] = {}
    for each in autoscalers:
        by_target.setdefault(each.target, []).append(each)
    if not by_target:
        return CronScaling(templates=tuple(templates))
    result: list[Template] = []
    memories: dict[ObjectRef, tuple[CronMemory, ...]] = {}
    scaled: dict[ObjectRef, ScaledReplicas] = {}
    for template in templates:
        rules = by_target.get(template.ref)
        own = _own_replicas(template, interpreter) if rules else None
        if not rules or own is None:
            result.append(template)
            continue
        binding = before.get(template.ref)
        memories[template.ref], number = _passed(rules, own, binding, now)
        if number is not None:
            scaled[template.ref] = number
            result.append(replace(template, manifest=interpreter.revise_replica(template.manifest, number.replicas)))
        else:
            result.append(template)
    return CronScaling(
        templates=tuple(result),
        memories=memories,
        scaled=scaled,
        flip=earliest(next_firing(ref, found) for ref, found in memories.items()),
        is_timed=now is not None and bool(memories),
        fired=frozenset(ref for ref, number in scaled.items() if number != _scaled_before(before.get(ref))),
    )


def _scaled_before(binding: Binding | None) -> ScaledReplicas | None:
    return binding.scaled if binding else None


def _own_replicas(template: Template, interpreter: Interpreter) -> int | None:
    """Return the replicas that a template itself asks for; None where it has none, or cannot be read."""
    try:
        answer = interpreter.replicas(template.manifest)
    except InterpreterError:
        return None
    return answer.replicas if answer else None


def _passed(
    autoscalers: Sequence[CronAutoscaler], own: int, before: Binding | None, now: datetime | None
) -> tuple[tuple[CronMemory, ...], ScaledReplicas | None]:
    """Return the states of a template's autoscalers after a pass, and the number that is in force."""
    known = {each.autoscaler: each.state for each in before.cron} if before else {}
    names = {each.name for each in autoscalers}
    scaled = before.scaled if before else None
    if scaled is not None and (scaled.template != own or scaled.autoscaler not in names):
        scaled = None
    if now is None:
        return tuple(before.cron) if before else (), scaled
    memories = []
    for each in autoscalers:
        state = run_until(known.get(each.name, CronState()), now, _always, only_latest=True)
        for rule, run in _fired(known.get(each.name, CronState()), state):
            if scaled is None or run.due >= scaled.due:
                number = run.scale.replicas or 0
                scaled = ScaledReplicas(replicas=number, template=own, autoscaler=each.name, rule=rule, due=run.due)
        memories.append(CronMemory(autoscaler=each.name, state=with_rules(state, each.rules, now).state))
    return tuple(memories), scaled


def _always(_scale: Scale) -> str:
    return ""


def _fired(before: CronState, after: CronState) -> list[tuple[str, Execution]]:
    """Return the rules that fired in between, each with its run, in the order in which they were due."""
    known = {each.name: each for each in before.histories}
    runs = [
        (each.name, each.successes[0])
        for each in after.histories
        if each.successes and each.upcoming != known[each.name].upcoming
    ]
    return sorted(runs, key=lambda found: found[1].due)


def next_firing(ref: ObjectRef, memories: Iterable[CronMemory]) -> Flip | None:
    """Return when a rule fires next of all that scale an object, and what it does then."""
    return earliest(
        Flip(each.upcoming, f"{memory.autoscaler} sets {ref} to {memory.state.in_force[each.name].scale.replicas}")
        for memory in memories
        for each in memory.state.histories
        if each.upcoming is not None and each.name in memory.state.in_force
    )
