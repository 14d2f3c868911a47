"""RollbackRequest: the splits that an earlier rendered commit had stand again, once, and nothing else moves."""

from pathlib import Path
from typing import Any

import pytest

from render.binding import Binding, GracefulEvictionTask
from render.former_split import FormerSplit
from render.model import ObjectRef, TargetCluster
from render.rescheduling.rollbacks import bindings_with_former_splits
from tests.build import Repository, a_config_map, a_policy, argosy, on_clusters
from tests.test_rebalance import BINDING, DYNAMIC, _placed, _rebalancer, _requesting, _sized

ALLOWED = ("--allow-removal", "lyon=9", "--allow-removal", "paris=9")
WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "nginx"}


def a_request(to: str, name: str = "back", **spec: Any) -> dict[str, Any]:
    """A RollbackRequest that names a rendered commit."""
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "RollbackRequest",
        "metadata": {"name": name},
        "spec": {"to": to, **spec},
    }


def rendered(repository: Repository, revision: str = "argosy/rendered") -> str:
    """Return a rendered commit by its whole id."""
    return repository.git("rev-parse", revision)


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A fleet whose nginx was divided 2 and 2, and stands 3 and 1 since somebody had it rebalanced."""
    repository = Repository.create(tmp_path / "fleet")
    policy = a_policy(placement=on_clusters("lyon", "paris", replicaScheduling=DYNAMIC))
    repository.commit(
        {
            "a.yaml": _requesting(4),
            "p.yaml": policy,
            "c/paris.yaml": _sized("paris", "10"),
            "c/lyon.yaml": _sized("lyon", "10"),
        }
    )
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    repository.commit({"c/lyon.yaml": _sized("lyon", "30"), "r.yaml": _rebalancer("first")})
    assert argosy(repository, capsys, "render", "--commit").code == 0
    assert _placed(repository) == ["{name: lyon, replicas: 3}", "{name: paris, replicas: 1}"]
    return repository


def _rolled_back(fleet: Repository, capsys: pytest.CaptureFixture[str], **spec: Any) -> str:
    """Ask for the first split, and return what the pass that answers says."""
    fleet.commit({"back.yaml": a_request(rendered(fleet, "argosy/rendered~1"), **spec)})
    ended = argosy(fleet, capsys, "render", "--commit")
    assert ended.code == 0, ended.err
    return ended.err


@pytest.mark.parametrize("spec", [{}, {"objects": [WEB]}, {"namespace": "default"}, {"cluster": "paris"}])
def test_the_former_split_stands_again(
    fleet: Repository, capsys: pytest.CaptureFixture[str], spec: dict[str, Any]
) -> None:
    _rolled_back(fleet, capsys, **spec)
    assert sorted(_placed(fleet)) == ["{name: lyon, replicas: 2}", "{name: paris, replicas: 2}"]
    assert f"RollbackRequest/back@{rendered(fleet, 'argosy/rendered~2')[:12]}" in fleet.show(BINDING)
    assert argosy(fleet, capsys, "verify", "argosy/rendered").code == 0


@pytest.mark.parametrize("spec", [{"objects": [{**WEB, "name": "other"}]}, {"namespace": "shop"}])
def test_what_is_not_asked_for_stays(
    fleet: Repository, capsys: pytest.CaptureFixture[str], spec: dict[str, Any]
) -> None:
    _rolled_back(fleet, capsys, **spec)
    assert _placed(fleet) == ["{name: lyon, replicas: 3}", "{name: paris, replicas: 1}"]
    assert "RollbackRequest" not in fleet.show(BINDING)


def test_a_request_is_answered_once(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    _rolled_back(fleet, capsys)
    tip = rendered(fleet)
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    assert rendered(fleet) == tip
    fleet.commit({"s.yaml": _rebalancer("second")})
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    assert _placed(fleet) == ["{name: lyon, replicas: 3}", "{name: paris, replicas: 1}"]
    assert argosy(fleet, capsys, "verify", "argosy/rendered").code == 0


def test_a_request_for_what_stands_takes_back_an_earlier_one_that_no_pass_has_answered(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rollback that is itself rolled back before a pass ran leaves everything where it is."""
    first, newest = rendered(fleet, "argosy/rendered~1"), rendered(fleet)
    fleet.commit({"back.yaml": a_request(first), "forth.yaml": a_request(newest, "forth")})
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    assert _placed(fleet) == ["{name: lyon, replicas: 3}", "{name: paris, replicas: 1}"]
    assert argosy(fleet, capsys, "verify", "argosy/rendered").code == 0


def test_an_object_that_is_deleted_and_comes_again_is_not_restored_again(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    _rolled_back(fleet, capsys)
    fleet.commit({"a.yaml": None})
    assert argosy(fleet, capsys, "render", "--commit", *ALLOWED).code == 0
    fleet.commit({"a.yaml": _requesting(4)})
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    assert _placed(fleet) == ["{name: lyon, replicas: 3}", "{name: paris, replicas: 1}"]


def test_an_object_that_was_deleted_gets_its_former_split(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    first = rendered(fleet, "argosy/rendered~1")
    fleet.commit({"a.yaml": None})
    assert argosy(fleet, capsys, "render", "--commit", *ALLOWED).code == 0
    fleet.commit({"a.yaml": _requesting(4), "back.yaml": a_request(first)})
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    assert sorted(_placed(fleet)) == ["{name: lyon, replicas: 2}", "{name: paris, replicas: 2}"]


def test_a_request_that_left_the_source_is_forgotten(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    _rolled_back(fleet, capsys)
    fleet.commit({"back.yaml": None})
    assert argosy(fleet, capsys, "render", "--commit").code == 0
    assert "RollbackRequest" not in fleet.show(BINDING)
    assert "rollbacks.yaml" not in fleet.git("ls-tree", "--name-only", "argosy/rendered").split()
    assert sorted(_placed(fleet)) == ["{name: lyon, replicas: 2}", "{name: paris, replicas: 2}"]


def test_a_commit_that_is_not_here_is_a_problem_that_names_the_fetch(
    fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The clone has the newest rendered commit alone; what the message says brings the other one."""
    first = rendered(fleet, "argosy/rendered~1")
    fleet.commit({"back.yaml": a_request(first)})
    fleet.git("config", "uploadpack.allowAnySHA1InWant", "true")
    shallow = Repository(tmp_path / "shallow")
    fleet.git("clone", "-q", "--single-branch", f"file://{fleet.path}", str(shallow.path))
    shallow.git("fetch", "-q", "--depth=1", "origin", "+refs/heads/argosy/*:refs/remotes/origin/argosy/*")
    ended = argosy(shallow, capsys, "render", "--commit")
    assert (ended.code, ended.err.splitlines()[:2]) == (
        3,
        [
            (
                f"back.yaml:6: spec.to: rendered commit {first[:12]}, whose splits are to stand again, is not in this"
                " clone"
            ),
            f"  hint: fetch it: git fetch --depth=1 origin {first}",
        ],
    )
    shallow.git("fetch", "-q", "--depth=1", "origin", first)
    assert argosy(shallow, capsys, "render", "--commit").code == 0
    assert sorted(_placed(shallow)) == ["{name: lyon, replicas: 2}", "{name: paris, replicas: 2}"]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"to": "HEAD~1"}, "back.yaml:6: spec.to: is not the whole id of a commit"),
        (
            {"namespace": "shop", "cluster": "lyon"},
            "back.yaml:6: spec.cluster: does not go together with spec.namespace",
        ),
        ({"clusters": ["lyon"]}, "back.yaml:6: spec.clusters: unknown field"),
    ],
    ids=["a name that may mean another commit tomorrow", "two parts", "an unknown field"],
)
def test_what_is_refused(
    fleet: Repository, capsys: pytest.CaptureFixture[str], spec: dict[str, Any], problem: str
) -> None:
    fleet.write({"back.yaml": a_request(**({"to": "0" * 40} | spec))})
    ended = argosy(fleet, capsys, "validate")
    assert (ended.code, ended.out.splitlines()[0]) == (3, problem)


def test_a_first_run_has_nothing_to_restore(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    policy = a_policy(placement=on_clusters("lyon", "paris", replicaScheduling=DYNAMIC))
    sizes = {f"c/{name}.yaml": _sized(name, "10") for name in ("lyon", "paris")}
    repository.commit({"a.yaml": _requesting(4), "p.yaml": policy, "back.yaml": a_request("0" * 40), **sizes})
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    assert _placed(repository) == ["{name: lyon, replicas: 2}", "{name: paris, replicas: 2}"]
    assert argosy(repository, capsys, "render", "--commit").code == 0
    assert argosy(repository, capsys, "verify", "argosy/rendered").code == 0


def test_what_is_being_left_is_left_no_more_where_it_is_to_stand_again() -> None:
    """An eviction that its taint still asks for begins anew in the same pass, as any."""
    ref = ObjectRef("apps", "Deployment", "shop", "web")
    tasks = tuple(GracefulEvictionTask(from_cluster=name) for name in ("paris", "rome"))
    now = Binding(ref=ref, api_version="apps/v1", eviction_tasks=tasks, reschedule_requests=("tidy",))
    targets = (TargetCluster("paris", 2), TargetCluster("oslo", 2))
    for cluster, left in (("", ["rome"]), ("oslo", ["paris", "rome"])):
        split = FormerSplit(request="RollbackRequest/back@0", replicas=4, targets=targets, cluster=cluster)
        (found,) = bindings_with_former_splits([now], {ref: split})
        assert [each.from_cluster for each in found.eviction_tasks] == left
        assert (found.restored, found.reschedule_requests) == (split, ("RollbackRequest/back@0", "tidy"))


def test_a_pass_that_looks_at_what_changed_alone_keeps_the_record(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """It makes the tree that a pass over everything makes, which is what verify compares it with."""
    others = {f"cm{number}.yaml": a_config_map(f"cm{number}", key="value") for number in range(5)}
    policy = a_policy("rest", selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("lyon"))
    fleet.commit({**others, "rest.yaml": policy, "back.yaml": a_request(rendered(fleet, "argosy/rendered~1"))})
    assert argosy(fleet, capsys, "reconcile").code == 0
    fleet.commit({"cm1.yaml": a_config_map("cm1", key="other")})
    ended = argosy(fleet, capsys, "-v", "-v", "reconcile")
    assert ended.code == 0, ended.err
    record = f"- RollbackRequest/back@{rendered(fleet, 'argosy/rendered~3')[:12]}"
    assert fleet.show("rollbacks.yaml").endswith(record)
    assert sorted(_placed(fleet)) == ["{name: lyon, replicas: 2}", "{name: paris, replicas: 2}"]
    assert argosy(fleet, capsys, "verify", "argosy/rendered").code == 0


def test_an_object_that_is_not_there_is_warned_of(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.write({"back.yaml": a_request("0" * 40, objects=[WEB, {**WEB, "name": "ngnix"}])})
    assert argosy(fleet, capsys, "validate").out.startswith(
        "warning: back.yaml:11: spec.objects[1]: there is no Deployment default/ngnix in the source, so nothing is"
        " restored\n  hint: did you mean 'nginx'?\n"
    )
