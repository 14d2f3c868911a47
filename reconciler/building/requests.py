"""The seam to what builds: a folder or a chart that is asked for, and the outcome.

``Build`` is what a caller is handed, so that the tools are only looked for where something is to be built.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from reconciler.source.broken import Broken
from reconciler.source.built_files import BuildPart, BuiltVariant, Origin
from reconciler.source.files import FileSelection, SourceFile
from reconciler.source.manifests import LocatedManifest, ReadBlobs
from reconciler.source.provenance import digest_of_texts, files_as_build_parts
from reconciler.source.reading import BuiltSource
from render.documents import emit
from render.values import DiscreetStruct, SelectiveStruct
from render.words import first_few

from .source_trees import LockedTrees, SourceTree

_NAMED = 6
NEWEST_KUBERNETES = "1.37.0"
"""The version of Kubernetes that charts are rendered for where nothing else is declared."""


class UnusableRequest(Exception):
    """An object asks for what cannot be built: the field to blame, the fault and a hint.

    ``place`` is another object to blame (None: the one that asks), and ``kind`` that of the problem.
    """

    def __init__(
        self, path: str, message: str, hint: str = "", place: LocatedManifest | None = None, *, kind: str = ""
    ) -> None:
        super().__init__(message)
        self.path, self.message, self.hint, self.place, self.kind = path, message, hint, place, kind


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


class ChartRequest(SelectiveStruct, frozen=True, kw_only=True):
    """One release to render: its name and namespace, the chart, its values in order, and what it may assume.

    ``home`` is the place of the chart for people: a folder, or a Source. ``contents`` reads its files, by path below
    the chart; ``digest`` names them. ``inputs`` are the files of the repository that all of it depends on. A chart that
    some clusters ask for in another way has several requests; ``variants`` are all of them, ``variant`` is the number
    of this one. ``number`` tells it from other charts of the same object, and ``destination`` are the clusters that it
    is for (None: any). Without ``has_schemas`` no schema of the chart is asked about its values. ``post_renderers`` are
    the changes of kustomizations that are made to what it renders, and ``common_metadata`` is what each object gets.
    """

    UNSHOWN = ("contents", "values", "chart_files")
    UNCOMPARED = ("contents",)

    place: LocatedManifest
    release: str
    namespace: str
    home: str
    digest: str
    contents: Callable[[], Mapping[str, bytes]]
    inputs: tuple[tuple[str, bytes], ...] = ()
    values: tuple[bytes, ...] = ()
    kube_version: str = NEWEST_KUBERNETES
    api_versions: tuple[str, ...] = ()
    has_hooks: bool = False
    has_crds: bool = True
    has_schemas: bool = True
    post_renderers: tuple[bytes, ...] = ()
    common_metadata: Mapping[str, Any] = field(default_factory=dict)
    variant: int = 0
    variants: tuple[BuiltVariant, ...] = ()
    number: int = 0
    destination: BuiltVariant | None = None
    maker: str = ""
    version: str = ""
    chart_files: tuple[tuple[str, bytes], ...] = ()
    value_names: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[BuildPart, ...]:
        """Everything it is made of, for people; values that stand nowhere else are those of their clusters."""
        where = f" for {first_few(sorted(self.clusters), _NAMED)}" if self.variant else ""
        settings = repr((self.release, self.namespace, self.has_hooks, self.has_crds)).encode()
        changes = (*self.post_renderers, *([emit(self.common_metadata)] if self.common_metadata else []))
        return (
            BuildPart("chart", self.home, self.version, self.digest),
            *files_as_build_parts("chart file", dict(self.chart_files)),
            *(
                BuildPart(
                    "values", name if name in dict(self.inputs) else f"{name}{where}", "", digest_of_texts(values)
                )
                for name, values in zip(self.value_names, self.values, strict=True)
            ),
            BuildPart("Kubernetes", where.strip(), self.kube_version),
            BuildPart("APIs", where.strip(), "", digest_of_texts(*(each.encode() for each in self.api_versions))),
            BuildPart("release", "", "", digest_of_texts(settings)),
            *(
                BuildPart("post-renderers", where.strip(), "", digest_of_texts(each))
                for each in [b"".join(changes)]
                if changes
            ),
        )

    @property
    def deciding_values(self) -> tuple[object, ...]:
        """Everything that decides what is rendered; requests that are equal in it are one."""
        names = (self.release, self.namespace, self.digest, self.kube_version, self.api_versions)
        after = (self.post_renderers, emit(self.common_metadata))
        return (*names, self.values, self.has_hooks, self.has_crds, self.has_schemas, *after)

    @property
    def clusters(self) -> frozenset[str]:
        """The clusters it is for; none where there is no other request for the chart."""
        return self.variants[self.variant].clusters if self.variants else frozenset()


LockedOf = Callable[[], LockedTrees]
"""Return the contents of the Sources of a fleet, where some kustomization may need them."""


class Build(Protocol):
    """Build the folders that a selection names, from the files of the whole tree."""

    def __call__(
        self, files: Sequence[SourceFile], selection: FileSelection, read: ReadBlobs, locked: LockedOf
    ) -> BuiltSource:
        """Return the outcome of the build."""

    def build_folders(self, requests: Sequence[FolderRequest], locked: LockedTrees) -> Sequence[BuiltFolder]:
        """Return the outcome of these folders, in order."""

    def render_charts(self, requests: Sequence[ChartRequest]) -> BuiltSource:
        """Return the outcome of these charts."""

    def without_cache(self) -> "Build":
        """Return what builds all of it anew."""
