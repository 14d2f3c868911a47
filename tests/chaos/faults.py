"""The ways in which a member fails in the middle of a pass, one after another, on one of three members.

Each fault has a turn of its own. While it lasts, the others must come to what the reference holds, the pass must end
with a code that says so, and the failing member may lose nothing that both turns want. Once it is over, one pass must
bring everything to the newest turn.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from .faulty_server import Effect, FaultyServer, Rule, every
from .fleet import ChaosFleet, Objects, Run, live_objects

_LIMIT = ("--timeout", "20s")
_LISTS, _MAPS, _MAP_LISTS, _ROUTES = "?limit=", "/configmaps", "/configmaps?", "/routes"
_HTML = "<html><body>Sign in to the network</body></html>"
Means = Callable[[FaultyServer], None]


class Fault(NamedTuple):
    """One way to fail. ``begin`` and ``end`` switch it; ``codes``: the exit codes that a pass may then have.

    ``concerns``: the one kind that it concerns, so that all others are delivered meanwhile; only deletions in its
    namespace wait, as what is to replace them may be of that kind.
    """

    why: str
    begin: Means
    end: Means
    codes: tuple[int, ...]
    concerns: str = ""


def _ruled(why: str, rule: Rule, *codes: int, concerns: str = "") -> Fault:
    def begin(server: FaultyServer) -> None:
        server.rule = rule

    return Fault(why, begin, FaultyServer.heal, codes, concerns)


def _flagged(why: str, flag: str, *codes: int) -> Fault:
    return Fault(why, lambda server: setattr(server, flag, True), FaultyServer.heal, codes)


def _swap(server: FaultyServer) -> None:
    server.target = server.others[0]


def _signalled(number: signal.Signals) -> Means:
    return lambda server: os.kill(server.member.pids["kube-apiserver"], number)


def _kill(server: FaultyServer) -> None:
    server.stop()
    server.member.stop_server()


def _revive(server: FaultyServer) -> None:
    server.member.start_server()
    server.start()


_ALTERNATING = iter(range(10**9))


def _every_third(method: str, path: str) -> Effect:
    """Cut every third answer, whatever was asked."""
    del method, path
    return Effect(is_cut=True) if next(_ALTERNATING) % 3 == 2 else Effect()


FAULTS = (
    Fault("the server is killed and nobody listens", _kill, _revive, (7,)),
    Fault("nobody listens before a healthy server", FaultyServer.stop, FaultyServer.start, (7,)),
    Fault("the server is stopped by SIGSTOP", _signalled(signal.SIGSTOP), _signalled(signal.SIGCONT), (7,)),
    _flagged("connections are taken, and nothing is said", "is_black_hole", 7),
    _flagged("the certificate is of another authority", "is_impostor", 7),
    Fault("the address leads to another cluster", _swap, FaultyServer.heal, (1, 7)),
    _ruled("401 to everything", every(Effect(401)), 7),
    _ruled("403 to everything", every(Effect(403)), 1, 7),
    _ruled("403 to lists of one kind", every(Effect(403), methods="GET", inside=_MAP_LISTS), 1, concerns="ConfigMap"),
    _ruled("429 to everything", every(Effect(429)), 7),
    _ruled("429 to one kind", every(Effect(429), methods="GET", inside=_ROUTES), 1, concerns="Route"),
    _ruled("500 to everything", every(Effect(500)), 7),
    _ruled("500 to one kind", every(Effect(500), methods="GET", inside=_MAP_LISTS), 1, concerns="ConfigMap"),
    _ruled("410 to every list", every(Effect(410), methods="GET", inside=_LISTS), 1, 7),
    _ruled("410 to lists of one kind", every(Effect(410), methods="GET", inside=_ROUTES), 1, concerns="Route"),
    _ruled("503 to every write", every(Effect(503), methods="PATCH POST PUT DELETE"), 1, 7),
    _ruled("every answer takes a fifth of a second longer", every(Effect(seconds=0.2)), 0, 7),
    _ruled("every answer takes longer than the limit", every(Effect(seconds=25)), 7),
    _ruled("every third answer is cut off", _every_third, 0, 1, 7),
    _ruled("lists of one kind end in the middle", every(Effect(is_short=True), methods="GET", inside=_MAPS), 1, 7),
    _ruled("writes are never answered", every(Effect(is_silent=True), methods="PATCH"), 1, 7),
    _ruled("lists of one kind are never answered", every(Effect(is_silent=True), methods="GET", inside=_ROUTES), 1, 7),
    _ruled("deletions are never answered", every(Effect(is_silent=True), methods="DELETE"), 1, 7),
    _ruled("a page for people instead of an answer", every(Effect(200, _HTML)), 7),
    _ruled("connections end without an answer to writes", every(Effect(is_refused=True), methods="PATCH"), 1, 7),
)


def run_faults(fleet: ChaosFleet, only: str = "") -> list[str]:
    """Go through all faults whose name has these words, and return what was not as it must be."""
    found: list[str] = []
    for number, fault in enumerate(each for each in FAULTS if only in each.why):
        server = fleet.servers[number % len(fleet.servers)]
        began = time.monotonic()
        wrong = list(_wrong(fleet, fault, server))
        print(
            f"{'ok ' if not wrong else 'BAD'} {time.monotonic() - began:6.1f} s  {fault.why}",
            *wrong,
            sep="\n    ",
            flush=True,
        )
        found += [f"{fault.why}: {line}" for line in wrong]
    return found


def _wrong(fleet: ChaosFleet, fault: Fault, server: FaultyServer) -> Iterator[str]:
    before = live_objects(server.member)
    fleet.change()
    with _failing(fault, server):
        run = fleet.run(*_LIMIT)
    yield from _wrong_run(fault, run)
    wanted = fleet.refer()
    for each in fleet.servers:
        if each is not server:
            yield from fleet.differences(wanted, each.member)
    yield from _lost(server, before, wanted)
    if fault.concerns:
        found = fleet.differences(wanted, server.member)
        own, waiting = f"{server.member.name}: {fault.concerns}/", ", not None"
        yield from (line for line in found if not line.startswith(own) and not line.endswith(waiting))
    whole = fleet.run()
    if whole.code:
        yield f"the pass after it ended with {whole.code}:\n{whole.said}"
    yield from fleet.differences(wanted, server.member)
    tips = fleet.tips()
    fleet.run()
    if fleet.tips() != tips:
        yield "a pass with nothing to do wrote something"


@contextmanager
def _failing(fault: Fault, server: FaultyServer) -> Iterator[None]:
    fault.begin(server)
    try:
        yield
    finally:
        fault.end(server)


def _wrong_run(fault: Fault, run: Run) -> Iterator[str]:
    if run.code not in fault.codes:
        yield f"exit {run.code}, not one of {fault.codes}:\n{run.said}"
    if "Traceback" in run.said or "a bug" in run.said:
        yield f"a traceback:\n{run.said}"
    if run.code == 0 and "Converged" not in run.said:
        yield f"exit 0 without a word:\n{run.said}"


def _lost(server: FaultyServer, before: Objects, wanted: Objects) -> Iterator[str]:
    live = live_objects(server.member)
    for name in sorted({*before} & {*wanted} - {*live}):
        yield f"{server.member.name} lost {name}"
