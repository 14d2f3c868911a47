"""Claims, as Karmada keeps them: which policy holds a template already, and who may take it over."""

from collections.abc import Iterable

from .matching_order import Candidate
from .model import Template
from .policy import Preemption, PropagationPolicy

POLICY_ID = "propagationpolicy.karmada.io/permanent-id"
POLICY_NAMESPACE = "propagationpolicy.karmada.io/namespace"
POLICY_NAME = "propagationpolicy.karmada.io/name"
CLUSTER_POLICY_ID = "clusterpropagationpolicy.karmada.io/permanent-id"
CLUSTER_POLICY_NAME = "clusterpropagationpolicy.karmada.io/name"


def claimed_policy(template: Template) -> str:
    """Return the policy that Karmada's claim in a template's metadata names, as ``str`` of the policy; "" for none.

    A claim without its permanent id does not count.
    """
    labels, annotations = template.labels, template.annotations
    name = annotations.get(POLICY_NAME)
    if name and annotations.get(POLICY_NAMESPACE) and labels.get(POLICY_ID):
        return f"PropagationPolicy {annotations[POLICY_NAMESPACE]}/{name}"
    name = annotations.get(CLUSTER_POLICY_NAME)
    return f"ClusterPropagationPolicy {name}" if name and labels.get(CLUSTER_POLICY_ID) else ""


def preemptor(holder: PropagationPolicy, candidates: Iterable[Candidate]) -> PropagationPolicy | None:
    """Return the policy that takes a template over from its holder, if one may.

    Karmada lets policies preempt in the order of events; here the best of those that may takes it at once. Within a
    scope only a strictly higher explicit priority preempts; a PropagationPolicy preempts any
    ClusterPropagationPolicy, and never the reverse.
    """
    takers = (
        candidate.policy
        for candidate in candidates
        if candidate.policy.preemption is Preemption.ALWAYS
        and not candidate.policy.is_terminating
        and _may_preempt(candidate.policy, holder)
    )
    return next(takers, None)


def _may_preempt(taker: PropagationPolicy, holder: PropagationPolicy) -> bool:
    if taker.is_namespaced is not holder.is_namespaced:
        return taker.is_namespaced
    return taker.priority > holder.priority
