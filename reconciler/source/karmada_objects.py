"""Karmada's own kinds in the source, and those of ours that decide on other objects, admitted.

Admission applies the defaults and the validation of Karmada's CRDs and webhooks, which nobody else runs here.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from operator import attrgetter
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from overrides.admission import all_admitted_kinds
from overrides.parsing import parse_override_policy
from overrides.secrecy import holds_secrets
from render.admission import Admitted, AdmittedKind, Kinds, admit_as_kind, admitted_kind_of
from render.admission.prices import PRICE_KIND
from render.admission.resilience import RESILIENCE_KINDS
from render.admission.rollbacks import ROLLBACK_KIND
from render.admission.rollouts import CONTROL_KIND, ROLLOUT_KINDS
from render.autoscaling import federated_autoscaler
from render.binding import Binding
from render.cron.rules import cron_autoscaler
from render.errors import Problem
from render.model import Manifest, ObjectRef, Template
from render.parsing import (
    SharedPlacements,
    parse_binding,
    parse_cluster,
    parse_cluster_taint_policy,
    parse_propagation_policy,
)
from render.policy import PropagationPolicy
from render.prices.parsing import parse_price_list
from render.remedies import parse_remedy
from render.rescheduling.requests import parse_reschedule_request
from render.rescheduling.rollbacks import parse_rollback_request
from render.resilience.parsing import parse_resilience_policy
from render.rollouts.parsing import parse_rollout_control, parse_rollout_policy

from .checked_before import NOTHING_CHECKED, CheckedManifests, memory_key_of_manifest
from .desired import KarmadaObjects
from .manifests import FieldProblem, LocatedManifest
from .templates import template_of

_PREFERENCE = "PreferNoSchedule"


@cache
def source_kinds() -> Kinds:
    """Return the kinds that a source may hold and that are admitted."""
    return all_admitted_kinds()


def admitted_kind(manifest: Manifest) -> AdmittedKind | None:
    """Return the admitted kind that a manifest is of, if it is of one."""
    return admitted_kind_of(manifest["apiVersion"], manifest["kind"], source_kinds())


class ObjectFamily(NamedTuple):
    """The kinds whose objects are one field of ``KarmadaObjects``: how one is read, and the names it is sorted by.

    ``has_group``: messages name the group of the kind, too.
    """

    field: str
    kinds: tuple[str, ...]
    read: Callable[[Manifest, LocatedManifest, SharedPlacements], Any]
    names: tuple[str, ...] = ("name",)
    has_group: bool = False


def _reader_with_place(read: Callable[..., Any]) -> Callable[[Manifest, LocatedManifest, SharedPlacements], Any]:
    """Return what reads an object with its place."""
    return lambda manifest, place, _: read(manifest, path=place.file.path, document=place.number)


def _read_template(manifest: Manifest, place: LocatedManifest, _: SharedPlacements) -> Template:
    return template_of(place, manifest)


def _read_policy(manifest: Manifest, place: LocatedManifest, placements: SharedPlacements) -> PropagationPolicy:
    return parse_propagation_policy(manifest, path=place.file.path, document=place.number, placements=placements)


def _read_binding(manifest: Manifest, _: LocatedManifest, placements: SharedPlacements) -> Binding:
    return parse_binding(manifest, placements=placements)


_NAMES, _REF = ("namespace", "name"), ("ref",)
FAMILIES = (
    ObjectFamily("policies", ("PropagationPolicy", "ClusterPropagationPolicy"), _read_policy, _NAMES),
    ObjectFamily(
        "override_policies",
        ("OverridePolicy", "ClusterOverridePolicy"),
        _reader_with_place(parse_override_policy),
        _NAMES,
    ),
    ObjectFamily("taint_policies", ("ClusterTaintPolicy",), _reader_with_place(parse_cluster_taint_policy)),
    ObjectFamily("clusters", ("Cluster",), _reader_with_place(parse_cluster)),
    ObjectFamily("customizations", ("ResourceInterpreterCustomization",), _read_template, _REF),
    ObjectFamily(
        "reschedule_requests", ("WorkloadRebalancer",), _reader_with_place(parse_reschedule_request), has_group=True
    ),
    ObjectFamily(
        "cron_autoscalers",
        ("CronFederatedHPA",),
        _reader_with_place(cron_autoscaler),
        ("target", "name"),
        has_group=True,
    ),
    ObjectFamily(
        "federated_autoscalers", ("FederatedHPA",), _reader_with_place(federated_autoscaler), _REF, has_group=True
    ),
    ObjectFamily("quotas", ("FederatedResourceQuota",), _read_template, _REF, has_group=True),
    ObjectFamily("remedies", ("Remedy",), lambda manifest, *_: parse_remedy(manifest), has_group=True),
    ObjectFamily("rollout_policies", ROLLOUT_KINDS, _reader_with_place(parse_rollout_policy), _NAMES, has_group=True),
    ObjectFamily("rollout_controls", (CONTROL_KIND,), _reader_with_place(parse_rollout_control), has_group=True),
    ObjectFamily("price_lists", (PRICE_KIND,), _reader_with_place(parse_price_list), has_group=True),
    ObjectFamily("rollback_requests", (ROLLBACK_KIND,), _reader_with_place(parse_rollback_request), has_group=True),
    ObjectFamily(
        "resilience_policies",
        RESILIENCE_KINDS,
        _reader_with_place(parse_resilience_policy),
        _NAMES,
        has_group=True,
    ),
    ObjectFamily(
        "starting_bindings", ("ResourceBinding", "ClusterResourceBinding"), _read_binding, _REF, has_group=True
    ),
)
_BY_KIND = {kind: family for family in FAMILIES for kind in family.kinds}


class AdmittedObjects(NamedTuple):
    """The objects of Karmada's kinds that are admitted, in the order of their files, and what is wrong with others.

    ``places`` has the name and the place of each of these.
    """

    objects: KarmadaObjects
    places: Sequence[tuple[str, LocatedManifest]]
    problems: Sequence[FieldProblem]
    warnings: Sequence[FieldProblem]

    def fields_in_order(self) -> dict[str, Any]:
        """Return the fields of the objects, each sorted by name, as a source has them."""
        return {
            family.field: tuple(sorted(getattr(self.objects, family.field), key=attrgetter(*family.names)))
            for family in FAMILIES
        }


class _AdmittedSoFar(Struct):
    """The objects that are admitted so far, by field, and what is wrong with others."""

    found: dict[str, list[Any]] = field(default_factory=lambda: {family.field: [] for family in FAMILIES})
    places: list[tuple[str, LocatedManifest]] = field(default_factory=list)
    problems: list[FieldProblem] = field(default_factory=list)
    warnings: list[FieldProblem] = field(default_factory=list)
    first_by_name: dict[str, Manifest] = field(default_factory=dict)
    placements: SharedPlacements = field(default_factory=SharedPlacements)

    def add(self, place: LocatedManifest, admit: Callable[[], Admitted]) -> list[FieldProblem]:
        """Add the value of an object that is admitted, and return what is wrong with it; an equal copy is none more."""
        outcome = admit()
        if place.manifest["kind"] == "Cluster" and outcome.object is None:
            outcome = _admit_without_preferred_taints(place.manifest, outcome)
        if outcome.object is not None:
            family = _BY_KIND[place.manifest["kind"]]
            ref = ObjectRef.of(outcome.object)
            name = str(ref if family.has_group else ObjectRef("", ref.kind, ref.namespace, ref.name))
            first = self.first_by_name.setdefault(name, outcome.object)
            if first is not outcome.object and first == outcome.object:
                return []
            self.found[family.field].append(family.read(outcome.object, place, self.placements))
            self.places.append((name, place))
        self.warnings += (FieldProblem(place, warning) for warning in outcome.warnings)
        return [FieldProblem(place, problem) for problem in outcome.problems]


def load_karmada_objects(
    places: Iterable[tuple[LocatedManifest, AdmittedKind]],
    *,
    default_namespace: str,
    checked: CheckedManifests = NOTHING_CHECKED,
) -> AdmittedObjects:
    """Admit each object and return the values of those that are admitted."""
    keyed = [(place, kind, memory_key_of_manifest(place, f"in {default_namespace}")) for place, kind in places]
    loading, fresh = _AdmittedSoFar(), dict[bytes, Any]()
    known = checked.get_many(filter(None, (key for _, _, key in keyed)))
    for place, kind, key in keyed:
        is_wrong = key in known and place.problems_found_by_call(
            partial(loading.add, place, partial(Admitted, object=known[key]))
        )
        if is_wrong or key not in known:  # what is remembered may have another shape than it should
            admit = partial(_admit_and_remember, place.manifest, kind, default_namespace, key, fresh)
            loading.problems += place.problems_found_by_call(partial(loading.add, place, admit))
    checked.put_many(fresh)
    objects = KarmadaObjects(**{name: tuple(values) for name, values in loading.found.items()})
    return AdmittedObjects(objects, loading.places, loading.problems, loading.warnings)


def _admit_and_remember(
    manifest: Manifest, kind: AdmittedKind, default_namespace: str, key: bytes, fresh: dict[bytes, Any]
) -> Admitted:
    """Admit an object, and remember it if nothing is to be said about it, and nothing in it is secret."""
    outcome = admit_as_kind(manifest, kind, default_namespace=default_namespace)
    is_silent = not (outcome.problems or outcome.warnings)
    if key and is_silent and not holds_secrets(outcome.object):
        fresh[key] = outcome.object
    return outcome


def _admit_without_preferred_taints(manifest: Manifest, refused: Admitted) -> Admitted:
    """Admit a Cluster whose only fault is a taint that Karmada refuses and its scheduler would not look at."""
    taints = manifest["spec"].get("taints") if isinstance(manifest.get("spec"), dict) else None
    if not isinstance(taints, list):
        return refused
    blocking = [taint for taint in taints if not (isinstance(taint, dict) and taint.get("effect") == _PREFERENCE)]
    outcome = admit_as_kind({**manifest, "spec": {**manifest["spec"], "taints": blocking}}, source_kinds()["Cluster"])
    if outcome.object is None:
        return refused
    warning = Problem("", 0, "spec.taints", f"{_PREFERENCE} means nothing for clusters; taints with it are left out")
    return replace(outcome, warnings=(*outcome.warnings, warning))
