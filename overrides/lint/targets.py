"""Rules that can match no cluster, and rules that rename."""

from collections.abc import Iterable, Iterator

from overrides.errors import LintFinding
from overrides.identity import MOVED, identity_field
from overrides.pointer import tokens_of
from overrides.policy import OverridePolicy, RuleWithCluster
from overrides.record import origin_of
from render.cluster_index import ClusterIndex
from render.scheduling.unmet_placements import unmet_affinity


def unmatched_targets(policies: Iterable[OverridePolicy], clusters: ClusterIndex) -> Iterator[LintFinding]:
    """Yield the rules whose target cluster is none of the clusters; without any clusters, none.

    Names that are all of no cluster are told of when the source is loaded.
    """
    for policy in policies:
        for rule in policy.rules:
            if rule.target_cluster is None or not clusters.clusters:
                continue
            for each in unmet_affinity(rule.target_cluster, clusters, f"{rule.path}.targetCluster"):
                yield LintFinding(origin=origin_of(policy), field=each.field, message=each.message, hint=each.hint)


def renames(policies: Iterable[OverridePolicy]) -> Iterator[LintFinding]:
    """Yield the edits of apiVersion, kind, namespace or name."""
    for policy in policies:
        for rule in policy.rules:
            for field, path in _edited_paths(rule):
                changed = identity_field(tokens_of(path) or ())
                if changed:
                    yield LintFinding(
                        origin=origin_of(policy),
                        field=f"{rule.path}.overriders.{field}",
                        message=f"changes {changed}, which is an error in every cluster it applies to",
                        hint=MOVED,
                    )


def _edited_paths(rule: RuleWithCluster) -> Iterator[tuple[str, str]]:
    for index, image in enumerate(rule.overriders.image):
        yield f"imageOverrider[{index}]", image.predicate or ""
    for index, field in enumerate(rule.overriders.field):
        yield f"fieldOverrider[{index}]", field.field_path
    for index, operation in enumerate(rule.overriders.plaintext):
        yield f"plaintext[{index}]", operation.path
