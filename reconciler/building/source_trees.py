"""The trees that folders are built from: the repository itself, a tree cut out of it, and the content of Sources."""

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from reconciler.locked.content import Files
from reconciler.locked.model import ExternalSource, LockedSource, SourceType, UnavailableSource, file_name_of_address
from reconciler.locked.reading import LockedFiles
from reconciler.source.built_files import Origin
from reconciler.source.external import UnusablePlace, source_implied_by_place
from reconciler.source.files import SourceFile
from reconciler.source.manifests import ReadBlobs
from reconciler.source.uncommitted import uncommitted_files_with_reader
from render.expressions import lazy_expression
from render.values import DiscreetStruct

_SCHEME = lazy_expression(r"^(?:[a-z+]+://)?(?:[^/@]+@)?")


class SourceTree(DiscreetStruct, frozen=True, kw_only=True, eq=False):
    """Files that folders are built from.

    ``name`` tells it from others ("": the repository). ``here`` has the path in the repository of each file that
    stands there under another one (None: all stand there under their own). ``inputs`` are files of the repository that
    the whole tree depends on.
    """

    UNSHOWN = ("read",)

    name: str = ""
    files: Sequence[SourceFile]
    read: ReadBlobs
    here: Mapping[str, str] | None = None
    inputs: tuple[tuple[str, bytes], ...] = ()

    def has_folder(self, path: str) -> bool:
        """Say whether there is a folder at a path."""
        base = f"{posixpath.normpath(path)}/"
        return any(file.path.startswith(base) for file in self.files)

    def origin(self, origin: Origin) -> Origin:
        """Return an origin as people find it: in the repository, or in the Source."""
        if self.here is None or origin.path in self.here:
            return origin if self.here is None else Origin(self.here[origin.path], origin.line)
        return Origin(f"{self.name}:{origin.path}", origin.line)

    def inputs_at(self, files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
        """Yield the files of the repository among those of the tree, and those that it depends on as a whole."""
        yield from self.inputs
        for path, id_ in files:
            if self.here is None:
                yield path, id_
            elif path in self.here:
                yield self.here[path], id_


def tree_of_source_content(name: str, content: Files, inputs: Collection[tuple[str, bytes]] = ()) -> SourceTree:
    """Return the content of a Source as a tree, of which no file stands in the repository."""
    files, read = uncommitted_files_with_reader(content)
    return SourceTree(name=name, files=files, read=read, here={}, inputs=tuple(inputs))


class LockedContent(NamedTuple):
    """The content of a Source: its name, the folder that it begins at, and its files from there on."""

    name: str
    folder: str
    tree: SourceTree


def _is_locked_version(source: ExternalSource, locked: LockedSource, version: str) -> bool:
    """Say whether a version that somebody asks for is the one that is locked."""
    named = {source.place.get(key) for key in ("tag", "branch", "ref", "revision")} | {*locked.resolved.values()}
    return version in named


class LockedTrees(Struct, frozen=True, kw_only=True):
    """The contents of the fleet's Sources as trees; ``lock`` is the file that locks them."""

    sources: Sequence[ExternalSource] = ()
    locked: LockedFiles | None = None
    lock: tuple[tuple[str, bytes], ...] = ()

    def content_and_path_of_version(self, address: str, version: str) -> tuple["LockedContent", str] | None:
        """Return the content of the Source that an address is in, and the path in it; None where no Source has it.

        UnavailableSource says why its content cannot be had: also where only another version is locked.
        """
        others: list[str] = []
        for source in self.sources:
            base = comparable_repository_address(source.place["url"])
            if source.type is not SourceType.GIT or not (address == base or address.startswith(f"{base}/")):
                continue
            path = address.removeprefix(base).strip("/")
            if source.folder and path != source.folder and not path.startswith(f"{source.folder}/"):
                continue
            if self.locked is None:
                continue
            content = self.locked.files(source.name)
            if version and not _is_locked_version(source, self.locked.locked(source.name), version):
                others.append(source.name)
                continue
            tree = tree_of_source_content(source.name, content, self.lock)
            return LockedContent(source.name, source.folder, tree), path.removeprefix(source.folder).strip("/")
        if others:
            message = f"it is asked for at {version!r}, and Source {others[0]!r} is locked at another version"
            raise UnavailableSource(message, hint="ask for the version of the Source, or leave it out")
        return None

    def content_and_path_of_file(self, url: str) -> tuple["LockedContent", str] | None:
        """Return the content of the Source that somebody wrote of one file, and its path in there; None without one.

        UnavailableSource says why its content cannot be had.
        """
        for source in self.sources:
            if source.type is SourceType.HTTP and source.place["url"] == url and self.locked is not None:
                tree = tree_of_source_content(source.name, self.locked.files(source.name), self.lock)
                return LockedContent(source.name, "", tree), file_name_of_address(url)
        return None

    def tree_and_path_of_address(self, type_: SourceType, url: Any) -> tuple[SourceTree, str] | None:
        """Return the tree of the Source with an address, and its folder in there; None where no Source has it.

        UnavailableSource says why its content cannot be had.
        """
        wanted = comparable_repository_address(url)
        for source in self.sources:
            if source.type is type_ and comparable_repository_address(source.place["url"]) == wanted:
                content = self.locked.files(source.name) if self.locked is not None else {}
                return tree_of_source_content(source.name, content, self.lock), source.folder
        return None

    def tree_without_source(self, type_: SourceType, place: Mapping[str, str], secret: str = "") -> SourceTree | None:
        """Return the tree of a place that no Source has; UnavailableSource where it is not locked, or cannot be.

        ``secret`` is the one that the object which names the place refers to.
        """
        if self.locked is None:
            return None
        try:
            name = self.locked.add_implied_source(source_implied_by_place(type_, place, secret))
        except UnusablePlace as error:
            raise UnavailableSource(f"it is of a place that cannot be fetched from: {error}") from error
        return tree_of_source_content(name, self.locked.files(name), self.lock)


def comparable_repository_address(url: Any) -> str:
    """Return an address by which two ways to write the same repository are equal.

    >>> (
    ...     comparable_repository_address("ssh://git@example.com/a/b.git"),
    ...     comparable_repository_address("git@example.com:a/b"),
    ...     comparable_repository_address("oci://r.example.com/a"),
    ... )
    ('example.com/a/b', 'example.com/a/b', 'r.example.com/a')
    """
    text = str(url or "")
    bare = _SCHEME.sub("", text).removesuffix("/").removesuffix(".git")
    return bare if "://" in text else bare.replace(":", "/", 1)
