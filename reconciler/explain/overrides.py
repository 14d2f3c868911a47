"""The changes that values and override policies make to an object, by rule, in every class of its clusters, as values.

The object is built once more, watching what every rule does to it. A rule that changes a number which clusters get as
their share of a division appears once for each of those numbers.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from msgspec import Struct

from overrides.changes import changes_of
from overrides.engine import Overridden, OverrideEngine
from overrides.explanation import RuleEffect, effects_of_rules
from overrides.record import AppliedRule
from reconciler.pipeline.pass_values import Built
from reconciler.source.desired import Desired
from render.binding import Binding
from render.bits import Mask, indexes_of_mask
from render.documents import Hole
from render.model import Manifest, Template
from render.revisions import REPLICAS, Target, VariantRun
from render.works import WorkContext, Works, render_works


class OverriddenClusters(Struct, frozen=True, kw_only=True):
    """A class of clusters to which the same override rules apply, and the changes of each rule, or its error."""

    clusters: tuple[str, ...]
    steps: tuple[RuleEffect, ...]
    error: str = ""


def overridden_clusters(
    template: Template, binding: Binding, desired: Desired, built: Built
) -> Iterator[OverriddenClusters]:
    """Yield the changes overrides make to an object, class by class."""
    if template.ref not in built.works:
        return
    override = OverrideEngine(desired.override_policies, built.index).override
    runs: list[tuple[Manifest, tuple[Overridden, ...]]] = []

    def recorded_overrides(manifest: Manifest, clusters: Mask) -> Sequence[Overridden]:
        overridden = override(manifest, clusters)
        runs.append((manifest, overridden))
        return overridden

    work = built.work_context
    context = WorkContext(targets=work.targets, interpreter=work.interpreter, override=recorded_overrides)
    works = render_works(template, binding, context)
    targets = work.targets.of(template.manifest, binding)
    for manifest, classes in runs:
        for each in classes:
            before = _effect_of_other_values(works, each.clusters)
            if before is None and not each.applied:
                continue
            for clusters, steps in _effects_by_clusters(manifest, each, targets):
                error = str(each.error) if each.error else ""
                made = (before, *steps) if before else steps
                yield OverriddenClusters(clusters=sorted_cluster_names(clusters, built), steps=made, error=error)


def _effect_of_other_values(works: Works, clusters: Mask) -> RuleEffect | None:
    """Return the changes that other values make of a template in some clusters, if they have others there."""
    contents = (content for content in works.contents if content.clusters & clusters)
    run = next((run for content in contents for run in content.runs if isinstance(run, VariantRun)), None)
    if run is None:
        return None
    return RuleEffect(applied=cast("AppliedRule", run.applied), changes=changes_of(run.before, run.after))


def _effects_by_clusters(
    manifest: Manifest, overridden: Overridden, targets: Sequence[Target]
) -> list[tuple[Mask, tuple[RuleEffect, ...]]]:
    """Return the effects of rules in a class, once for all of its clusters unless their numbers make them differ."""
    effects: list[tuple[Mask, tuple[RuleEffect, ...]]] = []
    for target in targets:
        if not (clusters := target.clusters & overridden.clusters):
            continue
        steps = effects_of_rules(_manifest_with_replicas_of_target(manifest, target), overridden.applied)
        same = next(
            (at for at, (_, others) in enumerate(effects) if _comparable_effects(others) == _comparable_effects(steps)),
            None,
        )
        if same is None:
            effects.append((clusters, steps))
        else:
            effects[same] = (effects[same][0] | clusters, steps)
    return effects


def _comparable_effects(steps: Sequence[RuleEffect]) -> list[tuple[object, str]]:
    return [(step.changes, str(step.error)) for step in steps]


def _manifest_with_replicas_of_target(value: Any, target: Target) -> Any:
    """Return a manifest with the numbers its clusters get."""
    if isinstance(value, dict):
        return {key: _manifest_with_replicas_of_target(item, target) for key, item in value.items()}
    if isinstance(value, list):
        return [_manifest_with_replicas_of_target(item, target) for item in value]
    if isinstance(value, Hole):
        return target.replicas if value.name == REPLICAS else target.completions
    return value


def sorted_cluster_names(clusters: Mask, built: Built) -> tuple[str, ...]:
    """Return the names of clusters, sorted."""
    return tuple(built.index.names[index] for index in indexes_of_mask(clusters))
