"""Two controllers killed again and again while somebody pushes: nothing is lost, and nothing is done twice.

``python -m tests.bench run kills`` does it for ten minutes.
"""

import random
from pathlib import Path

import pytest

from .clusters import Member, remove_namespaces
from .kill_loop import KillLoop

pytestmark = pytest.mark.cluster

SECONDS = 25.0


def test_two_controllers_that_are_killed_lose_nothing(members: tuple[Member, ...], tmp_path: Path) -> None:
    loop = KillLoop(folder=tmp_path, members=members, space="run-kills", draw=random.Random(19))
    try:
        loop.run(SECONDS)
        codes = loop.close()
        assert (list(loop.differences()), list(loop.faults()), codes) == ([], [], [0, 0])
    finally:
        remove_namespaces(members, "run-kills")
    assert (loop.pushes > 20, loop.kills > 5) == (True, True)
