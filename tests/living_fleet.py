"""A fleet in memory that lives while a change goes out: clusters join, leave, fall silent, break and recover."""

from collections.abc import Collection
from datetime import UTC, datetime

from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.rollouts.policy import RolloutControl
from render.rollouts.state import ClusterObservation, RolloutFacts
from render.selectors import ClusterAffinity, LabelSelector

START = datetime(2026, 3, 1, 8, tzinfo=UTC)


def a_tier(tier: str) -> ClusterAffinity:
    return ClusterAffinity(label_selector=LabelSelector(match_labels=(("tier", tier),)))


class Fleet:
    """A fleet that lives: clusters with labels and health, and the change that stands in each."""

    def __init__(self) -> None:
        self.tiers: dict[str, str] = {}
        self.well_since: dict[str, datetime] = {}
        self.silent: set[str] = set()
        self.suspended: set[str] = set()
        self.broken: set[str] = set()
        self.controls: list[RolloutControl] = []

    def facts(self, now: datetime) -> RolloutFacts:
        clusters = [Cluster(name=name, labels={"tier": tier}, region=tier) for name, tier in self.tiers.items()]
        return RolloutFacts(
            fleet=ClusterIndex(clusters),
            clusters=frozenset(self.tiers),
            observed={
                name: ClusterObservation(
                    is_reachable=name not in self.silent,
                    is_suspended=name in self.suspended,
                    well_since=self.well_since.get(name),
                )
                for name in self.tiers
            },
            controls=tuple(self.controls),
            now=now,
        )

    def apply(self, due: Collection[str], now: datetime) -> None:
        """Let clusters that are due, and can be, become well with the change."""
        for name in set(due) - self.broken - self.silent - self.suspended:
            self.well_since.setdefault(name, now)

    def happens(self, event: str, name: str, tier: str) -> None:
        match event:
            case "join":
                self.tiers.setdefault(name, tier)
            case "leave":
                self.tiers.pop(name, None)
                self.well_since.pop(name, None)
            case "relabel" if name in self.tiers:
                self.tiers[name] = tier
            case "break":
                self.broken.add(name)
                self.well_since.pop(name, None)
            case "mend":
                for each in (self.silent, self.suspended, self.broken):
                    each.discard(name)
            case "silence" | "suspend":
                (self.silent if event == "silence" else self.suspended).add(name)
