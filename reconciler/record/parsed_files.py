"""The objects of files on the status branch, each distinct content parsed once, in this pass or an earlier one.

A pass compares what it saw of every object with what is recorded of it, and nearly all of that was recorded by earlier
passes. So the files about objects are kept in a cache by blob id, once they are known to have the shape that passes
give them. Those of bindings and of Works have the same. Of other files, such as those of clusters, another cache has
the plain values, whose shape is checked each time: a pass reads those of all members, also where it is for few.
"""

from collections.abc import Collection
from typing import Self, TypeVar, cast

from msgspec import Struct, field

from reconciler.ledger.branch_file import BranchFile, FileFault, object_of_content
from reconciler.ledger.facts import APIS
from reconciler.ledger.table import checked_path, object_at
from reconciler.repository import Repository
from reconciler.repository.cache import Cache
from reconciler.repository.trailers import engine_version
from reconciler.source.manifests import may_be_secret
from render.gitobjects import git_object_id
from render.model import Manifest

_File = TypeVar("_File", bound=BranchFile)
_OF_OBJECTS = frozenset({"bindings", "works"})
_MOST_OF_OTHERS = 2
"""So many times as many files may be known as a commit has, before those of others are forgotten."""


class ParsedFiles(Struct):
    """The objects known so far, by the content of their files; without a cache, those of this pass alone.

    ``values`` is the cache of the plain values of files that are not about objects.
    """

    cache: Cache | None = None
    values: Cache | None = None
    _known: dict[bytes, Manifest] = field(default_factory=dict)
    _files: dict[tuple[type[BranchFile], bytes], BranchFile] = field(default_factory=dict)

    @classmethod
    def of_repository(cls, repository: Repository) -> Self:
        """Return those that earlier passes over a repository parsed."""
        folder, version = repository.cache_dir, engine_version()
        return cls(Cache(folder, "recorded", version=version), Cache(folder, "records", version=version))

    def for_files(self, contents: Collection[bytes]) -> "ParsedFiles":
        """Return what is known for the files of another commit, of which most are the same; not too much of others.

        Other threads may add to it meanwhile.
        """
        if len(self._known) + len(self._files) <= _MOST_OF_OTHERS * len(contents) + _MOST_OF_OTHERS:
            return self
        wanted = frozenset(contents)
        return ParsedFiles(
            cache=self.cache,
            _known={content: each for content, each in self._known.copy().items() if content in wanted},
            _files={key: each for key, each in self._files.copy().items() if key[1] in wanted},
        )

    def of(self, path: str, content: bytes) -> Manifest:
        """Return the one object of a file; GitError where passes write no such file."""
        manifest = self._known.get(content)
        if manifest is None:
            manifest = self._known[content] = self._read_object(path, content)
        return manifest

    def file(self, kind: type[_File], path: str, content: bytes) -> _File:
        """Return a file as its value; GitError where passes write no such file."""
        known = self._files.get((kind, content))
        if known is None:
            checked_path(path)
            known = self._files[kind, content] = kind.read_object(path, self._plain_value(path, content))
        return cast("_File", known)

    def remember_parsed_object(self, content: bytes, manifest: Manifest) -> None:
        """Take in the object that a file was made of."""
        self._known.setdefault(content, manifest)

    def save(self) -> None:
        """Keep what was parsed for the next pass."""
        for cache in filter(None, (self.cache, self.values)):
            cache.save()

    def _plain_value(self, path: str, content: bytes) -> Manifest:
        """Return the one object of a file as plain data, of whatever shape; GitError where it holds none."""
        blob_id = git_object_id("blob", content)
        known: Manifest | None = self.values.get_many((blob_id,)).get(blob_id) if self.values is not None else None
        if known is not None:
            return known
        try:
            value = object_of_content(content)
        except FileFault as fault:
            raise fault.at(path) from fault
        if self.values is not None and not may_be_secret(content, (_without_served_kinds(value),)):
            self.values.put_many({blob_id: value})
        return value

    def _read_object(self, path: str, content: bytes) -> Manifest:
        if self.cache is None or path.partition("/")[0] not in _OF_OBJECTS:
            return object_at(path, content)
        blob_id = git_object_id("blob", content)
        known: Manifest | None = self.cache.get_many((blob_id,)).get(blob_id)
        if known is not None:
            checked_path(path)
            return known
        manifest = object_at(path, content)
        if not may_be_secret(content, (manifest,)):
            self.cache.put_many({blob_id: manifest})
        return manifest


def _without_served_kinds(value: Manifest) -> Manifest:
    """Return a file without the kinds that a cluster serves: that one of them is called Secret is no secret."""
    status = value.get("status")
    if not isinstance(status, dict) or APIS not in status:
        return value
    return {**value, "status": {name: each for name, each in status.items() if name != APIS}}
