"""``argosy history``, ``blame`` and ``bisect``: what rendered commits changed and why, and what comes from which."""

import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct, field

from reconciler.cli import run
from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.diff.objects import leaves_of_manifest
from reconciler.history.blame import blame_of_object
from reconciler.history.subjects import Subject, history_of_subject
from reconciler.repository import open_repository
from render.documents import parse_documents
from render.model import ObjectRef

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, as_bytes, on_clusters, weighted
from .paged import browser_of
from .test_survey_pages import command_of

WEB = ObjectRef("apps", "Deployment", "default", "web")
SELECTOR = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
FLEET = {
    **{f"clusters/{name}.yaml": a_cluster(name) for name in ("oslo", "paris", "rome")},
    "web.yaml": a_deployment("web", image="web:1", replicas=4),
    "policy.yaml": a_policy(
        "web",
        selectors=[SELECTOR],
        placement=on_clusters("oslo", "paris", replicaScheduling=weighted(oslo=1, paris=1)),
    ),
}


def an_override(image: str, *clusters: str) -> dict[str, Any]:
    """An OverridePolicy that gives the image another registry in some clusters."""
    overriders = {"imageOverrider": [{"component": "Registry", "operator": "replace", "value": image}]}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "registry", "namespace": "default"},
        "spec": {
            "resourceSelectors": [SELECTOR],
            "overrideRules": [{"targetCluster": {"clusterNames": list(clusters)}, "overriders": overriders}],
        },
    }


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "fleet")


def rendered(repository: Repository, files: dict[str, Any], message: str) -> str:
    """Commit files and render them; return the newest rendered commit."""
    allowed = "".join(f"\nArgosy-Allow-Removal: {name} 9" for name in ("oslo", "bergen", "paris", "rome"))
    repository.commit(files, f"{message}\n{allowed}")
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as errors:
        code = run(["-C", str(repository.path), "-q", "render", "--commit", "--bootstrap", "--accept-rewind"])
    assert code in {0, 1}, errors.getvalue()  # 1: an object has no place

    return repository.git("rev-parse", "argosy/rendered")


class Edit(Struct, frozen=True):
    """An edit of the fleet, and what the history of the Deployment tells of it: reasons, gained, lost, replicas."""

    files: dict[str, Any]
    reasons: list[tuple[str, str]]
    gained: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    replicas: dict[str, tuple[int, int]] = field(default_factory=dict)
    fields: list[str] = field(default_factory=list)


NOTHING_CLAIMS_IT = "the source has no such object, or nothing claims it"
EDITS = {
    "scaled": Edit(
        {"web.yaml": a_deployment("web", image="web:1", replicas=6)},
        [("Scaled", "scaled 4 -> 6")],
        replicas={"oslo": (2, 3), "paris": (2, 3)},
        fields=["spec.replicas"],
    ),
    "image": Edit(
        {"web.yaml": a_deployment("web", image="web:2", replicas=4)},
        [("SourceEdited", "the source was edited")],
        fields=["spec.template.spec.containers[web].image"],
    ),
    "placement": Edit(
        {
            "policy.yaml": a_policy(
                "web",
                selectors=[SELECTOR],
                placement=on_clusters("oslo", "rome", replicaScheduling=weighted(oslo=1, rome=3)),
            )
        },
        [("PlacementEdited", "the placement of PropagationPolicy default/web was edited")],
        gained=["rome"],
        lost=["paris"],
        replicas={"oslo": (2, 1), "paris": (2, 0), "rome": (0, 3)},
        fields=["spec.replicas"],
    ),
    "another policy": Edit(
        {
            "other.yaml": a_policy(
                "other", selectors=[SELECTOR], priority=3, preemption="Always", placement=on_clusters("rome")
            )
        },
        [
            (
                "PolicyChanged",
                "claimed by PropagationPolicy default/other, and by PropagationPolicy default/web before",
            )
        ],
        gained=["rome"],
        lost=["oslo", "paris"],
        replicas={"oslo": (2, 0), "paris": (2, 0), "rome": (0, 4)},
    ),
    "overrides": Edit(
        {"override.yaml": an_override("registry.example.com", "paris")},
        [("OverridesChanged", "OverridePolicy default/registry overrides otherwise than before")],
        fields=["spec.template.spec.containers[web].image"],
    ),
    "cluster left": Edit(
        {"clusters/paris.yaml": None},
        [("ClusterLeft", "paris leaves the fleet")],
        lost=["paris"],
        replicas={"oslo": (2, 4), "paris": (2, 0)},
        fields=["spec.replicas"],
    ),
    "renamed": Edit(
        {
            "clusters/paris.yaml": None,
            "clusters/lyon.yaml": a_cluster("lyon")
            | {"metadata": {"name": "lyon", "annotations": {"argosy.dev/renamed-from": "paris"}}},
            "policy.yaml": a_policy(
                "web",
                selectors=[SELECTOR],
                placement=on_clusters("oslo", "lyon", replicaScheduling=weighted(oslo=1, lyon=1)),
            ),
            "web.yaml": a_deployment("web", image="web:1", replicas=6),
        },
        [("ClusterRenamed", "paris is called lyon now"), ("Scaled", "scaled 4 -> 6")],
        replicas={"oslo": (2, 3), "lyon": (2, 3)},
        fields=["spec.replicas"],
    ),
    "gone": Edit(
        {"web.yaml": None},
        [
            (
                "Removed",
                f"no longer rendered: {NOTHING_CLAIMS_IT}; PropagationPolicy default/web claimed it",
            )
        ],
        lost=["oslo", "paris"],
        replicas={"oslo": (2, 0), "paris": (2, 0)},
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_history_tells_what_an_edit_changed_and_why(
    name: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    edit = EDITS[name]
    rendered(repository, FLEET, "Begin")
    commit = rendered(repository, edit.files, "Edit")

    told = json.loads(argosy(repository, capsys, "history", "deploy/web", "-o", "json").out)

    assert len(told["events"]) == 2
    event = told["events"][0]
    assert (event["commit"], event["subject"], event["author"]) == (commit, "Edit", "Ada <ada@example.com>")
    assert [(each["reason"], each["message"]) for each in event["reasons"]] == edit.reasons
    assert (event["gained"], event["lost"]) == (edit.gained, edit.lost)
    assert {each["cluster"]: (each["before"], each["after"]) for each in event["replicas"]} == edit.replicas
    assert sorted({field["path"] for each in event["changes"] for field in each["fields"]}) == edit.fields
    assert told["events"][1]["reasons"][0]["reason"] == "FirstDelivered"


class Happening(NamedTuple):
    """An edit of the source and what becomes of it.

    It is rendered at once, or together with the next one (``is_squashed``); the source is rewound before it by so many
    commits; and an earlier version of the engine made the commit before it. ``is_renaming``: oslo is called bergen from
    then on, in every file.
    """

    files: dict[str, Any]
    is_squashed: bool = False
    rewound: int = 0
    is_upgraded: bool = False
    is_renaming: bool = False


OLD, NEW = "oslo", "bergen"


@st.composite
def histories(draw: st.DrawFn) -> list[Happening]:
    """Edits one after the other, each of which is a whole fleet's files that change."""
    edits: list[Happening] = []
    renaming = draw(st.sampled_from([None, None, 1, 2, 3]))
    for number in range(draw(st.integers(2, 6))):
        edit: dict[str, Any] = {}
        if draw(st.booleans()):
            image, replicas = f"web:{draw(st.integers(1, 3))}", draw(st.integers(1, 5))
            edit["web.yaml"] = draw(
                st.sampled_from([a_deployment("web", image=image, replicas=replicas), "# nothing\n"])
            )
        if draw(st.booleans()):
            weights = draw(st.dictionaries(st.sampled_from(["oslo", "paris", "rome"]), st.integers(1, 3), min_size=1))
            placement = on_clusters(*weights, replicaScheduling=weighted(**weights))
            edit["policy.yaml"] = a_policy("web", selectors=[SELECTOR], placement=placement)
        if draw(st.booleans()):
            clusters = draw(st.lists(st.sampled_from(["oslo", "paris"]), min_size=1, unique=True))
            edit["override.yaml"] = an_override(f"r{draw(st.integers(1, 2))}.example.com", *clusters)
        if draw(st.integers(0, 3)) == 0:
            edit["clusters/rome.yaml"] = draw(st.sampled_from([a_cluster("rome"), "# left\n"]))
        squashed, upgraded = draw(st.integers(0, 3)) == 0, draw(st.integers(0, 5)) == 0
        # What was rewound behind a new name would join as another cluster, which is a history of its own.
        is_renamed = renaming is not None and number >= renaming
        rewound = 0 if is_renamed else draw(st.sampled_from([0, 0, 0, 1, 2]))
        edits.append(Happening(edit, squashed, rewound, upgraded, number == renaming))
    return edits


def carry_out(repository: Repository, happening: Happening, number: int) -> None:
    """Let something happen to the fleet, and render it unless that is left to the next."""
    if happening.rewound:
        depth = int(repository.git("rev-list", "--count", "HEAD"))
        repository.git("reset", "--hard", "-q", f"HEAD~{min(happening.rewound, depth - 1)}")
    if happening.is_upgraded:
        tip = repository.git("rev-parse", "argosy/rendered")
        words = repository.git("log", "-1", "--format=%B", tip)
        parent = [f"-p{each}" for each in repository.git("log", "-1", "--format=%P", tip).split()]
        earlier = re.sub("Argosy-Version: .*", "Argosy-Version: 0.0.1", words)
        made = repository.git("commit-tree", f"{tip}^{{tree}}", *parent, "-m", earlier)
        repository.git("update-ref", "refs/heads/argosy/rendered", made)
    files = {**happening.files, "note.txt": f"{number}\n"}
    if happening.is_renaming:
        files |= {f"clusters/{OLD}.yaml": None, f"clusters/{NEW}.yaml": a_renamed_cluster()}
    if happening.is_renaming or repository.path.joinpath(f"clusters/{NEW}.yaml").exists():
        files = {name: with_new_names(repository, name, files.get(name)) for name in {*files, *NAMING}}
    if happening.is_squashed:
        repository.commit(files, f"Edit {number}")
    else:
        rendered(repository, files, f"Edit {number}")


NAMING = ("policy.yaml", "override.yaml")
"""The files that name clusters."""


def a_renamed_cluster() -> dict[str, Any]:
    cluster = a_cluster(NEW)
    cluster["metadata"]["annotations"] = {"argosy.dev/renamed-from": OLD}
    return cluster


def with_new_names(repository: Repository, name: str, content: Any) -> Any:
    """Return a file that is to be written, or that stands there, by the new name of the cluster."""
    if name not in NAMING:
        return content
    present = repository.path / name
    text = as_bytes(content) if content is not None else present.read_bytes() if present.exists() else b"# nothing\n"
    return text.replace(OLD.encode(), NEW.encode())


class Shown(NamedTuple):
    """An object at a rendered commit, read without any help: its replicas by target, its policy and its manifests."""

    replicas: dict[str, int]
    policy: str
    manifests: dict[str, Any]


def shown_at(repository: Repository, commit: str) -> Shown:
    contents = repository.contents(commit)
    binding = next(iter(_values(contents.get("bindings/default/Deployment.apps/web.yaml", ""))), None)
    spec = binding["spec"] if binding else {}
    annotations = binding["metadata"].get("annotations", {}) if binding else {}
    manifests = {
        path.split("/")[1]: next(iter(_values(text)))
        for path, text in contents.items()
        if path.startswith("clusters/") and path.endswith("/default/Deployment.apps/web.yaml")
    }
    replicas = {each["name"]: each.get("replicas", 0) for each in spec.get("clusters", ())}
    return Shown(replicas, annotations.get("propagationpolicy.karmada.io/name", ""), manifests)


def _values(text: str) -> Iterator[Any]:
    return (document.value for document in parse_documents(text.encode()))


def by_new_name(shown: Shown) -> Shown:
    names = {OLD: NEW}
    return Shown(
        {names.get(name, name): count for name, count in shown.replicas.items()},
        shown.policy,
        {names.get(name, name): each for name, each in shown.manifests.items()},
    )


def message_of(repository: Repository, commit: str) -> str:
    return repository.git("log", "-1", "--format=%B", commit)


def _is_changed(old: Shown, new: Shown) -> bool:
    both = old.manifests.keys() & new.manifests.keys()
    others = any(old.manifests[name] != new.manifests[name] for name in both)
    return old[:2] != new[:2] or others


@settings(max_examples=max(25, settings().max_examples // 5))
@given(edits=histories())
def test_history_and_blame_agree_with_a_walk_over_every_commit(
    edits: list[Happening], tmp_path_factory: pytest.TempPathFactory
) -> None:
    repository = Repository.create(tmp_path_factory.mktemp("walk") / "fleet")
    rendered(repository, FLEET, "Begin")
    for number, happening in enumerate(edits):
        carry_out(repository, happening, number)
    commits = repository.git("rev-list", "--first-parent", "argosy/rendered").split()
    shown = [*(shown_at(repository, commit) for commit in commits), Shown({}, "", {})]
    renaming = next((n for n, commit in enumerate(commits) if " is called " in message_of(repository, commit)), -1)
    # Up to the commit that gives the new name, what was before it is told by that.
    by_new_names = [by_new_name(each) if 0 <= renaming < n else each for n, each in enumerate(shown)]
    pairs = list(zip(commits, by_new_names, by_new_names[1:], strict=False))
    at_the_time = [
        (commit, shown[n], by_new_names[n + 1] if n == renaming else shown[n + 1]) for n, commit in enumerate(commits)
    ]

    with open_repository(str(repository.path)) as opened:
        history = history_of_subject(opened, commits[0], Subject(ref=WEB), 0)
        blame = (
            blame_of_object(opened, commits[0], WEB, Log(stream=io.StringIO(), level=ERRORS_ONLY))
            if shown[0].replicas
            else None
        )

    is_there = renaming >= 0 and (NEW in shown[renaming].replicas or NEW in shown[renaming].manifests)
    assert [event.step.id for event in history.events] == [
        commit
        for n, (commit, new, old) in enumerate(at_the_time)
        if _is_changed(old, new) or (n == renaming and is_there)
    ]
    told = {event.step.id: event for event in history.events}
    for commit, new, old in at_the_time:
        if commit in told:
            event = told[commit]
            assert set(event.gained) == new.replicas.keys() - old.replicas.keys()
            assert set(event.lost) == old.replicas.keys() - new.replicas.keys()
            assert event.reasons
    for place in blame.places if blame else ():
        name = place.cluster
        assert place.replicas == shown[0].replicas[name]
        assert place.origin.step is not None
        assert place.origin.step.id == next(
            commit for commit, new, old in pairs if new.replicas.get(name) != old.replicas.get(name)
        )
    for group in blame.fields if blame else ():
        for name in group.clusters:
            for path in group.paths:
                assert group.origin.step is not None
                assert group.origin.step.id == _commit_that_made(path, name, pairs), (path, name)


def test_what_left_with_a_cluster_is_not_lost_again_when_that_comes_back(repository: Repository, capsys: Any) -> None:
    names = ("oslo", "paris", "rome")
    placement = on_clusters(*names, replicaScheduling=weighted(**dict.fromkeys(names, 1)))
    rendered(repository, {**FLEET, "policy.yaml": a_policy("web", selectors=[SELECTOR], placement=placement)}, "Begin")
    rendered(repository, {"clusters/rome.yaml": None}, "Leave")
    rendered(repository, {"clusters/rome.yaml": a_cluster("rome")}, "Join")

    told = json.loads(argosy(repository, capsys, "history", "deploy/web", "-o", "json").out)["events"]

    assert [[each["reason"] for each in event["reasons"]] for event in told] == [["ClusterLeft"], ["FirstDelivered"]]
    assert repository.contents("argosy/rendered").keys().isdisjoint({"clusters/rome/default/Deployment.apps/web.yaml"})


def _commit_that_made(path: str, cluster: str, pairs: list[tuple[str, Shown, Shown]]) -> str:
    """The newest commit that changed a part of a manifest, or brought it to a cluster that had not been given it."""
    for commit, new, old in pairs:
        if cluster not in old.manifests or cluster not in old.replicas:
            return commit
        if _part(new.manifests[cluster], path) != _part(old.manifests[cluster], path):
            return commit
    raise AssertionError(path)


def _part(manifest: Any, path: str) -> dict[str, Any]:
    leaves = leaves_of_manifest(manifest)
    return {
        each.path: each.value for each in leaves if each.path == path or each.path.startswith((f"{path}.", f"{path}["))
    }


def test_a_shallow_clone_says_that_more_was_before(repository: Repository, tmp_path: Path, capsys: Any) -> None:
    rendered(repository, FLEET, "Begin")
    rendered(repository, EDITS["scaled"].files, "Scale")
    clone = Repository.create(tmp_path / "clone")
    clone.git("remote", "add", "origin", f"file://{repository.path}")
    clone.git("fetch", "-q", "--depth", "1", "origin", "main:work", "argosy/rendered:argosy/rendered")
    clone.git("checkout", "-q", "work")

    ended = argosy(clone, capsys, "history", "deploy/web")

    assert ended.code == 0
    assert ended.out.partition("Scale\n")[2] == (
        "  the history that is here begins with it\n"
        "  replicas: oslo, paris 3\n"
        "\n"
        "this clone has no earlier commits: git fetch --unshallow brings them\n"
    )
    told = json.loads(argosy(clone, capsys, "blame", "deploy/web", "-o", "json").out)
    assert [each["origin"] for each in told["clusters"]] == [None, None]
    assert {str(each["origin"]) for each in told["fields"]} == {"None"}


class Question(Struct, frozen=True):
    """Options of ``argosy bisect``, the exit code, and the subject of the commit since which it is so ("": ever)."""

    options: list[str]
    code: int
    since: str


QUESTIONS = (
    Question(["--replicas", "oslo=3"], 0, "Scale"),
    Question(["--replicas", "oslo=2"], 1, "Scale"),
    Question(["--on", "rome"], 0, "Place"),
    Question(["--on", "paris"], 1, "Place"),
    Question(["--on", "oslo"], 0, "Begin"),
    Question(["--unplaced"], 1, ""),
    Question(["--value", "spec.template.spec.containers[web].image=web:2", "--cluster", "oslo"], 0, "Release"),
    Question(["--value", "spec.replicas=3", "--cluster", "oslo"], 0, "Scale"),
    Question(["--value", "spec.replicas='3'", "--cluster", "oslo"], 1, ""),
)


def test_bisect_finds_the_commit_since_which_something_is_so(repository: Repository, capsys: Any) -> None:
    rendered(repository, FLEET, "Begin")
    rendered(repository, {"web.yaml": a_deployment("web", image="web:2", replicas=4)}, "Release")
    weights = weighted(oslo=1, rome=1)
    policy = a_policy("web", selectors=[SELECTOR], placement=on_clusters("oslo", "rome", replicaScheduling=weights))
    rendered(repository, {"policy.yaml": policy}, "Place")
    rendered(repository, {"web.yaml": a_deployment("web", image="web:2", replicas=6)}, "Scale")
    for question in QUESTIONS:
        ended = argosy(repository, capsys, "bisect", "deploy/web", *question.options, "-o", "json")

        told = json.loads(ended.out)
        since = repository.git("log", "-1", "--format=%s", told["since"]["source"]) if told["since"] else ""
        assert (ended.code, told["holds"], since) == (question.code, not question.code, question.since), question


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "name one condition: --unplaced, --on, --replicas or --value"),
        (["--unplaced", "--on", "oslo"], "name one condition: --unplaced, --on, --replicas or --value"),
        (["--value", "spec.replicas=1"], "--value PATH=VALUE and --cluster NAME go together"),
        (["--replicas", "oslo"], "Invalid value for --replicas: is no CLUSTER=N"),
        (["--value", "spec", "--cluster", "oslo"], "Invalid value for --value: is no PATH=VALUE"),
        (["--value", "spec={", "--cluster", "oslo"], "Invalid value for --value: its VALUE cannot be read as YAML"),
    ],
)
def test_a_condition_that_is_none_is_refused(
    options: list[str], message: str, repository: Repository, capsys: Any
) -> None:
    rendered(repository, FLEET, "Begin")

    ended = argosy(repository, capsys, "bisect", "deploy/web", *options)

    assert (ended.code, message in ended.err) == (2, True), ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["history", "deploy/wep"], "the source has no deploy called 'wep'"),
        (["history", "cluster/nowhere"], "the source has no cluster called 'nowhere'"),
        (["bisect", "deploy/web", "--on", "nowhere"], "the source has no cluster called 'nowhere'"),
        (["bisect", "deploy/web", "--replicas", "nowhere=3"], "the source has no cluster called 'nowhere'"),
        (["blame", "deploy/web", "--cluster", "rome"], "Deployment.apps default/web is not in rome"),
    ],
)
def test_a_name_that_nothing_goes_by_is_refused(
    words: list[str], message: str, repository: Repository, capsys: Any
) -> None:
    rendered(repository, FLEET, "Begin")

    ended = argosy(repository, capsys, *words)

    assert (ended.code, message in ended.err) == (2, True), ended.err


def test_history_of_a_cluster_a_policy_and_a_namespace(repository: Repository, capsys: Any) -> None:
    rendered(repository, FLEET, "Begin")
    rendered(repository, EDITS["placement"].files, "Place")
    rendered(repository, EDITS["another policy"].files, "Claim")
    for subject, expected in {
        "cluster/paris": ["Place", "Begin"],
        "cluster/rome": ["Claim", "Place"],
        "policy/web": ["Claim", "Place", "Begin"],
        "policy/other": ["Claim"],
        "ns/default": ["Claim", "Place", "Begin"],
    }.items():
        told = json.loads(argosy(repository, capsys, "history", subject, "-o", "json").out)
        assert [each["subject"] for each in told["events"] if each["object"] == str(WEB)] == expected, subject


def test_an_object_that_is_no_more_still_has_its_history(repository: Repository, capsys: Any) -> None:
    rendered(repository, FLEET, "Begin")
    rendered(repository, {"web.yaml": None}, "Away")

    told = json.loads(argosy(repository, capsys, "history", "deploy/web", "-o", "json").out)

    assert [each["subject"] for each in told["events"]] == ["Away", "Begin"]


def test_blame_names_the_rule_and_the_commit_of_each_field(repository: Repository, capsys: Any) -> None:
    rendered(repository, FLEET, "Begin")
    rendered(repository, {"override.yaml": an_override("registry.example.com", "paris")}, "Registry")
    rendered(repository, {"web.yaml": a_deployment("web", image="web:1", replicas=6)}, "Scale")

    told = json.loads(argosy(repository, capsys, "blame", "deploy/web", "-o", "json").out)

    def subject_of(origin: dict[str, str]) -> str:
        return repository.git("log", "-1", "--format=%s", origin["source"])

    assert [(each["cluster"], each["replicas"], subject_of(each["origin"])) for each in told["clusters"]] == [
        ("oslo", 3, "Scale"),
        ("paris", 3, "Scale"),
    ]
    image = "spec.template.spec.containers[web].image"
    assert {
        (path, tuple(each["clusters"]), each["rule"], subject_of(each["origin"]))
        for each in told["fields"]
        for path in each["paths"]
        if path in {"spec.replicas", image}
    } == {
        ("spec.replicas", ("oslo", "paris"), "the template", "Scale"),
        (image, ("oslo",), "the template", "Begin"),
        (image, ("paris",), "OverridePolicy default/registry spec.overrideRules[0]", "Registry"),
    }


def told_by_blame(repository: Repository, capsys: Any, *words: str) -> dict[tuple[str, str], tuple[str, str]]:
    """The rule and the subject of the source commit of each path in each cluster, with "" for the cluster itself."""
    told = json.loads(argosy(repository, capsys, "blame", *words, "-o", "json").out)

    def subject_of(origin: dict[str, str] | None) -> str:
        return repository.git("log", "-1", "--format=%s", origin["source"]) if origin else "unknown"

    places = {(each["cluster"], ""): ("", subject_of(each["origin"])) for each in told["clusters"]}
    return places | {
        (cluster, path): (each["rule"], subject_of(each["origin"]))
        for each in told["fields"]
        for cluster in each["clusters"]
        for path in each["paths"]
    }


def test_a_rename_alone_is_told_and_loses_no_origin(repository: Repository, capsys: Any) -> None:
    rendered(repository, FLEET, "Begin")
    renamed = {key: value for key, value in EDITS["renamed"].files.items() if key != "web.yaml"}
    rendered(repository, renamed, "Rename")

    told = json.loads(argosy(repository, capsys, "history", "deploy/web", "-o", "json").out)["events"]

    assert [[each["reason"] for each in event["reasons"]] for event in told] == [["ClusterRenamed"], ["FirstDelivered"]]
    blamed = told_by_blame(repository, capsys, "deploy/web")
    assert {origin for _, origin in blamed.values()} == {"Begin"}


def test_what_follows_an_object_moves_with_it(repository: Repository, capsys: Any) -> None:
    web = a_deployment("web", image="web:1", replicas=4)
    web["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": "settings"}}]
    policy = {**FLEET["policy.yaml"], "spec": {**FLEET["policy.yaml"]["spec"], "propagateDeps": True}}
    files = {"web.yaml": [web, a_config_map("settings", level="info")], "policy.yaml": policy}
    rendered(repository, FLEET | files, "Begin")
    placement = on_clusters("oslo", "rome", replicaScheduling=weighted(oslo=1, rome=3))
    moved = {**policy, "spec": {**policy["spec"], "placement": placement}}
    rendered(repository, {"policy.yaml": moved}, "Place")

    told = json.loads(argosy(repository, capsys, "history", "cm/settings", "-o", "json").out)["events"]

    assert [(event["subject"], event["gained"], event["lost"]) for event in told] == [
        ("Place", ["rome"], ["paris"]),
        ("Begin", ["oslo", "paris"], []),
    ]
    assert {
        (name, origin) for (name, path), (_, origin) in told_by_blame(repository, capsys, "cm/settings").items()
    } == {
        ("oslo", "Begin"),
        ("rome", "Place"),
    }


def test_a_namespace_that_objects_bring_along_has_origins(repository: Repository, capsys: Any) -> None:
    selector = {"apiVersion": "v1", "kind": "ConfigMap"}

    def placed(*names: str) -> dict[str, Any]:
        return a_policy("all", namespace="shop", selectors=[selector], placement=on_clusters(*names))

    config = {"config.yaml": a_config_map("config", namespace="shop", level="info")}
    rendered(repository, FLEET | config | {"all.yaml": placed("oslo")}, "Begin")
    rendered(repository, {"all.yaml": placed("oslo", "rome")}, "Place")

    blamed = told_by_blame(repository, capsys, "ns/shop")

    assert {name: origin for (name, path), (_, origin) in blamed.items() if not path} == {
        "oslo": "Begin",
        "rome": "Place",
    }


def test_history_of_an_override_policy(repository: Repository, capsys: Any) -> None:
    rendered(repository, FLEET, "Begin")
    rendered(repository, {"override.yaml": an_override("registry.example.com", "paris")}, "Registry")
    rendered(repository, EDITS["scaled"].files, "Scale")

    told = json.loads(argosy(repository, capsys, "history", "op/registry", "-o", "json").out)["events"]

    assert [(event["subject"], event["reasons"][0]["reason"]) for event in told] == [("Registry", "OverridesChanged")]


def test_none_is_a_number_of_replicas(repository: Repository, capsys: Any) -> None:
    rendered(repository, FLEET, "Begin")
    rendered(repository, EDITS["placement"].files, "Place")

    ended = argosy(repository, capsys, "bisect", "deploy/web", "--replicas", "paris=0")

    assert (ended.code, ended.out.splitlines()[1].endswith(": Place")) == (0, True), ended.out


def test_a_rule_is_that_of_the_version_a_cluster_stands_at(repository: Repository, capsys: Any) -> None:
    rollout = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "RolloutPolicy",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"resourceSelectors": [SELECTOR], "waves": [{"name": "all", "rest": True, "approval": True}]},
    }
    override = {"override.yaml": an_override("registry.example.com", "paris")}
    rendered(repository, FLEET | override | {"rollout.yaml": rollout}, "Begin")
    rendered(repository, {"override.yaml": None}, "Without")

    blamed = told_by_blame(repository, capsys, "deploy/web")

    image = "spec.template.spec.containers[web].image"
    assert blamed["paris", image][0] == "OverridePolicy default/registry spec.overrideRules[0]"


def test_a_rule_that_nobody_knows_is_no_template(repository: Repository, tmp_path: Path, capsys: Any) -> None:
    rendered(repository, FLEET, "Begin")
    repository.git("commit", "-q", "--amend", "-m", "Written again")
    clone = Repository.create(tmp_path / "clone")
    clone.git("remote", "add", "origin", f"file://{repository.path}")
    clone.git("fetch", "-q", "origin", "main:work", "argosy/rendered:argosy/rendered")
    clone.git("checkout", "-q", "work")

    told = json.loads(argosy(clone, capsys, "blame", "deploy/web", "-o", "json").out)

    assert told["ruleError"] != ""
    assert {each["rule"] for each in told["fields"]} == {"not known"}


def test_the_history_of_the_fleet_has_what_was_edited_and_moved_nothing(repository: Repository, capsys: Any) -> None:
    """An image is edited: the fleet's history has it as the object's has it, and the timeline counts it."""
    rendered(repository, FLEET, "Begin")
    commit = rendered(repository, EDITS["image"].files, "Give it an image")

    of_fleet = json.loads(argosy(repository, capsys, "history", "-o", "json").out)["events"]
    of_object = json.loads(argosy(repository, capsys, "history", "deploy/web", "-o", "json").out)["events"]
    entries = json.loads(argosy(repository, capsys, "history", "--commits", "-o", "json").out)["entries"]

    assert of_fleet[0]["commit"] == commit
    assert [each for each in of_fleet if each["object"] == str(WEB)] == of_object
    assert (entries[0]["commit"], entries[0]["edited"], entries[0]["firstClusters"]) == (commit, 1, ["oslo", "paris"])


def test_of_what_changed_too_much_the_history_of_the_fleet_says_how_much_is_not_read(
    repository: Repository, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two files changed where one is looked at: bindings are read all the same, and the commit is not left out."""
    monkeypatch.setattr("reconciler.history.subjects._MOST_FILES", 1)
    rendered(repository, FLEET, "Begin")
    image = rendered(repository, EDITS["image"].files, "Give it an image")
    scaled = rendered(repository, {"web.yaml": a_deployment("web", image="web:2", replicas=6)}, "Scale")

    told = json.loads(argosy(repository, capsys, "history", "-o", "json").out)
    entries = json.loads(argosy(repository, capsys, "history", "--commits", "-o", "json").out)["entries"]
    text = argosy(repository, capsys, "history").out

    assert told["unread"] == [{"commit": scaled, "files": 2}, {"commit": image, "files": 2}]
    assert next((each["commit"], each["object"]) for each in told["events"]) == (scaled, str(WEB))
    assert image not in {each["commit"] for each in told["events"]}
    assert [(each["commit"], each["unlistedFiles"], each["objects"]) for each in entries[:2]] == [
        (scaled, 2, 1),
        (image, 2, 0),
    ]
    unread = (
        "  2 files in clusters changed, too many to be read here: name an object,\n"
        "  a cluster or a namespace, whose history tells of fields\n"
    )
    assert text.partition("Scale\n")[2].startswith(
        f"  {WEB}: scaled 4 -> 6\n    replicas: oslo, paris 2 -> 3\n{unread}\n"
    )
    assert text.partition("Give it an image\n")[2].startswith(f"{unread}\n")


def test_a_limit_counts_a_commit_that_is_not_read_as_one_change(
    repository: Repository, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciler.history.subjects._MOST_FILES", 1)
    rendered(repository, FLEET, "Begin")
    rendered(repository, EDITS["image"].files, "Give it an image")

    told = json.loads(argosy(repository, capsys, "history", "--limit", "1", "-o", "json").out)

    assert (told["events"], len(told["unread"]), told["hasMore"]) == ([], 1, True)


def test_the_history_of_a_namespace_is_that_of_what_is_in_it_and_of_the_object_its_own(
    repository: Repository, capsys: Any
) -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "a"}}}
    files = {
        **FLEET,
        "space.yaml": space,
        "web.yaml": a_deployment("web", namespace="shop", image="web:1"),
        "policy.yaml": a_policy("web", namespace="shop", selectors=[SELECTOR], placement=on_clusters("oslo", "paris")),
    }
    rendered(repository, files, "Begin")
    rendered(repository, {"web.yaml": a_deployment("web", namespace="shop", image="web:2")}, "Give it an image")
    labelled = {**space, "metadata": {"name": "shop", "labels": {"team": "b"}}}
    commit = rendered(repository, {"space.yaml": labelled}, "Label")

    inside = json.loads(argosy(repository, capsys, "history", "namespace/shop", "-o", "json").out)["events"]
    own = json.loads(argosy(repository, capsys, "history", "namespace.v1/shop", "-o", "json").out)["events"]

    assert [each["object"] for each in inside] == ["Deployment.apps shop/web"] * 2
    assert [each["object"] for each in own] == ["Namespace shop"] * 2
    assert (own[0]["commit"], own[0]["changes"][0]["fields"][0]["path"]) == (commit, "metadata.labels.team")
    browser = browser_of(repository)
    page = browser.answered("/objects/Namespace/-/shop/history").text
    assert "Give it an image" not in page
    told = json.loads(browser.get("/objects/Namespace/-/shop/history.json").text)
    assert told == json.loads(argosy(repository, capsys, *command_of(page)).out)
    assert told["events"] == own
