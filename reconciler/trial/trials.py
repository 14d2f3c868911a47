"""PolicyTests run: a first pass over the source with what a test adds, compared with what it expects."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from overrides.secrecy import HIDDEN
from reconciler.ledger.webhook_answers import Answers
from reconciler.pipeline.claims import SCHEDULED
from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.stages import render_pass
from reconciler.simulation.resilience import judgements_of_pass
from reconciler.source.desired import Desired
from reconciler.source.policy_tests import Expectation, PolicyTest
from render.binding import Binding
from render.boundary import REPORT_IT, result_or_substitute, words_of_unexpected_error
from render.model import ObjectRef, TargetCluster
from render.patterns import matches_whole, pattern_of_partial_match
from render.resilience.policy import ResiliencePolicy
from render.selectors import ResourceSelector
from render.words import most_similar_word

from .backtests import BacktestFindings, BacktestOfTest, findings_without_a_past, mismatches_of_backtest
from .fields import MISSING, WITHHELD, Mismatch, field_at_json_pointer, objects_rendered_for_clusters, value_for_message
from .stepping import desired_with_changes, render_passes

NO_ANSWERS: Answers = {}


class Trial(Struct, frozen=True, kw_only=True):
    """The result of a test, with the policies and override rules that decided about the objects it is about.

    ``backtest`` is what the replay of a past found (None: the test asks for none).
    """

    test: PolicyTest
    mismatches: tuple[Mismatch, ...] = ()
    policies: frozenset[str] = frozenset()
    rules: frozenset[tuple[str, str]] = frozenset()
    backtest: BacktestFindings | None = None

    @property
    def passed(self) -> bool:
        """Return whether everything is as expected."""
        return not self.mismatches


def run_trial(
    test: PolicyTest,
    desired: Desired,
    answers: Answers = NO_ANSWERS,
    backtest_of: BacktestOfTest = findings_without_a_past,
) -> Trial:
    """Render what a test describes, as if for the first time, and compare; ``answers`` are those known of webhooks.

    A test with a time is about the pass at that time, after those that went before it; an expectation may have its own.
    ``backtest_of`` replays the past that a test is about.
    """
    return result_or_substitute(
        partial(_run_trial_unguarded, test, desired, answers, backtest_of), partial(_trial_failed_by_error, test)
    )


def _trial_failed_by_error(test: PolicyTest, error: Exception) -> Trial:
    """Return the result of a test that led to an error nobody thought of."""
    mismatch = Mismatch(field="spec", message=f"{words_of_unexpected_error(error)}; {REPORT_IT}", got=WITHHELD)
    return Trial(test=test, mismatches=(mismatch,))


def _run_trial_unguarded(test: PolicyTest, desired: Desired, answers: Answers, backtest_of: BacktestOfTest) -> Trial:
    placed = _trial_of_places(test, desired, answers) if test.expectations else Trial(test=test)
    if test.backtest is None:
        return placed
    found = backtest_of(test, desired)
    mismatches = (*placed.mismatches, *mismatches_of_backtest(test.backtest, found))
    return replace(placed, mismatches=mismatches, backtest=found)


def _trial_of_places(test: PolicyTest, desired: Desired, answers: Answers) -> Trial:
    """Return the result of what a test expects of objects."""
    given = desired_with_given_objects(desired, test)
    inputs = Inputs(desired=given, facts={}, previous=None, source="", answers=answers)
    passes = _rendered_passes(test, inputs)
    refs = {expectation.ref for expectation in test.expectations}
    bindings = {at: _bindings_of_objects(refs, rendered) for at, rendered in passes.items()}
    mismatches = [
        mismatch
        for number, each in enumerate(test.expectations)
        for at in (each.at or test.now,)
        for mismatch in (
            *_mismatches_of_expectation(f"spec.expect[{number}]", each, passes[at], bindings[at]),
            *_mismatches_of_survival(f"spec.expect[{number}]", each, _desired_at(given, test, at), passes[at]),
        )
    ]
    found = (binding for several in bindings.values() for binding in several.values())
    return Trial(
        test=test,
        mismatches=tuple(mismatches),
        policies=frozenset(each.policy for each in found if each.policy),
        rules=frozenset(rule for each in passes.values() for rule in _override_rules_applied(refs, each)),
    )


def _desired_at(given: Desired, test: PolicyTest, at: datetime | None) -> Desired:
    """Return the source of a test as it is at a time."""
    return given if at is None else desired_with_changes(given, test.changes, at)


def _rendered_passes(test: PolicyTest, inputs: Inputs) -> Mapping[datetime | None, Rendered]:
    """Return what is rendered at each time that an expectation is about; None: by a first pass without a time."""
    if test.now is None:
        return {None: render_pass(inputs)}
    times = {test.now, *(each.at for each in test.expectations if each.at is not None)}
    return dict(render_passes(test, inputs, times).items())


def _bindings_of_objects(refs: Container[ObjectRef], rendered: Rendered) -> Mapping[ObjectRef, Binding]:
    return {each.ref: each for each in rendered.built.bindings if each.ref in refs}


def desired_with_given_objects(desired: Desired, test: PolicyTest) -> Desired:
    """Return the source with a test's clusters, templates and settings; each takes the place of the source's."""
    clusters = {each.name: each for each in (*desired.clusters, *test.clusters)}
    for name in test.without_clusters:
        clusters.pop(name, None)
    templates = {each.ref: each for each in (*desired.templates, *test.templates)}
    return replace(
        desired,
        fleet=replace(desired.fleet, **test.settings),
        clusters=tuple(clusters[name] for name in sorted(clusters)),
        templates=tuple(templates[ref] for ref in sorted(templates)),
    )


def _override_rules_applied(refs: Iterable[ObjectRef], rendered: Rendered) -> Iterator[tuple[str, str]]:
    for ref in refs:
        works = rendered.built.works.get(ref)
        for content in works.contents if works else ():
            for applied in content.applied:
                yield applied.policy, getattr(applied, "rule", "")


def _mismatches_of_expectation(
    path: str, expected: Expectation, rendered: Rendered, bindings: Mapping[ObjectRef, Binding]
) -> Iterator[Mismatch]:
    binding = bindings.get(expected.ref, Binding(ref=expected.ref, api_version=""))
    known = {each.ref for each in bindings.values()} | rendered.built.claims.matches.keys()
    if expected.ref not in known and not any(each.ref == expected.ref for each, _ in rendered.namespaces):
        near = most_similar_word(
            expected.ref.name, {ref.name for ref in known if ref.group_kind == expected.ref.group_kind}
        )
        if expected.is_absent and not near:
            return
        hint = f"; did you mean {near!r}?" if near else ""
        yield Mismatch(field=f"{path}.name", message=f"the source has no {expected.ref}{hint}", got=WITHHELD)
        return
    yield from _mismatches_of_decision(path, expected, binding, rendered)
    yield from _mismatches_of_refusals(path, expected, rendered)
    manifests = objects_rendered_for_clusters(expected.ref, {each.cluster for each in expected.fields}, rendered)
    for number, each in enumerate(expected.fields):
        got = field_at_json_pointer(manifests.get(each.cluster), each.path)
        is_so = got is MISSING if each.is_absent else got is not MISSING and got == each.value
        if not is_so:
            want = "nothing" if each.is_absent else value_for_message(each.value, each.path, expected.ref)
            text = value_for_message(got, each.path, expected.ref)
            message = f"{each.path} in {each.cluster}: want {want}, got {text}"
            open_value = WITHHELD if text == HIDDEN else got
            yield Mismatch(field=f"{path}.fields[{number}].value", message=message, got=open_value)


def _mismatches_of_survival(
    path: str, expected: Expectation, desired: Desired, rendered: Rendered
) -> Iterator[Mismatch]:
    """Yield each loss that an object survives or does not, other than a test expects."""
    losses = (*expected.survives, *expected.does_not_survive)
    binding = next((each for each in rendered.built.bindings if each.ref == expected.ref), None)
    if not losses or binding is None:
        return
    ref = expected.ref
    asked = ResiliencePolicy(
        name=path,
        namespace=ref.namespace,
        resource_selectors=(
            ResourceSelector(api_version=binding.api_version, kind=ref.kind, namespace=ref.namespace, name=ref.name),
        ),
        survive=losses,
    )
    # What policies of the source name is placed anew with it, and takes room.
    judged = replace(desired, resilience_policies=(*desired.resilience_policies, asked))
    for each in judgements_of_pass(judged, rendered.built):
        number = each.requirement.number
        if each.requirement.policy is not asked:
            continue
        if number < len(expected.survives) and not each.holds:
            yield Mismatch(field=f"{path}.survives[{number}]", message=each.message, got=WITHHELD)
        if number >= len(expected.survives) and each.holds:
            place = number - len(expected.survives)
            message = f"want it not to survive the loss of {losses[number]}, but it does"
            yield Mismatch(field=f"{path}.doesNotSurvive[{place}]", message=message, got=WITHHELD)


def _mismatches_of_decision(
    path: str, expected: Expectation, binding: Binding, rendered: Rendered
) -> Iterator[Mismatch]:
    targets = _targets_of_object(binding, rendered)
    replicas = {each.name: each.replicas for each in targets}
    clusters = [each.name for each in targets]
    if expected.is_absent and clusters:
        message = f"want it in no cluster, got {value_in_words(clusters)}"
        yield Mismatch(field=f"{path}.absent", message=message, got=WITHHELD)
    if found := [name for name in expected.not_in if name in clusters]:
        left = [name for name in expected.not_in if name not in clusters]
        yield Mismatch(field=f"{path}.notIn", message=f"want it not in {value_in_words(found)}, but it is", got=left)
    if expected.policy is not None and expected.policy != binding.policy:
        yield _mismatch_of_field(f"{path}.policy", expected.policy, binding.policy)
    if expected.clusters is not None and list(expected.clusters) != clusters:
        yield _mismatch_of_field(f"{path}.clusters", list(expected.clusters), clusters)
    if expected.replicas is not None and dict(expected.replicas) != replicas:
        yield _mismatch_of_field(f"{path}.replicas", dict(sorted(expected.replicas.items())), replicas)
    yield from _mismatches_of_message(path, expected, binding)


def _mismatches_of_message(path: str, expected: Expectation, binding: Binding) -> Iterator[Mismatch]:
    """Yield what differs in the Scheduled condition."""
    condition = next((each for each in binding.conditions if each.type == SCHEDULED), None)
    reason, message = (condition.reason, condition.message) if condition else ("", "")
    if expected.reason is not None and expected.reason != reason:
        yield _mismatch_of_field(f"{path}.reason", expected.reason, reason)
    if expected.message is not None and expected.message not in message:
        yield _mismatch_of_field(f"{path}.message", expected.message, message)
    pattern = expected.message_matches
    if pattern is not None and not matches_whole(pattern_of_partial_match(pattern), message):
        difference = f"want a match of {pattern}, got {value_in_words(message)}"
        yield Mismatch(field=f"{path}.messageMatches", message=difference, got=WITHHELD)


def _targets_of_object(binding: Binding, rendered: Rendered) -> list[TargetCluster]:
    """Return the targets of an object: its own, those of objects that require it, or those of a namespace's objects."""
    target_by_name: dict[str, TargetCluster] = {}
    required = (target for snapshot in binding.required_by for target in snapshot.clusters)
    for target in (*(TargetCluster(*each) for each in binding.target_replicas.items()), *required):
        target_by_name.setdefault(target.name, target)
    for template, works in rendered.namespaces:
        if template.ref == binding.ref:
            names, variants = rendered.built.index.names, works.variants
            mask = sum(variant.clusters for variant in variants)
            target_by_name |= {name: TargetCluster(name) for bit, name in enumerate(names) if mask >> bit & 1}
    return [target_by_name[name] for name in sorted(target_by_name)]


def _mismatch_of_field(field: str, want: Any, got: Any) -> Mismatch:
    return Mismatch(field=field, message=f"want {value_in_words(want)}, got {value_in_words(got)}", got=got)


def value_in_words(value: Any) -> str:
    """Return an expectation's value on one line.

    >>> value_in_words(["a", "b"]), value_in_words({"a": 1}), value_in_words([]), value_in_words("")
    ('a b', 'a:1', 'nothing', 'nothing')
    """
    if isinstance(value, dict):
        value = [f"{key}:{item}" for key, item in value.items()]
    return (" ".join(value) if isinstance(value, list) else str(value)) or "nothing"


def _mismatches_of_refusals(path: str, expected: Expectation, rendered: Rendered) -> Iterator[Mismatch]:
    if not expected.refused:
        return
    explained = next(rendered.built.schedule.explanations({expected.ref}), None)
    filters: dict[str, list[str]] = {}
    for attempt in explained.attempts if explained else ():
        for each in attempt.rejected:
            filters.setdefault(each.cluster, []).extend(plugin for plugin, _ in each.reasons)
    for cluster, plugin in expected.refused.items():
        refusing = filters.get(cluster, [])
        if plugin not in refusing:
            got = refusing[0] if refusing else ""
            yield Mismatch(
                field=f"{path}.refused.{cluster}",
                message=f"want {plugin} to refuse it, got {value_in_words(list(dict.fromkeys(refusing)))}",
                got=got,
            )


class Coverage(Struct, frozen=True, kw_only=True):
    """The number of propagation policies and override rules, and those that decided about nothing a test expects."""

    policies: int
    rules: int
    idle_policies: tuple[str, ...]
    idle_rules: tuple[tuple[str, str], ...]


def coverage_of(trials: Sequence[Trial], desired: Desired) -> Coverage:
    """Return the coverage: idle policies claimed none of the expected objects, idle rules applied to none."""
    policies = sorted(map(str, desired.policies))
    rules = sorted((str(policy), rule.path) for policy in desired.override_policies for rule in policy.rules)
    used_policies, used_rules = (
        _union_of_sets(each.policies for each in trials),
        _union_of_sets(each.rules for each in trials),
    )
    return Coverage(
        policies=len(policies),
        rules=len(rules),
        idle_policies=tuple(each for each in policies if each not in used_policies),
        idle_rules=tuple(each for each in rules if each not in used_rules),
    )


def _union_of_sets(sets: Iterable[frozenset[object]]) -> set[object]:
    return {each for each_set in sets for each in each_set}
