"""The next command knows what was parsed of a source, however much was parsed before, and for whom."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from reconciler.branches.reading import read_source
from reconciler.repository import cache, open_repository
from reconciler.repository.cache import Cache
from reconciler.repository.trailers import engine_version
from render.documents import read_documents

from .build import Repository, a_cluster, a_config_map

FORMER = 1000
FLEET = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {}}


def files(folder: str, value: str, *numbers: int) -> dict[str, Any]:
    return {f"{folder}{number}.yaml": a_config_map(f"m-{number}", value=value) for number in numbers}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Read a source, and return how many of its ConfigMaps were parsed for that."""
    read: list[bytes] = []

    def noted(content: bytes, *given: Any, **named: Any) -> Any:
        if b"kind: ConfigMap" in content:  # argosy.yaml is read apart from all else
            read.append(content)
        return read_documents(content, *given, **named)

    monkeypatch.setattr("reconciler.source.manifests.read_documents", noted)

    def count(path: Path, commit: str, memory: dict[bytes, Any] | None = None) -> int:
        read.clear()
        with open_repository(str(path)) as opened:
            read_source(opened, commit, memory)
        return len(read)

    return count


@contextmanager
def no_former_values(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_LEAST_FORMER", 0)
        patch.setattr(cache, "_TIMES_FORMER", 0)
        yield


def test_a_few_files_that_are_new_are_kept_beside_many_former_ones(tmp_path: Path, parsed: Callable[..., int]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    commit = repository.commit({"a.yaml": a_cluster("a"), **files("", "1", *range(30))})
    with Cache(repository.path / ".git" / "argosy", "documents", version=engine_version()) as known:
        known.put_many({number.to_bytes(20, "big"): () for number in range(FORMER)})
    assert (parsed(repository.path, commit), parsed(repository.path, commit)) == (30, 0)
    commit = repository.commit(files("", "2", 0, 1))
    assert (parsed(repository.path, commit), parsed(repository.path, commit)) == (2, 0)


def test_fleets_in_folders_of_one_repository_forget_nothing_of_each_other(
    tmp_path: Path, parsed: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    large, small = repository.path / "large", repository.path / "small"
    commit = repository.commit(
        {
            "large/argosy.yaml": FLEET,
            "small/argosy.yaml": FLEET,
            **files("large/", "1", *range(30)),
            **files("small/", "2", 1, 2),
        }
    )
    with no_former_values(monkeypatch):
        assert (parsed(large, commit), parsed(small, commit)) == (30, 2)
        assert (parsed(large, commit), parsed(small, commit)) == (0, 0)


def test_a_process_that_has_most_in_memory_forgets_nothing_on_disk(
    tmp_path: Path, parsed: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks the disk for the few others alone."""
    repository = Repository.create(tmp_path / "fleet")
    before = repository.commit({"a.yaml": a_cluster("a"), **files("", "1", *range(30))})
    after = repository.commit(files("", "2", *range(20)))
    memory: dict[bytes, Any] = {}
    with no_former_values(monkeypatch):
        assert parsed(repository.path, before, memory) == 30
        assert parsed(repository.path, after, memory) == 20
        assert parsed(repository.path, before) == 0
