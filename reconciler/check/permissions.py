"""The permissions that passes need in a member: those for the kinds of its tree, and for what Argosy keeps there.

1. ``needs_of`` says which verbs are needed on which resources, in which namespaces;
2. one SelfSubjectRulesReview for each namespace answers for what lives in namespaces, with the rules of the cluster;
3. what no rule allows, and what lives in no namespace, is asked for in SelfSubjectAccessReviews, whose answer counts.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Answer, Client, Failure, Request
from reconciler.members.parallel import in_parallel
from reconciler.plans.applyset import ApplySet
from reconciler.plans.model import ClusterDesired
from render.model import ObjectRef
from render.words import listed

APPLYING = ("list", "get", "create", "patch", "delete")
"""The verbs for every kind of the tree: its objects are listed and read, applied, and deleted once they leave."""
_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubject{}reviews"
_CONFIG_MAPS = Resource(group="", version="v1", kind="ConfigMap", plural="configmaps", is_namespaced=True)
_NAMESPACES = Resource(group="", version="v1", kind="Namespace", plural="namespaces", is_namespaced=False)
_LEASES = Resource(group="coordination.k8s.io", version="v1", kind="Lease", plural="leases", is_namespaced=True)
_OWN = ((_CONFIG_MAPS, ("get", "create", "patch", "delete")), (_LEASES, ("get", "create", "update")))


class Need(NamedTuple):
    """One verb that is needed on a resource: in a namespace, or for all of a resource that lives in none ("")."""

    namespace: str
    group: str
    plural: str
    verb: str

    @property
    def resource(self) -> str:
        """The resource as kubectl writes it: ``deployments.apps``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


OBSERVING = (Need("", "", "nodes", "list"), Need("", "", "pods", "list"))
"""The verbs by which the capacity of a member is known; without them it is applied to all the same."""


def needs_of(desired: ClusterDesired, discovery: Discovery, applyset: ApplySet) -> tuple[Need, ...]:
    """Return everything that applying a tree and keeping its ApplySet needs; kinds that are not served are left out."""
    needs = {
        Need(item.ref.namespace if resource.is_namespaced else "", resource.group, resource.plural, verb)
        for item in desired.objects
        if (resource := discovery.resource(str(item.manifest["apiVersion"]), item.ref.kind)) is not None
        for verb in APPLYING
        if verb in resource.verbs or not resource.verbs
    }
    own = applyset.namespace
    needs |= {Need(own, resource.group, resource.plural, verb) for resource, verbs in _OWN for verb in verbs}
    needs |= {Need("", "", _NAMESPACES.plural, verb) for verb in ("get", "create", "patch")}
    return tuple(sorted(needs))


def missing_permissions(client: Client, needs: Iterable[Need]) -> tuple[Need, ...] | Failure:
    """Return the needs that the member does not grant this user, or why it did not say."""
    wanted = tuple(needs)
    namespaces = sorted({need.namespace for need in wanted if need.namespace})
    reviews = in_parallel(lambda name: _rules(client, name), namespaces, limit=client.concurrency)
    rules_by_namespace: dict[str, list[Mapping[str, Any]]] = {}
    for name, review in zip(namespaces, reviews, strict=True):
        if isinstance(review, Failure):
            return review
        rules_by_namespace[name] = review
    doubtful = [
        need for need in wanted if not any(_grants(rule, need) for rule in rules_by_namespace.get(need.namespace, ()))
    ]
    answers = in_parallel(lambda need: _is_granted(client, need), doubtful, limit=client.concurrency)
    failure = next((answer for answer in answers if isinstance(answer, Failure)), None)
    return failure or tuple(need for need, answer in zip(doubtful, answers, strict=True) if answer is False)


def _rules(client: Client, namespace: str) -> list[Mapping[str, Any]] | Failure:
    answer = _reviewed(client, "rules", {"namespace": namespace}, "SelfSubjectRulesReview")
    if isinstance(answer, Failure):
        return answer
    rules = answer.get("resourceRules")
    return [rule for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []


def _is_granted(client: Client, need: Need) -> bool | Failure:
    attributes = {"group": need.group, "resource": need.plural, "verb": need.verb, "namespace": need.namespace}
    answer = _reviewed(client, "access", {"resourceAttributes": attributes}, "SelfSubjectAccessReview")
    return answer if isinstance(answer, Failure) else answer.get("allowed") is True


def _reviewed(client: Client, about: str, spec: Mapping[str, Any], kind: str) -> Mapping[str, Any] | Failure:
    """Send a review, which changes nothing, and return its status."""
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
    answer = client.send(Request(method="POST", path=_REVIEWS.format(about), body=body, tries=2))
    if not isinstance(answer, Answer):
        return answer
    status = answer.body.get("status")
    return status if isinstance(status, dict) else {}


def _grants(rule: Mapping[str, Any], need: Need) -> bool:
    """Return whether a rule allows a need for objects of any name."""
    asked = (("verbs", need.verb), ("apiGroups", need.group), ("resources", need.plural))
    return not rule.get("resourceNames") and all(_has(rule.get(key), word) for key, word in asked)


def _has(words: Any, word: str) -> bool:
    return isinstance(words, list) and ("*" in words or word in words)


def permission_lines(missing: Iterable[Need]) -> Iterator[str]:
    """Yield what is missing, a line for the resources and namespaces that lack the same verbs.

    >>> list(permission_lines([Need("shop", "apps", "deployments", "patch"), Need("", "", "namespaces", "create")]))
    ['patch deployments.apps in shop', 'create namespaces']
    """
    verbs: dict[tuple[str, str], list[str]] = defaultdict(list)
    for need in missing:
        verbs[need.resource, need.namespace].append(need.verb)
    places: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (resource, namespace), lacking in verbs.items():
        places[resource, tuple(sorted(lacking, key=_order))].append(namespace)
    for (resource, each), namespaces in sorted(places.items()):
        where = f" in {listed(sorted(namespaces))}" if any(namespaces) else ""
        yield f"{', '.join(each)} {resource}{where}"


def _order(verb: str) -> int:
    return (*APPLYING, "update").index(verb)


def unserved_kinds(desired: ClusterDesired, discovery: Discovery, defined: Iterable[Resource]) -> Iterator[str]:
    """Yield a line for each kind of a tree that a member does not serve and that the tree does not define."""
    known = {(each.api_version, each.kind) for each in defined}
    wanted = {(str(item.manifest["apiVersion"]), item.ref.kind) for item in desired.objects}
    for api_version, kind in sorted(wanted):
        if discovery.resource(api_version, kind) is None and (api_version, kind) not in known:
            group = ObjectRef.of({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}).group
            if group in discovery.unavailable:
                yield f"{kind} of {api_version}, whose API does not answer"
                continue
            others = discovery.versions(group, kind)
            yield f"{kind} of {api_version}" + (f" (but {listed(others)})" if others else "")
