"""The switches of scheduling where Git lacks Karmada's events, clock and UIDs; all of them in one value."""

from typing import Self

from msgspec import Struct

from render.settings.fleet import Fleet
from render.settings.switches import Rescheduling, TieBreak


class SchedulingOptions(Struct, frozen=True, kw_only=True):
    """The switches of a pass; the defaults are Argosy's.

    ``requires_recorded_apis``: a cluster of which no APIs are recorded serves nothing, instead of anything.
    ``lists_by_name``: targets in name order; Karmada lists those of Duplicated workloads and non-workloads by their
    capacity. ``evicts_over_time``: a NoExecute taint is left to the rules of failover, which know of time.
    ``propagates_empty_workloads``: Karmada's ``--enable-empty-workload-propagation``. ``counts_current_sets``: the
    cluster that runs a set of components has room for it; Karmada asks for room for a second one.
    ``keeps_idle_workloads``: what is scaled to nothing stays where it was; in Karmada it leaves. The last two are
    Karmada's gates WorkloadAffinity and CustomizedClusterResourceModeling.
    """

    rescheduling: Rescheduling = Rescheduling.SOURCE
    tie_break: TieBreak = TieBreak.IDENTITY
    reserves_capacity: bool = True
    requires_recorded_apis: bool = False
    lists_by_name: bool = True
    evicts_over_time: bool = False
    propagates_empty_workloads: bool = False
    counts_current_sets: bool = True
    keeps_idle_workloads: bool = True
    honours_workload_affinity: bool = True
    uses_resource_models: bool = True

    @classmethod
    def karmada(cls) -> Self:
        """Return the options under which Karmada schedules with its gates at their defaults."""
        return cls(
            rescheduling=Rescheduling.KARMADA,
            tie_break=TieBreak.NAME,
            reserves_capacity=False,
            requires_recorded_apis=True,
            lists_by_name=False,
            counts_current_sets=False,
            keeps_idle_workloads=False,
            honours_workload_affinity=False,
        )

    @classmethod
    def of(cls, fleet: Fleet) -> Self:
        """Return the options of a fleet's settings."""
        gates = fleet.feature_gates
        return cls(
            rescheduling=fleet.rescheduling,
            tie_break=fleet.tie_break,
            reserves_capacity=fleet.reserve_capacity,
            requires_recorded_apis=fleet.require_recorded_apis,
            lists_by_name=not fleet.is_karmada_compatible,
            counts_current_sets=not fleet.is_karmada_compatible,
            keeps_idle_workloads=not fleet.is_karmada_compatible,
            evicts_over_time=gates.failover,
            honours_workload_affinity=gates.workload_affinity,
            uses_resource_models=gates.customized_cluster_resource_modeling,
        )
