"""A fleet with its branches and its members: of a source that was read, or of a rendered commit."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reconciler.console.log import Log
from reconciler.ledger.member_schemas import KindVersion
from reconciler.members.options import AccessOptions
from reconciler.repository import Repository
from render.cluster import Cluster
from render.fleet_settings import SettingChange
from render.settings.fleet import Fleet
from render.settings.switches import TemplateValidation

from .in_force import fleet_in_force, rendered_tip_asked_of_remote
from .publication import Publication, publication_of
from .status_branch import StatusBranch

if TYPE_CHECKING:  # a pass over an idle fleet reads no source
    from reconciler.source.desired import Desired
    from render.interpreter import Interpreter

    from .agent_branches import AgentBeat


class FleetContext(Struct, frozen=True, kw_only=True):
    """A fleet: where its branches are, who its members are, and its interpreter, which asks the source's webhooks.

    ``kinds`` are the custom kinds whose schemas members are asked for (None: those that were recorded), and
    ``scaled_kinds`` those whose scale subresource is asked for as well. ``tools`` are
    the options by which Argo CD and Flux are asked what they did (None: they are not). ``waiting`` are the settings
    that a newer source changes and nobody has accepted, so that the fleet is as before. ``reporting`` is the branch on
    which an agent reports on its own cluster (None: a pass looks at the members).
    """

    publication: Publication
    fleet: Fleet
    members: tuple[Cluster, ...]
    interpreter: "Interpreter | None" = None
    kinds: frozenset[KindVersion] | None = None
    scaled_kinds: frozenset[KindVersion] | None = None
    tools: AccessOptions | None = None
    waiting: tuple[SettingChange, ...] = ()
    reporting: StatusBranch | None = None

    @property
    def is_of_agent(self) -> bool:
        """True where an agent looks at its own cluster."""
        return self.reporting is not None

    @property
    def status(self) -> StatusBranch:
        """The fleet's status branch, or an agent's own."""
        published = StatusBranch(publication=self.publication, branch=self.fleet.status_branch, clusters=self.members)
        return self.reporting or published

    def warn_of_waiting(self, log: Log) -> None:
        """Warn of settings that count as before until a pass accepts them."""
        for each in self.waiting:
            log.warning(f"{each} waits until somebody accepts it: argosy reconcile --accept-settings")

    def heartbeats_of(self, names: Collection[str]) -> "Mapping[str, AgentBeat]":
        """Return the last heartbeats of members' agents, where a rule asks for them; an agent itself asks for none."""
        if self.is_of_agent or not self.fleet.feature_gates.failover or not names:
            return {}
        from .agent_branches import heartbeats_of

        return heartbeats_of(self.publication, self.fleet, names)

    @classmethod
    def of(cls, fleet: Fleet, desired: "Desired", publication: Publication) -> "FleetContext":
        """Return the context of a fleet with the members of a source."""
        from reconciler.members.webhooks import interpreter_that_calls_webhooks
        from reconciler.source.scopes.kind_scopes import kinds_to_observe, kinds_to_scale

        interpreter = interpreter_that_calls_webhooks(desired)
        kinds = frozenset() if fleet.validation is TemplateValidation.OFF else kinds_to_observe(desired)
        return cls(
            publication=publication,
            fleet=fleet,
            members=desired.clusters,
            interpreter=interpreter,
            kinds=kinds,
            scaled_kinds=kinds_to_scale(desired),
        )


def context_and_source_of_commit(repository: Repository, revision: str) -> "tuple[FleetContext, Desired, str]":
    """Return the fleet and the source of a rendered commit, and the commit.

    How members are reached is said by that source; of the newest commit by ``HEAD``, for a change of argosy.yaml alone
    may render nothing new, unless it waits for a person. A source that is not in this clone yet is fetched.
    """
    from .rendered_sources import fetch_rendered_source, rendered_source

    if revision:
        commit = repository.resolve(revision)
        fetch_rendered_source(repository, commit)
        desired = rendered_source(repository, commit).desired
        fleet = desired.fleet
        return FleetContext.of(fleet, desired, publication_of(repository, fleet)), desired, commit
    fleet, waiting = fleet_in_force(repository, repository.resolve("HEAD"), rendered_tip_asked_of_remote)
    publication, branch = publication_of(repository, fleet), fleet.rendered_branch
    tip = publication.current_tip(branch)
    if tip is None:
        raise publication.nothing_rendered(branch, is_asked=True)
    fetch_rendered_source(repository, tip)
    desired = rendered_source(repository, tip).desired
    return replace(FleetContext.of(fleet, desired, publication), waiting=waiting), desired, tip
