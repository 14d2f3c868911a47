"""The closure of a kustomization: every file of the tree that a build of it may read.

A closure is found before any tool runs, by what kustomizations name. Whatever is no file of the tree - another
repository, an address, a path that leads out, a link - is refused here, so that the tool never comes to look for it.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from msgspec import field

from reconciler.source.files import SourceFile
from reconciler.source.manifests import ReadBlobs
from render.boundary import result_or_substitute
from render.errors import Problem
from render.values import SelectiveStruct

from .closure_walk import BuildRefusal, Walk
from .tree import Kustomizations, StandIn


class Closure(SelectiveStruct, frozen=True, kw_only=True):
    """The files a build reads, sorted by path, and the first reason not to build; ``owned`` are parts of it alone.

    ``kustomizations`` and ``resources`` are the paths of those that say what is built, and that hold manifests;
    ``plugins`` have configuration of generators and transformers, ``configurations`` that of fields,
    ``environments`` have variables, and ``listings`` are folders whose kustomizations only list plugins.
    ``is_printed``: the text matters that kustomize prints.
    ``beyond`` are the files that a build which is refused names after the reason for that.
    """

    UNSHOWN = ("stand_ins", "read")
    UNCOMPARED = ("read",)

    folder: str
    files: tuple[SourceFile, ...]
    kustomizations: tuple[str, ...] = ()
    resources: frozenset[str] = frozenset()
    owned: frozenset[str] = frozenset()
    refusal: BuildRefusal | None = None
    plugins: frozenset[str] = frozenset()
    configurations: frozenset[str] = frozenset()
    environments: frozenset[str] = frozenset()
    listings: frozenset[str] = frozenset()
    is_printed: bool = False
    beyond: tuple[SourceFile, ...] = ()
    stand_ins: Mapping[str, StandIn] = field(default_factory=dict)
    read: ReadBlobs

    @property
    def contents(self) -> tuple[tuple[str, bytes], ...]:
        """The path and id of each file, as the build finds it."""
        return tuple((file.path, file.id) for file in self.files)

    @property
    def inputs(self) -> tuple[tuple[str, bytes], ...]:
        """The path and id of each file of the repository that is read, or that something else was written for."""
        return self._inputs_of(self.files)

    @property
    def claimed_files(self) -> tuple[tuple[str, bytes], ...]:
        """The same of those that are parts of this build, with all that it would read if it were not refused.

        A manifest outside the folders of the kustomizations that list it stays one of its own, whoever lists it.
        """
        return self._inputs_of(file for file in (*self.files, *self.beyond) if self._is_part(file.path))

    def _is_part(self, path: str) -> bool:
        return path in self.owned or path in self.stand_ins

    def _inputs_of(self, files: Iterable[SourceFile]) -> tuple[tuple[str, bytes], ...]:
        own = {(file.path, file.id) for file in files}
        found = (self.stand_ins[path].inputs if path in self.stand_ins else ((path, id_),) for path, id_ in own)
        return tuple(sorted({each for inputs in found for each in inputs}))

    @property
    def key(self) -> bytes:
        """The digest of all that the build depends on beside the tool."""
        lines = (f"{path}\0{id_.hex()}\n" for path, id_ in self.contents)
        text = "".join((f"{self.folder}\0{self.is_printed}\n", *lines))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()

    def shown_path(self, path: str) -> str:
        """Return the path of a file as people find it."""
        return self.stand_ins[path].shown if path in self.stand_ins else path


_TOO_MANY = "is not built: the builds of this source have read as many files as all of them may"


def bounded_closure(known: Kustomizations, folder: str, takes_files: Callable[[int], bool]) -> Closure:
    """Return the closure of a folder; a refused one where all builds read more files than they may.

    Overlays of one base each read all of it, so that a few thousand small files can make millions to look at.
    """
    if takes_files(0):
        closure = closure_of(known, folder)
        if takes_files(len(closure.files)):
            return closure
    file = known.kustomizations_at(folder)[0][0]
    return Closure(
        folder=folder,
        files=(file,),
        kustomizations=(file.path,),
        owned=frozenset({file.path}),
        refusal=BuildRefusal(file, Problem(file.path, 0, "", _TOO_MANY)),
        stand_ins=known.stand_ins,
        read=known.read,
    )


def closure_of(known: Kustomizations, folder: str) -> Closure:
    """Return the files that a build of a folder reads, or why it may not be built."""
    walk = Walk(known)
    result_or_substitute(partial(walk.walk_folder, folder), partial(walk.refuse_folder, folder))
    return Closure(
        folder=folder,
        files=tuple(walk.found[path] for path in sorted(walk.found)),
        kustomizations=tuple(walk.kustomizations),
        resources=frozenset(walk.resources),
        owned=frozenset(walk.owned),
        refusal=walk.refusal,
        beyond=tuple(walk.beyond[path] for path in sorted(walk.beyond)),
        plugins=frozenset(walk.plugins),
        configurations=frozenset(walk.configurations),
        environments=frozenset(walk.environments),
        listings=frozenset(walk.listings),
        stand_ins=known.stand_ins,
        read=known.read,
    )
