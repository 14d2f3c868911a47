"""The private copy of a closure as kustomize gets it: what says where files are is written anew from what was read.

Two readers of one text may read two things. So kustomize gets no text in which a file is named but the one that this
reader's values are written as: kustomizations, and the configuration of generators and transformers. All other files
are as they are in the commit.

A file outside the folder of the kustomization that names it is put into a folder of its own below that one. So
kustomize never has to be allowed to read beside a kustomization.
"""

import posixpath
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import NamedTuple

from msgspec import Struct, field

from render.documents import emit, read_documents

from .closures import Closure
from .kustomization import Role, Slot, is_file_path, slots_of
from .sandbox import ENVIRONMENT
from .tree import path_joined_to

_MARK = b"\xef\xbb\xbf"
_ASIDE = ".argosy-beside"
"""The folder, below that of a kustomization, for files that it names elsewhere."""
_MOST_DIGITS = 9
"""Digits of the number of a moved file, and the slash behind them."""


class Moved(NamedTuple):
    """A file that stands elsewhere in a copy: the folder that names it and the text for that, and where it is."""

    folder: str
    text: str
    path: str
    place: str


class PrivateCopy(NamedTuple):
    """The files of a private copy by their paths, and those that stand elsewhere than in the commit.

    ``aside`` is the folder that those are in. ``has_origins``: kustomize writes into objects which file each came from.
    ``fault`` is why it may not be built.
    """

    files: Mapping[str, bytes]
    moved: tuple[Moved, ...] = ()
    aside: str = _ASIDE
    has_origins: bool = False
    fault: str = ""

    def shown_complaint(self, text: str) -> str:
        """Return a complaint with the paths of the commit in it."""
        for each in self.moved:
            text = text.replace(posixpath.join(each.folder, each.place), each.path).replace(each.place, each.text)
        return text

    def shown_output(self, output: bytes) -> bytes:
        """Return what was built with the origins that kustomize would write into it without moved files."""
        aside = f"{self.aside}/".encode()
        if not self.has_origins or not self.moved or aside not in output:
            return output
        return b"\n".join(
            self._line_with_shown_path(line, aside) if aside in line else line for line in output.split(b"\n")
        )

    def _line_with_shown_path(self, line: bytes, aside: bytes) -> bytes:
        """Return a line with the path that kustomize would write down in it, where it has that of a moved file.

        Each line is looked through once, however long it is: it may be anybody's data.
        """
        head, colon, value = line.partition(b": ")
        before, _, place = value.partition(aside)
        number = place[:_MOST_DIGITS].partition(b"/")[0]
        moved = self.moved[int(number)] if number.isdigit() and int(number) < len(self.moved) else None
        name = b"" if moved is None else moved.place.encode("utf-8", "surrogateescape").removeprefix(aside)
        if moved is None or not place.startswith(name):
            return line
        return head + colon + _origin_that_kustomize_writes(before, moved.text) + place.removeprefix(name)


def _origin_that_kustomize_writes(found: bytes, text: str) -> bytes:
    """Return the path that kustomize writes down for a text, in a folder that it came to by the path before it."""
    before = found.decode("utf-8", "surrogateescape")
    quote = before[:1] if before[:1] in {"'", '"'} else ""
    path = posixpath.normpath(posixpath.join(before.removeprefix(quote), text))
    return f"{quote}{path}".encode("utf-8", "surrogateescape")


def private_copy(closure: Closure, contents: Mapping[bytes, bytes]) -> PrivateCopy:
    """Return the files for a build; ``contents`` has what each of the closure's is in the commit."""
    layout = _Layout.of(closure, contents)
    has_origins = [layout.write_file_of_closure(path) for path in closure.kustomizations]
    return PrivateCopy(
        files=layout.files,
        moved=tuple(layout.moved.values()),
        aside=layout.aside,
        has_origins=has_origins[0] if has_origins else False,
        fault=next(_variables_from_environment(closure, layout.originals), ""),
    )


def _variables_from_environment(closure: Closure, contents: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the variables that would get their values from the environment that kustomize runs in."""
    for path in sorted(closure.environments):
        for number, line in enumerate(contents[path].removeprefix(_MARK).split(b"\n"), start=1):
            name = line.strip().decode("utf-8", "replace")
            if name in ENVIRONMENT:
                place = f"{closure.shown_path(path)}:{number}"
                yield f"{place}: {name} has no value, and a build has no environment to take it from"


class _Layout(Struct):
    """A copy while it is laid out.

    ``originals`` are the files as they are in the commit, ``configuration`` those that are written anew beside
    kustomizations, and ``aside`` is the folder for moved ones.
    """

    closure: Closure
    originals: Mapping[str, bytes]
    configuration: Mapping[str, bytes]
    aside: str
    files: dict[str, bytes]
    moved: dict[tuple[str, str, bool], Moved] = field(default_factory=dict)

    @classmethod
    def of(cls, closure: Closure, contents: Mapping[bytes, bytes]) -> "_Layout":
        originals = {file.path: contents[file.id] for file in closure.files}
        anew = {path: _documents_written_anew(originals[path]) for path in closure.plugins | closure.configurations}
        aside = _ASIDE
        while any(aside in path for path in originals):
            aside += "-"
        return cls(closure, originals, anew, aside, {**originals, **anew})

    def write_file_of_closure(self, path: str) -> bool:
        """Write a kustomization anew, with the places of moved files; say whether it has origins written down."""
        documents, _ = read_documents(self.originals[path])
        value = deepcopy(documents[0].value) if documents else None
        if isinstance(value, dict):
            folder = path.rpartition("/")[0]
            for slot in slots_of(value):
                self._fill_slot(folder, slot)
        self.files[path] = emit(value) if documents else b""
        return isinstance(value, dict) and bool(value.get("buildMetadata"))

    def _fill_slot(self, folder: str, slot: Slot) -> None:
        """Write what stands in a place anew, or name the place that its file is moved to."""
        if slot.is_inline and slot.role is Role.PLUGIN:
            slot.holder[slot.key] = _documents_written_anew(slot.path.encode("utf-8", "surrogateescape")).decode()
        path = path_joined_to(folder, slot.path) if is_file_path(slot.path) and not slot.is_inline else None
        if path is None or path not in self.originals:
            return
        is_configuration = slot.role in {Role.PLUGIN, Role.CONFIGURATION} or folder in self.closure.listings
        is_other = not is_configuration and (path in self.configuration or path in self.closure.kustomizations)
        if is_other or not path.startswith(f"{folder}/" if folder else ""):
            slot.fill(self._relative_place(folder, slot.path, path, is_configuration=is_configuration))

    def _relative_place(self, folder: str, text: str, path: str, *, is_configuration: bool) -> str:
        """Return the place of a moved file, seen from the folder that names it."""
        key = (folder, text, is_configuration)
        if key not in self.moved:
            place = f"{self.aside}/{len(self.moved)}/{posixpath.basename(path)}"
            content = self.configuration[path] if is_configuration else self.originals[path]
            self.moved[key] = Moved(folder, text, path, place)
            self.files[posixpath.join(folder, place)] = content
        return self.moved[key].place


def _documents_written_anew(content: bytes) -> bytes:
    """Return documents as their values are written."""
    return b"---\n".join(emit(document.value) for document in read_documents(content)[0])
