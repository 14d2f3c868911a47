"""ResourceInterpreterWebhookConfigurations: which webhook answers for a kind.

Calling one is an effect: whoever touches clusters brings a function that does. Without it - while rendering - a kind
that needs a webhook cannot be interpreted, and the error says so. No webhook is asked about a Secret: its content
would leave the fleet.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from render.model import Manifest, group_of

from .fields import integer_at, list_at, mapping_at, objects_at, text_at
from .operations import FUNCTION_BY_OPERATION, Interpretation, Operation
from .webhook_calls import VERSION, Call, Send, Webhook, WebhookError, WebhookRule, function_of

__all__ = ["Send", "Webhook", "WebhookError", "WebhookRule", "refusal", "webhook_interpretation", "webhooks_of"]

KIND = "ResourceInterpreterWebhookConfiguration"
SECRET = ("v1", "Secret")


def webhooks_of(manifests: Iterable[Manifest]) -> tuple[Webhook, ...]:
    """Return the webhooks of the configurations among these manifests, in Karmada's order."""
    found = (
        Webhook(
            name=text_at(webhook, "name"),
            rules=tuple(map(_rule, objects_at(webhook, "rules"))),
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


def _rule(rule: Mapping[str, Any]) -> WebhookRule:
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
            call = Call(webhook=webhook, operation=operation, send=send or _refuse)
            functions: dict[str, Any] = {FUNCTION_BY_OPERATION[operation]: function_of(call)}
            return Interpretation(**functions)
    return None


def refusal(webhook: Webhook) -> WebhookError:
    """Return why a kind is not interpreted where no webhook is called."""
    return webhook.error(
        "interprets this kind, and rendering calls nothing over the network; "
        "write a ResourceInterpreterCustomization for it instead"
    )


def _refuse(webhook: Webhook, _context: Mapping[str, Any]) -> Mapping[str, Any]:
    raise refusal(webhook)
