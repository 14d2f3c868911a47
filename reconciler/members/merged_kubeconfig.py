"""One kubeconfig of many members: a context for each, named like it, with the credentials that reach it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .kubeconfig import Context

_CLUSTER_FILES = ("certificate-authority",)
_USER_FILES = ("client-certificate", "client-key", "tokenFile")


def kubeconfig_of_contexts(contexts: Mapping[str, Context]) -> dict[str, Any]:
    """Return a kubeconfig with the contexts of some members by their names; paths in it are absolute.

    A member is reached by it from this machine as passes reach it. Where there is one member, its context is current.
    """
    names = sorted(contexts)
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": names[0] if len(names) == 1 else "",
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in names],
        "clusters": [{"name": name, "cluster": _cluster_with_absolute_paths(contexts[name])} for name in names],
        "users": [{"name": name, "user": _user_with_absolute_paths(contexts[name])} for name in names],
    }


def _cluster_with_absolute_paths(context: Context) -> dict[str, Any]:
    return dict(_with_absolute_paths(context.cluster, _CLUSTER_FILES, context.cluster_folder))


def _user_with_absolute_paths(context: Context) -> dict[str, Any]:
    user = dict(_with_absolute_paths(context.user, _USER_FILES, context.user_folder))
    plugin = user.get("exec")
    if plugin and "/" in str(plugin.get("command") or ""):  # a name without a slash is looked for on the PATH
        user["exec"] = {**plugin, "command": str(_absolute_path(plugin["command"], context.user_folder))}
    return user


def _with_absolute_paths(entry: Mapping[str, Any], files: tuple[str, ...], folder: Path) -> Iterator[tuple[str, Any]]:
    for name, value in entry.items():
        yield name, str(_absolute_path(value, folder)) if name in files and value else value


def _absolute_path(path: Any, folder: Path) -> Path:
    return folder.absolute() / str(path)
