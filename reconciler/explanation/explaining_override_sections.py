"""What override policies change as sections: in one object, or by one policy."""

from collections.abc import Iterable, Iterator

from overrides.explanation import RuleEffect
from render.words import counted

from .explaining_override_policy import AffectedObject, OverridePolicyExplanation
from .explaining_overrides import OverriddenClusters
from .sections import DITTO, Section, section


def overrides_section(overrides: Iterable[OverriddenClusters]) -> Section:
    """Return what override policies change in an object."""
    rows = [row for each in overrides for row in _override_rows(each)]
    return section("Overrides, in the order they apply", ("CLUSTERS", "RULE", "CHANGE"), rows)


def _override_rows(each: OverriddenClusters) -> Iterator[tuple[str, str, str]]:
    """Yield a row per change; what repeats the row above is said once."""
    clusters = " ".join(each.clusters)
    for step in each.steps:
        rule = f"{step.applied.policy} {step.applied.rule}"
        for change in _changes(step):
            yield clusters, rule, change
            clusters = rule = DITTO


def _changes(step: RuleEffect) -> tuple[str, ...]:
    if step.error is not None:
        return (f"could not be applied: {step.error}",)
    return tuple(map(str, step.changes)) or ("changes nothing",)


def override_policy_sections(found: OverridePolicyExplanation) -> Iterator[Section]:
    """Yield what an override policy selects, which clusters its rules are for, and what they change."""
    changed = [each for each in found.objects if each.classes]
    idle = [each for each in found.objects if not each.classes]
    what = f"It selects {counted(len(found.objects), 'object')} and is applied to {len(changed)}."
    yield Section(title=f"{found.policy} ({found.path})", before=(what,))
    selectors = [(each.selector, str(each.objects)) for each in found.selectors]
    scope = () if selectors else ("It has none, and so selects every object in its scope.",)
    yield section("Its selectors", ("SELECTOR", "OBJECTS"), selectors, before=scope)
    rules = [(each.rule, " ".join(each.clusters)) for each in found.rules]
    yield section("Its rules", ("RULE", "CLUSTERS"), rules)
    if changed:
        rows = [row for each in changed for row in _object_rows(each)]
        yield section("It is applied to", ("OBJECT", "CLUSTERS", "RULE", "CHANGE"), rows)
    if idle:
        rows_idle = [(str(each.ref), each.why) for each in idle]
        yield section("It selects, but is not applied to", ("OBJECT", "WHY"), rows_idle)


def _object_rows(each: AffectedObject) -> Iterator[tuple[str, str, str, str]]:
    name = str(each.ref)
    for found in each.classes:
        for clusters, rule, change in _override_rows(found):
            yield name, clusters, rule if rule == DITTO else rule.rpartition(" ")[2], change
            name = DITTO
