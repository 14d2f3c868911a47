"""One pass of an agent: the mirror of its cluster fetched, checked and applied, and the report pushed.

1. fetch the mirror and the agent's own branch, and nothing else of the repository;
2. take the mirror's newest commit if it follows the last one taken and is signed where that is asked for; refused, or
   while Git is away, the last good commit is applied again;
3. observe, apply and record by what passes use (``ApplyRun``), as if the source had this cluster alone;
4. push what was recorded: a commit only where something is new.
"""

import time
from collections.abc import Callable

from msgspec import Struct, field

from reconciler.branches.fleet_context import FleetContext
from reconciler.branches.publication import Publication, maintain_repository
from reconciler.branches.status_branch import StatusBranch, read_inventories
from reconciler.branches.uplink import Uplink
from reconciler.console.log import Log
from reconciler.deliver.mirrored_commits import Mirror, MirroredCommits
from reconciler.deliver.orphans import refuse_orphans
from reconciler.deliver.reports import exit_code_of_reports
from reconciler.deliver.results import ClusterReport
from reconciler.members.exchange import Failure, OpenClient
from reconciler.members.options import DeliveryOptions
from reconciler.members.visits import MemberReach
from reconciler.members.webhooks import interpreter_that_calls_webhooks
from reconciler.observe.members import MOST_SECONDS, ObserveOptions, failure_of_readiness
from reconciler.record.agent_writing import AgentReport
from reconciler.record.heard_words import CLOCK_HINT, MOST_SKEW
from reconciler.repository import Fetching, Repository
from render.cluster import Cluster
from render.errors import ClusterError, ConfigError, GitError, GuardRefused, NoSuchBranch, ReconcileError
from render.settings.fleet import Fleet
from render.timing import epoch_text

from .applying import ApplyRun, Delivery
from .logged_apply import apply_and_log
from .observation import Observation, log_warnings_of_observation, observe_members
from .options import never_stop
from .record_of_pass import PassRecord


class AgentOptions(Struct, frozen=True, kw_only=True):
    """The options of an agent: its cluster and its fleet's name, whose signatures it asks for, and how it is reached.

    ``heartbeat`` is how often it records that it lives, in seconds (0: never). ``only_heartbeat``: it does nothing else
    in its cluster, which does not pull. ``accepts_rewind``: the mirror may have been rewound or written anew.
    """

    cluster: str
    fleet: str = "default"
    allowed_signers: str = ""
    accepts_rewind: bool = False
    heartbeat: float = 0.0
    only_heartbeat: bool = False
    delivery: DeliveryOptions = field(default_factory=DeliveryOptions)
    is_stopping: Callable[[], bool] = never_stop

    @property
    def settings(self) -> Fleet:
        """The fleet as far as it names its branches."""
        return Fleet(name=self.fleet)


class GitAwayError(GitError):
    """Nobody could be asked where the mirror stands."""


class AgentPass(Struct, frozen=True, kw_only=True):
    """The end of an agent's pass: the commit applied, its report, and what kept it from a newer one.

    ``refusal`` is that of a newer commit, ``away`` why Git could not be asked or pushed to.
    """

    commit: str
    report: ClusterReport | None
    refusal: ReconcileError | None = None
    away: GitError | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that say what kept it from the newest commit, or from saying what it did."""
        stays = f"{self.commit[:12]} stays applied" if self.commit else "nothing is applied"
        refused = (f"{self.refusal}\n{stays}",) if self.refusal else ()
        return (*refused, f"Git is away; {stays}: {self.away.message}") if self.away else refused

    @property
    def exit_code(self) -> int:
        """The exit code: that of the refusal, of the outcome of the cluster, or of Git."""
        if self.refusal is not None:
            return self.refusal.exit_code
        code = exit_code_of_reports((self.report,)) if self.report is not None else 0
        return code or (self.away.exit_code if self.away else 0)


class Agent(Struct, frozen=True, kw_only=True):
    """The agent of one cluster: its repository of two branches, and the way to the cluster."""

    repository: Repository
    options: AgentOptions
    open_client: OpenClient
    clock: Callable[[], float] = time.time

    @property
    def publication(self) -> Publication:
        """The place of its branches."""
        return Publication(repository=self.repository, remote=self.repository.mirrors)

    @property
    def mirror_branch(self) -> str:
        """The branch it reads."""
        return self.options.settings.mirror_branch(self.options.cluster)

    @property
    def known_tip(self) -> str | None:
        """The mirror's tip as it was last fetched."""
        return self.repository.tip(self.publication.ref(self.mirror_branch))

    @property
    def accepted_ref(self) -> str:
        """The ref of the mirror's last commit that was taken: of this fleet's, for another one may share the store."""
        return f"refs/argosy/accepted/{self.mirror_branch}"

    def uplink(self) -> Uplink:
        """Return a new way to the branch it writes."""
        cluster = self.options.cluster
        branch = self.options.settings.agent_branch(cluster)
        return Uplink(publication=self.publication, branch=branch, cluster=cluster)

    def report(self, uplink: Uplink, members: tuple[Cluster, ...] = ()) -> AgentReport:
        """Return the report on the branch it writes, whose files name clusters as ``members`` does."""
        status = StatusBranch(publication=self.publication, branch=uplink.branch, clusters=members, way=uplink)
        return AgentReport(cluster=self.options.cluster, status=status)

    def fetch(self) -> str | None:
        """Fetch both branches and return the mirror's tip; None where there is no mirror.

        They are asked for by name, for a server that is asked what it has answers with the branches of all clusters.
        """
        branches = (self.mirror_branch, self.uplink().branch)
        if not self._is_fetched(*branches):
            for branch in branches:
                tracked = self.publication.ref(branch)
                if not self._is_fetched(branch) and (known := self.repository.tip(tracked)) is not None:
                    self.repository.update_ref(tracked, None, known)
        return self.known_tip

    def _is_fetched(self, *branches: str) -> bool:
        """Fetch branches and return whether the remote has all of them."""
        refspecs = [f"+refs/heads/{branch}:{self.publication.ref(branch)}" for branch in branches]
        try:
            self.repository.fetch(self.publication.remote, Fetching(refspecs=refspecs))
        except NoSuchBranch:
            return False
        except GitError as error:
            raise GitAwayError(error.message, hint=error.hint) from error
        return True


def run_agent_pass(agent: Agent, log: Log) -> AgentPass:
    """Run one pass; the error of a mirror that cannot be used ends it where no earlier commit was taken."""
    if agent.options.only_heartbeat:
        return _pass_of_heartbeat_alone(agent)
    away, refusal, tip = None, None, None
    accepted = agent.repository.tip(agent.accepted_ref)
    uplink = agent.uplink()
    report = agent.report(uplink)
    try:
        tip = agent.fetch()
    except GitError as error:
        if accepted is None:
            raise
        uplink.failure = away = error
    mirror = Mirror(agent.repository, agent.options.cluster, accepted) if accepted else None
    try:
        if away is None:
            mirror = _accepted_mirror(agent, report.status, tip, mirror)
    except (GitError, GuardRefused, ConfigError) as error:
        if mirror is None:
            if tip is not None:
                report.record_refusal(error, epoch_text(agent.clock()))
            raise
        refusal = error
    assert mirror is not None
    applied = _apply_mirror(agent, mirror, uplink, log, refusal)
    maintain_repository(agent.repository, log)
    return AgentPass(commit=mirror.rendered_commit, report=applied, refusal=refusal, away=away or uplink.failure)


def _pass_of_heartbeat_alone(agent: Agent) -> AgentPass:
    """Say on the agent's branch that its cluster lives, if the cluster says so; ClusterError if it does not."""
    options, uplink = agent.options, agent.uplink()
    client = agent.open_client(options.cluster, time.monotonic() + MOST_SECONDS)
    failure = client if isinstance(client, Failure) else failure_of_readiness(client)
    if failure is not None:
        raise ClusterError(f"{options.cluster} is not healthy: {failure.kind}: {failure.message}", hint=failure.hint)
    try:
        agent.fetch()
    except GitError as error:
        uplink.failure = error
    agent.report(uplink).record_beat(epoch_text(agent.clock()), options.heartbeat, is_all=True)
    uplink.push()
    return AgentPass(commit="", report=None, away=uplink.failure)


def _accepted_mirror(agent: Agent, status: StatusBranch, tip: str | None, before: Mirror | None) -> Mirror:
    """Return the mirror at its newest commit, once it is known that it may be applied; GuardRefused where it may not.

    ``before`` is the mirror at the commit that was taken last.
    """
    options, repository, name = agent.options, agent.repository, agent.mirror_branch
    if tip is None:
        raise ConfigError(
            f"there is no branch {name!r} at {agent.publication.place!r}",
            hint=f"a pass makes it once {options.cluster!r} is a Cluster of the source with syncMode: Pull",
        )
    if before is not None and tip == before.tip:
        return before
    mirror = Mirror(repository, options.cluster, tip)
    if options.allowed_signers and (fault := repository.signature_fault(tip, options.allowed_signers)):
        raise GuardRefused(
            f"commit {tip[:12]} of {name!r} is not taken: {options.allowed_signers} lists who may sign it, and {fault}",
            hint="see who pushes to the branch; passes sign with the key that ARGOSY_SIGN_KEY names",
        )
    if mirror.settings.fleet.name != options.fleet:
        raise GuardRefused(f"commit {tip[:12]} of {name!r} is of fleet {mirror.settings.fleet.name!r}")
    if not options.accepts_rewind:
        _check_rewind(agent, status, mirror, before.tip if before else None)
    repository.update_ref(agent.accepted_ref, tip, before.tip if before else None, reason="argosy: agent")
    return mirror


def _check_rewind(agent: Agent, status: StatusBranch, mirror: Mirror, accepted: str | None) -> None:
    """Refuse a mirror that does not follow the commit taken last, or lacks one that the cluster may hold."""
    if accepted is not None and not agent.repository.is_ancestor(accepted, mirror.tip):
        raise GuardRefused(
            f"commit {mirror.tip[:12]} of {agent.mirror_branch!r} does not follow {accepted[:12]}, which was taken",
            hint="its branch was rewound or written anew; if that was meant, run once with --accept-rewind",
        )
    inventory = read_inventories(status, status.tip()).get(agent.options.cluster)
    for commit in inventory.commits if inventory else ():
        try:
            mirror.mirroring_commit_of(commit)
        except GitError as error:
            raise GuardRefused(error.message, hint=error.hint) from error


def _apply_mirror(
    agent: Agent, mirror: Mirror, uplink: Uplink, log: Log, refusal: ReconcileError | None
) -> ClusterReport | None:
    """Observe the cluster, apply the mirrored commit, and push what was recorded and what is refused."""
    options, desired = agent.options, mirror.settings.desired
    members = desired.clusters
    report = agent.report(uplink, members)
    context = FleetContext(
        publication=agent.publication,
        fleet=desired.fleet,
        members=members,
        interpreter=interpreter_that_calls_webhooks(desired),
        kinds=frozenset(),
        reporting=report.status,
    )
    reach = MemberReach.of(options.delivery, agent.open_client)
    observing = ObserveOptions(reach=reach.within(MOST_SECONDS))
    observation = observe_members(context, members, observing, agent.clock)
    log_warnings_of_observation(observation, log)
    clock = _words_of_wrong_clock(agent, mirror, observation)
    if clock:
        log.warning(f"the clock here is {clock}: {CLOCK_HINT}")
    run = ApplyRun(
        context=context,
        commit=mirror.rendered_commit,
        delivery=Delivery(members=members, options=options.delivery, is_stopping=options.is_stopping),
        reach=reach,
        record=PassRecord(observation=observation, desired=desired),
        agree=refuse_orphans,
        clock=agent.clock,
        commits=_mirrored_commits_of_agent(agent, mirror, report.status),
    )
    reports = apply_and_log(run, log)
    if options.heartbeat:
        report.record_beat(epoch_text(agent.clock()), options.heartbeat)
    report.record_clock_fault(clock, epoch_text(agent.clock()))
    if uplink.failure is None:
        report.record_refusal(refusal, epoch_text(agent.clock()))
    uplink.push()
    return next(iter(reports), None)


def _words_of_wrong_clock(agent: Agent, mirror: Mirror, observation: Observation) -> str:
    """Return how far the clock here is from that of the API server, or behind the mirror; empty where it is like them.

    Nothing is made before its time: a commit of the future was made now, by a clock that goes otherwise.
    """
    for member in observation.members:
        if member.ahead is not None and abs(member.ahead) > MOST_SKEW:
            way = "behind" if member.ahead > 0 else "ahead of"
            return f"{abs(member.ahead):.0f} s {way} that of its API server"
    late = agent.repository.commit_info(mirror.tip).time - agent.clock()
    return f"{late:.0f} s behind the newest commit of its mirror" if late > MOST_SKEW else ""


def _mirrored_commits_of_agent(agent: Agent, mirror: Mirror, status: StatusBranch) -> MirroredCommits:
    known = read_inventories(status, status.tip()).get(agent.options.cluster)
    return MirroredCommits(
        agent.repository,
        mirror.settings.desired.clusters,
        mirror=mirror,
        applied=known.converged if known else "",
        is_lenient=agent.options.accepts_rewind,
    )
