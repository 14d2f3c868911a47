"""Karmada's CustomResourceDefinitions for the tests, from its Go module, whose digest is pinned here."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .waiting import SECONDS

MODULE, VERSION = "github.com/karmada-io/karmada", "v1.16.0"
DIGEST = "h1:RD58HD7xp0+FKDWkJRygBsN/ht3k7gbBZa0xBzWSio4="
_BASES = Path("charts") / "karmada" / "_crds" / "bases"


def _folder() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "argosy-test" / f"karmada-crds-{VERSION}"


def installed_karmada() -> Path | None:
    """Return the folder of the definitions if it is already here."""
    return _folder() if _folder().is_dir() else None


def obtain_karmada() -> Path:
    """Return the folder of the definitions, from the module where it is missing."""
    found = installed_karmada()
    if found is not None:
        return found
    if shutil.which("go") is None:
        raise FileNotFoundError("Karmada's definitions are not here and cannot be had: install Go")
    command = ["go", "mod", "download", "-json", f"{MODULE}@{VERSION}"]
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False, timeout=10 * SECONDS)
    if done.returncode:
        raise FileNotFoundError(f"{' '.join(command)} said:\n{done.stderr.strip()[-4000:]}")
    told = json.loads(done.stdout)
    if told["Sum"] != DIGEST:
        raise FileNotFoundError(f"{MODULE} {VERSION} has the digest {told['Sum']}, not {DIGEST}")
    _folder().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_folder().parent) as place:
        shutil.copytree(Path(told["Dir"]) / _BASES, Path(place) / "bases")
        for path in (Path(place) / "bases").rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        (Path(place) / "bases").chmod(0o755)
        (Path(place) / "bases").replace(_folder())
    return _folder()
