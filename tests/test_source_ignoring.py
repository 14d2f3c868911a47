"""Lines of gitignore syntax mean what git takes them for, and many of them cost no more than a few."""

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reconciler.source.ignoring import predicate_of_ignored_paths

from .build import Repository

NAMES = st.sampled_from(["a", "b", "a.b", "ab", "x.yaml", "a b", "b.a.b", "A", "[a]", "!a", "#a"])
PATHS = st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=6)
PARTS = st.sampled_from(
    ["a", "b", "*", "**", "?", "*.b", "a*", "[ab]", "[!a]", "[a-c].b", "\\*", "a.b", "x.yaml", "a\\ ", "ab ", "*b*"]
)
PATTERNS = st.builds(
    lambda start, parts, end: f"{start}{'/'.join(parts)}{end}",
    st.sampled_from(["", "!", "/", "!/", "#", "\\!", "\\#"]),
    st.lists(PARTS, min_size=1, max_size=3),
    st.sampled_from(["", "/", " "]),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Repository.create(Path(tmp_path_factory.mktemp("ignoring")) / "fleet").path


def ignored_by_git(folder: Path, lines: list[str], paths: list[str]) -> set[str]:
    """The paths that git ignores; their folders are not there, so that a path below another is a file of a folder."""
    (folder / ".gitignore").write_text("".join(f"{line}\n" for line in lines))
    found = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z"],
        cwd=folder,
        input="".join(f"{path}\0" for path in paths).encode(),
        stdout=subprocess.PIPE,
        check=False,
        timeout=30,
    )
    return set(found.stdout.decode().split("\0")) - {""}


def ignored_by_us(lines: list[str], paths: list[str]) -> set[str]:
    is_ignored = predicate_of_ignored_paths(lines)

    def is_left_out(path: str) -> bool:
        parts = path.split("/")
        folders = ("/".join(parts[:depth]) + "/" for depth in range(1, len(parts)))
        return any(map(is_ignored, folders)) or is_ignored(path)

    return {path for path in paths if is_left_out(path)}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(PATTERNS, min_size=1, max_size=4), paths=PATHS)
def test_git_ignores_the_same(folder: Path, lines: list[str], paths: list[str]) -> None:
    assert ignored_by_us(lines, paths) == ignored_by_git(folder, lines, paths)


def test_thousands_of_lines_cost_no_more_than_a_few() -> None:
    paths = [f"apps/team-{number % 40}/service-{number}/deployment.yaml" for number in range(3_000)]
    lines = [f"/apps/team-{number % 40}/service-{number}/old.yaml" for number in range(2_000)]
    lines += [f"name-{number}.yaml" for number in range(200)] + [f"*.{number}.yaml" for number in range(200)]
    started = time.perf_counter()
    is_ignored = predicate_of_ignored_paths(lines)
    assert not any(map(is_ignored, paths))
    assert time.perf_counter() - started < 2
