"""Explanations as sections: of an object, a cluster, a policy and an override policy."""

from collections.abc import Container, Iterable, Iterator

from overrides.explanation import RuleEffect
from reconciler.console.cluster_lists import OVERRIDDEN, OVERRIDDEN_NOTE, shortened_cluster_list
from reconciler.console.table_layout import DITTO
from reconciler.console.text import Section, section_with_table
from render.model import TargetCluster
from render.scheduling.filters.unmet import Unmet
from render.words import counted_noun

from .cluster import AbsentObject, ClusterExplanation, ClusterObject
from .decision import DecisionView, decision_sections
from .divisions import layers_in_words
from .object import ExplainedComponent, Kept, ObjectExplanation, PolicyVerdict
from .overrides import OverriddenClusters
from .policies import AffectedObject, OverridePolicyExplanation, PolicyExplanation, SelectedObject


def object_sections(explanation: ObjectExplanation, *, cluster: str = "", seats: bool = False) -> Iterator[Section]:
    """Yield the sections of an object, or those that concern one cluster; ``seats``: divisions seat by seat."""
    built = f", from {explanation.origin}" if explanation.origin else ""
    where = f" ({explanation.path}{built})" if explanation.path else ""
    yield Section(
        title=f"{explanation.ref}{where}",
        before=(
            f"{explanation.verdict[:1].upper()}{explanation.verdict[1:]}.",
            *_outcome_lines(explanation, cluster),
            *(f"Its kind is interpreted by {each}." for each in explanation.interpreters),
            *filter(None, [layers_in_words(explanation.layers)]),
        ),
    )
    yield from _sections_before_decision(explanation)
    if explanation.decision is not None:
        since = (
            f"in rendered commit {explanation.decided_in[:12]}, source {explanation.decided_from[:12]}; kept since then"
        )
        before = (f"Decided {since}.",) if explanation.decided_in else ()
        view = DecisionView(
            cluster=cluster,
            seats=seats,
            before=before,
            facts=explanation.facts,
            left=explanation.left,
            counts_sets=bool(explanation.components),
        )
        yield from decision_sections(explanation.decision, explanation.rooms, view)
    overrides = [each for each in explanation.overrides if not cluster or cluster in each.clusters]
    if overrides:
        yield overrides_section(overrides)
    kept = [each for each in explanation.kept if not cluster or cluster in each.clusters]
    if kept:
        yield _kept_section(kept)


def _sections_before_decision(explanation: ObjectExplanation) -> Iterator[Section]:
    if explanation.policies:
        yield _policies_section(explanation.policies)
    if explanation.components:
        yield _components_section(explanation.components)
    if explanation.undivided:
        yield _section_of_undivided_objects(explanation.undivided)
    if explanation.unmet:
        yield _unmet_section(explanation.unmet)
    if explanation.required_by:
        yield _required_section(explanation)


def _section_of_undivided_objects(undivided: Iterable[Unmet]) -> Section:
    """Return the section of what each cluster gets whole, in sentences, which are too long for a table."""
    lines = []
    for each in undivided:
        sentence = f"{each.field}: {each.message}" if each.field else f"{each.message[:1].upper()}{each.message[1:]}"
        lines += [f"{sentence}.", f"  hint: {each.hint}"]
    return Section(title="What is not divided", before=tuple(lines))


def _components_section(components: Iterable[ExplainedComponent]) -> Section:
    rows = [
        (each.name, str(each.replicas), ", ".join(f"{name} {amount}" for name, amount in each.requests.items()))
        for each in components
    ]
    before = ("They are not divided: each cluster that is chosen runs all of them.",)
    return section_with_table("Components", ("COMPONENT", "REPLICAS", "REQUESTS OF EACH"), rows, before=before)


def _outcome_lines(explanation: ObjectExplanation, cluster: str) -> Iterator[str]:
    targets = [each for each in explanation.targets if cluster in {"", each.name}]
    own = {each.name for each in targets}
    required = sorted({each.name for binding in explanation.required_by for each in binding.clusters} - own)
    required = [name for name in required if cluster in {"", name}]
    if required:
        yield f"It is propagated to {shortened_cluster_list(required, ', ')} with what requires it."
    elif not targets:
        asked = "asks for 0 replicas and " if explanation.replicas == 0 else ""
        yield f"It {asked}does not go to {cluster}." if cluster else f"It {asked}goes nowhere."
    if targets:
        names = shortened_cluster_list([_target_in_words(each, explanation.overridden, " ") for each in targets], ", ")
        asked = "" if explanation.replicas is None else f"asks for {counted_noun(explanation.replicas, 'replica')} and "
        yield f"It {asked}goes to {names}."
        yield from _note_explaining_mark(own.intersection(explanation.overridden))
    yield from (f"It is {message}." for message in explanation.pending)
    yield from (f"{words}." for words in (*explanation.joined_later, *explanation.refused_before))
    if explanation.scaled:
        yield f"{explanation.scaled}."
    if explanation.descheduled:
        yield f"{explanation.descheduled}."
    if explanation.moved:
        yield f"{explanation.moved}."
    if explanation.waits:
        yield f"By itself: {explanation.waits}."


def _policies_section(policies: Iterable[PolicyVerdict]) -> Section:
    rows = [
        (each.policy, "claims it" if each.holds else "lost", each.selects_by, str(each.priority), each.why, each.path)
        for each in policies
    ]
    return section_with_table("Policies that select it", ("POLICY", "VERDICT", "BY", "PRIORITY", "WHY", "FILE"), rows)


def _unmet_section(unmet: Iterable[Unmet]) -> Section:
    rows = [(each.field, each.message, each.hint) for each in unmet]
    return section_with_table("What the placement asks for in vain", ("FIELD", "WHY", "HINT"), rows)


def _required_section(explanation: ObjectExplanation) -> Section:
    rows = [
        (f"{each.namespace}/{each.name}", shortened_cluster_list([target.name for target in each.clusters]))
        for each in explanation.required_by
    ]
    return section_with_table("Required by", ("BINDING", "CLUSTERS"), rows)


def _kept_section(kept: Iterable[Kept]) -> Section:
    rows = [(shortened_cluster_list(each.clusters), each.reason, each.message) for each in kept]
    return section_with_table("Kept as an earlier commit had it", ("CLUSTERS", "REASON", "MESSAGE"), rows)


def overrides_section(overrides: Iterable[OverriddenClusters]) -> Section:
    """Return the section of the changes that override policies make to an object."""
    rows = [row for each in overrides for row in _override_rows(each)]
    return section_with_table("Overrides, in the order they apply", ("CLUSTERS", "RULE", "CHANGE"), rows)


def _override_rows(each: OverriddenClusters) -> Iterator[tuple[str, str, str]]:
    """Yield a row per change, with a ditto for a cell that repeats the one above."""
    clusters = shortened_cluster_list(each.clusters)
    for step in each.steps:
        rule = f"{step.applied.policy} {step.applied.rule}"
        for change in _changes_in_words(step):
            yield clusters, rule, change
            clusters = rule = DITTO


def _changes_in_words(step: RuleEffect) -> tuple[str, ...]:
    if step.error is not None:
        return (f"could not be applied: {step.error}",)
    return tuple(map(str, step.changes)) or ("changes nothing",)


def override_policy_sections(explanation: OverridePolicyExplanation) -> Iterator[Section]:
    """Yield the sections of an override policy: its selectors, the clusters of its rules, and their changes."""
    changed = [each for each in explanation.objects if each.classes]
    idle = [each for each in explanation.objects if not each.classes]
    summary = f"It selects {counted_noun(len(explanation.objects), 'object')} and is applied to {len(changed)}."
    yield Section(title=f"{explanation.policy} ({explanation.path})", before=(summary,))
    selectors = [(each.selector, str(each.objects)) for each in explanation.selectors]
    scope = () if selectors else ("It has none, and so selects every object in its scope.",)
    yield section_with_table("Its selectors", ("SELECTOR", "OBJECTS"), selectors, before=scope)
    rules = [(each.rule, shortened_cluster_list(each.clusters)) for each in explanation.rules]
    yield section_with_table("Its rules", ("RULE", "CLUSTERS"), rules)
    if changed:
        rows = [row for each in changed for row in _object_rows(each)]
        yield section_with_table("It is applied to", ("OBJECT", "CLUSTERS", "RULE", "CHANGE"), rows)
    if idle:
        rows_idle = [(str(each.ref), each.why) for each in idle]
        yield section_with_table("It selects, but is not applied to", ("OBJECT", "WHY"), rows_idle)


def _object_rows(each: AffectedObject) -> Iterator[tuple[str, str, str, str]]:
    name = str(each.ref)
    for overridden in each.classes:
        for clusters, rule, change in _override_rows(overridden):
            yield name, clusters, rule if rule == DITTO else rule.rpartition(" ")[2], change
            name = DITTO


def cluster_sections(explanation: ClusterExplanation) -> Iterator[Section]:
    """Yield the sections of a cluster: its traits, its capacity, the objects it holds and those it does not."""
    where = f" ({explanation.path})" if explanation.path else ""
    yield Section(
        title=f"Cluster {explanation.name}{where}",
        before=(*_traits_of_cluster(explanation), f"It holds {counted_noun(len(explanation.held), 'object')}."),
    )
    if explanation.capacity:
        header = ("RESOURCE", "ALLOCATABLE", "ALLOCATED", "ALLOCATING", "RESERVED")
        rows = [
            (each.resource, each.allocatable, each.allocated, each.allocating, each.reserved)
            for each in explanation.capacity
        ]
        yield section_with_table(f"Capacity, {explanation.origin}", header, rows)
    if explanation.grades:
        grades = [
            (str(each.grade), str(each.nodes), ", ".join(f"{name} {amount}" for name, amount in each.least.items()))
            for each in explanation.grades
        ]
        yield section_with_table("Resource model", ("GRADE", "NODES", "EACH HAS AT LEAST"), grades, before=(_BY_MODEL,))
    if explanation.held:
        held = [(str(each.ref), _replicas_cell(each), each.why) for each in explanation.held]
        note = _note_explaining_mark(each.overridden for each in explanation.held)
        yield section_with_table("It holds", ("OBJECT", "REPLICAS", "WHY"), held, before=note)
    if explanation.absent:
        absent = [row for each in explanation.absent for row in _rows_of_absent_object(each)]
        yield section_with_table("It does not hold", ("OBJECT", "FILTER", "REASON"), absent)


_BY_MODEL = "What fits is counted node by node, and of a node only the least of its grade counts (spec.resourceModels)."


def _replicas_cell(each: ClusterObject) -> str:
    """Return the replicas of an object, nothing where it has none; those that an override sets are marked, 0 too."""
    return f"{each.replicas}{OVERRIDDEN}" if each.overridden else str(each.replicas or "")


def _traits_of_cluster(explanation: ClusterExplanation) -> Iterator[str]:
    located = {"region": explanation.region, "zones": " ".join(explanation.zones), "provider": explanation.provider}
    parts = [f"{key} {value}" for key, value in located.items() if value]
    parts += [f"label {key}={value}" for key, value in sorted(explanation.labels.items())]
    if parts:
        yield f"{', '.join(parts)}."
    if explanation.former_names:
        names = ", ".join(reversed(explanation.former_names))
        yield f"Renamed from {names}: it is the same cluster, so nothing moves by that."
    if explanation.taints:
        yield f"Taints: {', '.join(explanation.taints)}."
    if explanation.served is None:
        yield "No APIs of it are recorded."
    if not explanation.capacity:
        yield "No capacity is known."


def _rows_of_absent_object(each: AbsentObject) -> Iterator[tuple[str, str, str]]:
    name = str(each.ref)
    for plugin, reason in each.refused or (("", each.why),):
        yield name, plugin, reason
        name = DITTO


def policy_sections(explanation: PolicyExplanation) -> Iterator[Section]:
    """Yield the sections of a policy: the objects it selects, claims and loses."""
    claimed = [each for each in explanation.objects if each.holds]
    lost = [each for each in explanation.objects if not each.holds]
    yield Section(
        title=f"{explanation.policy} ({explanation.path})",
        before=(
            f"Priority {explanation.priority}, preemption {explanation.preemption}.",
            (
                f"It selects {counted_noun(len(explanation.objects), 'object')}, claims {len(claimed)} and"
                f" loses {len(lost)}."
            ),
        ),
    )
    selectors = [(each.selector, str(each.objects)) for each in explanation.selectors]
    yield section_with_table("Its selectors", ("SELECTOR", "OBJECTS"), selectors)
    if explanation.unmet:
        yield _unmet_section(explanation.unmet)
    if claimed:
        rows = [(str(each.ref), each.selects_by, shortened_cluster_list(_targets_in_words(each))) for each in claimed]
        note = _note_explaining_mark(each.overridden for each in claimed)
        yield section_with_table("It claims", ("OBJECT", "BY", "CLUSTERS"), rows, before=note)
    if lost:
        rows_lost = [(str(each.ref), each.selects_by, each.holder, each.why) for each in lost]
        yield section_with_table("It selects, but does not claim", ("OBJECT", "BY", "CLAIMED BY", "WHY"), rows_lost)


def _targets_in_words(each: SelectedObject) -> list[str]:
    return [_target_in_words(target, each.overridden, ":") for target in each.targets]


def _target_in_words(target: TargetCluster, overridden: Container[str], separator: str) -> str:
    """Return a cluster with its replicas, if it has any; those that an override sets are marked, 0 too."""
    if target.name in overridden:
        return f"{target.name}{separator}{target.replicas}{OVERRIDDEN}"
    return f"{target.name}{separator}{target.replicas}" if target.replicas else target.name


def _note_explaining_mark(marked: Iterable[object]) -> tuple[str, ...]:
    """Return the sentence that tells what the mark means, where something is marked."""
    return (f"{OVERRIDDEN_NOTE}.",) if any(marked) else ()
