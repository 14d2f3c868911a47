"""Files parsed by several processes: what is read of them, and what is committed, is the same as by one."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.repository import File, pack, pack_parts
from reconciler.repository import processes as processes_that_share
from reconciler.source import shared_parsing
from reconciler.source.manifests import Contents, ParsedBlob, load_manifests
from render.gitobjects import BLOB_MODE, git_object_id

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters

DEPLOYMENTS = {"apiVersion": "apps/v1", "kind": "Deployment"}

TEXTS = (
    b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: &x '1', b: *x}\n",
    (
        b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n---\n# nothing\n---\napiVersion: v1\nkind: Secret\n"
        b"metadata: {name: c}\nstringData: {a: b}\n"
    ),
    b'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d"}, "data": {"n": "08", "e": "\\u00e9"}}',
    b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e}\n  wrong: indentation\n",
    b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e, name: f}\n",
    b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.name }}\n",
    b"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: g}\n",
    (
        b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h}\ndata: {a: 'ENC[AES256_GCM,data:x,iv:y]'}\n"
        b"sops: {mac: m}\n"
    ),
    b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nkind: apiVersion\n",
    b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: i}\ndata: {n: 99999999999999999999, b: !!binary aGk=}\n",
    b"\xff\xfeno text",
    b"just: values\n",
    b"",
)


def contents_of(texts: list[bytes], processes: int) -> tuple[Contents, dict[bytes, ParsedBlob]]:
    blobs = {git_object_id("blob", text): text for text in texts}
    files = [File(f"f{n}.yaml", BLOB_MODE, git_object_id("blob", text), len(text)) for n, text in enumerate(texts)]
    cache = Remembered()
    read = load_manifests(files, read=lambda ids: {id_: blobs[id_] for id_ in ids}, cache=cache, processes=processes)
    return read, cache


class Remembered(dict[bytes, ParsedBlob]):
    """A cache that has nothing yet."""

    def get_many(self, _ids: object) -> dict[bytes, ParsedBlob]:
        return {}

    def put_many(self, values: object) -> None:
        self.update(values)  # type: ignore[call-overload]  # what load_manifests puts there


@settings(max_examples=40)
@given(texts=st.lists(st.sampled_from(TEXTS), max_size=20), size=st.integers(1, 500))
def test_contents_are_the_same_whoever_parses_them(texts: list[bytes], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_parsing, "_WORTH_SHARING", 0)
        patch.setattr(processes_that_share, "_has_threads", lambda: False)
        patch.setattr(shared_parsing, "_SHARE", size)
        alone, together = contents_of(texts, 1), contents_of(texts, 3)
    assert together == alone


def test_what_is_parsed_ahead_is_what_has_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = {b"%d" % number: text for number, text in enumerate(TEXTS)}
    mine = os.getpid()

    def is_parsed(content: bytes) -> bool:
        assert os.getpid() == mine
        return b"kind" in content

    assert shared_parsing.documents_parsed_ahead(blobs, is_parsed, 2) == {}, "too little to share"
    monkeypatch.setattr(shared_parsing, "_WORTH_SHARING", 0)
    monkeypatch.setattr(processes_that_share, "_has_threads", lambda: False)
    assert shared_parsing.documents_parsed_ahead(blobs, is_parsed, 1) == {}, "nobody to share it with"
    assert sorted(map(int, shared_parsing.documents_parsed_ahead(blobs, is_parsed, 2))) == [0, 1, 2, 6, 7, 9]


def test_a_pass_commits_the_same_whatever_the_number_of_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shared_parsing, "_WORTH_SHARING", 0)
    monkeypatch.setattr(processes_that_share, "_has_threads", lambda: False)
    monkeypatch.setattr(shared_parsing, "_SHARE", 300)
    monkeypatch.setattr(pack, "_WORTH_SHARING", 0)
    monkeypatch.setattr(pack_parts, "LARGEST_PART", 2000)
    files = {f"apps/a{number}.yaml": a_deployment(f"a{number}", replicas=number) for number in range(12)}
    clusters = {f"clusters/m{number}.yaml": a_cluster(f"m{number}") for number in range(5)}
    policy = a_policy(selectors=[DEPLOYMENTS], placement=on_clusters("m1", "m3"))
    origin = Repository.create(tmp_path / "origin")
    origin.commit({**files, **clusters, "policy.yaml": policy})
    found = []
    for jobs in ("1", "2", "5"):
        fleet = Repository(Path(shutil.copytree(origin.path, tmp_path / jobs)))
        assert argosy(fleet, capsys, "reconcile", "--bootstrap", "--jobs", jobs).code == 0
        packs = (path.read_bytes() for path in (fleet.path / ".git/objects/pack").iterdir())
        found.append((fleet.git("rev-parse", "argosy/rendered"), sorted(packs)))
    assert found == [found[0]] * 3
