"""Parsed files of the status branch, kept for the next pass: the same objects and the same refusals, parsed once."""

from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.ledger.cluster import ClusterRecord
from reconciler.ledger.table import object_at
from reconciler.record.parsed_files import ParsedFiles
from reconciler.repository.cache import Cache
from render.errors import GitError
from render.model import Manifest

WORK = b"metadata: {name: web-1a}\nstatus:\n  conditions:\n  - {type: Applied, status: 'True'}\n"
READ = {"metadata": {"name": "web-1a"}, "status": {"conditions": [{"type": "Applied", "status": "True"}]}}
SECRET = b"metadata: {name: web-1a}\nstatus:\n  manifestStatuses:\n  - status: {name: DB_PASSWORD, value: hunter2}\n"
PATH = "works/eu/shop/Deployment.apps/web.yaml"
DAMAGED = "on the status branch is not as Argosy writes it"


def a_cache(folder: Path) -> Cache:
    return Cache(folder, "recorded", version="1")


def parsed(folder: Path, path: str, content: bytes) -> Manifest:
    """Read a file as a pass of its own, which keeps what it parsed."""
    files = ParsedFiles(a_cache(folder))
    manifest = files.of(path, content)
    files.save()
    return manifest


def kept(folder: Path) -> list[Manifest]:
    """The objects that passes keep, by no key in particular."""
    cache = a_cache(folder)
    return list(cache.get_many(list(cache._entries())).values())


class File(NamedTuple):
    """A file, and what is kept of it."""

    why: str
    path: str
    content: bytes
    kept: tuple[Manifest, ...]


FILES = [
    File("the status of an object", PATH, WORK, (READ,)),
    File("the status of a binding", "bindings/shop/Deployment.apps/web.yaml", WORK, (READ,)),
    File("a cluster's record, of which there are few", "clusters/eu.yaml", WORK, ()),
    File("a status that may hold a secret", PATH, SECRET, ()),
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.why)
def test_only_files_about_objects_are_kept(file: File, tmp_path: Path) -> None:
    first, second = (parsed(tmp_path, file.path, file.content) for _ in range(2))
    assert first == second == object_at(file.path, file.content)
    assert tuple(kept(tmp_path)) == file.kept


def test_what_is_kept_is_not_parsed_again(tmp_path: Path) -> None:
    parsed(tmp_path, PATH, WORK)
    cache = a_cache(tmp_path)
    (key,) = cache._entries()
    cache.put_many({key: {"metadata": {"name": "known"}}})
    assert ParsedFiles(cache).of(PATH, WORK) == {"metadata": {"name": "known"}}


RECORD = b"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nstatus: {}\nversion: 1\n"


def read_record(folder: Path, path: str = "clusters/eu.yaml") -> ClusterRecord:
    """Read the record of a cluster as a pass of its own, which keeps its plain value."""
    files = ParsedFiles(values=Cache(folder, "records", version="1"))
    record = files.file(ClusterRecord, path, RECORD)
    files.save()
    return record


def test_the_plain_value_of_a_record_is_kept_and_its_shape_is_checked_each_time(tmp_path: Path) -> None:
    """A value that somebody else puts into the cache is no record before it has the shape of one."""
    assert read_record(tmp_path) == read_record(tmp_path) == ClusterRecord.read("clusters/eu.yaml", RECORD)
    cache = Cache(tmp_path, "records", version="1")
    (key,) = cache._entries()
    cache.put_many({key: {"metadata": {"name": 3}}})
    cache.save()
    with pytest.raises(GitError) as raised:
        read_record(tmp_path)
    assert raised.value.message == f"clusters/eu.yaml {DAMAGED}: metadata.name is no text"


def test_the_value_of_a_record_that_may_hold_a_secret_is_not_kept(tmp_path: Path) -> None:
    files = ParsedFiles(values=Cache(tmp_path, "records", version="1"))
    files.file(ClusterRecord, "clusters/eu.yaml", SECRET)
    files.save()
    assert Cache(tmp_path, "records", version="1")._entries() == {}


SERVING = b"""apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
status:
  apiEnablements:
  - groupVersion: v1
    resources:
    - {name: secrets, kind: Secret, namespaced: true}
version: 1
"""


def test_a_cluster_that_serves_secrets_is_no_secret(tmp_path: Path) -> None:
    """Every cluster does, and a pass reads the records of all of them."""
    files = ParsedFiles(values=Cache(tmp_path, "records", version="1"))
    files.file(ClusterRecord, "clusters/eu.yaml", SERVING)
    files.save()
    assert len(Cache(tmp_path, "records", version="1")._entries()) == 1


class Misplaced(NamedTuple):
    """A file that passes keep, at a path where they write none of the kind."""

    why: str
    path: str
    message: str


MISPLACED = [
    Misplaced(
        "among the schemas",
        "schemas/eu.yaml",
        f"schemas/eu.yaml {DAMAGED}: versions is missing",
    ),
    Misplaced(
        "outside any namespace", "works/eu/x.yaml", f"works/eu/x.yaml {DAMAGED}: passes write no file of this name"
    ),
]


@pytest.mark.parametrize("case", MISPLACED, ids=lambda case: case.why)
def test_what_is_kept_is_refused_where_it_does_not_belong(case: Misplaced, tmp_path: Path) -> None:
    parsed(tmp_path, PATH, WORK)
    with pytest.raises(GitError) as raised:
        parsed(tmp_path, case.path, WORK)
    assert raised.value.message == case.message


def test_a_damaged_file_is_named_each_time_and_never_kept(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(GitError) as raised:
            parsed(tmp_path, PATH, b"metadata: {name: 3}\n")
        assert raised.value.message == f"{PATH} {DAMAGED}: metadata.name is no text"
    assert kept(tmp_path) == []
