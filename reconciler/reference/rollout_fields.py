"""A sentence for every field of RolloutPolicies, ClusterRolloutPolicies, RolloutControls and RollbackRequests."""

from collections.abc import Mapping

from render.notations import WEEKDAYS

from .fields import Field
from .karmada_fields import sentence_about_field
from .rollout_check_fields import fields_of_checks, fields_of_checks_as_above

_LABELS = (
    "labelSelector",
    "labelSelector.matchLabels",
    "labelSelector.matchExpressions",
    "labelSelector.matchExpressions[].key",
    "labelSelector.matchExpressions[].operator",
    "labelSelector.matchExpressions[].values",
)
_FIELDS_OF_CLUSTERS = (
    "fieldSelector",
    "fieldSelector.matchExpressions",
    "fieldSelector.matchExpressions[].key",
    "fieldSelector.matchExpressions[].operator",
    "fieldSelector.matchExpressions[].values",
    "clusterNames",
    "exclude",
)
FIELDS_OF_AFFINITY = (*_LABELS, *_FIELDS_OF_CLUSTERS)
"""The fields below a cluster affinity, as in Karmada's policies."""


def fields_as_in_policies(start: str, *ends: str) -> dict[str, Field]:
    """Return fields that Karmada's policies have as well, below one that has."""
    return {f"{start}.{end}": Field(sentence_about_field(f"{start}.{end}")) for end in ends}


ROLLOUT_FIELDS: Mapping[str, Field] = {
    "metadata.name": Field("The name of the policy."),
    "spec.resourceSelectors": Field(sentence_about_field("spec.resourceSelectors")),
    **fields_as_in_policies("spec.resourceSelectors[]", "apiVersion", "kind", "namespace", "name", *_LABELS),
    "spec.priority": Field("Of policies that select an object, that with the highest priority counts.", 0),
    "spec.waves": Field(
        "The waves, in their order. A cluster belongs to the first that takes it; those that none takes are a last wave"
        " of their own, `others`.",
        [],
    ),
    "spec.waves[].name": Field("The name of the wave; every wave has its own."),
    "spec.waves[].clusterAffinity": Field("The clusters that may be in it, as their labels and places are now."),
    **fields_as_in_policies("spec.waves[].clusterAffinity", *FIELDS_OF_AFFINITY),
    "spec.waves[].size": Field(
        "So many of them, such as `3` or `25%`, rounded down and at least one; without `clusterAffinity`, of those that"
        " are left. Who is in it stays in it when others join or leave."
    ),
    "spec.waves[].rest": Field("True if it takes all clusters that are left.", False),
    "spec.waves[].approval": Field("True if it begins only when somebody has approved of it.", False),
    "spec.waves[].approvals": Field(
        "So many persons have to approve before it begins. Who somebody is, the signature of the commit says that the"
        " control came with, by the keys in `rollouts.signers` of argosy.yaml, or the forge, of those in"
        " `rollouts.reviewers`. Nobody approves of a change that they made."
    ),
    "spec.waves[].allowEmpty": Field(
        "True if the waves after it may begin although nobody in it has come through its gate.", False
    ),
    "spec.waves[].maxConcurrent": Field("As `spec.maxConcurrent`, for this wave."),
    "spec.waves[].maxConcurrentPer": Field("As `spec.maxConcurrentPer`, for this wave."),
    "spec.waves[].maxConcurrentPer[].field": Field("`region`, `zone` or `provider`."),
    "spec.waves[].maxConcurrentPer[].limit": Field("So many, or such a percentage of those of the wave there."),
    "spec.waves[].maxFailures": Field("So many clusters of this wave may fail, beside the limit of all waves."),
    "spec.waves[].gate": Field("As `spec.gate`, for this wave; what it does not say is as there."),
    "spec.waves[].gate.healthyFor": Field("As `spec.gate.healthyFor`, for this wave."),
    "spec.waves[].gate.deadline": Field("As `spec.gate.deadline`, for this wave."),
    "spec.waves[].gate.maxStatusAge": Field("As `spec.gate.maxStatusAge`, for this wave."),
    "spec.waves[].gate.share": Field("As `spec.gate.share`, for this wave."),
    **fields_of_checks_as_above("spec.waves[].gate", "spec.gate"),
    "spec.maxConcurrent": Field(
        "So many clusters, or such a percentage of their wave, may be under way at once; unset, a whole wave."
    ),
    "spec.maxConcurrentPer": Field(
        "Limits beside `maxConcurrent`, of the clusters of each region, zone or provider that may be under way.", []
    ),
    "spec.maxConcurrentPer[].field": Field("`region`, `zone` or `provider`; a cluster without it counts nowhere."),
    "spec.maxConcurrentPer[].limit": Field("So many, or such a percentage of those of the wave there; at least one."),
    "spec.maxFailures": Field(
        "So many clusters, or such a percentage of all, may fail; with one more, no other cluster gets the change.", 0
    ),
    "spec.gate": Field("What a cluster has to show before it is through."),
    "spec.gate.healthyFor": Field(
        "All objects of the change are healthy for so long without a break, such as `10m`.", "0s"
    ),
    "spec.gate.deadline": Field(
        "A cluster that is not through so long after it got the change has failed, unless it is well by then: then it"
        " only has to stay so until its gate opens. Unset, it may take its time."
    ),
    "spec.gate.maxStatusAge": Field(
        "No cluster is through by a status that is older, such as `5m`. A pass that is to decide on one looks at the"
        " cluster first, if it reaches it; of an agent its last commit counts, so it should have a `--heartbeat` that"
        " is shorter. What nobody can look at is not through meanwhile; if it was well at the last look, it has not"
        " failed by that, and its time goes on. Unset, what the last pass saw counts, however long ago that was."
    ),
    "spec.gate.share": Field(
        "The next wave begins when so many clusters of a wave, or such a percentage of them, rounded up, are through,"
        " of those that can be reached and are not suspended; the others go on, and count as before. Unset, all have to"
        " be, but for those that failed."
    ),
    **fields_of_checks("spec.gate"),
    "spec.maxUnreachable": Field(
        "So many clusters, or such a percentage of all, may be out of reach; while there are more, no other gets the"
        " change. Unset, any number may: they are passed over."
    ),
    "spec.approvers": Field(
        "The persons whose approvals count, by their names in `rollouts.signers` or `rollouts.reviewers` of"
        " argosy.yaml; unset, all count.",
        [],
    ),
    "spec.onDeadline": Field("`Wait`: a deadline that has passed counts as no failure.", "Fail"),
    "spec.onFailure": Field(
        "`Pause`: all clusters keep what they have until somebody decides. `Rollback`: those that have the change go"
        " back to the version that was completed last, at once, and the change is held; an abort does so, too. Once all"
        " are back, each has the replicas that it had before the change, unless the object was scaled or placed anew"
        " since.",
        "Pause",
    ),
    "spec.rollback": Field(
        "The order in which clusters go back, with `onFailure: Rollback`. `AtOnce`: all in one commit. `ReverseWaves`:"
        " the last wave that got the change goes back first, the one before when those are well again with the version"
        " before, or their deadline has passed; as many at once as may be under way.",
        "AtOnce",
    ),
    "spec.onNewChange": Field(
        "`Supersede`: a newer change takes the place of the one under way. `Wait`: it goes out after that, and each"
        " newer one after the one before it. `Coalesce`: all that came meanwhile goes out together after that."
        " `Expedite`: as `Wait`, but once one of `spec.approvers` expedites the newest change, whether it waits or is"
        " under way (a RolloutControl with the verb `Expedite` and a reason, in a signed commit), it takes the place of"
        " all others and goes to all waves at once, without gates between them, approvals, windows and freezes. As many"
        " at once as may be under way, and what may fail or be unreachable, hold as before.",
        "Supersede",
    ),
    "spec.windows": Field(
        "The times at which clusters may get a change; without any, always. Those that have it go on through the gate.",
        [],
    ),
    "spec.windows[].days": Field("The days of the week on which it begins.", list(WEEKDAYS)),
    "spec.windows[].from": Field("The time of the day at which it begins, such as `09:30`."),
    "spec.windows[].to": Field("The time at which it ends; of the next day, where that is not later."),
    "spec.windows[].timeZone": Field("The time zone of both, such as `Europe/Berlin`.", "UTC"),
    "spec.freezes": Field("Times at which no cluster gets a change, whatever the windows say.", []),
    "spec.freezes[].from": Field("The beginning, such as `2026-12-20T00:00:00Z`; without it, it has begun."),
    "spec.freezes[].until": Field("The end: a freeze ends by itself."),
    "spec.freezes[].reason": Field("The reason, which is shown where something waits for the end."),
    "spec.group": Field("What goes out together, and by itself: each group has waves, gates and failures of its own."),
    "spec.group.by": Field(
        "`Change`: all that is changed. `Object`: each object. `Label`: all objects with a value of the label; one"
        " without it goes by itself. Objects that change and need each other, such as a Deployment and its ConfigMap,"
        " go together in any case, and join their groups.",
        "Change",
    ),
    "spec.group.label": Field("The key of the label, where groups are by label."),
    "spec.alsoFor": Field(
        "What goes out wave by wave as well, and not at once. `FirstDeliveries`: objects that are new in the fleet; a"
        " rollback takes them away again. `Removals`: objects whose template, or the policy that placed them, was"
        " deleted; they leave once all else that goes out is through, and guards judge all of it before the first"
        " wave. `Placements`: a cluster that an edited policy adds gets the object in its wave; replicas and clusters"
        " are given up when all that gain are through; scaling and failover are never held back. It replaces"
        " `spec.moves`, and does not go together with `MakeBeforeBreak`.",
        [],
    ),
    "spec.moves": Field(
        "How replicas of what it selects get from one cluster to another, `AtOnce` or `MakeBeforeBreak`, as"
        " `spec.moves` of argosy.yaml says where this says nothing. It is about numbers, and needs no wave."
    ),
    "spec.surge": Field("So many replicas more than asked for may stand while they move; unset, as argosy.yaml says."),
    "spec.maxUnavailable": Field(
        "A move may leave so many healthy replicas fewer than are asked for; unset, as argosy.yaml says."
    ),
    "spec.moveDeadline": Field(
        "How long a move may go without a step before it is a problem of its object; unset, as argosy.yaml says."
    ),
}
"""The fields of a RolloutPolicy and of a ClusterRolloutPolicy."""

CONTROL_FIELDS: Mapping[str, Field] = {
    "metadata.name": Field("The name of the control; every one has its own."),
    "spec.rollout": Field("The rollout that it is about: its policy."),
    "spec.rollout.kind": Field(
        "`RolloutPolicy` or `ClusterRolloutPolicy`; `Fleet` for what the calendar of argosy.yaml holds back."
    ),
    "spec.rollout.namespace": Field("The namespace of a RolloutPolicy."),
    "spec.rollout.name": Field("The name of the policy."),
    "spec.rollout.group": Field(
        "The group of its objects, where it makes some: an object, such as `Deployment.apps shop/web`, or the value of"
        " the label."
    ),
    "spec.change": Field("The digest of the change that it is about, as `argosy rollout status` prints it."),
    "spec.verb": Field(
        "`Pause`: nobody else gets the change; `Resume` ends that. `Approve`: a wave may begin. `Retry`: clusters that"
        " have failed get their time again. `Abort`: nobody else gets the change until a newer one, or a `Retry`."
        " `Emergency`: no window and no freeze holds the change up, and a second person has to `Confirm` that later."
        " `Expedite`: it goes to all waves at once, where the policy lets its approvers say so."
    ),
    "spec.wave": Field("The wave that is approved of."),
    "spec.reason": Field("The reason, for people; an `Emergency` and an `Expedite` need one."),
    "spec.by": Field("The person who asks for it."),
    "spec.at": Field("When it was asked for, as `2026-03-01T14:05:00Z`: of controls that contradict the last counts."),
}
"""The fields of a RolloutControl."""

ROLLBACK_FIELDS: Mapping[str, Field] = {
    "metadata.name": Field("The name of the request; every one has its own."),
    "spec.to": Field(
        "The rendered commit whose splits are to stand again, by its whole id. Where it is not in a clone, a pass there"
        " is refused and names the command that fetches it."
    ),
    "spec.objects": Field("The objects that it is about; unset, with no other part named, everything.", []),
    "spec.objects[].apiVersion": Field("The apiVersion of the object."),
    "spec.objects[].kind": Field("The kind of the object."),
    "spec.objects[].name": Field("The name of the object."),
    "spec.objects[].namespace": Field("The namespace of the object, where it has one."),
    "spec.namespace": Field("The namespace whose objects it is about; not together with `spec.objects`."),
    "spec.cluster": Field(
        "The cluster whose shares are to stand again; other clusters divide what is left. Not together with the others."
    ),
}
"""The fields of a RollbackRequest."""
