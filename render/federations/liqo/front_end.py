"""Liqo's offloaded namespaces as units: workloads where pods may run, and what is reflected beside them.

The home cluster is the consumer that a ResourceSlice names, or else is called ``home``; its peers are VirtualNodes and
ForeignClusters.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from render.federations.conversion import Documents, FrontEnd
from render.federations.decoding import WrongShape, entry, requirement_of, sequence, struct, text
from render.federations.manifests import SKIP_NAMESPACE, manifest_with_label, member_cluster, without_server_fields
from render.federations.patches import differences
from render.federations.requirements import checked_requirement, is_met
from render.federations.shapes import document, fields, list_of, map_of
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
    approximate,
    exact,
    exact_for_now,
    refused_remark,
    units_and_left,
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
        nodes = {str(each.spec.get("clusterID") or each.key[1]): each for each in self._of("VirtualNode")}
        foreign = {str(each.spec.get("clusterID") or each.key[1]): each for each in self._of("ForeignCluster")}
        self._peers = {**foreign, **nodes}
        self._labels = {name: {**_labels(each), **known_clusters.get(name, {})} for name, each in self._peers.items()}

    def _of(self, kind: str) -> list[Placed]:
        return [each for each in self._own if each.kind == kind]

    def converted(self) -> Conversion:
        """Convert all of them."""
        units: list[Unit] = []
        left = [each.left(_read_document(each)) for each in self._own if each.kind != "NamespaceOffloading"]
        offloaded: set[str] = set()
        for each in self._of("NamespaceOffloading"):
            found = self._offloading_of(each)
            offloaded.add(each.key[0])
            if isinstance(found, Remark):
                left.append(each.left(found))
                continue
            left += [each.left(remark) for remark in found.remarks]
            made = self._units(found)
            more, missing = units_and_left(made)
            units += more
            left += missing
        members = [(each.origin, self._member(name)) for name, each in self._peers.items()]
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
            terms = _terms(document.spec.get("clusterSelector"))
        except WrongShape as error:
            return refused_remark("unreadable", str(error))
        peers = tuple(sorted(name for name, labels in self._labels.items() if not terms or _meets_any(terms, labels)))
        pods = document.spec.get("podOffloadingStrategy") or "LocalAndRemote"
        what = "the clusters are its peers, or those of them whose labels its terms select, as they are now"
        remark = exact_for_now("or-frozen" if len(terms) > 1 else "peers-frozen", what)
        return _Offloaded(document=document, peers=peers, strategy=pods, remarks=(remark,))

    def _units(self, offloaded: _Offloaded) -> list[Unit | Left]:
        namespace = offloaded.document.key[0]
        within = [each for each in self._plain if _namespace_of(each) == namespace]
        made: list[Unit | Left] = []
        if not any(each.kind == "Namespace" for each in within):
            bare = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            within.insert(0, Placed(manifest=bare, origin=offloaded.document.origin))
        for each in within:
            if each.kind == "Pod":
                what = "a Pod that the scheduler of the home cluster sends to a peer has no counterpart"
                made.append(each.left(refused_remark("bare-pod", what)))
            else:
                made.append(self._unit(each, offloaded))
        return made

    def _unit(self, document: Placed, offloaded: _Offloaded) -> Unit:
        manifest = without_server_fields(document.manifest)
        is_workload = document.kind in _WORKLOADS
        names = self._workload_clusters(offloaded) if is_workload else self._clusters(document, offloaded)
        if document.kind == "Namespace":
            manifest = manifest_with_label(manifest, SKIP_NAMESPACE)
        remarks: tuple[Remark, ...] = ()
        by_room = None
        if document.kind in _DIVIDED and len(names) > 1:
            by_room = ByRoom.WEIGHTED
            what = "pods are not scheduled one by one: replicas are divided by the room that clusters have"
            remarks = (approximate("divided-by-room", what),)
        elif is_workload and len(names) > 1:
            what = "each of the clusters runs all of it; Liqo would share its pods out"
            remarks = (approximate("runs-everywhere", what),)
        return Unit(
            manifest=manifest,
            reach=Reach(names=names) if names else Reach(is_nowhere=True),
            origin=document.origin,
            subject=document.subject,
            rules=self._patches(manifest, names) if is_workload else (),
            by_room=by_room,
            remarks=remarks,
        )

    def _workload_clusters(self, offloaded: _Offloaded) -> tuple[str, ...]:
        if offloaded.strategy == "Local":
            return (self._home,)
        return offloaded.peers if offloaded.strategy == "Remote" else (self._home, *offloaded.peers)

    def _clusters(self, document: Placed, offloaded: _Offloaded) -> tuple[str, ...]:
        annotations = document.metadata.get("annotations") or {}
        is_reflected = document.kind in {"Namespace", *_REFLECTED} and annotations.get(_SKIPPED) != "true"
        return (self._home, *offloaded.peers) if is_reflected else (self._home,)

    def _patches(self, manifest: Manifest, names: Sequence[str]) -> tuple[Rule, ...]:
        """Return what the virtual nodes of these clusters change in pods."""
        rules = []
        for name in names:
            patch = (self._peers[name].spec.get("offloadingPatch") or {}) if name in self._peers else {}
            spec = {field: patch[field] for field in _OF_PODS if patch.get(field)}
            if spec and manifest.get("kind") != "CronJob":
                operations = tuple(differences(manifest, _with_pod_spec(manifest, spec)))
                rules.append(Rule(names=(name,), operations=operations))
        return tuple(rules)

    def _member(self, name: str) -> Manifest:
        taints = [dict(each) for each in self._peers[name].spec.get("taints") or ()]
        return member_cluster(name, self._labels[name], {"taints": taints})


def _namespace_of(document: Placed) -> str:
    return document.key[1] if document.kind == "Namespace" else document.key[0]


def _labels(document: Placed) -> dict[str, str]:
    found = document.spec.get("labels") if document.kind == "VirtualNode" else document.metadata.get("labels")
    return {key: value for key, value in (found or {}).items() if key not in _OWN_LABELS}


def _terms(plain: Any) -> list[tuple[Requirement, ...]]:
    """Return the terms of a node selector, of which one must be met; none select all."""
    what = "spec.clusterSelector"
    return sequence(entry(struct(plain, what), "nodeSelectorTerms"), f"{what}.nodeSelectorTerms", _term)


def _term(plain: Any, what: str) -> tuple[Requirement, ...]:
    found = sequence(entry(struct(plain, what), "matchExpressions"), f"{what}.matchExpressions", requirement_of)
    return tuple(checked_requirement(each, what) for each in found if each.key not in _OWN_LABELS)


def _meets_any(terms: Sequence[Sequence[Requirement]], labels: Mapping[str, str]) -> bool:
    return any(all(is_met(each, labels) for each in term) for term in terms)


def _with_pod_spec(manifest: Manifest, fields: Mapping[str, Any]) -> dict[str, Any]:
    spec = manifest.get("spec") or {}
    template = spec.get("template") or {}
    pod = {**(template.get("spec") or {}), **fields}
    return {**manifest, "spec": {**spec, "template": {**template, "spec": pod}}}


def _read_document(document: Placed) -> Remark:
    if document.kind in {"VirtualNode", "ForeignCluster"}:
        return exact("credentials-left-out", "it became a Cluster; give it a context in a kubeconfig")
    if document.kind == "ResourceSlice":
        return exact("slice-read", "it names the home cluster")
    return approximate("no-data-plane", "networks, quotas and volumes between clusters are not Argosy's")


def _convert_documents(documents: Documents, known_clusters: Labels) -> Conversion:
    """Convert the namespaces that are offloaded, with everything in them."""
    return _Peering(documents, known_clusters).converted()


FRONT_END = FrontEnd(
    kinds={
        "ForeignCluster": document(fields(clusterID=text)),
        "NamespaceOffloading": document(
            fields(
                namespaceMappingStrategy=text,
                remoteNamespaceName=text,
                podOffloadingStrategy=text,
                clusterSelector=struct,
            )
        ),
        "ResourceSlice": document(fields(consumerClusterID=text)),
        "VirtualNode": document(
            fields(
                clusterID=text,
                labels=map_of(text),
                taints=list_of(fields(key=text, effect=text)),
                offloadingPatch=struct,
            )
        ),
    },
    other=document(struct),
    plain=document(fields(template=fields(spec=struct))),
    convert=_convert_documents,
)
