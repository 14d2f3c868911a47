"""The mutating webhooks and admission policies of a cluster, which intercept writes and may change them.

An object that such a one rewrites differs from its manifest however often it is applied. It is applied again once
what intercepts writes is another, for then the server's answer may be another. A policy does nothing without a binding:
where there are no bindings policies are not listed.
"""

import hashlib
from collections.abc import Iterable, Iterator

from reconciler.members.discovery import Discovery
from reconciler.members.exchange import Client, Failure
from reconciler.members.listing import Listing, list_objects
from reconciler.plans.admission import Admission
from render.model import Manifest, list_or_empty, mapping_or_empty

ADMISSION_GROUP = "admissionregistration.k8s.io"
WEBHOOKS = "MutatingWebhookConfiguration"
BINDINGS, POLICIES = "MutatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"
ADMISSION_KINDS = (WEBHOOKS, BINDINGS, POLICIES)
"""The kinds that are listed."""
_UNKNOWN = Admission(digest="unknown")


def observe_admission(client: Client, discovery: Discovery) -> Admission:
    """Return everything in a cluster that may change what is written to it."""
    if ADMISSION_GROUP in discovery.unavailable or discovery.preferred_resource(ADMISSION_GROUP, WEBHOOKS) is None:
        return _UNKNOWN
    objects = list[Manifest]()
    for kinds in ((WEBHOOKS,), (BINDINGS, POLICIES)):
        for kind in kinds:
            found = _webhook_configurations(client, discovery, kind)
            if found is None:
                return _UNKNOWN
            objects += found
            if not found:
                break
    rules = (rule for each in objects for rule in _groups_and_resources_intercepted(each))
    return Admission(digest=_digest_of_objects(objects), rules=frozenset(rules))


def _webhook_configurations(client: Client, discovery: Discovery, kind: str) -> list[Manifest] | None:
    """Return the objects of a kind, none where the cluster has no such kind; None where it does not say."""
    resource = discovery.preferred_resource(ADMISSION_GROUP, kind)
    if resource is None:
        return []
    found = list_objects(client, Listing(resource=resource))
    return None if isinstance(found, Failure) else [found[ref] for ref in sorted(found)]


def _digest_of_objects(objects: Iterable[Manifest]) -> str:
    lines = (
        " ".join(
            str(part) for part in (each.get("kind"), data.get("name"), data.get("uid"), data.get("resourceVersion"))
        )
        for each in objects
        if (data := each["metadata"])
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _groups_and_resources_intercepted(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the groups and resources that a webhook configuration or a policy is about; whatever is no rule is none."""
    constraints = mapping_or_empty(mapping_or_empty(manifest.get("spec")).get("matchConstraints"))
    lists = [mapping_or_empty(each).get("rules") for each in list_or_empty(manifest.get("webhooks"))]
    for rule in (
        mapping_or_empty(each) for rules in (*lists, constraints.get("resourceRules")) for each in list_or_empty(rules)
    ):
        for group in list_or_empty(rule.get("apiGroups")):
            # A rule about a subresource is about what is written through it.
            yield from ((str(group), str(plural).partition("/")[0]) for plural in list_or_empty(rule.get("resources")))
