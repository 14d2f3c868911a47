"""Admission of Karmada's kinds and our own: defaults, mutation, and every problem of a document at once."""

from render.model import Manifest

from .kinds import render_kinds
from .stages import Admitted, AdmittedKind, Kinds, admit_as_kind, admitted_kind_of

__all__ = ["Admitted", "AdmittedKind", "Kinds", "admit", "admit_as_kind", "admitted_kind_of", "render_kinds"]


def admit(manifest: Manifest, *, default_namespace: str = "default", kinds: Kinds | None = None) -> Admitted:
    """Admit a document whose apiVersion and kind are admitted here; the manifest itself is not changed.

    >>> policy = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": "web"}}
    >>> [str(problem) for problem in admit(policy).problems]
    ['spec: required, but missing']
    """
    kind = admitted_kind_of(manifest["apiVersion"], manifest["kind"], kinds or render_kinds())
    if kind is None:
        raise LookupError(f"{manifest['kind']} of {manifest['apiVersion']} is not admitted here")
    return admit_as_kind(manifest, kind, default_namespace=default_namespace)
