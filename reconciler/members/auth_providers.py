"""The auth providers that ``kubernetes.config`` knows (oidc, gcp), and the cluster this process runs in.

Nothing else needs that library, which takes long to load. A provider's answer may take a request to somewhere, and the
library sets no time limit: it is asked in a thread that is left behind when the limit is over. The kubeconfig is never
written to: a renewed token lives as long as the pass.
"""

import base64
import copy
import json
import ssl
import threading
import time
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from .exchange import Failure
from .identity import FOREVER, Credential
from .kubeconfig import Context, failure_of_unusable_context

_PROVIDERS = ("gcp", "oidc")
_LOG_IN = "log in again as kubectl's users do, or use an exec plugin"


def provider_credential(context: Context, seconds: float) -> Credential | Failure:
    """Return the token of a context's auth provider, renewed when it had expired."""
    name = str(context.user["auth-provider"].get("name") or "")
    if name not in _PROVIDERS:
        message = f"the auth provider {name!r} of context {context.name!r} is not known here"
        return failure_of_unusable_context(message, "use the exec plugin that replaces it")
    answers: SimpleQueue[Credential | str] = SimpleQueue()
    threading.Thread(target=lambda: answers.put(_ask_provider(context)), daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except Empty:
        answer = f"gave no answer in {seconds:g} s"
    if isinstance(answer, Credential):
        return answer
    message = f"the auth provider {name!r} of context {context.name!r} {answer}"
    return failure_of_unusable_context(message, _LOG_IN)


def _ask_provider(context: Context) -> Credential | str:
    """Return the provider's token, or the end of a sentence that says why there is none."""
    from kubernetes.client import Configuration
    from kubernetes.config import load_kube_config_from_dict

    configuration = Configuration()
    provider = _provider_with_named_authority(context)
    try:
        load_kube_config_from_dict(  # type: ignore[no-untyped-call]  # the library annotates little
            _kubeconfig_of(provider), client_configuration=configuration, persist_config=False
        )
        token = configuration.api_key.get("BearerToken", "").removeprefix("Bearer ")
        expires = _expiry_time_of_token(token, provider)
    except Exception as error:  # noqa: BLE001 - whatever the libraries of providers raise; it may quote credentials
        return f"gave no token ({type(error).__name__})"
    if expires < time.time():
        return "did not renew its token, which has expired"
    return Credential(token=token, expires=expires) if token else "gave no token"


def _provider_with_named_authority(context: Context) -> dict[str, Any]:
    """Return a copy of the provider whose authority is named: without one the library would trust any server."""
    provider: dict[str, Any] = copy.deepcopy(dict(context.user["auth-provider"]))
    config = provider.setdefault("config", {})
    if config.get("idp-certificate-authority"):
        config["idp-certificate-authority"] = str(context.user_folder / str(config["idp-certificate-authority"]))
    elif not config.get("idp-certificate-authority-data"):
        config.pop("idp-certificate-authority-data", None)
        config["idp-certificate-authority"] = _ca_file_of_machine()
    return provider


def _ca_file_of_machine() -> str:
    """Return the file of the certificate authorities this machine trusts."""
    paths = ssl.get_default_verify_paths()
    if paths.cafile:
        return paths.cafile
    import certifi

    return certifi.where()


def _kubeconfig_of(provider: dict[str, Any]) -> dict[str, Any]:
    """Return a kubeconfig of nothing but a user's auth provider."""
    return {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": {}}],
        "users": [{"name": "it", "user": {"auth-provider": provider}}],
    }


def _expiry_time_of_token(token: str, provider: dict[str, Any]) -> float:
    """Return the time at which a token expires, by the provider's entry or by the token itself (a JWT)."""
    written = provider["config"].get("expiry")
    if written:
        return (
            written.timestamp() if isinstance(written, datetime) else datetime.fromisoformat(str(written)).timestamp()
        )
    parts = token.split(".")
    if len(parts) != 3:
        return FOREVER
    claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    return float(claims.get("exp") or FOREVER)


def in_cluster_context() -> Context | Failure:
    """Return the way to the API server of the cluster this process runs in, as its service account."""
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException, incluster_config

    configuration = Configuration()
    try:
        incluster_config.load_incluster_config(  # type: ignore[no-untyped-call]  # the library annotates little
            client_configuration=configuration
        )
    except (ConfigException, OSError) as error:
        return failure_of_unusable_context(f"this process runs in no cluster it could use ({type(error).__name__})")
    cluster = {"server": configuration.host, "certificate-authority": configuration.ssl_ca_cert}
    user = {"tokenFile": incluster_config.SERVICE_TOKEN_FILENAME}
    root = Path("/")
    return Context(
        name="in-cluster",
        cluster=cluster,
        user=user,
        cluster_folder=root,
        user_folder=root,
        user_file=Path(incluster_config.SERVICE_TOKEN_FILENAME),
    )
