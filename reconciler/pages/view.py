"""A view: an address, the question that it answers, the template that shows the answer, and how that is found."""

from collections.abc import Callable, Mapping
from enum import StrEnum

from msgspec import Struct

from .look import Look, ViewAnswer


class ViewGroup(StrEnum):
    """The group of a view in the navigation; NONE for those that one reaches from others."""

    NOW = "Now"
    WHERE = "Where"
    WHEN = "Change"
    NONE = ""


class PageView(Struct, frozen=True, kw_only=True):
    """A view of the page.

    ``path`` is its address below the fleet, in which a part in braces stands for anything. ``question`` is its heading,
    in which such a part may stand as well. ``key`` is pressed after ``g`` to go there. ``under`` is the view of the
    navigation that it belongs to, where it has no place there of its own. ``is_of_now``: it has no past, for it names
    its commit itself; the past that somebody looks at goes along with its links.
    """

    name: str
    path: str
    question: str
    template: str
    answer: Callable[[Look], ViewAnswer]
    group: ViewGroup = ViewGroup.NONE
    label: str = ""
    key: str = ""
    icon: str = ""
    under: str = ""
    is_of_now: bool = False

    @property
    def segments(self) -> tuple[str, ...]:
        """The parts of the address."""
        return tuple(self.path.strip("/").split("/"))

    def parts_of_address(self, segments: tuple[str, ...]) -> Mapping[str, str] | None:
        """Return the values of the parts in braces, None where the address is not of this view."""
        if len(segments) != len(self.segments):
            return None
        values = {}
        for own, given in zip(self.segments, segments, strict=True):
            if own.startswith("{"):
                values[own.strip("{}")] = given
            elif own != given:
                return None
        return values
