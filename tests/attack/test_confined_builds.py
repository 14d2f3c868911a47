"""Builds read their closure alone, and make what kustomize makes of the whole tree: 300 generated ones are compared."""

import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from reconciler.building.builds import BuildOutcome, Builds
from reconciler.building.closures import Closure, closure_of
from reconciler.building.tree import Kustomizations
from tests.generated_kustomizations import TOP, a_grove, a_tree
from tests.kubectl import kubectl_path
from tests.opened_files import opened_files
from tests.sources import source_of
from tests.waiting import SECONDS

SEEDS, TOGETHER = 300, 10


class Direct(NamedTuple):
    """A build of a tree as it stands: its output, its complaint, and the files of the tree that kustomize opened."""

    output: bytes
    complaint: str
    opened: set[str]


def closure(files: Mapping[str, bytes], top: str = TOP) -> Closure:
    source = source_of(files)
    found = closure_of(Kustomizations.of(source.files, source.read), top)
    return replace(found, is_printed=True)  # so that the tool builds what needs none, too


def built_directly(files: Mapping[str, bytes], folder: Path, top: str = TOP) -> Direct:
    """Build a tree without a private copy, as kustomize does where it may read everywhere."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    command = [str(kubectl_path()), "kustomize", top, "--load-restrictor", "LoadRestrictionsNone"]
    environment = {"HOME": str(folder), "PATH": "/nonexistent"}
    with opened_files(folder) as opened:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=SECONDS)
    return Direct(done.stdout, done.stderr.decode(), opened)


def built(closures: list[Closure]) -> list[BuildOutcome]:
    return Builds(path=str(kubectl_path().parent)).outcomes(closures)


@pytest.mark.skipif(sys.platform != "linux", reason="the audit of opened files is Linux's")
def test_what_a_build_opens_is_in_its_closure_and_what_it_makes_is_what_kustomize_makes(tmp_path: Path) -> None:
    groves = [a_grove(range(first, first + TOGETHER)) for first in range(0, SEEDS, TOGETHER)]
    trees = {tmp_path / str(number): files for number, files in enumerate([*groves, *map(a_tree, range(TOGETHER))])}
    closures = list(map(closure, trees.values()))
    assert [str(each.refusal.problem) for each in closures if each.refusal] == []
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as workers:
        direct = list(workers.map(built_directly, trees.values(), trees))
    for found, made, said in zip(closures, built(closures), direct, strict=True):
        assert (made.complaint, said.complaint.count("rror")) == ("", 0)
        assert made.output == said.output
        assert said.opened <= {file.path for file in found.files}
        assert len(said.opened) > 2, "the audit sees what is opened"


EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.mark.skipif(sys.platform != "linux", reason="the audit of opened files is Linux's")
def test_so_it_is_with_the_kustomizations_of_examples(tmp_path: Path) -> None:
    found = [path.parent for path in EXAMPLES.rglob("kustomization.yaml") if "resources" in path.read_text()]
    assert len(found) > 2
    for number, folder in enumerate(found):
        home = next(each for each in folder.parents if each.parent == EXAMPLES)
        paths = [path for path in home.rglob("*") if path.is_file()]
        files = {path.relative_to(home).as_posix(): path.read_bytes() for path in paths}
        top = folder.relative_to(home).as_posix()
        build, said = closure(files, top), built_directly(files, tmp_path / str(number), top)
        (made,) = built([build])
        assert (made.complaint, made.output) == ("", said.output), folder
        assert said.opened <= {file.path for file in build.files}, folder
