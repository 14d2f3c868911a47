"""The pages about one object: how it is, why it is there, what changed it, and where each field comes from."""

import json
import re
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run
from reconciler.pages.reader import FleetReader
from reconciler.pages.web_pages import PageRequest, WebPages

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters, weighted
from .governed_fleet import a_governed_fleet
from .paged import Browser, Shown, a_shown_fleet, browser_of, links_of
from .served import serving_members
from .waiting import eventually

WEB = "/objects/Deployment.apps/shop/web"
SUBPAGES = ("", "/why", "/history", "/blame")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return a_shown_fleet(tmp_path_factory.mktemp("pages") / "shop").repository


@pytest.fixture(scope="module")
def browser(repository: Repository) -> Browser:
    return browser_of(repository)


def words_of(page: str) -> str:
    """Return the words that somebody reads on a page, on one line."""
    main = page[page.index("<main") : page.index("</main>")]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


def settled(browser: Browser, address: str) -> Shown:
    """The answer of a page once it is computed, which may take the program a few seconds."""
    for _ in range(20):
        shown = browser.get(address)
        if "computed" not in words_of(shown.text):
            return shown
    pytest.fail(f"{address} was never computed")


def answered(browser: Browser, address: str) -> str:
    """A page that is there."""
    shown = settled(browser, address)
    assert shown.code == 200, (address, words_of(shown.text))
    return shown.text


def test_one_page_leads_from_the_template_over_the_policy_to_clusters_and_on(browser: Browser) -> None:
    page = answered(browser, WEB)
    words = words_of(page)
    assert "How is Deployment shop/web?" in words
    assert "It is in 3 clusters: 0 well" in words
    for part in ("Template web.yaml", "Policy PropagationPolicy shop/web", "Clusters 3 of them", "12 asked"):
        assert part in words
    assert {f"{WEB}/why", f"{WEB}/history", f"{WEB}/blame"} <= {*links_of(page)}


def test_the_bars_tell_what_is_asked_and_ready_in_each_cluster(browser: Browser) -> None:
    found = dict(re.findall(r'aria-label="(\w+): (.+?) ready"', answered(browser, WEB)))
    assert found == {"berlin": "0 of 3", "oregon": "an unknown number of 3", "paris": "5 of 6"}


DOCUMENTS = {
    "": ("status", "Deployment.apps/web", "-n", "shop"),
    "/history": ("history", "Deployment.apps/web", "-n", "shop", "--limit", "20"),
    "/blame": ("blame", "Deployment.apps/web", "-n", "shop"),
    "/why": ("explain", "Deployment.apps/web", "-n", "shop", "--rev", "HEAD"),
}


@pytest.mark.parametrize("page", SUBPAGES)
def test_the_document_of_a_page_is_what_its_command_prints(
    page: str, browser: Browser, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    answered(browser, f"{WEB}{page}")
    printed = json.loads(argosy(repository, capsys, *DOCUMENTS[page], "-o", "json").out)
    shown = json.loads(browser.get(f"{WEB}{page}.json").text)
    assert shown == printed


def test_why_tells_each_step_of_the_decision(browser: Browser) -> None:
    words = words_of(answered(browser, f"{WEB}/why"))
    for part in (
        "1. Which policy claims it",
        "1 cluster is refused Cluster Filter Why tokyo ClusterAffinity",
        "3 clusters pass every filter Cluster Result Gets Had before Score In spite of",
        "oregon chosen 3 2 100 cluster.karmada.io/not-ready:NoSchedule: taints refuse no cluster that has it already",
        "Replicas changed : its replicas have changed.",
        "Division: 12 by static weight A tie goes to the cluster with fewer of them, then to the greater name.",
        "Cluster Weight Replicas berlin 1 3 oregon 1 3 paris 2 6",
        "What came of it",
        "No override changes it anywhere.",
    ):
        assert part in words


def test_the_page_of_an_object_that_no_policy_selects_tells_why_it_goes_nowhere(
    browser: Browser, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    address = "/objects/Deployment.apps/shop/forgotten"
    words = words_of(answered(browser, address))
    assert "no policy selects it" in words
    explained = argosy(
        repository, capsys, "explain", "Deployment.apps/forgotten", "-n", "shop", "--rev=HEAD", "-o", "json"
    )
    assert json.loads(browser.get(f"{address}.json").text) == json.loads(explained.out)
    told = argosy(repository, capsys, "status", "deploy/forgotten", "-n", "shop")
    assert told.err.endswith("hint: argosy explain deploy/forgotten -n shop\n")


def test_an_object_that_fits_nowhere_leads_to_no_page_about_fields_that_it_has_not(tmp_path: Path) -> None:
    """The page would only say that no cluster has it."""
    made = Repository.create(tmp_path / "fleet")
    web = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}]
    policy = a_policy("web", namespace="shop", selectors=web, placement=on_clusters("oslo"))
    made.commit({"paris.yaml": a_cluster("paris"), "web.yaml": a_deployment("web", namespace="shop"), "p.yaml": policy})
    assert run(["-q", "-C", str(made.path), "render", "--commit", "--bootstrap"]) == 1  # it goes nowhere
    browser = browser_of(made)
    for page in ("", "/why", "/history"):
        links = links_of(answered(browser, f"{WEB}{page}"))
        assert (f"{WEB}/history" in links, f"{WEB}/blame" in links) == (True, False)


def test_what_no_cluster_is_given_yet_leads_to_no_page_about_its_fields(tmp_path: Path) -> None:
    made = Repository.create(tmp_path / "fleet")
    web = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}]
    policy = a_policy("web", namespace="shop", selectors=web, placement=on_clusters("paris"))
    policy["spec"]["suspension"] = {"dispatching": True}
    made.commit({"paris.yaml": a_cluster("paris"), "web.yaml": a_deployment("web", namespace="shop"), "p.yaml": policy})
    run(["-q", "-C", str(made.path), "render", "--commit", "--bootstrap"])
    browser = browser_of(made)
    for page in ("", "/why", "/history"):
        links = links_of(answered(browser, f"{WEB}{page}"))
        assert (f"{WEB}/history" in links, f"{WEB}/blame" in links) == (True, False)


def test_the_page_says_which_image_is_where_while_a_rollout_brings_another(tmp_path: Path) -> None:
    fleet = a_governed_fleet(tmp_path / "shop")
    browser = browser_of(fleet.repository)
    document = json.loads(browser.get(f"{WEB}.json").text)
    old = {"container": "web", "image": "nginx:1.29", "clusters": ["berlin", "oregon", "paris"], "earlier": True}
    new = {"container": "web", "image": "web:2", "clusters": list[str]()}
    assert document["images"] == [new, old]
    said = words_of(answered(browser, WEB))
    assert "web web:2 the newest no cluster yet; overrides may change it web nginx:1.29 an earlier one berlin" in said
    assert [each.get("updated") for each in document["clusters"]] == [2, None, 5]
    git = ("-C", str(fleet.repository.path))
    assert run([*git, "-q", "rollout", "approve", "web", "-n", "shop", "--wave", "canary", "--commit"]) == 0
    fleet.run(60)
    images = json.loads(browser.get(f"{WEB}.json").text)["images"]
    assert images == [{**new, "clusters": ["paris"]}, {**old, "clusters": ["berlin", "oregon"]}]
    words = words_of(answered(browser, WEB))
    assert "web web:2 the newest paris web nginx:1.29 an earlier one berlin , oregon" in words
    assert "Asked Live Updated Ready" in words


def test_an_object_that_is_not_there_is_a_page_that_says_so(browser: Browser) -> None:
    for page in SUBPAGES:
        for address in (f"/objects/Deployment.apps/shop/nowhere{page}", f"/objects/--help/-/x{page}"):
            shown = settled(browser, address)
            assert shown.code in {404, 422}, address
            assert "<h1>" in shown.text


def test_the_past_of_an_object_is_told_with_the_command_that_tells_it(browser: Browser, repository: Repository) -> None:
    before = repository.git("rev-parse", "argosy/rendered~1")
    page = answered(browser, f"{WEB}?at={before}")
    assert "9 asked" in words_of(page)
    assert f"argosy status Deployment.apps/web --namespace=shop --at={before} -o json" in words_of(page)


HOSTILE = "<script>alert(1)</script>\u202e" + "x" * 5000


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """A fleet in which annotations, values and commit texts are what somebody hostile writes."""
    repository = Repository.create(tmp_path_factory.mktemp("hostile") / "fleet")
    web = a_deployment("web", replicas=4)
    web["metadata"]["annotations"] = {"argosy.dev/owner": HOSTILE}
    override = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "registry", "namespace": "default"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "words"}],
            "overrideRules": [
                {"overriders": {"plaintext": [{"path": "/data/text", "operator": "replace", "value": HOSTILE}]}}
            ],
        },
    }
    selectors = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "words"},
    ]
    placement = on_clusters("oslo", "paris", replicaScheduling=weighted(oslo=1, paris=1))
    files = {f"clusters/{name}.yaml": a_cluster(name) for name in ("oslo", "paris")}
    files |= {"web.yaml": web, "policy.yaml": a_policy("web", selectors=selectors, placement=placement)}
    files |= {"words.yaml": a_config_map("words", text="a"), "override.yaml": override}
    repository.commit(files, f"{HOSTILE[:200]}\n\n{HOSTILE}")
    assert _rendered(repository)
    files["words.yaml"] = a_config_map("words", text=HOSTILE, more="b")
    repository.commit(files, "<img src=x onerror=alert(1)>")
    assert _rendered(repository)
    return browser_of(repository)


def _rendered(repository: Repository) -> bool:
    return run(["-C", str(repository.path), "-q", "render", "--commit", "--bootstrap"]) == 0


@pytest.mark.parametrize("page", SUBPAGES)
@pytest.mark.parametrize("name", ["Deployment.apps/default/web", "ConfigMap/default/words"])
def test_hostile_texts_are_shown_as_texts(name: str, page: str, hostile: Browser) -> None:
    text = answered(hostile, f"/objects/{name}{page}")
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "\u202e" not in text
    assert "x" * 4000 not in text or "<details" in text


SECRET = "hunter2-is-no-password"


def test_a_value_of_a_secret_is_on_no_page(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "fleet")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "coded", "namespace": "default"}}
    selectors = [{"apiVersion": "v1", "kind": "Secret", "name": "coded"}]
    policy = a_policy("all", selectors=selectors, placement=on_clusters("oslo"))
    files = {"clusters/oslo.yaml": a_cluster("oslo"), "policy.yaml": policy}
    for number in (1, 2):
        value = {"stringData": {"password": f"{SECRET}{number}"}}
        repository.commit({**files, "secret.yaml": {**secret, **value}}, f"edit {number}")
        assert _rendered(repository)
    browser = browser_of(repository)
    for page in SUBPAGES:
        answered(browser, f"/objects/Secret/default/coded{page}")
        for suffix in ("", ".json"):
            assert SECRET not in browser.get(f"/objects/Secret/default/coded{page}{suffix}").text


def a_pod(name: str, uid: str, owner: str, **status: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop", "uid": uid, "labels": {"app": "web"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "ownerReferences": [{"uid": owner}]},
        "spec": {"nodeName": "node-0", "containers": [{"name": "web"}]},
        "status": {"phase": "Running", **status},
    }


def tell_log(handler: BaseHTTPRequestHandler) -> bool:
    """Answer for the log of a container, as a kubelet does through its API server."""
    if "/log?" not in handler.path:
        return False
    content = b"begun <b>with</b> https://ada:hunter2@example.com\n"
    handler.send_response(200)
    handler.send_header("Content-Type", "text/plain")
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)
    return True


def _document_with(browser: Browser, address: str, field: str) -> Any:
    """The document at an address, once it is computed."""
    document = json.loads(browser.get(address).text)
    return document if field in document else None


def test_pods_are_those_that_members_have_now_and_a_silent_member_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = a_shown_fleet(tmp_path / "shop")
    berlin = fleet.members["berlin"]
    web = berlin.objects["deployments.apps", "shop", "web"]
    web["metadata"]["uid"] = "own"
    labels = web["spec"]["selector"]["matchLabels"]
    owned = {"ownerReferences": [{"uid": "own"}], "labels": labels, "namespace": "shop"}
    berlin.objects["replicasets.apps", "shop", "web-1"] = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {**owned, "name": "web-1", "uid": "set"},
    }
    crashing = {"name": "web", "ready": False, "restartCount": 9, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    pod = a_pod("web-1-x", "pod", "set", containerStatuses=[crashing])
    pod["metadata"]["labels"] = labels
    berlin.objects["pods.", "shop", "web-1-x"] = pod
    members = [fleet.members[name] for name in ("berlin", "paris")]
    with serving_members(members, tmp_path / "kubeconfigs", {"berlin": tell_log}) as served:
        files = sorted(served.kubeconfigs.iterdir())
        monkeypatch.setenv("KUBECONFIG", ":".join(map(str, files)))
        browser = browser_of(fleet.repository)
        words = words_of(answered(browser, f"{WEB}/pods"))
        assert "1 pod in 2 clusters, 1 of them not well; 1 cluster could not be asked." in words
        assert "left in tokyo, where it is not to be, nobody could tell." in words
        assert "web-1-x CrashLoopBackOff 0 / 1 9" in words
        document = eventually(lambda: _document_with(browser, f"{WEB}/pods.json", "clusters"), "members are asked")
        assert {name: each["reached"] for name, each in document["clusters"].items()} == {
            "berlin": True,
            "oregon": False,
            "paris": True,
            "tokyo": False,
        }
        logs = words_of(answered(browser, f"{WEB}/pods?cluster=berlin&pod=web-1-x&container=web"))
        assert "Log of web-1-x web in berlin begun &lt;b&gt;with&lt;/b&gt; https://***@example.com" in logs
        assert "argosy logs -f --cluster berlin -n shop web-1-x -c web" in logs


def test_clusters_that_nobody_could_ask_are_named_once_with_one_reason(
    tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody was asked, so none of them did not answer; and of tokyo, where web is not to be, there is no card."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    words = words_of(answered(browser_of(repository), f"{WEB}/pods"))
    assert "0 pods in 0 clusters; 3 clusters could not be asked." in words
    assert words.count("there is no kubeconfig") == 1
    assert "berlin , oregon , paris Nobody could ask them: No credentials : there is no kubeconfig" in words


def test_the_tab_of_an_object_in_the_past_does_not_say_now(browser: Browser, repository: Repository) -> None:
    before = repository.git("rev-parse", "argosy/rendered~1")
    assert "Then Why here" in words_of(answered(browser, f"{WEB}?at={before}"))
    assert "Now Why here" in words_of(answered(browser, WEB))


def test_a_page_that_may_ask_no_member_says_by_which_command_one_asks(repository: Repository) -> None:
    reader = FleetReader(str(repository.path), asks_members=False)
    pages = WebPages(fleets=lambda: {"shop": reader})
    page = pages.page(PageRequest(path=f"{WEB}/pods", query={}))
    assert page.status == 422
    words = words_of(page.content.decode())
    assert "this page asks no members" in words
    assert "argosy pods Deployment.apps/web --namespace=shop --timeout=10s" in words


def test_an_object_of_a_kind_that_has_no_pods_leads_to_none(browser: Browser) -> None:
    """Neither a tab nor a row of its page is a link to pods, and their address says why there is no such page."""
    address = "/objects/Namespace/-/shop"
    page = answered(browser, address)
    assert [each for each in links_of(page) if "/pods" in each] == []
    assert "Pods objects of this kind have none" in words_of(page)
    assert {each.partition("?")[0] for each in links_of(answered(browser, WEB)) if "/pods" in each} == {f"{WEB}/pods"}
    shown = settled(browser, f"{address}/pods")
    words = words_of(shown.text)
    assert (shown.code, "objects of kind Namespace have no pods" in words, "argosy status Namespace/shop" in words) == (
        404,
        True,
        True,
    )
