"""Names of the command line that nothing goes by: refused the same way everywhere, with the nearest name there is."""

from collections.abc import Collection, Iterable

from render.errors import UnknownName
from render.suggestions import nearest
from render.words import listed


def unknown_name(message: str, name: str, known: Collection[str]) -> UnknownName:
    """Return the error for a name that is not among those known; the hint is the nearest of them, or what there is."""
    if near := nearest(name, known):
        return UnknownName(message, hint=f"did you mean {near!r}?")
    return UnknownName(message, hint=f"known here: {listed(sorted(known))}" if known else "")


def unknown_cluster(name: str, known: Collection[str]) -> UnknownName:
    """Return the error for a cluster that the source does not have."""
    if not known:
        return UnknownName("the source has no clusters", hint="argosy cluster join NAME makes one")
    return unknown_name(f"the source has no cluster called {name!r}", name, known)


def check_clusters(names: Iterable[str], known: Collection[str]) -> None:
    """Raise UnknownName for the first name that is no cluster's."""
    for name in names:
        if name not in known:
            raise unknown_cluster(name, known)
