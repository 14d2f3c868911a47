"""``argosy diff`` on real repositories: what a change does, in every form, and whether the guards allow it."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.build import (
    Repository,
    a_cluster,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    on_clusters,
    weighted,
)
from tests.stories import LOST_PLACE_HINT, movement_hint, refused_section, removal_hint

CANARY = "c4n4ry-token"


def an_image_override(tag: str) -> dict[str, Any]:
    image = [{"component": "Tag", "operator": "replace", "value": tag}]
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "canary", "namespace": "default"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
            "overrideRules": [
                {"targetCluster": {"clusterNames": ["oslo"]}, "overriders": {"imageOverrider": image}},
            ],
        },
    }


def a_secret(value: str) -> dict[str, Any]:
    metadata = {"name": "token", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"token": value}}


def a_spread(clusters: int) -> dict[str, Any]:
    """A placement by dynamic weights over at most so many clusters."""
    return {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": clusters}]}


def a_fleet(**changed: Any) -> dict[str, Any]:
    """Three clusters, a workload by weights, one everywhere, and two policies for the same ConfigMap."""
    config_map = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    fleet = {
        "clusters/bern.yaml": a_cluster("bern", region="eu"),
        "clusters/oslo.yaml": a_cluster("oslo", region="eu"),
        "clusters/lima.yaml": a_cluster("lima", region="sa"),
        "nginx.yaml": a_deployment(replicas=8),
        "weights.yaml": a_policy(placement={"replicaScheduling": weighted(bern=1, oslo=1, lima=2)}),
        "cache.yaml": a_deployment("cache", replicas=1),
        "everywhere.yaml": a_policy(
            "everywhere",
            selectors=[{"apiVersion": "apps/v1", "kind": "Deployment", "name": "cache"}],
            placement=a_spread(3),
        ),
        "settings.yaml": a_config_map("settings", mode="fast"),
        "first.yaml": a_policy("first", selectors=config_map, priority=2, placement=on_clusters("bern", "oslo")),
        "second.yaml": a_policy("second", selectors=config_map, priority=1, placement=on_clusters("lima", "oslo")),
    }
    return {**fleet, **{f"{name}.yaml": content for name, content in changed.items()}}


@pytest.fixture
def repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    made.commit(a_fleet())
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    return made


def test_what_nothing_reads_differs_only_where_it_is_another_file(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """A comparison with the work tree reads no such file, and asks git which of them differ."""
    notes = {"notes.txt": "one\n", "logo.dat": "\x00\x01", "gone.txt": "here\n", "script.sh": "true\n"}
    repository.commit(notes)
    assert argosy(repository, capsys, "diff").out.endswith(": no difference\n")
    (repository.path / "notes.txt").write_text("two\n")
    (repository.path / "new.txt").write_text("new\n")
    (repository.path / "script.sh").chmod(0o755)
    (repository.path / "gone.txt").unlink()
    said = "\n\nSOURCE\n  - gone.txt\n  + new.txt\n  ~ notes.txt\n  ~ script.sh\n"
    assert argosy(repository, capsys, "diff").out.endswith(
        f": no difference in any cluster, 4 files of the source differ{said}"
    )
    (repository.path / "notes.txt").write_text("one\n")
    repository.git("commit", "-qam", "another note")
    (repository.path / "script.sh").chmod(0o644)
    assert "~ notes.txt" not in argosy(repository, capsys, "diff", "HEAD~1").out


class Edit(NamedTuple):
    why: str
    files: dict[str, Any]
    said: str


EDITS = [
    Edit(
        "a file nothing reads",
        {"notes.txt": "hello"},
        "no difference in any cluster, 1 file of the source differs\n\nSOURCE\n  + notes.txt\n",
    ),
    Edit(
        "a priority by which nothing moves",
        {
            "first.yaml": a_policy(
                "first",
                selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}],
                priority=4,
                placement=on_clusters("bern", "oslo"),
            )
        },
        (
            "no difference in any cluster, 1 file of the source differs\n"
            "\nSOURCE\n  ~ first.yaml: PropagationPolicy default/first changed\n"
        ),
    ),
    Edit(
        "a weight",
        {"weights.yaml": a_policy(placement={"replicaScheduling": weighted(bern=1, oslo=2, lima=1)})},
        (
            "2 clusters change, 1 object changed, 2 of 11 replicas move\n"
            "risk: touches 2 of 3 clusters, moves 2 of 11 replicas\n"
            "\nOBJECTS\n"
            "  ~ 1 by its replicas\n"
            "\nREPLICAS\n"
            "  Deployment.apps default/nginx: 8 replicas, 2 moved\n"
            "      lima 4 -> 2, oslo 2 -> 4\n"
        ),
    ),
    Edit(
        "a cluster joins",
        {"clusters/kyiv.yaml": a_cluster("kyiv", region="eu")},
        "1 cluster joins\n\nCLUSTERS\n  + kyiv\n",
    ),
    Edit(
        "a cluster leaves: its replicas go elsewhere, its objects stay",
        {"clusters/lima.yaml": None},
        (
            "1 cluster is disconnected, 2 clusters change, 1 object changed, 4 replicas are placed anew\n"
            "risk: touches 2 of 2 clusters, moves 4 of 11 replicas\n"
            "\nCLUSTERS\n"
            "  - lima: disconnected, keeps what it holds\n"
            "\nOBJECTS\n"
            "  ~ 1 by its replicas\n"
            "\nREPLICAS\n"
            "  Deployment.apps default/nginx: 8 replicas, 4 placed anew\n"
            "      bern 2 -> 4, lima 4 (disconnected), oslo 2 -> 4\n"
        ),
    ),
    Edit(
        "a spread is tightened",
        {
            "everywhere.yaml": a_policy(
                "everywhere",
                selectors=[{"apiVersion": "apps/v1", "kind": "Deployment", "name": "cache"}],
                placement=a_spread(2),
            )
        },
        (
            "1 cluster changes, 1 object removed\nrisk: touches 1 of 3 clusters\n"
            "\nOBJECTS\n"
            "  - Deployment.apps default/cache in oslo\n"
            "\nREPLICAS\n"
            "  Deployment.apps default/cache: 3 -> 2 replicas, 0 moved\n"
            "      oslo 1 -> 0\n"
        ),
    ),
    Edit(
        "an image override",
        {"canary.yaml": an_image_override("2.0")},
        (
            "1 cluster changes, 2 objects changed\nrisk: touches 1 of 3 clusters\n"
            "\nOBJECTS\n"
            "  ~ Deployment.apps default/cache in oslo\n"
            "      by OverridePolicy default/canary (canary.yaml, added)\n"
            '      spec.template.spec.containers[cache].image: "nginx:1.29" -> "nginx:2.0"\n'
            "  ~ Deployment.apps default/nginx in oslo\n"
            "      by OverridePolicy default/canary (canary.yaml, added)\n"
            '      spec.template.spec.containers[nginx].image: "nginx:1.29" -> "nginx:2.0"\n'
        ),
    ),
    Edit(
        "a policy takes over by priority",
        {
            "second.yaml": a_policy(
                "second",
                selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}],
                priority=3,
                placement=on_clusters("lima", "oslo"),
            )
        },
        (
            "2 clusters change, 1 object added, 1 object removed, 1 object changes hands\n"
            "risk: touches 2 of 3 clusters\n"
            "\nOBJECTS\n"
            "  + ConfigMap default/settings in lima\n"
            "  - ConfigMap default/settings in bern\n"
            "\nPOLICIES\n"
            "  ConfigMap default/settings: PropagationPolicy default/first -> PropagationPolicy default/second\n"
        ),
    ),
    Edit(
        "an image in the template",
        {"nginx.yaml": a_deployment(replicas=8, image="nginx:1.30")},
        (
            "3 clusters change, 1 object changed\nrisk: touches 3 of 3 clusters\n"
            "\nOBJECTS\n"
            "  ~ Deployment.apps default/nginx in all 3 clusters\n"
            '      spec.template.spec.containers[nginx].image: "nginx:1.29" -> "nginx:1.30"\n'
        ),
    ),
    Edit(
        "a policy that nothing satisfies",
        {"weights.yaml": a_policy(placement=on_clusters("nowhere"))},
        (
            "3 clusters change, 1 object removed, 1 object ends in no cluster, 1 new problem\n"
            "risk: touches 3 of 3 clusters\n"
            "\nOBJECTS\n"
            "  - Deployment.apps default/nginx in all 3 clusters\n"
            "\nREPLICAS\n"
            "  Deployment.apps default/nginx: 8 -> 0 replicas, 0 moved\n"
            "      bern 2 -> 0, lima 4 -> 0, oslo 2 -> 0\n"
            "\nENDS IN NO CLUSTER\n"
            "  ! Deployment.apps default/nginx: leaves bern, lima, oslo, and no cluster takes it\n"
            "\nPROBLEMS\n"
            "  Deployment.apps default/nginx: NoClusterFit: 0/3 clusters are available:"
            " 3 cluster(s) did not match the placement cluster affinity constraint.\n"
            + refused_section(
                "this change removes too much at once; nothing was committed\n"
                + "".join(
                    f"  {name}: 1 of {count} objects (1 last copy, as no cluster meets its policy):"
                    " default/Deployment.apps/nginx.yaml\n"
                    for name, count in (("bern", 3), ("lima", 2), ("oslo", 3))
                )
                + LOST_PLACE_HINT
                + removal_hint("bern 1", "lima 1", "oslo 1")
            )
        ),
    ),
]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.why)
def test_a_change_is_told_in_words(edit: Edit, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write(edit.files)
    ended = argosy(repository, capsys, "-q", "diff")
    base = repository.git("rev-parse", "HEAD")
    assert ended == (0 if edit.said.startswith("no difference") else 1, f"{base[:12]}..work tree: {edit.said}", "")
    repository.commit({}, edit.why)
    assert argosy(repository, capsys, "-q", "diff", "HEAD~1", "HEAD").out.partition(": ")[2] == edit.said


NGINX = {"replicaScheduling": weighted(bern=1, oslo=1, lima=2)}


@pytest.mark.parametrize(
    ("field", "before", "after", "meaning"),
    [
        (
            "conflictResolution",
            "Abort",
            "Overwrite",
            "what others made in the clusters is taken over, but for other fleets",
        ),
        ("conflictResolution", "Overwrite", "Abort", "what others made in the clusters stays theirs"),
        ("preserveResourcesOnDeletion", False, True, "what is removed stays in the clusters"),
        ("preserveResourcesOnDeletion", True, False, "what is removed is deleted in the clusters"),
    ],
)
def test_a_rule_of_delivery_is_a_difference_though_no_object_changes(
    field: str, before: Any, after: Any, meaning: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was "no difference", and the pass overwrote what another owner had made."""
    policies = [a_policy(placement=NGINX) for _ in range(2)]
    for policy, value in zip(policies, (before, after), strict=True):
        policy["spec"][field] = value
    repository.commit({"weights.yaml": policies[0]})
    repository.commit({"weights.yaml": policies[1]})
    words = [str(value).lower() if isinstance(value, bool) else value for value in (before, after)]
    ended = argosy(repository, capsys, "diff", "HEAD~1", "HEAD")
    said = f"Deployment.apps default/nginx: {field} {words[0]} -> {words[1]}: {meaning}"
    assert (ended.code, ended.out.partition(": ")[2]) == (
        1,
        f"1 object is delivered by another rule\n\nPOLICIES\n  {said}\n",
    )
    markdown = argosy(repository, capsys, "diff", "HEAD~1", "HEAD", "-o", "markdown").out
    assert "### 1 object is delivered by another rule\n" in markdown
    assert meaning in markdown
    document = json.loads(argosy(repository, capsys, "diff", "HEAD~1", "HEAD", "-o", "json").out)
    nginx = {"group": "apps", "kind": "Deployment", "namespace": "default", "name": "nginx"}
    part = {"object": nginx, "rule": field, "before": words[0], "after": words[1]}
    assert (document["different"], document["delivered"]) == (True, [{**part, "clusters": ["bern", "lima", "oslo"]}])


def test_an_annotation_of_the_object_beats_the_rule_of_its_policy(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    nginx = a_deployment(replicas=8)
    nginx["metadata"]["annotations"] = {"work.karmada.io/conflict-resolution": "abort"}
    repository.commit({"nginx.yaml": nginx})
    policy = a_policy(placement=NGINX)
    policy["spec"]["conflictResolution"] = "Overwrite"
    repository.commit({"weights.yaml": policy})
    assert argosy(repository, capsys, "diff", "HEAD~1", "HEAD").out.endswith(
        ": no difference in any cluster, 1 file of the source differs\n\n"
        "SOURCE\n  ~ weights.yaml: PropagationPolicy default/nginx changed\n"
    )


def test_what_the_status_branch_records_as_not_applied_is_named_where_it_is_to_be_taken_over(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = {"type": "Applied", "status": "False", "reason": "AppliedFailed", "message": "Foreign: kubectl has it"}
    work = {
        "apiVersion": "work.karmada.io/v1alpha1",
        "kind": "Work",
        "metadata": {"name": "nginx"},
        "status": {"conditions": [{**failed, "lastTransitionTime": "2026-01-01T00:00:00Z"}]},
    }
    repository.git("switch", "-q", "--orphan", "argosy/status")
    repository.commit({"works/oslo/default/Deployment.apps/nginx.yaml": work})
    repository.git("switch", "-q", "main")
    policy = a_policy(placement=NGINX)
    policy["spec"]["conflictResolution"] = "Overwrite"
    repository.commit({"weights.yaml": policy})
    said = argosy(repository, capsys, "diff", "HEAD~1", "HEAD").out
    assert "is taken over, but for other fleets; recorded as not applied in oslo\n      oslo: Foreign:" in said
    document = json.loads(argosy(repository, capsys, "diff", "HEAD~1", "HEAD", "-o", "json").out)
    assert document["delivered"][0]["failures"] == {"oslo": "Foreign: kubectl has it"}


def test_a_line_for_each_cluster(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({"weights.yaml": a_policy(placement={"replicaScheduling": weighted(bern=1, oslo=2, lima=1)})})
    assert argosy(repository, capsys, "diff", "--stat").out == (
        "CLUSTER   ADDED   CHANGED   REMOVED   REPLICAS\n"
        "lima      +0      ~1        -0        5 -> 3\n"
        "oslo      +0      ~1        -0        3 -> 5\n"
        "risk: touches 2 of 3 clusters, moves 2 of 11 replicas\n"
        "2 clusters change, 1 object changed, 2 of 11 replicas move\n"
    )


def test_the_json_is_of_a_stable_shape(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    base, rendered = repository.git("rev-parse", "HEAD"), repository.git("rev-parse", "argosy/rendered")
    head = repository.commit(
        {
            "canary.yaml": an_image_override("2.0"),
            "weights.yaml": a_policy(placement={"replicaScheduling": weighted(bern=2, oslo=1, lima=1)}),
            "cache.yaml": None,
        }
    )
    nginx = {"group": "apps", "kind": "Deployment", "namespace": "default", "name": "nginx"}
    cache = {**nginx, "name": "cache"}
    field = {
        "path": "spec.template.spec.containers[nginx].image",
        "operator": "replace",
        "before": "nginx:1.29",
        "after": "nginx:2.0",
    }
    everywhere = ["bern", "lima", "oslo"]
    weights = {"name": "PropagationPolicy default/nginx", "path": "weights.yaml", "action": "changed"}
    canary = {"name": "OverridePolicy default/canary", "path": "canary.yaml", "action": "added"}
    by_numbers = {"object": nginx, "action": "changed", "clusters": ["bern", "lima"], "causes": [weights], "fields": []}
    by_field = {"object": nginx, "action": "changed", "clusters": ["oslo"], "causes": [canary]}
    assert json.loads(argosy(repository, capsys, "diff", "-o", "json", base, head).out) == {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Difference",
        "base": base,
        "head": head,
        "previous": rendered,
        "different": True,
        "summary": {
            "text": "3 clusters change, 1 object changed, 1 object removed, 2 of 11 replicas move",
            "settings": 0,
            "clusters": 3,
            "added": 0,
            "changed": 1,
            "removed": 1,
            "takeovers": 0,
            "replicas": 11,
            "moved": 2,
            "placedAnew": 0,
            "pending": 0,
            "problems": 0,
        },
        "settings": [],
        "allowances": [],
        "clusters": [
            {"name": "bern", "added": 0, "changed": 1, "removed": 1, "replicas": {"before": 3, "after": 4}},
            {"name": "lima", "added": 0, "changed": 1, "removed": 1, "replicas": {"before": 5, "after": 2}},
            {"name": "oslo", "added": 0, "changed": 1, "removed": 1, "replicas": {"before": 3, "after": 2}},
        ],
        "joined": [],
        "renamed": {},
        "disconnected": [],
        "objects": [
            {"object": cache, "action": "removed", "clusters": everywhere, "fields": []},
            by_numbers,
            {**by_field, "fields": [field]},
        ],
        "origins": [],
        "takeovers": [],
        "released": [],
        "pending": [],
        "ended": [],
        "movements": [
            {
                "object": cache,
                "before": 3,
                "after": 0,
                "moved": 0,
                "placedAnew": 0,
                "clusters": [{"name": name, "before": 1, "after": 0} for name in everywhere],
            },
            {
                "object": nginx,
                "causes": [weights],
                "before": 8,
                "after": 8,
                "moved": 2,
                "placedAnew": 0,
                "clusters": [{"name": "bern", "before": 2, "after": 4}, {"name": "lima", "before": 4, "after": 2}],
            },
        ],
        "risk": {
            "clusters": 3,
            "members": 3,
            "moved": 2,
            "alone": {"before": 0, "after": 0},
            "lost": 0,
            "gained": 0,
            "oneWay": [],
            "freezes": [],
        },
        "problems": [],
        "solved": [],
    }


def test_a_cluster_that_left_is_told_the_same_once_that_is_rendered(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"clusters/lima.yaml": None})
    before = argosy(repository, capsys, "diff", "HEAD~1", "HEAD")
    assert before.out.partition(": ")[2].startswith(
        "1 cluster is disconnected, 2 clusters change, 1 object changed, 4 replicas are placed anew\n"
        "risk: touches 2 of 2 clusters, moves 4 of 11 replicas\n"
    )
    assert argosy(repository, capsys, "reconcile").code == 0
    assert argosy(repository, capsys, "diff", "HEAD~1", "HEAD") == before


@pytest.mark.parametrize("output", ["text", "json", "markdown"])
def test_a_secret_is_never_shown(output: str, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    policy = a_policy("secrets", selectors=[{"apiVersion": "v1", "kind": "Secret"}], placement=on_clusters("bern"))
    repository.commit({"secret.yaml": a_secret(f"{CANARY}-1"), "secrets.yaml": policy})
    repository.write({"secret.yaml": a_secret(f"{CANARY}-2")})
    ended = argosy(repository, capsys, "diff", "-o", output)
    assert "(hidden)" in ended.out
    assert CANARY not in ended.out + ended.err


def test_what_is_wrong_is_told_with_its_side(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    base = repository.commit({"weights.yaml": {**a_policy(), "spec": {}}})
    repository.write(a_fleet())
    assert argosy(repository, capsys, "diff") == (
        3,
        "",
        (
            "weights.yaml:6: spec.resourceSelectors: required, but missing\n"
            f"1 problem in commit {base[:12]}; nothing was compared\n"
        ),
    )


def test_without_a_past_it_must_be_meant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hub = Repository.create(tmp_path / "hub")
    hub.commit(a_fleet())
    hub.git("clone", "-q", "--single-branch", str(hub.path), str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    assert argosy(clone, capsys, "diff").code == 4
    assert argosy(clone, capsys, "diff", "--bootstrap").code == 0


GUARD = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "Fleet",
    "spec": {
        "movementGuard": {
            "fleet": {"replicas": 1},
            "workload": {"percent": 20},
            "minimumClusters": 3,
            "pinned": [{"kind": "Deployment", "name": "nginx", "clusters": ["oslo"]}],
        }
    },
}
MOVED = {"weights.yaml": a_policy(placement={"replicaScheduling": weighted(bern=1, lima=1)})}
REFUSAL = (
    "this change moves too much at once; nothing was committed\n"
    "  the fleet: 2 of 11 replicas move (more than 1)\n"
    "  Deployment.apps default/nginx: 2 of 8 replicas move (more than 20 %): bern 2 -> 4, oslo 2 -> 0\n"
    "  Deployment.apps default/nginx: in 2 clusters, at least 3 are asked for\n"
    "  Deployment.apps default/nginx: leaves oslo, where it is pinned\n"
    + movement_hint("* 2", "Deployment.apps default/nginx 2")
)
ALLOWED = "Move nginx\n\nArgosy-Allow-Movement: * 2\nArgosy-Allow-Movement: Deployment.apps default/nginx 2"


@pytest.fixture
def guarded(repository: Repository, capsys: pytest.CaptureFixture[str]) -> Repository:
    repository.commit({"argosy.yaml": GUARD})
    assert argosy(repository, capsys, "reconcile").code == 0
    return repository


def test_too_much_movement_is_refused_before_the_commit(
    guarded: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    guarded.commit(MOVED)
    before = guarded.git("rev-parse", "argosy/rendered")
    assert argosy(guarded, capsys, "reconcile") == (6, "", REFUSAL)
    assert argosy(guarded, capsys, "render", "--commit") == (6, "", REFUSAL)
    assert argosy(guarded, capsys, "reconcile", "--allow-movement", "*=99").code == 6
    warned = [
        line for line in argosy(guarded, capsys, "render").err.splitlines() if line.startswith("warning: the fleet")
    ]
    assert warned == ["warning: the fleet: 2 of 11 replicas move (more than 1); a commit is refused"]
    assert guarded.git("rev-parse", "argosy/rendered") == before
    allowed = ["--allow-movement", "*=2", "--allow-movement", "Deployment.apps default/nginx=2"]
    assert argosy(guarded, capsys, "reconcile", *allowed).code == 0
    assert guarded.git("rev-parse", "argosy/rendered~1") == before


def test_a_trailer_of_the_source_allows_movement(guarded: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    guarded.commit(MOVED, ALLOWED)
    guarded.commit({"notes.txt": "later"})
    assert argosy(guarded, capsys, "reconcile").code == 0


def test_a_trailer_is_for_its_own_change(guarded: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    guarded.commit({"nginx.yaml": a_deployment(replicas=8, image="nginx:1.30")}, ALLOWED)
    assert argosy(guarded, capsys, "reconcile").code == 0
    guarded.commit(MOVED)
    assert argosy(guarded, capsys, "reconcile") == (6, "", REFUSAL)


def test_a_check_asks_the_guards(guarded: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    guarded.write(MOVED)
    refused = argosy(guarded, capsys, "diff", "--stat", "--check")
    assert [refused.code, refused.out.splitlines()[-1], refused.err] == [
        6,
        "2 clusters change, 1 object changed, 1 object removed, 2 of 11 replicas move",
        REFUSAL.replace("; nothing was committed", ""),
    ]
    guarded.commit({}, ALLOWED)
    assert argosy(guarded, capsys, "diff", "--check", "HEAD~1", "HEAD").code == 0


def test_trailers_of_the_base_allow_nothing(guarded: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """The other branch moved on: what it allowed itself is no word about this one."""
    guarded.git("checkout", "-q", "-b", "change")
    guarded.commit(MOVED)
    guarded.git("checkout", "-q", "main")
    guarded.commit({"notes.txt": "meanwhile"}, ALLOWED)
    assert argosy(guarded, capsys, "diff", "--check", "main", "change").code == 6


def test_both_guards_speak_at_once(guarded: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    guarded.commit({**MOVED, "cache.yaml": None, "settings.yaml": None})
    ended = argosy(guarded, capsys, "reconcile")
    assert [line for line in ended.err.splitlines() if not line.startswith("  ")] == [
        "this change removes too much at once; nothing was committed",
        "this change moves too much at once; nothing was committed",
    ]
    assert [line.partition("'")[2][:22] for line in ended.err.splitlines() if "hint:" in line] == [
        "Argosy-Allow-Removal: ",
        "Argosy-Allow-Movement:",
    ]


def test_a_change_that_leaves_something_without_a_place_fails_the_check(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"weights.yaml": a_policy(placement=on_clusters("nowhere"))})
    allowed = ["--allow-removal", "*=9"]
    assert argosy(repository, capsys, "diff", "--check", *allowed).code == 1
    repository.write(a_fleet(nginx=a_deployment(replicas=8, image="nginx:1.30")))
    assert argosy(repository, capsys, "diff", "--check").code == 0


def test_a_malformed_option_is_a_wrong_command_line(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(repository, capsys, "diff", "--check", "--allow-movement", "everything")
    assert (ended.code, ended.err.splitlines()[-1]) == (
        2,
        "Error: --allow-movement 'everything': write <object>=<count>, or *=<count>",
    )


def test_a_bare_repository_has_no_files_as_they_stand(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.git("clone", "-q", "--mirror", str(repository.path), str(tmp_path / "bare.git"))
    bare = Repository(tmp_path / "bare.git")
    ended = argosy(bare, capsys, "diff", "main")
    assert (ended.code, ended.err.splitlines()[-1]) == (
        2,
        "Error: name HEAD as well: there is no work tree here to compare",
    )
    assert argosy(bare, capsys, "diff", "--bootstrap", "main", "main").code == 0


def test_a_long_value_is_shown_from_where_it_changes(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"settings.yaml": a_config_map("settings", page=f"{'x' * 90}old{'y' * 90}")})
    repository.write({"settings.yaml": a_config_map("settings", page=f"{'x' * 90}new{'y' * 90}")})
    old, new = (f"...{'x' * 20}{word}{'y' * 77}..." for word in ("old", "new"))
    assert argosy(repository, capsys, "diff").out.splitlines()[-1] == f"      data.page: {old} -> {new}"


def test_files_that_change_nothing_stand_in_the_document_and_in_the_comment(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is gone, and a policy that is edited in the same file as one that is not."""
    policy = a_policy("first", selectors=[{"apiVersion": "v1", "kind": "Service"}], placement=on_clusters("bern"))
    repository.commit({"notes.txt": "hello", "unused.yaml": [policy | {"metadata": {"name": "unused"}}]}, "Add")
    other = a_policy("first", selectors=[{"apiVersion": "v1", "kind": "Service"}], placement=on_clusters("oslo"))
    repository.commit({"notes.txt": None, "unused.yaml": [other | {"metadata": {"name": "unused"}}]}, "Edit")

    told = json.loads(argosy(repository, capsys, "diff", "HEAD~1", "HEAD", "-o", "json").out)
    comment = argosy(repository, capsys, "diff", "HEAD~1", "HEAD", "-o", "markdown").out

    assert (told["different"], told["summary"]["text"]) == (
        False,
        "no difference in any cluster, 2 files of the source differ",
    )
    assert told["sourceFiles"] == [
        {"path": "notes.txt", "action": "removed"},
        {
            "path": "unused.yaml",
            "action": "changed",
            "policies": [{"policy": "PropagationPolicy default/unused", "action": "changed"}],
        },
    ]
    assert comment.endswith(
        "\n**Files of the source that differ (2)**\n\n"
        "- notes.txt\n- unused.yaml&#58; PropagationPolicy default/unused changed\n"
    )
