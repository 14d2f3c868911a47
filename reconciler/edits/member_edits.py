"""What ``argosy cluster`` does: label, taint, cordon and join members by changing files of the source, and say so."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import click

from overrides.admission import admit
from reconciler.report import Log
from reconciler.repository import open_repository
from reconciler.source.desired_documents import Placed
from render.documents import emit, parse_documents
from render.documents.editing import Edit
from render.errors import ConfigError, GitError, InputError
from render.model import Manifest

from .member_source import Contents, MemberSource
from .member_words import CORDON, TaintWords, label_edits, parse_labels, parse_taints, taint_edits

EditsOf = Callable[[Manifest], tuple[Edit, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """A member that is to join: where it is, its labels, and the kubeconfig context that reaches it."""

    name: str
    region: str = ""
    zones: tuple[str, ...] = ()
    provider: str = ""
    labels: tuple[str, ...] = ()
    context: str = ""

    def manifest(self) -> dict[str, Any]:
        """Return the Cluster."""
        wanted, removed = parse_labels(self.labels)
        if removed:
            raise click.UsageError("--label sets labels: write key=value")
        labels = {"labels": dict(wanted)} if wanted else {}
        place = {"provider": self.provider, "region": self.region, "zones": list(self.zones)}
        return {
            "apiVersion": "cluster.karmada.io/v1alpha1",
            "kind": "Cluster",
            "metadata": {"name": self.name, **labels},
            "spec": {"syncMode": "Push", **{key: value for key, value in place.items() if value}},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A change of files, what to call it, and the trailers its commit needs."""

    contents: Contents
    subject: str
    trailers: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The message of the commit."""
        return "\n\n".join(filter(None, (self.subject, "\n".join(self.trailers)))) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What an edit is called in a commit, and what is said when it was made and when there was nothing to do."""

    subject: str
    done: str
    idle: str


@contextmanager
def opened_source(log: Log) -> Iterator[MemberSource]:
    """Open the work tree the command line names."""
    with open_repository(log.repository, progress=log.transfer) as repository:
        yield MemberSource.of(repository)


def label_member(log: Log, name: str, words: Sequence[str], *, overwrite: bool, commit: bool) -> int:
    """Set and take away labels of a member."""
    parsed = parse_labels(words)
    done = "labeled" if parsed.wanted else "unlabeled"
    wording = Wording(subject=f"Label {name}: {' '.join(words)}", done=done, idle="not labeled")
    return _edit(log, name, lambda manifest: label_edits(manifest, parsed, overwrite=overwrite), wording, commit=commit)


def taint_member(log: Log, name: str, words: Sequence[str], *, overwrite: bool, commit: bool) -> int:
    """Set and take away taints of a member."""
    parsed = parse_taints(words)
    done = "tainted" if parsed.wanted else "untainted"
    wording = Wording(subject=f"Taint {name}: {' '.join(words)}", done=done, idle="not tainted")
    return _edit(log, name, lambda manifest: taint_edits(manifest, parsed, overwrite=overwrite), wording, commit=commit)


def cordon_member(log: Log, name: str, *, commit: bool) -> int:
    """Let nothing new come to a member."""
    words = TaintWords((CORDON,), ())
    wording = Wording(subject=f"Cordon {name}", done="cordoned", idle="already cordoned")
    return _edit(log, name, lambda manifest: taint_edits(manifest, words, overwrite=True), wording, commit=commit)


def uncordon_member(log: Log, name: str, *, commit: bool) -> int:
    """Let things come to a member again."""
    words = TaintWords((), (CORDON,))
    wording = Wording(subject=f"Uncordon {name}", done="uncordoned", idle="already uncordoned")
    return _edit(log, name, lambda manifest: taint_edits(manifest, words, overwrite=True), wording, commit=commit)


def _edit(log: Log, name: str, edits_of: EditsOf, wording: Wording, *, commit: bool) -> int:
    """Edit a member's Cluster and say so."""
    with opened_source(log) as source:
        place = source.place_of(name)
        edits = edits_of(place.manifest)
        if edits:
            contents = source.with_edits(place, edits)
            source.checked(contents)
            write(source, Told(contents=contents, subject=wording.subject), log, commit=commit)
    click.echo(f"cluster/{name} {wording.done if edits else wording.idle}")
    return 0


def join_member(log: Log, joining: Joining, *, commit: bool) -> int:
    """Write the Cluster of a new member, and how it is reached where that is not by its name."""
    with opened_source(log) as source:
        manifest = joining.manifest()
        path = _new_path(source, joining.name)
        if problems := admit(manifest).problems:
            raise InputError(replace(problem, path=path) for problem in problems)
        _refuse_member(source, joining.name, path)
        contents = {path: emit(manifest), **context_change(source, joining.name, joining.context)}
        if joining.name not in {cluster.name for cluster in source.checked(contents).desired.clusters}:
            raise ConfigError(
                f"{path} would not be read: source.paths or an ignore file leaves it out",
                hint=f"add the folder to source.paths in {source.home.expected_path}",
            )
        write(source, Told(contents=contents, subject=f"Join {joining.name}"), log, commit=commit)
    click.echo(f"cluster/{joining.name} joined")
    return 0


def _new_path(source: MemberSource, name: str) -> str:
    return "/".join(filter(None, (source.home.folder, "clusters", f"{name}.yaml")))


def _refuse_member(source: MemberSource, name: str, path: str) -> None:
    if name in {cluster.name for cluster in source.loaded.desired.clusters}:
        place = source.place_of(name)
        raise ConfigError(
            f"{name!r} is a member already: {place.file.path}:{source.line_of(place)}",
            hint=f"argosy cluster label {name} key=value changes it",
        )
    if any(file.path == path for file in source.files):
        raise ConfigError(f"{path} is there already and holds no Cluster called {name!r}", hint="move that file away")


def context_change(source: MemberSource, name: str, context: str) -> Contents:
    """Return argosy.yaml saying which context reaches a member ("": that it is named like it); nothing if it does."""
    path = source.home.path or source.home.expected_path
    listed = [access.name for access in source.fleet.clusters]
    item = {"name": name, "context": context}
    edits = []
    if name in listed:
        edits.append(Edit(("spec", "clusters", listed.index(name))))
    if context and context != name:
        edits.append(Edit(("spec", "clusters", len(listed) - len(edits)), item))
    if not edits:
        return {}
    content = source.content(path)
    if content is None:
        head = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
        return {path: emit({**head, "spec": {"clusters": [item]}})}
    return source.with_edits(_fleet_place(source, path, content), edits)


def _fleet_place(source: MemberSource, path: str, content: bytes) -> Placed:
    documents = [each for each in parse_documents(content) if each.value]
    document = next(each for each in documents if isinstance(each.value, dict) and each.value.get("kind") == "Fleet")
    file = next(file for file in source.files if file.path == path)
    return Placed(document.value, file, document.index, document.index)


def write(source: MemberSource, told: Told, log: Log, *, commit: bool) -> None:
    """Write files and commit them if so wished; when they cannot be committed they are put back as they were."""
    paths, repository = sorted(told.contents), source.repository
    if commit and (dirty := sorted(set(paths) & set(repository.dirty_paths()))):
        raise ConfigError(
            f"{dirty[0]} has changes that are not committed", hint="commit them first, or leave --commit out"
        )
    before = {path: source.content(path) for path in paths}
    repository.put_files(told.contents)
    for path in paths:
        log.info("removed" if told.contents[path] is None else "wrote", file=path)
    if not commit:
        return
    try:
        made = repository.commit_paths(paths, told.message)
    except GitError:
        repository.put_files(before)
        raise
    log.info("committed", commit=made[:12], subject=told.subject)
