"""Files that stand in no commit: the output of tools that build folders of a source, and what they were built from.

Such a file is read like any other. Its path is that of the file that asks for the build, its id that of its bytes.
"""

from typing import NamedTuple

from render.values import DiscreetStruct

from .files import FILE_MODE, SourceFile

NUMBERS_LEFT_FREE = 1 << 20
"""Numbers that a file's own manifests leave free for those that are made of each of them."""


class Origin(NamedTuple):
    """The file of a source that an object was built from, and the line it begins at (0: not known)."""

    path: str
    line: int = 0


class BuildPart(NamedTuple):
    """A part that something was built of: its role, its name, its version where it has one, and what tells it apart.

    Roles are ``chart``, ``chart file``, ``values``, ``Kubernetes``, ``APIs``, ``release``, ``post-renderers`` and
    ``file``.
    """

    role: str
    name: str
    version: str = ""
    digest: str = ""


class BuiltVariant(NamedTuple):
    """One of several outputs of the same build: the clusters it is for, and the record of what makes it differ.

    ``error`` says why there is no output.
    """

    clusters: frozenset[str]
    rule: object = None
    error: str = ""


class BuiltFile(DiscreetStruct, frozen=True, kw_only=True):
    """The output of one build.

    ``inputs`` are the paths and ids of what was read for it, ``origins`` say where each of its documents comes from.
    ``first`` is the number of its first manifest, where its path is that of a file with manifests of its own, and
    ``namespace`` is that of objects that name none ("": that of the fleet). ``subjects`` say what each document was
    before it was converted, in words for people. Of a build with several outputs, each for
    some clusters, ``variants`` are all of them, and ``variant`` is the number of this one; ``build`` tells it from
    other builds that the same file asks for. ``maker`` is the object that asks for the build ("": the file itself), and
    ``parts`` what it is made of, where that says more than ``inputs``. ``destination`` are the clusters that all of it
    is for, with the record of what says so (None: any).
    """

    UNSHOWN = ("inputs", "origins", "subjects", "variants", "destination", "parts")

    path: str
    id: bytes
    size: int
    mode: int = FILE_MODE
    inputs: tuple[tuple[str, bytes], ...] = ()
    origins: tuple[Origin, ...] = ()
    first: int = 0
    namespace: str = ""
    subjects: tuple[str, ...] = ()
    build: int = 0
    variant: int = 0
    variants: tuple[BuiltVariant, ...] = ()
    destination: BuiltVariant | None = None
    maker: str = ""
    parts: tuple[BuildPart, ...] = ()

    @property
    def made_of(self) -> tuple[BuildPart, ...]:
        """The parts; without any, the files that were read."""
        return self.parts or tuple(BuildPart("file", path, "", id_.hex()) for path, id_ in self.inputs)

    def origin_of(self, position: int) -> Origin:
        """Return the origin of a document; the file that asks for the build where nothing better is known."""
        return self.origins[position] if position < len(self.origins) else Origin(self.path)

    def subject_of(self, position: int) -> str:
        """Return what a document was before it was converted; "" for one that was not."""
        return self.subjects[position] if position < len(self.subjects) else ""


def source_files_behind(file: SourceFile) -> tuple[tuple[str, bytes], ...]:
    """Return the files of the source that a file stands for: itself, or what it was built from."""
    return file.inputs if isinstance(file, BuiltFile) else ((file.path, file.id),)


def is_made_by_chart(file: SourceFile) -> bool:
    """Say whether a chart made a file; the build of no other says what it is made of."""
    return isinstance(file, BuiltFile) and bool(file.parts)
