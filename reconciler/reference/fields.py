"""A sentence for every field of the documents that people write, and the value that counts where one is left out."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Field(NamedTuple):
    """One sentence about a field; ``default`` counts where it is left out (None: nothing does)."""

    about: str
    default: Any = None


FLEET_FIELDS: Mapping[str, Field] = {
    "metadata.name": Field(
        "The name of the fleet. Any other name than `default` makes its branches `argosy-<name>/...`.", "default"
    ),
    "spec.source": Field("The files that are read."),
    "spec.source.paths": Field("The files and folders that are read, relative to the folder of argosy.yaml.", ["."]),
    "spec.source.ignore": Field("The files that are not read, in gitignore syntax.", []),
    "spec.source.strict": Field(
        "A file that cannot be used is a problem, even one that nothing was ever delivered from; otherwise that is a"
        " warning, until it changes.",
        False,
    ),
    "spec.source.render": Field(
        "The kinds of other tools that are rendered, instead of delivering them as they are: the charts of a"
        " `HelmRelease` of Flux, the folders of a `Kustomization` of Flux, either of an `Application` of Argo CD, the"
        " Applications that an `ApplicationSet` makes.",
        [],
    ),
    "spec.source.federations": Field(
        "The federations whose objects are rendered, as templates and policies made of them in memory, instead of"
        " delivering them as they are. `FederationV1` takes every plain object for one that it divides or copies.",
        ["KubeFed", "KubeSphere", "Clusternet"],
    ),
    "spec.rendered": Field("The place where the rendered branch is published."),
    "spec.rendered.remote": Field(
        "A remote's name, or the address of another repository; empty means the remote of the source.", ""
    ),
    "spec.rendered.branch": Field("The rendered branch; empty means `argosy/rendered`.", ""),
    "spec.rendered.push": Field(
        "The way of a new commit to the rendered branch. `Branch`: it is pushed there. `PullRequest`: it is pushed to"
        " `argosy/proposed`, and one pull request asks a person to merge it; only what is merged is applied.",
        "Branch",
    ),
    "spec.rendered.forge": Field(
        "The forge that pull requests are opened on: `GitHub`, `GitLab`, or `Gitea` (also for Forgejo); unset, the host"
        " in the remote's address says which."
    ),
    "spec.mirrors": Field(
        "The clusters whose folder is published as a branch as well, `argosy/cluster/<cluster>`; `*` means all.",
        [],
    ),
    "spec.emit": Field(
        "Objects of other tools, as `argosy emit` prints them, that passes commit to the folder `emit` of the rendered"
        " branch.",
        [],
    ),
    "spec.emit[].for": Field("The tool that delivers what is rendered."),
    "spec.emit[].repository": Field("The address at which the tool reads the rendered branch."),
    "spec.emit[].in": Field("Where it runs: in one hub, or in each member.", "Hub"),
    "spec.emit[].as": Field("Argo CD: one ApplicationSet, or Applications for each cluster.", "ApplicationSet"),
    "spec.emit[].namespace": Field("The namespace of the objects; none means `flux-system` or `argocd`."),
    "spec.emit[].gitSecret": Field("Flux: the Secret by which it reads the repository."),
    "spec.emit[].kubeconfigSecret": Field(
        "Flux: the Secret with the kubeconfig of a cluster, whose name stands for `{cluster}`.", "{cluster}-kubeconfig"
    ),
    "spec.emit[].interval": Field("Flux: how often it asks for commits.", "1m"),
    "spec.emit[].project": Field("Argo CD: the project of Applications.", "default"),
    "spec.emit[].status": Field(
        "How passes read what the tool did, of clusters that they do not reach by themselves: it is recorded on the"
        " status branch, as an agent's own account would be. Without it passes know nothing of these clusters."
    ),
    "spec.emit[].status.context": Field(
        "The kubeconfig context of the hub. Where the tool runs in each member, `{cluster}` in it stands for the"
        " cluster's name, and unset it is that name."
    ),
    "spec.emit[].status.kubeconfig": Field(
        "The kubeconfig it is in, from argosy.yaml's folder; `{cluster}` as above, unset the usual one. Without a"
        " context its current one is used."
    ),
    "spec.emit[].status.inCluster": Field("The hub is the cluster that passes run in.", False),
    "spec.defaultNamespace": Field("The namespace of objects and policies that name none.", "default"),
    "spec.kinds": Field(
        "Kinds whose scope neither Kubernetes, nor the source, nor the members, nor a table of well-known kinds tell.",
        [],
    ),
    "spec.kinds[].group": Field("The API group; empty means the core group."),
    "spec.kinds[].kind": Field("The kind."),
    "spec.kinds[].scope": Field("The scope of its objects."),
    "spec.namespaces": Field(
        "`Needed`: a namespace is propagated with the objects in it. `All`: every namespace goes to every cluster, as"
        " in Karmada. `Explicit`: only what policies select.",
        "Needed",
    ),
    "spec.skippedAPIs": Field(
        "What is never propagated: `group`, `group/version` or `group/version/Kind,Kind`, as in Karmada's flag.", []
    ),
    "spec.skippedNamespaces": Field("Regular expressions of namespaces from which nothing is propagated.", ["kube-.*"]),
    "spec.compatibility": Field(
        "`Karmada` sets `claims`, `rescheduling`, `reserveCapacity`, `tieBreak` and `requireRecordedAPIs` as Karmada"
        " does; each may still be set by itself. It also writes `replicas: 1` where a template has none.",
        "Argosy",
    ),
    "spec.claims": Field(
        "`Pure`: the tree alone says which policy claims an object. `Sticky`: the policy that claimed it keeps it, as"
        " in Karmada.",
        "Pure",
    ),
    "spec.rescheduling": Field(
        "`Source`: an object is also rescheduled if the source stops allowing one of its clusters. `Karmada`: only when"
        " Karmada would.",
        "Source",
    ),
    "spec.reserveCapacity": Field("Each new placement lowers the capacity that the rest of the pass sees.", True),
    "spec.tieBreak": Field(
        "Who gets the last replica of an equal division: `Identity` goes by a hash of the object's UID or name, `Name`"
        " by the names of the clusters.",
        "Identity",
    ),
    "spec.requireRecordedAPIs": Field(
        "A cluster whose APIs are not recorded fits nothing, as in Karmada; otherwise it fits everything.", False
    ),
    "spec.onPolicyRemoval": Field(
        "`Keep`: objects that no policy selects any more stay as they are. `Remove`: they are removed.", "Keep"
    ),
    "spec.secrets": Field("Whether Secrets may be in the source.", "Allow"),
    "spec.validation": Field(
        "What becomes of a template that the schema of its kind does not allow. `Strict`: it is a problem as far as"
        " that is certain, and a warning while the file stands as it did when it was last rendered. `Warn`: it is a"
        " warning. `Off`: schemas are not looked at.",
        "Strict",
    ),
    "spec.removalGuard": Field("The limits on what one commit may remove from a cluster."),
    "spec.removalGuard.count": Field("So many objects may always leave a cluster.", 10),
    "spec.removalGuard.percent": Field("So many percent of a cluster's objects may leave it.", 20),
    "spec.removalGuard.whole": Field("A namespace or kind of more objects than this may not leave as a whole.", 5),
    "spec.removalGuard.scope": Field(
        "The extent of a refusal. `Fleet`: the whole commit is refused. `Cluster`: the clusters that would lose too"
        " much keep what they have, all others go on, and the pass still ends with exit code 6.",
        "Fleet",
    ),
    "spec.movementGuard": Field(
        "The limits on how far one commit may move placed workloads. What moves leaves one cluster for another, so that"
        " always the whole commit is refused."
    ),
    "spec.movementGuard.fleet": Field("The limits for all workloads together."),
    "spec.movementGuard.fleet.replicas": Field("So many replicas may move; left out means any number."),
    "spec.movementGuard.fleet.percent": Field("So many percent of all replicas may move; left out means any number."),
    "spec.movementGuard.workload": Field("The limits for each workload."),
    "spec.movementGuard.workload.replicas": Field("So many of its replicas may move; left out means any number."),
    "spec.movementGuard.workload.percent": Field(
        "So many percent of its replicas may move; left out means any number."
    ),
    "spec.movementGuard.minimumClusters": Field("A workload that loses clusters keeps at least so many.", 0),
    "spec.movementGuard.minimumRegions": Field("A workload that loses regions keeps at least so many.", 0),
    "spec.movementGuard.pinned": Field("The objects that never leave a cluster.", []),
    "spec.movementGuard.pinned[].group": Field("Their API group; left out means any."),
    "spec.movementGuard.pinned[].kind": Field("Their kind; left out means any."),
    "spec.movementGuard.pinned[].namespace": Field("Their namespace; left out means any."),
    "spec.movementGuard.pinned[].name": Field("Their name; left out means any."),
    "spec.movementGuard.pinned[].clusters": Field("The clusters they stay in; left out means those they are in."),
    "spec.featureGates": Field("Karmada's feature gates."),
    "spec.featureGates.Failover": Field(
        "Whether ClusterTaintPolicies taint clusters, and NoExecute taints evict when tolerating them ends. While it is"
        " false, such policies do nothing, and a NoExecute taint of the source moves replicas at once.",
        default=False,
    ),
    "spec.featureGates.GracefulEviction": Field(
        "Whether a workload may fail over with `purgeMode: Gracefully`.", default=True
    ),
    "spec.featureGates.StatefulFailoverInjection": Field(
        "Whether `statePreservation` of policies takes labels along.", default=False
    ),
    "spec.featureGates.FederatedQuotaEnforcement": Field(
        "Whether nothing is placed beyond a FederatedResourceQuota. With `compatibility: Karmada`, it is false.",
        default=True,
    ),
    "spec.failover": Field("The settings of what leaves clusters by itself."),
    "spec.failover.noExecuteEviction": Field(
        "The bindings that NoExecute taints of ClusterTaintPolicies evict. `Policy`: those whose policy has"
        " `failover.cluster`. `Always`: all of them. A NoExecute taint of a Cluster file evicts all in any case.",
        "Policy",
    ),
    "spec.failover.purgeMode": Field(
        "The way in which what taints evict leaves, where a policy does not say. `Gracefully`: the copy stays until its"
        " replacement is healthy. `Directly`: it goes at once.",
        "Gracefully",
    ),
    "spec.failover.gracefulEvictionTimeoutSeconds": Field(
        "For so many seconds a copy that leaves gracefully waits for its replacement, where a policy does not say.", 600
    ),
    "spec.failover.massFailure": Field(
        "While more than so many percent of the clusters, and more than one, are not ready, taints evict nothing: the"
        " fault may be on our side. With `compatibility: Karmada`, it is 100.",
        33,
    ),
    "spec.failover.evictionsPerMinute": Field(
        "At most so many evictions by taints begin within a minute; left out means any number."
    ),
    "spec.failover.lastCopy": Field(
        "The fate of the last copy. `Keep`: what no other cluster can take stays, and a copy that is left does not go"
        " before a healthy one is elsewhere. `Evict`: it goes, which is the default with `compatibility: Karmada`.",
        "Keep",
    ),
    "spec.failover.repeatedMoves": Field(
        "The next move of a workload that has left a cluster because it was not well there. `Pause`: it waits for twice"
        " as long as `tolerationSeconds`, two minutes at least, and twice as long each further time, up to an hour."
        " `AtOnce`: it does not, which is the default with `compatibility: Karmada`.",
        "Pause",
    ),
    "spec.failover.underWay": Field(
        "The rules for what is leaving a cluster already. `Follow`: an edit of its policy counts, and a copy that is"
        " healthy again stays. `Keep`: it leaves as it began to, which is the default with `compatibility: Karmada`.",
        "Follow",
    ),
    "spec.descheduler": Field("The descheduler: it places replicas elsewhere that a cluster cannot start."),
    "spec.descheduler.enabled": Field(
        "Whether there is one. It looks at Deployments that are divided by room (`Aggregated`, or a dynamic weight), in"
        " members that passes reach.",
        default=False,
    ),
    "spec.descheduler.unschedulableThresholdSeconds": Field(
        "A replica leaves its cluster when no node there has taken its pod for longer than so many seconds.", 300
    ),
    "spec.descheduler.intervalSeconds": Field(
        "For so many seconds afterwards the cluster gets no replicas of the workload.", 120
    ),
    "spec.cron": Field("The settings of CronFederatedHPAs."),
    "spec.cron.startingDeadlineSeconds": Field(
        "A firing that no pass found within so many seconds after it was due is not made up for, and is a failed run;"
        " left out, the latest one that was missed is made up for whenever a pass finds it."
    ),
    "spec.fieldRules": Field(
        "Who gets fields that others write as well. The first rule that fits counts; annotations of an object count"
        " before them. `*` stands for any text in all but `rule`.",
        [],
    ),
    "spec.fieldRules[].rule": Field(
        "`Ignore`: the field is set when the object is created, and never afterwards. `Yield`: a manager that owns it"
        " with another value keeps it. `Own`: it is always as committed."
    ),
    "spec.fieldRules[].path": Field(
        "The field with all in it, such as `.spec.replicas`. An item of a list is named by its keys or some of them,"
        ' as in `.spec.ports[port=80].nodePort`, or by `[*]` for each; a value of a set is `[="a"]`. `*` in a name'
        " stands for any text. A list that servers do not merge is one field."
    ),
    "spec.fieldRules[].group": Field("The API group of the objects; left out means any."),
    "spec.fieldRules[].kind": Field("The kind of the objects; left out means any."),
    "spec.fieldRules[].namespace": Field("The namespace of the objects; left out means any."),
    "spec.fieldRules[].name": Field("The name of the objects; left out means any."),
    "spec.fieldRules[].manager": Field("The field manager that owns the field now; left out means any."),
    "spec.decryption": Field("The keys to what SOPS encrypted, beside those of the machine that applies."),
    "spec.decryption.keyServices": Field(
        "The services that may be asked for keys, beside age and PGP, each by what a document of SOPS calls it: the"
        " `arn` of a key of AWS, the `resource_id` of one of Google, the `vault_url` of Azure, the `vault_address` of"
        " HashiCorp Vault."
    ),
    "spec.decryption.secret": Field("A Secret in each member, whose age keys decrypt what the member gets."),
    "spec.decryption.secret.namespace": Field("Its namespace; left out means `argosy-system`."),
    "spec.decryption.secret.name": Field("Its name."),
    "spec.clusters": Field("The members to which passes apply, and how each is reached.", []),
    "spec.clusters[].name": Field("The name of the member; `*` stands for every member that is not listed."),
    "spec.clusters[].context": Field("The kubeconfig context; left out means the one named like the member."),
    "spec.clusters[].kubeconfig": Field("The kubeconfig file; left out means the usual one."),
    "spec.kubeconfigs": Field("A folder with one kubeconfig for each member; passes then apply to all of them.", ""),
}
"""The fields of argosy.yaml, kind Fleet."""

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
    "spec.given.notReady": Field("The clusters that are not ready, each with the time since when.", {}),
    "spec.given.reporting": Field("The clusters whose agents report while they are not ready.", []),
    "spec.given.unhealthy": Field("The clusters in which all is unhealthy, each with the time since when.", {}),
    "spec.given.unschedulable": Field("The clusters in which no node takes more pods of any workload.", []),
    "spec.given.unschedulable[].cluster": Field("The cluster."),
    "spec.given.unschedulable[].since": Field("The time since when it is so."),
    "spec.given.unschedulable[].ready": Field("So many replicas of each workload run there; all others wait.", 0),
    "spec.expect": Field("What is expected; each item is about one object."),
    "spec.expect[].kind": Field("The kind of the object."),
    "spec.expect[].group": Field("The API group of the object; left out means the core group."),
    "spec.expect[].namespace": Field("The namespace of the object; left out means the fleet's default namespace."),
    "spec.expect[].name": Field("The name of the object."),
    "spec.expect[].policy": Field("The policy that must claim it, such as `PropagationPolicy shop/web`."),
    "spec.expect[].absent": Field("True if it must be in no cluster."),
    "spec.expect[].clusters": Field("The clusters it must go to: exactly these."),
    "spec.expect[].notIn": Field("The clusters it must not be in.", []),
    "spec.expect[].replicas": Field("The clusters it must go to with their replicas: exactly these."),
    "spec.expect[].refused": Field("For each cluster it must not go to: the filter that must refuse it."),
    "spec.expect[].reason": Field("The reason of its Scheduled condition, such as `Success` or `NoClusterFit`."),
    "spec.expect[].message": Field("A part of the message of that condition."),
    "spec.expect[].messageMatches": Field("A regular expression that a part of that message must match."),
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
