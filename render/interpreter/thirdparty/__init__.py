"""The custom resources Karmada bundles rules for: one module per family, imported when a kind of it occurs."""

from collections.abc import Mapping
from importlib import import_module

from render.interpreter.operations import Interpretation

KRUISE, FLUX = "apps.kruise.io/v1alpha1", "source.toolkit.fluxcd.io/v1beta2"
FAMILY_BY_KIND: Mapping[tuple[str, str], str] = {
    (KRUISE, "AdvancedCronJob"): "kruise_jobs",
    (KRUISE, "BroadcastJob"): "kruise_jobs",
    (KRUISE, "CloneSet"): "kruise",
    (KRUISE, "DaemonSet"): "kruise",
    (KRUISE, "SidecarSet"): "kruise_jobs",
    (KRUISE, "UnitedDeployment"): "kruise",
    ("apps.kruise.io/v1beta1", "StatefulSet"): "kruise",
    ("helm.toolkit.fluxcd.io/v2beta1", "HelmRelease"): "flux",
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"): "flux",
    ("source.toolkit.fluxcd.io/v1", "GitRepository"): "flux",
    (FLUX, "Bucket"): "flux",
    (FLUX, "HelmChart"): "flux",
    (FLUX, "HelmRepository"): "flux",
    (FLUX, "OCIRepository"): "flux",
}
"""The module of each kind, by apiVersion and kind."""


def third_party(api_version: str, kind: str) -> Interpretation | None:
    """Return the bundled interpretation of a kind, None when there is none."""
    family = FAMILY_BY_KIND.get((api_version, kind))
    if family is None:
        return None
    interpretations: Mapping[tuple[str, str], Interpretation] = import_module(f".{family}", __name__).KINDS
    return interpretations[api_version, kind]
