"""Karmada's objects of a whole source: what a control plane would be given to decide the same.

Policies, overrides and Clusters are those of the source, also what other federations' objects became; templates are as
they are after kustomizations and charts are built. What a control plane has no place for is noted.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from reconciler.source.desired import Desired
from reconciler.source.karmada_objects import admitted_kind
from render.admission.rollbacks import ROLLBACK_KIND
from render.model import ARGOSY_GROUP, Manifest, ObjectRef, Template, group_of
from render.settings.fields import setting_fields
from render.settings.fleet import Fleet
from render.settings.reading import parse_fleet
from render.settings.setting import NOT_DECIDED_BY_IT
from render.words import first_few

from .model import Emission

_CREDENTIALS = frozenset({"id", "secretRef", "impersonatorSecretRef"})
_FIRST = frozenset({"Namespace", "CustomResourceDefinition.apiextensions.k8s.io"})


def karmada_objects(desired: Desired, documents: Iterable[Manifest]) -> Emission:
    """Return Karmada's objects of a source; ``documents`` are the policies and the like, as they stand in it."""
    fleet, all_documents = desired.fleet, [_with_default_namespace(each, desired.fleet) for each in documents]
    listed_documents = [each for each in all_documents if group_of(str(each["apiVersion"])) != ARGOSY_GROUP]
    clusters = [_without_credentials(each) for each in listed_documents if each["kind"] == "Cluster"]
    others = [each for each in listed_documents if each["kind"] != "Cluster"]
    policies = [each for each in others if str(each["apiVersion"]).startswith("policy.")]
    rest = [each for each in others if not str(each["apiVersion"]).startswith("policy.")]
    templates = [each for each in desired.templates if not each.text]
    first = [_manifest_of_template(each) for each in templates if each.ref.group_kind in _FIRST]
    later = [_manifest_of_template(each) for each in templates if each.ref.group_kind not in _FIRST]
    files = {
        "clusters.yaml": clusters,
        "definitions.yaml": first,
        "settings.yaml": [*rest, *(each.manifest for each in desired.webhooks)],
        "templates.yaml": later,
        "policies.yaml": policies,
    }
    return Emission(
        files=tuple((path, tuple(sorted(found, key=_sort_key_of_manifest))) for path, found in files.items() if found),
        notes=(
            *_notes_on_settings(fleet),
            *_notes_on_rollouts(all_documents),
            *_notes_on_templates(desired.templates),
        ),
    )


def _sort_key_of_manifest(manifest: Manifest) -> tuple[str, ObjectRef]:
    return str(manifest["kind"]), ObjectRef.of(manifest)


def _with_default_namespace(manifest: Manifest, fleet: Fleet) -> Manifest:
    """Return a document with the namespace that it stands in when it names none."""
    kind, metadata = admitted_kind(manifest), manifest["metadata"]
    if kind is None or not kind.is_namespaced or metadata.get("namespace"):
        return manifest
    return {**manifest, "metadata": {**metadata, "namespace": fleet.default_namespace}}


def _without_credentials(cluster: Manifest) -> Manifest:
    spec = cluster.get("spec") or {}
    return {**cluster, "spec": {key: value for key, value in spec.items() if key not in _CREDENTIALS}}


def _manifest_of_template(template: Template) -> Manifest:
    """Return a template as its author wrote it: replicas that nobody wrote are left out again."""
    if not template.has_default_replicas:
        return template.manifest
    spec: dict[str, Any] = {key: value for key, value in template.manifest["spec"].items() if key != "replicas"}
    return {**template.manifest, "spec": spec}


def _notes_on_settings(fleet: Fleet) -> Iterator[str]:
    """Yield a line for each setting of argosy.yaml that decides something, and is not what Karmada does by default."""
    default = parse_fleet({"spec": {"compatibility": "Karmada"} if fleet.is_karmada_compatible else {}})
    yield from _notes_on_section(fleet, default, "spec")


def _notes_on_section(section: Struct, default: Struct, path: str) -> Iterator[str]:
    """Yield the lines of a section: one for each field that has something to say, with all that is below it."""
    for field in setting_fields(type(section)):
        here = f"{path}.{field.setting.name}".rstrip(".")
        value, usual, why = (
            getattr(section, field.attribute),
            getattr(default, field.attribute),
            field.setting.in_karmada,
        )
        if value != usual and why is None:
            yield from _notes_on_section(value, usual, here)
        elif value != usual and why != NOT_DECIDED_BY_IT:
            yield f"{here} of argosy.yaml has no object of its own: {why}"


def _notes_on_rollouts(documents: Iterable[Manifest]) -> Iterator[str]:
    """Yield a line for each object of ours that says how changes go out, or back."""
    for ref in sorted(ObjectRef.of(each) for each in documents if group_of(str(each["apiVersion"])) == ARGOSY_GROUP):
        if ref.kind == ROLLBACK_KIND:
            yield f"{ref} is left out: Karmada keeps no earlier split of replicas"
        else:
            yield f"{ref} is left out: Karmada delivers a change to all clusters at once"


def _notes_on_templates(templates: Iterable[Template]) -> Iterator[str]:
    for template in templates:
        if template.text:
            yield f"{template.ref} is left out: SOPS encrypted it, and Karmada decrypts nothing"
            continue
        names = sorted(name for variant in template.variants for name in variant.clusters)
        if names:
            yield f"{template.ref} is another object, or none, in {first_few(names)}: values of a chart differ there"
