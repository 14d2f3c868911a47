"""Builders: manifests in one line, real repositories in a folder, and the command line run in this process."""

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.cli import run
from render.documents import emit
from tests.quick_commits import committed
from tests.waiting import SECONDS

AUTHOR = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}

# A commit of a test need not outlive a power cut, and nobody waits for its repository to be tidied up.
QUICK = ("-c", "core.fsync=none", "-c", "maintenance.auto=false", "-c", "gc.auto=0")

NGINX = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nginx"}


def a_cluster(name: str, *, region: str = "", labels: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name} | ({"labels": dict(labels)} if labels else {})
    located = {"region": region} if region else {}
    return {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": metadata,
        "spec": {"syncMode": "Push", **located, **spec},
    }


def a_deployment(
    name: str = "nginx", *, replicas: int | None = 2, namespace: str = "default", image: str = "nginx:1.29"
) -> dict[str, Any]:
    labels = {"app": name}
    counted = {} if replicas is None else {"replicas": replicas}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": name, "image": image}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {**counted, "selector": {"matchLabels": labels}, "template": pod},
    }


def a_config_map(name: str, *, namespace: str = "default", **entries: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": entries}


def a_policy(
    name: str = "nginx", *, selectors: Sequence[Mapping[str, Any]] = (NGINX,), namespace: str = "default", **spec: Any
) -> dict[str, Any]:
    """A PropagationPolicy; ``spec`` takes placement, priority and so on."""
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"resourceSelectors": [dict(selector) for selector in selectors], **spec},
    }


def a_cluster_policy(name: str, *, selectors: Sequence[Mapping[str, Any]], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterPropagationPolicy",
        "metadata": {"name": name},
        "spec": {"resourceSelectors": [dict(selector) for selector in selectors], **spec},
    }


def on_clusters(*names: str, **placement: Any) -> dict[str, Any]:
    """A placement by cluster names."""
    return {"clusterAffinity": {"clusterNames": list(names)}, **placement}


def weighted(**weights: int) -> dict[str, Any]:
    """A replicaScheduling with static weights by cluster name."""
    listed = [{"targetCluster": {"clusterNames": [name]}, "weight": weight} for name, weight in weights.items()]
    return {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": listed},
    }


class Ended(NamedTuple):
    """The end of a run of the command line: its code, and everything it printed."""

    code: int
    out: str
    err: str

    @property
    def outcome(self) -> str:
        """The text that was printed before the commands to run next."""
        return self.out.partition("\nnext:\n")[0]

    @property
    def steps(self) -> list[str]:
        """The commands to run next."""
        return self.out.partition("\nnext:\n")[2].splitlines()


class Repository:
    """A real repository in a folder, with the few git words that tests need."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, *, bare: bool = False) -> "Repository":
        shutil.copytree(Path(_empty_repositories().name, "bare" if bare else "plain"), path, dirs_exist_ok=True)
        return cls(path)

    def git(self, *arguments: str, check: bool = True) -> str:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | AUTHOR
        command = ["git", *QUICK, *arguments]
        done = subprocess.run(
            command, cwd=self.path, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, files: Mapping[str, Any]) -> None:
        """Write files: text or bytes as they are, None to delete, a manifest or a list of them as YAML."""
        for name, content in files.items():
            path = self.path / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(as_bytes(content))

    def commit(self, files: Mapping[str, Any], message: str = "change") -> str:
        """Write files and commit them; return the commit id."""
        self.write(files)
        if commit := committed(self.path, AUTHOR, message):
            return commit
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self._head() or self.git("rev-parse", "HEAD")

    def _head(self) -> str:
        """The current commit, where its branch is a file."""
        folder = self.path / ".git"
        head = (folder / "HEAD").read_text().strip() if folder.is_dir() else ""
        ref = folder / head.removeprefix("ref: ")
        return ref.read_text().strip() if head.startswith("ref: ") and ref.is_file() else ""

    def files(self, revision: str = "argosy/rendered", under: str = "") -> list[str]:
        """The paths of a revision, sorted."""
        listed = self.git("ls-tree", "-r", "--name-only", "-z", revision, *([under] if under else []))
        return sorted(name for name in listed.split("\0") if name)

    def contents(self, revision: str = "argosy/rendered", under: str = "") -> dict[str, str]:
        """The files of a revision below a folder, by path, all of them from one process."""
        command = ["git", "archive", "--format=tar", revision]
        packed = subprocess.run(command, cwd=self.path, capture_output=True, check=True, timeout=SECONDS).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            members = [member for member in archive if member.isfile() and member.name.startswith(under)]
            read = {member.name: archive.extractfile(member) for member in members}
            return {name: file.read().decode() for name, file in sorted(read.items()) if file}

    def show(self, path: str, revision: str = "argosy/rendered") -> str:
        return self.git("show", f"{revision}:{path}")


@cache
def _empty_repositories() -> "tempfile.TemporaryDirectory[str]":
    """Return two repositories of which every other begins as a copy; they last as long as this process."""
    folder = tempfile.TemporaryDirectory(prefix="argosy-repositories-")
    for name, inside, options in (("plain", ".git", ()), ("bare", "", ("--bare",))):
        path = Path(folder.name, name)
        for part in ("hooks", "info"):
            (path / inside / part).mkdir(parents=True)
        Repository(path).git("init", "-q", "-b", "main", "--template=", *options)
    return folder


def copied(folder: Path, *repositories: Repository) -> tuple[Repository, ...]:
    """Copy repositories into a folder, where they are each other's remotes as they were before."""
    copies = tuple(Repository(shutil.copytree(each.path, folder / each.path.name)) for each in repositories)
    for config in (each.path / ".git" / "config" for each in copies):
        if config.is_file():
            text = config.read_text()
            for before, after in zip(repositories, copies, strict=True):
                text = text.replace(str(before.path), str(after.path))
            config.write_text(text)
    return copies


def as_bytes(content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, list):
        return b"---\n".join(emit(item) for item in content)
    return emit(content)


def argosy(repository: Repository, capsys: pytest.CaptureFixture[str], *arguments: str) -> Ended:
    """Run the command line on a repository, in this process."""
    capsys.readouterr()
    code = run(["-C", str(repository.path), *arguments])
    captured = capsys.readouterr()
    return Ended(code, captured.out, captured.err)
