"""Holds: a cluster that went back to an older commit stays there until a newer source, its time or a person ends it.

Which of them, the person says who goes back.
"""

import json
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Struct

from reconciler.branches import mirrors
from reconciler.branches.checkpoint import read_checkpoint
from reconciler.branches.reading import read_previous
from reconciler.console.clock import given_or_current_time
from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.deliver.results import ClusterReport
from reconciler.ledger.holds import ClusterHold, EndedHold
from reconciler.passes import reconcile_pass
from reconciler.passes.logged_apply import apply_and_log
from reconciler.repository import open_repository
from render.documents import parse_documents
from render.timing import epoch_text

from .build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .clusters import Member, remove_namespaces
from .fakes import MERGE_PATCH, FakeCluster
from .memory_fleet import MemoryFleet
from .served import serving_members
from .waiting import eventually

SPACE = f"t{secrets.token_hex(4)}"
SELECTED = {"apiVersion": "v1", "kind": "ConfigMap"}
MIRROR = "argosy/cluster/member1"
NAMES = ("member1", "member2")
PATH = f"/api/v1/namespaces/{SPACE}/configmaps/a"


@dataclass
class Fleet:
    """A fleet of two members that a test works with by the command line alone; ``commits`` are those rendered."""

    repository: Repository
    kubeconfigs: Path
    members: dict[str, Any]
    capsys: pytest.CaptureFixture[str]
    commits: list[str]

    def argosy(self, *words: str) -> Ended:
        return argosy(self.repository, self.capsys, *words)

    def reconcile(self, *words: str) -> Ended:
        return self.argosy("reconcile", "--kubeconfigs", str(self.kubeconfigs), *words)

    def apply(self, *words: str) -> Ended:
        return self.argosy("apply", "--kubeconfigs", str(self.kubeconfigs), *words)

    def release(self, text: str, *words: str) -> Ended:
        """Change what the source says, and run a pass."""
        self.repository.commit({"a.yaml": a_config_map("a", namespace=SPACE, said=text)})
        ended = self.reconcile(*words)
        self.commits.append(self.rendered)
        return ended

    def go_back(self, *words: str) -> Ended:
        """Hold member1 at the first commit."""
        return self.apply(self.commits[0], "--allow-older", "--cluster", "member1", *words)

    @property
    def rendered(self) -> str:
        return self.repository.git("rev-parse", "argosy/rendered")

    @property
    def said(self) -> list[str]:
        """The text in the object of each member."""
        found = [self.members[name].read(PATH) for name in NAMES]
        return [each["data"]["said"] if each else "" for each in found]

    def inventory(self, name: str = "member1") -> Any:
        content = self.repository.show(f"inventory/{name}.yaml", "argosy/status")
        return parse_documents((content + "\n").encode())[0].value

    def status(self) -> Any:
        return json.loads(self.argosy("status", "-o", "json").out)


@pytest.fixture(params=["in memory", pytest.param("real", marks=pytest.mark.cluster)])
def fleet(request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Fleet]:
    """A fleet whose members have the second commit: its object says "good" at first, and "bad" then."""
    repository = Repository.create(tmp_path / "fleet")
    policy = a_policy(selectors=[SELECTED], placement=on_clusters(*NAMES), namespace=SPACE)
    clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in NAMES}
    repository.commit({**clusters, "policy.yaml": policy})
    folder = tmp_path / "kubeconfigs"
    if request.param == "in memory":
        members = {name: FakeCluster(name=name) for name in NAMES}
        with serving_members(members.values(), folder):
            yield begun(Fleet(repository, folder, members, capsys, []))
        return
    real: dict[str, Member] = {each.name: each for each in request.getfixturevalue("members")[:2]}
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.yaml").write_text(real[name].kubeconfig.read_text())
    yield begun(Fleet(repository, folder, real, capsys, []))
    remove_namespaces(list(real.values()), SPACE, "argosy-system")


def begun(fleet: Fleet) -> Fleet:
    assert fleet.release("good", "--bootstrap").code == 0
    assert fleet.release("bad").code == 0
    assert fleet.said == ["bad", "bad"]
    return fleet


def held_words(fleet: Fleet) -> str:
    """The hold on member1 as every command says it."""
    hold = fleet.inventory()["hold"]
    until = f", until {hold['until']}" if "until" in hold else ""
    why = f": {hold['reason']}" if "reason" in hold else ""
    return f"held at {hold['commit'][:12]} by {hold['by']} since {hold['since']}{until}{why}"


def test_passes_keep_a_cluster_that_went_back_until_a_newer_source(fleet: Fleet) -> None:
    """Once the next pass gave it the newer commit again, with nothing new in the source."""
    assert fleet.go_back("--reason", "1.5 loses orders").code == 0
    assert fleet.said == ["good", "bad"]
    hold = fleet.inventory()["hold"]
    assert (hold["commit"], hold["reason"]) == (fleet.commits[0], "1.5 loses orders")
    assert (hold["source"], "until" in hold) == (fleet.repository.git("rev-parse", "HEAD"), False)
    for _ in range(2):
        assert fleet.reconcile().code == 0
        assert fleet.said == ["good", "bad"]
    assert fleet.apply().code == 0
    assert fleet.said == ["good", "bad"]
    words = held_words(fleet)
    ended = fleet.release("better", "-o", "json")
    assert ended.code == 0
    assert fleet.said == ["better", "better"]
    assert "hold" not in fleet.inventory()
    source = fleet.repository.git("rev-parse", "HEAD")[:12]
    assert f"warning: {ended_words(words, f'source {source}')}\n" in ended.err
    document = json.loads(ended.out)
    part = {
        "at": fleet.commits[0],
        "by": hold["by"],
        "since": hold["since"],
        "because": "1.5 loses orders",
        "endedBy": f"source {source}",
    }
    assert document["endedHolds"] == {"member1": part}
    assert document["clusters"]["member1"]["endedHold"] == part
    assert "held" not in document


def ended_words(held: str, ended_by: str) -> str:
    return f"member1 is no longer held (ended by {ended_by}): it was {held}"


def state_of(table: str, name: str) -> str:
    """The last column of a cluster's row in the table of a pass or an apply."""
    return next(line for line in table.splitlines() if line.startswith(name)).split("  ")[-1].strip()


@pytest.mark.parametrize("command", ["reconcile", "apply"])
def test_a_pass_that_ends_a_hold_says_so_even_if_it_is_quiet(fleet: Fleet, command: str) -> None:
    """A colleague's commit ends it, who may know nothing of the hold; the pass may be one that nobody watches."""
    fleet.go_back("--reason", "orders are lost")
    words = held_words(fleet)
    fleet.repository.commit({"b.yaml": a_config_map("b", namespace=SPACE, said="beside")})
    if command == "apply":
        assert fleet.argosy("render", "--commit").code == 0
    ended = fleet.argosy("-q", command, "--kubeconfigs", str(fleet.kubeconfigs))
    source = fleet.repository.git("rev-parse", "HEAD")[:12]
    line = ended_words(words, f"source {source}")
    assert ended.err == f"warning: {line}\n"
    assert state_of(ended.out, "member1") == "Converged, no longer held"
    assert state_of(ended.out, "member2") == "Converged"
    assert line in fleet.repository.git("log", "--format=%B", "argosy/status")
    again = fleet.argosy("-q", command, "--kubeconfigs", str(fleet.kubeconfigs))
    assert ("no longer" in again.err, state_of(again.out, "member1")) == (False, "Converged")


class RunThatEndsHolds(Struct):
    """An apply whose members finish against their order, each of which was held."""

    say: Any = None
    on_waiting: Any = None
    commits: Any = None
    context: Any = SimpleNamespace(status=SimpleNamespace(tip=lambda: "c0ffee"))
    reach: Any = SimpleNamespace(clock=time.monotonic)
    delivery: Any = SimpleNamespace(writes=False, members=(), options=SimpleNamespace(confirmed=(), migrate_from=()))
    record: Any = None

    def reports(self, tell: Callable[[ClusterReport], None]) -> tuple[ClusterReport, ...]:
        hold = ClusterHold(commit="a" * 40, source="b" * 40, by="Ada", since=epoch_text(0))
        ended = EndedHold(hold=hold, ended_by="its time")
        reports = tuple(ClusterReport(cluster=name, ended_hold=ended) for name in NAMES)
        for report in reversed(reports):
            tell(report)
        return reports


def test_ended_holds_are_told_by_name_whichever_member_is_first(capsys: pytest.CaptureFixture[str]) -> None:
    run: Any = RunThatEndsHolds()
    apply_and_log(run, Log(stream=sys.stderr, level=ERRORS_ONLY))
    starts = [" ".join(line.split()[:6]) for line in capsys.readouterr().err.splitlines()]
    assert starts == [f"warning: {name} is no longer held" for name in NAMES]


@pytest.mark.parametrize("until", ["8h", "released"])
def test_newer_sources_do_not_end_a_hold_of_which_somebody_said_until_when(fleet: Fleet, until: str) -> None:
    """Once any commit ended it within seconds, so that nobody could keep a cluster where it was."""
    fleet.go_back("--until", until, "--reason", "keep it there")
    words = held_words(fleet)
    if until == "released":
        assert ", until released: keep it there" in words
    for said in ("better", "best"):
        ended = fleet.release(said, "-o", "json")
        assert ended.code == 0
        assert fleet.said == ["good", said]
        assert "no longer held" not in ended.err
        document = json.loads(ended.out)
        assert ("endedHolds" in document, document["held"]["member1"]["until"]) == (
            False,
            fleet.inventory()["hold"]["until"],
        )
    assert fleet.apply().code == 0
    assert fleet.said == ["good", "best"]
    fleet.repository.write({"a.yaml": a_config_map("a", namespace=SPACE, said="other")})
    when = "somebody releases it" if until == "released" else fleet.inventory()["hold"]["until"]
    staying = f"this does not end the hold: member1 gets nothing newer than {fleet.commits[0][:12]} until {when}"
    assert f"\nHELD\n  ! member1 is {words}\n      {staying}\n" in fleet.argosy("diff").out
    assert "endsHolds" not in json.loads(fleet.argosy("diff", "-o", "json").out)
    assert "hold" in fleet.inventory()
    assert fleet.argosy("cluster", "release", "member1").code == 0
    assert fleet.reconcile().code == 0
    assert fleet.said == ["best", "best"]


def test_an_apply_by_hand_of_the_newest_commit_says_that_it_ends_a_hold(fleet: Fleet) -> None:
    fleet.go_back("--until", "released")
    words = held_words(fleet)
    ended = fleet.apply(fleet.commits[1], "--allow-older", "--cluster", "member1")
    assert ended_words(words, f"applying {fleet.commits[1][:12]} by hand") in ended.err
    assert (fleet.said, "hold" in fleet.inventory()) == (["bad", "bad"], False)


def test_an_edit_of_members_says_which_hold_it_ends_and_so_does_the_pass(fleet: Fleet) -> None:
    fleet.go_back("--reason", "1.5 loses\n  orders")
    said = held_words(fleet)
    assert said.endswith(": 1.5 loses orders")
    ends = f"      this ends the hold: member1 gets all that was rendered since {fleet.commits[0][:12]}\n"
    drained = fleet.argosy("cluster", "drain", "member2").out
    assert f"\nHELD\n  ! member1 is {said}\n{ends}" in drained
    fleet.repository.git("checkout", "-q", ".")
    renamed = fleet.argosy("cluster", "rename", "member1", "m1", "--commit").out
    assert renamed.startswith("cluster/m1 renamed from member1, and more changes by that:\n")
    assert f"\nHELD\n  ! m1 is {said}\n{ends.replace('member1', 'm1')}" in renamed
    (fleet.kubeconfigs / "member1.yaml").rename(fleet.kubeconfigs / "m1.yaml")
    ended = fleet.reconcile()
    by = f"source {fleet.repository.git('rev-parse', 'HEAD')[:12]}"
    assert ended.code == 0
    assert ended_words(said, by).replace("member1", "m1") in ended.err
    assert fleet.said == ["bad", "bad"]


def test_another_name_leaves_a_hold_that_no_source_ends(fleet: Fleet) -> None:
    fleet.go_back("--until", "released")
    words = held_words(fleet).replace("member1", "m1")
    assert fleet.argosy("cluster", "rename", "member1", "m1").outcome == (
        "cluster/m1 renamed from member1: nothing changes in any cluster\n"
        f"\nHELD\n  ! m1 is {words}\n      nothing here ends the hold\n"
    )


def test_a_source_that_renders_nothing_new_ends_no_hold(fleet: Fleet) -> None:
    """There is nothing to give the cluster but what it is held against."""
    fleet.go_back()
    fleet.repository.commit({"README.md": b"Nothing of this is rendered.\n"})
    assert fleet.reconcile().code == 0
    assert fleet.said == ["good", "bad"]
    assert fleet.inventory()["hold"]["commit"] == fleet.commits[0]


def test_a_hold_ends_by_hand(fleet: Fleet) -> None:
    fleet.go_back("--until", "8h")
    held = held_words(fleet)
    released = fleet.argosy("cluster", "release", "member*")
    assert released.code == 0
    assert released.out.splitlines() == [
        f"cluster/member1 released: it was {held}",
        "cluster/member2 is not held",
        f"next, to give them {fleet.commits[1][:12]}:",
        "  argosy reconcile",
    ]
    assert fleet.repository.git("log", "-1", "--format=%s", "argosy/status") == "Release member1"
    assert fleet.argosy("cluster", "release", "member1").out == "cluster/member1 is not held\n"
    assert fleet.argosy("cluster", "release", "-l", "env=none").code == 2
    assert "did you mean 'member1'?" in fleet.argosy("cluster", "release", "member11").err
    assert fleet.reconcile().code == 0
    assert fleet.said == ["bad", "bad"]


def test_going_on_to_the_newest_commit_ends_a_hold_and_another_commit_moves_it(fleet: Fleet) -> None:
    fleet.go_back()
    assert fleet.release("better", "--dry-run").code == 0
    assert fleet.apply(fleet.commits[1], "--allow-older", "--cluster", "member1").code == 0
    assert "hold" not in fleet.inventory()
    assert fleet.said == ["bad", "bad"]
    fleet.reconcile()
    assert fleet.said == ["better", "better"]
    for commit in fleet.commits[:2]:
        assert fleet.apply(commit, "--allow-older", "--cluster", "member1").code == 0
        assert fleet.inventory()["hold"]["commit"] == commit


def test_a_held_cluster_refuses_a_commit_that_is_named(fleet: Fleet) -> None:
    """Whoever names a commit may not know of the hold; the newest one is given to no cluster that is held, either."""
    fleet.release("worse")
    fleet.go_back("--reason", "orders are lost")
    refused = fleet.apply(fleet.commits[1], "--cluster", "member1")
    assert refused.code == 1
    assert refused.out.splitlines()[3:] == [
        "OBJECT   CLUSTER   ACTION   REASON        MESSAGE",
        f"-        member1   failed   ClusterHeld   'member1' is {held_words(fleet)}; it gets no other commit",
        "",
        (
            "hint for ClusterHeld: it ends with a newer source, or by hand: argosy cluster release member1; "
            "--allow-older holds it at this one"
        ),
    ]
    assert fleet.said == ["good", "worse"]
    assert fleet.apply(fleet.commits[2]).code == 0
    assert fleet.said == ["good", "worse"]
    assert fleet.apply(fleet.commits[0], "--cluster", "member1").code == 0


def test_a_dry_run_and_an_observation_hold_nothing(fleet: Fleet) -> None:
    before = fleet.repository.git("rev-parse", "argosy/status")
    asked = fleet.go_back("--dry-run")
    assert (asked.code, "held" in asked.out + asked.err) == (1, False)
    assert fleet.argosy("diff", fleet.commits[0], "--live", "--kubeconfigs", str(fleet.kubeconfigs)).code == 1
    assert fleet.repository.git("rev-parse", "argosy/status") == before


def test_drift_is_healed_to_the_commit_that_a_cluster_is_held_at(fleet: Fleet) -> None:
    fleet.go_back()
    drifted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"said": "by hand"}}
    path = f"{PATH}?fieldManager=kubectl&force=true"
    fleet.members["member1"].request("PATCH", path, drifted, content_type="application/apply-patch+yaml")
    assert fleet.said == ["by hand", "bad"]
    fleet.reconcile()
    assert fleet.said == ["good", "bad"]


def test_every_view_names_a_hold(fleet: Fleet) -> None:
    fleet.go_back("--reason", "orders are lost", "--until", "8h")
    recorded = fleet.inventory()["hold"]
    part = {
        "at": fleet.commits[0],
        "by": recorded["by"],
        "since": recorded["since"],
        "because": "orders are lost",
        "until": recorded["until"],
    }
    words = held_words(fleet)
    ended = fleet.reconcile()
    hint = "hint: no newer source ends it; it ends at that time, or by hand: argosy cluster release member1"
    assert f"member1 is {words}\n  {hint}\n" in ended.err
    assert [line.split()[-2:] for line in ended.out.splitlines() if line.startswith("member")] == [
        ["Converged,", "held"],
        ["0", "Converged"],
    ]
    document = json.loads(fleet.reconcile("-o", "json").out)
    assert document["held"] == {"member1": part}
    assert document["clusters"]["member1"]["held"] == part
    assert document["next"] == {"at": recorded["until"], "what": "the hold on member1 ends"}
    status = fleet.status()
    assert status["clusters"]["member1"]["held"] == part
    assert (status["clusters"]["member1"]["applied"], status["clusters"]["member1"]["reason"]) == (False, "Held")
    assert "held" not in status["clusters"]["member2"]
    shown = fleet.argosy("status")
    assert shown.code == 1
    assert f"member1: not applied: it is {words}\n  {hint}\n" in shown.out
    assert f"it is {words}" in fleet.argosy("status", "cluster/member1").out
    live = ["diff", "--live", "--kubeconfigs", str(fleet.kubeconfigs)]
    assert f"member1: equal (compared with that: it is {words})\n" in fleet.argosy(*live).out
    assert json.loads(fleet.argosy(*live, "-o", "json").out)["clusters"]["member1"]["held"] == part
    waited = fleet.argosy("wait", "cluster/member1", "--timeout", "0s")
    assert waited.code == 1
    assert f"member1: not applied: it is {words}" in waited.out + waited.err


def test_members_are_not_called_equal_without_a_word_on_what_is_not_rendered_yet(fleet: Fleet) -> None:
    live = ["diff", "--live", "--kubeconfigs", str(fleet.kubeconfigs)]
    rendered = fleet.repository.git("rev-parse", "HEAD")[:12]
    assert fleet.argosy(*live) == Ended(0, "member1: equal\nmember2: equal\n", "")
    newest = fleet.repository.commit({"a.yaml": a_config_map("a", namespace=SPACE, said="next")})[:12]
    assert fleet.argosy(*live) == Ended(
        0,
        "member1: equal\nmember2: equal\n",
        (
            f"warning: clusters are compared with {fleet.rendered[:12]}, which holds source {rendered}, but the newest"
            f" source is {newest}: run argosy reconcile\n"
            f"  hint: argosy diff {rendered} HEAD shows what is not compared here\n"
        ),
    )
    assert fleet.argosy(*live[:2], fleet.rendered, *live[2:]).err == ""


def test_a_diff_says_whether_a_change_ends_a_hold(fleet: Fleet) -> None:
    fleet.go_back("--reason", "orders are lost")
    words = held_words(fleet)
    assert f"\nHELD\n  ! member1 is {words}\n      nothing here ends the hold\n" in fleet.argosy("diff").out
    again = fleet.argosy("diff", "HEAD~1", "HEAD").out
    assert f"\nHELD\n  ! member1 is {words}\n      nothing here ends the hold\n" in again
    fleet.repository.write({"a.yaml": a_config_map("a", namespace=SPACE, said="better")})
    ending = f"this ends the hold: member1 gets all that was rendered since {fleet.commits[0][:12]}"
    assert f"\nHELD\n  ! member1 is {words}\n      {ending}\n" in fleet.argosy("diff").out
    document = json.loads(fleet.argosy("diff", "-o", "json").out)
    assert (document["held"]["member1"]["because"], document["endsHolds"]) == ("orders are lost", ["member1"])
    markdown = fleet.argosy("diff", "-o", "markdown").out
    assert "**Held (1)**" in markdown
    assert "this ends the hold" in markdown


def test_the_last_good_commit_leaves_a_held_cluster_where_it_is(fleet: Fleet) -> None:
    """A newer source that is refused has rendered nothing, and ends no hold."""
    fleet.go_back()
    fleet.repository.commit({"broken.yaml": b"apiVersion: v1\nkind: [\n"})
    assert fleet.reconcile().code == 3
    assert fleet.said == ["good", "bad"]
    assert "hold" in fleet.inventory()


def test_a_hold_ends_at_its_time(fleet: Fleet) -> None:
    fleet.go_back("--until", "2s")
    until, words = fleet.inventory()["hold"]["until"], held_words(fleet)
    first = fleet.reconcile()
    assert first.code == 0
    if epoch_text(time.time()) < until:
        assert fleet.said == ["good", "bad"]
    eventually(lambda: epoch_text(time.time()) >= until, "the hold is over")
    ended = fleet.reconcile()
    assert ended.code == 0
    assert (first.err + ended.err).count(ended_words(words, "its time")) == 1
    assert fleet.said == ["bad", "bad"]
    assert "hold" not in fleet.inventory()


def test_a_hold_that_ends_during_a_pass_has_the_next_one_come(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else an idle fleet would repeat for ever that the cluster is held."""
    fleet.go_back("--until", "1h")
    until = fleet.inventory()["hold"]["until"]

    def time_of_end(*given: Any, **known: Any) -> datetime:
        return given_or_current_time(*given, **known) + timedelta(hours=0 if given else 2)

    monkeypatch.setattr(reconcile_pass, "given_or_current_time", time_of_end)
    assert fleet.reconcile().code == 0
    checkpoint = read_checkpoint(open_repository(fleet.repository.path))
    assert checkpoint is not None
    assert checkpoint.next_flip == until


def test_a_hold_for_longer_than_there_are_dates_ends_with_the_last_one(fleet: Fleet) -> None:
    assert fleet.go_back("--until", "99999999999h").code == 0
    assert fleet.inventory()["hold"]["until"] == "9999-12-31T23:59:59Z"
    assert fleet.reconcile().code == 0
    assert fleet.said == ["good", "bad"]


def test_a_lost_status_branch_has_held_nothing_and_the_next_pass_says_so(fleet: Fleet) -> None:
    fleet.go_back()
    fleet.repository.git("branch", "-D", "argosy/status")
    ended = fleet.reconcile()
    assert (
        "the status branch 'argosy/status' was lost, and with it what was held: no cluster is held any more"
        in ended.err
    )
    assert fleet.said == ["bad", "bad"]
    assert "was lost" not in fleet.reconcile().err
    fleet.repository.git("branch", "-D", "argosy/status")
    lost = "the status branch 'argosy/status' was lost, and with it what was held: no"
    assert f"{lost} cluster is held any more\n" in fleet.go_back("--dry-run").err
    assert f"{lost} other cluster is held any more\n" in fleet.go_back().err
    assert fleet.inventory()["hold"]["commit"] == fleet.commits[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--reason", "x"], "--reason goes with --allow-older, which holds clusters at a commit"),
        (
            ["--until", "2026-01-01T00:00:00Z", "--allow-older"],
            "2026-01-01T00:00:00Z is over, so that nothing would be",
        ),
        (["--until", "0s", "--allow-older"], "is over, so that nothing would be held"),
        (["--until", "soon", "--allow-older"], "write a time, such as 2026-03-01T14:05:00Z, a duration"),
    ],
    ids=["no flag", "past", "no duration", "no time"],
)
def test_options_that_hold_nothing_are_refused(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = Repository.create(tmp_path / "fleet")
    fleet.commit({"member1.yaml": a_cluster("member1")})
    ended = argosy(fleet, capsys, "apply", *words)
    assert ended.code == 2
    assert told in ended.err


def test_the_newest_commit_is_held_only_if_somebody_says_until_when(fleet: Fleet) -> None:
    ended = fleet.apply("--allow-older", "--reason", "x")
    assert ended.code == 3
    assert f"{fleet.commits[1][:12]} is the newest rendered commit, which clusters get in any case" in ended.err
    assert "hint: --until says for how long newer ones are kept out" in ended.err


def assert_held_at_newest(fleet: Fleet) -> None:
    """Before, clusters that have the newest commit were said not to have it, and not to be well."""
    shown = fleet.argosy("status")
    assert shown.code == 0
    assert "not applied" not in shown.out
    hint = "hint: no newer source and no time ends it; it ends by hand: argosy cluster release member1"
    assert f"\nmember1: {held_words(fleet)}\n  {hint}\n" in shown.out
    assert {line.split()[-1] for line in shown.out.splitlines() if line.startswith(("member1 ", "member2 "))} == {
        "Held"
    }
    document = fleet.status()["clusters"]["member1"]
    assert (document["applied"], document["held"]["because"], "reason" in document) == (True, "holidays", False)
    assert f"\n{held_words(fleet)}\n  {hint}\n" in fleet.argosy("status", "cluster/member1").out
    assert fleet.argosy("wait", "cluster/member1", "--timeout", "0s").code == 0


def test_a_fleet_is_frozen_where_it_is_and_drift_is_healed_meanwhile(fleet: Fleet) -> None:
    """Whoever wanted that was told to name an earlier commit, and so to go back."""
    words = ("argosy/rendered", "--allow-older", "--until", "released", "--reason", "holidays")
    assert fleet.apply(*words).code == 0
    assert_held_at_newest(fleet)
    new = a_policy("new", selectors=[{**SELECTED, "name": "b"}], placement=on_clusters(*NAMES), namespace=SPACE)
    fleet.repository.commit({"b.yaml": a_config_map("b", namespace=SPACE), "new.yaml": new})
    assert fleet.release("better").code == 0
    assert fleet.said == ["bad", "bad"]
    assert [fleet.members[name].read(PATH[:-1] + "b") for name in NAMES] == [None, None]
    patch = {"data": {"said": "drift"}}
    fleet.members["member2"].request("PATCH", f"{PATH}?fieldManager=kubectl-edit", patch, content_type=MERGE_PATCH)
    assert fleet.reconcile().code == 0
    assert fleet.said == ["bad", "bad"]
    shown = fleet.argosy("status")
    assert (shown.code, shown.out.count("not applied: it is held at")) == (1, 2)
    assert "holidays" in shown.out
    assert fleet.argosy("cluster", "release", *NAMES).code == 0
    assert fleet.reconcile().code == 0
    assert fleet.said == ["better", "better"]
    assert all(fleet.members[name].read(PATH[:-1] + "b") for name in NAMES)


def a_pulling_fleet(path: Path) -> tuple[MemoryFleet, str]:
    """A fleet of one member that pulls, whose object said "good" at the first commit and says "bad" now."""
    policy = a_policy(selectors=[SELECTED], placement=on_clusters("member1"), namespace=SPACE)
    files = {"policy.yaml": policy, "a.yaml": a_config_map("a", namespace=SPACE, said="good")}
    fleet = MemoryFleet.create(path / "fleet", {"member1": None}, files, by_agent=True)
    fleet.run()
    first = fleet.repository.git("rev-parse", "argosy/rendered")
    change_and_run(fleet, "bad")
    return fleet, first


def change_and_run(fleet: MemoryFleet, said: str) -> None:
    fleet.repository.commit({"a.yaml": a_config_map("a", namespace=SPACE, said=said)})
    fleet.run()


def text_in(fleet: MemoryFleet) -> str:
    return str(fleet.members["member1"].read(PATH)["data"]["said"])


def mirrored(fleet: MemoryFleet) -> str:
    """The rendered commit that the mirror has."""
    return fleet.repository.git("log", "-1", "--format=%(trailers:key=Argosy-Rendered,valueonly)", MIRROR).strip()


def test_the_mirror_of_a_held_member_goes_back_and_is_not_advanced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reports of its agent leave the hold as it is, for the agent knows of none."""
    fleet, first = a_pulling_fleet(tmp_path)
    assert text_in(fleet) == "bad"
    ended = argosy(fleet.repository, capsys, "apply", first, "--allow-older")
    assert (ended.code, "member1 is held at" in ended.err) == (0, True)
    assert mirrored(fleet) == first
    for _ in range(2):
        fleet.run()
        assert (text_in(fleet), mirrored(fleet)) == ("good", first)
    assert fleet.recorded("inventory/member1.yaml")["hold"]["commit"] == first
    status = json.loads(argosy(fleet.repository, capsys, "status", "-o", "json").out)
    assert status["clusters"]["member1"]["reason"] == "Held"
    document = json.loads(argosy(fleet.repository, capsys, "reconcile", "-o", "json").out)
    assert document["held"]["member1"]["at"] == first
    words = str(ClusterHold(**fleet.recorded("inventory/member1.yaml")["hold"]))
    fleet.repository.commit({"a.yaml": a_config_map("a", namespace=SPACE, said="better")})
    ended = argosy(fleet.repository, capsys, "-q", "reconcile", "-o", "json")
    source = fleet.repository.git("rev-parse", "HEAD")[:12]
    assert ended.err == f"warning: {ended_words(words, f'source {source}')}\n"
    assert json.loads(ended.out)["endedHolds"]["member1"]["endedBy"] == f"source {source}"
    assert "hold" not in fleet.recorded("inventory/member1.yaml")
    assert argosy(fleet.repository, capsys, "-q", "reconcile").err == ""
    fleet.run()
    assert text_in(fleet) == "better"


def test_members_that_are_held_at_one_commit_have_it_read_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every commit of a hold is a whole tree: of a hundred members it would be read a hundred times."""
    policy = a_policy(selectors=[SELECTED], placement=on_clusters("member1", "member2"), namespace=SPACE)
    files = {"policy.yaml": policy, "a.yaml": a_config_map("a", namespace=SPACE, said="good")}
    fleet = MemoryFleet.create(tmp_path / "fleet", {"member1": None, "member2": None}, files, by_agent=True)
    fleet.run()
    first = fleet.repository.git("rev-parse", "argosy/rendered")
    change_and_run(fleet, "bad")
    read = list[str]()

    def counted(repository: Any, commit: str) -> Any:
        read.append(commit)
        return read_previous(repository, commit)

    monkeypatch.setattr(mirrors, "read_previous", counted)
    assert argosy(fleet.repository, capsys, "apply", first, "--allow-older").code == 0
    assert (mirrored(fleet), set(read)) == (first, {first})
    read.clear()
    assert argosy(fleet.repository, capsys, "reconcile").code == 0
    assert read == [first]


def test_the_mirror_of_a_member_that_is_held_until_released_outlasts_newer_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet, first = a_pulling_fleet(tmp_path)
    argosy(fleet.repository, capsys, "apply", first, "--allow-older", "--until", "released")
    for said in ("better", "best"):
        change_and_run(fleet, said)
        assert (text_in(fleet), mirrored(fleet)) == ("good", first)
    assert argosy(fleet.repository, capsys, "cluster", "release", "member1").code == 0
    fleet.run()
    assert text_in(fleet) == "best"


def test_a_merged_proposal_ends_no_hold_of_its_own_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The merge has no trailers, so that its source was taken for a newer one, and the mirror went on."""
    fleet, first = a_pulling_fleet(tmp_path)
    newest, git = fleet.repository.git("rev-parse", "argosy/rendered"), fleet.repository.git
    merge = git("commit-tree", f"{newest}^{{tree}}", "-p", first, "-p", newest, "-m", "Merge pull request #7")
    git("update-ref", "refs/heads/argosy/rendered", merge)
    assert argosy(fleet.repository, capsys, "apply", first, "--allow-older").code == 0
    assert mirrored(fleet) == first
    ended = argosy(fleet.repository, capsys, "-q", "reconcile", "-o", "json")
    assert (ended.err, mirrored(fleet)) == ("", first)
    document = json.loads(ended.out)
    assert ("endedHolds" in document, document["held"]["member1"]["at"]) == (False, first)
    assert "nothing here ends the hold" in argosy(fleet.repository, capsys, "diff").out


def test_the_mirror_of_a_held_member_goes_on_at_the_end_of_a_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet, first = a_pulling_fleet(tmp_path)
    assert argosy(fleet.repository, capsys, "apply", first, "--allow-older", "--until", "2s").code == 0
    assert mirrored(fleet) == first
    until = fleet.recorded("inventory/member1.yaml")["hold"]["until"]
    said = argosy(fleet.repository, capsys, "-q", "reconcile").err
    if epoch_text(time.time()) < until:
        assert (said, mirrored(fleet)) == ("", first)
    eventually(lambda: epoch_text(time.time()) >= until, "the hold is over")
    said += argosy(fleet.repository, capsys, "-q", "reconcile").err
    assert said.count("member1 is no longer held (ended by its time)") == 1
    assert mirrored(fleet) == fleet.repository.git("rev-parse", "argosy/rendered")
    assert "hold" not in fleet.recorded("inventory/member1.yaml")


def test_a_member_that_pulls_goes_on_once_it_is_released(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet, first = a_pulling_fleet(tmp_path)
    argosy(fleet.repository, capsys, "apply", first, "--allow-older")
    fleet.run()
    assert text_in(fleet) == "good"
    assert argosy(fleet.repository, capsys, "cluster", "release", "member1").code == 0
    fleet.run()
    assert text_in(fleet) == "bad"


def test_what_newer_sources_move_to_a_cluster_that_outlasts_them_stays_where_it_is(fleet: Fleet) -> None:
    """Each of them is kept out, so that the only copy would be gone with the first or with the next."""
    other = a_policy("other", selectors=[{**SELECTED, "name": "b"}], placement=on_clusters("member2"), namespace=SPACE)
    fleet.repository.commit({"b.yaml": a_config_map("b", namespace=SPACE), "other.yaml": other})
    assert fleet.reconcile().code == 0
    assert fleet.go_back("--until", "released").code == 0
    other["spec"]["placement"] = on_clusters("member1")
    fleet.repository.commit({"other.yaml": other})
    for said in ("better", "best"):
        assert "it leaves once the hold has ended" in fleet.release(said).out
        assert fleet.members["member2"].read(PATH[:-1] + "b")
    fleet.argosy("cluster", "release", "member1")
    assert fleet.reconcile().code == 0
    assert [bool(fleet.members[name].read(PATH[:-1] + "b")) for name in NAMES] == [True, False]


def test_what_moves_to_held_clusters_alone_stays_where_it_is(fleet: Fleet) -> None:
    """A held cluster does not have it, so the only copy would be gone."""
    other = a_policy("other", selectors=[{**SELECTED, "name": "b"}], placement=on_clusters("member2"), namespace=SPACE)
    fleet.repository.commit({"b.yaml": a_config_map("b", namespace=SPACE), "other.yaml": other})
    assert fleet.reconcile().code == 0
    assert fleet.members["member2"].read(PATH[:-1] + "b")
    other["spec"]["placement"] = on_clusters("member1")
    fleet.repository.commit({"other.yaml": other})
    assert fleet.argosy("render", "--commit").code == 0
    assert fleet.go_back().code == 0
    ended = fleet.reconcile()
    assert fleet.members["member2"].read(PATH[:-1] + "b"), ended.err
    assert f"it is to be in member1, which is {held_words(fleet)}, and is in no other cluster yet" in ended.out
    fleet.argosy("cluster", "release", "member1")
    assert fleet.reconcile().code == 0
    assert [bool(fleet.members[name].read(PATH[:-1] + "b")) for name in NAMES] == [True, False]


def moved_to_member1(fleet: Fleet) -> Callable[[], list[bool]]:
    """Move an object and what it names from member2 to member1, and return who has both."""
    policy = a_policy("other", selectors=[{**SELECTED, "name": "b"}], placement=on_clusters("member2"), namespace=SPACE)
    fleet.repository.commit({"b.yaml": a_config_map("b", namespace=SPACE), "other.yaml": policy})
    assert fleet.reconcile().code == 0
    policy["spec"]["placement"] = on_clusters("member1")
    fleet.repository.commit({"other.yaml": policy})
    assert fleet.reconcile().code == 0
    return lambda: [bool(fleet.members[name].read(PATH[:-1] + "b")) for name in NAMES]


def test_going_back_keeps_the_last_copy_of_what_has_moved_there_since(fleet: Fleet) -> None:
    """Its only copy was deleted, for the older commit has it in a cluster that did not go back."""
    where = moved_to_member1(fleet)
    assert where() == [True, False]
    ended = fleet.apply("argosy/rendered~1", "--allow-older", "--cluster", "member1")
    assert (where(), ended.code) == ([True, False], 0), ended.out
    assert "LastCopy" in ended.out
    assert "it came here since, and would be in no cluster" in ended.out
    assert "--allow-removal member1=1" in ended.out
    assert fleet.reconcile().code == 0
    assert where() == [True, False]
    assert "LastCopy" in fleet.argosy("status").out
    fleet.argosy("cluster", "release", "member1")
    assert fleet.reconcile().code == 0
    assert where() == [True, False]


def test_a_last_copy_goes_back_with_the_cluster_that_had_it_or_where_somebody_allows_it(fleet: Fleet) -> None:
    where = moved_to_member1(fleet)
    assert fleet.apply("argosy/rendered~1", "--allow-older").code == 0
    assert where() == [False, True]
    assert fleet.apply("argosy/rendered", "--allow-older").code == 0
    assert where() == [True, False]
    words = ("argosy/rendered~1", "--allow-older", "--cluster", "member1", "--allow-removal", "member1=1")
    assert fleet.apply(*words).code == 0
    assert where() == [False, False]
    assert "InNoCluster" in fleet.argosy("status").out


def test_what_the_source_dropped_is_no_last_copy_of_a_held_cluster(fleet: Fleet) -> None:
    where = moved_to_member1(fleet)
    assert fleet.apply("argosy/rendered~1", "--allow-older", "--cluster", "member1", "--until", "released").code == 0
    assert where() == [True, False]
    fleet.repository.commit({"b.yaml": None, "other.yaml": None})
    assert fleet.reconcile().code == 0
    assert where() == [False, False]


def test_a_member_that_pulls_goes_back_only_if_somebody_allows_its_last_copies_to_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its agent sees one folder, and would delete what another cluster had at that commit."""
    placed = a_policy(selectors=[SELECTED], placement=on_clusters("member2"), namespace=SPACE)
    files = {"policy.yaml": placed, "a.yaml": a_config_map("a", namespace=SPACE, said="good")}
    fleet = MemoryFleet.create(tmp_path / "fleet", {"member1": None, "member2": None}, files, by_agent=True)
    fleet.run()
    first = fleet.repository.git("rev-parse", "argosy/rendered")
    placed["spec"]["placement"] = on_clusters("member1")
    fleet.repository.commit({"policy.yaml": placed})
    fleet.run()
    assert text_in(fleet) == "good"
    words = ("apply", first, "--allow-older", "--cluster", "member1")
    ended = argosy(fleet.repository, capsys, *words)
    assert (ended.code, f"  member1: ConfigMap {SPACE}/a\n" in ended.err) == (6, True)
    assert "hint: if it is meant: --allow-removal member1=1" in ended.err
    assert argosy(fleet.repository, capsys, *words, "--allow-removal", "member1=1").code == 0
    assert mirrored(fleet) == first
