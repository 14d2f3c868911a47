"""``removalGuard.scope: Cluster``: clusters that would lose too much keep what they have, and all others go on."""

import json
from pathlib import Path
from typing import Any

import pytest

from render.documents import parse_documents

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters, weighted
from .stories import removal_hint

KEYS = [f"c{number:02}" for number in range(12)]
LISTED = ", ".join(f"default/ConfigMap/{key}.yaml" for key in KEYS[:5])
LEAVING = f"member1: 11 of 14 objects (more than 10): {LISTED} and 6 more"
HINT = removal_hint("member1 11")
HELD = (
    "this change removes too much at once; member1 keeps what was there, all others go on\n"
    f"  {LEAVING}\n{HINT}"
)  # fmt: skip
WHY = "member1: 11 of 14 objects would leave (more than 10)"
GONE: dict[str, Any] = {f"{key}.yaml": None for key in KEYS[:11]}


@pytest.fixture
def repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """Twelve ConfigMaps in member1, and in both members a Deployment and a ConfigMap."""
    made = Repository.create(tmp_path / "fleet")
    head = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    one = [{"apiVersion": "v1", "kind": "ConfigMap", "name": key} for key in KEYS]
    both = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "shared"}]
    made.commit(
        {
            "argosy.yaml": {**head, "spec": {"removalGuard": {"scope": "Cluster"}}},
            **{f"clusters/{name}.yaml": a_cluster(name) for name in ("member1", "member2")},
            **{f"{key}.yaml": a_config_map(key, color="red") for key in KEYS},
            "shared.yaml": a_config_map("shared", color="red"),
            "web.yaml": a_deployment("web", replicas=4),
            "one.yaml": a_policy(
                "one", selectors=one, placement=on_clusters("member1"), preserveResourcesOnDeletion=True
            ),
            "both.yaml": a_policy("both", selectors=both, placement=on_clusters("member1", "member2")),
            "web-policy.yaml": a_policy(
                "web",
                selectors=WEB,
                placement=on_clusters("member1", "member2", replicaScheduling=weighted(member1=1, member2=1)),
            ),
        }
    )
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    return made


WEB = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}]


def binding(repository: Repository, path: str) -> Any:
    return parse_documents((repository.show(f"bindings/default/{path}.yaml") + "\n").encode())[0].value


def rendered_condition(repository: Repository, path: str) -> Any:
    conditions = binding(repository, path)["status"]["conditions"]
    return next((each for each in conditions if each["type"] == "Rendered"), None)


def folder(repository: Repository, name: str, revision: str = "argosy/rendered") -> str:
    return repository.git("rev-parse", f"{revision}:clusters/{name}")


def verified(repository: Repository, capsys: pytest.CaptureFixture[str], number: int) -> list[str]:
    ended = argosy(repository, capsys, "verify", "-n", str(number), "-o", "json")
    return [each["result"] for each in json.loads(ended.out)["commits"]]


def lose(repository: Repository, message: str = "change") -> str:
    """Take eleven ConfigMaps away and change what both members have."""
    files = {"shared.yaml": a_config_map("shared", color="blue"), "web.yaml": a_deployment("web", replicas=6)}
    return repository.commit({**GONE, **files}, message)


def test_one_cluster_is_held_back_and_the_other_goes_on(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [folder(repository, name) for name in ("member1", "member2")]
    lose(repository)
    ended = argosy(repository, capsys, "reconcile")
    assert ended == (6, named_commit(repository), HELD)
    assert [folder(repository, name) == was for name, was in zip(("member1", "member2"), before, strict=True)] == [
        True,
        False,
    ]
    assert "color: blue" in repository.show("clusters/member2/default/ConfigMap/shared.yaml")
    assert "replicas: 3" in repository.show("clusters/member2/default/Deployment.apps/web.yaml")
    for path in ("ConfigMap/shared", "Deployment.apps/web", "ConfigMap/c00"):
        condition = {key: rendered_condition(repository, path)[key] for key in ("status", "reason", "message")}
        assert condition == {"status": "False", "reason": "RemovalHeld", "message": WHY}
    assert rendered_condition(repository, "ConfigMap/c11") is None
    kept = binding(repository, "ConfigMap/c00")["spec"]
    assert (kept["clusters"], kept["preserveResourcesOnDeletion"]) == ([{"name": "member1"}], True)
    assert "| [member1](clusters/member1) | 14 | 3 |  |" in repository.show("README.md")
    assert verified(repository, capsys, 2) == ["equal", "equal"]


def test_what_is_held_back_is_said_in_each_pass_and_committed_once(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    source = lose(repository)
    argosy(repository, capsys, "reconcile")
    tip = repository.git("rev-parse", "argosy/rendered")
    said = f"unchanged: argosy/rendered {tip[:12]} holds source {source[:12]}\n"
    for _ in range(2):
        assert argosy(repository, capsys, "reconcile") == (6, said, HELD)
    assert repository.git("rev-parse", "argosy/rendered") == tip


def test_a_held_cluster_gets_nothing_until_it_is_allowed(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    before = folder(repository, "member1")
    lose(repository)
    argosy(repository, capsys, "reconcile")
    repository.commit({"shared.yaml": a_config_map("shared", color="green")})
    assert argosy(repository, capsys, "reconcile").code == 6
    assert folder(repository, "member1") == before
    assert "color: green" in repository.show("clusters/member2/default/ConfigMap/shared.yaml")

    repository.commit({}, "Mean it\n\nArgosy-Allow-Removal: member1 11")
    assert argosy(repository, capsys, "reconcile").code == 0
    assert repository.files("argosy/rendered", "clusters/member1/default") == [
        "clusters/member1/default/ConfigMap/c11.yaml",
        "clusters/member1/default/ConfigMap/shared.yaml",
        "clusters/member1/default/Deployment.apps/web.yaml",
    ]
    assert "color: green" in repository.show("clusters/member1/default/ConfigMap/shared.yaml")
    assert "bindings/default/ConfigMap/c00.yaml" not in repository.files()
    assert rendered_condition(repository, "ConfigMap/shared") is None
    assert argosy(repository, capsys, "reconcile").code == 0
    assert verified(repository, capsys, 4) == ["equal"] * 4


def test_a_pass_that_looks_at_a_part_holds_back_alike(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Most templates stay as they are, so that the pass looks at the others alone; its replay looks at all."""
    more = {"apiVersion": "v1", "kind": "ConfigMap", "labelSelector": {"matchLabels": {"of": "many"}}}
    many = [a_config_map(f"m{number:02}") for number in range(60)]
    for each in many:
        each["metadata"]["labels"] = {"of": "many"}
    policy = a_policy("many", selectors=[more], placement=on_clusters("member2"))
    repository.commit({"many.yaml": many, "many-policy.yaml": policy})
    assert argosy(repository, capsys, "reconcile").code == 0
    lose(repository)
    assert argosy(repository, capsys, "reconcile") == (6, named_commit(repository), HELD)
    assert "| [member1](clusters/member1) | 14 | 3 |  |" in repository.show("README.md")
    repository.commit({"shared.yaml": a_config_map("shared", color="green")})
    assert argosy(repository, capsys, "reconcile") == (6, named_commit(repository), HELD)
    repository.commit({}, "Mean it\n\nArgosy-Allow-Removal: member1 11")
    assert argosy(repository, capsys, "reconcile").code == 0
    assert verified(repository, capsys, 4) == ["equal"] * 4


def named_commit(repository: Repository) -> str:
    tip, source = (repository.git("rev-parse", "--short=12", name) for name in ("argosy/rendered", "HEAD"))
    return f"committed {tip} to argosy/rendered: source {source} for 2 clusters\n"


def test_what_comes_back_is_held_no_more(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    files, before = repository.files(), repository.git("rev-parse", "argosy/rendered:clusters")
    source = lose(repository)
    argosy(repository, capsys, "reconcile")
    repository.git("revert", "--no-edit", source)
    assert argosy(repository, capsys, "reconcile").code == 0
    assert repository.files() == files
    assert repository.git("rev-parse", "argosy/rendered:clusters") == before
    assert verified(repository, capsys, 3) == ["equal"] * 3


@pytest.mark.parametrize("line", ["reconcile", "render --commit"])
def test_what_an_option_allows_is_recorded_for_a_replay(
    line: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    lose(repository)
    assert argosy(repository, capsys, *line.split(), "--allow-removal", "*=99").code == 0
    assert "default/ConfigMap/c00.yaml" not in "".join(repository.files())
    trailers = repository.git("log", "-1", "--format=%(trailers:key=Argosy-Allow-Removal)", "argosy/rendered")
    assert trailers == "Argosy-Allow-Removal: member1 11"
    assert verified(repository, capsys, 1) == ["equal"]


def test_a_source_that_allows_it_needs_no_record(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    lose(repository, "Mean it\n\nArgosy-Allow-Removal: member1 11")
    assert argosy(repository, capsys, "reconcile", "--allow-removal", "member1=11").code == 0
    assert "Argosy-Allow-Removal" not in repository.git("log", "-1", "--format=%B", "argosy/rendered")
    assert verified(repository, capsys, 1) == ["equal"]


def test_a_held_cluster_in_previews(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    lose(repository)
    would = "warning: member1 loses 11 of 14 objects (more than 10); it keeps what it has\n"
    assert argosy(repository, capsys, "render", "-o", "name").err == would
    assert argosy(repository, capsys, "reconcile", "--dry-run") == (
        6,
        f"would commit source {repository.git('rev-parse', 'HEAD')[:12]} for 2 clusters to argosy/rendered\n",
        HELD,
    )
    ended = argosy(repository, capsys, "diff", "--stat", "--check", "HEAD~", "HEAD")
    assert (ended.code, ended.err) == (6, f"this change removes too much at once\n  {LEAVING}\n{HINT}")
    assert "member1   +0      ~0        -0        2 -> 3\n" in ended.out
    allowed = argosy(repository, capsys, "diff", "--stat", "--check", "--allow-removal", "*=11", "HEAD~", "HEAD")
    assert (allowed.code, "member1   +0      ~2        -11       2 -> 3\n" in allowed.out) == (0, True)


def test_the_diff_of_what_lets_a_held_cluster_go(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    lose(repository)
    argosy(repository, capsys, "reconcile")
    repository.commit({}, "Mean it\n\nArgosy-Allow-Removal: member1 11")
    ended = argosy(repository, capsys, "diff", "--stat", "--check", "HEAD~", "HEAD")
    assert (ended.code, ended.err) == (0, "")
    assert "-11" in ended.out


def test_a_held_cluster_as_json(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    lose(repository)
    ended = argosy(repository, capsys, "reconcile", "-o", "json")
    told = json.loads(ended.out)
    paths = [f"default/ConfigMap/{key}.yaml" for key in KEYS[:11]]
    held = {"cluster": "member1", "objects": paths, "held": 14, "reasons": ["more than 10"]}
    assert (ended.code, told["removals"], told["heldBack"], told["changed"]) == (6, [], [held], True)


def test_the_status_says_what_is_held(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    lose(repository)
    argosy(repository, capsys, "reconcile")
    ended = argosy(repository, capsys, "status")
    assert (ended.code, f"ConfigMap default/c00 and 12 more   RemovalHeld   {WHY}\n" in ended.out) == (1, True)
    each = argosy(repository, capsys, "-v", "status")
    assert (each.code, f"ConfigMap default/c00         RemovalHeld   {WHY}\n" in each.out) == (1, True)


def test_a_source_without_clusters_is_refused_as_a_whole(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    tip = repository.git("rev-parse", "argosy/rendered")
    repository.commit({"clusters/member1.yaml": None, "clusters/member2.yaml": None})
    ended = argosy(repository, capsys, "reconcile")
    assert (ended.code, ended.err.splitlines()[-2]) == (
        6,
        "argosy: the source has no clusters any more, but member1, member2 hold objects; nothing was committed",
    )
    assert repository.git("rev-parse", "argosy/rendered") == tip
