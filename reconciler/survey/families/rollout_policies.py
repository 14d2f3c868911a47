"""RolloutPolicies and ClusterRolloutPolicies: whose changes go out by them, by which waves, and which wait."""

from collections.abc import Iterator

from reconciler.explain.policies import selector_text
from reconciler.status.rollout_commands import command_letting_rollout_go_on
from reconciler.survey.policies import LostClaim
from reconciler.survey.surveying import Survey
from render.admission.rollouts import ROLLOUT_KINDS
from render.limits import Limit
from render.model import Template
from render.notations import WEEKDAYS
from render.rollouts.plan import duration_text
from render.rollouts.policy import FailureAction, Freeze, Gate, GroupKey, RolloutPolicy, Wave, Window
from render.rollouts.selection import RolloutIndex, only_scales
from render.rollouts.state import RolloutState
from render.selectors import implicit_priority_for_template
from render.timing import instant_text
from render.words import counted_noun, first_few

from .other_policy import OtherPolicy, PolicyFamily, WaitsByPolicy, affinity_in_words, surveyed_templates


def _found_policies(survey: Survey) -> Iterator[OtherPolicy]:
    policies = survey.branches.fleet.source.desired.rollout_policies
    index = RolloutIndex(policies) if policies else None
    best = {each.ref: index.policy_for_template(each) for each in survey.templates} if index else {}
    for policy in policies:
        selected = [each for each in survey.templates if is_selected_by_rollout(policy, each)]
        decided = [each for each in selected if best[each.ref] is policy]
        lost = [each for each in selected if best[each.ref] is not policy]
        yield OtherPolicy(
            kind=ROLLOUT_KINDS[0 if policy.namespace else 1],
            name=policy.name,
            namespace=policy.namespace,
            path=policy.path,
            priority=policy.priority,
            selectors=tuple(map(selector_text, policy.resource_selectors)),
            does=tuple(_sentences_about_policy(policy)),
            decides=surveyed_templates(survey, decided),
            loses=tuple(_losses(survey, policy, lost, {each.ref: str(best[each.ref] or "") for each in lost})),
            waits=tuple(_waiting_rollouts(survey, policy)),
        )


def is_selected_by_rollout(policy: RolloutPolicy, template: Template) -> bool:
    """Say whether a selector of a rollout policy selects a template."""
    if policy.namespace not in {"", template.ref.namespace}:
        return False
    return any(implicit_priority_for_template(each, template) for each in policy.resource_selectors)


def _losses(
    survey: Survey, policy: RolloutPolicy, lost: list[Template], holders: dict[object, str]
) -> Iterator[LostClaim]:
    by_name = {str(each): each for each in survey.branches.fleet.source.desired.rollout_policies}
    for template in lost:
        holder = holders[template.ref]
        for each in surveyed_templates(survey, [template]):
            yield LostClaim(object=each, holder=holder, why=_why_lost(policy, by_name.get(holder), template))


def _why_lost(policy: RolloutPolicy, holder: RolloutPolicy | None, template: Template) -> str:
    if only_scales(template):
        return "its kind only scales others, which no rollout holds back"
    if holder is None:
        return "no rollout policy decides about it"
    if holder.is_namespaced and not policy.is_namespaced:
        return "one of the namespace goes before one of the fleet"
    if holder.priority != policy.priority:
        return f"priority {holder.priority} is higher than {policy.priority}"
    if _precision(holder, template) > _precision(policy, template):
        return "the other selects it more precisely"
    return "of equals the smaller name counts"


def _precision(policy: RolloutPolicy, template: Template) -> int:
    return max(implicit_priority_for_template(each, template) for each in policy.resource_selectors)


def _sentences_about_policy(policy: RolloutPolicy) -> Iterator[str]:
    """Yield how a change goes out, each in a sentence without its stop."""
    for wave in policy.waves:
        yield _wave_in_words(wave)
    if not policy.waves or not policy.waves[-1].takes_the_rest:
        yield _wave_in_words(policy.implicit_wave)
    consequence = "rolls back" if policy.on_failure is FailureAction.ROLLBACK else "pauses"
    yield f"{consequence} once {_more_than(policy.max_failures)} failed"
    if policy.max_unreachable is not None:
        yield f"{policy.max_unreachable} may be out of reach"
    if policy.on_deadline == "Wait":
        yield "a cluster that is late has not failed"
    yield from _sentences_about_other_changes(policy)


def _sentences_about_other_changes(policy: RolloutPolicy) -> Iterator[str]:
    """Yield what else goes out by a policy, and when."""
    yield f"a newer change: {_NEW_CHANGE[policy.on_new_change]}"
    if policy.group_by is not GroupKey.CHANGE:
        yield f"groups by {policy.group_label or 'object'}: each goes out by itself"
    if policy.also_for:
        yield f"also for {', '.join(sorted(policy.also_for))}"
    yield from (f"only {window_in_words(each)}" for each in policy.windows)
    yield from (freeze_in_words(each) for each in policy.freezes)
    if policy.is_make_before_break is not None:
        order = "before" if policy.is_make_before_break else "after"
        yield f"new copies come {order} old ones go where replicas move"
    if policy.approvers:
        yield f"approvers: {first_few(list(policy.approvers))}"


_NEW_CHANGE = {
    "Supersede": "it takes the place of the one that goes out",
    "Wait": "it waits for the end of the one that goes out",
    "Coalesce": "those that wait go out together",
    "Expedite": "it waits until an approver expedites it",
}


def _more_than(limit: Limit) -> str:
    return f"more than {limit} clusters have" if limit.amount else "a cluster has"


def _wave_in_words(wave: Wave) -> str:
    rest = wave.takes_the_rest
    who = "all clusters that are left" if rest else affinity_in_words(wave.cluster_affinity)
    if wave.size is not None:
        who = f"{wave.size} of {who if wave.cluster_affinity is not None else 'those that are left'}"
    limits = [
        "may be empty" if wave.is_empty_allowed and not rest else "",
        f"{wave.max_concurrent} at once" if wave.max_concurrent is not None else "",
        *(f"{each.limit} of each {each.field.value} at once" for each in wave.max_concurrent_by_field),
        f"{wave.max_failures} of it may fail" if wave.max_failures is not None else "",
        "needs an approval" if wave.is_approval_required and wave.approvals <= 1 else "",
        f"needs approvals of {wave.approvals} persons" if wave.approvals > 1 else "",
        *_parts_of_gate(wave.gate),
    ]
    return ", ".join(filter(None, [f"wave {wave.name}: {who}", *limits]))


def _parts_of_gate(gate: Gate) -> Iterator[str]:
    yield f"healthy for {duration_text(gate.healthy_for)}" if gate.healthy_for else ""
    yield f"within {duration_text(gate.deadline)}" if gate.deadline is not None else ""
    yield f"the next once {gate.share} are through" if gate.share is not None else ""
    yield from (f"check {each.name}" for each in gate.checks)


def window_in_words(window: Window) -> str:
    """Return the times of a window.

    >>> window_in_words(Window(days=(0, 4), begins=540, ends=1020))
    'Mon, Fri 09:00 to 17:00 UTC'
    """
    days = "every day" if len(window.days) == len(WEEKDAYS) else ", ".join(WEEKDAYS[day] for day in window.days)
    begins, ends = (f"{each // 60:02}:{each % 60:02}" for each in (window.begins, window.ends))
    return f"{days} {begins} to {ends} {window.time_zone}"


def freeze_in_words(freeze: Freeze) -> str:
    """Return the times of a freeze, and its reason."""
    begins = f"from {instant_text(freeze.begins)} " if freeze.begins is not None else ""
    return f"frozen {begins}until {instant_text(freeze.ends)}: {freeze.reason}"


def _waiting_rollouts(survey: Survey, policy: RolloutPolicy) -> Iterator[WaitsByPolicy]:
    for state in survey.branches.fleet.rollouts_under_way:
        if str(state.plan) == str(policy):
            yield WaitsByPolicy(
                subject=subject_of_rollout(state),
                message=f"{state.phase}: {state.next_step}",
                command=command_letting_rollout_go_on(state),
            )


def subject_of_rollout(state: RolloutState) -> str:
    """Return a change that goes out, and how far it is."""
    through = sum(each.is_through for each in state.given)
    where = f", wave {state.wave}" if state.wave else ""
    count = counted_noun(len(state.seats), "cluster")
    return f"{state.name}, change {state.change}{where}: {through} of {count} through"


ROLLOUTS = PolicyFamily(kinds=ROLLOUT_KINDS, found=_found_policies)
