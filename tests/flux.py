"""Flux's own source-controller and kustomize-controller, on loopback, over a control plane that has their kinds."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .clusters import Member, reserved_ports
from .waiting import eventually, running

SPACE = "flux-system"
DEFINITIONS = "config/crd/bases"
KINDS = ("kustomizations.kustomize.toolkit.fluxcd.io", "gitrepositories.source.toolkit.fluxcd.io")
_SECONDS = 1200.0


class Flux:
    """Running controllers over a hub."""

    def __init__(self, hub: Member) -> None:
        self._hub = hub

    def fetch(self, commit: str) -> None:
        """Have the branch fetched now, and wait until a commit is what is to be applied."""
        self._annotate("gitrepository/argosy", commit)
        path = f"/apis/source.toolkit.fluxcd.io/v1/namespaces/{SPACE}/gitrepositories/argosy"

        def is_fetched() -> bool:
            artifact = ((self._hub.read(path) or {}).get("status") or {}).get("artifact") or {}
            return artifact.get("revision") == f"argosy/rendered@sha1:{commit}"

        eventually(is_fetched, "the commit fetched", pause=0.5)

    def is_ready(self, name: str, commit: str) -> bool:
        """Say whether a Kustomization has applied a commit, and all of it is healthy."""
        status = (self._hub.read(_path(name)) or {}).get("status") or {}
        ready = [each["status"] for each in status.get("conditions") or () if each["type"] == "Ready"]
        return ready == ["True"] and str(status.get("lastAppliedRevision", "")).endswith(commit)

    def apply_again(self, name: str, token: str) -> None:
        """Have a Kustomization applied again, and wait until it is."""
        self._annotate(f"kustomization/{name}", token)
        handled = "lastHandledReconcileAt"
        eventually(lambda: self._hub.read(_path(name))["status"].get(handled) == token, f"{name} applied again")

    def _annotate(self, what: str, token: str) -> None:
        asked = f"reconcile.fluxcd.io/requestedAt={token}"
        self._hub.kubectl("-n", SPACE, "annotate", "--overwrite", what, asked)


@contextmanager
def running_flux(hub: Member, sources: Path, applying: Path, folder: Path) -> Iterator[Flux]:
    """Run both controllers until the end of the block; their logs are in the folder."""
    folder.mkdir()
    for program in (sources, applying):
        hub.kubectl("apply", "--server-side", "-f", str(program.parent / DEFINITIONS))
    established(hub, *KINDS)
    hub.kubectl("create", "namespace", SPACE)
    with ExitStack() as stack:
        served, *ports = stack.enter_context(reserved_ports(5))
        place = f"127.0.0.1:{served}"
        storage = [f"--storage-path={folder}", f"--storage-addr={place}", f"--storage-adv-addr={place}"]
        commands = ((sources, storage), (applying, ["--requeue-dependency=2s"]))
        environment = {**os.environ, "KUBECONFIG": str(hub.kubeconfig), "RUNTIME_NAMESPACE": SPACE, "HOME": str(folder)}
        for number, (program, options) in enumerate(commands):
            addresses = zip(("--metrics-addr", "--health-addr"), ports[2 * number :], strict=False)
            listening = [f"{name}=127.0.0.1:{port}" for name, port in addresses]
            command = [str(program), *options, *listening, "--log-level=debug"]
            log = stack.enter_context((folder / f"{program.name}.log").open("w"))
            process = stack.enter_context(running(command, seconds=_SECONDS, env=environment, stdout=log, stderr=log))
            stack.callback(process.terminate)
        yield Flux(hub)
        # What is deleted is let go by the controllers alone.
        hub.kubectl("delete", "kustomizations,gitrepositories", "--all", "-n", SPACE)


def established(hub: Member, *names: str) -> None:
    """Wait until a control plane serves kinds that were just defined."""
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

    def is_established(name: str) -> bool:
        conditions = (hub.read(f"{path}/{name}").get("status") or {}).get("conditions") or ()
        return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)

    eventually(lambda: all(map(is_established, names)), f"{', '.join(names)} served", pause=0.1)


def _path(name: str) -> str:
    return f"/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/{SPACE}/kustomizations/{name}"
