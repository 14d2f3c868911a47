"""The mutating webhooks and admission policies of a cluster, which intercept writes and may change them.

An object that such a one rewrites differs from its manifest however often it is applied. It is applied again once
what intercepts writes is another, for then the server's answer may be another. So all that is asked for are identities
and versions. A policy does nothing without a binding: where there are no bindings policies are not listed.
"""

import hashlib

from reconciler.members.discovery import Discovery
from reconciler.members.exchange import Client, Failure
from reconciler.members.listing import Listing, list_objects
from reconciler.plans.answers import NOTHING_INTERCEPTS

ADMISSION_GROUP = "admissionregistration.k8s.io"
WEBHOOKS = "MutatingWebhookConfiguration"
BINDINGS, POLICIES = "MutatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"
ADMISSION_KINDS = (WEBHOOKS, BINDINGS, POLICIES)
"""The kinds that are listed."""
UNKNOWN_ADMISSION = "unknown"
"""The word for a cluster that does not say what intercepts writes there."""


def admission_digest(client: Client, discovery: Discovery) -> str:
    """Return a digest of everything in a cluster that may change what is written to it.

    ``NOTHING_INTERCEPTS`` where there is no such thing, ``UNKNOWN_ADMISSION`` where the cluster does not say.
    """
    if ADMISSION_GROUP in discovery.unavailable or discovery.preferred(ADMISSION_GROUP, WEBHOOKS) is None:
        return UNKNOWN_ADMISSION
    lines = list[str]()
    for kinds in ((WEBHOOKS,), (BINDINGS, POLICIES)):
        for kind in kinds:
            found = _listed(client, discovery, kind)
            if found is None:
                return UNKNOWN_ADMISSION
            lines += found
            if not found:
                break
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] if lines else NOTHING_INTERCEPTS


def _listed(client: Client, discovery: Discovery, kind: str) -> list[str] | None:
    """Return a line for each object of a kind, none where the cluster has no such kind; None where it does not say."""
    resource = discovery.preferred(ADMISSION_GROUP, kind)
    if resource is None:
        return []
    found = list_objects(client, Listing(resource=resource, metadata_only=True))
    if isinstance(found, Failure):
        return None
    versions = ((ref.name, each["metadata"]) for ref, each in sorted(found.items()))
    return [f"{kind} {name} {data.get('uid')} {data.get('resourceVersion')}" for name, data in versions]
