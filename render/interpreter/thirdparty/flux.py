"""Flux: releases, kustomizations and their sources, which differ in a table's rows only."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from render.interpretation.fields import count_at, manifest_with_value, mapping_at, objects_at, text_at, value_at
from render.interpretation.operations import Interpretation, Items
from render.interpretation.references import Reference, dependent_objects_of
from render.interpretation.statuses import statuses_by_cluster
from render.model import Manifest
from render.resources import DependentObject

from .common import (
    conditions_with_member_names,
    has_condition,
    last_text_of_each_field,
    last_value_of_each_field,
    merged_conditions,
    observed_generation,
    reported_fields_with_generations,
)

SECRET_KINDS = {"Secret", "ConfigMap"}
FAILURES = ("failures", "upgradeFailures", "installFailures")


class FluxRules(Struct, frozen=True, kw_only=True):
    """The differences between Flux kinds, one row a kind.

    ``words`` are text in a status, always written; ``values`` are anything, written when a member has it; ``notes`` are
    only reported. An object is ready for one of ``reasons``. ``secrets`` are the paths of secret references below spec.
    """

    words: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    reports_generation: bool = True
    reasons: tuple[str, ...] = ("Succeeded",)
    secrets: tuple[tuple[str, ...], ...] = ()


RELEASE = FluxRules(
    values=(
        "helmChart",
        "lastAppliedRevision",
        "lastAttemptedRevision",
        "lastAttemptedValuesChecksum",
        "lastReleaseRevision",
    ),
    failures=FAILURES,
    reasons=("ReconciliationSucceeded",),
    secrets=(("chart", "spec", "verify", "secretRef"), ("kubeConfig", "secretRef")),
)
KUSTOMIZATION = FluxRules(
    values=("lastAppliedRevision", "lastAttemptedRevision"),
    reasons=("ReconciliationSucceeded",),
    secrets=(("decryption", "secretRef"), ("kubeConfig", "secretRef")),
)
GIT_REPOSITORY = FluxRules(
    values=("artifact",),
    notes=("observedIgnore", "observedRecurseSubmodules"),
    secrets=(("secretRef",), ("verify", "secretRef")),
)
BUCKET = FluxRules(words=("url",), values=("artifact",), notes=("observedIgnore",), secrets=(("secretRef",),))
HELM_CHART = FluxRules(
    words=("observedChartName", "observedSourceArtifactRevision", "url"),
    values=("artifact",),
    reports_generation=False,
    reasons=("Succeeded", "ChartPullSucceeded"),
    secrets=(("verify", "secretRef"),),
)
OCI_REPOSITORY = FluxRules(
    words=("url",), values=("artifact",), secrets=(("secretRef",), ("verify", "secretRef"), ("certSecretRef",))
)


def retain_suspension(desired: Manifest, observed: Manifest) -> Manifest:
    """Keep a member's suspension of the object."""
    suspend = value_at(observed, "spec", "suspend")
    return desired if suspend is None else manifest_with_value(desired, suspend, "spec", "suspend")


def dependencies_operation(rules: FluxRules) -> Callable[[Manifest], set[DependentObject]]:
    """Return the function that finds an object's references: secrets, service account, sources of its values."""

    def found(manifest: Manifest) -> set[DependentObject]:
        return dependent_objects_of(
            _references_of_rules(rules, mapping_at(manifest, "spec")), text_at(manifest, "metadata", "namespace")
        )

    return found


def _references_of_rules(rules: FluxRules, spec: Mapping[str, Any]) -> Iterable[Reference]:
    for path in rules.secrets:
        yield "Secret", text_at(spec, *path, "name")
    yield "ServiceAccount", text_at(spec, "serviceAccountName")
    for source in objects_at(spec, "valuesFrom"):
        if (kind := text_at(source, "kind")) in SECRET_KINDS:
            yield kind, text_at(source, "name")


def aggregation_operation(rules: FluxRules) -> Callable[[Manifest, Items], Any]:
    """Return the aggregation of statuses: the last value of each field, and every condition with its members.

    Failures are added to those the template's status already counts, as in Karmada.
    """

    def status_of_flux_object(template: Manifest, items: Items) -> Any:
        words, values = last_text_of_each_field(items, rules.words), last_value_of_each_field(items, rules.values)
        status = {**mapping_at(template, "status"), **words, **values}
        for field in rules.failures:
            if status.get(field) is not None:
                status[field] = count_at(status, field) + sum(
                    count_at(member, field) for _, member in statuses_by_cluster(items)
                )
        if conditions := merged_conditions(conditions_with_member_names(items)):
            status["conditions"] = conditions
        return {**status, "observedGeneration": observed_generation(template, items)}

    return status_of_flux_object


def reflection_operation(rules: FluxRules) -> Callable[[Manifest], Any]:
    """Return the reflection of a member's status."""
    fields = (*rules.words, *rules.values, *rules.notes, *rules.failures, "conditions")
    if rules.reports_generation:
        fields = (*fields, "observedGeneration")
    return lambda observed: reported_fields_with_generations(observed, fields)


def readiness_operation(rules: FluxRules) -> Callable[[Manifest], bool]:
    """Return the function that says whether an object is ready, for one of the kind's reasons."""
    return lambda observed: has_condition(mapping_at(observed, "status"), "Ready", reasons=rules.reasons)


def _interpretation_by_rules(rules: FluxRules) -> Interpretation:
    return Interpretation(
        retain=retain_suspension,
        aggregate=aggregation_operation(rules),
        reflect=reflection_operation(rules),
        health=readiness_operation(rules),
        dependencies=dependencies_operation(rules),
    )


SOURCES = "source.toolkit.fluxcd.io/v1beta2"
KINDS: Mapping[tuple[str, str], Interpretation] = {
    ("helm.toolkit.fluxcd.io/v2beta1", "HelmRelease"): _interpretation_by_rules(RELEASE),
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"): _interpretation_by_rules(KUSTOMIZATION),
    ("source.toolkit.fluxcd.io/v1", "GitRepository"): _interpretation_by_rules(GIT_REPOSITORY),
    (SOURCES, "Bucket"): _interpretation_by_rules(BUCKET),
    (SOURCES, "HelmChart"): _interpretation_by_rules(HELM_CHART),
    (SOURCES, "HelmRepository"): _interpretation_by_rules(BUCKET),
    (SOURCES, "OCIRepository"): _interpretation_by_rules(OCI_REPOSITORY),
}
"""The interpretation of each kind, by apiVersion and kind."""
