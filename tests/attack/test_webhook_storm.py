"""Bursts of webhooks against a running controller: its memory stays flat, and each push gets one pass.

``python -m tests.bench run storm`` sends ten thousand.
"""

from pathlib import Path

from tests.controllers import a_fleet, controller
from tests.webhook_storm import SECRET, storm

BURSTS, EACH = 10, 200


def test_a_storm_of_webhooks(tmp_path: Path) -> None:
    work, bare, secret = a_fleet(tmp_path / "fleet.git"), tmp_path / "fleet.git", tmp_path / "secret"
    secret.write_bytes(SECRET)
    options = ("--webhook", "0", "--webhook-secret", f"github={secret}")
    with controller(tmp_path, f"file://{bare}", "--bootstrap", *options, is_measured=True) as argosy:
        argosy.says("pass ended")
        port = int(argosy.said.partition("webhooks at 127.0.0.1:")[2].partition("\n")[0])
        held = list(storm(argosy, port, work, bare, bursts=BURSTS, each=EACH))
        assert argosy.ended() == 0
    first, last = held[0], held[-1]
    assert argosy.said.count("pass cause=change") == BURSTS
    assert argosy.said.count("pass cause=") == BURSTS + 1
    assert last.memory - first.memory < 8 * 1024
    assert (last.descriptors - first.descriptors < 30, last.threads - first.threads <= 2) == (True, True)
