"""Refusals read from the bodies that real servers send, without anything they quote."""

import base64
import json
from typing import Any, NamedTuple

import pytest

from reconciler.members.exchange import Cause, FailureKind, Request
from reconciler.members.masking import message_without_secrets, value_for_report, values_not_to_be_repeated
from reconciler.members.refusals import failure_of_refusal

from .tables import each_row

CANARY = "canary-4711"
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "web",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": f'{{"x":"{CANARY}"}}'},
    },
    "spec": {
        "template": {
            "spec": {"containers": [{"name": "web", "args": [CANARY], "env": [{"name": "A", "value": CANARY}]}]}
        }
    },
}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"name": "Y2FuYXJ5LTQ3MTE="}}


def a_status(message: str, *causes: dict[str, str], reason: str = "Invalid", **details: Any) -> dict[str, Any]:
    return {"kind": "Status", "message": message, "reason": reason, "details": {**details, "causes": list(causes)}}


class Answered(NamedTuple):
    why: str
    status: int
    body: Any
    kind: FailureKind
    message: str


ANSWERS = [
    Answered(
        "a field another manager owns",
        409,
        a_status(
            "Apply failed with 1 conflict",
            {"reason": "FieldManagerConflict", "message": 'conflict with "helm" using v1', "field": ".data.a"},
            reason="Conflict",
        ),
        FailureKind.CONFLICT,
        "field manager 'helm' owns .data.a",
    ),
    Answered(
        "a field another manager owns through a subresource",
        409,
        a_status(
            "Apply failed with 1 conflict",
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "kube-controller-manager" with subresource "scale" using apps/v1',
                "field": ".spec.replicas",
            },
        ),
        FailureKind.CONFLICT,
        "field manager 'kube-controller-manager' (through scale) owns .spec.replicas",
    ),
    Answered(
        "a version that is no longer the one",
        409,
        a_status("Operation cannot be fulfilled on configmaps", reason="Conflict", name="a"),
        FailureKind.RACE,
        "Operation cannot be fulfilled on configmaps",
    ),
    Answered(
        "a namespace that is going",
        403,
        a_status(
            "being terminated", {"reason": "NamespaceTerminating", "field": "metadata.namespace"}, reason="Forbidden"
        ),
        FailureKind.NAMESPACE_TERMINATING,
        "Forbidden: being terminated",
    ),
    Answered(
        "no such object",
        404,
        a_status('configmaps "a" not found', reason="NotFound", name="a", kind="configmaps"),
        FailureKind.NOT_FOUND,
        'configmaps "a" not found',
    ),
    Answered(
        "no such namespace",
        404,
        a_status('namespaces "shop" not found', reason="NotFound", name="shop", kind="namespaces"),
        FailureKind.NAMESPACE_MISSING,
        'NotFound: namespaces "shop" not found',
    ),
    Answered("no such kind", 404, "404 page not found", FailureKind.NOT_SERVED, "the cluster does not serve this kind"),
    Answered(
        "several fields are wrong, the values they hold left out",
        422,
        a_status(
            "Deployment is invalid",
            {
                "reason": "FieldValueInvalid",
                "message": f'Invalid value: "{CANARY}: x": must be lower case',
                "field": "spec.a",
            },
            {"reason": "FieldValueRequired", "message": "Required value: must be set", "field": "spec.b"},
            {"reason": "FieldValueDuplicate", "message": f'Duplicate value: "{CANARY}: x"', "field": "spec.c"},
            {
                "reason": "FieldValueNotSupported",
                "message": f'Unsupported value: "{CANARY}": supported values: "A", "B"',
                "field": "spec.d",
            },
        ),
        FailureKind.INVALID,
        "spec.a: must be lower case; spec.b: Required value: must be set; spec.c: its value is not accepted; "
        'spec.d: supported values: "A", "B"',
    ),
    Answered(
        "a field that cannot change, told without the structure the server prints",
        422,
        a_status(
            "Job is invalid",
            {
                "reason": "FieldValueInvalid",
                "message": f'Invalid value: core.Spec{{Env:[]core.EnvVar{{Value:"{CANARY}: x"}}}}: field is immutable',
                "field": "spec.template",
            },
        )
        | {"message": "field is immutable"},
        FailureKind.IMMUTABLE,
        "spec.template: field is immutable",
    ),
    Answered(
        "a StatefulSet's fields that cannot change",
        422,
        a_status(
            "updates to statefulset spec for fields other than 'replicas' are forbidden",
            {
                "message": "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden",
                "field": "spec",
            },
        ),
        FailureKind.IMMUTABLE,
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden",
    ),
    Answered(
        "a pod's fields that cannot change, told without the lines that show how it was",
        422,
        a_status(
            "Pod is invalid: spec: Forbidden: pod updates may not change fields other than `spec.tolerations`",
            {
                "message": "Forbidden: pod updates may not change fields other than `spec.tolerations`\n"
                f'@@ -13,7 +13,7 @@\n- "Value": "old-{CANARY}",\n+ "Value": "{CANARY}",\n',
                "field": "spec",
            },
        ),
        FailureKind.IMMUTABLE,
        "spec: Forbidden: pod updates may not change fields other than `spec.tolerations`",
    ),
    Answered(
        "an object that is too large, which is no fault of a field",
        422,
        a_status(
            'ConfigMap "a" is invalid: []: Too long: may not be more than 1048576 bytes',
            {"reason": "FieldValueTooLong", "message": "Too long: may not be more than 1048576 bytes", "field": "[]"},
        ),
        FailureKind.TOO_LARGE,
        "Too long: may not be more than 1048576 bytes",
    ),
    Answered(
        "the value of a PriorityClass",
        422,
        a_status(
            "PriorityClass is invalid: value: Forbidden: may not be changed in an update.",
            {"message": "Forbidden: may not be changed in an update.", "field": "value"},
        ),
        FailureKind.IMMUTABLE,
        "value: Forbidden: may not be changed in an update.",
    ),
    Answered(
        "a claim that would shrink",
        422,
        a_status(
            "PersistentVolumeClaim is invalid: field can not be less than status.capacity",
            {
                "message": "Forbidden: field can not be less than status.capacity",
                "field": "spec.resources.requests.storage",
            },
        ),
        FailureKind.IMMUTABLE,
        "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",
    ),
    Answered(
        "a value of the wrong type, cut off where it is printed",
        500,
        a_status(
            f'failed to create typed patch object: .data.a: expected string, got &value.Unstr{{Value:"{CANARY}"}}'
        ),
        FailureKind.MANIFEST,
        "Invalid: failed to create typed patch object: .data.a: expected string, got (hidden)",
    ),
    Answered(
        "a value no type takes",
        500,
        a_status(f"failed to create typed patch object: .immutable: expected boolean, got &{{{CANARY}}}"),
        FailureKind.MANIFEST,
        "Invalid: failed to create typed patch object: .immutable: expected boolean, got (hidden)",
    ),
    Answered(
        "a value that only its decoding refuses",
        500,
        a_status(f'unable to convert unstructured object to apps/v1: parsing time "{CANARY}" as "2006"'),
        FailureKind.MANIFEST,
        "Invalid: unable to convert unstructured object to apps/v1: (hidden)",
    ),
    Answered(
        "a webhook that is down, told by its name",
        500,
        a_status(f'Internal error occurred: failed calling webhook "policy.example.com": Post "https://x": {CANARY}'),
        FailureKind.WEBHOOK,
        "the admission webhook 'policy.example.com' could not be called",
    ),
    Answered(
        "a webhook that says no, and quotes",
        403,
        a_status(f'admission webhook "p" denied the request: the password {CANARY} is short', reason="Forbidden"),
        FailureKind.FORBIDDEN,
        'admission webhook "p" denied the request: the password (hidden) is short',
    ),
    Answered(
        "credentials it does not know, whatever it says of them",
        401,
        a_status(f"{CANARY} is no good", reason="Unauthorized"),
        FailureKind.UNAUTHORIZED,
        "the cluster does not accept these credentials",
    ),
    Answered(
        "an object that is too large for etcd, which is no fault of the server",
        500,
        a_status("etcdserver: request is too large", reason=""),
        FailureKind.TOO_LARGE,
        "etcdserver: request is too large",
    ),
    Answered(
        "an object that is too large for the way to etcd",
        500,
        a_status(
            "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097209 vs. 2097152)",
            reason="",
        ),
        FailureKind.TOO_LARGE,
        "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097209 vs. 2097152)",
    ),
    Answered(
        "a kind that cannot be converted, told without the address of its webhook",
        500,
        a_status(
            'conversion webhook for example.com/v1, Kind=Widget failed: Post "https://10.0.0.1/convert": refused',
            reason="",
        ),
        FailureKind.CONVERSION,
        "the conversion webhook of Widget in example.com/v1 fails",
    ),
    Answered(
        "a kind whose storage cannot be read in, which sounds as if the server had too much to do",
        429,
        a_status("storage is (re)initializing", reason="TooManyRequests"),
        FailureKind.INITIALIZING,
        "the server cannot read the objects of this kind at the moment",
    ),
    Answered(
        "a field that a former version of the kind lacks, which is no fault of the manifest",
        500,
        a_status(
            "failed to prune fields: failed to convert merged object to last applied version: .spec.b: field not"
            " declared in schema",
            reason="",
        ),
        FailureKind.FORMER_VERSION,
        "its managed fields in a former version cannot be read any more",
    ),
    Answered(
        "a field that the version lacks in which another manager owns something",
        500,
        a_status(
            "failed to prune fields: failed add back owned items: failed to convert merged object at version"
            " example.com/v1: .spec.b: field not declared in schema",
            reason="",
        ),
        FailureKind.FORMER_VERSION,
        "its managed fields in example.com/v1 cannot be read any more",
    ),
    Answered(
        "managed fields in a version that is gone",
        500,
        a_status("request to convert CR to an invalid group/version: example.com/v1", reason=""),
        FailureKind.FORMER_VERSION,
        "its managed fields in example.com/v1 cannot be read any more",
    ),
    Answered("a gateway's page", 502, f"<html>{CANARY}</html>", FailureKind.UNAVAILABLE, "HTTP status 502"),
]


@each_row("case", ANSWERS, ids=lambda case: case.why)
def test_a_refusal_is_read(case: Answered) -> None:
    body = case.body.encode() if isinstance(case.body, str) else json.dumps(case.body).encode()
    request = Request(method="PATCH", path="/x", body=DEPLOYMENT)
    failure = failure_of_refusal(request, case.status, {}, body)
    assert (failure.kind, failure.message) == (case.kind, case.message)
    assert CANARY not in repr(failure)


@each_row("case", ANSWERS, ids=lambda case: case.why)
def test_of_a_secret_no_words_are_repeated(case: Answered) -> None:
    body = case.body.encode() if isinstance(case.body, str) else json.dumps(case.body).encode()
    failure = failure_of_refusal(Request(method="PATCH", path="/x", body=SECRET), case.status, {}, body)
    assert CANARY not in repr(failure)
    assert failure.kind is case.kind


def test_of_a_secret_that_cannot_change_only_that_is_said() -> None:
    fixed = {"message": "Forbidden: field is immutable when `immutable` is set", "field": "data"}
    wrong = {"message": f'Invalid value: "{CANARY}": no', "field": "type"}
    body = json.dumps(a_status("Secret is invalid: field is immutable when `immutable` is set", fixed, wrong)).encode()
    failure = failure_of_refusal(Request(method="PATCH", path="/x", body=SECRET), 422, {}, body)
    assert failure.kind is FailureKind.IMMUTABLE
    assert failure.message == "data: it cannot change; type: its value is not accepted"


class Repeated(NamedTuple):
    why: str
    status: int
    body: dict[str, Any]
    shown: str


FORBIDDEN = 'secrets "s" is forbidden: '
REPEATED = [
    Repeated(
        "a right that is missing",
        403,
        a_status(
            f'{FORBIDDEN}User "ada" cannot patch resource "secrets" in API group "" in the namespace "shop": {CANARY}',
            reason="Forbidden",
        ),
        'User "ada" cannot patch resource "secrets" in API group "" in the namespace "shop"',
    ),
    Repeated(
        "a webhook",
        403,
        a_status(f'admission webhook "p.example.com" denied the request: {CANARY}', reason="Forbidden"),
        'admission webhook "p.example.com" denied the request',
    ),
    Repeated(
        "a policy",
        403,
        a_status(
            f"{FORBIDDEN}ValidatingAdmissionPolicy 'sizes' with binding 'all' denied request: {CANARY}",
            reason="Forbidden",
        ),
        "ValidatingAdmissionPolicy 'sizes' with binding 'all' denied request",
    ),
    Repeated(
        "a policy that says so as a field does",
        422,
        a_status(
            "Secret is invalid",
            {"message": f"ValidatingAdmissionPolicy 'sizes' with binding 'all' denied request: {CANARY}", "field": ""},
        ),
        "ValidatingAdmissionPolicy 'sizes' with binding 'all' denied request",
    ),
    Repeated(
        "a quota",
        403,
        a_status(f"{FORBIDDEN}exceeded quota: small, requested: secrets=1", reason="Forbidden"),
        "exceeded quota: small",
    ),
    Repeated(
        "a field that does not exist",
        500,
        a_status("failed to create typed patch object (shop/s; v1, Kind=Secret): .foo: field not declared in schema"),
        "Invalid: .foo: field not declared in schema",
    ),
    Repeated(
        "too much of it",
        422,
        a_status("Too long", {"message": "Too long: may not be more than 1048576 bytes", "field": "data"}),
        "data: Too long: may not be more than 1048576 bytes",
    ),
    Repeated(
        "anything else, which is not repeated, and its reason does not stand there twice",
        403,
        a_status(f"{FORBIDDEN}{CANARY}", reason="Forbidden"),
        "the server's answer is not repeated, for it may quote what is secret",
    ),
]


@each_row("case", REPEATED, ids=lambda case: case.why)
def test_of_a_secret_the_sentences_are_repeated_that_have_names_alone(case: Repeated) -> None:
    failure = failure_of_refusal(
        Request(method="PATCH", path="/x", body=SECRET), case.status, {}, json.dumps(case.body).encode()
    )
    assert failure.message == case.shown


class Hinted(NamedTuple):
    why: str
    status: int
    message: str
    shown: str
    hint: str


HINTS = [
    Hinted(
        "a missing permission",
        403,
        'deployments.apps "web" is forbidden: User "ada" cannot patch resource "deployments" in API group "apps"',
        'deployments.apps "web" is forbidden: User "ada" cannot patch resource "deployments" in API group "apps"',
        "grant the user of this context the verb on the resource",
    ),
    Hinted(
        "a webhook that says no has nothing to do with permissions",
        403,
        'admission webhook "policy.example.com" denied the request: no latest tags',
        'admission webhook "policy.example.com" denied the request: no latest tags',
        "meet the rule of the admission webhook 'policy.example.com', or see its configuration",
    ),
    Hinted(
        "a webhook that says no with a status of its own",
        429,
        'admission webhook "policy.example.com" denied the request: too many',
        'Forbidden: admission webhook "policy.example.com" denied the request: too many',
        "meet the rule of the admission webhook 'policy.example.com', or see its configuration",
    ),
    Hinted(
        "a policy of the cluster",
        403,
        "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'sizes' with binding 'all' denied request: too big",
        "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'sizes' with binding 'all' denied request: too big",
        "meet the rule of the ValidatingAdmissionPolicy 'sizes', or change it",
    ),
    Hinted(
        "a quota",
        403,
        'pods "web" is forbidden: exceeded quota: small, requested: pods=1, used: pods=5, limited: pods=5',
        'pods "web" is forbidden: exceeded quota: small, requested: pods=1, used: pods=5, limited: pods=5',
        "ask for less, or raise the ResourceQuota",
    ),
    Hinted(
        "another authority of the cluster",
        403,
        'pods "web" is forbidden: violates PodSecurity "restricted:latest": privileged',
        'pods "web" is forbidden: violates PodSecurity "restricted:latest": privileged',
        "see which authorizer or admission plugin of the cluster refused it",
    ),
]


@each_row("case", HINTS, ids=lambda case: case.why)
def test_a_refusal_says_what_to_do_and_its_reason_once(case: Hinted) -> None:
    body = json.dumps(a_status(case.message, reason="Forbidden")).encode()
    failure = failure_of_refusal(Request(method="PATCH", path="/x", body=DEPLOYMENT), case.status, {}, body)
    assert (failure.message, failure.hint) == (case.shown, case.hint)


def test_causes_name_fields_and_their_owners() -> None:
    failure = failure_of_refusal(Request(method="PATCH", path="/x"), 409, {}, json.dumps(ANSWERS[1].body).encode())
    assert failure.causes == (
        Cause(
            reason="FieldManagerConflict",
            field=".spec.replicas",
            manager="kube-controller-manager",
            subresource="scale",
        ),
    )


def test_no_more_than_a_hundred_causes_are_read() -> None:
    causes = [{"reason": "FieldValueInvalid", "message": "no", "field": f"data.{number}"} for number in range(101)]
    failure = failure_of_refusal(
        Request(method="PATCH", path="/x"), 422, {}, json.dumps(a_status("no", *causes)).encode()
    )
    assert failure.causes == tuple(Cause(reason="FieldValueInvalid", field=f"data.{number}") for number in range(100))


class Delay(NamedTuple):
    why: str
    headers: dict[str, str]
    details: dict[str, Any]
    want: float


@pytest.mark.parametrize(
    "case",
    [
        Delay("the header", {"Retry-After": "7"}, {"retryAfterSeconds": 3}, 7.0),
        Delay("the body", {}, {"retryAfterSeconds": 3}, 3.0),
        Delay("a date is rare, and soon", {"Retry-After": "Sat, 21 Nov 2026 12:00:00 GMT"}, {}, 1.0),
        Delay("nothing is said", {}, {}, 0.0),
    ],
    ids=lambda case: case.why,
)
def test_when_to_ask_again(case: Delay) -> None:
    body = json.dumps({"kind": "Status", "details": case.details}).encode()
    assert failure_of_refusal(Request(method="GET", path="/x"), 429, case.headers, body).retry_after == case.want


def test_everything_people_hide_secrets_in_is_sensitive() -> None:
    assert CANARY in values_not_to_be_repeated(DEPLOYMENT)
    assert {"Y2FuYXJ5LTQ3MTE=", CANARY} <= values_not_to_be_repeated(SECRET)
    assert base64.b64encode(CANARY.encode()).decode() in values_not_to_be_repeated(DEPLOYMENT)
    lines = {"kind": "ConfigMap", "data": {"file": f"user=ada\npassword={CANARY}"}}
    assert f"password={CANARY}" in values_not_to_be_repeated(lines)


def test_a_long_message_is_cut() -> None:
    assert len(message_without_secrets("x " * 1000, DEPLOYMENT)) == 400


class Shown(NamedTuple):
    why: str
    path: str
    value: Any
    manifest: Any
    want: str


SHOWN = [
    Shown("a number", ".spec.replicas", 3, DEPLOYMENT, "3"),
    Shown("a switch", ".spec.paused", True, DEPLOYMENT, "true"),
    Shown("a structure by its size", ".spec.selector", {"a": 1, "b": 2}, DEPLOYMENT, "(2 fields)"),
    Shown("a list by its length", ".args", ["a"], DEPLOYMENT, "(1 item)"),
    Shown("nothing, which YAML calls null", ".rules", None, DEPLOYMENT, "null"),
    Shown("a long text shortened", ".metadata.annotations.note", "x" * 100, DEPLOYMENT, "x" * 77 + "..."),
    Shown("a variable", '.spec.containers[name="web"].env[name="A"].value', CANARY, DEPLOYMENT, "(hidden)"),
    Shown("an item of variables", '.spec.containers[name="web"].env[name="A"]', CANARY, DEPLOYMENT, "(hidden)"),
    Shown(
        "the last applied configuration",
        ".metadata.annotations.kubectl.kubernetes.io/last-applied-configuration",
        CANARY,
        DEPLOYMENT,
        "(hidden)",
    ),
    Shown("anything of a Secret", ".data.password", CANARY, SECRET, "(hidden)"),
    Shown("an annotation of a Secret", ".metadata.annotations.note", CANARY, SECRET, "(hidden)"),
    Shown("a label of a Secret", ".metadata.labels.app", "web", SECRET, "web"),
]


@each_row("case", SHOWN, ids=lambda case: case.why)
def test_a_value_is_shown_where_it_can_be_no_secret(case: Shown) -> None:
    assert value_for_report(case.value, case.path, case.manifest) == case.want
