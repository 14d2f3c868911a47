"""``python -m tests.wheel_smoke``: build the wheel, install it into a fresh environment elsewhere, and run it there."""

import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

INSTALL_SECONDS = 600
ROOT = Path(__file__).parent.parent
PACKAGES = ["overrides", "reconciler", "render"]
OWNERS = """
from importlib.metadata import packages_distributions
import overrides, reconciler, render
owners = packages_distributions()
for package in (overrides, reconciler, render):
    assert "site-packages" in package.__file__, package.__file__
    print(package.__name__, *sorted(set(owners[package.__name__])))
"""


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    with tempfile.TemporaryDirectory(prefix="argosy-wheel-") as folder:
        wheel = _built(Path(folder))
        _check_content(wheel)
        python = _installed(wheel, Path(folder) / "environment")
        argosy = str(python.with_name("argosy"))
        _expect(_run([argosy, "--version"], folder), f"argosy {project['version']}\n", "argosy --version")
        plugin, completion = (str(python.with_name(name)) for name in ("kubectl-argosy", "kubectl_complete-argosy"))
        _expect(_run([plugin, "--version"], folder), f"argosy {project['version']}\n", "kubectl argosy")
        _expect(_run([completion, "--vers"], folder), "--version\tShow the version and exit.\n:4\n", "its completion")
        _expect("Usage: argosy" in _run([argosy, "--help"], folder), True, "argosy --help")
        _expect(_run([str(python), "-c", OWNERS], folder), "".join(f"{name} argosy\n" for name in PACKAGES), "owners")
    print("the wheel works in a fresh environment")


def _built(folder: Path) -> Path:
    """Build from a copy of what Git tracks, so neither build leftovers nor stray files can help."""
    source = folder / "source"
    tracked = _run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], str(ROOT)).split("\0")
    for name in filter(None, tracked):
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy2(ROOT / name, target)
    _run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, source], folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _check_content(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    _expect(sorted(tops), PACKAGES, "top level of the wheel")
    _expect([name for name in PACKAGES if f"{name}/py.typed" not in names], [], "packages without py.typed")
    modules = {path.relative_to(ROOT).as_posix() for name in PACKAGES for path in (ROOT / name).rglob("*.py")}
    _expect(sorted(modules.difference(names)), [], "modules missing from the wheel")


def _installed(wheel: Path, folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    _run(
        [str(python), "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", str(wheel)],
        str(folder),
    )
    return python


def _run(command: list[str | Path], folder: str | Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def _expect(got: object, want: object, what: str) -> None:
    if got != want:
        sys.exit(f"{what}: got {got!r}, want {want!r}")


if __name__ == "__main__":
    main()
