"""``argosy diff`` shows the objects that a change leaves where they are, and those that it leaves without a cluster."""

import json
from pathlib import Path

import pytest

from .build import a_policy, argosy, on_clusters
from .test_companions import SERVICE, TARGET, a_drained_fleet

STAYS = """
STAYS
  Service shop/read: StillNeeded: stays in paris as it was: StatefulSet.apps shop/db stays there and needs it

PROBLEMS
  StatefulSet.apps shop/db: EvictionBlocked: stays in paris: no other cluster takes it
"""
NOTE = "stays in paris as it was: StatefulSet.apps shop/db stays there and needs it"


def test_a_drain_shows_what_stays_with_a_last_copy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = a_drained_fleet(tmp_path, capsys, (SERVICE,))
    ended = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD")
    assert ended.code == 1
    assert ended.out.endswith(STAYS)
    document = json.loads(argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", "-o", "json").out)
    service = {"group": "", "kind": "Service", "namespace": "shop", "name": "read"}
    stays = {"object": service, "clusters": ["paris"], "reason": "StillNeeded", "message": NOTE}
    assert (document["staying"], "unplaced" in document) == ([stays], False)
    markdown = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD", "-o", "markdown").out
    assert "<details><summary>Stay (1)</summary>\n\n- Service shop/read&#58; StillNeeded&#58; " in markdown


def test_what_ends_in_no_cluster_is_said_beside_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A policy that selects a cluster without room for it: before, it was one removed object among others."""
    fleet = a_drained_fleet(tmp_path, capsys, (SERVICE,))
    nowhere = a_policy("db", namespace="shop", selectors=[TARGET], placement=on_clusters("nowhere"))
    fleet.commit({"policies.yaml": nowhere})
    ended = argosy(fleet, capsys, "diff", "HEAD~2", "HEAD")
    assert "1 object ends in no cluster" in ended.out.splitlines()[0]
    said = "ENDS IN NO CLUSTER\n  ! StatefulSet.apps shop/db: leaves paris, and no cluster takes it\n"
    assert said in ended.out
    document = json.loads(argosy(fleet, capsys, "diff", "HEAD~2", "HEAD", "-o", "json").out)
    database = {"group": "apps", "kind": "StatefulSet", "namespace": "shop", "name": "db"}
    assert document["unplaced"] == [{"object": database, "clusters": ["paris"]}]
    markdown = argosy(fleet, capsys, "diff", "HEAD~2", "HEAD", "-o", "markdown").out
    said = "**End in no cluster (1)**\n\n- StatefulSet.apps shop/db&#58; leaves paris, and no cluster takes it\n"
    assert said in markdown
