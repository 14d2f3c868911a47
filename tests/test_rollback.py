"""``argosy rollback``: the former source and the former split, of everything or of what is named, shown first."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.backtesting import commit_at
from tests.build import Repository, a_deployment, a_policy, argosy, on_clusters
from tests.test_rebalance import DYNAMIC, _sized

WEB, API = "bindings/shop/Deployment.apps/web.yaml", "bindings/shop/Deployment.apps/api.yaml"


def an_app(name: str, replicas: int, image: str = "app:1", namespace: str = "shop") -> dict[str, Any]:
    """A Deployment whose replicas ask for a CPU each."""
    deployment = a_deployment(name, namespace=namespace, replicas=replicas, image=image)
    deployment["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    return deployment


def divided(name: str, *clusters: str, selects: str = "", namespace: str = "shop") -> dict[str, Any]:
    """A policy that divides by room what it selects: one Deployment, or all."""
    selector = {"apiVersion": "apps/v1", "kind": "Deployment", **({"name": selects} if selects else {})}
    placement = on_clusters(*clusters, replicaScheduling=DYNAMIC)
    return a_policy(name, namespace=namespace, selectors=[selector], placement=placement)


def shares(repository: Repository, binding: str = WEB, revision: str = "argosy/rendered") -> dict[str, int]:
    """Return the replicas of each target cluster of a binding."""
    lines = [line.strip(" -{}") for line in repository.show(binding, revision).splitlines() if "{name: " in line]
    pairs = (line.removeprefix("name: ").split(", replicas: ") for line in lines)
    return {name: int(replicas) for name, replicas in pairs}


def rendered(repository: Repository, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a pass, and return the newest rendered commit."""
    ended = argosy(repository, capsys, "render", "--commit", *arguments)
    assert ended.code == 0, ended.err
    return repository.git("rev-parse", "argosy/rendered")


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """Two apps divided by room, one policy each, of three clusters; rome is empty and rooms are different since."""
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(
        {
            "shop/web.yaml": an_app("web", 6),
            "shop/api.yaml": an_app("api", 4),
            "policies.yaml": [
                divided("web", "lyon", "paris", selects="web"),
                divided("api", "lyon", "paris", selects="api"),
            ],
            **{f"c/{name}.yaml": _sized(name, "20") for name in ("lyon", "paris", "rome")},
        },
        "Begin",
    )
    rendered(repository, capsys, "--bootstrap")
    assert shares(repository) == {"lyon": 3, "paris": 3}
    repository.commit({"c/lyon.yaml": _sized("lyon", "90")}, "Larger lyon")
    return repository


def _move_web_to_rome(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    policies = [divided("web", "rome", selects="web"), divided("api", "lyon", "paris", selects="api")]
    repository.commit({"shop/web.yaml": an_app("web", 6, "app:2"), "policies.yaml": policies}, "Move web to rome")
    rendered(repository, capsys, "--allow-removal", "*=9")
    assert shares(repository) == {"rome": 6}


def test_everything_goes_back_replicas_and_all(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    before = fleet.git("rev-parse", "argosy/rendered:clusters")
    _move_web_to_rome(fleet, capsys)
    shown = argosy(fleet, capsys, "rollback")
    assert shown.code == 0
    assert shown.out.endswith(
        "\n6 copies of everything are then as they were, byte for byte\n"
        "nothing is written yet: --commit commits it, --branch on a new branch, --write only writes the files\n"
    )
    assert fleet.git("status", "--porcelain") == ""
    assert argosy(fleet, capsys, "rollback", "--commit").code == 0
    assert fleet.git("show", "--format=%s", "--name-only").splitlines() == [
        f"Roll everything back to {fleet.git('rev-parse', 'argosy/rendered~1')[:12]}",
        "",
        "policies.yaml",
        "rollbacks/rollback-1.yaml",
        "shop/web.yaml",
    ]
    rendered(fleet, capsys, "--allow-removal", "*=9")
    assert shares(fleet) == {"lyon": 3, "paris": 3}
    assert fleet.git("rev-parse", "argosy/rendered:clusters") == before
    assert argosy(fleet, capsys, "verify", "argosy/rendered").code == 0


def test_a_plain_revert_divides_anew(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """The case that a rollback is for: the files are as before, and the split is not."""
    _move_web_to_rome(fleet, capsys)
    fleet.git("revert", "--no-edit", "HEAD")
    rendered(fleet, capsys, "--allow-removal", "*=9")
    assert shares(fleet) != {"lyon": 3, "paris": 3}


def test_one_object_goes_back_and_what_others_did_stays(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    _move_web_to_rome(fleet, capsys)
    fleet.commit({"shop/api.yaml": an_app("api", 4, "app:7")}, "Release api")
    rendered(fleet, capsys)
    kept = fleet.git("rev-parse", f"argosy/rendered:{API}")
    ended = argosy(fleet, capsys, "rollback", "deploy/web", "-n", "shop", "--commit")
    assert (ended.code, "2 copies" in ended.out or "3 copies" in ended.out) == (0, True), ended.err
    rendered(fleet, capsys, "--allow-removal", "*=9")
    assert shares(fleet) == {"lyon": 3, "paris": 3}
    assert fleet.git("rev-parse", f"argosy/rendered:{API}") == kept
    assert "app:7" in fleet.show("clusters/lyon/shop/Deployment.apps/api.yaml")
    assert argosy(fleet, capsys, "verify", "argosy/rendered").code == 0


def test_a_policy_that_others_share_stays_and_is_named(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.commit({"policies.yaml": divided("all", "lyon", "paris")}, "One policy")
    rendered(fleet, capsys)
    fleet.commit({"policies.yaml": divided("all", "lyon", "rome"), "shop/web.yaml": an_app("web", 6, "app:2")}, "Move")
    rendered(fleet, capsys, "--allow-removal", "*=9")
    ended = argosy(fleet, capsys, "rollback", "deploy/web", "-n", "shop")
    assert ended.code == 0
    assert (
        "\nchanged since, and stays:\n  PropagationPolicy.policy.karmada.io shop/all (policies.yaml): it decides about"
        " 1 other object\n" in ended.out
    )
    assert "Deployment.apps shop/web in paris: 3 replicas before, not there now: " in ended.out


def test_a_namespace_goes_back(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.commit(
        {"other.yaml": [an_app("job", 1, namespace="other"), divided("o", "lyon", namespace="other")]}, "Other"
    )
    rendered(fleet, capsys)
    _move_web_to_rome(fleet, capsys)
    fleet.commit(
        {"other.yaml": [an_app("job", 2, namespace="other"), divided("o", "lyon", namespace="other")]}, "Scale"
    )
    rendered(fleet, capsys)
    assert argosy(fleet, capsys, "rollback", "-n", "shop", "--commit").code == 0
    rendered(fleet, capsys, "--allow-removal", "*=9")
    assert shares(fleet) == {"lyon": 3, "paris": 3}
    assert shares(fleet, "bindings/other/Deployment.apps/job.yaml") == {"lyon": 2}


def test_the_shares_of_one_cluster_go_back(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Its Cluster had no taint then; what it had comes back to it, and the others divide what is left."""
    tainted = _sized("paris", "20")
    tainted["spec"]["taints"] = [{"key": "broken", "effect": "NoExecute"}]
    fleet.commit({"c/paris.yaml": tainted}, "Leave paris")
    rendered(fleet, capsys, "--allow-removal", "*=9")
    assert shares(fleet) == {"lyon": 6}
    ended = argosy(fleet, capsys, "rollback", "--cluster", "paris", "--commit")
    assert ended.out.splitlines()[0].startswith("cluster paris goes back to rendered commit ")
    rendered(fleet, capsys)
    assert shares(fleet) == {"lyon": 3, "paris": 3}
    assert shares(fleet, API) == {"lyon": 2, "paris": 2}


def test_what_a_cluster_had_that_is_gone_goes_elsewhere_and_is_named(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.commit({"policies.yaml": divided("all", "lyon", "paris", "rome")}, "Three")
    rendered(fleet, capsys)
    fleet.commit({"policies.yaml": divided("all", "rome", "lyon")}, "Leave paris")
    rendered(fleet, capsys, "--allow-removal", "*=9")
    fleet.commit({"c/paris.yaml": None}, "Paris left")
    rendered(fleet, capsys)
    to = fleet.git("rev-parse", "argosy/rendered~2")
    ended = argosy(fleet, capsys, "rollback", "--to", to, "--commit")
    assert ended.code == 0, ended.err
    assert (
        "\nnot as it was:\n"
        "  Deployment.apps shop/api in paris: 2 replicas before, not there now: it is not in the fleet any more\n"
        "  Deployment.apps shop/api in rome: not there before, 2 replicas now: in place of paris\n"
        "  Deployment.apps shop/web in paris: 3 replicas before, not there now: it is not in the fleet any more\n"
        "  Deployment.apps shop/web in rome: not there before, 3 replicas now: in place of paris\n" in ended.out
    )
    assert (
        "\nchanged since, and stays:\n  Cluster.cluster.karmada.io paris (c/paris.yaml): it is the fleet" in ended.out
    )
    rendered(fleet, capsys, "--allow-removal", "*=9")
    assert shares(fleet) == {"lyon": 3, "rome": 3}
    assert argosy(fleet, capsys, "verify", "argosy/rendered").code == 0


def test_an_object_that_is_gone_comes_back_and_one_that_is_new_leaves(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.commit({"shop/web.yaml": None, "shop/api.yaml": [an_app("api", 4), an_app("new", 2)]}, "Replace web")
    fleet.commit({"policies.yaml": divided("all", "lyon", "paris")}, "One policy")
    rendered(fleet, capsys, "--allow-removal", "*=9")
    ended = argosy(fleet, capsys, "rollback", "deploy/web", "deploy/new", "-n", "shop", "--commit")
    assert ended.code == 0, ended.err
    rendered(fleet, capsys, "--allow-removal", "*=9")
    assert shares(fleet) == {"lyon": 3, "paris": 3}
    assert "new" not in (fleet.path / "shop/api.yaml").read_text()
    assert (fleet.path / "shop/api.yaml").exists()


def test_an_object_that_only_leaves_asks_for_no_split(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """A request without objects would be about everything."""
    policies = [divided("all", "lyon", "paris")]
    fleet.commit({"shop/new.yaml": an_app("new", 2), "policies.yaml": policies}, "Add new")
    rendered(fleet, capsys)
    ended = argosy(fleet, capsys, "rollback", "deploy/new", "-n", "shop", "--commit")
    assert (ended.code, fleet.git("show", "--format=", "--name-status")) == (0, "D\tshop/new.yaml")
    rendered(fleet, capsys, "--allow-removal", "*=9")
    assert shares(fleet) == {"lyon": 3, "paris": 3}


def test_a_document_among_others_gets_its_former_text(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Comments come back with it, and what stands around it is not touched."""
    first = "# the shop\n" + _text(an_app("web", 6, "app:1.1")) + "---\n# the api\n" + _text(an_app("api", 4))
    fleet.commit({"shop/web.yaml": first, "shop/api.yaml": None}, "One file")
    rendered(fleet, capsys)
    second = (
        "# the shop, new\n" + _text(an_app("web", 6, "app:2")) + "---\n# the api, edited\n" + _text(an_app("api", 5))
    )
    fleet.commit({"shop/web.yaml": second}, "Edit")
    rendered(fleet, capsys)
    assert argosy(fleet, capsys, "rollback", "deploy/web", "-n", "shop", "--write").code == 0
    wanted = "# the shop\n" + _text(an_app("web", 6, "app:1.1")) + "---\n# the api, edited\n" + _text(an_app("api", 5))
    assert (fleet.path / "shop/web.yaml").read_text() == wanted


def _text(manifest: dict[str, Any]) -> str:
    from render.documents import emit

    return emit(manifest).decode()


def test_what_cannot_go_back_is_named_before(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "migrate", "namespace": "shop"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": "x"}]}}},
    }
    selectors = [{"apiVersion": "v1", "kind": "PersistentVolumeClaim"}, {"apiVersion": "batch/v1", "kind": "Job"}]
    policy = a_policy("rest", namespace="shop", selectors=selectors, placement=on_clusters("rome"))
    fleet.commit({"rest.yaml": [policy, claim]}, "A claim")
    rendered(fleet, capsys)
    claim["spec"]["resources"]["requests"]["storage"] = "2Gi"  # type: ignore[index]
    fleet.commit({"rest.yaml": [policy, claim, job]}, "Grow")
    rendered(fleet, capsys)
    ended = argosy(fleet, capsys, "rollback")
    assert (
        "\ncannot go back:\n  PersistentVolumeClaim shop/data: a claim that has grown stays as large\n"
        "  Job.batch shop/migrate: what a Job has done is not undone\n" in ended.out
    )


@pytest.mark.parametrize("revision", ["HEAD~1", "argosy/rendered~1", "HEAD~2"])
def test_a_source_commit_means_what_was_rendered_of_it(
    fleet: Repository, capsys: pytest.CaptureFixture[str], revision: str
) -> None:
    """HEAD~1 changed the room of a cluster alone: nothing was rendered of it but with the commit before."""
    to = fleet.git("rev-parse", "argosy/rendered")
    _move_web_to_rome(fleet, capsys)
    ended = argosy(fleet, capsys, "rollback", "--to", revision, "-o", "json")
    assert json.loads(ended.out)["to"] == to


def test_a_change_that_is_not_rendered_yet_is_the_newest(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    _move_web_to_rome(fleet, capsys)
    fleet.commit({"shop/api.yaml": an_app("api", 4, "app:bad")}, "Bad")
    found = json.loads(argosy(fleet, capsys, "rollback", "-o", "json").out)
    assert (found["to"], found["restored"]) == (fleet.git("rev-parse", "argosy/rendered"), ["Deployment.apps shop/api"])


def test_a_rollback_can_be_rolled_back(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    _move_web_to_rome(fleet, capsys)
    moved = fleet.git("rev-parse", "argosy/rendered:clusters")
    for _ in range(2):
        assert argosy(fleet, capsys, "rollback", "--commit").code == 0
        rendered(fleet, capsys, "--allow-removal", "*=9")
    assert fleet.git("rev-parse", "argosy/rendered:clusters") == moved
    assert sorted(path.name for path in (fleet.path / "rollbacks").iterdir()) == ["rollback-1.yaml", "rollback-2.yaml"]


def test_files_with_changes_that_nobody_committed_are_not_overwritten(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    _move_web_to_rome(fleet, capsys)
    fleet.write({"shop/web.yaml": an_app("web", 7, "app:3")})
    ended = argosy(fleet, capsys, "rollback", "--write")
    assert (ended.code, ended.err) == (
        3,
        "argosy: shop/web.yaml has changes that are not committed\n  hint: commit them first, or git stash them\n",
    )
    assert "app:3" in (fleet.path / "shop/web.yaml").read_text()


def test_a_rollback_that_changes_nothing_writes_nothing(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    rendered(fleet, capsys)
    ended = argosy(fleet, capsys, "rollback", "--to", "argosy/rendered", "--commit")
    assert ended.out.endswith("\nnothing changes by it, so that nothing is written\n")
    assert fleet.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("deploy/nothing",), 2),
        (("--cluster", "nowhere"), 2),
        (("--cluster", "paris", "-n", "shop"), 2),
        (("--to", "deadbeef"), 4),
        (("deploy/api", "-n", "shop"), 2),
    ],
)
def test_what_is_not_there_is_refused(
    fleet: Repository, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int
) -> None:
    ended = argosy(fleet, capsys, "rollback", *arguments)
    assert (ended.code, bool(ended.err)) == (code, True)


def test_a_source_that_is_not_here_names_the_fetch(
    fleet: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _move_web_to_rome(fleet, capsys)
    shallow = Repository(tmp_path / "shallow")
    fleet.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{fleet.path}", str(shallow.path))
    shallow.git("fetch", "-q", "origin", "+refs/heads/argosy/rendered:refs/remotes/origin/argosy/rendered")
    to = fleet.git("rev-parse", "argosy/rendered~1")
    shallow.git("fetch", "-q", "--depth=5", "origin", to)
    ended = argosy(shallow, capsys, "rollback", "--to", to)
    assert (ended.code, ended.err.splitlines()[-1]) == (
        4,
        "  hint: fetch the whole history: git fetch --unshallow",
    )


def test_an_item_of_a_list_gets_its_former_value(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    def listed(*items: dict[str, Any]) -> dict[str, Any]:
        return {"apiVersion": "v1", "kind": "List", "items": list(items)}

    fleet.commit({"shop/api.yaml": None, "shop/web.yaml": listed(an_app("web", 6), an_app("api", 4))}, "One list")
    rendered(fleet, capsys)
    fleet.commit({"shop/web.yaml": listed(an_app("web", 6, "app:2"), an_app("api", 4, "app:3"))}, "Edit")
    rendered(fleet, capsys)
    # Nothing was rendered of the list alone: its source is the one before it, in which web had a file of its own.
    assert argosy(fleet, capsys, "rollback", "deploy/web", "-n", "shop", "--commit").code == 0
    rendered(fleet, capsys)
    assert "app:1" in fleet.show("clusters/lyon/shop/Deployment.apps/web.yaml")
    assert "app:3" in fleet.show("clusters/lyon/shop/Deployment.apps/api.yaml")
    fleet.commit({"shop/web.yaml": listed(an_app("web", 6, "app:5"), an_app("api", 4, "app:3"))}, "Edit again")
    rendered(fleet, capsys)
    assert argosy(fleet, capsys, "rollback", "deploy/web", "-n", "shop", "--commit").code == 0
    rendered(fleet, capsys)
    assert "app:1" in fleet.show("clusters/lyon/shop/Deployment.apps/web.yaml")
    assert "app:3" in fleet.show("clusters/lyon/shop/Deployment.apps/api.yaml")


def test_what_a_tool_builds_goes_back_with_its_files_alone(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything goes back with the files it is built from; one object of it alone cannot."""
    base = {"shop/base/kustomization.yaml": "resources: [web.yaml]\n", "shop/base/web.yaml": an_app("web", 6)}
    fleet.commit({"shop/web.yaml": None, **base}, "Build")
    rendered(fleet, capsys)
    fleet.commit({"shop/base/web.yaml": an_app("web", 6, "app:2")}, "Release")
    rendered(fleet, capsys)
    to = fleet.git("rev-parse", "argosy/rendered~1")
    ended = argosy(fleet, capsys, "rollback", "deploy/web", "-n", "shop", "--to", to)
    assert "it has no document: shop/base/kustomization.yaml builds it" in ended.out
    assert "Deployment.apps shop/web in lyon: other bytes than then" in ended.out
    whole = argosy(fleet, capsys, "rollback", "--to", to)
    assert "are then as they were, byte for byte" in whole.out
    assert "it has no document" not in whole.out


def test_a_rollback_is_committed_on_a_new_branch_and_nothing_else_changes(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The branch has what --commit would have committed, and a pass over it once it is merged restores the split."""
    _move_web_to_rome(fleet, capsys)
    head, status = fleet.git("rev-parse", "HEAD"), fleet.git("ls-files", "-s")
    ended = argosy(fleet, capsys, "rollback", "--branch", "undo/move")
    assert ended.code == 0, ended.err
    assert ended.out.endswith(
        "\nnext:\n  argosy diff HEAD undo/move  # what this changes in the clusters\n"
        "  git merge undo/move\n  argosy reconcile\n"
    )
    assert (fleet.git("rev-parse", "HEAD"), fleet.git("ls-files", "-s")) == (head, status)
    assert fleet.git("status", "--porcelain") == ""
    assert fleet.git("rev-parse", "undo/move~1") == head
    assert argosy(fleet, capsys, "rollback", "--commit").code == 0
    for each in ("%s%n%an <%ae>%n%cn <%ce>", "%T"):
        assert fleet.git("log", "-1", f"--format={each}", "undo/move") == fleet.git("log", "-1", f"--format={each}")
    fleet.git("reset", "-q", "--hard", head)
    fleet.git("merge", "-q", "undo/move")
    rendered(fleet, capsys, "--allow-removal", "*=9")
    assert shares(fleet) == {"lyon": 3, "paris": 3}


def test_a_rollback_on_a_branch_takes_files_and_empty_folders_away(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.commit({"new/deep/app.yaml": an_app("blog", 1)}, "Begin the blog")
    rendered(fleet, capsys)
    found = json.loads(argosy(fleet, capsys, "rollback", "--branch", "undo", "-o", "json").out)
    assert (found["isWritten"], found["branch"]) == (True, "undo")
    assert found["commit"] == fleet.git("rev-parse", "undo")
    assert fleet.git("diff", "--name-status", "HEAD", "undo").splitlines() == [
        "D\tnew/deep/app.yaml",
        "A\trollbacks/rollback-1.yaml",
    ]
    assert "new" not in fleet.git("ls-tree", "--name-only", "undo").splitlines()


BRANCHES = [
    ("-x", "'-x' is no name of a branch\n  hint: write it as put-web-back"),
    ("a..b", "'a..b' is no name of a branch\n  hint: write it as put-web-back"),
    ("refs/heads/x", "'refs/heads/x' is no name of a branch\n  hint: write it as put-web-back"),
    ("HEAD", "'HEAD' is no name of a branch\n  hint: write it as put-web-back"),
    ("@", "'@' is no name of a branch\n  hint: write it as put-web-back"),
    ("main", "there is a branch 'main' already\n  hint: name another one"),
    ("main/x", "git keeps no branch 'main/x' beside the branch 'main'\n  hint: name another one"),
    ("argosy/rendered", "'argosy/rendered' is a branch that passes write\n  hint: name one that is not below argosy/"),
    ("argosy", "'argosy' is a branch that passes write\n  hint: name one that is not below argosy/"),
]


@pytest.mark.parametrize(("name", "message"), BRANCHES)
def test_a_branch_that_cannot_be_new_is_refused_before_anything_is_asked(
    fleet: Repository, capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    _move_web_to_rome(fleet, capsys)
    ended = argosy(fleet, capsys, "rollback", f"--branch={name}")
    assert (ended.code, ended.err) == (3, f"argosy: {message}\n")


def test_a_branch_takes_only_what_is_committed(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Else the preview would have seen what the branch does not have."""
    _move_web_to_rome(fleet, capsys)
    fleet.write({"shop/api.yaml": an_app("api", 9)})
    ended = argosy(fleet, capsys, "rollback", "--branch", "undo")
    assert ended.code == 3
    assert ended.err == (
        "argosy: shop/api.yaml has changes that are not committed, and that the branch would be without\n"
        "  hint: commit them first, or git stash -u them\n"
    )
    both = argosy(fleet, capsys, "rollback", "--branch", "undo", "--commit")
    assert both.code == 2
    assert fleet.git("branch", "--list", "undo") == ""


@pytest.fixture
def dated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """An app that was released on three days, each of which has its rendered commit."""
    repository = Repository.create(tmp_path / "dated")
    files = {"policies.yaml": divided("web", "lyon", "paris"), "c/lyon.yaml": _sized("lyon", "20")}
    for day in (1, 2, 3):
        commit_at(
            repository, {**files, "web.yaml": an_app("web", 2, f"app:{day}")}, datetime(2020, 3, day, 9, tzinfo=UTC)
        )
        rendered(repository, capsys, *(["--bootstrap"] if day == 1 else []))
    return repository


TIMES = [
    ("2020-03-01T09:00:00Z", 2, "2020-03-01T09:00:00Z"),
    ("2020-03-02T08:59:59Z", 2, "2020-03-01T09:00:00Z"),
    ("2020-03-02T10:00:00+01:00", 1, "2020-03-02T09:00:00Z"),
    ("2020-03-03T08:00:00Z", 1, "2020-03-02T09:00:00Z"),
]


@pytest.mark.parametrize(("to", "before", "made"), TIMES)
def test_to_takes_a_time(
    dated: Repository, capsys: pytest.CaptureFixture[str], to: str, before: int, made: str
) -> None:
    found = json.loads(argosy(dated, capsys, "rollback", "--to", to, "-o", "json").out)
    assert (found["to"], found["made"]) == (dated.git("rev-parse", f"argosy/rendered~{before}"), made)
    text = argosy(dated, capsys, "rollback", "--to", to).out
    asked = to if to.endswith("Z") else "2020-03-02T09:00:00Z"
    assert found["at"] == asked
    assert text.startswith(f"at {asked} stood what was rendered at {made} or later\neverything goes back to rendered ")


def test_to_takes_how_long_ago_it_was(dated: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """All of it is longer ago than a minute, so that the newest commit stood then, and nothing is to be done."""
    ended = argosy(dated, capsys, "rollback", "--to", "1m ago")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "nothing changes by it, so that nothing is written")


def test_before_anything_was_rendered_nothing_is_to_be_had(
    dated: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(dated, capsys, "rollback", "--to", "2020-02-28T00:00:00Z")
    assert ended.code == 2
    assert ended.err == (
        "argosy: nothing that is here was rendered by 2020-02-28T00:00:00Z\n"
        "  hint: the oldest that is here is of 2020-03-01T09:00:00Z\n"
    )
    ended = argosy(dated, capsys, "rollback", "--to", "999999w ago")
    assert ended.err.startswith("argosy: nothing that is here was rendered by 0001-01-01T")


NO_TIMES = [
    ("2h", "'2h' is no commit; as a time it is '2h ago'"),
    ("90d", "'90d' is no commit; as a time it is '90d ago'"),
    ("2 hours ago", "'2 hours ago' is no time; write it as '30m ago' or '2d ago'"),
    ("2020-03-01T09:00:00", "'2020-03-01T09:00:00' is no time; write it as 2026-03-01T14:05:00Z"),
    ("2020-13-01T09:00:00Z", "'2020-13-01T09:00:00Z' is no time; write it as 2026-03-01T14:05:00Z"),
    ("9999999h ago", "'9999999h ago' is no time; write it as '30m ago' or '2d ago'"),
    ("9999-01-01T00:00:00Z", "'9999-01-01T00:00:00Z' is still to come"),
]


@pytest.mark.parametrize(("to", "message"), NO_TIMES)
def test_what_is_no_time_is_told_how_to_write_one(
    dated: Repository, capsys: pytest.CaptureFixture[str], to: str, message: str
) -> None:
    ended = argosy(dated, capsys, "rollback", "--to", to)
    assert ended.code == 2
    assert message in ended.err
