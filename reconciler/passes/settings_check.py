"""The settings of a pass: those in force before it, what its source changes of them, and whether that is accepted.

Where a person has accepted another place for the branches of a fleet, they move:

1. before the pass, what is rendered and recorded is published at the new place, where nothing stands yet: the fleet's
   past goes along, and so does the beginning of its rendered branch, by which members know it;
2. after it, the branch at the former place gets the pass's commit, whose source names the new one: whoever still looks
   there is led on.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.in_force import (
    BranchPlace,
    SettingsInForce,
    branch_place_being_left,
    changes_of_fleet_source,
    record_branch_place,
    rendered_tip_asked_of_remote,
    settings_in_force,
    words_on_renaming_fleet,
)
from reconciler.branches.reading import Source, read_loaded
from reconciler.console.log import Log
from reconciler.guards.accepted_settings import Acceptance, check_settings_are_accepted, error_with_waiting_settings
from reconciler.guards.outward_addresses import lock_among_files, lock_changes, webhook_changes
from reconciler.locked.model import Lock
from reconciler.pipeline.previous import Previous
from reconciler.repository import RefUpdate, Repository
from reconciler.repository.trailers import SOURCE, commit_written_by_argosy
from reconciler.source.files import SourceFile
from reconciler.source.fleet_file import load_fleet
from render.errors import GitError, InputError
from render.fleet_settings import SettingChange
from render.model import Template
from render.settings.fleet import Fleet
from render.settings.rendered import PushMode

from .options import ReconcileOptions
from .source_tip import SourceTip


class PassSettings(Struct, frozen=True, kw_only=True):
    """The settings in force before a pass (None: nothing was rendered), and those that its source changes.

    ``may_fetch``: the addresses of its argosy.lock are in force, or accepted. They are not where nobody knows which
    ones were in force.
    """

    in_force: SettingsInForce | None = None
    changes: tuple[SettingChange, ...] = ()
    may_fetch: bool = False

    def with_webhooks(self, repository: Repository, source: Source, options: ReconcileOptions) -> "PassSettings":
        """Return the same with the webhooks that the source changes; GuardRefused unless they are accepted."""
        changes = self._webhook_changes(repository, source.files, source.desired.webhooks)
        accepted = acceptance_of(options)
        check_settings_are_accepted(accepted.still_waiting(changes, source.desired.fleet), "")
        return replace(self, changes=(*self.changes, *changes))

    def named_with(
        self, error: InputError, repository: Repository, commit: str, options: ReconcileOptions
    ) -> InputError:
        """Return the error of a source that is refused, with the webhooks that it changes and that nobody accepts."""
        loaded = read_loaded(repository, commit, facts=None)
        changes = self._webhook_changes(repository, loaded.files, loaded.desired.webhooks)
        return error_with_waiting_settings(
            error, acceptance_of(options).still_waiting(changes, loaded.desired.fleet), ""
        )

    def _webhook_changes(
        self, repository: Repository, files: Sequence[SourceFile], webhooks: Sequence[Template]
    ) -> tuple[SettingChange, ...]:
        """Return the webhooks that are asked anew; the source before is only read where files of them are others."""
        if self.in_force is None or not webhooks:
            return ()
        now = {file.path: file.id for file in files}
        before = {file.path: file.id for file in repository.snapshot(self.in_force.source).files}
        if all(now.get(each.path) == before.get(each.path) for each in webhooks):
            return ()
        known = read_loaded(repository, self.in_force.source, facts=None).desired.webhooks
        return webhook_changes((each.manifest for each in known), (each.manifest for each in webhooks))

    @property
    def moved_from(self) -> str | None:
        """The rendered commit from which the fleet moves, where it is published nowhere else yet."""
        return self.in_force.rendered if self.in_force is not None else None

    def move_published_past(self, repository: Repository, fleet: Fleet, options: ReconcileOptions, log: Log) -> None:
        """Publish the fleet's past where its source says now, unless nothing may be written."""
        if self.in_force is not None and self.in_force.place != BranchPlace.of(fleet) and not options.dry_run:
            _move_branches(repository, self.in_force.place, BranchPlace.of(fleet), log)

    def record_place_of_branches(self, repository: Repository, fleet: Fleet, commit: str | None, log: Log) -> None:
        """Write down where the pass published, there and in this clone; ``commit`` is the newest by its settings."""
        place = BranchPlace.of(fleet)
        if self.in_force is not None:
            left = self.in_force.place if self.in_force.place != place else branch_place_being_left(repository)
            if left is not None and left != place and commit is not None:
                _lead_former_branch_to_new_place(repository, left, commit, log)
        record_branch_place(repository, fleet)

    def record_proposed(self, repository: Repository, fleet: Fleet) -> None:
        """Write down in this clone that the branches have moved, to where what is proposed has yet to be merged."""
        if self.in_force is not None and self.in_force.place != BranchPlace.of(fleet):
            record_branch_place(repository, fleet, self.in_force.place)

    def merged_commit(self, previous: Previous | None, commit: str | None) -> str | None:
        """Return the commit of a pass, or the one before where that was merged by the settings of this pass."""
        if commit is not None or previous is None or self.in_force is None:
            return commit
        is_newer = previous.source != self.in_force.source or previous.commit == self.in_force.rendered
        return previous.commit if is_newer else None


def check_settings_in_force(
    repository: Repository, tip: SourceTip, options: ReconcileOptions, log: Log
) -> PassSettings:
    """Return what a source changes of the settings in force; GuardRefused where that waits for a person.

    Before that, a source that is not of the fleet's branch is refused: its settings are nobody's wish yet.

    An argosy.yaml that cannot be read changes nothing: reading the source says why.
    """
    commit, files = tip.commit, repository.snapshot(tip.commit).files
    home = load_fleet(files, folder=repository.folder.under, read=repository.read_blobs)
    if home.problems:
        return PassSettings()
    accepted = acceptance_of(options)
    try:
        in_force = settings_in_force(repository, commit, rendered_tip_asked_of_remote, accepted.fleets)
    except GitError as error:
        if not accepted.is_whole:
            raise
        log.warning(f"the settings in force are not known: {error.message}")
        return PassSettings(may_fetch=True)
    tip.check_branch(repository, _branch_of_source(home.fleet, in_force, accepted))
    if in_force is None:
        return PassSettings(may_fetch=options.bootstrap or accepted.is_whole)
    if in_force.home is None:
        return PassSettings(may_fetch=accepted.is_whole)  # what does not follow the source before is refused for that
    before = lock_among_files(repository, repository.snapshot(in_force.source).files, in_force.home)
    changes = (
        *changes_of_fleet_source(in_force.home, home),
        *lock_changes(before, lock_among_files(repository, files, home)),
    )
    waiting = accepted.still_waiting(changes, home.fleet)
    known = proposed_setting_changes(repository, in_force, before) if waiting else ()
    waiting = tuple(each for each in waiting if each not in known)
    check_settings_are_accepted(waiting, home.expected_path, hint=rename_hint(repository, in_force, home.fleet))
    return PassSettings(in_force=in_force, changes=changes, may_fetch=True)


def _branch_of_source(fleet: Fleet, in_force: SettingsInForce | None, accepted: Acceptance) -> str:
    """Return the branch that a source has to be of ("": nothing says which); another one waits as any setting does.

    Where the settings in force are not known here, it is the one that is remembered until everything is accepted.
    """
    remembered = in_force.branch if in_force is not None else ""
    if in_force is not None and in_force.home is None and not accepted.is_whole:
        return remembered or fleet.source.branch
    return fleet.source.branch or remembered


def proposed_setting_changes(
    repository: Repository, in_force: SettingsInForce, lock: Lock
) -> tuple[SettingChange, ...]:
    """Return the changes of settings that wait to be merged, or were merged at another place: a person accepted them.

    A pass has proposed them, on a branch that follows what is in force.
    """
    if in_force.home is None or in_force.home.fleet.rendered.push is not PushMode.PULL_REQUEST:
        return ()
    publication = in_force.place.publication(repository)
    tip = publication.current_tip(in_force.home.fleet.proposed_branch)
    sources = commit_written_by_argosy(repository, tip).trailer(SOURCE) if tip else ()
    if tip is None or len(sources) != 1 or not repository.is_ancestor(in_force.rendered, tip):
        return ()
    files = repository.snapshot(sources[0]).files
    home = load_fleet(files, folder=repository.folder.under, read=repository.read_blobs)
    found = () if home.problems else changes_of_fleet_source(in_force.home, home)
    return (*found, *lock_changes(lock, lock_among_files(repository, files, home)))


def rename_hint(repository: Repository, in_force: SettingsInForce, fleet: Fleet) -> str:
    """Return how a fleet is renamed, naming its branches and its parent in members; empty where it is not."""
    before = in_force.home.fleet if in_force.home is not None else fleet
    if before.name == fleet.name:
        return ""
    from reconciler.plans.applyset import ApplySet

    parent = ApplySet.of_fleet(before.name, repository.first_commit(in_force.rendered)).name
    return words_on_renaming_fleet(before, fleet, parent)


def acceptance_of(options: ReconcileOptions) -> Acceptance:
    """Return what the options accept; ConfigError or InputError where their file cannot be used."""
    return Acceptance.read(options.accepted_settings, is_whole=options.accept_settings)


def _move_branches(repository: Repository, old: BranchPlace, new: BranchPlace, log: Log) -> None:
    """Publish the rendered and the status branch at a new place, where it has none."""
    for here, there in ((old.rendered, new.rendered), (old.status, new.status)):
        source, target = old.publication(repository), new.publication(repository)
        tip = source.current_tip(here)
        if tip is None or target.current_tip(there) is not None:
            continue
        if target.remote:
            repository.push(target.remote, [RefUpdate(f"refs/heads/{there}", tip, None)])
        repository.update_ref(target.ref(there), tip, repository.tip(target.ref(there)), reason="argosy: move")
        log.info("moved a branch", old=here, new=there)


def _lead_former_branch_to_new_place(repository: Repository, old: BranchPlace, commit: str, log: Log) -> None:
    """Let the former rendered branch stand at a commit whose source names the new place."""
    former = old.publication(repository)
    try:
        tip = former.current_tip(old.rendered)
        if tip is None or tip == commit:
            return
        if former.remote:
            repository.push(former.remote, [RefUpdate(f"refs/heads/{old.rendered}", commit, tip)])
        repository.update_ref(former.ref(old.rendered), commit, repository.tip(former.ref(old.rendered)))
    except GitError as error:
        log.warning(f"{old} does not lead to the new branches, and clones that look there are refused: {error.message}")
