"""``argosy backtest``: the recorded past of a fleet replayed, as it was and as other policies would have had it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from reconciler.backtest.proposed import ProposedChanges
from reconciler.backtest.sources import SourceReader
from reconciler.branches.reading import ObservedInputs, read_source
from reconciler.pipeline.binding_files import BindingWriter
from reconciler.repository import Repository as OpenRepository
from reconciler.repository import open_repository
from render.policy import PropagationPolicy

from .backtesting import LONG_AGO, commit_at, eventful_past, recorded_past, replay_of
from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, as_bytes, on_clusters
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
                assert writer.file_of(binding).data() == writer.file_of(replay.truth.bindings[ref]).data()
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


MODEST = {
    **{f"clusters/{name}.yaml": a_cluster(name) for name in ("oslo", "paris", "rome")},
    "web.yaml": a_deployment("web", replicas=4),
}


def placed_on(*clusters: str, **more: Any) -> dict[str, Any]:
    """The policy of the web server, divided over some clusters."""
    divided = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}]
    return a_policy("web", selectors=selectors, placement=on_clusters(*clusters, replicaScheduling=divided), **more)


@pytest.fixture
def lived(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A fleet whose web server went from oslo and paris to rome, and half an hour later back again."""
    made = Repository.create(tmp_path / "fleet")
    for minute, clusters in enumerate([("oslo", "paris"), ("oslo", "rome"), ("oslo", "paris")]):
        commit_at(made, {**MODEST, "policy.yaml": placed_on(*clusters)}, LONG_AGO + 30 * minute * MINUTE)
        assert argosy(made, capsys, "-q", "reconcile", "--bootstrap").code == 0
    return made


AS_IT_WAS = """\
Backtest from 2020-01-01T00:00:00Z to 2020-01-01T01:00:00Z
  nothing is proposed; 3 rendered commits came out as they really were
  WHAT                                    REALLY   REPLAYED
  replicas that moved                     4        4
  evictions                               0        0
  flaps (back within 1h)                  1        1
  minutes that objects were unscheduled   0        0
  replica minutes in clusters not ready   0        0
  changes of the outcome                  3        3

How far this reaches
  3 rendered commits from the first one on; each of them is a pass that was done
  again.
"""


def test_the_past_as_it_was_in_eighty_columns(lived: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(lived, capsys, "backtest", "--since", "2020-01-01T00:00:00Z")

    assert (ended.code, ended.out, ended.err) == (0, AS_IT_WAS, "")


def told(repository: Repository, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    ended = argosy(repository, capsys, "backtest", *words, "-o", "json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_a_proposed_policy_takes_the_place_of_the_one_with_its_name(
    lived: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    proposed = tmp_path / "proposed" / "any.yaml"
    proposed.parent.mkdir()
    proposed.write_text(json.dumps(placed_on("oslo", "rome")))
    found = told(lived, capsys, "--since", "2020-01-01T00:00:00Z", "--policy", str(proposed.parent))

    assert found["proposed"] == ["PropagationPolicy default/web"]
    assert found["really"] == {
        "changes": 3,
        "movedReplicas": 4,
        "evictions": 0,
        "flaps": 1,
        "unscheduledMinutes": 0.0,
        "replicaMinutesNotReady": 0.0,
    }
    assert found["replayed"] == {**found["really"], "movedReplicas": 0, "flaps": 0, "changes": 1}
    assert found["samePlaces"] == 1
    text = argosy(lived, capsys, "backtest", "--since", "2020-01-01T00:00:00Z", "--policy", str(proposed)).out
    assert max(map(len, text.splitlines())) <= 80


def test_what_is_proposed_and_says_the_same_changes_nothing(
    lived: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Only the source of half an hour has another one: there, and nowhere else, the replay is another one."""
    (tmp_path / "same.yaml").write_text(json.dumps(placed_on("oslo", "paris")))
    found = told(lived, capsys, "--since", "2020-01-01T00:00:00Z", "--policy", str(tmp_path / "same.yaml"))

    assert (found["samePlaces"], found["replayed"]["movedReplicas"]) == (2, 0)


TAKES = (
    "--policy takes policies, override policies, ClusterTaintPolicies, FederatedResourceQuotas, Clusters and templates"
)


def refusal(what: str, reason: str) -> str:
    return f"{{path}}: {what} cannot be proposed: {reason}\n  hint: {TAKES}\n1 problem; nothing was changed\n"


REFUSED = {
    "an object by which others are placed": (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        refusal("Namespace shop", "other objects are read or placed by it"),
    ),
    "a rollout": (
        {
            "apiVersion": "argosy.dev/v1alpha1",
            "kind": "ClusterRolloutPolicy",
            "metadata": {"name": "slow"},
            "spec": {
                "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
                "waves": [{"name": "first", "clusterAffinity": {"clusterNames": ["oslo"]}}],
            },
        },
        refusal(
            "ClusterRolloutPolicy slow",
            "a rollout goes by what clusters say of each version, and nobody knows it of those that they never had",
        ),
    ),
    "a field that no policy has": (
        {**placed_on("oslo"), "spec": {**placed_on("oslo")["spec"], "placment": {}}},
        "{path}:1: spec.placment: unknown field\n  hint: did you mean 'placement'?\n1 problem; nothing was changed\n",
    ),
}


LONG_SINCE = ("--since", "2020-01-01T00:00:00Z")


def a_proposal(folder: Path, *documents: Any) -> tuple[str, ...]:
    (folder / "proposed.yaml").write_bytes(as_bytes(list(documents)))
    return (*LONG_SINCE, "--policy", str(folder / "proposed.yaml"))


def test_a_proposed_override_counts_in_every_pass(
    lived: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It moves nothing, and no commit comes out as it was; an override of replicas is a use of clusters."""
    overrider = {"path": "/spec/replicas", "operator": "replace", "value": 7}
    override = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "seven", "namespace": "default"},
        "spec": {"overrideRules": [{"overriders": {"plaintext": [overrider]}}]},
    }
    found = told(lived, capsys, *a_proposal(tmp_path, override))
    assert (found["proposed"], found["identical"], found["samePlaces"]) == (["OverridePolicy default/seven"], 0, 3)
    assert found["replayed"] == found["really"]


def test_a_proposed_cluster_takes_the_place_of_the_one_with_its_name(
    lived: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """With a taint rome never takes what went there; what no source of the time has is refused."""
    taints = [{"key": "cold", "effect": "NoSchedule"}]
    found = told(lived, capsys, *a_proposal(tmp_path, a_cluster("rome", taints=taints)))
    assert found["proposed"] == ["Cluster rome"]
    peaks = {each["cluster"]: (each["really"], each["replayed"]) for each in found["peaks"]}
    assert peaks == {"oslo": ("2", "4"), "paris": ("2", "2"), "rome": ("2", "0")}
    ended = argosy(lived, capsys, "backtest", *a_proposal(tmp_path, a_cluster("atlantis")))
    assert ended.code == 3
    assert ended.err == (
        "argosy: cluster 'atlantis' cannot be proposed: no source of that time has it, so its health was not observed\n"
        "  hint: propose other labels, taints or places of clusters that the fleet had then\n"
    )


def test_a_proposed_template_takes_the_place_of_the_one_with_its_name(
    lived: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = told(lived, capsys, *a_proposal(tmp_path, a_deployment("web", replicas=40)))
    assert (found["proposed"], found["replayed"]["movedReplicas"]) == (["Deployment.apps default/web"], 40)
    peaks = {each["cluster"]: (each["really"], each["replayed"]) for each in found["peaks"]}
    assert peaks == {"oslo": ("2", "20"), "paris": ("2", "20"), "rome": ("2", "20")}


def test_a_backtest_has_its_price_where_there_is_a_price_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rome is dearer: for half of the hour two replicas were there, which the proposal leaves where they are."""
    web = a_deployment("web", replicas=4)
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    rates = {"oslo": "1", "paris": "1", "rome": "3"}
    entries = [{"clusterAffinity": {"clusterNames": [name]}, "perHour": {"cpu": each}} for name, each in rates.items()]
    prices = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "PriceList",
        "metadata": {"name": "prices"},
        "spec": {"currency": "EUR", "prices": entries},
    }
    made = Repository.create(tmp_path / "priced")
    for minute, clusters in enumerate([("oslo", "paris"), ("oslo", "rome"), ("oslo", "paris")]):
        files = {**MODEST, "web.yaml": web, "prices.yaml": prices, "policy.yaml": placed_on(*clusters)}
        commit_at(made, files, LONG_AGO + 30 * minute * MINUTE)
        assert argosy(made, capsys, "-q", "reconcile", "--bootstrap").code == 0
    found = told(made, capsys, *a_proposal(tmp_path, placed_on("oslo", "paris")))
    assert found["really"]["cost"] == {"currency": "EUR", "monthly": "4380", "unpriced": []}
    assert found["replayed"]["cost"]["monthly"] == "2920"
    text = argosy(made, capsys, "backtest", *LONG_SINCE).out
    assert "  EUR a month, on average                 4380.00   4380.00\n" in text
    assert "Costs are by the prices of the newest source of that time." in text


@pytest.mark.parametrize(("content", "said"), REFUSED.values(), ids=REFUSED)
def test_a_proposed_file_that_is_none_is_refused(
    content: dict[str, Any], said: str, lived: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "proposed.yaml"
    path.write_text(json.dumps(content))
    ended = argosy(lived, capsys, "backtest", "--since", "2020-01-01T00:00:00Z", "--policy", str(path))

    assert (ended.code, ended.out, ended.err) == (3, "", said.format(path=path))


def test_a_shallow_clone_says_where_it_ends_and_its_command_brings_the_rest(
    lived: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    url = f"file://{lived.path}"
    lived.git("clone", "-q", "--depth", "2", "--no-single-branch", url, str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    cut = told(clone, capsys, "--since", "2020-01-01T00:00:00Z")

    assert (cut["isCutOff"], cut["grain"]["renderedCommits"], cut["identical"]) == (True, 1, 1)
    assert cut["fetches"] == ["git fetch --unshallow origin '+refs/heads/*:refs/remotes/origin/*'"]
    text = argosy(clone, capsys, "backtest", "--since", "2020-01-01T00:00:00Z").out
    assert f"\n  {cut['fetches'][0]}\n" in text
    clone.git("fetch", "-q", "--unshallow", "origin", "+refs/heads/*:refs/remotes/origin/*")
    whole = told(clone, capsys, "--since", "2020-01-01T00:00:00Z")
    assert (whole["isCutOff"], whole["identical"], whole["fetches"]) == (False, 3, [])


def test_since_takes_a_commit_of_either_branch(lived: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    rendered = told(lived, capsys, "--since", "argosy/rendered~1")
    source = told(lived, capsys, "--since", "main~1")

    assert rendered["base"] == lived.git("rev-parse", "argosy/rendered~1")
    assert rendered["grain"]["renderedCommits"] == 1
    assert source["base"] == lived.git("rev-parse", "argosy/rendered~2")
    assert source["grain"]["renderedCommits"] == 2


def test_nothing_is_recorded_of_the_time_after_the_newest_commit(
    lived: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(lived, capsys, "backtest", "--since", "2020-01-02T00:00:00Z")

    assert (ended.code, ended.out) == (3, "")
    assert ended.err == (
        "argosy: nothing is recorded of that time\n  hint: --since takes an earlier time, or a commit\n"
    )


def test_a_time_in_which_nothing_was_rendered_is_not_called_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only the status branch has a commit of it."""
    repository = eventful_past(tmp_path / "fleet", 1, 6).repository
    since = repository.git("log", "-1", "--format=%cI", "argosy/status").replace("+00:00", "Z")
    plain = argosy(repository, capsys, "backtest", "--since", since)
    proposed = argosy(repository, capsys, "backtest", "--since", since, "--fleet", str(repository.path / "argosy.yaml"))

    assert (plain.code, proposed.code) == (0, 0)
    words = " ".join(plain.out.split())
    assert "nothing is proposed, and nothing was rendered in that time that could come out otherwise" in words
    assert "No commit was rendered from" in words
    assert "Where an object stands elsewhere" in proposed.out
    for each in (plain, proposed):
        assert "0 rendered commits" not in each.out


@pytest.mark.parametrize("since", ["999999w", "2100w", "999999d"])
def test_longer_ago_than_there_are_times_is_the_whole_past(
    lived: Repository, capsys: pytest.CaptureFixture[str], since: str
) -> None:
    assert (
        told(lived, capsys, "--since", since)["since"]
        == told(lived, capsys, "--since", "2000-01-01T00:00:00Z")["since"]
    )


def test_a_commit_by_another_engine_is_named(
    lived: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciler.VERSION", "99")
    found = told(lived, capsys, "--since", "2020-01-01T00:00:00Z")

    commits = lived.git("rev-list", "--reverse", "argosy/rendered").split()
    assert [each["commits"] for each in found["engines"]] == [commits]
    assert "engine 99 replays them" in " ".join(
        argosy(lived, capsys, "backtest", "--since", "2020-01-01T00:00:00Z").out.split()
    )


def test_a_source_read_from_the_one_before_is_the_whole_source(tmp_path: Path) -> None:
    """Edits of every sort one after the other: those of templates alone are read from the source before."""
    made = Repository.create(tmp_path / "fleet")
    both = [a_deployment("api", replicas=2), a_config_map("settings", colour="red")]
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    edits: list[tuple[dict[str, Any], bool]] = [
        ({**MODEST, "policy.yaml": placed_on("oslo", "paris"), "both.yaml": both, "space.yaml": space}, False),
        ({"web.yaml": a_deployment("web", replicas=5)}, True),
        ({"both.yaml": [both[0], a_config_map("settings", colour="blue")]}, True),
        ({"both.yaml": [both[0]]}, False),
        ({"web.yaml": a_deployment("web", replicas=5), "note.md": "nothing"}, False),
        ({"web.yaml": a_deployment("site", replicas=5)}, False),
        ({"web.yaml": {**a_deployment("site", replicas=5), "spec": {"replicas": "many"}}}, False),
        ({"web.yaml": a_deployment("site", replicas=6)}, False),
        ({"space.yaml": {**space, "metadata": {"name": "shop", "labels": {"team": "web"}}}}, False),
        ({"policy.yaml": placed_on("oslo", "rome")}, False),
        ({"web.yaml": a_deployment("site", image="web:2", replicas=6)}, True),
    ]
    with opened(made) as repository:
        reader = SourceReader(repository)
        reader_of_all = SourceReader(repository)
        for files, is_alone in edits:
            commit_at(made, files, LONG_AGO)
            commit = made.git("rev-parse", "HEAD")
            before = reader._last
            found = reader.source(commit, ObservedInputs())
            again = reader_of_all._read(commit, ObservedInputs())

            assert found.desired == again.desired
            assert found.desired.source_digest == again.desired.source_digest
            assert [each.digest for each in found.desired.templates] == [
                each.digest for each in again.desired.templates
            ]
            is_of_last = before is not None and found.files is before.files
            assert is_of_last is is_alone, files.keys()
