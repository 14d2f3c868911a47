"""Allowances: statements that more objects may be removed, more replicas moved, or more be paid than guards let pass.

They are given as options of a command, such as ``--allow-removal``, and as trailers of source commits.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from render.notations import decimal_number, is_currency

EACH = "*"
"""The subject that stands for each cluster, or for the fleet and each workload."""


class RemovalAllowance(Struct, frozen=True, kw_only=True):
    """A statement that ``count`` objects may leave ``cluster`` (``*``: each cluster)."""

    cluster: str
    count: int

    @classmethod
    def parse(cls, text: str) -> "RemovalAllowance":
        """Read ``<cluster|*> <count>`` (or ``<cluster|*>=<count>``); ValueError when it is neither."""
        cluster, count = text.replace("=", " ").split()
        return cls(cluster=cluster, count=_parse_count(count))


class MovementAllowance(Struct, frozen=True, kw_only=True):
    """A statement that ``count`` replicas of ``subject`` may move, or that it may leave so many clusters.

    ``*`` stands for the fleet and for every workload.
    """

    subject: str
    count: int

    @classmethod
    def parse(cls, text: str) -> "MovementAllowance":
        """Read ``<object|*> <count>`` (or ``<object|*>=<count>``); ValueError when it is neither."""
        subject, _, count = text.strip().replace("=", " ").rpartition(" ")
        if not subject.strip():
            raise ValueError(text)
        return cls(subject=" ".join(subject.split()), count=_parse_count(count))


class CostAllowance(Struct, frozen=True, kw_only=True):
    """A statement that the fleet may cost so much more a month, in a currency ("": that of its prices)."""

    amount: Fraction
    currency: str = ""

    @classmethod
    def parse(cls, text: str) -> "CostAllowance":
        """Read ``<amount>`` or ``<amount> <currency>``; ValueError when it is neither."""
        amount, _, currency = text.strip().partition(" ")
        number, currency = decimal_number(amount), currency.strip()
        if number is None or (currency and not is_currency(currency)):
            raise ValueError(text)
        return cls(amount=number, currency=currency)

    def covers(self, increase: Fraction, currency: str) -> bool:
        """Say whether an increase is allowed by it."""
        return increase <= self.amount and self.currency in {"", currency}


class Allowed(Struct, frozen=True, kw_only=True):
    """The removals, movements and costs that are allowed beyond the limits.

    ``objects`` may be taken away though they are protected, ``fragile`` ones may lose resilience (``*``: each).
    """

    removals: tuple[RemovalAllowance, ...] = ()
    movements: tuple[MovementAllowance, ...] = ()
    costs: tuple[CostAllowance, ...] = ()
    objects: frozenset[str] = frozenset()
    fragile: frozenset[str] = frozenset()

    def __or__(self, other: "Allowed") -> "Allowed":
        return Allowed(
            removals=self.removals + other.removals,
            movements=self.movements + other.movements,
            costs=self.costs + other.costs,
            objects=self.objects | other.objects,
            fragile=self.fragile | other.fragile,
        )

    @property
    def removals_by_cluster(self) -> Mapping[str, int]:
        """The most objects that may leave each cluster that is named (``*``: each)."""
        counts: dict[str, int] = {}
        for each in self.removals:
            counts[each.cluster] = max(counts.get(each.cluster, 0), each.count)
        return counts


def _parse_count(text: str) -> int:
    """Read how many are allowed; ValueError for what is no number of things.

    >>> _parse_count("0012")
    12
    """
    if not (text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)


def count_of_allowed_removals(count_by_cluster: Mapping[str, int], cluster: str) -> int:
    """Return how many objects may leave a cluster, which is named or meant by ``*``."""
    return max(count_by_cluster.get(cluster, 0), count_by_cluster.get(EACH, 0))


def hint_to_allow(trailers: Sequence[str], otherwise: str) -> str:
    """Return what to do where a refusal is not meant to stand: the trailers, or another way, and a commit to copy."""
    named = ", ".join(f"'{each}'" for each in trailers)
    ready = " ".join(["git commit --allow-empty -m 'Allow it'", *(f"--trailer '{each}'" for each in trailers)])
    return f"if it is meant, say so in a source commit with the trailer {named}, or {otherwise}\n    {ready}"
