"""The last good commit of a fleet: the newest rendered one, which stays in force while a newer source is refused.

A source that cannot be read still has a past. Its fleet is the one that the newest readable argosy.yaml describes, and
the rendered commit names the source commit it was made from, with the members that were in it.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from reconciler.pipeline.previous import Previous
from reconciler.repository import Repository
from reconciler.source.fleet_file import FleetSource, load_fleet
from render.errors import GitError
from render.fleet import Fleet

from .branches import Publication, publication_of, source_remote
from .reading import Source, read_observed_inputs, read_previous, read_source

TipOf = Callable[[Publication, str], str | None]
"""The tip of a branch, asked or as it is known here."""
_MOST_COMMITS = 100


class LastGood(Struct, frozen=True, kw_only=True):
    """The newest rendered commit of a fleet, and the source it was rendered from.

    Its fleet is what argosy.yaml says now, as far as that can be read: it tells how members are reached.
    """

    publication: Publication
    previous: Previous
    source: Source

    @property
    def fleet(self) -> Fleet:
        """The fleet."""
        return self.source.desired.fleet


def read_last_good(repository: Repository, commit: str, tip_of: TipOf) -> LastGood | None:
    """Return the last good commit of the fleet that a source commit describes, or described; None if there is none."""
    newest, asked = None, set[str]()
    for home in _homes(repository, commit):
        newest = newest or home
        if home.problems or home.fleet.rendered_branch in asked:
            continue
        asked.add(home.fleet.rendered_branch)
        publication = publication_of(repository, home.fleet)
        tip = tip_of(publication, home.fleet.rendered_branch)
        if tip is not None:
            source = _source_of(repository, tip)
            if newest.path and not newest.problems:
                source = replace(source, desired=replace(source.desired, fleet=newest.fleet))
            return LastGood(publication=publication, previous=read_previous(repository, tip), source=source)
    return None


def fleet_source_at(repository: Repository, commit: str) -> FleetSource:
    """Return what argosy.yaml says at a commit."""
    files = repository.snapshot(commit).files
    return load_fleet(files, folder=repository.folder.under, read=repository.read_blobs)


def _homes(repository: Repository, commit: str) -> Iterator[FleetSource]:
    """Yield what argosy.yaml says at a commit and said before it, up to the newest that can be read.

    More than one argosy.yaml, none of which was chosen, is a question to a person and no past.
    """
    for info in repository.history(commit, _MOST_COMMITS):
        home = fleet_source_at(repository, info.id)
        if home.problems and not home.path:
            return
        yield home
        if home.path and not home.problems:
            return


def _source_of(repository: Repository, rendered: str) -> Source:
    facts = read_observed_inputs(repository, rendered).facts
    source = read_previous(repository, rendered).source
    try:
        repository.resolve(source)
    except GitError as error:
        raise _absent(repository, source, rendered) from error
    return read_source(repository, source, facts=lambda _fleet: facts)


def _absent(repository: Repository, source: str, rendered: str) -> GitError:
    """Return the error for a rendered commit whose source commit is not in this clone, as after a rewritten history."""
    remote = source_remote(repository)
    if repository.is_shallow:
        hint = "fetch the whole history: git fetch --unshallow"
    elif remote:
        hint = f"fetch it: git fetch {remote} {source}"
    else:
        hint = f"fetch it from a clone that has it: git fetch FOLDER {source}"
    return GitError(f"source {source[:12]}, which {rendered[:12]} was rendered from, is not in this clone", hint=hint)
