"""Builds that take all they are given: together they have one budget, and what failed is not paid for in each pass."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event, Lock

import pytest

from reconciler.building.budget import BuildBudget
from reconciler.building.builder import SourceBuilder
from reconciler.building.sandbox import Run, RunLimits
from reconciler.gitops.tools import GitOpsTools
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import SourceReading
from tests.build import Repository, a_config_map
from tests.sources import Content, source_of
from tests.test_building_charts import CHART, OUTPUT, a_chart
from tests.test_building_kustomize import a_script, objects_of, said
from tests.test_source_loading import Memory
from tests.waiting import SECONDS, at_once

HOUR = 3600
HEAD = ("validate", "--rev", "HEAD")


def loaded(
    files: Mapping[str, Content], path: str, cache: Memory | None = None, *, seconds: float = 60, failing: float = 120
) -> Loaded:
    source = source_of(files)
    build = SourceBuilder(
        path=path, cache=cache, limits=RunLimits(seconds=seconds), budget=BuildBudget(failing=failing)
    )
    return load_source(source.files, SourceReading(source.read, other_tools=GitOpsTools(build)))


KUSTOMIZED: dict[str, Content] = {"o/kustomization.yaml": "namePrefix: a-\nresources: [a.yaml]\n", "o/a.yaml": "x: 1\n"}
CHARTED: dict[str, Content] = {**CHART, "shop.yaml": a_chart()}
BUILDS = {
    "a chart": (CHARTED, "helm", "charts/web/values.yaml"),
    "a kustomization": (KUSTOMIZED, "kustomize", "o/a.yaml"),
}


@pytest.mark.parametrize("why", BUILDS)
def test_what_failed_is_not_paid_for_again_while_its_inputs_stay(
    why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, name, changed = BUILDS[why]
    calls = tmp_path / "calls"
    path = a_script(tmp_path / "bin", name, f"echo x >> {calls}; echo 'Error: it is wrong' >&2; exit 1")
    cache = Memory()
    first, count = said(loaded(files, path, cache)), calls.read_text().count("x")
    assert (first.endswith(": it is wrong"), count) == (True, 1)
    assert (said(loaded(files, path, cache)), calls.read_text().count("x")) == (first, 1)
    loaded({**files, changed: "y: 1\n"}, path, cache)
    assert calls.read_text().count("x") == 2
    later = time.time() + HOUR + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert (said(loaded(files, path, cache)), calls.read_text().count("x")) == (first, 3)


@pytest.mark.parametrize("why", BUILDS)
def test_what_did_not_end_is_remembered_as_such(why: str, tmp_path: Path) -> None:
    files, name, _ = BUILDS[why]
    calls = tmp_path / "calls"
    path = a_script(tmp_path / "bin", name, f"echo x >> {calls}; exec /bin/sleep 600")
    cache = Memory()
    first = said(loaded(files, path, cache, seconds=0.5))
    assert first.endswith("it did not end within 0.5 s")
    assert (said(loaded(files, path, cache)), calls.read_text().count("x")) == (first, 1)


@pytest.mark.parametrize("why", BUILDS)
def test_what_the_machine_could_not_do_and_what_may_quote_a_secret_is_tried_again(why: str, tmp_path: Path) -> None:
    files, name, changed = BUILDS[why]
    calls = tmp_path / "calls"
    for complaint, own in (
        ("no space left on device", files),
        ("hidden is wrong", {**files, changed: "kind: Secret\n"}),
    ):
        path = a_script(tmp_path / "bin", name, f"echo x >> {calls}; echo 'Error: {complaint}' >&2; exit 1")
        cache = Memory()
        loaded(own, path, cache)
        loaded(own, path, cache)
        assert (calls.read_text().count("x"), complaint in repr(cache.values)) == (2, False)
        calls.unlink()


def many(count: int) -> dict[str, Content]:
    return {
        **CHART,
        **{f"c{number:02}.yaml": a_chart(releaseName=f"r{number}", name=f"c{number}") for number in range(count)},
    }


def test_charts_that_never_end_take_one_budget_together_and_the_rest_is_named(tmp_path: Path) -> None:
    path = a_script(tmp_path / "bin", "helm", "exec /bin/sleep 600")
    begun = time.monotonic()
    found = said(loaded(many(40), path, seconds=0.5, failing=1.5))
    assert time.monotonic() - begun < 40 * 0.5 / 4
    assert found.count("cannot render charts/web") == 40
    assert found.count("it did not end within 0.5 s") >= 2
    assert "no time is left for it: the builds of this source have used up what all of them may take" in found


def test_what_was_rendered_before_comes_before_what_is_new(tmp_path: Path) -> None:
    """Charts with secrets are rendered in each pass; one that is hostile and new does not keep them from that."""
    secret = "echo 'apiVersion: v1'; echo 'kind: Secret'; echo 'metadata: {name: '$2'}'"
    cache, files = Memory(), {**CHART, "z.yaml": a_chart()}
    good = a_script(tmp_path / "bin", "helm", secret)
    assert objects_of(loaded(files, good, cache)) == ["Secret team/shop"]
    mixed = a_script(tmp_path / "bin", "helm", f"case $2 in shop) {secret};; *) exec /bin/sleep 600;; esac")
    found = loaded({**files, **many(8)}, mixed, cache, seconds=0.4, failing=0.4)
    assert objects_of(found) == ["Secret team/shop"]


def test_both_renders_of_a_chart_share_its_time(tmp_path: Path) -> None:
    path = a_script(tmp_path / "bin", "helm", f"/bin/sleep 1.2; {OUTPUT}")
    begun = time.monotonic()
    assert "it did not end within" in said(loaded(CHARTED, path, seconds=2))
    assert time.monotonic() - begun < 4


def test_all_builds_together_read_no_more_files_than_they_may() -> None:
    """Each overlay reads the whole base: a thousand of a base of a thousand files read a million."""
    base = {
        f"base/f{number}.yaml": f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{number}\n"
        for number in range(10)
    }
    listing = "".join(f"- {path.rpartition('/')[2]}\n" for path in base)
    files: dict[str, Content] = {**base, "base/kustomization.yaml": f"resources:\n{listing}"}
    files |= {f"o{number}/kustomization.yaml": f"namespace: n{number}\nresources: [../base]\n" for number in range(5)}
    source = source_of(files)
    build = SourceBuilder(path="", budget=BuildBudget(files=40))
    found = load_source(source.files, SourceReading(source.read, other_tools=GitOpsTools(build)))
    message = "is not built: the builds of this source have read as many files as all of them may"
    assert [(each.path, each.message) for each in found.problems] == [
        (f"o{number}/kustomization.yaml", message) for number in (3, 4)
    ]
    assert len(found.desired.templates) == 30


def test_no_more_runs_at_once_than_there_is_memory_for() -> None:
    total, running, most, lock, full = BuildBudget(memory=4 << 30), 0, 0, Lock(), Event()

    def start(_limits: RunLimits) -> Run:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if running < 2:
            full.wait(0.02)
        else:
            full.set()
        with lock:
            running -= 1
        return Run()

    at_once(lambda _number: total.run(RunLimits(memory=2 << 30), start), 12)
    assert most == 2
    assert total.run(RunLimits(memory=9 << 30), start) == Run()


def test_no_process_and_no_push_pays_again_for_what_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull request is pushed to again, by a commit that leaves what its build reads as it is."""
    calls = tmp_path / "calls"
    folder = a_script(tmp_path / "bin", "kustomize", f"echo x >> {calls}; echo 'Error: it is wrong' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"README": "", "c.yaml": a_config_map("c")})
    base = repository.git("rev-parse", "HEAD")

    def ended(*words: str) -> int:
        command = [sys.executable, "-m", "reconciler", "-C", str(repository.path), *words]
        return subprocess.run(command, capture_output=True, check=False, timeout=SECONDS).returncode

    repository.commit(KUSTOMIZED)
    assert [ended(*HEAD), ended(*HEAD), ended("diff", base, "HEAD")] == [0, 0, 0]
    repository.commit({"other.yaml": a_config_map("other")})
    assert [ended(*HEAD), ended("diff", base, "HEAD")] == [0, 0]
    assert calls.read_text().count("x") == 1
    repository.commit({"o/a.yaml": "x: 2\n"})
    assert (ended(*HEAD), calls.read_text().count("x")) == (0, 2)
