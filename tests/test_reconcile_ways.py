"""Objects come to the same by both ways of delivery: by a pass, and by an agent in the cluster."""

import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.ledger.inventory import ApplyOutcome

from .applying import outcomes
from .build import a_cluster_policy, a_config_map, on_clusters
from .clusters import remove_namespaces
from .fakes import MERGE_PATCH
from .memory_fleet import WAYS, MemoryFleet, Way

Entries = Mapping[str, str] | None
"""The data of a ConfigMap; None for one that is not there."""
NEW, SAME, DRIFTED, GONE = "created Missing", "unchanged UpToDate", "configured Drifted", "deleted NotWanted"
CONFLICT = "conflict FieldManagerConflict"
RED, BLUE = {"color": "red"}, {"color": "blue"}


class Row(NamedTuple):
    """A ConfigMap as two commits have it, what is done to it in between, the outcome of three passes, and its end.

    ``by`` is who does that (empty: it is deleted). ``placed`` are fields of its policy. The third pass has nothing new.
    """

    why: str
    first: Entries
    second: Entries
    said: tuple[str, str, str]
    end: Entries
    meddling: Mapping[str, Any] | None = None
    by: str = "kubectl-edit"
    metadata: Mapping[str, Any] = {}
    placed: Mapping[str, Any] = {}
    immutable: bool = False


def annotated(**annotations: str) -> dict[str, Any]:
    return {"annotations": {f"argosy.dev/{name}": value for name, value in annotations.items()}}


CALM = [
    Row("comes", None, RED, ("", NEW, SAME), RED),
    Row("stays", RED, RED, (NEW, SAME, SAME), RED),
    Row("changes", RED, BLUE, (NEW, "configured Changed", SAME), BLUE),
    Row("drifts", RED, RED, (NEW, DRIFTED, SAME), RED, {"data": BLUE}),
    Row("is-deleted", RED, RED, (NEW, NEW, SAME), RED, {}, by=""),
    Row("gets-a-field-of-others", RED, RED, (NEW, SAME, SAME), {**RED, "size": "9"}, {"data": {"size": "9"}}),
    Row(
        "yields-a-field",
        RED,
        {"color": "green"},
        (NEW, SAME, SAME),
        BLUE,
        {"data": BLUE},
        by="foo-controller",
        metadata=annotated(**{"yield-fields": ".data.color"}),
    ),
    Row(
        "overwrites",
        RED,
        RED,
        (NEW, DRIFTED, SAME),
        RED,
        {"data": BLUE},
        by="foo-controller",
        placed={"conflictResolution": "Overwrite"},
    ),
    Row("is-equal-already", None, RED, ("", "adopted Equal", SAME), RED, RED, by="somebody"),
    Row("goes", RED, None, (NEW, GONE, ""), None),
    Row(
        "goes-not", RED, None, (NEW, "kept PruneDisabled", "kept PruneDisabled"), RED, metadata=annotated(prune="false")
    ),
    Row("lost-its-label", RED, None, (NEW, "kept LabelLost", ""), RED, {"metadata": {"labels": None}}),
    Row(
        "is-recreated",
        RED,
        BLUE,
        (NEW, "created Recreated", SAME),
        BLUE,
        metadata=annotated(recreate="true"),
        immutable=True,
    ),
    Row(
        "is-left-to-others",
        RED,
        None,
        (NEW, "handedOff PreserveResourcesOnDeletion", ""),
        RED,
        placed={"preserveResourcesOnDeletion": True},
    ),
]
FAILING = [
    Row("goes", RED, None, (NEW, "kept Held", "kept Held"), RED),
    Row("stays", RED, BLUE, (NEW, "configured Changed", SAME), BLUE),
    Row("is-immutable", RED, BLUE, (NEW, "failed Immutable", "failed Immutable"), RED, immutable=True),
    Row("is-taken", RED, RED, (NEW, CONFLICT, CONFLICT), BLUE, {"data": BLUE}, by="foo-controller"),
    Row("is-not-ours", None, RED, ("", "conflict NotOurs", "conflict NotOurs"), BLUE, BLUE, by="somebody"),
]
STORIES = [pytest.param(CALM, id="nothing fails"), pytest.param(FAILING, id="something fails")]


class Shop(MemoryFleet):
    """A fleet of one member with a ConfigMap for every row, in a namespace of its own."""

    space: str = ""

    @property
    def maps(self) -> str:
        return f"/api/v1/namespaces/{self.space}/configmaps"

    def manifest(self, row: Row, entries: Mapping[str, str]) -> dict[str, Any]:
        made = a_config_map(row.why, namespace=self.space, **entries)
        made["metadata"] |= row.metadata
        return {**made, "immutable": True} if row.immutable else made

    def commit(self, rows: list[Row], number: int) -> None:
        """Commit what the rows have at first (0), or then (1)."""
        entries = {row.why: (row.first, row.second)[number] for row in rows}
        made = {f"{row.why}.yaml": self.manifest(row, entries[row.why] or {}) for row in rows}
        known = {path: body for path, body in made.items() if entries[path.removesuffix(".yaml")] is not None}
        gone = {path: None for path in made.keys() - known.keys() if (self.repository.path / path).exists()}
        self.repository.commit({**known, **gone})

    def meddle(self, row: Row) -> None:
        """Do what others do in the cluster."""
        path, member = f"{self.maps}/{row.why}", self.members["member1"]
        if row.meddling is None:
            return
        if not row.by:
            answered = member.request("DELETE", path)
        elif row.first is None:
            answered = member.request("POST", f"{self.maps}?fieldManager={row.by}", self.manifest(row, row.meddling))
        else:
            query = f"{path}?fieldManager={row.by}"
            answered = member.request("PATCH", query, row.meddling, content_type=MERGE_PATCH)
        assert answered[0] in {200, 201}, answered

    def passed(self) -> tuple[dict[str, str], ApplyOutcome]:
        """One pass: what came of each ConfigMap, and of the cluster."""
        (report,) = self.run(60)
        assert report.applied is not None, report.failure
        said = outcomes(report.applied).items()
        maps = {name.removeprefix("ConfigMap "): what for name, what in said if name.startswith("ConfigMap ")}
        return maps, report.applied.outcome

    def ends(self, rows: list[Row]) -> dict[str, Entries]:
        found = {row.why: self.members["member1"].read(f"{self.maps}/{row.why}") for row in rows}
        return {name: live and live["data"] for name, live in found.items()}


@pytest.fixture(params=WAYS)
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    way, space = Way(request.param), f"t{secrets.token_hex(4)}"
    made = Shop.create(tmp_path / "fleet", {"member1": (0, {})}, {}, by_agent=way.by_agent)
    assert isinstance(made, Shop)
    made.space = space
    if way.is_real:
        made.members["member1"] = request.getfixturevalue("members")[0]
    yield made
    if way.is_real:
        remove_namespaces([made.members["member1"]], space)


@pytest.mark.parametrize("rows", STORIES)
def test_what_comes_of_objects(rows: list[Row], shop: Shop) -> None:
    """All rows are one fleet's: an object that fails holds what was to be deleted beside it, and nothing else."""
    shop.repository.commit({"policies.yaml": [policy(row, shop.space) for row in rows]})
    came = []
    for number in (0, 1, None):
        if number is not None:
            shop.commit(rows, number)
        if number == 1:
            for row in rows:
                shop.meddle(row)
        came.append(shop.passed())
    names = [row.why for row in rows]
    said = {name: tuple(each.get(name, "") for each, _ in came) for name in names}
    assert said == {row.why: row.said for row in rows}
    assert shop.ends(rows) == {row.why: row.end for row in rows}
    whole, last = ApplyOutcome.CONVERGED, ApplyOutcome.INCOMPLETE if rows is FAILING else ApplyOutcome.CONVERGED
    assert [outcome for _, outcome in came] == [whole, last, last]


def policy(row: Row, space: str) -> dict[str, Any]:
    selector = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": space, "name": row.why}
    return a_cluster_policy(row.why, selectors=[selector], placement=on_clusters("member1"), **row.placed)
