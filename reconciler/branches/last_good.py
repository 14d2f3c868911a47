"""The last good commit of a fleet: the newest rendered one, which stays in force while a newer source is refused.

A source that cannot be read still has a past: the settings in force say where that is published. The rendered commit
names the source commit it was made from, with the members that were in it.
"""

from msgspec import Struct
from msgspec.structs import replace

from reconciler.pipeline.previous import Previous
from reconciler.repository import Repository
from render.settings.fleet import Fleet

from .in_force import BranchPlace, TipOf, changes_of_fleet_source, fleet_source_at, settings_in_force
from .publication import Publication
from .reading import Source, read_previous
from .rendered_sources import rendered_source


class LastGood(Struct, frozen=True, kw_only=True):
    """The newest rendered commit of a fleet, and the source it was rendered from.

    Its fleet is what argosy.yaml says now, where that can be read and nothing of it waits for a person; otherwise what
    it said then. ``source_as_rendered`` has the fleet as it was then, and ``place`` is where its branches are.
    """

    publication: Publication
    place: BranchPlace
    previous: Previous
    source: Source
    source_as_rendered: Source

    @property
    def fleet(self) -> Fleet:
        """The fleet."""
        return self.source.desired.fleet


def read_last_good(repository: Repository, commit: str, tip_of: TipOf) -> LastGood | None:
    """Return the last good commit of the fleet that a source commit describes, or described; None if there is none.

    More than one argosy.yaml, none of which was chosen, is a question to a person and no past.
    """
    newest = fleet_source_at(repository, commit)
    if newest.problems and not newest.path:
        return None
    in_force = settings_in_force(repository, commit, tip_of)
    if in_force is None:
        return None
    source = as_rendered = rendered_source(repository, in_force.rendered)
    changes = changes_of_fleet_source(in_force.home, newest) if in_force.home is not None else ()
    if newest.path and not newest.problems and not any(each.waits for each in changes):
        source = replace(source, desired=replace(source.desired, fleet=newest.fleet))
    previous = read_previous(repository, in_force.rendered)
    return LastGood(
        publication=in_force.place.publication(repository),
        place=in_force.place,
        previous=previous,
        source=source,
        source_as_rendered=as_rendered,
    )
