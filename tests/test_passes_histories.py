"""Whatever happens to a fleet, each pass commits, byte for byte, what a pass over everything would have committed.

Templates, policies, overrides, customizations, clusters, namespaces, quotas, rules of cron and settings change, members
are seen anew, documents move between files, change their order and are copied, and time goes on.
Passes parse and store by one process or by two.
"""

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from reconciler.cli import run
from reconciler.passes import recorded_pass
from reconciler.repository import pack, pack_parts, processes
from reconciler.source import shared_parsing

from .build import Repository, a_config_map, argosy, copied
from .histories import History, checkpoint_of, next_scope, observe

pytestmark = pytest.mark.xdist_group("histories")  # one process makes the shared fleet for all of them

LOOSE = ("reconcile", "--allow-removal", "*=1000")
STEPS, MINUTES = 10, 7
FRESH = 0.5
"""The share of passes that know nothing of the last one but its commit, as in a fresh clone."""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A fleet of settings alone, beside which what changes is the smaller part."""
    repository = Repository.create(tmp_path_factory.mktemp("histories") / "fleet")
    repository.commit({"many.yaml": [a_config_map(f"map{number}", namespace="shop") for number in range(60)]})
    return repository


@pytest.fixture(scope="module")
def scoped() -> Iterator[list[bool]]:
    """Keep for each pass of all histories whether it had a scope: some have to, or nothing was compared."""
    found: list[bool] = []
    yield found
    assert not found or any(found), "no pass had a scope"


class HistoryOfPasses:
    """A history whose every change is followed by a pass, at a time of its own."""

    def __init__(self, fleet: Repository, seed: int) -> None:
        self.fleet, self.history, self.minute = fleet, History(random.Random(seed)), 0
        fleet.commit(self.history.written())

    @property
    def now(self) -> tuple[str, str]:
        return "--now", f"2026-03-02T{8 + self.minute // 60:02}:{self.minute % 60:02}:00Z"

    def step(self, capsys: pytest.CaptureFixture[str]) -> tuple[str, bool]:
        """Change something and run a pass; return the kind of change, and whether the pass had a scope."""
        kind = self.history.change()
        self.fleet.commit(self.history.written())
        if self.history.is_observed:
            observe(self.fleet, self.history.rooms)
        self.minute += MINUTES
        if self.history.rng.random() < FRESH:
            checkpoint_of(self.fleet).unlink(missing_ok=True)
        is_scoped = next_scope(self.fleet) is not None
        jobs = "--jobs", self.history.rng.choice(("1", "2"))
        ended = argosy(self.fleet, capsys, *LOOSE, *self.now, *jobs)
        assert ended.code in {0, 1}, ended.err
        return kind, is_scoped


@settings(
    max_examples=max(2, settings().max_examples // 20),
    phases=[Phase.explicit, Phase.generate],  # a seed is not made smaller by a smaller number
    suppress_health_check=[*settings().suppress_health_check, HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 2**32))
def test_any_history_commits_what_whole_passes_would(
    empty: Repository, scoped: list[bool], capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        for shared in (pack, shared_parsing):  # several processes parse and store whatever is new
            patched.setattr(shared, "_WORTH_SHARING", 0)
        patched.setattr(pack_parts, "LARGEST_PART", 4000)
        patched.setattr(recorded_pass, "_WORTH_RECORDING", 0)
        patched.setattr(processes, "_has_threads", lambda: False)
        (fleet,) = copied(Path(folder), empty)
        history = HistoryOfPasses(fleet, seed)
        assert run(["-C", str(fleet.path), "reconcile", "--bootstrap", *history.now]) in {0, 1}
        capsys.readouterr()
        done = [history.step(capsys) for _ in range(STEPS)]
        scoped.extend(is_scoped for _, is_scoped in done)
        replayed = argosy(fleet, capsys, "verify", "-n", str(STEPS + 1)).out.splitlines()
        assert [line.rpartition(" ")[2] for line in replayed] == ["equal"] * len(replayed), done
        checkpoint_of(fleet).unlink()
        assert argosy(fleet, capsys, *LOOSE, *history.now).out.startswith("unchanged: "), done
