"""A change of argosy.yaml itself: what it would reach outside, and what it would loosen, waits for a person.

The place of a fleet's branches is no word of the change either: a rendered branch that its author has forged, at a
place that it names, says nothing about what was accepted.
"""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from tests.fakes import FakeCluster
from tests.served import serving_members

HEAD = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet"}
ARE_TO_CHANGE = "settings that reach outside of the repository or weaken a guard are to change"
REFUSED = "settings that reach outside of the repository or weaken a guard are to change; nothing was committed\n"
HINT = "  hint: if they are meant: argosy reconcile --accept-settings, or say them in the file of --accepted-settings"
HOOK = "ResourceInterpreterWebhookConfiguration replicas: a.example.com"
MAP = ("configmaps.", "default", "a")
BRANCHES = ("argosy/rendered", "argosy/status")


def settings(name: str = "default", **spec: Any) -> dict[str, Any]:
    return {**HEAD, "metadata": {"name": name}, "spec": spec}


def webhooks(url: str) -> dict[str, Any]:
    client = {"url": url}
    rule = {"operations": ["InterpretReplica"], "apiGroups": ["apps"], "apiVersions": ["*"], "kinds": ["Deployment"]}
    webhook = {"name": "a.example.com", "rules": [rule], "clientConfig": client}
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterWebhookConfiguration",
        "metadata": {"name": "replicas"},
        "webhooks": [{**webhook, "interpreterContextVersions": ["v1alpha1"]}],
    }


class Fleet:
    """A fleet that is published at its remote, and a clone of it in which passes run."""

    def __init__(self, folder: Path, out: Any) -> None:
        self.folder, self._out = folder, out
        self.origin = Repository.create(folder / "origin", bare=True)
        self.evil = Repository.create(folder / "evil", bare=True)
        self.author = self.clone("author")
        self.runner = self.author

    def clone(self, name: str) -> Repository:
        made = Repository.create(self.folder / name)
        made.git("remote", "add", "origin", str(self.origin.path))
        made.git("fetch", "-q", "origin")
        if made.git("branch", "-r"):
            made.git("checkout", "-q", "-B", "main", "origin/main")
        return made

    def push(self, files: dict[str, Any], message: str = "change") -> str:
        commit = self.author.commit(files, message)
        self.author.git("push", "-q", "origin", "HEAD:main")
        return commit

    def run(self, *words: str) -> Ended:
        return argosy(self.runner, self._out, *words)

    def tips(self) -> list[str]:
        return [self.origin.git("rev-parse", "-q", "--verify", branch, check=False) for branch in BRANCHES]


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fleet:
    made = Fleet(tmp_path, capsys)
    made.push(
        {
            "argosy.yaml": settings(clusters=[{"name": "one", "context": "none"}], secrets="Refuse"),
            "clusters/one.yaml": a_cluster("one"),
            "policy.yaml": a_policy(
                selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("one")
            ),
            "a.yaml": a_config_map("a"),
            "hooks.yaml": webhooks("https://good.example.com/"),
        }
    )
    nowhere = tmp_path / "kubeconfig"
    nowhere.write_text("apiVersion: v1\nkind: Config\n")
    assert made.run("reconcile", "--bootstrap", "--kubeconfig", str(nowhere)).code in {0, 5}
    return made


class Attack(NamedTuple):
    why: str
    files: dict[str, Any]
    lines: list[str]
    hint: str = ""


BEFORE: dict[str, Any] = {"clusters": [{"name": "one", "context": "none"}], "secrets": "Refuse"}
ATTACKS = [
    Attack(
        "another remote",
        {"argosy.yaml": settings(**BEFORE, rendered={"remote": "EVIL"})},
        ["argosy.yaml: spec.rendered.remote: none -> EVIL"],
    ),
    Attack(
        "a branch that anybody may push",
        {"argosy.yaml": settings(**BEFORE, rendered={"branch": "feature"})},
        ["argosy.yaml: spec.rendered.branch: none -> feature"],
    ),
    Attack(
        "another context, another file",
        {"argosy.yaml": settings(**{**BEFORE, "clusters": [{"name": "one", "context": "admin", "kubeconfig": "/k"}]})},
        [
            "argosy.yaml: spec.clusters[one].context: none -> admin",
            "argosy.yaml: spec.clusters[one].kubeconfig: none -> /k",
        ],
    ),
    Attack(
        "a folder of kubeconfigs",
        {"argosy.yaml": settings(**BEFORE, kubeconfigs="creds")},
        ["argosy.yaml: spec.kubeconfigs: none -> creds"],
    ),
    Attack(
        "guards let go, Secrets let in",
        {"argosy.yaml": settings(clusters=BEFORE["clusters"], validation="Off", removalGuard={"percent": 100})},
        [
            "argosy.yaml: spec.secrets: Refuse -> Allow",
            "argosy.yaml: spec.validation: Strict -> Off",
            "argosy.yaml: spec.removalGuard.percent: 20 -> 100",
        ],
    ),
    Attack(
        "the keys of another Secret",
        {"argosy.yaml": settings(**BEFORE, decryption={"secret": {"name": "theirs"}})},
        [
            "argosy.yaml: spec.decryption.secret.namespace: none -> argosy-system",
            "argosy.yaml: spec.decryption.secret.name: none -> theirs",
        ],
    ),
    Attack(
        "a password in an address, which is not repeated",
        {"argosy.yaml": settings(**BEFORE, rendered={"remote": "https://me:hunter2@evil.example.com/x"})},
        ["argosy.yaml: spec.rendered.remote: none -> https://***@evil.example.com/x"],
    ),
    Attack(
        "an interpreter that is asked elsewhere",
        {"hooks.yaml": webhooks("https://evil.example.com/")},
        [
            f"{HOOK}: https://good.example.com/ -> https://evil.example.com/",
        ],
    ),
    Attack(
        "argosy.yaml moved, so that paths begin elsewhere",
        {"argosy.yaml": None, "apps/argosy.yaml": settings(**BEFORE)},
        ["apps/argosy.yaml: argosy.yaml: argosy.yaml -> apps/argosy.yaml"],
    ),
]


@pytest.mark.parametrize("is_fresh", [False, True], ids=["where passes run", "in a fresh clone"])
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.why)
def test_a_change_of_settings_waits(attack: Attack, fleet: Fleet, *, is_fresh: bool) -> None:
    def known(value: Any) -> Any:
        return copy.deepcopy(value) if not isinstance(value, dict) else {k: known(v) for k, v in value.items()}

    files = known(attack.files)
    if files.get("argosy.yaml") and files["argosy.yaml"]["spec"].get("rendered", {}).get("remote") == "EVIL":
        files["argosy.yaml"]["spec"]["rendered"]["remote"] = str(fleet.evil.path)
    fleet.push(files)
    before = fleet.tips()
    if is_fresh:
        fleet.runner = fleet.clone("runner")
    ended = fleet.run("reconcile", "--kubeconfig", str(fleet.folder / "kubeconfig"))
    lines = [line.replace("EVIL", str(fleet.evil.path)) for line in attack.lines]
    assert ended.code == 6
    assert REFUSED + "".join(f"  {line}\n" for line in lines) + HINT in ended.err
    assert fleet.tips()[0] == before[0]
    assert fleet.evil.git("for-each-ref") == ""
    assert "hunter2" not in ended.err + ended.out
    assert "hunter2" not in fleet.origin.git("log", "-p", "argosy/status", check=False)
    if "hooks.yaml" not in files:
        assert fleet.run("render", "--commit").code in {3, 4, 6}


@pytest.mark.parametrize("is_fresh", [False, True], ids=["where passes run", "in a fresh clone"])
@pytest.mark.parametrize("place", ["another remote", "a branch of its own", "another name"])
def test_a_forged_rendered_branch_accepts_nothing(fleet: Fleet, place: str, *, is_fresh: bool) -> None:
    """Its trailers name the hostile source as rendered, at the place that this source names."""
    spec: dict[str, Any] = {**BEFORE, "secrets": "Allow"}
    branch, remote, name = "argosy/rendered", "origin", "default"
    if place == "another remote":
        spec["rendered"], remote = {"remote": str(fleet.evil.path)}, str(fleet.evil.path)
    elif place == "a branch of its own":
        spec["rendered"], branch = {"branch": "feature"}, "feature"
    else:
        name, branch = "mine", "argosy-mine/rendered"
    source = fleet.push({"argosy.yaml": settings(name, **spec)})
    tree = fleet.origin.git("rev-parse", "argosy/rendered^{tree}")
    fleet.author.git("fetch", "-q", "origin", "argosy/rendered")
    forged = fleet.author.git(
        "commit-tree", tree, "-m", "Render", "-m", f"Argosy-Source: {source}\nArgosy-Version: 0.1.0"
    )
    fleet.author.git("push", "-q", remote, f"{forged}:refs/heads/{branch}")
    if is_fresh:
        fleet.runner = fleet.clone("runner")
    before = fleet.tips()
    ended = fleet.run("reconcile", "--kubeconfig", str(fleet.folder / "kubeconfig"))
    assert (ended.code, "spec.secrets: Refuse -> Allow" in ended.err) == (6, True)
    assert fleet.tips()[0] == before[0]


@pytest.fixture
def reached(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[tuple[Fleet, list[Any], list[Any]]]:
    """A fleet whose member is reached by a folder of kubeconfigs, and another such folder that nobody accepted."""
    made, good, evil = Fleet(tmp_path, capsys), FakeCluster(name="one"), FakeCluster(name="one")
    with (
        serving_members([good], tmp_path / "good") as first,
        serving_members([evil], tmp_path / "bad") as second,
    ):
        made.push(
            {
                "argosy.yaml": settings(kubeconfigs=str(first.kubeconfigs)),
                "clusters/one.yaml": a_cluster("one"),
                "policy.yaml": a_policy(
                    selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("one")
                ),
                "a.yaml": a_config_map("a", color="red"),
            }
        )
        assert made.run("reconcile", "--bootstrap").code == 0
        made.push(
            {"argosy.yaml": settings(kubeconfigs=str(second.kubeconfigs)), "a.yaml": a_config_map("a", color="x")}
        )
        first.written.clear()
        good.objects[MAP]["data"]["color"] = "drifted"
        for entry in good.objects[MAP]["metadata"]["managedFields"]:
            entry["fieldsV1"] = {"f:metadata": entry["fieldsV1"].get("f:metadata", {})}
        yield made, [good, first], [evil, second]


def test_the_last_good_commit_stays_enforced_where_it_was(reached: tuple[Fleet, list[Any], list[Any]]) -> None:
    """While the change waits, the members of before are healed, and those that it names are not spoken to."""
    fleet, (good, _), (evil, bad) = reached
    ended = fleet.run("reconcile")
    assert ended.code == 6
    assert good.objects[MAP]["data"]["color"] == "red"
    assert (MAP in evil.objects, bad.written) == (False, [])
    status = fleet.run("status")
    assert (status.code, "is refused since" in status.out + status.err) == (1, True)
    assert fleet.run("apply").code == 0
    assert (MAP in evil.objects, bad.written) == (False, [])
    accepted = fleet.run("reconcile", "--accept-settings")
    assert accepted.code == 0, accepted.err
    assert evil.objects[MAP]["data"]["color"] == "x"


def test_the_status_is_read_where_it_is_written(fleet: Fleet) -> None:
    """A place that nobody accepted has no status, or one that somebody made up."""
    before = fleet.run("status").code
    fleet.push({"argosy.yaml": settings(**BEFORE, rendered={"branch": "feature"})})
    assert fleet.run("reconcile", "--kubeconfig", str(fleet.folder / "kubeconfig")).code == 6
    ended = fleet.run("status")
    assert (ended.code in {before, 1}, "argosy/rendered " in ended.out) == (True, True)


BROKEN = {"b.yaml": "kind: [\n", "p.yaml": {**a_policy(), "spec": {"resourceSelectors": 5}}}


@pytest.mark.parametrize("attack", [ATTACKS[0], ATTACKS[4], ATTACKS[7]], ids=lambda attack: attack.why)
def test_a_broken_file_hides_no_change_of_settings(attack: Attack, fleet: Fleet) -> None:
    """A pass, a comparison and a check name both; what is wrong in files is the first that is mended."""
    fleet.push({**copy.deepcopy(attack.files), **BROKEN})
    for words in (("diff", "HEAD~1", "HEAD"), ("diff", "-o", "markdown", "--check", "HEAD~1", "HEAD")):
        ended = fleet.run(*words)
        assert (ended.code, "p.yaml" in ended.err) == (3, True)
        assert f"{ARE_TO_CHANGE}, too\n" + "".join(f"  {line}\n" for line in attack.lines) in ended.err, words
    checked = fleet.run("validate", "--rev", "HEAD", "--base", "HEAD~1")
    assert checked.code == 3
    if "hooks.yaml" not in attack.files:
        assert all(line.split(": ")[1] in checked.out for line in attack.lines)
    ended = fleet.run("reconcile", "--kubeconfig", str(fleet.folder / "kubeconfig"))
    assert ended.code in {3, 6}
    assert all(f"  {line}\n" in ended.err for line in attack.lines)


def test_nothing_is_said_of_settings_where_a_broken_file_is_all(fleet: Fleet) -> None:
    fleet.push(BROKEN)
    ended = fleet.run("diff", "HEAD~1", "HEAD")
    assert (ended.code, "settings" in ended.err) == (3, False)
