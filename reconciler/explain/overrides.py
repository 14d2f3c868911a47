"""The changes that values and override policies make to an object, by rule, in every class of its clusters, as values.

The object is built once more, watching what every rule does to it: for clusters that a rollout keeps at a
former version, to that one. A rule that changes a number which clusters get as their share of a division
appears once for each of those numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct

from overrides.changes import changes_of
from overrides.engine import Overridden, OverrideEngine
from overrides.explanation import RuleEffect, effects_of_rules
from overrides.record import AppliedRule
from reconciler.pipeline.pass_values import Built
from reconciler.pipeline.previous import Previous, parse_file_at_root
from reconciler.pipeline.rollouts.versions import ObjectVersion, index_with_attributes, parse_version, version_path
from reconciler.source.desired import Desired
from render.binding import Binding
from render.bits import Mask, indexes_of_mask
from render.documents import Hole
from render.model import Manifest, ObjectRef, Template
from render.revisions import REPLICAS, Target, VariantRun
from render.works import WorkContext, Works, render_works


class OverriddenClusters(Struct, frozen=True, kw_only=True):
    """A class of clusters to which the same override rules apply, and the changes of each rule, or its error."""

    clusters: tuple[str, ...]
    steps: tuple[RuleEffect, ...]
    error: str = ""


def overridden_clusters(
    template: Template, binding: Binding, desired: Desired, built: Built, previous: Previous | None = None
) -> Iterator[OverriddenClusters]:
    """Yield the changes overrides make to an object, class by class.

    Clusters that a rollout keeps at a former version, which ``previous`` has by value, are told what its own policies
    change; without it nothing is said of them.
    """
    if template.ref not in built.works:
        return
    former = clusters_by_former_version(binding, built)
    every = built.index.clusters_named(target for clusters in former.values() for target in clusters)
    newest = OverrideEngine(desired.override_policies, built.index)
    yield from _overridden_in_clusters(template, binding, newest, built, leaving_out=every)
    if previous is None:
        return
    for digest, clusters in former.items():
        version = recorded_version(previous, template.ref, digest)
        index = index_with_attributes(built.index, version.clusters)
        overrides = OverrideEngine(version.override_policies, index)
        others = built.index.clusters_named(set(built.index.names) - set(clusters))
        yield from _overridden_in_clusters(version.template, binding, overrides, built, leaving_out=others)


def clusters_by_former_version(binding: Binding, built: Built) -> Mapping[str, tuple[str, ...]]:
    """Return the clusters that a rollout keeps at other versions of an object than the newest, by version."""
    rollout = binding.rollout
    newest = {digest for ref, digest in built.rolled.contents if ref == binding.ref}
    if rollout is None or not newest:
        return {}
    found: dict[str, list[str]] = {}
    for name in sorted({each.name for each in binding.targets} - binding.clusters_before_delivery):
        version = rollout.version_by_cluster.get(name, rollout.completed)
        if version not in newest:
            found.setdefault(version, []).append(name)
    return {version: tuple(names) for version, names in sorted(found.items())}


def recorded_version(previous: Previous, ref: ObjectRef, digest: str) -> ObjectVersion:
    """Return a version of an object as a rendered commit has it; GitError where it has none."""
    path, tree = version_path(ref, digest), previous.tree
    entry = tree.trees.entry(tree.root, path)
    content = tree.contents([entry.id])[entry.id] if entry is not None else b""
    return parse_file_at_root("/".join(path), content, parse_version)


def _overridden_in_clusters(
    template: Template, binding: Binding, overrides: OverrideEngine, built: Built, *, leaving_out: Mask
) -> Iterator[OverriddenClusters]:
    """Yield the changes that override policies make to a version of an object, class by class."""
    runs: list[tuple[Manifest, tuple[Overridden, ...]]] = []

    def recorded_overrides(manifest: Manifest, clusters: Mask) -> Sequence[Overridden]:
        overridden = overrides.override(manifest, clusters)
        runs.append((manifest, overridden))
        return overridden

    work = built.work_context
    context = WorkContext(targets=work.targets, interpreter=work.interpreter, override=recorded_overrides)
    works = render_works(template, binding, context)
    targets = work.targets.of(template.manifest, binding)
    for manifest, classes in runs:
        for each in classes:
            before = _effect_of_other_values(works, each.clusters & ~leaving_out)
            if before is None and not each.applied:
                continue
            for clusters, steps in _effects_by_clusters(manifest, each, targets):
                if not (there := clusters & ~leaving_out):
                    continue
                error = str(each.error) if each.error else ""
                made = (before, *steps) if before else steps
                yield OverriddenClusters(clusters=sorted_cluster_names(there, built), steps=made, error=error)


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
