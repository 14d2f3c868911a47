"""Kustomizations that would read what is not theirs: kustomize gets nothing that its reader here did not see."""

import base64
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.building.confinement import Confinement, SystemBounds, system_bounds
from reconciler.building.sandbox import run_in_copy
from tests.kubectl import kubectl_path
from tests.sources import Content
from tests.test_building_kustomize import loaded, said
from tests.waiting import joined

CANARY = "c4n4ry-of-this-machine"
MAP = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: stolen}}\ndata: {{a: {CANARY}}}\n"


class Loopback(NamedTuple):
    """A service of this machine that nobody else reaches, and what it was asked for."""

    address: str
    asked: list[str]


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(MAP.encode())

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Loopback(f"http://127.0.0.1:{server.server_address[1]}", asked)
        server.shutdown()
        joined(thread)


class Attempt(NamedTuple):
    """A kustomization that would show a file of this machine, or ask a service of it."""

    why: str
    files: Mapping[str, Content]


GENERATOR = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: stolen}\n"


def kustomization(text: str, **files: Content) -> dict[str, Content]:
    return {"o/kustomization.yaml": text, **{f"o/{name.replace('_', '.')}": content for name, content in files.items()}}


def reading(secret: str) -> list[Attempt]:
    """Each kustomization that kustomize would take the path of a file of this machine from."""
    generator = f"configMapGenerator: [{{name: stolen, files: [k={secret}]}}]\n"
    capital, plain = generator.replace("config", "Config"), GENERATOR + f"files: [k={secret}]"
    beside = "resources: [../shared.yaml]\n"
    shared = {"shared.yaml": MAP.replace(CANARY, "x").replace("stolen", "own")}
    cases = {
        "a list in another case": capital,
        "a list in capitals": generator.replace("configMapGenerator", "CONFIGMAPGENERATOR"),
        "a field of a generator in another case": generator.replace("files", "Files"),
        "a field whose letter only folds to the real one": generator.replace("files", "file\u017f"),
        "an old field in another case": f"configMapGenerator: [{{name: stolen, Env: {secret}}}]\n",
        "environments in another case": f"secretGenerator: [{{name: stolen, ENVS: [{secret}]}}]\n",
        "a resource in another case": f"Resources: ['{secret}']\n",
        "a base in another case": f"Bases: ['{Path(secret).parent}']\n",
        "a component in another case": f"Components: ['{Path(secret).parent}']\n",
        "a patch in another case": f"patches: [{{Path: '{secret}', target: {{kind: ConfigMap}}}}]\n",
        "patches in another case": f"Patches: [{{path: '{secret}', target: {{kind: ConfigMap}}}}]\n",
        "a merge in another case": f"PatchesStrategicMerge: ['{secret}']\n",
        "a replacement in another case": f"Replacements: [{{path: '{secret}'}}]\n",
        "a replacement's path in another case": f"replacements: [{{PATH: '{secret}'}}]\n",
        "a schema in another case": f"OpenAPI: {{path: '{secret}'}}\n",
        "definitions in another case": f"Crds: ['{secret}']\n",
        "configuration in another case": f"Configurations: ['{secret}']\n",
        "generators in another case": f"Generators: ['{secret}']\n",
        "transformers in another case": f"Transformers: ['{secret}']\n",
        "a key that stands there twice": f"configMapGenerator: []\n{generator}",
        "a key that stands there twice, in two ways": f"configMapGenerator: []\n{capital}",
        "a second document": f"namePrefix: a-\n---\n{generator}",
        "a directive": f"%YAML 1.1\n---\n{generator}",
        "a mark of the order of bytes": f"\ufeff{generator}",
        "an alias": f"commonLabels: {{k: &a '{secret}'}}\nconfigMapGenerator: [{{name: stolen, files: [*a]}}]\n",
        "an absolute path with a tag": f"configMapGenerator: [{{name: stolen, files: [!!str '{secret}']}}]\n",
        "a path in bytes": f"configMapGenerator: [{{name: stolen, files: [!!binary {_base64(secret)}]}}]\n",
        "a path that leads up": f"configMapGenerator: [{{name: stolen, files: [k={'../' * 20}{secret[1:]}]}}]\n",
        "a path of two lines": f'configMapGenerator: [{{name: stolen, files: ["k={secret}\\n"]}}]\n',
        "charts in another case": f"HelmCharts: [{{name: a, valuesFile: '{secret}'}}]\n",
        "a generator inline": f"generators:\n- |\n{_indented(GENERATOR + f'files: [k={secret}]')}",
        "a generator inline, in another case": f"generators:\n- |\n{_indented(GENERATOR + f'Files: [k={secret}]')}",
        "a generator inline, in one line": (
            "generators: ['{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: stolen}, "
            f'Files: ["k={secret}"]}}\']\n'
        ),
    }
    plugins = {
        "a generator's file in another case": GENERATOR + f"Files: [k={secret}]\n",
        "a generator's file, by environment": GENERATOR + f"ENV: {secret}\n",
        "a list of generators": f"kind: List\napiVersion: v1\nitems:\n- {_indented(plain)[2:]}",
        "a transformer's file": f"apiVersion: builtin\nkind: PatchTransformer\nmetadata: {{name: a}}\nPath: {secret}\n",
        "a chart": (
            "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: a}\nname: a\n"
            f"valuesFile: {secret}\n"
        ),
        "a program": (
            "apiVersion: v1\nkind: Run\nmetadata:\n  name: a\n  annotations:\n"
            f"    config.kubernetes.io/function: 'exec: {{path: {secret}}}'\n"
        ),
    }
    listed = (
        "resources: [g.yaml]\npatches: [{target: {kind: ConfigMapGenerator}, patch: '[{op: add, path: /files, value: "
    )
    patched = f'{listed}["k={secret}"]}}]\'}}]\n'
    return [
        *(Attempt(why, {**kustomization(text), **shared}) for why, text in cases.items()),
        *(
            Attempt(f"{why}, beside other files", {**kustomization(beside + text), **shared})
            for why, text in cases.items()
        ),
        *(Attempt(why, kustomization("generators: [g.yaml]\n", g_yaml=text)) for why, text in plugins.items()),
        *(Attempt(f"{why}, by no YAML", kustomization("transformers: [g]\n", g=text)) for why, text in plugins.items()),
        *(Attempt(f"{why}, in a folder", {
            **kustomization("generators: [../g]\n"), "g/kustomization.yaml": "resources: [g.yaml]\n", "g/g.yaml": text,
        }) for why, text in plugins.items()),
        Attempt("a generator that is patched", {
            **kustomization("generators: [../g]\n"), "g/kustomization.yaml": patched, "g/g.yaml": GENERATOR,
        }),
        Attempt("a component in another case", {
            **kustomization("components: [../c]\n"),
            "c/kustomization.yaml": f"apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n{capital}",
        }),
        Attempt("a base in another case", {
            **kustomization("resources: [../c]\n"), "c/kustomization.yaml": capital,
        }),
        Attempt("configuration in another case", kustomization(
            "configurations: [c.yaml]\n", c_yaml="NamePrefix: [{path: x}]\n",
        )),
    ]  # fmt: skip


def _base64(text: str) -> str:
    return base64.b64encode(f"k={text}".encode()).decode()


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def shown(files: Mapping[str, Content]) -> str:
    found = loaded(files)
    return said(found) + json.dumps([template.manifest for template in found.desired.templates])


def test_no_kustomization_shows_a_file_of_this_machine(tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text(MAP)
    (tmp_path / "kustomization.yaml").write_text("resources: [secret.yaml]\n")
    for case in reading(str(secret)):
        assert CANARY not in shown(case.files), case.why


def asking(address: str) -> list[Attempt]:
    """Each kustomization that would ask a service of this machine."""
    long = f"{address}/{'a' * 5000}"
    local = address.replace("//", "/")
    plain = MAP.replace(CANARY, "x")
    generator = f"{GENERATOR}files: ['k={address}/g']\n"
    return [
        Attempt("a resource", kustomization(f"resources: ['{address}/r']\n")),
        Attempt("a resource in another case", kustomization(f"Resources: ['{address}/r']\n")),
        Attempt("an address as long as no path", kustomization(f"resources: ['{long}']\n")),
        Attempt("a generator's long address", kustomization(f"configMapGenerator: [{{files: ['k={long}']}}]\n")),
        Attempt("a patch's address as long as no path", kustomization(f"patches: [{{path: '{long}'}}]\n")),
        Attempt("a merge's address as long as no path", kustomization(f"patchesStrategicMerge: ['{long}']\n")),
        Attempt("an address that a file is called like", {
            **kustomization(f"resources: ['{address}/r.yaml']\n"), f"o/{local}/r.yaml": plain,
        }),
        Attempt("an address in capitals that a file is called like", {
            **kustomization(f"resources: ['{address.upper()}/r.yaml']\n"), f"o/{local.upper()}/r.yaml": plain,
        }),
        Attempt("an address that a generator's file is called like", {
            **kustomization(f"configMapGenerator: [{{name: a, files: ['k={address}/r']}}]\n"), f"o/{local}/r": "x",
        }),
        Attempt("a generator", kustomization("generators: [g.yaml]\n", g_yaml=generator)),
        Attempt("a generator in capitals", kustomization("generators: [g]\n", g=generator.replace("files", "FILES"))),
        Attempt("a generator in a folder", {
            **kustomization("generators: [../g]\n"),
            "g/kustomization.yaml": "resources: [g.yaml]\n",
            "g/g.yaml": generator,
        }),
        Attempt("a generator inline", kustomization(f"generators:\n- |\n{_indented(generator)}")),
        Attempt("a generator in the name of a file", {
            **kustomization(f"generators: ['--- {{{ONE_LINE} k={address}/g]}}']\n"),
            f"o/--- {{{ONE_LINE} k={local}/g]}}": GENERATOR,
        }),
        Attempt("a schema", kustomization(f"openapi: {{path: '{address}/s'}}\n")),
        Attempt("a definition", kustomization(f"crds: ['{address}/c']\n")),
        Attempt("configuration", kustomization(f"configurations: ['{address}/c']\n")),
        Attempt("a replacement", kustomization(f"replacements: [{{path: '{address}/c'}}]\n")),
        Attempt("a chart", kustomization(f"helmCharts: [{{name: a, repo: '{address}'}}]\n")),
        Attempt("a component", kustomization(f"components: ['{address}/a/b']\n")),
        Attempt("a repository", kustomization(f"resources: ['git::{address}/a/b.git']\n")),
    ]  # fmt: skip


ONE_LINE = "apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: stolen}, files: ["


def test_no_kustomization_asks_a_service_of_this_machine(loopback: Loopback) -> None:
    for case in asking(loopback.address):
        assert CANARY not in shown(case.files), case.why
        assert loopback.asked == [], case.why


@pytest.mark.skipif(system_bounds() != SystemBounds(files=True, network=True), reason="this system bounds no program")
def test_kustomize_itself_is_kept_from_files_and_services_where_nothing_else_would(
    tmp_path: Path, loopback: Loopback
) -> None:
    """Even a kustomization that nobody has looked at, built with leave to read everywhere, finds nothing."""
    secret = tmp_path / "secret.yaml"
    secret.write_text(MAP)
    (tmp_path / "kustomization.yaml").write_text("resources: [secret.yaml]\n")
    program = str(kubectl_path())
    for text in (f"resources: ['{secret}']\n", f"Resources: ['{loopback.address}/r']\n", "resources: [../../../..]\n"):
        run = run_in_copy(
            (program, "kustomize", ".", "--load-restrictor", "LoadRestrictionsNone"),
            {"o/kustomization.yaml": text.encode()},
            at="o",
            confinement=Confinement.of(program),
        )
        assert (run.output, bool(run.complaint), loopback.asked) == (b"", True, []), text
    run = run_in_copy((program, "kustomize", str(tmp_path)), {}, confinement=Confinement.of(program))
    assert (run.output, "unable to find one of" in run.complaint) == (b"", True), run.complaint
