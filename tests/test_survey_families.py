"""Policies that neither place nor override: what each is about, does and loses, and what waits by it."""

import json
import re

import pytest

from .build import Repository, argosy
from .governed_fleet import a_governed_fleet
from .paged import Browser, browser_of, links_of
from .test_pages_object import words_of


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return a_governed_fleet(tmp_path_factory.mktemp("governed") / "shop").repository


@pytest.fixture(scope="module")
def browser(repository: Repository) -> Browser:
    return browser_of(repository)


LISTED = """\
ClusterRolloutPolicy all           0          4         3        1                             rollouts.yaml
RolloutPolicy shop/web             0          1         1        0                             rollout.yaml
ClusterResiliencePolicy regions               4         -        -                             resilience.yaml
ClusterTaintPolicy down                       0         -        -       2                     taint.yaml
FederatedResourceQuota shop/shop              3         -        -                             quota.yaml
Freeze 1                                      1         -        -       4                     CALENDAR.freezes[0]
Window 1                                      0         -        -       4                     CALENDAR.windows[0]
PolicyTest without-paris                      1         -        -                             test.yaml
11 policies
"""


def test_policies_of_every_kind_are_listed(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    listed = LISTED.replace("CALENDAR", "argosy.yaml: spec.rollouts")
    assert argosy(repository, capsys, "list", "policies").out.endswith(listed)
    of_kind = argosy(repository, capsys, "list", "policies", "--kind", "rolloutpolicy", "-o", "name")
    assert of_kind.out == "rolloutpolicy/web\n"


STATES = {
    "rolloutpolicy/web": """\
RolloutPolicy shop/web (rollout.yaml)
about: apps/v1 Deployment named 'web' in namespace shop
priority: 0
does: wave canary: paris, needs an approval, healthy for 10m, within 1h
does: wave eu: region in eu, may be empty, 1 at once, healthy for 10m, within 1h
does: wave others: all clusters that are left, healthy for 10m, within 1h
does: pauses once a cluster has failed
does: a newer change: it takes the place of the one that goes out
waits: RolloutPolicy shop/web, change CHANGE, 0 of 3 clusters through
  Waiting: waits for an approval of wave canary: argosy rollout approve web -n shop
  argosy rollout approve web -n shop --wave canary --commit
""",
    "clusterresiliencepolicy/regions": """\
ClusterResiliencePolicy regions (resilience.yaml)
about: apps/v1 Deployment
does: survives the loss of any region: at least 50% of its replicas are left ONCE PLACED ANEW, or 1 whole copy
does: every policy that selects an object counts: none loses
""",
    "clustertaintpolicy/down": """\
ClusterTaintPolicy down (taint.yaml)
about: oregon, paris
does: adds down:NoExecute while Ready is not True
does: takes down:NoExecute away while Ready is True
clusters: oregon, paris
""",
    "federatedresourcequota/shop": """\
FederatedResourceQuota shop/shop (quota.yaml)
about: all workloads of namespace shop
does: cpu: 0 of 100 used
""",
    "freeze/1": """\
Freeze 1 (argosy.yaml: spec.rollouts.freezes[0])
about: every object of namespace jobs
does: it is in force
does: frozen until 2030-01-02T00:00:00Z: the holidays
clusters: berlin, oregon, paris, tokyo
waits: """,
    "policytest/without-paris": """\
PolicyTest without-paris (test.yaml)
about: Deployment.apps shop/web
does: supposes no paris
does: expects Deployment.apps shop/web in berlin
does: argosy test test.yaml runs it: no page does
""",
}


@pytest.mark.parametrize("subject", STATES)
def test_the_status_of_a_policy_tells_what_it_is_about_and_does_and_what_waits_by_it(
    subject: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    words = argosy(repository, capsys, "status", subject).out
    change = words.partition(", change ")[2].partition(":")[0]
    assert words.replace(f"{change}:", "CHANGE,", 1 if change else 0).startswith(
        STATES[subject].replace("ONCE PLACED ANEW", "once what can be is placed anew")
    )


def test_a_rollout_policy_tells_which_other_one_decides_instead(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    words = argosy(repository, capsys, "status", "clusterrolloutpolicy/all").out
    assert words.endswith(
        "LOST                       DECIDED BY               WHY\n"
        "Deployment.apps shop/web   RolloutPolicy shop/web   one of the namespace goes before one of the fleet\n"
    )


def test_a_name_alone_means_policies_of_every_kind(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    named = argosy(repository, capsys, "status", "policy/web", "-n", "shop", "-o", "name")
    assert named.out == "propagationpolicy/web\nrolloutpolicy/web\n"
    nowhere = argosy(repository, capsys, "status", "rolloutpolicy/nowhere")
    assert nowhere.err == "argosy: the source has no rolloutpolicy called 'nowhere'\n  hint: known here: web\n"
    explained = argosy(repository, capsys, "explain", "rolloutpolicy/web", "-n", "shop")
    assert explained.err == (
        "argosy: nothing is placed by a rolloutpolicy\n"
        "  hint: argosy status rolloutpolicy/web -n shop tells what it does\n"
    )


def test_a_search_finds_policies_by_what_they_do(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(argosy(repository, capsys, "search", "holidays", "-o", "json").out)
    assert [each["name"] for kind in found["kinds"] for each in kind["found"]] == ["Freeze 1"]


def test_every_policy_has_a_page_with_the_document_of_its_command(
    browser: Browser, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    addresses = [each for each in links_of(browser.get("/policies").text) if each.startswith("/policies/")]
    assert len(addresses) == 11
    for address in addresses:
        shown = browser.get(address)
        assert shown.code == 200, address
        kind, namespace, name = address.split("/")[2:]
        where = () if namespace == "-" else ("-n", namespace)
        printed = argosy(repository, capsys, "status", f"{kind}/{name}", *where, "-o", "json").out
        assert _without_now(browser.get(f"{address}.json").text) == _without_now(printed)


def _without_now(text: str) -> str:
    return text.replace("it is closed", "it is open")


def test_the_page_of_a_rollout_policy_has_the_command_that_answers_it(browser: Browser) -> None:
    words = words_of(browser.get("/policies/RolloutPolicy/shop/web").text)
    assert "RolloutPolicy shop/web decides about 1 object; 1 change is under way by it." in words
    assert "argosy rollout approve web -n shop --wave canary --commit copy" in words
    lost = words_of(browser.get("/policies/ClusterRolloutPolicy/-/all").text)
    assert "and loses 1 that it selects as well" in lost
    assert "shop/web one of the namespace goes before one of the fleet" in lost


def test_policies_of_one_kind_are_shown_where_one_is_asked_for(browser: Browser) -> None:
    shown = browser.get("/policies?kind=Freeze")
    assert [each for each in links_of(shown.text) if each.startswith("/policies/")] == ["/policies/Freeze/-/1"]
    assert browser.get("/policies?kind=Nonsense").code == 404


def test_a_rollout_leads_to_its_policy_and_shows_the_command_that_lets_it_go_on(
    browser: Browser, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    page = browser.get("/rollouts").text
    assert {"/policies/RolloutPolicy/shop/web", "/policies/ClusterRolloutPolicy/-/all"} <= {*links_of(page)}
    before_details = page[: page.index("<details><summary>All")]
    assert "argosy rollout approve" not in before_details  # the first one waits for the calendar, and for nobody
    assert "<code>argosy rollout approve web -n shop --wave canary --commit</code>" in page
    printed = json.loads(argosy(repository, capsys, "rollout", "status", "-o", "json").out)
    commands = [each.get("command") for each in printed["rollouts"]]
    assert commands == [None, "argosy rollout approve web -n shop --wave canary --commit"]


WEB = "/objects/Deployment.apps/shop/web"
PAGES = ("/policies", "/objects", "/clusters", "/clusters/paris", WEB, "/namespaces/shop")


@pytest.mark.parametrize("address", PAGES)
def test_numbers_of_rows_that_are_cards_on_a_phone_say_what_they_count(address: str, browser: Browser) -> None:
    page = browser.get(address).text
    tables = re.findall(r'<table class="(?:rows )?stack">.*?</table>', page, re.DOTALL)
    assert tables
    assert [cell for table in tables for cell in re.findall(r'<td class="number"(?! data-label)[^>]*>', table)] == []


@pytest.mark.parametrize("address", [*PAGES, "/overview", "/rollouts", "/waiting", "/changes"])
def test_ages_have_one_form_on_every_page(address: str, browser: Browser) -> None:
    page = browser.answered(address).text
    assert re.findall(r"\b[0-9]+ (?:s|min|h|d) ago", words_of(page)) == []
    sentences = " ".join(re.findall(r"<p[ >].*?</p>", page, re.DOTALL))
    assert re.findall(r"\b1 (?:clusters|objects|policies|replicas|regions)\b", sentences) == []
