"""A hostile member beside two honest real API servers: their results and their time, against runs without it."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from render.documents import emit
from tests.build import Repository, a_cluster, a_config_map, a_policy, argosy
from tests.clusters import Member, started
from tests.served import kubeconfig_of
from tests.waiting import eventually, joined

from .hostile_wires import HEAD, Write, dripping, endless, raw_server

pytestmark = pytest.mark.cluster

HONEST = ("member1", "member2")
SECONDS = 12.0
"""The limit of time that each member has."""

GARBAGE = HEAD + b'Content-Length: 24\r\nConnection: close\r\n\r\n{"items": [null, 1, []]}'
HOSTILE: dict[str, Write] = {
    "garbage": lambda client, _over: client.sendall(GARBAGE),
    "one byte each half second": dripping(HEAD + b"\r\n" + b"{" * 200, 0.5),
    "an answer of gigabytes": endless(HEAD + b"Connection: close\r\n\r\n", b'{"a":' * 200_000),
}


@pytest.fixture(scope="module")
def honest() -> Iterator[tuple[Member, ...]]:
    """Two real API servers that no other test writes to."""
    with started(HONEST) as running:
        yield running


class Pass(NamedTuple):
    """A pass: its exit code, and the seconds until each honest member had the object."""

    code: int
    seconds: dict[str, float]

    @property
    def last(self) -> float:
        return max(self.seconds.values())


def timed_pass(
    repository: Repository,
    members: tuple[Member, ...],
    folder: Path,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> Pass:
    """Add an object to the source, run a pass, and watch when it is there."""
    repository.commit({f"{name}.yaml": a_config_map(name)})
    seconds: dict[str, float] = {}
    begun = time.monotonic()

    def watch(member: Member) -> None:
        path = f"/api/v1/namespaces/default/configmaps/{name}"
        eventually(lambda: member.read(path), f"{name} in {member.name}", seconds=4 * SECONDS)
        seconds[member.name] = time.monotonic() - begun

    watchers = [threading.Thread(target=watch, args=(member,)) for member in members]
    for watcher in watchers:
        watcher.start()
    ended = argosy(
        repository, capsys, *("reconcile", "--bootstrap", "--kubeconfigs", str(folder), "--timeout", f"{SECONDS:g}")
    )
    joined(*watchers)
    assert "argosy: a bug" not in ended.err
    return Pass(ended.code, seconds)


def a_fleet(repository: Repository, *names: str) -> None:
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    policy = a_policy(selectors=selectors, placement={"clusterAffinity": {}})
    repository.commit({"policy.yaml": policy, **{f"clusters/{name}.yaml": a_cluster(name) for name in names}})


def test_honest_members_get_what_they_get_without_a_hostile_one(
    honest: tuple[Member, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "kubeconfigs"
    folder.mkdir()
    for member in honest:
        (folder / f"{member.name}.yaml").write_bytes(member.kubeconfig.read_bytes())
    repository = Repository.create(tmp_path / "fleet")
    a_fleet(repository, *HONEST)
    timed_pass(repository, honest, folder, "first", capsys)
    without = timed_pass(repository, honest, folder, "without", capsys)
    assert without.code == 0
    assert without.seconds.keys() == set(HONEST)

    a_fleet(repository, *HONEST, "hostile")
    lines = [f"without a hostile member: {without.last:.2f} s"]
    for number, (why, write) in enumerate(HOSTILE.items()):
        with ExitStack() as stack:
            host = stack.enter_context(raw_server(write))
            (folder / "hostile.yaml").write_bytes(emit(kubeconfig_of("hostile", host)))
            beside = timed_pass(repository, honest, folder, f"beside-{number}", capsys)
        assert beside.seconds.keys() == set(HONEST), why
        assert beside.code in {1, 7}, why
        # Whatever the hostile one does with its own time, the honest ones do not wait for it to end.
        assert beside.last < SECONDS, why
        lines.append(f"beside {why}: {beside.last:.2f} s, {beside.last / without.last:.1f} times")
    with capsys.disabled():
        print("", *lines, sep="\n  ")
