"""Kustomizations built by the real tool: their objects are templates, and what was built is remembered."""

import json
import os
import shutil
import subprocess
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.building.builder import SourceBuilder
from reconciler.building.folders import INSTALL
from reconciler.building.tools import find_kustomize
from reconciler.check.source_warnings import pruned_field_warnings
from reconciler.edit.cluster_files import MemberSource
from reconciler.gitops.tools import GitOpsTools
from reconciler.repository import open_repository
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import SourceReading
from render.documents import read_documents
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from tests.kubectl import kubectl_path
from tests.sources import Content, source_of
from tests.test_source_loading import Memory, text_of
from tests.waiting import SECONDS

VERSION = "kustomize v5.8.1"
BASE = {
    "base/kustomization.yaml": "resources: [web.yaml]\nconfigMapGenerator: [{name: settings, files: [a.txt]}]\n",
    "base/a.txt": "on\n",
    "base/web.yaml": (
        "# The web server.\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
        "spec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
        "    spec: {containers: [{name: web, image: nginx, envFrom: [{configMapRef: {name: settings}}]}]}\n"
    ),
}
OVERLAY = {"eu/kustomization.yaml": "resources: [../base]\nnamePrefix: eu-\nnamespace: shop\n"}


@cache
def _known() -> Memory:
    """Return a cache that knows the version of the tool and nothing else: to ask costs as much as a build."""
    memory = Memory()
    find_kustomize(str(kubectl_path().parent), memory)
    return memory


def a_builder() -> SourceBuilder:
    """A builder by the tool of the test extra that has built nothing yet."""
    return SourceBuilder(path=str(kubectl_path().parent), cache=deepcopy(_known()))


def loaded(files: Mapping[str, Content], cache: Memory | None = None, path: str = "") -> Loaded:
    source = source_of(files)
    own = SourceBuilder(path=path or str(kubectl_path().parent), cache=cache)
    build = own if path or cache is not None else a_builder()
    return load_source(source.files, SourceReading(source.read, other_tools=GitOpsTools(build)))


def objects_of(found: Loaded) -> list[str]:
    return [str(template.ref) for template in found.desired.templates]


def said(found: Loaded) -> str:
    """The problems, one below the other, without warnings about the fleet as a whole."""
    return text_of(found.problems)


def test_the_objects_of_an_overlay_are_templates_that_know_their_origin() -> None:
    found = loaded({**BASE, **OVERLAY})
    assert said(found) == ""
    deployment, settings = sorted(found.desired.templates, key=lambda each: each.ref.kind, reverse=True)
    assert str(deployment.ref) == "Deployment.apps shop/eu-web"
    assert (deployment.path, deployment.origin) == ("eu/kustomization.yaml", "base/web.yaml:2")
    assert settings.ref.name.startswith("eu-settings-")
    assert (settings.path, settings.origin) == ("eu/kustomization.yaml", "base/kustomization.yaml")
    assert found.desired.tools == (VERSION,)


def test_what_a_build_reads_is_no_manifest_of_its_own_and_the_rest_is_named() -> None:
    found = loaded({**BASE, "base/stray.yaml": BASE["base/web.yaml"], "base/values.yaml": "a: 1\n"})
    names = [name.rpartition("-")[0] or name for name in objects_of(found)]
    assert names == ["ConfigMap default/settings", "Deployment.apps default/web"]
    warned = [str(warning) for warning in found.desired.warnings if "not read" in warning.message]
    assert warned == ["base/stray.yaml: not read: in the folder of a kustomization that does not list it"]


def test_files_that_a_kustomization_does_not_list_are_one_warning_a_folder() -> None:
    stray = {f"base/{name}.yaml": BASE["base/web.yaml"] for name in "abcd"}
    warned = [str(each) for each in loaded({**BASE, **stray}).desired.warnings if "not read" in each.message]
    assert warned == [
        "base: not read: a.yaml, b.yaml, c.yaml and 1 more: in the folder of a kustomization that does not list it"
    ]


def test_what_a_refused_build_names_is_left_out_with_it_unless_it_stands_elsewhere() -> None:
    files: dict[str, Content] = {
        **BASE,
        "base/stray.yaml": BASE["base/web.yaml"],
        "top/kustomization.yaml": "resources: [gone.yaml, ../base, ../plain/settings.yaml]\n",
        "plain/settings.yaml": _emitted(a_config_map("settings")),
    }
    found = loaded(files)
    assert objects_of(found) == ["ConfigMap default/settings"]
    assert [str(warning) for warning in found.warnings] == [
        "base/stray.yaml: not read: in the folder of a kustomization that does not list it",
        "top/kustomization.yaml:1: resources[0]: left out: there is no 'gone.yaml'\n  hint: it would be top/gone.yaml",
    ]


def test_a_file_that_has_an_object_that_is_built_as_well_is_the_one_that_counts() -> None:
    """A repository that has what kustomize makes beside the kustomization is delivered as before."""
    plain = a_deployment("web", namespace="default")
    files: dict[str, Content] = {
        "out/web.yaml": b"# rendered\n" + _emitted(plain),
        "kustomized/kustomization.yaml": "resources: [a.yaml]\n",
    }
    found = loaded({**files, "kustomized/a.yaml": BASE["base/web.yaml"]})
    assert [(each.path, each.origin) for each in found.desired.templates] == [("out/web.yaml", "")]
    warned = [str(warning) for warning in found.desired.warnings if "not taken" in warning.message]
    assert warned == [
        (
            "kustomized/a.yaml:2: not taken from what is built, as files have it: Deployment.apps default/web "
            "(out/web.yaml), as kustomized/kustomization.yaml builds it"
        )
    ]


def test_a_manifest_that_several_kustomizations_list_is_one_object() -> None:
    files: dict[str, Content] = {
        "shared/settings.yaml": _emitted(a_config_map("settings")),
        "us/kustomization.yaml": "resources: [../shared/settings.yaml]\n",
        "eu/kustomization.yaml": "resources: [../shared/settings.yaml]\n",
    }
    found = loaded(files)
    assert [(str(each.ref), each.path) for each in found.desired.templates] == [
        ("ConfigMap default/settings", "shared/settings.yaml")
    ]
    assert (found.problems, found.warnings) == ((), ())


def test_a_manifest_that_two_kustomizations_change_otherwise_is_defined_twice_at_its_own_line() -> None:
    files: dict[str, Content] = {
        "shared/settings.yaml": _emitted(a_config_map("settings")),
        "shared/kustomization.yaml": "resources: [settings.yaml]\n",
        "us/kustomization.yaml": "resources: [../shared]\ncommonLabels: {at: us}\n",
        "eu/kustomization.yaml": "resources: [../shared]\ncommonLabels: {at: eu}\n",
    }
    assert said(loaded(files)).splitlines()[0] == (
        "shared/settings.yaml:1: ConfigMap default/settings is defined otherwise at shared/settings.yaml:1 as "
        "eu/kustomization.yaml builds it, and none of these is used, as us/kustomization.yaml builds it"
    )


def test_a_manifest_outside_the_folder_of_a_kustomization_stays_one_of_its_own() -> None:
    files: dict[str, Content] = {
        "shared/settings.yaml": _emitted(a_config_map("settings")),
        "us/kustomization.yaml": "resources: [../shared/settings.yaml]\nnamePrefix: us-\n",
        "eu/kustomization.yaml": "resources: [../shared/settings.yaml]\ncommonLabels: {at: eu}\n",
    }
    found = loaded(files)
    assert [(str(each.ref), each.path) for each in found.desired.templates] == [
        ("ConfigMap default/settings", "shared/settings.yaml"),
        ("ConfigMap default/us-settings", "us/kustomization.yaml"),
    ]
    warned = [str(warning) for warning in found.warnings]
    assert warned == [
        (
            "shared/settings.yaml:1: not taken from what is built, as files have it: ConfigMap default/settings "
            "(shared/settings.yaml), as eu/kustomization.yaml builds it"
        )
    ]


def test_a_namespace_that_a_build_gives_to_a_cluster_scoped_object_is_left_out_without_a_word() -> None:
    files: dict[str, Content] = {
        "eu/kustomization.yaml": "resources: [issuer.yaml]\nnamespace: shop\n",
        "eu/issuer.yaml": "apiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: ca}\n",
    }
    found = loaded(files)
    assert objects_of(found) == ["ClusterIssuer.cert-manager.io ca"]
    assert found.warnings == ()


def test_a_warning_about_a_field_of_something_generated_names_the_object() -> None:
    files = {
        "eu/kustomization.yaml": (
            "configMapGenerator: [{name: a, literals: [b=c], options: {disableNameSuffixHash: true}}]\n"
            "patches:\n- target: {kind: ConfigMap}\n  patch: |\n"
            "    - {op: add, path: /metadata/finalizers, value: [acme.io/hold]}\n"
        )
    }
    why = "no cluster gets it: they belong to the controllers of each cluster"
    assert [str(each) for each in pruned_field_warnings(loaded(files).desired.templates, None)] == [
        f"eu/kustomization.yaml: metadata.finalizers: ConfigMap default/a: {why}"
    ]


def _emitted(value: object) -> bytes:
    return json.dumps(value).encode()


def test_policies_and_clusters_may_be_built_too() -> None:
    policy = a_policy("all", selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("one"))
    files: dict[str, Content] = {
        "fleet/kustomization.yaml": "resources: [policy.yaml, cluster.yaml]\n",
        "fleet/policy.yaml": _emitted(policy),
        "fleet/cluster.yaml": _emitted(a_cluster("one")),
    }
    found = loaded(files)
    assert said(found) == ""
    assert [policy.name for policy in found.desired.policies] == ["all"]
    assert [cluster.name for cluster in found.desired.clusters] == ["one"]


def test_a_problem_of_a_built_object_is_at_the_file_it_comes_from() -> None:
    wrong = BASE["base/web.yaml"].replace("spec:\n", "spec:\n  replicas: -1\n", 1)
    assert said(loaded({**BASE, **OVERLAY, "base/web.yaml": wrong})) == (
        "base/web.yaml:2: spec.replicas: must be from 0 to 2147483647, as eu/kustomization.yaml builds it"
    )


class Failing(NamedTuple):
    why: str
    files: Mapping[str, str]
    said: str


FAILING = [
    Failing(
        "an unknown field",
        {"a/kustomization.yaml": "resourcez: []\n"},
        "a/kustomization.yaml:1: resourcez: 'resourcez' is no field of a kustomization\n"
        "  hint: did you mean 'resources'?",
    ),
    Failing(
        "a field in another case, which kustomize would take",
        {"a/kustomization.yaml": "# A comment.\nConfigMapGenerator: [{name: a, files: [/etc/passwd]}]\n"},
        "a/kustomization.yaml:2: ConfigMapGenerator: 'ConfigMapGenerator' is no field of a kustomization\n"
        "  hint: write 'configMapGenerator': a field has one spelling here, whatever kustomize takes for it",
    ),
    Failing(
        "a field of a generator in another case",
        {"a/kustomization.yaml": "configMapGenerator:\n- name: a\n  Files: [/etc/passwd]\n"},
        "a/kustomization.yaml:3: configMapGenerator[0].Files: 'Files' is no field of a kustomization\n"
        "  hint: write 'files': a field has one spelling here, whatever kustomize takes for it",
    ),
    Failing(
        "a key that stands there twice",
        {"a/kustomization.yaml": "resources: []\nresources: [/etc/passwd]\n"},
        "a/kustomization.yaml:2: duplicate key 'resources'\n  hint: kubectl would silently keep only the last one",
    ),
    Failing(
        "two kustomizations in a folder",
        {"a/kustomization.yaml": "", "a/kustomization.yml": ""},
        f"a/kustomization.yaml: {VERSION} cannot build it: Found multiple kustomization files under: a",
    ),
    Failing(
        "kustomizations in a circle",
        {"a/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "resources: [../a]\n"},
        f"a/kustomization.yaml: {VERSION} cannot build it: accumulating resources: accumulation err='accumulating "
        "resources from '../b': 'b' must resolve to a file': recursed accumulation of path 'b': accumulating "
        "resources: accumulation err='accumulating resources from '../a': 'a' must resolve to a file': cycle "
        "detected: candidate root 'a' contains visited root 'a'",
    ),
    Failing(
        "a generator that is a program",
        {
            "a/kustomization.yaml": "generators: [g.yaml]\n",
            "a/g.yaml": (
                "apiVersion: v1\nkind: Run\nmetadata:\n  name: a\n  annotations:\n"
                "    config.kubernetes.io/function: 'exec: {path: ./run.sh}'\n"
            ),
            "a/run.sh": "#!/bin/sh\ntouch /tmp/ran\n",
        },
        f"a/kustomization.yaml: {VERSION} cannot build it: loading generator plugins: failed to load generator: "
        "external plugins disabled; unable to load external plugin 'Run'",
    ),
]


@pytest.mark.parametrize("case", FAILING, ids=lambda case: case.why)
def test_what_cannot_be_built_is_one_problem_and_stops_nothing_else(case: Failing) -> None:
    found = loaded({**case.files, **BASE})
    assert said(found) == case.said
    assert len(found.desired.templates) == 2
    assert found.problems_that_block == ()


def test_without_the_tool_one_problem_names_the_command_and_the_rest_is_read(tmp_path: Path) -> None:
    found = loaded(
        {**BASE, **OVERLAY, "us/kustomization.yaml": "", "x.yaml": _emitted(a_config_map("x"))}, path=str(tmp_path)
    )
    assert said(found) == (
        "eu/kustomization.yaml: kustomize is not installed, so 2 kustomizations cannot be built: eu, us\n"
        f"  hint: {INSTALL}"
    )
    assert objects_of(found) == ["ConfigMap default/x"]


def a_script(folder: Path, name: str, text: str) -> str:
    """Write a program that stands in for a tool, and return the search path that finds it."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f'#!/bin/sh\nif [ "$1" = version ]; then echo v9.9.9; exit; fi\n{text}\n')
    program.chmod(0o755)
    return str(folder)


def test_what_a_build_prints_without_a_kind_is_a_problem_of_it(tmp_path: Path) -> None:
    whole = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: default}\n"
    (tmp_path / "printed").write_text(f"apiVersion: v1\nmetadata: {{name: {{a: b}}}}\n---\n{whole}")
    path = a_script(tmp_path / "bin", "kustomize", f"exec /bin/cat {tmp_path / 'printed'}")
    files = {"o/kustomization.yaml": "namePrefix: a-\nresources: [../a.yaml]\n", "a.yaml": whole}
    assert said(loaded(files, path=path)) == "o/kustomization.yaml: kind: None {'a': 'b'}: required, but missing"


def test_nothing_of_this_machine_reaches_the_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")
    script = "/usr/bin/env | /usr/bin/sort | /usr/bin/cut -d= -f1 | /usr/bin/tr '\\n' ' ' >&2; exit 1"
    path = a_script(tmp_path / "bin", "kustomize", script)
    assert said(loaded(BASE, path=path)) == (
        "base/kustomization.yaml: kustomize v9.9.9 cannot build it: ALL_PROXY GOMEMLIMIT HOME HTTPS_PROXY HTTP_PROXY "
        "KUBECONFIG LC_ALL NO_PROXY PATH PWD TMPDIR TZ XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME"
    )


def test_a_complaint_of_many_lines_says_the_first_as_others_may_quote_secrets(tmp_path: Path) -> None:
    path = a_script(tmp_path / "bin", "kustomize", "echo 'Error: no way' >&2; echo 'password: hidden' >&2; exit 1")
    assert said(loaded(BASE, path=path)) == "base/kustomization.yaml: kustomize v9.9.9 cannot build it: no way"


def test_only_the_closure_is_there_to_read(tmp_path: Path) -> None:
    path = a_script(tmp_path / "bin", "kustomize", "cd ..; echo $(/usr/bin/find . -type f | /usr/bin/sort) >&2; exit 1")
    found = loaded({**BASE, "base/more.txt": "", "secret.txt": "hidden"}, path=path)
    assert said(found) == (
        "base/kustomization.yaml: kustomize v9.9.9 cannot build it: "
        "./base/a.txt ./base/kustomization.yaml ./base/web.yaml"
    )


def test_nothing_is_built_again_while_its_files_stay_and_only_what_a_change_touches() -> None:
    cache, files = Memory(), {**BASE, **OVERLAY, "us/kustomization.yaml": "resources: [../base]\nnamePrefix: us-\n"}
    first = loaded(files, cache)
    kept = dict(cache.values)
    again = loaded(files, cache)
    assert (again.desired.templates, cache.values) == (first.desired.templates, kept)
    changed = loaded({**files, "us/kustomization.yaml": "resources: [../base]\nnamePrefix: usa-\n"}, cache)
    added = cache.values.keys() - kept.keys()
    assert len(added) == 2, "the changed kustomization, and its build"
    assert [name for name in objects_of(changed) if "usa-web" in name]


def test_output_with_secrets_is_remembered_so_that_only_what_it_is_made_of_tells_them(tmp_path: Path) -> None:
    calls, words = tmp_path / "calls", "hunter2 of the fleet"
    secret = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData: {{password: {words}}}\n"
    path = a_script(tmp_path / "bin", "kustomize", f"echo x >> {calls}; /bin/cat ../s.yaml")
    files = {"o/kustomization.yaml": "namePrefix: a-\nresources: [../s.yaml]\n", "s.yaml": secret}
    cache = Memory()
    first = loaded(files, cache, path=path)
    again = loaded(files, cache, path=path)
    assert objects_of(first) == ["Secret default/s"]
    assert again.desired.templates == first.desired.templates
    assert calls.read_text() == "x\n"
    compressed = [each for stored in cache.values.values() for each in _byte_strings_in(stored)]
    assert compressed
    assert not any(words.encode() in part for each in compressed for part in (each, _decompressed(each)))


def _byte_strings_in(value: object) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _byte_strings_in(each)


def _decompressed(content: bytes) -> bytes:
    with suppress(zlib.error):
        return zlib.decompress(content)
    return b""


def test_a_work_tree_that_is_tried_with_an_edit_builds_nothing_again_that_the_edit_does_not_touch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Failures stand in no cache on disk, and ``init`` looks several times at what it would read."""
    printed = "apiVersion: v1\nkind: Secret\nmetadata: {name: run-of-$$}\nstringData: {password: hidden}"
    path = a_script(tmp_path / "bin", "kustomize", f'echo "{printed}"')
    monkeypatch.setenv("PATH", f"{path}{os.pathsep}{os.environ['PATH']}")
    repository = Repository.create(tmp_path / "fleet")
    repository.write({"o/kustomization.yaml": "namePrefix: a-\nresources: [../a.yaml]\n", "a.yaml": a_config_map("a")})
    with open_repository(str(repository.path)) as opened:
        source = MemberSource.of(opened)
        again = source.with_files({"b.yaml": b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"})
        changed = source.with_files({"a.yaml": b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"})
    first = [name for name in objects_of(source.loaded) if "run-of" in name]
    assert len(first) == 1
    assert {*objects_of(again)} == {*first, *objects_of(source.loaded), "ConfigMap default/b"}
    assert not {*first} & {*objects_of(changed)}, "what the build reads is another file"


def built_by_kustomize(folder: Path) -> list[object]:
    """The objects of a folder as kubectl prints them."""
    command = [str(kubectl_path()), "kustomize", str(folder)]
    done = subprocess.run(command, env={"HOME": str(folder)}, capture_output=True, check=True, timeout=SECONDS)
    return sorted((document.value for document in read_documents(done.stdout)[0]), key=repr)


def test_the_objects_are_those_that_kustomize_makes(tmp_path: Path) -> None:
    overlay = {
        "eu/kustomization.yaml": (
            "resources: [../base]\nnamespace: shop\nlabels: [{pairs: {a: b}}]\nimages: [{name: nginx, newTag: '1'}]\n"
            "replicas: [{name: web, count: 3}]\npatches: [{path: p.yaml}]\n"
        ),
        "eu/p.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, annotations: {x: 'yes'}}\n",
    }
    for path, text in {**BASE, **overlay}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    found = [dict(template.manifest) for template in loaded({**BASE, **overlay}).desired.templates]
    assert sorted(found, key=repr) == built_by_kustomize(tmp_path / "eu")


MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
FLEET = {
    "cluster.yaml": a_cluster("member1"),
    "policy.yaml": a_policy("all", selectors=[MAPS], placement=on_clusters("member1")),
    "apps/kustomization.yaml": b"resources: [one.yaml]\nnameSuffix: ''\n",
    "apps/one.yaml": a_config_map("one"),
}


def committed(path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    repository = Repository.create(path)
    repository.commit(FLEET)
    ended = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert (ended.code, ended.err) == (0, "")
    assert repository.files("argosy/rendered", "clusters/member1/default") == [
        "clusters/member1/default/ConfigMap/one.yaml"
    ]
    return repository


def test_the_commit_names_the_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = committed(tmp_path / "fleet", capsys)
    message = repository.git("log", "-1", "--format=%B", "argosy/rendered")
    assert message.splitlines()[-1] == f"Argosy-Tool: {VERSION}"


def test_a_tool_that_is_gone_removes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = committed(tmp_path / "fleet", capsys)
    programs = tmp_path / "bin"
    programs.mkdir()
    git = shutil.which("git")
    assert git is not None
    (programs / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(programs))
    repository.commit({"more.yaml": a_config_map("more")})
    ended = argosy(repository, capsys, "reconcile")
    assert (ended.code, ended.err) == (
        3,
        (
            "apps/kustomization.yaml: kustomize is not installed, so 1 kustomization cannot be built: apps\n"
            f"  hint: {INSTALL}\n1 problem; nothing was changed\n"
        ),
    )


def test_a_work_tree_is_built_as_it_stands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files of any suffix are read, also such as are not committed yet."""
    repository = committed(tmp_path / "fleet", capsys)
    repository.write(
        {
            "apps/kustomization.yaml": b"configMapGenerator: [{name: one, files: [a.ini]}]\n",
            "apps/a.ini": b"a = 1\n",
            "apps/one.yaml": b"",
        }
    )
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, "1 template" in ended.out) == (0, True), ended


def test_another_version_that_builds_otherwise_is_not_comparable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = committed(tmp_path / "fleet", capsys)
    assert argosy(repository, capsys, "verify").out.endswith(": equal\n")
    other = "echo 'apiVersion: v1'; echo 'kind: ConfigMap'; echo 'metadata: {name: one}'"
    path = a_script(tmp_path / "bin", "kustomize", other)
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    ended = argosy(repository, capsys, "verify")
    said = f": not comparable: {VERSION} built its source, here kustomize v9.9.9 did; tree "
    assert (ended.code, said in ended.out) == (3, True), ended


def test_an_explanation_names_what_an_object_is_made_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = committed(tmp_path / "fleet", capsys)
    ended = argosy(repository, capsys, "explain", "ConfigMap/one")
    assert ended.out.startswith("ConfigMap default/one (apps/kustomization.yaml, from apps/one.yaml:1)\n")
    answer = json.loads(argosy(repository, capsys, "explain", "ConfigMap/one", "-o", "json").out)
    assert (answer["path"], answer["origin"]) == ("apps/kustomization.yaml", "apps/one.yaml:1")


def test_what_is_built_never_gives_way_to_files_that_contradict_each_other() -> None:
    """Neither of them is used, so that the object would be nowhere."""
    files: dict[str, Content] = {
        "web/kustomization.yaml": "resources: [settings.yaml]\n",
        "web/settings.yaml": _emitted(a_config_map("settings", at="web")),
        "extras/a.yaml": _emitted(a_config_map("settings", at="a")),
        "more/b.yaml": _emitted(a_config_map("settings", at="b")),
    }
    found = loaded(files)
    assert [(str(each.ref), each.manifest["data"]) for each in found.desired.templates] == [
        ("ConfigMap default/settings", {"at": "web"})
    ]
    assert (found.lost, [each.line for each in found.choices]) == ((), ["/extras/", "/more/"])
