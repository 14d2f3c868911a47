"""The one form between what another federation says and policies: an object, where it goes, and what differs there.

Each front-end (``kubefed``) makes units of its documents; ``policies`` makes templates and policies of units.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from render.model import Manifest
from render.selectors import LabelSelector


class Grade(StrEnum):
    """The worth of a conversion: whether the result does the same, and until when."""

    EXACT = "exact"
    SNAPSHOT = "exact for now"
    APPROXIMATE = "approximate"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing to know about a conversion: a stable code, its grade, and words for people."""

    code: str
    grade: Grade
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The clusters of a unit: those named, and of these the ones that a selector selects; None restricts nothing."""

    names: tuple[str, ...] | None = None
    selector: LabelSelector | None = None
    is_nowhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """The weight of the clusters named in a division, or of all but those excluded."""

    weight: int
    names: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """An object with its policy; ``patches`` are operations ``{operator, path, value}`` by cluster, in their order."""

    manifest: Manifest
    reach: Reach
    origin: str
    subject: str
    patches: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    weights: tuple[Weight, ...] = ()
    is_kept: bool = False
    is_suspended: bool = False
    remarks: tuple[Remark, ...] = ()

    @property
    def namespace(self) -> str:
        """The namespace of the object; none for a cluster-scoped one."""
        return str(self.manifest["metadata"].get("namespace", ""))

    @property
    def grade(self) -> Grade:
        """The worst grade of its remarks."""
        order = list(Grade)
        return max((remark.grade for remark in self.remarks), key=order.index, default=Grade.EXACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A document that becomes no unit: left out on purpose (its remark is exact), or refused."""

    origin: str
    subject: str
    remark: Remark


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """All that a front-end made of a set of documents; ``members`` are Cluster objects."""

    units: tuple[Unit, ...] = ()
    members: tuple[tuple[str, Manifest], ...] = ()
    left: tuple[Left, ...] = ()
