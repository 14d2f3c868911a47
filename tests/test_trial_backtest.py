"""PolicyTests say what a backtest of the present policies and settings over the recorded past must come to."""

import json
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from reconciler.backtest.sources import SourceReader
from reconciler.branches.reading import ObservedInputs, Source
from reconciler.source.expected_backtests import ExpectedBacktest
from reconciler.trial.backtests import BacktestFindings, mismatches_of_backtest
from render.admission import admit
from render.errors import InputError
from render.timing import parse_instant
from tests.backtesting import LONG_AGO, commit_at
from tests.build import Repository, a_cluster, a_deployment, argosy
from tests.simulation import MINUTE
from tests.tables import each_row
from tests.test_backtest import MODEST, placed_on

SINCE = "2020-01-01T00:00:00Z"
UNTIL = "2020-01-01T01:00:00Z"


def a_test(expected: Any = None, since: str = SINCE, **more: Any) -> dict[str, Any]:
    """A test that asks for a backtest alone; ``more`` are further fields of it, or of the test by ``spec``."""
    spec = more.pop("spec", {})
    backtest = {"since": since, "expect": {"asItWas": True} if expected is None else expected, **more}
    document = {"apiVersion": "argosy.dev/v1alpha1", "kind": "PolicyTest", "metadata": {"name": "past"}}
    return {**document, "spec": {"backtest": backtest, **spec}}


@pytest.fixture
def lived(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A fleet whose web server went from oslo and paris to rome, and half an hour later back again."""
    made = Repository.create(tmp_path / "fleet")
    for minute, clusters in enumerate([("oslo", "paris"), ("oslo", "rome"), ("oslo", "paris")]):
        commit_at(made, {**MODEST, "policy.yaml": placed_on(*clusters)}, LONG_AGO + 30 * minute * MINUTE)
        assert argosy(made, capsys, "-q", "reconcile", "--bootstrap").code == 0
    return made


SUMS = {"movedReplicas": 4, "evictions": 0, "flaps": 1, "unscheduledMinutes": 0.0, "replicaMinutesNotReady": 0.0}
STILL = {**SUMS, "movedReplicas": 0, "flaps": 0}


def results(repository: Repository, capsys: pytest.CaptureFixture[str], test: Any, **files: Any) -> Any:
    """The one test's result as JSON, with the files of the work tree as what is proposed."""
    repository.write({"past_test.yaml": test, **{f"{name}.yaml": each for name, each in files.items()}})
    ended = argosy(repository, capsys, "test", "-o", "json")
    assert ended.err == ""
    (found,) = json.loads(ended.out)["tests"]
    assert ended.code == (0 if found["passed"] else 1)
    return found


def messages(found: Any) -> list[str]:
    return [f"{each['field']}: {each['message']}" for each in found["mismatches"]]


def test_the_present_files_are_what_is_proposed(lived: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Half an hour had another policy: with the present one nothing would have moved, and one commit is another."""
    found = results(lived, capsys, a_test({"movedReplicas": {"atMost": 0}, "flaps": {"atMost": 0}}, until=UNTIL))

    assert found == {
        "name": "past",
        "path": "past_test.yaml",
        "passed": True,
        "mismatches": [],
        "backtest": {
            "since": SINCE,
            "until": UNTIL,
            "renderedCommits": 3,
            "identical": 2,
            "really": SUMS,
            "replayed": STILL,
        },
    }


def test_what_is_uncommitted_is_proposed_and_a_commit_is_tested_as_it_is(
    lived: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    lived.commit({"past_test.yaml": a_test({"movedReplicas": {"atMost": 0}}, until=UNTIL)})
    lived.write({"policy.yaml": placed_on("rome")})
    working, committed = (
        json.loads(argosy(lived, capsys, "test", *words, "-o", "json").out)["tests"][0]["backtest"]
        for words in ((), ("--rev", "HEAD"))
    )
    assert (working["identical"], committed["identical"]) == (0, 2)
    assert (working["replayed"], committed["replayed"]) == (STILL, STILL)


def test_a_policy_that_was_removed_since_counts_as_long_as_it_stood(
    lived: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    (lived.path / "policy.yaml").unlink()
    found = results(lived, capsys, a_test({"asItWas": True}, until=UNTIL))
    assert (found["passed"], found["backtest"]["replayed"]) == (True, SUMS)


def test_clusters_and_templates_are_those_of_each_time(lived: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """The policy is what decided: a cluster that is drained now, and an app that is scaled now, were not so then."""
    lived.write({"policy.yaml": placed_on("oslo", "paris")})
    plain = results(lived, capsys, a_test({"asItWas": False}, until=UNTIL))
    files = {"web": a_deployment("web", replicas=9), "clusters/oslo": a_cluster("oslo", taints=DRAINED)}
    assert results(lived, capsys, a_test({"asItWas": False}, until=UNTIL), **files) == plain


DRAINED = [{"key": "drained", "effect": "NoExecute"}]


HERE = "spec.backtest.expect"
JUDGED: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("all limits at once", {"movedReplicas": {"atMost": 0, "atLeast": 0, "noMoreThanReally": True}}, []),
    ("other commits", {"asItWas": False}, []),
    ("not as it was", {"asItWas": True, "flaps": {"atLeast": 1}}, [
        f"{HERE}.asItWas: want all as they really were, got 2 of 3 rendered commits; the first that is not is COMMIT",
        "spec.backtest.expect.flaps.atLeast: want at least 1, got 0, really 1",
    ]),
    ("minutes and evictions", {"unscheduledMinutes": {"atLeast": 2}, "evictions": {"atMost": 0}}, [
        "spec.backtest.expect.unscheduledMinutes.atLeast: want at least 2, got 0, really 0",
    ]),
    ("replica minutes", {"replicaMinutesNotReady": {"atLeast": 1}}, [
        "spec.backtest.expect.replicaMinutesNotReady.atLeast: want at least 1, got 0, really 0",
    ]),
)  # fmt: skip


@pytest.mark.parametrize(("why", "expected", "says"), JUDGED, ids=[each[0] for each in JUDGED])
def test_each_expectation_is_judged(
    why: str, expected: dict[str, Any], says: list[str], lived: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rendered = lived.git("rev-parse", "argosy/rendered~1").strip()[:12]
    found = results(lived, capsys, a_test(expected, until=UNTIL))
    assert messages(found) == [each.replace("COMMIT", rendered) for each in says], why


def test_more_than_really_happened_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A policy that was there all the time moves nothing; the one that takes its place moves all when it comes."""
    still = Repository.create(tmp_path / "still")
    for minute in range(2):
        web = a_deployment("web", replicas=4, image=f"web:{minute}")
        files = {**MODEST, "web.yaml": web, "policy.yaml": placed_on("oslo", "paris")}
        commit_at(still, files, LONG_AGO + minute * MINUTE)
        assert argosy(still, capsys, "-q", "reconcile", "--bootstrap").code == 0
    test = a_test({"movedReplicas": {"noMoreThanReally": True, "atMost": 1}}, since="2020-01-01T00:00:30Z")
    found = results(still, capsys, test, policy=placed_on("oslo", "rome"))

    assert messages(found) == [
        "spec.backtest.expect.movedReplicas.atMost: want at most 1, got 2, really 0",
        "spec.backtest.expect.movedReplicas.noMoreThanReally: want no more than there really were, got 2, really 0",
    ]
    assert results(still, capsys, a_test(), policy=placed_on("oslo", "paris"))["passed"]


def test_settings_of_the_test_count_in_it(lived: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody takes the web server where a cluster has to have told its APIs, for nobody ever told any."""
    (lived.path / "policy.yaml").unlink()
    tried = {"given": {"argosy": {"spec": {"requireRecordedAPIs": True}}}}
    found = results(lived, capsys, a_test({"unscheduledMinutes": {"atMost": 59}}, until=UNTIL, spec=tried))
    assert messages(found) == [f"{HERE}.unscheduledMinutes.atMost: want at most 59, got 60, really 0"]
    assert (found["backtest"]["identical"], found["backtest"]["replayed"]) == (0, {**STILL, "unscheduledMinutes": 60.0})


TEXT = f"""\
FAIL  past  past_test.yaml
      backtest from {SINCE} to {UNTIL}: 2 of 3 rendered commits as really; replicas that moved 4 -> 0,\
 flaps 1 -> 0
      past_test.yaml:12: spec.backtest.expect.flaps.atLeast: want at least 1, got 0, really 1
0 passed, 1 failed; exercised 0 of 1 propagation policy, 0 of 0 override rules
  not exercised: PropagationPolicy default/web
"""


def test_text_tap_and_junit_say_the_same(lived: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    lived.write({"past_test.yaml": a_test({"flaps": {"atLeast": 1}}, until=UNTIL)})
    text, tap, junit = (argosy(lived, capsys, "test", *words) for words in ((), ("-o", "tap"), ("-o", "junit")))
    line = "spec.backtest.expect.flaps.atLeast: want at least 1, got 0, really 1"
    number = next(
        number
        for number, each in enumerate((lived.path / "past_test.yaml").read_text().splitlines(), start=1)
        if "atLeast" in each
    )

    assert text.out == TEXT.replace("past_test.yaml:12", f"past_test.yaml:{number}")
    assert f'    - "past_test.yaml:{number}: {line}"' in tap.out
    (failure,) = ET.fromstring(junit.out).iter("failure")
    assert (failure.get("message"), failure.text) == (line, f"past_test.yaml:{number}: {line}")


def test_what_is_so_is_written_into_the_test(lived: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    lived.write({"past_test.yaml": a_test({"asItWas": True, "flaps": {"atLeast": 3}}, until=UNTIL)})
    assert argosy(lived, capsys, "test", "--update").out == "updated past_test.yaml: 2 expectations\n"
    found = results_of_file(lived, capsys)
    assert (found["passed"], found["mismatches"]) == (True, [])


def results_of_file(repository: Repository, capsys: pytest.CaptureFixture[str]) -> Any:
    (found,) = json.loads(argosy(repository, capsys, "test", "-o", "json").out)["tests"]
    return found


def test_a_fleet_of_which_nothing_is_rendered_is_answered_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = Repository.create(tmp_path / "fleet")
    fleet.commit({**MODEST, "policy.yaml": placed_on("oslo")})
    found = results(fleet, capsys, a_test())
    words = "nothing is rendered yet: there is no branch 'argosy/rendered': argosy reconcile --bootstrap"
    assert messages(found) == [f"spec.backtest.since: {words}"]
    assert "backtest" not in found


def test_a_time_of_which_nothing_is_recorded_is_answered_in_words(
    lived: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert messages(results(lived, capsys, a_test(since="1d"))) == [
        "spec.backtest.since: nothing is recorded of that time"
    ]


def test_a_shallow_clone_says_what_brings_the_rest(
    lived: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a time that is not all here nothing is said, whatever the rest comes to."""
    lived.commit({"past_test.yaml": a_test({"movedReplicas": {"atMost": 0}}, until=UNTIL)})
    words = ["git", "clone", "-q", "--depth", "2", "--no-single-branch", f"file://{lived.path}", str(tmp_path / "few")]
    subprocess.run(words, check=True, timeout=60)
    found = results_of_file(Repository(tmp_path / "few"), capsys)
    assert [each["field"] for each in found["mismatches"]] == ["spec.backtest.since"]
    assert found["mismatches"][0]["message"] == (
        "earlier commits of that time are not in this clone; git fetch --unshallow origin"
        " '+refs/heads/*:refs/remotes/origin/*' brings them"
    )


REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no time": (a_test(since="long"), ["spec.backtest.since: 'long' is neither a duration nor a time"]),
    "an end that is none": (a_test(until="now"), ["spec.backtest.until: 'now' is no time"]),
    "the wrong order": (a_test(since=UNTIL, until=SINCE), ["spec.backtest.since: must not be after until"]),
    "a flap of no duration": (a_test(flapWithin="soon"), ["spec.backtest.flapWithin: 'soon' is no duration"]),
    "nothing": (a_test({}), ["spec.backtest.expect: expects nothing"]),
    "a count of nothing": (a_test({"flaps": {}}), ["spec.backtest.expect.flaps: expects nothing"]),
    "limits that exclude each other": (
        a_test({"flaps": {"atLeast": 2, "atMost": 1}}),
        ["spec.backtest.expect.flaps.atLeast: must not be more than atMost"],
    ),
    "a number alone": (a_test({"flaps": 0}), ["spec.backtest.expect.flaps: must be an object, not a number"]),
    "less than nothing": (
        a_test({"flaps": {"atMost": -1}}),
        ["spec.backtest.expect.flaps.atMost: must be at least 0, not -1"],
    ),
    "an unknown count": (a_test({"moves": {"atMost": 1}}), ["spec.backtest.expect.moves: unknown field"]),
    "what is given for nothing": (
        a_test(spec={"given": {"withoutClusters": ["oslo"]}}),
        ["spec.given.withoutClusters: means nothing without spec.expect"],
    ),
    "neither": ({**a_test(), "spec": {}}, ["spec.expect: required, but missing"]),
    "no time at all": (
        {**a_test(), "spec": {"backtest": {"expect": {"asItWas": True}}}},
        ["spec.backtest.since: required, but missing"],
    ),
}


@each_row(("document", "says"), REFUSED.values(), ids=list(REFUSED))
def test_what_cannot_be_meant_is_refused_with_its_field(document: dict[str, Any], says: list[str]) -> None:
    problems = admit(document).problems
    assert [f"{each.field}: {each.message}" for each in problems] == says
    assert all(each.hint or each.kind != "Invalid" or "must" in each.message for each in problems)


WRONG = """\
past_test.yaml:8: spec.backtest.since: 'a while' is neither a duration nor a time
  hint: write it as '30d' or '2026-03-01T14:05:00Z'
past_test.yaml:12: spec.backtest.expect.flaps.atLeast: must not be more than atMost
2 problems; nothing was changed
"""


def test_it_is_refused_with_its_file_line_and_hint(lived: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    test = """\
# Kept since the outage.

apiVersion: argosy.dev/v1alpha1
kind: PolicyTest
metadata: {name: past}
spec:
  backtest:
    since: a while
    expect:
      flaps:
        atMost: 1
        atLeast: 2
"""
    lived.write({"past_test.yaml": test})
    ended = argosy(lived, capsys, "test")
    assert (ended.code, ended.out, ended.err) == (3, "", WRONG)


def test_a_bug_in_the_replay_fails_the_test_and_no_other(
    lived: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciler.backtest.policy_tests.changes_to_source", lambda *_: 1 // 0)
    (message,) = messages(results(lived, capsys, a_test()))
    assert message.startswith("spec: an unexpected ZeroDivisionError in ")


def test_the_time_ends_where_the_test_says(lived: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Half an hour before its end, the fleet had moved to rome and not yet back."""
    halfway = "2020-01-01T00:30:00Z"
    lived.write({"policy.yaml": placed_on("oslo", "rome")})
    found = results(lived, capsys, a_test({"asItWas": False}, since="30m", until=halfway))["backtest"]
    assert (found["since"], found["until"], found["renderedCommits"], found["identical"]) == (SINCE, halfway, 2, 1)
    assert found["really"] == {**SUMS, "movedReplicas": 2, "flaps": 0}


def test_a_flap_is_one_within_the_time_that_the_test_says(
    lived: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    (lived.path / "policy.yaml").unlink()
    flaps = [
        results(lived, capsys, a_test(until=UNTIL, flapWithin=within))["backtest"]["replayed"]["flaps"]
        for within in ("29m", "30m")
    ]
    assert flaps == [0, 1]


def test_nothing_is_said_where_a_source_is_refused_by_now(
    lived: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit that a replay of a part keeps is not known to be kept by the whole."""
    refused = lived.git("rev-parse", "main~1").strip()
    rendered = lived.git("rev-parse", "argosy/rendered~1").strip()
    read = SourceReader.source

    def source(reader: SourceReader, commit: str, observed: ObservedInputs) -> Source:
        if commit == refused:
            raise InputError((), summary="refused")
        return read(reader, commit, observed)

    monkeypatch.setattr(SourceReader, "source", source)
    (message,) = messages(results(lived, capsys, a_test({"evictions": {"atMost": 0}}, until=UNTIL)))
    assert message == (
        "spec.backtest.since: 1 rendered commit cannot be replayed, for the source is refused now; the last one is"
        f" {rendered[:12]}, which a later time leaves out"
    )


def test_of_no_rendered_commit_it_is_not_said_that_it_came_out_as_it_was() -> None:
    begin = parse_instant(SINCE)
    assert begin is not None
    zeros = dict.fromkeys(SUMS, 0.0)
    found = BacktestFindings(since=begin, until=begin, really=zeros, replayed=zeros)
    expected = [ExpectedBacktest(since=begin, is_as_it_was=each) for each in (True, False, None)]
    message = "nothing was rendered in that time that could come out as it was"
    assert [[each.message for each in mismatches_of_backtest(one, found)] for one in expected] == [
        [message],
        [message],
        [],
    ]
    assert found.sentence == f"backtest from {SINCE} to {SINCE}: 0 of 0 rendered commits as really; nothing moved"
