"""The files of our branches: each has a version, files of former versions are read, those of newer ones are refused."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, TypeGuard

import pytest

from reconciler.cli import run
from reconciler.ledger.branch_file import BranchFile, content_without_version, is_same_but_for_version
from reconciler.ledger.notices import NoticeRecord
from reconciler.ledger.refusal import SourceRefusal
from reconciler.ledger.table import changed_files, struct_of_file_at, structs_of_all_files
from reconciler.reference.topics import load_topic
from render.documents import emit, parse_documents
from render.errors import GitError

from .build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .fakes import FakeCluster
from .served import serving_members

RECORDED = Path(__file__).parent / "vectors" / "recorded"
"""Files as Argosy wrote them before they had a version, by the number of a branch and their path there."""
FILES = [
    pytest.param(kind, path, id=str(path.relative_to(RECORDED)))
    for path in sorted(RECORDED.rglob("*.yaml"))
    if (kind := struct_of_file_at(str(path.relative_to(RECORDED)).partition("/")[2])) is not None
]
WITHOUT_VERSION = (
    "agents.yaml",
    "bindings/{namespace}/{kind}/{name}.yaml",
    "clusters/{cluster}.yaml",
    "facts/_health.yaml",
    "facts/_interpretations.yaml",
    "facts/{cluster}.yaml",
    "inventory/{cluster}.yaml",
    "quotas/{namespace}/{name}.yaml",
    "rebalancers/{name}.yaml",
    "refusal.yaml",
    "schemas/{cluster}.yaml",
    "told.yaml",
    "works/{cluster}/{namespace}/{kind}/{name}.yaml",
)
"""The files that were there before versions."""


def each_kind() -> list[str]:
    return [kind.PATH for kind in structs_of_all_files()]


def kind_of(path: str) -> type[BranchFile]:
    return next(kind for kind in structs_of_all_files() if path == kind.PATH)


def newer(kind: type[BranchFile]) -> str:
    return f"has version 99, and this Argosy knows {kind.VERSION} at most: a newer Argosy wrote it"


def is_kind(value: object) -> TypeGuard[type[BranchFile]]:
    return isinstance(value, type) and issubclass(value, BranchFile)


def with_version(content: bytes, version: object) -> bytes:
    return emit({**parse_documents(content)[0].value, "version": version})


@pytest.mark.parametrize(("kind", "path"), FILES)
def test_a_file_without_a_version_is_read_and_written_as_it_was(kind: type[BranchFile], path: Path) -> None:
    """Nothing of it is lost, and nothing but the version is new in its bytes."""
    before = path.read_bytes()
    file = kind.read("old", before)
    after = file.content()
    assert content_without_version(after) == file.rendered_content() == before
    assert after == with_version(before, file.written_version)
    assert kind.read("new", after) == file


def test_every_file_that_had_no_version_is_among_the_recorded_ones() -> None:
    """A kind of file that is added later begins with a version."""
    assert {kind.PATH for kind, _ in (param.values for param in FILES) if is_kind(kind)} == set(WITHOUT_VERSION)


@pytest.mark.parametrize("path", each_kind())
def test_every_file_is_explained_and_has_a_version(path: str) -> None:
    kind = kind_of(path)
    written = re.sub(r"\{(\w+)\}", r"<\1>", path)
    entries = {entry.name: entry.about for section in load_topic("branches").sections for entry in section.entries}
    assert entries.get(written) == kind.ABOUT
    assert re.fullmatch(r"[`A-Z].*\.", kind.ABOUT)
    assert kind.VERSION >= 1


@pytest.mark.parametrize(("kind", "path"), FILES)
def test_a_file_of_a_newer_argosy_is_refused(kind: type[BranchFile], path: Path) -> None:
    with pytest.raises(GitError) as raised:
        kind.read("a.yaml", with_version(path.read_bytes(), 99))
    assert raised.value.message == f"a.yaml on the status branch {newer(kind)}"
    assert "run that version of Argosy here" in raised.value.hint


@pytest.mark.parametrize("version", ["1", True, -1, 1.5, None])
@pytest.mark.parametrize("path", each_kind())
def test_a_version_that_is_none_is_named(path: str, version: object) -> None:
    with pytest.raises(GitError) as raised:
        kind_of(path).read("a.yaml", emit({"version": version}))
    assert raised.value.message == (
        "a.yaml on the status branch is not as Argosy writes it: version is no whole number"
    )


class _Pebble(BranchFile, frozen=True, kw_only=True):
    """A file of no branch, which has a bug of ours."""

    PATH: ClassVar[str] = "pebble.yaml"
    KIND: ClassVar[str] = "Pebble"
    ABOUT: ClassVar[str] = "Nothing."

    name: str
    weights: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        return len(self.name) + len(self.nothing)  # type: ignore[attr-defined] # the bug


FAULTS = {
    "name: 1": "name is no text",
    "weights: []": "name is missing",
    "{name: a, weights: [1, x]}": "weights[1] is no whole number",
    "{name: a, weights: {}}": "weights is no list",
    "[a]": "it holds no object",
    "a: [": "it holds no object",
}


@pytest.mark.parametrize("content", FAULTS)
def test_a_fault_is_named_with_its_place(content: str) -> None:
    with pytest.raises(GitError) as raised:
        _Pebble.read("pebble.yaml", content.encode())
    said = f"pebble.yaml on the status branch is not as Argosy writes it: {FAULTS[content]}"
    assert raised.value.message == said


def test_a_bug_of_ours_is_no_fault_of_a_file() -> None:
    with pytest.raises(AttributeError):
        assert _Pebble.read("pebble.yaml", b"name: a").total


def test_a_file_that_says_the_same_in_a_former_version_stays_as_it_is() -> None:
    assert is_same_but_for_version(b"a: b\n", b"a: b\nversion: 1\n")
    assert not is_same_but_for_version(b"a: b\nversion: 1\n", b"a: b\n")
    before = {"refusal.yaml": b"a: b\n", "agents.yaml": b"a: b\n", "told.yaml": b"a: b\n"}
    after = {"refusal.yaml": b"a: b\nversion: 1\n", "agents.yaml": b"a: c\nversion: 1\n"}
    assert changed_files(before, after) == {"agents.yaml": b"a: c\nversion: 1\n", "told.yaml": None}


@pytest.mark.parametrize("after", [{}, {"refusal.yaml": b"a: c\nversion: 1\n"}], ids=["removed", "written over"])
def test_a_file_of_a_newer_argosy_is_never_written_over(after: dict[str, bytes]) -> None:
    with pytest.raises(GitError) as raised:
        changed_files({"refusal.yaml": b"a: b\nversion: 99\n"}, after)
    assert raised.value.message == f"refusal.yaml on the status branch {newer(SourceRefusal)}"


class Fleet:
    """A fleet of one member, whose status branch somebody else may write to."""

    def __init__(self, repository: Repository, kubeconfigs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.repository, self.kubeconfigs, self.capsys = repository, kubeconfigs, capsys

    def reconcile(self) -> Ended:
        return argosy(self.repository, self.capsys, "reconcile", "--kubeconfigs", str(self.kubeconfigs))

    @property
    def tip(self) -> str:
        return self.repository.git("rev-parse", "argosy/status")

    def files(self) -> dict[str, bytes]:
        paths = self.repository.git("ls-tree", "-r", "--name-only", "argosy/status").splitlines()
        return {path: (self.repository.show(path, "argosy/status") + "\n").encode() for path in paths}

    def write(self, files: dict[str, bytes]) -> None:
        """Write files to the status branch as somebody else would."""
        worktree = self.repository.path.parent / "status"
        self.repository.git("worktree", "add", "-q", "--detach", str(worktree), "argosy/status")
        for path, content in files.items():
            (worktree / path).parent.mkdir(parents=True, exist_ok=True)
            (worktree / path).write_bytes(content)
        status = Repository(worktree)
        status.git("add", "-A")
        status.git("commit", "-q", "--allow-empty", "-m", "Write")
        self.repository.git("update-ref", "refs/heads/argosy/status", status.git("rev-parse", "HEAD"))
        self.repository.git("worktree", "remove", "--force", str(worktree))


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Fleet]:
    repository = Repository.create(tmp_path / "fleet")
    policy = a_policy(selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("member1"))
    files = {"cluster.yaml": a_cluster("member1"), "a.yaml": a_config_map("a", color="red"), "policy.yaml": policy}
    repository.commit(files)
    with serving_members([FakeCluster(name="member1")], tmp_path / "kubeconfigs") as served:
        words = ["-q", "-C", str(repository.path), "reconcile", "--bootstrap", "--kubeconfigs", str(served.kubeconfigs)]
        assert run(words) == 0
        yield Fleet(repository, served.kubeconfigs, capsys)


def as_before_versions(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: content_without_version(content) for path, content in files.items()}


def test_a_pass_at_rest_commits_nothing_because_argosy_is_a_newer_one(fleet: Fleet) -> None:
    fleet.reconcile()
    fleet.write(as_before_versions(fleet.files()))
    before = fleet.tip
    assert [fleet.reconcile().code for _ in range(2)] == [0, 0]
    assert fleet.tip == before


def test_a_pass_gives_a_version_to_the_files_that_say_something_new(fleet: Fleet) -> None:
    fleet.write(as_before_versions(fleet.files()))
    old = fleet.files()
    fleet.repository.commit({"a.yaml": a_config_map("a", color="blue")})
    assert fleet.reconcile().code == 0
    new = fleet.files()
    changed = {path for path in new if new[path] != old[path]}
    assert changed
    assert {path for path in changed if struct_of_file_at(path) and b"\nversion: 1\n" not in new[path]} == set()
    assert any(path.startswith("facts/") for path in new.keys() - changed)


@pytest.mark.parametrize("path", WITHOUT_VERSION)
def test_a_pass_refuses_a_file_of_a_newer_argosy_and_leaves_it_as_it_is(path: str, fleet: Fleet) -> None:
    kind = kind_of(path)
    known = [each for each in fleet.files() if struct_of_file_at(each) is kind]
    written = next(iter(known), next(iter(recorded_at(kind))))
    content = fleet.files()[written] if known else recorded_at(kind)[written]
    fleet.write({written: with_version(content, 99)})
    fleet.repository.commit({"a.yaml": a_config_map("a", color="blue"), "b.yaml": a_config_map("b")})
    ended = fleet.reconcile()
    if kind is NoticeRecord:  # a pass has nothing to tell
        assert ended.code == 0
    else:
        assert (ended.code, f"{written} on the status branch {newer(kind)}" in ended.err) == (4, True), ended.err
    assert fleet.files()[written] == with_version(content, 99)


def recorded_at(kind: type[BranchFile]) -> dict[str, bytes]:
    """Return recorded files of a kind by their paths on a branch."""
    found = (param.values for param in FILES)
    return {
        str(path.relative_to(RECORDED)).partition("/")[2]: path.read_bytes()
        for each, path in found
        if each is kind and isinstance(path, Path)
    }
