"""The kubeconfig context that reaches each cluster, with its cluster and its user.

A cluster's context is the first of these: the one argosy.yaml names; the one in the folder of kubeconfigs whose file is
named like the cluster; the context named like the cluster in the usual kubeconfig, or in the one that argosy.yaml names
for all others. Files are read once for a fleet. Their contents are never shown: credentials stay out of every message
and every ``repr``.
"""

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from render.documents import DocumentErrors, parse_documents
from render.settings.clusters import OTHERS, ClusterAccess
from render.values import DiscreetStruct

from .exchange import Failure, FailureKind

_SUFFIXES = ("", ".yaml", ".yml", ".json", ".conf", ".config", ".kubeconfig")
_TRY_KUBECTL = "see whether kubectl reaches the cluster with this context"


def failure_of_unusable_context(message: str, hint: str = _TRY_KUBECTL) -> Failure:
    """Return the failure of a cluster whose context or credentials cannot be used."""
    return Failure(kind=FailureKind.CREDENTIALS, message=message, hint=hint)


def failure_of_faulty_context(name: str, error: Exception) -> Failure:
    """Return the failure of a context that an error came of; its own words may quote the file."""
    from ssl import SSLError

    known = (
        (SSLError, "has a certificate or a key that cannot be read"),
        (FileNotFoundError, "names a file that is not there"),
        (PermissionError, "names a file that this user may not read"),
        (OSError, "names a file that cannot be read"),
        (ValueError, "has an address, a certificate or a key that cannot be read"),
    )
    words = next((words for kind, words in known if isinstance(error, kind)), "cannot be read")
    return failure_of_unusable_context(f"the context {name!r} {words}")


class Context(DiscreetStruct, frozen=True, kw_only=True):
    """A kubeconfig context with its cluster and its user, and the folders their relative paths start from.

    ``user_file`` is the kubeconfig that has the user, which is not always the one that has the context.
    """

    UNSHOWN = ("cluster", "user")

    name: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any]
    cluster_folder: Path = Path()
    user_folder: Path = Path()
    user_file: Path = Path()


class Kubeconfig(DiscreetStruct, frozen=True, kw_only=True):
    """One or more kubeconfig files as kubectl merges them: of two entries of a name the first counts."""

    UNSHOWN = ("contexts",)

    files: tuple[Path, ...]
    contexts: Mapping[str, Context]
    current: str = ""


def default_kubeconfig_files(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the files kubectl would read: ``KUBECONFIG``, or the one in the home folder."""
    listed = [part for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    return tuple(Path(part) for part in listed) or (Path(environment.get("HOME", "~")).expanduser() / ".kube/config",)


def load_kubeconfig(files: Iterable[Path]) -> Kubeconfig | Failure:
    """Read kubeconfig files; a missing one counts for nothing unless none is there."""
    paths = tuple(files)
    existing = [path for path in paths if path.is_file()]
    if not existing:
        return failure_of_unusable_context(
            f"there is no kubeconfig at {', '.join(map(str, paths))}", "name one with --kubeconfig"
        )
    named: dict[str, dict[str, tuple[Mapping[str, Any], Path]]] = {"clusters": {}, "users": {}, "contexts": {}}
    current = ""
    for path in existing:
        try:
            config = _read_kubeconfig_file(path)
        except (OSError, DocumentErrors) as error:
            why = "cannot be read" if isinstance(error, OSError) else "is no YAML"
            return failure_of_unusable_context(
                f"the kubeconfig {path} {why}", "see whether `kubectl config view` reads it"
            )
        if fault := _fault_in_shape_of_kubeconfig(config):
            return failure_of_unusable_context(
                f"the kubeconfig {path}: {fault}", "see whether `kubectl config view` reads it"
            )
        current = current or str(config.get("current-context") or "")
        for section, entries in named.items():
            for entry in config.get(section) or ():
                entries.setdefault(str(entry.get("name")), (entry.get(section[:-1]) or {}, path.absolute()))
    contexts = {name: _context_of_entry(name, body, named) for name, (body, _) in named["contexts"].items()}
    return Kubeconfig(files=tuple(existing), contexts=contexts, current=current)


def _read_kubeconfig_file(path: Path) -> Mapping[str, Any]:
    documents = parse_documents(path.read_bytes())
    return documents[0].value if documents and isinstance(documents[0].value, dict) else {}


def _fault_in_shape_of_kubeconfig(config: Mapping[str, Any]) -> str:
    """Return what in a kubeconfig has another shape than kubectl's; values are not told, which may be secret."""
    for section in ("clusters", "users", "contexts"):
        entries, name = config.get(section), section[:-1]
        if not _are_objects(entries):
            return f"{section} is no list of objects"
        for number, entry in enumerate(entries or ()):
            body = entry.get(name) or {}
            if not isinstance(body, dict) or not isinstance(body.get("exec") or {}, dict):
                return f"{section}[{number}].{name} is no object, or its exec is none"
            if not _are_objects(body.get("extensions")) or not _are_objects((body.get("exec") or {}).get("env")):
                return f"{section}[{number}].{name} has extensions, or variables of exec, that are no list of objects"
            if not _are_texts(body.get("as-groups")) or not _are_texts((body.get("exec") or {}).get("args")):
                return f"{section}[{number}].{name} has groups, or arguments of exec, that are no list of texts"
            if not all({"name", "value"} <= variable.keys() for variable in (body.get("exec") or {}).get("env") or ()):
                return f"{section}[{number}].{name}.exec.env has one without a name or value"
    return ""


def _are_objects(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(each, dict) for each in value))


def _are_texts(value: Any) -> bool:
    return value is None or (isinstance(value, list) and not any(isinstance(each, dict | list) for each in value))


def _context_of_entry(
    name: str, body: Mapping[str, Any], named: Mapping[str, Mapping[str, tuple[Mapping[str, Any], Path]]]
) -> Context:
    cluster, cluster_file = named["clusters"].get(str(body.get("cluster")), ({}, Path()))
    user, user_file = named["users"].get(str(body.get("user")), ({}, Path()))
    return Context(
        name=name,
        cluster=cluster,
        user=user,
        cluster_folder=cluster_file.parent,
        user_folder=user_file.parent,
        user_file=user_file,
    )


class Contexts:
    """Finds clusters' contexts, reading every kubeconfig file once."""

    def __init__(
        self, *, access: Iterable[ClusterAccess] = (), folder: Path | None = None, files: Iterable[Path]
    ) -> None:
        self._access = {item.name: item for item in access}
        self._folder = folder
        shared = self._access.get(OTHERS, ClusterAccess(name=OTHERS)).kubeconfig
        self._files = (Path(shared),) if shared else tuple(files)
        self._read: dict[tuple[Path, ...], Kubeconfig | Failure] = {}

    def find(self, cluster: str) -> Context | Failure:
        """Return the context of a cluster, or why it has none."""
        access = self._access.get(cluster, ClusterAccess(name=cluster))
        own_file = (Path(access.kubeconfig),) if access.kubeconfig else self._kubeconfig_of_member(cluster)
        found = self._context_in_files(cluster, access, own_file)
        if isinstance(found, Failure) and self._folder is not None and not own_file:
            hint = f"put the kubeconfig of {cluster!r} there, as {cluster}.yaml"
            return replace(found, message=f"{found.message}, and no {cluster}.yaml in {self._folder}", hint=hint)
        return found

    def _context_in_files(self, cluster: str, access: ClusterAccess, own_file: tuple[Path, ...]) -> Context | Failure:
        kubeconfig = self._load_files(own_file or self._files)
        if isinstance(kubeconfig, Failure):
            return kubeconfig
        wanted = access.context or cluster
        # In a file that many clusters share, the current context is nobody's in particular.
        name = wanted if wanted in kubeconfig.contexts or access.context or not own_file else kubeconfig.current
        context = kubeconfig.contexts.get(name)
        if context is None:
            return _failure_of_missing_context(name, cluster, kubeconfig)
        if not context.cluster.get("server"):
            return failure_of_unusable_context(f"the context {name!r} names no server", f"see {kubeconfig.files[0]}")
        return context

    def _kubeconfig_of_member(self, cluster: str) -> tuple[Path, ...]:
        if self._folder is None:
            return ()
        candidates = (self._folder / f"{cluster}{suffix}" for suffix in _SUFFIXES)
        return tuple(path for path in candidates if path.is_file())[:1]

    def _load_files(self, files: tuple[Path, ...]) -> Kubeconfig | Failure:
        if files not in self._read:
            self._read[files] = load_kubeconfig(files)
        return self._read[files]


def _failure_of_missing_context(name: str, cluster: str, kubeconfig: Kubeconfig) -> Failure:
    near = difflib.get_close_matches(name, kubeconfig.contexts, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    files = ", ".join(map(str, kubeconfig.files))
    return failure_of_unusable_context(
        f"no context named {name!r} in {files}",
        f"{hint}say under clusters: in argosy.yaml which context reaches {cluster!r}",
    )
