"""Going back: members are given an earlier rendered commit and held there, as whoever applies it says, until released.

The hold is written with the attempt, so that no pass comes in between. A member that pulls gets it by its mirror.
"""

import time
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from reconciler.branches.fleet_context import FleetContext
from reconciler.branches.mirrors import RenderedFolders, update_mirrors
from reconciler.branches.reading import read_previous
from reconciler.branches.rendered_sources import rendered_source, source_of
from reconciler.branches.status_branch import Files, read_inventories
from reconciler.console.log import Log
from reconciler.deliver.member_holds import HoldWish, MemberHolds
from reconciler.guards.allowances import count_of_allowed_removals
from reconciler.ledger.holds import ClusterHold, hold_lines
from reconciler.ledger.inventory import Inventory
from reconciler.members.choice import members_chosen_by_options
from reconciler.members.options import DeliveryOptions
from reconciler.pipeline.renames import previous_by_new_names
from render.cluster import Cluster, is_applied_by_own_agent
from render.errors import ConfigError, GuardRefused
from render.timing import epoch_text
from render.words import first_few


def hold_wish(
    context: FleetContext, commit: str, options: DeliveryOptions, *, reason: str = "", until: str = ""
) -> HoldWish:
    """Return what applying a rendered commit by hand makes of holds.

    Where it may be an older one, the members are held at it, at the newest one too if somebody says until when, as in a
    freeze; else that ends their holds. Otherwise members that
    are held refuse any commit but the newest, which they do not get for as long as they are held.
    """
    repository = context.publication.repository
    newest = context.publication.current_tip(context.fleet.rendered_branch) or commit
    source = source_of(repository, newest)
    if not options.allow_older:
        return HoldWish(is_named=commit != newest, newest=source, tip=newest)
    if commit == newest and not until:
        if reason:
            raise ConfigError(
                f"{commit[:12]} is the newest rendered commit, which clusters get in any case",
                hint="--until says for how long newer ones are kept out; to go back, name an earlier one:"
                f" git log {context.publication.ref(context.fleet.rendered_branch)}",
            )
        pulling = _pulling(context.members, options)
        return HoldWish(newest=source, tip=newest, is_set=True, pulling=pulling)
    author = repository.author
    hold = ClusterHold(
        commit=commit,
        source=source,
        by=f"{author.name} <{author.email}>",
        since=epoch_text(time.time()),
        reason=reason,
        until=until,
    )
    return HoldWish(newest=source, tip=newest, is_set=True, hold=hold, pulling=_pulling(context.members, options))


def wish_to_see(context: FleetContext, revision: str) -> HoldWish:
    """Return what looking at members makes of holds: a commit that is named ("": none) is shown whatever is held."""
    newest = context.publication.current_tip(context.fleet.rendered_branch)
    source = source_of(context.publication.repository, newest) if newest else ""
    return HoldWish(is_named=bool(revision), newest=source, tip=newest or "")


def _pulling(members: Iterable[Cluster], options: DeliveryOptions) -> tuple[str, ...]:
    """Return the chosen members that pull."""
    chosen = members_chosen_by_options({cluster.name: cluster for cluster in members}, options)
    return tuple(cluster.name for cluster in chosen if is_applied_by_own_agent(cluster))


def check_last_copies_of_pulling_members(held: MemberHolds, pulling: Iterable[str], allowed: Mapping[str, int]) -> None:
    """Raise GuardRefused where members that pull would lose last copies: their agents see one folder, and delete them.

    Other members keep such objects (``MemberHolds.last_copies``).
    """
    found = {name: sorted(held.last_copies(name)) for name in pulling}
    refused = {
        name: refs for name, refs in found.items() if refs and len(refs) > count_of_allowed_removals(allowed, name)
    }
    if refused:
        lines = [f"  {name}: {first_few(tuple(map(str, refs)))}" for name, refs in sorted(refused.items())]
        options = " ".join(f"--allow-removal {name}={len(refs)}" for name, refs in sorted(refused.items()))
        raise GuardRefused(
            "\n".join(["going back would remove what came since and would be in no cluster; nothing was done", *lines]),
            hint=f"if it is meant: {options}",
        )


def update_held_mirrors(context: FleetContext, wish: HoldWish, log: Log) -> None:
    """Let mirrors hold what the newest rendered commit and the holds say, and say which members that pull are held.

    SourceMoved means that somebody was faster.
    """
    for line in hold_lines(dict.fromkeys(wish.pulling, wish.hold)):
        log.info(line)
    repository, publication = context.publication.repository, context.publication
    newest = publication.current_tip(context.fleet.rendered_branch)
    if newest is None:
        return
    source = rendered_source(repository, newest)
    rendered = previous_by_new_names(read_previous(repository, newest), source.desired.clusters)
    update_mirrors(RenderedFolders(source, rendered.tree.clusters, newest), publication).log_mirrored_branches(log)


def release(context: FleetContext, names: Iterable[str]) -> dict[str, ClusterHold | None]:
    """End the holds on clusters and return what each was held at; None where it was not."""
    status, ended = context.status, dict[str, ClusterHold | None]()

    def made(tip: str | None) -> Files:
        known = read_inventories(status, tip)
        found = {name: known.get(name, Inventory(cluster=name)) for name in names}
        ended.update({name: inventory.hold for name, inventory in found.items()})
        return {
            Inventory.at(name): replace(inventory, hold=None).content()
            for name, inventory in found.items()
            if inventory.hold is not None
        }

    def message(_files: Files) -> str:
        return f"Release {', '.join(name for name, hold in ended.items() if hold is not None)}"

    status.commit(made, message, time=int(time.time()))
    return ended
