"""Manifests out of files: documents, lists, and what is no manifest."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from reconciler.source.files import Reason, Skipped
from reconciler.source.manifests import load_manifests
from tests.sources import Content, Entry, source_of
from tests.tables import each_row

MAP = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "%s"}}'


def a_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


class Case(NamedTuple):
    """``want``: number, document, prefix and manifest of each; ``skipped``: why the file was."""

    why: str
    content: Content
    want: list[tuple[int, int, str, Any]]
    skipped: Reason | None = None


KUBECONFIG = "apiVersion: v1\nkind: Config\nclusters: []\nusers:\n- name: a\n  user: {%s}\n"
KUBEADM = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nbootstrapTokens: [{token: abcdef.0123}]\n"
ENCRYPTING = (
    "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
    "- providers: [{aescbc: {keys: [{name: a, secret: c2VjcmV0}]}}]\n"
)
CASES = [
    Case("one document", MAP % "a", [(0, 0, "", a_map("a"))]),
    Case(
        "documents are counted without the empty ones",
        f"---\n# nothing\n---\n{MAP % 'a'}\n---\n---\n{MAP % 'b'}\n",
        [(0, 0, "", a_map("a")), (1, 1, "", a_map("b"))],
    ),
    Case(
        "a byte order mark and CRLF are nothing",
        b"\xef\xbb\xbfapiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: a}\r\n",
        [(0, 0, "", a_map("a"))],
    ),
    Case(
        "a List is its items, and counting goes on after it",
        f'{{"apiVersion": "v1", "kind": "List", "items": [{MAP % "a"}, {MAP % "b"}]}}\n---\n{MAP % "c"}\n',
        [(0, 0, "items[0].", a_map("a")), (1, 0, "items[1].", a_map("b")), (2, 1, "", a_map("c"))],
    ),
    Case(
        "items of a typed list may leave out their type",
        '{"apiVersion": "v1", "kind": "ConfigMapList", "items": [{"metadata": {"name": "a"}}]}',
        [(0, 0, "items[0].", a_map("a"))],
    ),
    Case(
        "lists hold lists",
        f"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items: [{MAP % 'a'}]\n",
        [(0, 0, "items[0].items[0].", a_map("a"))],
    ),
    Case("an empty list is nothing", '{"apiVersion": "v1", "kind": "List", "items": []}', []),
    Case("a list of null is nothing", "apiVersion: v1\nkind: List\nitems:\n", []),
    Case(
        "a kind that ends like a list but has no items is an object",
        "apiVersion: acme.example/v1\nkind: AllowList\nmetadata: {name: a}\n",
        [(0, 0, "", {"apiVersion": "acme.example/v1", "kind": "AllowList", "metadata": {"name": "a"}})],
    ),
    Case("an empty file", "", [], Reason.NO_MANIFEST),
    Case("a file of comments", "# kind of a note about apiVersion\n", [], Reason.NO_MANIFEST),
    Case("the values of a chart", "replicas: 2\nimage: {tag: latest}\n", [], Reason.NO_MANIFEST),
    Case("a list of things", '[{"apiVersion": "v1", "kind": "ConfigMap"}]', [], Reason.NO_MANIFEST),
    Case("text that is no YAML and speaks of no kind", "{{ .Values }}: [\n", [], Reason.NO_MANIFEST),
    Case("a word that contains kind", "mankind: [1, 2\n", [], Reason.NO_MANIFEST),
    Case("half a manifest", "kind: ConfigMap\n", [], Reason.HALF_MANIFEST),
    Case("half a custom resource", "kind: Gate\nmetadata: {name: a}\n", [], Reason.HALF_MANIFEST),
    Case("a manifest without a kind", "apiVersion: v1\nmetadata: {name: a}\n", [], Reason.HALF_MANIFEST),
    Case("the index of charts", "apiVersion: v1\nentries: {web: []}\n", [], Reason.NO_MANIFEST),
    Case("data sources of Grafana", "apiVersion: 1\ndatasources: []\n", [], Reason.NO_MANIFEST),
    Case("a pipeline", "kind: pipeline\nname: web\nsteps: []\n", [], Reason.NO_MANIFEST),
    Case("a kubeconfig", "apiVersion: v1\nkind: Config\nclusters: []\n", [], Reason.NO_OBJECT),
    *(
        Case(f"a kubeconfig with {word}", KUBECONFIG % text, [], reason)
        for word, text, reason in (
            ("a token", "token: hunter2", Reason.CREDENTIALS),
            ("a password", "password: hunter2", Reason.CREDENTIALS),
            ("a key", "client-key-data: aHVudGVyMg==", Reason.CREDENTIALS),
            ("a token of a provider", "auth-provider: {config: {refresh-token: hunter2}}", Reason.CREDENTIALS),
            ("a token in a file", "tokenFile: /var/run/token", Reason.NO_OBJECT),
            ("a program to log in by", "exec: {command: login, args: [--token]}", Reason.NO_OBJECT),
            ("a certificate alone", "client-certificate-data: Y2VydA==", Reason.NO_OBJECT),
            ("a token that is filled in", "token: '${TOKEN}'", Reason.NO_OBJECT),
            ("an encrypted token", "token: 'ENC[AES256_GCM,data:x]'", Reason.NO_OBJECT),
            ("an empty token", "token: ''", Reason.NO_OBJECT),
        )
    ),
    Case("a file for kubeadm with a token", KUBEADM, [], Reason.CREDENTIALS),
    Case("the keys that a server encrypts with", ENCRYPTING, [], Reason.CREDENTIALS),
    Case(
        "a file for kind, though it has a name",
        "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nmetadata: {name: x}\n",
        [],
        Reason.NO_OBJECT,
    ),
    Case("a file for kubeadm", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n", [], Reason.NO_OBJECT),
    Case("an audit policy", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: []\n", [], Reason.NO_OBJECT),
    Case("a configuration without metadata", "apiVersion: acme.io/v1\nkind: GateConfiguration\n", [], Reason.NO_OBJECT),
    Case("a template of ytt", f"#@ load('@ytt:data', 'data')\n---\n{MAP % 'a'}\n", [], Reason.YTT),
    Case("an overlay of ytt", f"#@overlay/match by=overlay.all\n---\n{MAP % 'a'}\n", [], Reason.YTT),
    Case("values of ytt, which are no manifest", "#@data/values\n---\nreplicas: 2\n", [], Reason.NO_MANIFEST),
    Case("a comment that looks alike", f"#@example\n  #@ more\n{MAP % 'a'}\n", [(0, 0, "", a_map("a"))]),
    Case("a pointer of Git LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", [], Reason.LFS),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_load_manifests(case: Case) -> None:
    source = source_of({"a.yaml": case.content})
    contents = load_manifests(source.files, read=source.read)
    found = [(place.number, place.position, place.prefix, place.manifest) for place in contents.manifests]
    assert found == case.want
    assert contents.skipped == ((Skipped("a.yaml", case.skipped),) if case.skipped else ())
    assert (contents.problems, contents.unreadable) == ((), ())


def test_a_file_with_one_broken_document_keeps_the_others() -> None:
    source = source_of({"a.yaml": f"{MAP % 'a'}\n---\nkind: [\n---\n{MAP % 'b'}\n"})
    contents = load_manifests(source.files, read=source.read)
    assert [place.manifest["metadata"]["name"] for place in contents.manifests] == ["a", "b"]
    assert [(each.problem.path, each.problem.line) for each in contents.unreadable] == [("a.yaml", 4)]


def test_equal_files_are_read_once_each_with_its_own_place() -> None:
    source = source_of({"a.yaml": MAP % "a", "b.yaml": MAP % "a"})
    asked: list[list[bytes]] = []

    def read(ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
        asked.append(list(ids))
        return source.read(asked[-1])

    contents = load_manifests(source.files, read=read)
    assert [place.file.path for place in contents.manifests] == ["a.yaml", "b.yaml"]
    assert [len(ids) for ids in asked] == [1]


def test_no_more_is_held_than_a_batch() -> None:
    """Contents are read some 64 MiB at a time, whatever a repository holds."""
    mebi = 1 << 20
    files = {f"{number:02}.yaml": Entry((MAP % f"a{number}").encode(), size=7 * mebi) for number in range(20)}
    source = source_of(files)
    asked: list[int] = []

    def read(ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
        found = source.read(ids)
        asked.append(len(found))
        return found

    assert len(load_manifests(source.files, read=read).manifests) == 20
    assert asked == [9, 9, 2]


def test_what_is_cached_is_plain() -> None:
    source = source_of({"a.yaml": MAP % "a", "b.yaml": "x: 1\n", "c.yaml": f"\n{MAP % 'c'}\n---\n- 1\n"})
    cached: dict[bytes, Any] = {}

    class Cache:
        def get_many(self, ids: Iterable[bytes]) -> Mapping[bytes, Any]:
            return {id_: cached[id_] for id_ in ids if id_ in cached}

        def put_many(self, values: Mapping[bytes, Any]) -> None:
            cached.update(values)

    load_manifests(source.files, read=source.read, cache=Cache())
    by_path = {file.path: json.loads(json.dumps(cached[file.id])) for file in source.files}
    assert by_path == {"a.yaml": [[1, a_map("a")]], "b.yaml": [], "c.yaml": [[2, a_map("c")], [4, [1]]]}
