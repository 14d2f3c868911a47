"""The replicas that objects ask for in members, beside those that trees give them - in memory and for real."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.ledger.branch_file import FileFault
from reconciler.ledger.work import LiveReplicas, WorkFile
from reconciler.record.live_scale import live_replicas
from render.documents import emit
from render.interpreter import Interpreter
from render.model import Manifest

from .build import Repository, a_config_map, a_deployment, a_policy, on_clusters, weighted
from .clusters import remove_namespaces
from .fakes import MERGE_PATCH
from .memory_fleet import WAYS, MemoryFleet, Way, settle
from .tables import each_row

MEMBERS = ("member1", "member2")
AUTOSCALER = "kube-controller-manager"
ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
APPS = {"apiVersion": "apps/v1", "kind": "Deployment"}


class Shop(MemoryFleet):
    """A fleet of two members that divide ten replicas, four to six, in a namespace of its own."""

    space: str = ""
    is_real: bool = False

    def scale(self, member: str, replicas: int, manager: str) -> None:
        """Scale as an autoscaler does, or a person: a real server is asked through the scale subresource."""
        path = f"/apis/apps/v1/namespaces/{self.space}/deployments/web{'/scale' if self.is_real else ''}"
        body = {"spec": {"replicas": replicas}}
        query = f"fieldManager={manager}"
        status, answer = self.members[member].request("PATCH", f"{path}?{query}", body, content_type=MERGE_PATCH)
        assert status == 200, answer

    def live_column(self, capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[str, str]]:
        """The cells of ``argosy status`` below REPLICAS and LIVE, which stand beside each other, by cluster."""
        lines = self.status(capsys).out.splitlines()
        header = next(line for line in lines if line.startswith("CLUSTER"))
        first, second, end = (header.index(name) for name in ("REPLICAS", "LIVE", "CONVERGED"))
        rows = [line for line in lines if line.split()[:1] in ([name] for name in MEMBERS)]
        return {line.split()[0]: (line[first:second].strip(), line[second:end].strip()) for line in rows}

    def last_rows(self, capsys: pytest.CaptureFixture[str], count: int) -> list[str]:
        """The last lines of ``argosy status``, with a space between two cells."""
        return [" ".join(line.split()) for line in self.status(capsys).out.splitlines()[-count:]]

    def fleet_json(self, capsys: pytest.CaptureFixture[str]) -> Any:
        return json.loads(self.status(capsys, output="json").out)

    def object_lines(self, capsys: pytest.CaptureFixture[str]) -> list[str]:
        return self.status(capsys, "deploy/web").out.splitlines()

    def object_json(self, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
        """The numbers of ``argosy status deploy/web``, by cluster."""
        shown = json.loads(self.status(capsys, "deploy/web", output="json").out)["clusters"]
        names = ("cluster", "replicas", "live", "replicasManager")
        return [{name: each[name] for name in names if name in each} for each in shown]


def an_autoscaler(space: str) -> dict[str, Any]:
    target = {**APPS, "name": "web"}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": space},
        "spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 9},
    }


def files_of_shop(space: str) -> dict[str, Any]:
    selectors = [APPS, {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}]
    placement = on_clusters(*MEMBERS, replicaScheduling=weighted(member1=4, member2=6))
    return {
        "policy.yaml": a_policy(selectors=selectors, placement=placement, namespace=space),
        "web.yaml": a_deployment("web", replicas=10, namespace=space),
    }


@pytest.fixture(params=WAYS)
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    """The shop as it was first applied."""
    way, space = Way(request.param), f"t{secrets.token_hex(4)}"
    made = Shop.create(tmp_path / "fleet", dict.fromkeys(MEMBERS, (0, {})), files_of_shop(space), by_agent=way.by_agent)
    assert isinstance(made, Shop)
    made.space, made.is_real = space, way.is_real
    servers = request.getfixturevalue("members")[:2] if way.is_real else ()
    made.members |= dict(zip(MEMBERS, servers, strict=False))
    made.run()
    yield made
    remove_namespaces(list(servers), space)


def test_live_replicas_are_shown_with_who_set_them(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """An autoscaler in the source makes passes leave the number to whoever scales."""
    assert shop.object_json(capsys) == [
        {"cluster": "member1", "replicas": 4, "live": 4},
        {"cluster": "member2", "replicas": 6, "live": 6},
    ]
    shop.repository.commit({"hpa.yaml": an_autoscaler(shop.space)})
    shop.run(60)
    shop.scale("member1", 3, AUTOSCALER)
    shop.scale("member2", 1, "kubectl")
    shop.run(60)
    assert shop.live_column(capsys) == {"member1": ("4", "3"), "member2": ("6", "1")}
    assert shop.last_rows(capsys, 3) == [
        "SCALED OTHERWISE CLUSTER REPLICAS LIVE OWNER",
        f"Deployment.apps {shop.space}/web member1 4 3 {AUTOSCALER} (an autoscaler)",
        f"Deployment.apps {shop.space}/web member2 6 1 kubectl",
    ]
    document = shop.fleet_json(capsys)
    assert {name: (each["replicas"], each["live"]) for name, each in document["clusters"].items()} == {
        "member1": (4, 3),
        "member2": (6, 1),
    }
    (web,) = (each for each in document["bindings"] if each["object"].startswith("Deployment"))
    assert (web["clusters"], web["live"], web["replicasManagers"]) == (
        {"member1": 4, "member2": 6},
        {"member1": 3, "member2": 1},
        {"member1": AUTOSCALER, "member2": "kubectl"},
    )
    assert shop.object_json(capsys) == [
        {"cluster": "member1", "replicas": 4, "live": 3, "replicasManager": AUTOSCALER},
        {"cluster": "member2", "replicas": 6, "live": 1, "replicasManager": "kubectl"},
    ]
    lines = shop.object_lines(capsys)
    assert [line.split()[:3] for line in lines if line.startswith(("CLUSTER", "member"))][:3] == [
        ["CLUSTER", "REPLICAS", "LIVE"],
        ["member1", "4", "3"],
        ["member2", "6", "1"],
    ]
    assert [line for line in lines if line.startswith("LIVE is not")] == [
        f"LIVE is not what the tree says in member1: {AUTOSCALER} (an autoscaler) owns the field",
        "LIVE is not what the tree says in member2: kubectl owns the field",
    ]


def test_what_a_person_scaled_and_a_pass_set_right_is_live_as_the_tree_says(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.scale("member1", 9, "kubectl")
    shop.run(60)
    shop.run(60)
    assert shop.live_column(capsys) == {"member1": ("4", "4"), "member2": ("6", "6")}
    assert "SCALED OTHERWISE" not in shop.status(capsys).out


def in_memory(folder: Path, **files: Any) -> Shop:
    made = Shop.create(folder, dict.fromkeys(MEMBERS, (1, ROOMY)), {**files_of_shop("shop"), **files})
    assert isinstance(made, Shop)
    made.space = "shop"
    made.run()
    return made


def test_live_replicas_of_a_member_that_does_not_answer_are_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = in_memory(tmp_path / "fleet")
    shop.down = {"member1"}
    shop.run(60)
    shop.run(60)
    assert shop.live_column(capsys) == {"member1": ("4", "-"), "member2": ("6", "6")}
    assert shop.object_json(capsys) == [
        {"cluster": "member1", "replicas": 4},
        {"cluster": "member2", "replicas": 6, "live": 6},
    ]
    rows = [line.split()[:3] for line in shop.object_lines(capsys) if line.split()[:1] in ([name] for name in MEMBERS)]
    assert rows == [["member1", "4", "-"], ["member2", "6", "6"]]
    document = shop.fleet_json(capsys)
    assert {name: each.get("live") for name, each in document["clusters"].items()} == {"member1": None, "member2": 6}


def test_what_a_cluster_holds_is_told_as_far_as_it_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An earlier version recorded no live replicas; its files are read, and nothing is made up for them."""
    shop = in_memory(tmp_path / "fleet", **{"more.yaml": a_deployment("more", replicas=10, namespace="shop")})
    forget_live_replicas(shop, "member1", "web")
    forget_live_replicas(shop, "member2", "web", "more")
    assert shop.live_column(capsys) == {"member1": ("8", "4+?"), "member2": ("12", "-")}
    document = shop.fleet_json(capsys)
    assert [each.get("live") for each in document["clusters"].values()] == [None, None]
    for member in MEMBERS:
        settle(shop.members[member])
    shop.run(60)
    assert shop.live_column(capsys) == {"member1": ("8", "8"), "member2": ("12", "12")}


def forget_live_replicas(shop: Shop, member: str, *names: str) -> None:
    """Let the status branch have Works as an earlier version wrote them."""
    branch = Repository(shop.repository.path.parent / f"status-{member}")
    shop.repository.git("worktree", "add", "-q", str(branch.path), "argosy/status")
    paths = [f"works/{member}/shop/Deployment.apps/{name}.yaml" for name in names]
    works = {path: {key: value for key, value in shop.recorded(path).items() if key != "live"} for path in paths}
    branch.commit({path: emit(work) for path, work in works.items()})
    shop.repository.git("worktree", "remove", "--force", str(branch.path))


def test_live_replicas_that_change_more_often_than_they_are_recorded_have_their_age(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = in_memory(tmp_path / "fleet", **{"hpa.yaml": an_autoscaler("shop")})
    for replicas in range(2, 9):
        shop.scale("member1", replicas, AUTOSCALER)
        for member in MEMBERS:
            settle(shop.members[member])
        shop.run(15)
    assert shop.live_column(capsys)["member1"] == ("4", "5")
    said = "member1: LIVE counts an object as it was 45s ago; it changes often, and may differ by now"
    assert said in shop.status(capsys).out.splitlines()
    cluster = shop.fleet_json(capsys)["clusters"]["member1"]
    assert (cluster["live"], cluster["liveSeenAt"]) == (5, "2027-01-15T08:01:00Z")


def test_what_has_no_replicas_has_none_live(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    files = {
        "settings.yaml": a_config_map("settings", namespace="shop"),
        "settings-policy.yaml": a_policy(
            "settings", selectors=selectors, placement=on_clusters(*MEMBERS), namespace="shop"
        ),
    }
    shop = in_memory(tmp_path / "fleet", **files)
    ended = shop.status(capsys, "cm/settings")
    assert "LIVE" not in ended.out
    assert shop.live_column(capsys) == {"member1": ("4", "4"), "member2": ("6", "6")}


class Read(NamedTuple):
    why: str
    live: Manifest
    want: LiveReplicas | None


def an_entry(manager: str, *fields: str, **known: Any) -> dict[str, Any]:
    owned: dict[str, Any] = {}
    for name in reversed(fields):
        owned = {f"f:{name}": owned}
    return {"manager": manager, "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": owned, **known}


def owned(manifest: dict[str, Any], *entries: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "managedFields": list(entries)}}


def a_job(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}, **spec},
    }


REPLICAS = "spec", "replicas"
OURS = an_entry("argosy-default-0123456789ab", *REPLICAS, operation="Apply")
READINGS = [
    Read("nobody is recorded as the owner", a_deployment(replicas=3), LiveReplicas(replicas=3)),
    Read("we own it", owned(a_deployment(replicas=3), OURS), LiveReplicas(replicas=3)),
    Read(
        "we own it with somebody else",
        owned(a_deployment(replicas=3), an_entry("kubectl", *REPLICAS), OURS),
        LiveReplicas(replicas=3),
    ),
    Read(
        "somebody else owns it",
        owned(a_deployment(replicas=3), an_entry("keda-operator", *REPLICAS, subresource="scale")),
        LiveReplicas(replicas=3, manager="keda-operator"),
    ),
    Read(
        "the last of several who own it",
        owned(
            a_deployment(replicas=3),
            an_entry("kubectl", *REPLICAS, time="2027-01-15T08:00:00Z"),
            an_entry("vpa", *REPLICAS, time="2027-01-15T07:00:00Z"),
        ),
        LiveReplicas(replicas=3, manager="kubectl"),
    ),
    Read(
        "somebody owns another field",
        owned(a_deployment(replicas=3), an_entry("kubectl", "spec", "paused")),
        LiveReplicas(replicas=3),
    ),
    Read(
        "a Job's are its pods at a time",
        owned(a_job(parallelism=2), an_entry("kubectl", "spec", "parallelism")),
        LiveReplicas(replicas=2, manager="kubectl"),
    ),
    Read("it has none", a_config_map("web"), None),
    Read("its number is of another type", {**a_deployment(), "spec": {"replicas": "3"}}, None),
]


@each_row("case", READINGS, ids=lambda case: case.why)
def test_live_replicas_are_read_as_those_of_a_template(case: Read) -> None:
    assert live_replicas(case.live, Interpreter()) == case.want


def test_an_object_that_is_not_there_has_no_live_replicas() -> None:
    assert live_replicas(None, Interpreter()) is None


def test_a_file_whose_live_replicas_are_of_another_type_is_refused() -> None:
    work = {"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {"name": "web"}}
    with pytest.raises(FileFault, match=r"live\.replicas"):
        WorkFile.of({**work, "live": {"replicas": "3"}})
