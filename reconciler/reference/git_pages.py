"""The topics of ``argosy help`` about what Argosy writes into Git: its branches, and the trailers of commits."""

from reconciler.ledger.table import structs_of_all_files

from .pages import Entry, TopicSection

BRANCHES = (
    TopicSection(
        before="A fleet whose name is not `default` has branches named `argosy-<name>/...`. Argosy writes the branch of"
        " your source only in commands that say so.",
        entries=(
            Entry(
                "argosy/rendered",
                "The truth: one commit for each change of outcome. `spec.rendered` in argosy.yaml renames or moves it.",
            ),
            Entry(
                "argosy/status",
                "What was seen in the members. Reconcile passes and `argosy apply` write it, and besides them only"
                " `argosy cluster release` and `argosy cluster rejoin`.",
            ),
            Entry(
                "argosy/cluster/<cluster>",
                "A cluster's folder as a branch of its own, where it pulls or `spec.mirrors` asks; where it pulls, with"
                " what its agent must know in the file `.argosy`.",
            ),
            Entry(
                "argosy/agent/<cluster>", "What the agent of a pull-mode cluster reports; nothing else is read of it."
            ),
        ),
    ),
    TopicSection(
        title="In argosy/rendered",
        before="A file is named after its object. Bytes outside of `[a-z0-9.-]` are percent-encoded, and a name of more"
        " than 200 bytes is cut and gets a hash. A kind keeps its"
        " capitals, unless it is capitals alone and longer than an acronym.",
        entries=(
            Entry("README.md", "Counts for people who browse the branch."),
            Entry(
                "clusters/<cluster>/<namespace>/<kind>/<name>.yaml",
                "What the cluster must hold now. `_cluster` stands for objects without a namespace; `<kind>` is such as"
                " `Deployment.apps`. Argo CD, Flux or `kubectl apply -R -f` can use the folder of a cluster as it is.",
            ),
            Entry(
                "bindings/<namespace>/<kind>/<name>.yaml",
                "The ResourceBinding of an object: its clusters and replicas, what overrides changed, and the state"
                " that the next decision needs.",
            ),
            Entry("facts/<cluster>.yaml", "The facts this commit was rendered with."),
            Entry("emit/<tool>/...", "Objects by which Flux or Argo CD deliver the folders, where `spec.emit` asks."),
        ),
    ),
    TopicSection(
        title="In argosy/status",
        before="Each file has a `version`; one without is of the time before there were any, and is read as that. A"
        " file that a newer Argosy wrote is refused, and left as it is.",
        entries=(
            *(Entry(kind.PATH.replace("{", "<").replace("}", ">"), kind.ABOUT) for kind in structs_of_all_files()),
            Entry("schemas/<digest>.json", "What is checked of such a schema, once for all members that have it."),
            Entry("README.md", "The fleet at a glance."),
        ),
    ),
)

TRAILERS = (
    TopicSection(
        title="In source commits",
        before="You write these at the end of a commit message, to allow what a guard would refuse.",
        entries=(
            Entry(
                "Argosy-Allow-Removal",
                "`<cluster|*> <count>`: so many objects may leave that cluster, or each. Or the name of an object, such"
                " as `Deployment.apps shop/web`: it may leave though its label protects it.",
            ),
            Entry(
                "Argosy-Allow-Movement",
                "`<object|*> <count>`: so many replicas of that workload may move, such as"
                " `Deployment.apps shop/web 6`; `* 12` is for the fleet and each workload. A"
                " pinned object must be named.",
            ),
            Entry(
                "Argosy-Allow-Cost",
                "`<amount> [currency]`: the fleet may cost so much more a month, such as `43.80 EUR`, whatever"
                " `maxCostIncrease` says.",
            ),
            Entry(
                "Argosy-Allow-Fragile",
                "`<object|*>`: an object may lose resilience that a ResiliencePolicy asks for, such as `Deployment.apps"
                " shop/web`, or each may. It is about `argosy diff` alone: no pass asks.",
            ),
        ),
    ),
    TopicSection(
        title="In rendered commits",
        before="`argosy verify` makes a commit again from these. Beside its message, in the header `argosy`, a commit"
        " of a large fleet may say which objects a pass has to look at again whatever changed. A fresh clone goes by"
        " that, and whatever writes such a commit anew may leave it out. Who forges it, with a tree to match, has later"
        " passes keep what that tree holds of objects that nothing changes. `argosy verify` never reads it, and finds"
        " them; nor does `argosy render --commit`, which repairs them.",
        entries=(
            Entry("Argosy-Source", "The source commit that was rendered."),
            Entry("Argosy-Previous", "The rendered commit before it; a first one has none."),
            Entry(
                "Argosy-Allow-Removal",
                "With `removalGuard.scope: Cluster`: what `--allow-removal` let leave a cluster, and no source commit.",
            ),
            Entry("Argosy-Version", "The version of Argosy that rendered it."),
            Entry(
                "Argosy-Branch",
                "The branch that source commits have to be of: `spec.source.branch`, or else that of the first pass. A"
                " commit without it was made from a revision that names no branch, or by an earlier version; the next"
                " pass that commits from a branch adds it.",
            ),
            Entry("Argosy-Now", "The time of the pass, where something that may be evicted asked for it."),
            Entry(
                "Argosy-Evicted",
                "A cluster, and how many objects leave it by rules of failover, or as moves end, which guards let go.",
            ),
            Entry("Argosy-Tool", "The name and version of a program that built some of the source: kustomize, helm."),
            Entry("Argosy-Rendered", "In mirrors of a cluster's folder: the rendered commit it was taken from."),
        ),
    ),
)
