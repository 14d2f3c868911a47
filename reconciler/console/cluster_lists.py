"""Clusters in a cell or a sentence: all of them, all but some, or by name, as short as there is room for."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence

MOST_NAMED = 12
"""The most clusters that are named where no width limits them."""

_SHOWN = 6
OVERRIDDEN = "*"
"""The mark of replicas that a cluster gets where its policy assigns others: by an override, or for want of a writer."""


def summarized_cluster_names(names: Sequence[str], every: Collection[str], most: int = _SHOWN) -> str:
    """Return where something is; ``every`` are all clusters there are.

    >>> (
    ...     summarized_cluster_names("ab", "ab"),
    ...     summarized_cluster_names("ab", "abc"),
    ...     summarized_cluster_names("abcdefgh", "abcdefghi"),
    ... )
    ('all 2 clusters', 'a, b', '8 of 9: all but i')
    >>> summarized_cluster_names("abcdefgh", "abcdefghijklmnop")
    '8 of 16: a, b, c, d, e, f, ...'
    """
    if len(names) == len(every) > 1:
        return f"all {len(every)} clusters"
    if len(names) <= most or not every:
        return _joined_first_names(names, most)
    missing = sorted(set(every).difference(names))
    which = (
        f"all but {_joined_first_names(missing, most)}"
        if len(missing) < len(names)
        else _joined_first_names(names, most)
    )
    return f"{len(names)} of {len(every)}: {which}"


def _joined_first_names(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


OVERRIDDEN_NOTE = (
    f"{OVERRIDDEN} other replicas than the policy assigns: an override sets them, or nothing writes a share"
)


def clusters_with_replicas_within_width(
    replicas: Mapping[str, int], every: Collection[str], width: int = 0, overridden: Container[str] = ()
) -> str:
    """Return the clusters of a workload with their replicas (0: it has none), in so many columns (0: any number).

    ``overridden`` are those in which an override sets them.

    >>> clusters_with_replicas_within_width({"berlin": 5, "paris": 3}, ["berlin", "paris", "rome"])
    'berlin:5 paris:3'
    >>> clusters_with_replicas_within_width({"berlin": 5, "paris": 3}, ["berlin", "paris", "rome"], 12)
    '8 in 2 of 3'
    """
    forms = list(_cluster_cells_longest_first(replicas, every, overridden))
    if not width:
        return forms[0] if len(replicas) <= MOST_NAMED else forms[min(1, len(forms) - 1)]
    return next((form for form in forms if len(form) <= width), forms[-1])


def shortened_cluster_list(names: Sequence[str], separator: str = " ", most: int = MOST_NAMED) -> str:
    """Return the first of some clusters, and how many more there are.

    >>> shortened_cluster_list("ab"), shortened_cluster_list("abcdefghijklmno", ", ")
    ('a b', 'a, b, c, d, e, f, g, h, i, j, k, l and 3 more')
    """
    more = len(names) - most
    return separator.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def all_clusters_with_replicas(replicas: Mapping[str, int], overridden: Container[str] = ()) -> str:
    """Return every cluster by name, with its replicas where it has any, marked where an override sets them."""
    named = sorted(replicas.items())
    return (
        " ".join(cluster_with_replica_count(name, count, is_overridden=name in overridden) for name, count in named)
        or "-"
    )


def cluster_with_replica_count(name: str, count: int, *, is_overridden: bool) -> str:
    """Return a cluster with its replicas.

    >>> (
    ...     cluster_with_replica_count("rome", 3, is_overridden=True),
    ...     cluster_with_replica_count("rome", 0, is_overridden=False),
    ... )
    ('rome:3*', 'rome')
    """
    mark = OVERRIDDEN if is_overridden else ""
    return f"{name}:{count}{mark}" if count or mark else name


def _cluster_cells_longest_first(
    replicas: Mapping[str, int], every: Collection[str], overridden: Container[str]
) -> Iterator[str]:
    """Yield ways to write clusters, the longest first."""
    yield all_clusters_with_replicas(replicas, overridden)
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
            yield f"{amount}{part}: all but {_joined_first_names(missing, most)}"
    yield f"{amount}{part}"
    yield part
