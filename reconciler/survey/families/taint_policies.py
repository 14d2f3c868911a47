"""ClusterTaintPolicies: which clusters get which taints, and while which conditions match."""

from collections.abc import Iterable, Iterator

from reconciler.survey.surveying import Survey
from render.cluster_index import ClusterIndex
from render.policy import ClusterTaintPolicy, MatchCondition

from .other_policy import OtherPolicy, PolicyFamily, affinity_in_words

_KIND = "ClusterTaintPolicy"


def _found_policies(survey: Survey) -> Iterator[OtherPolicy]:
    desired = survey.branches.fleet.source.desired
    index = ClusterIndex(desired.clusters) if desired.taint_policies else None
    for policy in desired.taint_policies:
        assert index is not None
        mask = index.all if policy.targets is None else index.clusters_matching_affinity(policy.targets)
        yield OtherPolicy(
            kind=_KIND,
            name=policy.name,
            path=policy.path,
            selectors=(affinity_in_words(policy.targets),),
            does=tuple(_sentences_about_policy(policy)),
            clusters=tuple(index.names[each] for each in index.indexes_in_mask(mask)),
        )


def _sentences_about_policy(policy: ClusterTaintPolicy) -> Iterator[str]:
    taints = ", ".join(map(str, policy.taints))
    if policy.add_on:
        yield f"adds {taints} while {_conditions_in_words(policy.add_on)}"
    if policy.remove_on:
        yield f"takes {taints} away while {_conditions_in_words(policy.remove_on)}"


def _conditions_in_words(conditions: Iterable[MatchCondition]) -> str:
    return " and ".join(
        f"{each.condition_type} is {'not ' if each.operator == 'NotIn' else ''}{' or '.join(each.status_values)}"
        for each in conditions
    )


TAINTS = PolicyFamily(kinds=(_KIND,), found=_found_policies)
