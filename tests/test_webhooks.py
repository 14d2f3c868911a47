"""Fleets with an interpreter webhook, from commit to status: who is asked what when, and what happens without it."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.cli import run
from render.documents import parse_documents

from .build import (
    Ended,
    Repository,
    a_cluster,
    a_cluster_policy,
    a_config_map,
    a_policy,
    argosy,
    copied,
    on_clusters,
    weighted,
)
from .fakes import FakeCluster, Key
from .hooks import Authority, Behaviour, Hook, Said, a_patch, an_authority, said_of, serving
from .served import Served, serving_members
from .waiting import SECONDS

pytestmark = pytest.mark.xdist_group("webhooks")  # one process makes the shared fleet for all of them

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.io"},
    "spec": {
        "group": "example.io",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets"},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}
CRDS = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
WIDGETS = {"apiVersion": "example.io/v1", "kind": "Widget"}
SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "settings"}
MEMBERS = ("member1", "member2")
WIDGET = "default/Widget.example.io/{}.yaml"
REFUSED = (
    "warning: Widget.example.io default/w: InterpreterFailed: Widget default/w: InterpretReplica: webhook "
    "hooks.example.io interprets this kind, and rendering calls nothing over the network; write a "
    "ResourceInterpreterCustomization for it instead, or let a pass that reaches the clusters ask it: "
    "argosy reconcile\n"
)

KEPT_WITH_IT = (
    "warning: ConfigMap default/settings stays in member1, member2 as it was: "
    "Widget.example.io default/w stays there and needs it\n"
)


def a_widget(name: str = "w", *, size: int = 6, **spec: Any) -> dict[str, Any]:
    return {**WIDGETS, "metadata": {"name": name, "namespace": "default"}, "spec": {"size": size, **spec}}


def interpreting(asked: dict[str, Any]) -> Any:
    """Interpret a widget: its size are its replicas, it needs its settings, it is well when all of it is ready."""
    widget = asked["object"]
    live = asked.get("observedObject") or {}
    ready = (widget.get("status") or {}).get("ready", 0)
    items = [item.get("status") or {} for item in asked.get("aggregatedStatus") or ()]
    total = sum(item.get("ready", 0) for item in items)
    color = (live.get("spec") or {}).get("color", "none")
    answers: Mapping[str, Mapping[str, Any]] = {
        "InterpretReplica": {
            "replicas": widget["spec"]["size"],
            "replicaRequirements": {"resourceRequest": {"cpu": "500m"}},
        },
        "ReviseReplica": a_patch({"op": "replace", "path": "/spec/size", "value": asked.get("replicas")}),
        "InterpretDependency": {"dependencies": [SETTINGS]},
        "Retain": a_patch({"op": "add", "path": "/spec/color", "value": color}) if color != "none" else {},
        "InterpretHealth": {"healthy": ready == widget["spec"]["size"]},
        "InterpretStatus": {"rawStatus": {"ready": ready}},
        "AggregateStatus": a_patch({"op": "add", "path": "/status", "value": {"ready": total}}),
    }
    return answers[asked["operation"]]


@dataclass
class Fleet:
    """A repository, its members in memory behind HTTP, and the webhook its widgets are interpreted by."""

    repository: Repository
    members: dict[str, FakeCluster]
    served: Served
    hook: Hook
    capsys: pytest.CaptureFixture[str] | None
    stack: ExitStack = field(repr=False)

    def argosy(self, *words: str) -> Ended:
        assert self.capsys is not None
        return argosy(self.repository, self.capsys, *words)

    def offline(self, *words: str) -> Ended:
        """A pass that reaches nobody."""
        return self.argosy("reconcile", *words)

    def reaching(self, *words: str) -> Ended:
        """A pass that reaches the members; the webhook's questions are counted anew."""
        self.hook.asked.clear()
        return self.argosy("reconcile", "--bootstrap", "--kubeconfigs", str(self.served.kubeconfigs), *words)

    def sizes(self, name: str = "w") -> dict[str, int]:
        """The size of a widget in each member."""
        key = ("widgets.example.io", "default", name)
        return {
            member: each.objects[key]["spec"]["size"] for member, each in self.members.items() if key in each.objects
        }

    def recorded(self, path: str, branch: str = "argosy/status") -> Any:
        return parse_documents((self.repository.show(path, branch) + "\n").encode())[0].value


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return an_authority(tmp_path_factory.mktemp("authority"))


@contextmanager
def a_fleet(authority: Authority, folder: Path) -> Iterator[Fleet]:
    """Two members; a widget divided 2:1, with its settings; its CRD everywhere."""
    members = {name: FakeCluster(name=name) for name in MEMBERS}
    repository = Repository.create(folder / "fleet")
    with ExitStack() as stack:
        hook = stack.enter_context(serving(authority, interpreting))
        served = stack.enter_context(serving_members(members.values(), folder / "kubeconfigs"))
        everywhere = on_clusters(*MEMBERS)
        divided = on_clusters(*MEMBERS, replicaScheduling=weighted(member1=2, member2=1))
        repository.commit(
            {
                **{f"clusters/{name}.yaml": a_cluster(name) for name in MEMBERS},
                "crd.yaml": [CRD, a_cluster_policy("crds", selectors=[CRDS], placement=everywhere)],
                "widget.yaml": a_widget(),
                "settings.yaml": a_config_map("settings", mode="fast"),
                "policy.yaml": a_policy("widgets", selectors=[WIDGETS], placement=divided, propagateDeps=True),
                "hooks.yaml": hook.configuration(timeoutSeconds=30),
            }
        )
        yield Fleet(repository, members, served, hook, None, stack)


@pytest.fixture
def fleet(authority: Authority, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Fleet]:
    """A fleet that nothing has been rendered for."""
    with a_fleet(authority, tmp_path) as made:
        yield replace(made, capsys=capsys)


class First(NamedTuple):
    """A fleet that stays up, and its repository and the objects of its members as its first pass left them."""

    fleet: Fleet
    repository: Repository
    objects: dict[str, dict[Key, dict[str, Any]]]


@pytest.fixture(scope="module")
def first(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[First]:
    with a_fleet(authority, tmp_path_factory.mktemp("first")) as made:
        path = str(made.repository.path)
        assert run(["-q", "-C", path, "reconcile", "--bootstrap", "--kubeconfigs", str(made.served.kubeconfigs)]) == 0
        objects = {name: deepcopy(member.objects) for name, member in made.members.items()}
        yield First(made, made.repository, objects)


@pytest.fixture
def reached(first: First, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fleet:
    """A fleet after a pass that reached its members: a copy of its repository, and its members as they were."""
    for name, member in first.fleet.members.items():
        member.objects = deepcopy(first.objects[name])
    first.fleet.hook.behave = interpreting
    first.fleet.hook.asked.clear()
    (repository,) = copied(tmp_path, first.repository)
    return replace(first.fleet, repository=repository, capsys=capsys)


def test_a_first_render_without_clusters_is_refused_for_that_object_alone(fleet: Fleet) -> None:
    ended = fleet.argosy("render")
    assert (ended.code, ended.err) == (1, REFUSED)
    assert "CustomResourceDefinition.apiextensions.k8s.io/widgets.example.io" in ended.out
    assert "Widget" not in ended.out
    ended = fleet.offline("--bootstrap")
    assert (ended.code, ended.err) == (1, REFUSED)
    assert fleet.repository.files(under="clusters") == [
        f"clusters/{member}/_cluster/CustomResourceDefinition.apiextensions.k8s.io/widgets.example.io.yaml"
        for member in MEMBERS
    ]
    assert fleet.hook.asked == []


UNANSWERED = (
    "warning: widget.yaml:2: kind: webhook hooks.example.io alone interprets Widget.example.io default/w, and no"
    " answer is known here: no check can render it\n  hint: write a ResourceInterpreterCustomization for"
    " example.io/v1 Widget, which needs no network, or let a pass that reaches the clusters ask it: argosy reconcile\n"
)


def test_validate_names_what_only_a_webhook_interprets_until_its_answer_is_known(fleet: Fleet) -> None:
    before = fleet.argosy("validate")
    assert (before.code, UNANSWERED in before.out) == (0, True), before
    fleet.reaching()
    assert "webhook hooks.example.io" not in fleet.argosy("validate").out
    fleet.repository.commit({"widget.yaml": a_widget(size=9)})
    assert UNANSWERED in fleet.argosy("validate").out
    nowhere = a_policy("widgets", selectors=[{**WIDGETS, "name": "other"}], placement=on_clusters(*MEMBERS))
    fleet.repository.commit({"policy.yaml": nowhere})
    assert "webhook hooks.example.io" not in fleet.argosy("validate").out, "what goes nowhere need not be known"


def test_validate_names_a_webhook_that_only_writes_shares(fleet: Fleet) -> None:
    reading = {"replicaResource": {"luaScript": "function GetReplicas(obj) return obj.spec.size, nil end"}}
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "sizes"},
        "spec": {"target": WIDGETS, "customizations": reading},
    }
    divided = on_clusters(*MEMBERS, replicaScheduling=weighted(member1=2, member2=1))
    policy = a_policy("widgets", selectors=[WIDGETS], placement=divided)
    fleet.repository.commit({"sizes.yaml": customization, "policy.yaml": policy})
    assert UNANSWERED in fleet.argosy("validate").out
    fleet.repository.commit({"policy.yaml": a_policy("widgets", selectors=[WIDGETS], placement=on_clusters(*MEMBERS))})
    assert "webhook hooks.example.io" not in fleet.argosy("validate").out, "nothing is divided"


def test_a_pass_that_reaches_clusters_asks_divides_and_applies(fleet: Fleet) -> None:
    ended = fleet.reaching()
    assert ended.code == 0, ended.err
    assert fleet.sizes() == {"member1": 4, "member2": 2}
    assert fleet.recorded("bindings/" + WIDGET.format("w"), "argosy/rendered")["spec"]["replicaRequirements"] == {
        "resourceRequest": {"cpu": "500m"}
    }
    assert [member.objects["configmaps.", "default", "settings"]["data"] for member in fleet.members.values()] == [
        {"mode": "fast"},
        {"mode": "fast"},
    ]
    assert sorted(fleet.hook.operations()) == [
        "AggregateStatus w",
        "InterpretDependency w",
        "InterpretHealth w",
        "InterpretHealth w",
        "InterpretReplica w",
        "InterpretStatus w",
        "InterpretStatus w",
        "ReviseReplica w",
        "ReviseReplica w",
    ]


def test_answers_are_facts_by_which_a_commit_is_made_again_without_the_webhook(fleet: Fleet) -> None:
    fleet.reaching()
    for branch in ("argosy/rendered", "argosy/status"):
        recorded = fleet.recorded("facts/_interpretations.yaml", branch)
        assert (recorded["apiVersion"], recorded["kind"]) == ("argosy.dev/v1alpha1", "Interpretations")
        assert [
            (answer["object"], answer["operation"], answer["webhook"], answer["response"])
            for answer in recorded["answers"]
            if answer["operation"] != "ReviseReplica"
        ] == [
            (
                "Widget.example.io default/w",
                "InterpretDependency",
                "hooks/hooks.example.io",
                {"dependencies": [SETTINGS]},
            ),
            (
                "Widget.example.io default/w",
                "InterpretReplica",
                "hooks/hooks.example.io",
                {"replicas": 6, "replicaRequirements": {"resourceRequest": {"cpu": "500m"}}},
            ),
        ]
        assert len(recorded["answers"]) == 4
    fleet.stack.close()
    asked = len(fleet.hook.asked)
    ended = fleet.argosy("verify", "-n", "1")
    assert (ended.code, ended.out.split()[-1]) == (0, "equal")
    ended = fleet.argosy("render")
    assert (ended.code, ended.err, ended.out.splitlines()[-1].split()[2:4]) == (0, "", ["member1:4", "member2:2"])
    ended = fleet.offline()
    assert (ended.code, ended.err, ended.out.split()[0]) == (0, "", "unchanged:")
    assert len(fleet.hook.asked) == asked


def test_a_pass_with_nothing_new_asks_nothing_about_rendering_and_writes_nothing(fleet: Fleet) -> None:
    for _ in range(2):
        fleet.reaching()
    fleet.served.written.clear()
    before = fleet.repository.git("rev-parse", "argosy/rendered", "argosy/status")
    ended = fleet.reaching()
    assert (ended.code, ended.out.split()[0]) == (0, "unchanged:")
    assert sorted({request["operation"] for request in fleet.hook.asked}) == [
        "AggregateStatus",
        "InterpretHealth",
        "InterpretStatus",
        "Retain",
    ]
    assert fleet.repository.git("rev-parse", "argosy/rendered", "argosy/status") == before
    assert fleet.served.written == []


def test_health_and_status_are_what_the_webhook_says(reached: Fleet) -> None:
    assert reached.argosy("status", "widget/w").code == 1
    reached.members["member1"].objects["widgets.example.io", "default", "w"]["status"] = {"ready": 4, "noise": "x"}
    assert reached.reaching().code == 0
    works = {name: reached.recorded(f"works/{name}/" + WIDGET.format("w")) for name in MEMBERS}
    entries = [work["status"]["manifestStatuses"][0] for work in works.values()]
    assert [(entry["health"], entry["status"]) for entry in entries] == [
        ("Healthy", {"ready": 4}),
        ("Unhealthy", {"ready": 0}),
    ]
    assert reached.recorded("bindings/" + WIDGET.format("w"))["templateStatus"] == {"ready": 4}
    ended = reached.argosy("status", "widget/w")
    unmet = "its health rule says that it is not: it has no status, so that no controller has told how it is"
    assert (ended.code, ended.out.splitlines()[-1]) == (1, f"member2: NoStatus: {unmet}")


def test_what_the_webhook_retains_stays_as_the_cluster_has_it(fleet: Fleet) -> None:
    fleet.repository.commit({"widget.yaml": a_widget(color="red")})
    fleet.reaching()
    live = fleet.members["member1"].objects["widgets.example.io", "default", "w"]
    path = "/apis/example.io/v1/namespaces/default/widgets/w?fieldManager=the-controller"
    patch = {"spec": {"color": "blue"}}
    assert fleet.members["member1"].request("PATCH", path, patch, content_type="application/merge-patch+json")[0] == 200
    fleet.served.written.clear()
    assert fleet.reaching().code == 0
    live = fleet.members["member1"].objects["widgets.example.io", "default", "w"]
    assert (live["spec"], fleet.served.written) == ({"size": 4, "color": "blue"}, [])
    fleet.repository.commit({"widget.yaml": a_widget(size=9, color="red")})
    assert fleet.reaching().code == 0
    live = fleet.members["member1"].objects["widgets.example.io", "default", "w"]
    assert live["spec"] == {"size": 6, "color": "blue"}
    other = fleet.members["member2"].objects["widgets.example.io", "default", "w"]
    assert other["spec"] == {"size": 3, "color": "red"}


def test_a_change_is_asked_for_and_what_is_no_longer_used_is_forgotten(reached: Fleet) -> None:
    reached.repository.commit({"widget.yaml": a_widget(size=3)})
    ended = reached.offline()
    assert (ended.code, ended.err) == (1, KEPT_WITH_IT + REFUSED)
    assert reached.reaching().code == 0
    assert reached.sizes() == {"member1": 2, "member2": 1}
    for branch in ("argosy/rendered", "argosy/status"):
        answers = reached.recorded("facts/_interpretations.yaml", branch)["answers"]
        assert [answer["response"]["replicas"] for answer in answers if "replicas" in answer["response"]] == [3]
        assert len(answers) == 4
    reached.repository.commit({"hooks.yaml": None, "widget.yaml": a_widget(size=2)})
    assert reached.reaching().code == 0
    assert reached.sizes() == {"member1": 2, "member2": 2}
    for branch in ("argosy/rendered", "argosy/status"):
        assert "facts/_interpretations.yaml" not in reached.repository.files(branch)


def test_a_diff_tells_what_it_could_not_ask(reached: Fleet) -> None:
    reached.repository.commit({"settings.yaml": a_config_map("settings", mode="slow")})
    ended = reached.argosy("diff", "HEAD~1", "HEAD")
    assert (ended.code, ended.err, "InterpreterFailed" in ended.out) == (1, "", False)
    reached.repository.commit({"widget.yaml": a_widget(size=3)})
    ended = reached.argosy("diff", "HEAD~1", "HEAD")
    assert REFUSED.removeprefix("warning: ").strip() in ended.out


class Fault(NamedTuple):
    """The widget of this name fails at this operation; ``want`` is what is said of that, by the clusters it is about.

    ``{url}`` in it is the webhook's address.
    """

    name: str
    operation: str
    behave: Behaviour
    want: dict[str, str]

    def warnings(self, url: str) -> list[str]:
        return [
            f"warning: Widget.example.io default/{self.name}{f' in {where}' if where else ''}: InterpreterFailed: "
            f"Widget default/{self.name}: {self.operation}: webhook hooks.example.io {what.format(url=url)}"
            for where, what in self.want.items()
        ]


def stranger(_asked: dict[str, Any]) -> Said:
    return said_of({"uid": "another"}, {"replicas": 1})


REPLICAS, REVISE, REQUIRES = "InterpretReplica", "ReviseReplica", "InterpretDependency"
NO_PATCH, ANOTHER = "answered with a patch that does not apply", "answered with a patch that makes it another object"
REDIRECT = {"Location": "https://elsewhere.example.io"}
FAULTS = [
    Fault("breaks-off", REPLICAS, lambda _: Said(cut=True), {"": "broke the connection off at {url}/"}),
    Fault("status-500", REPLICAS, lambda _: Said(status=500), {"": "answered with HTTP status 500"}),
    Fault(
        "redirect",
        REPLICAS,
        lambda _: Said(status=302, headers=REDIRECT),
        {"": "answered with a redirect (HTTP status 302), and redirects are not followed"},
    ),
    Fault("flood", REPLICAS, lambda _: Said(b" " * (4 * 2**20)), {"": "answered with more than 3 MiB"}),
    Fault("page", REPLICAS, lambda _: Said(b"<html>"), {"": "answered with no JSON"}),
    Fault(
        "another-kind",
        REPLICAS,
        lambda _: Said(b'{"kind": "AdmissionReview"}'),
        {"": "answered with another kind than ResourceInterpreterContext"},
    ),
    Fault("another-request", REPLICAS, stranger, {"": "answered another request"}),
    Fault(
        "refusal",
        REPLICAS,
        lambda _: {"successful": False, "status": {"message": "no size", "code": 422}},
        {"": "refused: no size (code 422)"},
    ),
    Fault("no-answer", REPLICAS, lambda _: {"healthy": True}, {"": "left out response.replicas"}),
    Fault(
        "no-patch",
        REVISE,
        lambda _: a_patch({"op": "remove", "path": "/spec/none"}),
        {"member1": NO_PATCH, "member2": NO_PATCH},
    ),
    Fault(
        "another-object",
        REVISE,
        lambda _: a_patch({"op": "replace", "path": "/metadata/name", "value": "x"}),
        {"member1": ANOTHER, "member2": ANOTHER},
    ),
    Fault(
        "one-number",
        REVISE,
        lambda asked: Said(status=503) if asked["replicas"] == 2 else interpreting(asked),
        {"member2": "answered with HTTP status 503"},
    ),
    Fault(
        "no-name",
        REQUIRES,
        lambda _: {"dependencies": [{"apiVersion": "v1", "kind": "ConfigMap"}]},
        {"": "answered with a dependency that has no name and no labelSelector"},
    ),
]


def test_a_failure_is_its_objects_own_is_recorded_and_heals_by_itself(fleet: Fleet) -> None:
    """Every way to fail at once, beside a widget that does not."""
    by_name = {fault.name: fault for fault in FAULTS}
    fleet.repository.commit({f"{name}.yaml": a_widget(name) for name in by_name})

    def behave(asked: dict[str, Any]) -> Any:
        fault = by_name.get(asked["name"])
        fails = fault is not None and asked["operation"] == fault.operation
        return fault.behave(asked) if fault and fails else interpreting(asked)

    fleet.hook.behave = behave
    ended = fleet.reaching()
    warnings = [line for line in ended.err.splitlines() if line.startswith("warning:")]
    assert warnings == [line for name in sorted(by_name) for line in by_name[name].warnings(fleet.hook.url)]
    assert ended.code == 1
    placed = {name: fleet.sizes(name) for name in ("w", *sorted(by_name)) if fleet.sizes(name)}
    everywhere = {"member1": 4, "member2": 2}
    assert placed == {"w": everywhere, "no-name": everywhere, "one-number": {"member1": 4}}
    assert fleet.argosy("verify", "-n", "1").out.split()[-1] == "equal"
    fleet.hook.behave = interpreting
    ended = fleet.reaching()
    assert ended.code == 0, ended.err
    assert {name: fleet.sizes(name) for name in by_name} == dict.fromkeys(by_name, everywhere)
    assert not {"InterpretReplica w", "ReviseReplica w"} & set(fleet.hook.operations()), "what is known is not asked"
    assert fleet.argosy("verify", "-n", "1").out.split()[-1] == "equal"
    answers = fleet.recorded("facts/_interpretations.yaml")["answers"]
    assert (len(answers), [answer for answer in answers if "error" in answer]) == (4 * (1 + len(FAULTS)), [])


def test_a_webhook_that_hangs_costs_its_time_limit(fleet: Fleet) -> None:
    fleet.repository.commit({"hooks.yaml": fleet.hook.configuration(timeoutSeconds=1)})
    fleet.hook.behave = lambda _asked: Said(silent=True)
    ended = fleet.reaching()
    assert (ended.code, ended.err.splitlines()[0], fleet.hook.operations()) == (
        1,
        (
            "warning: Widget.example.io default/w: InterpreterFailed: Widget default/w: InterpretReplica: webhook "
            "hooks.example.io did not answer within 1 s"
        ),
        ["InterpretReplica w"],
    )


def test_a_webhook_of_another_authority_is_not_believed(fleet: Fleet, tmp_path: Path) -> None:
    strange = {"url": fleet.hook.url, "caBundle": an_authority(tmp_path, "strange").bundle}
    fleet.repository.commit({"hooks.yaml": fleet.hook.configuration(clientConfig=strange)})
    ended = fleet.reaching()
    assert (ended.code, ended.err.splitlines()[0]) == (
        1,
        (
            "warning: Widget.example.io default/w: InterpreterFailed: Widget default/w: InterpretReplica: webhook "
            f"hooks.example.io shows a certificate at {fleet.hook.url}/ that its caBundle does not vouch for "
            "(unable to get local issuer certificate)"
        ),
    )


def test_a_webhook_that_goes_away_leaves_what_there_is(reached: Fleet) -> None:
    reached.repository.commit({"widget.yaml": a_widget(size=9)})
    reached.hook.behave = lambda _asked: Said(status=500)
    ended = reached.reaching()
    assert ended.code == 1
    what = "InterpretReplica: webhook hooks.example.io answered with HTTP status 500"
    said = f"warning: Widget.example.io default/w: InterpreterFailed: Widget default/w: {what}"
    assert said in ended.err.splitlines()
    assert reached.sizes() == {"member1": 4, "member2": 2}
    binding = reached.recorded("bindings/" + WIDGET.format("w"), "argosy/rendered")
    rendered = next(each for each in binding["status"]["conditions"] if each["type"] == "Rendered")
    assert (rendered["status"], rendered["reason"], rendered["message"]) == (
        "False",
        "InterpreterFailed",
        f"Widget default/w: {what}",
    )


def test_what_could_not_be_told_of_an_object_is_told(reached: Fleet) -> None:
    reached.members["member1"].objects["widgets.example.io", "default", "w"]["status"] = {"ready": 4}
    reached.members["member2"].objects["widgets.example.io", "default", "w"]["status"] = {"ready": 2}
    reached.reaching()
    status = {"InterpretHealth", "InterpretStatus", "AggregateStatus"}
    reached.hook.behave = lambda asked: Said(status=500) if asked["operation"] in status else interpreting(asked)
    assert reached.reaching().code == 0
    start, end = "Widget default/w: ", ": webhook hooks.example.io answered with HTTP status 500"
    work = reached.recorded("works/member1/" + WIDGET.format("w"))
    assert [
        (each["type"], each["status"], each.get("reason"), each.get("message")) for each in work["status"]["conditions"]
    ] == [
        ("Applied", "True", "AppliedSuccessful", "Manifest has been successfully applied"),
        ("Healthy", "Unknown", "InterpreterError", f"{start}InterpretHealth{end}"),
        ("StatusReflected", "False", "ReflectStatusFailed", f"{start}InterpretStatus{end}"),
    ]
    assert work["status"]["manifestStatuses"][0]["status"] == {"ready": 4}
    binding = reached.recorded("bindings/" + WIDGET.format("w"))
    assert binding["templateStatus"] == {"ready": 6}
    assert [(each["reason"], each.get("message")) for each in binding["status"]["conditions"]][2:] == [
        ("AggregateStatusFailed", f"{start}AggregateStatus{end}")
    ]


def test_a_retain_that_cannot_be_asked_for_leaves_the_object_alone(reached: Fleet) -> None:
    reached.repository.commit({"widget.yaml": a_widget(size=9)})
    reached.hook.behave = lambda asked: Said(status=500) if asked["operation"] == "Retain" else interpreting(asked)
    ended = reached.reaching()
    assert (ended.code, reached.sizes()) == (1, {"member1": 4, "member2": 2})
    message = "Widget default/w: Retain: webhook hooks.example.io answered with HTTP status 500"
    assert ended.out.partition("\n\n")[2] == (
        "OBJECT                        CLUSTER   ACTION    REASON              MESSAGE\n"
        f"Widget.example.io default/w   member1   blocked   InterpreterFailed   {message}\n"
        f"Widget.example.io default/w   member2   blocked   InterpreterFailed   {message}\n"
        "\n"
        "hint for InterpreterFailed: correct its Retain rule, or see to its webhook\n"
    )
    reached.hook.behave = interpreting
    assert reached.argosy("apply", "--kubeconfigs", str(reached.served.kubeconfigs)).code == 0
    assert reached.sizes() == {"member1": 6, "member2": 3}


def test_apply_and_a_live_diff_ask_as_well_and_record_no_answers(reached: Fleet) -> None:
    before = reached.repository.show("facts/_interpretations.yaml", "argosy/status")
    reached.hook.asked.clear()
    assert reached.argosy("apply", "--kubeconfigs", str(reached.served.kubeconfigs)).code == 0
    assert "Retain w" in reached.hook.operations()
    assert reached.repository.show("facts/_interpretations.yaml", "argosy/status") == before
    reached.hook.asked.clear()
    assert reached.argosy("diff", "--live", "--kubeconfigs", str(reached.served.kubeconfigs)).code == 0
    assert set(reached.hook.operations()) == {"Retain w"}


def test_no_secret_is_sent_to_a_webhook(fleet: Fleet) -> None:
    everything = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "kinds": ["*"]}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "key", "namespace": "default"},
        "stringData": {"token": "canary"},
    }
    selectors = [{"apiVersion": "v1", "kind": "Secret"}]
    fleet.hook.behave = lambda asked: interpreting(asked) if asked["kind"]["kind"] == "Widget" else Said(status=500)
    fleet.repository.commit(
        {
            "hooks.yaml": fleet.hook.configuration(rules=[everything]),
            "secret.yaml": [secret, a_policy("secrets", selectors=selectors, placement=on_clusters(*MEMBERS))],
        }
    )
    fleet.reaching()
    kinds = {request["kind"]["kind"] for request in fleet.hook.asked}
    assert kinds == {"CustomResourceDefinition", "ConfigMap", "Widget"}
    assert "canary" not in str(fleet.hook.asked)
    assert all(("secrets.", "default", "key") in member.objects for member in fleet.members.values())


def test_doctor_connects_to_webhooks_where_a_pass_would_ask_them(fleet: Fleet) -> None:
    def said() -> tuple[int, list[str]]:
        ended = fleet.argosy("doctor", "--kubeconfigs", str(fleet.served.kubeconfigs))
        return ended.code, [line for line in ended.out.splitlines() if "webhook" in line or "clientConfig" in line]

    assert said() == (0, [])
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"kubeconfigs": "kubeconfigs"}}
    fleet.repository.commit({"argosy.yaml": settings})
    where = f"{fleet.hook.url}/"
    assert said() == (0, [f"ok   webhook hooks/hooks.example.io: {where} shows a certificate that is trusted"])
    assert fleet.hook.asked == []
    fleet.stack.close()
    assert said() == (
        1,
        [
            f"FAIL webhook hooks/hooks.example.io: refuses connections at {where}",
            "       hint: see its clientConfig: passes that reach clusters ask it",
        ],
    )


def test_policy_tests_go_by_the_answers_there_are(fleet: Fleet) -> None:
    expected = {"group": "example.io", "kind": "Widget", "namespace": "default", "name": "w"}
    test = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "PolicyTest",
        "metadata": {"name": "two-thirds-in-member1"},
        "spec": {"expect": [{**expected, "replicas": {"member1": 4, "member2": 2}}]},
    }
    fleet.repository.commit({"widget_test.yaml": test})
    assert fleet.argosy("test").code == 1
    fleet.reaching()
    assert fleet.argosy("test").code == 0


def test_a_pass_that_knows_the_last_one_still_looks_at_all_that_webhooks_answered(fleet: Fleet) -> None:
    """An answer for an object that has changed leaves the facts, as it does in a pass that knows nothing."""
    settings = {"apiVersion": "v1", "kind": "ConfigMap"}
    maps = [a_config_map(f"map-{number}") for number in range(9)]
    fleet.repository.commit(
        {"maps.yaml": [*maps, a_policy("maps", selectors=[settings], placement=on_clusters(*MEMBERS))]}
    )
    fleet.reaching()
    fleet.repository.commit({"settings.yaml": a_config_map("settings", mode="slow")})
    assert fleet.offline().code == 0
    fleet.repository.commit({"widget.yaml": a_widget(size=3)})
    assert fleet.offline().code == 1
    assert "facts/_interpretations.yaml" not in fleet.repository.files("argosy/rendered")
    assert fleet.argosy("verify", "-n", "1").out.split()[-1] == "equal"


def test_rendering_loads_nothing_that_could_ask_or_build_what_is_not_there(fleet: Fleet) -> None:
    program = (
        "import sys\n"
        "from reconciler.cli import run\n"
        "run(['-C', sys.argv[1], 'render', '-o', 'name'])\n"
        "loaded = {'ssl', 'http.client', 'kubernetes', 'urllib3'} & set(sys.modules)\n"
        "unused = ('reconciler.members.webhook', 'reconciler.building.')\n"
        "values = {'reconciler.building.' + name for name in ('common_metadata', 'requests', 'source_trees')}\n"
        "print(sorted((loaded | {name for name in sys.modules if name.startswith(unused)}) - values))\n"
    )
    command = [sys.executable, "-c", program, str(fleet.repository.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
    assert done.stdout.splitlines()[-1] == "[]"


def test_with_the_gate_a_webhook_is_asked_for_components_and_what_it_says_is_recorded(fleet: Fleet) -> None:
    """An object that counts by components keeps the numbers of its template: nothing is revised."""
    parts = [
        {"name": "front", "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "500m"}}},
        {"name": "back", "replicas": 1},
    ]

    def with_components(asked: dict[str, Any]) -> Any:
        return {"components": parts} if asked["operation"] == "InterpretComponent" else interpreting(asked)

    fleet.hook.behave = with_components
    one = [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]
    placement = on_clusters(*MEMBERS, spreadConstraints=one)
    gates = {"featureGates": {"MultiplePodTemplatesScheduling": True}}
    fleet.repository.commit(
        {
            "argosy.yaml": {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": gates},
            "policy.yaml": a_policy("widgets", selectors=[WIDGETS], placement=placement),
        }
    )
    ended = fleet.reaching()
    assert ended.code == 0, ended.err
    spec = fleet.recorded("bindings/" + WIDGET.format("w"), "argosy/rendered")["spec"]
    listed = [{"name": "front", "replicas": 2}, {"name": "back", "replicas": 1}]
    assert spec["components"] == parts
    (target,) = spec["clusters"]
    assert (target["components"], fleet.sizes()) == (listed, {target["name"]: 6})
    asked = {each.partition(" ")[0] for each in fleet.hook.operations()}
    assert ("InterpretComponent" in asked, asked & {"InterpretReplica", "ReviseReplica"}) == (True, set())
    fleet.hook.asked.clear()
    assert fleet.argosy("verify").code == 0
    assert fleet.hook.operations() == [], "a commit is made again by what was recorded"
