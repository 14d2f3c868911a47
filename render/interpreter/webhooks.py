"""ResourceInterpreterWebhookConfigurations: which webhook answers for a kind, what it is sent, what its answer means.

Calling one is an effect: whoever touches clusters brings a function that does. Without it - while rendering - a kind
that needs a webhook cannot be interpreted, and the error says so.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from render.model import Manifest, group_of

from .answers import component_of, dependency_of, requirements_of
from .fields import integer_at, list_at, mapping_at, objects_at, text_at, value_at
from .operations import FUNCTION_BY_OPERATION, Interpretation, InterpreterError, Items, Operation, Replicas

KIND = "ResourceInterpreterWebhookConfiguration"
CONTEXT = {"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterContext"}
ANY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRule:
    """What a webhook answers for: four lists, in each of which ``*`` alone is everything."""

    operations: tuple[str, ...]
    api_groups: tuple[str, ...]
    api_versions: tuple[str, ...]
    kinds: tuple[str, ...]

    def matches(self, operation: Operation, api_version: str, kind: str) -> bool:
        """Say whether the rule covers an operation on a kind."""
        asked = (operation.value, group_of(api_version), api_version.rpartition("/")[2], kind)
        allowed = (self.operations, self.api_groups, self.api_versions, self.kinds)
        return all(ANY in names or name in names for name, names in zip(asked, allowed, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """One webhook: its name, its rules, and how to reach it (``client_config`` as in the API)."""

    name: str
    rules: tuple[WebhookRule, ...]
    client_config: Mapping[str, Any]
    timeout_seconds: int = 10


Send = Callable[[Webhook, Mapping[str, Any]], Mapping[str, Any]]
"""Post a ResourceInterpreterContext to a webhook and return the one it answers with, or raise InterpreterError."""


def webhooks_of(manifests: Iterable[Manifest]) -> tuple[Webhook, ...]:
    """Return the webhooks of the configurations among these manifests, in their order."""
    return tuple(
        Webhook(
            name=text_at(webhook, "name"),
            rules=tuple(map(_rule, objects_at(webhook, "rules"))),
            client_config=mapping_at(webhook, "clientConfig"),
            timeout_seconds=integer_at(webhook, "timeoutSeconds") or 10,
        )
        for manifest in manifests
        if manifest["kind"] == KIND and group_of(manifest["apiVersion"]) == "config.karmada.io"
        for webhook in objects_at(manifest, "webhooks")
    )


def _rule(rule: Mapping[str, Any]) -> WebhookRule:
    fields = ("operations", "apiGroups", "apiVersions", "kinds")
    operations, groups, versions, kinds = (tuple(map(str, list_at(rule, field))) for field in fields)
    return WebhookRule(operations=operations, api_groups=groups, api_versions=versions, kinds=kinds)


def webhook_interpretation(
    webhooks: Iterable[Webhook], operation: Operation, kind: tuple[str, str], send: Send | None
) -> Interpretation | None:
    """Return the interpretation by the first webhook with a rule for this operation and kind, None without one."""
    for webhook in webhooks:
        if any(rule.matches(operation, *kind) for rule in webhook.rules):
            call = Call(webhook=webhook, operation=operation, send=send or _refuse)
            functions: dict[str, Any] = {FUNCTION_BY_OPERATION[operation]: FUNCTIONS[operation](call)}
            return Interpretation(**functions)
    return None


def _refuse(webhook: Webhook, _context: Mapping[str, Any]) -> Mapping[str, Any]:
    raise InterpreterError(
        f"webhook {webhook.name} interprets this kind, and rendering calls nothing over the network; "
        "write a ResourceInterpreterCustomization for it instead"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """An operation one webhook is asked for."""

    webhook: Webhook
    operation: Operation
    send: Send

    def ask(self, manifest: Manifest, **more: Any) -> Mapping[str, Any]:
        """Return the webhook's response about an object, which must be a success with the fields it needs."""
        group, _, version = str(manifest.get("apiVersion", "")).rpartition("/")
        request = {
            "kind": {"group": group, "version": version, "kind": manifest.get("kind", "")},
            "name": text_at(manifest, "metadata", "name"),
            "namespace": text_at(manifest, "metadata", "namespace"),
            "operation": self.operation.value,
            "object": manifest,
            **{key: value for key, value in more.items() if value is not None},
        }
        uid = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:32]
        answer = self.send(self.webhook, {**CONTEXT, "request": {"uid": uid, **request}})
        response = mapping_at(answer, "response")
        if response.get("uid") != uid:
            raise self.error("answered another request")
        if response.get("successful") is not True:
            raise self.error(f"refused: {text_at(response, 'status', 'message') or 'it gives no reason'}")
        return response

    def needed(self, response: Mapping[str, Any], field: str) -> Any:
        """Return a field the operation's answer consists of."""
        value = value_at(response, field)
        if value is None:
            raise self.error(f"left out response.{field}")
        return value

    def error(self, what: str) -> InterpreterError:
        """Return an error of this webhook."""
        return InterpreterError(f"webhook {self.webhook.name} {what}")

    def replicas(self, manifest: Manifest) -> Replicas:
        """Ask for replicas and requirements."""
        response = self.ask(manifest)
        self.needed(response, "replicas")
        needs = requirements_of(mapping_at(response, "replicaRequirements") or None)
        return Replicas(replicas=integer_at(response, "replicas") or 0, requirements=needs)

    def patched(self, manifest: Manifest, **more: Any) -> Manifest:
        """Ask for a JSON patch and return the object it makes."""
        response = self.ask(manifest, **more)
        if not response.get("patch"):
            return manifest
        if response.get("patchType") != "JSONPatch":
            raise self.error("answered with a patch that is no JSONPatch")
        return _patched(self, manifest, text_at(response, "patch"))


def _patched(call: Call, manifest: Manifest, encoded: str) -> Manifest:
    import jsonpatch

    try:
        patch = jsonpatch.JsonPatch.from_string(base64.b64decode(encoded, validate=True).decode())
        patched = patch.apply(manifest)
    except (binascii.Error, UnicodeDecodeError, ValueError) as error:
        raise call.error("answered with a patch that is no base64 JSON") from error
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError) as error:
        raise call.error("answered with a patch that does not apply") from error
    return mapping_at({"the patched object": patched}, "the patched object")


FUNCTIONS: Mapping[Operation, Callable[[Call], Callable[..., Any]]] = {
    Operation.INTERPRET_REPLICA: lambda call: call.replicas,
    Operation.INTERPRET_COMPONENT: lambda call: (
        lambda manifest: map(component_of, objects_at(call.ask(manifest), "components"))
    ),
    Operation.REVISE_REPLICA: lambda call: lambda manifest, replicas: call.patched(manifest, replicas=replicas),
    Operation.RETAIN: lambda call: lambda desired, observed: call.patched(desired, observedObject=observed),
    Operation.AGGREGATE_STATUS: lambda call: lambda template, items: _status(call, template, items),
    Operation.INTERPRET_DEPENDENCY: lambda call: (
        lambda manifest: map(dependency_of, objects_at(call.ask(manifest), "dependencies"))
    ),
    Operation.INTERPRET_STATUS: lambda call: lambda observed: call.needed(call.ask(observed), "rawStatus"),
    Operation.INTERPRET_HEALTH: lambda call: lambda observed: call.needed(call.ask(observed), "healthy") is True,
}
"""Which function asks for which operation."""


def _status(call: Call, template: Manifest, items: Items) -> Any:
    return call.patched(template, aggregatedStatus=None if items is None else list(items)).get("status")
