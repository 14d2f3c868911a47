"""A sentence for every field of the documents that people write, and the value that counts where one is left out."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from render.settings.fields import documented_fields
from render.settings.fleet import Fleet


class Field(NamedTuple):
    """One sentence about a field; ``default`` counts where it is left out (None: nothing does)."""

    about: str
    default: Any = None


FLEET_FIELDS: Mapping[str, Field] = {
    path: Field(about, field.shown_default) for path, about, field in documented_fields(Fleet)
}
"""The fields of argosy.yaml, kind Fleet."""


def _fields_of_losses(start: str) -> dict[str, Field]:
    """Return the fields of a loss that an expectation names."""
    return {
        f"{start}.loss": Field("`cluster`, `region`, `zone` or `provider`: any one of them is lost."),
        f"{start}.count": Field("So many of them are lost at once: one, or any two.", 1),
        f"{start}.minReplicas": Field("So many replicas have to be left, where they are divided.", "100%"),
        f"{start}.minCopies": Field("So many clusters with a copy have to be left, where it is not.", 1),
        f"{start}.when": Field("`AtOnce`: before anything is placed anew.", "Rescheduled"),
    }


def _fields_of_counts(start: str) -> dict[str, Field]:
    """Return the fields of the counts of a backtest that a test limits."""
    abouts = {
        "movedReplicas": "The replicas that left one cluster and appeared in another.",
        "evictions": "The clusters that objects had to leave by failover, taints or a drain.",
        "flaps": "The times that an object came back to a cluster which it had left shortly before.",
        "unscheduledMinutes": "The minutes in which no cluster took an object, or not all of it.",
        "replicaMinutesNotReady": "The minutes of replicas in clusters while these were not ready.",
    }
    limits = {
        "atMost": "So much at most.",
        "atLeast": "So much at least.",
        "noMoreThanReally": "True if it must not be more than it really was.",
    }
    found: dict[str, Field] = {}
    for name, about in abouts.items():
        found[f"{start}.{name}"] = Field(about)
        found |= {f"{start}.{name}.{limit}": Field(sentence) for limit, sentence in limits.items()}
    return found


POLICY_TEST_FIELDS: Mapping[str, Field] = {
    "metadata.name": Field("The name of the test; every test has its own."),
    "spec.given": Field("The changes to the source before it is rendered."),
    "spec.given.clusters": Field("The Clusters to add, or to put in the place of those of the same name.", []),
    "spec.given.templates": Field("The resource templates to add, or to put in the place of others.", []),
    "spec.given.withoutClusters": Field("The names of the clusters to take away.", []),
    "spec.given.argosy": Field(
        "A Fleet to try: the switches in its `spec`, and those its `compatibility` implies, replace argosy.yaml's."
    ),
    "spec.given.now": Field(
        "The time of the pass that is expected to decide so, as `2026-03-01T14:05:00Z`. Passes before it, from when"
        " everything was healthy, are run first: one whenever something fails or an answer flips by itself."
    ),
    "spec.given.since": Field("The time of the first of those passes; rules of a CronFederatedHPA count from then on."),
    "spec.given.changes": Field("The changes of the source on the way, such as those that a rollout lets out.", []),
    "spec.given.changes[].at": Field("The time of the change."),
    "spec.given.changes[].clusters": Field("The Clusters to add from then on, or to put in the place of others.", []),
    "spec.given.changes[].templates": Field("The resource templates to add from then on, or to replace others by.", []),
    "spec.given.changes[].withoutClusters": Field("The names of the clusters to take away from then on.", []),
    "spec.given.controls": Field(
        "The requests of people about the change that a rollout lets out at the time, as `argosy rollout` writes them.",
        [],
    ),
    "spec.given.controls[].at": Field("The time of the request."),
    "spec.given.controls[].verb": Field("The request, such as `Approve`."),
    "spec.given.controls[].policy": Field("The rollout policy, such as `RolloutPolicy shop/web`."),
    "spec.given.controls[].wave": Field("The wave that is approved."),
    "spec.given.controls[].by": Field(
        "The person who signed it, by the name in `spec.rollouts.signers`; left out, nobody knows who it was."
    ),
    "spec.given.notReady": Field("The clusters that are not ready, each with the time since when.", {}),
    "spec.given.reporting": Field("The clusters whose agents report while they are not ready.", []),
    "spec.given.unhealthy": Field("The clusters in which all is unhealthy, each with the time since when.", {}),
    "spec.given.notMet": Field(
        "The checks of rollouts that are not met, each with the time since when; nobody is asked, and all others are.",
        {},
    ),
    "spec.given.notLookedAt": Field(
        "The clusters at which no pass looks any more, each with the time of the last look: what was seen then stays.",
        {},
    ),
    "spec.given.unschedulable": Field("The clusters in which no node takes more pods of any workload.", []),
    "spec.given.unschedulable[].cluster": Field("The cluster."),
    "spec.given.unschedulable[].since": Field("The time since when it is so."),
    "spec.given.unschedulable[].ready": Field("So many replicas of each workload run there; all others wait.", 0),
    "spec.backtest": Field(
        "A replay of a time that the branches record, as `argosy backtest` makes one: with the policies, overrides,"
        " quotas and settings of the tested files, and those of `spec.given.argosy`, over the clusters and templates of"
        " each time. A policy that was removed since counts as long as it stood."
    ),
    "spec.backtest.since": Field(
        "The beginning of that time: a time, or so long before `until`, or before now, such as `30d`. A test fails"
        " where a part of it is not in this clone."
    ),
    "spec.backtest.until": Field("The end of that time; left out, that of the newest commit."),
    "spec.backtest.flapWithin": Field("Coming back to a cluster so soon is a flap.", "1h"),
    "spec.backtest.expect": Field("What is expected of the replay."),
    "spec.backtest.expect.asItWas": Field(
        "True if every rendered commit has to come out as it really was, false if one must not."
    ),
    **_fields_of_counts("spec.backtest.expect"),
    "spec.expect": Field(
        "What is expected; each item is about one object. A test with a `spec.backtest` may have none."
    ),
    "spec.expect[].kind": Field("The kind of the object."),
    "spec.expect[].group": Field("The API group of the object; left out means the core group."),
    "spec.expect[].namespace": Field("The namespace of the object; left out means the fleet's default namespace."),
    "spec.expect[].name": Field("The name of the object."),
    "spec.expect[].at": Field("The time of the pass that it is about; left out, that of `spec.given.now`."),
    "spec.expect[].policy": Field("The policy that must claim it, such as `PropagationPolicy shop/web`."),
    "spec.expect[].absent": Field("True if it must be in no cluster."),
    "spec.expect[].clusters": Field("The clusters it must go to: exactly these."),
    "spec.expect[].notIn": Field("The clusters it must not be in.", []),
    "spec.expect[].replicas": Field("The clusters it must go to with their replicas: exactly these."),
    "spec.expect[].refused": Field("For each cluster it must not go to: the filter that must refuse it."),
    "spec.expect[].reason": Field("The reason of its Scheduled condition, such as `Success` or `NoClusterFit`."),
    "spec.expect[].message": Field("A part of the message of that condition."),
    "spec.expect[].messageMatches": Field("A regular expression that a part of that message must match."),
    "spec.expect[].survives": Field(
        "The losses that it must survive, as a ResiliencePolicy names them (`argosy help resilience`). What policies of"
        " the source name is placed anew with it.",
        [],
    ),
    **_fields_of_losses("spec.expect[].survives[]"),
    "spec.expect[].doesNotSurvive": Field("The losses that it must not survive.", []),
    **_fields_of_losses("spec.expect[].doesNotSurvive[]"),
    "spec.expect[].fields": Field("The fields it must have in a cluster.", []),
    "spec.expect[].fields[].cluster": Field("The cluster."),
    "spec.expect[].fields[].path": Field("The JSON pointer of the field."),
    "spec.expect[].fields[].value": Field("The value the field must have."),
    "spec.expect[].fields[].absent": Field("True if the field must not be there."),
}
"""The fields of a PolicyTest."""

SOURCE_FIELDS: Mapping[str, Field] = {
    "metadata.name": Field("The name by which charts, kustomizations and argosy.lock call it."),
    "spec.git": Field("A Git repository. At most one of revision, tag, branch, ref and semver says the version."),
    "spec.git.url": Field("Its address: https://, ssh://, file:// or user@host:path."),
    "spec.git.revision": Field("A whole commit id."),
    "spec.git.tag": Field("A tag."),
    "spec.git.branch": Field("A branch; without any version, the one that HEAD of the remote names."),
    "spec.git.ref": Field("A tag or else a branch; or any ref by its whole name, such as `refs/pull/1/head`."),
    "spec.git.semver": Field("A range of versions, such as `^1.2`: the newest tag in it."),
    "spec.oci": Field("An artifact of an OCI registry: a chart as Helm pushes it, or files as Flux pushes them."),
    "spec.oci.url": Field("Its address, such as `oci://registry.example.com/charts/web`."),
    "spec.oci.digest": Field("The digest of its manifest."),
    "spec.oci.tag": Field("A tag; without any version, `latest`."),
    "spec.oci.semver": Field("A range of versions: the newest tag in it."),
    "spec.helm": Field("A chart of a Helm repository."),
    "spec.helm.url": Field("The address of the repository, whose index.yaml is below it; http:// is for this machine."),
    "spec.helm.chart": Field("The name of the chart."),
    "spec.helm.version": Field("A version or a range of versions; without it, the newest release."),
    "spec.http": Field("One file, such as manifests that are published with a release."),
    "spec.http.url": Field("Its address; http:// is for this machine."),
    "spec.http.digest": Field("The digest that it must have; without it, argosy.lock has the one that was found."),
    "spec.path": Field("The folder of the content that is meant.", "all of it"),
    "spec.manifests": Field(
        "`Include`: the manifests of the content are templates, and its kustomizations are built. `Exclude`: charts"
        " alone use the content.",
        "Exclude",
    ),
}
"""The fields of a Source."""

HELM_CHART_FIELDS: Mapping[str, Field] = {
    "metadata.name": Field("The name of the release, unless `spec.releaseName` says another one."),
    "spec.chart": Field("The chart: a folder of the repository, or what a Source has."),
    "spec.chart.path": Field("Its folder, seen from argosy.yaml; with a source, the folder in the content of that."),
    "spec.chart.source": Field("The name of a Source."),
    "spec.releaseName": Field("The name of the release.", "metadata.name"),
    "spec.values": Field("Values, which count more than those of files and ConfigMaps."),
    "spec.valuesFiles": Field("Files with values, seen from argosy.yaml; later ones count more.", []),
    "spec.valuesFrom": Field("ConfigMaps of the source with values; later ones count more, and more than files.", []),
    "spec.valuesFrom[].configMap": Field("The name of a ConfigMap in the same namespace."),
    "spec.valuesFrom[].key": Field("The key that has the values.", "values.yaml"),
    "spec.valuesFrom[].optional": Field("It is no problem if it is not there.", False),
    "spec.kubeVersion": Field(
        "The version of Kubernetes that it is rendered for. Without it, that of its clusters as far as it is known,"
        " and else 1.37.0."
    ),
    "spec.apiVersions": Field(
        "API versions beside those of Kubernetes that the chart may count on, such as"
        " `monitoring.coreos.com/v1/ServiceMonitor`. Without any, those of its clusters as far as they are known.",
        [],
    ),
    "spec.hooks": Field("`Include`: hooks are objects like all others, except tests.", "Exclude"),
    "spec.crds": Field("`Exclude`: the folder `crds` of the chart is left out.", "Include"),
    "spec.overrideRules": Field("Other values for some clusters, each rule after those before it.", []),
    "spec.overrideRules[].targetCluster": Field(
        "The clusters, as in an override policy: labels, fields, names and exclusions. Without it, all."
    ),
    "spec.overrideRules[].targetCluster.labelSelector": Field("The labels that they have."),
    "spec.overrideRules[].targetCluster.labelSelector.matchLabels": Field("Labels with these very values."),
    "spec.overrideRules[].targetCluster.labelSelector.matchExpressions": Field("Conditions on labels."),
    "spec.overrideRules[].targetCluster.labelSelector.matchExpressions[].key": Field("The label."),
    "spec.overrideRules[].targetCluster.labelSelector.matchExpressions[].operator": Field(
        "`In`, `NotIn`, `Exists` or `DoesNotExist`."
    ),
    "spec.overrideRules[].targetCluster.labelSelector.matchExpressions[].values": Field("The values for In and NotIn."),
    "spec.overrideRules[].targetCluster.fieldSelector": Field("Where they are."),
    "spec.overrideRules[].targetCluster.fieldSelector.matchExpressions": Field("Conditions on fields."),
    "spec.overrideRules[].targetCluster.fieldSelector.matchExpressions[].key": Field("`provider`, `region` or `zone`."),
    "spec.overrideRules[].targetCluster.fieldSelector.matchExpressions[].operator": Field("`In` or `NotIn`."),
    "spec.overrideRules[].targetCluster.fieldSelector.matchExpressions[].values": Field("The values to compare with."),
    "spec.overrideRules[].targetCluster.clusterNames": Field("Their names; without any, all names.", []),
    "spec.overrideRules[].targetCluster.exclude": Field("The names of clusters that are none, whatever else.", []),
    "spec.overrideRules[].values": Field("Values that are merged into `spec.values`."),
    "spec.overrideRules[].valuesFiles": Field("Files that come after those of `spec.valuesFiles`.", []),
}
"""The fields of a HelmChart."""
