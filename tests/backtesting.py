"""Histories of fleets that are edited while clusters fail, as whole passes make them, to be replayed."""

import io
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reconciler.backtest.past import AskedTime, RecordedPast, past_of_time
from reconciler.backtest.proposed import ProposedChanges
from reconciler.backtest.replay import PastReplay
from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.repository import Repository as OpenRepository

from .build import AUTHOR, Repository, a_cluster, a_deployment
from .quick_commits import committed
from .simulation import GROUP, Simulation, Weather, files_of

SILENT = Log(stream=io.StringIO(), level=ERRORS_ONLY)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def commit_at(repository: Repository, files: dict[str, Any], moment: datetime, message: str = "edit") -> None:
    """Commit files to the source at a time."""
    repository.write(files)
    date = f"@{int(moment.timestamp())} +0000"
    dated = {**AUTHOR, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    assert committed(repository.path, dated, f"{message}\n\nArgosy-Allow-Removal: * 99")


def eventful_past(path: Path, seed: int, minutes: int, *, clusters: int = 10, workloads: int = 6) -> Simulation:
    """A fleet in rough weather, whose source is edited every ten minutes or so: replicas, policies and clusters."""
    rng = random.Random(seed)
    weather = Weather.of(seed, days=minutes / 1440, clusters=clusters, workloads=workloads, roughness=150)
    repository = Repository.create(path)
    commit_at(repository, files_of(weather), weather.wall(0) - timedelta(seconds=1), "begin")
    simulation = Simulation(repository, weather)
    for tick in simulation.run(minutes):
        if rng.random() < 0.1:
            commit_at(repository, an_edit(rng, weather, files_of(weather)), tick.wall + timedelta(seconds=30))
    return simulation


def an_edit(rng: random.Random, weather: Weather, files: dict[str, Any]) -> dict[str, Any]:
    """An edit of a workload's replicas or image, of its policy, or of the group that a cluster belongs to."""
    number = rng.randrange(len(weather.workloads))
    path = f"apps/{weather.workloads[number]}.yaml"
    workload, policy = files[path]
    match rng.randrange(4):
        case 0:
            return {path: [a_deployment(weather.workloads[number], replicas=rng.randrange(1, 9)), policy]}
        case 1:
            image = f"app:{rng.randrange(9)}"
            return {path: [a_deployment(weather.workloads[number], image=image, replicas=6), policy]}
        case 2:
            other = files[f"apps/{rng.choice(weather.workloads)}.yaml"][1]["spec"]
            spec = {**policy["spec"], "placement": other["placement"]}
            return {path: [workload, {**policy, "spec": spec}]}
        case _:
            name = rng.choice(weather.clusters)
            group = rng.randrange(len(weather.clusters) // GROUP)
            return {f"clusters/{name}.yaml": a_cluster(name, labels={"group": str(group)})}


def recorded_past(repository: OpenRepository) -> RecordedPast:
    """The whole past that a repository has of its fleet."""
    rendered, status = (repository.tip(f"refs/heads/argosy/{name}") for name in ("rendered", "status"))
    assert rendered is not None
    return past_of_time(repository, rendered, status, AskedTime(since=LONG_AGO))


def replay_of(repository: OpenRepository, past: RecordedPast, proposed: ProposedChanges) -> PastReplay:
    """A replay that stands before its first pass."""
    return PastReplay.of(repository, past, proposed, SILENT, timedelta(hours=1))
