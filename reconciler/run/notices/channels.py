"""The channels by which notices are sent: a signed webhook, Slack, Teams, Events, and statuses of commits on a forge.

The first line of a channel's file is its address, and for a webhook the second one the secret it is signed with. An
address is as good as a password, so neither it nor the answer is ever logged. For a forge, the file is its token.

An Event is called after its message, so that one that is sent again is there already, and is not there twice.
"""

import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from reconciler.forge.address import API, PROJECT, TOKEN_FILE, Forge, forge_of
from reconciler.forge.commit_statuses import CommitStatus, set_status
from reconciler.members.bounded_reading import AnswerTooLarge, UnknownEncoding
from reconciler.members.connection import Connection, Sent
from reconciler.members.credentials import AuthPlugins, CredentialSource
from reconciler.members.endpoint import UnsupportedEndpoint, api_endpoint_of_context
from reconciler.members.exchange import Client, Expected, Failure, Request
from reconciler.members.identity import Credential, Impersonation
from reconciler.members.kubeconfig import Context
from reconciler.run.web.signatures import hmac_sha256
from render.errors import ConfigError
from render.model import ARGOSY_API_VERSION
from render.settings.rendered import ForgeKind

from .conditions import Message

_SECONDS = 5.0
_MOST_ANSWER = 64 << 10
_MOST_FILE = 8192
_LEAST_SECRET = 16
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_NAMESPACE = "argosy-system"
_CONTROLLER = "argosy"
_EVENTS_PATH = f"/apis/events.k8s.io/v1/namespaces/{_NAMESPACE}/events"
_MOST_NOTE, _MOST_INSTANCE = 1024, 128
"""The bytes that a server takes."""
_EXISTS = 409


class ChannelKind(StrEnum):
    """A form of notifications."""

    WEBHOOK = "webhook"
    SLACK = "slack"
    TEAMS = "teams"
    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"
    EVENTS = "events"


FORGES: Mapping[ChannelKind, ForgeKind] = {
    ChannelKind.GITHUB: ForgeKind.GITHUB,
    ChannelKind.GITLAB: ForgeKind.GITLAB,
    ChannelKind.GITEA: ForgeKind.GITEA,
}
"""The channels that set the status of the source commit."""


class Channel(Struct, frozen=True, kw_only=True):
    """A form of notifications, and the file with its address; a forge may have its API and project named as well.

    Events have no file, but the context of the cluster that they are written to.
    """

    kind: ChannelKind
    file: str = ""
    context: str = ""
    api: str = ""
    project: str = ""

    @classmethod
    def parse(cls, fields: Mapping[str, str]) -> "Channel":
        """Return the channel of these fields."""
        texts = {name: text for name, text in fields.items() if name != "kind"}
        return cls(kind=ChannelKind(fields["kind"]), **texts)

    @property
    def name(self) -> str:
        """The name by which what it was told is recorded."""
        return f"{self.kind} {Path(self.file).name or self.context}"

    def check(self) -> None:
        """Refuse a channel that nothing could be sent by: ConfigError."""
        if self.kind in FORGES:
            Forge(kind=FORGES[self.kind], api="", project="", token_file=Path(self.file)).token()
        elif self.kind is not ChannelKind.EVENTS:
            self.read()

    def forge(self, remote: str) -> Forge:
        """Return the forge of a source's address; ConfigError where it is not known."""
        named = {API: self.api, PROJECT: self.project}
        said = {name: value for name, value in named.items() if value}
        return forge_of(remote, FORGES[self.kind], {**os.environ, **said, TOKEN_FILE: self.file})

    def read(self) -> tuple[str, bytes]:
        """Return the address and the secret ("": none); ConfigError where nothing could be sent there."""
        try:
            with Path(self.file).open(encoding="utf-8") as file:
                lines = [line.strip() for line in file.read(_MOST_FILE).splitlines()]
        except (OSError, ValueError) as error:
            raise ConfigError(f"the address of {self.kind} notifications cannot be read: {self.file}") from error
        address, secret = (*lines, "", "")[:2]
        parts = urlsplit(address)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
        if not (is_safe and parts.hostname and address.isprintable()):
            raise ConfigError(
                f"{self.file} has no address in its first line", hint="write one that begins with https://"
            )
        if self.kind is ChannelKind.WEBHOOK and len(secret) < _LEAST_SECRET:
            raise ConfigError(
                f"{self.file} has no secret of 16 bytes in its second line",
                hint="webhooks are signed with it: openssl rand -hex 32",
            )
        return address, secret.encode()


OpenCluster = Callable[[str, float], Client | Failure]
"""Open a client of the cluster of a context, which gives up at a time of the monotonic clock."""


def send_to_channel(channel: Channel, message: Message, open_cluster: OpenCluster) -> bool:
    """Send a message, and return whether it was taken; a ReconcileError says why it was not."""
    if message.verdict is not None:
        name, verdict = f"argosy/{message.fleet}", message.verdict
        status = CommitStatus(commit=message.source, state=verdict.state, context=name, text=verdict.text)
        set_status(channel.forge(message.remote), status)
        return True
    if channel.kind is ChannelKind.EVENTS:
        client = open_cluster(channel.context, time.monotonic() + _SECONDS)
        if isinstance(client, Failure):
            raise ConfigError(f"no Event could be written: {client.message}", hint=client.hint)
        write_events_to_cluster(client, message, time.time())
        return True
    address, secret = channel.read()
    parts = urlsplit(address)
    body = json.dumps(request_body_for_channel(channel.kind, message)).encode()
    headers = {"User-Agent": "argosy", "Connection": "close"}
    if channel.kind is ChannelKind.WEBHOOK:
        headers |= {"x-argosy-signature": f"sha256={hmac_sha256(secret, body).hex()}", "x-argosy-delivery": message.id}
    context = Context(name="notifications", cluster={"server": f"{parts.scheme}://{parts.netloc}"}, user={})
    source = CredentialSource(context, AuthPlugins(environment=os.environ))
    request = Sent(
        method="POST",
        path=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
        headers=tuple(headers.items()),
        body=body,
        content_type="application/json",
        most=_MOST_ANSWER,
    )
    try:
        connection = Connection(api_endpoint_of_context(context, os.environ), source, Impersonation(), 1)
        connection.open(Credential())
        return 200 <= connection.ask(request, time.monotonic() + _SECONDS).status < 300
    except (UnsupportedEndpoint, AnswerTooLarge, UnknownEncoding, OSError):
        return False


def request_body_for_channel(kind: ChannelKind, message: Message) -> dict[str, Any]:
    """Return a message in the form of a channel."""
    lines = [f"{message.fleet}: {notice}" for notice in message.notices]
    match kind:
        case ChannelKind.SLACK:
            text = "\n".join(lines)
            return {"text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}
        case ChannelKind.TEAMS:
            blocks = [{"type": "TextBlock", "text": _escape_markdown(line), "wrap": True} for line in lines]
            card = {"type": "AdaptiveCard", "version": "1.4", "body": blocks}
            kind_of_card = "application/vnd.microsoft.card.adaptive"
            return {"type": "message", "attachments": [{"contentType": kind_of_card, "content": card}]}
        case ChannelKind.WEBHOOK:
            return {
                "apiVersion": ARGOSY_API_VERSION,
                "kind": "Notification",
                "fleet": message.fleet,
                "source": message.source,
                "rendered": message.rendered,
                "notices": [{"text": each.text, "solved": each.is_solved} for each in message.notices],
            }
    raise AssertionError(f"{kind} takes no notices")


def _escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, and not as links or marks of its own."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]" else letter for letter in text)


def write_events_to_cluster(client: Client, message: Message, now: float) -> None:
    """Write an Event for each notice of a message; ConfigError where the cluster takes none."""
    for event in events_of_notices(message, now):
        request = Request(method="POST", path=_EVENTS_PATH, expects=Expected.OBJECT, body=event, tries=1)
        answer = client.send(request)
        if isinstance(answer, Failure) and answer.status != _EXISTS:
            hint = f"the user may have to create events.events.k8s.io in namespace {_NAMESPACE}"
            raise ConfigError(f"no Event could be written: {answer.message}", hint=hint)


def events_of_notices(message: Message, now: float) -> Iterator[dict[str, Any]]:
    """Yield the Event of each notice of a message; ``now`` in seconds since the epoch."""
    instance = f"{socket.gethostname()}/{os.getpid()}"[-_MOST_INSTANCE:]
    for index, notice in enumerate(message.notices):
        yield {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"argosy.{message.id}.{index}", "namespace": _NAMESPACE},
            "eventTime": f"{datetime.fromtimestamp(now, UTC):%Y-%m-%dT%H:%M:%S.%f}Z",
            "type": "Normal" if notice.is_solved else "Warning",
            "reason": "ConditionSolved" if notice.is_solved else "ConditionChanged",
            "action": "Reconcile",
            "note": _text_within_limit(str(notice)),
            "regarding": {
                "apiVersion": ARGOSY_API_VERSION,
                "kind": "Fleet",
                "namespace": _NAMESPACE,
                "name": message.fleet,
            },
            "reportingController": _CONTROLLER,
            "reportingInstance": instance,
        }


def _text_within_limit(text: str) -> str:
    raw = text.encode()
    return text if len(raw) <= _MOST_NOTE else raw[: _MOST_NOTE - 3].decode("utf-8", "ignore") + "…"
