"""The set of everything Argosy applied to a cluster, recognisable by other tools (KEP-3659, ApplySet).

Every member carries the set's label. The parent, a ConfigMap, names the kinds and namespaces members are in: widened
before anything is applied, narrowed only after everything succeeded, so that a crash loses nothing.
"""

import base64
import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Self

from msgspec import Struct

from render.model import Manifest, ObjectRef

PART_OF = "applyset.kubernetes.io/part-of"
_ID = "applyset.kubernetes.io/id"
_TOOLING = "applyset.kubernetes.io/tooling"
_KINDS = "applyset.kubernetes.io/contains-group-kinds"
_NAMESPACES = "applyset.kubernetes.io/additional-namespaces"
_MEMBER = "argosy.dev/member"
_RENDERED = "argosy.dev/rendered"
TOOL = "argosy"
_ROOT_DIGITS = 12


class ApplySet(Struct, frozen=True, kw_only=True):
    """A set's parent and what it contains: kinds as ``Deployment.apps``, namespaces beside the parent's own.

    ``member`` is the name of the member that it is in, so that a cluster is known again whose inventory was lost.
    ``commit`` is the rendered commit that something was last written for, by whichever clone of the fleet.
    """

    name: str = "argosy"
    namespace: str = "argosy-system"
    member: str = ""
    commit: str = ""
    group_kinds: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        """The set's identity, a function of its parent's, as ApplySet prescribes."""
        return _applyset_id(self.name, self.namespace)

    @property
    def manager(self) -> str:
        """The field manager that members are applied by: named like the parent, so that either tells the fleet."""
        return self.name

    @property
    def former(self) -> "ApplySet":
        """The empty set that versions applied to before every fleet had its own."""
        return ApplySet(namespace=self.namespace)

    @property
    def parent(self) -> ObjectRef:
        """The parent object."""
        return ObjectRef("", "ConfigMap", self.namespace, self.name)

    def set_with_kinds_of(self, refs: Iterable[ObjectRef]) -> "ApplySet":
        """Return this set's parent with exactly these members' kinds and namespaces."""
        members = tuple(refs)
        return ApplySet(
            name=self.name,
            namespace=self.namespace,
            member=self.member,
            commit=self.commit,
            group_kinds=frozenset(ref.group_kind for ref in members),
            namespaces=frozenset(ref.namespace for ref in members if ref.namespace) - {self.namespace},
        )

    def united_with(self, other: "ApplySet") -> "ApplySet":
        """Return a set that covers both."""
        return ApplySet(
            name=self.name,
            namespace=self.namespace,
            member=other.member or self.member,
            commit=other.commit or self.commit,
            group_kinds=self.group_kinds | other.group_kinds,
            namespaces=self.namespaces | other.namespaces,
        )

    def set_recorded_on_parent(self, parent: Manifest | None) -> "ApplySet":
        """Return what a live parent says the set contains."""
        annotations = _annotations_of_parent(parent)
        return ApplySet(
            name=self.name,
            namespace=self.namespace,
            member=str(annotations.get(_MEMBER) or ""),
            commit=str(annotations.get(_RENDERED) or ""),
            group_kinds=_names_in_annotation(annotations.get(_KINDS)),
            namespaces=_names_in_annotation(annotations.get(_NAMESPACES)),
        )

    def refusal(self, parent: Manifest | None) -> str:
        """Return why a live parent is not ours to change; empty when it is, or there is none."""
        if parent is None:
            return ""
        labels = parent["metadata"].get("labels") or {}
        tooling = str(_annotations_of_parent(parent).get(_TOOLING) or "")
        if tooling and tooling.partition("/")[0] != TOOL:
            return f"{self.parent} belongs to {tooling!r}"
        if labels.get(_ID) not in {None, self.id}:
            return f"{self.parent} carries the identity of another set"
        return ""

    def manifest(self, version: str) -> dict[str, Any]:
        """Return the parent as it is applied."""
        annotations = {_TOOLING: f"{TOOL}/{version}", _KINDS: ",".join(sorted(self.group_kinds))}
        if self.namespaces:
            annotations[_NAMESPACES] = ",".join(sorted(self.namespaces))
        if self.member:
            annotations[_MEMBER] = self.member
        if self.commit:
            annotations[_RENDERED] = self.commit
        metadata = {
            "name": self.name,
            "namespace": self.namespace,
            "labels": {_ID: self.id},
            "annotations": annotations,
        }
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}

    @classmethod
    def of_fleet(cls, fleet: str, root: str, member: str = "") -> Self:
        """Return the empty set of a fleet: of its name, and of the commit that its rendered branch began with.

        Fleets share clusters and often a name, but never the root of a branch.
        """
        return cls(name=f"argosy-{fleet}-{root[:_ROOT_DIGITS]}", member=member)


@lru_cache(maxsize=64)
def _applyset_id(name: str, namespace: str) -> str:
    # The form of the id is ApplySet's: the parent's name, namespace, kind and (here empty) group, hashed.
    digest = hashlib.sha256(f"{name}.{namespace}.ConfigMap.".encode()).digest()
    return f"applyset-{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}-v1"


def applyset_id_of_member(live: Manifest) -> str:
    """Return the identity of the set an object is in; empty when it is in none."""
    return str((live["metadata"].get("labels") or {}).get(PART_OF) or "")


def _annotations_of_parent(parent: Manifest | None) -> dict[str, Any]:
    return dict((parent or {"metadata": {}})["metadata"].get("annotations") or {})


def _names_in_annotation(text: Any) -> frozenset[str]:
    return frozenset(part.strip() for part in str(text or "").split(",") if part.strip())
