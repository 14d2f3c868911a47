"""The bars of figures: the most that each must be, the aim, and what peers publish of something like it.

A bar is of one size: at another, a scenario has another name and no bar. Seconds are those of two quiet cores, on which
``argosy --help`` takes 0.054 s of CPU.

What peers publish is quoted with its shape and without any claim that it is the same: KubeFleet's report of performance
and scale (2026, first quarter), Karmada's test with 100 clusters (2022) and the changelogs of 1.15 and 1.17, the
benchmark of Flux 2.9, and that of Argo CD by CNOE (2023).
"""

from collections.abc import Mapping
from typing import NamedTuple


class Bar(NamedTuple):
    """The most that a figure must be and should be, and a figure of a peer."""

    must: float | None = None
    aim: float | None = None
    peer: str = ""


NO_BAR = Bar()

COLD = "cold, into a commit"
NOTHING = "nothing changed"
HELP = "argosy --help"
TEMPLATE = "one template changed"
FACTS = "one cluster's facts"
FIRST_FACTS = "every cluster's facts, for the first time"
LABEL = "one cluster's label"
UNREAD = "a label that no rule reads"
OVERRIDE = "one override for all"
CLONE = "fresh clone, one template"
PYTHON = "bare python"
PEAK = "peak memory"
FEWER = "fewer than asked for"
"""The measure of a scenario whose time was over before it had done all of its turns."""

_RESTART = "KubeFleet: 568 to 821 s until 1,000 placements on 100 clusters are synchronised again, with delivery"
_PLACEMENT = "KubeFleet: p90 20 s for one placement on 100 clusters, with delivery"
_BINDINGS = "Karmada 1.17: 30,000 workloads after a restart in about 5 min"
_APPLIED = "Karmada: p99 1.3 s from template to member at 100 clusters"
_AT_ONCE = "Flux 2.9: 1,000 Kustomizations of 4 objects each in one cluster in 253 s, on 16 cores"
_FIRST = "Argo CD: 50,000 apps of one ConfigMap in 500 clusters in 21 min, by 9 shards on 24 vCPU"
_HUB = "KubeFleet: the hub's agent takes 8 GB at 1,000 placements on 100 clusters"


def render_scenario(shape: str, clusters: int, templates: int) -> str:
    """Return the name of a scenario of rendering.

    >>> render_scenario("shared", 1000, 100)
    'render shared, 1000 clusters x 100 templates'
    """
    return f"render {shape}, {clusters} clusters x {templates} templates"


BARS: Mapping[str, Mapping[str, Bar]] = {
    render_scenario("beside", 300, 1000): {
        COLD: Bar(peer=_RESTART),
        TEMPLATE: Bar(0.45, 0.25, _PLACEMENT),
        PEAK: Bar(peer=_HUB),
    },
    render_scenario("shared", 1000, 1000): {
        COLD: Bar(peer=_BINDINGS),
        TEMPLATE: Bar(0.35, 0.25),
        LABEL: Bar(1.0, 0.6),
        OVERRIDE: Bar(1.6, 1.0),
    },
    render_scenario("scattered", 1000, 1000): {
        TEMPLATE: Bar(0.45, 0.35),
        LABEL: Bar(1.5, 1.0),
        OVERRIDE: Bar(2.2, 1.5),
    },
    render_scenario("distinct", 1000, 1000): {
        COLD: Bar(13, 10),
        LABEL: Bar(8, 5),
        OVERRIDE: Bar(18, 12),
        CLONE: Bar(8, 5),
        PEAK: Bar(819),
    },
    render_scenario("shared", 10_000, 1000): {
        COLD: Bar(4.5),
        TEMPLATE: Bar(0.8),
        FACTS: Bar(1.2),
        LABEL: Bar(3.5),
        OVERRIDE: Bar(6),
        CLONE: Bar(5),
        PEAK: Bar(717),
    },
    render_scenario("shared", 1000, 10_000): {
        COLD: Bar(13),
        TEMPLATE: Bar(0.9),
        FACTS: Bar(0.9),
        LABEL: Bar(6),
        OVERRIDE: Bar(14),
        CLONE: Bar(8),
        PEAK: Bar(819),
    },
    "rollouts, 100 under way over 100 clusters": {
        "the dearest step of all": Bar(5, None, "KubeFleet: a staged rollout keeps an agent of 5 cores busy for 135 s"),
        "an idle pass, times one without rollouts": Bar(1.2),
    },
    "agent, 1000 templates in a fleet of 1000 clusters": {
        "one changed template, fetched": Bar(50_000),
        "the same where other branches are hidden, fetched and pushed": Bar(50_000),
        "commits of two idle passes": Bar(0),
    },
    "backtest, 2000 changes of 90 days, 1000 bindings": {
        "commits that do not come out as they stand": Bar(0),
        "failover proposed": Bar(120),
    },
    "past, 10000 rendered commits, 200 objects x 50 clusters": {
        "the newest changes of an object": Bar(2),
        "all changes of an object": Bar(3),
        "blame of an object": Bar(3),
    },
    "repository, passes over 200 objects x 50 clusters": {
        "the last hundred passes, times the first": Bar(1.1),
        FEWER: Bar(0),
    },
    "repository, 10000 rendered commits, 200 objects x 50 clusters": {
        "one template changed, times the same without history": Bar(1.1),
        "nothing changed, times the same without history": Bar(1.1),
        "one template changed, no checkpoint, times the same without history": Bar(1.1),
    },
    "interrupted, 200 clusters x 200 templates": {
        "faults of passes killed": Bar(0),
        f"passes killed, {FEWER}": Bar(0),
        "faults of full disks": Bar(0),
        "faults of read-only disks": Bar(0),
    },
    "interrupted, 1000 clusters x 1000 templates": {"faults of passes killed": Bar(0)},
    "pages, 1000 objects x 1000 clusters": {
        "the slowest page that is known": Bar(300),
        "the first page of a new source commit": Bar(300),
        "the first page of a new rendered commit": Bar(300),
        "the largest page": Bar(300),
    },
    "fleet, 1 of 10 apps changed, 100 members": {"push to applied, p99": Bar(2, None, _APPLIED)},
    "fleet, 1 of 10 apps changed, 1000 members": {"push to applied, p99": Bar(10)},
    "fleet, 1000 of 1000 apps changed, 100 members, each for 10": {
        "push to all recorded as applied": Bar(60, None, _AT_ONCE),
    },
    "fleet, 100 apps for the first time, 500 members": {"all applied and recorded": Bar(300, None, _FIRST)},
    "fleet, 10 of 100 apps changed, 4 shards, 100 members": {"a shard, times its part of one process": Bar(1.15)},
    "day, 1000 templates in 1000 clusters, 5 of them reached": {
        "memory of the controller and its passes": Bar(300, None, _HUB),
        "growth of the controller in a day": Bar(10),
        "the most of the last quarter, times the second": Bar(1.05),
    },
    "host, 1000 agents of 1000 clusters, 50 templates": {"agents that failed": Bar(0)},
    "run, 3 real members": {
        "push to applied, by file events": Bar(5, None, _APPLIED),
        "push to recorded as healthy, by file events": Bar(5),
        "push to applied, by a webhook": Bar(5, None, _APPLIED),
        "push to recorded as healthy, by a webhook": Bar(5),
    },
    "run at rest, 1000 templates in 1000 clusters, none reached": {"memory of the controller": Bar(300, None, _HUB)},
    "run, 10,000 webhooks and 10 pushes": {"passes more or fewer than pushes": Bar(0)},
    "run, killed again and again": {"what is not as it must be": Bar(0)},
    "run, pushes, outages and rewinds": {
        "memory of the last quarter, times the second": Bar(1.1),
        "descriptors more in the last quarter": Bar(5),
        "commits more than pushes": Bar(0),
    },
}
