"""Jobs and cron jobs."""

from collections.abc import Iterable, Mapping
from typing import Any

from render.interpretation.fields import (
    integer_at,
    list_at,
    manifest_with_other_integer,
    manifest_without_value,
    mapping_at,
    objects_at,
    text_at,
    value_at,
)
from render.interpretation.operations import Interpretation, Items, Replicas
from render.interpretation.progress import (
    JOB_RUNNING,
    LiveState,
    Progress,
    has_condition,
    live_condition,
    state_of_broken_object,
)
from render.interpretation.references import pod_dependencies
from render.interpretation.removal import Path, remove_field_if
from render.interpretation.requirements import pod_requirements
from render.interpretation.retention import Retained
from render.interpretation.statuses import (
    reflected_status_fields,
    status_without_zeros,
    statuses_by_cluster,
    sums_of_counters,
)
from render.model import Manifest, mapping_or_empty
from render.resources import DependentObject

from .kind import NO_DELIVERY_RULES, BuiltInKind, Default, PrunedField
from .pod_defaults import POD_DEFAULTS, defaults_below_path
from .workloads import POD_TEMPLATE, template_dependencies

PARALLELISM = ("spec", "parallelism")
COUNTERS = ("active", "succeeded", "failed")
CONTROLLER_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
JOB_LABELS = (*CONTROLLER_LABELS, "job-name", "batch.kubernetes.io/job-name")
JOB_DEFAULTS: Mapping[Path, Default] = {
    ("backoffLimit",): 6,
    ("completionMode",): "NonIndexed",
    ("suspend",): False,
    ("podReplacementPolicy",): "TerminatingOrFailed",
    ("manualSelector",): False,
}
FINISHED = ("Complete", "Failed")


def job_replicas(job: Manifest) -> Replicas:
    """Return the number of pods that run at once: parallelism, but no more than completions."""
    parallelism = integer_at(job, *PARALLELISM) or 0
    completions = integer_at(job, "spec", "completions")
    return Replicas(
        replicas=parallelism if completions is None else min(parallelism, completions),
        requirements=pod_requirements(mapping_at(job, *POD_TEMPLATE)),
    )


def revise_parallelism(job: Manifest, replicas: int) -> Manifest:
    """Set spec.parallelism where there is one; a job without the field stays as it is."""
    return manifest_with_other_integer(job, replicas, *PARALLELISM)


def aggregated_job(template: Manifest, items: Items) -> Any:
    """Add up the members' jobs: one failed fails the template, all complete complete it; a finished one is final."""
    status = mapping_at(template, "status")
    if _finish_of_job_status(status):
        return status
    started = value_at(status, "startTime") or _picked_time_of_members(items, "startTime", min)
    finished = {
        "conditions": list(_conditions_of_aggregated_job(items)),
        "startTime": started,
        "completionTime": _picked_time_of_members(items, "completionTime", max),
    }
    sums = status_without_zeros(sums_of_counters(items, COUNTERS), COUNTERS)
    return {**sums, **{field: value for field, value in finished.items() if value}}


def _conditions_of_aggregated_job(items: Items) -> Iterable[dict[str, str]]:
    statuses = dict(statuses_by_cluster(items))
    finishes = [(member, _finish_of_job_status(status)) for member, status in statuses_by_cluster(items)]
    failed = [member for member, finish in finishes if finish == "Failed"]
    since = max(filter(None, map(_finish_time_of_job_status, statuses.values())), default="")
    if failed:
        yield _true_job_condition("Failed", "JobFailed", f"the job failed in {', '.join(failed)}", since)
    total = len(items or ())
    if not total or sum(finish == "Complete" for _, finish in finishes) < total:
        return
    yield _true_job_condition("Complete", "Completed", "the job is complete in every cluster", since)
    if sum(_is_condition_true(status, "SuccessCriteriaMet") for _, status in statuses_by_cluster(items)) == total:
        yield _true_job_condition(
            "SuccessCriteriaMet", "CompletionsReached", "every cluster met its success criteria", since
        )


def _true_job_condition(kind: str, reason: str, message: str, since: str) -> dict[str, str]:
    """Return a condition that began when the last member's did: rendering has no clock to say "now"."""
    times = {"lastProbeTime": since, "lastTransitionTime": since} if since else {}
    return {"type": kind, "status": "True", "reason": reason, "message": message, **times}


def _finish_of_job_status(status: Mapping[str, Any]) -> str:
    """Return Complete or Failed, whichever is first true; empty while the job runs."""
    for condition in objects_at(status, "conditions"):
        if condition.get("type") in FINISHED and condition.get("status") == "True":
            return text_at(condition, "type")
    return ""


def _finish_time_of_job_status(status: Mapping[str, Any]) -> str:
    times = [text_at(condition, "lastTransitionTime") for condition in objects_at(status, "conditions")]
    return max([*times, text_at(status, "completionTime")])


def _is_condition_true(status: Mapping[str, Any], kind: str) -> bool:
    return any(
        condition.get("type") == kind and condition.get("status") == "True"
        for condition in objects_at(status, "conditions")
    )


def _picked_time_of_members(items: Items, field: str, pick: Any) -> str:
    """Return the earliest or latest of the members' times, empty unless every item has one."""
    times = [text_at(status, field) for _, status in statuses_by_cluster(items)]
    return pick(times) if times and all(times) and len(times) == len(items or ()) else ""


def reflect_job(observed: Manifest) -> Any:
    """Report a member job's counters, conditions and times."""
    return reflected_status_fields(observed, (*COUNTERS, "conditions", "startTime", "completionTime"))


def job_finish(job: Manifest) -> str:
    """Return Complete or Failed for a Job that is over; empty while it runs."""
    return _finish_of_job_status(mapping_at(job, "status"))


def is_indexed_job(manifest: Manifest) -> bool:
    """Say whether an object is a Job whose pods each have an index: a part of one would count its own from 0."""
    is_job = manifest.get("kind") == "Job" and str(manifest.get("apiVersion")).startswith("batch/")
    return is_job and mapping_or_empty(manifest.get("spec")).get("completionMode") == "Indexed"


def cron_job_dependencies(cron_job: Manifest) -> set[DependentObject]:
    """Return the objects the pods of spec.jobTemplate refer to."""
    spec = mapping_at(cron_job, "spec", "jobTemplate", *POD_TEMPLATE)
    return pod_dependencies(spec, text_at(cron_job, "metadata", "namespace"))


def aggregated_cron_job(_template: Manifest, items: Items) -> Any:
    """Chain the members' active jobs; the latest times win."""
    status = {
        "active": [job for _, member in statuses_by_cluster(items) for job in list_at(member, "active")],
        "lastScheduleTime": max(
            (text_at(member, "lastScheduleTime") for _, member in statuses_by_cluster(items)), default=""
        ),
        "lastSuccessfulTime": max(
            (text_at(member, "lastSuccessfulTime") for _, member in statuses_by_cluster(items)), default=""
        ),
    }
    return {field: value for field, value in status.items() if value}


def job_progress(live: Manifest) -> LiveState | None:
    """Return how far a job is."""
    # To kstatus a running Job is current; here only a completed one is done, or suspended ones would wait for ever.
    if has_condition(live, "Failed", "True"):
        return state_of_broken_object(live_condition(live, "Failed"))
    if has_condition(live, "Complete", "True") or has_condition(live, "Suspended", "True"):
        return None
    return LiveState(Progress.IN_PROGRESS, JOB_RUNNING, "it has not completed yet")


def job_without_generated_identity(manifest: Manifest) -> Manifest:
    """Drop labels that controllers pick, and a time to live, with which delivery and deletion would alternate."""
    if value_at(manifest, "spec", "manualSelector") is not True:
        for label in CONTROLLER_LABELS:
            manifest = manifest_without_value(manifest, "spec", "selector", "matchLabels", label)
        for label in JOB_LABELS:
            manifest = manifest_without_value(manifest, "spec", "template", "metadata", "labels", label)
    return manifest_without_value(manifest, "spec", "ttlSecondsAfterFinished")


def remove_generated_selector_and_labels(job: dict[str, Any]) -> None:
    """Take out the selector and the labels that the server makes of the UID of a Job."""
    spec = job.get("spec")
    if not isinstance(spec, dict) or spec.get("manualSelector"):
        return
    spec.pop("selector", None)
    for label in JOB_LABELS:
        remove_field_if(job, ("metadata", "labels", label))
        remove_field_if(job, ("spec", "template", "metadata", "labels", label))


KINDS = (
    BuiltInKind(
        group="batch",
        kind="Job",
        version="v1",
        is_namespaced=True,
        pruned_fields=(
            PrunedField(
                path="spec.ttlSecondsAfterFinished", why="a cluster would delete what the next pass creates again"
            ),
        ),
        defaults={**defaults_below_path(("spec",), JOB_DEFAULTS), **defaults_below_path(POD_TEMPLATE, POD_DEFAULTS)},
        clean=remove_generated_selector_and_labels,
        prune=job_without_generated_identity,
        pod_spec=POD_TEMPLATE,
        has_edited_containers=True,
        counts=("parallelism", "completions"),
        is_recreatable=True,
        progress=job_progress,
        interpretation=Interpretation(
            replicas=job_replicas,
            revise=revise_parallelism,
            replica_field=PARALLELISM,
            aggregate=aggregated_job,
            reflect=reflect_job,
            dependencies=template_dependencies,
            finish=job_finish,
        ),
        retained=(
            Retained(path=("spec", "selector", "matchLabels"), is_fixed=True),
            Retained(path=("spec", "template", "metadata", "labels"), is_fixed=True),
        ),
        has_no="is_scaled filled_in stage takes_others_along maps is_transient",
    ),
    BuiltInKind(
        group="batch",
        kind="CronJob",
        version="v1",
        is_namespaced=True,
        defaults={
            ("spec", "concurrencyPolicy"): "Allow",
            ("spec", "suspend"): False,
            ("spec", "successfulJobsHistoryLimit"): 3,
            ("spec", "failedJobsHistoryLimit"): 1,
            **defaults_below_path(("spec", "jobTemplate", "spec"), JOB_DEFAULTS),
            **defaults_below_path(("spec", "jobTemplate", *POD_TEMPLATE), POD_DEFAULTS),
        },
        pod_spec=("spec", "jobTemplate", *POD_TEMPLATE),
        short_names=("cj",),
        interpretation=Interpretation(aggregate=aggregated_cron_job, dependencies=cron_job_dependencies),
        has_no=f"{NO_DELIVERY_RULES} retained progress has_edited_containers is_scaled counts filled_in clean"
        " prune pruned_fields",
    ),
)
"""The kinds that run pods until these are done."""
