"""KubeFed's documents as units: federated objects, their namespaces, replica preferences, types and clusters."""

from collections.abc import Mapping, Sequence
from typing import Any

from render.federations.conversion import Documents, FrontEnd
from render.federations.decoding import WrongShape, decode_bool, decode_integer, decode_object, decode_text
from render.federations.ingresses import is_old_ingress, upgraded_ingress
from render.federations.manifests import SKIP_NAMESPACE, manifest_with_label, member_cluster
from render.federations.patches import PatchFailed
from render.federations.planner import ANY_CLUSTER, Preference, static_weights_giving_replicas
from render.federations.shapes import METADATA, read_texts, reader_of_fields, reader_of_map, shape_of_document
from render.federations.units import (
    Conversion,
    Labels,
    Left,
    Placed,
    Reach,
    Remark,
    Unit,
    Weight,
    approximate_remark,
    exact_remark,
    refused_remark,
    remark_exact_for_now,
)
from render.kinds.workloads import RETAIN_REPLICAS
from render.model import Manifest
from render.selectors import LabelSelector, Requirement

from .federated_objects import (
    PlainPatches,
    TargetType,
    object_of_template,
    patch_operations_by_cluster,
    plain_patches_of_overrides,
    target_type_of_federated,
)
from .placement import FederatedPlacement, RegisteredClusters, placement_of
from .preferences import REPLICAS_PATH, SERVED_KINDS, PreferenceInputs, division_of_preference, preferences_by_cluster

_ORPHAN = "kubefed.io/orphan"
_CONTROLLER_WRITTEN = frozenset({"PropagatedVersion", "ClusterPropagatedVersion", "FederatedServiceStatus"})
_BOUNDS = reader_of_fields(minReplicas=decode_integer, maxReplicas=decode_integer, weight=decode_integer)
_TYPE = reader_of_fields(group=decode_text, version=decode_text, kind=decode_text, scope=decode_text)
_FEDERATED = shape_of_document(
    reader_of_fields(retainReplicas=decode_bool, template=reader_of_fields(metadata=METADATA, spec=decode_object))
)


class _Fleet:
    """The documents by what they are to each other."""

    def __init__(self, documents: Sequence[Placed], known_clusters: Labels) -> None:
        self._documents = documents
        by_kind = [each for each in documents if each.kind == "KubeFedCluster"]
        self._labels = {**known_clusters, **{each.key[1]: _labels_of_manifest(each.manifest) for each in by_kind}}
        self._federation = RegisteredClusters(labels_by_cluster=self._labels)
        self._namespaces = {each.key[0]: each for each in documents if each.kind == "FederatedNamespace"}
        self._preferences = {each.key: each for each in documents if each.kind == "ReplicaSchedulingPreference"}
        self._types = {
            name: each for each in documents if each.kind == "FederatedTypeConfig" for name in [_federated_kind(each)]
        }

    def converted(self) -> Conversion:
        """Convert all of them, in their order."""
        units: list[Unit] = []
        left: list[Left] = []
        members = []
        for each in self._documents:
            if each.kind == "KubeFedCluster":
                members.append((each.origin, _member_of_manifest(each.manifest)))
                left.append(each.left_unconverted(_remark_on_credentials(each.manifest)))
            elif each.kind.startswith("Federated") and each.kind not in {"FederatedTypeConfig", *_CONTROLLER_WRITTEN}:
                found = self._unit_of_federated(each)
                if isinstance(found, Unit):
                    units.append(found)
                else:
                    left.append(found)
            else:
                left.append(each.left_unconverted(self._remark_on_unneeded_document(each)))
        return Conversion(units=tuple(units), members=tuple(members), left=tuple(left))

    def _remark_on_unneeded_document(self, document: Placed) -> Remark:
        if document.kind in _CONTROLLER_WRITTEN:
            return exact_remark("controller-written", "a controller of KubeFed wrote it")
        if document.kind == "FederatedTypeConfig":
            return exact_remark("type-read", "it says what a federated kind stands for")
        if document.kind == "ReplicaSchedulingPreference":
            spec = document.manifest.get("spec") or {}
            if spec.get("targetKind") not in SERVED_KINDS:
                return refused_remark(
                    "rsp-target-kind", "KubeFed divides FederatedDeployments and FederatedReplicaSets alone"
                )
            return exact_remark("rsp-read", "it became part of the object of its name")
        return exact_remark("setting", "a setting of KubeFed's own controllers")

    def _unit_of_federated(self, document: Placed) -> Unit | Left:
        target = self._target_type_of_federated(document)
        if target is None:
            hint = "add the FederatedTypeConfig of the kind, or an apiVersion to the template"
            return document.left_unconverted(
                refused_remark("ftc-unknown-kind", f"what {document.kind} stands for is not known; {hint}")
            )
        try:
            return self._converted_unit(document, target)
        except (WrongShape, PatchFailed) as error:
            return document.left_unconverted(refused_remark("unreadable", str(error)))

    def _converted_unit(self, document: Placed, target: TargetType) -> Unit:
        federated = document.manifest
        sent = object_of_template(federated, target)
        manifest = _with_name_of_target(sent.manifest, target)
        remarks = [exact_remark(*_WARNED[code]) for code in sent.warnings]
        if document.kind not in self._types and is_old_ingress(manifest):
            manifest, changes = upgraded_ingress(manifest)
            remarks += changes
        patches, reach, weights, divided_notes = self._patches_reach_and_weights(document, target, manifest)
        if (federated.get("spec") or {}).get("retainReplicas"):
            manifest = manifest_with_label(manifest, RETAIN_REPLICAS)
        if target.kind == "Namespace":
            manifest = manifest_with_label(manifest, SKIP_NAMESPACE)
        annotations = (federated.get("metadata") or {}).get("annotations") or {}
        config = self._types.get(document.kind)
        is_suspended = config is not None and (config.manifest.get("spec") or {}).get("propagation") == "Disabled"
        if is_suspended:
            remarks.append(
                approximate_remark("propagation-disabled", "KubeFed does not propagate the kind: it is suspended")
            )
        return Unit(
            manifest=manifest,
            reach=reach,
            origin=document.origin,
            subject=document.subject,
            rules=patches.rules,
            weights=weights,
            is_kept=annotations.get(_ORPHAN) == "true",
            is_suspended=is_suspended,
            remarks=(*remarks, *divided_notes, *patches.remarks, *self._remarks_on_doubtful_reach(reach)),
        )

    def _target_type_of_federated(self, document: Placed) -> TargetType | None:
        config = self._types.get(document.kind)
        if config is not None:
            plain = (config.manifest.get("spec") or {}).get("targetType") or {}
            return TargetType(
                group=plain.get("group", ""),
                version=plain.get("version", ""),
                kind=plain.get("kind", ""),
                is_namespaced=plain.get("scope", "Namespaced") == "Namespaced",
            )
        return target_type_of_federated(document.manifest)

    def _patches_reach_and_weights(
        self, document: Placed, target: TargetType, manifest: dict[str, Any]
    ) -> tuple[PlainPatches, Reach, tuple[Weight, ...], list[Remark]]:
        """Return what differs between clusters, where it goes, and the weights where replicas are divided."""
        federated = document.manifest
        namespace = self._namespaces.get(document.key[0]) if target.is_namespaced else None
        reach, remarks = self._reach_of_federated(federated, namespace, target)
        overrides = patch_operations_by_cluster(federated)
        preference = self._preferences.get(document.key)
        if preference is None or (preference.manifest.get("spec") or {}).get("targetKind") != document.kind:
            return plain_patches_of_overrides(manifest, overrides), reach, (), remarks
        found = self._division_by_preference(preference.manifest, federated, namespace, manifest)
        if found is None:
            code = "rsp-intersect-empty" if self._labels else "rsp-no-clusters"
            what = "no cluster is left to divide over, so the preference does nothing"
            return (
                plain_patches_of_overrides(manifest, overrides),
                reach,
                (),
                [*remarks, approximate_remark(code, what)],
            )
        return found

    def _division_by_preference(
        self, preference: Manifest, federated: Manifest, namespace: Placed | None, manifest: dict[str, Any]
    ) -> tuple[PlainPatches, Reach, tuple[Weight, ...], list[Remark]] | None:
        """Return the same with what the preference's controller would write into it; None if it does nothing."""
        outer = namespace.manifest if namespace else None
        inputs = PreferenceInputs(
            preference=preference,
            federated=federated,
            federated_namespace=outer,
            federation=self._federation,
            members={},
        )
        found = division_of_preference(inputs, kind=SERVED_KINDS[preference["spec"]["targetKind"]])
        if not found.replicas:
            return None
        written = found.federated or federated
        overrides = patch_operations_by_cluster(written)
        remarks = [] if namespace else [_remark_on_unfederated()]
        within = self._federation.clusters_of(written, outer, is_namespaced=True)
        weights = _weights_of_preference(preference, found.replicas)
        if weights and within == set(found.replicas) == set(self._labels):
            others = {
                name: [each for each in operations if each["path"] != REPLICAS_PATH]
                for name, operations in overrides.items()
            }
            manifest.setdefault("spec", {})["replicas"] = sum(found.replicas.values())
            return plain_patches_of_overrides(manifest, others), Reach(), weights, remarks
        names = tuple(name for name in sorted(found.replicas) if name in within)
        kept = {name: operations for name, operations in overrides.items() if name in within}
        what = "the replicas of each cluster are those KubeFed gives it now; they are not divided anew"
        return (
            plain_patches_of_overrides(manifest, kept),
            Reach(names=names) if names else Reach(is_nowhere=True),
            (),
            [*remarks, remark_exact_for_now("rsp-pinned", what)],
        )

    def _reach_of_federated(
        self, federated: Manifest, namespace: Placed | None, target: TargetType
    ) -> tuple[Reach, list[Remark]]:
        own = placement_of(federated)
        if not target.is_namespaced or target.kind == "Namespace":
            return _reach_of_placement(own), []
        if namespace is None:
            return Reach(is_nowhere=True), [_remark_on_unfederated()]
        return _common_reach(_reach_of_placement(own), _reach_of_placement(placement_of(namespace.manifest))), []

    def _remarks_on_doubtful_reach(self, reach: Reach) -> list[Remark]:
        if reach.is_nowhere:
            return [exact_remark("nowhere", "KubeFed sends it nowhere, so it gets no policy")]
        unknown = [name for name in reach.names or () if self._labels and name not in self._labels]
        return [
            exact_remark("unknown-cluster", f"there is no cluster {name}, which changes nothing") for name in unknown
        ]


def _reach_of_placement(placement: FederatedPlacement) -> Reach:
    if placement.names is not None:
        names = tuple(dict.fromkeys(filter(None, placement.names)))
        return Reach(names=names) if names else Reach(is_nowhere=True)
    return Reach(is_nowhere=True) if placement.selector is None else Reach(selector=placement.selector)


def _common_reach(own: Reach, outer: Reach) -> Reach:
    """Return the clusters that both reach."""
    if own.is_nowhere or outer.is_nowhere:
        return Reach(is_nowhere=True)
    names = own.names if own.names is not None else outer.names
    if own.names is not None and outer.names is not None:
        names = tuple(name for name in own.names if name in outer.names)
        if not names:
            return Reach(is_nowhere=True)
    return Reach(names=names, selector=_conjunction_of_selectors(own.selector, outer.selector))


def _conjunction_of_selectors(one: LabelSelector | None, other: LabelSelector | None) -> LabelSelector | None:
    if one is None or other is None:
        return one or other
    first, second = dict(one.match_labels), dict(other.match_labels)
    clashing = {key for key in first if key in second and first[key] != second[key]}
    either = [
        Requirement(key=key, operator="In", values=(labels[key],))
        for key in sorted(clashing)
        for labels in (first, second)
    ]
    labels = {key: value for key, value in {**first, **second}.items() if key not in clashing}
    return LabelSelector(
        match_labels=tuple(sorted(labels.items())),
        match_expressions=(*either, *dict.fromkeys((*one.match_expressions, *other.match_expressions))),
    )


def _weights_of_preference(preference: Manifest, replicas: Mapping[str, int]) -> tuple[Weight, ...]:
    spec = preference.get("spec") or {}
    preferences = preferences_by_cluster(spec.get("clusters")) or {ANY_CLUSTER: Preference(weight=1)}
    return static_weights_giving_replicas(spec.get("totalReplicas") or 0, preferences, replicas)


def _with_name_of_target(manifest: dict[str, Any], target: TargetType) -> dict[str, Any]:
    """Return an object with an apiVersion that Kubernetes writes: KubeFed's of the core group begins with a slash."""
    named = {**manifest, "apiVersion": str(manifest["apiVersion"]).lstrip("/")}
    named.pop("status", None)
    return named if target.kind != "Namespace" else _without_namespace(named)


def _without_namespace(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a Namespace without the namespace that its federated object stands in."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "namespace"}
    return {**manifest, "metadata": metadata}


def _federated_kind(config: Placed) -> str:
    spec = config.manifest.get("spec") or {}
    named = (spec.get("federatedType") or {}).get("kind")
    return str(named or f"Federated{(spec.get('targetType') or {}).get('kind', '')}")


def _labels_of_manifest(manifest: Manifest) -> dict[str, str]:
    return dict((manifest.get("metadata") or {}).get("labels") or {})


def _member_of_manifest(manifest: Manifest) -> Manifest:
    """Return the Cluster of a KubeFedCluster, without its credentials."""
    spec, status, metadata = manifest.get("spec") or {}, manifest.get("status") or {}, manifest["metadata"]
    is_unchecked = "*" in (spec.get("disabledTLSValidations") or ())
    fields = {
        "apiEndpoint": spec.get("apiEndpoint"),
        "proxyURL": spec.get("proxyURL"),
        "insecureSkipTLSVerification": is_unchecked or None,
        "region": status.get("region"),
        "zones": list(status.get("zones") or ()),
    }
    return member_cluster(metadata["name"], _labels_of_manifest(manifest), fields)


def _remark_on_credentials(manifest: Manifest) -> Remark:
    spec = manifest.get("spec") or {}
    secret = (spec.get("secretRef") or {}).get("name", "")
    partly = sorted(set(spec.get("disabledTLSValidations") or ()) - {"*"})
    what = f"its credentials (Secret {secret}) are not copied; give the cluster a context in a kubeconfig"
    if partly:
        return approximate_remark("tls-validation", f"{', '.join(partly)} has no counterpart; {what}")
    return exact_remark("credentials-left-out", what)


_WARNED = {
    "AnnotationsNotSupported": ("template-annotations-dropped", "KubeFed drops the annotations of a template"),
    "FinalizersNotSupported": ("template-finalizers-dropped", "KubeFed drops the finalizers of a template"),
}


def _remark_on_unfederated() -> Remark:
    return exact_remark("namespace-not-federated", "its namespace has no FederatedNamespace")


def _check_shape_of_other_document(manifest: Manifest) -> None:
    """Raise WrongShape for a federated object, or a document of a kind that nothing is read of, of a wrong shape."""
    is_federated = str(manifest.get("kind") or "").startswith("Federated")
    (_FEDERATED if is_federated else shape_of_document())(manifest)


def _convert_kubefed_documents(documents: Documents, known_clusters: Labels) -> Conversion:
    """Convert federated objects, and make Clusters of KubeFedClusters."""
    return _Fleet(documents.own, known_clusters).converted()


FRONT_END = FrontEnd(
    kinds={
        "ReplicaSchedulingPreference": shape_of_document(
            reader_of_fields(
                targetKind=decode_text,
                totalReplicas=decode_integer,
                rebalance=decode_bool,
                intersectWithClusterSelector=decode_bool,
                clusters=reader_of_map(_BOUNDS),
            )
        ),
        "FederatedTypeConfig": shape_of_document(
            reader_of_fields(targetType=_TYPE, federatedType=_TYPE, propagation=decode_text)
        ),
        "KubeFedCluster": shape_of_document(
            reader_of_fields(
                apiEndpoint=decode_text,
                proxyURL=decode_text,
                secretRef=reader_of_fields(name=decode_text),
                disabledTLSValidations=read_texts,
            ),
            status=reader_of_fields(region=decode_text, zones=read_texts),
        ),
    },
    other=_check_shape_of_other_document,
    convert=_convert_kubefed_documents,
)
