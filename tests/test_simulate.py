"""``argosy simulate``: what people suppose, and what it says would become of the fleet."""

import json
from pathlib import Path
from typing import Any

import pytest

from render.documents import emit

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, as_bytes, on_clusters, weighted
from .failing import observed
from .test_failover import ALL_UP, DOWN, PARIS_DOWN, TOLERATED, WEB, a_fleet

NINE = ("--now", "2026-03-01T09:00:00Z")
PROXY = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "proxy"}
STATEFUL_SET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"}


def a_stateful_set() -> dict[str, Any]:
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"metadata": {"name": "data"}, "spec": storage}
    spec = a_deployment("db", replicas=3)["spec"]
    spec |= {"serviceName": "db", "volumeClaimTemplates": [claim]}
    return {**a_deployment("db"), "kind": "StatefulSet", "spec": spec}


def fleet_of(folder: Path, *, settings: dict[str, Any] | None = None, **files: Any) -> Repository:
    """Three clusters; web is divided over them, proxy is in each, db is in paris alone. All is rendered."""
    repository = Repository.create(folder)
    placement = {"clusterTolerations": TOLERATED, "replicaScheduling": weighted(paris=1, rome=1, oslo=1)}
    repository.commit(
        {
            "argosy.yaml": a_fleet(**{"featureGates": {"Failover": True}, **(settings or {})}),
            "oslo.yaml": a_cluster("oslo", region="north", provider="ice"),
            **{f"{name}.yaml": a_cluster(name, region="south", zones=[f"{name}-1"]) for name in ("paris", "rome")},
            "down.yaml": DOWN,
            "web.yaml": a_deployment("web", replicas=6),
            "policy.yaml": a_policy("web", selectors=[WEB], placement=placement, failover={"cluster": {}}),
            "proxy.yaml": [
                a_deployment("proxy", replicas=2),
                a_policy("proxy", selectors=[PROXY], placement=on_clusters("oslo", "paris", "rome")),
            ],
            "db.yaml": [a_stateful_set(), a_policy("db", selectors=[STATEFUL_SET], placement=on_clusters("paris"))],
            **files,
        }
    )
    observed(repository, ready=ALL_UP)
    return repository


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return fleet_of(tmp_path_factory.mktemp("simulated") / "fleet")


@pytest.fixture
def rendered(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> Repository:
    if not fleet.git("rev-parse", "-q", "--verify", "argosy/rendered", check=False):
        assert argosy(fleet, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    return fleet


def simulated(repository: Repository, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the document of a simulation at nine."""
    ended = argosy(repository, capsys, "simulate", *words, *NINE, "-o", "json")
    assert ended.out, ended.err
    value: dict[str, Any] = json.loads(ended.out)
    return ended.code, value


def of_object(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in document["objects"] if each["object"].endswith(f"/{name}"))


def test_a_lost_cluster_is_told_in_words(rendered: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(rendered, capsys, "simulate", "--without-cluster", "paris", *NINE)
    assert (ended.code, ended.err) == (1, "")
    assert ended.out == (
        "2 replicas move, 2 objects are short of replicas, 1 of them to the end, 1 object finds no place\n"
        "\n"
        "SUPPOSED\n"
        "  paris does not answer\n"
        "\n"
        "PLACED ANEW\n"
        "  Deployment.apps default/proxy: 6 -> 4 replicas, 0 moved\n"
        "      paris 2 -> 0\n"
        "  Deployment.apps default/web: 6 replicas, 2 moved\n"
        "      oslo 2 -> 3, paris 2 -> 0, rome 2 -> 3\n"
        "  StatefulSet.apps default/db: 3 -> 0 replicas, 0 moved\n"
        "      paris 3 -> 0\n"
        "\n"
        "BY ITSELF\n"
        "  after 5m, at 2026-03-01T09:05:00Z\n"
        "    Deployment.apps default/web: 6 replicas, 2 moved\n"
        "        oslo 2 -> 3, paris 2 -> 0, rome 2 -> 3\n"
        "\n"
        "SHORT OF REPLICAS\n"
        "  Deployment.apps default/web:\n"
        "      2 of 6 replicas from 2026-03-01T09:00:00Z to 2026-03-01T09:05:01Z (5m1s)\n"
        "  ! StatefulSet.apps default/db:\n"
        "      3 of 3 replicas from 2026-03-01T09:00:00Z until somebody acts\n"
        "\n"
        "LOST COPIES\n"
        "  Deployment.apps default/proxy: lost in paris (2 replicas); goes on in oslo,\n"
        "      rome\n"
        "  StatefulSet.apps default/db: lost in paris (3 replicas), with the volumes of\n"
        "      its claims; is nowhere else\n"
        "\n"
        "NO PLACE\n"
        "  ! StatefulSet.apps default/db: no place for 3 of 3 replicas: 0/2 clusters are\n"
        "      available: 2 cluster(s) did not match the placement cluster affinity\n"
        "      constraint.\n"
        "\n"
        "FACTS\n"
        "  oslo, paris, rome: nobody says when they were seen, and their capacity is\n"
        "      unknown\n"
        "  as of 2026-03-01T09:00:00Z\n"
        "\n"
        "ASSUMED\n"
        "  it is known not to be ready from the beginning on, as after 30 s of silence\n"
        "  clusters apply at once what they are given, and it is healthy a second later\n"
    )


def test_every_way_to_name_what_is_lost_leads_to_the_same_clusters(
    rendered: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, supposed in (
        (("--without-cluster", "p*"), "paris does not answer"),
        (("--without-region", "south"), "paris, rome do not answer"),
        (("--without-zone", "rome-1"), "rome does not answer"),
        (("--without-provider", "ice"), "oslo does not answer"),
        (("--without-cluster", "paris", "--without-provider", "ice"), "oslo, paris do not answer"),
    ):
        assert simulated(rendered, capsys, *words)[1]["supposed"] == [supposed], words


def test_a_loss_of_several_clusters_evicts_nothing_and_says_why(
    rendered: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = simulated(rendered, capsys, "--without-region", "south")
    web = of_object(found, "web")
    assert (code, web["ideal"], web["after"]) == (1, {"oslo": 6}, {"oslo": 2, "paris": 2, "rome": 2})
    assert web["down"] == [{"since": "2026-03-01T09:00:00Z", "until": None, "replicas": 4}]
    assert found["notes"] == ["so many clusters are not ready at once that taints evict nothing"]


def test_a_shorter_horizon_says_what_comes_later(rendered: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(rendered, capsys, "simulate", "--without-cluster", "rome", "--horizon", "2m", *NINE)
    assert ended.code == 1
    assert "later than is looked ahead, after 5m: web leaves rome\n" in ended.out
    assert "2 of 6 replicas from 2026-03-01T09:00:00Z to 2026-03-01T09:02:00Z at least\n" in ended.out


def test_what_finds_a_place_ends_with_0(rendered: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = simulated(rendered, capsys, "--without-cluster", "rome")
    assert code == 0
    assert of_object(found, "proxy")["lost"] == {
        "clusters": {"rome": 2},
        "remaining": ["oslo", "paris"],
        "state": "",
        "isDuplicated": True,
    }
    assert "lost" not in of_object(found, "web")


def test_what_has_no_replicas_and_no_copy_left_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would find a place, but no policy takes it out of the cluster that is lost."""
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}
    once = on_clusters("oslo", "rome", spreadConstraints=[{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}])
    policy = a_policy("c", selectors=[{"apiVersion": "v1", "kind": "ConfigMap", "name": "c"}], placement=once)
    files: dict[str, Any] = {"c.yaml": [config, policy]}
    repository = fleet_of(tmp_path / "fleet", **files)
    assert argosy(repository, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    ended = argosy(repository, capsys, "simulate", "--without-cluster", "oslo", *NINE)
    assert ended.code == 1
    assert ended.out.partition("\n")[0] == (
        "2 replicas move, 1 object is short of replicas for a while, 1 object has no copy left"
    )
    assert "\nNO COPY LEFT\n  ! ConfigMap default/c: is nowhere but in oslo\n" in ended.out
    ended = argosy(repository, capsys, "simulate", "--without-cluster", "rome", *NINE)
    assert (ended.code, "COPY LEFT" in ended.out) == (0, False)


def test_suppositions_are_combined(rendered: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = simulated(rendered, capsys, "--cordon", "rome", "--scale", "deploy/web=9", "-n", "default")
    web = of_object(found, "web")
    assert (code, found["supposed"]) == (0, ["rome is cordoned", "Deployment.apps default/web has 9 replicas"])
    assert (web["asked"], web["after"], web["ideal"]) == (
        9,
        {"oslo": 3, "paris": 3, "rome": 3},
        {"oslo": 5, "paris": 4},
    )


def test_a_taint_is_taken_as_cluster_taint_takes_it(rendered: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = simulated(rendered, capsys, "--taint", "rome=maintenance=now:NoExecute")
    assert found["supposed"] == ["rome has the taint maintenance=now:NoExecute"]
    assert of_object(found, "web")["after"] == {"oslo": 3, "paris": 3}


def test_files_that_are_added_are_checked_and_placed(
    rendered: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    extra = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "extra"}
    policy = a_policy("extra", selectors=[extra], placement=on_clusters("oslo"))
    (shop / "extra.yaml").write_bytes(emit(a_deployment("extra", replicas=3)))
    (shop / "policy.yaml").write_bytes(emit(policy))
    code, found = simulated(rendered, capsys, "--add", str(shop))
    extra_part = of_object(found, "extra")
    assert (code, extra_part["before"], extra_part["after"]) == (0, {}, {"oslo": 3})
    assert found["supposed"] == [f"argosy-simulate/shop/{name}.yaml is in the source" for name in ("extra", "policy")]

    (shop / "policy.yaml").write_text("apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nspec: 1\n")
    ended = argosy(rendered, capsys, "simulate", "--add", str(shop), *NINE)
    assert ended.code == 3
    assert "argosy-simulate/shop/policy.yaml:" in ended.err


def test_what_is_known_of_an_added_cluster_is_said(
    rendered: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lima.yaml").write_bytes(emit(a_cluster("lima")))
    _, found = simulated(rendered, capsys, "--add", str(tmp_path / "lima.yaml"), "--without-cluster", "paris")
    assert [each["cluster"] for each in found["facts"]] == ["lima", "oslo", "paris", "rome"]
    assert found["facts"][0] == {"cluster": "lima", "observedAt": "", "ageSeconds": None, "hasCapacity": False}
    assert found["assumptions"][0] == "nobody has looked at lima, and it is taken to be ready"


def test_files_that_change_nothing_are_said_to_be_such(
    rendered: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("nobody reads this")
    path = tmp_path / "other.yaml"
    path.write_bytes(emit({**a_deployment("other"), "metadata": {"name": "other", "namespace": "default"}}))
    for file in (tmp_path / "notes.txt", rendered.path / "web.yaml"):
        ended = argosy(rendered, capsys, "simulate", "--add", str(file), *NINE)
        assert (ended.code, "the files of --add change nothing: " in ended.err) == (0, True), file
    assert "change nothing" not in argosy(rendered, capsys, "simulate", "--add", str(path), *NINE).err


def test_a_file_of_the_work_tree_stands_for_itself(rendered: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    path = rendered.path / "web.yaml"
    before = path.read_bytes()
    try:
        path.write_bytes(emit(a_deployment("web", replicas=12)))
        _, found = simulated(rendered, capsys, "--add", str(path))
    finally:
        path.write_bytes(before)
    assert found["supposed"] == ["web.yaml is in the source"]
    assert of_object(found, "web")["after"] == {"oslo": 4, "paris": 4, "rome": 4}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--without-cluster", "pari"), "the source has no cluster called 'pari'\n  hint: did you mean 'paris'?"),
        (("--without-region", "sout"), "no cluster of the source is in region 'sout'\n  hint: did you mean 'south'?"),
        (("--without-zone", "x-1"), "no cluster of the source is in zone 'x-1'"),
        (("--taint", "rom=a:NoExecute"), "no cluster called 'rom'\n  hint: did you mean 'rome'?"),
        (("--taint", "rome=a:NoExecute-"), "takes a taint away"),
        (("--capacity", "oslo=cpu=many"), "'many' is no amount"),
        (("--capacity", "oslo"), "write CLUSTER=RESOURCE=AMOUNT"),
        (("--scale", "deploy/wep=4"), "hint: known here: proxy, web"),
        (("--scale", "deploy/web"), "write KIND/NAME=N"),
        (("--scale", "pp/web=4"), "no objects of kind 'pp'"),
        (("--add", "nowhere.yaml"), "there is no file or folder 'nowhere.yaml'"),
        ((), "suppose something"),
        (("--cordon", "oslo", "-n", "default"), "goes with --scale or --explain"),
    ],
)
def test_a_name_that_nothing_goes_by_is_refused(
    words: tuple[str, ...], said: str, rendered: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(rendered, capsys, "simulate", *words)
    assert ended.code == 2
    assert said in ended.err


def test_what_has_no_replicas_cannot_be_scaled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}
    repository = fleet_of(tmp_path / "fleet", **{"config.yaml": config})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    ended = argosy(repository, capsys, "simulate", "--scale", "cm/c=3")
    assert (ended.code, ended.err) == (2, "argosy: ConfigMap default/c has no replicas that could be scaled\n")


def test_a_guard_that_would_stop_it_is_named_with_its_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"movementGuard": {"workload": {"replicas": 1}}}
    repository = fleet_of(tmp_path / "fleet", settings=settings)
    assert argosy(repository, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    code, found = simulated(repository, capsys, "--without-cluster", "paris")
    web = of_object(found, "web")
    assert code == 6
    assert found["refusal"]["at"] == "2026-03-01T09:05:00Z"
    assert "Deployment.apps default/web: 2 of 6 replicas move (more than 1)" in found["refusal"]["message"]
    assert "Argosy-Allow-Movement: Deployment.apps default/web 2" in found["refusal"]["hint"]
    assert web["after"] == {"oslo": 2, "paris": 2, "rome": 2}
    assert [each["until"] for each in web["down"]] == [None]

    observed(repository, ready=PARIS_DOWN)
    assert argosy(repository, capsys, "reconcile", *NINE).code == 0
    ended = argosy(repository, capsys, "reconcile", "--now", found["refusal"]["at"])
    assert ended.code == 6
    assert "Deployment.apps default/web: 2 of 6 replicas move (more than 1)" in ended.err

    observed(repository, ready=ALL_UP)
    allowed = ("--allow-movement", "Deployment.apps default/web=2")
    code, found = simulated(repository, capsys, "--without-cluster", "paris", *allowed)
    assert (code, found["refusal"], of_object(found, "web")["after"]) == (1, None, {"oslo": 3, "rome": 3})


def test_what_is_lost_is_missing_where_a_guard_refuses_the_first_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = fleet_of(tmp_path / "fleet", settings={"movementGuard": {"workload": {"replicas": 1}}})
    assert argosy(repository, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    elsewhere = a_policy("web", selectors=[WEB], placement={"replicaScheduling": weighted(oslo=1)})
    (repository.path / "policy.yaml").write_bytes(emit(elsewhere))
    asked = ("--without-cluster", "paris", "--add", str(repository.path / "policy.yaml"))
    code, found = simulated(repository, capsys, *asked)
    web = of_object(found, "web")
    assert (code, found["refusal"]["at"], web["missing"]) == (6, "2026-03-01T09:00:00Z", 2)
    assert web["down"] == [{"since": "2026-03-01T09:00:00Z", "until": None, "replicas": 2}]
    ended = argosy(repository, capsys, "simulate", *asked, *NINE)
    assert "2 of 6 replicas from 2026-03-01T09:00:00Z until somebody acts\n" in ended.out


def test_a_quota_that_is_hit_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = a_deployment("web", replicas=6)
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    quota = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "FederatedResourceQuota",
        "metadata": {"name": "most", "namespace": "default"},
        "spec": {"overall": {"cpu": "8"}},
    }
    settings = {"featureGates": {"Failover": True, "FederatedQuotaEnforcement": True}}
    repository = fleet_of(tmp_path / "fleet", settings=settings, **{"web.yaml": web, "quota.yaml": quota})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    ended = argosy(repository, capsys, "simulate", "--scale", "deploy/web=12")
    assert ended.code == 1
    assert "\nQUOTAS\n  ! Deployment.apps default/web: " in ended.out
    assert "FederatedResourceQuota(default/most)" in ended.out


def test_the_placement_that_would_be_is_explained(rendered: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("simulate", "--without-cluster", "paris", "--explain", "deploy/web", *NINE)
    ended = argosy(rendered, capsys, *asked)
    assert ended.out.startswith("as the pass at 2026-03-01T09:05:00Z would decide, which comes by itself:\n")
    assert "It asks for 6 replicas and goes to oslo 3, rome 3." in ended.out
    assert "cluster(s) had untolerated taint {cluster.karmada.io/not-ready:NoSchedule}" in ended.out
    value = json.loads(argosy(rendered, capsys, *asked, "-o", "json").out)
    assert (value["kind"], value["targets"]) == (
        "ObjectExplanation",
        [{"name": "oslo", "replicas": 3}, {"name": "rome", "replicas": 3}],
    )
    stays = argosy(rendered, capsys, "simulate", "--cordon", "paris", "--explain", "deploy/web", *NINE).out
    assert stays.startswith("by itself it stays where it is; placed anew, this would be decided:\n")


def test_the_work_tree_may_be_asked_about(rendered: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    path = rendered.path / "web.yaml"
    before = path.read_bytes()
    try:
        path.write_bytes(emit(a_deployment("web", replicas=9)))
        _, found = simulated(rendered, capsys, "--worktree", "--cordon", "oslo")
        assert of_object(found, "web")["before"] == {"oslo": 3, "paris": 3, "rome": 3}
        _, found = simulated(rendered, capsys, "--cordon", "oslo")
        assert of_object(found, "web")["before"] == {"oslo": 2, "paris": 2, "rome": 2}
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize("question", [("--cordon", "oslo"), ("--n-minus", "1"), ("--headroom", "deploy/web")])
def test_every_question_is_about_the_source_that_is_named(
    question: tuple[str, ...], rendered: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    head = rendered.git("rev-parse", "HEAD").strip()
    of_head = argosy(rendered, capsys, "simulate", *question, *NINE, "-o", "json")
    of_tree = argosy(rendered, capsys, "simulate", *question, *NINE, "-o", "json", "--worktree")
    assert (json.loads(of_head.out)["source"], json.loads(of_tree.out)["source"]) == (head, "")
    both = argosy(rendered, capsys, "simulate", *question, *NINE, "--worktree", "--rev", "HEAD")
    assert (both.code, "--rev goes without --worktree" in both.err) == (2, True)


def test_nothing_is_committed(rendered: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    before = rendered.git("for-each-ref"), rendered.git("status", "--porcelain")
    argosy(rendered, capsys, "simulate", "--without-cluster", "paris", *NINE)
    assert (rendered.git("for-each-ref"), rendered.git("status", "--porcelain")) == before


def test_a_clone_without_the_branches_is_told_what_to_fetch(
    rendered: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rendered.git("clone", "-q", "--depth", "1", "--single-branch", rendered.path.as_uri(), str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    ended = argosy(clone, capsys, "simulate", "--without-cluster", "paris", *NINE)
    assert ended.code == 4
    fetch = ended.err.partition("hint: ")[2].partition(", or ")[0]
    assert fetch.startswith("git fetch origin '+refs/heads/argosy/rendered:")
    clone.git(*fetch.replace("'", "").split()[1:], "--depth", "1")
    ended = argosy(clone, capsys, "simulate", "--without-cluster", "paris", *NINE)
    assert "was never fetched here, so nothing is known of the clusters\n  hint: git fetch origin '+refs" in ended.err
    assert "2 replicas move" in ended.out


def test_what_is_supposed_has_its_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two of six replicas leave paris for rome and oslo, which charge otherwise; those that go nowhere cost nothing."""
    web = a_deployment("web", replicas=6)
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    rates = {"paris": "1", "rome": "2", "oslo": "3"}
    entries = [{"clusterAffinity": {"clusterNames": [name]}, "perHour": {"cpu": each}} for name, each in rates.items()]
    prices = {"kind": "PriceList", "metadata": {"name": "prices"}, "spec": {"currency": "EUR", "prices": entries}}
    fleet = fleet_of(tmp_path, **{"web.yaml": web, "prices.yaml": {"apiVersion": "argosy.dev/v1alpha1", **prices}})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    shown = argosy(fleet, capsys, "simulate", "--without-cluster", "paris", *NINE).out
    assert shown.partition("\nCOST\n")[2].partition("\n\n")[0] == (
        "  8760.00 EUR a month as it is\n"
        "  10950.00 EUR a month placed anew (+2190.00)\n"
        "  10950.00 EUR a month by itself, in the end (+2190.00)\n"
        "  not in it: 0 objects of unknown cost, 2 that request nothing"
    )
    document = json.loads(argosy(fleet, capsys, "simulate", "--without-cluster", "paris", *NINE, "-o", "json").out)
    assert document["cost"] == {
        "currency": "EUR",
        "before": "8760",
        "ideal": "10950",
        "last": "10950",
        "unknown": [],
        "unrequested": ["Deployment.apps default/proxy", "StatefulSet.apps default/db"],
    }


def test_a_simulation_without_prices_tells_of_no_cost(rendered: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert "COST" not in argosy(rendered, capsys, "simulate", "--without-cluster", "paris", *NINE).out
    document = json.loads(argosy(rendered, capsys, "simulate", "--without-cluster", "paris", *NINE, "-o", "json").out)
    assert "cost" not in document


def test_files_are_added_to_a_work_tree_of_which_nothing_is_committed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    web = [a_deployment("web", replicas=3), a_policy("web", selectors=[WEB], placement=on_clusters("oslo"))]
    repository.write({"argosy.yaml": a_fleet(), "oslo.yaml": a_cluster("oslo")})
    (tmp_path / "web.yaml").write_bytes(as_bytes(web))
    asked = ("simulate", "--worktree", "--add", str(tmp_path / "web.yaml"), *NINE, "-o", "json")
    ended = argosy(repository, capsys, *asked)
    assert ended.code == 0, ended.err
    assert [(each["object"], each["after"]) for each in json.loads(ended.out)["objects"]] == [
        ("Deployment.apps default/web", {"oslo": 3})
    ]
    repository.commit({})
    repository.write({"rome.yaml": a_cluster("rome"), "oslo.yaml": None})
    (tmp_path / "web.yaml").write_bytes(
        as_bytes([web[0], a_policy("web", selectors=[WEB], placement=on_clusters("rome"))])
    )
    assert json.loads(argosy(repository, capsys, *asked).out)["objects"][0]["after"] == {"rome": 3}


def test_a_fleet_that_was_never_rendered_is_said_to_be_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = fleet_of(tmp_path / "fleet")
    source = repository.git("rev-parse", "HEAD").strip()
    _, found = simulated(repository, capsys, "--cordon", "paris")
    first = f"the first pass over source {source[:12]}, which is not rendered yet, comes before all of it"
    assert found["assumptions"][0] == first
    assert argosy(repository, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    _, found = simulated(repository, capsys, "--cordon", "paris")
    assert not [each for each in found["assumptions"] if "comes before" in each]
    _, found = simulated(repository, capsys, "--cordon", "paris", "--worktree")
    assert found["assumptions"][0] == "the pass over the work tree comes before all of it"


def test_what_is_not_rendered_or_not_looked_at_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = fleet_of(tmp_path / "fleet")
    assert argosy(repository, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    source = repository.commit({"web.yaml": a_deployment("web", replicas=9), "lima.yaml": a_cluster("lima")})
    _, found = simulated(repository, capsys, "--without-cluster", "paris")
    assert found["assumptions"][:2] == [
        f"the pass over source {source[:12]}, which is not rendered yet, comes before all of it",
        "nobody has looked at lima, and it is taken to be ready",
    ]
    assert of_object(found, "web")["before"] == {"oslo": 3, "paris": 3, "rome": 3}


def test_what_is_supposed_of_a_cluster_that_is_cordoned_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It keeps what it holds and may get more of that, which is no room for anything else."""
    repository = fleet_of(tmp_path / "fleet")
    assert argosy(repository, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T08:00:00Z").code == 0
    cordon = {"key": "cluster.karmada.io/unschedulable", "effect": "NoSchedule"}
    paris = a_cluster("paris", region="south", zones=["paris-1"], taints=[cordon])
    repository.commit({"paris.yaml": paris}, "Cordon paris")
    already = "paris is cordoned already: to suppose it makes no pass decide otherwise"
    refuge = "paris is cordoned: nothing new comes to it, but what it holds may get more replicas there"
    for words, said in (
        (("--cordon", "paris"), [already]),
        (("--without-cluster", "rome"), [refuge]),
        (("--without-cluster", "paris"), []),
        (("--n-minus", "1"), [refuge]),
    ):
        _, document = simulated(repository, capsys, *words)
        assert [each for each in document["assumptions"] if "cordoned" in each] == said, words
