"""Programs of others that a few tests run for real: Gitea, Prometheus' promtool, controllers of Flux and Argo CD.

Each is built once with Go from its module, whose digest is pinned here, and which pins its own. ``make e2e-peers``
builds them; anything else uses them where they are there. Gitea's pages are read from beside the program.
"""

import json
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from .waiting import SECONDS

BUILD_SECONDS = 60 * 60


class Module(NamedTuple):
    """A module of Go at a version, with its digest."""

    path: str
    version: str
    digest: str


class Peer(NamedTuple):
    """A module at a version with its digest, the package in it, what it is built with, and folders it needs beside.

    ``inside`` are modules that stand in its folders and are downloaded by themselves, by folder; ``added`` are files
    that make a program of a library.
    """

    module: str
    version: str
    digest: str
    package: str
    tags: str
    is_cgo: bool = False
    beside: tuple[str, ...] = ()
    inside: tuple[tuple[str, Module], ...] = ()
    added: tuple[tuple[str, str], ...] = ()

    @property
    def itself(self) -> Module:
        """The module that is built."""
        return Module(self.module, self.version, self.digest)


_REDIS = """\
package main

import (
	"os"

	"github.com/alicebob/miniredis/v2"
)

func main() {
	served := miniredis.NewMiniRedis()
	if err := served.StartAddr(os.Args[1]); err != nil {
		panic(err)
	}
	select {}
}
"""
PEERS = {
    "gitea": Peer(
        module="code.gitea.io/gitea",
        version="v1.26.0",
        digest="h1:fJP9dqLbzKrKWUVnCVTfVersZdVDuyJQLEDzCAOmKKA=",
        package=".",
        tags="sqlite sqlite_unlock_notify",
        is_cgo=True,
        beside=("options", "public", "templates"),
    ),
    # Without the discovery of services, for which it would need the libraries of every cloud.
    "promtool": Peer(
        module="github.com/prometheus/prometheus",
        version="v0.316.0",
        digest="h1:f1GRFerhTMKQma+awCoC9T820ecWeGSdF+xAlMHzZzM=",
        package="./cmd/promtool",
        tags="remove_all_sd",
    ),
    "kustomize-controller": Peer(
        module="github.com/fluxcd/kustomize-controller",
        version="v1.9.5",
        digest="h1:/XY2zy3K7fntyppEXIHG7oRMzmfgIt50eJzUfaPX1Kc=",
        package=".",
        tags="",
        beside=("config",),
        inside=(
            (
                "api",
                Module(
                    "github.com/fluxcd/kustomize-controller/api",
                    "v1.9.5",
                    "h1:Z4CA0cpC9rQmWiJWT9PCNO7+v3PVbAOK+5byHdbtFt8=",
                ),
            ),
        ),
    ),
    "source-controller": Peer(
        module="github.com/fluxcd/source-controller",
        version="v1.9.3",
        digest="h1:Zj1gfvK/2MFIm/K3vh5fSHoJBoggLKMuLWf5ZEmaF0w=",
        package=".",
        tags="",
        beside=("config",),
        inside=(
            (
                "api",
                Module(
                    "github.com/fluxcd/source-controller/api",
                    "v1.9.3",
                    "h1:Z5Id6iPV+n1OY/14dpC18PaHRATzAyZkjAzDNYxSl4E=",
                ),
            ),
        ),
    ),
    # One program, which is each of Argo CD's own by the name in ARGOCD_BINARY_NAME.
    "argocd": Peer(
        module="github.com/argoproj/argo-cd/v3",
        version="v3.6.1",
        digest="h1:OmhqeKiR3C//awbFrhQqFdtRI+Qiv17j8vqm3UkMj/g=",
        package="./cmd",
        tags="",
        beside=("manifests",),
        inside=(
            (
                "gitops-engine",
                Module(
                    "github.com/argoproj/argo-cd/gitops-engine/v3",
                    "v3.6.1",
                    "h1:e9NghanU6O6PrxHq4+PaYxd6Rpe0kC48C2Opkpgx/LQ=",
                ),
            ),
        ),
    ),
    # The Redis that Argo CD itself runs inside of its command line.
    "miniredis": Peer(
        module="github.com/alicebob/miniredis/v2",
        version="v2.39.0",
        digest="h1:M7WbmV5BmV56L8KTG0rw6vEQ+woTOghpDgin2xv4A0g=",
        package="./serving",
        tags="",
        added=(("serving/main.go", _REDIS),),
    ),
}


def peer_folder(name: str) -> Path:
    """Return the folder of a built program: one for each version and platform."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    machine = f"{platform.system().lower()}-{platform.machine().lower()}"
    return base / "argosy-test" / f"{name}-{PEERS[name].version}-{machine}"


def installed_peer(name: str) -> Path | None:
    """Return the program if it is already here."""
    path = peer_folder(name) / name
    return path if os.access(path, os.X_OK) else None


def obtain_peer(name: str) -> Path:
    """Return the program, built with Go where it is missing."""
    found = installed_peer(name)
    if found is not None:
        return found
    if shutil.which("go") is None:
        raise FileNotFoundError(f"{name} is not here and cannot be built: install Go")
    peer, folder = PEERS[name], peer_folder(name)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        source, made = Path(place) / "source", Path(place) / name
        _copied(peer, source)
        environment = {
            **os.environ,
            "CGO_ENABLED": "1" if peer.is_cgo else "0",
            "GOFLAGS": "-mod=readonly",
            "GOWORK": "off",
            # A module may ask for a newer Go, which is a module as well.
            "GOTOOLCHAIN": "auto",
        }
        build = ["go", "build", "-trimpath", "-ldflags", "-s -w", "-tags", peer.tags, "-o", str(made), peer.package]
        _ran(build, cwd=source, environment=environment, seconds=BUILD_SECONDS)
        for each in peer.beside:
            shutil.rmtree(folder / each, ignore_errors=True)
            (source / each).rename(folder / each)
        made.replace(folder / name)
    return folder / name


def module_folder(module: Module) -> Path:
    """Return the folder of a module in Go's cache, downloaded where it is missing and compared with its digest."""
    command = ["go", "mod", "download", "-json", f"{module.path}@{module.version}"]
    told = _ran(command, cwd=Path(tempfile.gettempdir()), environment={**os.environ, "GOTOOLCHAIN": "auto"})
    found = json.loads(told)
    if found["Sum"] != module.digest:
        raise FileNotFoundError(f"{module.path} {module.version} has the digest {found['Sum']}, not {module.digest}")
    return Path(found["Dir"])


def _copied(peer: Peer, source: Path) -> None:
    """Copy the module, whose own go.sum counts only where it is the one that is built."""
    shutil.copytree(module_folder(peer.itself), source)
    source.chmod(0o755)
    for folder, module in peer.inside:
        shutil.copytree(module_folder(module), source / folder)
    for path in (source, *source.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    for place, text in peer.added:
        (source / place).parent.mkdir(exist_ok=True)
        (source / place).write_text(text)


def _ran(
    command: list[str], *, cwd: Path, environment: dict[str, str] | None = None, seconds: float = 5 * SECONDS
) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=seconds
    )
    if done.returncode:
        raise FileNotFoundError(f"{' '.join(command)} said:\n{done.stderr.strip()[-4000:]}")
    return done.stdout
