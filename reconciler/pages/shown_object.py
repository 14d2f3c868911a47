"""The object that a page is about: how its address names it, and the words by which commands mean it."""

from msgspec import Struct

from render.errors import UnknownName

from .look import Look

NO_NAMESPACE = "-"
"""The part of an address in the place of a namespace, for an object that has none."""


class ShownObject(Struct, frozen=True, kw_only=True):
    """An object as an address names it: kind with its group, namespace ("": none) and name."""

    kind: str
    namespace: str
    name: str

    @classmethod
    def of_look(cls, look: Look) -> "ShownObject":
        """Return the object that a look is about."""
        space, kind = look.parts["namespace"], look.parts["kind"]
        if kind.startswith("-"):
            raise UnknownName(f"{kind!r} is no kind")
        return cls(kind=kind, namespace="" if space == NO_NAMESPACE else space, name=look.parts["name"])

    @property
    def key(self) -> tuple[str, str, str]:
        """The object as part of the key of a document."""
        return self.kind, self.namespace, self.name

    def command(self, verb: str, *options: str) -> tuple[str, ...]:
        """Return the words of a command about it; none of them can be taken for an option by what is in it."""
        space = (f"--namespace={self.namespace}",) if self.namespace else ()
        return (verb, f"{self.kind}/{self.name}", *space, *options)

    def option_of_past(self, look: Look, option: str) -> tuple[str, ...]:
        """Return the option by which a command tells of the rendered commit that is shown; none for the newest."""
        return (f"{option}={look.commits.rendered}",) if look.commits.is_past and look.commits.rendered else ()

    @property
    def title(self) -> str:
        """The object as people name it."""
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind.partition('.')[0]} {where}{self.name}"
