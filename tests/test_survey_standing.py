"""The state of an object is one, wherever it is told: on its page, in lists, in the matrix and in the overview."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from render.timing import epoch_text

from .build import a_deployment
from .paged import Browser, a_shown_fleet, browser_of
from .test_pages_object import words_of

pytestmark = pytest.mark.xdist_group("standing")
WEB, API = "/objects/Deployment.apps/shop/web", "/objects/Deployment.apps/shop/api"
UNWELL_WEB = "Deployment.apps shop/web"


@pytest.fixture(scope="module", params=["applied", "behind"])
def shown(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """A fleet with a Deployment none of whose replicas is ready in berlin, that has the newest commit or has it not."""
    fleet = a_shown_fleet(tmp_path_factory.mktemp("standing") / "shop")
    if request.param == "behind":
        fleet.repository.commit({"web.yaml": a_deployment("web", replicas=15, namespace="shop")})
        fleet.run(60, only=())
    return browser_of(fleet.repository)


def document(browser: Browser, address: str) -> Any:
    path, _, query = address.partition("?")
    browser.answered(address)
    return json.loads(browser.get(f"{'/overview' if path == '/' else path}.json{'?' if query else ''}{query}").text)


def test_an_object_short_of_ready_replicas_is_unwell_wherever_it_is_told(shown: Browser) -> None:
    page = shown.answered(WEB).text
    rows = [" ".join(re.sub("<[^>]*>", " ", each).split()) for each in page.split("<tr>")]
    row = next(each for each in rows if each.startswith("berlin "))
    cells = document(shown, "/matrix?rows=object&columns=cluster")["cells"]
    assert {
        "overview": UNWELL_WEB in {each["object"] for each in document(shown, "/")["unwell"]},
        "page": "unwell" in words_of(page) and row.startswith("berlin Unhealthy") and "readyReplicas: 0 of" in row,
        "objects": [each["object"] for each in document(shown, "/objects?state=Unwell&text=web")["objects"]],
        "matrix": cells[UNWELL_WEB]["berlin"]["state"],
        "namespace": document(shown, "/namespaces/shop")["states"]["Unwell"],
    } == {"overview": True, "page": True, "objects": [UNWELL_WEB], "matrix": "Unwell", "namespace": 1}


def test_a_healthy_object_is_not_unwell_because_its_cluster_is_behind(shown: Browser) -> None:
    page = shown.answered(API).text
    assert "unwell" not in words_of(page)
    assert ("0 well, 2 on their way" in words_of(page)) == ("Behind" in page)
    assert ("2 well" in words_of(page)) == ("Behind" not in page)
    assert ("on its way, healthy when seen" in words_of(page)) == ("Behind" in page)


def test_a_cluster_that_is_behind_does_not_hide_why_an_object_is_unwell(shown: Browser) -> None:
    (berlin,) = [each for each in document(shown, WEB)["clusters"] if each["cluster"] == "berlin"]
    assert (berlin["reason"], berlin["message"].partition(";")[0]) == (
        "ReplicasMissing",
        f"readyReplicas: 0 of {berlin['live']}",
    )


def test_the_bars_set_what_is_ready_beside_what_the_same_commit_asked(shown: Browser) -> None:
    page = shown.answered(WEB).text
    bars = dict(re.findall(r'aria-label="(\w+): (.+?) ready"', page))
    assert (bars["berlin"], bars["paris"]) == ("0 of 3", "5 of 6")
    assert ("the newest one asks for berlin 4, paris 7" in page) == ("Behind" in page)
    why = shown.answered(f"{WEB}/why").text
    assert re.findall(r'aria-label="(berlin|paris): (\d+) asked"', why) == (
        [("berlin", "4"), ("paris", "7")] if "Behind" in page else [("berlin", "3"), ("paris", "6")]
    )
    assert 'class="ready' not in why


def test_a_cluster_is_behind_since_the_first_rendered_commit_that_is_newer_than_what_it_has(tmp_path: Path) -> None:
    fleet = a_shown_fleet(tmp_path / "shop")
    for replicas in (15, 16):
        fleet.repository.commit({"web.yaml": a_deployment("web", replicas=replicas, namespace="shop")})
        fleet.run(3600, only=())
    times = fleet.repository.git("log", "--first-parent", "--format=%ct", "argosy/rendered").split()
    late = [
        each for each in document(browser_of(fleet.repository), "/")["members"]["late"] if each["cluster"] == "berlin"
    ]
    assert [(each["reason"], each["since"]) for each in late] == [("Behind", epoch_text(int(times[1])))]
