"""``argosy pods``: the pods of an object in members, the events about them, and the end of a log."""

from typing import Any

from reconciler.console.text import sections_as_markdown
from reconciler.inspection.pod_text import sections_of_pods
from reconciler.inspection.pods import LogWanted, PodsInMember, PodsWanted, pods_in_member, values_of_secrets
from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Answer, Client, Failure, FailureKind, Request
from reconciler.outputs.document import plain_document
from reconciler.outputs.pods import pods_document
from render.model import ObjectRef, Template
from render.timing import parse_instant

WEB = ObjectRef("apps", "Deployment", "shop", "web")
NOW = parse_instant("2027-01-15T08:00:00Z")
CREATED = "2027-01-15T07:58:00Z"


def resource(group: str, kind: str, plural: str) -> Resource:
    return Resource(group=group, version="v1", kind=kind, plural=plural, is_namespaced=True)


RESOURCES = [resource("apps", "Deployment", "deployments"), resource("apps", "ReplicaSet", "replicasets")]
RESOURCES += [resource("", "Pod", "pods")]
SERVED = Discovery(resources={(each.api_version, each.kind): each for each in RESOURCES})


def an_object(kind: str, name: str, uid: str, owner: str = "", **rest: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "namespace": "shop", "uid": uid, "creationTimestamp": CREATED}
    metadata["labels"] = {"app": "web"}
    metadata |= {"ownerReferences": [{"uid": owner}]} if owner else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **rest}


def a_pod(name: str, *, owner: str = "set", state: dict[str, Any] | None = None, ready: bool = True) -> dict[str, Any]:
    status = {"name": "web", "ready": ready, "restartCount": 2, "state": state or {"running": {}}}
    return an_object(
        "Pod",
        name,
        f"uid-{name}",
        owner,
        spec={"nodeName": "node-1", "containers": [{"name": "web"}]},
        status={"phase": "Running", "containerStatuses": [status]},
    )


CRASHING = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off of hunter2-secret"}}
EVENT = {
    "metadata": {"name": "e", "namespace": "shop"},
    "involvedObject": {"kind": "Pod", "name": "web-2", "uid": "uid-web-2"},
    "type": "Warning",
    "reason": "BackOff",
    "message": "restarting it with hunter2-secret",
    "count": 7,
    "lastTimestamp": "2027-01-15T07:59:00Z",
}
OTHER_EVENT = {**EVENT, "involvedObject": {"kind": "Pod", "name": "other", "uid": "uid-other"}}


class OneMember:
    """A member that has some answers by path, and nothing else."""

    stopped: Failure | None = None
    concurrency = 1

    def __init__(self, **answers: Any) -> None:
        selector = {"selector": {"matchLabels": {"app": "web"}}}
        self.answers: dict[str, Any] = {
            "/apis/apps/v1/namespaces/shop/deployments/web": an_object("Deployment", "web", "own", spec=selector),
            "/apis/apps/v1/namespaces/shop/replicasets": [an_object("ReplicaSet", "web-1", "set", "own")],
            "/api/v1/namespaces/shop/pods": [
                a_pod("web-2", state=CRASHING, ready=False),
                a_pod("web-1"),
                a_pod("stranger", owner="somebody"),
            ],
            "/api/v1/namespaces/shop/events": [EVENT, OTHER_EVENT],
            "/api/v1/namespaces/shop/pods/web-2/log": "one\ntwo hunter2-secret\nhttps://ada:pw@example.com\n",
            **answers,
        }
        self.asked: list[Request] = []

    def wait(self, _seconds: float) -> bool:
        return False

    def require_cluster_uid(self, uid: str) -> None:
        assert not uid, "nothing is written here"

    def within(self, _seconds: float) -> Client:
        return self

    def send(self, request: Request) -> Answer | Failure:
        self.asked.append(request)
        found = self.answers.get(request.path)
        if found is None:
            return Failure(kind=FailureKind.NOT_FOUND, message="not found")
        if isinstance(found, Failure):
            return found
        return Answer(status=200, body={"items": found, "metadata": {}} if isinstance(found, list) else found)


def found_in(member: OneMember, **how: Any) -> PodsInMember:
    found = pods_in_member(member, SERVED, PodsWanted(ref=WEB, hidden=frozenset({"hunter2-secret"}), **how))
    assert isinstance(found, PodsInMember)
    return found


def test_the_pods_of_a_deployment_are_those_of_its_replica_sets() -> None:
    found = found_in(OneMember())
    assert [(each.name, each.state, each.ready, each.restarts, each.node) for each in found.pods] == [
        ("web-1", "Running", 1, 2, "node-1"),
        ("web-2", "CrashLoopBackOff", 0, 2, "node-1"),
    ]
    assert found.count == 2


def test_events_are_those_about_the_object_and_its_pods_without_values_of_secrets() -> None:
    [event] = found_in(OneMember()).events
    assert (event.about, event.reason, event.count, event.last) == (
        "Pod web-2",
        "BackOff",
        7,
        "2027-01-15T07:59:00Z",
    )
    assert event.message == "restarting it with (hidden)"


def test_the_end_of_a_log_has_neither_values_of_secrets_nor_passwords() -> None:
    member = OneMember()
    log = found_in(member, log=LogWanted(pod="web-2", lines=2)).log
    assert log is not None
    assert (log.container, log.failure) == ("web", None)
    assert log.lines[0] == "two (hidden)"
    assert "pw" not in log.lines[1]
    assert member.asked[-1].query == {"container": "web", "tailLines": "2", "limitBytes": "262144"}


def test_a_pod_of_somebody_else_has_no_log_here() -> None:
    member = OneMember()
    for name in ("stranger", "../secrets", "web-9"):
        assert found_in(member, log=LogWanted(pod=name)).log is None
    assert not any(each.path.endswith("/log") for each in member.asked)


def test_what_a_member_refuses_is_said_where_it_is_missing() -> None:
    refused = Failure(kind=FailureKind.FORBIDDEN, message="pods/log is forbidden")
    path = "/api/v1/namespaces/shop/pods/web-2/log"
    log = found_in(OneMember(**{path: refused}), log=LogWanted(pod="web-2")).log
    assert log is not None
    assert (log.lines, log.failure) == ((), refused)
    whole = OneMember(**{"/apis/apps/v1/namespaces/shop/deployments/web": refused})
    assert pods_in_member(whole, SERVED, PodsWanted(ref=WEB)) == refused
    absent = OneMember(**{"/apis/apps/v1/namespaces/shop/deployments/web": None})
    assert pods_in_member(absent, SERVED, PodsWanted(ref=WEB)) == PodsInMember(is_absent=True)


def test_a_hostile_member_breaks_nothing() -> None:
    pods = [an_object("Pod", "web-1", "u", "set", spec=[], status={"containerStatuses": "x", "conditions": {"a": 1}})]
    pods += [an_object("Pod", "web-0", "u", "set", spec={"containers": [3, {"name": None}]}, status=7)]
    found = found_in(OneMember(**{"/api/v1/namespaces/shop/pods": pods, "/api/v1/namespaces/shop/events": [{"a": 1}]}))
    assert [(each.name, each.phase, each.ready) for each in found.pods] == [
        ("web-0", "Unknown", 0),
        ("web-1", "Unknown", 0),
    ]


def test_values_of_secrets_are_those_of_the_source_that_can_be_told_from_words() -> None:
    secret = {"kind": "Secret", "stringData": {"a": "hunter2-secret", "b": "on"}, "data": {"c": "c2VjcmV0LXRvbw=="}}
    templates = [Template(ref=ObjectRef("", "Secret", "shop", "key"), manifest=secret)]
    templates += [Template(ref=ObjectRef("", "ConfigMap", "shop", "key"), manifest={"data": {"a": "open-to-all"}})]
    found = values_of_secrets(templates)
    assert {"hunter2-secret", "secret-too"} <= found
    assert not {"on", "open-to-all"} & found


def test_text_and_document_tell_the_same() -> None:
    assert NOW is not None
    answers: dict[str, PodsInMember | Failure] = {
        "paris": found_in(OneMember(), log=LogWanted(pod="web-2")),
        "oslo": Failure(kind=FailureKind.UNREACHABLE, message="member is down"),
        "rome": PodsInMember(is_absent=True),
    }
    document = plain_document(pods_document(WEB, answers, NOW))
    assert {name: (each["reached"], each.get("count")) for name, each in document["clusters"].items()} == {
        "paris": (True, 2),
        "oslo": (False, None),
        "rome": (True, 0),
    }
    text = sections_as_markdown(sections_of_pods(answers, NOW.timestamp()))
    for words in ("web-2", "CrashLoopBackOff", "BackOff", "the object is not there", "LOG paris web-2 web"):
        assert words in text
    assert "hunter2" not in text + str(document)
