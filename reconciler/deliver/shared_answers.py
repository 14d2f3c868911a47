"""The objects of many members as a pass keeps them until it has recorded all: equal parts of them are one value.

What a thousand members answered is kept until the end, for each report says how its objects are. Objects of one
template have most in common: what they ask for, their labels, who owns which field, and mostly their status. A part
that has the same JSON as one before it takes that one's place, so that no value is another than it was.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from msgspec.json import encode
from msgspec.structs import replace

from render.model import Manifest

from .results import ClusterReport

MANY = 64
"""The members of whose objects so much is kept that it is worth looking what they have in common."""


class SharedAnswers:
    """The parts of objects that were seen so far, by digests of their JSON, from all threads of an apply."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}
        self._owners: dict[bytes, dict[str, Any]] = {}

    def shared_report(self, report: ClusterReport) -> ClusterReport:
        """Return a report that is equal to another, and has parts in common with those before it."""
        known: dict[int, Manifest] = {}

        def shared(live: Manifest | None) -> Manifest | None:
            """Return an object of the report, of which each is in several of its places."""
            if live is None:
                return None
            if id(live) not in known:
                known[id(live)] = self.shared_object(live)
            return known[id(live)]

        observed, plan, applied = report.observed, report.plan, report.applied
        if observed is not None:
            live = {ref: known.setdefault(id(each), self.shared_object(each)) for ref, each in observed.live.items()}
            observed = replace(observed, live=live)
        if plan is not None:
            plan = replace(plan, objects=tuple(replace(item, live=shared(item.live)) for item in plan.objects))
        if applied is not None:
            results = (replace(item, live=shared(item.live)) for item in applied.results)
            applied = replace(applied, results=tuple(results))
        return replace(report, observed=observed, plan=plan, applied=applied)

    def shared_object(self, live: Manifest) -> Manifest:
        """Return an object with parts of those before it; one whose values are concealed, or no JSON, stays itself."""
        if type(live) is not dict:
            return live
        try:
            return {
                name: self._shared_metadata(each) if name == "metadata" else self._shared_part(each)
                for name, each in live.items()
            }
        except (TypeError, ValueError, OverflowError):
            return live

    def _shared_metadata(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: [self._shared_owner(owner) for owner in each] if name == "managedFields" else self._shared_part(each)
            for name, each in metadata.items()
        }

    def _shared_owner(self, owner: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an entry of managed fields: many own the same fields, and fewer have also written at the same time."""
        shared = {name: self._shared_part(each) for name, each in owner.items()}
        named = [(name, id(each) if isinstance(each, dict | list) else each) for name, each in shared.items()]
        return self._owners.setdefault(encode(named), shared)

    def _shared_part(self, value: Any) -> Any:
        if not isinstance(value, dict | list):
            return value
        return self._known.setdefault(sha256(encode(value)).digest(), value)
