"""Rules about workloads: selectors, strategies, mounts, and what restarts their pods."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from render.admission.findings import Findings, alternatives
from render.expressions import lazy_expression
from render.schemas.steps import Steps, path_of_steps
from render.syntax import quoted_text

from .pods import containers_of
from .selectors import check_selectors
from .texts import Rule, check_number_or_percentage, check_numbers_are_at_least, is_neither_number_nor_percentage

_APPS, _BATCH = "io.k8s.api.apps.v1.", "io.k8s.api.batch.v1."
_COUNTS = ("minReadySeconds", "progressDeadlineSeconds", "replicas", "revisionHistoryLimit")
_JOB_COUNTS = ("activeDeadlineSeconds", "backoffLimit", "completions", "parallelism", "ttlSecondsAfterFinished")
_CRON_COUNTS = ("failedJobsHistoryLimit", "startingDeadlineSeconds", "successfulJobsHistoryLimit")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_CRON_FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 6, _DAYS),
)
_CRON_WORDS = frozenset({"@annually", "@daily", "@hourly", "@midnight", "@monthly", "@weekly", "@yearly"})
_LONGEST = 10
_CRON_PART = lazy_expression(r"(?:[*?]|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:/([0-9]{1,9}))?", re.ASCII)


def _check_workload(word: str, spec: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    """Check what Deployments and their like share; ``word`` is the restartPolicy that their pods must have."""
    template = spec.get("template") or {}
    pod, place = template.get("spec") or {}, ((steps, "template"), "spec")
    if pod.get("restartPolicy") not in {None, "", word}:
        message = f"must be {word!r} in what runs without an end"
        findings.problem(path_of_steps((place, "restartPolicy")), message, hint="use a Job for pods that end")
    check_numbers_are_at_least(0, spec, _COUNTS, (steps, findings))
    check_selectors(spec, ("selector",), steps, findings)
    selector = spec.get("selector")
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        findings.problem(
            path_of_steps((steps, "selector")), "selects nothing", hint="write matchLabels", kind="Required"
        )
    elif selector is not None:
        _check_selector_selects_template(
            selector, (template.get("metadata") or {}).get("labels") or {}, steps, findings
        )
    _check_mounts_have_volumes(spec, pod, place, findings)


def _check_selector_selects_template(
    selector: Mapping[str, Any], labels: Mapping[str, Any], steps: Steps, findings: Findings
) -> None:
    """Report labels of the template that its own selector asks for and that it does not have."""
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            place = (((steps, "template"), "metadata"), "labels")
            what = f"another value of the label {key!r}" if key in labels else f"the label {key!r}, which is missing"
            findings.problem(path_of_steps(place), f"the selector asks for {what}")


def _check_mounts_have_volumes(
    spec: Mapping[str, Any], pod: Mapping[str, Any], steps: Steps, findings: Findings
) -> None:
    """Report mounts of volumes that the pod does not have."""
    volumes = {each.get("name") for each in pod.get("volumes") or () if each}
    claims = (each.get("metadata") or {} for each in spec.get("volumeClaimTemplates") or () if each)
    volumes |= {metadata.get("name") for metadata in claims}
    for container, place in containers_of(pod, steps):
        for number, mount in enumerate(container.get("volumeMounts") or ()):
            if mount and mount.get("name") not in volumes:
                where = path_of_steps((((place, "volumeMounts"), number), "name"))
                findings.problem(where, "no volume of the pod has this name", kind="NotFound")


def _check_deployment(spec: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    _check_workload("Always", spec, steps, findings)
    deadline, ready = spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds")
    if type(deadline) is int and type(ready) is int and deadline <= ready:
        findings.problem(path_of_steps((steps, "progressDeadlineSeconds")), "must be more than minReadySeconds")
    strategy, place = spec.get("strategy") or {}, (steps, "strategy")
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate" and rolling is not None:
        findings.problem(path_of_steps((place, "rollingUpdate")), "does not go with the type 'Recreate'")
    elif rolling:
        _check_rolling_update(rolling, (place, "rollingUpdate"), findings)


def _check_rolling_update(rolling: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    most, less = rolling.get("maxSurge"), rolling.get("maxUnavailable")
    check_number_or_percentage(most, (steps, "maxSurge"), findings)
    check_number_or_percentage(less, (steps, "maxUnavailable"), findings, is_at_most_all=True)
    if is_neither_number_nor_percentage(most) and is_neither_number_nor_percentage(less):
        findings.problem(path_of_steps((steps, "maxUnavailable")), "may not be 0 when maxSurge is 0")


def _check_daemon_set(spec: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    _check_workload("Always", spec, steps, findings)
    rolling = (spec.get("updateStrategy") or {}).get("rollingUpdate")
    if rolling:
        place = ((steps, "updateStrategy"), "rollingUpdate")
        _check_rolling_update({"maxSurge": 0, **rolling}, place, findings)


def _check_stateful_set(spec: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    _check_workload("Always", spec, steps, findings)
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type") == "OnDelete" and strategy.get("rollingUpdate") is not None:
        place = ((steps, "updateStrategy"), "rollingUpdate")
        findings.problem(path_of_steps(place), "does not go with the type 'OnDelete'")


def _check_job(spec: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    pod, place = (spec.get("template") or {}).get("spec") or {}, ((steps, "template"), "spec")
    if pod.get("restartPolicy") not in {"Never", "OnFailure"}:
        hint = f"write {alternatives(['Never', 'OnFailure'])}"
        findings.problem(path_of_steps((place, "restartPolicy")), "must be set for a Job", hint=hint, kind="Required")
    check_numbers_are_at_least(0, spec, _JOB_COUNTS, (steps, findings))
    if spec.get("selector") is not None and not spec.get("manualSelector"):
        hint = "leave it out: Kubernetes writes it"
        findings.problem(path_of_steps((steps, "selector")), "goes only with manualSelector", hint=hint)
    _check_mounts_have_volumes(spec, pod, place, findings)


def _check_cron_job(spec: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_numbers_are_at_least(0, spec, _CRON_COUNTS, (steps, findings))
    fault = fault_of_cron_schedule(spec.get("schedule") or "")
    if fault:
        findings.problem(path_of_steps((steps, "schedule")), fault, hint="such as '*/5 * * * *' or '@daily'")


def fault_of_cron_schedule(schedule: str) -> str:
    """Say what is wrong with the schedule of a CronJob ("": nothing).

    >>> fault_of_cron_schedule("0 3 * * mon-fri"), fault_of_cron_schedule("61 * * * *")
    ('', "'61' is no minute from 0 to 59")
    """
    if "TZ=" in schedule:
        return "may not name a time zone; timeZone does"
    if schedule.startswith("@"):
        is_known = schedule in _CRON_WORDS or schedule.startswith("@every ")
        return "" if is_known else f"{quoted_text(schedule)} is no schedule"
    fields = schedule.split()
    if len(fields) != len(_CRON_FIELDS):
        return f"must have 5 fields, not {len(fields)}"
    for text, field in zip(fields, _CRON_FIELDS, strict=True):
        for part in text.split(","):
            if not _is_cron_part(part.lower(), field):
                what, least, most, _ = field
                return f"{quoted_text(part)} is no {what} from {least} to {most}"
    return ""


def _is_cron_part(text: str, field: tuple[str, int, int, tuple[str, ...]]) -> bool:
    _, least, most, names = field
    match = _CRON_PART.fullmatch(text)
    if match is None or (match[3] is not None and int(match[3]) == 0):
        return False
    numbers = [_cron_number(each, names, least) for each in match.group(1, 2) if each is not None]
    return all(least <= number <= most for number in numbers) and numbers == sorted(numbers)


def _cron_number(text: str, names: tuple[str, ...], first: int) -> int:
    """Return a number, or that of a name; -1 for a text that is neither."""
    if text.isdigit():
        return int(text) if len(text) < _LONGEST else -1
    return names.index(text) + first if text in names else -1


def _check_spec_is_there(manifest: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    if manifest.get("spec") is None:
        findings.required(path_of_steps((steps, "spec")))


_WITH_SPEC = (
    *(f"{_APPS}{kind}" for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")),
    *(f"{_BATCH}{kind}" for kind in ("CronJob", "Job", "JobTemplateSpec")),
    *(f"io.k8s.api.core.v1.{kind}" for kind in ("PersistentVolumeClaim", "Pod", "PodTemplateSpec", "Service")),
)
WORKLOAD_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_WITH_SPEC, _check_spec_is_there),
    f"{_APPS}DaemonSetSpec": _check_daemon_set,
    f"{_APPS}DeploymentSpec": _check_deployment,
    f"{_APPS}ReplicaSetSpec": partial(_check_workload, "Always"),
    f"{_APPS}StatefulSetSpec": _check_stateful_set,
    f"{_BATCH}CronJobSpec": _check_cron_job,
    f"{_BATCH}JobSpec": _check_job,
}
