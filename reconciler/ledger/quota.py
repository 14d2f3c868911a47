"""The usage of a quota, in the form of Karmada's FederatedResourceQuota."""

from typing import Any, ClassVar

from msgspec import Struct

from render.model import POLICY_API_VERSION

from .branch_file import BranchFile


class _NamespacedName(Struct, frozen=True, kw_only=True):
    name: str
    namespace: str


class QuotaFile(BranchFile, frozen=True, kw_only=True):
    """The status of a FederatedResourceQuota. Passes write it and never read it back."""

    PATH: ClassVar[str] = "quotas/{namespace}/{name}.yaml"
    API_VERSION: ClassVar[str] = POLICY_API_VERSION
    KIND: ClassVar[str] = "FederatedResourceQuota"
    ABOUT: ClassVar[str] = "What is used of a FederatedResourceQuota, in Karmada's form."

    metadata: _NamespacedName
    status: dict[str, Any]

    @classmethod
    def of_quota(cls, namespace: str, name: str, status: dict[str, Any]) -> "QuotaFile":
        """Return the status of a quota as its file."""
        return cls(metadata=_NamespacedName(name=name, namespace=namespace), status=status)
