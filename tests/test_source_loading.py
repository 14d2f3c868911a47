"""From the files of a snapshot to values, or to every problem at once."""

import copy
import hashlib
import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.ledger.facts import ClusterFacts
from reconciler.source.desired import Desired
from reconciler.source.files import Reason, Skipped
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import Caches, SourceReading
from render.cluster import Cluster, ResourceModel, ResourceModelRange
from render.documents import emit
from render.errors import Problem
from render.model import ObjectRef, Template
from render.placement import Placement
from render.policy import PropagationPolicy
from render.selectors import ClusterAffinity, ResourceSelector
from render.settings.fleet import Fleet
from tests.broken_repositories import BROKEN, CLUSTER, CONFIG, DEPLOYMENT, OVERRIDE, POLICY, Broken
from tests.sources import Content, source_of
from tests.tables import each_row

QUICKSTART = Path(__file__).parent.parent / "examples" / "quickstart"


class Memory:
    """A cache of parsed blobs that remembers everything."""

    def __init__(self) -> None:
        self.values: dict[bytes, Any] = {}

    def get_many(self, ids: Iterable[bytes]) -> Mapping[bytes, Any]:
        return {id_: self.values[id_] for id_ in ids if id_ in self.values}

    def put_many(self, values: Mapping[bytes, Any]) -> None:
        self.values.update(values)


def load(files: Mapping[str, Content], *, folder: str = "", cache: Memory | None = None) -> Loaded:
    source = source_of(files)
    return load_source(source.files, SourceReading(source.read, caches=Caches(parsed=cache)), folder=folder)


def text_of(problems: Iterable[Problem]) -> str:
    return "\n".join(map(str, problems))


KUBECONFIG = "apiVersion: v1\nkind: Config\nusers: [{name: a, user: {token: hunter2}}]\n"


@pytest.mark.parametrize("secrets", ["Allow", "Refuse"])
def test_credentials_of_a_tool_are_named_and_never_cached(secrets: str) -> None:
    fleet = f"apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec: {{secrets: {secrets}}}\n"
    cache = Memory()
    loaded = load({"argosy.yaml": fleet, "access.yaml": KUBECONFIG, "a.yaml": CONFIG}, cache=cache)
    warned = (
        "access.yaml: not read: the configuration of a tool, with credentials in clear text for everyone who can read"
        " the repository"
    )
    refused = (
        "access.yaml: holds credentials in clear text, and argosy.yaml says secrets: Refuse\n"
        "  hint: take it out of Git, and have the credentials changed"
    )
    said = (text_of(loaded.problems), text_of(loaded.desired.warnings))
    assert said == (("", warned) if secrets == "Allow" else (refused, ""))
    assert "hunter2" not in repr(cache.values)


LOGINS = ["kubeconfig", "infra/kubeconfig", "eu.kubeconfig", ".kubeconfig", "certs/admin.conf"]


@each_row("path", LOGINS)
def test_a_kubeconfig_is_found_by_its_name_where_it_has_no_suffix(path: str) -> None:
    cache = Memory()
    loaded = load({path: KUBECONFIG, "a.yaml": CONFIG}, cache=cache)
    assert f"{path}: not read: the configuration of a tool, with credentials" in text_of(loaded.desired.warnings)
    assert "hunter2" not in repr(cache.values)
    refusing = "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec: {secrets: Refuse}\n"
    refused = load({"argosy.yaml": refusing, path: KUBECONFIG, "a.yaml": CONFIG})
    assert text_of(refused.problems).startswith(f"{path}: holds credentials in clear text")


@each_row("content", [CONFIG, "a: [", KUBECONFIG.replace("hunter2", "${TOKEN}"), "\x00\x01"])
def test_a_file_by_such_a_name_without_credentials_is_no_manifest_and_no_problem(content: str) -> None:
    with_it, without = load({"kubeconfig": content, "a.yaml": CONFIG}), load({"a.yaml": CONFIG})
    told = [(text_of(each.problems), text_of(each.desired.warnings)) for each in (with_it, without)]
    assert told[0] == told[1]
    assert [each.path for each in with_it.desired.templates] == ["a.yaml"]


def quickstart() -> dict[str, Content]:
    files = (path for path in QUICKSTART.rglob("*") if path.is_file())
    return {path.relative_to(QUICKSTART).as_posix(): path.read_bytes() for path in files}


def test_at_least_forty_broken_repositories_are_tried() -> None:
    assert len({case.why for case in BROKEN}) == len(BROKEN) >= 40


@each_row("case", BROKEN, ids=lambda case: case.why)
def test_a_broken_repository_says_everything_that_is_wrong(case: Broken) -> None:
    loaded = load(case.files)
    assert (text_of(loaded.problems), text_of(loaded.desired.warnings)) == (case.problems, case.warnings)


@pytest.mark.parametrize("case", [case for case in BROKEN if "Secret" in case.why], ids=lambda case: case.why)
def test_no_message_holds_what_a_secret_holds(case: Broken) -> None:
    loaded = load(case.files)
    text = text_of((*loaded.problems, *loaded.desired.warnings))
    assert "hunter2" not in text
    assert "aHVudGVyMg" not in text


def test_all_problems_of_a_source_are_found_at_once() -> None:
    loaded = load({"b.yaml": CONFIG.replace("settings", "B"), "a.yaml": "kind: ConfigMap\napiVersion: v1\n"})
    assert [(problem.path, problem.line, problem.field) for problem in loaded.problems] == [
        ("a.yaml", 1, "metadata.name"),
        ("b.yaml", 4, "metadata.name"),
    ]


def test_a_refused_source_still_says_what_else_is_worth_a_word() -> None:
    loaded = load({"a.yaml": CONFIG.replace("ConfigMap", "Secret") + "data: {a: YQ==}\n", "b.yaml": "kind: [a\n"})
    assert [problem.path for problem in loaded.problems] == ["b.yaml"]
    assert [problem.path for problem in loaded.desired.warnings] == ["a.yaml"]


def test_names_of_files_cannot_reach_the_terminal_as_they_are() -> None:
    loaded = load(
        {"a\x1b[2J\n\udcff.yaml": CONFIG.replace("settings", "A"), "b.yaml": CONFIG + '  labels: {"x\\ny": 1}\n'}
    )
    assert all(line.isprintable() for problem in loaded.problems for line in str(problem).split("\n"))
    assert str(loaded.problems[0]).startswith("a\\x1b[2J\\n\\udcff.yaml:4: metadata.name: ")


def test_a_source_becomes_values() -> None:
    source = source_of(
        {
            "clusters.yaml": CLUSTER + "  region: eu\n  resourceModels:\n"
            "  - {grade: 0, ranges: [{name: cpu, min: 0, max: 9223372036854775807}]}\n",
            "policies/web.yaml": POLICY + "  placement:\n    clusterAffinity:\n      clusterNames: [member1]\n",
            "apps/all.yml": f"# two at once\n{DEPLOYMENT}---\n{CONFIG}",
            "README.md": "# Fleet",
            "notes.json": "{}",
        }
    )
    grade = ResourceModel(grade=0, ranges=(ResourceModelRange(name="cpu", min="0", max="9223372036854775807"),))
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}}
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx"}]},
            },
        },
    }
    written = {**settings, "metadata": {"name": "settings"}}
    digests = [hashlib.sha256(json.dumps(each, separators=(",", ":")).encode()).hexdigest() for each in (web, written)]
    assert load_source(source.files, SourceReading(source.read)).desired == Desired(
        fleet=Fleet(),
        clusters=(
            Cluster(name="member1", region="eu", resource_models=(grade,), sync_mode="Push", path="clusters.yaml"),
        ),
        policies=(
            PropagationPolicy(
                name="web",
                namespace="shop",
                resource_selectors=(ResourceSelector(api_version="apps/v1", kind="Deployment", namespace="shop"),),
                placement=Placement(cluster_affinity=ClusterAffinity(cluster_names=("member1",))),
                path="policies/web.yaml",
            ),
        ),
        templates=(
            Template(
                ref=ObjectRef("", "ConfigMap", "default", "settings"),
                manifest=settings,
                path="apps/all.yml",
                document=1,
                digest=digests[1],
            ),
            Template(
                ref=ObjectRef("apps", "Deployment", "shop", "web"),
                manifest=web,
                path="apps/all.yml",
                document=0,
                digest=digests[0],
            ),
        ),
        skipped=(Skipped("notes.json", Reason.NO_MANIFEST),),
        files=3,
    )


def test_values_stand_in_the_order_of_their_names() -> None:
    documents = [CLUSTER.replace("member1", name) for name in ("eu-2", "eu-10")]
    documents += [POLICY.replace("name: web", f"name: {name}") for name in ("b", "a")]
    documents += [OVERRIDE.replace("name: registry", f"name: {name}") for name in ("d", "c")]
    desired = load({"z.yaml": "---\n".join(documents)}).desired
    assert [cluster.name for cluster in desired.clusters] == ["eu-10", "eu-2"]
    assert [policy.name for policy in desired.policies] == ["a", "b"]
    assert [policy.name for policy in desired.override_policies] == ["c", "d"]


def test_crds_tell_the_scope_of_what_they_define() -> None:
    crd = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: widgets.acme.example\n"
        "spec:\n  group: acme.example\n  scope: {scope}\n  names:\n    kind: Widget\n    plural: widgets\n"
    )
    widget = "apiVersion: acme.example/v1\nkind: Widget\nmetadata:\n  name: w\n"
    inside = load({"a.yaml": widget, "crd.yaml": crd.format(scope="Namespaced")}).desired
    outside = load({"a.yaml": widget, "crd.yaml": crd.format(scope="Cluster")}).desired
    assert [str(template.ref) for template in inside.templates if template.ref.kind == "Widget"] == [
        "Widget.acme.example default/w"
    ]
    assert [str(template.ref) for template in outside.templates if template.ref.kind == "Widget"] == [
        "Widget.acme.example w"
    ]
    assert [crd.ref.name for crd in inside.crds] == ["widgets.acme.example"]


def test_facts_tell_the_scope_of_what_members_serve() -> None:
    source = source_of({"a.yaml": "apiVersion: acme.example/v1\nkind: Widget\nmetadata:\n  name: w\n"})
    served = {"groupVersion": "acme.example/v1", "resources": [{"kind": "Widget", "name": "ws", "namespaced": True}]}
    facts = {"member1": ClusterFacts(name="member1", status={"apiEnablements": [served]})}
    desired = load_source(source.files, SourceReading(source.read, facts=lambda _fleet: facts)).desired
    assert [str(template.ref) for template in desired.templates] == ["Widget.acme.example default/w"]
    assert desired.fact_scoped_kinds == {("acme.example", "Widget")}


def test_a_scope_that_members_are_yet_to_tell_is_no_problem() -> None:
    widget = "apiVersion: acme.example/v1\nkind: Widget\nmetadata:\n  name: w\n"
    policy = POLICY.replace("apps/v1", "acme.example/v1").replace("Deployment", "Widget")
    source = source_of({"a.yaml": widget, "p.yaml": policy})
    assert [problem.field for problem in load_source(source.files, SourceReading(source.read)).problems] == ["kind"]
    assert load_source(source.files, SourceReading(source.read, facts=None)).problems == ()


def test_a_kind_of_unknown_scope_that_nothing_selects_stays_as_it_is() -> None:
    loaded = load({"a.yaml": "apiVersion: acme.example/v1\nkind: Widget\nmetadata:\n  name: w\n", "p.yaml": POLICY})
    assert loaded.problems == ()
    assert [template.ref for template in loaded.desired.templates] == [ObjectRef("acme.example", "Widget", "", "w")]


def test_a_selector_that_asks_for_other_labels_does_not_select_a_kind_of_unknown_scope() -> None:
    widget = "apiVersion: acme.example/v1\nkind: Widget\nmetadata:\n  name: w\n  labels: {app: a}\n"
    policy = POLICY.replace("apps/v1", "acme.example/v1").replace("Deployment", "Widget")
    policy += "    labelSelector:\n      matchLabels: {app: b}\n"
    assert load({"a.yaml": widget, "p.yaml": policy}).problems == ()


def test_what_another_controller_distributes_may_still_follow_a_workload() -> None:
    claimed = CONFIG + "  labels:\n    resourcetemplate.karmada.io/claimed-by: multiclusterservice\n"
    desired = load({"a.yaml": claimed}).desired
    assert [template.ref.name for template in desired.templates] == ["settings"]
    assert len(desired.warnings) == 1


def test_what_teaches_the_interpreter_is_kept_apart() -> None:
    config = "apiVersion: config.karmada.io/v1alpha1\nkind: {}\nmetadata:\n  name: widgets\n"
    target = "spec:\n  target: {apiVersion: acme.example/v1, kind: Widget}\n  customizations: {}\n"
    desired = load(
        {
            "a.yaml": config.format("ResourceInterpreterWebhookConfiguration") + "webhooks: []\n",
            "b.yaml": config.format("ResourceInterpreterCustomization") + target,
        }
    ).desired
    assert [template.ref.kind for template in desired.webhooks] == ["ResourceInterpreterWebhookConfiguration"]
    assert [template.ref.kind for template in desired.customizations] == ["ResourceInterpreterCustomization"]
    assert (desired.templates, desired.warnings) == ((), ())
    twice = "---\n".join([config.format("ResourceInterpreterWebhookConfiguration") + "webhooks: []\n"] * 2)
    assert len(load({"a.yaml": twice}).problems) == 1


def test_a_webhook_configuration_is_checked_at_its_lines() -> None:
    head = (
        "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterWebhookConfiguration\nmetadata: {name: x}\n"
    )
    hook = "webhooks:\n- name: a.example.io\n  clientConfig:\n    url: http://hooks.example.io\n"
    rule = "  rules:\n  - operations: ['*']\n    apiGroups: ['']\n    apiVersions: [v1]\n    kinds: [Secret]\n"
    loaded = load({"hooks.yaml": f"{head}{hook}  interpreterContextVersions: [v1alpha1]\n{rule}"})
    assert [str(problem) for problem in loaded.problems] == [
        "hooks.yaml:7: webhooks[0].clientConfig.url: no address of a webhook: it must begin with https://"
    ]
    assert [str(warning) for warning in loaded.desired.warnings] == [
        (
            "hooks.yaml:13: webhooks[0].rules[0].kinds: "
            "no webhook is asked about Secrets: their content would leave the fleet"
        )
    ]


def test_an_encrypted_secret_is_nobodys_business() -> None:
    encrypted = "  namespace: default\ndata:\n  password: ENC[AES256_GCM,data:x]\nsops:\n  mac: ENC[x]\n"
    secret = CONFIG.replace("ConfigMap", "Secret") + encrypted
    refuse = "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec:\n  secrets: Refuse\n"
    assert load({"a.yaml": secret}).desired.warnings == ()
    assert load({"a.yaml": secret, "argosy.yaml": refuse}).problems == ()


def test_cluster_names_inside_an_edit_are_only_data() -> None:
    edit = "      plaintext:\n      - {path: /spec/x, operator: add, value: {clusterNames: [nowhere], exclude: [a]}}\n"
    assert load({"c.yaml": CLUSTER, "a.yaml": OVERRIDE + edit}).desired.warnings == ()


def test_settings_of_the_fleet_hold_for_what_it_loads() -> None:
    fleet = (
        "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec:\n  defaultNamespace: shop\n"
        "  source:\n    paths: [apps, policies]\n    ignore: ['*.tmp.yaml']\n"
        "  kinds:\n  - {group: acme.example, kind: Widget, scope: Cluster}\n"
    )
    loaded = load(
        {
            "fleet/argosy.yaml": fleet,
            "fleet/.argosyignore": "apps/old/\n",
            "fleet/apps/a.yaml": CONFIG,
            "fleet/apps/b.tmp.yaml": "{",
            "fleet/policies/README.md": "none yet",
            "fleet/apps/old/c.yaml": "{",
            "fleet/other/d.yaml": "{",
            "fleet/apps/w.json": '{"apiVersion": "acme.example/v1", "kind": "Widget", "metadata": {"name": "w"}}',
        }
    )
    assert loaded.problems == ()
    assert [str(template.ref) for template in loaded.desired.templates] == [
        "ConfigMap shop/settings",
        "Widget.acme.example w",
    ]
    assert loaded.desired.skipped == (
        Skipped("fleet/apps/b.tmp.yaml", Reason.IGNORED),
        Skipped("fleet/apps/old", Reason.IGNORED),
    )


def test_what_a_fleet_skips_is_left_out_by_name_and_what_it_does_not_is_not() -> None:
    spec = "spec:\n  skippedAPIs: [v1/ConfigMap]\n  skippedNamespaces: [internal-.*]\n"
    fleet = f"apiVersion: argosy.dev/v1alpha1\nkind: Fleet\n{spec}"
    names = ("shop", "kube-system", "internal-tools")
    files = {f"{name}.yaml": DEPLOYMENT.replace("namespace: shop", f"namespace: {name}") for name in names}
    desired = load({**files, "argosy.yaml": fleet, "config.yaml": CONFIG}).desired
    assert [template.ref.namespace for template in desired.templates] == ["kube-system", "shop"]
    assert [(warning.path, warning.message) for warning in desired.warnings] == [
        ("config.yaml", "ConfigMap default/settings is left out: v1 ConfigMap is never propagated"),
        (
            "internal-tools.yaml",
            "Deployment.apps internal-tools/web is left out: nothing in the namespace internal-tools is propagated",
        ),
    ]


def test_a_cached_load_reads_nothing_and_says_the_same() -> None:
    files, cache = quickstart(), Memory()
    cold = load(files, cache=cache)
    source = source_of(files)
    reads: list[bytes] = []

    def read(ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
        reads.extend(ids)
        return source.read(ids)

    warm = load_source(source.files, SourceReading(read, caches=Caches(parsed=cache)))
    assert warm == cold
    fleet = next(file.id for file in source.files if file.path == "argosy.yaml")
    assert reads == [fleet]


def test_what_cannot_be_read_is_not_cached() -> None:
    cache = Memory()
    first = load({"a.yaml": CONFIG + "data: {a: 1, a: 2}\n"}, cache=cache)
    assert cache.values == {}
    assert load({"a.yaml": CONFIG + "data: {a: 1, a: 2}\n"}, cache=cache) == first


def load_knowing(files: Mapping[str, Content], right: Memory) -> Loaded:
    source = source_of(files)
    return load_source(source.files, SourceReading(source.read, caches=Caches(right=right)))


def test_what_was_right_by_the_schemas_is_known_and_says_the_same() -> None:
    right = Memory()
    assert load_knowing(quickstart(), right) == load_knowing(quickstart(), right) == load(quickstart())
    # The Banner is left out: it is right or not by its CustomResourceDefinition, in another file.
    named = {file.id: file.path for file in source_of(quickstart()).files if not file.path.startswith("rendered/")}
    assert sorted(f"{named[key[:-4]]} {int.from_bytes(key[-4:])}" for key in right.values) == [
        "apps/platform/banners-crd.yaml 0",
        "apps/shop/namespace.yaml 0",
        "apps/shop/settings.yaml 0",
        "apps/shop/web.yaml 0",
        "apps/shop/web.yaml 1",
    ]


def test_a_template_known_to_be_right_is_not_looked_at_again() -> None:
    files: dict[str, Content] = {"a.yaml": DEPLOYMENT.replace("replicas:", "replica:"), "policy.yaml": POLICY}
    right = Memory()
    problems = load_knowing(files, right).problems
    assert [problem.message for problem in problems] == ["unknown field"]
    (file,) = (file for file in source_of(files).files if file.path == "a.yaml")
    assert right.values == {}
    right.put_many({file.id + bytes(4): (0, 1 << 16)})
    assert load_knowing(files, right).problems == ()


def test_what_is_right_by_the_version_of_the_members_is_looked_at_again() -> None:
    """Pods named their claims under ``source`` until 1.30."""
    claims = "resourceClaims: [{name: gpu, source: {resourceClaimName: gpu}}], containers:"
    right = Memory()

    def problems_at(version: str) -> list[str]:
        cluster = CLUSTER + f"status: {{kubernetesVersion: {version}}}\n"
        files = {"a.yaml": DEPLOYMENT.replace("containers:", claims), "policy.yaml": POLICY, "cluster.yaml": cluster}
        return [problem.message for problem in load_knowing(files, right).problems]

    assert problems_at("v1.28.0") == []
    assert right.values == {}
    assert problems_at("v1.33.0") == ["unknown field"]


def test_a_kind_that_the_source_defines_itself_is_checked_by_that() -> None:
    spec = {"type": "object", "required": ["color"], "properties": {"color": {"type": "string"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "deployments.apps"},
        "spec": {
            "group": "apps",
            "names": {"kind": "Deployment", "plural": "deployments"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
    right = Memory()
    files: dict[str, Content] = {"a.yaml": DEPLOYMENT, "policy.yaml": POLICY}
    assert load_knowing(files, right).problems == ()
    assert len(right.values) == 1
    problems = load_knowing({**files, "crd.yaml": emit(definition)}, right).problems
    assert [f"{problem.path} {problem.field}: {problem.message}" for problem in problems][:1] == [
        "a.yaml spec.color: required, but missing"
    ]


def test_loading_changes_nothing_it_was_given() -> None:
    cache = Memory()
    load(quickstart(), cache=cache)
    before = copy.deepcopy(cache.values)
    load(quickstart(), cache=cache)
    assert cache.values == before


@settings(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_the_order_of_files_decides_nothing(rng: random.Random) -> None:
    source = source_of({**quickstart(), "twice.yaml": CONFIG, "again.yaml": CONFIG, "bad.yaml": "kind: ["})
    files = list(source.files)
    rng.shuffle(files)
    assert load_source(files, SourceReading(source.read)) == load_source(source.files, SourceReading(source.read))


def test_a_big_file_full_of_mistakes_is_read_once_for_all_lines() -> None:
    """A reading for every line would make a load take for ever."""
    items = "".join(f"- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: A{n}}}}}\n" for n in range(5_000))
    loaded = load({"a.yaml": f"apiVersion: v1\nkind: List\nitems:\n{items}"})
    assert [problem.line for problem in loaded.problems] == [*range(4, 5_004)]
