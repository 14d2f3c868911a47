"""Interpreter webhooks: the one that answers for a kind, the request it is sent, and the meaning of its answer.

Calling one is an effect: whoever touches clusters brings a ``Send``, which posts a request or repeats the answer it got
before. Without one - while rendering - a kind that needs a webhook cannot be interpreted, and the error says so. No
webhook is asked about a Secret: its content would leave the fleet.

A request's ``uid`` is made of the whole question and the webhook asked, so that equal questions have equal ones.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from render.interpretation.fields import integer_at, list_at, mapping_at, objects_at, text_at, value_at
from render.interpretation.operations import (
    FUNCTION_BY_OPERATION,
    Interpretation,
    InterpreterError,
    Items,
    Operation,
    Replicas,
)
from render.model import CONFIG_API_VERSION, Manifest, group_of
from render.resources import Component, DependentObject

from .answers import component_from_answer, dependency_from_answer, missing_part_of_reference, requirements_from_answer

KIND = "ResourceInterpreterWebhookConfiguration"
SECRET = ("v1", "Secret")
CONTEXT_KIND, VERSION = "ResourceInterpreterContext", "v1alpha1"
ANY = "*"
MOST_OPERATIONS = 10_000
MOST_COPIES = 4
LONGEST_REASON = 300
_IDENTITY = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))


class WebhookRule(Struct, frozen=True, kw_only=True):
    """The kinds and operations a webhook answers for: four lists, in each of which ``*`` alone is everything."""

    operations: tuple[str, ...]
    api_groups: tuple[str, ...]
    api_versions: tuple[str, ...]
    kinds: tuple[str, ...]

    def matches(self, operation: Operation, api_version: str, kind: str) -> bool:
        """Say whether the rule covers an operation on a kind."""
        asked = (operation.value, group_of(api_version), api_version.rpartition("/")[2], kind)
        allowed = (self.operations, self.api_groups, self.api_versions, self.kinds)
        return all(ANY in names or name in names for name, names in zip(asked, allowed, strict=True))


class Webhook(Struct, frozen=True, kw_only=True):
    """One webhook: its name and its configuration's, its rules and its address (``client_config`` as in the API).

    ``versions`` are those of ResourceInterpreterContext it accepts; none named is the only one there is.
    """

    name: str
    rules: tuple[WebhookRule, ...]
    client_config: Mapping[str, Any]
    timeout_seconds: int = 10
    configuration: str = ""
    versions: tuple[str, ...] = (VERSION,)

    @property
    def id(self) -> str:
        """The name no other webhook has, by which they are ordered too (Karmada's)."""
        return f"{self.configuration}/{self.name}"

    def error(self, what: str) -> "WebhookError":
        """Return an error of this webhook."""
        return WebhookError(f"webhook {self.name} {what}", fault=what)


class WebhookError(InterpreterError):
    """A webhook was not reached, refused, or gave an answer that cannot be used; the message names it.

    ``fault`` is the message without the name, for tables that have the name in a column of its own.
    """

    def __init__(self, what: str, *, where: str = "", fault: str = "") -> None:
        super().__init__(what, where=where)
        self.fault = fault or what


Send = Callable[[Webhook, Mapping[str, Any]], Mapping[str, Any]]
"""Post a ResourceInterpreterContext to a webhook and return the one it answers with, or raise InterpreterError."""


class Call(Struct, frozen=True, kw_only=True):
    """An operation one webhook is asked for."""

    webhook: Webhook
    operation: Operation
    send: Send

    def ask(self, manifest: Manifest, **more: Any) -> Mapping[str, Any]:
        """Return the webhook's response about an object, which must be a success with the fields it needs."""
        if VERSION not in self.webhook.versions:
            raise self.error(f"accepts no version of {CONTEXT_KIND} known here ({VERSION})")
        group, _, version = str(manifest.get("apiVersion", "")).rpartition("/")
        request = {
            "kind": {"group": group, "version": version, "kind": manifest.get("kind", "")},
            "name": text_at(manifest, "metadata", "name"),
            "namespace": text_at(manifest, "metadata", "namespace"),
            "operation": self.operation.value,
            "object": manifest,
            **{key: value for key, value in more.items() if value is not None},
        }
        uid = _uid_of_request(self.webhook, request)
        context = {"apiVersion": CONFIG_API_VERSION, "kind": CONTEXT_KIND, "request": {"uid": uid, **request}}
        return self._checked_response(self.send(self.webhook, context), uid)

    def _checked_response(self, answer: Mapping[str, Any], uid: str) -> Mapping[str, Any]:
        # Karmada's own library for webhooks leaves apiVersion and kind out of its answers.
        for field, wanted in (("apiVersion", CONFIG_API_VERSION), ("kind", CONTEXT_KIND)):
            if (value_at(answer, field) or wanted) != wanted:
                raise self.error(f"answered with another {field} than {wanted}")
        response = mapping_at(answer, "response")
        if not response:
            raise self.error("answered without a response")
        if response.get("uid") != uid:
            raise self.error("answered another request")
        if response.get("successful") is not True:
            raise self.error(f"refused: {_reason_of_status(mapping_at(response, 'status'))}")
        return response

    def required_field(self, response: Mapping[str, Any], field: str) -> Any:
        """Return a field the operation's answer consists of."""
        value = value_at(response, field)
        if value is None:
            raise self.error(f"left out response.{field}")
        return value

    def error(self, what: str) -> WebhookError:
        """Return an error of this webhook."""
        return self.webhook.error(what)

    def replicas(self, manifest: Manifest) -> Replicas:
        """Ask for replicas and requirements."""
        response = self.ask(manifest)
        self.required_field(response, "replicas")
        needs = requirements_from_answer(mapping_at(response, "replicaRequirements") or None)
        return Replicas(replicas=integer_at(response, "replicas") or 0, requirements=needs)

    def components(self, manifest: Manifest) -> Iterable[Component]:
        """Ask for the pod templates."""
        return tuple(map(component_from_answer, objects_at(self.ask(manifest), "components")))

    def dependencies(self, manifest: Manifest) -> Iterable[DependentObject]:
        """Ask for the objects that must be propagated with it."""
        found = tuple(map(dependency_from_answer, objects_at(self.ask(manifest), "dependencies")))
        for dependency in found:
            if missing := missing_part_of_reference(dependency):
                raise self.error(f"answered with a dependency that has no {missing}")
        return found

    def is_healthy(self, observed: Manifest) -> bool:
        """Ask whether an object is healthy."""
        healthy = self.required_field(self.ask(observed), "healthy")
        if not isinstance(healthy, bool):
            raise self.error("answered with a response.healthy that is neither true nor false")
        return healthy

    def aggregated_status(self, template: Manifest, items: Items) -> Any:
        """Ask for the aggregated status of the members."""
        return self.patched_manifest(template, aggregatedStatus=None if items is None else list(items)).get("status")

    def patched_manifest(self, manifest: Manifest, **more: Any) -> Manifest:
        """Ask for a JSON patch and return the object it makes; neither patch nor patchType leaves it as it is."""
        response = self.ask(manifest, **more)
        patch, kind = text_at(response, "patch"), response.get("patchType")
        if not patch and kind is None:
            return manifest
        if kind != "JSONPatch":
            raise self.error("answered with a patch that is no JSONPatch")
        if not patch:
            raise self.error("left out response.patch")
        return _manifest_after_json_patch(self, manifest, patch)


def _uid_of_request(webhook: Webhook, request: Mapping[str, Any]) -> str:
    """Return the digest of a question and of the webhook it goes to. A new certificate makes no new webhook."""
    address = {key: value for key, value in webhook.client_config.items() if key != "caBundle"}
    return hashlib.sha256(json.dumps([webhook.id, address, request], sort_keys=True).encode()).hexdigest()[:32]


def _reason_of_status(status: Mapping[str, Any]) -> str:
    """Return a webhook's reason to refuse, on one line: its message, shortened where it is long, and its code."""
    message = " ".join(text_at(status, "message").split())
    if len(message) > LONGEST_REASON:
        message = f"{message[:LONGEST_REASON]}..."
    code = integer_at(status, "code")
    return (message or "it gives no reason") + (f" (code {code})" if code else "")


def _manifest_after_json_patch(call: Call, manifest: Manifest, encoded: str) -> Manifest:
    import jsonpatch

    try:
        patch = jsonpatch.JsonPatch.from_string(base64.b64decode(encoded, validate=True).decode())
        _check_patch_copies_little(call, patch)
        patched = patch.apply(manifest)
    except (binascii.Error, UnicodeDecodeError, ValueError) as error:
        raise call.error("answered with a patch that is no base64 JSON") from error
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, RecursionError) as error:
        raise call.error("answered with a patch that does not apply") from error
    made = mapping_at({"the patched object": patched}, "the patched object")
    if any(value_at(made, *path) != value_at(manifest, *path) for path in _IDENTITY):
        raise call.error("answered with a patch that makes it another object")
    return made


def _check_patch_copies_little(call: Call, patch: Any) -> None:
    """Refuse a patch of more than a few copies: each may double the object, and twenty make a million of it.

    A copy cannot be larger than all that is there, which the copies before it at most doubled.
    """
    operations = patch.patch
    copies = sum(isinstance(each, Mapping) and each.get("op") == "copy" for each in operations)
    if len(operations) > MOST_OPERATIONS or copies > MOST_COPIES:
        raise call.error(f"answered with a patch of more than {MOST_OPERATIONS} operations or {MOST_COPIES} copies")


FUNCTIONS: Mapping[Operation, Callable[[Call], Callable[..., Any]]] = {
    Operation.INTERPRET_REPLICA: lambda call: call.replicas,
    Operation.INTERPRET_COMPONENT: lambda call: call.components,
    Operation.REVISE_REPLICA: lambda call: (
        lambda manifest, replicas: call.patched_manifest(manifest, replicas=replicas)
    ),
    Operation.RETAIN: lambda call: lambda desired, observed: call.patched_manifest(desired, observedObject=observed),
    Operation.AGGREGATE_STATUS: lambda call: call.aggregated_status,
    Operation.INTERPRET_DEPENDENCY: lambda call: call.dependencies,
    Operation.INTERPRET_STATUS: lambda call: lambda observed: call.required_field(call.ask(observed), "rawStatus"),
    Operation.INTERPRET_HEALTH: lambda call: call.is_healthy,
}
"""The function of a call that asks for each operation."""


def operation_by_webhook(call: Call) -> Callable[..., Any]:
    """Return the function that asks for a call's operation; all its errors name the webhook."""
    function = FUNCTIONS[call.operation](call)

    def ask(*arguments: Any) -> Any:
        try:
            answer = function(*arguments)
            return tuple(answer) if isinstance(answer, Iterator) else answer
        except WebhookError:
            raise
        except InterpreterError as error:
            raise call.error(f"answered with something of the wrong shape: {error.what}") from error

    return ask


def webhooks_of(manifests: Iterable[Manifest]) -> tuple[Webhook, ...]:
    """Return the webhooks of the configurations among these manifests, in Karmada's order."""
    found = (
        Webhook(
            name=text_at(webhook, "name"),
            rules=tuple(map(_webhook_rule, objects_at(webhook, "rules"))),
            client_config=mapping_at(webhook, "clientConfig"),
            timeout_seconds=integer_at(webhook, "timeoutSeconds") or 10,
            configuration=str(manifest["metadata"]["name"]),
            versions=tuple(map(str, list_at(webhook, "interpreterContextVersions"))) or (VERSION,),
        )
        for manifest in manifests
        if manifest["kind"] == KIND and group_of(manifest["apiVersion"]) == "config.karmada.io"
        for webhook in objects_at(manifest, "webhooks")
    )
    return tuple(sorted(found, key=lambda webhook: webhook.id))


def _webhook_rule(rule: Mapping[str, Any]) -> WebhookRule:
    fields = ("operations", "apiGroups", "apiVersions", "kinds")
    operations, groups, versions, kinds = (tuple(map(str, list_at(rule, field))) for field in fields)
    return WebhookRule(operations=operations, api_groups=groups, api_versions=versions, kinds=kinds)


def webhook_interpretation(
    webhooks: Iterable[Webhook], operation: Operation, kind: tuple[str, str], send: Send | None
) -> Interpretation | None:
    """Return the interpretation by the first webhook with a rule for this operation and kind, None without one."""
    if kind == SECRET:
        return None
    for webhook in webhooks:
        if any(rule.matches(operation, *kind) for rule in webhook.rules):
            call = Call(webhook=webhook, operation=operation, send=send or _refuse_to_send)
            functions: dict[str, Any] = {FUNCTION_BY_OPERATION[operation]: operation_by_webhook(call)}
            return Interpretation(**functions)
    return None


def error_of_uncalled_webhook(webhook: Webhook) -> WebhookError:
    """Return the error about a kind that needs a webhook where none is called."""
    return webhook.error(
        "interprets this kind, and rendering calls nothing over the network; "
        "write a ResourceInterpreterCustomization for it instead"
    )


def _refuse_to_send(webhook: Webhook, _context: Mapping[str, Any]) -> Mapping[str, Any]:
    raise error_of_uncalled_webhook(webhook)
