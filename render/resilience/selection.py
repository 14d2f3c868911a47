"""The resilience policies of each template. Every policy that selects it counts, whatever others ask for."""

from collections.abc import Iterable

from render.matching.selector_index import SelectorIndex
from render.model import Template

from .policy import ResiliencePolicy


class ResilienceIndex:
    """The resilience policies of a source, found by what their selectors ask for."""

    __slots__ = ("_index",)

    def __init__(self, policies: Iterable[ResiliencePolicy]) -> None:
        self._index = SelectorIndex(
            (policy.namespace, selector, policy) for policy in policies for selector in policy.resource_selectors
        )

    def policies_for_template(self, template: Template) -> tuple[ResiliencePolicy, ...]:
        """Return the policies that select a template, by name."""
        found = {
            id(entry.owner): entry.owner
            for met in self._index.selecting_entries_by_bucket(template)
            for entry in met.all_entries()
        }
        return tuple(sorted(found.values(), key=str))
