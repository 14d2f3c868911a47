"""Fleets in which clusters and workloads fail: what was observed of them, on the status branch, without any member."""

from collections.abc import Mapping

from reconciler.ledger.health import HealthFile, ObservedHealth, ReportedHealth
from render.cluster import ClusterCondition
from render.documents import emit
from render.model import ObjectRef

from .build import Repository

WEB = ObjectRef("apps", "Deployment", "default", "web")


def observed(
    repository: Repository,
    *,
    ready: Mapping[str, tuple[str, str]] | None = None,
    health: Mapping[str, tuple[str, str]] | None = None,
    ref: ObjectRef = WEB,
) -> None:
    """Commit a status branch: the Ready status of clusters and the health of a workload in them, each with its time."""
    found = ObservedHealth(
        conditions={
            name: (ClusterCondition(type="Ready", status=status, since=since),)
            for name, (status, since) in (ready or {}).items()
        },
        workloads={
            ref: tuple(
                ReportedHealth(cluster=name, health=word, since=since, status={"phase": "Failed"})
                for name, (word, since) in (health or {}).items()
            )
        }
        if health
        else {},
    )
    files = {HealthFile.NAME: file.content()} if (file := HealthFile.of_health(found)) else {}
    for name, (status, _) in (ready or {}).items():
        conditions = [{"type": "Ready", "status": status}]
        files[f"{name}.yaml"] = emit(
            {
                "apiVersion": "argosy.dev/v1alpha1",
                "kind": "ClusterFacts",
                "metadata": {"name": name},
                "status": {"conditions": conditions},
            }
        )
    folder = _tree(repository, {name: ("100644 blob", _blob(repository, content)) for name, content in files.items()})
    root = _tree(repository, {"facts": ("040000 tree", folder)})
    repository.git("update-ref", "refs/heads/argosy/status", repository.git("commit-tree", root, "-m", "observed"))


def _blob(repository: Repository, content: bytes) -> str:
    path = repository.path / ".git" / "observed"
    path.write_bytes(content)
    return repository.git("hash-object", "-w", str(path))


def _tree(repository: Repository, entries: Mapping[str, tuple[str, str]]) -> str:
    path = repository.path / ".git" / "entries"
    lines = [f"{kind} {id_}\t{name}\n" for name, (kind, id_) in sorted(entries.items())]
    path.write_text("".join(lines))
    import subprocess

    with path.open() as file:
        done = subprocess.run(
            ["git", "mktree"], cwd=repository.path, stdin=file, capture_output=True, text=True, check=True, timeout=30
        )
    return done.stdout.strip()
