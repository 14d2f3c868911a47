"""KubeAdmiral's documents as units: plain objects that name a policy in a label, and the policies that they name."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from render.federations.conversion import Documents, FrontEnd
from render.federations.decoding import (
    WrongShape,
    decode_integer,
    decode_list,
    decode_object,
    decode_requirement,
    decode_text,
)
from render.federations.kubefed.preferences import preferences_by_cluster
from render.federations.manifests import SKIP_NAMESPACE, manifest_with_label, member_cluster, without_server_fields
from render.federations.planner import Preference, static_weights_giving_replicas
from render.federations.requirements import checked_requirement, is_met
from render.federations.shapes import read_texts, reader_of_fields, reader_of_list, reader_of_map, shape_of_document
from render.federations.units import (
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
from render.placement import Toleration
from render.selectors import LabelSelector, Requirement

from .labels import OVERRIDE_LABELS, POLICY_LABELS
from .planner import AdmiralWorkload, replica_plan

_GROUP = "core.kubeadmiral.io"
_COUNTED = frozenset({"Deployment", "ReplicaSet", "StatefulSet"})
_READ = frozenset({"ClusterOverridePolicy", "ClusterPropagationPolicy", "OverridePolicy", "PropagationPolicy"})
_OPERATORS = frozenset({"add", "remove", "replace"})
_TOLERATION = reader_of_fields(key=decode_text, operator=decode_text, value=decode_text, effect=decode_text)


def _convert_kubeadmiral_documents(documents: Documents, known_clusters: Labels) -> Conversion:
    """Convert every object that names a policy, and the clusters."""
    own = documents.own
    members = [each for each in own if each.group == _GROUP and each.kind == "FederatedCluster"]
    labels = {**known_clusters, **{each.key[1]: each.metadata.get("labels") or {} for each in members}}
    policies = {(each.kind, *each.key): each for each in own if each.group == _GROUP and each.kind in _READ}
    units, left = units_and_left_documents(_converted_document(each, policies, labels) for each in own)
    return Conversion(
        units=tuple(units),
        members=tuple((each.origin, _member_of_document(each)) for each in members),
        left=tuple(left),
    )


def _converted_document(
    document: Placed, policies: Mapping[tuple[str, str, str], Placed], labels: Labels
) -> Unit | Left:
    if document.group == _GROUP:
        return document.left_unconverted(_remark_on_document_only_read(document))
    try:
        return _unit_of_document(document, policies, labels)
    except WrongShape as error:
        return document.left_unconverted(refused_remark("unreadable", str(error)))


def _unit_of_document(document: Placed, policies: Mapping[tuple[str, str, str], Placed], labels: Labels) -> Unit | Left:
    named = _policies_named_by(document, POLICY_LABELS, policies)
    if not named:
        return document.left_unconverted(
            refused_remark("policy-missing", "the policy that it names is not among the documents")
        )
    policy, own_labels = named[0], document.metadata.get("labels") or {}
    manifest = without_server_fields(document.manifest)
    kept = {key: value for key, value in own_labels.items() if key not in {**POLICY_LABELS, **OVERRIDE_LABELS}}
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "labels"}
    manifest["metadata"] = metadata | ({"labels": kept} if kept else {})
    if document.kind == "Namespace":
        manifest = manifest_with_label(manifest, SKIP_NAMESPACE)
    reach, remarks = _reach_of_policy(policy, labels)
    rules: list[Rule] = []
    for overriding in _policies_named_by(document, OVERRIDE_LABELS, policies):
        found, doubts = _rules_of_policy(overriding, labels)
        rules += found
        remarks += doubts
    unit = Unit(
        manifest=manifest,
        reach=reach,
        origin=document.origin,
        subject=document.subject,
        rules=tuple(rules),
        tolerations=_tolerations_of_policy(policy),
        remarks=tuple(remarks),
    )
    if policy.spec.get("schedulingMode") == "Divide" and document.kind in _COUNTED:
        return _unit_with_division(unit, document, policy, labels)
    return unit


def _unit_with_division(unit: Unit, document: Placed, policy: Placed, labels: Labels) -> Unit:
    names = [name for name in labels if _reaches_cluster(unit.reach, name, labels)]
    preferences = _preferences_of_policy(policy)
    if not names:
        what = "no cluster is known, so that every cluster gets all of it: add the FederatedClusters"
        return replace(unit, remarks=(*unit.remarks, approximate_remark("clusters-unknown", what)))
    replicas = document.spec.get("replicas")
    total = 1 if replicas is None else replicas
    shares = replica_plan(
        AdmiralWorkload(replicas=total, key="/".join(document.key)), preferences, names
    ).total_replicas_by_cluster
    if weights := static_weights_giving_replicas(total, preferences, shares):
        return replace(unit, weights=weights)
    chosen = {name: count for name, count in sorted(shares.items()) if count > 0}
    pinned = tuple(
        Rule(names=(name,), operations=({"operator": "replace", "path": "/spec/replicas", "value": count},))
        for name, count in chosen.items()
    )
    what = "the replicas of each cluster are those KubeAdmiral gives it now, before anything runs"
    return replace(
        unit,
        reach=Reach(names=tuple(chosen)) if chosen else Reach(is_nowhere=True),
        rules=(*pinned, *unit.rules),
        remarks=(*unit.remarks, remark_exact_for_now("shares-pinned", what)),
    )


def _preferences_of_policy(policy: Placed) -> dict[str, Preference]:
    placement = policy.spec.get("placement") or ()
    found = preferences_by_cluster({each["cluster"]: each.get("preferences") or {} for each in placement})
    return found or {"*": Preference(weight=1)}


def _reach_of_policy(policy: Placed, labels: Labels) -> tuple[Reach, list[Remark]]:
    spec = policy.spec
    remarks = []
    if spec.get("maxClusters") is not None or spec.get("schedulingProfile"):
        remarks.append(
            approximate_remark("scheduling-profile", "the choice among clusters that fit has no counterpart")
        )
    names = tuple(each["cluster"] for each in spec.get("placement") or ()) or None
    terms = _requirement_terms(spec.get("clusterAffinity"))
    own = tuple(sorted((spec.get("clusterSelector") or {}).items()))
    if len(terms) > 1:
        fitting = [name for name in labels if any(_meets_all_requirements(term, labels[name]) for term in terms)]
        names = tuple(name for name in fitting if names is None or name in names)
        what = "a policy has no clusters that meet one term or another: they are those that meet one now"
        remarks.append(remark_exact_for_now("union-frozen", what))
    expressions = terms[0] if len(terms) == 1 else ()
    selector = LabelSelector(match_labels=own, match_expressions=expressions) if own or expressions else None
    if names is not None and not names:
        return Reach(is_nowhere=True), remarks
    return Reach(names=names, selector=selector), remarks


def _rules_of_policy(policy: Placed, labels: Labels) -> tuple[list[Rule], list[Remark]]:
    rules, remarks = [], []
    for each in policy.spec.get("overrideRules") or ():
        target, overriders = each.get("targetClusters") or {}, each.get("overriders") or {}
        patches = overriders.get("jsonpatch") or ()
        others = sorted(overriders.keys() - {"jsonpatch"})
        if others or any(str(patch.get("operator", "replace")) not in _OPERATORS for patch in patches):
            what = f"{policy.subject}: {', '.join(others) or 'an operator'} has no counterpart; write it as jsonpatch"
            remarks.append(refused_remark("overrider-unknown", what))
            continue
        operations = tuple(
            {"operator": patch.get("operator", "replace"), "path": patch["path"]}
            | ({"value": patch.get("value")} if patch.get("operator") != "remove" else {})
            for patch in patches
        )
        terms = _requirement_terms(target.get("clusterAffinity"))
        names = tuple(target.get("clusters") or ())
        if terms:
            fitting = [name for name in labels if any(_meets_all_requirements(term, labels[name]) for term in terms)]
            names = tuple(name for name in fitting if not names or name in names)
        own = tuple(sorted((target.get("clusterSelector") or {}).items()))
        selector = LabelSelector(match_labels=own) if own else None
        if operations and (names or not terms):
            rules.append(Rule(operations=operations, names=names, selector=selector))
    return rules, remarks


def _policies_named_by(
    document: Placed, labels: Mapping[str, str], policies: Mapping[tuple[str, str, str], Placed]
) -> list[Placed]:
    found = []
    for label, kind in labels.items():
        name = (document.metadata.get("labels") or {}).get(label)
        namespace = "" if kind.startswith("Cluster") else document.key[0]
        policy = policies.get((kind, namespace, str(name)))
        if policy is not None:
            found.append(policy)
    return found


def _requirement_terms(plain: Any) -> list[tuple[Requirement, ...]]:
    what = "clusterAffinity"
    terms = decode_list(
        plain, what, lambda each, where: decode_list(each.get("matchExpressions"), where, decode_requirement)
    )
    return [tuple(checked_requirement(each, what) for each in term) for term in terms]


def _meets_all_requirements(term: Sequence[Requirement], labels: Mapping[str, str]) -> bool:
    return all(is_met(each, labels) for each in term)


def _reaches_cluster(reach: Reach, name: str, labels: Labels) -> bool:
    if reach.is_nowhere or (reach.names is not None and name not in reach.names):
        return False
    selector = reach.selector or LabelSelector()
    is_labelled = all(labels[name].get(key) == value for key, value in selector.match_labels)
    return is_labelled and _meets_all_requirements(selector.match_expressions, labels[name])


def _tolerations_of_policy(policy: Placed) -> tuple[Toleration, ...]:
    return tuple(
        Toleration(
            key=each.get("key") or "",
            operator=each.get("operator") or "",
            value=each.get("value") or "",
            effect=each.get("effect") or "",
        )
        for each in policy.spec.get("tolerations") or ()
    )


def _member_of_document(document: Placed) -> Manifest:
    fields = {
        "apiEndpoint": document.spec.get("apiEndpoint"),
        "taints": [dict(each) for each in document.spec.get("taints") or ()],
        "insecureSkipTLSVerification": document.spec.get("insecure") or None,
    }
    return member_cluster(document.key[1], document.metadata.get("labels") or {}, fields)


def _remark_on_document_only_read(document: Placed) -> Remark:
    if document.kind == "FederatedCluster":
        return exact_remark(
            "credentials-left-out", "its Secret is not copied; give the cluster a context in a kubeconfig"
        )
    if document.kind in _READ:
        return exact_remark("policy-read", "it became policies of the objects that name it")
    return exact_remark("controller-written", "a controller of KubeAdmiral wrote it, or is set up by it")


def _decode_named_cluster_entry(plain: object, what: str) -> object:
    if not decode_text(decode_object(plain, what).get("cluster"), f"{what}.cluster"):
        raise WrongShape(f"{what}.cluster is missing")
    return reader_of_fields(
        preferences=reader_of_fields(minReplicas=decode_integer, maxReplicas=decode_integer, weight=decode_integer)
    )(plain, what)


def _decode_patch(plain: object, what: str) -> object:
    if not decode_text(decode_object(plain, what).get("path"), f"{what}.path"):
        raise WrongShape(f"{what}.path is missing")
    return reader_of_fields(operator=decode_text)(plain, what)


_PROPAGATION = reader_of_fields(
    schedulingMode=decode_text,
    schedulingProfile=decode_text,
    maxClusters=decode_integer,
    clusterSelector=reader_of_map(decode_text),
    clusterAffinity=reader_of_list(decode_object),
    placement=reader_of_list(_decode_named_cluster_entry),
    tolerations=reader_of_list(_TOLERATION),
)


_OVERRIDES = reader_of_fields(
    overrideRules=reader_of_list(
        reader_of_fields(
            targetClusters=reader_of_fields(
                clusters=read_texts,
                clusterSelector=reader_of_map(decode_text),
                clusterAffinity=reader_of_list(decode_object),
            ),
            overriders=reader_of_fields(jsonpatch=reader_of_list(_decode_patch)),
        )
    )
)


FRONT_END = FrontEnd(
    group=_GROUP,
    kinds={
        "ClusterOverridePolicy": shape_of_document(_OVERRIDES),
        "ClusterPropagationPolicy": shape_of_document(_PROPAGATION),
        "FederatedCluster": shape_of_document(
            reader_of_fields(apiEndpoint=decode_text, taints=reader_of_list(_TOLERATION))
        ),
        "OverridePolicy": shape_of_document(_OVERRIDES),
        "PropagationPolicy": shape_of_document(_PROPAGATION),
    },
    other=shape_of_document(reader_of_fields(replicas=decode_integer)),
    convert=_convert_kubeadmiral_documents,
)
