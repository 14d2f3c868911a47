"""The custom resources Karmada bundles rules for: one module per family, imported when a kind of it occurs."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from msgspec.structs import replace

from render.interpretation.operations import Interpretation
from render.interpreter.lua.conversion import value_without_empty_containers

KRUISE, FLUX = "apps.kruise.io/v1alpha1", "source.toolkit.fluxcd.io/v1beta2"
FAMILY_BY_KIND: Mapping[tuple[str, str], str] = {
    (KRUISE, "AdvancedCronJob"): "kruise",
    (KRUISE, "BroadcastJob"): "kruise",
    (KRUISE, "CloneSet"): "kruise",
    (KRUISE, "DaemonSet"): "kruise",
    (KRUISE, "SidecarSet"): "kruise",
    (KRUISE, "UnitedDeployment"): "kruise",
    ("apps.kruise.io/v1beta1", "StatefulSet"): "kruise",
    ("argoproj.io/v1alpha1", "Workflow"): "argo",
    ("batch.volcano.sh/v1alpha1", "Job"): "volcano",
    ("flink.apache.org/v1beta1", "FlinkDeployment"): "flink",
    ("helm.toolkit.fluxcd.io/v2beta1", "HelmRelease"): "flux",
    ("kubeflow.org/v1", "Notebook"): "notebook",
    ("kubeflow.org/v1", "PyTorchJob"): "kubeflow",
    ("kubeflow.org/v1", "TFJob"): "kubeflow",
    ("kubeflow.org/v2beta1", "MPIJob"): "kubeflow",
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"): "flux",
    ("kyverno.io/v1", "ClusterPolicy"): "kyverno",
    ("kyverno.io/v1", "Policy"): "kyverno",
    ("ray.io/v1", "RayCluster"): "ray",
    ("ray.io/v1", "RayJob"): "ray",
    ("ray.io/v1", "RayService"): "ray",
    ("sparkoperator.k8s.io/v1beta2", "SparkApplication"): "spark",
    ("source.toolkit.fluxcd.io/v1", "GitRepository"): "flux",
    (FLUX, "Bucket"): "flux",
    (FLUX, "HelmChart"): "flux",
    (FLUX, "HelmRepository"): "flux",
    (FLUX, "OCIRepository"): "flux",
}
"""The module of each kind, by apiVersion and kind."""


@cache
def third_party_interpretation(api_version: str, kind: str) -> Interpretation | None:
    """Return the bundled interpretation of a kind, None when there is none.

    Karmada's rules are scripts, whose statuses come back without empty objects and lists; so do ours.
    """
    family = FAMILY_BY_KIND.get((api_version, kind))
    if family is None:
        return None
    interpretations: Mapping[tuple[str, str], Interpretation] = import_module(f".{family}", __name__).KINDS
    known = interpretations[api_version, kind]
    return replace(
        known,
        aggregate=_function_without_empty_results(known.aggregate),
        reflect=_function_without_empty_results(known.reflect),
    )


def _function_without_empty_results(function: Callable[..., Any] | None) -> Callable[..., Any] | None:
    return function and (lambda *arguments: value_without_empty_containers(function(*arguments)))
