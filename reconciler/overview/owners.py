"""Owners: the people to ask about an object, as its template, its Namespace or the history of its file tells.

1. The template says so: the annotation or label ``argosy.dev/owner``, or a label ``owner`` or ``team``.
2. Its Namespace says so, in the same words.
3. Nobody does: then it is who last changed the file that it is made from, in the commits that are here.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from msgspec import Struct, field

from reconciler.repository import Repository
from render.errors import GitError
from render.model import ObjectRef, Template
from render.template_annotations import OWNER

_LABELS = (OWNER, "owner", "team")
_MOST_COMMITS, _MOST_FILES = 2_000, 100


class ObjectOwner(Struct, frozen=True, kw_only=True):
    """Somebody to ask, and how that is known ("": nobody is known)."""

    name: str = ""
    known_from: str = ""


class Owners(Struct, frozen=True, kw_only=True, dict=True):
    """The templates of a source commit, of which the owners are asked for."""

    repository: Repository
    source: str
    templates: tuple[Template, ...]

    @cached_property
    def _template_by_ref(self) -> Mapping[ObjectRef, Template]:
        return {each.ref: each for each in self.templates}

    def owners_of(self, objects: Iterable[ObjectRef]) -> dict[ObjectRef, ObjectOwner]:
        """Return the owner of each object; of the first hundred files that name none, by their history."""
        found: dict[ObjectRef, ObjectOwner] = {}
        path_by_ref: dict[ObjectRef, str] = {}
        for ref in objects:
            template = self._template_by_ref.get(ref)
            space = self._template_by_ref.get(ObjectRef("", "Namespace", "", ref.namespace))
            found[ref] = owner_named_in(template) or owner_named_in(space, "Namespace ") or ObjectOwner()
            if not found[ref].name and template is not None and template.path:
                path_by_ref[ref] = template.path
        paths = list(dict.fromkeys(path_by_ref.values()))[:_MOST_FILES]
        authors = last_authors(self.repository, self.source, paths)
        for ref, path in path_by_ref.items():
            if path in authors:
                found[ref] = authors[path]
        return found


def owner_named_in(template: Template | None, whose: str = "") -> ObjectOwner | None:
    """Return the owner that a template names; None where it names none."""
    if template is None:
        return None
    annotated = template.annotations.get(OWNER)
    if isinstance(annotated, str) and annotated:
        return ObjectOwner(name=annotated, known_from=f"{whose}annotation {OWNER}")
    for label in _LABELS:
        name = template.labels.get(label)
        if isinstance(name, str) and name:
            return ObjectOwner(name=name, known_from=f"{whose}label {label}")
    return None


class _AuthorSearch(Struct):
    """The files of which the last author is looked for, and those that are found."""

    wanted: set[str]
    found: dict[str, ObjectOwner] = field(default_factory=dict)

    def take(self, commit: str, author: str, paths: Iterable[str]) -> None:
        """Take a commit as the last one of those files of it that no newer commit changed."""
        for path in self.wanted.intersection(paths):
            self.wanted.discard(path)
            self.found[path] = ObjectOwner(name=author, known_from=f"author of {commit[:12]}")


def last_authors(repository: Repository, commit: str, paths: Collection[str]) -> dict[str, ObjectOwner]:
    """Return who last changed each of some files, up to a commit; those of whom nobody is known here are left out."""
    if not paths:
        return {}
    arguments = ("-z", "--no-renames", "--name-only", f"--max-count={_MOST_COMMITS}", "--format=%x01%H%x02%an%x03")
    try:
        output = repository.git.text("log", *arguments, "--end-of-options", commit, "--", *sorted(paths))
    except GitError:  # the source commit is not here
        return {}
    search = _AuthorSearch(set(paths))
    for part in output.split("\x01")[1:]:
        head, _, names = part.partition("\x03")
        id_, _, author = head.partition("\x02")
        search.take(id_, author, names.removeprefix("\0\n").split("\0"))
        if not search.wanted:
            break
    return search.found
