"""Custom kinds that only members define: a pass keeps their schemas, and a check without clusters goes by them."""

import copy
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.members.exchange import Answer
from reconciler.source.schemas.kubernetes import KubernetesSchemas
from reconciler.source.schemas.observed import digest_of_schema
from render.documents import parse_documents
from render.schemas import StructuralSchemas, check_manifest
from render.schemas.published import checked_parts_of_published_schema
from tests.build import Ended, Repository, a_cluster, a_cluster_policy, argosy, on_clusters
from tests.clusters import Member, remove_namespaces
from tests.fakes import FakeCluster
from tests.memory_fleet import MemoryFleet, put
from tests.test_schemas_of_servers import changed, changes
from tests.waiting import eventually

DEFINITION, GADGET = (
    each.value for each in parse_documents((Path(__file__).parent / "vectors" / "custom_kind.yaml").read_bytes())
)
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SPACE = "observed-schemas"
OBJECT = {**GADGET, "metadata": {"name": "rich", "namespace": SPACE}}
POLICY = a_cluster_policy(
    "gadgets",
    selectors=[{"apiVersion": "schemas.example.com/v1", "kind": "Gadget"}],
    placement=on_clusters("member1", "member2"),
)
FLEET = {
    "clusters/member1.yaml": a_cluster("member1"),
    "clusters/member2.yaml": a_cluster("member2"),
    "gadget.yaml": OBJECT,
    "policy.yaml": POLICY,
}


def with_spec(**spec: Any) -> dict[str, Any]:
    return {**OBJECT, "spec": {**OBJECT["spec"], **spec}}


def another_definition() -> Any:
    """The same definition, but for one more field."""
    other = copy.deepcopy(DEFINITION)
    fields = other["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    fields["colour"] = {"type": "string"}
    return other


class Fleet(NamedTuple):
    """A fleet of two members and what runs a command over it that reaches them."""

    repository: Repository
    kubeconfigs: Path

    def reconciled(self, capsys: pytest.CaptureFixture[str], *options: str) -> Ended:
        return argosy(self.repository, capsys, "-vv", "reconcile", "--kubeconfigs", str(self.kubeconfigs), *options)

    def schemas(self) -> list[str]:
        return self.repository.files("argosy/status", "schemas")


def published(member: Member) -> Any:
    return member.request("GET", "/openapi/v3")[1]["paths"]


def has_changed(member: Member, before: Any) -> bool:
    return bool(published(member) != before)


def defined(member: Member, definition: Any) -> None:
    assert member.request("POST", DEFINITIONS, definition)[0] == 201
    eventually(lambda: "apis/schemas.example.com/v1" in published(member), "the schema is published")
    eventually(lambda: member.dry_run(GADGET)[0] in {201, 400}, "the kind is served")


@pytest.fixture
def fleet(members: tuple[Member, ...], tmp_path: Path) -> Iterator[Fleet]:
    kubeconfigs = tmp_path / "kubeconfigs"
    kubeconfigs.mkdir()
    for member in members[:2]:
        shutil.copy(member.kubeconfig, kubeconfigs / f"{member.name}.yaml")
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(FLEET)
    try:
        yield Fleet(repository, kubeconfigs)
    finally:
        for member in members[:2]:
            member.request("DELETE", f"{DEFINITIONS}/{DEFINITION['metadata']['name']}")
        remove_namespaces(members[:2], SPACE, "argosy-system")


@pytest.mark.cluster
def test_a_typo_in_a_kind_of_members_is_refused_without_them(
    members: tuple[Member, ...], fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    for member in members[:2]:
        defined(member, DEFINITION)
    assert fleet.reconciled(capsys, "--bootstrap").code == 0
    schemas = fleet.schemas()
    assert [path for path in schemas if path.endswith(".yaml")] == ["schemas/member1.yaml", "schemas/member2.yaml"]
    assert len(schemas) == 3, "both members share one schema"
    assert argosy(fleet.repository, capsys, "validate").code == 0
    fleet.repository.commit({"gadget.yaml": with_spec(sizee=3)})
    said = (
        "gadget.yaml:29: spec.sizee: unknown field, by the schema of Gadget.schemas.example.com"
        " observed in member1, member2\n  hint: did you mean 'size'?\n"
    )
    assert argosy(fleet.repository, capsys, "validate") == (3, f"{said}1 problem, 0 warnings\n", "")
    for command in (("render",), ("diff", "HEAD~", "HEAD"), ("reconcile", "--dry-run")):
        ended = argosy(fleet.repository, capsys, *command)
        assert (ended.code, ended.out, ended.err) == (3, "", f"{said}1 problem; nothing was changed\n")


@pytest.mark.cluster
def test_another_definition_in_one_cluster_is_named(
    members: tuple[Member, ...], fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    defined(members[0], DEFINITION)
    defined(members[1], another_definition())
    assert fleet.reconciled(capsys, "--bootstrap").code == 0
    assert len(fleet.schemas()) == 4
    fleet.repository.commit({"gadget.yaml": with_spec(colour="red")})
    assert argosy(fleet.repository, capsys, "validate").out == (
        "gadget.yaml:7: spec.colour: unknown field, by the schema of Gadget.schemas.example.com"
        " observed in member1; that of member2 takes it\n1 problem, 0 warnings\n"
    )


@pytest.mark.cluster
def test_an_idle_pass_sees_a_new_definition(
    members: tuple[Member, ...], fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    """A definition that takes more must not leave a mistake behind because nothing else moved."""
    for member in members[:2]:
        defined(member, DEFINITION)
    assert fleet.reconciled(capsys, "--bootstrap").code == 0
    eventually(lambda: "\nrender ms=" not in fleet.reconciled(capsys).err, "the fleet comes to rest")
    before = fleet.schemas()
    path = f"{DEFINITIONS}/{DEFINITION['metadata']['name']}"
    for member in members[:2]:
        new = another_definition()
        new["metadata"]["resourceVersion"] = member.read(path)["metadata"]["resourceVersion"]
        before_it = published(member)
        assert member.request("PUT", path, new)[0] == 200
        eventually(partial(has_changed, member, before_it), "it is published")
    assert fleet.reconciled(capsys).code == 0
    after = fleet.schemas()
    assert (len(before), len(after), len({*before, *after})) == (3, 3, 4)
    fleet.repository.commit({"gadget.yaml": with_spec(colour="red")})
    assert argosy(fleet.repository, capsys, "validate").code == 0
    assert fleet.reconciled(capsys).code == 0


@pytest.mark.cluster
def test_what_is_published_is_checked_as_the_definition_is(members: tuple[Member, ...], fleet: Fleet) -> None:
    assert fleet
    defined(members[0], DEFINITION)
    schemas = members[0].read("/openapi/v3/apis/schemas.example.com/v1")["components"]["schemas"]
    observed = checked_parts_of_published_schema(schemas["com.example.schemas.v1.Gadget"])
    written = DEFINITION["spec"]["versions"][1]["schema"]["openAPIV3Schema"]
    metadata = KubernetesSchemas().metadata
    assert observed is not None
    first, second = (StructuralSchemas(metadata).of_object(each) for each in (observed, written))
    tried = [GADGET, *(changed(GADGET, *each) for each in changes(GADGET))]
    verdicts = [[check_manifest(check, each).problems for each in tried] for check in (first, second)]
    assert verdicts[0] == verdicts[1]
    assert len([each for each in verdicts[0] if each]) > 80


def fake_member(published: Any, hash_: str, name: str = "member1") -> FakeCluster:
    """A member in memory that has the definition, and publishes a schema of it."""
    member = FakeCluster(name=name)
    put(member, "customresourcedefinitions.apiextensions.k8s.io", "", copy.deepcopy(DEFINITION))
    index = {
        "apis/schemas.example.com/v1": {"serverRelativeURL": f"/openapi/v3/apis/schemas.example.com/v1?hash={hash_}"}
    }
    answers = {
        "/openapi/v3": {"paths": index},
        "/openapi/v3/apis/schemas.example.com/v1": {
            "components": {"schemas": {"com.example.schemas.v1.Gadget": published}}
        },
    }
    member.faults.append(lambda each: Answer(status=200, body=answers[each.path]) if each.path in answers else None)
    return member


def sized(*fields: str) -> dict[str, Any]:
    properties = {name: {"x-kubernetes-preserve-unknown-fields": True} for name in (*OBJECT["spec"], *fields)}
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}


def memory_fleet(path: Path) -> MemoryFleet:
    fleet = MemoryFleet.create(path, {}, FLEET)
    fleet.members = {name: fake_member(sized(), "A", name) for name in ("member1", "member2")}
    return fleet


def schema_files(fleet: MemoryFleet) -> list[str]:
    paths = fleet.repository.files("argosy/status", "schemas")
    return [path.removeprefix("schemas/") for path in paths]


def test_a_schema_is_kept_while_a_member_has_it(tmp_path: Path) -> None:
    fleet = memory_fleet(tmp_path / "fleet")
    fleet.run()
    first, *indexes = schema_files(fleet)
    assert indexes == ["member1.yaml", "member2.yaml"]
    assert "schemas of member1 and member2" in fleet.status_commits()[-1]
    fleet.run(60)
    assert schema_files(fleet) == [first, *indexes]
    fleet.members["member1"] = fake_member(sized("colour"), "B")
    fleet.run(60)
    both = schema_files(fleet)
    assert (len(both), first in both) == (4, True)
    fleet.members["member2"] = fake_member(sized("colour"), "B", "member2")
    fleet.down.add("member2")
    fleet.run(60)
    assert schema_files(fleet) == both, "what a member had stays while it does not answer"
    fleet.down.clear()
    fleet.run(60)
    assert (len(schema_files(fleet)), first in schema_files(fleet)) == (3, False)
    fleet.repository.commit({"gadget.yaml": None, "policy.yaml": None})
    fleet.run(60)
    assert schema_files(fleet) == [], "no object and no policy names the kind any more"


def test_a_member_that_is_renamed_keeps_its_schemas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = memory_fleet(tmp_path / "fleet")
    fleet.run()
    renamed = a_cluster("lyon")
    renamed["metadata"]["annotations"] = {"argosy.dev/renamed-from": "member1"}
    placed = {**POLICY, "spec": {**POLICY["spec"], "placement": on_clusters("lyon")}}
    files = {"clusters/member1.yaml": renamed, "policy.yaml": placed, "gadget.yaml": with_spec(sizee=3)}
    fleet.repository.commit(files)
    said = "spec.sizee: unknown field, by the schema of Gadget.schemas.example.com observed in lyon\n"
    assert said in argosy(fleet.repository, capsys, "validate").out
    fleet.repository.commit({"gadget.yaml": OBJECT})
    fleet.members["lyon"] = fleet.members.pop("member1")
    fleet.run(60)
    assert [path for path in schema_files(fleet) if path.endswith(".yaml")] == ["lyon.yaml", "member2.yaml"]


def test_a_rule_that_breaks_an_object_by_an_observed_schema_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = memory_fleet(tmp_path / "fleet")
    fleet.run()
    edit = {"plaintext": [{"path": "/spec/colour", "operator": "add", "value": "red"}]}
    override = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "red"},
        "spec": {"overrideRules": [{"targetCluster": {"clusterNames": ["member2"]}, "overriders": edit}]},
    }
    fleet.repository.commit({"override.yaml": override})
    said = (
        f"override.yaml:7: spec.overrideRules[0]: makes Gadget.schemas.example.com {SPACE}/rich wrong in member2:"
        " spec.colour: unknown field, by the schema observed there\n"
    )
    assert argosy(fleet.repository, capsys, "validate") == (
        3,
        f"{said}1 problem, 0 warnings\n",
        "",
    )


DAMAGED = [
    ("schemas/member1.yaml", "versions: 1\n", "versions is no list"),
    ("schemas/member1.yaml", "{", "it holds no object"),
    ("schemas/{digest}.json", "{}", "its content is not what its name says"),
]


@pytest.mark.parametrize(("path", "content", "fault"), DAMAGED, ids=[fault for *_, fault in DAMAGED])
def test_a_damaged_record_is_named(
    path: str, content: str, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever may push to the status branch can write anything there; nothing is guessed from it."""
    fleet = memory_fleet(tmp_path / "fleet")
    fleet.run()
    path = path.format(digest=schema_files(fleet)[0].removesuffix(".json"))
    fleet.repository.git("checkout", "-q", "argosy/status")
    fleet.repository.commit({path: content})
    fleet.repository.git("checkout", "-q", "main")
    ended = argosy(fleet.repository, capsys, "render")
    said = f"argosy: {path} on the status branch is not as Argosy writes it: {fault}\n"
    hint = "  hint: restore the file from an earlier commit of the branch, or remove it: the next pass writes it anew\n"
    assert (ended.code, ended.err) == (4, said + hint)
    fleet.repository.git("checkout", "-q", "argosy/status")
    fleet.repository.commit({path: None})
    fleet.repository.git("checkout", "-q", "main")
    fleet.run(60)
    assert (len(schema_files(fleet)), argosy(fleet.repository, capsys, "render").code) == (3, 0)


def test_a_schema_of_another_shape_counts_as_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = memory_fleet(tmp_path / "fleet")
    fleet.run()
    content = '{"properties": {"spec": {"properties": [1]}}}'
    digest = digest_of_schema(content.encode())
    versions = [{"apiVersion": "schemas.example.com/v1", "hash": "A", "kinds": [{"kind": "Gadget", "schema": digest}]}]
    fleet.repository.git("checkout", "-q", "argosy/status")
    fleet.repository.commit({f"schemas/{digest}.json": content, "schemas/member1.yaml": {"versions": versions}})
    fleet.repository.git("checkout", "-q", "main")
    fleet.repository.commit({"gadget.yaml": with_spec(colour="red")})
    assert "observed in member2; that of member1 takes it\n" in argosy(fleet.repository, capsys, "validate").out
