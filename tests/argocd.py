"""Argo CD's own application controller and repo-server, on loopback, over a control plane that has their kinds."""

import base64
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from render.documents import emit

from .clusters import Member, reserved_ports
from .flux import established
from .peers import PEERS, module_folder
from .waiting import eventually, running

SPACE = "argocd"
KINDS = ("application", "applicationset", "appproject")
_SCRIPT = "git-verify-wrapper.sh"
_SECONDS = 1500.0
_OWN = {"app.kubernetes.io/part-of": "argocd"}
_PATIENCE = 600.0
"""The seconds until all of a folder is synced: what comes before its namespace is tried again, later each time."""


class ArgoCD:
    """A running controller over a hub."""

    def __init__(self, hub: Member) -> None:
        self._hub = hub

    def synced(self, commit: str, *names: str) -> None:
        """Have the branch compared now, and wait until a commit is applied by all of these Applications."""
        for name in names:
            self.refresh(name)

        def are_synced() -> bool:
            return all(self._is_synced(name, commit) for name in names)

        eventually(are_synced, f"{', '.join(names)} synced", seconds=_PATIENCE, pause=1.0)

    def _is_synced(self, name: str, commit: str) -> bool:
        status = self._status(name)
        sync, health = status.get("sync") or {}, status.get("health") or {}
        found = (sync.get("status"), sync.get("revision"), health.get("status"))
        return found == ("Synced", commit, "Healthy")

    def refresh(self, name: str) -> None:
        """Have an Application compared with what the branch and the cluster have now."""
        asked = "argocd.argoproj.io/refresh"
        self._hub.kubectl("-n", SPACE, "annotate", "--overwrite", f"application/{name}", f"{asked}=hard")

        def is_over() -> bool:
            return asked not in (self._hub.read(_path(name))["metadata"].get("annotations") or {})

        eventually(is_over, f"{name} compared", seconds=_PATIENCE, pause=0.5)

    def sync_again(self, name: str) -> None:
        """Have an Application applied again, though nothing differs, and wait until it is."""
        before = self._status(name)["operationState"]["finishedAt"]
        operation = {"operation": {"initiatedBy": {"username": "test"}, "sync": {"syncOptions": _OPTIONS}}}
        status, answer = self._hub.request("PATCH", _path(name), operation, content_type="application/merge-patch+json")
        assert status == 200, answer

        def is_over() -> bool:
            state = self._status(name)["operationState"]
            return bool(state["phase"] == "Succeeded" and state["finishedAt"] != before)

        eventually(is_over, f"{name} applied again", seconds=_PATIENCE, pause=0.5)

    def _status(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = (self._hub.read(_path(name)) or {}).get("status") or {}
        return found


_OPTIONS = ["ServerSideApply=true", "RespectIgnoreDifferences=true"]


def cluster_secret(member: Member) -> dict[str, Any]:
    """The Secret by which Argo CD reaches a member."""
    authority = base64.b64encode(member.ca_file.read_bytes()).decode()
    access = {"bearerToken": member.token, "tlsClientConfig": {"caData": authority}}
    words = {"name": member.name, "server": member.host, "config": json.dumps(access)}
    labels = {"argocd.argoproj.io/secret-type": "cluster"}
    return _object("v1", "Secret", f"cluster-{member.name}", labels, stringData=words)


@contextmanager
def running_argocd(hub: Member, program: Path, redis: Path, folder: Path) -> Iterator[ArgoCD]:
    """Run both until the end of the block; their logs are in the folder."""
    folder.mkdir()
    for kind in KINDS:
        definition = program.parent / "manifests" / "crds" / f"{kind}-crd.yaml"
        hub.kubectl("apply", "--server-side", "-f", str(definition))
    established(hub, *(f"{kind}s.argoproj.io" for kind in KINDS))
    hub.kubectl("create", "namespace", SPACE)
    hub.kubectl("apply", "-f", "-", stdin="---\n".join(emit(each).decode() for each in _settings()))
    with ExitStack() as stack:
        store, repositories, *metrics = stack.enter_context(reserved_ports(4))
        cache = ["--redis", f"127.0.0.1:{store}"]
        programs = {
            "argocd-repo-server": [
                *("--address", "127.0.0.1", "--port", str(repositories), "--disable-tls", "--client-ca-path="),
                *("--metrics-address", "127.0.0.1", "--metrics-port", str(metrics[0])),
            ],
            "argocd-application-controller": [
                *("--repo-server", f"127.0.0.1:{repositories}", "--repo-server-plaintext"),
                *("--metrics-port", str(metrics[1]), "--namespace", SPACE, "--kubeconfig", str(hub.kubeconfig)),
                *("--app-resync", "20", "--status-processors", "2", "--operation-processors", "2"),
            ],
        }
        _start(stack, [str(redis), f"127.0.0.1:{store}"], folder / "redis.log", os.environ)
        for name, options in programs.items():
            environment = {**os.environ, **_environment(folder, hub), "ARGOCD_BINARY_NAME": name}
            _start(stack, [str(program), *options, *cache], folder / f"{name}.log", environment)
        yield ArgoCD(hub)
        hub.kubectl("delete", "applications", "--all", "-n", SPACE)


def _start(stack: ExitStack, command: list[str], log: Path, environment: Mapping[str, str]) -> None:
    opened = stack.enter_context(log.open("w"))
    process = stack.enter_context(running(command, seconds=_SECONDS, env=environment, stdout=opened, stderr=opened))
    stack.callback(process.terminate)


def _environment(folder: Path, hub: Member) -> dict[str, str]:
    made = {name: folder / name for name in ("temporary", "tls", "ssh", "programs")}
    for each in made.values():
        each.mkdir(exist_ok=True)
    # It looks for a signature on every commit, by a script that an archive of a module has as an ordinary file.
    shutil.copyfile(module_folder(PEERS["argocd"].itself) / "hack" / _SCRIPT, made["programs"] / _SCRIPT)
    (made["programs"] / _SCRIPT).chmod(0o755)
    return {
        "PATH": f"{made['programs']}:{os.environ['PATH']}",
        "HOME": str(folder),
        "TMPDIR": str(made["temporary"]),
        "KUBECONFIG": str(hub.kubeconfig),
        "ARGOCD_FAKE_IN_CLUSTER": "true",
        "ARGOCD_GPG_ENABLED": "false",
        "ARGOCD_TLS_DATA_PATH": str(made["tls"]),
        "ARGOCD_SSH_DATA_PATH": str(made["ssh"]),
        "ARGOCD_ASK_PASS_SOCK": str(folder / "ask"),
    }


def _settings() -> list[dict[str, Any]]:
    """The objects that Argo CD's installation makes, as far as the two need them."""
    everywhere = {"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}]}
    everywhere |= {"clusterResourceWhitelist": [{"group": "*", "kind": "*"}]}
    return [
        _object("v1", "ConfigMap", "argocd-cm", _OWN),
        _object("v1", "ConfigMap", "argocd-cmd-params-cm", _OWN),
        _object("v1", "ConfigMap", "argocd-rbac-cm", _OWN),
        _object("v1", "Secret", "argocd-secret", _OWN, stringData={"server.secretkey": "tests"}),
        _object("argoproj.io/v1alpha1", "AppProject", "default", {}, spec=everywhere),
    ]


def _object(api_version: str, kind: str, name: str, labels: Mapping[str, str], **parts: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": SPACE, "labels": dict(labels)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}


def _path(name: str) -> str:
    return f"/apis/argoproj.io/v1alpha1/namespaces/{SPACE}/applications/{name}"
