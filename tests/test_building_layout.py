"""The private copy that kustomize gets: written anew where files are named, and nothing has to be read beside it."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.building.closures import closure_of
from reconciler.building.layout import PrivateCopy, private_copy
from reconciler.building.tree import Kustomizations
from tests.sources import Content, source_of
from tests.test_building_kustomize import a_script, loaded, objects_of, said

MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"


def copy_of(files: Mapping[str, Content], folder: str = "o") -> PrivateCopy:
    source = source_of(files)
    closure = closure_of(Kustomizations.of(source.files, source.read), folder)
    assert closure.refusal is None
    return private_copy(closure, source.read(file.id for file in closure.files))


class Case(NamedTuple):
    why: str
    files: Mapping[str, Content]
    want: Mapping[str, str]


NEW = "\n"
PLUGIN = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\n"
WRITTEN = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata:\n  name: a\n"
TWICE = "configMapGenerator: [{files: [kustomization.yaml, g.yaml]}]\ngenerators: [g.yaml]\n"
CASES = [
    Case(
        "a kustomization as its values are written, and other files as they are",
        {
            "o/kustomization.yaml": "# why\nresources: &a ['a.yaml']\ncrds: *a\n---\nnamePrefix: x\n",
            "o/a.yaml": "a:  1\n",
        },
        {"o/kustomization.yaml": "crds:\n- a.yaml\nresources:\n- a.yaml\n", "o/a.yaml": "a:  1\n"},
    ),
    Case(
        "files of other folders, with the names that become keys, each once for a folder",
        {
            "o/kustomization.yaml": (
                "resources: [../a.yaml]\npatches: [{path: ../a.yaml}]\n"
                "configMapGenerator: [{files: [../x/b.txt, k=../x/b.txt, l=b.txt]}]\n"
            ),
            **dict.fromkeys(("a.yaml", "x/b.txt", "o/b.txt"), "a: b\n"),
        },
        {
            "o/kustomization.yaml": (
                "configMapGenerator:\n- files:\n  - .argosy-beside/1/b.txt\n  - k=.argosy-beside/1/b.txt\n  - l=b.txt\n"
                "patches:\n- path: .argosy-beside/0/a.yaml\nresources:\n- .argosy-beside/0/a.yaml\n"
            ),
            "o/.argosy-beside/0/a.yaml": "a: b\n",
            "o/.argosy-beside/1/b.txt": "a: b\n",
            **dict.fromkeys(("a.yaml", "x/b.txt", "o/b.txt"), "a: b\n"),
        },
    ),
    Case(
        "configuration of generators, by file, inline and beside",
        {
            "o/kustomization.yaml": f"generators:\n- g.yaml\n- ../h\n- |\n  {PLUGIN.replace(NEW, NEW + '  ')}\n",
            "o/g.yaml": PLUGIN,
            "h": PLUGIN,
        },
        {
            "o/kustomization.yaml": (
                f"generators:\n- g.yaml\n- .argosy-beside/0/h\n- |\n  {WRITTEN.replace(NEW, NEW + '  ').rstrip(' ')}"
            ),
            "o/g.yaml": WRITTEN,
            "o/.argosy-beside/0/h": WRITTEN,
            "h": WRITTEN,
        },
    ),
    Case(
        "a file that is written anew, as it was where its text is wanted",
        {
            "o/kustomization.yaml": TWICE,
            "o/g.yaml": PLUGIN,
        },
        {
            "o/kustomization.yaml": (
                "configMapGenerator:\n- files:\n  - .argosy-beside/0/kustomization.yaml\n  - .argosy-beside/1/g.yaml\n"
                "generators:\n- g.yaml\n"
            ),
            "o/.argosy-beside/0/kustomization.yaml": TWICE,
            "o/.argosy-beside/1/g.yaml": PLUGIN,
            "o/g.yaml": WRITTEN,
        },
    ),
    Case(
        "a folder for moved files that the tree has already",
        {"o/kustomization.yaml": "resources: [../a, .argosy-beside/0/a]\n", "a": "1\n", "o/.argosy-beside/0/a": "2\n"},
        {
            "o/kustomization.yaml": "resources:\n- .argosy-beside-/0/a\n- .argosy-beside/0/a\n",
            "o/.argosy-beside-/0/a": "1\n",
            "o/.argosy-beside/0/a": "2\n",
            "a": "1\n",
        },
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_a_copy_is_laid_out_so_that_nothing_is_read_beside_a_kustomization(case: Case) -> None:
    assert {path: content.decode() for path, content in copy_of(case.files).files.items()} == case.want


def test_the_text_of_a_kustomization_is_data_where_it_is_named_as_a_file() -> None:
    text = "# Its own text.\nconfigMapGenerator: [{name: a, files: [kustomization.yaml]}]\n"
    (found,) = loaded({"o/kustomization.yaml": text}).desired.templates
    assert found.manifest["data"] == {"kustomization.yaml": text}


def test_no_tool_is_ever_allowed_to_read_beside_a_kustomization(tmp_path: Path) -> None:
    path = a_script(tmp_path / "bin", "kustomize", 'echo "$@" >&2; exit 1')
    files = {"o/kustomization.yaml": "namePrefix: a-\nresources: [../a.yaml]\n", "a.yaml": MAP}
    assert said(loaded(files, path=path)) == (
        "o/kustomization.yaml: kustomize v9.9.9 cannot build it: build . --load-restrictor LoadRestrictionsRootOnly"
    )


def test_a_generator_and_a_file_of_another_folder_are_built_together() -> None:
    files = {
        "o/kustomization.yaml": "resources: [../one.yaml]\ngenerators: [g.yaml]\n",
        "one.yaml": MAP,
        "o/g.yaml": f"{PLUGIN}literals: [a=b]\noptions: {{disableNameSuffixHash: true}}\n",
    }
    assert objects_of(loaded(files)) == ["ConfigMap default/a", "ConfigMap default/one"]


def test_a_complaint_and_an_origin_have_the_paths_of_the_commit() -> None:
    head = "buildMetadata: [originAnnotations]\nnamePrefix: a-\nresources: [../base]\n"
    base = {"base/kustomization.yaml": "resources: [../shared/one.yaml]\n"}
    built = loaded({**base, "o/kustomization.yaml": head, "shared/one.yaml": MAP})
    found = {each.ref.name: each.manifest["metadata"].get("annotations") for each in built.desired.templates}
    assert found == {"one": None, "a-one": {"config.kubernetes.io/origin": "path: ../shared/one.yaml\n"}}
    broken = loaded({**base, "o/kustomization.yaml": head, "shared/one.yaml": "a: ]\n"})
    assert ".argosy-beside" not in said(broken)
    assert "'../shared/one.yaml'" in said(broken)


def test_no_variable_gets_the_value_that_it_has_in_the_environment_of_a_build() -> None:
    """kustomize takes a variable without a value from its environment: a folder that is another one each time."""
    text = "configMapGenerator: [{name: a, envs: [a.env]}]\n"
    assert said(loaded({"o/kustomization.yaml": text, "o/a.env": "A=1\n  HOME\n"})) == (
        "o/kustomization.yaml: kustomize v5.8.1 cannot build it: o/a.env:2: HOME has no value, and a build has no "
        "environment to take it from"
    )
    (found,) = loaded({"o/kustomization.yaml": text, "o/a.env": "HOME=1\n#TZ\nNOBODYS\n"}).desired.templates
    assert found.manifest["data"] == {"HOME": "1", "NOBODYS": ""}
