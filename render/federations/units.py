"""The one form between what another federation says and policies: an object, where it goes, and what differs there.

Each front-end (``kubefed``) makes units of its documents; ``policies`` makes templates and policies of units.
What is not the same afterwards is a remark; its code leads to the rule that reports have and the guides explain.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from render.model import Manifest, mapping_or_empty
from render.placement import Toleration
from render.selectors import LabelSelector

Operation = Mapping[str, Any]
"""One operation ``{operator, path, value}`` of a plaintext overrider."""

Labels = Mapping[str, Mapping[str, str]]
"""The labels of members, by name."""

_LEFT_TO_PEOPLE = "the values of a Secret are not copied; write it anew, encrypted, beside the others"


class Grade(StrEnum):
    """The worth of a conversion: whether the result does the same, and until when."""

    EXACT = "exact"
    SNAPSHOT = "exact for now"
    APPROXIMATE = "approximate"
    REFUSED = "refused"


class Remark(Struct, frozen=True, kw_only=True):
    """One thing to know about a conversion: a stable code, its grade, and words for people."""

    code: str
    grade: Grade
    message: str


def exact_remark(code: str, message: str) -> Remark:
    """Return what is good to know of something that is the same."""
    return Remark(code=code, grade=Grade.EXACT, message=message)


def remark_exact_for_now(code: str, message: str) -> Remark:
    """Return what is the same for the clusters and counts of today."""
    return Remark(code=code, grade=Grade.SNAPSHOT, message=message)


def approximate_remark(code: str, message: str) -> Remark:
    """Return what is nearly the same."""
    return Remark(code=code, grade=Grade.APPROXIMATE, message=message)


def refused_remark(code: str, message: str) -> Remark:
    """Return what has no counterpart."""
    return Remark(code=code, grade=Grade.REFUSED, message=message)


class Placed(Struct, frozen=True, kw_only=True):
    """A document with the place that it was read from, as ``file:line``."""

    manifest: Manifest
    origin: str

    @property
    def kind(self) -> str:
        """Its kind."""
        return str(self.manifest.get("kind", ""))

    @property
    def group(self) -> str:
        """Its API group; empty for the core group."""
        return str(self.manifest.get("apiVersion", "")).rpartition("/")[0]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Its metadata; nothing where that is no object."""
        metadata = self.manifest.get("metadata")
        return mapping_or_empty(metadata)

    @property
    def spec(self) -> Mapping[str, Any]:
        """Its spec; nothing where that is no object."""
        spec = self.manifest.get("spec")
        return mapping_or_empty(spec)

    @property
    def key(self) -> tuple[str, str]:
        """Its namespace and name."""
        return str(self.metadata.get("namespace", "")), str(self.metadata.get("name", ""))

    @property
    def subject(self) -> str:
        """Its kind and name for people."""
        return f"{self.kind} {'/'.join(filter(None, self.key))}"

    def left_unconverted(self, remark: Remark) -> "Left":
        """Return it as a document that becomes no unit."""
        return Left(origin=self.origin, subject=self.subject, remark=remark)


class Reach(Struct, frozen=True, kw_only=True):
    """The clusters of a unit: those named, and of these the ones that a selector selects; None restricts nothing."""

    names: tuple[str, ...] | None = None
    selector: LabelSelector | None = None
    is_nowhere: bool = False


class Weight(Struct, frozen=True, kw_only=True):
    """The weight of the clusters named in a division, of those selected, or of all but those excluded."""

    weight: int
    names: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    excluded: tuple[str, ...] = ()


class Rule(Struct, frozen=True, kw_only=True):
    """Operations in their order for the clusters named, for those selected, or else for all of them."""

    operations: tuple[Operation, ...]
    names: tuple[str, ...] = ()
    selector: LabelSelector | None = None


class ByRoom(StrEnum):
    """The ways of dividing replicas by the room that clusters have."""

    WEIGHTED = "Weighted"
    AGGREGATED = "Aggregated"


class Unit(Struct, frozen=True, kw_only=True):
    """An object with its policy; replicas are divided where there are weights, or by the room that clusters have."""

    manifest: Manifest
    reach: Reach
    origin: str
    subject: str
    rules: tuple[Rule, ...] = ()
    weights: tuple[Weight, ...] = ()
    by_room: ByRoom | None = None
    tolerations: tuple[Toleration, ...] = ()
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


class Left(Struct, frozen=True, kw_only=True):
    """A document that becomes no unit: left out on purpose (its remark is exact), or refused."""

    origin: str
    subject: str
    remark: Remark


def units_and_left_documents(found: Iterable[Unit | Left]) -> tuple[list[Unit], list[Left]]:
    """Return the units, and the documents that become none."""
    every = list(found)
    return [one for one in every if isinstance(one, Unit)], [one for one in every if isinstance(one, Left)]


class Conversion(Struct, frozen=True, kw_only=True):
    """All that a front-end made of a set of documents; ``members`` are Cluster objects, and ``kept`` stay as they are.

    ``others`` counts the documents that are none of its business.
    """

    units: tuple[Unit, ...] = ()
    members: tuple[tuple[str, Manifest], ...] = ()
    kept: tuple[Placed, ...] = ()
    left: tuple[Left, ...] = ()
    others: int = 0

    def without_secrets(self) -> "Conversion":
        """Return it without Secrets, whose values are not to be copied: each is listed with what to do."""
        remark = refused_remark("secret-left-out", _LEFT_TO_PEOPLE)
        units = [unit for unit in self.units if unit.manifest.get("kind") != "Secret"]
        kept = [each for each in self.kept if each.kind != "Secret"]
        gone = {(each.origin, each.subject) for each in self.kept if each.kind == "Secret"}
        left = [each for each in self.left if (each.origin, each.subject) not in gone]
        left += [
            Left(origin=unit.origin, subject=unit.subject, remark=remark)
            for unit in self.units
            if unit.manifest.get("kind") == "Secret"
        ]
        left += [each.left_unconverted(remark) for each in self.kept if each.kind == "Secret"]
        return replace(self, units=tuple(units), kept=tuple(kept), left=tuple(left))
