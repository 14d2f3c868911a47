"""Rules that Kubernetes enforces and that no schema states: uniqueness, ranges, names, and fields that go together.

Each rule is about the values of one definition, whose types are right already. A rule is only here if servers of every
version enforce it, and only about what people get wrong; servers enforce more.
"""

from collections.abc import Mapping

from .kinds import KIND_RULES
from .pods import POD_RULES
from .selectors import SELECTOR_RULES
from .texts import Rule
from .workloads import WORKLOAD_RULES

RULES: Mapping[str, Rule] = {**POD_RULES, **WORKLOAD_RULES, **KIND_RULES, **SELECTOR_RULES}
"""The rules by the name of the definition that they are about."""

__all__ = ["RULES", "Rule"]
