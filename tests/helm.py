"""The helm that tests render charts with: built once from its Go module, into the cache of test programs."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

VERSION = "v3.22.0"
MODULE = "helm.sh/helm/v3"
BUILD_SECONDS = 30 * 60


def helm_folder() -> Path:
    """Return the folder of the built program: one for each version and platform."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "argosy-test" / f"helm-{VERSION}-{platform.system().lower()}-{platform.machine().lower()}"


def installed_helm() -> Path | None:
    """Return the program if it is already here."""
    path = helm_folder() / "helm"
    return path if os.access(path, os.X_OK) else None


def obtain_helm() -> Path:
    """Return the program, built with Go where it is missing."""
    path = installed_helm()
    if path is not None:
        return path
    if shutil.which("go") is None:
        raise FileNotFoundError("helm is not here and cannot be built: install Go")
    flags = f"-s -w -X {MODULE}/internal/version.version={VERSION}"
    environment = {**os.environ, "GOBIN": str(helm_folder()), "CGO_ENABLED": "0"}
    command = ["go", "install", "-trimpath", "-ldflags", flags, f"{MODULE}/cmd/helm@{VERSION}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=BUILD_SECONDS)
    if done.returncode:
        raise FileNotFoundError(f"{' '.join(command)} said:\n{done.stderr.strip()}")
    return helm_folder() / "helm"
