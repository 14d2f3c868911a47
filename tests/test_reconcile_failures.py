"""Failures of a part of a binding: bytes that stay, passes that go on, messages - and the handling of Secrets."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.repository import open_repository
from render.binding import Binding
from render.documents import emit, parse_documents
from render.gitobjects import git_object_id
from render.model import ObjectRef

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted
from .stories import (
    LOST_PLACE_HINT,
    NO_CLUSTER_OF_THREE,
    UNBUILT,
    UNPLACED,
    Run,
    Story,
    a_fleet,
    check_runs,
    held,
    play,
    removal_hint,
    settings,
)

ON_TWO = on_clusters("member1", "member2")
ONE_TO_ONE = {"replicaScheduling": weighted(member1=1, member2=1)}
ANY_DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
NGINX = "default/Deployment.apps/nginx"
BINDING = f"bindings/{NGINX}.yaml"
UNCHANGED = "unchanged: argosy/rendered <rendered> holds source <main>\n"
APPS = {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)}


def committed(clusters: str = "2 clusters") -> str:
    return f"committed <rendered> to argosy/rendered: source <main> for {clusters}\n"


def on(image_1: str, image_2: str, replicas: int = 2) -> tuple[str, ...]:
    """Return the lines of nginx in both clusters."""
    return f"member1 {NGINX} {replicas} {image_1}", f"member2 {NGINX} {replicas} {image_2}"


def override(cluster: str, *plaintext: dict[str, Any], **selector: str) -> dict[str, Any]:
    """An OverridePolicy for one cluster."""
    rule = {"targetCluster": {"clusterNames": [cluster]}, "overriders": {"plaintext": list(plaintext)}}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "tuned", "namespace": "default"},
        "spec": {"resourceSelectors": [{**ANY_DEPLOYMENT, **selector}], "overrideRules": [rule]},
    }


WRONG = {"override.yaml": override("member1", {"path": "/spec/nothing", "operator": "remove"})}
WRONG_WORDS = (
    "Deployment.apps default/nginx in member1: OverrideFailed: OverridePolicy default/tuned:"
    " spec.overrideRules[0].overriders.plaintext[0]: 'nothing' does not exist in /spec"
)

OVERRIDES = [
    Story(
        "a cluster whose override fails keeps its previous bytes, the others go on",
        APPS,
        {"nginx.yaml": a_deployment(image="nginx:2"), **WRONG},
        (
            Run("reconcile", 1, committed(), f"warning: {WRONG_WORDS}\n"),
            Run("reconcile", 1, UNCHANGED, f"warning: {WRONG_WORDS}\n"),
        ),
        on("nginx:1.29", "nginx:2"),
    ),
    Story(
        "where there are no previous bytes, the object is not there",
        {"README.md": "# fleet\n"},
        {**APPS, **WRONG},
        (Run("reconcile", 1, committed("1 cluster"), f"warning: {WRONG_WORDS}\n"),),
        on("", "nginx:1.29")[1:],
    ),
    Story(
        "a failure that is mended is mended everywhere",
        {**APPS, **WRONG},
        {"nginx.yaml": a_deployment(image="nginx:2"), "override.yaml": None},
        (Run("reconcile", 0, committed()),),
        on("nginx:2", "nginx:2"),
    ),
]

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
WIDGET_TYPE = {"apiVersion": "acme.example/v1", "kind": "Widget"}
WIDGET = {**WIDGET_TYPE, "metadata": {"name": "w", "namespace": "default"}, "spec": {"replicas": 2}}


def customization(script: str) -> dict[str, Any]:
    """Return a customization that counts a Widget's replicas by a script."""
    rules = {"replicaResource": {"luaScript": f"function GetReplicas(obj) {script} end"}}
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "widgets"},
        "spec": {"target": WIDGET_TYPE, "customizations": rules},
    }


WIDGETS = {
    "crd.yaml": CRD,
    "widget.yaml": WIDGET,
    "policy.yaml": a_policy("widgets", selectors=[WIDGET_TYPE], placement=ON_TWO),
}
UNREADABLE = {"rule.yaml": customization("return obj.spec.nothing.replicas")}
LUA_WORDS = (
    "Widget.acme.example default/w: InterpreterFailed: Widget default/w: InterpretReplica:"
    " ResourceInterpreterCustomization widgets: line 1: attempt to index field 'nothing' (a nil value)"
)

INTERPRETERS = [
    Story(
        "what cannot be interpreted any more keeps everything it has",
        {**WIDGETS, "rule.yaml": customization("return obj.spec.replicas")},
        {**UNREADABLE, "widget.yaml": {**WIDGET, "spec": {"replicas": 5}}},
        (
            Run("diff main~1 main", 1, f"<main~1>..<main>: 1 new problem\n\nPROBLEMS\n  {LUA_WORDS}\n"),
            Run("reconcile", 1, committed(), f"warning: {LUA_WORDS}\n"),
            Run("reconcile", 1, UNCHANGED, f"warning: {LUA_WORDS}\n"),
        ),
        ("member1 default/Widget.acme.example/w", "member2 default/Widget.acme.example/w"),
    ),
    Story(
        "what cannot be interpreted at first goes nowhere",
        {"README.md": "# fleet\n"},
        {**WIDGETS, **UNREADABLE},
        (Run("reconcile", 1, UNCHANGED, f"warning: {LUA_WORDS}\n{UNBUILT.replace('1 template', '2 templates')}"),),
        (),
    ),
]

DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
BY_ROOM = a_policy(placement={"replicaScheduling": DYNAMIC})
PROD = a_policy(placement={"clusterAffinity": {"labelSelector": {"matchLabels": {"env": "prod"}}}})
NO_ROOM = (
    "warning: Deployment.apps default/nginx: Unschedulable: failed to assign replicas: failed to scale up: Clusters"
    " available replicas 0 are not enough to schedule. No capacity is known of member1, member2, member3: declare"
    " status.resourceSummary in the Cluster, or let it be observed.\n"
)
NO_CLUSTER = (
    "warning: Deployment.apps default/nginx: NoClusterFit: 0/3 clusters are available: 3 cluster(s) did not match the"
    " placement cluster affinity constraint.\n" + UNPLACED
)
EMPTIED = (
    "this change removes too much at once; nothing was committed\n"
    + "".join(
        f"  {name}: 1 of 1 object (everything it holds; 1 last copy, as no cluster meets its policy):"
        " default/Deployment.apps/nginx.yaml\n"
        for name in ("member1", "member2")
    )
    + LOST_PLACE_HINT
    + removal_hint("member1 1", "member2 1")
)

PLACEMENTS = [
    Story(
        "what cannot be scheduled keeps its targets and counts, with the new content",
        {"nginx.yaml": a_deployment(replicas=4), "policy.yaml": a_policy(placement=ONE_TO_ONE)},
        {"nginx.yaml": a_deployment(replicas=9, image="nginx:2"), "policy.yaml": BY_ROOM},
        (Run("reconcile", 1, committed(), NO_ROOM), Run("reconcile", 1, UNCHANGED, NO_ROOM)),
        on("nginx:2", "nginx:2"),
    ),
    Story(
        "what fits no cluster leaves them all, under the guard",
        APPS,
        {"policy.yaml": PROD},
        (
            Run("reconcile", 6, "", EMPTIED),
            Run(
                "reconcile --allow-removal *=1",
                1,
                committed(NO_CLUSTER_OF_THREE),
                NO_CLUSTER,
            ),
        ),
        (),
    ),
]


def pending(clusters: str, state: str) -> str:
    """The line about nginx where dispatching to clusters is suspended."""
    told = f"not dispatched to {clusters}: dispatching is suspended; {clusters} {state}"
    return f"warning: Deployment.apps default/nginx is {told}\n"


SUSPENDED = [
    Story(
        "a cluster where dispatching is suspended keeps its bytes, the others go on",
        APPS,
        {
            "nginx.yaml": a_deployment(image="nginx:2"),
            "policy.yaml": a_policy(
                placement=ON_TWO, suspension={"dispatchingOnClusters": {"clusterNames": ["member1"]}}
            ),
        },
        (Run("reconcile", 0, committed(), pending("member1", "keeps an older version")),),
        on("nginx:1.29", "nginx:2"),
    ),
    Story(
        "where all dispatching is suspended, every cluster keeps its bytes",
        APPS,
        {
            "nginx.yaml": a_deployment(image="nginx:2"),
            "policy.yaml": a_policy(placement=ON_TWO, suspension={"dispatching": True}),
        },
        (Run("reconcile", 0, committed(), pending("member1, member2", "keep an older version")),),
        on("nginx:1.29", "nginx:1.29"),
    ),
    Story(
        "what is suspended from its beginning is not there",
        {"README.md": "# fleet\n"},
        {**APPS, "policy.yaml": a_policy(placement=ON_TWO, suspension={"dispatching": True})},
        (
            Run(
                "reconcile",
                0,
                committed(NO_CLUSTER_OF_THREE),
                pending("member1, member2", "do not have it"),
            ),
        ),
        (),
    ),
    Story(
        "what is suspended no longer is what its template says",
        {**APPS, "policy.yaml": a_policy(placement=ON_TWO, suspension={"dispatching": True})},
        {"policy.yaml": a_policy(placement=ON_TWO)},
        (Run("reconcile", 0, committed()),),
        on("nginx:1.29", "nginx:1.29"),
    ),
]

ANY_SECRET = {"apiVersion": "v1", "kind": "Secret"}
SECRETS_POLICY = {"policy.yaml": a_policy("secrets", selectors=[ANY_SECRET], placement=on_clusters("member1"))}
SECRET = {**ANY_SECRET, "metadata": {"name": "plain", "namespace": "default"}, "stringData": {"password": "hunter2"}}
WARNED = "warning: plain.yaml:1: in clear text for everyone who can read the repository: Secret default/plain\n"
REFUSED = (
    "plain.yaml:1: Secret default/plain is in clear text, and argosy.yaml says secrets: Refuse\n"
    "  hint: encrypt it with SOPS, or keep it out of Git\n"
)

SECRETS = [
    Story(
        "a Secret is carried, and everybody is told that it can be read",
        SECRETS_POLICY,
        {"plain.yaml": SECRET},
        (
            Run(
                "validate",
                0,
                f"{WARNED}0 problems, 1 warning: 1 template, 1 propagation policy, 0 override policies, 3 clusters in"
                " 5 files\n",
            ),
            Run("reconcile", 0, committed("1 cluster"), WARNED),
            Run("reconcile", 0, UNCHANGED, WARNED),
        ),
        ("member1 default/Secret/plain",),
    ),
    Story(
        "secrets: Refuse lets no Secret in that can be read",
        {**SECRETS_POLICY, "argosy.yaml": settings(secrets="Refuse")},
        {"plain.yaml": SECRET},
        (
            Run("validate", 3, f"{REFUSED}1 problem, 0 warnings\n"),
            Run("reconcile", 3, "", f"{REFUSED}1 problem; nothing was changed\n"),
        ),
        (),
    ),
]

BROKEN_FILE = (
    "broken.yaml:2: no value where one must stand\n"
    "  hint: if the file is no Kubernetes manifest, name it under source.ignore in argosy.yaml or in .argosyignore\n"
    "policy.yaml:12: spec.priority: must be a whole number, not a string\n"
    "2 problems; nothing was changed\n"
)
BROKEN = [
    Story(
        "of a commit with broken files every problem is told, and the last good one stays",
        APPS,
        {
            "nginx.yaml": a_deployment(image="nginx:2"),
            "broken.yaml": "kind: [\n",
            "policy.yaml": a_policy(priority="high", placement=ON_TWO),
        },
        (
            Run("reconcile", 3, "", BROKEN_FILE),
            Run("render", 3, "", BROKEN_FILE),
            Run("render --commit", 3, "", BROKEN_FILE),
        ),
        on("nginx:1.29", "nginx:1.29"),
    )
]

STORIES = [*BROKEN, *OVERRIDES, *INTERPRETERS, *PLACEMENTS, *SUSPENDED, *SECRETS]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.why)
def test_what_fails_in_part(story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(story, a_fleet(tmp_path / "fleet"), capsys)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return a_fleet(tmp_path / "fleet")


def conditions(repository: Repository, path: str = BINDING) -> str:
    """The end of a binding's file."""
    return repository.show(path).partition("status:\n")[2]


def test_a_binding_says_where_it_could_not_be_built_why_and_since_when(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit(APPS)
    argosy(repository, capsys, "reconcile", "--bootstrap")
    since = repository.commit({"nginx.yaml": a_deployment(image="nginx:2"), **WRONG})
    argosy(repository, capsys, "reconcile")
    said = (
        "  conditions:\n"
        "  - message: Binding has been scheduled successfully.\n"
        "    reason: Success\n"
        '    status: "True"\n'
        "    type: Scheduled\n"
        "  - clusters:\n"
        "    - member1\n"
        "    message: \"member1: OverridePolicy default/tuned: spec.overrideRules[0].overriders.plaintext[0]: 'nothing'"
        ' does not exist in /spec"\n'
        "    reason: OverrideFailed\n"
        "    since: {}\n"
        '    status: "False"\n'
        "    type: Rendered"
    )
    assert conditions(repository) == said.format(quoted(since))
    repository.commit({"nginx.yaml": a_deployment(image="nginx:3")})
    argosy(repository, capsys, "reconcile")
    assert conditions(repository) == said.format(quoted(since))
    assert held(repository) == on("nginx:1.29", "nginx:3")


def test_only_the_clusters_of_a_binding_that_could_not_be_built_may_keep_older_manifests(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({**APPS, "clusters/member3.yaml": a_cluster("member3")})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    built = repository.git("rev-parse", "argosy/rendered")
    repository.commit(WRONG)
    argosy(repository, capsys, "reconcile")
    failed = repository.git("rev-parse", "argosy/rendered")
    with open_repository(str(repository.path)) as opened:
        commits = RenderedCommits(opened)
        complete = {
            commit: [commits.desired(f"member{number}", commit).is_complete for number in (1, 2, 3)]
            for commit in (built, failed)
        }
    assert complete == {built: [True, True, True], failed: [False, False, True]}


class Walked(dict[ObjectRef, Binding]):
    """Bindings that count how often somebody went through all of them."""

    walks = 0

    def values(self) -> Any:
        self.walks += 1
        return super().values()

    def items(self) -> Any:
        self.walks += 1
        return super().items()


def test_what_a_thousand_clusters_hold_is_told_by_as_many_walks_over_the_bindings_as_for_one(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit(APPS)
    argosy(repository, capsys, "reconcile", "--bootstrap")
    commit = repository.git("rev-parse", "argosy/rendered")
    with open_repository(str(repository.path)) as opened:
        commits, walks = RenderedCommits(opened), []
        rendered = commits.commit_contents(commit)
        bindings = Walked(rendered.bindings)
        commits._commits[commit] = replace(rendered, bindings=bindings)
        for number in range(1000):
            commits.desired(f"member{number}", commit)
            walks.append(bindings.walks)
        departed = commits.departed_objects("member1", (commit,))
    assert bindings
    assert walks == [walks[0]] * 1000
    assert departed == ()


def quoted(commit: str) -> str:
    """A commit id as YAML: in quotes where it could be read as a number."""
    return emit({"since": commit}).decode().partition(": ")[2].strip()


def test_replicas_in_the_tree_add_up_to_the_binding(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    placement = {"replicaScheduling": weighted(member1=5, member2=3, member3=2)}
    repository.commit({"nginx.yaml": [a_deployment(replicas=17), a_policy(placement=placement)]})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    assert held(repository) == (
        f"member1 {NGINX} 9 nginx:1.29",
        f"member2 {NGINX} 5 nginx:1.29",
        f"member3 {NGINX} 3 nginx:1.29",
    )
    clusters = repository.show(BINDING).partition("  clusters:\n")[2].splitlines()[:3]
    assert clusters == [
        f"  - {{name: member{number}, replicas: {count}}}" for number, count in ((1, 9), (2, 5), (3, 3))
    ]


# What SOPS encrypted.

ENCRYPTED = """\
# kept as it is
apiVersion: v1
kind: Secret
metadata:
    name: encrypted
    namespace: default
stringData:
    zebra: ENC[AES256_GCM,data:Zg==,iv:aXY=,tag:dGFn,type:str]
    apple: 'ENC[AES256_GCM,data:Zw==,iv:aXY=,tag:dGFn,type:str]'
sops:
    lastmodified: "2026-11-21T12:00:00Z"
    mac: ENC[AES256_GCM,data:bWFj,iv:aXY=,tag:dGFn,type:str]
    version: 3.9.1
"""
LABELLED = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "ClusterOverridePolicy",
    "metadata": {"name": "labels"},
    "spec": {"overrideRules": [{"overriders": {"labelsOverrider": [{"operator": "add", "value": {"a": "b"}}]}}]},
}


OTHER = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
FILES = {
    "a file of its own": ENCRYPTED,
    "a file with other line ends": ENCRYPTED.replace("\n", "\r\n"),
    "the first of two documents": f"{ENCRYPTED}---\n{OTHER}",
    "the last of two documents": f"{OTHER}---\n{ENCRYPTED}",
}


@pytest.mark.parametrize("where", FILES)
def test_an_encrypted_document_is_carried_byte_for_byte_and_never_overridden(
    where: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FILES[where]
    repository.commit({"encrypted.yaml": text.encode(), "labels.yaml": LABELLED, **SECRETS_POLICY})
    check_runs((Run("reconcile --bootstrap", 0, committed("1 cluster")),), repository, capsys)
    carried = repository.git("rev-parse", "argosy/rendered:clusters/member1/default/Secret/encrypted.yaml")
    want = (text if "two" not in where else ENCRYPTED).encode()
    assert carried == git_object_id("blob", want).hex()


def test_an_encrypted_item_of_a_list_is_never_overridden(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = parse_documents(ENCRYPTED.encode())[0].value
    listed = {"apiVersion": "v1", "kind": "List", "items": [manifest]}
    repository.commit({"encrypted.yaml": listed, "labels.yaml": LABELLED, **SECRETS_POLICY})
    check_runs((Run("reconcile --bootstrap", 0, committed("1 cluster")),), repository, capsys)
    carried = repository.show("clusters/member1/default/Secret/encrypted.yaml")
    assert parse_documents(f"{carried}\n".encode())[0].value == manifest


class Namespaced(NamedTuple):
    """An encrypted document whose namespace is wrong, and what is said about it."""

    why: str
    text: str
    said: str


NAMESPACED = [
    Namespaced(
        "it needs the namespace it was encrypted with",
        ENCRYPTED.replace("    namespace: default\n", ""),
        "encrypted.yaml:4: metadata.namespace: required, but missing\n"
        "  hint: encrypt it with its namespace: nothing is written into what SOPS encrypted\n",
    ),
    Namespaced(
        "of a kind without namespaces it may not have one",
        ENCRYPTED.replace("v1\nkind: Secret", "rbac.authorization.k8s.io/v1\nkind: ClusterRole"),
        "encrypted.yaml:6: metadata.namespace: the kind is cluster-scoped\n"
        "  hint: encrypt it without: nothing is taken out of what SOPS encrypted\n",
    ),
]


@pytest.mark.parametrize("case", NAMESPACED, ids=lambda case: case.why)
def test_nothing_is_written_into_an_encrypted_document(
    case: Namespaced, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"encrypted.yaml": ENCRYPTED, **SECRETS_POLICY})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"encrypted.yaml": case.text})
    run = Run("reconcile", 3, "", f"{case.said}1 problem; nothing was changed\n")
    check_runs((run,), repository, capsys)
