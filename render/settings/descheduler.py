"""``spec.descheduler``: the placing elsewhere of replicas that a cluster cannot start."""

from typing import Annotated

from msgspec import Struct

from .setting import FleetSetting


class DeschedulerSettings(Struct, frozen=True, kw_only=True):
    """The descheduler: whether there is one, how long pods wait for a node before it acts, and its interval.

    For an interval after replicas were taken from a cluster, it gets no others of that workload.
    """

    is_enabled: Annotated[
        bool,
        FleetSetting(
            "enabled",
            "Whether there is one. It looks at Deployments that are divided by room (`Aggregated`, or a dynamic"
            " weight), in members that passes reach.",
            in_karmada="karmada-descheduler is a component to install",
        ),
    ] = False
    threshold_seconds: Annotated[
        int,
        FleetSetting(
            "unschedulableThresholdSeconds",
            "A replica leaves its cluster when no node there has taken its pod for longer than so many seconds.",
            in_karmada="--unschedulable-threshold of karmada-descheduler",
        ),
    ] = 300
    interval_seconds: Annotated[
        int,
        FleetSetting(
            "intervalSeconds",
            "For so many seconds afterwards the cluster gets no replicas of the workload.",
            in_karmada="--descheduling-interval of karmada-descheduler comes near it",
        ),
    ] = 120


DESCHEDULER = FleetSetting(
    "descheduler", "The descheduler: it places replicas elsewhere that a cluster cannot start.", is_tried=True
)
