"""Variants of objects in the folders of a repository: which of them a fleet that begins here reads, and which not.

A folder is chosen as a whole: an object of one variant beside one of another is what nobody wrote. Of the places that
define an object differently, the one wins that the README has people apply; then one that a kustomization builds or
that a policy stands beside; then the one nearest to the top; then the first by name. For it, the widest folders of the
others are left out that mostly repeat what stands elsewhere, that hold no two variants themselves, and that have no
policy, override or cluster of their own. Where none of the others is like that, it is left out itself, if it is; a
file is left out for another one of its folder alone, or where it holds nothing but policies, overrides and the like of
which each stands elsewhere, too: two of one name stop every pass. Else nothing is left out, and somebody has to choose.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from render.expressions import lazy_expression
from render.model import ObjectRef

from .files import KUSTOMIZATIONS

_SPECIAL, _ESCAPED = lazy_expression(r"[*?\[\\]| $"), r"\\\g<0>"
_Rank = tuple[int, int, list[str]]
"""The use that a repository makes of a file, its depth, and its name."""


class Definition(NamedTuple):
    """A place that defines an object: its file, a number that equal definitions share, and whether it was built.

    ``decides``: it decides about other objects, as policies and clusters do.
    """

    path: str
    content: int
    is_built: bool = False
    decides: bool = False


class FolderUses(NamedTuple):
    """The files and folders that a README has people apply, and the folders that policies stand in."""

    applied: Collection[str] = frozenset()
    of_policies: Collection[str] = frozenset()


class _ObjectPlaces(Struct):
    """The files of one object that are not left out, with the number of its definitions in each, and below each folder.

    ``order`` has the files in the order of their definitions, of which those before ``first`` are left out. ``alone``
    are the folders and files without which it would stand nowhere.
    """

    files: dict[str, int]
    below: Counter[str]
    total: int
    decides: bool
    alone: set[str]
    order: tuple[str, ...]
    first: int = 0

    @classmethod
    def of(cls, definitions: Sequence[Definition]) -> "_ObjectPlaces":
        """Return the places of an object of which nothing is left out yet."""
        files = Counter(each.path for each in definitions)
        below = Counter(path for each in definitions for path in paths_down_to(each.path))
        alone = {path for path, count in below.items() if count == len(definitions)}
        return cls(dict(files), below, len(definitions), definitions[0].decides, alone, tuple(files))

    def path_of_any(self) -> str:
        """Return one of the files that are left; "" for none."""
        while self.first < len(self.order) and self.order[self.first] not in self.files:
            self.first += 1
        return self.order[self.first] if self.first < len(self.order) else ""


class _FolderContents(NamedTuple):
    """The objects below each folder and file: all, those that also stand elsewhere, and what keeps it from being left.

    ``undivided`` hold two variants of an object, or something that decides and stands nowhere else. ``deciding`` counts
    what decides. What is left out counts no more, so that the last folder with an object is none that repeats others.
    """

    counts: Counter[str]
    shared: Counter[str]
    undivided: set[str]
    deciding: Counter[str]
    objects_of_file: Mapping[str, Sequence[_ObjectPlaces]]
    files_below: Mapping[str, Sequence[str]]

    def leave_out(self, path: str) -> None:
        """Count nothing below a folder, or in a file, any more."""
        for file in self.files_below.get(path, ()):
            for places in self.objects_of_file[file]:
                if file in places.files:
                    self._leave_out_definitions(places, file)

    def _leave_out_definitions(self, places: _ObjectPlaces, file: str) -> None:
        """Leave out the definitions of an object in a file; what it has alone from then on repeats nothing."""
        gone = places.files.pop(file)
        places.total -= gone
        for path in paths_down_to(file):
            places.below[path] -= gone
            self.counts[path] -= gone
            self.shared[path] -= 0 if path in places.alone else gone
            self.deciding[path] -= gone if places.decides else 0
        for path in paths_down_to(places.path_of_any()) if places.files else ():
            if places.below[path] == places.total and path not in places.alone:
                places.alone.add(path)
                self.shared[path] -= places.below[path]
                if places.decides:
                    self.undivided.add(path)

    def is_mostly_repeated(self, path: str) -> bool:
        """Say whether a folder or file may be left out for another one."""
        return path not in self.undivided and self.counts[path] <= 2 * self.shared[path]

    def may_be_left_out_for_any(self, path: str) -> bool:
        """Say whether a file, or a folder above it, may be left out for a file wherever that stands."""
        above, _, name = path.rpartition("/")
        is_alone = name not in KUSTOMIZATIONS and (not above or self.holds_only_repeated_policies(path))
        return any(self.is_mostly_repeated(each) for each in paths_down_to(path) if each != path or is_alone)

    def may_be_left_out_beside(self, path: str) -> bool:
        """Say whether a file may be left out for one in or below its folder."""
        return path.rpartition("/")[2] not in KUSTOMIZATIONS and self.is_mostly_repeated(path)

    def holds_only_repeated_policies(self, path: str) -> bool:
        """Say whether nothing but policies and the like stands there, each of which stands elsewhere, too."""
        return self.counts[path] == self.shared[path] == self.deciding[path]


def paths_to_leave_out(objects: Mapping[ObjectRef, Sequence[Definition]], uses: FolderUses) -> list[str]:
    """Return the folders and files to leave out, so that of each object as few variants as possible are left."""
    variants = {ref: each for ref, each in objects.items() if len({one.content for one in each}) > 1}
    refs_by_path: dict[str, list[ObjectRef]] = {}
    built = {each.path for definitions in variants.values() for each in definitions if each.is_built}
    for ref, definitions in variants.items():
        for path in {each.path: None for each in definitions}:
            refs_by_path.setdefault(path, []).append(ref)
    ranks = {path: _rank_of_variant(path, built, uses) for path in refs_by_path}
    contents = _contents_of_folders(objects.values())
    choosing = _Choosing(contents, ranks, set(), set())
    rivals = {ref: _Rivals.of(definitions, contents) for ref, definitions in variants.items()}
    for path in sorted(refs_by_path, key=ranks.__getitem__):
        if not choosing.is_left_out(path):
            others = (other for ref in refs_by_path[path] for other in rivals[ref].paths_to_weigh_against(path))
            choosing.choose(path, dict.fromkeys(others))
    return sorted(path for path in choosing.left_out if not choosing.is_left_out(path.rpartition("/")[0]))


class _Rivals(NamedTuple):
    """The definitions of one object, by what one of two files could be left out for the other.

    ``own`` are the numbers of definitions by their file, ``anywhere`` those of files that may be left out for any
    other, ``inside`` of files that may be for one in or below their folder, by that folder, and ``below`` all, by each
    folder above them and by their file. Of thousands that cannot be left out for each other, none is compared with any.
    """

    definitions: Sequence[Definition]
    own: defaultdict[str, set[int]]
    anywhere: set[int]
    inside: defaultdict[str, set[int]]
    below: defaultdict[str, set[int]]

    @classmethod
    def of(cls, definitions: Sequence[Definition], contents: _FolderContents) -> "_Rivals":
        """Return the definitions of one object, sorted."""
        numbers = defaultdict[str, set[int]]
        rivals = cls(definitions, numbers(set), set(), numbers(set), numbers(set))
        for number, each in enumerate(definitions):
            rivals.own[each.path].add(number)
            for folder in paths_down_to(each.path):
                rivals.below[folder].add(number)
            if contents.may_be_left_out_for_any(each.path):
                rivals.anywhere.add(number)
            elif contents.may_be_left_out_beside(each.path):
                rivals.inside[each.path.rpartition("/")[0]].add(number)
        return rivals

    def paths_to_weigh_against(self, path: str) -> Iterator[str]:
        """Yield the places that define the object otherwise than a file, if either may be left out for the other."""
        own = self.own[path]
        contents = {self.definitions[number].content for number in own}
        numbers: Iterable[int] = range(len(self.definitions))
        if own.isdisjoint(self.anywhere):
            above = path.rpartition("/")[0]
            beside = (self.inside.get(folder, ()) for folder in paths_down_to(path))
            is_inside = not own.isdisjoint(self.inside.get(above, ()))
            numbers = sorted(self.anywhere.union(self.below[above] if is_inside else (), *beside))
        others = (self.definitions[number] for number in numbers)
        return (each.path for each in others if each.path != path and each.content not in contents)


class _Choosing(NamedTuple):
    """The choice so far: the folders and files that are left out, and those that may not be, above what is kept."""

    contents: _FolderContents
    ranks: Mapping[str, _Rank]
    left_out: set[str]
    kept: set[str]

    def is_left_out(self, path: str) -> bool:
        """Say whether a path, or a folder above it, is left out."""
        return not self.left_out.isdisjoint(paths_down_to(path))

    def choose(self, path: str, others: Collection[str]) -> None:
        """Keep a file and leave out others for it, or the file for one that has to be kept and is of as much use."""
        down = set(paths_down_to(path))
        for other in others:
            is_of_equal_use = self.ranks[other][0] == self.ranks[path][0] and not self.is_left_out(other)
            is_to_stay = is_of_equal_use and not self._widest_to_leave_out(other, down)
            if is_to_stay and (widest := self._widest_to_leave_out(path, set(paths_down_to(other)))):
                self._leave_out(widest)
                return
        self.kept.update(down)
        for other in others:
            if not self.is_left_out(other) and (widest := self._widest_to_leave_out(other, down)):
                self._leave_out(widest)

    def _leave_out(self, path: str) -> None:
        self.left_out.add(path)
        self.contents.leave_out(path)

    def _widest_to_leave_out(self, path: str, beside: Collection[str]) -> str:
        """Return the widest folder of a file to leave out, or the file where one beside it is kept; "" for neither.

        ``beside`` are the paths above the file that would be kept for it.
        """
        for each in paths_down_to(path):
            above, _, name = each.rpartition("/")
            # What is built goes with the folder of its kustomization, whose files would be read by themselves without.
            is_beside = not above or above in beside or self.contents.holds_only_repeated_policies(each)
            is_whole = each != path or (is_beside and name not in KUSTOMIZATIONS)
            if is_whole and not (each in self.kept or each in beside) and self.contents.is_mostly_repeated(each):
                return each
        return ""


def _rank_of_variant(path: str, built: Collection[str], uses: FolderUses) -> _Rank:
    """Return a value by which the variant that is chosen comes first."""
    folder, _, name = path.rpartition("/")
    is_applied = any(each in uses.applied for each in paths_down_to(path))
    use = 0 if is_applied else 1 if path in built or folder in uses.of_policies else 2
    return use, path.count("/"), [*folder.split("/"), name.rpartition(".")[0]]


def _contents_of_folders(objects: Iterable[Sequence[Definition]]) -> _FolderContents:
    counts: Counter[str] = Counter()
    shared: Counter[str] = Counter()
    undivided: set[str] = set()
    deciding: Counter[str] = Counter()
    of_file: defaultdict[str, list[_ObjectPlaces]] = defaultdict(list)
    for definitions in objects:
        places = _ObjectPlaces.of(definitions)
        undivided.update(_paths_with_two_variants(definitions))
        for file in places.files:
            of_file[file].append(places)
        counts.update(places.below)
        shared.update({path: count for path, count in places.below.items() if path not in places.alone})
        if places.decides:
            deciding.update(places.below)
            undivided.update(places.alone)
    files_below: defaultdict[str, list[str]] = defaultdict(list)
    for file in of_file:
        for path in paths_down_to(file):
            files_below[path].append(file)
    return _FolderContents(counts, shared, undivided, deciding, of_file, files_below)


def _paths_with_two_variants(definitions: Iterable[Definition]) -> Iterator[str]:
    """Yield the folders and files that hold an object in two variants."""
    content_by_folder: dict[str, int] = {}
    for each in definitions:
        for path in paths_down_to(each.path):
            if content_by_folder.setdefault(path, each.content) != each.content:
                yield path


def paths_down_to(path: str) -> Iterator[str]:
    """Yield the folders above a file, the uppermost first, and the file.

    >>> list(paths_down_to("a/b/c.yaml"))
    ['a', 'a/b', 'a/b/c.yaml']
    """
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)
    yield path


def variant_roots(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the folders or files at which the places of one object part, each once.

    >>> variant_roots(["apps/staging/web/a.yaml", "apps/production/web/a.yaml", "b.yaml"])
    ('apps/staging', 'apps/production', 'b.yaml')
    >>> variant_roots(["a.yaml", "a.yaml"])
    ('a.yaml',)
    """
    below = Counter(each for path in paths for each in paths_down_to(path))
    return tuple(
        dict.fromkeys(next((each for each in paths_down_to(path) if below[each] == 1), path) for path in paths)
    )


def objects_in_one_folder_only(
    objects: Mapping[ObjectRef, Sequence[Definition]], among: Collection[str]
) -> dict[str, list[str]]:
    """Return the objects that stand below one of some folders or files and nowhere else, by path.

    >>> definitions = [Definition("x/a.yaml", 0), Definition("x/b.yaml", 0)]
    >>> objects_in_one_folder_only({ObjectRef("", "Node", "", "a"): definitions}, {"x"})
    {'x': ['Node a']}
    """
    found: dict[str, list[str]] = {}
    wanted = set(among)
    for ref, definitions in objects.items():
        below = Counter(each for one in definitions for each in paths_down_to(one.path) if each in wanted)
        for path, count in below.items():
            if count == len(definitions):
                found.setdefault(path, []).append(str(ref))
    return found


def ignore_line_of(path: str, folder: str, *, is_file: bool) -> str:
    r"""Return the ignore line for a folder or file of a fleet, in which nothing is a wildcard.

    >>> ignore_line_of("fleet/staging", "fleet", is_file=False), ignore_line_of("b.yaml", "", is_file=True)
    ('/staging/', '/b.yaml')
    >>> ignore_line_of("[id]/a*.yaml", "", is_file=True), path_of_ignore_line(r"/\[id]/a\*.yaml")
    ('/\\[id]/a\\*.yaml', '[id]/a*.yaml')
    """
    below = path.removeprefix(f"{folder}/") if folder else path
    return f"/{_SPECIAL.sub(_ESCAPED, below)}{'' if is_file else '/'}"


def path_of_ignore_line(line: str) -> str:
    """Return the path below the fleet's folder that such a line is for; that of a folder ends with a slash."""
    return re.sub(r"\\(.)", r"\1", line.removeprefix("/"))
