"""Kustomizations that need no tool make exactly what the tool makes, and any other is left to it."""

import random
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.building.closures import closure_of
from reconciler.building.simple import SimpleBuilds, SimpleOutput
from render.documents import read_documents
from tests.kubectl import kubectl_path
from tests.sources import source_of
from tests.tables import each_row
from tests.test_building_closures import known_of
from tests.test_building_kustomize import loaded, objects_of, said
from tests.waiting import SECONDS

WEB = """\
# The web server.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: registry.example.com:5000/web:1.29
        args: ["--a=b", '-x', c d]
        resources: {limits: {cpu: 500m, memory: 1Gi}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: own}
spec: {ports: [{port: 80, targetPort: http}]}
"""
ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: []\n"
CUSTOM = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 3}\n"


def simple(files: Mapping[str, str], folder: str) -> SimpleOutput | None:
    source = source_of(files)
    contents = source.read({file.id for file in source.files})
    return SimpleBuilds(contents).of(closure_of(known_of(files), folder))


def by_tool(files: Mapping[str, str], folder: str, path: Path) -> list[Any]:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    command = [str(kubectl_path()), "kustomize", str(path / folder)]
    done = subprocess.run(command, env={"HOME": str(path)}, capture_output=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stderr.decode()
    return sorted((document.value for document in read_documents(done.stdout)[0]), key=repr)


class Simple(NamedTuple):
    why: str
    files: Mapping[str, str]
    origins: list[str]


SIMPLE = [
    Simple(
        "a list of files",
        {"kustomization.yaml": "resources: [web.yaml, custom.yaml]\n", "web.yaml": WEB, "custom.yaml": CUSTOM},
        ["web.yaml:2", "web.yaml:19", "custom.yaml:1"],
    ),
    Simple(
        "a namespace, also in place of another",
        {
            "kustomization.yaml": (
                "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: shop\n"
                "resources:\n- web.yaml\n- role.yaml\n"
            ),
            "web.yaml": WEB,
            "role.yaml": ROLE,
        },
        ["web.yaml:2", "web.yaml:19", "role.yaml:1"],
    ),
    Simple(
        "bases, whose namespace is replaced",
        {
            "eu/kustomization.yaml": "resources: [../base, ../more/]\nnamespace: eu\n",
            "base/kustomization.yaml": "resources: [web.yaml]\nnamespace: base\n",
            "base/web.yaml": WEB,
            "more/kustomization.yaml": "resources: [map.yaml]\n",
            "more/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: b}\n",
        },
        ["base/web.yaml:2", "base/web.yaml:19", "more/map.yaml:1"],
    ),
]


@pytest.mark.parametrize("case", SIMPLE, ids=lambda case: case.why)
def test_the_objects_are_those_of_the_tool(case: Simple, tmp_path: Path) -> None:
    folder = next(iter(case.files)).rpartition("/")[0]
    made = simple(case.files, folder)
    assert made is not None
    assert [f"{origin.path}:{origin.line}" for origin in made.origins] == case.origins
    values = [document.value for document in read_documents(made.output)[0]]
    assert values == list(made.values)
    assert sorted(values, key=repr) == by_tool(case.files, folder, tmp_path)


class Left(NamedTuple):
    why: str
    kustomization: str
    file: str = WEB


LEFT = [
    Left("another field", "resources: [a.yaml]\nnamePrefix: x-\n"),
    Left("another API", "apiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [a.yaml]\n"),
    Left("a component", "kind: Component\nresources: [a.yaml]\n"),
    Left("nothing", "resources: []\n"),
    Left("a namespace that is none", "resources: [a.yaml]\nnamespace: 1\n"),
    Left("an object twice", "resources: [a.yaml, a.yaml]\n"),
    Left("two objects that a namespace makes one", "resources: [a.yaml]\nnamespace: x\n", f"{WEB}---\n{WEB}"),
    Left("a list of objects", "resources: [a.yaml]\n", "apiVersion: v1\nkind: List\nmetadata: {name: x}\nitems: []\n"),
    Left("no name", "resources: [a.yaml]\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n"),
    Left(
        "a kind that only has the name of one without a namespace",
        "resources: [a.yaml]\nnamespace: shop\n",
        "apiVersion: example.io/v1\nkind: StorageClass\nmetadata: {name: fast}\n",
    ),
    Left("labels that are no text", "resources: [a.yaml]\n", CUSTOM.replace("{name: w}", "{name: w, labels: {a: 1}}")),
    Left("annotations of nothing", "resources: [a.yaml]\n", CUSTOM.replace("{name: w}", "{name: w, annotations: {}}")),
    Left(
        "an annotation of the tool's",
        "resources: [a.yaml]\n",
        CUSTOM.replace("{name: w}", "{name: w, annotations: {config.kubernetes.io/local-config: 'true'}}"),
    ),
    Left("a kind of its own in a namespace", "resources: [a.yaml]\nnamespace: x\n", CUSTOM),
    Left(
        "a cluster-wide kind with a namespace",
        "resources: [a.yaml]\nnamespace: x\n",
        ROLE.replace("r}", "r, namespace: y}"),
    ),
    Left(
        "a Namespace, which gets the name",
        "resources: [a.yaml]\nnamespace: x\n",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: y}\n",
    ),
    Left(
        "a RoleBinding, whose subjects have one",
        "resources: [a.yaml]\nnamespace: x\n",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: y}\n",
    ),
]


@each_row("case", LEFT, ids=lambda case: case.why)
def test_whatever_else_there_is_is_left_to_the_tool(case: Left) -> None:
    assert simple({"o/kustomization.yaml": case.kustomization, "o/a.yaml": case.file}, "o") is None


DOUBTFUL = [
    *(
        "on",
        "y",
        "Yes",
        "NO",
        "~",
        "null",
        "True",
        "08",
        "0x1f",
        "0o7",
        "1_000",
        "1e3",
        "1.0",
        ".5",
        "+1",
        "-0",
        "1:30",
    ),
    *(".inf", "-.NaN", "2024-01-02", "12345678901234567890", "|\n  a\n", ">\n  a\n", "!!str 1", "&a b", "*a", "? a"),
    *("@a", "%a", "`a", "=", "a\tb", "a\u0085b", "a\u2028b", "[on]", "{a: no}", "[1, 0.5]", "{y: 1}"),
]


@each_row("text", DOUBTFUL)
def test_a_scalar_that_may_be_two_things_is_left_to_the_tool(text: str) -> None:
    widget = CUSTOM.replace("size: 3", "size: 3}\nmore:\n- " + text.replace("}", "").replace("{", "") + "\nlast: {x: 1")
    files = {"o/kustomization.yaml": "resources: [a.yaml]\n", "o/a.yaml": widget}
    assert simple(files, "o") is None


PIECES = [
    *(
        "a",
        "b c",
        "on",
        "yes",
        "true",
        "false",
        "1",
        "-5",
        "0",
        "1.5",
        "x:y",
        "a: b",
        "#",
        " #c",
        "'",
        '"',
        "é",
        "😀",
        "null",
    ),
    *(
        "-",
        "--",
        ":",
        "/",
        "*",
        "&",
        "!",
        "|",
        ">",
        "%",
        "@",
        "`",
        "=",
        "~",
        ",",
        "[",
        "]",
        "{",
        "}",
        "?",
        "\\",
        "\\n",
        "_",
    ),
    *("0x1", "1e3", "2024-01-01", "10:30", "m", "Gi", "$", "${A}", "(", ")", ";", "<", "<<", "+", "."),
]


FORMS = ["value: {}", "value: '{}'", 'value: "{}"', "value: [{}, x]", "{}: x", "value:\n- {}\n- k: {}"]


def test_whatever_is_taken_for_ordinary_the_tool_reads_alike(tmp_path: Path) -> None:
    """Random scalars, keys and lists, of which those that are not left to the tool are built by it at once."""
    chance, files, taken = random.Random(1811), dict[str, str](), 0
    for number in range(600):
        text = "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 4)))
        form = chance.choice(
            ["value: {}", "value: '{}'", 'value: "{}"', "value: [{}, x]", "{}: x", "value:\n- {}\n- k: {}"]
        )
        body = form.replace("{}", text)
        file = f"apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: w{number}}}\nspec:\n  a: 1\n"
        file += "".join(f"  {line}\n" for line in body.splitlines())
        one = {"o/kustomization.yaml": "resources: [a.yaml]\n", "o/a.yaml": file}
        if simple(one, "o") is not None:
            files[f"o/w{number}.yaml"] = file
            taken += 1
    assert taken > 120, "else nothing is compared"
    listing = "".join(f"- {name.removeprefix('o/')}\n" for name in files)
    whole = {"o/kustomization.yaml": f"resources:\n{listing}", **files}
    made = simple(whole, "o")
    assert made is not None
    assert sorted(made.values, key=repr) == by_tool(whole, "o", tmp_path)


def test_no_tool_is_needed_and_none_is_named(tmp_path: Path) -> None:
    files = {"apps/kustomization.yaml": "resources: [a.yaml]\nnamespace: shop\n", "apps/a.yaml": WEB}
    found = loaded(files, path=str(tmp_path))
    assert (objects_of(found), said(found)) == (["Service shop/web", "Deployment.apps shop/web"], "")
    assert found.desired.tools == ()
