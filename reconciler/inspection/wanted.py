"""The objects that the words of a command name, and the kinds of a cluster that each word stands for."""

from collections.abc import Iterable, Sequence

import click
from msgspec import Struct

from reconciler.members.discovery import Discovery, Resource

DEFAULT_NAMESPACE = "default"


class KindWithNames(Struct, frozen=True, kw_only=True):
    """A word for a kind as people type it, and the names of the objects that are wanted (none: all of them)."""

    word: str
    names: tuple[str, ...] = ()


class ObjectsWanted(Struct, frozen=True, kw_only=True):
    """The objects to ask members for; ``namespace`` "" is all of them."""

    kinds: tuple[KindWithNames, ...]
    namespace: str = DEFAULT_NAMESPACE
    labels: str = ""
    fields: str = ""

    @property
    def are_named(self) -> bool:
        """True where objects are asked for by their names."""
        return any(kind.names for kind in self.kinds)


def parse_wanted_kinds(words: Sequence[str]) -> tuple[KindWithNames, ...]:
    """Read kubectl's ``KIND[,KIND] [NAME...]`` or ``KIND/NAME...``; a usage error says what is neither.

    >>> parse_wanted_kinds(["deploy,svc"])
    (KindWithNames(word='deploy', names=()), KindWithNames(word='svc', names=()))
    >>> parse_wanted_kinds(["deploy/web", "deploy/db"])
    (KindWithNames(word='deploy', names=('web', 'db')),)
    """
    if not words:
        raise click.UsageError("name a kind: argosy get KIND [NAME...], such as 'argosy get pods -n shop'")
    if any("/" in word for word in words):
        return tuple(_kinds_with_names(words))
    kinds, names = words[0].split(","), tuple(dict.fromkeys(words[1:]))
    if not all(kinds):
        raise click.UsageError(f"{words[0]!r}: write kinds with one comma between them, such as deploy,svc")
    return tuple(KindWithNames(word=kind, names=names) for kind in dict.fromkeys(kinds))


def _kinds_with_names(words: Sequence[str]) -> Iterable[KindWithNames]:
    names: dict[str, list[str]] = {}
    for word in words:
        kind, slash, name = word.partition("/")
        if not (slash and kind and name) or "/" in name or "," in kind:
            raise click.UsageError(f"{word!r}: beside KIND/NAME every word is a kind, a slash and one name")
        names.setdefault(kind, []).append(name)
    return (KindWithNames(word=kind, names=tuple(dict.fromkeys(each))) for kind, each in names.items())


def resources_meant_by(word: str, discovery: Discovery) -> tuple[Resource, ...]:
    """Return the kinds that a word stands for in a cluster, by kubectl's rules; several for a category such as ``all``.

    A word is the plural, the singular, the kind or a short name, with ``.group`` or ``.version.group`` behind it where
    one is to be told from another; of several versions and groups the one that the server lists first is meant.
    """
    name, _, rest = word.lower().partition(".")
    served = [each for each in discovery.resources.values() if "list" in each.verbs or "get" in each.verbs]
    inside = [each for each in served if not rest or rest in _endings_of_resource(each)]
    named = [each for each in inside if name in {each.plural, each.singular, each.kind.lower()}]
    found = named or [each for each in inside if name in each.short_names]
    if found:
        return tuple(found[:1])
    if rest:
        return ()
    by_kind: dict[tuple[str, str], Resource] = {}
    for each in served:
        if name in each.categories and "list" in each.verbs:
            by_kind.setdefault((each.group, each.kind), each)
    return tuple(by_kind.values())


def _endings_of_resource(resource: Resource) -> frozenset[str]:
    version_and_group = f"{resource.version}.{resource.group}" if resource.group else resource.version
    return frozenset({resource.group, version_and_group} - {""})


def words_for_kinds(discoveries: Iterable[Discovery]) -> frozenset[str]:
    """Return what people may call the kinds of some clusters, to find what a wrong word is like."""
    return frozenset(
        word
        for discovery in discoveries
        for each in discovery.resources.values()
        for word in (each.plural, each.singular, *each.short_names)
        if word
    )
