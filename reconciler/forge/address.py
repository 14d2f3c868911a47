"""The API of the forge that a remote is on, as whoever runs Argosy says, or as the address of the remote says.

Nothing of it comes from the source: whoever may push there could otherwise have the token sent to a place of his own.
"""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from render.errors import ConfigError
from render.expressions import lazy_expression
from render.settings.rendered import ForgeKind

API = "ARGOSY_FORGE_API"
PROJECT = "ARGOSY_FORGE_PROJECT"
TOKEN_FILE = "ARGOSY_FORGE_TOKEN_FILE"  # noqa: S105 - the name of a variable
_SCP = lazy_expression(r"(?:[^@/]+@)?(?P<host>[^/:]+):(?P<path>[^/].*)")
_PATHS = {ForgeKind.GITHUB: "/api/v3", ForgeKind.GITLAB: "/api/v4", ForgeKind.GITEA: "/api/v1"}
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Forge(Struct, frozen=True, kw_only=True):
    """A forge: its kind, the address of its API, the project there (``owner/name``), and the file of our token."""

    kind: ForgeKind
    api: str
    project: str
    token_file: Path

    @property
    def host(self) -> str:
        """The host of the API, the only place that the token is sent to."""
        return urlsplit(self.api).netloc

    def token(self) -> str:
        """Read the token, which may have been renewed since; ConfigError where there is none."""
        try:
            token = self.token_file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"the token file {self.token_file} cannot be read", hint=f"{TOKEN_FILE} names it"
            ) from error
        if not token or not token.isprintable() or " " in token:
            raise ConfigError(f"the token file {self.token_file} holds no token", hint="write it there, in one line")
        return token


def forge_of(address: str, kind: ForgeKind | None, environment: Mapping[str, str]) -> Forge:
    """Return the forge of a remote's address (of ours, or ""); ConfigError says what is missing to know it."""
    host, path = _host_and_path(address)
    known = kind or _known_forge_kind(host)
    if known is None:
        where = repr(host) if host else "this remote"
        raise ConfigError(
            f"which forge {where} is, is not known",
            hint="write GitHub, GitLab or Gitea to rendered.forge in argosy.yaml",
        )
    api = environment.get(API, "").rstrip("/") or _default_api_address(host, known)
    project = environment.get(PROJECT, "").strip("/") or path
    token_file = environment.get(TOKEN_FILE, "")
    if not api or not project:
        raise ConfigError(
            "the address of the remote does not say where the forge's API is", hint=f"set {API} and {PROJECT}"
        )
    if not token_file:
        raise ConfigError("pull requests need a token", hint=f"write it to a file, and its path to {TOKEN_FILE}")
    return Forge(kind=known, api=_checked_api_address(api), project=project, token_file=Path(token_file))


def kind_of_forge_at(address: str) -> ForgeKind | None:
    """Return the kind of the forge that an address of a remote is on; None where it does not say so.

    >>> kind_of_forge_at("git@github.com:team/fleet.git"), kind_of_forge_at("/srv/fleet.git")
    (<ForgeKind.GITHUB: 'GitHub'>, None)
    """
    host, _ = _host_and_path(address)
    return _known_forge_kind(host) if host else None


def _host_and_path(address: str) -> tuple[str, str]:
    """Return the host and the project that an address names; "" for a folder of this machine.

    >>> _host_and_path("git@github.com:team/fleet.git"), _host_and_path("https://x:y@git.example.com/a/b/c")
    (('github.com', 'team/fleet'), ('git.example.com', 'a/b/c'))
    """
    parts = urlsplit(address)
    if parts.scheme in {"https", "ssh"}:
        # A port of SSH is not the API's.
        host = parts.hostname or ""
        host, path = host if parts.scheme == "ssh" or not parts.port else f"{host}:{parts.port}", parts.path
    elif not parts.scheme.startswith(("file", "http")) and (match := _SCP.fullmatch(address)):
        host, path = match["host"], match["path"]
    else:
        return "", ""
    return host, path.strip("/").removesuffix(".git")


def _known_forge_kind(host: str) -> ForgeKind | None:
    words = {
        "github": ForgeKind.GITHUB,
        "gitlab": ForgeKind.GITLAB,
        "gitea": ForgeKind.GITEA,
        "forgejo": ForgeKind.GITEA,
    }
    hosts = {"codeberg.org": ForgeKind.GITEA}
    return hosts.get(host) or next((kind for word, kind in words.items() if word in host.split(".")), None)


def _default_api_address(host: str, kind: ForgeKind) -> str:
    if not host:
        return ""
    return "https://api.github.com" if host == "github.com" else f"https://{host}{_PATHS[kind]}"


def _checked_api_address(api: str) -> str:
    """Return the address of an API that a token may be sent to: through TLS, or on this machine."""
    parts = urlsplit(api)
    if (parts.scheme == "https" and parts.hostname) or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return api
    raise ConfigError("a token is sent through TLS alone", hint=f"{API} must begin with https://")
