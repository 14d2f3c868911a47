"""Problems of replicas that are to move step by step, where no pass learns what is ready."""

from collections.abc import Container
from typing import Any

from reconciler.check.rollouts import move_problems
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from tests.build import a_cluster, a_deployment, as_bytes
from tests.moving import a_fleet_of_moves
from tests.sources import source_of
from tests.tables import each_row
from tests.test_source_rollouts import a_rollout

STUCK = "spec.moves: no replica leaves a cluster for {}: no pass learns how many are ready there"
BOTH = STUCK.format("paris, rome")
REACHED = {"clusters": [{"name": "*"}]}
EMITTED = {"emit": [{"for": "ArgoCD", "repository": "https://git.example/fleet", "status": {"context": "hub"}}]}

FLEETS: tuple[tuple[str, dict[str, Any], list[Any], Container[str], list[str]], ...] = (
    ("clusters that passes reach", REACHED, [], (), []),
    ("nobody says how they are reached", {}, [], (), [BOTH]),
    ("one that passes have reached before", {}, [], {"paris"}, [STUCK.format("rome")]),
    ("another tool applies, and tells of no numbers", EMITTED, [], (), [BOTH]),
    ("an agent reports", {}, [a_cluster("rome", syncMode="Pull")], {"paris"}, []),
    ("everything moves at once", {"moves": "AtOnce"}, [], (), []),
    (
        "a policy says it",
        {"moves": "AtOnce"},
        [a_rollout(moves="MakeBeforeBreak")],
        (),
        [BOTH],
    ),
    ("a policy says otherwise", REACHED, [a_rollout(moves="AtOnce")], (), []),
)


@each_row("why, settings, more, seen, problems", FLEETS)
def test_replicas_that_would_wait_for_ever(
    why: str, settings: dict[str, Any], more: list[Any], seen: Container[str], problems: list[str]
) -> None:
    members = {name: a_cluster(name) for name in ("paris", "rome")}
    members |= {each["metadata"]["name"]: each for each in more if each["kind"] == "Cluster"}
    others = [each for each in more if each["kind"] != "Cluster"]
    documents = [*members.values(), a_deployment("web", namespace="shop"), *others]
    files = {f"{number}.yaml": as_bytes(each).decode() for number, each in enumerate(documents)}
    source = source_of({"argosy.yaml": as_bytes(a_fleet_of_moves(**settings)).decode(), **files})
    loaded = load_source(source.files, SourceReading(source.read))
    assert not loaded.problems, (why, loaded.problems)
    found = move_problems(loaded.desired, seen, loaded.lines.line_of if loaded.lines else None)
    assert [f"{each.field}: {each.message}" for each in found] == problems
