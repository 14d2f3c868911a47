"""``argosy report``: the pages as files that lead to one another, as one file, and pictures of what moves."""

import json
import re
import shlex
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest

from reconciler.pages.reports.moves_picture import MOST_ROWS, picture_of_moves
from reconciler.pages.reports.page_keys import PageKey, file_part, page_key_of_address
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, weighted
from tests.hostile_fleet import CANARY, UNSAFE, a_hostile_fleet
from tests.memory_fleet import MemoryFleet
from tests.paged import a_shown_fleet, browser_of
from tests.tables import each_row

HOSTILE = "</main></script><script>alert(1)</script>\u202e\x1b[2K"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> MemoryFleet:
    return a_shown_fleet(tmp_path_factory.mktemp("report") / "fleet")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return a_hostile_fleet(tmp_path_factory.mktemp("hostile") / "fleet")


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """Two clusters with a workload and settings, and a commit whose text is hostile."""
    made = Repository.create(tmp_path / "fleet")
    made.commit(
        {
            **{f"{name}.yaml": a_cluster(name) for name in ("berlin", "paris")},
            "web.yaml": a_deployment("web", replicas=4, namespace="shop"),
            "settings.yaml": a_config_map("settings", namespace="shop", note=HOSTILE),
            "policy.yaml": a_policy(
                "all",
                namespace="shop",
                selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}],
                placement={"replicaScheduling": weighted(berlin=1, paris=1)},
            ),
        },
        HOSTILE.replace("\x1b", ""),
    )
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    return made


def report(fleet: Repository, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    ended = argosy(fleet, capsys, "report", *words)
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class _Page(HTMLParser):
    """The links of a page, and the places in it that something leads to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: list[str] = []
        self.named: list[str] = []
        self.dead: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.links += [given[name] for name in ("href", "src", "action") if name in given]
        self.places += [given["id"]] if "id" in given else []
        self.named += [given[name] for name in ("for", "aria-labelledby", "list") if name in given]
        if tag == "a" and not given.get("href"):
            self.dead.append(str(attrs))


def faults_of_folder(folder: Path) -> list[str]:
    """Everything in the pages of a folder that leads nowhere: links, anchors, files and names of places."""
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    faults = []
    for path, page in pages.items():
        faults += [f"{path}: {each}" for each in (*page.dead, *(set(page.named) - set(page.places)))]
        for link in page.links:
            target, _, place = link.partition("#")
            found = (path.parent / unquote(target)).resolve() if target else path
            is_there = found.is_file() and folder.resolve() in found.parents
            if not (is_there and (not place or unquote(place) in pages[found].places)):
                faults.append(f"{path}: {link}")
    return faults


def faults_of_one_file(text: str) -> list[str]:
    """Everything in one file that leads nowhere in it."""
    page = _Page(text)
    doubled = [place for place, number in Counter(page.places).items() if number > 1]
    outside = [link for link in page.links if not link.startswith(("#", "data:image/svg+xml;base64,"))]
    nowhere = [link for link in page.links if link.startswith("#") and unquote(link[1:]) not in page.places]
    return [*page.dead, *doubled, *outside, *nowhere, *(set(page.named) - set(page.places))]


def test_every_link_and_anchor_of_a_folder_finds_its_target(
    fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    said = report(fleet, capsys, str(folder))
    found = files_below(folder)
    pages = [path for path in found if path.endswith(".html")]
    assert said.startswith(f"a report of {len(pages)} pages, as of {fleet.git('rev-parse', 'argosy/rendered')[:20]}")
    assert {"index.html", "problems.html", "objects/Deployment.apps/shop/web.html", "static/style.css"} <= found.keys()
    assert faults_of_folder(folder) == []
    assert sorted(found["argosy-report.txt"].decode().split()) == sorted(found.keys() - {"argosy-report.txt"})


@pytest.mark.parametrize("more", [(), ("--max-pages", "9")], ids=["whole", "some"])
def test_everything_leads_somewhere_in_reports_of_a_fleet_with_hostile_names(
    hostile: Repository,
    more: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, file = tmp_path / "out", tmp_path / "fleet.html"
    report(hostile, capsys, str(folder), *more)
    report(hostile, capsys, "--one-file", str(file), *more)
    assert faults_of_folder(folder) == []
    assert faults_of_one_file(file.read_text(encoding="utf-8")) == []
    for path in (*folder.rglob("*.html"), file):
        text = path.read_text(encoding="utf-8")
        assert [each for each in UNSAFE if each in text] == [], path
        assert CANARY not in text


def test_reports_of_several_fleets_lead_from_the_list_into_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = Repository.create(tmp_path / "fleets")
    for name in ("eu", "us & more"):
        fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": name[:2]}}
        both.commit({f"{name}/argosy.yaml": fleet, f"{name}/c.yaml": a_cluster("one")})
        assert argosy(Repository(both.path / name), capsys, "reconcile", "--bootstrap").code == 0
    report(both, capsys, str(tmp_path / "out"))
    report(both, capsys, "--one-file", str(tmp_path / "fleets.html"))
    assert faults_of_folder(tmp_path / "out") == []
    assert faults_of_one_file((tmp_path / "fleets.html").read_text(encoding="utf-8")) == []
    assert len(list((tmp_path / "out" / "f").glob("*/search.html"))) == 2


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub("<[^<>]*>", "", html)).split())


def test_what_a_report_cannot_answer_is_named_with_the_command_that_does(
    shown: MemoryFleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Links to it are text, the navigation leaves it out, and the foot of the page names the commands."""
    folder = tmp_path / "out"
    report(shown.repository, capsys, str(folder))
    rendered = shown.repository.git("rev-parse", "argosy/rendered")[:12]
    history = f"argosy history cluster/berlin --commits --rev={rendered}"
    simulate = f"argosy simulate --without-cluster=berlin --at={rendered}"
    page = (folder / "clusters" / "berlin.html").read_text(encoding="utf-8")
    assert re.findall(r'<span class="absent" title="([^"]*)">(What[^<]*)</span>', page) == [
        (f"not in this report: {history}", "What changed here?"),
        (f"not in this report: {simulate}", "What if we lose it?"),
    ]
    foot = text_of(page[page.index("Not in this report") : page.index("</main>")])
    assert foot.endswith(f"other timelines: {history}; losses: {simulate}")
    assert re.findall(r'data-key="(w|d|b)"', page) == ["b"]
    assert re.findall(r"<kbd>g</kbd> <kbd>(w|d|b)</kbd>", page) == ["b"]
    pages = "".join(content.decode() for path, content in files_below(folder).items() if path.endswith(".html"))
    commands = (
        shlex.split(unescape(each))[1:] for each in re.findall(r'title="not in this report: (argosy [^"]*)"', pages)
    )
    kinds = {re.sub(r"[=/]\S+", "", " ".join(words)): words for words in commands}
    assert len(kinds) > 5
    for words in kinds.values():
        if words != ["ui"]:
            ended = argosy(shown.repository, capsys, *words)
            assert ended.code in {0, 1}, (words, ended.err)


def test_the_list_of_the_search_has_everything_that_is_found_by_search(
    shown: MemoryFleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its rows lead to the pages, the search of every page leads to it, and it is bounded in number."""
    folder = tmp_path / "out"
    report(shown.repository, capsys, str(folder))
    page = (folder / "search.html").read_text(encoding="utf-8")
    rows = [text_of(row) for row in re.findall(r'<li class="row">(.*?)</li>', page, re.DOTALL)]
    for word, number in (("shop/web", 1), ("berlin", 1), ("Scale web for the sale", 1), ("forgotten", 1)):
        assert len([row for row in rows if word in row]) >= number, word
    found = json.loads(argosy(shown.repository, capsys, "search", "e", "--limit", "0", "-o", "json").out)
    names = {one["name"].rpartition("/")[2].rpartition(" ")[2][:12] for kind in found["kinds"] for one in kind["found"]}
    assert [name for name in names if not any(name in row for row in rows)] == []
    other = (folder / "clusters" / "berlin.html").read_text(encoding="utf-8")
    assert re.findall(r'<form class="find" action="([^"]*)" method="get"', other) == ["../search.html"]
    assert 'name="at"' not in other


def test_a_report_is_bounded_in_bytes_and_says_so(
    shown: MemoryFleet, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciler.commands.report._LARGEST_FOLDER", 60_000)
    said = report(shown.repository, capsys, str(tmp_path / "out"))
    (left,) = [line for line in said.splitlines() if line.startswith("left out")]
    assert left.startswith("left out for want of room (0.1 MB): ")
    assert "--max-pages" not in left
    assert faults_of_folder(tmp_path / "out") == []


def test_a_folder_needs_no_server_and_asks_none(
    fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report(fleet, capsys, str(tmp_path / "out"))
    for path, content in files_below(tmp_path / "out").items():
        if path.endswith(".html"):
            text = content.decode()
            assert (
                re.findall(r'<form(?! class="find"|[^>]*"dialog")|data-newest|href="/|src="/|https?://(?!www.w3)', text)
                == []
            ), path
            assert "default-src 'none'" in text
            assert "<script>" not in text
            assert "\u202e" not in text


def test_the_document_beside_a_page_is_what_the_command_prints(
    fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report(fleet, capsys, str(tmp_path / "out"))
    rendered = fleet.git("rev-parse", "argosy/rendered")
    browser = browser_of(fleet)
    for path in ("problems", "objects/Deployment.apps/shop/web"):
        want = browser.get(f"/{path}.json?at={rendered}").content
        assert json.loads((tmp_path / "out" / f"{path}.json").read_bytes()) == json.loads(want)


def test_a_report_stays_at_its_commit(fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = fleet.git("rev-parse", "argosy/rendered")
    fleet.commit({"web.yaml": a_deployment("web", replicas=9, namespace="shop")})
    assert argosy(fleet, capsys, "reconcile").code == 0
    report(fleet, capsys, str(tmp_path / "old"), "--at", first)
    report(fleet, capsys, str(tmp_path / "new"))
    page = "objects/Deployment.apps/shop/web.html"
    assert "4 asked" in (tmp_path / "old" / page).read_text(encoding="utf-8")
    assert "9 asked" in (tmp_path / "new" / page).read_text(encoding="utf-8")


def test_one_file_has_every_page_and_each_link_leads_to_a_part_of_it(
    fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "fleet.html"
    said = report(fleet, capsys, "--one-file", str(file))
    text = file.read_text(encoding="utf-8")
    parts = re.findall(r'<div class="part[^"]*" id="(p\d+)">', text)
    assert said.startswith(f"a report of {len(parts)} pages")
    assert (parts[-1], len(set(parts))) == ("p0", len(parts))
    assert faults_of_one_file(text) == []
    assert text.count("<script>") == 1
    assert text.count("</main>") == 1
    assert "\u202e" not in text
    printed = argosy(fleet, capsys, "report", "--one-file", "-")
    assert (printed.code, printed.out.count('<div class="part'), printed.err) == (0, len(parts), said)


def test_pages_without_room_are_counted(shown: MemoryFleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = report(shown.repository, capsys, str(tmp_path / "out"), "--max-pages", "6")
    assert said.splitlines()[0].startswith("a report of 6 pages, as of ")
    (left,) = said.splitlines()[1:]
    assert left.startswith("left out for want of room: ")
    counts = re.findall(r"(\d+) of ([a-z ]+)", left)
    assert sum(int(number) for number, _ in counts) > 0
    assert left in unescape((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    whole = report(shown.repository, capsys, str(tmp_path / "whole"))
    assert "left out" not in whole


def test_a_folder_of_something_else_is_left_alone_and_an_earlier_report_is_replaced(
    fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    ended = argosy(fleet, capsys, "report", str(folder))
    assert (ended.code, ended.out) == (3, "")
    assert "has files of something else" in ended.err
    (folder / "mine.txt").unlink()
    report(fleet, capsys, str(folder))
    (folder / "added.txt").write_text("added")
    fleet.commit({"settings.yaml": None})
    assert argosy(fleet, capsys, "reconcile").code == 0
    report(fleet, capsys, str(folder))
    found = files_below(folder)
    assert "added.txt" in found
    assert not any("settings" in path for path in found)


def test_what_cannot_be_written_is_said(fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert argosy(fleet, capsys, "report", str(tmp_path / "file")).code == 3
    assert argosy(fleet, capsys, "report", "-").code == 2
    assert argosy(fleet, capsys, "report", "--moves", "main", "-").code == 2
    assert argosy(fleet, capsys, "report", "--moves", "main...HEAD", "-").code == 2
    assert argosy(fleet, capsys, "report", "--moves", "no..HEAD", "-").code == 4
    assert argosy(fleet, capsys, "report", "--moves", "HEAD..HEAD", "--one-file", "-").code == 2
    empty = Repository.create(tmp_path / "empty")
    empty.commit({"berlin.yaml": a_cluster("berlin")})
    ended = argosy(empty, capsys, "report", str(tmp_path / "none"))
    assert "argosy reconcile --bootstrap" in ended.err
    assert not (tmp_path / "none").exists()


FLEETS = {"": "abc"}
ADDRESSES: list[tuple[str, PageKey | None]] = [
    ("/", PageKey("", "overview")),
    ("/problems?at=abc", PageKey("", "problems")),
    ("/problems?at=other", None),
    ("/problems?at=abc&sort=since", None),
    ("/objects/Deployment.apps/shop/a%2Fb?at=abc", PageKey("", "object", ("Deployment.apps", "shop", "a/b"))),
    ("/problems.json?at=abc", None),
    ("/what-if", None),
    ("/diff?base=a&head=b", None),
    ("/static/style.css", None),
    ("/../x", None),
    ("https://example.com/problems", None),
    ("//example.com/problems", None),
]


@each_row("row", ADDRESSES, ids=lambda row: row[0])
def test_the_page_at_an_address(row: tuple[str, PageKey | None]) -> None:
    assert page_key_of_address(row[0], FLEETS) == row[1]


def test_names_of_files_stay_apart_and_in_their_folder() -> None:
    parts = [file_part(text) for text in ("a", "../a", "a/../a", "A:b", "a" * 300, "CON.", "", ".", "\u202e")]
    assert len(set(parts)) == len(parts)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.~-]*", part) and len(part) < 120 for part in parts)


def test_the_picture_shows_what_moves(fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.commit({"web.yaml": a_deployment("web", replicas=10, namespace="shop")})
    report(fleet, capsys, "--moves", "HEAD~1..HEAD", str(tmp_path / "moves.svg"))
    root = ET.parse(tmp_path / "moves.svg").getroot()
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[2:] == [
        "Clusters: 2",
        *("berlin", "\u25b2 +3", "2 \u2192 5"),
        *("paris", "\u25b2 +3", "2 \u2192 5"),
        "Workloads whose replicas change: 1",
        *("Deployment.apps shop/web", "\u25b2 +6", "4 \u2192 10"),
    ]


def a_cluster_total(name: str, before: int, after: int) -> dict[str, Any]:
    return {"name": name, "added": 0, "changed": 1, "removed": 0, "replicas": {"before": before, "after": after}}


def test_a_picture_of_many_is_bounded_and_of_hostile_names_is_text() -> None:
    clusters = [a_cluster_total(f"member{number}", 5, 5 - number % 2) for number in range(1000)]
    document = {
        "base": "a" * 40,
        "head": "",
        "summary": {"text": HOSTILE},
        "clusters": [*clusters, a_cluster_total("<script>\u202e" + "x" * 5000, 0, 900)],
        "movements": [],
    }
    picture = picture_of_moves(document)
    ET.fromstring(picture)
    assert len(picture) < 40_000
    assert f"and {1001 - MOST_ROWS} more clusters" in picture
    assert "Workloads whose replicas change: none" in picture
    assert "<script>" not in picture
    assert "\u202e" not in picture
    assert "to the work tree" in picture
