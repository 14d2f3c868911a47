"""One call of a forge's API: bounded in time and size, through the proxies of the environment, never redirected."""

import json
import os
import time
from typing import Any

from reconciler.console.cleaning import safe_for_terminal
from reconciler.members.bounded_reading import AnswerTooLarge, Received, UnknownEncoding
from reconciler.members.connection import Connection, Sent
from reconciler.members.credentials import AuthPlugins, CredentialSource
from reconciler.members.endpoint import UnsupportedEndpoint, api_endpoint_of_context
from reconciler.members.identity import Credential, Impersonation
from reconciler.members.kubeconfig import Context
from reconciler.members.sockets import network_failure
from reconciler.repository.trailers import engine_version
from render.errors import GitError
from render.settings.rendered import ForgeKind
from render.values import DiscreetStruct

from .address import TOKEN_FILE, Forge

SECONDS = 30.0
MOST_BYTES = 8 << 20
_MOST_OF_A_MESSAGE = 300
_HINTS = {
    401: f"renew the token in the file that {TOKEN_FILE} names",
    403: "let the token read the repository, and {right}",
    404: "see whether the project is right and the token may see it",
    429: "the forge asks for patience: the next pass tries again",
}


class ForgeCall(DiscreetStruct, frozen=True, kw_only=True):
    """A call: its method, its path below the API with the query, what is sent with it, and the right that it needs.

    ``seconds`` are those that it may take. An answer with a status that is ``missing`` is null.
    """

    UNSHOWN = ("body",)

    method: str
    path: str
    right: str = "read and write its pull requests"
    body: dict[str, Any] | None = None
    seconds: float = SECONDS
    missing: tuple[int, ...] = ()


def send_call(forge: Forge, call: ForgeCall) -> Any:
    """Send a call and return the answer, as plain data; GitError says what the forge had to say against it."""
    token = forge.token()
    try:
        received = _send_over_new_connection(forge, call, token)
    except UnsupportedEndpoint as error:
        raise GitError(f"{forge.host} cannot be asked: {error.failure.message}", hint=error.failure.hint) from error
    except (AnswerTooLarge, UnknownEncoding) as error:
        raise GitError(
            f"{forge.host} answers with more than {MOST_BYTES >> 20} MiB, or with what nobody can read"
        ) from error
    except OSError as error:
        raise GitError(network_failure(error, forge.host).message, hint="the next pass tries again") from error
    if received.status in call.missing:
        return None
    if not 200 <= received.status < 300:
        raise _error_of_refused_call(forge, call, received, token)
    try:
        return json.loads(received.content or b"null")
    except (ValueError, RecursionError) as error:
        raise GitError(
            f"{forge.host} answers with no JSON", hint="see whether that is the address of its API"
        ) from error


def _send_over_new_connection(forge: Forge, call: ForgeCall, token: str) -> Received:
    """Ask over a connection of its own: a pass asks seldom, and much later again."""
    context = Context(name="forge", cluster={"server": forge.api}, user={})
    plugins = AuthPlugins(environment=os.environ)
    endpoint = api_endpoint_of_context(context, os.environ)
    connection = Connection(endpoint, CredentialSource(context, plugins), Impersonation(), 1)
    connection.open(Credential())
    return connection.ask(
        Sent(
            method=call.method,
            path=call.path,
            headers=tuple(_headers_of_forge(forge, token).items()),
            body=None if call.body is None else json.dumps(call.body).encode(),
            content_type="" if call.body is None else "application/json",
            most=MOST_BYTES,
        ),
        time.monotonic() + call.seconds,
    )


def _headers_of_forge(forge: Forge, token: str) -> dict[str, str]:
    common = {"Accept": "application/json", "User-Agent": f"argosy/{engine_version()}", "Connection": "close"}
    match forge.kind:
        case ForgeKind.GITHUB:
            version = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
            return {**common, **version, "Authorization": f"Bearer {token}"}
        case ForgeKind.GITLAB:
            return {**common, "PRIVATE-TOKEN": token}
        case ForgeKind.GITEA:
            return {**common, "Authorization": f"token {token}"}


def _error_of_refused_call(forge: Forge, call: ForgeCall, received: Received, token: str) -> GitError:
    """Return the error for an answer that is a refusal, with a little of what the forge says, and never the token."""
    try:
        said = json.loads(received.content)
    except (ValueError, RecursionError):
        said = {}
    text = str(said.get("message") or said.get("error") or "") if isinstance(said, dict) else ""
    text = safe_for_terminal(" ".join(text.replace(token, "***").split()))[:_MOST_OF_A_MESSAGE]
    path = call.path.partition("?")[0]
    return GitError(
        f"{forge.host} answers {call.method} {path} with {received.status}" + (f": {text}" if text else ""),
        hint=_HINTS.get(received.status, "the next pass tries again").format(right=call.right),
    )
