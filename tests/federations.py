"""Fleets of other federations, imported and rendered, with what every cluster is sent."""

import contextlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reconciler.cli import run
from render.documents import emit, parse_documents

from .build import Repository, a_cluster

Document = dict[str, Any]
FOUND = {
    "Deployment": ("replicas",),
    "ReplicaSet": ("replicas",),
    "StatefulSet": ("replicas",),
    "Job": ("parallelism", "completions"),
    "HorizontalPodAutoscaler": ("minReplicas", "maxReplicas"),
}


@dataclass(frozen=True, slots=True)
class Imported:
    """The report, the files by path, and what each cluster is sent, by ``namespace/Kind/name`` and cluster."""

    report: Mapping[str, Any]
    files: Mapping[str, str]
    sent: Mapping[str, Mapping[str, Document]]

    def told(self, subject: str) -> dict[str, str]:
        """Return the code of every line about a document, with its grade."""
        lines = [each for each in self.report["documents"] if each["document"] == subject]
        return {each.get("code", ""): each["grade"] for each in lines}

    def counts(self, place: str) -> dict[str, Any]:
        """Return by cluster the counts of an object's spec, None for an object without any."""
        return {cluster: _count(manifest) for cluster, manifest in self.sent.get(place, {}).items()}

    def object(self, kind: str, namespace: str, name: str) -> Document:
        """Return an object that was written."""
        (found,) = (
            each
            for text in self.files.values()
            for document in parse_documents(text.encode())
            for each in (document.value,)
            if (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"])
            == (kind, namespace, name)
        )
        return dict(found)


def imported(
    folder: Path, system: str, documents: Sequence[Document], clusters: Mapping[str, Mapping[str, str]] | None = None
) -> Imported:
    """Import documents, commit what that writes, and render it; ``clusters`` join later, with these labels."""
    source, fleet = folder / "foreign", folder / "fleet"
    source.mkdir(parents=True)
    for place, each in enumerate(documents):
        (source / f"{place:03}.yaml").write_bytes(emit(each))
    report = json.loads(_output("import", str(source), "--from", system, "--output-dir", str(fleet), "-o", "json"))
    files = {path: (fleet / path).read_text(encoding="utf-8") for path in report["files"]}
    repository = Repository.create(fleet)
    later = {f"{name}.yaml": a_cluster(name, labels=labels) for name, labels in (clusters or {}).items()}
    repository.commit(later, "import")
    _output("-C", str(fleet), "reconcile", "--bootstrap")
    return Imported(report, files, _sent(repository))


def _output(*arguments: str) -> str:
    """Return what a command prints; what was refused, or finds no room, is in its report."""
    printed, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        code = run([*arguments])
    assert code in ({0, 3} if arguments[0] == "import" else {0, 1}), said.getvalue()
    return printed.getvalue()


def _sent(repository: Repository) -> dict[str, dict[str, Document]]:
    found: dict[str, dict[str, Document]] = {}
    for path, text in repository.contents().items():
        parts = path.split("/")
        if parts[0] == "clusters" and path.endswith(".yaml"):
            manifest = parse_documents(text.encode())[0].value
            place = "/".join(
                filter(None, (manifest["metadata"].get("namespace"), manifest["kind"], manifest["metadata"]["name"]))
            )
            found.setdefault(place, {})[parts[1]] = manifest
    return found


def _count(manifest: Document) -> Any:
    fields = FOUND.get(manifest["kind"], ())
    counts = [manifest["spec"][field] for field in fields if field in manifest["spec"]]
    return counts[0] if len(counts) == 1 else tuple(counts) or None
