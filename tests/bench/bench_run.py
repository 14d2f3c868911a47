"""The controller, measured: a push, a storm of webhooks, controllers that are killed, hours at speed, and an idle one.

``push``: seconds from ``git push`` until the objects of three real API servers changed, and until the status branch
says that they are healthy; by file events, by webhook, and polled. ``storm``: ten thousand webhooks. ``kills``: two
controllers killed for ten minutes while somebody pushes every second. ``long``: so many pushes, outages and rewinds of
a remote as in two hours, one after another. ``idle``: CPU and memory where nothing happens.
"""

import argparse
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.build import Repository, a_cluster, a_config_map, a_policy, on_clusters
from tests.clusters import Member
from tests.controllers import Controller, a_fleet, controller, is_rendered, pushed, rendered_source
from tests.kill_loop import KillLoop
from tests.processes import Held, cpu_seconds, held_by
from tests.waiting import eventually
from tests.webhook_storm import SECRET, posted, signature, storm

from .figures import CPU, MEMORY, SECONDS, Figure, figure

NAMES = ("member1", "member2", "member3")
SPACE = "run-bench"
MOST_SECONDS = 3600.0
CONFIG_MAPS = [{"apiVersion": "v1", "kind": "ConfigMap"}]


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of one measurement."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench run", description=__doc__)
    parser.add_argument("what", choices=("push", "storm", "kills", "long", "idle"))
    parser.add_argument("--seconds", type=float, help="how long (kills: 600, long: 180, idle: 120)")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        match chosen.what:
            case "push":
                yield from _push(Path(folder))
            case "storm":
                yield from _storm(Path(folder))
            case "kills":
                yield from _kills(Path(folder), chosen.seconds or 600.0, chosen.seed)
            case "long":
                yield from _long(Path(folder), chosen.seconds or 180.0, chosen.seed)
            case _:
                yield from _idle(Path(folder), chosen.seconds or 120.0)


@contextmanager
def _members(folder: Path) -> Iterator[tuple[Member, ...]]:
    """Three real API servers over one etcd, and their kubeconfigs in the folder."""
    with ExitStack() as stack:
        first = stack.enter_context(Member(NAMES[0]))
        members = (first, *(stack.enter_context(Member(name, beside=first)) for name in NAMES[1:]))
        folder.mkdir()
        for member in members:
            shutil.copy(member.kubeconfig, folder / f"{member.name}.yaml")
        yield members


def _real_fleet(folder: Path, objects: int, space: str) -> tuple[Repository, Repository]:
    """A bare repository and a clone of it, with so many ConfigMaps for each of three members."""
    bare, work = Repository.create(folder / "fleet.git", bare=True), Repository.create(folder / "work")
    policy = a_policy("all", selectors=CONFIG_MAPS, namespace=space, placement=on_clusters(*NAMES))
    maps = [a_config_map(f"settings-{number}", namespace=space, text="first") for number in range(objects)]
    work.commit({**{f"{name}.yaml": a_cluster(name) for name in NAMES}, "policy.yaml": policy, "maps.yaml": maps})
    work.git("remote", "add", "origin", str(bare.path))
    work.git("push", "-q", "origin", "HEAD:main")
    return bare, work


def _push(folder: Path) -> Iterator[Figure]:
    """Push ten times in each way of noticing it, and tell the slowest."""
    secret = folder / "secret"
    secret.write_bytes(SECRET)
    webhook = ("--webhook", "0", "--webhook-secret", f"github={secret}")
    ways: tuple[tuple[str, bool, tuple[str, ...], int], ...] = (
        ("by file events", True, (), 10),
        ("by a webhook", False, webhook, 10),
        ("polled every 30 s", False, ("--poll", "30s"), 4),
    )
    with _members(folder / "kubeconfigs") as members:
        for number, (way, is_local, options, pushes) in enumerate(ways):
            own, space = folder / f"way-{number}", f"{SPACE}-{number}"
            own.mkdir()
            bare, work = _real_fleet(own, 3, space)
            where = str(bare.path) if is_local else f"file://{bare.path}"
            given = ("--bootstrap", "--kubeconfigs", str(folder / "kubeconfigs"), *options)
            with controller(own, where, *given, seconds=MOST_SECONDS, is_measured=True) as argosy:
                argosy.says("pass ended code=0")
                scene = Scene(argosy, bare, work, members, space)
                taken = [_pushed(scene, turn, is_told=webhook == options) for turn in range(pushes)]
                argosy.ended()
            applied, healthy = (sorted(each) for each in zip(*taken, strict=True))
            for what, times in (("applied", applied), ("recorded as healthy", healthy)):
                measure = f"push to {what}, {way}"
                yield figure("run, 3 real members", measure, times[-1], SECONDS, remark=_spread(times))


class Scene(NamedTuple):
    """A controller, the repository that it looks at, a clone of that, and its members."""

    argosy: Controller
    bare: Repository
    work: Repository
    members: Sequence[Member]
    space: str


def _pushed(scene: Scene, turn: int, *, is_told: bool) -> tuple[float, float]:
    argosy, bare, work, members, space = scene
    path = f"/api/v1/namespaces/{space}/configmaps/settings-0"
    work.commit({"maps.yaml": [a_config_map(f"settings-{n}", namespace=space, text=f"t{turn}") for n in range(3)]})
    begun = time.monotonic()
    work.git("push", "-q", "origin", "HEAD:main")
    if is_told:
        port = int(argosy.said.partition("webhooks at 127.0.0.1:")[2].partition("\n")[0])
        posted(port, {"X-Hub-Signature-256": signature(), "X-GitHub-Delivery": str(turn)})

    def is_applied() -> bool:
        return all(((member.read(path) or {}).get("data") or {}).get("text") == f"t{turn}" for member in members)

    def is_told_healthy() -> bool:
        commit = bare.git("rev-parse", "argosy/rendered")
        clusters = [bare.show(f"clusters/{name}.yaml", "argosy/status") for name in NAMES]
        works = [bare.show(f"works/{name}/{space}/ConfigMap/settings-0.yaml", "argosy/status") for name in NAMES]
        return all(commit in each for each in clusters) and all("Healthy" in each for each in works)

    eventually(is_applied, "the new objects", pause=0.05)
    applied = time.monotonic() - begun
    eventually(is_told_healthy, "the new status", pause=0.05)
    return applied, time.monotonic() - begun


def _spread(times: Sequence[float]) -> str:
    return f"the most of {len(times)}; least {times[0]:.2f} s, median {statistics.median(times):.2f} s"


def _storm(folder: Path) -> Iterator[Figure]:
    work, bare, secret = a_fleet(folder / "fleet.git"), folder / "fleet.git", folder / "secret"
    secret.write_bytes(SECRET)
    options = ("--webhook", "0", "--webhook-secret", f"github={secret}")
    begun = time.monotonic()
    with controller(
        folder, f"file://{bare}", "--bootstrap", *options, seconds=MOST_SECONDS, is_measured=True
    ) as argosy:
        argosy.says("pass ended")
        port = int(argosy.said.partition("webhooks at 127.0.0.1:")[2].partition("\n")[0])
        for number, held in enumerate(storm(argosy, port, work, bare, bursts=10, each=1000), start=1):
            print(f"after {number * 1000}: {held}", flush=True)
        argosy.ended()
    passes = argosy.said.count("pass cause=change")
    remark = f"{passes} passes in {time.monotonic() - begun:.0f} s"
    scenario = "run, 10,000 webhooks and 10 pushes"
    yield figure(scenario, "passes more or fewer than pushes", abs(passes - 10), "", remark=remark)


def _kills(folder: Path, seconds: float, seed: int) -> Iterator[Figure]:
    with _members(folder / "kubeconfigs-of-members") as members:
        loop = KillLoop(folder=folder, members=members, space=SPACE, draw=random.Random(seed))
        loop.run(seconds)
        codes = loop.close()
        found = [*loop.differences(), *loop.faults()]
    commits = loop.bare.git("rev-list", "--count", "argosy/rendered")
    print("\n".join(found) or "converged, nothing lost, no tree committed twice, git fsck finds nothing")
    done = f"seed {seed}: {loop.kills} kills, {loop.pushes} pushes, {commits} rendered commits, exit codes {codes}"
    yield figure("run, killed again and again", "what is not as it must be", len(found), "", remark=done)


def _long(folder: Path, seconds: float, seed: int) -> Iterator[Figure]:
    """Push, lose and rewind a remote again and again, and look at what the controller holds."""
    draw, work, bare = random.Random(seed), a_fleet(folder / "fleet.git"), folder / "fleet.git"
    options = ("--bootstrap", "--poll", "200ms", "--drift", "1s")
    held, pushes = list[Held](), 1
    with controller(folder, f"file://{bare}", *options, options=(), seconds=MOST_SECONDS, is_measured=True) as argosy:
        is_rendered(bare, work.git("rev-parse", "HEAD"))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pushes += _turn(work, bare, draw, f"turn {len(held)}")
            held.append(held_by(argosy.process.pid))
        is_rendered(bare, pushed(work, "the last"))
        commits = int(Repository(bare).git("rev-list", "--count", "argosy/rendered"))
        argosy.ended()
    scenario = "run, pushes, outages and rewinds"
    quarter = len(held) // 4
    second, last = (
        Held(*(max(each) for each in zip(*part, strict=True)))
        for part in (held[quarter : 2 * quarter], held[-quarter:])
    )
    grown, remark = last.memory / second.memory, f"{second}, then {last}"
    yield figure(scenario, "memory of the last quarter, times the second", grown, "", remark=remark)
    more = max(last.descriptors - second.descriptors, 0)
    yield figure(scenario, "descriptors more in the last quarter", more, "")
    remark = f"seed {seed}: {pushes + 1} pushes, {len(held)} turns, {commits} rendered commits"
    yield figure(scenario, "commits more than pushes", max(commits - pushes - 1, 0), "", remark=remark)


def _turn(work: Repository, bare: Path, draw: random.Random, text: str) -> int:
    """Do one thing to the remote, and return how many commits were pushed."""
    drawn = draw.random()
    if drawn < 0.15:
        away = bare.with_name("away.git")
        bare.rename(away)
        time.sleep(draw.uniform(0.2, 1.5))
        away.rename(bare)
        return 0
    if drawn < 0.25:
        _rewound(work, bare, text)
        return 1
    commit = pushed(work, text)
    if draw.random() < 0.5:
        eventually(lambda: rendered_source(bare) == commit, "the push rendered", pause=0.1)
    return 1


def _rewound(work: Repository, bare: Path, text: str) -> None:
    """Take the branch back by one commit, and push another on top before the next turn."""
    work.git("push", "-q", "--force", "origin", "HEAD~1:main")
    time.sleep(0.5)
    work.git("push", "-q", "origin", "HEAD:main")
    eventually(lambda: rendered_source(bare) != "", "a rendered commit")
    pushed(work, text)


def _idle(folder: Path, seconds: float) -> Iterator[Figure]:
    """Measure a controller that has nothing to do: its own CPU and that of its passes, and its memory."""
    large = "run at rest, 1000 templates in 1000 clusters, none reached"
    yield from _idle_over(folder / "large", seconds, large, _large_fleet, ())
    with _members(folder / "kubeconfigs") as _:
        options = ("--kubeconfigs", str(folder / "kubeconfigs"), "--timeout", "10m")
        yield from _idle_over(
            folder / "real",
            seconds,
            "run at rest, 3 real members with 5,000 objects each",
            lambda own: _real_fleet(own, 5000, SPACE)[0].path,
            options,
        )


def _idle_over(
    folder: Path, seconds: float, scenario: str, made: Callable[[Path], Path], options: tuple[str, ...]
) -> Iterator[Figure]:
    folder.mkdir()
    bare = made(folder)
    drift = seconds / 4
    with controller(
        folder, str(bare), "--bootstrap", "--drift", f"{drift:.0f}s", *options, seconds=MOST_SECONDS
    ) as argosy:
        # Two passes for drift: the first leaves the fleet idle, and the second finds it so.
        eventually(
            lambda: argosy.said.count("pass ended") > 2 or argosy.process.poll(), scenario, seconds=1200, pause=0.5
        )
        passes, begun, cpu = argosy.said.count("pass ended"), time.monotonic(), cpu_seconds(argosy.process.pid)
        time.sleep(seconds)
        spent, took = cpu_seconds(argosy.process.pid) - cpu, time.monotonic() - begun
        passes = argosy.said.count("pass ended") - passes
        held = held_by(argosy.process.pid)
        argosy.ended()
    each = spent / passes if passes else 0.0
    remark = f"{passes} passes in {took:.0f} s, {12 * each:.1f} s in an hour with a pass every 5 minutes"
    yield figure(scenario, "a pass for drift", each, CPU, remark=remark)
    yield figure(scenario, "memory of the controller", held.memory / 1024, MEMORY, remark=str(held))


def _large_fleet(folder: Path) -> Path:
    bare, work = Repository.create(folder / "fleet.git", bare=True), Repository.create(folder / "work")
    clusters = [a_cluster(f"member{number}") for number in range(1000)]
    maps = [a_config_map(f"settings-{number}", text="first") for number in range(1000)]
    policy = a_policy("all", selectors=CONFIG_MAPS, placement={})
    work.commit({"clusters.yaml": clusters, "maps.yaml": maps, "policy.yaml": policy})
    work.git("push", "-q", str(bare.path), "HEAD:main")
    return bare.path
