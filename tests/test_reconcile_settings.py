"""Changed settings are accepted by a person: once, by an option or by a file outside of the repository."""

import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.branches.in_force import BranchPlace, rendered_tip_or_none, settings_in_force
from reconciler.repository import open_repository

from .build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .fakes import FakeCluster
from .served import serving_members

HEAD = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet"}
MAPS = [{"apiVersion": "v1", "kind": "ConfigMap"}]
WAITS = (
    "settings that reach outside of the repository or weaken a guard are to change; nothing was committed\n"
    "  argosy.yaml: {}\n"
    "  hint: if they are meant: argosy reconcile --accept-settings, or say them in the file of --accepted-settings{}\n"
)


def settings(name: str = "default", **spec: Any) -> dict[str, Any]:
    return {**HEAD, "metadata": {"name": name}, "spec": spec}


class Fleet:
    """A fleet at a remote, and clones of it."""

    def __init__(self, folder: Path, out: Any) -> None:
        self.folder, self._out = folder, out
        self.origin = Repository.create(folder / "origin", bare=True)
        self.author = Repository.create(folder / "author")
        self.author.git("remote", "add", "origin", str(self.origin.path))

    def push(self, files: dict[str, Any]) -> str:
        commit = self.author.commit(files)
        self.author.git("push", "-q", "origin", "HEAD:main")
        self.author.git("fetch", "-q", "origin")
        return commit

    def clone(self, name: str) -> Repository:
        self.author.git("clone", "-q", str(self.origin.path), str(self.folder / name))
        return Repository(self.folder / name)

    def run(self, *words: str, clone: Repository | None = None) -> Ended:
        return argosy(clone or self.author, self._out, *words)

    def tip(self, branch: str = "argosy/rendered") -> str:
        return self.origin.git("rev-parse", "-q", "--verify", branch, check=False)


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fleet:
    made = Fleet(tmp_path, capsys)
    made.push(
        {
            "argosy.yaml": settings(),
            "cluster.yaml": a_cluster("one"),
            "policy.yaml": a_policy(selectors=MAPS, placement=on_clusters("one")),
            "a.yaml": a_config_map("a"),
        }
    )
    assert made.run("reconcile", "--bootstrap").code == 0
    return made


def test_what_is_accepted_once_is_in_force(fleet: Fleet) -> None:
    """Nothing but the settings differs, so that a commit says that they are accepted."""
    first = fleet.tip()
    fleet.push({"argosy.yaml": settings(validation="Off")})
    refused = (6, "", WAITS.format("spec.validation: Strict -> Off", ""))
    assert fleet.run("reconcile") == refused
    assert fleet.run("-q", "reconcile", clone=fleet.clone("runner")) == refused
    assert fleet.run("reconcile", "--accept-settings", "--dry-run").code == 0
    assert fleet.run("reconcile") == refused
    assert fleet.tip() == first
    assert fleet.run("reconcile", "--accept-settings").code == 0
    accepted = fleet.tip()
    assert fleet.origin.git("rev-parse", f"{accepted}^{{tree}}") == fleet.origin.git("rev-parse", f"{first}^{{tree}}")
    assert "settings: spec.validation: Strict -> Off" in fleet.origin.git("log", "-1", "--format=%B", accepted)
    fleet.push({"b.yaml": a_config_map("b")})
    assert fleet.run("reconcile", clone=fleet.clone("another")).code == 0
    assert fleet.run("verify").code == 0


def test_a_stronger_limit_needs_nobody_and_a_weaker_one_again_does(fleet: Fleet) -> None:
    fleet.push({"argosy.yaml": settings(secrets="Refuse")})
    assert fleet.run("reconcile").code == 0
    fleet.push({"argosy.yaml": settings(secrets="Allow")})
    assert fleet.run("reconcile") == (6, "", WAITS.format("spec.secrets: Refuse -> Allow", ""))


def test_other_settings_need_nobody(fleet: Fleet) -> None:
    tip = fleet.tip()
    fleet.push({"argosy.yaml": settings(mirrors=["*"], removalGuard={"count": 3}, reserveCapacity=False)})
    assert fleet.run("reconcile").code == 0
    fleet.push({"argosy.yaml": settings(mirrors=["one"], removalGuard={"count": 3})})
    assert fleet.run("reconcile").code == 0
    assert len(fleet.origin.git("rev-list", f"{tip}..argosy/rendered").split()) == 1


def test_a_file_outside_of_the_repository_accepts(fleet: Fleet, tmp_path: Path) -> None:
    """It says the value; another one is not accepted by it, nor is that of another fleet."""
    file = tmp_path / "accepted.yaml"
    file.write_text(
        json.dumps(settings("other", validation="Off"))
        + "\n---\n"
        + json.dumps(settings(validation="Warn", removalGuard={"count": 50}))
    )
    words = ("reconcile", "--accepted-settings", str(file))
    fleet.push({"argosy.yaml": settings(validation="Off", removalGuard={"count": 50})})
    assert fleet.run(*words) == (6, "", WAITS.format("spec.validation: Strict -> Off", ""))
    fleet.push({"argosy.yaml": settings(validation="Warn", removalGuard={"count": 50})})
    assert fleet.run(*words).code == 0
    assert fleet.run("reconcile").code == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "Error: Invalid value for '--accepted-settings': there is no file '{}'\n"),
        (
            "a: 1\n",
            "{}: document 1 is no Fleet\n  hint: it begins with apiVersion: argosy.dev/v1alpha1 and kind: Fleet, or is",
        ),
        (
            "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec: {validaton: Off}\n",
            "{}:3: spec.validaton: unknown field\n  hint: did you mean 'validation'?\n",
        ),
        ("", "{}: holds no Fleet\n"),
    ],
    ids=["no file", "no Fleet", "a typing error", "nothing"],
)
def test_a_file_that_cannot_be_used_is_refused(fleet: Fleet, tmp_path: Path, content: str | None, said: str) -> None:
    file = tmp_path / "accepted.yaml"
    if content is not None:
        file.write_text(content)
    fleet.push({"b.yaml": a_config_map("b")})
    ended = fleet.run("reconcile", "--accepted-settings", str(file))
    assert (ended.code, said.format(file) in ended.err) == (2 if content is None else 3, True)


def test_a_member_that_joins_as_others_did_needs_nobody(fleet: Fleet, tmp_path: Path) -> None:
    """The first way to any member does, and so does another file or another's context."""
    nowhere = tmp_path / "kubeconfig"
    nowhere.write_text("apiVersion: v1\nkind: Config\n")
    fleet.push({"argosy.yaml": settings(clusters=[{"name": "one", "kubeconfig": str(nowhere)}])})
    assert fleet.run("reconcile").code == 6
    assert fleet.run("reconcile", "--accept-settings").code == 5
    joined = {"name": "two", "kubeconfig": str(nowhere)}
    way = {"name": "one", "kubeconfig": str(nowhere)}
    fleet.push({"argosy.yaml": settings(clusters=[way, joined]), "two.yaml": a_cluster("two")})
    assert fleet.run("reconcile").code == 5
    fleet.push({"argosy.yaml": settings(clusters=[way, {**joined, "context": "one"}])})
    assert fleet.run("reconcile").code == 6


def test_branches_move_with_their_past(fleet: Fleet) -> None:
    """Fresh clones find the new place by the old one, and none takes the new one for a first run."""
    first = fleet.tip()
    other = Repository.create(fleet.folder / "other", bare=True)
    place = settings(rendered={"remote": str(other.path), "branch": "trees"})
    fleet.push({"argosy.yaml": place})
    assert fleet.run("reconcile").code == 6
    assert other.git("for-each-ref") == ""
    assert fleet.run("reconcile", "--accept-settings").code == 0
    moved = other.git("rev-parse", "trees")
    assert other.git("rev-list", "--max-parents=0", "trees") == first
    assert fleet.tip() == moved
    fleet.push({"b.yaml": a_config_map("b")})
    runner = fleet.clone("runner")
    assert fleet.run("reconcile", clone=runner).code == 0
    assert (other.git("rev-parse", "trees^"), fleet.tip()) == (moved, moved)
    with open_repository(str(runner.path)) as opened:
        found = settings_in_force(opened, opened.resolve("HEAD"), rendered_tip_or_none)
    assert found is not None
    assert found.place == BranchPlace(str(other.path), "trees", "argosy/status")
    fleet.push({"argosy.yaml": settings()})
    assert fleet.run("reconcile", clone=fleet.clone("back")).code == 6
    assert fleet.run("reconcile", "--accept-settings", clone=fleet.clone("again")).code == 0
    assert fleet.run("reconcile", clone=fleet.clone("last")).code == 0


def test_a_fleet_is_renamed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """validate and diff say so; a pass names branches and parents, and how its objects are taken along."""
    made, member = Fleet(tmp_path, capsys), FakeCluster(name="one")
    with serving_members([member], tmp_path / "members") as served:
        made.push(
            {
                "argosy.yaml": settings(kubeconfigs=str(served.kubeconfigs)),
                "cluster.yaml": a_cluster("one"),
                "policy.yaml": a_policy(selectors=MAPS, placement=on_clusters("one")),
                "a.yaml": a_config_map("a"),
            }
        )
        assert made.run("reconcile", "--bootstrap").code == 0
        parent = f"argosy-default-{made.tip()[:12]}"
        base = made.author.git("rev-parse", "HEAD")
        made.push({"argosy.yaml": settings("shop", kubeconfigs=str(served.kubeconfigs))})
        how = (
            "a fleet that is renamed moves from argosy/... to argosy-shop/..., and members know its objects by the"
            f" ConfigMap argosy-system/{parent}: argosy reconcile --accept-settings --take-from applyset"
            f" --migrate-from {parent}"
        )
        checked = made.run("validate", "--rev", "HEAD")
        assert (checked.code, "metadata.name: is another setting: default -> shop\n" in checked.out) == (0, True)
        assert "moves from argosy/... to argosy-shop/..." in checked.out
        compared = made.run("diff", base, "HEAD")
        assert (compared.code, "SETTINGS\n  metadata.name: default -> shop - waits" in compared.out) == (1, True)
        refused = made.run("reconcile")
        assert refused.code == 6
        assert refused.err.endswith(WAITS.format("metadata.name: default -> shop", f"; {how}"))
        done = made.run("reconcile", *how.rpartition("argosy reconcile ")[2].split())
        assert done.code == 0, done.err
        live = member.objects["configmaps.", "default", "a"]
        managers = {entry["manager"] for entry in live["metadata"]["managedFields"]}
        assert managers == {parent.replace("default", "shop")}
        assert made.run("reconcile").code == 0
        made.push({"a.yaml": None})
        assert made.run("reconcile", "--allow-removal", "one=9").code == 0
        assert ("configmaps.", "default", "a") not in member.objects


def test_fleets_of_one_repository_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second one's first pass is one: what the first rendered, before there was a second, is none of its past."""
    made = Repository.create(tmp_path / "fleet")

    def files(folder: str, name: str) -> dict[str, Any]:
        return {
            f"{folder}/argosy.yaml": settings(name),
            f"{folder}/cluster.yaml": a_cluster(f"{folder}-one"),
            f"{folder}/policy.yaml": a_policy(selectors=MAPS, placement=on_clusters(f"{folder}-one")),
            f"{folder}/a.yaml": a_config_map(folder),
        }

    def run(folder: str, *words: str) -> Ended:
        return argosy(Repository(made.path / folder), capsys, *words)

    made.commit(files("one", "default"))
    assert run("one", "reconcile", "--bootstrap").code == 0
    made.commit(files("two", "shop"))
    assert run("two", "reconcile").code == 3
    assert run("two", "reconcile", "--bootstrap").code == 0
    assert "clusters/two-one/default/ConfigMap/two.yaml" in made.files("argosy-shop/rendered", "clusters")
    for folder, name in (("one", "default"), ("two", "shop")):
        made.commit({f"{folder}/b.yaml": a_config_map("b")})
        assert run(folder, "reconcile").code == 0
        made.commit({f"{folder}/argosy.yaml": settings(name, validation="Off")})
        assert run(folder, "reconcile").code == 6
        assert run(folder, "reconcile", "--accept-settings").code == 0
        # Each stands at its own place in the record of this clone, and without it as well.
        (made.path / ".git" / "argosy" / "place.json").unlink()
        made.commit({f"{folder}/c.yaml": a_config_map("c")})
        assert run(folder, "reconcile").code == 0
