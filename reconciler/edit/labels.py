"""What ``argosy cluster`` does: label, taint and cordon members by changing files of the source, and say so."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import click

from reconciler.console.log import Log
from reconciler.repository import open_repository
from render.documents.editing import Edit
from render.errors import ConfigError, GitError
from render.model import Manifest

from .cluster_files import Contents, MemberSource
from .label_words import CORDON, TaintWords, label_edits, parse_labels, parse_taints, taint_edits

EditsOf = Callable[[Manifest], tuple[Edit, ...]]


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
