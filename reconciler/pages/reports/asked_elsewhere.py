"""The commands that answer what a report cannot, for it asks something, by the addresses that pages link to."""

from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from reconciler.pages.views.what_if import OPTIONS_OF_LOSSES
from reconciler.pages.web_pages import segments_of_path, view_at_address
from render.expressions import lazy_expression

_LISTS = ("objects", "clusters", "policies", "namespaces")
_PAGE, _AT, _SORT = "page", "at", "sort"
_DASH = "-"
_COMMIT = lazy_expression(r"[0-9a-f]{40,64}")


class AskedElsewhere(NamedTuple):
    """A question that a report does not answer: its subject, and the words of the command that does."""

    subject: str
    command: tuple[str, ...]


_BY_PAGES = AskedElsewhere("other times, and pages without room", ("argosy", "ui"))


def asked_at_address(address: str) -> AskedElsewhere:
    """Return what an address of a server asks.

    >>> asked_at_address("/what-if?without=eu-1")
    AskedElsewhere(subject='losses', command=('argosy', 'simulate', '--without-cluster=eu-1'))
    >>> asked_at_address("/objects?at=abc&sort=-since").command
    ('argosy', 'list', 'objects', '--at=abc', '--sort=since', '--reverse')
    """
    parts = urlsplit(address)
    segments = segments_of_path(parts.path) or ()
    segments = segments[2:] if segments[:1] == ("f",) else segments
    view, named, _ = view_at_address(segments)
    ask = _QUESTIONS.get(view.name) if view else None
    return ask({**named, **_shortened(dict(parse_qsl(parts.query)))}) if ask else _BY_PAGES


def _shortened(query: Mapping[str, str]) -> dict[str, str]:
    """Return what is asked with commits as people write them."""
    return {name: value[:12] if _COMMIT.fullmatch(value) else value for name, value in query.items()}


def is_order_of_table(address: str) -> bool:
    """Say whether an address asks for the present list in another order."""
    return _SORT in dict(parse_qsl(urlsplit(address).query))


def _losses(query: Mapping[str, str]) -> AskedElsewhere:
    words = [f"{option}={query[name]}" for name, option in OPTIONS_OF_LOSSES.items() if query.get(name)]
    if by := query.get("by"):
        words = ["--n-minus=1", f"--by={by}"]
    past = [f"--at={query[_AT]}"] if query.get(_AT) else []
    return AskedElsewhere("losses", ("argosy", "simulate", *words, *past))


def _difference(query: Mapping[str, str]) -> AskedElsewhere:
    revisions = [query[name] for name in ("base", "head") if query.get(name, _DASH)[0] != _DASH]
    return AskedElsewhere("differences of revisions", ("argosy", "diff", *revisions))


def _search(query: Mapping[str, str]) -> AskedElsewhere:
    words = [word for word in query.get("q", "").split() if word[0] != _DASH]
    return AskedElsewhere("a search", ("argosy", "search", *words))


def _timeline(query: Mapping[str, str]) -> AskedElsewhere:
    named = [f"{name}/{query[name]}" for name in ("cluster", "namespace") if query.get(name)]
    revision = [f"--rev={at}"] if (at := query.get("from") or query.get(_AT)) else []
    return AskedElsewhere("other timelines", ("argosy", "history", *named, "--commits", *revision))


def _overview(query: Mapping[str, str]) -> AskedElsewhere:
    return AskedElsewhere("other times", ("argosy", "overview", *_options(query)))


def _matrix(query: Mapping[str, str]) -> AskedElsewhere:
    return AskedElsewhere("parts of the matrix", ("argosy", "matrix", *_options(query)))


def _list_of(noun: str) -> Callable[[Mapping[str, str]], AskedElsewhere]:
    def question(query: Mapping[str, str]) -> AskedElsewhere:
        order = query.get(_SORT, "")
        asked = {**query, _SORT: order.removeprefix(_DASH)}
        reverse = ["--reverse"] if order.startswith(_DASH) else []
        return AskedElsewhere("filters and orders of lists", ("argosy", "list", noun, *_options(asked), *reverse))

    return question


def _options(query: Mapping[str, str]) -> list[str]:
    """Return what is asked as options; a value stands behind ``=``, so that no name is taken for an option."""
    return [f"--{name}={value}" for name, value in query.items() if value and name not in {_PAGE, "column"}]


_QUESTIONS: Mapping[str, Callable[[Mapping[str, str]], AskedElsewhere]] = {
    "whatif": _losses,
    "diff": _difference,
    "search": _search,
    "changes": _timeline,
    "overview": _overview,
    "matrix": _matrix,
    "cluster": _list_of("objects"),
    **{name: _list_of(name) for name in _LISTS},
}
