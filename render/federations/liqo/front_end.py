"""Liqo's offloaded namespaces as units: workloads where pods may run, and what is reflected beside them.

The home cluster is the consumer that a ResourceSlice names, or else is called ``home``; its peers are VirtualNodes and
ForeignClusters.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from render.federations.conversion import Documents, FrontEnd
from render.federations.decoding import (
    WrongShape,
    decode_list,
    decode_object,
    decode_requirement,
    decode_text,
    value_of_key_in_any_case,
)
from render.federations.manifests import SKIP_NAMESPACE, manifest_with_label, member_cluster, without_server_fields
from render.federations.patches import operations_between
from render.federations.requirements import checked_requirement, is_met
from render.federations.shapes import reader_of_fields, reader_of_list, reader_of_map, shape_of_document
from render.federations.units import (
    ByRoom,
    Conversion,
    Labels,
    Left,
    Placed,
    Reach,
    Remark,
    Rule,
    Unit,
    approximate_remark,
    exact_remark,
    refused_remark,
    remark_exact_for_now,
    units_and_left_documents,
)
from render.model import Manifest
from render.selectors import Requirement

_NAME = "offloading"
_HOME = "home"
_SKIPPED = "liqo.io/skip-reflection"
_OWN_LABELS = frozenset({"liqo.io/type", "liqo.io/remote-cluster-id"})
_WORKLOADS = frozenset({"CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"})
_DIVIDED = frozenset({"Deployment", "ReplicaSet", "StatefulSet"})
_REFLECTED = frozenset(
    {"ConfigMap", "EndpointSlice", "Ingress", "PersistentVolumeClaim", "Secret", "Service", "ServiceAccount"}
)
_OF_PODS = ("nodeSelector", "tolerations", "affinity", "runtimeClassName")


class _Offloaded(Struct, frozen=True, kw_only=True):
    """One offloaded namespace: its peers, and whether its pods may run there, at home, or both."""

    document: Placed
    peers: tuple[str, ...]
    strategy: str
    remarks: tuple[Remark, ...]


class _Peering:
    """The documents by what they are to each other."""

    def __init__(self, documents: Documents, known_clusters: Labels) -> None:
        self._own, self._plain = documents
        consumers = [each.spec.get("consumerClusterID") for each in self._own if each.kind == "ResourceSlice"]
        self._home = str(next(filter(None, consumers), _HOME))
        nodes = {
            str(each.spec.get("clusterID") or each.key[1]): each for each in self._documents_of_kind("VirtualNode")
        }
        foreign = {
            str(each.spec.get("clusterID") or each.key[1]): each for each in self._documents_of_kind("ForeignCluster")
        }
        self._peers = {**foreign, **nodes}
        self._labels = {
            name: {**_labels_of_document(each), **known_clusters.get(name, {})} for name, each in self._peers.items()
        }

    def _documents_of_kind(self, kind: str) -> list[Placed]:
        return [each for each in self._own if each.kind == kind]

    def converted(self) -> Conversion:
        """Convert all of them."""
        units: list[Unit] = []
        left = [
            each.left_unconverted(_remark_on_document_only_read(each))
            for each in self._own
            if each.kind != "NamespaceOffloading"
        ]
        offloaded: set[str] = set()
        for each in self._documents_of_kind("NamespaceOffloading"):
            found = self._offloading_of(each)
            offloaded.add(each.key[0])
            if isinstance(found, Remark):
                left.append(each.left_unconverted(found))
                continue
            left += [each.left_unconverted(remark) for remark in found.remarks]
            made = self._units_of_offloaded_namespace(found)
            more, missing = units_and_left_documents(made)
            units += more
            left += missing
        members = [(each.origin, self._cluster_of_virtual_node(name)) for name, each in self._peers.items()]
        if self._own:
            members.append((self._own[0].origin, member_cluster(self._home, {}, {})))
        others = sum(_namespace_of(each) not in offloaded for each in self._plain)
        return Conversion(units=tuple(units), members=tuple(members), left=tuple(left), others=others)

    def _offloading_of(self, document: Placed) -> _Offloaded | Remark:
        strategy = document.spec.get("namespaceMappingStrategy") or "DefaultName"
        if document.key[1] != _NAME:
            return refused_remark("must-be-named-offloading", f"Liqo takes no notice of it: it must be named {_NAME}")
        if strategy == "SelectedName" and not document.spec.get("remoteNamespaceName"):
            return refused_remark("remote-namespace-name-required", "SelectedName needs a remoteNamespaceName")
        if strategy != "EnforceSameName":
            what = f"{strategy} gives the namespace another name in each peer, and objects keep theirs here"
            return refused_remark("namespace-renamed", what)
        try:
            terms = _node_selector_terms(document.spec.get("clusterSelector"))
        except WrongShape as error:
            return refused_remark("unreadable", str(error))
        peers = tuple(sorted(name for name, labels in self._labels.items() if not terms or _meets_any(terms, labels)))
        pods = document.spec.get("podOffloadingStrategy") or "LocalAndRemote"
        what = "the clusters are its peers, or those of them whose labels its terms select, as they are now"
        remark = remark_exact_for_now("or-frozen" if len(terms) > 1 else "peers-frozen", what)
        return _Offloaded(document=document, peers=peers, strategy=pods, remarks=(remark,))

    def _units_of_offloaded_namespace(self, offloaded: _Offloaded) -> list[Unit | Left]:
        namespace = offloaded.document.key[0]
        within = [each for each in self._plain if _namespace_of(each) == namespace]
        made: list[Unit | Left] = []
        if not any(each.kind == "Namespace" for each in within):
            bare = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            within.insert(0, Placed(manifest=bare, origin=offloaded.document.origin))
        for each in within:
            if each.kind == "Pod":
                what = "a Pod that the scheduler of the home cluster sends to a peer has no counterpart"
                made.append(each.left_unconverted(refused_remark("bare-pod", what)))
            else:
                made.append(self._unit_of_offloaded_object(each, offloaded))
        return made

    def _unit_of_offloaded_object(self, document: Placed, offloaded: _Offloaded) -> Unit:
        manifest = without_server_fields(document.manifest)
        is_workload = document.kind in _WORKLOADS
        names = self._workload_clusters(offloaded) if is_workload else self._clusters_of_object(document, offloaded)
        if document.kind == "Namespace":
            manifest = manifest_with_label(manifest, SKIP_NAMESPACE)
        remarks: tuple[Remark, ...] = ()
        by_room = None
        if document.kind in _DIVIDED and len(names) > 1:
            by_room = ByRoom.WEIGHTED
            what = "pods are not scheduled one by one: replicas are divided by the room that clusters have"
            remarks = (approximate_remark("divided-by-room", what),)
        elif is_workload and len(names) > 1:
            what = "each of the clusters runs all of it; Liqo would share its pods out"
            remarks = (approximate_remark("runs-everywhere", what),)
        return Unit(
            manifest=manifest,
            reach=Reach(names=names) if names else Reach(is_nowhere=True),
            origin=document.origin,
            subject=document.subject,
            rules=self._rules_of_virtual_nodes(manifest, names) if is_workload else (),
            by_room=by_room,
            remarks=remarks,
        )

    def _workload_clusters(self, offloaded: _Offloaded) -> tuple[str, ...]:
        if offloaded.strategy == "Local":
            return (self._home,)
        return offloaded.peers if offloaded.strategy == "Remote" else (self._home, *offloaded.peers)

    def _clusters_of_object(self, document: Placed, offloaded: _Offloaded) -> tuple[str, ...]:
        annotations = document.metadata.get("annotations") or {}
        is_reflected = document.kind in {"Namespace", *_REFLECTED} and annotations.get(_SKIPPED) != "true"
        return (self._home, *offloaded.peers) if is_reflected else (self._home,)

    def _rules_of_virtual_nodes(self, manifest: Manifest, names: Sequence[str]) -> tuple[Rule, ...]:
        """Return what the virtual nodes of these clusters change in pods."""
        rules = []
        for name in names:
            patch = (self._peers[name].spec.get("offloadingPatch") or {}) if name in self._peers else {}
            spec = {field: patch[field] for field in _OF_PODS if patch.get(field)}
            if spec and manifest.get("kind") != "CronJob":
                operations = tuple(operations_between(manifest, _manifest_with_pod_spec_fields(manifest, spec)))
                rules.append(Rule(names=(name,), operations=operations))
        return tuple(rules)

    def _cluster_of_virtual_node(self, name: str) -> Manifest:
        taints = [dict(each) for each in self._peers[name].spec.get("taints") or ()]
        return member_cluster(name, self._labels[name], {"taints": taints})


def _namespace_of(document: Placed) -> str:
    return document.key[1] if document.kind == "Namespace" else document.key[0]


def _labels_of_document(document: Placed) -> dict[str, str]:
    found = document.spec.get("labels") if document.kind == "VirtualNode" else document.metadata.get("labels")
    return {key: value for key, value in (found or {}).items() if key not in _OWN_LABELS}


def _node_selector_terms(plain: Any) -> list[tuple[Requirement, ...]]:
    """Return the terms of a node selector, of which one must be met; none select all."""
    what = "spec.clusterSelector"
    return decode_list(
        value_of_key_in_any_case(decode_object(plain, what), "nodeSelectorTerms"),
        f"{what}.nodeSelectorTerms",
        _decode_node_selector_term,
    )


def _decode_node_selector_term(plain: Any, what: str) -> tuple[Requirement, ...]:
    found = decode_list(
        value_of_key_in_any_case(decode_object(plain, what), "matchExpressions"),
        f"{what}.matchExpressions",
        decode_requirement,
    )
    return tuple(checked_requirement(each, what) for each in found if each.key not in _OWN_LABELS)


def _meets_any(terms: Sequence[Sequence[Requirement]], labels: Mapping[str, str]) -> bool:
    return any(all(is_met(each, labels) for each in term) for term in terms)


def _manifest_with_pod_spec_fields(manifest: Manifest, fields: Mapping[str, Any]) -> dict[str, Any]:
    spec = manifest.get("spec") or {}
    template = spec.get("template") or {}
    pod = {**(template.get("spec") or {}), **fields}
    return {**manifest, "spec": {**spec, "template": {**template, "spec": pod}}}


def _remark_on_document_only_read(document: Placed) -> Remark:
    if document.kind in {"VirtualNode", "ForeignCluster"}:
        return exact_remark("credentials-left-out", "it became a Cluster; give it a context in a kubeconfig")
    if document.kind == "ResourceSlice":
        return exact_remark("slice-read", "it names the home cluster")
    return approximate_remark("no-data-plane", "networks, quotas and volumes between clusters are not Argosy's")


def _convert_liqo_documents(documents: Documents, known_clusters: Labels) -> Conversion:
    """Convert the namespaces that are offloaded, with everything in them."""
    return _Peering(documents, known_clusters).converted()


FRONT_END = FrontEnd(
    kinds={
        "ForeignCluster": shape_of_document(reader_of_fields(clusterID=decode_text)),
        "NamespaceOffloading": shape_of_document(
            reader_of_fields(
                namespaceMappingStrategy=decode_text,
                remoteNamespaceName=decode_text,
                podOffloadingStrategy=decode_text,
                clusterSelector=decode_object,
            )
        ),
        "ResourceSlice": shape_of_document(reader_of_fields(consumerClusterID=decode_text)),
        "VirtualNode": shape_of_document(
            reader_of_fields(
                clusterID=decode_text,
                labels=reader_of_map(decode_text),
                taints=reader_of_list(reader_of_fields(key=decode_text, effect=decode_text)),
                offloadingPatch=decode_object,
            )
        ),
    },
    other=shape_of_document(decode_object),
    plain=shape_of_document(reader_of_fields(template=reader_of_fields(spec=decode_object))),
    convert=_convert_liqo_documents,
)
