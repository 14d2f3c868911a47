"""``argosy get`` beside kubectl: the same tables byte for byte, from real API servers."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.cli import run
from render.documents import parse_documents

from .build import Ended, Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .clusters import Member, remove_namespaces
from .kubectl import kubectl_path
from .waiting import SECONDS, eventually, running

pytestmark = pytest.mark.cluster

DEPLOYMENTS = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "key", "namespace": "looked-at"},
    "stringData": {"token": "not-to-be-seen"},
}
WIDGETS: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gauges.inspection.example.com"},
    "spec": {
        "group": "inspection.example.com",
        "scope": "Namespaced",
        "names": {"kind": "Gauge", "plural": "gauges", "shortNames": ["gg"], "categories": ["instruments"]},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                "additionalPrinterColumns": [
                    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                    {"name": "Owner", "type": "string", "jsonPath": ".spec.owner", "priority": 1},
                ],
            }
        ],
    },
}


class Applied(NamedTuple):
    """A fleet of two members to which its source was applied."""

    repository: Repository
    members: tuple[Member, ...]
    kubeconfigs: Path


class Beside(NamedTuple):
    """The command over a fleet of two members, beside kubectl's on the first of them."""

    fleet: Applied
    capsys: pytest.CaptureFixture[str]

    def run(self, command: str, *words: str) -> Ended:
        reach = ("--kubeconfigs", str(self.fleet.kubeconfigs))
        return argosy(self.fleet.repository, self.capsys, command, *reach, *words)

    def get(self, *words: str) -> Ended:
        return self.run("get", *words)

    def kubectl(self, *words: str) -> str:
        return self.fleet.members[0].kubectl("get", *words)


@pytest.fixture(scope="module")
def applied(members: tuple[Member, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Applied]:
    folder, path = tmp_path_factory.mktemp("kubeconfigs"), tmp_path_factory.mktemp("fleet")
    for member in members[:2]:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    repository = Repository.create(path)
    namespace = "looked-at"
    repository.commit(
        {
            **{f"{member.name}.yaml": a_cluster(member.name) for member in members[:2]},
            "app.yaml": [
                *(a_deployment(name, namespace=namespace, replicas=2) for name in ("web", "a-database")),
                a_config_map("settings", namespace=namespace),
            ],
            "policy.yaml": a_policy(
                "all", namespace=namespace, selectors=DEPLOYMENTS, placement=on_clusters("member1", "member2")
            ),
        }
    )
    assert run(["-C", str(path), "reconcile", "--bootstrap", "--kubeconfigs", str(folder)]) == 0
    yield Applied(repository=repository, members=members, kubeconfigs=folder)
    remove_namespaces(members, namespace, "argosy-system")


@pytest.fixture
def beside(applied: Applied, capsys: pytest.CaptureFixture[str]) -> Beside:
    capsys.readouterr()
    return Beside(applied, capsys)


def without_clusters(text: str) -> str:
    """Take the column of the cluster away, and the prefix of one in lists of names."""
    return "".join(re.sub(r"^(CLUSTER|member1) +", "", line) for line in text.splitlines(keepends=True))


TABLES = [
    ("deployments", "-n", "looked-at"),
    ("deploy", "web", "-n", "looked-at"),
    ("deploy/web", "-n", "looked-at", "-o", "wide"),
    ("deploy,configmaps", "-n", "looked-at"),
    ("deploy", "-n", "looked-at", "-l", "app=web", "--show-labels"),
    ("deploy", "-n", "looked-at", "-L", "app", "--no-headers"),
    ("deploy", "-n", "looked-at", "--field-selector", "metadata.name=web"),
    ("cm", "-n", "looked-at", "-o", "name"),
    ("namespaces", "looked-at"),
    ("ns/looked-at", "-o", "custom-columns=NAME:.metadata.name,PHASE:.status.phase,NONE:.nosuch"),
    ("services", "-A"),
    ("deploy", "-n", "looked-at", "-o", "jsonpath={.items[*].spec.replicas}"),
    ("deploy", "-n", "looked-at", "-o", "jsonpath-as-json={.items[*].metadata.name}"),
    ("deploy", "-n", "looked-at", "-o", "jsonpath-file=FOLDER/names.jsonpath"),
    ("deploy", "-n", "looked-at", "-o", "custom-columns-file=FOLDER/columns.txt"),
    ("deploy", "-n", "looked-at", "--show-kind"),
    ("deploy", "-n", "looked-at", "--show-kind", "--no-headers", "-o", "wide"),
    ("deploy", "-n", "looked-at", "--sort-by", "{.metadata.resourceVersion}"),
    ("deploy", "-n", "looked-at", "--sort-by", "metadata.name", "-o", "name"),
    ("deploy", "-n", "looked-at", "--sort-by=.spec.template.spec.containers[0].image", "--show-labels"),
    ("services", "-A", "--sort-by", ".spec.clusterIP"),
    ("events", "-A", "--sort-by", ".metadata.name"),
    ("deploy", "web", "-n", "looked-at", "--subresource", "scale", "-o", "wide"),
    ("deploy", "web", "-n", "looked-at", "--subresource=status"),
]
FILES = {
    "names.jsonpath": '{range .items[*]}{.metadata.name}{"\\t"}{.spec.replicas}{"\\n"}{end}',
    "columns.txt": "NAME           REPLICAS\n.metadata.name   spec.replicas\n",
}
"""The files that words name by FOLDER."""


@pytest.mark.parametrize("words", TABLES, ids=" ".join)
def test_a_table_of_one_cluster_is_the_one_of_kubectl(beside: Beside, words: tuple[str, ...], tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    words = tuple(word.replace("FOLDER", str(tmp_path)) for word in words)
    ages = re.compile(r"\b\d+[smh](\d+s)?( +|$)", re.MULTILINE)  # a second may pass between the two
    said, want = beside.get(*words, "--cluster", "member1"), beside.kubectl(*words)
    assert (said.code, said.err) == (0, "")
    assert ages.sub("AGE ", without_clusters(said.out)) == ages.sub("AGE ", want)


def test_the_order_of_a_field_goes_over_all_clusters(beside: Beside) -> None:
    for words in ((), ("-o", "name")):
        said = beside.get("deploy", "-n", "looked-at", "--sort-by", "metadata.name", *words).out
        lines = [line.split() for line in said.splitlines() if not line.startswith("CLUSTER")]
        assert [(line[1].rpartition("/")[2], line[0]) for line in lines] == [
            (name, cluster) for name in ("a-database", "web") for cluster in ("member1", "member2")
        ]
    ended = beside.get("deploy", "-n", "looked-at", "--sort-by", ".nosuch")
    assert (ended.code, ended.out, "--sort-by: no object has .nosuch" in ended.err) == (2, "", True)


def test_a_subresource_of_an_object_is_what_kubectl_prints(beside: Beside) -> None:
    words = ("deploy", "web", "-n", "looked-at", "--subresource", "scale", "-o")
    (ours,) = json.loads(beside.get(*words, "json", "--cluster", "member1").out)["items"]
    assert ours == {"cluster": "member1", **json.loads(beside.kubectl(*words, "json"))}


def test_two_clusters_stand_in_one_table(beside: Beside) -> None:
    lines = [line.split()[:2] for line in beside.get("deploy", "-n", "looked-at").out.splitlines()]
    assert lines == [
        ["CLUSTER", "NAME"],
        *([name, app] for name in ("member1", "member2") for app in ("a-database", "web")),
    ]


def test_printer_columns_of_a_kind_that_one_cluster_serves(beside: Beside) -> None:
    first = beside.fleet.members[0]
    first.kubectl("apply", "-f", "-", stdin=json.dumps(WIDGETS))
    first.kubectl("wait", "--for=condition=Established", "crd/gauges.inspection.example.com")
    gauge = {
        "apiVersion": "inspection.example.com/v1",
        "kind": "Gauge",
        "metadata": {"name": "speed", "namespace": "looked-at"},
        "spec": {"size": 3, "owner": "team-a"},
    }
    first.kubectl("apply", "-f", "-", stdin=json.dumps(gauge))
    try:
        for words in (("gg",), ("gauges.inspection.example.com", "-o", "wide"), ("instruments",)):
            said = beside.get(*words, "-n", "looked-at")
            assert (said.code, "is not served in member2" in said.err) == (0, True), said
            assert without_clusters(said.out) == beside.kubectl(*words, "-n", "looked-at")
    finally:
        first.kubectl("delete", "crd/gauges.inspection.example.com")


def test_no_form_shows_a_secret(beside: Beside) -> None:
    beside.fleet.members[0].kubectl("apply", "-f", "-", stdin=json.dumps(SECRET))
    for form in ("json", "yaml", "jsonpath={.items[*]}", "wide", "custom-columns=A:.data,B:.metadata.annotations"):
        said = beside.get("secret", "key", "-n", "looked-at", "-o", form)
        assert (said.code, "not-to-be-seen" in said.out, "bm90LXRvLWJl" in said.out) == (0, False, False)
    document = json.loads(beside.get("secret", "-n", "looked-at", "-o", "json").out)
    assert [(each["cluster"], each["data"]) for each in document["items"]] == [("member1", {"token": "(hidden)"})]


@pytest.fixture
def kubectl_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kubectl that members of tests are asked with."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")


@pytest.mark.usefixtures("kubectl_on_path")
def test_descriptions_events_and_kinds_are_those_of_kubectl(beside: Beside) -> None:
    first = beside.fleet.members[0]
    for words in (("describe", "namespace", "looked-at"), ("describe", "deploy/web", "-nlooked-at")):
        said = beside.run(*words, "--cluster", "member1")
        assert (said.code, said.err) == (0, "")
        assert without_ages(said.out) == without_ages(f"Cluster:  member1\n{first.kubectl(*words)}")
    for options in (("--api-group=apps",), ("-o", "wide", "--namespaced=false")):
        said = beside.run("api-resources", *options, "--cluster", "member1")
        assert (said.code, rows_of(without_clusters(said.out))) == (
            0,
            rows_of(first.kubectl("api-resources", *options)),
        )
    events = beside.run("events", "-n", "looked-at")
    assert (events.code, events.out.splitlines()[0].split()[:3]) == (0, ["CLUSTER", "LAST", "SEEN"])
    assert {line.split()[0] for line in events.out.splitlines()[1:]} == {"member1", "member2"}


@pytest.mark.usefixtures("kubectl_on_path")
def test_a_command_that_a_member_cannot_answer_says_why(beside: Beside) -> None:
    said = beside.run("top", "nodes", "--cluster", "member1")
    assert (said.code, said.out, said.err) == (1, "", "warning: member1: error: Metrics API not available\n")
    said = beside.run("logs", "deploy/nosuch", "-n", "looked-at")
    assert (said.code, said.out) == (1, "")
    assert '(NotFound): deployments.apps "nosuch" not found' in said.err


def test_kubectl_reaches_every_member_by_the_kubeconfig_of_all(beside: Beside, tmp_path: Path) -> None:
    said = beside.run("kubeconfig")
    assert (said.code, said.err) == (0, "")
    file = tmp_path / "fleet.kubeconfig"
    file.write_text(said.out)
    for member in beside.fleet.members[:2]:
        words = ("--kubeconfig", str(file), "--context", member.name, "get", "ns", "kube-system", "-o", "name")
        assert member.kubectl(*words) == "namespace/kube-system\n"


def rows_of(text: str) -> list[list[str]]:
    """The words of each line."""
    return [line.split() for line in text.splitlines()]


def without_ages(text: str) -> str:
    """Leave out how long ago something was, which goes on from one command to the next."""
    return re.sub(r"\b\d+[smh](\d+s)?\b( *\(x\d+ over [^)]*\))?", "AGE", text)


class Watcher(NamedTuple):
    """A command that goes on until it is interrupted, and the file that it prints to."""

    process: "subprocess.Popen[str]"
    output: Path
    errors: Path

    def lines(self) -> list[str]:
        return self.output.read_text().splitlines()

    def has_last_change(self) -> bool:
        """Say whether the last of the changes is printed."""
        return re.search(r"other +3 ", self.output.read_text()) is not None

    def has_last_document(self) -> bool:
        """Say whether the last of the changes is printed as JSON or YAML."""
        return re.search(r'\bc"?: *"3"', self.output.read_text()) is not None

    def ended(self) -> int:
        """Interrupt it as ^C does, and return how it ends."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=SECONDS)


@contextmanager
def watching(folder: Path, name: str, command: Sequence[str]) -> Iterator[Watcher]:
    output, errors = folder / f"{name}.out", folder / f"{name}.err"
    with (
        output.open("w") as out,
        errors.open("w") as err,
        running([*command], stdout=out, stderr=err, stdin=subprocess.DEVNULL) as process,
    ):
        yield Watcher(process, output, errors)


AGES = re.compile(r"\b\d+[smh](\d+s)?( +|$)", re.MULTILINE)
WATCHED = [
    ("configmaps", "-n", "watched"),
    ("cm", "-n", "watched", "-o", "wide", "--show-labels"),
    ("cm", "-A", "-l", "app=seen"),
    ("cm/other", "-n", "watched", "-L", "app"),
    ("cm", "-n", "watched", "--no-headers"),
]


def change_objects(member: Member) -> None:
    """Change objects, make one of a longer name, remove it, and end with three entries in the other one."""
    for words in (
        ("patch", "cm", "other", "-p", '{"data":{"a":"1"}}'),
        ("create", "cm", "one-of-a-much-longer-name"),
        ("label", "cm", "one-of-a-much-longer-name", "app=seen"),
        ("patch", "cm", "one", "-p", '{"data":{"a":"1","b":"2"}}'),
        ("delete", "cm", "one-of-a-much-longer-name"),
        ("patch", "cm", "other", "-p", '{"data":{"a":"1","b":"2","c":"3"}}'),
    ):
        member.kubectl("-n", "watched", *words)


@pytest.mark.parametrize("words", WATCHED, ids=" ".join)
def test_a_watch_of_one_cluster_prints_the_rows_of_kubectl(
    applied: Applied, words: tuple[str, ...], tmp_path: Path
) -> None:
    """Byte for byte, columns that become wider included, whatever happens to the objects meanwhile."""
    member = applied.members[0]
    member.kubectl("create", "namespace", "watched")
    try:
        for name in ("one", "other"):
            member.kubectl("-n", "watched", "create", "cm", name)
            member.kubectl("-n", "watched", "label", "cm", name, "app=seen")
        ours = [sys.executable, "-m", "reconciler", "-C", str(applied.repository.path), "get", *words, "-w"]
        ours += ["--kubeconfigs", str(applied.kubeconfigs), "--cluster", "member1"]
        theirs = [str(kubectl_path()), "--kubeconfig", str(member.kubeconfig), "get", *words, "-w"]
        with watching(tmp_path, "ours", ours) as own, watching(tmp_path, "theirs", theirs) as other:
            for watcher in (own, other):
                eventually(watcher.lines, "what is there")
            change_objects(member)
            for watcher in (own, other):
                eventually(watcher.has_last_change, "the last change")
            code, _ = own.ended(), other.ended()
        printed = without_clusters(own.output.read_text())
        assert AGES.sub("AGE ", printed) == AGES.sub("AGE ", other.output.read_text())
        assert (code, own.errors.read_text().strip()) == (130, "argosy: interrupted")
    finally:
        remove_namespaces(applied.members[:1], "watched")


DOCUMENTS = [
    ("-o", "json"), ("-o", "yaml"), ("-o", "json", "--output-watch-events"), ("-o", "yaml", "--output-watch-events"),
]  # fmt: skip


@pytest.mark.parametrize("form", DOCUMENTS, ids=" ".join)
def test_a_watch_prints_the_documents_of_kubectl(applied: Applied, form: tuple[str, ...], tmp_path: Path) -> None:
    """The same objects and events in the same order, each with the cluster that kubectl has no field for."""
    member, words = applied.members[0], ("cm", "-n", "watched", "-l", "app=seen", *form)
    member.kubectl("create", "namespace", "watched")
    try:
        for name in ("one", "other"):
            member.kubectl("-n", "watched", "create", "cm", name)
            member.kubectl("-n", "watched", "label", "cm", name, "app=seen")
        ours = [sys.executable, "-m", "reconciler", "-C", str(applied.repository.path), "get", *words, "-w"]
        ours += ["--kubeconfigs", str(applied.kubeconfigs), "--cluster", "member1"]
        theirs = [str(kubectl_path()), "--kubeconfig", str(member.kubeconfig), "get", *words, "-w"]
        with watching(tmp_path, "ours", ours) as own, watching(tmp_path, "theirs", theirs) as other:
            for watcher in (own, other):
                eventually(watcher.lines, "what is there")
            change_objects(member)
            for watcher in (own, other):
                eventually(watcher.has_last_document, "the last one")
            assert (own.ended(), other.ended() != 0) == (130, True)
        found, wanted = (documents_in(each.output.read_text(), form[1]) for each in (own, other))
        assert [without_cluster(each) for each in found] == [(each, "member1") for each in wanted]
        assert len(found) > len(("one", "other"))
    finally:
        remove_namespaces(applied.members[:1], "watched")


def documents_in(text: str, form: str) -> list[Any]:
    if form == "yaml":
        return [each.value for each in parse_documents(text.encode())]
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text):
        document, end = decoder.raw_decode(text, at)
        found.append(document)
        at = end + 1
    return found


def without_cluster(document: dict[str, Any]) -> tuple[Any, str]:
    item = dict(document.get("object", document))
    cluster = item.pop("cluster")
    return ({**document, "object": item} if "object" in document else item), cluster


def is_next_change_told(member: Member, numbers: Iterator[int], watcher: Watcher) -> bool:
    """Make an object, and say whether anything of that member has been told of; it may not be watched yet."""
    member.kubectl("-n", "watched", "create", "cm", f"made-in-{member.name}-{next(numbers)}")
    return f"\n{member.name} " in watcher.output.read_text()


def test_two_clusters_are_watched_in_one_table(applied: Applied, tmp_path: Path) -> None:
    ours = [sys.executable, "-m", "reconciler", "-C", str(applied.repository.path), "get", "cm", "-n", "watched"]
    ours += ["--kubeconfigs", str(applied.kubeconfigs), "-w", "--output-watch-events", "--watch-only"]
    try:
        for member in applied.members[:2]:
            member.kubectl("create", "namespace", "watched")
        with watching(tmp_path, "ours", ours) as own:
            numbers = count()
            for member in applied.members[:2]:
                eventually(partial(is_next_change_told, member, numbers, own), "a change", pause=0.3)
            assert own.ended() == 130
        lines = [line.split() for line in own.lines()]
        assert lines[0] == ["CLUSTER", "EVENT", "NAME", "DATA", "AGE"]
        told = [(cluster, event) for cluster, event, name, *_ in lines[1:] if name.startswith("made-in")]
        assert {*told} == {("member1", "ADDED"), ("member2", "ADDED")}
    finally:
        remove_namespaces(applied.members[:2], "watched")
