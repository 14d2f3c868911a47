"""The terms of rollouts at random, and what a judge of them knows: which version goes out, waits, or is held back."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from render.timing import instant_text

NAMES = tuple("abcdefgh")
WAVES = ("canary", "early", "rest")
LIMITS = (None, 1, 1, 2, "25%", "50%")
ACTIONS = ("Supersede", "Supersede", "Wait", "Coalesce", "Expedite")
APPROVER = "ada@example.com"


@dataclass
class Terms:
    """The terms of a rollout policy: the limits of each wave, and of all."""

    concurrent: dict[str, Any]
    healthy_for: int
    deadline: int | None
    failures: int
    unreachable: int | None
    goes_back: bool
    age: int | None
    action: str = "Supersede"

    @classmethod
    def at_random(cls, chance: Random) -> "Terms":
        return cls(
            concurrent={wave: chance.choice(LIMITS) for wave in WAVES},
            healthy_for=chance.choice([0, 60]),
            deadline=chance.choice([None, 300]),
            failures=chance.randint(0, 1),
            unreachable=chance.choice([None, 0, 1]),
            goes_back=chance.random() < 0.3,
            age=chance.choice([None, 20, 120]),
            action=chance.choice(ACTIONS),
        )

    def spec(self) -> dict[str, Any]:
        """The policy as people write it, with waves by the label of clusters."""
        waves = []
        for wave in WAVES:
            affinity = {"clusterAffinity": {"labelSelector": {"matchLabels": {"wave": wave}}}}
            taken: dict[str, Any] = {"rest": True} if wave == "rest" else affinity
            limit = self.concurrent[wave]
            waves.append({"name": wave, "allowEmpty": True, **taken} | ({"maxConcurrent": limit} if limit else {}))
        gate = {"healthyFor": f"{self.healthy_for}s"} | ({"deadline": f"{self.deadline}s"} if self.deadline else {})
        gate |= {"maxStatusAge": f"{self.age}s"} if self.age else {}
        unreachable = {} if self.unreachable is None else {"maxUnreachable": self.unreachable}
        failure = {"maxFailures": self.failures, "onFailure": "Rollback" if self.goes_back else "Pause"}
        newer: dict[str, Any] = {"onNewChange": self.action}
        newer |= {"approvers": [APPROVER]} if self.action == "Expedite" else {}
        return {"waves": waves, "gate": gate, **failure, **unreachable, **newer}


@dataclass
class Clock:
    """The time at which a cluster was given the change, and whether it was seen through its gate since."""

    at: datetime
    was_through: bool = False


@dataclass
class Changes:
    """The versions of the source as a policy lets them out: the one that goes out, and those that wait for its end."""

    action: str
    going: int = 1
    queue: list[int] = field(default_factory=list)
    is_expedited: bool = False

    def come(self, version: int, *, is_waited_for: bool) -> bool:
        """Let the source say another version; say whether that goes out at once."""
        if self.action == "Supersede" or not is_waited_for:
            self.go_on_to(version)
            return True
        if self.action == "Coalesce":
            self.queue = [] if version == self.going else [version]
        elif version != (self.queue[-1] if self.queue else self.going):
            self.queue.append(version)
        return False

    def go_on_to(self, version: int, *, is_expedited: bool = False) -> None:
        """Let a version go out; what an approver hurries on leaves nothing behind that waits."""
        self.going, self.is_expedited = version, is_expedited
        if is_expedited:
            self.queue.clear()


@dataclass
class Frozen:
    """A freeze of argosy.yaml: the clusters that it is about (none: all), and its end."""

    clusters: Collection[str] = ()
    until: datetime | None = None

    @classmethod
    def at_random(cls, chance: Random, now: datetime) -> "Frozen":
        names = chance.choice([(), tuple(chance.sample(NAMES, 3))])
        return cls(names, now + timedelta(seconds=chance.choice([20, 60, 400])))

    def closes(self, name: str, now: datetime) -> bool:
        """Say whether a cluster may be given no change."""
        return self.until is not None and now < self.until and (not self.clusters or name in self.clusters)

    def content(self) -> dict[str, Any]:
        """The file argosy.yaml."""
        freeze: dict[str, Any] = {"reason": "audit"} | ({"clusters": [*self.clusters]} if self.clusters else {})
        freezes = [] if self.until is None else [{**freeze, "until": instant_text(self.until)}]
        metadata, spec = {"name": "default"}, {"rollouts": {"freezes": freezes}}
        return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": metadata, "spec": spec}
