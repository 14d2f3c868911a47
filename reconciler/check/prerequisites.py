"""The checks of what a reconcile pass needs: git, history, a source that loads, a remote, the right to push."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.in_force import fleet_in_force, published_fleet, rendered_tip_or_none, settings_in_force
from reconciler.branches.publication import Publication, branch_of_head, publication_of, remote_of_source
from reconciler.branches.reading import read_loaded, read_previous, read_source
from reconciler.building.confinement import SystemBounds, system_bounds
from reconciler.building.tools import unconfined_tools
from reconciler.console.cleaning import without_passwords
from reconciler.guards.outward_addresses import webhook_changes
from reconciler.guards.source_branch import check_source_branch_here
from reconciler.repository import RefUpdate, Repository
from reconciler.repository.refs import head_branch
from reconciler.source.desired import Desired, interpreter_of_source
from render.errors import GitError, ReconcileError
from render.fleet_settings import SettingChange
from render.interpreter.webhooks import WebhookError
from render.settings.fleet import Fleet
from render.words import counted_noun, first_few

OLDEST_GIT = (2, 32)
_MANY_PACKS = 200
_MOST_SHOWN = 3
_ACCEPTING = "if they are meant: argosy reconcile --accept-settings"


class Check(Struct, frozen=True, kw_only=True):
    """One thing that was checked, of a ``member`` if of one, its state in words, and what to do if it is not well.

    ``is_warning``: it stops nothing, and somebody should know it.
    """

    name: str
    is_well: bool
    state: str
    hint: str = ""
    member: str = ""
    is_warning: bool = False


CheckMembers = Callable[[Desired], Iterable[Check]]
"""Check the members of a source."""


def all_checks(repository: Repository, check_members: CheckMembers, *, offline: bool) -> Iterator[Check]:
    """Check what a pass needs, from the git program to the right to push, and the members unless ``offline``."""
    yield _check_of_git_version(repository)
    yield _check_of_history(repository)
    yield _check_of_confinement(system_bounds(), unconfined_tools(os.environ.get("PATH", os.defpath)))
    source = _check_by_state("source", lambda: _state_of_source(repository), "argosy validate lists every problem")
    yield source
    if not source.is_well:
        return
    try:
        desired, waiting = _desired_in_force(repository)
    except GitError as error:
        yield Check(name="settings", is_well=False, state=error.message, hint=error.hint)
        return
    fleet, rendered = desired.fleet, desired.fleet.rendered_branch
    publication = publication_of(repository, fleet)
    if waiting:
        yield Check(name="settings", is_well=True, is_warning=True, state=_words_of_waiting(waiting), hint=_ACCEPTING)
    yield _check_of_remote(repository, publication)
    if publication.remote and not offline:
        credentials = "check the address and your credentials"
        yield _check_by_state("remote", lambda: _state_of_remote(publication, fleet), credentials)
        yield _check_by_state("push", lambda: _state_of_push(publication, rendered), f"let this user push {rendered!r}")
    yield _check_of_packs(repository)
    yield _check_by_state("source branch", lambda: _source_branch_state(publication, fleet), "argosy help trailers")
    yield _check_by_state("rendered branch", lambda: _state_of_rendered_branch(publication, rendered), "argosy verify")
    reached = _reached_clusters_text(fleet, [cluster.name for cluster in desired.clusters])
    yield Check(name="clusters", is_well=True, state=reached)
    if offline:
        return
    yield from _checks_of_members(check_members, desired)
    if fleet.clusters or fleet.kubeconfigs:
        yield from _checks_of_webhooks(desired)


def printed_checks(checks: Iterable[Check]) -> Iterator[Check]:
    """Yield what people read: of a member one line if it is well, and a line for each check that is not, or warns."""
    for member, group in groupby(checks, key=attrgetter("member")):
        found = list(group)
        if not member:
            yield from found
            continue
        unwell = [check for check in found if check.is_warning or not check.is_well]
        well = [check for check in found if check not in unwell]
        if well and all(check.is_well for check in unwell):
            yield replace(well[0], name=f"member {member}", state=", ".join(check.state for check in well))
        yield from (replace(check, name=f"member {member}: {check.name}") for check in unwell)


def _checks_of_members(check_members: CheckMembers, desired: Desired) -> Iterable[Check]:
    """Return the checks of the members; one check where a remote does not say which objects they must hold."""
    try:
        return tuple(check_members(desired))
    except GitError as error:
        state = f"not asked: {error.message.splitlines()[0]}"
        return (Check(name="members", is_well=False, state=state, hint=error.hint),)


def _desired_in_force(repository: Repository) -> tuple[Desired, tuple[SettingChange, ...]]:
    """Return the source of ``HEAD`` by the settings that are in force, and what waits of it; GitError if nobody knows.

    What waits is not asked, and neither is any webhook while one does.
    """
    head = repository.resolve("HEAD")
    desired = read_source(repository, head).desired
    published_fleet(repository, head, desired.fleet)
    fleet, waiting = fleet_in_force(repository, head, rendered_tip_or_none)
    found = settings_in_force(repository, head, rendered_tip_or_none)
    before = read_loaded(repository, found.source, facts=None).desired if found and found.home else None
    if before is not None and desired.webhooks:
        changes = webhook_changes(*([each.manifest for each in side.webhooks] for side in (before, desired)))
        waiting = (*waiting, *changes)
        desired = replace(desired, webhooks=() if changes else desired.webhooks)
    return replace(desired, fleet=fleet), waiting


def _words_of_waiting(waiting: Sequence[SettingChange]) -> str:
    return f"waiting, and not asked here: {without_passwords('; '.join(map(str, waiting[:_MOST_SHOWN])))}" + (
        f" and {len(waiting) - _MOST_SHOWN} more" if len(waiting) > _MOST_SHOWN else ""
    )


def _reached_clusters_text(fleet: Fleet, names: Sequence[str]) -> str:
    """Say which clusters passes apply to, going by argosy.yaml alone."""
    reached = [name for name in names if fleet.reachable_members is None or name in fleet.reachable_members]
    left = [name for name in names if name not in reached]
    if not reached:
        return "argosy reconcile only renders: argosy.yaml says of none how it is reached"
    alone = f"; it leaves {first_few(left)} alone" if left else ""
    return f"argosy reconcile applies to {first_few(reached)}{alone}"


def _check_by_state(name: str, state_of: Callable[[], str], hint: str) -> Check:
    try:
        return Check(name=name, is_well=True, state=state_of())
    except ReconcileError as error:
        return Check(name=name, is_well=False, state=error.message.splitlines()[0], hint=error.hint or hint)


def _check_of_git_version(repository: Repository) -> Check:
    text = repository.git.text("version").strip()
    numbers = tuple(int(part) for part in text.split()[2].split(".")[:2])
    wanted = ".".join(map(str, OLDEST_GIT))
    return Check(name="git", is_well=numbers >= OLDEST_GIT, state=text, hint=f"install git {wanted} or newer")


def _check_of_history(repository: Repository) -> Check:
    if not repository.is_shallow:
        return Check(name="history", is_well=True, state="complete")
    hint = "git fetch --unshallow; in GitHub Actions: actions/checkout with fetch-depth: 0"
    return Check(name="history", is_well=False, state="this clone is shallow: a rewound source is not seen", hint=hint)


def _check_of_confinement(bounds: SystemBounds, scripts: Sequence[str]) -> Check:
    """Say whether this machine keeps the programs that build from files and addresses that are not theirs."""
    open_ways = [
        name for name, is_closed in (("files", bounds.files), ("the network", bounds.network)) if not is_closed
    ]
    if open_ways:
        state = f"this system does not keep kustomize and helm from {' and '.join(open_ways)}: their copy alone does"
        hint = "a Linux with Landlock and filters of system calls does, in a container too"
        return Check(name="builds", is_well=True, is_warning=True, state=state, hint=hint)
    if scripts:
        state = (
            f"{first_few(scripts)} {'is a script' if len(scripts) == 1 else 'are scripts'}, kept from the network alone"
        )
        hint = "put the program itself on PATH, so that it can open nothing but what it builds"
        return Check(name="builds", is_well=True, is_warning=True, state=state, hint=hint)
    return Check(name="builds", is_well=True, state="kustomize and helm open their own files alone, and no network")


def _state_of_source(repository: Repository) -> str:
    desired = read_source(repository, repository.resolve("HEAD")).desired
    templates, clusters = (
        counted_noun(len(desired.templates), "template"),
        counted_noun(len(desired.clusters), "cluster"),
    )
    return f"{templates}, {counted_noun(len(desired.policies), 'policy', 'policies')}, {clusters}"


def _check_of_remote(repository: Repository, publication: Publication) -> Check:
    if not publication.remote:
        state = "none: branches are written in this repository alone"
        return Check(name="published at", is_well=True, state=state)
    refspecs = repository.settings.values.get(f"remote.{publication.remote}.fetch", ())
    covers = repository.mirrors or any("refs/heads/*" in refspec or "argosy" in refspec for refspec in refspecs)
    remote = publication.remote
    hint = f"git config --add remote.{remote}.fetch '+refs/heads/argosy/*:refs/remotes/{remote}/argosy/*'"
    state = publication.remote if covers else f"{publication.remote}, whose argosy/* branches 'git fetch' leaves out"
    return Check(name="published at", is_well=bool(covers), state=state, hint=hint)


def _check_of_packs(repository: Repository) -> Check:
    """Count the packs: passes join them, but nothing does where passes fail, or write as another user."""
    packs = list((repository.folder.objects / "pack").glob("pack-*.pack"))
    megabytes = sum(pack.stat().st_size for pack in packs) / 1e6
    state = f"{counted_noun(len(packs), 'pack')}, {megabytes:.1f} MB"
    return Check(name="storage", is_well=len(packs) < _MANY_PACKS, state=state, hint="git gc")


def _state_of_remote(publication: Publication, fleet: Fleet) -> str:
    """Ask the remote for its refs, among which the source branch has to be if it is there."""
    repository, remote = publication.repository, publication.remote
    tips, branch = repository.remote_tips(remote), head_branch(repository.folder.git_dir)
    is_source = remote == remote_of_source(repository) and not repository.mirrors and branch is not None
    is_source = is_source and _branch_of_source(publication, fleet) in {"", branch_of_head(repository)}
    if is_source and branch not in tips.tips:
        name = str(branch).removeprefix("refs/heads/")
        raise GitError(f"{remote!r} has no branch {name!r}, which passes take the source from", hint="git push")
    return f"{counted_noun(len(tips.tips), 'ref')}, default branch {tips.head.removeprefix('refs/heads/') or 'unknown'}"


def _state_of_push(publication: Publication, branch: str) -> str:
    """Ask the remote for the right to push, without sending anything; rules of its branches are not told before."""
    repository, ref = publication.repository, f"refs/heads/{branch}-doctor"
    repository.check_push_is_accepted(publication.remote, [RefUpdate(ref, repository.resolve("HEAD"), None)])
    return "allowed (nothing was pushed; rules that protect branches show at the first push)"


def _state_of_rendered_branch(publication: Publication, branch: str) -> str:
    tip = publication.known_tip(branch)
    if tip is None:
        return f"{branch!r} does not exist yet: argosy reconcile --bootstrap makes it"
    previous = read_previous(publication.repository, tip)
    return f"{branch!r} {tip[:12]} holds source {previous.source[:12]}, written by engine {previous.version}"


def _branch_of_source(publication: Publication, fleet: Fleet) -> str:
    """Return the branch that passes render: that of argosy.yaml, or the one that is remembered here ("": none)."""
    tip = publication.repository.tip(publication.ref(fleet.rendered_branch))
    return fleet.source.branch or (read_previous(publication.repository, tip).branch if tip else "")


def _source_branch_state(publication: Publication, fleet: Fleet) -> str:
    """Return which branch passes render; SourceElsewhere where HEAD is no commit of it, as far as is known here."""
    repository, branch = publication.repository, _branch_of_source(publication, fleet)
    current = branch_of_head(repository)
    if not branch:
        next_one = f"; the next one that commits remembers {current!r}" if current else ""
        return f"none is named or remembered yet: passes render any{next_one}"
    if current != branch:
        check_source_branch_here(repository, branch, repository.resolve("HEAD"))
    return repr(branch) if current == branch else f"{branch!r}, which has the commit that is checked out"


def _checks_of_webhooks(desired: Desired) -> Iterator[Check]:
    """Connect to every interpreter webhook, as a pass that reaches clusters will."""
    for webhook in interpreter_of_source(desired).webhooks:
        from reconciler.members.webhook_transport import connect_to

        hint = "see its clientConfig: passes that reach clusters ask it"
        try:
            state, is_well = f"{connect_to(webhook)} shows a certificate that is trusted", True
        except WebhookError as error:
            state, is_well = error.fault, False
        yield Check(name=f"webhook {webhook.id}", is_well=is_well, state=state, hint=hint)
