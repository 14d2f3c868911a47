"""Namespaces follow the objects that live in them: which clusters need which, and from what template.

A namespace that a cluster needs comes from its template where the source has one, and is synthesised bare where it
has none. Namespaces that every cluster has from its start are left alone.
"""

from collections.abc import Iterable, Mapping

from render.bits import Mask
from render.model import ObjectRef, Template
from render.settings.switches import NamespacePropagation

GIVEN = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
"""Namespaces that Kubernetes makes itself."""

_RESERVED = frozenset({"karmada-system", "karmada-cluster"})
_SKIP_LABEL = "namespace.karmada.io/skip-auto-propagation"


def namespace_ref(name: str) -> ObjectRef:
    """Return the reference of a Namespace."""
    return ObjectRef("", "Namespace", "", name)


def bare_namespace(name: str) -> Template:
    """Return the template of a namespace that the source does not define."""
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    return Template(ref=namespace_ref(name), manifest=manifest)


def namespaces_to_place(
    mode: NamespacePropagation,
    needed: Mapping[str, Mask],
    templates: Iterable[Template],
    every: Mask,
) -> list[tuple[Template, Mask]]:
    """Return the namespaces to propagate with their objects, each with its clusters, by name.

    ``needed`` maps a namespace to the clusters that hold objects in it; ``templates`` are the source's namespaces.
    ``All`` sends every namespace of the source everywhere, as Karmada does; ``Explicit`` sends none.
    """
    if mode is NamespacePropagation.EXPLICIT:
        return []
    template_by_name = {template.ref.name: template for template in templates}
    clusters_by_name = {name: clusters for name, clusters in needed.items() if name not in GIVEN}
    if mode is NamespacePropagation.ALL:
        for name, template in template_by_name.items():
            if is_propagated_everywhere(template):
                clusters_by_name[name] = every
    return [
        (template_by_name.get(name) or bare_namespace(name), clusters)
        for name, clusters in sorted(clusters_by_name.items())
    ]


def is_propagated_everywhere(template: Template) -> bool:
    """Return whether Karmada sends this namespace to every cluster: not reserved, not ``kube-*``, not opted out."""
    name = template.ref.name
    if name in GIVEN or name in _RESERVED or name.startswith(("karmada-es-", "kube-")):
        return False
    return str(template.labels.get(_SKIP_LABEL, "")).lower() != "true"
