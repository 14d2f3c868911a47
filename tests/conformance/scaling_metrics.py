"""The replicas that one metric asks for, from the pods of all clusters.

A template's own number and that of its members may differ (several clusters run all of it); ``calibration`` is members'
replicas for each of the template's. Pods that are not ready count as using nothing where more would be asked for; pods
without a metric count as using all of their share where less would be asked for, and nothing where more. No pass asks
this, only the recordings of Karmada: members' own autoscalers follow metrics better.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct, field

CPU = "cpu"
_WHOLE = 100

RatioOf = Callable[[Mapping[str, int]], float]
"""The ratio of what pods use and of their target, from the use of each."""


class PodMetric(Struct, frozen=True, kw_only=True):
    """The use of one pod in thousandths, and the window it was measured in."""

    milli: int
    at: datetime
    window: timedelta = timedelta(0)


class MeasuredPod(Struct, frozen=True, kw_only=True):
    """A pod: its state, its requests in thousandths, and its metric, if it has one.

    ``is_ready`` is None where the pod has no such condition.
    """

    name: str
    phase: str = "Running"
    is_deleting: bool = False
    is_ready: bool | None = None
    ready_since: datetime | None = None
    started: datetime | None = None
    request_milli: int | None = None
    metric: PodMetric | None = None


class MetricOptions(Struct, frozen=True, kw_only=True):
    """The settings of the controller: how far from its target a metric may be, and how long pods take to begin."""

    tolerance: float = 0.1
    cpu_initialization: timedelta = timedelta(minutes=5)
    initial_readiness: timedelta = timedelta(seconds=30)


class MetricSample(Struct, frozen=True, kw_only=True):
    """The moment that a metric is looked at: the pods, the replicas asked for now, and their calibration."""

    pods: Sequence[MeasuredPod]
    replicas: int
    calibration: float
    now: datetime
    options: MetricOptions = field(default_factory=MetricOptions)

    def is_near(self, ratio: float) -> bool:
        """Say whether a ratio of use and target is near enough to leave things as they are."""
        return abs(1.0 - ratio) <= self.options.tolerance


class MetricProposal(Struct, frozen=True):
    """The replicas that a metric asks for, and its value in thousandths."""

    replicas: int
    milli: int


class _Groups(Struct, frozen=True, kw_only=True):
    ready: int
    unready: frozenset[str]
    missing: frozenset[str]
    used: Mapping[str, int]


def by_utilization(sample: MetricSample, resource: str, target: int) -> MetricProposal:
    """Return the proposal of a share of what pods request, in percent; a ValueError says why there is none."""
    groups = _groups(sample, resource)
    requests: dict[str, int] = {}
    for pod in sample.pods:
        if pod.request_milli is None:
            raise ValueError(f"pod {pod.name} requests no {resource}")
        requests[pod.name] = pod.request_milli

    def ratio(used: Mapping[str, int]) -> float:
        known = [name for name in used if name in requests]
        requested = sum(requests[name] for name in known)
        return (sum(used[name] for name in known) * _WHOLE // requested) / target

    fallback = {name: max(_WHOLE, target) * requests[name] // _WHOLE for name in groups.missing}
    average = sum(groups.used.values()) // len(groups.used)
    return MetricProposal(_balanced(sample, groups, ratio(groups.used), ratio, fallback), average)


def by_average(sample: MetricSample, resource: str, target_milli: int) -> MetricProposal:
    """Return the proposal of an average amount for each pod; a ValueError says why there is none."""
    groups = _groups(sample, resource)

    def ratio(used: Mapping[str, int]) -> float:
        return (sum(used.values()) // len(used)) / target_milli

    fallback = dict.fromkeys(groups.missing, target_milli)
    average = sum(groups.used.values()) // len(groups.used)
    return MetricProposal(_balanced(sample, groups, ratio(groups.used), ratio, fallback), average)


def by_object_value(sample: MetricSample, milli: int, target_milli: int) -> MetricProposal:
    """Return the proposal of the value of another object."""
    ratio = milli / target_milli
    if sample.replicas == 0:
        return MetricProposal(math.ceil(ratio), milli)
    if sample.is_near(ratio):
        return MetricProposal(sample.replicas, milli)
    if not sample.pods:
        raise ValueError("there are no pods")
    ready = sum(pod.phase == "Running" and pod.is_ready is True for pod in sample.pods)
    return MetricProposal(math.ceil(ratio * ready / sample.calibration), milli)


def by_object_average(sample: MetricSample, milli: int, target_milli: int, running: int) -> MetricProposal:
    """Return the proposal of the value of another object for each running replica.

    Karmada divides by the calibration twice, and once even where nothing is to change.
    """
    replicas = running
    if not sample.is_near(milli / (target_milli * running)):
        replicas = math.ceil(milli / target_milli / sample.calibration)
    return MetricProposal(math.ceil(replicas / sample.calibration), math.ceil(milli / running))


def _groups(sample: MetricSample, resource: str) -> _Groups:
    if not sample.pods:
        raise ValueError("there are no pods")
    ready, unready, missing, used = 0, set(), set(), {}
    for pod in sample.pods:
        if pod.is_deleting or pod.phase == "Failed":
            continue
        if pod.phase == "Pending":
            unready.add(pod.name)
        elif pod.metric is None:
            missing.add(pod.name)
        elif resource == CPU and _is_beginning(pod, pod.metric, sample):
            unready.add(pod.name)
        else:
            ready += 1
            used[pod.name] = pod.metric.milli
    if not used:
        raise ValueError("no pod that is ready has metrics")
    return _Groups(ready=ready, unready=frozenset(unready), missing=frozenset(missing), used=used)


def _is_beginning(pod: MeasuredPod, metric: PodMetric, sample: MetricSample) -> bool:
    """Say whether the CPU of a pod tells of its beginning rather than of its work."""
    if pod.is_ready is None or pod.started is None or pod.ready_since is None:
        return True
    if pod.started + sample.options.cpu_initialization > sample.now:
        return not pod.is_ready or metric.at < pod.ready_since + metric.window
    return not pod.is_ready and pod.started + sample.options.initial_readiness > pod.ready_since


def _balanced(
    sample: MetricSample, groups: _Groups, ratio: float, ratio_of: RatioOf, fallback: Mapping[str, int]
) -> int:
    """Return the replicas by a ratio, once pods that are missing or not ready are made up for."""
    is_lowered = bool(groups.unready) and ratio > 1
    if not is_lowered and not groups.missing:
        return sample.replicas if sample.is_near(ratio) else math.ceil(ratio * groups.ready / sample.calibration)
    used = {**groups.used, **_made_up(groups, ratio, fallback, is_lowered=is_lowered)}
    after = ratio_of(used)
    if sample.is_near(after) or (ratio < 1 < after) or (after < 1 < ratio):
        return sample.replicas
    replicas = math.ceil(after * len(used) / sample.calibration)
    is_contrary = (after < 1 and replicas > sample.replicas) or (after > 1 and replicas < sample.replicas)
    return sample.replicas if is_contrary else replicas


def _made_up(groups: _Groups, ratio: float, fallback: Mapping[str, int], *, is_lowered: bool) -> dict[str, int]:
    made_up: dict[str, int] = {}
    if ratio < 1:
        made_up.update(fallback)
    elif ratio > 1:
        made_up.update(dict.fromkeys(groups.missing, 0))
    if is_lowered:
        made_up.update(dict.fromkeys(groups.unready, 0))
    return made_up
