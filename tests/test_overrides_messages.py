"""Messages about mistakes in override policies: the errors of rendering, and the warnings of lint."""

from typing import Any, NamedTuple

from overrides.engine import OverrideEngine
from overrides.lint import lint_overrides
from overrides.policy import OverridePolicy
from render.model import Manifest, ObjectRef, Template
from tests.build import a_config_map, a_deployment
from tests.overriding import CLUSTERS, EVERY, a_rule, an_override, labelled, patching, selecting
from tests.tables import each_row

WEB = a_deployment("web", namespace="shop")
CONFIG = a_config_map("web", namespace="shop", json='{"db":"x"}', yaml="db: x\n", text="plain", broken='{"password":')
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "web", "namespace": "shop"},
    "data": {"password": "aHVudGVyMg=="},
}
JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "odd", "namespace": "shop"},
    "spec": {"template": {"spec": {"containers": [{"name": "odd", "image": "SECRET/Image:1", "args": [1]}]}}},
}
TEMPLATES = (WEB, CONFIG, SECRET, JOB)


def templates(manifests: tuple[Manifest, ...] = TEMPLATES) -> list[Template]:
    return [Template(ref=ObjectRef.of(manifest), manifest=manifest) for manifest in manifests]


def errors(policies: list[OverridePolicy]) -> list[str]:
    engine = OverrideEngine(policies, CLUSTERS)
    found = {
        str(overridden.error.problem())
        for manifest in TEMPLATES
        for overridden in engine.override(manifest, EVERY)
        if overridden.error
    }
    return sorted(found)


def warnings(policies: list[OverridePolicy]) -> list[str]:
    return [str(problem) for problem in lint_overrides(policies, templates(), CLUSTERS)]


class Message(NamedTuple):
    why: str
    rule: dict[str, Any]
    errors: list[str]
    warnings: list[str]
    kind: str = "Deployment"


KINDS = {"Deployment": "apps/v1", "ConfigMap": "v1", "Secret": "v1", "Job": "batch/v1"}


def policy(case: Message) -> OverridePolicy:
    return an_override("p", case.rule, path="p.yaml", selectors=[{"apiVersion": KINDS[case.kind], "kind": case.kind}])


def image(component: str, operator: str, value: str = "", **more: Any) -> dict[str, Any]:
    return a_rule(imageOverrider=[{"component": component, "operator": operator, "value": value, **more}])


def field(path: str, name: str, *operation: Any) -> dict[str, Any]:
    operator, sub_path, *value = operation
    patch = {"operator": operator, "subPath": sub_path, **({"value": value[0]} if value else {})}
    return a_rule(fieldOverrider=[{"fieldPath": path, name: [patch]}])


RULE = "p.yaml: spec.overrideRules[0]"
PLAIN, IMAGE = f"{RULE}.overriders.plaintext[0]: ", f"{RULE}.overriders.imageOverrider[0]"
FIELD = f"{RULE}.overriders.fieldOverrider[0]"
NONE = "cannot be applied to the one object it selects: "
MOVED = "an override never renames or moves an object"
OWN = "\n  hint: give these clusters a template of their own, and leave them out of this one's propagation policy"
ERROR_OF_ALL = "which is an error in every cluster it applies to"
KINDS_HINT = (
    "\n  hint: images are found in Pods, ReplicaSets, Deployments, DaemonSets, StatefulSets and Jobs; "
    "elsewhere name the field by predicate.path"
)
NAMES_HINT = "\n  hint: check containerName and the kind of the objects"
KEYS_HINT = "\n  hint: replace and remove touch only keys that exist"


def both(where: str, what: str, hint: str = "") -> tuple[list[str], list[str]]:
    """The error of rendering, and the warning that it is one everywhere."""
    return [f"{where}{what}{hint}"], [f"{where}{NONE}{what}{hint}"]


MESSAGES = [
    Message("a missing key", patching("/spec/nope", 1), *both(PLAIN, "'nope' does not exist in /spec")),
    Message("a missing parent", patching("/spec/a/b", 1, operator="add"), *both(PLAIN, "'a' does not exist in /spec")),
    Message(
        "a typo near the root",
        patching("/sepc/replicas", 1),
        *both(PLAIN, "'sepc' does not exist in the top level", "\n  hint: did you mean 'spec'?"),
    ),
    Message(
        "no leading slash",
        patching("replicas", 1),
        *both(PLAIN, "'replicas' is not a JSON pointer", "\n  hint: write '/replicas'"),
    ),
    Message(
        "an index out of range",
        patching("/spec/template/spec/containers/3/image", "x"),
        *both(PLAIN, "/spec/template/spec/containers has 1 item, so 3 is no index of it"),
    ),
    Message(
        "a name where an index must stand",
        patching("/spec/template/spec/containers/web/image", "x"),
        *both(PLAIN, "/spec/template/spec/containers is a list, and 'web' is no index of it"),
    ),
    Message(
        "below a number",
        patching("/spec/replicas/x", 1, operator="add"),
        *both(PLAIN, "/spec/replicas is neither mapping nor list, so it has no 'x'"),
    ),
    Message(
        "removing everything",
        patching("", operator="remove"),
        *both(PLAIN, "the whole object cannot be removed", "\n  hint: leave the cluster out of the propagation policy"),
    ),
    Message(
        "replacing everything by a string",
        patching("", "x"),
        *both(PLAIN, "the empty path replaces the whole object, and the value is no object"),
    ),
    Message(
        "another name",
        patching("/metadata/name", "x"),
        [f"{PLAIN}changes metadata.name: {MOVED}{OWN}"],
        [f"{PLAIN}changes metadata.name, {ERROR_OF_ALL}{OWN}"],
    ),
    Message(
        "another namespace",
        patching("/metadata/namespace", "x"),
        [f"{PLAIN}changes metadata.namespace: {MOVED}{OWN}"],
        [f"{PLAIN}changes metadata.namespace, {ERROR_OF_ALL}{OWN}"],
    ),
    Message(
        "another kind",
        patching("/kind", "StatefulSet"),
        [f"{PLAIN}changes kind: {MOVED}{OWN}"],
        [f"{PLAIN}changes kind, {ERROR_OF_ALL}{OWN}"],
    ),
    Message(
        "other metadata altogether",
        patching("/metadata", {"labels": {}}),
        *both(PLAIN, f"changes metadata.namespace and metadata.name: {MOVED}", OWN),
    ),
    Message(
        "a predicate without slash",
        image("Tag", "replace", "v2", predicate={"path": "spec/image"}),
        *both(f"{IMAGE}.predicate.path: ", "'spec/image' is not a JSON pointer", "\n  hint: write '/spec/image'"),
    ),
    Message(
        "a predicate that leads nowhere",
        image("Tag", "replace", "v2", predicate={"path": "/spec/image"}),
        *both(f"{IMAGE}.predicate.path: ", "'image' does not exist in /spec"),
    ),
    Message(
        "a predicate that ends too early",
        image("Tag", "replace", "v2", predicate={"path": "/spec/template"}),
        *both(f"{IMAGE}: ", "/spec/template is not a string"),
    ),
    Message(
        "a predicate that is out of range",
        image("Tag", "replace", "v2", predicate={"path": "/spec/template/spec/containers/1/image"}),
        *both(f"{IMAGE}.predicate.path: ", "/spec/template/spec/containers has 1 item, so 1 is no index of it"),
    ),
    Message(
        "an image that is none is not quoted",
        image("Tag", "replace", "v2"),
        *both(f"{IMAGE}: ", "/spec/template/spec/containers/0/image has upper-case letters in the repository"),
        "Job",
    ),
    Message(
        "a tag with its colon",
        image("Tag", "replace", ":v2"),
        [],
        [f"{IMAGE}: is ignored: ':v2' is neither a tag nor a digest\n  hint: write 'v2'"],
    ),
    Message(
        "a tag's suffix with its colon",
        image("Tag", "add", ":v2"),
        [],
        [f"{IMAGE}: is ignored: no tag can end with ':v2'\n  hint: write 'v2'"],
    ),
    Message(
        "a registry with a scheme",
        image("Registry", "replace", "https://r.io"),
        [],
        [
            (
                f"{IMAGE}: makes 'https://r.io/app:v1' of 'registry.example/app:v1', which is not an image: "
                "[registry/]repository[:tag][@digest]\n  hint: write 'r.io'"
            )
        ],
    ),
    Message(
        "a registry without a dot",
        image("Registry", "replace", "mirror"),
        [],
        [
            (
                f"{IMAGE}: makes 'mirror/app:v1' of 'registry.example/app:v1', in which 'mirror' is no registry\n"
                "  hint: a registry has a '.' or a ':', or is localhost"
            )
        ],
    ),
    Message(
        "a repository in upper case",
        image("Repository", "replace", "Nginx"),
        [],
        [
            (
                f"{IMAGE}: makes 'registry.example/Nginx:v1' of 'registry.example/app:v1', which "
                "has upper-case letters in the repository"
            )
        ],
    ),
    Message(
        "no repository",
        image("Repository", "remove"),
        [],
        [
            (
                f"{IMAGE}: makes 'registry.example/:v1' of 'registry.example/app:v1', which is not an image: "
                "[registry/]repository[:tag][@digest]"
            )
        ],
    ),
    Message(
        "a suffix where there is no registry",
        image("Registry", "add", ".cn"),
        [],
        [f"{IMAGE}: leaves what is no image in Deployment.apps shop/web"],
    ),
    Message(
        "images of a kind that has none",
        image("Tag", "replace", "v2"),
        [],
        [f"{IMAGE}: changes nothing in the one object it selects{KINDS_HINT}"],
        "ConfigMap",
    ),
    Message(
        "a container that is not there",
        a_rule(argsOverrider=[{"containerName": "wbe", "operator": "add", "value": ["-v"]}]),
        [],
        [f"{RULE}.overriders.argsOverrider[0]: changes nothing in the one object it selects{NAMES_HINT}"],
    ),
    Message(
        "words that are numbers",
        a_rule(argsOverrider=[{"containerName": "odd", "operator": "add", "value": ["-v"]}]),
        *both(
            f"{RULE}.overriders.argsOverrider[0]: ", "/spec/template/spec/containers/0/args is not a list of strings"
        ),
        "Job",
    ),
    Message(
        "labels that are not there",
        a_rule(labelsOverrider=[{"operator": "replace", "value": {"x": "1"}}]),
        [],
        [f"{RULE}.overriders.labelsOverrider[0]: changes nothing in the one object it selects{KEYS_HINT}"],
    ),
    Message(
        "a text that is not there",
        field("/data/jsn", "json", "add", "/x", 1),
        *both(f"{FIELD}.fieldPath: ", "'jsn' does not exist in /data", "\n  hint: did you mean 'json'?"),
        "ConfigMap",
    ),
    Message(
        "a text that is a mapping",
        field("/data", "json", "add", "/x", 1),
        *both(f"{FIELD}.fieldPath: ", "/data is not a string, so there is no text to patch"),
        "ConfigMap",
    ),
    Message(
        "a key that is not in the text",
        field("/data/yaml", "yaml", "replace", "/port", 1),
        *both(f"{FIELD}.yaml[0]: ", "the text at /data/yaml: 'port' does not exist in the top level"),
        "ConfigMap",
    ),
    Message(
        "a text that is not JSON is not quoted",
        field("/data/broken", "json", "add", "/x", 1),
        *both(f"{FIELD}: ", "the text at /data/broken is not JSON"),
        "ConfigMap",
    ),
    Message(
        "a text without structure",
        field("/data/text", "yaml", "add", "/x", 1),
        *both(f"{FIELD}: ", "the text at /data/text holds a single value, which no patch can change"),
        "ConfigMap",
    ),
    Message(
        "the values of a Secret are base64",
        field("/data/password", "yaml", "add", "/x", 1),
        *both(f"{FIELD}: ", "the text at /data/password holds a single value, which no patch can change"),
        "Secret",
    ),
    Message(
        "a cluster that is not there is told of when the source is loaded",
        labelled(on="eu-3", x="1"),
        [],
        [],
    ),
    Message(
        "labels no cluster has",
        labelled(on={"labelSelector": {"matchLabels": {"env": "stage"}}}, x="1"),
        [],
        [
            (
                f"{RULE}.targetCluster.labelSelector.matchLabels: no cluster has the label env=stage\n"
                "  hint: values of env here: prod, test"
            )
        ],
    ),
]


@each_row("case", MESSAGES, ids=lambda case: case.why)
def test_a_mistake_says_where_it_is_and_what_to_do(case: Message) -> None:
    assert errors([policy(case)]) == case.errors
    assert warnings([policy(case)]) == case.warnings


def test_no_message_quotes_what_a_manifest_holds() -> None:
    said = "\n".join(text for case in MESSAGES for text in errors([policy(case)]) + warnings([policy(case)]))
    assert [word for word in ("aHVudGVyMg", "SECRET", '"password":', "plain ") if word in said] == []


def test_the_line_comes_from_whoever_knows_the_file() -> None:
    policies = [an_override("p", patching("/spec/nope", 1), path="p.yaml", selectors=selecting())]
    asked: list[tuple[str, int, str]] = []

    def line_of(path: str, document: int, field: str) -> int:
        asked.append((path, document, field))
        return 7

    (problem,) = lint_overrides(policies, templates(), CLUSTERS, line_of=line_of)
    assert asked == [("p.yaml", 0, "spec.overrideRules[0].overriders.plaintext[0]")]
    assert (problem.path, problem.line) == ("p.yaml", 7)
