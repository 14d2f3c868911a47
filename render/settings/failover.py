"""``spec.failover``: the settings of what is evicted from clusters."""

from enum import StrEnum
from typing import Annotated

from msgspec import Struct, field

from .setting import MOST, FleetSetting, faults_of_percentage, reach_of_switch


class NoExecuteEviction(StrEnum):
    """The bindings that taints of ClusterTaintPolicies evict: those whose policy has ``failover.cluster``, or all."""

    POLICY = "Policy"
    ALWAYS = "Always"


class EvictionGuard(Struct, frozen=True, kw_only=True):
    """The limits on what is evicted from clusters.

    Nothing is evicted by taints while more than ``mass_failure`` percent of the clusters, and more than one, are not
    ready: they may be well, and we the blind. At most ``per_minute`` evictions begin within a minute (None: no limit).
    ``keeps_last_copy``: what no other cluster can take stays, whatever takes it away, but for an edit of its template
    or policy, and so does a copy without a healthy one elsewhere.
    ``has_pauses``: what has left a cluster because it was not well there leaves the next one after a pause, a longer
    one each time. ``follows_policies``: the leaving that is under way follows an edit of its policy, and ends where the
    copy that is left has become healthy again.
    """

    mass_failure: Annotated[
        int,
        FleetSetting(
            "massFailure",
            "While more than so many percent of the clusters, and more than one, are not ready, taints evict nothing:"
            " the fault may be on our side. With `compatibility: Karmada`, it is 100.",
            karmada=100,
            in_karmada="Karmada evicts however many clusters fail",
            reach=MOST,
            faults=faults_of_percentage,
        ),
    ] = 33
    per_minute: Annotated[
        int | None,
        FleetSetting(
            "evictionsPerMinute",
            "At most so many evictions by taints begin within a minute; left out means any number.",
            in_karmada="--resource-eviction-rate of karmada-controller-manager comes near it",
            reach=MOST,
            minimum=1,
        ),
    ] = None
    keeps_last_copy: Annotated[
        bool,
        FleetSetting(
            "lastCopy",
            "The fate of the last copy. `Keep`: what a taint, a drain, failover, the descheduler or a changed label of"
            " a cluster would take away stays as long as no other cluster takes it. Where it leaves gracefully (feature"
            " gate Failover, and `purgeMode: Gracefully`), a copy that is left does not go before a"
            " healthy one is elsewhere; otherwise it goes in the pass that gives it to another cluster. An edit of its"
            " template or its policy removes it all the same; where no cluster meets the policy then, the removal guard"
            " asks first. `Evict`: it goes, unasked, which is the default with `compatibility: Karmada`.",
            choices={"Keep": True, "Evict": False},
            karmada=False,
            in_karmada="Karmada evicts a last copy as any other",
            reach=reach_of_switch("Evict"),
        ),
    ] = True
    has_pauses: Annotated[
        bool,
        FleetSetting(
            "repeatedMoves",
            "The next move of a workload that has left a cluster because it was not well there. `Pause`: it waits for"
            " twice as long as `tolerationSeconds`, two minutes at least, and twice as long each further time, up to an"
            " hour. `AtOnce`: it does not, which is the default with `compatibility: Karmada`.",
            choices={"Pause": True, "AtOnce": False},
            karmada=False,
            in_karmada="Karmada moves a workload again at once",
            reach=reach_of_switch("AtOnce"),
        ),
    ] = True
    follows_policies: Annotated[
        bool,
        FleetSetting(
            "underWay",
            "The rules for what is leaving a cluster already. `Follow`: an edit of its policy counts, and a copy that"
            " is healthy again stays. `Keep`: it leaves as it began to, which is the default with `compatibility:"
            " Karmada`.",
            choices={"Follow": True, "Keep": False},
            karmada=False,
            in_karmada="Karmada ends a move as it began it",
        ),
    ] = True

    def is_mass_failure(self, failed: int, total: int) -> bool:
        """Say whether so many of all clusters are not ready that the fault may be ours.

        >>> [EvictionGuard().is_mass_failure(failed, 4) for failed in (1, 2)]
        [False, True]
        """
        return failed > 1 and failed * 100 > total * self.mass_failure


class FailoverSettings(Struct, frozen=True, kw_only=True):
    """The settings of eviction: whom taints evict, how their copies leave where no policy says, and its guard."""

    no_execute_eviction: Annotated[
        NoExecuteEviction,
        FleetSetting(
            "noExecuteEviction",
            "The bindings that NoExecute taints of ClusterTaintPolicies evict. `Policy`: those whose policy has"
            " `failover.cluster`. `Always`: all of them. A NoExecute taint of a Cluster file evicts all in any case.",
            in_karmada="--enable-no-execute-taint-eviction of karmada-controller-manager comes near it",
        ),
    ] = NoExecuteEviction.POLICY
    purge_mode: Annotated[
        str,
        FleetSetting(
            "purgeMode",
            "The way in which what taints evict leaves, where a policy does not say. `Gracefully`: the copy stays until"
            " its replacement is healthy. `Directly`: it goes at once.",
            choices={"Gracefully": "Gracefully", "Directly": "Directly"},
            in_karmada="--no-execute-taint-eviction-purge-mode of karmada-controller-manager",
        ),
    ] = "Gracefully"
    grace_seconds: Annotated[
        int,
        FleetSetting(
            "gracefulEvictionTimeoutSeconds",
            "For so many seconds a copy that leaves gracefully waits for its replacement, where a policy does not say.",
            in_karmada="--graceful-eviction-timeout of karmada-controller-manager",
        ),
    ] = 600
    guard: Annotated[EvictionGuard, FleetSetting("", "")] = field(default_factory=EvictionGuard)


FAILOVER = FleetSetting("failover", "The settings of what is evicted from clusters.", is_tried=True)
