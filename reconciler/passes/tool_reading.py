"""The account of Argo CD and Flux of clusters that passes do not reach, read where they run: a hub, or each member.

It is recorded as an agent's own account would be (``AgentFiles``). A tool that cannot be asked is said to be so, and
its clusters stay as they were last told of, until it has been silent for as long as an agent may be.
"""

import time
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.agent_branches import AgentFiles
from reconciler.branches.fleet_context import FleetContext
from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.emission.making import rendered_place
from reconciler.emission.model import EmissionOptions, RenderedPlace
from reconciler.emission.tool_reports import CLUSTER_LABEL, ToolReport, parse_tool_reports
from reconciler.ledger.cluster import ClusterRecord
from reconciler.members.boundary import result_or_failure
from reconciler.members.choice import members_chosen_by_options
from reconciler.members.discovery import Resource
from reconciler.members.exchange import Client, Failure, OpenClient
from reconciler.members.listing import Listing, list_objects, read_object
from reconciler.members.opening import Members
from reconciler.members.options import AccessOptions, names_of_reached_members
from reconciler.members.parallel import results_in_parallel
from reconciler.members.ways import HUB, tool_access
from reconciler.observe.cluster_status import AGENT_GRACE
from reconciler.record.recorded_status import RecordedStatus
from reconciler.record.tool_files import ToolFiles
from render.cluster import Cluster
from render.model import Manifest, ObjectRef
from render.settings.emission import Deployer, EmissionSettings, Placing
from render.settings.fleet import Fleet

_MOST_SECONDS = 60.0
_APPLICATIONS = Resource(
    group="argoproj.io", version="v1alpha1", kind="Application", plural="applications", is_namespaced=True
)
_KUSTOMIZATIONS = Resource(
    group="kustomize.toolkit.fluxcd.io", version="v1", kind="Kustomization", plural="kustomizations", is_namespaced=True
)
_SOURCES = Resource(
    group="source.toolkit.fluxcd.io", version="v1", kind="GitRepository", plural="gitrepositories", is_namespaced=True
)
_TOOLS = {Deployer.ARGO_CD: ("argocd", _APPLICATIONS), Deployer.FLUX: ("flux-system", _KUSTOMIZATIONS)}


class _ReportsOfTools(Struct, kw_only=True):
    """The reports of tools by cluster, and those whose tool could not be asked; ``warnings`` say why."""

    reports: dict[str, ToolReport] = field(default_factory=dict)
    unasked: dict[str, Deployer] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def agent_files_with_those_of_tools(
    context: FleetContext, options: AccessOptions, agents: AgentFiles, recorded: RecordedStatus, now: str
) -> AgentFiles:
    """Return the files of agents, and those that tools' accounts make; an agent's own account counts more."""
    return _ToolReading(context=context, options=options).updated_agent_files(recorded, agents, now)


class _ToolReading(Struct, frozen=True, kw_only=True):
    """Reads what the tools of a fleet did in the members that a pass is for and does not reach."""

    context: FleetContext
    options: AccessOptions

    def updated_agent_files(self, recorded: RecordedStatus, agents: AgentFiles, now: str) -> AgentFiles:
        """Return the files of agents with those of the clusters that tools apply to."""
        context, fleet = self.context, self.context.fleet
        tip = context.publication.known_tip(fleet.rendered_branch)
        if tip is None:
            return agents
        commits = RenderedCommits(context.publication.repository, context.members)
        folders = commits.commit_contents(tip).tree.clusters
        served = [
            cluster.name
            for cluster in _served_members(fleet, context.members, self.options)
            if cluster.name in folders and agents.files.get(ClusterRecord.at(cluster.name)) is None
        ]
        collected = _ReportsOfTools()
        for settings in fleet.emit if served else ():
            if settings.status is not None:
                self._ask_member_for_reports(settings, served, collected)
        made = ToolFiles(commits=commits, tip=tip, recorded=recorded, now=now, grace=AGENT_GRACE)
        first = next((each.deployer for each in fleet.emit if each.status is not None), Deployer.FLUX)
        files = dict(agents.files)
        for name in served:
            if name in collected.reports:
                files |= made.files([collected.reports[name]])
            elif name in collected.unasked:
                files |= made.files_of_unheard_cluster(name, collected.unasked[name])
            else:
                files |= made.files([ToolReport(cluster=name, deployer=first)])
        reported = frozenset(served) - (collected.unasked.keys() - collected.reports.keys())
        return replace(agents, files=files, unreached_tools=tuple(collected.warnings), reported_by_tools=reported)

    def _ask_member_for_reports(
        self, settings: EmissionSettings, served: list[str], collected: _ReportsOfTools
    ) -> None:
        """Ask one tool about all clusters."""
        fleet, is_hub = self.context.fleet, settings.placing is Placing.HUB
        places = [HUB] if is_hub else served
        access = tool_access(fleet, settings, places, self.options, self.context.publication.repository.folder)
        open_client = Members(access).open
        answers = results_in_parallel(
            lambda place: result_or_failure(lambda: self._objects_at_place(settings, place, open_client)),
            places,
            limit=self.options.max_parallel,
        )
        branches = {self._rendered_place(settings, name).branch for name in served}
        for place, answer in zip(places, answers, strict=True):
            names = served if is_hub else [place]
            if isinstance(answer, Failure):
                collected.warnings.append(f"{settings.deployer} in {place}: {answer.kind}: {answer.message}")
                collected.unasked |= {name: settings.deployer for name in names if name not in collected.unasked}
                continue
            for report in parse_tool_reports(settings.deployer, answer, branches, fleet.branch_prefix):
                if report.cluster in names:
                    collected.reports.setdefault(report.cluster, report)

    def _rendered_place(self, settings: EmissionSettings, cluster: str) -> RenderedPlace:
        options = EmissionOptions(placing=settings.placing)
        return rendered_place(self.context.fleet, cluster, settings.repository, options)

    def _objects_at_place(
        self, settings: EmissionSettings, place: str, open_client: OpenClient
    ) -> list[Manifest] | Failure:
        """Return a tool's objects at one place."""
        client = open_client(place, time.monotonic() + min(self.options.timeout, _MOST_SECONDS))
        if isinstance(client, Failure):
            return client
        usual, resource = _TOOLS[settings.deployer]
        namespace = settings.namespace or usual
        listing = Listing(resource=resource, selector=CLUSTER_LABEL, only_namespace=namespace)
        found = list_objects(client, listing)
        if isinstance(found, Failure):
            return found
        source = self._source_of_tool(settings, client, namespace)
        return [*found.values(), *([source] if isinstance(source, dict) else [])]

    def _source_of_tool(self, settings: EmissionSettings, client: Client, namespace: str) -> Manifest | Failure | None:
        """Return the GitRepository that Flux reads the branch by; what cannot be read says nothing of any cluster."""
        if settings.deployer is not Deployer.FLUX:
            return None
        name = self.context.fleet.branch_prefix
        return read_object(client, _SOURCES, ObjectRef(_SOURCES.group, _SOURCES.kind, namespace, name))


def _served_members(fleet: Fleet, members: Iterable[Cluster], options: AccessOptions) -> Iterator[Cluster]:
    """Yield the members a pass is for that it does not reach by itself."""
    reached = names_of_reached_members(fleet, options)
    by_name: Mapping[str, Cluster] = {cluster.name: cluster for cluster in members}
    for cluster in members_chosen_by_options(by_name, options):
        if reached is not None and cluster.name not in reached:
            yield cluster
