"""The names that clusters get from contexts of a kubeconfig.

Clouds write more than the cluster into a context: who has it, where it stands, and the number of the account that pays
for it, which belongs into no repository. What tells clusters apart stands at the end, so a name keeps its end. Where
two would have the same name, both say where they stand; and where that is the same, too, they are numbered.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from render.expressions import lazy_expression

LONGEST = 48
_NOBODY: frozenset[str] = frozenset()
_FORMS = (
    lazy_expression(r"\Aarn:[^:]*:eks:(?P<place>[^:]*):[^:]*:cluster/(?P<name>.+)"),
    lazy_expression(r"\A(?:gke|connectgateway)_(?P<owner>[^_]+)_(?P<place>[^_]+)_(?P<name>.+)"),
    lazy_expression(r"\A(?:.*@)?(?P<name>[^@]+)\.(?P<place>[^.@]+)\.eksctl\.io"),
    lazy_expression(r"\A[^/]*/api[.-](?P<name>[^/:]+)(?::\d+)?/.+"),
)
"""The contexts of clouds: EKS, GKE, EKS by eksctl, and OpenShift, which has one for each project."""
_NUMBERS = lazy_expression(r"(?<![0-9a-z])(?:\d{10,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-z])")
"""Numbers of accounts and projects, and the UUIDs of subscriptions."""


def contexts_by_cluster_name(contexts: Iterable[str], taken: Collection[str] = _NOBODY) -> Mapping[str, str]:
    """Return contexts by the names their clusters get: what is no name becomes one, and two never get the same.

    ``taken`` are names that others have.

    >>> dict(contexts_by_cluster_name(["kind-eu", "admin@Prod.US"]))
    {'kind-eu': 'kind-eu', 'admin-prod-us': 'admin@Prod.US'}
    >>> list(contexts_by_cluster_name(["arn:aws:eks:eu-west-1:123456789012:cluster/shop", "gke_acme_europe-west1_pay"]))
    ['shop', 'pay']
    >>> list(contexts_by_cluster_name(["gke_acme_europe-west1_pay", "gke_acme_us-east1_pay"]))
    ['europe-west1-pay', 'us-east1-pay']
    """
    every = list(dict.fromkeys(contexts))
    named: dict[str, str] = {}
    for context, stem in zip(every, _shortest_distinct_names([_names_of_context(each) for each in every]), strict=True):
        number, name = 2, stem
        while name in named or name in taken:
            end = f"-{number}"
            name, number = f"{_end_of_name(stem, LONGEST - len(end))}{end}", number + 1
        named[name] = context
    return named


def _shortest_distinct_names(names: list[tuple[str, ...]]) -> list[str]:
    """Return of each list of names, the shortest first, one that no other has as well; the longest if others do."""
    lengths = [0] * len(names)
    for _ in range(max(map(len, names), default=0)):
        chosen = [each[min(length, len(each) - 1)] for each, length in zip(names, lengths, strict=True)]
        counts = Counter(chosen)
        lengths = [length + (counts[name] > 1) for length, name in zip(lengths, chosen, strict=True)]
    return [each[min(length, len(each) - 1)] for each, length in zip(names, lengths, strict=True)]


def _names_of_context(context: str) -> tuple[str, ...]:
    """Return what a cluster may be called, the shortest first: its name, with its place, and with whose it is."""
    found = next(filter(None, (form.fullmatch(context) for form in _FORMS)), None)
    parts = found.groupdict() if found else {"name": context}
    texts = [parts["name"]]
    for key in ("place", "owner"):
        if parts.get(key):
            texts.append(f"{parts[key]}-{texts[-1]}")
    return tuple(_name_of_text(text) for text in texts)


def _name_of_text(text: str) -> str:
    """Return a text as a name, without the numbers of accounts."""
    plain = re.sub("[^a-z0-9-]+", "-", text.lower())
    without = _NUMBERS.sub("", plain)
    return _end_of_name(re.sub("-+", "-", without).strip("-"), LONGEST) or "cluster"


def _end_of_name(name: str, length: int) -> str:
    """Return the end of a name, from the beginning of a word on if there is one.

    >>> _end_of_name("production-of-europe", 14), _end_of_name("abcdef", 3)
    ('of-europe', 'def')
    """
    if len(name) <= length:
        return name
    end = name[-length:]
    return (end if name[-length - 1] == "-" else end.partition("-")[2] or end).strip("-")
