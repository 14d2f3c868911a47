"""Two members whose contexts lead to the same cluster: neither gets anything there that the other would take back."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.deliver.identities import Identities
from reconciler.deliver.results import ClusterReport

from .build import a_config_map, a_policy, argosy, on_clusters
from .clusters import Member, members_of_a_fleet
from .memory_fleet import MemoryFleet
from .tables import each_row

NAMES = ("eu", "us")
MAPS = "/api/v1/namespaces/default/configmaps"
SELECTED = [{"apiVersion": "v1", "kind": "ConfigMap"}]
OWN = "give each member the context of its own cluster; argosy.yaml says which under clusters"


class Told(NamedTuple):
    why: str
    recorded: dict[str, str]
    before: dict[str, str]
    member: str
    uid: str
    twins: tuple[str, ...]


TOLD = [
    Told("nobody else is it", {"us": "b"}, {}, "eu", "a", ()),
    Told("another is recorded as it", {"us": "a"}, {}, "eu", "a", ("us",)),
    Told("one that is recorded goes on beside one that is not", {"eu": "a"}, {"us": "a"}, "eu", "a", ()),
    Told("of two that are not recorded nobody knows which is it", {}, {"eu": "a", "us": "a"}, "eu", "a", ("us",)),
    Told("two that are recorded as one", {"eu": "a", "us": "a"}, {}, "eu", "a", ("us",)),
    Told("another that is led there is recorded elsewhere", {"us": "b"}, {"us": "a"}, "eu", "a", ()),
    Told("one that did not tell is nobody's twin", {"us": ""}, {"us": ""}, "eu", "", ()),
]


@each_row("case", TOLD, ids=lambda case: case.why)
def test_twins(case: Told) -> None:
    identities = Identities(recorded=case.recorded, observed=dict(case.before))
    assert identities.members_with_same_uid(case.member, case.uid) == case.twins


def test_of_two_that_nobody_asked_before_the_later_one_has_a_twin() -> None:
    identities = Identities()
    assert [identities.members_with_same_uid(name, "a") for name in NAMES] == [(), ("eu",)]


def shop(path: Path, **placed: tuple[str, ...]) -> MemoryFleet:
    """A fleet with ConfigMaps, each placed in some members."""
    files = {f"{name}.yaml": a_config_map(name, of=name) for name in placed}
    files |= {f"{name}-policy.yaml": policy(name, *names) for name, names in placed.items()}
    return MemoryFleet.create(path, dict.fromkeys(NAMES, (0, {})), files)


def policy(name: str, *clusters: str) -> dict[str, object]:
    return a_policy(name, selectors=[{**SELECTED[0], "name": name}], placement=on_clusters(*clusters))


def failures(reports: tuple[ClusterReport, ...]) -> dict[str, str]:
    return {each.cluster: f"{each.failure.kind}: {each.failure.message}" if each.failure else "" for each in reports}


def same(member: str, other: str) -> str:
    return f"WrongCluster: the context of {member!r} leads to the same cluster as that of {other}"


def test_a_first_pass_touches_neither(tmp_path: Path) -> None:
    fleet = shop(tmp_path / "fleet", settings=NAMES)
    fleet.members["us"] = fleet.members["eu"]
    assert failures(fleet.run()) == {"eu": same("eu", "us"), "us": same("us", "eu")}
    assert fleet.members["eu"].read(f"{MAPS}/settings") is None
    assert not [path for path in fleet.repository.files("argosy/status") if path.startswith("inventory/")]


def test_two_members_that_were_recorded_as_one_get_nothing_more(tmp_path: Path) -> None:
    """An earlier version applied to both; what one of them does not want any more would be taken from the other."""
    fleet = shop(tmp_path / "fleet", settings=NAMES, kept=NAMES)
    fleet.run()
    with_eu = fleet.repository.show("inventory/us.yaml", "argosy/status").replace("uid-of-us", "uid-of-eu")
    fleet.repository.git("checkout", "-q", "argosy/status")
    fleet.repository.commit({"inventory/us.yaml": with_eu + "\n"})
    fleet.repository.git("checkout", "-q", "main")
    fleet.members["us"] = fleet.members["eu"]
    fleet.repository.commit({"settings-policy.yaml": policy("settings", "eu")})
    assert failures(fleet.run()) == {"eu": same("eu", "us"), "us": same("us", "eu")}
    assert fleet.members["eu"].read(f"{MAPS}/settings")["data"] == {"of": "settings"}


@pytest.fixture(scope="module")
def member() -> Iterator[tuple[Member, Path]]:
    with members_of_a_fleet(["eu"]) as (members, folder):
        yield members[0], folder / "kubeconfigs"


@pytest.mark.cluster
@pytest.mark.parametrize("command", ["reconcile", "apply"])
def test_a_real_cluster_that_is_two_members_is_left_alone(
    command: str, member: tuple[Member, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody copied a context: what one of the two does not want any more would be taken from the other."""
    server, kubeconfigs = member
    usual = (kubeconfigs / "eu.yaml").read_text()
    (kubeconfigs / "us.yaml").write_text(usual.replace('"eu"', '"us"'))
    repository = shop(tmp_path / "fleet", settings=NAMES, kept=NAMES).repository
    if command == "apply":
        assert argosy(repository, capsys, "-q", "render", "--commit", "--bootstrap").code == 0
    first = ("--bootstrap",) if command == "reconcile" else ()
    ended = argosy(repository, capsys, command, *first, "--kubeconfigs", str(kubeconfigs))
    refused = ended.out.partition("\n\n")[2].splitlines()[1:]
    both = [
        f"-        {name}        failed   WrongCluster   {same(name, other).partition(': ')[2]}"
        for name, other in (("eu", "us"), ("us", "eu"))
    ]
    assert (ended.code, refused) == (1, [*both, "", f"hint for WrongCluster: {OWN}"])
    assert [server.read(f"{MAPS}/{name}") for name in ("settings", "kept")] == [None, None]
    assert argosy(repository, capsys, "wait", "--timeout", "0s").code == 1
