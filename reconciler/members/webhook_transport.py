"""One request to an interpreter webhook: HTTPS to where its configuration says, bounded in time and size.

The time limit holds for all of it - finding the address, connecting, TLS, waiting, reading. Nothing is retried, no
redirect is followed, no proxy is used. A certificate is verified by ``caBundle`` alone or, without one, by what this
system trusts.
"""

import base64
import json
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPException, HTTPSConnection
from queue import Empty, SimpleQueue
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote, urlsplit

from msgspec import Struct

from render.interpreter.webhooks import Webhook, WebhookError

MOST_BYTES = 3 * 2**20
_DEEPEST = 100
_DEFAULT_PORT = 443
_IN_PATHS = "/%:@!$&'()*+,;=-._~"
"""Characters that stay as they are in the path of a URL."""

_Result = TypeVar("_Result")


class UnreachedError(WebhookError):
    """A webhook did not answer at all, whatever the question was."""


class Address(Struct, frozen=True, kw_only=True):
    """The address of a webhook; that of a Service (``is_service``) means something inside its cluster alone."""

    host: str
    port: int
    path: str
    is_service: bool = False

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"https://{host}:{self.port}{self.path}"


def address_of_webhook(webhook: Webhook) -> Address:
    """Return the address of a webhook: its URL, or ``https://<service>.<namespace>.svc:<port>``, as for Karmada."""
    service = webhook.client_config.get("service")
    if service:
        path = f"/{str(service.get('path') or '').lstrip('/')}"
        host, port = f"{service['name']}.{service['namespace']}.svc", service.get("port") or _DEFAULT_PORT
        return Address(host=host, port=port, path=path, is_service=True)
    parts = urlsplit(str(webhook.client_config.get("url") or ""))
    return Address(host=parts.hostname or "", port=parts.port or _DEFAULT_PORT, path=parts.path or "/")


def tls_context_of_webhook(webhook: Webhook) -> ssl.SSLContext:
    """Return the TLS settings by which a webhook's certificate is verified."""
    bundle = webhook.client_config.get("caBundle")
    try:
        authorities = base64.b64decode(bundle).decode() if bundle else None
        context = ssl.create_default_context(cadata=authorities)
    except (ValueError, ssl.SSLError) as error:
        raise _error_of_unreached_webhook(webhook, "is not asked: its caBundle holds no certificates") from error
    # As in Kubernetes: every certificate of the bundle is trusted, and one needs no key identifiers to be.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def post_to_webhook(
    webhook: Webhook, context: Mapping[str, Any], tls: ssl.SSLContext, *, user_agent: str
) -> Mapping[str, Any]:
    """Send a ResourceInterpreterContext and return the one that is answered; WebhookError says why there is none."""
    exchange, body = _Exchange(webhook, tls), json.dumps(context).encode()
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "User-Agent": user_agent,
        "Connection": "close",
    }
    target = f"{quote(exchange.address.path, safe=_IN_PATHS)}?timeout={exchange.seconds}s"

    def send_and_read(connection: HTTPSConnection) -> tuple[int, bytes]:
        connection.request("POST", target, body, headers)
        with connection.getresponse() as response:
            return response.status, response.read(MOST_BYTES + 1)

    status, content = exchange.result(send_and_read)
    if 300 <= status < 400:
        raise webhook.error(f"answered with a redirect (HTTP status {status}), and redirects are not followed")
    if not 200 <= status < 300:
        raise webhook.error(f"answered with HTTP status {status}")
    if len(content) > MOST_BYTES:
        raise webhook.error(f"answered with more than {MOST_BYTES >> 20} MiB")
    return _parse_answer_as_plain_data(webhook, content)


def connect_to(webhook: Webhook) -> Address:
    """Connect to a webhook, asking nothing, and return its address; WebhookError says why that cannot be done."""
    exchange = _Exchange(webhook, tls_context_of_webhook(webhook))
    exchange.result(HTTPSConnection.connect)
    return exchange.address


class _Exchange:
    """A connection in use, in a thread that is left behind when its time is over."""

    def __init__(self, webhook: Webhook, tls: ssl.SSLContext) -> None:
        self.address = address_of_webhook(webhook)
        self.seconds = min(max(webhook.timeout_seconds, 1), 30)
        self._webhook = webhook
        self._connection = HTTPSConnection(self.address.host, self.address.port, timeout=self.seconds, context=tls)

    def result(self, use: Callable[[HTTPSConnection], _Result]) -> _Result:
        """Return the result of using the connection in the time there is."""
        done: SimpleQueue[_Result | Exception] = SimpleQueue()

        def run_use() -> None:
            try:
                done.put(use(self._connection))
            except Exception as error:  # noqa: BLE001 - explained, or raised again, where the result is awaited
                done.put(error)
            finally:
                self._connection.close()

        threading.Thread(target=run_use, daemon=True).start()
        try:
            result = done.get(timeout=self.seconds)
        except Empty as error:
            self._shut_socket_down()
            raise _error_of_unreached_webhook(self._webhook, f"did not answer within {self.seconds} s") from error
        if isinstance(result, Exception):
            self._raise_unreached_error(result)
        return result

    def _shut_socket_down(self) -> None:
        """Wake the thread where it waits for the other side."""
        # Below TLS, whose own shutdown is not for two threads at once.
        with suppress(OSError, TypeError):
            socket.socket.shutdown(self._connection.sock, socket.SHUT_RDWR)

    def _raise_unreached_error(self, error: Exception) -> NoReturn:
        """Raise an UnreachedError with the kind of error and the address, and nothing of what was sent."""
        address = self.address
        missing = f"has no address here: {address} is not found"
        if address.is_service:
            missing += "; a service is found inside its cluster alone - run there, or write clientConfig.url"
        words: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...] = (
            (TimeoutError, f"did not answer within {self.seconds} s"),
            ((socket.gaierror, UnicodeError), missing),
            (ConnectionRefusedError, f"refuses connections at {address}"),
            (OSError, f"broke the connection off at {address}"),
            (HTTPException, f"does not speak HTTP at {address}"),
        )
        what = self._fault_of_tls(error) or next((text for kinds, text in words if isinstance(error, kinds)), "")
        if not what:
            raise error
        raise _error_of_unreached_webhook(self._webhook, what) from error

    def _fault_of_tls(self, error: Exception) -> str:
        """Return what is wrong with the other side's TLS; empty when it is something else."""
        if isinstance(error, ssl.SSLCertVerificationError):
            trusted = "its caBundle" if self._webhook.client_config.get("caBundle") else "this system"
            reason = error.verify_message.rstrip(".")
            return f"shows a certificate at {self.address} that {trusted} does not vouch for ({reason})"
        if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
            reason = str(error.reason).replace("_", " ").lower()
            return f"could not agree on TLS at {self.address} ({reason})"
        return ""


def _parse_answer_as_plain_data(webhook: Webhook, content: bytes) -> Mapping[str, Any]:
    """Return an answer as plain data that can also be written down: no NaN, no half characters, no endless nesting."""
    try:
        answer = json.loads(content, parse_constant=_refuse_constant)
        json.dumps(answer, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise webhook.error("answered with no JSON") from error
    if not isinstance(answer, dict):
        raise webhook.error("answered with JSON that is no object")
    if _is_nested_deeper(answer, _DEEPEST):
        raise webhook.error(f"answered with JSON nested deeper than {_DEEPEST} levels")
    return answer


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _is_nested_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_nested_deeper(each, levels - 1) for each in inside)


def _error_of_unreached_webhook(webhook: Webhook, what: str) -> UnreachedError:
    return UnreachedError(f"webhook {webhook.name} {what}", fault=what)
