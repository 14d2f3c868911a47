"""An object as files of ours name it: what is empty is left out."""

from msgspec import Struct

from render.model import ObjectRef


class ObjectName(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The identity of an object as the fields of a file."""

    group: str = ""
    kind: str
    namespace: str = ""
    name: str

    @classmethod
    def of_ref(cls, ref: ObjectRef) -> "ObjectName":
        """Return the name of an object."""
        return cls(group=ref.group, kind=ref.kind, namespace=ref.namespace, name=ref.name)

    @property
    def ref(self) -> ObjectRef:
        """The object that is named."""
        return ObjectRef(self.group, self.kind, self.namespace, self.name)
