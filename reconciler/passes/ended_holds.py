"""The holds that a pass ends on members that pull: their mirrors go on, and nobody applies to them who could say so.

A hold that is over is taken from the status branch when that is said, so that it is said once.
"""

from msgspec.structs import replace

from reconciler.branches.publication import Publication
from reconciler.branches.status_branch import Files, StatusBranch, read_inventories
from reconciler.console.clock import given_or_current_time
from reconciler.console.log import Log
from reconciler.ledger.holds import EndedHold, HoldRules, lines_of_ended_holds
from reconciler.ledger.inventory import Inventory
from reconciler.repository.trailers import source_of_rendered_commit
from reconciler.source.desired import Desired
from render.cluster import is_applied_by_own_agent
from render.timing import instant_text


def end_holds_of_pulling_members(
    desired: Desired, publication: Publication, commit: str, log: Log
) -> dict[str, EndedHold]:
    """Take the holds that are over with a rendered commit from members that pull, say so, and return them."""
    members = frozenset(each.name for each in desired.clusters if is_applied_by_own_agent(each))
    if not members:
        return {}
    now = given_or_current_time()
    source = source_of_rendered_commit(publication.repository, commit)
    rules = HoldRules(commit=commit, source=source, now=instant_text(now))
    status = StatusBranch(publication=publication, branch=desired.fleet.status_branch, clusters=desired.clusters)
    ended = dict[str, EndedHold]()

    def files_without_ended_holds(tip: str | None) -> Files:
        known = {name: each for name, each in read_inventories(status, tip).items() if name in members}
        found = {name: rules.ended_hold(name, each.hold) for name, each in known.items()}
        ended.clear()
        ended.update({name: each for name, each in found.items() if each is not None})
        return {Inventory.at(name): replace(known[name], hold=None).content() for name in ended}

    def message(_files: Files) -> str:
        return "\n\n".join([f"End holds with {commit[:12]}", *lines_of_ended_holds(ended)])

    status.commit(files_without_ended_holds, message, time=int(now.timestamp()))
    log.warn_always(*lines_of_ended_holds(ended))
    return ended
