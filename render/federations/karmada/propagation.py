"""The objects of a Karmada control plane that its policies propagate, among all that it holds."""

from collections.abc import Callable, Iterable, Sequence

from render.admission import admitted
from render.admission.kinds import render_kinds
from render.matching.match import PolicyIndex
from render.model import Manifest, ObjectRef, Template
from render.parsing import binding, propagation_policy

POLICIES = frozenset({"PropagationPolicy", "ClusterPropagationPolicy"})
BINDINGS = frozenset({"ResourceBinding", "ClusterResourceBinding"})
_MARKS = (
    "propagationpolicy.karmada.io/name",
    "propagationpolicy.karmada.io/permanent-id",
    "clusterpropagationpolicy.karmada.io/name",
    "clusterpropagationpolicy.karmada.io/permanent-id",
)


def propagation_of(manifests: Sequence[Manifest]) -> Callable[[Manifest], bool]:
    """Return what says of an object whether it is propagated: by its binding, a mark of its policy, or a selector."""
    policies = PolicyIndex(propagation_policy(each) for each in _admitted(manifests, POLICIES))
    bound = {binding(each).ref for each in _admitted(manifests, BINDINGS)}

    def is_propagated(manifest: Manifest) -> bool:
        metadata = manifest["metadata"]
        if any(mark in (metadata.get(part) or {}) for part in ("labels", "annotations") for mark in _MARKS):
            return True
        ref = ObjectRef.of(manifest)
        return ref in bound or policies.match(Template(ref=ref, manifest=manifest)).policy is not None

    return is_propagated


def _admitted(manifests: Iterable[Manifest], kinds: frozenset[str]) -> Iterable[Manifest]:
    """Yield the objects of some of Karmada's kinds, but for those that it would not take itself."""
    for manifest in manifests:
        kind = render_kinds().get(str(manifest["kind"])) if manifest["kind"] in kinds else None
        if kind is not None and manifest["apiVersion"] == kind.api_version:
            outcome = admitted(manifest, kind)
            if outcome.object is not None:
                yield outcome.object
