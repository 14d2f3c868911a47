"""A federation that fleets come from: its names, and the signs of its documents.

This is loaded with every fleet, to see whether a document is of one. What converts the documents of a federation stands
in the module ``front_end`` of its folder, and is loaded where there are some.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from msgspec import Struct

from render.model import Manifest, group_of

if TYPE_CHECKING:
    from .conversion import FrontEnd
    from .units import Conversion, Labels, Placed


class Federation(Struct, frozen=True, kw_only=True):
    """A federation that fleets come from.

    ``name`` is the value of ``argosy import --from``, and its folder is named like it; ``setting`` is its word in
    ``source.federations`` of argosy.yaml, empty where it is only imported. ``title`` and ``about`` are for people.
    ``is_of_type`` says of an API group and a kind that their documents are its own. ``is_marked`` says it of a document
    by what else stands in it; only those whose kinds begin with ``marked_kinds`` have such marks. ``includes`` names
    the federation whose documents stand beside its own; with ``is_beside_any`` its own stand beside any other's.
    ``rules`` has, by the code of a remark, the rule of its guide that the remark is about.
    """

    name: str
    title: str
    about: str
    setting: str = ""
    is_of_type: Callable[[str, str], bool]
    is_marked: Callable[[Manifest], bool] | None = None
    marked_kinds: str = ""
    includes: str = ""
    is_beside_any: bool = False
    rules: Mapping[str, str]

    def is_its(self, manifest: Manifest) -> bool:
        """Say whether a document can be of no other federation."""
        kind = str(manifest.get("kind", ""))
        if self.is_of_type(group_of(str(manifest.get("apiVersion", ""))), kind):
            return True
        return self.is_marked is not None and kind.startswith(self.marked_kinds) and self.is_marked(manifest)

    @property
    def marks_any_kind(self) -> bool:
        """Say whether plain objects of any kind may be its own, which only a look into each can tell."""
        return self.is_marked is not None and not self.marked_kinds

    def may_have(self, group: str, kind: str) -> bool:
        """Say whether documents of a type may be its own, those of plain types aside."""
        has_marks = self.is_marked is not None and not self.marks_any_kind
        return self.is_of_type(group, kind) or (has_marks and kind.startswith(self.marked_kinds))

    def convert(self, documents: "Sequence[Placed]", known_clusters: "Labels") -> "Conversion":
        """Convert documents; ``known_clusters`` are the labels of members that are known beside them, by name."""
        from .conversion import convert_documents

        front_end: FrontEnd = import_module(f".{self.name.replace('-', '_')}.front_end", __package__).FRONT_END
        return convert_documents(documents, front_end, self.is_its, known_clusters)


def predicate_of_group_endings(*endings: str) -> Callable[[str, str], bool]:
    """Return what says of an API group and a kind that the group ends so."""
    return lambda group, _kind: group.endswith(endings)
