"""The output of ``argosy status``."""

from reconciler.reference.shapes import (
    anything,
    flag,
    manifest,
    mapping,
    nullable,
    record,
    records,
    sequence,
    text,
    texts,
    whole,
)

from .parts import CLUSTER, CONDITION, MESSAGE, OBJECT, PENDING, REASON, REFUSAL, RENDERED

_LIVE_OBJECT = {
    "cluster?": CLUSTER,
    "object?": OBJECT,
    "replicas?": whole("How many replicas it must have there."),
    "applied?": flag("True if the cluster accepted it as it must be."),
    "health?": text("`Healthy`, `Unhealthy` or `Unknown`."),
    "reason?": REASON,
    "message?": MESSAGE,
    "since?": text("The time since when this is so."),
    "observedAt?": text("The time at which it was seen with this status, which is recorded where it changes."),
    "unsettledSince?": text(
        "Present if it changes more often than it is recorded, so that its status may differ by now: since when."
    ),
    "status?": anything("The status it has there."),
    "findings?": sequence(mapping(text()), "What ails it there: pods, containers and events, with their reasons."),
}
_DEVIATION = {
    "object": OBJECT,
    "action": text("`kept`; `finalizing` for an object that is deleted and still there; `failed` for a deletion."),
    "reason?": REASON,
    "message?": MESSAGE,
    "field?": text("The field it is about; left out if it is about the whole object."),
    "manager?": text("The field manager that decides or added the field."),
}
_PROGRESS = {
    "applied?": flag(
        "True if the last look at it and the last run over it succeeded, that run for the newest rendered commit, and"
        " left nothing otherwise than the commit says."
    ),
    "known?": flag("False if the last look or run failed, so that nobody knows how its objects are now."),
    "reason?": text("Why no run has got through the newest rendered commit, in a word."),
    "message?": MESSAGE,
    "hint?": text("What to do about it."),
}
OBSERVATION = record(
    {
        "state": text(
            "The way in a word: `Unauthorized`, `Forbidden`, `NoCredentials`, `WrongCluster`, `NameNotResolved`,"
            " `ProxyFailed`, `CertificateRejected`, `NotAnApiServer`, `TooManyRequests`, `AgentSilent`, `NoAgent`,"
            " `ClockWrong`, `KindForbidden` or `NamespaceForbidden`."
        ),
        "message?": MESSAGE,
        "hint?": text("What to do about it."),
        "since?": text("The time since when this is so."),
    },
    "The way in which passes do not see how it is; left out if they do. It is no sign that the cluster is unwell.",
)
_RUN = {
    "due": text("The time at which it was due."),
    "ran": text("The time of the pass that ran it."),
    "replicas?": whole("The replicas that it set."),
    "minimum?": whole("The minReplicas that it set for a FederatedHPA."),
    "maximum?": whole("The maxReplicas that it set for a FederatedHPA."),
    "message?": text("Why it failed."),
}
FLEET_STATUS = {
    "recordedAt?": text("The time of the newest commit of the status branch; without changes there is none."),
    "branch": text("The rendered branch."),
    "rendered": RENDERED,
    "source": text("The source commit that is rendered."),
    "newest": text("The newest source commit that is known."),
    "head": text("The commit HEAD points to."),
    "current": flag("True if the newest source is known to be rendered."),
    "engine": text("The version of Argosy that rendered it."),
    "next?": record(
        {"at": text("The time, as RFC 3339."), "what": text("The change, such as `web leaves paris`.")},
        "The next change that happens by itself while nothing else changes.",
    ),
    "clusters": mapping(
        record(
            {
                "objects": whole("How many objects its folder has."),
                "replicas": whole("How many replicas are placed there, without those of Jobs that have ended."),
                "connected": flag("False if it left the source."),
                "taints?": texts("The taints that its file has, such as `argosy.dev/drain:NoExecute`."),
                "unbuilt": texts("The objects that could not be built for it."),
                "ready?": text("Its Ready condition: `True`, `False` or `Unknown`."),
                "version?": text("Its Kubernetes version."),
                "converged?": nullable(text("The rendered commit it converged to.")),
                "outcome?": text("How the last pass over it ended."),
                "unhealthy?": whole("How many of its objects are not applied and healthy."),
                "since?": text("The time since when the outcome is so."),
                "remedyActions?": texts("The actions that Remedies call for by its conditions."),
                **_PROGRESS,
                "observation?": OBSERVATION,
            }
        ),
        "For each cluster: what is rendered for it, and what was seen of it.",
    ),
    "bindings": records(
        {
            "object": OBJECT,
            "policy": nullable(text("The policy that claims it.")),
            "reason": REASON,
            "clusters": mapping(whole(), "Its clusters with their replicas; 0 if it has none to count."),
            "requiredBy?": texts("The objects it follows."),
            "problems": texts("What is wrong with it."),
        },
        "The bindings.",
    ),
    "pending": PENDING,
    "cron?": records(
        {
            "object": OBJECT,
            "autoscaler": text("The CronFederatedHPA."),
            "rules": records(
                {
                    "name": text("The rule."),
                    "inForce?": manifest("What it says; left out while it is suspended."),
                    "next?": text("The time at which it fires next."),
                    "runs?": records(_RUN, "Its latest runs, newest first."),
                    "failedRuns?": records(_RUN, "Those that failed, newest first."),
                },
                "Its rules.",
            ),
        },
        "What CronFederatedHPAs scale, with the latest runs of their rules.",
    ),
    "rebalancers?": records(
        {
            "rebalancer": text("The WorkloadRebalancer."),
            "file": text("The file it stands in."),
            "observedWorkloads": records(
                {
                    "workload": mapping(text(), "The workload as it is named there."),
                    "result?": text("`Successful` or `Failed`; left out while it is not rescheduled yet."),
                    "reason?": REASON,
                },
                "What became of its workloads.",
            ),
            "finishTime?": text("The time of the pass that was done with all of them."),
            "expires?": text("The end of its time to live, after which the file may go."),
        },
        "The WorkloadRebalancers of the source, as passes that reach members recorded them.",
    ),
    "quotas?": records(
        {
            "quota": text("The FederatedResourceQuota, as `namespace/name`."),
            "limits": mapping(text(), "Its limits, by resource."),
            "used": mapping(text(), "What is used of them: requests of what is placed, or what members report."),
            "clusters": mapping(
                record(
                    {
                        "hard": mapping(text()),
                        "used": mapping(text()),
                        "unsettledSince?": text("Present if it changes more often than it is recorded: since when."),
                        "observedAt?": text("The time at which it was seen so; present with `unsettledSince`."),
                    }
                ),
                "What members report of their shares.",
            ),
        },
        "The FederatedResourceQuotas of the source.",
    ),
    "refused?": record(REFUSAL, "Present if passes refuse the newest source: why."),
    "unwell?": records(
        {"object": OBJECT, "cluster": CLUSTER, "reason": REASON, "since": text(), "message": MESSAGE},
        "The objects that are not applied and healthy.",
    ),
    "deviations?": records(
        {"cluster": CLUSTER, **_DEVIATION},
        "What the last pass kept, left in finalizers or yielded, so that it is not as the commit says.",
    ),
}
CLUSTER_STATUS = {
    "cluster": CLUSTER,
    "connected": flag("False if it left the source."),
    "converged": nullable(text("The rendered commit it converged to.")),
    "outcome?": nullable(text("How the last pass over it ended.")),
    "since?": nullable(text("The time since when the outcome is so.")),
    "failingSince?": nullable(text("The time since when it does not answer.")),
    "deployer?": text("The tool that applies its folder, `Flux` or `ArgoCD`; absent where passes or an agent do."),
    **_PROGRESS,
    "observation?": OBSERVATION,
    "status?": manifest("Karmada's Cluster status."),
    "capacityRecordedAt?": text(
        "The time of its `resourceSummary`: moves of free room by less than a tenth are recorded after ten minutes."
    ),
    "objects": records(_LIVE_OBJECT, "Its objects."),
    "pending": PENDING,
    "deviations?": records(_DEVIATION, "What the last pass kept, left in finalizers or yielded."),
}
OBJECT_STATUS = {
    "object": OBJECT,
    "policy": nullable(text("The policy that claims it.")),
    "conditions": records(CONDITION, "The conditions of its binding."),
    "clusters": records(_LIVE_OBJECT, "The object in each of its clusters."),
    "disconnected": texts("The clusters that left the source and keep it as it was."),
    "templateStatus": anything("The status the template would have in Karmada; null if none is known."),
    "lastMove?": record(
        {
            "at": text("The time of the pass that decided it."),
            "from": texts("The clusters that it left."),
            "reason?": REASON,
            "message?": MESSAGE,
            "times?": whole("How often in a row it left a cluster because it was not well there; left out for once."),
        },
        "The last time that it left clusters by itself.",
    ),
}
