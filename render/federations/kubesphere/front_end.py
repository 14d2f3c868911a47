"""KubeSphere's documents as units: its own become KubeFed's, whose front-end converts them with all others."""

from collections.abc import Sequence

from msgspec.structs import replace

from render.federations.conversion import Documents, FrontEnd
from render.federations.decoding import decode_bool, decode_object, decode_text
from render.federations.kubefed import KUBEFED
from render.federations.manifests import member_cluster, words_of_access_to_member
from render.federations.shapes import read_texts, reader_of_fields, reader_of_map, shape_of_document
from render.federations.units import Conversion, Labels, Left, Placed, Remark, Unit, approximate_remark, exact_remark
from render.model import Manifest

from .charts import addresses_of_chart_repositories, units_of_extension, units_of_release

_CLUSTERS = "cluster.kubesphere.io"
_REGION = "cluster.kubesphere.io/region"
_WORKSPACE = "kubesphere.io/workspace"
_DISABLED = {"key": "kubesphere.io/disabled", "effect": "NoSchedule"}
_APART = {"key": "kubesphere.io/not-federated", "effect": "NoSchedule"}
_TYPES = {
    "Application": ("app.k8s.io", "v1beta1", "Namespaced"),
    "Group": ("iam.kubesphere.io", "v1alpha2", "Cluster"),
    "GroupBinding": ("iam.kubesphere.io", "v1alpha2", "Cluster"),
    "NotificationConfig": ("notification.kubesphere.io", "v2beta2", "Cluster"),
    "NotificationManager": ("notification.kubesphere.io", "v2beta2", "Cluster"),
    "NotificationReceiver": ("notification.kubesphere.io", "v2beta2", "Cluster"),
    "NotificationRouter": ("notification.kubesphere.io", "v2beta2", "Cluster"),
    "NotificationSilence": ("notification.kubesphere.io", "v2beta2", "Cluster"),
    "User": ("iam.kubesphere.io", "v1alpha2", "Cluster"),
    "Workspace": ("tenant.kubesphere.io", "v1alpha1", "Cluster"),
    "WorkspaceRole": ("iam.kubesphere.io", "v1alpha2", "Cluster"),
    "WorkspaceRoleBinding": ("iam.kubesphere.io", "v1alpha2", "Cluster"),
}
_ENABLED_TYPE = "argosy"


def _convert_kubesphere_documents(documents: Documents, known_clusters: Labels) -> Conversion:
    """Convert KubeFed's documents as they are, and KubeSphere's clusters, workspaces, releases and extensions."""
    own, plain = documents
    clusters = [each for each in own if each.group == _CLUSTERS and each.kind == "Cluster"]
    joined = {each.key[1]: each.metadata.get("labels") or {} for each in clusters if each.spec.get("joinFederation")}
    federated = [each for each in plain if KUBEFED.is_its(each.manifest)]
    others = len(plain) - len(federated)
    federated += [_federated_workspace_of_template(each) for each in own if each.kind == "WorkspaceTemplate"]
    found = KUBEFED.convert([*federated, *_types_of_kubesphere_kinds(federated)], {**known_clusters, **joined})
    units, left = _units_of_kubesphere_documents(own, clusters)
    mine = {each.key[1] for each in clusters}
    return replace(
        found,
        units=(*found.units, *units),
        members=(
            *((origin, member) for origin, member in found.members if member["metadata"]["name"] not in mine),
            *((each.origin, _member_of_cluster(each)) for each in clusters),
        ),
        left=(
            *(each for each in found.left if each.origin != _ENABLED_TYPE),
            *left,
            *_projects_beyond_their_workspaces(federated),
        ),
        others=others,
    )


def _units_of_kubesphere_documents(own: Sequence[Placed], clusters: Sequence[Placed]) -> tuple[list[Unit], list[Left]]:
    units: list[Unit] = []
    left: list[Left] = []
    repositories = addresses_of_chart_repositories(own)
    for each in own:
        if each.kind == "HelmRelease":
            made = units_of_release(each, repositories)
        elif each.kind == "InstallPlan":
            made = units_of_extension(each, {one.key[1]: one.metadata.get("labels") or {} for one in clusters})
        else:
            if each.kind != "WorkspaceTemplate":
                left.append(
                    each.left_unconverted(
                        _remark_on_credentials(each) if each in clusters else _remark_on_setting(each)
                    )
                )
            continue
        if isinstance(made, Left):
            left.append(made)
        else:
            units += made
    return units, left


def _federated_workspace_of_template(template: Placed) -> Placed:
    """Return the FederatedWorkspace that KubeSphere's controller makes of a WorkspaceTemplate."""
    metadata = {key: template.metadata[key] for key in ("name", "labels") if template.metadata.get(key)}
    federated = {
        "apiVersion": "types.kubefed.io/v1beta1",
        "kind": "FederatedWorkspace",
        "metadata": metadata,
        "spec": template.spec,
    }
    return Placed(manifest=federated, origin=template.origin)


def _types_of_kubesphere_kinds(federated: Sequence[Placed]) -> list[Placed]:
    """Return the types of KubeSphere's kinds that no FederatedTypeConfig among the documents tells."""
    kinds = {each.kind.removeprefix("Federated") for each in federated}
    configured_kinds = {
        (each.spec.get("targetType") or {}).get("kind") for each in federated if each.kind == "FederatedTypeConfig"
    }
    return [
        Placed(
            manifest={
                "apiVersion": "core.kubefed.io/v1beta1",
                "kind": "FederatedTypeConfig",
                "metadata": {"name": kind.lower()},
                "spec": {"targetType": {"group": group, "version": version, "kind": kind, "scope": scope}},
            },
            origin=_ENABLED_TYPE,
        )
        for kind, (group, version, scope) in _TYPES.items()
        if kind in kinds - configured_kinds
    ]


def _projects_beyond_their_workspaces(federated: Sequence[Placed]) -> list[Left]:
    """Return a line for each project that goes to clusters its workspace does not go to, which a console refuses."""
    names = {each.key[1]: _names_of_federated(each) for each in federated if each.kind == "FederatedWorkspace"}
    found = []
    for each in federated:
        labels = each.metadata.get("labels")
        workspace = str(labels.get(_WORKSPACE)) if isinstance(labels, dict) else ""
        if each.kind == "FederatedNamespace" and names.get(workspace) and _names_of_federated(each):
            beyond = sorted(_names_of_federated(each) - names[workspace])
            if beyond:
                what = f"it goes to {', '.join(beyond)}, where its workspace {workspace} does not go"
                found.append(each.left_unconverted(exact_remark("project-exceeds-workspace", what)))
    return found


def _names_of_federated(federated: Placed) -> set[str]:
    placement = federated.spec.get("placement")
    listed = placement.get("clusters") if isinstance(placement, dict) else None
    if not isinstance(listed, list):
        return set()
    return {str(each.get("name")) for each in listed if isinstance(each, dict)}


def _member_of_cluster(cluster: Placed) -> Manifest:
    labels, connection = cluster.metadata.get("labels") or {}, cluster.spec.get("connection") or {}
    taints = [] if cluster.spec.get("enable", True) else [_DISABLED]
    taints += [] if cluster.spec.get("joinFederation") else [_APART]
    fields = {
        "syncMode": "Pull" if connection.get("type") == "proxy" else "Push",
        "apiEndpoint": connection.get("kubernetesAPIEndpoint"),
        "provider": cluster.spec.get("provider"),
        "region": labels.get(_REGION),
        "taints": taints,
    }
    return member_cluster(cluster.key[1], labels, fields)


def _remark_on_credentials(cluster: Placed) -> Remark:
    if (cluster.spec.get("connection") or {}).get("type") == "proxy":
        what = f"the token of its tunnel is not copied: {words_of_access_to_member(cluster.key[1], is_pulling=True)}"
        return approximate_remark("tunnel-left-out", what)
    return exact_remark(
        "credentials-left-out", "its kubeconfig is not copied; give the cluster a context in a kubeconfig"
    )


def _remark_on_setting(document: Placed) -> Remark:
    if document.kind == "HelmRepo":
        return exact_remark("repository-read", "it says where releases have their charts from")
    return exact_remark("setting", "it is of KubeSphere's own console and is not delivered")


FRONT_END = FrontEnd(
    kinds={
        "Cluster": shape_of_document(
            reader_of_fields(
                joinFederation=decode_bool,
                enable=decode_bool,
                provider=decode_text,
                connection=reader_of_fields(type=decode_text, kubernetesAPIEndpoint=decode_text),
            )
        ),
        "HelmRelease": shape_of_document(
            reader_of_fields(
                name=decode_text,
                chartName=decode_text,
                chartVersion=decode_text,
                repoId=decode_text,
                values=decode_text,
            )
        ),
        "HelmRepo": shape_of_document(reader_of_fields(url=decode_text)),
        "InstallPlan": shape_of_document(
            reader_of_fields(
                extension=reader_of_fields(name=decode_text, version=decode_text),
                enabled=decode_bool,
                config=decode_text,
                clusterScheduling=reader_of_fields(
                    placement=reader_of_fields(clusters=read_texts, clusterSelector=decode_object),
                    overrides=reader_of_map(decode_text),
                ),
            )
        ),
        "WorkspaceTemplate": shape_of_document(reader_of_fields(template=decode_object, placement=decode_object)),
    },
    other=shape_of_document(),
    plain=lambda _manifest: None,  # KubeFed's own shapes are those of its documents
    convert=_convert_kubesphere_documents,
)
