"""Idle members are skipped one by one: any sequence of changes ends as if every member were looked at."""

import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from copy import deepcopy
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import pytest

from .build import Ended, Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .fakes import FakeCluster
from .memory_fleet import add_node, settle
from .served import asked_again_at_once, given_up_soon, serving_members
from .stories import histories

pytestmark = pytest.mark.xdist_group("reconcile resting")  # one process makes the shared fleet for all of them

NAMES = ("eu", "ap", "us")
CHECKPOINT = ".git/argosy/checkpoint.json"
ROOM = {"cpu": "8", "memory": "32Gi", "pods": "110"}
ID = re.compile("[0-9a-f]{12,64}")
VOLATILE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|(?<=127\.0\.0\.1:)\d+|[0-9a-f]{40}|\"")
OBJECTS = {"ConfigMap": "/api/v1/namespaces/shop/configmaps", "Deployment": "/apis/apps/v1/namespaces/shop/deployments"}
METADATA = "as=PartialObjectMetadataList"


class Fleet:
    """A fleet of three members in memory that are reached as any others.

    ``down`` are those that do not answer, once ``hanging`` is set, or each time with the status ``refusal``.
    """

    def __init__(self, repository: Repository, capsys: pytest.CaptureFixture[str], stack: ExitStack) -> None:
        self.repository, self.capsys = repository, capsys
        self.members = {name: FakeCluster(name=name) for name in NAMES}
        self.down: set[str] = set()
        self.refusal: int | None = None
        self.hanging = Event()
        self.hanging.set()
        self.planned: set[str] = set()
        self.meanwhile: Callable[[], object] | None = None
        for member in self.members.values():
            add_node(member, "node", **ROOM)
        faults = {name: self._fault(name) for name in NAMES}
        folder = repository.path.parent / "kubeconfigs"
        served = stack.enter_context(serving_members(self.members.values(), folder, faults))
        stack.enter_context(asked_again_at_once())
        self.options: tuple[str, ...] = (
            "reconcile",
            "--kubeconfigs",
            str(served.kubeconfigs),
            "--allow-removal",
            "*=100",
        )

    def _fault(self, name: str) -> Any:
        def fault(handler: BaseHTTPRequestHandler) -> bool:
            is_list = handler.path.startswith(f"{OBJECTS['ConfigMap']}?") or "configmaps?" in handler.path
            if is_list and METADATA in handler.headers.get("Accept", "") and self.meanwhile:
                happening, self.meanwhile = self.meanwhile, None
                happening()
            if is_list and METADATA not in handler.headers.get("Accept", ""):
                self.planned.add(name)
            if name in self.down:
                self.hanging.wait(60)
            if name in self.down and self.refusal is not None:
                handler.send_error(self.refusal)
            return name in self.down

        return fault

    def run(self, *options: str) -> Ended:
        """Run a pass; afterwards ``planned`` are the members whose objects it read."""
        self.planned = set()
        return argosy(self.repository, self.capsys, *self.options, *options)

    def forget(self) -> None:
        (self.repository.path / CHECKPOINT).unlink(missing_ok=True)

    def forget_all(self) -> None:
        """Be as a new clone is: without anything that earlier passes kept."""
        shutil.rmtree(self.repository.path / ".git" / "argosy", ignore_errors=True)

    def rest(self) -> None:
        """Run passes until one looks at no member's objects."""
        for _ in range(5):
            self.run()
            if not self.planned:
                return
        raise AssertionError("the fleet does not come to rest")

    def found(self) -> str:
        """All lines of all files on both branches."""
        return self.repository.git("grep", "", "argosy/rendered", "argosy/status")

    def lines(self) -> list[str]:
        """The same, comparable with those of another time."""
        return self.comparable(self.found())

    def comparable(self, text: str) -> list[str]:
        """The lines of a text without times, ports and digests of these, its commits named by their number."""
        numbers = {
            commit[:12]: f"{branch} {number}"
            for branch, commits in histories(self.repository).items()
            for number, commit in enumerate(reversed(commits))
        }
        named = ID.sub(lambda found: numbers.get(found[0][:12], found[0]), text)
        return sorted(VOLATILE.sub("", named).splitlines())

    def differing(self, other: "Fleet") -> list[str]:
        """The lines that the branches of another fleet do not have word for word, made comparable."""
        mine, others = (Counter(each.found().splitlines()) for each in (self, other))
        return self.comparable("\n".join((mine - others).elements()))


def surroundings() -> dict[str, Any]:
    """Clusters, a policy for each place, and an override that hides which policy claims an object from members."""
    kinds = [{"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "apps/v1", "kind": "Deployment"}]

    def placed(name: str, *clusters: str) -> dict[str, Any]:
        selectors = [{**kind, "labelSelector": {"matchLabels": {"place": name}}} for kind in kinds]
        return a_policy(name, namespace="shop", selectors=selectors, placement=on_clusters(*clusters))

    paused = placed("paused", *NAMES)
    paused["spec"]["suspension"] = {"dispatching": True}
    hidden = {"path": "/metadata/labels/place", "operator": "replace", "value": "any"}
    override = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "hide"},
        "spec": {"resourceSelectors": kinds, "overrideRules": [{"overriders": {"plaintext": [hidden]}}]},
    }
    policies = [placed("all", *NAMES), *(placed(name, name) for name in NAMES), paused, override]
    return {"clusters.yaml": [a_cluster(name) for name in NAMES], "policies.yaml": policies}


def a_template(number: int, place: str, value: str) -> dict[str, Any]:
    made = (
        a_deployment(f"app{number}", namespace="shop", image=f"nginx:{value}")
        if number % 3 == 0
        else a_config_map(f"map{number}", namespace="shop", a=value)
    )
    made["metadata"].setdefault("labels", {})["place"] = place
    return made


def some_files(rng: random.Random) -> dict[str, Any]:
    number, place = rng.randrange(9), rng.choice(("all", "paused", *NAMES, "nowhere"))
    return {f"{number}.yaml": a_template(number, place, str(rng.randrange(3)))}


class Step(NamedTuple):
    """One thing that happens, to both fleets alike, and how many passes follow."""

    files: dict[str, Any]
    live: str
    member: str
    number: int
    passes: int


LIVE = ("delete", "edit", "scale", "settle", "grow", "label", "nothing", "nothing")


def a_step(rng: random.Random) -> Step:
    return Step(
        files=some_files(rng) if rng.random() < 0.4 else {},
        live=rng.choice(LIVE),
        member=rng.choice(NAMES),
        number=rng.randrange(9),
        passes=rng.choice((1, 2)),
    )


def happen(step: Step, fleet: Fleet, at: int) -> None:
    if step.files:
        fleet.repository.commit(step.files, f"step {at}")
    member = fleet.members[step.member]
    if step.live in {"down", "up"}:
        fleet.down = {step.member} if step.live == "down" else set()
    elif step.live == "settle":
        settle(member)
    elif step.live == "grow":
        add_node(member, f"node-{at}", **ROOM)
    else:
        touch(member, step, at)


def touch(member: FakeCluster, step: Step, at: int) -> None:
    """Let somebody delete or change an object of a member, if it is there."""
    kind, name = ("Deployment", f"app{step.number}") if step.number % 3 == 0 else ("ConfigMap", f"map{step.number}")
    path = f"{OBJECTS[kind]}/{name}"
    live = member.read(path)
    if live is None or step.live == "nothing":
        return
    if step.live == "delete":
        member.request("DELETE", path)
        return
    manager = "somebody"
    if step.live == "edit":
        live["metadata"].setdefault("annotations", {})["note"] = str(at)
    elif step.live == "scale" and kind == "Deployment":
        live["spec"]["replicas"], manager = at + 2, "kube-controller-manager"
    elif step.live == "label":
        live["metadata"]["labels"].pop("applyset.kubernetes.io/part-of", None)
    member.request("PUT", f"{path}?fieldManager={manager}", live)


def a_repository(path: Path) -> Repository:
    made = Repository.create(path)
    templates = {f"{number}.yaml": a_template(number, ("all", *NAMES)[number % 4], "0") for number in range(9)}
    made.commit({**surroundings(), **templates})
    return made


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str], stack: ExitStack) -> Fleet:
    """A fleet with a few objects, before its first pass."""
    (tmp_path / "one").mkdir()
    return Fleet(a_repository(tmp_path / "one" / "fleet"), capsys, stack)


class Shared:
    """A fleet as it was at one time, where every test of it begins."""

    def __init__(self, fleet: Fleet, kept: Path) -> None:
        self._fleet, self._kept, self._options, self._down = fleet, kept, fleet.options, set(fleet.down)
        shutil.copytree(fleet.repository.path, kept)
        self._objects = {name: deepcopy(member.objects) for name, member in fleet.members.items()}

    def restored(self, capsys: pytest.CaptureFixture[str]) -> Fleet:
        fleet = self._fleet
        shutil.rmtree(fleet.repository.path)
        shutil.copytree(self._kept, fleet.repository.path)
        for name, member in fleet.members.items():
            member.objects = deepcopy(self._objects[name])
        fleet.capsys, fleet.options = capsys, self._options
        fleet.down, fleet.refusal, fleet.planned, fleet.meanwhile = set(self._down), None, set(), None
        return fleet


class SharedFleets(NamedTuple):
    """The folder of the shared fleets, what ends their members, and each of them once a test has made it."""

    folder: Path
    stack: ExitStack
    made: dict[str, Shared]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedFleets]:
    with ExitStack() as opened:
        yield SharedFleets(folder=tmp_path_factory.mktemp("rested"), stack=opened, made={})


@pytest.fixture
def rested(shared: SharedFleets, capsys: pytest.CaptureFixture[str]) -> Fleet:
    """An idle fleet."""
    if "rested" not in shared.made:
        fleet = Fleet(a_repository(shared.folder / "fleet"), capsys, shared.stack)
        fleet.run("--bootstrap")
        fleet.rest()
        shared.made["rested"] = Shared(fleet, shared.folder / "rested")
    return shared.made["rested"].restored(capsys)


@pytest.fixture
def bereft(shared: SharedFleets, rested: Fleet, capsys: pytest.CaptureFixture[str]) -> Fleet:
    """A fleet that came to rest once more after a member had died."""
    if "bereft" not in shared.made:
        rested.down = {"us"}
        _quiet(rested)
        shared.made["bereft"] = Shared(rested, shared.folder / "bereft")
    return shared.made["bereft"].restored(capsys)


def test_any_sequence_of_changes_ends_as_if_every_member_were_looked_at(
    fleet: Fleet, capsys: pytest.CaptureFixture[str], stack: ExitStack
) -> None:
    (fleet.repository.path.parent.parent / "other").mkdir()
    copy = fleet.repository.path.parent.parent / "other" / "fleet"
    shutil.copytree(fleet.repository.path, copy)
    whole = Fleet(Repository(copy), capsys, stack)
    rng, skipped = random.Random(0), 0
    for each in (fleet, whole):
        each.run("--bootstrap")
    for at in range(12):
        step = a_step(rng)
        for each in (fleet, whole):
            happen(step, each, at)
        for _ in range(step.passes):
            whole.forget_all()
            ends = fleet.run(), whole.run()
            assert ends[0].code == ends[1].code
            assert fleet.comparable(ends[0].out) == whole.comparable(ends[1].out)
            assert fleet.differing(whole) == whole.differing(fleet)
            skipped += len(whole.planned - fleet.planned)
    assert skipped


def _restore(fleet: Fleet, path: str, change: Any) -> None:
    """Commit another content of a file to the status branch."""
    branch = Repository(fleet.repository.path.parent / "status")
    fleet.repository.git("worktree", "add", "-q", str(branch.path), "argosy/status")
    content = change((branch.path / path).read_text())
    branch.commit({path: content})
    fleet.repository.git("worktree", "remove", "--force", str(branch.path))


def _touch(live: str, member: str, number: int) -> Any:
    return lambda fleet: touch(fleet.members[member], Step({}, live, member, number, 1), 1)


def _commit(files: dict[str, Any]) -> Any:
    return lambda fleet: fleet.repository.commit(files)


class Seen(NamedTuple):
    """A change of an idle fleet, and the members whose objects the next pass reads."""

    why: str
    change: Any
    members: set[str]


class Held(NamedTuple):
    """A way to fail for as long as a test goes on: the status of every answer (None: none), and the exit code."""

    why: str
    status: int | None
    code: int


EVERYBODY = set(NAMES)
SEEN = [
    Seen("a template of one member", _commit({"1.yaml": a_template(1, "eu", "9")}), {"eu"}),
    Seen("a template of all", _commit({"0.yaml": a_template(0, "all", "9")}), EVERYBODY),
    Seen("a template that nobody gets", _commit({"9.yaml": a_template(9, "nowhere", "9")}), set()),
    Seen("a template that another policy suspends", _commit({"0.yaml": a_template(0, "paused", "0")}), EVERYBODY),
    Seen("a policy", _commit({"more.yaml": a_policy("more", namespace="shop", placement={})}), EVERYBODY),
    Seen("an object deleted", _touch("delete", "ap", 2), {"ap"}),
    Seen("a label removed", _touch("label", "us", 3), {"us"}),
    Seen("no checkpoint", Fleet.forget, EVERYBODY),
    Seen(
        "the record of an object",
        lambda fleet: _restore(fleet, "works/eu/shop/ConfigMap/map1.yaml", lambda text: f"{text}findings: []\n"),
        {"eu"},
    ),
    Seen(
        "an inventory that remembers something",
        lambda fleet: _restore(
            fleet, "inventory/ap.yaml", lambda text: f"{text}left:\n- {{kind: Namespace, name: shop}}\n"
        ),
        {"ap"},
    ),
    Seen("an option", lambda fleet: setattr(fleet, "options", (*fleet.options, "--no-prune")), EVERYBODY),
]


@pytest.mark.parametrize("case", SEEN, ids=lambda case: case.why)
def test_a_pass_looks_at_the_members_that_something_is_new_of(case: Seen, rested: Fleet) -> None:
    case.change(rested)
    ended = rested.run("-o", "json")
    assert rested.planned == case.members, ended


def test_a_member_that_does_not_answer_leaves_the_others_at_rest(rested: Fleet) -> None:
    rested.down = {"us"}
    ended = rested.run()
    assert ended.code == 7, ended
    assert rested.planned == set()
    assert [line.split()[-1] for line in ended.out.splitlines()[2:5]] == ["Converged", "Converged", "Unreachable"]
    rested.run()
    recorded = rested.lines()
    rested.forget()
    rested.run()
    assert (rested.planned, rested.lines()) == ({"eu", "ap"}, recorded)


def _is_whole(ended: Ended) -> bool:
    return "\nrender ms=" in ended.err


def _quiet(fleet: Fleet) -> Ended:
    """Run ordinary passes until one renders nothing, and return how it ended."""
    fleet.options = fleet.options[:3]
    for _ in range(6):
        ended = fleet.run("-vv")
        if not _is_whole(ended):
            return ended
    raise AssertionError(f"every pass is a whole one: {ended.err}")


HELD = [
    Held("a dead member that was idle", None, 7),
    Held("one that refuses", 403, 1),
    Held("one that is overwhelmed", 503, 7),
]


@pytest.mark.parametrize("case", HELD, ids=lambda case: case.why)
def test_a_fleet_comes_to_rest_with_a_member_that_stays_down(case: Held, rested: Fleet) -> None:
    rested.down, rested.refusal = {"us"}, case.status
    ended = _quiet(rested)
    recorded = rested.lines()
    assert (ended.code, rested.planned) == (case.code, set())
    rested.forget()
    whole = rested.run("-vv")
    assert _is_whole(whole)
    assert (whole.code, whole.out) == (ended.code, ended.out)
    assert rested.lines() == recorded


def test_a_member_that_never_answered_lets_the_others_rest(fleet: Fleet) -> None:
    fleet.down = {"us"}
    fleet.run("--bootstrap")
    assert _quiet(fleet).code == 7
    fleet.down.clear()
    assert _is_whole(fleet.run("-vv"))
    assert "us" in fleet.planned


def test_a_member_that_hangs_lets_the_others_rest(rested: Fleet) -> None:
    rested.down = {"us"}
    rested.run()
    rested.hanging.clear()
    try:
        with given_up_soon("us"):
            assert (_quiet(rested).code, rested.planned) == (7, set())
    finally:
        rested.hanging.set()


WOKEN = [
    Seen("it answers", lambda fleet: fleet.down.clear(), set()),
    Seen("it fails another way", lambda fleet: setattr(fleet, "refusal", 403), set()),
    Seen("another fails as well", lambda fleet: fleet.down.add("ap"), set()),
    Seen("an object of another is deleted", _touch("delete", "ap", 2), {"ap"}),
    Seen("a template of another", _commit({"1.yaml": a_template(1, "eu", "9")}), {"eu"}),
]


@pytest.mark.parametrize("case", WOKEN, ids=lambda case: case.why)
def test_a_fleet_at_rest_with_a_dead_member_sees_what_changes(case: Seen, bereft: Fleet) -> None:
    case.change(bereft)
    ended = bereft.run("-vv")
    assert (_is_whole(ended), bereft.planned) == (True, case.members), ended


def test_a_member_that_answers_again_is_at_rest_as_before(rested: Fleet) -> None:
    recorded = rested.lines()
    rested.down = {"us"}
    rested.run()
    rested.down.clear()
    assert rested.run().code == 0
    assert rested.planned == set()
    assert rested.lines() == recorded


def test_bindings_are_recorded_again_where_somebody_changed_what_is_recorded(rested: Fleet) -> None:
    recorded = rested.lines()

    def change() -> None:
        _restore(rested, "bindings/shop/ConfigMap/map1.yaml", lambda text: text.replace("FullyAppliedSuccess", "Other"))

    change()
    rested.run("-o", "json")
    assert (rested.planned, rested.lines()) == (set(), recorded)
    rested.meanwhile = change
    rested.run("-o", "json")
    assert (rested.planned, rested.lines()) == (set(), recorded)


def test_a_member_of_another_identity_is_refused(rested: Fleet) -> None:
    _restore(rested, "inventory/ap.yaml", lambda text: re.sub("UID: .*", 'UID: "other"', text))
    assert [line.split()[-1] for line in rested.run().out.splitlines()[2:5]] == [
        "WrongCluster",
        "Converged",
        "Converged",
    ]


@pytest.mark.parametrize("content", [None, b"", b"no cache"])
def test_objects_are_read_anew_where_what_was_kept_of_them_is_gone(content: bytes | None, rested: Fleet) -> None:
    (kept,) = (rested.repository.path / ".git/argosy").glob("rendered-*.cache")
    kept.unlink() if content is None else kept.write_bytes(content)
    touch(rested.members["ap"], Step({}, "delete", "ap", 2, 1), 1)
    assert "ap: ConfigMap shop/map2: created (Missing)\n" in rested.run().err
    assert kept.stat().st_size > 100
    touch(rested.members["ap"], Step({}, "delete", "ap", 2, 1), 1)
    assert "ap: ConfigMap shop/map2: created (Missing)\n" in rested.run().err
