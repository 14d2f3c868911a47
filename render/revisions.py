"""The revisions of a template: the numbers of its target clusters, written into it or left open as holes.

A kind whose replicas are a field of its own gets a *hole* there, filled in later; one whose revision is a script is
revised once for each distinct number. A document that SOPS encrypted is revised where its signature allows it, and
fails in its clusters where not: numbers that no cluster gets are never said to be there.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from .binding import Binding
from .bits import Mask
from .documents import Hole, copy_value
from .interpreter import Interpreter, InterpreterError, Operation
from .model import Manifest, Template, TemplateVariant, ciphertext_of_sops_document, is_signed_whole_by_sops

REPLICAS = "replicas"
COMPLETIONS = "completions"


class Target(NamedTuple):
    """A set of clusters with the same numbers: replicas, and completions where they are divided (-1: not)."""

    clusters: Mask
    replicas: int
    completions: int


class VariantRun(NamedTuple):
    """The record of a template that is another one in some clusters: that of an override's rule before all others."""

    applied: object
    before: Manifest
    after: Manifest
    place: int = -1


class WorkFailure(Struct, frozen=True, kw_only=True):
    """Clusters in which an object could not be built, and the error of an override or the interpreter."""

    clusters: Mask
    error: Exception


class BuildFailed(Exception):
    """A tool could not make a manifest for some clusters; the message says which and of what."""


def clusters_of_all_targets(targets: Sequence[Target]) -> Mask:
    """Return the clusters of all groups."""
    clusters = 0
    for target in targets:
        clusters |= target.clusters
    return clusters


class Revised(NamedTuple):
    """A manifest to override in some clusters; ``is_left_out``: without the replicas that nobody wrote."""

    clusters: Mask
    manifest: Manifest
    is_left_out: bool = False
    runs: tuple[VariantRun, ...] = ()


class RevisionContext(NamedTuple):
    """The context in which templates are revised: the interpreter, and the clusters with given names."""

    interpreter: Interpreter
    named: Callable[[Iterable[str]], Mask]


def revised_variants(
    template: Template, binding: Binding, targets: Sequence[Target], context: RevisionContext
) -> Iterator[Revised | WorkFailure]:
    """Yield a template as it is to be overridden, in the clusters of each variant and in all others."""
    interpreter = context.interpreter
    others = clusters_of_all_targets(targets)
    for variant in template.variants:
        clusters = context.named(variant.clusters) & others
        others &= ~clusters
        if clusters and variant.error:
            yield WorkFailure(clusters=clusters, error=BuildFailed(variant.error))
        elif clusters and variant.manifest is not None:
            yield from _revised_variant(template, variant, binding, _targets_among(targets, clusters), interpreter)
    if others or not template.variants:
        is_left_out = template.has_default_replicas and not binding.is_divided
        for each in _revisions_of_manifest(template.manifest, binding, _targets_among(targets, others), interpreter):
            yield each if isinstance(each, WorkFailure) else each._replace(is_left_out=is_left_out)


def _revised_variant(
    template: Template,
    variant: TemplateVariant,
    binding: Binding,
    targets: Sequence[Target],
    interpreter: Interpreter,
) -> Iterator[Revised | WorkFailure]:
    """Yield a variant; where the policy divides nothing, the replicas it has itself are those of its clusters."""
    assert variant.manifest is not None
    if not binding.is_divided:
        manifest, every = _manifest_with_completions_hole(variant.manifest, targets), clusters_of_all_targets(targets)
        if variant.has_default_replicas:
            manifest = _manifest_with_hole(manifest, ("spec", REPLICAS), REPLICAS)
        run = VariantRun(variant.rule, template.manifest, variant.manifest)
        yield Revised(every, manifest, variant.has_default_replicas, (run,))
        return
    revised = _revisions_of_manifest(template.manifest, binding, targets, interpreter)
    before = {each.clusters: each.manifest for each in revised if isinstance(each, Revised)}
    for each in _revisions_of_manifest(variant.manifest, binding, targets, interpreter):
        if isinstance(each, WorkFailure):
            yield each
        else:
            run = VariantRun(variant.rule, before.get(each.clusters, template.manifest), each.manifest)
            yield each._replace(runs=(run,))


def _targets_among(targets: Sequence[Target], clusters: Mask) -> Sequence[Target]:
    """Return the groups of targets as far as they are among some clusters."""
    if not clusters_of_all_targets(targets) & ~clusters:
        return targets
    return [each._replace(clusters=each.clusters & clusters) for each in targets if each.clusters & clusters]


def _revisions_of_manifest(
    manifest: Manifest, binding: Binding, targets: Sequence[Target], interpreter: Interpreter
) -> list[Revised | WorkFailure]:
    """Return the manifest with holes where numbers can be filled in later, else once per number of replicas."""
    every = clusters_of_all_targets(targets)
    # Karmada would write the replicas of a target here, of which one that runs components has none: 0.
    is_whole = not binding.is_workload or bool(binding.components)
    if is_whole or not interpreter.has(Operation.REVISE_REPLICA, manifest):
        return [Revised(every, _manifest_with_completions_hole(manifest, targets))]
    path = interpreter.replica_field(manifest)
    if path is not None:
        return [Revised(every, _manifest_with_hole(_manifest_with_completions_hole(manifest, targets), path, REPLICAS))]
    clusters_by_replicas: dict[int, Mask] = {}
    for target in targets:
        clusters_by_replicas[target.replicas] = clusters_by_replicas.get(target.replicas, 0) | target.clusters
    revised = [
        _revised_with_replicas(manifest, replicas, mask, interpreter) for replicas, mask in clusters_by_replicas.items()
    ]
    # Completions become holes last, as Karmada sets them last: a script could not pass a hole on.
    return [
        each._replace(manifest=_manifest_with_completions_hole(each.manifest, targets))
        if isinstance(each, Revised)
        else each
        for each in revised
    ]


def _manifest_with_completions_hole(manifest: Manifest, targets: Sequence[Target]) -> Manifest:
    is_divided = any(target.completions >= 0 for target in targets)
    return _manifest_with_hole(manifest, ("spec", "completions"), COMPLETIONS) if is_divided else manifest


def _revised_with_replicas(
    manifest: Manifest, replicas: int, clusters: Mask, interpreter: Interpreter
) -> Revised | WorkFailure:
    try:
        return Revised(clusters, interpreter.revise_replica(manifest, replicas))
    except InterpreterError as error:
        return WorkFailure(clusters=clusters, error=error)


def _manifest_with_hole(manifest: Manifest, path: Sequence[str], name: str) -> Manifest:
    """Return a copy with a hole in place of an integer at a path; without one nothing changes (Karmada's rule)."""
    copied: Any = copy_value(manifest)
    parent = copied
    for key in path[:-1]:
        parent = parent.get(key)
        if not isinstance(parent, dict):
            return copied  # type: ignore[no-any-return]  # copy_value keeps the shape of a manifest
    if type(parent.get(path[-1])) is int:
        parent[path[-1]] = Hole(name)
    return copied  # type: ignore[no-any-return]  # as above


def opaque_revisions(
    template: Template, revisions: Iterable[Revised | WorkFailure], targets: Sequence[Target]
) -> list[Revised | WorkFailure]:
    """Return the revisions of a document that SOPS encrypted with the numbers of its clusters filled in.

    They fail in clusters whose numbers the signature does not let be written.
    """
    found: list[Revised | WorkFailure] = []
    for each in revisions:
        if isinstance(each, WorkFailure):
            found.append(each)
            continue
        found += (
            _opaque_revision(template.manifest, each, target) for target in _targets_among(targets, each.clusters)
        )
    return found


def _opaque_revision(given: Manifest, revised: Revised, target: Target) -> Revised | WorkFailure:
    manifest = _value_with_numbers_in_holes(revised.manifest, target)
    if manifest == given:
        return revised._replace(clusters=target.clusters, manifest=given)
    if is_signed_whole_by_sops(given) or ciphertext_of_sops_document(manifest) != ciphertext_of_sops_document(given):
        return WorkFailure(
            clusters=target.clusters, error=InterpreterError(_reason_numbers_are_unwritable(given, target))
        )
    return revised._replace(clusters=target.clusters, manifest=manifest)


def _reason_numbers_are_unwritable(manifest: Manifest, target: Target) -> str:
    """Return why the numbers of a cluster are not written into a document that SOPS encrypted."""
    numbers = f"{target.replicas} replicas" + (
        f" and {target.completions} completions" if target.completions > 0 else ""
    )
    if is_signed_whole_by_sops(manifest):
        return f"SOPS signed all of it, so that {numbers} cannot be written: encrypt it with mac_only_encrypted: true"
    return f"{numbers} cannot be written without a change of what SOPS encrypted"


def _value_with_numbers_in_holes(value: Any, target: Target) -> Any:
    """Return data with the numbers of a cluster in the place of holes."""
    if isinstance(value, Hole):
        return number_for_hole(target, value.name)
    if isinstance(value, dict):
        return {key: _value_with_numbers_in_holes(inner, target) for key, inner in value.items()}
    return [_value_with_numbers_in_holes(inner, target) for inner in value] if isinstance(value, list) else value


def json_in_signed_order(manifest: Manifest) -> bytes:
    """Return a manifest as JSON, whose fields keep the order that SOPS signed them in."""
    return f"{json.dumps(manifest, ensure_ascii=False, indent=2)}\n".encode("utf-8", "surrogatepass")


def number_for_hole(target: Target, hole: str) -> int:
    """Return the number of a cluster that goes into a hole."""
    return target.replicas if hole == REPLICAS else target.completions
