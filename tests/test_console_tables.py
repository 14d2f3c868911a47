"""Tables that fit a terminal: clusters in few words, cells that are wrapped, and nothing lost in the wide form."""

import fcntl
import os
import pty
import struct
import termios
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.console.cluster_lists import clusters_with_replicas_within_width, summarized_cluster_names
from reconciler.console.tables import text_table
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, weighted
from tests.prepared import prepared
from tests.tables import each_row

TWELVE = [f"member{number:02}" for number in range(1, 13)]
THOUSAND = [f"member{number:04}" for number in range(1000)]


class Cell(NamedTuple):
    why: str
    replicas: dict[str, int]
    every: list[str]
    width: int
    want: str


ALL = dict.fromkeys(TWELVE, 4)
NINE = dict.fromkeys(TWELVE[:9], 0)
CELLS = [
    Cell("nowhere", {}, TWELVE, 30, "-"),
    Cell("one cluster", {"paris": 3}, TWELVE, 4, "paris:3"),
    Cell("room for all names", {"berlin": 5, "paris": 3}, TWELVE, 17, "berlin:5 paris:3"),
    Cell("all clusters, as many in each", ALL, TWELVE, 30, "4 each in all 12 clusters"),
    Cell("all clusters, not as many in each", {**ALL, "member01": 1}, TWELVE, 30, "45 in all 12 clusters"),
    Cell("all clusters of what has no replicas", dict.fromkeys(TWELVE, 0), TWELVE, 30, "all 12 clusters"),
    Cell("all but a few", NINE, TWELVE, 40, "9 of 12: all but member10, member11, ..."),
    Cell("all but a few, and little room", NINE, TWELVE, 30, "9 of 12: all but member10, ..."),
    Cell("no room for names", NINE, TWELVE, 20, "9 of 12"),
    Cell("no room at all", ALL, TWELVE, 5, "all 12"),
    Cell("a thousand clusters", dict.fromkeys(THOUSAND, 0), THOUSAND, 60, "all 1000 clusters"),
    Cell("half of a thousand", dict.fromkeys(THOUSAND[:500], 2), THOUSAND, 25, "2 each in 500 of 1000"),
    Cell("no terminal, and few clusters", ALL, TWELVE, 0, " ".join(f"{name}:4" for name in TWELVE)),
    Cell("no terminal, and many", dict.fromkeys(THOUSAND, 1), THOUSAND, 0, "1 each in all 1000 clusters"),
]


@each_row("case", CELLS, ids=lambda case: case.why)
def test_clusters_take_the_room_there_is(case: Cell) -> None:
    assert clusters_with_replicas_within_width(case.replicas, case.every, case.width) == case.want


def test_clusters_in_a_sentence() -> None:
    assert summarized_cluster_names(TWELVE, TWELVE) == "all 12 clusters"
    assert summarized_cluster_names(TWELVE[:9], TWELVE) == "9 of 12: all but member10, member11, member12"
    assert summarized_cluster_names(TWELVE[:3], TWELVE) == "member01, member02, member03"
    assert summarized_cluster_names(THOUSAND[:400], THOUSAND) == (
        "400 of 1000: member0000, member0001, member0002, member0003, member0004, member0005, ..."
    )


ROWS = [
    ("default", "Deployment.apps/web", "PropagationPolicy default/web (NoClusterFit)"),
    ("shop", "ConfigMap/settings", "required by web"),
]


@pytest.mark.parametrize("width", [30, 60, 80, 200])
def test_a_table_is_no_wider_than_asked_and_loses_nothing(width: int) -> None:
    text = text_table(("NAMESPACE", "OBJECT", "POLICY"), ROWS, width=width)
    assert max(map(len, text.splitlines())) <= width
    whole = "".join("".join(row) for row in [("NAMESPACE", "OBJECT", "POLICY"), *ROWS])
    assert sorted(text.replace(" ", "").replace("\n", "")) == sorted(whole.replace(" ", ""))


def test_cells_are_wrapped_below_themselves() -> None:
    assert text_table(("NAMESPACE", "OBJECT", "POLICY"), ROWS, width=60) == (
        "NAMESPACE   OBJECT                POLICY\n"
        "default     Deployment.apps/web   PropagationPolicy default/\n"
        "                                  web (NoClusterFit)\n"
        "shop        ConfigMap/settings    required by web\n"
    )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Twelve clusters: web is divided among all, settings are in nine, and nobody claims the rest."""
    made = Repository.create(tmp_path / "fleet")
    settings = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "settings"}]
    made.commit(
        {
            "clusters.yaml": [a_cluster(name) for name in TWELVE],
            "web.yaml": a_deployment("web", replicas=24),
            "settings.yaml": a_config_map("settings"),
            "policies.yaml": [
                a_policy(
                    "web",
                    selectors=[{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}],
                    placement={"replicaScheduling": weighted(**dict.fromkeys(TWELVE, 1))},
                ),
                a_policy("settings", selectors=settings, placement={"clusterAffinity": {"exclude": TWELVE[9:]}}),
            ],
        }
    )
    return made


def in_terminal(repository: Repository, width: int, *arguments: str) -> list[str]:
    """The lines that a command prints on a terminal of so many columns."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"} | {"NO_COLOR": "1"}
    with os.fdopen(follower, "w") as terminal:
        command = ["-C", str(repository.path), *arguments]
        ended = prepared().ended(command, environment=environment, stdout=terminal)
    assert ended == (0, "", "")
    with os.fdopen(leader, "rb", buffering=0) as reader:
        return reader.read(65536).decode().replace("\r\n", "\n").splitlines()


TERMINALS = {
    60: """\
NAMESPACE   OBJECT          CLUSTERS           POLICY
default     ConfigMap/      9 of 12            PropagationPo
            settings                           licy default/
                                               settings
default     Deployment.ap   2 each in all 12   PropagationPo
            ps/web                             licy default/
                                               web
""",
    80: """\
NAMESPACE   OBJECT                CLUSTERS           POLICY
default     ConfigMap/settings    9 of 12            PropagationPolicy default/
                                                     settings
default     Deployment.apps/web   2 each in all 12   PropagationPolicy default/
                                                     web
""",
    200: (
        f"NAMESPACE   OBJECT                {'CLUSTERS':80}   POLICY\n"
        f"default     ConfigMap/settings    {' '.join(TWELVE[:9])}   PropagationPolicy default/settings\n"
        f"default     Deployment.apps/web   {'2 each in all 12 clusters':80}   PropagationPolicy default/web\n"
    ),
}


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_table_fits_the_terminal(width: int, repository: Repository) -> None:
    assert "".join(f"{line}\n" for line in in_terminal(repository, width, "render")) == TERMINALS[width]


def test_what_is_wide_names_everything(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    nine, twelve = " ".join(TWELVE[:9]), " ".join(f"{name}:2" for name in TWELVE)
    assert argosy(repository, capsys, "render", "-o", "wide").out == (
        f"NAMESPACE   OBJECT                REPLICAS   {'CLUSTERS':{len(twelve)}}   {'POLICY':34}   FILE\n"
        f"default     ConfigMap/settings    -          {nine:{len(twelve)}}   PropagationPolicy default/settings"
        "   settings.yaml\n"
        f"default     Deployment.apps/web   24         {twelve}   {'PropagationPolicy default/web':34}   web.yaml\n"
    )


ANSWER = "berlin:3 oregon:2 paris:3"
RENDER_HEADER = ("NAMESPACE", "OBJECT", "CLUSTERS", "POLICY")
LONG = "everything-in-the-namespace-of-the-shop"


class LongRow(NamedTuple):
    why: str
    cells: tuple[str, str, str, str]


LONG_ROWS = [
    LongRow("a long policy", ("shop", "Deployment.apps/web", ANSWER, f"ClusterPropagationPolicy {LONG}")),
    LongRow("a long object", ("shop", f"Deployment.apps/{LONG}", ANSWER, "PropagationPolicy shop/web")),
    LongRow("all is long", (LONG, f"Deployment.apps/{LONG}", ANSWER, f"ClusterPropagationPolicy {LONG}")),
]


@each_row("row", LONG_ROWS)
def test_the_clusters_of_an_object_stay_on_one_line(row: LongRow) -> None:
    lines = text_table(RENDER_HEADER, [row.cells], width=80).splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert sum(ANSWER in line for line in lines) == 1


def test_columns_stand_closer_before_a_word_is_broken() -> None:
    header, row = ("NAME", "REPLICAS", "MESSAGE", "NOTE"), ("frankfurt", "3", "ImagePullBackOff", "Unreachable")
    assert text_table(header, [row], width=50) == (
        "NAME       REPLICAS  MESSAGE           NOTE\nfrankfurt  3         ImagePullBackOff  Unreachable\n"
    )


def test_a_list_of_clusters_that_needs_most_of_the_width_is_wrapped() -> None:
    names = " ".join(f"member-{number}:1" for number in range(12))
    lines = text_table(("OBJECT", "CLUSTERS"), [("Deployment.apps/web", names)], width=80).splitlines()
    assert len(lines) > 2
    assert all(len(line) <= 80 and "Deployment.apps/web"[:8] not in line[8:] for line in lines)


def test_a_time_is_broken_between_its_date_and_its_hour() -> None:
    assert text_table(("SINCE",), [("2026-01-15T09:13:00Z",)], width=12) == "SINCE\n2026-01-15T\n09:13:00Z\n"


def test_the_table_of_a_render_names_a_few_clusters_with_their_replicas(tmp_path: Path) -> None:
    """Before, the whole name of the policy left them no room: 8 in all 3 was said."""
    shares = {"berlin": 3, "oregon": 2, "paris": 3}
    repository = Repository.create(tmp_path / "fleet")
    web = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    placement = {"replicaScheduling": weighted(**shares)}
    repository.commit(
        {
            **{f"{name}.yaml": a_cluster(name) for name in shares},
            "web.yaml": a_deployment("checkout-of-the-shop", replicas=8),
            "policy.yaml": a_policy(LONG, selectors=web, placement=placement),
        }
    )
    lines = in_terminal(repository, 80, "render")
    assert (max(map(len, lines)) <= 80, sum(ANSWER in line for line in lines)) == (True, 1), lines
