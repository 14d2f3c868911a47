"""Notifications: what is told after a pass, that it is told once, and the forms it is told in."""

import hashlib
import hmac
import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.console.log import Log
from reconciler.publish.branches import Publication
from reconciler.publish.status_branch import StatusBranch
from reconciler.repository import open_repository
from reconciler.run.notices.channels import Channel, ChannelKind, Message, body_of
from reconciler.run.notices.conditions import Notice, conditions_after, drift_notices, notices_between
from reconciler.run.notices.telling import told_conditions, told_pass
from reconciler.run.pass_job import ClusterEnd, PassReport
from render.errors import ConfigError

from .build import Repository, a_cluster, a_config_map, a_policy
from .controllers import a_fleet, controller, pushed
from .waiting import eventually, joined

WELL = ClusterEnd(state="Converged")
LOST = ClusterEnd(state="Unreachable", is_reached=False, is_converged=False)
NO_PLACE = "Deployment.apps shop/web: NoClusterFit: 0 of 3 clusters fit"
ALL_WELL = PassReport(code=0, source="a" * 40, clusters={"east": WELL, "west": WELL})
WEST_LOST = replace(ALL_WELL, code=7, clusters={"east": WELL, "west": LOST})
REFUSED = PassReport(
    code=6, source="b" * 40, refused="too much would leave east", clusters={"east": WELL, "west": WELL}
)


class Told(NamedTuple):
    why: str
    passes: tuple[PassReport, ...]
    want: tuple[str, ...]


TOLD = [
    Told("nobody is told that all is well", (ALL_WELL, ALL_WELL), ()),
    Told("a cluster that is lost is told once", (ALL_WELL, WEST_LOST, WEST_LOST), ("cluster west does not answer",)),
    Told(
        "and again when it is back",
        (WEST_LOST, ALL_WELL, ALL_WELL),
        ("cluster west does not answer", "solved: cluster west does not answer"),
    ),
    Told(
        "a pass that did not come to the clusters says nothing of them",
        (WEST_LOST, replace(ALL_WELL, clusters={}), WEST_LOST),
        ("cluster west does not answer",),
    ),
    Told(
        "an object without a place is one for each reason, whatever its message counts",
        (
            replace(ALL_WELL, code=1, unplaced=(NO_PLACE,)),
            replace(ALL_WELL, unplaced=(NO_PLACE.replace("3", "4"),)),
            ALL_WELL,
        ),
        (NO_PLACE, f"solved: {NO_PLACE.replace('3', '4')}"),
    ),
    Told(
        "a refused source is told for each commit",
        (REFUSED, REFUSED, replace(REFUSED, source="c" * 40), ALL_WELL),
        (
            "source bbbbbbbbbbbb is refused: too much would leave east",
            "source cccccccccccc is refused: too much would leave east",
            "solved: source cccccccccccc is refused: too much would leave east",
        ),
    ),
    Told(
        "what a refused pass did not render stays as it was told",
        (replace(ALL_WELL, unplaced=(NO_PLACE,)), REFUSED),
        (NO_PLACE, "source bbbbbbbbbbbb is refused: too much would leave east"),
    ),
]


@pytest.mark.parametrize("case", TOLD, ids=lambda case: case.why)
def test_what_is_told(case: Told) -> None:
    told: dict[str, str] = {}
    said = []
    for report in case.passes:
        after = conditions_after(told, report)
        said += [str(notice) for notice in notices_between(told, after)]
        told = after
    assert tuple(said) == case.want


def test_drift_that_was_healed_is_told_of_each_pass() -> None:
    report = replace(ALL_WELL, clusters={"east": replace(WELL, drifted=3), "west": WELL})
    assert drift_notices(report) == (Notice(text="cluster east: drift healed, objects written again: 3"),)


def test_a_record_that_no_pass_wrote_is_none() -> None:
    assert told_conditions(b"conditions: [1]") == {}
    assert told_conditions(b"{") == {}
    assert told_conditions(b"conditions: {a: b, c: 3}") == {"a": "b"}


MESSAGE = Message(
    id="e" * 40,
    fleet="shop",
    source="a",
    rendered="b",
    notices=(Notice(text="<@U1> *x*"), Notice(text="y", is_solved=True)),
)


def test_the_forms_of_a_message() -> None:
    assert body_of(ChannelKind.SLACK, MESSAGE) == {"text": "shop: &lt;@U1&gt; *x*\nshop: solved: y"}
    card = body_of(ChannelKind.TEAMS, MESSAGE)["attachments"][0]["content"]
    assert [block["text"] for block in card["body"]] == ["shop: <@U1> \\*x\\*", "shop: solved: y"]
    assert body_of(ChannelKind.WEBHOOK, MESSAGE) == {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Notification",
        "fleet": "shop",
        "source": "a",
        "rendered": "b",
        "notices": [{"text": "<@U1> *x*", "solved": False}, {"text": "y", "solved": True}],
    }


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
            receiver.received.append((dict(self.headers.items()), body))
            self.send_response(receiver.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

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


def test_of_two_that_saw_the_same_one_tells_it(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"a.yaml": a_config_map("a")})
    file = tmp_path / "hook"
    with receiving() as receiver, open_repository(repository.path) as opened:
        file.write_text(f"{receiver.address}\n{SECRET}\n")
        channels = [Channel(kind=ChannelKind.WEBHOOK, file=str(file))]
        status = StatusBranch(publication=Publication(repository=opened), branch="argosy/status")
        log = Log(stream=io.StringIO())
        reports = [told_pass(each, "shop", status, channels, log) for each in (WEST_LOST, WEST_LOST, ALL_WELL)]
    assert [dict(report.notified) for report in reports] == [{"webhook ok": 1}, {}, {"webhook ok": 1}]
    assert receiver.texts == ["cluster west does not answer", "cluster west does not answer"]
    headers, body = receiver.received[0]
    assert headers["x-argosy-signature"] == f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}"
    assert headers["x-argosy-delivery"] == repository.git("rev-parse", "argosy/status~")
    assert repository.git("log", "--format=%s", "argosy/status").splitlines() == [
        "Tell solved: cluster west does not answer",
        "Tell cluster west does not answer",
    ]


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
