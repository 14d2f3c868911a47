"""Refusals of an API server: status, reason and causes are read into a ``Failure``, and secrets are left out.

Conflicts are distinguished by their causes alone: a 409 naming field managers is about ownership, any other is a race
and worth another attempt. A 500 about a typed patch is the manifest's fault, however transient a 500 sounds: the API
server answers so when its schema does not know a field that server-side apply sends.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from render.expressions import lazy_expression

from .exchange import Cause, Failure, FailureKind, Request
from .masking import is_content_secret, message_without_secrets
from .shapes import parse_status_of_refusal

_BY_STATUS = {
    400: FailureKind.BAD_REQUEST,
    401: FailureKind.UNAUTHORIZED,
    403: FailureKind.FORBIDDEN,
    404: FailureKind.NOT_FOUND,
    406: FailureKind.UNSUPPORTED,
    407: FailureKind.PROXY,
    409: FailureKind.RACE,
    410: FailureKind.EXPIRED,
    413: FailureKind.TOO_LARGE,
    415: FailureKind.UNSUPPORTED,
}
LACKING_HINT = "grant the user of this context the verb on the resource"
"""The hint of a refusal for lack of a right, which whoever knows the cluster's name can make a command."""
_HINTS = {
    FailureKind.UNAUTHORIZED: "renew the credentials of this cluster's context",
    FailureKind.THROTTLED: "see what keeps its API server busy, and its priority levels (kubectl get flowschemas)",
    FailureKind.PROXY: "see the proxy-url of this cluster's context, or HTTP_PROXY; nothing is known of the cluster",
    FailureKind.NAMESPACE_TERMINATING: "wait until the namespace is gone; the next pass creates it again",
    FailureKind.NAMESPACE_MISSING: "add the Namespace to the fleet, or create it in the cluster",
    FailureKind.TOO_LARGE: "make the object smaller: at most 1 MiB of a ConfigMap or Secret, 1.5 MiB of any",
    FailureKind.IMMUTABLE: "undo the change, or rename the object",
    FailureKind.MANIFEST: "correct the template: the server's schema does not accept the field",
    FailureKind.WEBHOOK: "see to the webhook's backend; nothing it guards can be written meanwhile",
    FailureKind.CONVERSION: "see to the conversion webhook in its CustomResourceDefinition, and to the backend of that",
    FailureKind.FORMER_VERSION: "see who owns fields in it: kubectl get -o yaml --show-managed-fields",
    FailureKind.INITIALIZING: "wait until the server can read its objects again; if it stays so, see the server's log",
}
_OWN_MESSAGES = {
    FailureKind.NOT_SERVED: "the cluster does not serve this kind",
    FailureKind.UNAUTHORIZED: "the cluster does not accept these credentials",
    FailureKind.INITIALIZING: "the server cannot read the objects of this kind at the moment",
    FailureKind.PROXY: "the proxy on the way to the cluster does not let us through: HTTP status 407",
}
_MANIFEST_PHRASES = (
    "failed to create typed",
    "field not declared in schema",
    "unable to convert unstructured object",
)
# No reason or cause says that a field is immutable: each kind has its own sentence for it, under status 422.
_IMMUTABLE = lazy_expression(
    r"immutable|updates to statefulset spec for fields other than|cannot change roleRef|may not change once set"
    r"|updates to \w+ are forbidden|may not be changed in an update|may not change fields other than"
    r"|can not be less than (status\.capacity|previous value)",
    re.IGNORECASE,
)
_CONFLICT = lazy_expression(r'conflicts? with "(?P<manager>[^"]*)"(?: with subresource "(?P<subresource>[^"]*)")?')
_DENIED = lazy_expression(r"admission webhook \"(?P<name>[^\"]*)\" denied the request")
_DENIED_BY_POLICY = lazy_expression(r"ValidatingAdmissionPolicy '(?P<name>[^']*)' with binding '[^']*' denied request")
_LACKING = lazy_expression(r"\bUser \"[^\"]*\" cannot ")
_CONVERSION = lazy_expression(r"conversion webhook for (?P<version>[^,\s]+), Kind=(?P<kind>\w+) failed")
_WEBHOOK = lazy_expression(r'failed calling webhook "(?P<name>[^"]*)"')
# To apply to an object, a server converts it to the versions that its managed fields are recorded in.
_FORMER = lazy_expression(
    r"failed to convert \w+ object (?:to last applied version|at version (?P<version>[^\s:]+))"
    r"|request to convert CR to an invalid group/version: (?P<gone>[^\s,;]+)"
)
FORMER_VERSION = "FormerVersion"
"""The reason of the cause that has, as its field, the version which managed fields cannot be read in."""
# Neither refusal of etcd's, nor of the server's on the way to it, has a status of its own: both come as a 500.
_OVERSIZED = lazy_expression(r"etcdserver: request is too large|trying to send message larger than max")
# Conversion comes first: while it fails, a server can neither read the objects of a kind nor read in its storage.
_NO_SERVERS_FAULT = (
    (_CONVERSION, FailureKind.CONVERSION),
    (lazy_expression(r"storage is \(re\)initializing"), FailureKind.INITIALIZING),
    # A webhook may say no with any status, and none of them is a server's that has too much to do.
    (_DENIED, FailureKind.BAD_REQUEST),
    # This one quotes the field that a former version lacks, as if the manifest were at fault.
    (_FORMER, FailureKind.FORMER_VERSION),
    (lazy_expression("|".join(map(re.escape, _MANIFEST_PHRASES))), FailureKind.MANIFEST),
    (_OVERSIZED, FailureKind.TOO_LARGE),
    (_WEBHOOK, FailureKind.WEBHOOK),
)
# Of a Secret only these sentences are repeated: names stand in them, and no content.
_NAMES_ALONE = lazy_expression(
    r"User \"[^\"]*\" cannot \w+ resource \"[^\"]*\" in API group \"[^\"]*\"( in the namespace \"[^\"]*\")?"
    rf"|{_DENIED.pattern.replace('?P<name>', '')}|{_DENIED_BY_POLICY.pattern.replace('?P<name>', '')}"
    r"|exceeded quota: [^,\s]+|Too long: may not be more than \d+ bytes|Required value"
    r"|(?<![.\w])[.\w]++: field not declared in schema"
)
_UNREPEATED = "the server's answer is not repeated, for it may quote what is secret"
_NO_PAGE = b"404 page not found"
_MOST_BYTES = "may not be more than 1048576 bytes"
_MOST_DIGITS = 9
_NO_FIELDS = frozenset({"", "<nil>", "[]"})
_VALUE_CAUSES = frozenset({"Invalid", "Unsupported", "Duplicate"})


def failure_of_refusal(request: Request, status: int, headers: Mapping[str, str], body: bytes) -> Failure:
    """Return the failure that the refusal of ``request`` means."""
    refusal = parse_status_of_refusal(body)
    message, details = refusal["message"], refusal["details"]
    causes = tuple(_parse_cause(item) for item in details["causes"])
    kind = _failure_kind(status, message, causes, details)
    return Failure(
        kind=kind,
        message=_message_of_refusal(kind, status, refusal, request),
        hint=_HINTS.get(kind, "")
        or _hint_if_not_from_api_server(status, refusal, body)
        or _hint_for_admission(status, message),
        status=status,
        causes=(
            *_cause_naming_former_version(kind, message),
            *(cause for cause in causes if cause.field or cause.manager),
        ),
        retry_after=_retry_after_seconds(headers.get("Retry-After", "")) or float(details["retryAfterSeconds"]),
    )


def _hint_if_not_from_api_server(status: int, refusal: Mapping[str, Any], body: bytes) -> str:
    """Return what to do about a refusal that is none of an API server's: servers refuse with a Status in JSON.

    A path that they do not serve is the exception, and one that has too much to do has its own words.
    """
    is_known = refusal["isStatus"] or body.strip() == _NO_PAGE or status == 429
    return "" if is_known or status >= 500 else "what answers may be no API server: see what stands before it"


def _hint_for_admission(status: int, message: str) -> str:
    """Return what to do about a refusal that credentials, existence and schema have nothing to do with."""
    if denied := _DENIED.search(message):
        return f"meet the rule of the admission webhook {denied['name']!r}, or see its configuration"
    if denied := _DENIED_BY_POLICY.search(message):
        return f"meet the rule of the ValidatingAdmissionPolicy {denied['name']!r}, or change it"
    if "exceeded quota: " in message:
        return "ask for less, or raise the ResourceQuota"
    if status != 403:
        return ""
    if _LACKING.search(message):
        return LACKING_HINT
    return "see which authorizer or admission plugin of the cluster refused it"


def _parse_cause(item: Mapping[str, Any]) -> Cause:
    match = _CONFLICT.search(item["message"])
    return Cause(
        reason=item["reason"],
        field=item["field"],
        manager=match["manager"] if match else "",
        subresource=(match["subresource"] or "") if match else "",
    )


def _failure_kind(status: int, message: str, causes: tuple[Cause, ...], details: Mapping[str, Any]) -> FailureKind:
    reasons = {cause.reason for cause in causes}
    if status == 409 and "FieldManagerConflict" in reasons:
        return FailureKind.CONFLICT
    if status == 403 and "NamespaceTerminating" in reasons:
        return FailureKind.NAMESPACE_TERMINATING
    if status == 422:
        return _failure_kind_of_unprocessable(message)
    if status == 404:
        return _failure_kind_of_missing(details)
    if status >= 500 or status == 429:
        return _failure_kind_of_server_error(status, message)
    return _BY_STATUS.get(status, FailureKind.BAD_REQUEST)


def _failure_kind_of_unprocessable(message: str) -> FailureKind:
    if _IMMUTABLE.search(message):
        return FailureKind.IMMUTABLE
    return FailureKind.TOO_LARGE if _MOST_BYTES in message else FailureKind.INVALID


def _failure_kind_of_missing(details: Mapping[str, Any]) -> FailureKind:
    """Tell a missing object from a kind that is not served (an answer that names no object) and a missing namespace."""
    if not details.get("name"):
        return FailureKind.NOT_SERVED
    return FailureKind.NAMESPACE_MISSING if details.get("kind") == "namespaces" else FailureKind.NOT_FOUND


def _failure_kind_of_server_error(status: int, message: str) -> FailureKind:
    """Tell what is wrong with one object or kind from what is wrong with the server, by the words for it alone."""
    usual = FailureKind.THROTTLED if status == 429 else FailureKind.UNAVAILABLE
    return next((kind for pattern, kind in _NO_SERVERS_FAULT if pattern.search(message)), usual)


def _message_of_refusal(kind: FailureKind, status: int, refusal: Mapping[str, Any], request: Request) -> str:
    """Return one line about the refusal; causes that name fields take the place of a message that quotes values."""
    message = refusal["message"]
    if own := _replacement_for_message(kind, message):
        return own
    causes = refusal["details"]["causes"]
    if kind is FailureKind.CONFLICT:
        return "; ".join(_conflict_in_words(_parse_cause(item)) for item in causes)
    if status == 422 and causes:
        return "; ".join(sorted({_cause_in_words(item, request.body) for item in causes}))
    text = _text_that_may_be_repeated(message, request.body) or (_UNREPEATED if is_content_secret(request.body) else "")
    reason = refusal["reason"] or (kind if refusal["isStatus"] else f"HTTP status {status}")
    # Reports put the kind before the message; it would stand there twice.
    if text and reason == kind:
        return text
    return f"{reason}: {text}" if text else str(reason)


def _cause_naming_former_version(kind: FailureKind, message: str) -> Iterator[Cause]:
    """Yield the version that an object could not be converted to, where the refusal names it."""
    found = _FORMER.search(message) if kind is FailureKind.FORMER_VERSION else None
    if found and (version := found["version"] or found["gone"]):
        yield Cause(reason=FORMER_VERSION, field=version)


def _replacement_for_message(kind: FailureKind, message: str) -> str:
    """Return our own words for a refusal whose words say less, or more than they should; empty for any other."""
    if webhook := _WEBHOOK.search(message):
        return f"the admission webhook {webhook['name']!r} could not be called"
    if conversion := _CONVERSION.search(message):
        return f"the conversion webhook of {conversion['kind']} in {conversion['version']} fails"
    if kind is FailureKind.FORMER_VERSION:
        named = next((cause.field for cause in _cause_naming_former_version(kind, message)), "a former version")
        return f"its managed fields in {named} cannot be read any more"
    return _OWN_MESSAGES.get(kind, "")


def _conflict_in_words(cause: Cause) -> str:
    through = f" (through {cause.subresource})" if cause.subresource else ""
    return f"field manager {cause.manager!r}{through} owns {cause.field}"


def _cause_in_words(item: Mapping[str, Any], manifest: Any) -> str:
    field = item["field"]
    # Of objects with too much in them a server prints, below its sentence, how the values differ.
    sentence = item["message"].partition("\n")[0]
    unrepeated = "it cannot change" if _IMMUTABLE.search(sentence) else "its value is not accepted"
    text = _text_that_may_be_repeated(_detail_after_quoted_value(sentence), manifest) or unrepeated
    return f"{field}: {text}" if field not in _NO_FIELDS else text


def _text_that_may_be_repeated(text: str, manifest: Any) -> str:
    """Return as much of a server's text as may be repeated, on one line."""
    if not is_content_secret(manifest):
        return message_without_secrets(text, manifest)
    found = _NAMES_ALONE.search(text)
    return found[0] if found else ""


def _detail_after_quoted_value(message: str) -> str:
    """Return the end of a cause's message, after the value it quotes; nothing when it only quotes one."""
    head, _, quoted = message.partition(" value: ")
    if head not in _VALUE_CAUSES:
        return message
    _, supported, names = quoted.rpartition("supported values: ")
    if supported:
        return supported + names
    detail = quoted.rpartition(": ")[2] if ": " in quoted else ""
    return "" if detail.endswith(('"', "}", "]")) else detail


def _retry_after_seconds(text: str) -> float:
    """Return the seconds of a Retry-After header; a date there is rare and read as 1 second."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return float(text) if is_number else 1.0 if text else 0.0
