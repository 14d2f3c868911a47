"""Clusters in a cell or a sentence: all of them, all but some, or by name, as short as there is room for."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence

MOST_NAMED = 12
"""The most clusters that are named where no width limits them."""

_SHOWN = 6
OVERRIDDEN = "*"
"""The mark of replicas that a cluster gets where its policy assigns others: by an override, or for want of a writer."""


def cluster_words(names: Sequence[str], every: Collection[str], most: int = _SHOWN) -> str:
    """Return where something is; ``every`` are all clusters there are.

    >>> cluster_words("ab", "ab"), cluster_words("ab", "abc"), cluster_words("abcdefgh", "abcdefghi")
    ('all 2 clusters', 'a, b', '8 of 9: all but i')
    >>> cluster_words("abcdefgh", "abcdefghijklmnop")
    '8 of 16: a, b, c, d, e, f, ...'
    """
    if len(names) == len(every) > 1:
        return f"all {len(every)} clusters"
    if len(names) <= most or not every:
        return _first_names(names, most)
    missing = sorted(set(every).difference(names))
    which = f"all but {_first_names(missing, most)}" if len(missing) < len(names) else _first_names(names, most)
    return f"{len(names)} of {len(every)}: {which}"


def _first_names(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


OVERRIDDEN_NOTE = (
    f"{OVERRIDDEN} other replicas than the policy assigns: an override sets them, or nothing writes a share"
)


def cluster_cell(
    replicas: Mapping[str, int], every: Collection[str], width: int = 0, overridden: Container[str] = ()
) -> str:
    """Return the clusters of a workload with their replicas (0: it has none), in so many columns (0: any number).

    ``overridden`` are those in which an override sets them.

    >>> cluster_cell({"berlin": 5, "paris": 3}, ["berlin", "paris", "rome"])
    'berlin:5 paris:3'
    >>> cluster_cell({"berlin": 5, "paris": 3}, ["berlin", "paris", "rome"], 12)
    '8 in 2 of 3'
    """
    forms = list(_cluster_cells(replicas, every, overridden))
    if not width:
        return forms[0] if len(replicas) <= MOST_NAMED else forms[min(1, len(forms) - 1)]
    return next((form for form in forms if len(form) <= width), forms[-1])


def first_clusters(names: Sequence[str], separator: str = " ", most: int = MOST_NAMED) -> str:
    """Return the first of some clusters, and how many more there are.

    >>> first_clusters("ab"), first_clusters("abcdefghijklmno", ", ")
    ('a b', 'a, b, c, d, e, f, g, h, i, j, k, l and 3 more')
    """
    more = len(names) - most
    return separator.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def full_cluster_cell(replicas: Mapping[str, int], overridden: Container[str] = ()) -> str:
    """Return every cluster by name, with its replicas where it has any, marked where an override sets them."""
    named = sorted(replicas.items())
    return " ".join(replica_words(name, count, is_overridden=name in overridden) for name, count in named) or "-"


def replica_words(name: str, count: int, *, is_overridden: bool) -> str:
    """Return a cluster with its replicas.

    >>> replica_words("rome", 3, is_overridden=True), replica_words("rome", 0, is_overridden=False)
    ('rome:3*', 'rome')
    """
    mark = OVERRIDDEN if is_overridden else ""
    return f"{name}:{count}{mark}" if count or mark else name


def _cluster_cells(replicas: Mapping[str, int], every: Collection[str], overridden: Container[str]) -> Iterator[str]:
    """Yield ways to write clusters, the longest first."""
    yield full_cluster_cell(replicas, overridden)
    if len(replicas) < 2:
        return
    counts = set(replicas.values())
    amount = str(sum(counts)) + " each in " if len(counts) == 1 else f"{sum(replicas.values())} in "
    amount = "" if counts == {0} else amount
    if amount and any(name in overridden for name in replicas):
        amount = f"{amount.removesuffix(' in ')}{OVERRIDDEN} in "
    if len(replicas) == len(every):
        yield f"{amount}all {len(every)} clusters"
        part = f"all {len(every)}"
    else:
        part, missing = f"{len(replicas)} of {len(every)}", sorted(set(every).difference(replicas))
        for most in range(min(_SHOWN, len(missing)), 0, -1):
            yield f"{amount}{part}: all but {_first_names(missing, most)}"
    yield f"{amount}{part}"
    yield part
