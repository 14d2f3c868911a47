"""The members of a fleet for the doctor: which of them are asked, by what, and what each must hold."""

from reconciler.branches.publication import publication_of
from reconciler.branches.status_branch import StatusBranch, read_inventories
from reconciler.console.log import Log
from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.ledger.agents import AgentsFile
from reconciler.members.choice import (
    members_chosen_by_options,
    members_for_command,
)
from reconciler.members.options import AccessOptions, names_of_reached_members
from reconciler.members.ways import member_reach
from reconciler.plans.applyset import ApplySet
from reconciler.plans.model import ClusterDesired
from reconciler.record.recorded_status import read_recorded, unhealthy_objects
from reconciler.repository import Repository
from reconciler.source.desired import Desired
from reconciler.source.scopes.kind_scopes import kinds_to_scale
from reconciler.status.blind_spots import wrong_clocks_by_member
from render.cluster import is_applied_by_own_agent

from .agents import agent_checks
from .members import MOST_SECONDS, MemberAsking, MemberQuestion, member_checks
from .prerequisites import Check

NOT_REACHED = "not reached: argosy.yaml says of none how it is reached, and no pass has applied to one"


def checks_of_members(
    repository: Repository, desired: Desired, access: AccessOptions, log: Log, *, is_asked: bool
) -> tuple[Check, ...]:
    """Check the members that passes apply to; of a fleet that is only rendered none is reached, unless ``is_asked``."""
    publication = publication_of(repository, desired.fleet)
    status = StatusBranch(publication=publication, branch=desired.fleet.status_branch)
    inventories = read_inventories(status, status.tip())
    agents = _checks_of_agents(desired, access, status)
    if not (is_asked or inventories or names_of_reached_members(desired.fleet, access) != frozenset()):
        return agents or (Check(name="members", is_well=True, state=NOT_REACHED),)
    members = members_for_command(desired.fleet, desired.clusters, access, log)
    tip = publication.known_tip(desired.fleet.rendered_branch)
    commits = RenderedCommits(repository)
    scaled_kinds = kinds_to_scale(desired)
    questions = [
        MemberQuestion(
            desired=commits.desired(member.name, tip) if tip else ClusterDesired(cluster=member.name),
            inventory=inventories.get(member.name),
            scaled_kinds=scaled_kinds,
        )
        for member in members
    ]
    root = repository.first_commit(tip) if tip else ""
    asking = MemberAsking(
        reach=member_reach(desired.fleet, access, repository.folder).within(MOST_SECONDS),
        applyset=ApplySet.of_fleet(desired.fleet.name, root) if root else ApplySet(),
    )
    return (*member_checks(questions, asking), *agents)


def _checks_of_agents(desired: Desired, access: AccessOptions, status: StatusBranch) -> tuple[Check, ...]:
    """Check the members that pull, by what their agents reported."""
    by_name = {cluster.name: cluster for cluster in desired.clusters if is_applied_by_own_agent(cluster)}
    if not by_name:
        return ()
    names = [cluster.name for cluster in members_chosen_by_options(by_name, access)]
    recorded = read_recorded(status, status.tip(), ("clusters", "works", AgentsFile.PATH))
    clocks = wrong_clocks_by_member(recorded, {name: by_name[name] for name in names})
    wrong = (
        Check(name="clock", member=name, is_well=False, state=clock.message, hint=clock.hint)
        for name, clock in clocks.items()
    )
    return (*agent_checks(names, recorded.clusters(), unhealthy_objects(recorded, names)), *wrong)
