"""ResiliencePolicies as values: the losses that objects have to survive, and how much of them has to be left."""

from enum import StrEnum

from msgspec import Struct

from render.admission.resilience import AT_ONCE, RESCHEDULED, RESILIENCE_KINDS
from render.limits import Limit
from render.placement import SpreadField
from render.selectors import ResourceSelector
from render.words import counted_noun

ALL, ONE = Limit(100, is_percentage=True), Limit(1)


class CountingTime(StrEnum):
    """The time at which replicas are counted after a loss: once all that can be is placed anew, or before that."""

    RESCHEDULED = RESCHEDULED
    AT_ONCE = AT_ONCE


class SurvivedLoss(Struct, frozen=True, kw_only=True):
    """A loss that objects have to survive: of any ``count`` clusters, or of all clusters of any so many regions.

    ``min_replicas`` of the replicas of an object have to be left, wherever its replicas are divided; of one that each
    of its clusters has whole, copies in ``min_copies`` of its clusters.
    """

    field: SpreadField
    count: int = 1
    min_replicas: Limit = ALL
    min_copies: Limit = ONE
    when: CountingTime = CountingTime.RESCHEDULED

    def __str__(self) -> str:
        return f"any {self.field.value}" if self.count == 1 else f"any {counted_noun(self.count, self.field.value)}"


class ResiliencePolicy(Struct, frozen=True, kw_only=True):
    """A ResiliencePolicy (``namespace`` set) or a ClusterResiliencePolicy (``namespace`` empty)."""

    name: str
    namespace: str = ""
    resource_selectors: tuple[ResourceSelector, ...] = ()
    survive: tuple[SurvivedLoss, ...] = ()
    path: str = ""
    document: int = 0

    def __str__(self) -> str:
        kind = RESILIENCE_KINDS[0 if self.namespace else 1]
        return f"{kind} {self.namespace}/{self.name}" if self.namespace else f"{kind} {self.name}"
