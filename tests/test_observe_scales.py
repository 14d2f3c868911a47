"""Custom kinds that only members define: where their replicas stand, and the division that follows from it."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.members.discovery import Discovery, Resource, discover_served_kinds
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.observe.scales import observe_scales
from reconciler.source.desired import Desired, known_scales
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from reconciler.source.scopes.kind_scopes import kinds_to_scale
from render.cluster import Cluster
from tests.applying import client_of
from tests.build import a_cluster, a_deployment, a_policy, argosy, as_bytes, on_clusters, weighted
from tests.clusters import Member
from tests.fakes import FakeCluster
from tests.memory_fleet import MemoryFleet, put
from tests.sources import source_of
from tests.stories import settings
from tests.tables import each_row
from tests.test_render_interpreter_scale import a_definition, a_widget
from tests.waiting import eventually

KIND = ("example.io/v1", "Widget")
PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.io"
DENIED = Failure(kind=FailureKind.FORBIDDEN, message="the user may not get it", status=403)
SCALE = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.count",
    "labelSelectorPath": ".status.selector",
    "revision": "u1/3",
}
ANOTHER = {**SCALE, "specReplicasPath": ".spec.size"}


def served(*, is_scaled: bool = True) -> Discovery:
    group, version = KIND[0].split("/")
    widgets = Resource(
        group=group, version=version, kind=KIND[1], plural="widgets", is_namespaced=True, is_scaled=is_scaled
    )
    return Discovery(resources={KIND: widgets})


def having(path: str = ".spec.replicas", generation: int = 3) -> Callable[[Request], Answer | None]:
    """Answer as a member that has a definition of this generation; its metadata is all that is asked for at times."""
    definition = a_definition(path)
    definition["metadata"] |= {"uid": "u1", "generation": generation}

    def answer(request: Request) -> Answer | None:
        if request.path != PATH:
            return None
        is_whole = "PartialObjectMetadata" not in request.accept
        return Answer(status=200, body=definition if is_whole else {"metadata": definition["metadata"]})

    return answer


class Seen(NamedTuple):
    """A member and what is recorded of it: the scale that is known then, and how many requests that took."""

    why: str
    fault: Callable[[Request], Answer | Failure | None]
    want: dict[str, Any] | None
    requests: int
    known: dict[str, Any] | None = None
    discovery: Discovery = served()


SEEN = [
    Seen("one that was never read", having(), SCALE, 1),
    Seen("one that is as it was", having(), SCALE, 1, known=SCALE),
    Seen("one that is another", having(".spec.size"), ANOTHER, 2, known={**SCALE, "revision": "u1/2"}),
    Seen("one that may not be read", lambda _: DENIED, None, 1),
    Seen("one that may not be read any more stays as it was", lambda _: DENIED, SCALE, 1, known=SCALE),
    Seen("a path without end", having(f".spec.{'a' * 9999}"), None, 1),
    Seen("a path of other characters", having(".spec.replicas\n"), None, 1),
    Seen("an answer of another shape", lambda _: Answer(status=200, body=[]), None, 1),
    Seen(
        "a kind without the subresource is not asked for",
        having(),
        None,
        0,
        known=SCALE,
        discovery=served(is_scaled=False),
    ),
    Seen("a kind that it does not serve", having(), None, 0, known=SCALE, discovery=Discovery()),
]


@each_row("case", SEEN, ids=lambda case: case.why)
def test_the_scale_subresource_of_a_member(case: Seen) -> None:
    member = FakeCluster(faults=[case.fault])
    found = observe_scales(member, case.discovery, [KIND], {KIND: case.known} if case.known else {})
    assert found == ({KIND: case.want} if case.want else {})
    assert len(member.requests) == case.requests


def test_only_kinds_are_asked_for_that_nothing_else_interprets() -> None:
    selectors = [
        {"apiVersion": api_version, "kind": kind}
        for api_version, kind in (
            ("apps/v1", "Deployment"),
            ("apps.kruise.io/v1alpha1", "CloneSet"),
            ("kubeflow.org/v1", "PyTorchJob"),
            ("kubeflow.org/v1", "Notebook"),
            KIND,
            ("example.io/v1", "Gadget"),
        )
    ]
    files = {
        "policy.yaml": a_policy(selectors=selectors),
        "web.yaml": a_deployment(),
        "crd.yaml": a_definition(kind="Gadget"),
    }

    def asked(**more: Any) -> frozenset[tuple[str, str]]:
        source = source_of({name: as_bytes(content) for name, content in {**files, **more}.items()})
        return kinds_to_scale(load_source(source.files, SourceReading(source.read, facts=None)).desired)

    assert asked() == {KIND, ("kubeflow.org/v1", "Notebook")}
    assert asked(**{"argosy.yaml": settings(interpretScale=False)}) == frozenset()


def test_the_definition_of_the_source_goes_before_those_of_members() -> None:
    """It does so without the subresource, too, while facts still have that of members."""
    member = Cluster(name="member1", scales={KIND: SCALE})

    def known(*definitions: Any) -> Any:
        return known_scales(desired_of(**{"crd.yaml": list(definitions)} if definitions else {}), [member]).get(KIND)

    def desired_of(**files: Any) -> Desired:
        source = source_of({name: as_bytes(content) for name, content in {"web.yaml": a_deployment(), **files}.items()})
        return load_source(source.files, SourceReading(source.read, facts=None)).desired

    assert known().spec_replicas == ("spec", "replicas")
    assert known(a_definition(".spec.size")).spec_replicas == ("spec", "size")
    assert known(a_definition(subresources={})) is None


MEMBERS = ("member1", "member2")
CRDS = "customresourcedefinitions.apiextensions.k8s.io"
FLEET = {
    **{f"clusters/{name}.yaml": a_cluster(name) for name in MEMBERS},
    "widget.yaml": {**a_widget(replicas=9, size=3), "metadata": {"name": "w", "namespace": "default"}},
    "policy.yaml": a_policy(
        "widgets",
        selectors=[{"apiVersion": KIND[0], "kind": KIND[1]}],
        placement=on_clusters(*MEMBERS, replicaScheduling=weighted(member1=1, member2=1)),
    ),
}


def a_fleet(path: Path, **paths: str) -> MemoryFleet:
    """A fleet whose members define Widgets, and say in these fields how many replicas one has."""
    fleet = MemoryFleet.create(path, {}, FLEET)
    for name in MEMBERS:
        fleet.members[name] = FakeCluster(name=name)
        if name in paths:
            define(fleet.members[name], paths[name])
    return fleet


def define(member: FakeCluster, path: str, generation: int = 1) -> None:
    definition = deepcopy(a_definition(path))
    definition["metadata"]["generation"] = generation
    put(member, CRDS, "", definition)


def numbers(fleet: MemoryFleet, field: str = "replicas") -> list[int]:
    """The number in each member's tree."""
    texts = (fleet.repository.show(f"clusters/{name}/default/Widget.example.io/w.yaml") for name in MEMBERS)
    return [int(text.partition(f"  {field}: ")[2].split()[0]) for text in texts]


def test_a_kind_that_members_scale_is_divided_and_stays_so_without_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = a_fleet(tmp_path / "fleet", member1=".spec.replicas", member2=".spec.replicas")
    fleet.run()
    assert numbers(fleet) == [5, 4]
    repository = fleet.repository
    assert argosy(repository, capsys, "verify").code == 0
    assert "Undivided" not in argosy(repository, capsys, "explain", "widget.example.io/w").out
    assert "divides" not in argosy(repository, capsys, "validate").out
    fleet.down = set(MEMBERS)
    fleet.run()
    assert numbers(fleet) == [5, 4]


def test_statuses_are_added_up_where_members_say(tmp_path: Path) -> None:
    fleet = a_fleet(tmp_path / "fleet", member1=".spec.replicas", member2=".spec.replicas")
    fleet.run()
    for name, count in zip(MEMBERS, (5, 4), strict=True):
        fleet.members[name].objects["widgets.example.io", "default", "w"]["status"] = {"count": count}
    fleet.run(60)
    status = fleet.repository.show("bindings/default/Widget.example.io/w.yaml", "argosy/status")
    assert "count: 9" in status


def test_a_member_that_says_nothing_takes_nothing_away(tmp_path: Path) -> None:
    fleet = a_fleet(tmp_path / "fleet", member1=".spec.replicas", member2=".spec.replicas")
    fleet.members["member2"].faults.append(lambda request: DENIED if request.path == PATH else None)
    fleet.run()
    assert numbers(fleet) == [5, 4]


def test_members_that_do_not_agree_move_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster that comes with another definition must not end a division."""
    fleet = a_fleet(tmp_path / "fleet", member1=".spec.replicas", member2=".spec.replicas")
    fleet.run()
    define(fleet.members["member2"], ".spec.size", generation=2)
    fleet.run(60)
    assert numbers(fleet) == [5, 4]
    assert (
        "the definitions that members have of its kind say in different fields how many replicas it has; add the one"
        " to go by to the source"
    ) in " ".join(argosy(fleet.repository, capsys, "render").err.split())
    fleet.repository.commit({"crd.yaml": a_definition(".spec.size")})
    fleet.run(60)
    assert (numbers(fleet), numbers(fleet, "size")) == ([9, 9], [2, 1])


@pytest.mark.cluster
def test_what_a_real_server_says_of_a_definition(members: tuple[Member, ...]) -> None:
    member, definitions = members[0], PATH.rpartition("/")[0]
    definition = a_definition(group="scales.example.io")
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"replicas": {"type": "integer", "default": 2}}},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    kind, name = ("scales.example.io/v1", "Widget"), "widgets.scales.example.io"
    assert member.request("POST", definitions, definition)[0] == 201
    try:
        eventually(lambda: member.request("GET", "/apis/scales.example.io/v1/widgets")[0] == 200, "the kind is served")
        client = client_of(member)
        discovery = discover_served_kinds(client)
        assert isinstance(discovery, Discovery)
        first = observe_scales(client, discovery, [kind], {})
        assert {**first[kind], "revision": ""} == {**SCALE, "default": 2, "revision": ""}
        assert observe_scales(client, discovery, [kind], first) == first
        changed = member.read(f"{definitions}/{name}")
        changed["spec"]["versions"][0]["subresources"]["scale"]["specReplicasPath"] = ".spec.size"
        assert member.request("PUT", f"{definitions}/{name}", changed)[0] == 200
        second = observe_scales(client, discovery, [kind], first)[kind]
        assert second["specReplicasPath"] == ".spec.size"
        assert second["revision"] != first[kind]["revision"]
    finally:
        member.request("DELETE", f"{definitions}/{name}")


def test_reading_a_definition_is_a_right_that_is_granted_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = a_fleet(tmp_path / "fleet", member1=".spec.replicas", member2=".spec.replicas")
    fleet.run()
    printed = argosy(fleet.repository, capsys, "rbac", "--cluster", "member1").out
    rule = (
        "- apiGroups:\n  - apiextensions.k8s.io\n  resourceNames:\n  - widgets.example.io\n  resources:\n"
        "  - customresourcedefinitions\n  verbs:\n  - get\n"
    )
    assert rule in printed
    fleet.repository.commit({"argosy.yaml": settings(interpretScale=False)})
    fleet.run()
    assert rule not in argosy(fleet.repository, capsys, "rbac", "--cluster", "member1").out


BINDING = "bindings/default/Widget.example.io/w.yaml"
HELD = (
    "policy divides it, but it was placed before anything told how many replicas Widget.example.io has: every"
    " cluster gets all of it"
)
WAY_OUT = "it can be divided now: argosy rebalance widget.example.io/w -n default would give member1:5 member2:4"
REBALANCER = {
    "apiVersion": "apps.karmada.io/v1alpha1",
    "kind": "WorkloadRebalancer",
    "metadata": {"name": "again"},
    "spec": {"workloads": [{"apiVersion": KIND[0], "kind": KIND[1], "namespace": "default", "name": "w"}]},
}


def an_undivided_fleet(path: Path) -> MemoryFleet:
    """A fleet that was placed while nobody could read the definitions of its members; they were read since."""
    fleet = a_fleet(path, member1=".spec.replicas", member2=".spec.replicas")
    for member in fleet.members.values():
        member.faults.append(lambda request: DENIED if request.path == PATH else None)
    fleet.run()
    assert numbers(fleet) == [9, 9]
    for member in fleet.members.values():
        member.faults.clear()
    fleet.run(60)
    return fleet


def test_a_definition_that_is_read_later_divides_nothing_that_has_a_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = an_undivided_fleet(tmp_path / "fleet")
    repository = fleet.repository
    assert numbers(fleet) == [9, 9]
    assert 'argosy.dev/undivided: "9 by members"' in repository.show(BINDING)
    for said in (
        argosy(repository, capsys, "render").err,
        argosy(repository, capsys, "explain", "widget.example.io/w").out,
    ):
        assert HELD in " ".join(said.split())
        assert WAY_OUT in " ".join(said.split())
    assert argosy(repository, capsys, "verify").code == 0
    repository.commit({"other.yaml": a_deployment("other")})
    fleet.run(60)
    assert numbers(fleet) == [9, 9]
    assert argosy(repository, capsys, "verify").code == 0


class Asked(NamedTuple):
    """A change of the source, and the numbers of the clusters after it."""

    why: str
    files: dict[str, Any]
    want: list[int]


ASKED = [
    Asked("other replicas", {"widget.yaml": {**FLEET["widget.yaml"], "spec": {"replicas": 12}}}, [6, 6]),
    Asked("another field", {"widget.yaml": {**FLEET["widget.yaml"], "spec": {"replicas": 9, "image": "b"}}}, [9, 9]),
    Asked("the definition in the source", {"crd.yaml": a_definition()}, [5, 4]),
    Asked("a request to rebalance", {"again.yaml": REBALANCER}, [5, 4]),
    Asked(
        "other weights",
        {
            "policy.yaml": a_policy(
                "widgets",
                selectors=[{"apiVersion": KIND[0], "kind": KIND[1]}],
                placement=on_clusters(*MEMBERS, replicaScheduling=weighted(member1=2, member2=1)),
            )
        },
        [6, 3],
    ),
]


@pytest.mark.parametrize("case", ASKED, ids=[case.why for case in ASKED])
def test_what_was_not_divided_is_when_the_source_asks_for_it(
    case: Asked, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = an_undivided_fleet(tmp_path / "fleet")
    fleet.repository.commit(case.files)
    fleet.run(60)
    assert numbers(fleet) == case.want
    assert ("argosy.dev/undivided" in fleet.repository.show(BINDING)) == (case.want == [9, 9])
    assert argosy(fleet.repository, capsys, "verify").code == 0
    fleet.run(60)
    assert numbers(fleet) == case.want


def test_an_object_that_gets_replicas_is_divided_by_a_definition_that_was_known(tmp_path: Path) -> None:
    fleet = a_fleet(tmp_path / "fleet", member1=".spec.replicas", member2=".spec.replicas")
    fleet.repository.commit({"widget.yaml": {**FLEET["widget.yaml"], "spec": {"image": "a"}}})
    fleet.run()
    fleet.repository.commit({"widget.yaml": FLEET["widget.yaml"]})
    fleet.run(60)
    assert numbers(fleet) == [5, 4]


@pytest.mark.parametrize("path", [".spec.size", ""], ids=["says otherwise", "says nothing any more"])
def test_a_division_stays_where_every_member_says_otherwise(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = a_fleet(tmp_path / "fleet", member1=".spec.replicas", member2=".spec.replicas")
    fleet.run()
    for name in MEMBERS:
        define(fleet.members[name], path, generation=2)
    for seconds in (60, 60):
        fleet.run(seconds)
        assert (numbers(fleet), numbers(fleet, "size")) == ([5, 4], [3, 3])
        assert argosy(fleet.repository, capsys, "verify").code == 0
    said = " ".join(argosy(fleet.repository, capsys, "render").err.split())
    assert "say no longer that its replicas stand in .spec.replicas; add the one to go by to the source" in said
    fleet.repository.commit({"crd.yaml": a_definition()})
    fleet.run(60)
    assert numbers(fleet) == [5, 4]
    assert "replicas-at" not in fleet.repository.show(BINDING)
    assert "say no longer" not in argosy(fleet.repository, capsys, "render").err
