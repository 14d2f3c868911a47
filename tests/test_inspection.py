"""``argosy get``: objects of many members at once, in the tables of their servers, and who did not answer."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple, cast

import click
import pytest

from reconciler.commands.options.selector_checks import checked_label_selector
from reconciler.inspection.asking import Answered, ObjectQuestion, answers_of_members
from reconciler.inspection.objects import ObjectOutput, parse_object_output, shown_object, text_of_objects
from reconciler.inspection.ordering import ordered_objects, ordered_rows
from reconciler.inspection.tables import (
    KindRows,
    Row,
    Shown,
    Table,
    age_text,
    kind_rows_of_tables,
    table_of_answer,
    text_of_kind_rows,
)
from reconciler.inspection.wanted import (
    KindWithNames,
    ObjectsWanted,
    parse_wanted_kinds,
    resources_meant_by,
)
from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Answer, Client, Expected, Failure, FailureKind, Request
from reconciler.members.visits import MemberReach

from .build import Ended, Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .fakes import FakeCluster
from .served import asked_again_at_once, serving_members
from .tables import each_row

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def resource(group: str, kind: str, plural: str, *short: str, version: str = "v1", category: str = "") -> Resource:
    return Resource(
        group=group,
        version=version,
        kind=kind,
        plural=plural,
        is_namespaced=True,
        verbs=frozenset({"get", "list"}),
        singular=kind.lower(),
        short_names=frozenset(short),
        categories=frozenset({category} - {""}),
    )


PODS = resource("", "Pod", "pods", "po", category="all")
EVENTS = resource("", "Event", "events", "ev")
OTHER_EVENTS = resource("events.k8s.io", "Event", "events", "ev")
DEPLOYMENTS = resource("apps", "Deployment", "deployments", "deploy", category="all")
OLD_DEPLOYMENTS = resource("apps", "Deployment", "deployments", "deploy", version="v1beta2", category="all")
METRICS = resource("metrics.k8s.io", "PodMetrics", "pods", version="v1beta1")
WIDGETS = resource("example.com", "Widget", "widgets", "po")
SERVED = Discovery(
    resources={
        (each.api_version, each.kind): each
        for each in (PODS, EVENTS, DEPLOYMENTS, OLD_DEPLOYMENTS, OTHER_EVENTS, METRICS, WIDGETS)
    }
)


class Word(NamedTuple):
    why: str
    word: str
    meant: tuple[Resource, ...]


WORDS = [
    Word("the plural", "deployments", (DEPLOYMENTS,)),
    Word("the singular", "deployment", (DEPLOYMENTS,)),
    Word("the kind, in any case", "Deployment", (DEPLOYMENTS,)),
    Word("a short name", "deploy", (DEPLOYMENTS,)),
    Word("of two groups the first", "events", (EVENTS,)),
    Word("a group tells them apart", "events.events.k8s.io", (OTHER_EVENTS,)),
    Word("a version and a group", "deployments.v1beta2.apps", (OLD_DEPLOYMENTS,)),
    Word("a short name with a group", "po.example.com", (WIDGETS,)),
    Word("of two kinds with a short name the first", "po", (PODS,)),
    Word("a name of its own goes before a short name", "pods.metrics.k8s.io", (METRICS,)),
    Word("a category is many kinds, each once", "all", (PODS, DEPLOYMENTS)),
    Word("no such kind", "nosuch", ()),
    Word("a kind that is not of the group", "pods.apps", ()),
]


@each_row("case", WORDS, ids=lambda case: case.why)
def test_a_word_means_the_kinds_that_it_means_for_kubectl(case: Word) -> None:
    assert resources_meant_by(case.word, SERVED) == case.meant


SELECTORS = ["app=web", "app==web,tier!=db", "!old,new", "tier in (a, b),x.io/y notin (c)", "n>3", "app="]
NO_SELECTORS = ["a b c", "=web", "app=web=db", "tier in (a", "tier in a", ",", "app=we b"]


def test_selectors_of_labels_are_those_of_kubectl() -> None:
    context, option = click.Context(click.Command("get")), click.Option(["--selector"])
    assert [checked_label_selector(context, option, each) for each in SELECTORS] == SELECTORS
    for each in NO_SELECTORS:
        with pytest.raises(click.BadParameter):
            checked_label_selector(context, option, each)


class Words(NamedTuple):
    words: list[str]
    meant: tuple[KindWithNames, ...]


COMMANDS = [
    Words(["pods"], (KindWithNames(word="pods"),)),
    Words(["deploy", "web", "db", "web"], (KindWithNames(word="deploy", names=("web", "db")),)),
    Words(["deploy,svc", "web"], tuple(KindWithNames(word=each, names=("web",)) for each in ("deploy", "svc"))),
    Words(["deploy/web", "svc/web"], tuple(KindWithNames(word=each, names=("web",)) for each in ("deploy", "svc"))),
]


@each_row("case", COMMANDS, ids=lambda case: " ".join(case.words))
def test_the_words_of_a_command_name_kinds_and_objects(case: Words) -> None:
    assert parse_wanted_kinds(case.words) == case.meant


@pytest.mark.parametrize("words", [[], ["pods,"], ["deploy/web", "db"], ["deploy/"], ["a/b/c"], ["a,b/c"]])
def test_words_that_name_nothing_are_a_usage_error(words: list[str]) -> None:
    with pytest.raises(click.UsageError):
        parse_wanted_kinds(words)


METADATA = {"namespace": "shop", "labels": {"app": "a"}}
COLUMNS = [{"name": "Name"}, {"name": "Ready"}, {"name": "IP", "priority": 1}]


def a_table(*rows: tuple[Any, ...], columns: Any = COLUMNS) -> Table:
    body = {
        "kind": "Table",
        "columnDefinitions": columns,
        "rows": [
            {
                "cells": list(each),
                "object": {"metadata": {"name": each[0], "namespace": "shop", "labels": {"app": "a"}}},
            }
            for each in rows
        ],
    }
    return table_of_answer(body, NOW)


def text_of(*tables: tuple[str, str, Table], **shown: Any) -> str:
    return text_of_kind_rows(kind_rows_of_tables(tables), Shown(**shown))


def test_rows_of_clusters_stand_in_one_table() -> None:
    tables = (("pod", "oslo", a_table(("web-1", "1/1", "10.0.0.1"))), ("pod", "paris", a_table(("a", "0/1", None))))
    assert text_of(*tables) == (
        "CLUSTER   NAME    READY\n"
        "oslo      web-1   1/1\n"
        "paris     a       0/1\n"
    )  # fmt: skip
    assert text_of(*tables, is_wide=True, has_header=False) == (
        "oslo    web-1   1/1   10.0.0.1\n"
        "paris   a       0/1   \n"
    )  # fmt: skip
    assert text_of(*tables, has_namespaces=True, labels=("x.io/app", "app"), has_labels=True) == (
        "CLUSTER   NAMESPACE   NAME    READY   APP      APP   LABELS\n"
        "oslo      shop        web-1   1/1     <none>   a     app=a\n"
        "paris     shop        a       0/1     <none>   a     app=a\n"
    )


def test_kinds_have_tables_of_their_own_and_so_have_servers_with_other_columns() -> None:
    services = a_table(("web", 80, True), columns=[{"name": "Name"}, {"name": "Port"}, {"name": "Open"}])
    tables = (
        ("pod", "oslo", a_table(("web-1", "1/1", ""))),
        ("service", "oslo", services),
        ("pod", "paris", a_table(("web-2",), columns=[{"name": "Name"}])),
    )
    assert text_of(*tables) == (
        "CLUSTER   NAME        READY\n"
        "oslo      pod/web-1   1/1\n"
        "\n"
        "CLUSTER   NAME\n"
        "paris     pod/web-2\n"
        "\n"
        "CLUSTER   NAME          PORT   OPEN\n"
        "oslo      service/web   80     true\n"
    )


def test_a_server_without_tables_has_names_and_ages() -> None:
    item = {"metadata": {"name": "a", "creationTimestamp": "2026-03-01T11:00:00Z"}}
    for body in ({"kind": "WidgetList", "items": [item]}, {"kind": "Widget", **item}):
        assert text_of(("widget", "oslo", table_of_answer(body, NOW))) == "CLUSTER   NAME   AGE\noslo      a      60m\n"


def test_a_cell_ends_at_its_first_break() -> None:
    assert text_of(("pod", "oslo", a_table(("a\nb", "c\rd", "")))) == "CLUSTER   NAME   READY\noslo      a...   c...\n"


class Age(NamedTuple):
    seconds: float
    text: str


AGES = [
    Age(-5, "<invalid>"), Age(-1, "0s"), Age(0.9, "0s"), Age(119, "119s"), Age(120, "2m"), Age(599, "9m59s"),
    Age(600, "10m"), Age(10_799, "179m"), Age(10_800, "3h"), Age(11_000, "3h3m"), Age(28_800, "8h"),
    Age(172_799, "47h"), Age(172_800, "2d"), Age(180_000, "2d2h"), Age(8 * 86_400, "8d"), Age(729 * 86_400, "729d"),
    Age(730 * 86_400, "2y"), Age(740 * 86_400, "2y10d"), Age(2920 * 86_400, "8y"), Age(3000 * 86_400, "8y"),
]  # fmt: skip


@each_row("case", AGES, ids=lambda case: case.text)
def test_ages_are_those_of_kubectl(case: Age) -> None:
    assert age_text(case.seconds) == case.text


SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {
        "name": "key",
        "managedFields": [{}],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "c2VjcmV0", "a": "b"},
    },
    "data": {"token": "c2VjcmV0"},
    "type": "Opaque",
}


@pytest.mark.parametrize(
    "form", ["json", "yaml", "jsonpath={.items[*].data}", "jsonpath={.items[*]}", "custom-columns=A:.data,B:.metadata"]
)
def test_no_form_shows_the_content_of_a_secret(form: str) -> None:
    output = parse_object_output(form)
    assert output is not None
    text = text_of_objects([("secret", shown_object("oslo", SECRET, has_managers=True))], output)
    assert "c2VjcmV0" not in text
    assert "(hidden)" in text


def test_objects_have_their_clusters_and_no_managers_unless_these_are_asked_for() -> None:
    item = {"kind": "Pod", "metadata": {"name": "a", "managedFields": [1]}}
    assert shown_object("oslo", item, has_managers=False) == {
        "cluster": "oslo",
        "kind": "Pod",
        "metadata": {"name": "a"},
    }
    assert shown_object("oslo", item, has_managers=True)["metadata"]["managedFields"] == [1]


PODS_OF_TWO = [
    ("pod", {"cluster": "oslo", "metadata": {"name": "a", "labels": {"x": "1"}}, "spec": {"n": [1, 2]}}),
    ("pod", {"cluster": "paris", "metadata": {"name": "b"}, "spec": {}}),
]


class Form(NamedTuple):
    form: str
    text: str


FORMS = [
    Form("name", "oslo pod/a\nparis pod/b\n"),
    Form("jsonpath={.items[*].metadata.name}", "a b"),
    Form("jsonpath=.items[0].cluster", "oslo"),
    Form("jsonpath-as-json={.items[*].spec.n}", "[\n    [\n        1,\n        2\n    ]\n]\n"),
    Form(r'jsonpath={range .items[*]}{.cluster}={.spec.n[*]}{"\n"}{end}', "oslo=1 2\nparis=\n"),
    Form(
        "custom-columns=NAME:.metadata.name,N:.spec.n[*],X:metadata.labels.x",
        "CLUSTER   NAME   N        X\noslo      a      1,2      1\nparis     b      <none>   <none>\n",
    ),
]


@each_row("case", FORMS, ids=lambda case: case.form)
def test_objects_in_a_form(case: Form) -> None:
    output = parse_object_output(case.form)
    assert output is not None
    assert text_of_objects(PODS_OF_TWO, output) == case.text


@pytest.mark.parametrize(
    "form", ["xml", "jsonpath=", "jsonpath={.a", "custom-columns=", "custom-columns=A", "custom-columns=A:.b[x]"]
)
def test_a_form_that_is_none_is_a_usage_error(form: str) -> None:
    with pytest.raises(click.UsageError):
        parse_object_output(form)


COLUMNS_FILES = [
    ("NAME\n.a .b\n", "write a line of titles"),
    ("", "write a line of titles"),
    ("NAME\n.a[x]\n", "-o custom-columns"),
    ("x" * 300_000, "has more than 256 KiB"),
]


@pytest.mark.parametrize(("text", "said"), COLUMNS_FILES, ids=["uneven", "empty", "no path", "large"])
def test_a_file_of_columns_that_is_none_is_a_usage_error(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "columns").write_text(text)
    with pytest.raises(click.UsageError, match=re.escape(said)):
        parse_object_output(f"custom-columns-file={tmp_path / 'columns'}")


SIZES = ["10Gi", "9Gi", "512Mi", None, "1Ti"]


def test_objects_stand_in_the_order_of_a_field() -> None:
    """Objects that lack it come first, amounts go by size, text by characters, and contents of Secrets tell nothing."""
    claims = [("pvc", {"cluster": "a", "spec": {"size": size} if size else {}}) for size in SIZES]
    assert [each["spec"].get("size") for _, each in ordered_objects(claims, ".spec.size")] == [
        None, "512Mi", "9Gi", "10Gi", "1Ti",
    ]  # fmt: skip
    names = ["web-10", "web-9", "web", "api", "Web"]
    pods = [("pod", {"cluster": "a", "metadata": {"name": name}}) for name in names]
    assert [each["metadata"]["name"] for _, each in ordered_objects(pods, ".metadata.name")] == [
        "Web", "api", "web", "web-10", "web-9",
    ]  # fmt: skip
    secrets = {name: {**SECRET, "metadata": {"name": name}, "data": {"token": name}} for name in "ba"}
    rows = tuple(("oslo", Row(cells=(name,), item=item)) for name, item in secrets.items())
    (table,) = ordered_rows([KindRows(kind="secret", columns=(), rows=rows)], ".data.token")
    assert table.rows == rows


@pytest.mark.parametrize("form", ["", "wide"])
def test_tables_are_no_form_of_objects(form: str) -> None:
    assert parse_object_output(form) is None
    assert parse_object_output("json") == ObjectOutput(form="json")


class Paging:
    """A server whose list has two pages, the second of which is refused so many times as expired."""

    stopped = None
    concurrency = 1

    def __init__(self, expired: int) -> None:
        self.expired = expired

    def send(self, request: Request) -> Answer | Failure:
        if request.expects is Expected.DISCOVERY:
            resources = [
                {"resource": "pods", "responseKind": {"kind": "Pod"}, "verbs": ["list"], "scope": "Namespaced"}
            ]
            group = {"versions": [{"version": "v1", "resources": resources}]}
            return Answer(status=200, body={"kind": "APIGroupDiscoveryList", "items": [group]})
        if "continue" in request.query and self.expired:
            self.expired -= 1
            return Failure(kind=FailureKind.EXPIRED, message="it is too old")
        name, token = ("b", "") if "continue" in request.query else ("a", "more")
        rows = [{"cells": [name], "object": {"metadata": {"name": name}}}]
        columns = [{"name": "Name"}]
        table = {"kind": "Table", "metadata": {"continue": token}, "columnDefinitions": columns, "rows": rows}
        return Answer(status=200, body=table)


@pytest.mark.parametrize(
    ("expired", "names", "is_failed"), [(0, ["a", "b"], False), (2, ["a", "b"], False), (3, [], True)]
)
def test_a_list_that_expires_begins_again_and_is_never_shown_in_part(
    expired: int, names: list[str], is_failed: bool
) -> None:
    server = cast("Client", Paging(expired))
    question = ObjectQuestion(wanted=ObjectsWanted(kinds=(KindWithNames(word="pods"),)), now=NOW)
    answer = answers_of_members(["oslo"], question, MemberReach(open_client=lambda _name, _deadline: server))["oslo"]
    assert isinstance(answer, Answered)
    (found,) = answer.kinds
    assert ([row.name for row in found.table.rows], found.failure is not None) == (names, is_failed)


class Fleet(NamedTuple):
    """A fleet whose members are served, and the output of its commands."""

    repository: Repository
    kubeconfigs: Path
    capsys: pytest.CaptureFixture[str]

    def get(self, *words: str) -> Ended:
        return argosy(self.repository, self.capsys, "get", *words, "--kubeconfigs", str(self.kubeconfigs))


def refused(handler: BaseHTTPRequestHandler) -> bool:
    """Refuse what is no discovery, as an API server does whose user may not."""
    if handler.path.partition("?")[0] in {"/api", "/apis"}:
        return False
    status = {"kind": "Status", "status": "Failure", "reason": "Forbidden", "message": "no", "code": 403}
    content = json.dumps(status).encode()
    handler.send_response(403)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)
    return True


NAMES = ("eu-oslo", "eu-paris", "rome")
KINDS = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]


def applied(tmp_path: Path, capsys: pytest.CaptureFixture[str], members: list[FakeCluster]) -> Repository:
    """Apply a Deployment to three members and a ConfigMap to one; a fourth has its own agent."""
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(
        {
            **{f"clusters/{name}.yaml": a_cluster(name) for name in NAMES},
            "clusters/bergen.yaml": a_cluster("bergen", syncMode="Pull"),
            "app.yaml": [a_deployment("web", replicas=1), a_config_map("settings")],
            "policies.yaml": [
                a_policy("web", selectors=KINDS[:1], placement=on_clusters(*NAMES)),
                a_policy("settings", selectors=KINDS[1:], placement=on_clusters("rome")),
            ],
        }
    )
    with serving_members(members, tmp_path / "kubeconfigs") as served:
        folder = str(served.kubeconfigs)
        ended = argosy(repository, capsys, "reconcile", "--bootstrap", "--kubeconfigs", folder)
    assert ended.code == 0, ended
    return repository


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Fleet]:
    members = [FakeCluster(name) for name in NAMES]
    repository = applied(tmp_path, capsys, members)
    with serving_members(members, tmp_path / "kubeconfigs") as served:
        yield Fleet(repository=repository, kubeconfigs=served.kubeconfigs, capsys=capsys)


def test_a_kind_of_all_members_that_are_reached(fleet: Fleet) -> None:
    ended = fleet.get("deployments", "-o", "name")
    assert ended == Ended(
        0,
        "eu-oslo deployment.apps/web\neu-paris deployment.apps/web\nrome deployment.apps/web\n",
        "",
    )
    assert [line.split()[:2] for line in fleet.get("deployment").out.splitlines()] == [
        ["CLUSTER", "NAME"],
        ["eu-oslo", "web"],
        ["eu-paris", "web"],
        ["rome", "web"],
    ]


def test_clusters_are_chosen_by_patterns(fleet: Fleet) -> None:
    assert fleet.get("deployment", "-o", "name", "--cluster", "eu-*").out == (
        "eu-oslo deployment.apps/web\neu-paris deployment.apps/web\n"
    )
    ended = fleet.get("deployment", "--cluster", "us-*")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "argosy: no cluster of the source is called like 'us-*'\n"
        "  hint: they are bergen, eu-oslo, eu-paris and 1 more\n"
    )
    assert "did you mean 'rome'?" in fleet.get("deployment", "--cluster", "roma").err


def test_an_object_that_one_cluster_has_is_found_there(fleet: Fleet) -> None:
    ended = fleet.get("configmap/settings", "-o", "custom-columns=NAME:.metadata.name")
    assert ended == Ended(0, "CLUSTER   NAME\nrome      settings\n", "")


def test_a_name_that_no_cluster_has_is_said_and_is_no_success(fleet: Fleet) -> None:
    ended = fleet.get("configmap", "settings", "nosuch", "-o", "name")
    assert ended == Ended(
        1, "rome configmap/settings\n", "no cluster that was asked has configmap/nosuch in namespace default\n"
    )
    assert fleet.get("configmap", "nosuch", "--ignore-not-found") == Ended(0, "", "")


def test_nothing_is_said_to_be_nothing(fleet: Fleet) -> None:
    assert fleet.get("configmaps", "-n", "empty") == Ended(
        0, "", "nothing found in namespace empty in 3 of the fleet's clusters\n"
    )


def test_a_kind_that_no_cluster_serves_is_refused_with_the_nearest(fleet: Fleet) -> None:
    ended = fleet.get("deploymints")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "argosy: no cluster that was asked serves a kind 'deploymints'\n  hint: did you mean 'deployments'?\n"
    )


def test_a_member_that_has_its_own_agent_is_named(fleet: Fleet) -> None:
    ended = fleet.get("deployment", "--cluster", "bergen", "--cluster", "rome", "-o", "name")
    assert (ended.code, ended.out) == (0, "rome deployment.apps/web\n")
    assert "left to their agents, for they pull: bergen" in ended.err
    assert (
        "bergen pulls and is not asked: its agent has reported nothing that is known here; pods, events and logs of it"
        " are seen only where its cluster is reached\n"
    ) in ended.err


def test_what_an_agent_reported_is_told_with_its_date(fleet: Fleet) -> None:
    """Of a member that pulls, the status branch is all that is known here; a command that names it says how old."""
    record = {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "bergen", "annotations": {"argosy.dev/heartbeat": "2026-03-01T12:03:00Z"}},
    }
    work = {"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {"name": "web"}}
    files = {"clusters/bergen.yaml": record, "works/bergen/default/Deployment.apps/web.yaml": work}
    recorded_in_status(fleet.repository, files)
    ended = fleet.get("deployment", "--cluster", "ber*", "--cluster", "rome", "-o", "name")
    assert (ended.code, ended.out) == (0, "rome deployment.apps/web\n")
    assert re.search(
        r"bergen pulls and is not asked: as of 2026-03-01T12:03:00Z, \d+[dhms] ago, its agent reported 1 object, 1 of"
        r" them not applied or healthy; argosy status cluster/bergen -o wide lists them, and pods, events and logs of"
        r" it are seen only where its cluster is reached\n",
        ended.err,
    )


REPORTED = {
    "apiVersion": "cluster.karmada.io/v1alpha1",
    "kind": "Cluster",
    "metadata": {"name": "bergen", "annotations": {"argosy.dev/heartbeat": "2026-03-01T12:03:00Z"}},
}
CRASHING = {
    "apiVersion": "work.karmada.io/v1alpha1",
    "kind": "Work",
    "metadata": {"name": "web"},
    "live": {"replicas": 3},
    "findings": [{"object": "Pod web-1", "reason": "CrashLoopBackOff"}],
    "status": {
        "conditions": [
            {"type": "Applied", "status": "True", "reason": "AppliedSuccessful"},
            {
                "type": "Healthy",
                "status": "False",
                "reason": "ReplicasMissing",
                "message": "1 of 2 are ready",
                "lastTransitionTime": "2026-03-01T11:00:00Z",
            },
        ],
        "manifestStatuses": [
            {
                "identifier": {"group": "apps", "kind": "Deployment", "namespace": "default", "name": "web"},
                "health": "Unhealthy",
                "status": {"replicas": 2, "readyReplicas": 1},
            }
        ],
    },
}
AGE = re.compile(r"\b\d+[dhms]\b")
LINE = (
    "RECORDED, NOT LIVE: reported by bergen's agent, as of 2026-03-01T12:03:00Z, AGE ago; pods, events and logs are"
    " seen only where the cluster is reached\n"
)


def without_ages(text: str) -> str:
    """Ages as a word, and columns as they are without them."""
    return re.sub(" {2,}", "  ", AGE.sub("AGE", text))


def reported(fleet: Fleet) -> Fleet:
    path = "works/bergen/default/Deployment.apps/web.yaml"
    recorded_in_status(fleet.repository, {"clusters/bergen.yaml": REPORTED, path: CRASHING})
    return fleet


class Wanted(NamedTuple):
    """Words of get, and what is told of bergen, whose agent reported."""

    words: tuple[str, ...]
    table: str


WANTED = [
    Wanted(
        ("deployment",),
        "CLUSTER  NAME  READY  LIVE  APPLIED  HEALTH  REASON  SINCE  REPORTED\n"
        "bergen  web  1/2  3  True  Unhealthy  ReplicasMissing  AGE  AGE\n",
    ),
    Wanted(
        ("deployment/web", "-o", "wide"),
        "CLUSTER  NAME  READY  LIVE  APPLIED  HEALTH  REASON  SINCE  MESSAGE  REPORTED\n"
        "bergen  web  1/2  3  True  Unhealthy  ReplicasMissing  AGE  1 of 2 are ready  AGE\n",
    ),
    Wanted(
        ("deployments.apps", "-A", "--cluster", "bergen"),
        "CLUSTER  NAMESPACE  NAME  READY  LIVE  APPLIED  HEALTH  REASON  SINCE  REPORTED\n"
        "bergen  default  web  1/2  3  True  Unhealthy  ReplicasMissing  AGE  AGE\n",
    ),
]


@pytest.mark.parametrize("case", WANTED, ids=lambda case: " ".join(case.words))
def test_what_an_agent_reported_is_a_table_of_its_own_below_its_date(fleet: Fleet, case: Wanted) -> None:
    """Live rows stand before it; where nobody is asked but an agent reported, that is the answer."""
    ended = reported(fleet).get(*case.words)
    live, recorded, table = ended.out.partition("RECORDED")
    assert (ended.code, without_ages(recorded + table)) == (0, LINE + case.table)
    clusters = [line.split()[0] for line in live.splitlines() if line]
    assert clusters == ([] if "bergen" in case.words else ["CLUSTER", *NAMES])


@pytest.mark.parametrize(
    "words",
    [
        ("deployment", "-o", "name"),
        ("deployment", "--no-headers"),
        ("deployment", "-l", "app=web"),
        ("deployment/other", "--ignore-not-found"),
        ("deployment", "-n", "shop"),
        ("configmaps",),
    ],
    ids=" ".join,
)
def test_records_are_no_answer_to_what_they_do_not_tell(fleet: Fleet, words: tuple[str, ...]) -> None:
    assert "RECORDED" not in reported(fleet).get(*words).out


def test_an_object_that_an_agent_reported_is_not_said_to_be_nowhere(fleet: Fleet) -> None:
    path = "works/bergen/default/ConfigMap/far.yaml"
    far = {"identifier": {"kind": "ConfigMap", "namespace": "default", "name": "far"}, "health": "Healthy"}
    applied = [{"type": kind, "status": "True"} for kind in ("Applied", "Healthy")]
    work = {**CRASHING, "live": None, "status": {"conditions": applied, "manifestStatuses": [far]}}
    recorded_in_status(fleet.repository, {"clusters/bergen.yaml": REPORTED, path: work})
    ended = fleet.get("configmap/far")
    assert (ended.code, ended.err) == (0, "")
    assert without_ages(ended.out) == (
        f"{LINE}CLUSTER  NAME  READY  LIVE  APPLIED  HEALTH  REASON  SINCE  REPORTED\n"
        "bergen  far  -  -  True  Healthy  -  -  AGE\n"
    )


def test_a_described_object_is_what_the_agent_reported_and_what_its_cluster_was_told(fleet: Fleet) -> None:
    reported(fleet)
    rendered = fleet.repository.git("rev-parse", "argosy/rendered")[:12]
    folder = str(fleet.kubeconfigs)
    words = ("describe", "deploy/web", "--cluster", "bergen", "--kubeconfigs", folder)
    ended = argosy(fleet.repository, fleet.capsys, *words)
    assert ended.code == 0
    assert without_ages(ended.out) == (
        "Cluster:  bergen\n"
        "Recorded: 2026-03-01T12:03:00Z, AGE ago, by its agent; NOT LIVE: pods, events and logs are seen only where the"
        " cluster is reached\n"
        "Object:  Deployment.apps default/web\n"
        f"Told:  by rendered commit {rendered}; it is not known to have any commit\n"
        "Applied:  True\n"
        "Health:  Unhealthy\n"
        "Ready:  1/2\n"
        "Live:  3 replicas\n"
        "Reason:  ReplicasMissing: 1 of 2 are ready\n"
        "Since:  2026-03-01T11:00:00Z, AGE ago\n"
        "Finding:  Pod web-1 CrashLoopBackOff\n"
    )
    absent = argosy(fleet.repository, fleet.capsys, "describe", "cm/no", "--cluster", "bergen", "--kubeconfigs", folder)
    assert (absent.code, absent.out) == (5, "")
    assert "argosy: there is no cluster to ask" in absent.err


def recorded_in_status(repository: Repository, files: dict[str, Any]) -> None:
    """Put files onto the status branch, as a pass does that heard of an agent."""
    folder = repository.path.parent / "status"
    repository.git("worktree", "add", "-q", "-f", str(folder), "argosy/status")
    beside = Repository(folder)
    beside.write(files)
    beside.git("add", "-A")
    beside.git("commit", "-q", "-m", "Heard of bergen")
    repository.git("worktree", "remove", "--force", str(folder))


def test_a_member_that_is_gone_costs_the_others_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    members = [FakeCluster(name) for name in NAMES]
    repository = applied(tmp_path, capsys, members)
    with asked_again_at_once(), serving_members(members[:2], tmp_path / "kubeconfigs") as served:
        fleet = Fleet(repository=repository, kubeconfigs=served.kubeconfigs, capsys=capsys)
        ended = fleet.get("deployment", "-o", "name")
        assert (ended.code, ended.out) == (7, "eu-oslo deployment.apps/web\neu-paris deployment.apps/web\n")
        assert ended.err.startswith("warning: rome: ")
        alone = fleet.get("deployment", "--cluster", "rome")
        assert (alone.code, alone.out) == (5, "")
        assert "argosy: no cluster could be used" in alone.err


def test_a_member_that_refuses_is_named_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    members = [FakeCluster(name) for name in NAMES]
    repository = applied(tmp_path, capsys, members)
    with serving_members(members, tmp_path / "kubeconfigs", {"rome": refused}) as served:
        fleet = Fleet(repository=repository, kubeconfigs=served.kubeconfigs, capsys=capsys)
        ended = fleet.get("deployment", "-o", "name")
    assert (ended.code, ended.out) == (1, "eu-oslo deployment.apps/web\neu-paris deployment.apps/web\n")
    assert ended.err.startswith("warning: rome: deployment.apps: no\n  hint: ")


USAGE = [
    (["pods", "-A", "-n", "shop"], "-A means every namespace and -n one"),
    (["pods", "web", "-A"], "-A goes without names"),
    (["pods", "web", "-l", "a=b"], "--selector goes without names of objects"),
    (["pods", "-o", "json", "--show-labels"], "--show-labels goes with tables"),
    (["pods", "-o", "json", "--no-headers"], "--no-headers goes with tables"),
    (["pods", "--show-managed-fields"], "--show-managed-fields goes with -o json, yaml or jsonpath"),
    (["pods", "-o", "json", "--show-kind"], "--show-kind goes with tables"),
    (["pods", "--subresource", "status"], "--subresource goes with names of objects"),
    (["pods", "--sort-by", "."], "--sort-by: name a field, such as .metadata.name"),
    (
        ["pods", "-o", "go-template={{.a}}"],
        "-o go-template: Argosy has no such form; jsonpath, custom-columns and json",
    ),
    (["pods", "-o", "jsonpath-file=/nowhere"], "-o jsonpath-file: /nowhere cannot be read: No such file or directory"),
    (["pods", "-o", "xml"], "-o 'xml': write wide, json, yaml, name"),
    ([], "name a kind"),
]


@pytest.mark.parametrize(("words", "said"), USAGE, ids=[" ".join(words) or "nothing" for words, _ in USAGE])
def test_an_option_that_would_do_nothing_is_refused(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path)
    repository.commit({"oslo.yaml": a_cluster("oslo")})
    ended = argosy(repository, capsys, "get", *words)
    assert (ended.code, said in ended.err) == (2, True), ended.err
