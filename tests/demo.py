"""``python -m tests.demo``: the main job on examples/quickstart, command by command, in a scratch folder.

Every line after a ``$`` is run as it stands and shown with what it printed; the tables are read from the commit.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.waiting import SECONDS

ROOT = Path(__file__).parent.parent
SCRATCH = ROOT / ".demo" / "shop"
BRANCH = "origin/argosy/rendered"
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "NO_COLOR": "1",
}


def main() -> None:
    _prepare()
    say(f"A small shop over three clusters in two regions, in a repository of its own: {SCRATCH}")
    show("git log --oneline --stat=72")
    say("One pass: fetch, render, guard, commit, push. --bootstrap says that this is the first.")
    show("argosy reconcile --bootstrap")
    say("What it committed: for every cluster a folder with all it must hold, and why, as bindings.")
    show(f"git log --oneline {BRANCH}")
    show(f"git ls-tree -r --name-only {BRANCH}")
    say("Who got what:")
    print(table(rendered_objects()))
    say("What differs between a European and the American cluster:")
    show(f"git diff --unified=0 {BRANCH}:clusters/berlin {BRANCH}:clusters/oregon")
    say("Nothing changed, so a second pass writes nothing.")
    show("argosy reconcile")
    say("Ten replicas instead of eight:")
    _scale("apps/shop/web.yaml", 8, 10)
    show("git push --quiet origin main")
    show("argosy reconcile")
    show(f"git diff --stat {BRANCH}~1 {BRANCH} -- clusters")
    print(table(rendered_objects()))
    say(f"The repository is still there: cd {SCRATCH}")


def _prepare() -> None:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    shutil.copytree(ROOT / "examples" / "quickstart", SCRATCH, ignore=shutil.ignore_patterns("rendered"))
    hub = SCRATCH.with_suffix(".git")
    shutil.rmtree(hub, ignore_errors=True)
    quietly(f"git init --quiet --bare --initial-branch=main {shlex.quote(str(hub))}")
    quietly("git init --quiet --initial-branch=main")
    quietly("git config user.name Demo")
    quietly("git config user.email demo@example.com")
    quietly(f"git remote add origin {shlex.quote(str(hub))}")
    _commit("Open the shop")
    quietly("git push --quiet --set-upstream origin main")


def _scale(path: str, before: int, after: int) -> None:
    file = SCRATCH / path
    text = file.read_text()
    file.write_text(text.replace(f"replicas: {before}", f"replicas: {after}"))
    _commit(f"Run {after} replicas of web")


def _commit(message: str) -> None:
    quietly("git add --all")
    quietly(f"git commit --quiet --message {shlex.quote(message)}")


def say(text: str) -> None:
    print(f"\n{text}")


def show(command: str) -> None:
    print(f"\n$ {command}", flush=True)
    print(run(command), end="")


def quietly(command: str) -> None:
    run(command)


def run(command: str) -> str:
    done = subprocess.run(
        shlex.split(command),
        cwd=SCRATCH,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=SECONDS,
    )
    text = done.stdout.decode()
    if done.returncode:
        sys.exit(f"{text}{command} ended with {done.returncode}")
    return text


def rendered_objects() -> Mapping[str, Mapping[str, Any]]:
    """Return the objects of the rendered branch: by cluster, then by kind and name."""
    from render.documents import parse_documents
    from render.model import ObjectRef

    by_cluster: dict[str, dict[str, Any]] = {}
    for path in run(f"git ls-tree -r -z --name-only {BRANCH} -- clusters").split("\0")[:-1]:
        (document,) = parse_documents(run(f"git show {BRANCH}:{shlex.quote(path)}").encode())
        by_cluster.setdefault(path.split("/")[1], {})[str(ObjectRef.of(document.value))] = document.value
    return by_cluster


def table(by_cluster: Mapping[str, Mapping[str, Any]]) -> str:
    """Return who got what: a row for each object with its replicas, or a plain yes, and the registry it pulls from."""
    names = sorted({name for objects in by_cluster.values() for name in objects})
    rows = [("", *by_cluster)]
    for name in names:
        rows.append((name, *(_summary(objects.get(name)) for objects in by_cluster.values())))
        registries = [_registry(objects.get(name)) for objects in by_cluster.values()]
        if any(registries):
            rows.append(("  pulls from", *registries))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n" + "\n".join(lines)


def _summary(manifest: Any) -> str:
    if manifest is None:
        return "-"
    replicas = (manifest.get("spec") or {}).get("replicas")
    return "yes" if replicas is None else f"{replicas} replicas"


def _registry(manifest: Any) -> str:
    pod = ((manifest or {}).get("spec") or {}).get("template") or {}
    images = [container["image"] for container in (pod.get("spec") or {}).get("containers") or ()]
    return ", ".join(sorted({image.partition("/")[0] for image in images}))


if __name__ == "__main__":
    main()
