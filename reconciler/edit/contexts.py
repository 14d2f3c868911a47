"""The contexts of a kubeconfig that a new fleet takes as clusters: all, or those of names, patterns and numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from reconciler.members.kubeconfig import Context
from render.errors import ConfigError
from render.words import most_similar_word

_GLOB = frozenset("*?[")
EVERY_CONTEXT, NO_CONTEXT = "all", "none"


def contexts_among_available(available: Iterable[str], chosen: Iterable[str]) -> tuple[str, ...]:
    """Return the contexts that names and patterns choose, in their order; ConfigError says what chooses none.

    >>> contexts_among_available(["kind-eu", "kind-us", "prod"], ["prod", "kind-*"])
    ('prod', 'kind-eu', 'kind-us')
    """
    known = sorted(available)
    found: dict[str, None] = {}
    for text in chosen:
        matching = [text] if text in known else [each for each in known if fnmatchcase(each, text)]
        if not matching:
            near = "" if _GLOB & {*text} else most_similar_word(text, known)
            hint = f"did you mean {near!r}?" if near else "kubectl config get-contexts lists them"
            called = "that fits" if _GLOB & {*text} else "called"
            raise ConfigError(f"the kubeconfig has no context {called} {text!r}", hint=hint)
        found |= dict.fromkeys(matching)
    return tuple(found)


def contexts_of_answer(available: Sequence[str], answer: str) -> tuple[str, ...]:
    """Return the contexts that an answer names by numbers, ranges of them, names and patterns; ConfigError otherwise.

    >>> contexts_of_answer(["kind-eu", "kind-us", "prod"], "3, 1-2"), contexts_of_answer(["a", "b"], "all")
    (('prod', 'kind-eu', 'kind-us'), ('a', 'b'))
    """
    if answer.strip() in {EVERY_CONTEXT, NO_CONTEXT} - {*available}:
        return tuple(available) if answer.strip() == EVERY_CONTEXT else ()
    found: dict[str, None] = {}
    for text in answer.replace(",", " ").split():
        numbered = () if text in available else _contexts_of_numbers(available, text)
        found |= dict.fromkeys(numbered or contexts_among_available(available, [text]))
    if not found:
        raise ConfigError("no context is named")
    return tuple(found)


def _contexts_of_numbers(available: Sequence[str], text: str) -> Sequence[str]:
    """Return the contexts of a number such as 2, or of a range such as 2-4; nothing for other texts."""
    first, _, last = text.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal()):
        return ()
    begin, end = int(first), int(last or first)
    if not 1 <= begin <= end <= len(available):
        raise ConfigError(f"there is no context {text}: they are numbered from 1 to {len(available)}")
    return available[begin - 1 : end]


def contexts_by_server(contexts: Mapping[str, Context]) -> Iterator[tuple[str, ...]]:
    """Yield the contexts that reach the same server, in order: as members, they would be one cluster twice.

    Behind a proxy, the name that is asked for tells servers apart.
    """
    groups: dict[tuple[object, ...], list[str]] = {}
    for name in sorted(contexts):
        cluster = contexts[name].cluster
        server = tuple(cluster.get(each) for each in ("server", "tls-server-name", "proxy-url"))
        groups.setdefault(server if server[0] else (name,), []).append(name)
    yield from map(tuple, groups.values())
