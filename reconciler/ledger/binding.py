"""The status of a binding: scheduled, applied everywhere, and the status its object reports in every cluster.

It is plain data to whoever reads it, as the status of an object in a cluster is (``work``).
"""

from typing import Any, ClassVar, Self

from msgspec import Struct

from render.model import BINDING_API_VERSION, Manifest

from .branch_file import BranchFile, check_version, converted_to_struct
from .cluster_status import Conditions, check_conditions
from .facts import Metadata


class _BindingStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    conditions: Conditions | None = None
    aggregated_status: list[dict[str, Any]] | None = None


class _BindingFields(Struct, frozen=True, kw_only=True):
    metadata: Metadata
    spec: dict[str, Any] | None = None
    status: _BindingStatus | None = None


class BindingFile(BranchFile, frozen=True, kw_only=True):
    """The status of one binding: its plain ``value``."""

    UNSHOWN: ClassVar[tuple[str, ...]] = ("value",)
    PATH: ClassVar[str] = "bindings/{namespace}/{kind}/{name}.yaml"
    API_VERSION: ClassVar[str] = BINDING_API_VERSION
    KIND: ClassVar[str] = "ResourceBinding"
    ABOUT: ClassVar[str] = "An object in all its clusters, with the status that its template would have in Karmada."

    value: Manifest

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return the status of a binding in a plain object; FileFault where there is none."""
        check_version(value, cls.VERSION)
        status = converted_to_struct(value, _BindingFields).status
        if status is not None:
            check_conditions(status.conditions)
        return cls(value=cls.without_version(value))

    def plain(self) -> Manifest:
        """Return the object in the file, without its version."""
        return self.value
