"""``argosy init``: from an empty folder, or any repository, to files that are valid and propagate nothing yet."""

import json
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.edit.pipelines import PIPELINES
from render.documents import parse_documents

from .build import Repository, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .clusters import Member

KUBECONFIG = """\
apiVersion: v1
kind: Config
contexts:
- {name: kind-eu, context: {cluster: eu, user: me}}
- {name: admin@Prod, context: {cluster: prod, user: me}}
- {name: kind-us, context: {cluster: us, user: me}}
clusters: []
users: []
"""
FLEET = """\
apiVersion: argosy.dev/v1alpha1
kind: Fleet
metadata:
  name: default
spec:
  clusters:
  - context: admin@Prod
    name: admin-prod
  - name: kind-eu
  - name: kind-us
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    return str(path)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "fleet")


def files_of(repository: Repository) -> list[str]:
    return repository.git("ls-files", "--others", "--exclude-standard").splitlines()


def test_every_context_becomes_a_cluster(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig)
    assert (ended.code, ended.out.splitlines()[:2]) == (0, ["0 of 0 objects are read", "next:"])
    assert files_of(repository) == [
        "argosy.yaml",
        "clusters/admin-prod.yaml",
        "clusters/kind-eu.yaml",
        "clusters/kind-us.yaml",
        "policies/starter.yaml",
    ]
    assert (repository.path / "argosy.yaml").read_text() == FLEET
    checked = argosy(repository, capsys, "validate")
    assert (checked.code, checked.out.splitlines()[0]) == (
        0,
        "warning: policies/starter.yaml:14: spec.resourceSelectors[0]: selects no template",
    )


def test_a_first_pass_over_a_new_fleet_places_nothing(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"apps/nginx.yaml": a_deployment()})
    assert argosy(repository, capsys, "init", "--new-cluster", "eu", "--new-cluster", "us").code == 0
    assert not parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value.get("spec")
    repository.commit({})
    first = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert (first.code, "nothing is rendered of 1 template: no policy selects" in first.err) == (1, True)
    assert repository.files("argosy/rendered", "clusters") == []


def test_what_the_first_pass_will_place_is_said_before_what_to_run(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Policies that are there already, as of a control plane, place objects at once: nothing said so before."""
    maps = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    policies = [
        a_policy("maps", selectors=maps),
        a_policy("web", selectors=[WEB], placement=on_clusters("nowhere")),
    ]
    objects = [a_config_map("one"), a_config_map("two"), a_deployment(name="web"), a_deployment(name="left")]
    repository.write({"apps/all.yaml": objects, "karmada/policies.yaml": policies})
    ended = argosy(repository, capsys, "init", "--new-cluster", "eu", "--new-cluster", "us")
    absent = "1 cluster that policies name and that the fleet has not: nowhere: argosy init --new-cluster NAME adds one"
    assert ended.out.splitlines()[:6] == [
        "6 of 6 objects are read",
        "the first pass places 2 objects in eu, us",
        "1 object cannot be placed or built, as argosy validate says",
        "1 object goes nowhere until a policy selects it",
        absent,
        "next:",
    ]
    repository.commit({})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    placed = [each for each in repository.files("argosy/rendered", "clusters") if "Namespace" not in each]
    assert len(placed) == 4


WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def test_what_is_printed_is_not_written(
    repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig, "--context", "kind-eu", "--print")
    assert (ended.code, [line for line in ended.out.splitlines() if line.startswith("# ")][:3]) == (
        0,
        ["# argosy.yaml", "# clusters/kind-eu.yaml", "# policies/starter.yaml"],
    )
    assert files_of(repository) == []


@pytest.mark.parametrize(("host", "path"), [("github", ".github/workflows/argosy.yml"), ("gitlab", ".gitlab-ci.yml")])
def test_pipelines_are_written_on_request(
    host: str, path: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "init", "--new-cluster", "eu", "--ci", host)
    assert ended.code == 0
    assert ended.out.splitlines()[2].startswith(f"  write where you keep Argosy, and its commit, into {path}: ")
    text = (repository.path / path).read_bytes()
    assert parse_documents(text)[0].value
    assert b"argosy reconcile\n" in text


def test_a_pipeline_for_github_is_strict_comments_and_names_where_credentials_go() -> None:
    (text,) = PIPELINES["github"].values()
    jobs = parse_documents(text.encode())[0].value["jobs"]
    check, reconcile = jobs["check"], jobs["reconcile"]
    assert check["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert "secrets." not in json.dumps(check)
    (render,) = (step for step in check["steps"] if "/actions/render@" in step.get("uses", ""))
    assert render["with"] == {"strict": "true"}
    assert (reconcile["environment"], reconcile["permissions"]) == ("argosy", {"contents": "write"})
    used = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert [each.partition("@")[0] for each in used if "argosy" in each] == [
        "__OWNER__/argosy/.github/actions/render",
        "__OWNER__/argosy/.github/actions/install",
    ]
    secrets = set(re.findall(r"secrets\.(\w+)", text))
    comments = "".join(line for line in text.splitlines() if line.startswith("#"))
    assert secrets == {name for name in secrets if name in comments} == {"FLEET_KUBECONFIG"}
    assert "--strict" in PIPELINES["gitlab"][".gitlab-ci.yml"]


def test_folders_that_repeat_others_are_left_out(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write(
        {
            f"{folder}/{name}.yaml": a_config_map(name, at=folder)
            for folder in ("production", "staging")
            for name in ("one", "two")
        }
    )
    assert argosy(repository, capsys, "init", "--new-cluster", "eu").code == 0
    fleet = parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value
    assert fleet["spec"] == {"source": {"ignore": ["/staging/"]}}
    assert "left out" not in argosy(repository, capsys, "validate").out


def test_variants_that_show_once_others_are_left_out_are_left_out_as_well(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two files of a folder neither could give way to another folder, as long as both were there."""
    maps = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    base, wave = (a_policy("p", selectors=maps, placement=on_clusters(name)) for name in ("one", "two"))
    repository.write(
        {
            "base/app.yaml": [{**a_config_map("app"), "data": {"v": "1"}}, base],
            "base/app-v2.yaml": [{**a_config_map("app"), "data": {"v": "2"}}, base],
            "wave/app.yaml": [{**a_config_map("wave"), "data": {"v": "1"}}, wave],
            "wave/app-v2.yaml": [{**a_config_map("wave"), "data": {"v": "2"}}, wave],
        }
    )
    began = argosy(repository, capsys, "init", "--new-cluster", "one")
    assert (began.code, began.out.splitlines()[0]) == (0, "2 of 8 objects are read")
    fleet = parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value
    assert fleet["spec"]["source"]["ignore"] == ["/base/app-v2.yaml", "/wave/"]
    assert argosy(repository, capsys, "validate").code == 0


def test_what_stops_every_pass_is_said_with_the_question_whether_its_files_are_meant(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """A policy that Karmada refuses may be a sample, or one that a person has to mend: only that person knows."""
    refused = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": "p"}}
    repository.write({"a.yaml": a_config_map("a"), "docs/[1].yaml": refused, "docs/2.yaml": {**refused, "spec": 1}})
    began = argosy(repository, capsys, "init", "--new-cluster", "one")
    lines = began.out.splitlines()
    asked = "  are their files meant? If not, add them to spec.source.ignore of argosy.yaml: "
    said = ["2 problems stop every pass: argosy validate names them", f"{asked}/docs/2.yaml, /docs/\\[1].yaml"]
    assert (began.code, lines[1:3]) == (0, said)
    assert argosy(repository, capsys, "validate").code == 3
    fleet = repository.path / "argosy.yaml"
    ignore = json.dumps(lines[2].removeprefix(asked).split(", "))
    fleet.write_text(f"{fleet.read_text()}spec: {{source: {{ignore: {ignore}}}}}\n")
    assert argosy(repository, capsys, "validate").code == 0


def test_clusters_that_policies_name_and_nothing_declares_are_offered(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Policies of a hub of Karmada, where clusters are no files."""
    maps = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    first, second = (a_policy(name, selectors=maps, placement=on_clusters("b", name)) for name in ("c", "a"))
    repository.write({"a.yaml": a_config_map("a"), "p.yaml": first, "q.yaml": second})
    offer = "that policies name and that the fleet has not: {}: argosy init --new-cluster NAME adds one"
    began = argosy(repository, capsys, "init", "--new-cluster", "b")
    assert f"2 clusters {offer.format('a, c')}" in began.out.splitlines(), began.out
    repository.commit({})
    added = argosy(repository, capsys, "init", "--new-cluster", "a")
    assert f"1 cluster {offer.format('c')}" in added.out.splitlines(), added.out


class Repetition(NamedTuple):
    why: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    ignore: list[str]


REPETITIONS = [
    Repetition("all of the second", ("a", "b", "c", "d"), ("a", "b"), ["/second/"]),
    Repetition("half of the second", ("a",), ("a", "b"), ["/second/"]),
    Repetition("all of the first, and little of the second", ("a",), ("a", "b", "c"), ["/first/"]),
    Repetition("little of either", ("a", "b", "c"), ("a", "d", "e"), []),
]


def test_of_many_folders_that_repeat_others_the_first_are_named_with_the_number_of_the_rest(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [f"env-{number:02}" for number in range(30)]
    repository.write({f"{name}/web.yaml": {**a_config_map("web"), "data": {"env": name}} for name in folders})
    found = [
        line for line in argosy(repository, capsys, "init", "--new-cluster", "one").err.splitlines() if "again" in line
    ]
    named = "/env-01/, /env-02/, /env-03/ and 26 more"
    again = "29 folders that hold objects of another folder again"
    assert found == [f"found {again}: argosy.yaml leaves them out: {named}"]
    assert parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value["spec"]["source"]["ignore"] == [
        f"/{name}/" for name in folders[1:]
    ]


@pytest.mark.parametrize("case", REPETITIONS, ids=lambda case: case.why)
def test_a_folder_is_left_out_only_if_it_holds_little_else(
    case: Repetition, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, names in (("first", case.first), ("second", case.second)):
        repository.write({f"{folder}/{name}.yaml": a_config_map(name, at=folder) for name in names})
    assert argosy(repository, capsys, "init", "--new-cluster", "eu").code == 0
    fleet = parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value
    assert fleet.get("spec", {}).get("source", {}).get("ignore", []) == case.ignore


class Refusal(NamedTuple):
    why: str
    files: dict[str, bytes]
    words: tuple[str, ...]
    said: str


REFUSALS = [
    Refusal(
        "a context is not there",
        {},
        ("--context", "kind-eux"),
        "argosy: the kubeconfig has no context called 'kind-eux'\n  hint: did you mean 'kind-eu'?\n",
    ),
    Refusal(
        "a file is in the way",
        {"policies/starter.yaml": b"a: 1\n"},
        (),
        "argosy: policies/starter.yaml is there already\n  hint: move that file away\n",
    ),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.why)
def test_what_is_refused_writes_nothing(
    case: Refusal, repository: Repository, kubeconfig: str, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write(case.files)
    ended = argosy(repository, capsys, "init", "--kubeconfig", kubeconfig, *case.words)
    assert ended == (3, "", case.said)
    assert files_of(repository) == sorted(case.files)


class Layout(NamedTuple):
    why: str
    files: dict[str, Any]
    found: tuple[str, ...]
    code: int = 0


FLUX = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "apps"}}
APPLICATION = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "guestbook"}}
KUSTOMIZATION = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": ["a.yaml"]}
CHART = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
LAYOUTS = [
    Layout("an empty folder", {}, ()),
    Layout(
        "plain files",
        {"apps/a/web.yaml": [a_config_map("a"), a_config_map("b")], "c.yaml": a_config_map("c")},
        ("3 objects in 2 files of apps/, the top folder",),
    ),
    Layout(
        "kustomizations, as Flux builds them",
        {
            "clusters/home/flux-system/kustomization.yaml": KUSTOMIZATION,
            "clusters/home/apps.yaml": FLUX,
            "clusters/home/flux-system/a.yaml": a_config_map("flux"),
            "apps/kustomization.yaml": KUSTOMIZATION,
            "apps/a.yaml": a_config_map("a"),
        },
        (
            "3 objects in 3 files of apps/, clusters/",
            "2 kustomizations are built, and need no tool for it",
            "Flux deploys from here: its own objects go to members only if a policy selects them",
        ),
    ),
    Layout(
        "what other languages and templates make",
        {
            "a.cue": "a: 1\n",
            "lib/b.libsonnet": "{}\n",
            "c.jsonnet": "{}\n",
            "d.yaml.j2": "a: {{ a }}\n",
            "e.yaml": "#@ load('@ytt:data', 'data')\n---\napiVersion: v1\nkind: Service\n",
        },
        (
            "1 template of ytt is not read: commit what it makes",
            "1 file in CUE is not read: commit what CUE makes",
            "1 file in Jinja is not read: commit what Jinja makes",
            "2 files in Jsonnet are not read: commit what Jsonnet makes",
        ),
        code=1,
    ),
    Layout(
        "charts that Argo CD installs",
        {"web/Chart.yaml": CHART, "web/templates/a.yaml": "a: {{ .Values.a }}\n", "argocd/web.yaml": APPLICATION},
        (
            "1 object in 1 file of argocd/",
            "Argo CD deploys from here: its own objects go to members only if a policy selects them",
            "1 Helm chart that nothing renders: argosy init --charts writes a HelmChart, which has it rendered by helm",
        ),
    ),
    Layout(
        "staging and production",
        {f"{folder}/web.yaml": a_config_map("web", at=folder) for folder in ("production", "staging")},
        (
            "1 object in 1 file of production/",
            "/staging/ holds objects of another folder again: argosy.yaml leaves it out",
        ),
    ),
    Layout(
        "many environments",
        {f"{folder}/web.yaml": a_config_map("web", at=folder) for folder in ("a", "b", "c", "d", "e", "f")},
        (
            "1 object in 1 file of a/",
            (
                "5 folders that hold objects of another folder again: argosy.yaml leaves them out:"
                " /b/, /c/, /d/ and 2 more"
            ),
        ),
    ),
    Layout(
        "a folder that repeats another one and holds something of its own",
        {
            **{f"{folder}/web.yaml": a_config_map("web", at=folder) for folder in ("production", "staging")},
            "staging/own.yaml": a_config_map("own"),
        },
        (
            "1 object in 1 file of production/",
            "/staging/ holds objects of another folder again: argosy.yaml leaves it out",
            "1 object that is nowhere else, and left out with the folder: ConfigMap default/own",
        ),
    ),
    Layout(
        "a base of another repository",
        {
            "a.yaml": a_config_map("a"),
            "web/kustomization.yaml": "resources: ['https://github.com/org/repo//web?ref=v1']",
        },
        (
            "1 object in 1 file of the top folder",
            "1 chart or repository of others, which argosy lock pins and fetches",
        ),
    ),
    Layout(
        "broken files",
        {"a.yaml": "kind: [\n", "b.yaml": a_config_map("b")},
        ("1 object in 1 file of the top folder", "1 problem to look at: argosy validate"),
    ),
]


@pytest.mark.parametrize("case", LAYOUTS, ids=lambda case: case.why)
def test_what_the_repository_holds_is_said(
    case: Layout, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write(case.files)
    ended = argosy(repository, capsys, "init", "--new-cluster", "one")
    assert ended.code == case.code, ended.err
    said = [line.removeprefix("found ") for line in ended.err.splitlines() if line.startswith("found ")]
    assert tuple(said) == case.found


def test_problems_that_init_counts_are_those_that_validate_tells(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "a-"}}
    variants = [a_config_map("v", at="one"), a_config_map("v", at="two")]
    repository.write({"a.yaml": "kind: [\n", "v.yaml": variants, "j.yaml": job, "more/j.yaml": job})
    begun = argosy(repository, capsys, "init", "--new-cluster", "one")
    found = [line for line in begun.err.splitlines() if line.endswith(": argosy validate")]
    assert found == [
        "found 3 problems of 2 kinds to look at: argosy validate",
        "found 1 warning about what is left out: argosy validate",
    ]
    repository.commit({})
    checked = argosy(repository, capsys, "validate")
    assert checked.out.splitlines()[-1].startswith("3 problems, 1 warning")
    assert checked.out.count("warning: v.yaml") == 1


def test_locking_comes_next_where_an_object_names_another_repository(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    lib = {"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository"}
    named = {"metadata": {"name": "lib", "namespace": "flux-system"}, "spec": {"url": "https://git.example.com/lib"}}
    release = {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": "web"}}
    other = flux("lib", "./deploy", sourceRef={"kind": "GitRepository", "name": "lib"})
    home = [flux("apps", "./apps"), other, {**lib, **named}]
    repository.write({"clusters/home/apps.yaml": home, "apps/web.yaml": release})
    ended = argosy(repository, capsys, "init", "--new-cluster", "one")
    assert ended.out.splitlines()[:5] == [
        "4 of 4 objects are read",
        "2 objects go nowhere until a policy selects them",
        "next:",
        "  argosy lock",
        "  git add argosy.yaml argosy/clusters/one.yaml argosy/policies/starter.yaml argosy.lock",
    ]
    rendered = "HelmRelease in source.render of argosy.yaml has charts rendered"
    assert f"found 1 HelmRelease read as objects: {rendered}\n" in ended.err


def test_files_that_git_ignores_are_added_all_the_same(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a repository that ignores all but some folders, nothing else would be read, and git add would refuse it."""
    repository.commit({".gitignore": "*\n!/apps\n"})
    ended = argosy(repository, capsys, "init", "--new-cluster", "one")
    said = "git ignores argosy.yaml, clusters/one.yaml, policies/starter.yaml, so that nothing reads what was written"
    assert f"{said}: git add -f adds it\n" in ended.err
    add = ended.out.splitlines()[2]
    assert add == "  git add -f argosy.yaml clusters/one.yaml policies/starter.yaml"
    repository.git(*shlex.split(add)[1:])
    assert "1 cluster in 3 files" in argosy(repository, capsys, "validate").out
    joined = argosy(repository, capsys, "cluster", "join", "two")
    assert "git ignores clusters/two.yaml, so that" in joined.err


def flux(name: str, path: str, **spec: Any) -> dict[str, Any]:
    """A Kustomization of Flux."""
    metadata = {"name": name, "namespace": "flux-system"}
    source = {"kind": "GitRepository", "name": "flux-system"}
    return {**FLUX, "metadata": metadata, "spec": {"path": path, "sourceRef": source, **spec}}


def a_folder(*names: str) -> dict[str, Any]:
    """A folder with a kustomization that lists these files."""
    return {"kind": "Kustomization", "resources": [f"{name}.yaml" for name in names]}


def argo(name: str, spec: dict[str, Any], kind: str = "Application") -> dict[str, Any]:
    """An object of Argo CD."""
    metadata = {"name": name, "namespace": "argocd"}
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


def environments() -> dict[str, Any]:
    """The layout that Flux teaches: two clusters, overlays of one base, and infrastructure."""
    files: dict[str, Any] = {"apps/base/kustomization.yaml": a_folder("web"), "apps/base/web.yaml": a_config_map("web")}
    for name in ("production", "staging"):
        files |= {
            f"clusters/{name}/flux-system/kustomization.yaml": a_folder("gotk-sync"),
            f"clusters/{name}/flux-system/gotk-sync.yaml": flux("flux-system", f"./clusters/{name}"),
            f"clusters/{name}/apps.yaml": flux("apps", f"./apps/{name}", postBuild={"substitute": {"a": "b"}}),
            f"clusters/{name}/infrastructure.yaml": flux("infrastructure", "./infrastructure/controllers"),
            f"apps/{name}/kustomization.yaml": {"kind": "Kustomization", "resources": ["../base"], "nameSuffix": "-x"},
        }
    return {**files, "infrastructure/controllers/ingress.yaml": a_config_map("ingress")}


class Deployment(NamedTuple):
    why: str
    files: dict[str, Any]
    source: dict[str, list[str]] | None
    found: tuple[str, ...]
    templates: str


PART = "less than half of the objects here, so that all are read as files, and the Applications go to members only"
AS_FLUX = "argosy.yaml has its Kustomizations read, which are then no objects"
AS_APPS = "argosy.yaml has its Applications read, which are then no objects"
AS_ARGO = (
    "Argo CD deploys 3 folders: argosy.yaml has its Applications and ApplicationSets read, which are then no objects"
)
UNREAD = "not read, by source.paths of argosy.yaml"
DEPLOYMENTS = [
    Deployment(
        "environments of Flux, of which one is read",
        environments(),
        {"paths": ["argosy", "clusters/production"], "render": ["Kustomization"]},
        (
            f"Flux deploys 2 folders named in clusters/production: {AS_FLUX}",
            "clusters/staging is another environment of Flux: its folders are not read; overrides say what differs",
        ),
        "2 templates",
    ),
    Deployment(
        "environments of two apps, each of which has one that is read",
        {
            **{f"mail/{name}/mail.yaml": argo("mail", {"source": {"path": "a"}}) for name in ("plain", "tolerant")},
            **{f"chat/{name}/chat.yaml": argo("chat", {"source": {"path": "b"}}) for name in ("beta", "tolerant")},
            "a/a.yaml": a_config_map("a"),
            "b/b.yaml": a_config_map("b"),
        },
        {"paths": ["clusters", "policies", "chat/beta", "mail/plain"], "render": ["Application"]},
        (
            f"Argo CD deploys 2 folders named in chat/beta, mail/plain: {AS_APPS}",
            *(
                f"{each} is another environment of Argo CD: its folders are not read; overrides say what differs"
                for each in ("chat/tolerant", "mail/tolerant")
            ),
        ),
        "2 templates",
    ),
    Deployment(
        "apps of Flux beside their objects",
        {
            "kubernetes/apps/web/kustomization.yaml": a_folder("ks"),
            "kubernetes/apps/web/ks.yaml": flux("web", "./kubernetes/apps/web/app"),
            "kubernetes/apps/web/app/kustomization.yaml": a_folder("web"),
            "kubernetes/apps/web/app/web.yaml": a_config_map("web"),
            "kubernetes/flux/apps.yaml": flux("apps", "./kubernetes/apps"),
        },
        {"paths": ["clusters", "policies", "kubernetes/flux"], "render": ["Kustomization"]},
        (f"Flux deploys 1 folder: {AS_FLUX}",),
        "1 template",
    ),
    Deployment(
        "artifacts that Flux cuts out of the repository, and folders of another one",
        {
            "flux/apps.yaml": {
                **flux("apps", "./web"),
                "spec": {"path": "./web", "sourceRef": {"kind": "ExternalArtifact", "name": "apps"}},
            },
            "flux/artifacts.yaml": {
                "apiVersion": "source.extensions.fluxcd.io/v1beta1",
                "kind": "ArtifactGenerator",
                "metadata": {"name": "all", "namespace": "flux-system"},
                "spec": {"artifacts": [{"name": "apps", "copy": [{"from": "@x/apps/web/**", "to": "@artifact/web/"}]}]},
            },
            "apps/web/web.yaml": a_config_map("web"),
            "apps/web/more.yaml": flux("more", "./elsewhere"),
            "web/other.yaml": a_config_map("other"),
        },
        {"paths": ["clusters", "policies", "flux"], "render": ["Kustomization"]},
        (
            f"Flux deploys 1 folder: {AS_FLUX}",
            "1 warning about what is left out: argosy validate",
            f"1 object that Flux does not deploy is {UNREAD}: ConfigMap default/other",
        ),
        "2 templates",
    ),
    Deployment(
        "an example of Argo CD in a repository that is something else",
        {
            "examples/argocd/app.yaml": argo("web", {"source": {"path": "examples/web"}}),
            "examples/web/web.yaml": a_config_map("web"),
            **{f"manifests/{name}.yaml": a_config_map(name) for name in ("a", "b")},
        },
        None,
        (f"Argo CD deploys examples/web: {PART} if a policy selects them",),
        "4 templates",
    ),
    Deployment(
        "Applications for clusters that are not there, so that nothing comes of them",
        {
            "argocd/web.yaml": argo("web", {"source": {"path": "web"}, "destination": {"name": "far"}}),
            "argocd/own.yaml": argo("own", {"source": {"path": "more"}, "destination": {"name": "in-cluster"}}),
            "argocd/more.yaml": argo("more", {"source": {"path": "more"}, "destination": {"name": "one"}}),
            "web/web.yaml": [a_config_map(name) for name in ("web", "shop", "mail")],
            "more/more.yaml": a_config_map("more"),
        },
        None,
        (
            f"Argo CD deploys more, web: {PART} if a policy selects them",
            "1 cluster that Argo CD deploys to and that the fleet has not: far; argosy cluster join NAME adds one",
        ),
        "7 templates",
    ),
    Deployment(
        "policies of Karmada beside what Argo CD deploys",
        {
            "argocd/web.yaml": argo("web", {"source": {"path": "web"}}),
            "web/web.yaml": a_config_map("web"),
            "karmada/inner/policy.yaml": a_policy("here", placement=on_clusters("one")),
            "karmada/policy.yaml": a_policy("there", placement=on_clusters("one")),
            "top.yaml": a_policy("top", placement=on_clusters("one")),
        },
        {"paths": ["clusters", "policies", "argocd", "karmada", "top.yaml"], "render": ["Application"]},
        (f"Argo CD deploys 1 folder: {AS_APPS}",),
        "1 template",
    ),
    Deployment(
        "an app of apps, and a set of folders",
        {
            "argocd/root.yaml": argo("root", {"source": {"repoURL": "x", "path": "argocd"}}),
            "argocd/web.yaml": argo(
                "web", {"sources": [{"repoURL": "x", "path": "web"}, {"repoURL": "y", "chart": "redis"}]}
            ),
            "argocd/all.yaml": argo(
                "all",
                {
                    "generators": [{"git": {"repoURL": "x", "directories": [{"path": "teams/*"}]}}],
                    "template": {
                        "metadata": {"name": "{{path.basename}}"},
                        "spec": {"source": {"repoURL": "x", "path": "{{path}}", "directory": {"recurse": True}}},
                    },
                },
                "ApplicationSet",
            ),
            "web/web.yaml": a_config_map("web"),
            "deploy/other.yaml": a_config_map("other"),
            "teams/a/a.yaml": a_config_map("a"),
            "teams/b/deep/b.yaml": a_config_map("b"),
        },
        {"paths": ["clusters", "policies", "argocd"], "render": ["Application", "ApplicationSet"]},
        (
            AS_ARGO,
            f"1 object that Argo CD does not deploy is {UNREAD}: ConfigMap default/other",
            "1 chart or repository of others, which argosy lock pins and fetches",
        ),
        "3 templates",
    ),
]


@pytest.mark.parametrize("case", DEPLOYMENTS, ids=lambda case: case.why)
def test_the_folders_that_another_tool_deploys_are_those_that_are_read(
    case: Deployment, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write(case.files)
    ended = argosy(repository, capsys, "init", "--new-cluster", "one")
    assert ended.code == 0, ended.err
    said = [line.removeprefix("found ") for line in ended.err.splitlines() if line.startswith("found ")]
    assert tuple(said[-len(case.found) :]) == case.found
    fleet = parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value
    assert fleet.get("spec", {}).get("source") == case.source
    repository.commit({})
    checked = argosy(repository, capsys, "validate")
    assert (checked.code, f": {case.templates}, " in checked.out) == (0, True), checked.out
    first = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert "warning: nothing is rendered of " in first.err, "the starter policy selects nothing yet"
    assert (first.code, repository.files("argosy/rendered", "clusters")) == (1, []), first.err


def test_a_remote_without_the_branch_is_given_it_before_the_first_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Passes take the source from the remote, and refuse one that has no such branch."""
    repository = Repository.create(tmp_path / "fleet")
    repository.git("init", "-q", "--bare", str(tmp_path / "hub"))
    repository.git("remote", "add", "origin", str(tmp_path / "hub"))
    ended = argosy(repository, capsys, "init", "--new-cluster", "paris")
    assert "  git commit -m 'Begin a fleet'\n  git push -u origin main\n  argosy reconcile --boot" in ended.out


HIDING = {
    "deploy/kustomization.yaml": KUSTOMIZATION,
    "deploy/a.yaml": a_config_map("a"),
    "deploy/b.yaml": [a_config_map("b"), a_config_map("c")],
    "deploy/more/d.yaml": {"apiVersion": "v1", "kind": "List", "items": [a_config_map("d"), a_config_map("e")]},
    "web/Chart.yaml": CHART,
    "web/crds/f.yaml": a_config_map("f"),
    ".ci/g.yaml": a_config_map("g"),
    "plain.yaml": a_config_map("plain"),
    "values.yaml": "a: 1\n",
}
HIDDEN = [
    "  not read: 4 objects in 2 files of deploy: in the folder of a kustomization that does not list it",
    "  not read: 1 object in 1 file of .ci: below a folder whose name begins with a dot",
    "  not read: 1 object in 1 file of web: a Helm chart that no HelmChart renders",
]


def test_how_many_objects_are_read_is_said_first_with_the_places_of_the_others(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kustomization hides the files beside it, and whoever did not expect it would miss them without a word."""
    repository.write(HIDING)
    began = argosy(repository, capsys, "init", "--new-cluster", "one")
    assert (began.code, began.out.splitlines()[:4]) == (0, ["2 of 8 objects are read", *HIDDEN])
    repository.write({"other/argosy.yaml": FLEET, "other/h.yaml": a_config_map("h")})
    checked = argosy(repository, capsys, "validate")
    assert checked.out.splitlines()[:4] == ["4 of 10 objects are read", *HIDDEN], "a cluster and a policy are new"
    fleet = repository.path / "argosy.yaml"
    fleet.write_text(f"{FLEET.partition('spec:')[0]}spec: {{source: {{paths: [deploy, clusters, policies]}}}}\n")
    objects = json.loads(argosy(repository, capsys, "validate", "-o", "json").out)["objects"]
    outside = {"folder": ".", "reason": "outside of source.paths of argosy.yaml", "objects": 1, "files": 1}
    assert (objects["read"], objects["total"], outside in objects["unread"]) == (3, 10, True), objects


def test_what_a_kustomization_would_read_that_cannot_be_built_is_not_read(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither what it lists, nor what stands beside it: nobody knows what it would read."""
    remote = b"resources: [a.yaml, 'https://example.com/install.yaml']\n"
    repository.write(
        {"base/kustomization.yaml": remote, "base/a.yaml": a_config_map("a"), "base/beside.yaml": a_config_map("b")}
    )
    repository.write({"c.yaml": a_config_map("c")})
    began = argosy(repository, capsys, "init", "--new-cluster", "one")
    assert began.out.splitlines()[:2] == [
        "1 of 3 objects are read",
        "  not read: 2 objects in 2 files of base: in the folder of a kustomization that cannot be built",
    ]


def test_nothing_is_said_first_where_every_object_is_read(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"a.yaml": a_config_map("a"), "values.yaml": "a: 1\n"})
    assert argosy(repository, capsys, "init", "--new-cluster", "one").out.startswith("1 of 1 object is read\n")
    assert " are read\n" not in argosy(repository, capsys, "validate").out


def test_an_empty_folder_becomes_a_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    ended = argosy(Repository(folder), capsys, "init", "--new-cluster", "one")
    assert (ended.code, ended.err.splitlines()[0]) == (0, "made a repository of the empty folder")
    assert sorted(each.name for each in folder.iterdir()) == [".git", "argosy.yaml", "clusters", "policies"]


def test_a_folder_with_files_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    ended = argosy(Repository(folder), capsys, "init", "--new-cluster", "one")
    assert ended.code == 4
    assert "is not in a Git repository" in ended.err
    assert [each.name for each in folder.iterdir()] == ["a.txt"]


@pytest.mark.cluster
def test_three_contexts_are_a_fleet_by_the_commands_that_are_printed(
    members: tuple[Member, ...],
    repository: Repository,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A new user types what ``argosy init`` prints, in an empty folder; every command ends well."""
    joined = [json.loads(member.kubeconfig.read_text()) for member in members]
    merged = {key: [item for each in joined for item in each[key]] for key in ("clusters", "contexts", "users")}
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", **merged}))
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    first = argosy(repository, capsys, "init")
    assert (first.code, first.err.splitlines()[0]) == (0, "wrote file=argosy.yaml")
    _, head, *commands = first.out.splitlines()
    assert (head, len(commands)) == ("next:", 5)
    for line in commands:
        program, *words = shlex.split(line)
        if program == "git":
            repository.git(*words)
        else:
            ended = argosy(repository, capsys, *words)
            assert ended.code == 0, (line, ended.err)
    assert ended.out == "".join(f"{member.name}: equal\n" for member in members)


def test_the_scopes_of_kinds_that_nothing_tells_are_guessed(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a kind whose name and objects tell nothing, no line is written: a pass asks for it."""
    widget = {"apiVersion": "acme.example/v1", "kind": "Widget", "metadata": {"name": "w"}}
    repository.write(
        {
            "a.yaml": widget,
            "b.yaml": {**widget, "kind": "ClusterWidget"},
            "c.yaml": {**widget, "kind": "ClusterGadget", "metadata": {"name": "w", "namespace": "shop"}},
            "d.yaml": {"apiVersion": "cert-manager.io/v1", "kind": "ClusterIssuer", "metadata": {"name": "known"}},
        }
    )
    assert argosy(repository, capsys, "init", "--new-cluster", "eu").code == 0
    fleet = parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value
    assert fleet["spec"]["kinds"] == [
        {"group": "acme.example", "kind": "ClusterGadget", "scope": "Namespaced"},
        {"group": "acme.example", "kind": "ClusterWidget", "scope": "Cluster"},
    ]
    assert argosy(repository, capsys, "validate").code == 0


def test_what_is_in_skipped_namespaces_is_said_with_the_line_that_has_it_back(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """An adapter of metrics has its rights in kube-system, and an application without them does not work."""
    repository.write({f"{name}.yaml": a_config_map(name, namespace="kube-system") for name in ("a", "b")})
    ended = argosy(repository, capsys, "init", "--new-cluster", "eu")
    said = "2 objects left out for being in kube-*: 'skippedNamespaces: []' under spec lets policies select them"
    assert (ended.code, f"found {said}" in ended.err) == (0, True)
    hint = "  hint: spec.skippedNamespaces of argosy.yaml leaves it out: with [] there, policies may select it"
    assert hint in argosy(repository, capsys, "validate").out.splitlines()
    repository.write({"argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec: {skippedNamespaces: []}\n"})
    assert "kube-system is propagated" not in argosy(repository, capsys, "validate").out


def test_what_karmada_keeps_for_itself_is_in_no_setting(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"a.yaml": a_config_map("a", namespace="karmada-system")})
    ended = argosy(repository, capsys, "init", "--new-cluster", "eu")
    assert (ended.code, "skippedNamespaces" in ended.err) == (0, False)
    assert "skippedNamespaces" not in argosy(repository, capsys, "validate").out
