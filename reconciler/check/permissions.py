"""The permissions that passes need in a member: those for the kinds of its tree, and for what Argosy keeps there.

1. ``needs_of`` says which verbs are needed on which resources, in which namespaces;
2. one SelfSubjectRulesReview for each namespace answers for what lives in namespaces, with the rules of the cluster;
3. what no rule allows, and what lives in no namespace, is asked for in SelfSubjectAccessReviews, whose answer counts.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from reconciler.ledger.member_schemas import KindVersion
from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Answer, Client, Failure, Request
from reconciler.members.parallel import results_in_parallel
from reconciler.observe.admission import ADMISSION_GROUP, ADMISSION_KINDS
from reconciler.observe.findings import EVENTS, WORKLOADS
from reconciler.observe.members import NODES, PODS
from reconciler.observe.objects import CONFIG_MAPS, NAMESPACES, is_scalable
from reconciler.plans.applyset import ApplySet
from reconciler.plans.model import ClusterDesired
from reconciler.plans.retention import SCALERS
from reconciler.plans.stages import needs_confirmation
from render.model import ObjectRef, mapping_or_empty
from render.words import first_few

APPLYING = ("list", "get", "create", "patch", "delete")
"""The verbs for every kind of the tree: its objects are listed and read, applied, and deleted once they leave."""
IDENTITY = "kube-system"
"""The namespace by whose UID a cluster is known."""
_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubject{}reviews"
_DEFINITIONS = Resource(
    group="apiextensions.k8s.io",
    version="v1",
    kind="CustomResourceDefinition",
    plural="customresourcedefinitions",
    is_namespaced=False,
)
_LEASES = Resource(group="coordination.k8s.io", version="v1", kind="Lease", plural="leases", is_namespaced=True)


class Need(NamedTuple):
    """One verb that is needed on a resource.

    It is needed in a namespace, or for all of a resource that lives in none (""); for one name, or for all ("").
    """

    namespace: str
    group: str
    plural: str
    verb: str
    name: str = ""

    @property
    def resource(self) -> str:
        """The resource as kubectl writes it: ``deployments.apps``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @classmethod
    def of(cls, resource: Resource, verb: str, *, namespace: str = "", name: str = "") -> "Need":
        """Return the need of a verb on a resource."""
        return cls(namespace, resource.group, resource.plural, verb, name)


class Seeing(Struct, frozen=True, kw_only=True):
    """Needs of an observation without which nothing fails; ``loss`` ends the sentence that says what is not known."""

    check: str
    needs: tuple[Need, ...]
    loss: str


def needs_of(
    desired: ClusterDesired, discovery: Discovery, applyset: ApplySet, *, has_namespace: bool = False
) -> tuple[Need, ...]:
    """Return everything that applying a tree and keeping its ApplySet needs; kinds that are not served are left out.

    ``has_namespace``: the namespace of the ApplySet is there, and need not be made.
    """
    needs = {
        need
        for item in desired.objects
        if (resource := discovery.resource(str(item.manifest["apiVersion"]), item.ref.kind)) is not None
        for need in needs_of_object(item.ref, resource)
    }
    return tuple(sorted(needs | set(_needs_of_applyset(applyset, has_namespace=has_namespace))))


def needs_of_object(ref: ObjectRef, resource: Resource, *, is_confirmed: bool = False) -> Iterator[Need]:
    """Yield what applying an object needs: for its kind in a namespace, and by its name where it lives in none.

    What is only deleted after somebody confirmed it need not be deleted by a pass, unless it ``is_confirmed``.
    """
    namespace = ref.namespace if resource.is_namespaced else ""
    kept = frozenset() if is_confirmed or not needs_confirmation(ref) else frozenset({"delete"})
    for verb in APPLYING:
        if verb not in kept and (verb in resource.verbs or not resource.verbs):
            name = "" if namespace or verb == "list" else ref.name
            yield Need.of(resource, verb, namespace=namespace, name=name)


def _needs_of_applyset(applyset: ApplySet, *, has_namespace: bool) -> Iterator[Need]:
    """Yield what the ApplySet's parent, its namespace and its lease need, and the identity of the cluster."""
    space, name = applyset.namespace, applyset.name
    yield from (Need.of(CONFIG_MAPS, verb, namespace=space, name=name) for verb in ("get", "create", "patch", "delete"))
    yield Need.of(CONFIG_MAPS, "get", namespace=space, name=applyset.former.name)
    yield from (Need.of(_LEASES, verb, namespace=space, name=name) for verb in ("get", "update"))
    # An object that is posted to its collection has no name yet that a role could tell.
    yield Need.of(_LEASES, "create", namespace=space)
    yield from (Need.of(NAMESPACES, "get", name=each) for each in (IDENTITY, space))
    if not has_namespace:
        yield from (Need.of(NAMESPACES, verb, name=space) for verb in ("create", "patch"))


def needs_of_observation(
    desired: ClusterDesired, discovery: Discovery, scaled_kinds: Iterable[KindVersion] = ()
) -> tuple[Seeing, ...]:
    """Return what an observation asks beside the kinds of the tree; without it everything is applied all the same.

    ``scaled_kinds`` are those whose definitions tell how many replicas an object has.
    """
    workloads = sorted({item.ref.namespace for item in desired.objects if item.ref.group_kind in WORKLOADS} - {""})
    deployed = sorted({item.ref.namespace for item in desired.objects if item.ref.group_kind == "Deployment.apps"})
    replica_sets = discovery.preferred_resource("apps", "ReplicaSet")
    scaled = sorted({item.ref.namespace for item in desired.objects if is_scalable(item)} - {""})
    scalers = [each for group, kind in SCALERS if (each := discovery.preferred_resource(group, kind))]
    served = (discovery.preferred_resource(ADMISSION_GROUP, kind) for kind in ADMISSION_KINDS)
    intercepting = [each for each in served if each]
    return (
        Seeing(
            check="capacity",
            needs=(Need.of(NODES, "list"), Need.of(PODS, "list")),
            loss="so that its capacity is not known",
        ),
        Seeing(
            check="findings",
            needs=(
                *(Need.of(EVENTS, "list", namespace=space) for space in workloads),
                *(Need.of(replica_sets, "list", namespace=space) for space in deployed if replica_sets),
            ),
            loss="so that status does not say why a workload is not well",
        ),
        Seeing(
            check="autoscalers",
            needs=tuple(Need.of(scaler, "list", namespace=space) for scaler in scalers for space in scaled),
            loss="so that replicas are an autoscaler's only once it has changed them",
        ),
        Seeing(
            check="admission",
            needs=tuple(Need.of(each, "list") for each in intercepting),
            loss="so that what a webhook or policy rewrote is not set right once that is gone",
        ),
        _need_to_see_definitions(discovery, scaled_kinds),
    )


def _need_to_see_definitions(discovery: Discovery, kinds: Iterable[KindVersion]) -> Seeing:
    served = (each for kind in sorted(kinds) if (each := discovery.resource(*kind)) is not None)
    return Seeing(
        check="definitions",
        needs=tuple(Need.of(_DEFINITIONS, "get", name=f"{each.plural}.{each.group}") for each in served),
        loss="so that these kinds are not divided by what their scale subresource tells",
    )


def missing_permissions(client: Client, needs: Iterable[Need]) -> tuple[Need, ...] | Failure:
    """Return the needs that the member does not grant this user, or why it did not say."""
    wanted = sorted(needs)
    namespaces = sorted({need.namespace for need in wanted if need.namespace})
    reviews = results_in_parallel(
        lambda name: _rules_granted_in_namespace(client, name), namespaces, limit=client.concurrency
    )
    rules_by_namespace: dict[str, list[Mapping[str, Any]]] = {}
    for name, review in zip(namespaces, reviews, strict=True):
        if isinstance(review, Failure):
            return review
        rules_by_namespace[name] = review
    doubtful = [
        need
        for need in wanted
        if not any(_does_rule_grant(rule, need) for rule in rules_by_namespace.get(need.namespace, ()))
    ]
    # Who may do something to all objects of a kind is not asked about each of them.
    refused = _needs_not_granted(client, {need._replace(name="") for need in doubtful})
    if isinstance(refused, Failure):
        return refused
    by_name = [need for need in doubtful if need.name and need._replace(name="") in refused]
    refused_names = _needs_not_granted(client, by_name)
    if isinstance(refused_names, Failure):
        return refused_names
    return tuple(need for need in doubtful if need in (refused_names if need.name else refused))


def _needs_not_granted(client: Client, needs: Iterable[Need]) -> frozenset[Need] | Failure:
    """Ask for each need by itself, and return those that are not granted."""
    asked = sorted(needs)
    answers = results_in_parallel(lambda need: _is_granted(client, need), asked, limit=client.concurrency)
    failure = next((answer for answer in answers if isinstance(answer, Failure)), None)
    return failure or frozenset(need for need, answer in zip(asked, answers, strict=True) if answer is False)


def _rules_granted_in_namespace(client: Client, namespace: str) -> list[Mapping[str, Any]] | Failure:
    answer = _review_answer(client, "rules", {"namespace": namespace}, "SelfSubjectRulesReview")
    if isinstance(answer, Failure):
        return answer
    rules = answer.get("resourceRules")
    return [rule for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []


def _is_granted(client: Client, need: Need) -> bool | Failure:
    attributes = {"group": need.group, "resource": need.plural, "verb": need.verb, "namespace": need.namespace}
    attributes |= {"name": need.name} if need.name else {}
    answer = _review_answer(client, "access", {"resourceAttributes": attributes}, "SelfSubjectAccessReview")
    return answer if isinstance(answer, Failure) else answer.get("allowed") is True


def _review_answer(client: Client, about: str, spec: Mapping[str, Any], kind: str) -> Mapping[str, Any] | Failure:
    """Send a review, which changes nothing, and return its status."""
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
    answer = client.send(Request(method="POST", path=_REVIEWS.format(about), body=body, tries=2))
    if not isinstance(answer, Answer):
        return answer
    status = answer.body.get("status")
    return mapping_or_empty(status)


def _does_rule_grant(rule: Mapping[str, Any], need: Need) -> bool:
    """Return whether a rule allows a need for objects of any name."""
    asked = (("verbs", need.verb), ("apiGroups", need.group), ("resources", need.plural))
    return not rule.get("resourceNames") and all(_has_word_or_star(rule.get(key), word) for key, word in asked)


def _has_word_or_star(words: Any, word: str) -> bool:
    return isinstance(words, list) and ("*" in words or word in words)


def permission_lines(missing: Iterable[Need]) -> Iterator[str]:
    """Yield what is missing, a line for the resources and namespaces that lack the same verbs.

    >>> list(permission_lines([Need("shop", "apps", "deployments", "patch"), Need("", "", "namespaces", "create")]))
    ['patch deployments.apps in shop', 'create namespaces']
    """
    verbs: dict[tuple[str, str], list[str]] = defaultdict(list)
    for need in sorted(missing):
        if need.verb not in verbs[need.resource, need.namespace]:
            verbs[need.resource, need.namespace].append(need.verb)
    places: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (resource, namespace), lacking in verbs.items():
        places[resource, tuple(sorted(lacking, key=_order_of_verb))].append(namespace)
    for (resource, each), namespaces in sorted(places.items()):
        where = f" in {first_few(sorted(namespaces))}" if any(namespaces) else ""
        yield f"{', '.join(each)} {resource}{where}"


def _order_of_verb(verb: str) -> int:
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
            yield f"{kind} of {api_version}" + (f" (but {first_few(others)})" if others else "")
