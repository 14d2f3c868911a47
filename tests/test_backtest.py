"""``argosy backtest``: the recorded past of a fleet replayed, as it was and as other policies would have had it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from reconciler.backtest.proposed import ProposedChanges
from reconciler.branches.reading import read_source
from reconciler.pipeline.binding_files import BindingWriter
from reconciler.repository import Repository as OpenRepository
from reconciler.repository import open_repository
from render.policy import PropagationPolicy

from .backtesting import commit_at, eventful_past, recorded_past, replay_of
from .build import Repository
from .simulation import MINUTE, Simulation, Spell, Weather, files_of

RENDERED, STATUS = "refs/heads/argosy/rendered", "refs/heads/argosy/status"


@contextmanager
def opened(repository: Repository) -> Iterator[OpenRepository]:
    with open_repository(str(repository.path)) as found:
        yield found


def with_toleration(policy: PropagationPolicy, seconds: int) -> PropagationPolicy:
    """A policy whose objects stay in a cluster that is down for so many seconds."""
    tolerations = (
        replace(each, toleration_seconds=seconds) if each.toleration_seconds else each
        for each in policy.placement.cluster_tolerations
    )
    return replace(policy, placement=replace(policy.placement, cluster_tolerations=tuple(tolerations)))


@pytest.mark.parametrize("seed", [1, 4])
def test_a_backtest_of_the_present_files_reproduces_what_happened(seed: int, tmp_path: Path) -> None:
    """Binding by binding and byte by byte at every rendered commit, also by the way that proposals go."""
    simulation = eventful_past(tmp_path / "fleet", seed, 70)
    with opened(simulation.repository) as repository:
        past = recorded_past(repository)
        head = read_source(repository, repository.resolve("HEAD")).desired
        for proposed in (ProposedChanges(), ProposedChanges(settings={"feature_gates": head.fleet.feature_gates})):
            replay = replay_of(repository, past, proposed)
            begun = len(past.rendered)
            done = replay.run()

            assert begun > 12
            assert (done.identical, done.same_places, done.first_difference) == (begun, begun, "")
            assert replay.course.bindings == {**replay.truth.bindings}
            writer = BindingWriter()
            for ref, binding in replay.course.bindings.items():
                assert writer.file_of(binding) == writer.file_of(replay.truth.bindings[ref])
            assert done.replay.total == done.truth.total
            assert done.truth.total.evictions > 0
            assert done.truth.total.moved_replicas > 0
            assert (done.replay.down, done.replay.peaks) == (done.truth.down, done.truth.peaks)


def test_a_backtest_comes_to_what_a_fleet_with_those_policies_really_did(tmp_path: Path) -> None:
    """Two fleets in the same weather, one of which tolerates clusters that are down for a minute, one for an hour."""
    outages = {"c001": (Spell(begin=5, end=25),), "c003": (Spell(begin=12, end=16),), "c007": (Spell(begin=8, end=30),)}
    names = tuple(f"c{number:03}" for number in range(10))
    weather = Weather(
        clusters=names,
        workloads=tuple(f"app{number:02}" for number in range(6)),
        outages={name: outages.get(name, ()) for name in names},
        illnesses={(f"app{number:02}", name): () for number in range(6) for name in names},
        steps={},
    )

    def lived(path: Path, seconds: int) -> Simulation:
        files = files_of(weather)
        for each in (each for path_, each in files.items() if path_.startswith("apps/")):
            for toleration in each[1]["spec"]["placement"]["clusterTolerations"]:
                toleration["tolerationSeconds"] = seconds
        repository = Repository.create(path)
        commit_at(repository, files, weather.wall(0) - MINUTE)
        simulation = Simulation(repository, weather)
        for _ in simulation.run(45):
            pass
        return simulation

    patient, hasty = lived(tmp_path / "patient", 3600), lived(tmp_path / "hasty", 60)
    with opened(patient.repository) as repository, opened(hasty.repository) as other:
        head = read_source(repository, repository.resolve("HEAD")).desired
        policies = tuple(with_toleration(each, 60) for each in head.policies)
        replay = replay_of(repository, recorded_past(repository), ProposedChanges(objects={"policies": policies}))
        replayed, really = replay.run(), replay_of(other, recorded_past(other), ProposedChanges())
        happened = really.run().truth

    assert happened.total.evictions > replayed.truth.total.evictions == 0
    assert {ref: each.evictions for ref, each in replayed.replay.objects.items() if each.evictions} == {
        ref: each.evictions for ref, each in happened.objects.items() if each.evictions
    }
    assert {ref: each.moved_replicas for ref, each in replayed.replay.objects.items()} == {
        ref: each.moved_replicas for ref, each in happened.objects.items()
    }
    assert {ref: sorted(each.targets) for ref, each in replay.course.bindings.items()} == {
        ref: sorted(each.targets) for ref, each in really.truth.bindings.items()
    }
