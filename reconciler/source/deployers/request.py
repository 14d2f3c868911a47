"""A folder that an object of another tool deploys, as it is to be built, and the outcome."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from reconciler.source.broken import Broken
from reconciler.source.built_files import Origin
from reconciler.source.manifests import LocatedManifest
from render.values import DiscreetStruct

from .trees import SourceTree


class UnusableDeployer(Exception):
    """An object cannot be read as its tool reads it: the field to blame, the fault and a hint."""

    def __init__(self, path: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.path, self.message, self.hint = path, message, hint


class FolderRequest(Struct, frozen=True, kw_only=True):
    """A folder of a tree to build.

    ``additions`` are fields of a kustomization that are added to the one of the folder, as the tool adds them.
    ``destination`` are the clusters that it is for (None: any).
    ``resources`` are files that are taken as they stand (None: the folder is built, or every YAML file below it where
    it has no kustomization). ``namespace`` is that of objects which name none ("": that of the fleet). ``place`` is the
    object that asks for it, in its field ``field``. ``is_printed``: the text matters that the tool prints.
    """

    place: LocatedManifest
    tree: SourceTree
    folder: str
    additions: Mapping[str, Any] = field(default_factory=dict)
    resources: tuple[str, ...] | None = None
    namespace: str = ""
    destination: frozenset[str] | None = None
    field: str = "spec.path"
    is_printed: bool = False

    @property
    def key(self) -> bytes:
        """The digest of all that the build depends on beside the files of the tree."""
        text = json.dumps(
            [self.tree.name, self.folder, self.additions, self.resources, self.is_printed], sort_keys=True, default=str
        )
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


class BuiltFolder(DiscreetStruct, frozen=True, kw_only=True):
    """The outcome of a build: its output with the origin of each document, or why there is none.

    ``claimed`` are the files of the repository that it reads, ``inputs`` all that it depends on. ``complaint`` is what
    a tool says of it, ``broken`` what is wrong in a file of the folder,
    ``left_out`` are objects that cannot be delivered.
    """

    UNSHOWN = ("output",)

    output: bytes = b""
    origins: tuple[Origin, ...] = ()
    claimed: frozenset[str] = frozenset()
    inputs: tuple[tuple[str, bytes], ...] = ()
    complaint: str = ""
    hint: str = ""
    broken: Broken | None = None
    left_out: tuple[Broken, ...] = ()
    tool: str = ""
