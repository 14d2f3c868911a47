"""Interpreter webhooks asked in one pass: every question once, and a webhook that is down not again and again."""

import threading
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from reconciler.repository.trailers import engine_version
from reconciler.source.desired import Desired, interpreter_of_source
from render.interpreter import Interpreter, InterpreterError
from render.interpreter.webhooks import Webhook

if TYPE_CHECKING:
    import ssl

    from .webhook_transport import UnreachedError

MOST_FAILURES = 3
"""After so many questions in a row that a webhook did not answer at all, it is asked nothing more in this pass."""


class WebhookCalls(Struct, kw_only=True):
    """The questions and answers of a pass; several threads may ask at once.

    A webhook that is asked nothing more fails with the words of its last failure, so that the message is the same for
    every object, whichever came first.
    """

    user_agent: str = "argosy"
    _answers: dict[str, Mapping[str, Any] | InterpreterError] = field(default_factory=dict)
    _failures: Counter[str] = field(default_factory=Counter)
    _down: dict[str, "UnreachedError"] = field(default_factory=dict)
    _tls: dict[str, "ssl.SSLContext"] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, webhook: Webhook, context: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a webhook's answer; WebhookError says why it gave none."""
        uid = str(context["request"]["uid"])
        if uid not in self._answers:
            self._answers[uid] = self._down.get(webhook.id) or self._ask_webhook(webhook, context)
        known = self._answers[uid]
        if isinstance(known, InterpreterError):
            raise type(known)(known.what)
        return known

    def _ask_webhook(self, webhook: Webhook, context: Mapping[str, Any]) -> Mapping[str, Any] | InterpreterError:
        from .webhook_transport import UnreachedError, post_to_webhook

        try:
            answer = post_to_webhook(webhook, context, self._tls_context(webhook), user_agent=self.user_agent)
        except UnreachedError as error:
            with self._lock:
                self._failures[webhook.id] += 1
                if self._failures[webhook.id] >= MOST_FAILURES:
                    self._down[webhook.id] = error
            return error
        except InterpreterError as error:
            return error
        with self._lock:
            self._failures[webhook.id] = 0
        return answer

    def _tls_context(self, webhook: Webhook) -> "ssl.SSLContext":
        """Return the TLS settings of a webhook; certificates are read once."""
        from .webhook_transport import tls_context_of_webhook

        bundle = str(webhook.client_config.get("caBundle") or "")
        with self._lock:
            if bundle not in self._tls:
                self._tls[bundle] = tls_context_of_webhook(webhook)
            return self._tls[bundle]


def interpreter_that_calls_webhooks(desired: Desired) -> Interpreter:
    """Return the interpreter of a source, asking its webhooks over the network."""
    return interpreter_of_source(desired, WebhookCalls(user_agent=f"argosy/{engine_version()}").send)
