"""Notifications: what is told after a pass, that it is told once, and the forms it is told in."""

import hashlib
import hmac
import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from reconciler.branches.publication import Publication
from reconciler.branches.status_branch import StatusBranch
from reconciler.console.log import Log
from reconciler.ledger.notices import MOST_TRIES, CommitState, Notice, NoticeRecord, SourceVerdict, Unsent
from reconciler.members.exchange import Failure, FailureKind
from reconciler.repository import open_repository
from reconciler.run.notices.channels import Channel, ChannelKind, OpenCluster, request_body_for_channel, send_to_channel
from reconciler.run.notices.conditions import (
    Message,
    conditions_after_pass,
    notices_of_changed_conditions,
    notices_of_healed_drift,
    verdict_on_source,
)
from reconciler.run.notices.telling import Telling
from reconciler.run.pass_job import ClusterEnd, PassReport, RolloutEnd
from reconciler.run.settings import RunSettings
from render.errors import ConfigError, GitError

from .build import Repository, a_cluster, a_config_map, a_policy
from .controllers import a_fleet, controller, pushed
from .fakes import FakeCluster
from .tables import each_row
from .waiting import eventually, joined

pytestmark = pytest.mark.waits

WELL = ClusterEnd(state="Converged")
LOST = ClusterEnd(state="Unreachable", is_reached=False, is_converged=False)
NO_PLACE = "Deployment.apps shop/web: NoClusterFit: 0 of 3 clusters fit"
ALL_WELL = PassReport(code=0, source="a" * 40, clusters={"east": WELL, "west": WELL})
WEST_LOST = replace(ALL_WELL, code=7, clusters={"east": WELL, "west": LOST})
HELD = replace(ALL_WELL, held={"west": "held at c0ffee"})
REFUSED = PassReport(
    code=6, source="b" * 40, refused="too much would leave east", clusters={"east": WELL, "west": WELL}
)
WEB = "RolloutPolicy shop/web"
GOING = RolloutEnd(
    change="c0", phase="Progressing", reason="ClustersUnderWay", next_step="waits until east comes through"
)
STUCK = replace(GOING, phase="Waiting", reason="ApprovalMissing", next_step="argosy rollout approve")
THROUGH = replace(GOING, phase="Completed", reason="EveryClusterThrough", next_step="nothing")


def rolling(end: RolloutEnd) -> PassReport:
    """A pass that leaves a rollout in a state."""
    return replace(ALL_WELL, rollouts={WEB: end})


class Course(NamedTuple):
    why: str
    passes: tuple[PassReport, ...]
    want: tuple[str, ...]


TOLD = [
    Course("nobody is told that all is well", (ALL_WELL, ALL_WELL), ()),
    Course("a cluster that is lost is told once", (ALL_WELL, WEST_LOST, WEST_LOST), ("cluster west does not answer",)),
    Course(
        "and again when it is back",
        (WEST_LOST, ALL_WELL, ALL_WELL),
        ("cluster west does not answer", "solved: cluster west does not answer"),
    ),
    Course(
        "a hold is told when it begins and when it is over",
        (ALL_WELL, HELD, HELD, replace(HELD, held=None), ALL_WELL, replace(ALL_WELL, held={})),
        ("cluster west is held at c0ffee", "solved: cluster west is held at c0ffee"),
    ),
    Course(
        "a rollout is told of when it begins, when it waits, and when it is through",
        (
            rolling(replace(THROUGH, change="old")),
            *map(rolling, (GOING, replace(GOING, next_step="waits until west comes through"), STUCK)),
            rolling(replace(STUCK, next_step="argosy rollout approve web")),
            replace(ALL_WELL, rollouts=None),
            *map(rolling, (GOING, THROUGH, THROUGH)),
        ),
        (
            f"{WEB} lets change c0 out",
            f"{WEB} is Waiting: argosy rollout approve",
            f"solved: {WEB} is Waiting: argosy rollout approve web",
            f"{WEB}: change c0 has come through all waves",
        ),
    ),
    Course(
        "a change that another one replaces goes out no more, and what it waited for is no problem that is solved",
        (*map(rolling, (STUCK, replace(GOING, change="c1"))), replace(ALL_WELL, rollouts={})),
        (
            f"{WEB} lets change c0 out",
            f"{WEB} is Waiting: argosy rollout approve",
            f"{WEB} lets change c1 out",
            f"{WEB}: change c0 goes out no more",
            f"{WEB}: change c1 goes out no more",
        ),
    ),
    Course(
        "a change that the calendar holds back is no rollout",
        (*map(rolling, (replace(STUCK, is_of_calendar=True), replace(THROUGH, is_of_calendar=True))),),
        (
            f"{WEB} holds change c0 back",
            f"{WEB} is Waiting: argosy rollout approve",
            f"{WEB}: change c0 is held back no more",
        ),
    ),
    Course(
        "a pass that did not come to the clusters says nothing of them",
        (WEST_LOST, replace(ALL_WELL, clusters={}), WEST_LOST),
        ("cluster west does not answer",),
    ),
    Course(
        "an object without a place is one for each reason, whatever its message counts",
        (
            replace(ALL_WELL, code=1, unplaced=(NO_PLACE,)),
            replace(ALL_WELL, unplaced=(NO_PLACE.replace("3", "4"),)),
            ALL_WELL,
        ),
        (NO_PLACE, f"solved: {NO_PLACE.replace('3', '4')}"),
    ),
    Course(
        "a refused source is told for each commit",
        (REFUSED, REFUSED, replace(REFUSED, source="c" * 40), ALL_WELL),
        (
            "source bbbbbbbbbbbb is refused: too much would leave east",
            "source cccccccccccc is refused: too much would leave east",
            "solved: source cccccccccccc is refused: too much would leave east",
        ),
    ),
    Course(
        "what a refused pass did not render stays as it was told",
        (replace(ALL_WELL, unplaced=(NO_PLACE,)), REFUSED),
        (NO_PLACE, "source bbbbbbbbbbbb is refused: too much would leave east"),
    ),
]


@each_row("case", TOLD, ids=lambda case: case.why)
def test_what_is_told(case: Course) -> None:
    told: dict[str, str] = {}
    said = []
    for report in case.passes:
        after = conditions_after_pass(told, report)
        notices = notices_of_changed_conditions(told, after, rollouts=report.rollouts)
        said += [str(notice) for notice in notices]
        told = after
    assert tuple(said) == case.want


def test_a_hold_that_a_newer_source_ended_is_no_problem_that_is_solved() -> None:
    words = "no longer held (ended by source abc): it was held at c0ffee: orders are lost"
    known = {"hold/west": "cluster west is held at c0ffee", "hold/east": "cluster east is held at c0ffee"}
    assert [str(each) for each in notices_of_changed_conditions(known, {}, {"west": words})] == [
        "solved: cluster east is held at c0ffee",
        f"cluster west is {words}",
    ]


def test_drift_that_was_healed_is_told_of_each_pass() -> None:
    report = replace(ALL_WELL, clusters={"east": replace(WELL, drifted=3), "west": WELL})
    assert notices_of_healed_drift(report) == (Notice(text="cluster east: drift healed, objects written again: 3"),)


def test_a_record_that_no_pass_wrote_is_none() -> None:
    assert NoticeRecord.read_or_none(b"conditions: [1]") == NoticeRecord()
    assert NoticeRecord.read_or_none(b"{") == NoticeRecord()
    assert NoticeRecord.read_or_none(b"conditions: {a: b, c: 3}\nunsent: [{id: 3}]") == NoticeRecord()


def test_a_record_that_a_newer_argosy_wrote_is_left_alone() -> None:
    """Else people would be told of everything once more, and what that one has yet to send would be lost."""
    with pytest.raises(GitError) as raised:
        NoticeRecord.read_or_none(b"conditions: {a: b}\nversion: 2\n")
    newer = "has version 2, and this Argosy knows 1 at most: a newer Argosy wrote it"
    assert raised.value.message == f"told.yaml on the status branch {newer}"


A_MESSAGE = Unsent(
    channel="slack hook",
    id="1",
    source="a",
    rendered="b",
    notices=(Notice(text="x", is_solved=True),),
    verdict=SourceVerdict(state=CommitState.PENDING, text="y"),
    tries=2,
    next_try=70,
)


def test_a_record_is_read_back_as_it_was_written() -> None:
    told = NoticeRecord(conditions={"a": "b"}, verdicts={"github token": "c"}, unsent=(A_MESSAGE,))
    assert NoticeRecord.read_or_none(told.content()) == told
    assert told.next_try == 70


def test_a_message_is_claimed_by_one_put_off_and_given_up() -> None:
    told, mine = NoticeRecord(unsent=(A_MESSAGE,)).record_with_claims_and_claimed(69, ["slack hook"])
    assert (told.unsent, mine) == ((A_MESSAGE,), ())
    told, mine = told.record_with_claims_and_claimed(70, ["slack hook"])
    assert (mine, told.record_with_claims_and_claimed(70, ["slack hook"])[1]) == (told.unsent, ())
    assert told.unsent == (replace(A_MESSAGE, tries=3, next_try=130),)
    assert told.record_after_tries(mine, lambda _: False, 75).unsent == (
        replace(A_MESSAGE, tries=3, next_try=75 + 120),
    )
    assert told.record_after_tries(mine, lambda _: True, 75).unsent == ()
    last = replace(A_MESSAGE, tries=MOST_TRIES)
    assert NoticeRecord(unsent=(last,)).record_after_tries([last], lambda _: False, 75).unsent == ()
    assert NoticeRecord(unsent=(A_MESSAGE,)).record_with_claims_and_claimed(70, ["teams hook"])[0].unsent == ()


def test_tries_are_later_each_time_and_all_within_a_day_or_so() -> None:
    gaps = [replace(A_MESSAGE, tries=tries).postponed_notice(0).next_try for tries in range(1, MOST_TRIES)]
    assert gaps[:9] == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert 20 * 3600 < sum(gaps) < 28 * 3600


def test_a_channel_that_takes_nothing_keeps_the_newest() -> None:
    others = replace(A_MESSAGE, channel="teams hook", id="t")
    told = NoticeRecord(unsent=(others,)).record_with_new(replace(A_MESSAGE, id=str(number)) for number in range(50))
    assert [each.id for each in told.unsent] == ["t", *map(str, range(30, 50))]


class Verdicts(NamedTuple):
    why: str
    report: PassReport
    want: str | None


RENDERED = replace(ALL_WELL, rendered="d" * 40)
VERDICTS = [
    Verdicts("all is well", RENDERED, "success: rendered as dddddddddddd, applied to 2 clusters"),
    Verdicts("no cluster is reached", replace(RENDERED, clusters={}), "success: rendered as dddddddddddd"),
    Verdicts("a source is refused", REFUSED, "failure: refused: too much would leave east"),
    Verdicts(
        "a cluster is silent",
        replace(WEST_LOST, rendered="d" * 40),
        "pending: rendered as dddddddddddd, applied to 1 cluster; no answer from west",
    ),
    Verdicts(
        "a cluster is held at an earlier commit",
        replace(HELD, rendered="d" * 40),
        "success: rendered as dddddddddddd, applied to 1 cluster, held back from west",
    ),
    Verdicts(
        "an object has no place",
        replace(RENDERED, code=1, unplaced=(NO_PLACE,)),
        f"failure: rendered as dddddddddddd, applied to 2 clusters; not placed: {NO_PLACE}",
    ),
    Verdicts(
        "an object failed",
        replace(RENDERED, code=1, clusters={"east": WELL, "west": replace(LOST, is_reached=True)}),
        "failure: rendered as dddddddddddd, applied to 1 cluster; incomplete in west",
    ),
    Verdicts("a pass that failed itself says nothing of the source", replace(RENDERED, code=4), None),
    Verdicts("nor one that knows none", replace(RENDERED, source=""), None),
]


@each_row("case", VERDICTS, ids=lambda case: case.why)
def test_the_verdict_on_a_source(case: Verdicts) -> None:
    verdict = verdict_on_source(case.report)
    assert (str(verdict) if verdict else None) == case.want


MESSAGE = Message(
    id="e" * 40,
    fleet="shop",
    source="a",
    rendered="b",
    notices=(Notice(text="<@U1> *x*"), Notice(text="y", is_solved=True)),
)


def test_the_forms_of_a_message() -> None:
    assert request_body_for_channel(ChannelKind.SLACK, MESSAGE) == {"text": "shop: &lt;@U1&gt; *x*\nshop: solved: y"}
    card = request_body_for_channel(ChannelKind.TEAMS, MESSAGE)["attachments"][0]["content"]
    assert [block["text"] for block in card["body"]] == ["shop: <@U1> \\*x\\*", "shop: solved: y"]
    assert request_body_for_channel(ChannelKind.WEBHOOK, MESSAGE) == {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Notification",
        "fleet": "shop",
        "source": "a",
        "rendered": "b",
        "notices": [{"text": "<@U1> *x*", "solved": False}, {"text": "y", "solved": True}],
    }


def nowhere(context: str, _deadline: float) -> Failure:
    return Failure(kind=FailureKind.CREDENTIALS, message=f"no credentials for {context}")


def a_cluster_with_events(*namespaces: str) -> FakeCluster:
    """A cluster that serves Events, as it would any kind, and has some namespaces."""
    cluster = FakeCluster()
    kind = {"kind": "Event", "plural": "events"}
    spec = {"group": "events.k8s.io", "names": kind, "scope": "Namespaced", "versions": [{"name": "v1"}]}
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    cluster.request("POST", path, {**crd, "metadata": {"name": "events.events.k8s.io"}})
    for name in namespaces:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        cluster.request("POST", "/api/v1/namespaces", body)
    return cluster


def test_notices_are_events_that_are_not_there_twice() -> None:
    cluster, channel = a_cluster_with_events("argosy-system"), Channel(kind=ChannelKind.EVENTS, context="hub")
    message = replace(MESSAGE, notices=(*MESSAGE.notices, Notice(text="é" * 600)))
    for _ in range(2):
        assert send_to_channel(channel, message, lambda *_: cluster)
    events = cluster.read("/apis/events.k8s.io/v1/namespaces/argosy-system/events")["items"]
    assert [event["metadata"]["name"] for event in events] == [f"argosy.{'e' * 40}.{index}" for index in range(3)]
    assert [(event["type"], event["reason"], event["note"]) for event in events[:2]] == [
        ("Warning", "ConditionChanged", "<@U1> *x*"),
        ("Normal", "ConditionSolved", "solved: y"),
    ]
    assert [event["regarding"]["name"] for event in events] == ["shop"] * 3
    assert len(events[2]["note"].encode()) <= 1024


@pytest.mark.parametrize(
    ("opened", "why"),
    [
        (nowhere, "no credentials for hub"),
        (
            lambda *_: a_cluster_with_events(),
            'namespaces "argosy-system" not found (the user may have to create events.events.k8s.io in ',
        ),
    ],
)
def test_events_that_nobody_takes_are_tried_again(opened: OpenCluster, why: str, tmp_path: Path) -> None:
    clock, channel = Clock(), Channel(kind=ChannelKind.EVENTS, context="hub")
    with telling(tmp_path, channel, clock=clock) as process:
        report = replace(process, send=partial(send_to_channel, open_cluster=opened)).report_after_sending(WEST_LOST)
    assert isinstance(process.log.stream, io.StringIO)
    said = process.log.stream.getvalue()
    assert "no Event could be written: " in said
    assert why in said
    assert (dict(report.notified), report.next_notice) == ({"events failed": 1}, clock.now + 30)


@pytest.mark.parametrize(
    ("kind", "content", "want"),
    [
        ("slack", "", "{} has no address in its first line"),
        ("slack", "http://hooks.example.com/x", "{} has no address in its first line"),
        ("webhook", "https://hooks.example.com/x\nshort", "{} has no secret of 16 bytes in its second line"),
    ],
)
def test_a_file_without_a_usable_address_is_refused(kind: str, content: str, want: str, tmp_path: Path) -> None:
    file = tmp_path / "address"
    file.write_text(content)
    with pytest.raises(ConfigError) as refused:
        Channel(kind=ChannelKind(kind), file=str(file)).read()
    assert refused.value.message == want.format(file)


SECRET = "a secret of enough bytes"


@dataclass
class Receiver:
    """An address on loopback, and the headers and the body of each message that was sent there."""

    address: str = ""
    status: int = 200
    answer: bytes = b"{}"
    paths: list[str] = field(default_factory=list)
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [each["text"] for _, body in self.received for each in json.loads(body)["notices"]]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.paths.append(self.path)
            receiver.received.append((dict(self.headers.items()), body))
            self.send_response(receiver.status)
            self.send_header("Content-Length", str(len(receiver.answer)))
            self.end_headers()
            self.wfile.write(receiver.answer)

        def log_message(self, *_words: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.address = f"http://127.0.0.1:{server.server_address[1]}/hook?x=1"
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.02))
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        joined(thread)
        server.server_close()


@dataclass
class Clock:
    """A time of day that a test sets."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def telling(folder: Path, *channels: Channel, clock: Clock, remote: str = "") -> Iterator[Telling]:
    """The telling of a fleet by one process: another has another clone, and the same status branch."""
    if not (folder / "fleet").exists():
        Repository.create(folder / "fleet").commit({"a.yaml": a_config_map("a")})
    with open_repository(folder / "fleet") as opened:
        status = StatusBranch(publication=Publication(repository=opened), branch="argosy/status")
        log = Log(stream=io.StringIO())
        send = partial(send_to_channel, open_cluster=nowhere)
        yield Telling(fleet="shop", status=status, remote=remote, channels=channels, log=log, send=send, clock=clock)


def a_hook(folder: Path, receiver: Receiver, name: str = "hook") -> Channel:
    file = folder / name
    file.write_text(f"{receiver.address}\n{SECRET}\n")
    return Channel(kind=ChannelKind.WEBHOOK, file=str(file))


def subjects(folder: Path) -> list[str]:
    return Repository(folder / "fleet").git("log", "--reverse", "--format=%s", "argosy/status").splitlines()


def test_of_two_that_saw_the_same_one_tells_it(tmp_path: Path) -> None:
    with receiving() as receiver, telling(tmp_path, a_hook(tmp_path, receiver), clock=Clock()) as process:
        reports = [process.report_after_sending(each) for each in (WEST_LOST, WEST_LOST, ALL_WELL)]
    assert [dict(report.notified) for report in reports] == [{"webhook ok": 1}, {}, {"webhook ok": 1}]
    assert [report.next_notice for report in reports] == [None, None, None]
    assert receiver.texts == ["cluster west does not answer", "cluster west does not answer"]
    headers, body = receiver.received[0]
    assert headers["x-argosy-signature"] == f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}"
    assert len({headers["x-argosy-delivery"] for headers, _ in receiver.received}) == 2
    assert subjects(tmp_path) == [
        "Tell cluster west does not answer",
        "Told cluster west does not answer",
        "Tell solved: cluster west does not answer",
        "Told solved: cluster west does not answer",
    ]


def test_a_channel_that_is_down_is_told_once_it_is_back_and_once_only(tmp_path: Path) -> None:
    """Each try is another process; the other channel is told at once, and not again."""
    clock = Clock()
    with receiving() as down, receiving() as other:
        channels = a_hook(tmp_path, down), a_hook(tmp_path, other, "other")
        down.status = 503
        unchanged = replace(WEST_LOST, is_unchanged=True)
        due, counts = list[float](), list[dict[str, int]]()
        for report in (WEST_LOST, unchanged, unchanged, WEST_LOST):
            with telling(tmp_path, *channels, clock=clock) as process:
                ended = process.report_after_sending(report)
            due.append((ended.next_notice or 0) - clock.now)
            counts.append(dict(ended.notified))
            clock.now = ended.next_notice or 0
        assert due == [30, 60, 120, 240]
        assert counts == [{"webhook failed": 1, "webhook ok": 1}, *[{"webhook failed": 1}] * 3]
        down.status, seen = 200, len(down.received)
        for _ in range(3):
            with telling(tmp_path, *channels, clock=clock) as process:
                assert process.report_after_sending(unchanged).next_notice is None
    assert (seen, len(down.received), len(other.received)) == (4, 5, 1)
    assert len({headers["x-argosy-delivery"] for headers, _ in down.received}) == 1
    assert {body for _, body in down.received} == {body for _, body in other.received}


def test_a_process_that_was_killed_while_it_sent_is_followed_by_another(tmp_path: Path) -> None:
    clock = Clock()

    def killed(_channel: Channel, _message: Message) -> bool:
        raise KeyboardInterrupt

    with receiving() as receiver:
        channel = a_hook(tmp_path, receiver)
        with telling(tmp_path, channel, clock=clock) as process, pytest.raises(KeyboardInterrupt):
            replace(process, send=killed).report_after_sending(WEST_LOST)
        with telling(tmp_path, channel, clock=clock) as process:
            assert process.report_after_sending(WEST_LOST).next_notice == clock.now + 60
            assert receiver.texts == []
            clock.now += 60
            assert process.report_after_sending(replace(WEST_LOST, is_unchanged=True)).next_notice is None
    assert receiver.texts == ["cluster west does not answer"]


class Words(NamedTuple):
    """The words of a forge: the path of statuses, the state of a commit that is refused, and the field of the name."""

    kind: str
    path: str
    bad: str
    name: str


FORGES = [
    Words("github", "/api/repos/team/fleet/statuses", "failure", "context"),
    Words("gitea", "/api/repos/team/fleet/statuses", "failure", "context"),
    Words("gitlab", "/api/projects/team%2Ffleet/statuses", "failed", "name"),
]


@pytest.mark.parametrize("words", FORGES, ids=lambda words: words.kind)
def test_a_forge_has_the_status_of_the_source(words: Words, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("glpat-of-the-forge\n")
    unplaced = replace(RENDERED, code=1, unplaced=(f"{NO_PLACE} {'x' * 200}",))
    with receiving() as receiver:
        api = receiver.address.replace("/hook?x=1", "/api")
        channel = Channel(kind=ChannelKind(words.kind), file=str(tmp_path / "token"), api=api)
        remote = "https://bot:secret@git.example.com/team/fleet.git"
        with telling(tmp_path, channel, clock=Clock(), remote=remote) as process:
            for report in (RENDERED, RENDERED, replace(WEST_LOST, rendered="d" * 40), unplaced):
                process.report_after_sending(report)
    assert receiver.paths == [f"{words.path}/{'a' * 40}"] * 3
    bodies = [json.loads(body) for _, body in receiver.received]
    assert [body["state"] for body in bodies] == ["success", "pending", words.bad]
    assert {body[words.name] for body in bodies} == {"argosy/shop"}
    assert bodies[0]["description"] == "rendered as dddddddddddd, applied to 2 clusters"
    assert len(bodies[2]["description"]) == 140
    tokens = [headers.get("Authorization") or headers.get("PRIVATE-TOKEN") for headers, _ in receiver.received]
    assert all(str(token).endswith("glpat-of-the-forge") for token in tokens)


def test_a_state_that_gitlab_has_already_is_taken(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("glpat-of-the-forge\n")
    with receiving() as receiver:
        receiver.status = 400
        receiver.answer = b'{"message": "Cannot transition status via :enqueue from :pending"}'
        api = receiver.address.replace("/hook?x=1", "/api")
        channel = Channel(kind=ChannelKind.GITLAB, file=str(tmp_path / "token"), api=api, project="team/fleet")
        with telling(tmp_path, channel, clock=Clock()) as process:
            assert dict(process.report_after_sending(RENDERED).notified) == {"gitlab ok": 1}
            receiver.answer = b'{"message": "ref is missing"}'
            assert dict(process.report_after_sending(replace(RENDERED, source="e" * 40)).notified) == {
                "gitlab failed": 1
            }


def test_channels_are_told_apart_by_the_names_of_their_files(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("hook", "a/hook"):
        (tmp_path / name).write_text("https://hooks.example.com/x")
    channels = tuple(Channel(kind=ChannelKind.SLACK, file=str(tmp_path / name)) for name in ("hook", "a/hook"))
    with pytest.raises(ConfigError) as refused:
        RunSettings(locations=(), channels=channels).check()
    assert str(refused.value) == "two channels are called 'slack hook'\n  hint: give their files names that differ"


def test_a_controller_tells_what_has_no_place_once_across_restarts(tmp_path: Path) -> None:
    work, bare, file = a_fleet(tmp_path / "fleet.git"), tmp_path / "fleet.git", tmp_path / "hook"
    nowhere = a_policy(
        "nowhere",
        selectors=[{"apiVersion": "v1", "kind": "ConfigMap", "name": "lonely"}],
        placement={"clusterAffinity": {"labelSelector": {"matchLabels": {"tier": "none"}}}},
    )
    work.commit({"lonely.yaml": [a_config_map("lonely"), nowhere], "more.yaml": a_cluster("member3")})
    work.git("push", "-q")
    with receiving() as receiver:
        file.write_text(f"{receiver.address}\n{SECRET}\n")
        options = (str(bare), "--bootstrap", "--notify", f"webhook={file}")
        for text in ("two", "three"):
            with controller(tmp_path, *options) as argosy:
                argosy.says("pass ended")
                pushed(work, text)
                argosy.says("pass ended", times=2)
                assert argosy.ended() == 0
        told = eventually(lambda: receiver.texts, "the notification")
    assert [text.partition(": ")[0] for text in told] == ["ConfigMap default/lonely"]


def test_what_a_channel_did_not_take_is_sent_by_the_next_controller(tmp_path: Path) -> None:
    """Nothing happens any more but that it is back: a pass that finds nothing new sends it."""
    work, bare = a_fleet(tmp_path / "fleet.git"), tmp_path / "fleet.git"
    with receiving() as receiver:
        receiver.status = 503
        (tmp_path / "token").write_text("a-token\n")
        settings = tmp_path / "settings.yaml"
        api = receiver.address.partition("/hook")[0]
        settings.write_text(
            "apiVersion: argosy.dev/v1alpha1\nkind: RunSettings\nspec:\n"
            f"  fleets: [{{repository: {bare}}}]\n  bootstrap: true\n  drift: 1s\n"
            f"  notifications: [{{kind: gitea, file: token, api: '{api}', project: team/fleet}}]\n"
        )
        with controller(tmp_path, "--settings", str(settings)) as argosy:
            argosy.says("gitea token notifications are not taken, and tried again later: 127.0.0.1")
            argosy.says("pass cause=drift")
            assert argosy.ended() == 0
        assert len(receiver.paths) == 1
        receiver.status = 201
        due = NoticeRecord.read_or_none(Repository(bare).git("show", "argosy/status:told.yaml").encode() + b"\n")
        soon = replace(due, unsent=tuple(replace(each, next_try=1) for each in due.unsent))
        rewritten(bare, soon.content())
        with controller(tmp_path, "--settings", str(settings)) as argosy:
            eventually(lambda: len(receiver.paths) == 2, "the second try", seconds=40)
            argosy.says("pass cause=drift", times=2)
            assert argosy.ended() == 0
    assert receiver.paths == [f"/repos/team/fleet/statuses/{work.git('rev-parse', 'HEAD')}"] * 2
    assert (
        NoticeRecord.read_or_none(Repository(bare).git("show", "argosy/status:told.yaml").encode() + b"\n").unsent == ()
    )


def rewritten(bare: Path, told: bytes) -> None:
    """Let the record say that a message is due, as if time had passed."""
    with open_repository(bare) as opened:
        status = StatusBranch(publication=Publication(repository=opened), branch="argosy/status")
        status.commit(lambda _tip: {"told.yaml": told}, "time passes", time=1)
