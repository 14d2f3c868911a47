"""One question to an address: bounded in time and size, never redirected, and only where argosy.yaml allows it.

A source may answer anything, as slowly as it likes. Whatever comes of it is an answer, or NoAnswer with the reason; the
token that argosy.yaml names for an address is sent there alone.
"""

import json
import os
import re
from collections.abc import Iterable
from typing import Any

from reconciler.members.bounded_reading import AnswerTooLarge, Received, UnknownEncoding
from reconciler.members.connection import Connection, Sent, open_connection
from reconciler.members.credentials import AuthPlugins
from reconciler.members.exchange import Failure
from reconciler.members.kubeconfig import Context
from reconciler.members.sockets import network_failure
from reconciler.repository.trailers import engine_version
from render.addresses import is_below
from render.expressions import lazy_expression
from render.rollouts.checks import HttpSource
from render.settings.rollout_sources import RolloutSource

from .answers import CheckReply, NoAnswer
from .values import is_condition_met, text_at_path

MOST_BYTES = 1 << 20
_PARTS = lazy_expression(r"(https?://[^/?#]+)([^?#]*)(\?[^#]*)?", re.ASCII)


def source_of_address(address: str, sources: Iterable[RolloutSource]) -> RolloutSource | None:
    """Return the source by which an address may be asked; of several the one that says most of it."""
    found = (each for each in sources if is_below(address, each.address))
    return max(found, key=lambda each: len(each.address), default=None)


def content_at_address(address: str, sources: Iterable[RolloutSource], until: float) -> Received:
    """Return what is answered at an address by a time of the monotonic clock, whatever its status is."""
    source, parts = source_of_address(address, sources), _PARTS.fullmatch(address)
    if source is None or parts is None:
        raise NoAnswer("argosy.yaml names no such address under spec.rollouts.sources")
    server, path, query = parts[1], parts[2] or "/", parts[3] or ""
    host = server.partition("://")[2]
    connection = _connection_to_server(server, source, host)
    authorization = connection.headers()
    if isinstance(authorization, Failure):
        raise NoAnswer("the token of spec.rollouts.sources cannot be read")
    headers = (
        ("Accept", "application/json, */*"),
        ("User-Agent", f"argosy/{engine_version()}"),
        ("Connection", "close"),
        *authorization,
    )
    sent = Sent(method="GET", path=f"{path}{query}", headers=headers, most=MOST_BYTES)
    try:
        return connection.ask(sent, until)
    except AnswerTooLarge as error:
        raise NoAnswer(f"{host} answers with more than {MOST_BYTES >> 20} MiB") from error
    except UnknownEncoding as error:
        raise NoAnswer(f"{host} answers in an encoding that nobody asked for") from error
    except OSError as error:
        raise NoAnswer(network_failure(error, host).message) from error


def _connection_to_server(server: str, source: RolloutSource, host: str) -> Connection:
    cluster = {"server": server, **({"certificate-authority": source.authority_file} if source.authority_file else {})}
    user = {"tokenFile": source.token_file} if source.token_file else {}
    context = Context(name="check", cluster=cluster, user=user)
    connection = open_connection(context, AuthPlugins(environment=os.environ), connections=1)
    if isinstance(connection, Failure):
        raise NoAnswer(f"{host} cannot be asked: see the files that spec.rollouts.sources names for it")
    return connection


def ask_http(source: HttpSource, sources: Iterable[RolloutSource], until: float) -> CheckReply:
    """Return what an address answers; NoAnswer where it answers nothing."""
    received = content_at_address(source.url, sources, until)
    if received.status != source.status:
        return CheckReply.of_content(received.content, f"status {received.status}", is_met=False)
    if not source.json_path:
        return CheckReply.of_content(received.content, f"status {received.status}", is_met=True)
    value = text_at_path(_plain_data(received.content), source.json_path)
    return CheckReply.of_content(
        received.content, value, is_met=is_condition_met(value, equals=source.equals, matches=source.matches)
    )


def _plain_data(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NoAnswer("it answers with no JSON") from error
