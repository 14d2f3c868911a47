"""Objects of plain clusters as units: one template for what several hold, and rules for what differs between them.

The template is the form that most clusters have, and where two are as frequent, that of the first cluster by name. Each
other form is a rule for its clusters. Together they give every cluster exactly what it was seen to have.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from render.federations.manifests import member_cluster
from render.federations.patches import operations_between
from render.federations.units import Conversion, Left, Reach, Remark, Rule, Unit, exact_remark, refused_remark
from render.model import Manifest, ObjectRef
from render.values import DiscreetStruct
from render.words import counted_noun

from .system_objects import KINDS_LEFT_OUT, OWNED, reason_to_leave_out
from .written_form import template_of_live_object

_ONE_BY_ONE = frozenset({"secret-left-out", "pod-left-out"})
"""The reasons of which each object is told by itself; those of all others are counted."""


class LiveCluster(DiscreetStruct, frozen=True, kw_only=True):
    """A cluster with the objects that were listed in it, those that autoscalers scale, and what could not be listed."""

    UNSHOWN = ("objects",)

    name: str
    objects: Sequence[Manifest]
    scaled: frozenset[ObjectRef] = frozenset()
    unlisted: Mapping[str, str] = field(default_factory=dict)


class Split(NamedTuple):
    """A template, and the rules by which clusters have it otherwise."""

    template: Manifest
    rules: tuple[Rule, ...]


def template_and_rules_of_forms(manifests: Mapping[str, Manifest]) -> Split:
    """Return the template of an object and the rules that make of it what each cluster has."""
    clusters_by_form: dict[str, list[str]] = {}
    for name in sorted(manifests):
        form = json.dumps(manifests[name], sort_keys=True)
        clusters_by_form.setdefault(form, []).append(name)
    ordered = sorted(clusters_by_form.values(), key=lambda names: (-len(names), names))
    template = manifests[ordered[0][0]]
    rules = (
        Rule(operations=tuple(operations_between(template, manifests[names[0]])), names=tuple(names))
        for names in ordered[1:]
    )
    return Split(template, tuple(rules))


class ReadCluster(Struct, frozen=True, kw_only=True):
    """A cluster with the written forms of its objects, and what of it was left out."""

    name: str
    forms: Mapping[ObjectRef, Manifest]
    left: Sequence[Left]


def objects_as_person_writes_them(cluster: LiveCluster, *, with_system: bool = False) -> ReadCluster:
    """Return the objects of a cluster as a person would write them, without those that no person wrote."""
    forms: dict[ObjectRef, Manifest] = {}
    left: list[Left] = []
    reasons: Counter[tuple[str, Remark]] = Counter()
    is_claim = predicate_of_claims_of_stateful_sets(cluster.objects)
    for manifest in cluster.objects:
        ref = ObjectRef.of(manifest)
        reason = OWNED if is_claim(ref) else reason_to_leave_out(manifest, with_system=with_system)
        if reason is None:
            forms[ref] = template_of_live_object(manifest, is_scaled=ref in cluster.scaled)
        elif reason.code in _ONE_BY_ONE:
            left.append(Left(origin=cluster.name, subject=str(ref), remark=reason))
        else:
            reasons[ref.group_kind, reason] += 1
    left += [*_left_counted_by_reason(cluster.name, reasons), *_objects_left_unlisted(cluster)]
    return ReadCluster(name=cluster.name, forms=forms, left=left)


def conversion_of_clusters(clusters: Sequence[ReadCluster], skipped_kinds: Iterable[str] = ()) -> Conversion:
    """Return what runs in some clusters as units; ``skipped_kinds`` are those that nobody asked for."""
    forms: dict[ObjectRef, dict[str, Manifest]] = defaultdict(dict)
    for cluster in clusters:
        for ref, form in cluster.forms.items():
            forms[ref][cluster.name] = form
    left = [each for cluster in clusters for each in cluster.left]
    left += [
        Left(origin="", subject=kind, remark=exact_remark("kind-left-out", KINDS_LEFT_OUT[kind]))
        for kind in sorted(skipped_kinds)
    ]
    units, others = _units_of_forms(forms)
    members = tuple((each.name, member_cluster(each.name, {}, {})) for each in clusters)
    return Conversion(units=tuple(units), members=members, left=(*_left_with_clusters_joined(left), *others))


def predicate_of_claims_of_stateful_sets(objects: Iterable[Manifest]) -> Callable[[ObjectRef], bool]:
    """Return what says of an object whether it is a claim that a StatefulSet made, which does not own it."""
    stems: set[tuple[str, str]] = set()
    for manifest in objects:
        ref = ObjectRef.of(manifest)
        if ref.group_kind == "StatefulSet.apps":
            templates = (manifest.get("spec") or {}).get("volumeClaimTemplates") or ()
            stems |= {(ref.namespace, f"{each['metadata']['name']}-{ref.name}") for each in templates}

    def is_made(ref: ObjectRef) -> bool:
        stem, _, number = ref.name.rpartition("-")
        return ref.group_kind == "PersistentVolumeClaim" and number.isdecimal() and (ref.namespace, stem) in stems

    return is_made


def _left_counted_by_reason(cluster: str, reasons: Mapping[tuple[str, Remark], int]) -> Iterator[Left]:
    for (kind, reason), count in sorted(reasons.items(), key=lambda pair: (pair[0][0], pair[0][1].code)):
        yield Left(origin=cluster, subject=f"{kind}: {counted_noun(count, 'object')}", remark=reason)


def _objects_left_unlisted(cluster: LiveCluster) -> Iterator[Left]:
    for kind, why in sorted(cluster.unlisted.items()):
        message = f"it cannot be listed, so that nothing of it is known: {why}"
        yield Left(origin=cluster.name, subject=kind, remark=refused_remark("not-listed", message))


def _left_with_clusters_joined(left: Sequence[Left]) -> Iterator[Left]:
    """Yield what is left out, equal lines of several clusters as one."""
    clusters: dict[tuple[str, Remark], list[str]] = defaultdict(list)
    for each in left:
        clusters[each.subject, each.remark].append(each.origin)
    for (subject, remark), names in clusters.items():
        yield Left(origin=", ".join(filter(None, names)), subject=subject, remark=remark)


def _units_of_forms(forms: Mapping[ObjectRef, Mapping[str, Manifest]]) -> tuple[list[Unit], list[Left]]:
    units, left = [], []
    for ref, manifests in sorted(forms.items()):
        origin = ", ".join(sorted(manifests))
        versions = sorted({str(each["apiVersion"]) for each in manifests.values()})
        if len(versions) > 1:
            message = f"the clusters serve no version of it in common ({', '.join(versions)})"
            left.append(Left(origin=origin, subject=str(ref), remark=refused_remark("no-common-version", message)))
            continue
        template, rules = template_and_rules_of_forms(manifests)
        reach = Reach(names=tuple(sorted(manifests)))
        units.append(Unit(manifest=template, reach=reach, origin=origin, subject=str(ref), rules=rules))
    return units, left
