"""The programs of a control plane, and the places they are taken from.

In this order: the folder ``KUBEBUILDER_ASSETS``; our own cache; the official envtest archive (etcd and kube-apiserver
alone, and a download that may be refused); Go, from the modules pinned beside this file. The first two cost nothing
and are all that ``make test`` asks for; ``make e2e`` goes on until it has them.
"""

import fcntl
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
VERSION = "v1.36.3"
ENVTEST_INDEX = "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/main/envtest-releases.yaml"
BUILD_SECONDS = 90 * 60
IN_ARCHIVE = ("etcd", "kube-apiserver")


class NotBuilt(Exception):
    """A program can neither be found nor made here."""


class Source(NamedTuple):
    """The module folder and the package a program is built from."""

    module: str
    package: str


PROGRAMS = {
    "kube-apiserver": Source("kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    "etcd": Source("etcd", "go.etcd.io/etcd/server/v3"),
    "kube-controller-manager": Source("kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    "kube-scheduler": Source("kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler"),
    "kwok": Source("kwok", "sigs.k8s.io/kwok/cmd/kwok"),
}


def cache_folder() -> Path:
    """Return the folder in which built programs stay: one per platform and per content of the pinned modules."""
    return folder_of_content(VERSION, sorted(HERE.glob("*/go.*")))


def folder_of_content(name: str, files: Iterable[Path]) -> Path:
    """Return the folder of the cache for programs that are made of these files, on this platform."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256()
    for each in files:
        digest.update(each.read_bytes())
    return base / "argosy-test" / f"{name}-{digest.hexdigest()[:12]}-{_platform('-')}"


def installed(name: str) -> Path | None:
    """Return the program if it is already here."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    folders = ([Path(assets)] if assets else []) + [cache_folder()]
    return next((folder / name for folder in folders if os.access(folder / name, os.X_OK)), None)


def obtain(names: Iterable[str]) -> dict[str, Path]:
    """Return where each program is, downloading or building what is missing; raise NotBuilt when that fails."""
    wanted = list(names)
    if not all(installed(name) for name in wanted):
        with alone(cache_folder()):
            if any(installed(name) is None for name in wanted if name in IN_ARCHIVE):
                _download()
            for name in wanted:
                if installed(name) is None:
                    _build(name)
    return {name: path for name in wanted if (path := installed(name))}


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Let one process at a time fill the cache."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _platform(separator: str) -> str:
    machine = platform.machine().lower()
    return f"{platform.system().lower()}{separator}{ {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(machine, machine) }"


def _download() -> None:
    """Unpack the newest envtest archive of our minor version, checked by the digest its index states."""
    minor = VERSION.rpartition(".")[0]
    try:
        index = _fetched(ENVTEST_INDEX).decode()
        archive = rf"(envtest-{re.escape(minor)}\.\d+-{_platform('-')}\.tar\.gz):\s+hash: (\w+)\s+selfLink: (\S+)"
        found = re.findall(archive, index)
        if not found:
            _say(f"the envtest index has no archive of {minor} for {_platform('/')}; going on without")
            return
        name, digest, link = max(found, key=lambda row: [int(number) for number in re.findall(r"\d+", row[0])])
        content = _fetched(link)
    except (OSError, urllib.error.URLError) as error:
        _say(f"the envtest archive could not be downloaded ({type(error).__name__}); building instead")
        return
    if hashlib.sha512(content).hexdigest() != digest:
        _say(f"{name} does not have the digest its index states; building instead")
        return
    with tarfile.open(fileobj=io.BytesIO(content)) as unpacked:
        for member in unpacked:
            stream = unpacked.extractfile(member) if Path(member.name).name in IN_ARCHIVE else None
            if stream is not None:
                _install(Path(member.name).name, stream.read())


def _fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=20) as response:
        return bytes(response.read())


def _install(name: str, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=cache_folder(), delete=False) as made:
        made.write(content)
    Path(made.name).chmod(0o755)
    Path(made.name).replace(cache_folder() / name)


def _build(name: str) -> None:
    """Build a program, stamped with its version."""
    source = PROGRAMS[name]
    _, minor, _ = VERSION.split(".")
    stamp = "-X k8s.io/component-base/version."
    stamps = f"{stamp}gitVersion={VERSION} {stamp}gitMajor=1 {stamp}gitMinor={minor}"
    go_build(HERE / source.module, source.package, cache_folder() / name, stamps)


def go_build(module: Path, package: str, program: Path, stamps: str = "") -> None:
    """Build a program of a pinned module with Go, cgo off and stripped, and put it in its place at once."""
    if shutil.which("go") is None:
        raise NotBuilt(f"{program.name} is not here and cannot be built: install Go, or set KUBEBUILDER_ASSETS")
    _say(f"building {program.name} from {package} of {module.name}")
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        made = Path(folder) / program.name
        command = ["go", "build", "-trimpath", "-ldflags", f"-s -w {stamps}".strip(), "-o", str(made), package]
        environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
        run = subprocess.run(
            command,
            cwd=module,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=BUILD_SECONDS,
        )
        if run.returncode:
            raise NotBuilt(f"{' '.join(command)} in {module} said:\n{run.stderr.strip()}")
        made.replace(program)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
