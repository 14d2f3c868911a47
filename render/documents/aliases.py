"""Anchors and aliases of one document: the meaning of an alias, and the bound on their expansion.

Aliased containers are shared, never copied, so a "billion laughs" costs nothing here. It is refused because every
later walk over the value would pay. The bound is kubectl's: few aliases in a small document, none that expand it 100
times.
"""

from typing import Any

from msgspec import Struct

from .document import MAX_ALIASED, MAX_DEPTH, UnusableDocument

_OPEN = object()
_TOO_MUCH = "aliases that expand beyond all measure"


class Anchor(Struct):
    """A named node: its value once it is complete. A scalar is kept as resolved, before JSON."""

    name: str
    value: Any = _OPEN


class _Measure(Struct, frozen=True):
    """A container's nodes with all aliases expanded, its own nodes, and its height."""

    size: int
    own: int
    height: int


class Anchors:
    """The anchors of a document, by name; the last one opened with a name is the one an alias means."""

    def __init__(self) -> None:
        self.by_name: dict[str, Anchor] = {}
        self.measures: dict[int, _Measure] = {}
        self.used = 0
        self.merged = 0

    def register_anchor(self, name: str) -> Anchor:
        """Register an anchor whose node starts here; its value is set when the node is complete."""
        anchor = self.by_name[name] = Anchor(name)
        return anchor

    def value_of_alias(self, name: str, *, depth: int) -> Any:
        """Return the value of an alias that stands at this depth of the document."""
        anchor = self.by_name.get(name)
        if anchor is None:
            # A value that begins with a star may be a password somebody forgot to quote: no name is repeated.
            raise UnusableDocument(
                "alias of an unknown anchor",
                "anchors are known only within their document; put text that starts with '*' in quotes",
            )
        if anchor.value is _OPEN:
            raise UnusableDocument("an anchor that contains itself")
        self.used += 1
        if (
            isinstance(anchor.value, (dict, list))
            and depth + self.measure_of_container(anchor.value).height > MAX_DEPTH
        ):
            raise UnusableDocument(f"nested deeper than {MAX_DEPTH} levels")
        return anchor.value

    def counted_merge(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return a merged mapping after counting it."""
        self.merged += len(value)
        if self.merged > MAX_ALIASED:
            raise UnusableDocument(_TOO_MUCH)
        return value

    def check_share_of_aliases(self, value: Any) -> None:
        """Refuse a finished document most of which comes from aliases."""
        if not self.used or not isinstance(value, (dict, list)):
            return
        size = self.measure_of_container(value).size + self.used
        aliased = size - self.used - sum(measure.own for measure in self.measures.values())
        # go-yaml's own bounds, so that a file kubectl reads is not refused here.
        if aliased > MAX_ALIASED or (size > 1000 and aliased > 0.99 * size):
            raise UnusableDocument(_TOO_MUCH)

    def measure_of_container(self, value: dict[str, Any] | list[Any]) -> _Measure:
        """Return the measure of a container; shared ones are measured once."""
        known = self.measures.get(id(value))
        if known is not None:
            return known
        children = value.values() if isinstance(value, dict) else value
        inner = [self.measure_of_container(child) for child in children if isinstance(child, (dict, list))]
        own = 1 + len(value) - len(inner) + (len(value) if isinstance(value, dict) else 0)
        size = own + sum(measure.size for measure in inner)
        height = 1 + max((measure.height for measure in inner), default=0)
        self.measures[id(value)] = _Measure(size, own, height)
        return self.measures[id(value)]
