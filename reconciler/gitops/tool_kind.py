"""The kinds of objects by which another tool deploys, and what is to be known of one before it is read."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from render.model import Manifest, group_of
from render.settings.source import RenderedRelease


class ToolKind(NamedTuple):
    """A kind by which another tool deploys: its name, as argosy.yaml asks for it, and its group.

    Three functions say of the spec of an object, and of the folders of charts that are here, whether it deploys
    folders, whether it deploys charts, and whether there is more to it than folders. ``ignored_fields`` yields the
    fields that are not read though they are set, with what people are told.
    """

    name: RenderedRelease
    group: str
    has_folders: Callable[[Mapping[str, Any], frozenset[str]], bool]
    has_charts: Callable[[Mapping[str, Any], frozenset[str]], bool]
    has_more: Callable[[Mapping[str, Any], frozenset[str]], bool]
    ignored_fields: Callable[[Mapping[str, Any]], Iterator[tuple[str, str]]] = lambda _: iter(())

    def is_of(self, manifest: Manifest) -> bool:
        """Say whether a manifest is of this kind."""
        return bool(manifest["kind"] == self.name) and group_of(manifest["apiVersion"]) == self.group


def is_any_object(_: Mapping[str, Any], __: frozenset[str]) -> bool:
    """Say yes of each object."""
    return True


def is_no_object(_: Mapping[str, Any], __: frozenset[str]) -> bool:
    """Say no of each object."""
    return False
