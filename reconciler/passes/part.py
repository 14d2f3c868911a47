"""The part of a fleet that a pass looks at, when all else is known to stay as the previous commit has it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from render.binding import Binding
from render.model import ObjectRef

from .frontpage import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The objects to look at; what the previous tree holds of all others stays.

    ``others`` are the bindings beside it where its own may compete with them for room, and ``tally`` is what the
    previous commit's front page counts.
    """

    refs: frozenset[ObjectRef]
    tally: Tally
    others: tuple[Binding, ...] = ()

    def with_refs(self, refs: Iterable[ObjectRef]) -> "Part":
        """Return the part with more objects in it."""
        more = self.refs.union(refs)
        return replace(self, refs=more, others=tuple(each for each in self.others if each.ref not in more))
