"""The settings in force: those of the last rendered source, which a newer argosy.yaml does not change by itself.

A newer source may name another place for its branches. So the place is not taken from it:

1. a pass of this clone wrote down where it published; otherwise it is the first place that argosy.yaml ever named at
   which something is rendered;
2. the tip there names its source, whose argosy.yaml may name another place. A person accepted that one, or the source
   would not have been rendered; where something is rendered there, that is looked at in the same way.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.console.cleaning import without_passwords
from reconciler.repository import Repository
from reconciler.repository.cache import read_privately, write_privately
from reconciler.repository.history import commits_of_file
from reconciler.repository.trailers import BRANCH, SOURCE, commit_written_by_argosy
from reconciler.source.files import FLEET_FILE, SourceFile
from reconciler.source.fleet_file import FleetSource, load_fleet
from render.errors import GitError, InputError
from render.fleet_settings import SettingChange, SettingSubject, setting_changes
from render.json_values import value_of_json_text
from render.settings.fleet import Fleet

from .publication import Publication, remote_of_source

_RECORD = "place.json"
_WORDS = 3
"""The words of a place in the record: remote, rendered branch and status branch."""
_LARGEST = 1 << 20


class BranchPlace(Struct, frozen=True):
    """A place of a fleet's branches: a remote ("": the one of the source), and the rendered and the status branch."""

    remote: str
    rendered: str
    status: str

    @classmethod
    def of(cls, fleet: Fleet) -> "BranchPlace":
        """Return the place that argosy.yaml names."""
        return cls(fleet.rendered.remote, fleet.rendered_branch, fleet.status_branch)

    def publication(self, repository: Repository) -> Publication:
        """Return where that is, seen from a clone."""
        return Publication(repository=repository, remote=self.remote or remote_of_source(repository))

    def __str__(self) -> str:
        return f"{self.rendered} of {self.remote}" if self.remote else self.rendered


TipOf = Callable[[Publication, BranchPlace], str | None]
"""The tip of a rendered branch, asked for or as it is known here."""


def rendered_tip_asked_of_remote(publication: Publication, place: BranchPlace) -> str | None:
    """Return where the rendered branch stands now; for the status branch is asked with it, which a pass reads next."""
    publication.ask_for_tips(place.rendered, place.status)
    return publication.current_tip(place.rendered)


def rendered_tip_last_seen(publication: Publication, place: BranchPlace) -> str | None:
    """Return where the rendered branch stood when it was last seen here; GitError where it was never fetched."""
    return publication.known_tip(place.rendered)


def rendered_tip_or_none(publication: Publication, place: BranchPlace) -> str | None:
    """Return the same, and None also where it was never fetched."""
    return publication.repository.tip(publication.ref(place.rendered))


class SettingsInForce(Struct, frozen=True, kw_only=True):
    """The newest rendered commit of a fleet, the place it was found at, its source, and what argosy.yaml says there.

    ``home`` is None where that source is not in this clone, or its argosy.yaml cannot be read. ``branch`` is the one
    that the rendered commit remembers ("": none), which the settings there have as the branch of the source.
    """

    place: BranchPlace
    rendered: str
    source: str
    home: FleetSource | None
    branch: str = ""


ACCEPT_OR_BEGIN = (
    "a changed place waits until a pass accepts it: argosy reconcile --accept-settings; where nothing was ever"
    " rendered: argosy reconcile --bootstrap"
)
OTHER_FLEET = "a fleet of its own, whose folder is not read any more"
"""The words for an argosy.yaml below the one of a fleet."""


def fleets_below(home: FleetSource, files: Iterable[SourceFile]) -> frozenset[str]:
    """Return the paths of argosy.yaml files in folders below a fleet's."""
    folder = f"{home.folder}/" if home.folder else ""
    return frozenset(
        path for path in _paths_of_fleet_files(files) if path.startswith(folder) and path != home.expected_path
    )


def fleet_source_at(repository: Repository, commit: str) -> FleetSource:
    """Return what argosy.yaml says at a commit."""
    files = repository.snapshot(commit).files
    return load_fleet(files, folder=repository.folder.under, read=repository.read_blobs)


def changes_of_fleet_source(before: FleetSource, after: FleetSource) -> tuple[SettingChange, ...]:
    """Return the settings that another argosy.yaml changes, and its folder, from which files and paths begin.

    Passwords in addresses are left out of them here, for they are told in many forms. An argosy.yaml that names no
    branch of the source leaves the one that is remembered.
    """
    if not after.fleet.source.branch:
        after = _with_source_branch(after, before.fleet.source.branch)
    changes = tuple(
        replace(each, before=_value_without_passwords(each.before), after=_value_without_passwords(each.after))
        for each in setting_changes(before.fleet, after.fleet)
    )
    if before.folder == after.folder:
        return changes
    old, new = before.path or before.expected_path, after.path or after.expected_path
    moved = SettingChange(field=FLEET_FILE, before=old, after=new, waits=True, subject=SettingSubject.FOLDER)
    return (moved, *changes)


def words_on_renaming_fleet(before: Fleet, after: Fleet, parent: str = "") -> str:
    """Return how a fleet is renamed: where its branches move to, and by what members know its objects.

    ``parent`` is that of its ApplySet ("": the root of the rendered branch is not known here).
    """
    name = parent or f"argosy-{before.name}-ROOT"
    return (
        f"a fleet that is renamed moves from {before.branch_prefix}/... to {after.branch_prefix}/..., and members know"
        f" its objects by the ConfigMap argosy-system/{name}: argosy reconcile --accept-settings --take-from applyset"
        f" --migrate-from {name}"
    )


def _value_without_passwords(value: Any) -> Any:
    """Return a value of a setting without the passwords of addresses in it."""
    if isinstance(value, tuple):
        return tuple(map(_value_without_passwords, value))
    return without_passwords(value) if type(value) is str else value


def settings_in_force(
    repository: Repository, commit: str, tip_of: TipOf, accepted: Iterable[Fleet] = ()
) -> SettingsInForce | None:
    """Return the settings that are in force for the fleet of a source commit; None where nothing was rendered.

    ``accepted`` are settings from outside the repository: the places that they name are looked at first.
    """
    found = None
    for place in _trusted_places(repository, commit, accepted):
        found = _follow_places(repository, place, tip_of)
        if found is not None:
            break
    return found


def fleet_in_force(repository: Repository, commit: str, tip_of: TipOf) -> tuple[Fleet, tuple[SettingChange, ...]]:
    """Return what argosy.yaml says at a commit; or what is in force, and the changes of it that wait for a person.

    InputError says what is wrong with it.
    """
    home = fleet_source_at(repository, commit)
    if home.problems:
        raise InputError(home.problems)
    found = settings_in_force(repository, commit, tip_of)
    if found is None or found.home is None:
        return home.fleet, ()
    waiting = tuple(each for each in changes_of_fleet_source(found.home, home) if each.waits)
    return (found.home.fleet if waiting else home.fleet), waiting


def published_fleet(repository: Repository, commit: str, fleet: Fleet, *, is_first: bool | None = None) -> Fleet:
    """Return the fleet of a source commit ("": of the work tree) under the name and at the place that are in force.

    A place that it names anew has nothing that anybody accepted, and is not repeated as one to fetch from. Nothing is
    asked here; GitError where argosy.yaml named another place and it is not known whether something is rendered there.
    ``is_first``: somebody says that nothing is rendered yet.
    """
    with suppress(GitError):
        commit = commit or repository.resolve("HEAD")
    if not commit:
        return fleet
    own = BranchPlace.of(fleet)
    found = settings_in_force(repository, commit, rendered_tip_or_none)
    if found is None:
        if not is_first:
            _check_place_is_known(repository, commit, own)
        return fleet
    if found.place == own:
        return fleet
    if found.home is not None and BranchPlace.of(found.home.fleet) == found.place:
        return replace(fleet, name=found.home.fleet.name, rendered=found.home.fleet.rendered)
    return replace(fleet, rendered=replace(fleet.rendered, remote=found.place.remote, branch=found.place.rendered))


def _check_place_is_known(repository: Repository, commit: str, own: BranchPlace) -> None:
    """Raise GitError where a place of branches is not known here, and neither is whether anybody accepted it."""
    first = next(_trusted_places(repository, commit, ()), own)
    if first != own:
        first.publication(repository).known_tip(first.rendered)
    is_doubtful = first != own or (repository.is_shallow and bool(own.remote))
    if is_doubtful and not own.publication(repository).is_known(own.rendered):
        raise GitError(
            "where the fleet is published is not known here: argosy.yaml names a place that was never fetched, and"
            " nothing says that it is in force",
            hint="git fetch --unshallow" if repository.is_shallow else ACCEPT_OR_BEGIN,
        )


def _trusted_places(repository: Repository, commit: str, accepted: Iterable[Fleet]) -> Iterator[BranchPlace]:
    """Yield the places that may be trusted, the most trusted first, each once."""
    places = _all_trusted_places(repository, commit, accepted)
    seen: set[BranchPlace] = set()
    for place in places:
        if place not in seen:
            seen.add(place)
            yield place


def _all_trusted_places(repository: Repository, commit: str, accepted: Iterable[Fleet]) -> Iterator[BranchPlace]:
    yield from map(BranchPlace.of, accepted)
    recorded = _recorded_place(repository)
    if recorded is not None:
        yield recorded
    for changed in commits_of_file(repository.git, commit, FLEET_FILE):
        home = fleet_source_at(repository, changed)
        if not home.problems:
            yield BranchPlace.of(home.fleet)
    home = fleet_source_at(repository, commit)
    if not home.problems:
        yield BranchPlace.of(home.fleet)


def _follow_places(repository: Repository, place: BranchPlace, tip_of: TipOf) -> SettingsInForce | None:
    """Return what is rendered at a place, or at the last of those to which its tips lead."""
    found: SettingsInForce | None = None
    seen: set[BranchPlace] = set()
    while place not in seen:
        seen.add(place)
        tip = tip_of(place.publication(repository), place)
        info = commit_written_by_argosy(repository, tip) if tip else None
        sources = info.trailer(SOURCE) if info else ()
        if tip is None or info is None or len(sources) != 1:
            break
        home, branch = _readable_fleet_source(repository, sources[0]), "".join(info.trailer(BRANCH)[:1])
        if home is not None and _is_place_of_another_fleet(repository, sources[0], home, place):
            break
        home = _with_source_branch(home, branch) if home is not None and branch else home
        found = SettingsInForce(place=place, rendered=tip, source=sources[0], home=home, branch=branch)
        if home is None:
            break
        place = BranchPlace.of(home.fleet)
    return found


def _with_source_branch(home: FleetSource, branch: str) -> FleetSource:
    """Return what argosy.yaml says, and another branch that source commits have to be of."""
    return replace(home, fleet=replace(home.fleet, source=replace(home.fleet.source, branch=branch)))


def _is_place_of_another_fleet(repository: Repository, source: str, home: FleetSource, place: BranchPlace) -> bool:
    """Say whether a fleet in another folder of a source published at a place, and not the one that is asked about.

    That one had no argosy.yaml yet: then every default names the place that another's name is the default for.
    """
    if home.path:
        return False
    files = repository.snapshot(source).files
    others = (
        load_fleet(files, folder=path.rpartition("/")[0], read=repository.read_blobs)
        for path in _paths_of_fleet_files(files)
    )
    return any(BranchPlace.of(each.fleet) == place for each in others if not each.problems)


def _paths_of_fleet_files(files: Iterable[SourceFile]) -> Iterator[str]:
    """Yield the paths of all argosy.yaml files."""
    return (file.path for file in files if file.path.rpartition("/")[2] == FLEET_FILE)


def _readable_fleet_source(repository: Repository, source: str) -> FleetSource | None:
    """Return what argosy.yaml says at a rendered source; None where that commit is not here, or cannot be read now."""
    with suppress(GitError):
        home = fleet_source_at(repository, source)
        return None if home.problems else home
    return None


def _recorded_place(repository: Repository) -> BranchPlace | None:
    """Return where the last pass of this clone published the fleet; None where no pass of it has."""
    return _branch_place_of_words(_words_by_folder(repository).get(repository.folder.under, [])[:_WORDS])


def branch_place_being_left(repository: Repository) -> BranchPlace | None:
    """Return the place that the fleet leaves once what was proposed at the next one is merged; None where it stays."""
    return _branch_place_of_words(_words_by_folder(repository).get(repository.folder.under, [])[_WORDS:])


def _branch_place_of_words(words: list[str]) -> BranchPlace | None:
    return BranchPlace(*words) if len(words) == _WORDS else None


def _words_by_folder(repository: Repository) -> dict[str, list[str]]:
    """Return the words of the places that passes of this clone wrote down, by the folder of their fleet."""
    return (
        value_of_json_text(read_privately(repository.cache_dir / _RECORD, _LARGEST) or b"", dict[str, list[str]]) or {}
    )


def record_branch_place(repository: Repository, fleet: Fleet, left: BranchPlace | None = None) -> None:
    """Write down where a pass of this clone has published a fleet; a full disk is no failure.

    ``left`` is the place from which nothing leads there yet, because a person has to merge first.
    """
    place = BranchPlace.of(fleet)
    if (_recorded_place(repository), branch_place_being_left(repository)) == (place, left):
        return
    records = _words_by_folder(repository)
    both = [place, *([left] if left is not None else [])]
    records[repository.folder.under] = [text for each in both for text in (each.remote, each.rendered, each.status)]
    with suppress(OSError):
        write_privately(repository.cache_dir / _RECORD, json.dumps(records).encode())
