"""Notices as Events of Kubernetes, in one cluster, so that ``kubectl get events`` and whoever collects them has them.

An Event is called after its message, so that one that is sent again is there already, and is not there twice.
"""

import os
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from reconciler.members.exchange import Client, Expected, Failure, Request
from render.errors import ConfigError
from render.model import ARGOSY_API_VERSION

from .conditions import Message

NAMESPACE = "argosy-system"
CONTROLLER = "argosy"
_PATH = f"/apis/events.k8s.io/v1/namespaces/{NAMESPACE}/events"
_MOST_NOTE, _MOST_INSTANCE = 1024, 128
"""The bytes that a server takes."""
_EXISTS = 409


def post_events(client: Client, message: Message, now: float) -> None:
    """Write an Event for each notice of a message; ConfigError where the cluster takes none."""
    for event in events_of(message, now):
        request = Request(method="POST", path=_PATH, expects=Expected.OBJECT, body=event, tries=1)
        answer = client.send(request)
        if isinstance(answer, Failure) and answer.status != _EXISTS:
            hint = f"the user may have to create events.events.k8s.io in namespace {NAMESPACE}"
            raise ConfigError(f"no Event could be written: {answer.message}", hint=hint)


def events_of(message: Message, now: float) -> Iterator[dict[str, Any]]:
    """Yield the Event of each notice of a message; ``now`` in seconds since the epoch."""
    instance = f"{socket.gethostname()}/{os.getpid()}"[-_MOST_INSTANCE:]
    for index, notice in enumerate(message.notices):
        yield {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"argosy.{message.id}.{index}", "namespace": NAMESPACE},
            "eventTime": f"{datetime.fromtimestamp(now, UTC):%Y-%m-%dT%H:%M:%S.%f}Z",
            "type": "Normal" if notice.is_solved else "Warning",
            "reason": "ConditionSolved" if notice.is_solved else "ConditionChanged",
            "action": "Reconcile",
            "note": _clipped(str(notice)),
            "regarding": {
                "apiVersion": ARGOSY_API_VERSION,
                "kind": "Fleet",
                "namespace": NAMESPACE,
                "name": message.fleet,
            },
            "reportingController": CONTROLLER,
            "reportingInstance": instance,
        }


def _clipped(text: str) -> str:
    raw = text.encode()
    return text if len(raw) <= _MOST_NOTE else raw[: _MOST_NOTE - 3].decode("utf-8", "ignore") + "…"
