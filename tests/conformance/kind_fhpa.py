"""FederatedHPA: the replicas that one metric asks for, and the pace at which a workload comes there."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from render.admission.findings import Findings
from render.admission.timed.autoscalers import mutate_autoscaler
from render.quantity import milli_value_of_amount, parse_quantity
from render.timing import parse_instant

from . import Case
from .scaling_metrics import (
    MeasuredPod,
    MetricOptions,
    MetricProposal,
    MetricSample,
    PodMetric,
    by_average,
    by_object_average,
    by_object_value,
    by_utilization,
)
from .scaling_pace import PolicySelection, ScalingMemory, ScalingPace, ScalingPolicy, ScalingRules, paced

Plain = Mapping[str, Any]


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    return _one_metric(given, expected) if given["mode"] == "replicas" else _steps(given, expected)


def _one_metric(given: Plain, expected: Plain) -> str | None:
    try:
        found = None if given["metricsError"] else _proposal(given)
    except ValueError:
        found = None
    wanted = None if expected["error"] else MetricProposal(expected["replicas"], expected["usage"])
    return None if found == wanted else f"{found}, not {wanted} ({expected['error']})"


def _proposal(given: Plain) -> MetricProposal:
    replicas, target = given["currentReplicas"], given["target"]
    flags, metric = given["flags"], given["metric"]
    resource = given["resource"] if metric in {"utilization", "resourceAverage"} else ""
    sample = MetricSample(
        pods=[_pod(each, given["resource"]) for each in given["pods"] or ()],
        replicas=replicas,
        calibration=given["memberSpecReplicas"] / replicas if replicas else float("inf"),
        now=_instant(given["now"]),
        options=MetricOptions(
            tolerance=flags["tolerance"],
            cpu_initialization=timedelta(seconds=flags["cpuInitializationPeriodSeconds"]),
            initial_readiness=timedelta(seconds=flags["initialReadinessDelaySeconds"]),
        ),
    )
    match metric:
        case "utilization":
            return by_utilization(sample, resource, target)
        case "resourceAverage" | "pods":
            return by_average(sample, resource, target)
        case "objectValue":
            return by_object_value(sample, given["objectMilliValue"], target)
        case _:
            return by_object_average(sample, given["objectMilliValue"], target, given["memberStatusReplicas"])


def _pod(plain: Plain, resource: str) -> MeasuredPod:
    ready, metric, request = plain.get("ready"), plain.get("metric"), (plain.get("requests") or {}).get(resource)
    return MeasuredPod(
        name=plain["name"],
        phase=plain["phase"],
        is_deleting=plain["deleting"],
        is_ready=None if ready is None else ready["status"] == "True",
        ready_since=None if ready is None else _instant(ready["lastTransitionTime"]),
        started=None if plain.get("startTime") is None else _instant(plain["startTime"]),
        request_milli=None if request is None else milli_value_of_amount(parse_quantity(request)),
        metric=metric
        and PodMetric(
            milli=metric["milliValue"],
            at=_instant(metric["timestamp"]),
            window=timedelta(seconds=metric["windowSeconds"]),
        ),
    )


def _steps(given: Plain, expected: Plain) -> str | None:
    pace, memory, current = _pace(given), ScalingMemory(), given["startReplicas"]
    for number, (step, wanted) in enumerate(zip(given["steps"], expected["steps"], strict=True)):
        done = paced(pace, memory, current, step["metricDesiredReplicas"], _instant(step["now"]))
        conditions = {"AbleToScale": {"reason": done.able, "status": "True"}}
        if done.limited:
            conditions["ScalingLimited"] = {"reason": done.limited, "status": str(done.is_limited)}
        found = {"currentReplicas": current, "desiredReplicas": done.replicas, "conditions": conditions}
        if found != wanted:
            return f"step {number}: {found}, not {wanted}"
        memory, current = done.memory, done.replicas
    return None


def _pace(given: Plain) -> ScalingPace:
    document = {"spec": dict(given["spec"])}
    mutate_autoscaler(document, Findings())
    spec, default = document["spec"], timedelta(seconds=given["downscaleStabilizationSeconds"])
    bounds = {"minimum": spec["minReplicas"], "maximum": spec["maxReplicas"], "down_window": default}
    if "behavior" not in spec:
        return ScalingPace(**bounds)
    up, down = (_rules(spec["behavior"][name], default) for name in ("scaleUp", "scaleDown"))
    return ScalingPace(**bounds, up=up, down=down)


def _rules(plain: Plain, default: timedelta) -> ScalingRules:
    window = plain.get("stabilizationWindowSeconds")
    return ScalingRules(
        window=default if window is None else timedelta(seconds=window),
        selection=PolicySelection(plain["selectPolicy"]),
        policies=tuple(
            ScalingPolicy(
                is_percent=each["type"] == "Percent",
                value=each["value"],
                period=timedelta(seconds=each["periodSeconds"]),
            )
            for each in plain["policies"]
        ),
    )


def _instant(text: str) -> datetime:
    instant = parse_instant(text)
    assert instant is not None
    return instant
