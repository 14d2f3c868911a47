"""``rendered = render(source, facts, previous)``: what a pass starts from, and that it never guesses any of it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .build import (
    AUTHOR,
    Repository,
    a_cluster,
    a_cluster_policy,
    a_deployment,
    a_policy,
    argosy,
    on_clusters,
    weighted,
)
from .stories import (
    NO_CLUSTER_OF_THREE,
    UNPLACED,
    Files,
    Run,
    Story,
    a_fleet,
    check_runs,
    held,
    play,
    settings,
    tips,
    told,
)
from .waiting import SECONDS

ON_ONE = on_clusters("member1")
POLICY = {"policy.yaml": a_policy(placement=ON_ONE)}
NGINX = "default/Deployment.apps/nginx"
COMMITTED = "committed <rendered> to argosy/rendered: source <main> for 1 cluster\n"
UNCHANGED = "unchanged: argosy/rendered <rendered> holds source <main>\n"
TABLE = """\
NAMESPACE   OBJECT                  CLUSTERS    POLICY
default     Deployment.apps/nginx   member1:2   PropagationPolicy default/nginx
"""
JSON = """\
{
  "apiVersion": "argosy.dev/v1alpha1",
  "kind": "Reconciliation",
  "source": "<main>",
  "previous": "<rendered>",
  "rendered": "<rendered>",
  "branch": "argosy/rendered",
  "remote": null,
  "changed": false,
  "skipped": 0,
  "removals": [],
  "released": [],
  "pending": [],
  "problems": []
}
"""
ROOT = Path(__file__).parent.parent


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return a_fleet(tmp_path / "fleet")


def rendered(repository: Repository, capsys: pytest.CaptureFixture[str], *images: str) -> list[str]:
    """Commit and render an nginx of each image; return the source commits, oldest first."""
    commits = []
    for image in images:
        commits.append(repository.commit({"nginx.yaml": a_deployment(image=image), **POLICY}))
        assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    return commits


# The previous rendered commit.


def test_a_first_run_must_be_meant(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"nginx.yaml": a_deployment(), **POLICY})
    is_it = "argosy: there is no branch 'argosy/rendered'{}: is this the first run?\n"
    unmeant = (
        f"{is_it.format(' here')}  hint: then pass --bootstrap; otherwise look for who removed the branch,"
        " or every workload is rescheduled\n"
    )
    no_past = (
        f"{is_it.format('')}  hint: then pass --bootstrap; without the fleet's past every workload is rescheduled\n"
    )
    nothing = (
        "argosy: nothing is rendered yet: there is no branch 'argosy/rendered'\n  hint: argosy reconcile --bootstrap\n"
    )
    runs = (
        Run("reconcile", 3, "", unmeant),
        Run("render --commit", 3, "", no_past),
        Run("verify", 3, "", nothing),
        Run("status", 3, "", nothing),
        Run("render", 0, TABLE),
        Run("diff", 0, "<main>..work tree: no difference\n"),
        Run("reconcile --bootstrap", 0, COMMITTED),
        Run("reconcile --bootstrap", 0, UNCHANGED),
        Run("render --commit --bootstrap", 0, "", "unchanged branch=argosy/rendered\n"),
    )
    check_runs(runs, repository, capsys)


def test_a_source_that_was_rewound_is_refused_until_that_is_accepted(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = rendered(repository, capsys, "nginx:1", "nginx:2")
    repository.git("reset", "-q", "--hard", first)
    refused = (
        f"argosy: source <main> does not follow {second[:12]}, which the clusters were rendered from\n"
        "  hint: if the branch was rewound on purpose, pass --accept-rewind\n"
    )
    runs = (
        Run("reconcile", 6, "", refused),
        Run("reconcile --dry-run", 6, "", refused),
        Run("render --commit", 6, "", refused),
        Run("reconcile --accept-rewind", 0, COMMITTED),
        Run("reconcile", 0, UNCHANGED),
    )
    check_runs(runs, repository, capsys)
    assert held(repository) == (f"member1 {NGINX} 2 nginx:1",)


def test_a_rewound_source_that_renders_the_same_is_accepted_once_and_for_all(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The next pass, in another clone perhaps, starts from the source that was accepted."""
    rendered(repository, capsys, "nginx:1")
    repository.git("commit", "-q", "--amend", "-m", "rewritten")
    check_runs((Run("reconcile --accept-rewind", 0, COMMITTED),), repository, capsys)
    (repository.path / ".git" / "argosy" / "checkpoint.json").unlink()
    assert trailer(repository, "Argosy-Source") == repository.git("rev-parse", "main")
    runs = (Run("reconcile", 0, UNCHANGED), Run("verify -n 1", 0, "<rendered> source <main>: equal\n"))
    check_runs(runs, repository, capsys)


def test_render_commits_a_rewound_source_once_that_is_accepted(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    first, _ = rendered(repository, capsys, "nginx:1", "nginx:2")
    ended = argosy(repository, capsys, "render", "--rev", first, "--commit", "--accept-rewind")
    assert ended == (0, "", f"committed branch=argosy/rendered commit={tips(repository)[0][:12]}\n")
    assert held(repository) == (f"member1 {NGINX} 2 nginx:1",)


class Foreign(NamedTuple):
    """A commit of somebody else on the rendered branch, and every command's words about it."""

    why: str
    files: Files
    message: str
    said: str


BROKEN_BINDING = {"bindings/default/Deployment.apps/nginx.yaml": "a: [\n"}
EMPTY_BINDING = {"bindings/default/Deployment.apps/nginx.yaml": "# nothing\n"}
ODD_BINDING = {
    "bindings/default/Deployment.apps/nginx.yaml": (
        "metadata: {name: nginx, namespace: default, annotations: {a: b}}\n"
        "spec: {placement: 1, resource: {apiVersion: apps/v1, kind: Deployment, name: nginx, namespace: default}}\n"
    )
}
NO_BINDING = (
    "argosy: bindings/default/Deployment.apps/nginx.yaml in rendered commit <rendered> is no binding\n"
    "  hint: the rendered branch is Argosy's to write; restore its last good commit\n"
)
TRAILERS = "\n\nArgosy-Source: {source}\nArgosy-Version: {version}\n"
RESTORE = (
    "  hint: restore the branch to the last commit that has an Argosy-Source trailer"
    " (a pull request is merged by a merge commit, by rebasing or fast-forwarding, so that its trailers stay)\n"
)

FOREIGN = [
    Foreign(
        "a commit of somebody else",
        {"README.md": "mine\n"},
        "mine",
        f"argosy: commit <rendered> on the rendered branch was not written by Argosy\n{RESTORE}",
    ),
    Foreign(
        "a commit that names two sources",
        {"README.md": "mine\n"},
        f"mine{TRAILERS}Argosy-Source: {'1' * 40}\n",
        f"argosy: commit <rendered> on the rendered branch was not written by Argosy\n{RESTORE}",
    ),
    Foreign("a binding that is none", BROKEN_BINDING, f"mine{TRAILERS}", NO_BINDING),
    Foreign("an empty file for a binding", EMPTY_BINDING, f"mine{TRAILERS}", NO_BINDING),
    Foreign("a binding with a number for its placement", ODD_BINDING, f"mine{TRAILERS}", NO_BINDING),
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda foreign: foreign.why)
@pytest.mark.parametrize("command", ["reconcile", "render", "diff", "render --commit"])
def test_a_past_that_argosy_did_not_write_is_no_past(
    foreign: Foreign, command: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rendered(repository, capsys, "nginx:1")
    source, version = (trailer(repository, name) for name in ("Argosy-Source", "Argosy-Version"))
    on_rendered(repository, foreign.files, foreign.message.format(source=source, version=version))
    repository.commit({"nginx.yaml": a_deployment(image="nginx:2")})
    check_runs((Run(command, 4, "", foreign.said),), repository, capsys)


def test_validate_judges_by_the_past_only_where_it_can_be_read(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rendered(repository, capsys, "nginx:1")
    source, version = (trailer(repository, name) for name in ("Argosy-Source", "Argosy-Version"))
    on_rendered(repository, BROKEN_BINDING, f"mine{TRAILERS.format(source=source, version=version)}")
    counted = "0 problems, 0 warnings: 1 template, 1 propagation policy, 0 override policies, 3 clusters in 5 files\n"
    check_runs((Run("validate", 0, counted),), repository, capsys)


def trailer(repository: Repository, name: str) -> str:
    return repository.git("log", "-1", f"--format=%(trailers:key={name},valueonly)", "argosy/rendered").strip()


def on_rendered(repository: Repository, files: Files, message: str) -> None:
    """Commit something on the rendered branch, as somebody may."""
    repository.git("checkout", "-q", "argosy/rendered")
    repository.commit(files, message)
    repository.git("checkout", "-q", "main")


def test_every_rendered_commit_can_be_made_again_and_one_that_cannot_is_told(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rendered(repository, capsys, "nginx:1")
    source, version = (trailer(repository, name) for name in ("Argosy-Source", "Argosy-Version"))
    made = repository.git("rev-parse", "argosy/rendered^{tree}")
    before = tips(repository)[0]
    note = TRAILERS.format(source=source, version=version)
    on_rendered(repository, {"README.md": "edited\n"}, f"by hand{note}Argosy-Previous: {before}\n")
    edited = repository.git("rev-parse", "argosy/rendered^{tree}")
    note = TRAILERS.format(source=source, version="0.0.1")
    on_rendered(repository, {}, f"by another version{note}")
    on_rendered(repository, {}, "by somebody")
    assert argosy(repository, capsys, "verify", "-n", "9") == (
        1,
        "".join(
            f"{commit[:12]} source {verdict}\n"
            for commit, verdict in zip(
                tips(repository),
                (
                    "-: not written by Argosy: it has no Argosy-Source trailer",
                    f"{source[:12]}: not comparable: engine 0.0.1 wrote it, this is {version}",
                    f"{source[:12]}: different: tree {edited}, made {made}\n  ~ README.md",
                    f"{source[:12]}: equal",
                ),
                strict=True,
            )
        ),
        "",
    )
    other = tips(repository)[1]
    assert argosy(repository, capsys, "verify", other, "-n", "1") == (
        3,
        f"{other[:12]} source {source[:12]}: not comparable: engine 0.0.1 wrote it, this is {version}\n",
        "",
    )


def test_an_engine_that_renders_something_else_commits_that_alone_and_first(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    (first,) = rendered(repository, capsys, "nginx:1")
    version, before = trailer(repository, "Argosy-Version"), tips(repository)[0]
    note = TRAILERS.format(source=first, version="0.0.1")
    on_rendered(repository, {"README.md": "as 0.0.1 wrote it\n"}, f"Render{note}Argosy-Previous: {before}\n")
    second = repository.commit({"nginx.yaml": a_deployment(image="nginx:2")})
    ended = argosy(repository, capsys, "reconcile")
    newest, upgrade, old, _ = tips(repository)
    assert ended == (
        0,
        f"committed {newest[:12]} to argosy/rendered: source {second[:12]} for 1 cluster\n",
        f"committed the engine upgrade branch=argosy/rendered commit={upgrade[:12]} engine={version}\n",
    )
    assert repository.git("log", "-2", "--format=%B", "argosy/rendered") == (
        f"Render {second[:12]}: change\n\n1 of 1 cluster changes: member1\n\n"
        f"Argosy-Source: {second}\nArgosy-Version: {version}\nArgosy-Previous: {upgrade}\nArgosy-Branch: main\n\n"
        f"Render {first[:12]} with engine {version}\n\nno cluster changes\n\n"
        f"Argosy-Source: {first}\nArgosy-Version: {version}\nArgosy-Previous: {old}\nArgosy-Branch: main"
    )


def test_a_rendered_commit_has_the_subject_and_the_author_of_its_source(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rendered(repository, capsys, "nginx:1")
    repository.commit({"nginx.yaml": a_deployment(image="nginx:2")}, "Update nginx\n\nIt is old.")
    repository.git("commit", "-q", "--amend", "--no-edit", "--author=Ada <ada@example.com>")
    source = repository.git("rev-parse", "HEAD")
    assert argosy(repository, capsys, "reconcile").code == 0
    said = repository.git("log", "-1", "--format=%an <%ae>|%cn|%s", "argosy/rendered")
    committer = repository.git("log", "-1", "--format=%cn", "argosy/rendered~1")
    assert said == f"Ada <ada@example.com>|{committer}|Render {source[:12]}: Update nginx"


def test_both_sides_of_a_diff_start_from_the_same_past(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """A change that is committed but not rendered yet is on both sides, and so not told again."""
    rendered(repository, capsys, "nginx:1")
    repository.commit({"nginx.yaml": a_deployment(image="nginx:2")})
    repository.commit({"nginx.yaml": a_deployment(image="nginx:3")})
    changed = "1 cluster changes, 1 object changed\nrisk: touches 1 of 3 clusters"
    told = f"{changed}\n\nOBJECTS\n  ~ Deployment.apps default/nginx in member1\n      "
    path = "spec.template.spec.containers[nginx].image"
    runs = (
        Run("diff main~1 main", 1, f'<main~1>..<main>: {told}{path}: "nginx:2" -> "nginx:3"\n'),
        Run("diff main~2 main", 1, f'<main~2>..<main>: {told}{path}: "nginx:1" -> "nginx:3"\n'),
        Run("diff main main", 0, "<main>..<main>: no difference\n"),
    )
    check_runs(runs, repository, capsys)


def test_a_folder_of_the_repository_is_no_fleet_of_its_own(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"apps/nginx.yaml": a_deployment(), **POLICY})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    inside = Repository(repository.path / "apps")
    assert told(argosy(inside, capsys, "reconcile"), repository) == (0, UNCHANGED, "")


# What is not committed.


def test_what_is_not_committed_is_told_and_not_looked_at(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rendered(repository, capsys, "nginx:1.29")
    repository.write({"nginx.yaml": a_deployment(image="nginx:2"), ".github/ci.yaml": "a: 1", "README.md": "# fleet"})
    here = "warning: not committed, and so not looked at: {}\n  hint: --worktree looks at the files as they stand\n"
    passing = "warning: not committed, and so not looked at: {}\n  hint: commit them first\n"
    quiet = Run("reconcile", 0, UNCHANGED, passing.format("nginx.yaml"))
    runs = (
        quiet,
        Run("render", 0, TABLE, here.format("nginx.yaml")),
        Run("render --rev HEAD", 0, TABLE),
        Run("render --worktree", 0, TABLE),
        Run("reconcile --dry-run -o json", 0, JSON, passing.format("nginx.yaml")),
    )
    check_runs(runs, repository, capsys)
    assert told(argosy(repository, capsys, "explain", "deploy/nginx"), repository).err == here.format("nginx.yaml")
    repository.write({"clusters/member9.yaml": a_cluster("member9"), "policy.yaml": None, "new/a.json": "{}"})
    many = "clusters/member9.yaml, new/a.json, nginx.yaml and 1 more"
    check_runs((Run("render", 0, TABLE, here.format(many)),), repository, capsys)


def test_what_is_not_committed_in_another_folder_is_not_told(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = {"argosy.yaml": settings(), "nginx.yaml": a_deployment(), "member1.yaml": a_cluster("member1"), **POLICY}
    repository.commit({**{f"eu/{path}": each for path, each in fleet.items()}, "us/argosy.yaml": settings()})
    repository.write({"us/nginx.yaml": a_deployment()})
    inside = Repository(repository.path / "eu")
    assert argosy(inside, capsys, "reconcile", "--bootstrap").err == ""


# Nothing else.

ELSEWHERE = [
    {"TZ": "Asia/Tokyo", "LANG": "de_DE.UTF-8", "PYTHONHASHSEED": "1"},
    {"TZ": "America/Lima", "LC_ALL": "C", "PYTHONHASHSEED": "2", "NO_COLOR": "1", "HOME": "/nowhere"},
    {"PYTHONHASHSEED": "3", "ARGOSY_AUTHOR_NAME": "Somebody", "GIT_DIR": "/nowhere", "USER": "somebody"},
]
"""Environments in which a pass runs, with the flags of the same place below."""

FLAGS = [["-vv"], ["-q", "--no-color"], ["--log-format", "json"]]


def test_nothing_but_commits_decides_what_is_committed(repository: Repository) -> None:
    """Environment, clock, flags and the order of dictionaries do not."""
    placement = {"replicaScheduling": weighted(member1=1, member2=1, member3=1)}
    selector = {"apiVersion": "apps/v1", "kind": "Deployment"}
    apps = {f"{name}.yaml": a_deployment(name, replicas=number) for number, name in enumerate("abcdefgh")}
    repository.commit({**apps, "policy.yaml": a_policy(selectors=[selector], placement=placement)})
    made = set()
    for environment, flags in zip(ELSEWHERE, FLAGS, strict=True):
        command = [sys.executable, "-m", "reconciler", "-C", str(repository.path), *flags, "reconcile", "--bootstrap"]
        whole = {**os.environ, **AUTHOR, **environment}
        subprocess.run(command, cwd=ROOT, env=whole, check=True, capture_output=True, timeout=SECONDS)
        made.add(repository.git("rev-parse", "argosy/rendered^{tree}"))
        repository.git("branch", "-q", "-D", "argosy/rendered")
    assert len(made) == 1


# Facts.

DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
BY_ROOM = {"policy.yaml": a_policy(placement={"replicaScheduling": DYNAMIC})}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.acme.example"},
    "spec": {
        "group": "acme.example",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets"},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}
WIDGET = {"apiVersion": "acme.example/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"}}
SERVES_CRDS = "apiextensions.k8s.io/v1 CustomResourceDefinition"
SELECT_WIDGETS = {"apiVersion": "acme.example/v1", "kind": "Widget"}
SELECT_CRDS = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}


def with_room(name: str, pods: int) -> dict[str, Any]:
    """A Cluster that declares how many pods fit."""
    return {**a_cluster(name), "status": {"resourceSummary": {"allocatable": {"pods": str(pods)}}}}


def serving(name: str, *apis: str) -> dict[str, Any]:
    """A Cluster that declares which APIs it serves, each as ``apps/v1 Deployment``."""
    served = [(version, {"kind": kind, "name": f"{kind.lower()}s"}) for version, kind in map(str.split, apis)]
    enablements = [{"groupVersion": version, "resources": [resource]} for version, resource in served]
    return {**a_cluster(name), "status": {"apiEnablements": enablements}}


class Known(NamedTuple):
    """Declarations about members, and a first pass by them."""

    why: str
    files: Files
    run: Run
    holds: tuple[str, ...]


def first_pass(clusters: str) -> Run:
    return Run("reconcile --bootstrap", 0, f"committed <rendered> to argosy/rendered: source <main> for {clusters}\n")


NO_ROOM = (
    "warning: Deployment.apps default/nginx: Unschedulable: failed to assign replicas: failed to scale up: Clusters"
    " available replicas 0 are not enough to schedule. No capacity is known of member1, member2, member3: declare"
    " status.resourceSummary in the Cluster, or let it be observed.\n"
)
NO_API = (
    "warning: Deployment.apps default/nginx: NoClusterFit: 0/3 clusters are available:"
    " 3 cluster(s) did not have the API resource.\n"
)

KNOWN = [
    Known(
        "a cluster of which no APIs are recorded passes the filter",
        {"nginx.yaml": a_deployment(), **POLICY},
        first_pass("1 cluster"),
        (f"member1 {NGINX} 2 nginx:1.29",),
    ),
    Known(
        "with requireRecordedAPIs it does not, as in Karmada",
        {
            "argosy.yaml": settings(requireRecordedAPIs=True),
            "nginx.yaml": a_deployment(),
            "policy.yaml": a_policy(placement={}),
        },
        first_pass(NO_CLUSTER_OF_THREE)._replace(code=1, err=NO_API + UNPLACED),
        (),
    ),
    Known(
        "a cluster that declares other APIs does not pass",
        {
            "clusters/member1.yaml": serving("member1", "apps/v1 DaemonSet"),
            "clusters/member2.yaml": serving("member2", "apps/v1 Deployment"),
            "nginx.yaml": a_deployment(),
            "policy.yaml": a_policy(placement=on_clusters("member1", "member2")),
        },
        first_pass("1 cluster"),
        (f"member2 {NGINX} 2 nginx:1.29",),
    ),
    Known(
        "a kind whose CRD goes along passes wherever the CRD goes",
        {
            "clusters/member1.yaml": serving("member1", SERVES_CRDS),
            "clusters/member2.yaml": serving("member2", SERVES_CRDS),
            "crd.yaml": CRD,
            "widget.yaml": WIDGET,
            "policy.yaml": a_policy(selectors=[SELECT_WIDGETS], placement=on_clusters("member1", "member2")),
            "crds.yaml": a_cluster_policy("crds", selectors=[SELECT_CRDS], placement=on_clusters("member1")),
        },
        first_pass("1 cluster"),
        (
            "member1 _cluster/CustomResourceDefinition.apiextensions.k8s.io/widgets.acme.example",
            "member1 default/Widget.acme.example/w",
        ),
    ),
    Known(
        "a Cluster's status is declared capacity",
        {
            **{f"clusters/member{n}.yaml": with_room(f"member{n}", room) for n, room in ((1, 30), (2, 10), (3, 0))},
            "nginx.yaml": a_deployment(replicas=8),
            **BY_ROOM,
        },
        first_pass("2 clusters"),
        (f"member1 {NGINX} 6 nginx:1.29", f"member2 {NGINX} 2 nginx:1.29"),
    ),
    Known(
        "without any capacity, dividing by room is Unschedulable, with what to do",
        {"nginx.yaml": a_deployment(), **BY_ROOM},
        first_pass(NO_CLUSTER_OF_THREE)._replace(code=1, err=NO_ROOM + UNPLACED),
        (),
    ),
]


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.why)
def test_what_is_known_of_members(known: Known, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit(known.files)
    check_runs((known.run,), repository, capsys)
    assert held(repository) == known.holds


UNMOVED = Story(
    "capacity that changes alone moves no replica that has a place",
    {
        **{f"clusters/member{number}.yaml": with_room(f"member{number}", 20) for number in (1, 2)},
        "nginx.yaml": a_deployment(replicas=8),
        **BY_ROOM,
    },
    {"clusters/member1.yaml": with_room("member1", 4)},
    (Run("reconcile", 0, UNCHANGED),),
    (f"member1 {NGINX} 4 nginx:1.29", f"member2 {NGINX} 4 nginx:1.29"),
)


def test_facts_alone_move_nothing(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    play(UNMOVED, repository, capsys)
