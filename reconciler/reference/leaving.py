"""The topic about leaving Argosy: what stays in clusters and in Git, and how something else takes over."""

from .pages import Entry, TopicSection

LEAVING = (
    TopicSection(
        before="Stop what runs passes: the controller, the scheduled job, the pipeline, agents. From then on nothing in"
        " any cluster changes: everything that was delivered stays as it is, and nothing has to be uninstalled."
        " Deleting files or policies of the source is not the way, as long as passes run: they would delete objects.",
        title="What stays",
        entries=(
            Entry("Objects in members", "All of them, with what overrides and divisions made of them."),
            Entry(
                "The label applyset.kubernetes.io/part-of",
                "On each object that was delivered. It means nothing to Kubernetes.",
            ),
            Entry(
                "A field manager argosy-<fleet>-<root>",
                "In `metadata.managedFields` of each object, as the owner of the fields that were delivered. While it"
                " is there, a field that another tool stops to apply stays in the object.",
            ),
            Entry(
                "The namespace argosy-system",
                "In each member, with a ConfigMap named like the field manager. A pull-mode cluster also has the"
                " objects that `argosy cluster agent NAME` prints.",
            ),
            Entry(
                "The branches argosy/...",
                "`argosy/rendered` with a folder of plain YAML for each cluster, `argosy/status`, and mirrors and"
                " reports of clusters. `git push REMOTE --delete BRANCH` deletes one; the source branch is yours.",
            ),
        ),
    ),
    TopicSection(
        title="To go on with something else",
        before="These read a checkout of `argosy/rendered`. Documents that SOPS encrypted are ciphertext there, too:"
        " give them to `sops decrypt` first, or to Flux with its keys.",
        entries=(
            Entry(
                "kubectl --context NAME apply --server-side --field-manager=MANAGER -R -f clusters/NAME",
                "kubectl goes on; twice where definitions of kinds are new. MANAGER is the name of the ConfigMap in"
                " argosy-system: kubectl then owns what passes owned. It deletes no object that you take out of the"
                " folder. An object whose number an autoscaler set is refused with a conflict: take `replicas` out of"
                " its file, and out of no other, where the number would be 1.",
            ),
            Entry(
                "Argo CD",
                "`argosy emit argocd` prints the objects that deliver each folder of the rendered branch. Argosy may"
                " go on to render; if it does not, deliver a branch of your own: `git branch delivered"
                " argosy/rendered`.",
            ),
            Entry("Flux", "`argosy emit flux` does the same for Flux."),
            Entry(
                "Karmada",
                "`argosy export karmada --output-dir DIR` writes templates, policies, overrides and Clusters, and names"
                " what Karmada has no object for. Apply them with `conflictResolution: Overwrite` in the policies, so"
                " that Karmada takes over what is there, and give it the members with `karmadactl join`. It decides"
                " anew where replicas go.",
            ),
            Entry(
                "one member alone",
                "`argosy cluster unjoin NAME --disconnect`: passes touch nothing in it any more, and replicas that"
                " were there are placed in others.",
            ),
        ),
    ),
    TopicSection(
        title="To let go of objects",
        before="Do this once another tool has applied all of them, and not before: the command gives up the fields that"
        " passes delivered, and takes the label off. What nobody else owns goes from the object. With `diff` in place"
        " of `apply --validate=false` it shows what that is.",
        entries=(
            Entry(
                "kubectl --context NAME get -R -f clusters/NAME -o go-template='{{range .items}}---"
                '{{"\\n"}}apiVersion: {{.apiVersion}}{{"\\n"}}kind: {{.kind}}{{"\\n"}}metadata: {name:'
                ' "{{.metadata.name}}"{{with .metadata.namespace}}, namespace: {{.}}{{end}}}{{"\\n"}}{{end}}'
                "' | kubectl --context NAME apply --server-side --validate=false --field-manager=MANAGER -f -",
                "It applies each object with its name alone, as the field manager that leaves.",
            ),
            Entry("kubectl --context NAME delete namespace argosy-system", "It deletes what passes remember there."),
        ),
    ),
)
