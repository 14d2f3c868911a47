"""Kyverno policies, in namespaces and without."""

from collections.abc import Mapping
from typing import Any

from render.interpretation.fields import count_at, mapping_at
from render.interpretation.operations import Interpretation, Items
from render.interpretation.statuses import statuses_by_cluster
from render.model import Manifest

from .common import (
    conditions_with_member_names,
    has_condition,
    last_value_of_each_field,
    merged_conditions,
    reported_fields,
)

RULES = ("validate", "generate", "mutate", "verifyimages")
REPORTED = ("autogen", "conditions", "ready", "rulecount")


def aggregated_policy(template: Manifest, items: Items) -> Any:
    """Count the rules of all members, merge their conditions, and take the last word about the rest."""
    counts = {
        rule: sum(count_at(status, "rulecount", rule) for _, status in statuses_by_cluster(items)) for rule in RULES
    }
    status = {
        **mapping_at(template, "status"),
        **last_value_of_each_field(items, ("ready", "autogen")),
        "rulecount": counts,
    }
    conditions = merged_conditions(conditions_with_member_names(items))
    return {**status, "conditions": conditions} if conditions else status


def reflect_policy(observed: Manifest) -> Any:
    """Report the fields of the status that are known."""
    return reported_fields(observed, REPORTED)


def is_policy_ready(observed: Manifest) -> bool:
    """Say whether the policy says that it is ready, itself or in a condition."""
    status = mapping_at(observed, "status")
    if status.get("ready") is not None:
        return status["ready"] is True
    return has_condition(status, "Ready", reasons=("Succeeded",))


POLICY = Interpretation(aggregate=aggregated_policy, reflect=reflect_policy, health=is_policy_ready)
KINDS: Mapping[tuple[str, str], Interpretation] = {
    ("kyverno.io/v1", "ClusterPolicy"): POLICY,
    ("kyverno.io/v1", "Policy"): POLICY,
}
"""The interpretation of each kind, by apiVersion and kind."""
