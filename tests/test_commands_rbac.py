"""``argosy rbac``: what it prints, and that a real API server lets a pass do with it all it has to, and no more."""

import json
import secrets
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.cli import run
from render.documents import parse_documents

from .build import Ended, Repository, a_cluster, a_cluster_policy, a_config_map, a_deployment, argosy, on_clusters
from .clusters import Member
from .controllers import controller, rendered_source
from .waiting import eventually

RBAC = "rbac.authorization.k8s.io"
ROLES = f"/apis/{RBAC}/v1"
BOUND = {"ClusterRoleBinding": "system:node-problem-detector", "RoleBinding": "system:heapster"}
DEFAULTS = ("system:basic-user", "system:discovery", "system:public-info-viewer")
GRANT = "grant the user of this context what is missing: argosy rbac --cluster NAME prints all that a pass needs"


def selector(manifest: dict[str, Any]) -> dict[str, Any]:
    return {key: manifest[key] for key in ("apiVersion", "kind")}


def a_role(kind: str, name: str, verb: str = "get", **metadata: str) -> dict[str, Any]:
    rules = [{"apiGroups": [""], "resources": ["secrets"], "verbs": [verb]}]
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": {"name": name, **metadata}, "rules": rules}


def a_binding(kind: str, name: str, **metadata: str) -> dict[str, Any]:
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": BOUND[kind]}
    subjects = [{"apiGroup": RBAC, "kind": "User", "name": "somebody"}]
    head = {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": {"name": name, **metadata}}
    return {**head, "roleRef": reference, "subjects": subjects}


def a_definition(group: str) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"geese.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": "Goose", "plural": "geese", "singular": "goose", "listKind": "GooseList"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def templates(space: str) -> dict[str, dict[str, Any]]:
    """A template of each sort that rights differ for: in a namespace and in none, defined here, and rights."""
    metadata = {"name": "one", "namespace": space}
    return {
        "namespace": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space, "labels": {"team": "a"}}},
        "one": a_config_map("one", namespace=space, a="1"),
        "web": a_deployment("web", namespace=space),
        "definition": a_definition(f"{space}.example.io"),
        "goose": {"apiVersion": f"{space}.example.io/v1", "kind": "Goose", "metadata": metadata},
        "reader": a_role("ClusterRole", f"reader-{space}"),
        "readers": a_binding("ClusterRoleBinding", f"readers-{space}"),
        "here": a_role("Role", "here", namespace=space),
        "those": a_binding("RoleBinding", "those", namespace=space),
    }


def a_fleet(path: Path, space: str, member: str = "strict") -> Repository:
    repository, made = Repository.create(path), templates(space)
    policy = a_cluster_policy(
        "all", selectors=[selector(each) for each in made.values()], placement=on_clusters(member)
    )
    files: dict[str, Any] = {f"{name}.yaml": each for name, each in made.items()}
    repository.commit({**files, "policy.yaml": policy, "clusters/it.yaml": a_cluster(member)})
    return repository


def printed(repository: Repository, *words: str) -> list[dict[str, Any]]:
    """The manifests that ``argosy rbac`` prints."""
    with redirect_stdout(StringIO()) as out:
        assert run(["-q", "-C", str(repository.path), "rbac", *words]) == 0
    return [document.value for document in parse_documents(out.getvalue().encode())]


def rights(manifests: list[dict[str, Any]]) -> dict[tuple[str, str], list[str]]:
    """The rules of roles by namespace and resource, a line for each."""
    found: dict[tuple[str, str], list[str]] = {}
    for manifest in manifests:
        for rule in manifest.get("rules") or ():
            for resource in rule.get("resources") or rule["nonResourceURLs"]:
                names = f" of {' '.join(rule['resourceNames'])}" if "resourceNames" in rule else ""
                place = str(manifest["metadata"].get("namespace") or "")
                found.setdefault((place, resource), []).append(f"{' '.join(rule['verbs'])}{names}")
    return found


ALL = "get list create patch delete"


def by_name(verbs: str, name: str) -> list[str]:
    return sorted(["list", f"{verbs} of {name}"])


def test_rights_are_those_that_the_tree_asks_for(tmp_path: Path) -> None:
    repository = a_fleet(tmp_path, "shop")
    assert run(["-q", "-C", str(tmp_path), "reconcile", "--bootstrap"]) == 0
    manifests = printed(repository, "--cluster", "strict")
    root = repository.git("rev-list", "--max-parents=0", "argosy/rendered")
    parent = f"argosy-default-{root[:12]}"
    paths = ("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/openapi/v3", "/openapi/v3/*", "/readyz", "/version")
    assert [(each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]) for each in manifests] == [
        ("Namespace", "", "argosy-system"),
        ("Namespace", "", "shop"),
        ("ServiceAccount", "argosy-system", "argosy"),
        ("ClusterRole", "", "argosy"),
        ("ClusterRoleBinding", "", "argosy"),
        ("Role", "argosy-system", "argosy"),
        ("RoleBinding", "argosy-system", "argosy"),
        ("Role", "shop", "argosy"),
        ("RoleBinding", "shop", "argosy"),
    ]
    assert manifests[1]["metadata"]["labels"] == {"team": "a"}
    found = {place: sorted(lines) for place, lines in rights(manifests).items()}
    assert found == {
        **{("", path): ["get"] for path in paths},
        ("", "selfsubjectaccessreviews"): ["create"],
        ("", "selfsubjectrulesreviews"): ["create"],
        ("", "nodes"): ["list"],
        ("", "pods"): ["list"],
        ("", "mutatingadmissionpolicies"): ["list"],
        ("", "mutatingadmissionpolicybindings"): ["list"],
        ("", "mutatingwebhookconfigurations"): ["list"],
        ("", "namespaces"): ["create patch of shop", "get of argosy-system kube-system shop", "list"],
        ("", "customresourcedefinitions"): by_name("get create patch", "geese.shop.example.io"),
        ("", "clusterroles"): [
            "bind of system:node-problem-detector",
            "get create patch delete escalate of reader-shop",
            "list",
        ],
        ("", "clusterrolebindings"): by_name("get create patch delete", "readers-shop"),
        ("argosy-system", "configmaps"): [f"create patch delete of {parent}", f"get of argosy {parent}"],
        ("argosy-system", "leases"): ["create", f"get update of {parent}"],
        ("shop", "configmaps"): [ALL],
        ("shop", "deployments"): [ALL],
        ("shop", "replicasets"): ["list"],
        ("shop", "horizontalpodautoscalers"): ["list"],
        ("shop", "events"): ["list"],
        ("shop", "geese"): [ALL],
        ("shop", "roles"): ["escalate of here", ALL],
        ("shop", "rolebindings"): [ALL],
        ("shop", "clusterroles"): ["bind of system:heapster"],
    }


def test_rights_in_all_namespaces_name_nothing_but_what_is_our_own(tmp_path: Path) -> None:
    repository = a_fleet(tmp_path, "shop")
    assert run(["-q", "-C", str(tmp_path), "reconcile", "--bootstrap"]) == 0
    manifests = printed(repository, "--cluster", "strict", "--scope", "cluster", "--confirm", "--token")
    kinds = ["Namespace", "ServiceAccount", "Secret", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]
    assert [each["kind"] for each in manifests] == kinds
    found = rights(manifests)
    assert {place for place, _ in found} == {"", "argosy-system"}
    assert found["", "*"] == ["list"]
    assert found["", "namespaces"] == [ALL]
    assert sorted(found["", "clusterroles"]) == [
        "bind of system:heapster system:node-problem-detector",
        "escalate of reader-shop",
        ALL,
    ]
    assert sorted(found["", "roles"]) == ["escalate of here", ALL]
    assert manifests[2] == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "argosy-token",
            "namespace": "argosy-system",
            "annotations": {"kubernetes.io/service-account.name": "argosy"},
        },
        "type": "kubernetes.io/service-account-token",
    }


def test_a_member_that_is_none_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path, "shop")
    ended = argosy(repository, capsys, "rbac", "--cluster", "strict")
    assert (ended.code, ended.err) == (
        3,
        "argosy: nothing is rendered yet: there is no branch 'argosy/rendered'\n  hint: argosy reconcile --bootstrap\n",
    )
    argosy(repository, capsys, "reconcile", "--bootstrap")
    ended = argosy(repository, capsys, "rbac", "--cluster", "strikt")
    assert (ended.code, ended.err) == (
        2,
        "argosy: the source has no cluster called 'strikt'\n  hint: did you mean 'strict'?\n",
    )


def test_a_kind_that_nothing_names_is_guessed_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    goose = {"apiVersion": "birds.io/v1", "kind": "Goose", "metadata": {"name": "one", "namespace": "shop"}}
    repository = Repository.create(tmp_path)
    policy = a_cluster_policy("all", selectors=[selector(goose)], placement=on_clusters("strict"))
    repository.commit({"goose.yaml": goose, "policy.yaml": policy, "clusters/it.yaml": a_cluster("strict")})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    ended = argosy(repository, capsys, "rbac", "--cluster", "strict", "-o", "json")
    value = json.loads(ended.out)
    assert (ended.code, value["apiVersion"], value["kind"]) == (0, "v1", "List")
    assert rights(value["items"])["shop", "gooses"] == [ALL]
    assert ended.err == (
        "warning: neither facts nor a CustomResourceDefinition of the tree name the resource of Goose.birds.io:"
        " 'gooses' is a guess\n"
    )


@dataclass(frozen=True)
class Granted:
    """A fleet, and a member whose account has the rights that were printed and no others, not even everybody's."""

    member: Member
    repository: Repository
    space: str
    kubeconfig: Path
    parent: str

    def path(self, place: str) -> str:
        """The path of the role for a namespace ("": the cluster's)."""
        return f"{ROLES}/namespaces/{place}/roles/limited" if place else f"{ROLES}/clusterroles/limited"

    def run(self, capsys: pytest.CaptureFixture[str], command: str, *words: str) -> Ended:
        return argosy(self.repository, capsys, command, "--kubeconfig", str(self.kubeconfig), *words)


@pytest.fixture(scope="module")
def granted(members: tuple[Member, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Granted]:
    folder, space = tmp_path_factory.mktemp("granted"), f"t{secrets.token_hex(4)}"
    with Member("strict", beside=members[0]) as member:
        for name in DEFAULTS:
            assert member.request("DELETE", f"{ROLES}/clusterrolebindings/{name}")[0] == 200
        repository = a_fleet(folder / "fleet", space)
        assert run(["-q", "-C", str(repository.path), "reconcile", "--bootstrap"]) == 0
        manifests = printed(repository, "--cluster", "strict", "--service-account", "limited", "--controller")
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests})
        member.kubectl("apply", "--server-side", "-f", "-", stdin=text)
        accounts = "/api/v1/namespaces/argosy-system/serviceaccounts"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        status, answer = member.request("POST", f"{accounts}/limited/token", request)
        assert status == 201, answer
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(member.kubeconfig.read_text().replace(member.token, answer["status"]["token"]))
        kubeconfig.chmod(0o600)
        root = repository.git("rev-list", "--max-parents=0", "argosy/rendered")
        yield Granted(member, repository, space, kubeconfig, f"argosy-default-{root[:12]}")


def object_paths(space: str) -> tuple[str, ...]:
    here = f"namespaces/{space}"
    return (
        f"/api/v1/{here}/configmaps/one",
        f"/apis/apps/v1/{here}/deployments/web",
        f"/apis/{space}.example.io/v1/{here}/geese/one",
        f"{ROLES}/clusterroles/reader-{space}",
        f"{ROLES}/clusterrolebindings/readers-{space}",
        f"{ROLES}/{here}/roles/here",
        f"{ROLES}/{here}/rolebindings/those",
    )


@pytest.mark.cluster
def test_exactly_these_rights_are_enough_for_whole_passes(granted: Granted, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything is created, the Namespace that came with its Role taken over, changed, pruned, and idle again."""
    space, member, repository = granted.space, granted.member, granted.repository
    ended = granted.run(capsys, "reconcile")
    assert (ended.code, "may not" in ended.err, "forbidden" in ended.err) == (0, False, False), ended
    assert all(member.read(path) for path in object_paths(space))
    assert member.read(f"/api/v1/namespaces/argosy-system/configmaps/{granted.parent}")
    doctor = granted.run(capsys, "doctor")
    assert (doctor.code, "9 objects of 9 kinds, may read, apply and delete them\n" in doctor.out) == (0, True), doctor
    templates_now = templates(space)
    changed = {"reader.yaml": a_role("ClusterRole", f"reader-{space}", "list"), "here.yaml": None}
    repository.commit({**changed, "web.yaml": a_deployment("web", namespace=space, replicas=3), "one.yaml": None})
    ended = granted.run(capsys, "reconcile", "--allow-removal", "*=9")
    assert ended.code == 0, ended
    assert member.read(object_paths(space)[0]) is None
    assert member.read(f"{ROLES}/clusterroles/reader-{space}")["rules"][0]["verbs"] == ["list"]
    assert granted.run(capsys, "reconcile").out.startswith("unchanged: argosy/rendered ")
    eventually(
        lambda: "\nrender ms=" not in granted.run(capsys, "reconcile", "-vv").err, "a pass that looks at lists alone"
    )
    back = {f"{name}.yaml": templates_now[name] for name in ("reader", "here", "web", "one")}
    repository.commit(back)
    assert granted.run(capsys, "reconcile").code == 0


SPACE, OWN = "<space>", "argosy-system"
MISSING = (
    *((SPACE, ALL, resource) for resource in ("configmaps", "deployments.apps", "geese.<space>.example.io")),
    *((SPACE, ALL, f"{resource}.{RBAC}") for resource in ("roles", "rolebindings")),
    *((SPACE, "list", resource) for resource in ("events", "replicasets.apps")),
    (SPACE, "list", "horizontalpodautoscalers.autoscaling"),
    (OWN, "get create patch delete", "configmaps"),
    (OWN, "get create update", "leases.coordination.k8s.io"),
    ("", "list create patch", "namespaces"),
    ("", "list", "nodes"),
    ("", "list", "pods"),
    ("", "list get create patch", "customresourcedefinitions.apiextensions.k8s.io"),
    *(("", ALL, f"{resource}.{RBAC}") for resource in ("clusterroles", "clusterrolebindings")),
)
"""Every verb that the doctor tells by its name, by place and resource."""
OTHERS = {
    ("", "get", "namespaces"): "may not get namespaces: by kube-system a cluster is known",
    ("", "get", "/version"): "may not get /version: by that path a server is known to be well",
    ("", "create", "selfsubjectrulesreviews.authorization.k8s.io"): "it does not say what is allowed: Forbidden",
    **{
        (
            "",
            "list",
            f"{name}.admissionregistration.k8s.io",
        ): f"may not list {name}.admissionregistration.k8s.io, so that"
        for name in ("mutatingwebhookconfigurations", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings")
    },
}
"""Every other that it tells."""
DOCTOR = [(place, verb, resource) for place, verbs, resource in MISSING for verb in verbs.split()]


def without(role: dict[str, Any], verb: str, resource: str) -> dict[str, Any]:
    """A role without a verb on a resource, which other rules name with others."""
    name, _, group = resource.partition(".")
    rules = []
    for rule in role["rules"]:
        meant = name in rule.get("nonResourceURLs", rule.get("resources", ()))
        if meant and (group in rule.get("apiGroups", [group])):
            verbs, others = (
                [each for each in rule["verbs"] if each != verb],
                [each for each in rule.get("resources", ()) if each != name],
            )
            rules += [{**rule, "resources": others}] if others else []
            rules += [{**rule, "resources": [name], "verbs": verbs}] if verbs and "resources" in rule else []
        else:
            rules.append(rule)
    assert rules != role["rules"], f"nothing grants {verb} {resource}"
    return {**role, "rules": rules}


def is_allowed(granted: Granted, place: str, verb: str, resource: str, name: str) -> bool:
    """Ask the server whether the account may do something."""
    user = "system:serviceaccount:argosy-system:limited"
    spec: dict[str, Any] = {"user": user, "groups": ["system:authenticated"]}
    plural, _, group = resource.partition(".")
    if resource.startswith("/"):
        spec["nonResourceAttributes"] = {"path": resource, "verb": verb}
    else:
        asked = {"namespace": place, "verb": verb, "group": group, "resource": plural, "name": name}
        spec["resourceAttributes"] = asked
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    status, answer = granted.member.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    assert status == 201, answer
    return bool(answer["status"]["allowed"])


@pytest.fixture
def lacking(granted: Granted) -> Iterator[Any]:
    """Take a verb away until the end of a test."""
    taken: list[tuple[str, list[Any]]] = []

    def lack(place: str, verb: str, resource: str) -> None:
        place, resource = place.replace(SPACE, granted.space), resource.replace(SPACE, granted.space)
        path = granted.path(place)
        role = granted.member.read(path)
        taken.append((path, role["rules"]))
        named = (rule for rule in role["rules"] if resource.partition(".")[0] in rule.get("resources", ()))
        name = next(
            (rule["resourceNames"][0] for rule in named if verb in rule["verbs"] and "resourceNames" in rule), ""
        )
        eventually(lambda: is_allowed(granted, place, verb, resource, name), f"it may {verb} {resource}")
        assert granted.member.request("PUT", path, without(role, verb, resource))[0] == 200
        eventually(lambda: not is_allowed(granted, place, verb, resource, name), f"it may not {verb} {resource}")

    yield lack
    for path, rules in taken:
        role = granted.member.read(path)
        assert granted.member.request("PUT", path, {**role, "rules": rules})[0] == 200


@pytest.mark.cluster
@pytest.mark.parametrize("row", [*DOCTOR, *OTHERS], ids=" ".join)
def test_the_doctor_misses_every_verb(
    granted: Granted, lacking: Any, capsys: pytest.CaptureFixture[str], row: tuple[str, str, str]
) -> None:
    place, verb, resource = row
    lacking(*row)
    where = f" in {place}" if place else ""
    said = OTHERS.get(row, f"may not {verb} {resource}{where}").replace(SPACE, granted.space)
    diagnosed = granted.run(capsys, "doctor").out
    assert said in diagnosed, diagnosed


@pytest.mark.cluster
def test_the_doctor_is_asked_about_every_verb_that_is_granted(granted: Granted) -> None:
    """The rights to write more into a role than one has are those of the tests below."""
    manifests = [granted.member.read(granted.path(place)) for place in ("", OWN, granted.space)]
    given = {
        (str(role["metadata"].get("namespace") or ""), verb, ".".join(filter(None, (resource, *rule["apiGroups"]))))
        for role in manifests
        for rule in role["rules"]
        for resource in rule.get("resources", ())
        for verb in rule["verbs"]
        if verb not in {"bind", "escalate"} and resource != "selfsubjectaccessreviews"
    }
    told = {tuple(word.replace(SPACE, granted.space) for word in row) for row in (*DOCTOR, *OTHERS)}
    assert given == told - {("", "get", "/version")}


class Refused(NamedTuple):
    """A verb that is taken away, an object that a pass has to make again, and what it says that it may not."""

    place: str
    verb: str
    resource: str
    path: str
    said: str


ONE = "/api/v1/namespaces/<space>/configmaps/one"
CANNOT = 'User "system:serviceaccount:argosy-system:limited" cannot {verb} resource "configmaps" in API group ""'
MORE = "is attempting to grant RBAC permissions not currently held"
REFUSED = (
    *(Refused(SPACE, verb, "configmaps", ONE, CANNOT.format(verb=verb)) for verb in ("create", "patch", "list", "get")),
    Refused("", "escalate", f"clusterroles.{RBAC}", f"{ROLES}/clusterroles/reader-<space>", MORE),
    Refused(SPACE, "escalate", f"roles.{RBAC}", f"{ROLES}/namespaces/<space>/roles/here", MORE),
    Refused("", "bind", f"clusterroles.{RBAC}", f"{ROLES}/clusterrolebindings/readers-<space>", MORE),
    Refused(SPACE, "bind", f"clusterroles.{RBAC}", f"{ROLES}/namespaces/<space>/rolebindings/those", MORE),
)


@pytest.mark.cluster
@pytest.mark.parametrize("row", REFUSED, ids=lambda row: f"{row.verb} {row.resource} {row.place}")
def test_a_pass_says_which_verb_it_lacks(
    granted: Granted, lacking: Any, capsys: pytest.CaptureFixture[str], row: Refused
) -> None:
    granted.run(capsys, "reconcile")
    assert granted.member.request("DELETE", row.path.replace(SPACE, granted.space))[0] == 200
    lacking(row.place, row.verb, row.resource)
    ended = granted.run(capsys, "reconcile")
    assert (ended.code, row.said in ended.out) == (1, True), ended


IN_CLUSTER = """
from kubernetes.config import incluster_config
incluster_config.SERVICE_TOKEN_FILENAME, incluster_config.SERVICE_CERT_FILENAME = {token!r}, {authority!r}
"""


@pytest.mark.cluster
def test_the_controller_runs_as_its_own_service_account(granted: Granted, tmp_path: Path) -> None:
    """Its token is the account's, in the files of a Pod: a commit is rendered, applied and recorded with it."""
    member, work, space = granted.member, granted.repository, granted.space
    token = json.loads(granted.kubeconfig.read_text())["users"][0]["user"]["token"]
    (tmp_path / "token").write_text(token)
    files = {"token": str(tmp_path / "token"), "authority": str(member.ca_file)}
    (tmp_path / "sitecustomize.py").write_text(IN_CLUSTER.format(**files))
    host, port = member.host.removeprefix("https://").split(":")
    around = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port, "PYTHONPATH": str(tmp_path)}
    around["KUBECONFIG"] = str(tmp_path / "none")
    path = f"/api/v1/namespaces/{space}/configmaps/one"
    with controller(
        tmp_path, str(work.path), "--in-cluster", "strict", "--lease", "strict", environment=around
    ) as argosy:
        argosy.says("pass ended code=0")
        source = work.commit({"one.yaml": a_config_map("one", namespace=space, a="by the controller")})
        eventually(lambda: (member.read(path) or {}).get("data") == {"a": "by the controller"}, "the new object")
        argosy.says("pass ended code=0", times=2)
        assert argosy.ended() == 0
        assert ("forbidden" in argosy.said, "may not" in argosy.said) == (False, False), argosy.said
    assert member.read("/apis/coordination.k8s.io/v1/namespaces/argosy-system/leases/argosy-run")
    live = member.read(path)
    assert {each["manager"] for each in live["metadata"]["managedFields"]} == {granted.parent}
    assert rendered_source(work.path) == source
