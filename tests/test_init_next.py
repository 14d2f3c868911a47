"""The commands that ``argosy init`` prints work to the letter: what it found is committed with what it wrote."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from .build import Repository, a_config_map, a_policy, argosy, on_clusters

ALL = a_policy("all", selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters())
LOGIN = {
    "apiVersion": "v1",
    "kind": "Config",
    "users": [{"name": "me", "user": {"token": "abc"}}],
    "clusters": [],
    "contexts": [],
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "fleet")


def commands_after(repository: Repository, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Return the commands that init prints for one cluster."""
    ended = argosy(repository, capsys, "init", "--new-cluster", "eu", *words)
    assert ended.code == 0, ended.err
    return [line.strip() for line in ended.out.partition("next:\n")[2].splitlines()]


def rendered_by(commands: list[str], repository: Repository, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run commands as they are printed, and a first pass; return the objects that it renders."""
    for line in commands:
        program, *words = shlex.split(line)
        if program == "git":
            repository.git(*words)
        else:
            assert argosy(repository, capsys, *words).code == 0, line
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    return [each for each in repository.files("argosy/rendered", "clusters") if "/ConfigMap/" in each]


def untracked(repository: Repository) -> list[str]:
    return repository.git("ls-files", "--others", "--exclude-standard").splitlines()


def test_what_was_found_and_no_commit_has_is_added(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    generator = {"kind": "Kustomization", "configMapGenerator": [{"name": "made", "files": ["made.txt"]}]}
    repository.commit({"base/tracked.yaml": a_config_map("tracked")})
    files: dict[str, Any] = {
        "apps/team a/web.yaml": a_config_map("web"),
        "made/kustomization.yaml": generator,
        "made/made.txt": b"text",
        "top.yaml": a_config_map("top"),
        "all.yaml": ALL,
        "mixed/db.yaml": a_config_map("db"),
        "mixed/notes.txt": b"mine",
        "login/admin.yaml": LOGIN,
        "login/map.yaml": a_config_map("login"),
        "README.md": b"# Ours",
        ".env": b"TOKEN=abc",
    }
    repository.write(files)
    commands = commands_after(repository, capsys)
    assert commands[:3] == [
        "git add argosy.yaml clusters/eu.yaml policies/starter.yaml",
        "git add all.yaml apps login/map.yaml made mixed/db.yaml top.yaml",
        "git commit -m 'Begin a fleet'",
    ]
    rendered = rendered_by(commands, repository, capsys)
    names = [each.rpartition("/")[2].partition(".")[0].partition("-")[0] for each in rendered]
    assert sorted(names) == ["db", "login", "made", "top", "tracked", "web"]
    assert untracked(repository) == [".env", "README.md", "login/admin.yaml", "mixed/notes.txt"]


def test_a_changed_file_is_added_as_it_was_read(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"apps/a.yaml": a_config_map("a"), "all.yaml": ALL, "other.txt": b"one"})
    repository.write({"apps/a.yaml": a_config_map("b"), "other.txt": b"two"})
    commands = commands_after(repository, capsys)
    assert commands[1] == "git add apps"
    assert [Path(each).stem for each in rendered_by(commands, repository, capsys)] == ["b"]


def test_names_with_blanks_are_quoted(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({"the apps/a.yaml": a_config_map("a"), "all.yaml": ALL})
    commands = commands_after(repository, capsys)
    assert commands[1] == "git add all.yaml 'the apps'"
    assert len(rendered_by(commands, repository, capsys)) == 1


def test_paths_are_seen_from_the_folder_of_the_fleet(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"fleet/apps/a.yaml": a_config_map("a"), "fleet/all.yaml": ALL, "other/b.yaml": a_config_map("b")})
    inner = Repository(repository.path / "fleet")
    commands = commands_after(inner, capsys, "--ci", "github")
    adds = [each for each in commands if each.startswith("git add")]
    written = "argosy.yaml clusters/eu.yaml policies/starter.yaml"
    assert adds == [f"git add {written} ../.github/workflows/argosy.yml", "git add all.yaml apps"]
    rendered_by([each for each in commands if each.startswith("git")], inner, capsys)
    rendered = [each for each in repository.files("argosy/rendered", "clusters") if "/ConfigMap/" in each]
    assert [Path(each).stem for each in rendered] == ["a"]


def test_nothing_more_is_added_where_everything_is_committed(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"apps/a.yaml": a_config_map("a"), "all.yaml": ALL})
    commands = commands_after(repository, capsys)
    assert [each for each in commands if each.startswith("git add")] == [
        "git add argosy.yaml clusters/eu.yaml policies/starter.yaml"
    ]
