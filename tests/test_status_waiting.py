"""``argosy wait``: until the branches say that it came true, or what is missing when the time is over."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.commands.wait import WaitOptions, wait_and_show
from reconciler.console.log import Log
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.status.branches import Pacing
from render.errors import ConfigError, GitError, UnknownName

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .memory_fleet import MemoryFleet, settle

ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
BOTH = ("eu", "us")
NGINX = "Deployment.apps default/nginx"


class Clock:
    """A clock that only moves when somebody waits; then others get on with it."""

    def __init__(self, *moves: Callable[[], object]) -> None:
        self.now = 0.0
        self.moves = list(moves)

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        if self.moves:
            self.moves.pop(0)()


def waited(repository: Repository, options: WaitOptions, clock: Clock, today: float = 0.0) -> tuple[int, str]:
    """The exit code and what was said while waiting; ``today`` is the time that ages are counted to."""
    stream = io.StringIO()
    log = Log(stream=stream, repository=str(repository.path))
    pacing = Pacing(now=clock, pause=clock.pass_by, clock=lambda: today)
    return wait_and_show(log, options, pacing), stream.getvalue()


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    """Two members, and a Deployment that is in both."""
    files = {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters("eu", "us"))}
    return MemoryFleet.create(tmp_path / "fleet", {"eu": (1, ROOMY), "us": (1, ROOMY)}, files)


def settled(fleet: MemoryFleet, *names: str) -> None:
    for name in names:
        settle(fleet.members[name])
    fleet.run(60)


CAME_TRUE = {
    ("", "applied"): "the fleet is applied\n",
    ("", "healthy"): "the fleet is healthy\n",
    ("cluster/eu", "applied"): "cluster/eu is applied\n",
    ("deploy/nginx", "healthy"): "deploy/nginx is healthy\n",
}


@pytest.mark.parametrize(("subject", "wish"), CAME_TRUE)
def test_it_ends_when_the_passes_of_others_got_there(
    subject: str, wish: str, fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    a_newer_source(fleet)
    clock = Clock(fleet.run, lambda: settled(fleet, "eu", "us"))
    code, said = waited(fleet.repository, WaitOptions(subject=subject, wish=wish, timeout=10), clock)
    waiting = f"waiting for {subject or 'the fleet'} to be {wish}: "
    assert (code, [line.startswith(waiting) for line in said.splitlines()]) == (0, [True] * (1 + (wish == "healthy")))
    assert (capsys.readouterr().out, clock.now) == (CAME_TRUE[subject, wish], 2.0 if wish == "applied" else 4.0)


D = "Deployment.apps default/"


class Late(NamedTuple):
    why: str
    prepare: Callable[[MemoryFleet], object]
    missing: list[str]
    subject: str = ""
    wish: str = "applied"

    @property
    def what(self) -> str:
        return self.subject or "the fleet"


def unapplied(fleet: MemoryFleet) -> None:
    """A pass in which one member refuses the object."""

    def refuses(request: Request) -> Answer | Failure | None:
        is_meant = request.method == "PATCH" and request.path.endswith("/deployments/nginx")
        return Failure(kind=FailureKind.FORBIDDEN, message="closed", status=403) if is_meant else None

    fleet.members["us"].faults.append(refuses)
    fleet.run()


def a_newer_source(fleet: MemoryFleet) -> None:
    fleet.run()
    fleet.repository.commit({"nginx.yaml": a_deployment(replicas=5)})


def a_member_away(fleet: MemoryFleet) -> None:
    fleet.run()
    fleet.down = {"us"}
    fleet.repository.commit({"nginx.yaml": a_deployment(replicas=5)})
    fleet.run(60)


def one_settled(fleet: MemoryFleet) -> None:
    fleet.run()
    settled(fleet, "eu")


def nowhere(fleet: MemoryFleet) -> None:
    fleet.repository.commit({"policy.yaml": a_policy(placement=on_clusters("mars"))})
    fleet.run()


def many_objects(fleet: MemoryFleet) -> None:
    policy = a_policy("many", selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}])
    fleet.repository.commit({f"d{number:02}.yaml": a_deployment(f"d{number:02}") for number in range(12)})
    fleet.repository.commit({"policy.yaml": policy})
    fleet.run()


def an_override_that_fails(fleet: MemoryFleet) -> None:
    fleet.run()
    edit = {"path": "/spec/nothing", "operator": "remove"}
    rule = {"targetCluster": {"clusterNames": ["us"]}, "overriders": {"plaintext": [edit]}}
    head = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "OverridePolicy"}
    override = {**head, "metadata": {"name": "o", "namespace": "default"}, "spec": {"overrideRules": [rule]}}
    fleet.repository.commit({"override.yaml": override, "nginx.yaml": a_deployment(replicas=5)})
    fleet.run(60)


def not_reached_yet(fleet: MemoryFleet) -> None:
    spec = {"clusters": [{"name": name} for name in BOTH]}
    described = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}
    fleet.repository.commit({"argosy.yaml": described})
    fleet.run()
    fleet.repository.git("update-ref", "-d", "refs/heads/argosy/status")


AWAY = "us: not applied: the last run failed (first at 2027-01-15T08:01:00Z): Unreachable: member is down"
CLOSED = "AppliedFailed: Forbidden: closed"
STARTING = "ReplicasMissing: readyReplicas: 0 of 2"
NOT_MADE = (
    f"{NGINX} is not rendered for us: OverrideFailed: us: OverridePolicy default/o:"
    " spec.overrideRules[0].overriders.plaintext[0]: 'nothing' does not exist in /spec"
)
LATE = [
    Late("a source that no pass has seen", a_newer_source, ["source HEAD is not rendered yet"]),
    Late("a fleet that no pass has got to", not_reached_yet, ["no pass has recorded anything yet"]),
    Late("a member that is away", a_member_away, [AWAY]),
    Late("an object in such a member", a_member_away, [AWAY], "deploy/nginx"),
    Late("an object that was refused", unapplied, [f"{NGINX} is not applied in us: {CLOSED}"], "deploy/nginx"),
    Late("a fleet with such an object", unapplied, [f"{NGINX} is not applied in us: {CLOSED}"]),
    Late("an object that is not made for a cluster", an_override_that_fails, [NOT_MADE], "deploy/nginx"),
    Late(
        "a fleet with an object that is not made",
        an_override_that_fails,
        [f"{name}: not applied: not all of it could be rendered" for name in BOTH],
    ),
    Late(
        "a workload that starts",
        MemoryFleet.run,
        [f"{NGINX} is not healthy in {name}: {STARTING}" for name in BOTH],
        "",
        "healthy",
    ),
    Late(
        "a workload that is done in one",
        one_settled,
        [f"{NGINX} is not healthy in us: {STARTING}"],
        "deploy/nginx",
        "healthy",
    ),
    Late("one cluster", MemoryFleet.run, [f"{NGINX} is not healthy in us: {STARTING}"], "cluster/us", "healthy"),
    Late("an object that finds no place", nowhere, [f"{NGINX} is placed nowhere"], "deploy/nginx"),
    Late(
        "more than anyone reads",
        many_objects,
        [
            f"{D}d00 is not healthy in {name}: {STARTING}"
            f" (and 12 like it: {D}d01, {D}d02, {D}d03 and 9 more; -v names all)"
            for name in ("eu", "us")
        ],
        "",
        "healthy",
    ),
]


@pytest.mark.parametrize("case", LATE, ids=lambda case: case.why)
def test_it_says_what_is_missing_when_the_time_is_over(case: Late, fleet: MemoryFleet) -> None:
    case.prepare(fleet)
    clock = Clock()
    options = WaitOptions(subject=case.subject, wish=case.wish, timeout=5)
    code, said = waited(fleet.repository, options, clock, today=fleet.now + 180)
    for name in ("HEAD", "argosy/rendered"):
        known = fleet.repository.git("rev-parse", "-q", "--verify", name, check=False)
        said = said.replace(known[:12] or "none", name.rpartition("/")[2].upper())
    first = f"after 5 s {case.what} is not {case.wish}"
    waiting, *lines = said.splitlines()
    assert (code, clock.now, waiting.startswith("waiting for ")) == (1, 4.0, True)
    assert lines[: 1 + len(case.missing)] == [f"warning: {line}" for line in (first, *case.missing)]
    assert not [line for line in lines[1 + len(case.missing) :] if line.startswith("warning: ")]


class Still(NamedTuple):
    """A state in which no branch moves, and who would renew it, with what to run."""

    why: str
    prepare: Callable[[MemoryFleet], object]
    said: str
    hint: str
    subject: str = ""

    @property
    def what(self) -> str:
        return self.subject or "the fleet"


RENEWED = "argosy reconcile, or see whether 'argosy run' or your pipeline still runs it"
RECORD = "(the newest record is of 2027-01-15T08:00:00Z, 3m ago)"


def a_pulling_member(fleet: MemoryFleet) -> None:
    fleet.repository.commit({"clusters/us.yaml": a_cluster("us", syncMode="Pull")})
    fleet.run()


STILL = [
    Still("a source that no pass renders", a_newer_source, f"a pass renders the newest source {RECORD}", RENEWED),
    Still(
        "objects that no pass looks at",
        MemoryFleet.run,
        f"a pass applies to eu, us and records what is there {RECORD}",
        RENEWED,
    ),
    Still(
        "a cluster whose agent says nothing",
        a_pulling_member,
        f"us reports by its own agent {RECORD}",
        "see the log of its agent: kubectl -n argosy-system logs deployment/argosy-agent",
        "cluster/us",
    ),
]


@pytest.mark.parametrize("case", STILL, ids=lambda case: case.why)
def test_where_no_branch_moves_it_says_who_would_renew_them(case: Still, fleet: MemoryFleet) -> None:
    """It was silent for its five minutes, and did not say that nobody was about to do anything."""
    case.prepare(fleet)
    options = WaitOptions(subject=case.subject, wish="healthy", timeout=150)
    code, said = waited(fleet.repository, options, Clock(), today=fleet.now + 180)
    assert code == 1
    lines = said.splitlines()
    assert lines[0].startswith(f"waiting for {case.what} to be healthy: ")
    still = [
        [f"warning: nothing has changed for {seconds} s; {case.said}", f"  hint: {case.hint}"]
        for seconds in (20, 40, 80)
    ]
    assert lines[1:7] == [line for pair in still for line in pair]
    assert lines[7] == f"warning: after 150 s {case.what} is not healthy"
    assert f"  hint: {case.hint}" not in lines[8:]


def test_on_a_terminal_one_line_is_replaced(fleet: MemoryFleet) -> None:
    fleet.run()
    stream = io.StringIO()
    log = Log(stream=stream, repository=str(fleet.repository.path), is_terminal=True)
    clock = Clock()
    pacing = Pacing(now=clock, pause=clock.pass_by, clock=lambda: fleet.now)
    assert wait_and_show(log, WaitOptions(wish="healthy", timeout=5), pacing) == 1
    shown = [each.partition("\n")[0] for each in stream.getvalue().split("\r\x1b[2K") if each]
    assert [each[:22] for each in shown[:2]] == ["0 of 5 s, 2 to go: Dep", "2 of 5 s, 2 to go: Dep"]
    assert "waiting for" not in stream.getvalue()


def test_a_source_that_changes_no_outcome_is_there_already(fleet: MemoryFleet) -> None:
    fleet.run()
    fleet.repository.commit({"note.txt": "nothing of the fleet"})
    assert waited(fleet.repository, WaitOptions(timeout=0), Clock()) == (0, "")


def test_a_cluster_that_left_is_not_waited_for(fleet: MemoryFleet) -> None:
    fleet.run()
    fleet.down = {"us"}
    fleet.repository.commit({"clusters/us.yaml": None, "nginx.yaml": a_deployment(replicas=3)})
    fleet.run(60)
    assert waited(fleet.repository, WaitOptions(timeout=0), Clock()) == (0, "")
    assert waited(fleet.repository, WaitOptions(subject="deploy/nginx", timeout=0), Clock()) == (0, "")


LOOSE = "ConfigMap default/loose"


class Never(NamedTuple):
    subject: str
    error: type[Exception]
    message: str
    hint: str


NEVER = [
    Never("cluster/mars", UnknownName, "the source has no cluster called 'mars'", "known here: eu, us"),
    Never("deploy/nginy", UnknownName, "the source has no deploy called 'nginy'", "did you mean 'nginx'?"),
    Never("cm/loose", ConfigError, f"{LOOSE} has no binding: no policy selects it", "argosy explain cm/loose"),
]


@pytest.mark.parametrize("case", NEVER, ids=lambda case: case.subject)
def test_what_will_never_be_is_not_waited_for(case: Never, fleet: MemoryFleet) -> None:
    fleet.repository.commit({"loose.yaml": a_config_map("loose")})
    fleet.run()
    with pytest.raises(case.error) as caught:
        waited(fleet.repository, WaitOptions(subject=case.subject, timeout=5), Clock())
    error: Any = caught.value
    assert (error.message, error.hint) == (case.message, case.hint)


@pytest.fixture
def clone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A clone of a hub in which everything is rendered and nothing applied."""
    hub, repository = Repository.create(tmp_path / "hub.git", bare=True), Repository.create(tmp_path / "clone")
    repository.git("remote", "add", "origin", str(hub.path))
    policy = a_policy(placement=on_clusters("eu"))
    repository.commit({"eu.yaml": a_cluster("eu"), "nginx.yaml": a_deployment(), "policy.yaml": policy})
    repository.git("push", "-q", "-u", "origin", "main")
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    return repository


ONLY_RENDERED = [
    "warning: nothing is known to apply this fleet; waiting for somebody to run argosy apply",
    "warning: after 0 s the fleet is not applied",
    "warning: no pass has recorded anything, and argosy.yaml says of no cluster how it is reached: it is only rendered",
    "  hint: list clusters in argosy.yaml, or run argosy apply",
]
ONLY_WAITED = f"waiting for the fleet to be applied: {ONLY_RENDERED[2].removeprefix('warning: ')}"


def test_a_fleet_that_is_only_rendered_is_said_to_be_so_at_once(clone: Repository) -> None:
    """Somebody may run ``argosy apply`` all the same, and is waited for."""
    said: list[str] = []
    stream, clock = io.StringIO(), Clock()

    def pause(seconds: float) -> None:
        said[:] = said or stream.getvalue().splitlines()
        clock.pass_by(seconds)

    log = Log(stream=stream, repository=str(clone.path))
    pacing = Pacing(now=clock, pause=pause, clock=float)
    assert wait_and_show(log, WaitOptions(timeout=300), pacing) == 1
    assert (said, stream.getvalue().splitlines()) == (
        [ONLY_RENDERED[0], ONLY_WAITED],
        [ONLY_RENDERED[0], ONLY_WAITED, "warning: after 300 s the fleet is not applied", *ONLY_RENDERED[2:]],
    )


def test_a_remote_that_is_away_for_a_moment_is_asked_again(clone: Repository) -> None:
    hub, away = clone.path.parent / "hub.git", clone.path.parent / "away.git"
    clock = Clock(lambda: hub.rename(away), lambda: away.rename(hub))
    code, said = waited(clone, WaitOptions(timeout=8), clock)
    assert (code, clock.now, said.splitlines()[-2:]) == (1, 8.0, ONLY_RENDERED[2:])
    code, said = waited(clone, WaitOptions(timeout=4), Clock(lambda: hub.rename(away)))
    gone = f"warning: git ls-remote: '{hub}' does not appear to be a git repository"
    assert (code, said.splitlines()[-2:]) == (1, ["warning: after 4 s the fleet is not applied", gone])
    with pytest.raises(GitError):
        waited(clone, WaitOptions(timeout=4), Clock())


def shallow_clone(of: Repository, *options: str) -> Repository:
    """A clone such as runners make: with the newest commit alone, and without Argosy's branches."""
    hub, path = of.path.parent / "hub.git", of.path.parent / "shallow"
    of.git("clone", "-q", "--depth", "1", *options, f"file://{hub}", str(path))
    return Repository(path)


@pytest.mark.parametrize("is_detached", [False, True], ids=["on a branch", "on no branch"])
def test_a_shallow_clone_does_not_take_an_older_source_for_a_newer_one(is_detached: bool, clone: Repository) -> None:
    """The source that is rendered is beyond what the clone has; it is fetched, for it tells which of them is newer."""
    newest = clone.commit({"nginx.yaml": a_deployment(replicas=5)})
    clone.git("push", "-q")
    shallow = shallow_clone(clone)
    if is_detached:
        shallow.git("checkout", "-q", "--detach")
    said = f"warning: source {newest[:12]} is not rendered yet"
    assert waited(shallow, WaitOptions(timeout=0), Clock())[1].splitlines()[1:] == [said]


@pytest.mark.parametrize("is_detached", [False, True], ids=["on a branch", "on no branch"])
def test_a_source_that_somebody_else_pushed_has_the_one_that_is_waited_for(
    is_detached: bool, clone: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    old = shallow_clone(clone)
    if is_detached:
        old.git("checkout", "-q", "--detach")
    clone.commit({"nginx.yaml": a_deployment(replicas=5)})
    clone.git("push", "-q")
    assert argosy(clone, capsys, "reconcile").code == 0
    assert waited(old, WaitOptions(timeout=0), Clock())[1].splitlines() == ONLY_RENDERED


def test_a_source_that_was_pushed_over_is_not_one_that_follows(
    clone: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    other = Repository(clone.path.parent / "other")
    clone.git("clone", "-q", str(clone.path.parent / "hub.git"), str(other.path))
    rendered = clone.commit({"nginx.yaml": a_deployment(replicas=5)})
    clone.git("push", "-q")
    assert argosy(clone, capsys, "reconcile").code == 0
    newest = other.commit({"nginx.yaml": a_deployment(replicas=3)})
    other.git("push", "-q", "--force")
    said = (
        f"warning: source {rendered[:12]} is rendered, which the source branch does not have: it may lack {newest[:12]}"
    )
    assert waited(other, WaitOptions(timeout=0), Clock())[1].splitlines()[1:] == [said]


def test_what_a_status_branch_said_that_is_gone_counts_no_more(clone: Repository) -> None:
    """The clone still has the branch as it was before somebody deleted it at the remote."""
    clone.git("update-ref", "refs/remotes/origin/argosy/status", "origin/argosy/rendered")
    assert waited(clone, WaitOptions(timeout=0), Clock())[1].splitlines() == ONLY_RENDERED
