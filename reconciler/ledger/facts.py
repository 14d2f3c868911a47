"""Facts: the parts of a member's state that the scheduler reads, as one render used them."""

from collections.abc import Mapping
from marshal import dumps
from typing import Any, ClassVar, Self

from msgspec import Struct, field

from render.documents import SimilarDocuments, emit
from render.model import Manifest

from .branch_file import BranchFile, check_version, converted_to_struct
from .cluster_status import checked_cluster_status


class Metadata(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The metadata of an object that is of a cluster."""

    name: str
    annotations: dict[str, str] | None = None


class _FactsFields(Struct, frozen=True, kw_only=True):
    metadata: Metadata
    observed_at: str | None = field(name="observedAt", default=None)


class ClusterFacts(BranchFile, frozen=True, kw_only=True):
    """The facts of one cluster: its ``status``, as plain data of Karmada's Cluster API, and the time of observation.

    A rendered commit has them as well: those it was rendered with.
    """

    PATH: ClassVar[str] = "facts/{cluster}.yaml"
    KIND: ClassVar[str] = "ClusterFacts"
    ABOUT: ClassVar[str] = "What the scheduler reads of a member: served APIs and capacity."

    name: str
    status: Manifest
    observed_at: str = ""

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return the facts in a plain object; FileFault where there are none."""
        check_version(value, cls.VERSION)
        fields = converted_to_struct(value, _FactsFields)
        return cls(
            name=fields.metadata.name, status=checked_cluster_status(value), observed_at=fields.observed_at or ""
        )

    def plain(self) -> Manifest:
        """Return the object in the file, without its version."""
        head = {"apiVersion": self.API_VERSION, "kind": self.KIND, "metadata": {"name": self.name}}
        time = {"observedAt": self.observed_at} if self.observed_at else {}
        return {**head, **time, "status": self.status}

    def beside_capacity(self) -> Manifest:
        """Return the status without its capacity."""
        return {key: value for key, value in self.status.items() if key != "resourceSummary"}


class FactsWriter(Struct):
    """Writes the facts of many clusters for a rendered commit: served APIs, which most have alike, are written once."""

    texts: dict[bytes, bytes] = field(default_factory=dict)
    files: SimilarDocuments = field(default_factory=SimilarDocuments)
    _by_identity: dict[int, tuple[Any, bytes]] = field(default_factory=dict)

    def content_of(self, facts: ClusterFacts) -> bytes:
        """Return what ``rendered_content`` returns."""
        apis = facts.status.get(APIS)
        text = self._text_of_apis(apis) if apis else b""
        if not text:
            return facts.rendered_content()
        marked = self.files.emit({**facts.plain(), "status": {**facts.status, APIS: _MARK}}, _NAME)
        head, tail = marked.split(_MARKED, 1)
        return b"".join((head, _KEY, text, tail))

    def _text_of_apis(self, apis: Any) -> bytes:
        """Return what follows the key of served APIs; nothing for those that hold more than plain data."""
        known = self._by_identity.get(id(apis))
        if known is not None and known[0] is apis:
            return known[1]
        try:
            key = dumps(apis, _WITHOUT_REFERENCES)
        except ValueError:
            return b""
        text = self.texts.get(key)
        if text is None:
            text = self.texts[key] = emit({"status": {APIS: apis}}).split(f"{APIS}:".encode(), 1)[1]
        self._by_identity[id(apis)] = apis, text
        return text


APIS = "apiEnablements"
"""The field of a status with the APIs that a cluster serves."""
_MARK, _NAME = "argosy-apis", (("metadata", "name"),)
_KEY = f"\n  {APIS}:".encode()
_MARKED = f"\n  {APIS}: {_MARK}\n".encode()
_WITHOUT_REFERENCES = 2
"""The version of ``marshal`` in which equal values are equal bytes, whether or not a part of one is there twice."""

Facts = Mapping[str, ClusterFacts]
"""Facts by cluster name; a cluster without an entry was never observed."""
