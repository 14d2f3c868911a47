"""KubeSphere's multi-cluster objects: KubeFed's federated kinds, clusters and workspaces of its own, and charts."""

from render.federations.federation import Federation

_OWN = {
    "application.kubesphere.io": frozenset(
        {"HelmApplication", "HelmApplicationVersion", "HelmCategory", "HelmRelease", "HelmRepo"}
    ),
    "cluster.kubesphere.io": frozenset({"Cluster", "Label"}),
    "kubesphere.io": frozenset({"InstallPlan"}),
    "tenant.kubesphere.io": frozenset({"WorkspaceTemplate"}),
}
"""The kinds of its host, by group; all others of its groups are objects of members."""

KUBESPHERE = Federation(
    name="kubesphere",
    title="KubeSphere",
    about="the same, and its clusters, workspaces, releases, extensions",
    setting="KubeSphere",
    is_of_type=lambda group, kind: kind in _OWN.get(group, ()),
    includes="kubefed",
    rules={
        "tunnel-left-out": "KS-03",
        "project-exceeds-workspace": "KS-04",
        "extension-repository": "KS-05",
    },
)
