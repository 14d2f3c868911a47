"""The members that an edit is for: by name, by a glob such as ``eu-*``, and by labels.

All of them are edited in one change, which is refused as a whole where one of them refuses it.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

import click
from msgspec import Struct

from reconciler.members.choice import parse_label_selector
from reconciler.names.subjects import refuse_unknown_clusters
from render.cluster import Cluster
from render.documents.editing import Edit
from render.errors import UnknownName
from render.model import Manifest
from render.selectors import matches_labels
from render.words import first_few, hint_of_most_similar_words

from .cluster_files import Contents, MemberSource, SourceChange

_GLOB = frozenset("*?[")
EditsOf = Callable[[Manifest], tuple[Edit, ...]]
"""The edits to make in a Cluster, from its manifest."""


class MemberSelection(Struct, frozen=True, kw_only=True):
    """The names and globs that were given, and a label selector; members that are meant by both are selected."""

    names: tuple[str, ...] = ()
    selector: str = ""

    def __str__(self) -> str:
        return shlex.join([*self.names, *(("-l", self.selector) if self.selector else ())])


def selected_members(source: MemberSource, selection: MemberSelection) -> tuple[str, ...]:
    """Return the names of the members that are selected, sorted; UnknownName where there is none for a word."""
    for word in selection.names:
        if not _GLOB.intersection(word):
            source.place_of(word)
    return names_selected_among(source.loaded.desired.clusters, selection)


def names_selected_among(clusters: Iterable[Cluster], selection: MemberSelection) -> tuple[str, ...]:
    """Return the names of the selected ones of some members, sorted; UnknownName where there is none for a word."""
    selector = parse_label_selector(selection.selector)
    if not selection.names and selector is None:
        raise click.UsageError("name a member, or select some by their labels with -l")
    known = tuple(clusters)
    meant = {name for word in selection.names for name in _members_meant_by(word, [each.name for each in known])}
    chosen = {each.name for each in known if selector is None or matches_labels(selector, each.labels)}
    found = meant & chosen if selection.names else chosen
    if not found:
        hint = _hint_of_no_member(selection.selector, known)
        raise UnknownName(f"no cluster of the source is meant by {selection}", hint=hint)
    return tuple(sorted(found))


def _hint_of_no_member(selector: str, clusters: Sequence[Cluster]) -> str:
    """Return how to name clusters whose spec has as region or provider what was looked for among their labels."""
    for field in ("region", "provider"):
        key, _, value = selector.replace("==", "=").partition("=")
        named = sorted(each.name for each in clusters if value and getattr(each, field) == value.strip())
        if key.strip() == field and named:
            return f"-l looks at labels, and {field} is a field of the spec; name the clusters: {' '.join(named)}"
    return "argosy status lists the clusters"


def _members_meant_by(word: str, known: Sequence[str]) -> Iterator[str]:
    if not _GLOB.intersection(word):
        refuse_unknown_clusters([word], known)
        yield word
        return
    found = [name for name in known if fnmatchcase(name, word)]
    if not found:
        raise UnknownName(
            f"no cluster of the source is called like {word!r}", hint=hint_of_most_similar_words(word, known)
        )
    yield from found


def change_of_members(
    source: MemberSource, names: tuple[str, ...], edits_of: EditsOf, subject: str
) -> tuple[SourceChange | None, frozenset[str]]:
    """Return the change that edits Clusters where they stand, and which it changes; None where that is none."""
    contents: Contents = {}
    changed = set()
    for name in names:
        place = source.place_of(name)
        try:
            edits = edits_of(place.manifest)
        except click.UsageError as error:
            raise click.UsageError(f"{name}: {error.message}" if len(names) > 1 else error.message) from error
        if edits:
            contents = source.with_edits(place, edits, contents)
            changed.add(name)
    if not changed:
        return None, frozenset()
    source.checked_source(contents)
    return SourceChange(contents=contents, subject=subject), frozenset(changed)


def names_in_subject(names: Iterable[str]) -> str:
    """Return the names of members as the subject of a commit has them.

    >>> names_in_subject(["a", "b"]), names_in_subject(["a", "b", "c", "d"])
    ('a, b', 'a, b, c and 1 more')
    """
    return first_few(list(names))
