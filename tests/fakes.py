"""A member cluster in memory: objects, field ownership and the refusals an API server answers with.

The tests that use it also run against real API servers, which is what keeps it honest.
"""

import copy
import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import partial
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import unquote

from reconciler.members.exchange import APPLY, JSON, JSON_PATCH, Answer, Failure, Request
from reconciler.members.refusals import failure_of_refusal

from .fake_fields import json_patched, merged, owned_by_update, server_side_applied

KINDS = [
    ("v1", "Namespace", "namespaces", False),
    ("v1", "ConfigMap", "configmaps", True),
    ("v1", "Node", "nodes", False),
    ("v1", "Pod", "pods", True),
    ("v1", "Event", "events", True),
    ("v1", "Secret", "secrets", True),
    ("v1", "Service", "services", True),
    ("v1", "ServiceAccount", "serviceaccounts", True),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", True),
    ("apps/v1", "Deployment", "deployments", True),
    ("apps/v1", "ReplicaSet", "replicasets", True),
    ("batch/v1", "Job", "jobs", True),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", True),
    ("coordination.k8s.io/v1", "Lease", "leases", True),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", False),
    ("rbac.authorization.k8s.io/v1", "Role", "roles", True),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", False),
]
MERGE_PATCH = "application/merge-patch+json"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubject"
EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
VERBS = ["get", "list", "patch", "create", "update", "delete"]
PATH = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<api>[^/]+/[^/]+))(?:/namespaces/(?P<namespace>[^/]+)(?=/))?/(?P<plural>[^/]+)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<subresource>status|scale|finalize))?"
)
Key = tuple[str, str, str]


class _Numbers:
    """Numbers that are taken once each, by any thread; a copy goes on with greater ones."""

    def __init__(self, first: int) -> None:
        self._numbers = itertools.count(first)

    def __deepcopy__(self, _memo: object) -> "_Numbers":
        return _Numbers(self.take())

    def take(self) -> int:
        return next(self._numbers)


@dataclass
class FakeCluster:
    """The objects of one cluster by ``(plural.group, namespace, name)``, and every request that was sent.

    ``mutate`` changes what is applied as a mutating webhook does. ``rules`` are what its user may do, which it tells
    and does not enforce. ``now`` is the time of its clock; None is that of this machine where it is served, and it does
    not tell it where it is not. ``more_kinds`` are served beside those that every cluster serves.
    """

    name: str = "member1"
    objects: dict[Key, dict[str, Any]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    faults: list[Callable[[Request], Answer | Failure | None]] = field(default_factory=list)
    stopped: Failure | None = None
    limits: list[float] = field(default_factory=list)
    concurrency: int = 4
    pinned: str = ""
    mutate: Callable[[dict[str, Any]], None] = lambda _body: None
    rules: list[dict[str, Any]] = field(default_factory=lambda: [EVERYTHING])
    now: float | None = None
    more_kinds: Sequence[tuple[str, str, str, bool]] = ()
    _numbers: _Numbers = field(default_factory=lambda: _Numbers(1))

    def __post_init__(self) -> None:
        for namespace in ("kube-system", "default"):
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            self.request("POST", "/api/v1/namespaces", body)
        self.objects["namespaces.", "", "kube-system"]["metadata"]["uid"] = f"uid-of-{self.name}"

    def wait(self, _seconds: float) -> bool:
        return self.stopped is None

    def within(self, seconds: float) -> Self:
        """Give the time that something may take."""
        self.limits.append(seconds)
        return self

    def require_cluster_uid(self, uid: str) -> None:
        self.pinned = uid

    def send(self, request: Request) -> Answer | Failure:
        """Answer a client's request: it is recorded, and it fails where a fault says so."""
        self.requests.append(request)
        for fault in self.faults:
            outcome = fault(request)
            if outcome is not None:
                return outcome
        query = "&".join(f"{key}={value}" for key, value in request.query.items())
        status, body = self.request(
            request.method, f"{request.path}?{query}", request.body, content_type=request.content_type
        )
        if status >= HTTPStatus.MULTIPLE_CHOICES:
            return failure_of_refusal(request, status, {}, json.dumps(body).encode())
        date = "" if self.now is None else formatdate(self.now, usegmt=True)
        return Answer(status=status, body=body, date=date)

    @property
    def writes(self) -> list[str]:
        """The requests that may have changed something, as ``METHOD path``."""
        written = [item for item in self.requests if item.method != "GET" and not item.path.startswith(REVIEWS)]
        return [f"{item.method} {item.path}" for item in written]

    def read(self, path: str) -> Any:
        status, body = self.request("GET", path)
        return body if status == HTTPStatus.OK else None

    def request(self, method: str, path: str, body: Any = None, *, content_type: str = JSON) -> tuple[int, Any]:
        """Answer one request as the server would, on a copy of what is sent."""
        path, _, text = path.partition("?")
        query = dict(part.partition("=")[::2] for part in text.split("&") if part)
        answer = self._served(path)
        if answer is not None:
            return 200, answer
        if path.startswith(REVIEWS):
            return 201, {"status": self._reviewed(body["spec"])}
        match = PATH.fullmatch(path)
        kind = self._kind(match["api"] or match["core"], match["plural"]) if match else None
        if match is None or kind is None:
            return _status(404, "NotFound", "the server could not find the requested resource")
        key = (
            f"{match['plural']}.{kind[0].rpartition('/')[0]}",
            match["namespace"] or "",
            unquote(match["name"] or ""),
        )
        if match["name"] is None and method == "GET":
            labels, fields = (unquote(query.get(name, "")) for name in ("labelSelector", "fieldSelector"))
            return 200, self._listed(key, kind, labels, fields)
        if method == "POST":
            key = (key[0], key[1], body["metadata"]["name"])
        if method == "GET":
            return self._found(key)
        # What stands twice in a manifest is two values to a server, whatever it shares here.
        body = json.loads(json.dumps(body))
        missing = self._namespace_missing(key) if method in {"POST", "PATCH"} else None
        manager = query.get("fieldManager", "kubectl-edit")
        return missing or self._write(method, key, body, content_type=content_type, manager=manager, query=query)

    def _reviewed(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Return the status of a review of what the user may do."""
        asked = spec.get("resourceAttributes")
        if asked is None:
            return {
                "resourceRules": [rule for rule in self.rules if rule.get("namespace") in {None, spec["namespace"]}]
            }
        words = (("verbs", asked["verb"]), ("apiGroups", asked["group"]), ("resources", asked["resource"]))
        here = [rule for rule in self.rules if rule.get("namespace") in {None, asked["namespace"]}]
        return {"allowed": any(all({word, "*"} & set(rule[key]) for key, word in words) for rule in here)}

    def _write(
        self, method: str, key: Key, body: Any, *, content_type: str, manager: str, query: dict[str, str]
    ) -> tuple[int, Any]:
        if method == "DELETE":
            return self._deleted(key, body or {})
        if content_type == APPLY:
            return self._applied(key, body, manager, query)
        live = self.objects.get(key)
        if method == "POST":
            if live is not None:
                return _status(409, "AlreadyExists", "it exists already", name=key[2], kind=key[0])
            return self._stored(key, None, owned_by_update({"metadata": {}}, body, manager), 201)
        if live is not None and content_type == JSON_PATCH:
            return self._patched(key, live, body, dry_run="dryRun" in query)
        return _absent(key) if live is None else self._updated(key, live, body, content_type, manager)

    def _patched(self, key: Key, live: dict[str, Any], steps: Any, *, dry_run: bool) -> tuple[int, Any]:
        return self._stored(key, live, json_patched(live, steps), 200, version=steps[0].get("value"), dry_run=dry_run)

    def _updated(self, key: Key, live: dict[str, Any], body: Any, content_type: str, manager: str) -> tuple[int, Any]:
        is_patch = content_type == MERGE_PATCH
        new = merged(copy.deepcopy(live), body) if is_patch else body
        new["metadata"]["managedFields"] = live["metadata"]["managedFields"]
        version = None if is_patch else body["metadata"].get("resourceVersion")
        return self._stored(key, live, owned_by_update(live, new, manager), 200, version=version)

    def _served(self, path: str) -> Any:
        if path == "/version":
            return {"gitVersion": "v0.0.0"}
        if path == "/readyz":
            return "ok"
        if path not in {"/api", "/apis"}:
            return None
        groups: dict[str, dict[str, list[Any]]] = {}
        for api_version, kind, plural, is_namespaced in self._kinds():
            group, _, version = api_version.rpartition("/")
            entry: dict[str, Any] = {
                "resource": plural,
                "singularResource": kind.lower(),
                "responseKind": {"kind": kind},
                "verbs": VERBS,
            }
            entry["scope"] = "Namespaced" if is_namespaced else "Cluster"
            is_scaled = self._has_scale(version, f"{plural}.{group}")
            entry["subresources"] = [{"subresource": "scale"}] if is_scaled else []
            if bool(group) == (path == "/apis"):
                groups.setdefault(group, {}).setdefault(version, []).append(entry)
        items = [
            {
                "metadata": {"name": group},
                "versions": [{"version": version, "resources": entries} for version, entries in versions.items()],
            }
            for group, versions in groups.items()
        ]
        return {"kind": "APIGroupDiscoveryList", "items": items}

    def _kinds(self) -> Iterator[tuple[str, str, str, bool]]:
        yield from KINDS
        yield from self.more_kinds
        for (plural, _, _), crd in self.objects.items():
            if plural == "customresourcedefinitions.apiextensions.k8s.io":
                spec = crd["spec"]
                for version in spec["versions"]:
                    names = spec["names"]
                    is_namespaced = spec["scope"] == "Namespaced"
                    yield f"{spec['group']}/{version['name']}", names["kind"], names["plural"], is_namespaced

    def _has_scale(self, version: str, definition: str) -> bool:
        crd = self.objects.get(("customresourcedefinitions.apiextensions.k8s.io", "", definition), {})
        versions = crd.get("spec", {}).get("versions", ())
        return any(each["name"] == version and "scale" in each.get("subresources", {}) for each in versions)

    def _kind(self, api_version: str, plural: str) -> tuple[str, str, str, bool] | None:
        return next((kind for kind in self._kinds() if kind[0] == api_version and kind[2] == plural), None)

    def _found(self, key: Key) -> tuple[int, Any]:
        return (200, copy.deepcopy(self.objects[key])) if key in self.objects else _absent(key)

    def _listed(self, key: Key, kind: tuple[str, str, str, bool], labels: str, fields: str) -> Any:
        found = [
            item
            for (plural, namespace, _), item in sorted(self.objects.items())
            if plural == key[0] and (not key[1] or namespace == key[1])
            if _is_selected(labels, (item["metadata"].get("labels") or {}).get)
            if _is_selected(fields, partial(_field, item))
        ]
        items = json.loads(json.dumps(found))
        for item in items:
            del item["apiVersion"], item["kind"]
        return {"kind": f"{kind[1]}List", "metadata": {"resourceVersion": "1"}, "items": items}

    def _namespace_missing(self, key: Key) -> tuple[int, Any] | None:
        if not key[1]:
            return None
        space = self.objects.get(("namespaces.", "", key[1]))
        if space is None:
            return _status(404, "NotFound", f'namespaces "{key[1]}" not found', name=key[1], kind="namespaces")
        if space["metadata"].get("deletionTimestamp") and key not in self.objects:
            causes = [{"reason": "NamespaceTerminating", "field": "metadata.namespace"}]
            return _status(403, "Forbidden", "unable to create new content, it is being terminated", causes=causes)
        return None

    def _applied(self, key: Key, body: dict[str, Any], manager: str, query: dict[str, str]) -> tuple[int, Any]:
        live = self.objects.get(key)
        metadata = body["metadata"]
        uid, version = metadata.pop("uid", None), metadata.pop("resourceVersion", None)
        if live is None and uid:
            return _status(409, "Conflict", "Precondition failed: UID in precondition", name=key[2])
        if live is not None and version not in {None, live["metadata"]["resourceVersion"]}:
            return _status(409, "Conflict", "the object has been modified", name=key[2])
        self.mutate(body)
        new, causes = server_side_applied(live or {"metadata": {"name": key[2]}}, body, manager)
        if causes and query.get("force") != "true":
            return _status(409, "Conflict", "Apply failed with conflicts", causes=causes)
        return self._stored(key, live, new, 200 if live is not None else 201, dry_run="dryRun" in query)

    def _stored(
        self,
        key: Key,
        live: dict[str, Any] | None,
        new: dict[str, Any],
        status: int,
        *,
        version: str | None = None,
        dry_run: bool = False,
    ) -> tuple[int, Any]:
        if live is not None and version not in {None, live["metadata"]["resourceVersion"]}:
            return _status(409, "Conflict", "the object has been modified", name=key[2])
        if live is not None and live.get("immutable") and live.get("data") != new.get("data"):
            causes = [{"field": "data", "message": "Forbidden: field is immutable when `immutable` is set"}]
            return _status(422, "Invalid", "data: Forbidden: field is immutable", causes=causes)
        if live is not None and not _keeps_fixed_part(key, live, new):
            causes = [{"field": "spec", "message": "field is immutable"}]
            return _status(422, "Invalid", "spec: field is immutable", causes=causes)
        if live is None:
            new["metadata"] |= {"uid": f"uid-{self._numbers.take()}", "resourceVersion": "0"}
            new["metadata"] |= {"namespace": key[1]} if key[1] else {}
            if key[0].startswith("customresourcedefinitions"):
                new["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
        if new != live:
            new["metadata"]["resourceVersion"] = str(self._numbers.take())
            if not dry_run:
                self.objects[key] = new
        return status, copy.deepcopy(new)

    def _deleted(self, key: Key, options: dict[str, Any]) -> tuple[int, Any]:
        live = self.objects.get(key)
        if live is None:
            return _absent(key)
        for name, value in (options.get("preconditions") or {}).items():
            if live["metadata"][name] != value:
                return _status(409, "Conflict", f"Precondition failed: {name}", name=key[2])
        if live["metadata"].get("finalizers"):
            live["metadata"]["deletionTimestamp"] = "2026-11-21T12:00:00Z"
            return 200, copy.deepcopy(live)
        del self.objects[key]
        return 200, {"kind": "Status", "status": "Success"}


def _is_selected(selector: str, value_of: Callable[[str], Any]) -> bool:
    """Return whether an object has the labels that ``a=b,c!=d``, ``a in (b,c)`` or ``a`` asks for."""
    if among := re.fullmatch(r"(\S+) in \((.*)\)", selector):
        return value_of(among[1]) in among[2].split(",")
    for part in filter(None, selector.split(",")):
        name, sign, wanted = part.partition("=")
        if not sign and value_of(name) is not None:
            continue
        if (value_of(name.removesuffix("!")) == wanted) == name.endswith("!"):
            return False
    return True


def _keeps_fixed_part(key: Key, live: dict[str, Any], new: dict[str, Any]) -> bool:
    """Return whether what can never change of a Service or a Job stays; an address that is left out does."""
    field = {"services.": "clusterIP", "jobs.batch": "template"}.get(key[0], "")
    if field == "template" and live["spec"].get("completions") != new["spec"].get("completions"):
        return False
    if field not in (live.get("spec") or {}):
        return True
    if field == "clusterIP":
        new["spec"].setdefault(field, live["spec"][field])
    return bool(new["spec"].get(field) == live["spec"][field])


def _field(item: dict[str, Any], path: str) -> Any:
    value: Any = item
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _status(code: int, reason: str, message: str, **details: Any) -> tuple[int, Any]:
    return code, {"kind": "Status", "reason": reason, "message": message, "details": details}


def _absent(key: Key) -> tuple[int, Any]:
    return _status(404, "NotFound", f'{key[0]} "{key[2]}" not found', name=key[2], kind=key[0].partition(".")[0])
