"""The files that a build of a kustomization may read, and the reasons why one may not be run."""

from collections.abc import Mapping
from typing import NamedTuple

from reconciler.building.builder import folders_to_build
from reconciler.building.closures import Closure, closure_of
from reconciler.building.tree import Kustomizations
from tests.sources import LINK, Content, Entry, source_of
from tests.tables import each_row
from tests.test_source_loading import Memory


def known_of(files: Mapping[str, Content], cache: Memory | None = None) -> Kustomizations:
    source = source_of(files)
    return Kustomizations.of(source.files, source.read, cache)


def closure(files: Mapping[str, Content], folder: str) -> Closure:
    return closure_of(known_of(files), folder)


class Case(NamedTuple):
    why: str
    files: Mapping[str, Content]
    want: tuple[str, ...]


PLUGIN = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nfiles: [x=in.txt, y.txt]\nenv: e.env\n"
CASES = [
    Case(
        "resources, bases and components, each followed",
        {
            "o/kustomization.yaml": "resources: [a.yaml, ../base]\ncomponents: [../part]\n",
            "o/a.yaml": "",
            "o/not-listed.yaml": "",
            "base/kustomization.yml": "bases: [../deep/]\n",
            "deep/Kustomization": "resources: [d.json]\n",
            "deep/d.json": "{}",
            "part/kustomization.yaml": "kind: Component\n",
        },
        (
            "base/kustomization.yml",
            "deep/Kustomization",
            "deep/d.json",
            "o/a.yaml",
            "o/kustomization.yaml",
            "part/kustomization.yaml",
        ),
    ),
    Case(
        "patches by path, and none of those that stand in the kustomization",
        {
            "kustomization.yaml": (
                "patches: [{path: p.yaml}, {patch: 'a: b'}]\npatchesJson6902: [{path: j.json}]\n"
                'patchesStrategicMerge: [s.yaml, \'{"kind": "x"}\', "kind: y\\nmetadata: {}\\n"]\n'
                "replacements: [{path: r.yaml}]\nopenapi: {path: o.json}\ncrds: [c.json]\nconfigurations: [k.yaml]\n"
            ),
            **dict.fromkeys(("p.yaml", "j.json", "s.yaml", "r.yaml", "o.json", "c.json", "k.yaml", "z.yaml"), ""),
        },
        ("c.json", "j.json", "k.yaml", "kustomization.yaml", "o.json", "p.yaml", "r.yaml", "s.yaml"),
    ),
    Case(
        "files of generators, also with keys",
        {
            "kustomization.yaml": (
                "configMapGenerator: [{name: a, files: [key=x.txt, y.txt], envs: [e.env], literals: [l=z.txt]}]\n"
                "secretGenerator: [{name: b, env: s.env}]\n"
            ),
            **dict.fromkeys(("x.txt", "y.txt", "e.env", "s.env", "z.txt"), ""),
        },
        ("e.env", "kustomization.yaml", "s.env", "x.txt", "y.txt"),
    ),
    Case(
        "what configuration of generators names in fields of its own, by file and inline",
        {
            "kustomization.yaml": f"generators:\n- g.yaml\n- |\n  {PLUGIN.replace(chr(10), chr(10) + '  ')}\n",
            "g.yaml": PLUGIN.replace("in.txt", "of-file.txt"),
            **dict.fromkeys(("in.txt", "of-file.txt", "y.txt", "e.env", "z.txt"), ""),
        },
        ("e.env", "g.yaml", "in.txt", "kustomization.yaml", "of-file.txt", "y.txt"),
    ),
    Case(
        "a file of another folder of the repository",
        {"o/kustomization.yaml": "resources: [../shared/a.yaml]\n", "shared/a.yaml": ""},
        ("o/kustomization.yaml", "shared/a.yaml"),
    ),
    Case(
        "kustomizations in a circle, each once",
        {"a/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "resources: [../a]\n"},
        ("a/kustomization.yaml", "b/kustomization.yaml"),
    ),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_a_closure_has_what_is_named(case: Case) -> None:
    found = closure(case.files, next(iter(case.files)).rpartition("/")[0])
    assert found.refusal is None
    assert tuple(file.path for file in found.files) == case.want


class Refused(NamedTuple):
    why: str
    files: Mapping[str, Content]
    said: str


LOCK = "\n  hint: write a Source for it, and run argosy lock"
HEAD = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\n"
NO_PLUGIN = (
    "kind: it is none of the generators and transformers that kustomize has, of apiVersion 'builtin'\n"
    "  hint: no others are run: commit what it makes"
)
MADE = (
    "configuration of generators and transformers that a kustomization makes is not read\n"
    "  hint: a kustomization may list the files that have it, and do nothing else to them"
)
SAME = "\n  hint: a build reads files of the same commit alone"


def elsewhere(text: str) -> Refused:
    said = f"o/kustomization.yaml: resources[0]: '{text}' is not in this repository, and a build fetches nothing{LOCK}"
    return Refused(f"a base at {text}", {"o/kustomization.yaml": f"resources: ['{text}']\n"}, said)


def leading_out(field: str, yaml: str, text: str) -> Refused:
    said = f"o/kustomization.yaml: {field}: '{text}' leads out of the repository{SAME}"
    return Refused(f"{field} is {text}", {"o/kustomization.yaml": yaml}, said)


REFUSED = [
    elsewhere("https://example.com/a.yaml"),
    elsewhere("http://127.0.0.1:8080/a.yaml"),
    elsewhere("github.com/org/repo//base?ref=v1"),
    elsewhere("git@example.com:org/repo.git"),
    elsewhere("ssh://git@example.com/org/repo"),
    elsewhere("file:///etc/passwd"),
    leading_out("resources[0]", "resources: [../../etc/passwd]\n", "../../etc/passwd"),
    leading_out("resources[0]", "resources: [/etc]\n", "/etc"),
    leading_out("configMapGenerator[0].files[0]", "configMapGenerator: [{files: [k=/etc/passwd]}]\n", "/etc/passwd"),
    leading_out("secretGenerator[0].envs[0]", "secretGenerator: [{envs: [../../x]}]\n", "../../x"),
    leading_out("patches[0].path", "patches: [{path: ../../x}]\n", "../../x"),
    leading_out("openapi.path", "openapi: {path: /x}\n", "/x"),
    Refused(
        "a file that is not there",
        {"o/kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": ""},
        "o/kustomization.yaml: resources[0]: there is no 'a.yaml'\n  hint: it would be o/a.yaml",
    ),
    Refused(
        "a folder without a kustomization",
        {"o/kustomization.yaml": "resources: [../b]\n", "b/a.yaml": ""},
        "o/kustomization.yaml: resources[0]: there is no '../b'\n  hint: it would be b",
    ),
    Refused(
        "a link, though it leads to a file of the repository",
        {"o/kustomization.yaml": "resources: [a.yaml]\n", "o/a.yaml": Entry(b"/etc/passwd", LINK)},
        "o/kustomization.yaml: resources[0]: 'a.yaml' is a symbolic link; links are never followed\n"
        "  hint: name the file that the link leads to",
    ),
    Refused(
        "a folder that is a link",
        {"o/kustomization.yaml": "resources: [l/a.yaml]\n", "o/l": Entry(b"/etc", LINK)},
        "o/kustomization.yaml: resources[0]: 'l/a.yaml' is below a symbolic link; links are never followed\n"
        "  hint: name the place that the link leads to",
    ),
    Refused(
        "a chart, which kustomize would fetch and run helm for",
        {"o/kustomization.yaml": "helmCharts: [{name: a, repo: 'https://example.com'}]\n"},
        "o/kustomization.yaml: helmCharts: charts in a kustomization are not built, as kustomize would run helm and "
        "fetch them\n  hint: write a HelmChart for argosy instead, or commit what the chart makes",
    ),
    Refused(
        "configuration of a generator that names an address",
        {
            "o/kustomization.yaml": "generators: [g.yaml]\n",
            "o/g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nfiles: [a=http://127.0.0.1/]\n",
        },
        f"o/g.yaml: files[0]: 'http://127.0.0.1/' is not in this repository, and a build fetches nothing{LOCK}",
    ),
    Refused(
        "a generator that names a file outside the folder that it is for",
        {"o/kustomization.yaml": "generators: [g.yaml]\n", "o/g.yaml": f"{HEAD}files: [../a.txt]\n", "a.txt": ""},
        "o/g.yaml: files[0]: '../a.txt' is outside the folder that it configures, or configuration itself\n"
        "  hint: put the file below the folder of the kustomization that lists the configuration",
    ),
    Refused(
        "a generator that names what is written anew",
        {"o/kustomization.yaml": "generators: [g.yaml]\n", "o/g.yaml": f"{HEAD}files: [kustomization.yaml]\n"},
        "o/g.yaml: files[0]: 'kustomization.yaml' is outside the folder that it configures, or configuration itself\n"
        "  hint: put the file below the folder of the kustomization that lists the configuration",
    ),
    Refused(
        "configuration of generators that a kustomization changes",
        {
            "o/kustomization.yaml": "generators: [../g]\n",
            "g/kustomization.yaml": "resources: [g.yaml]\nnamePrefix: a-\n",
            "g/g.yaml": HEAD,
        },
        f"g/kustomization.yaml: {MADE}",
    ),
    Refused(
        "configuration of generators that is built as well",
        {
            "o/kustomization.yaml": "generators: [../g]\nresources: [../g]\n",
            "g/kustomization.yaml": "resources: [g.yaml]\n",
            "g/g.yaml": HEAD,
        },
        f"g/kustomization.yaml: {MADE}",
    ),
    Refused(
        "configuration of fields with one in another case",
        {"o/kustomization.yaml": "configurations: [c.yaml]\n", "o/c.yaml": "NamePrefix: [{path: a}]\n"},
        "o/c.yaml: NamePrefix: 'NamePrefix' is no field of such configuration\n"
        "  hint: write 'namePrefix': a field has one spelling here, whatever kustomize takes for it",
    ),
    Refused(
        "a list of configuration",
        {
            "o/kustomization.yaml": "generators: [g.yaml]\n",
            "o/g.yaml": "apiVersion: v1\nkind: List\nitems: [{kind: ConfigMapGenerator, apiVersion: builtin}]\n",
        },
        f"o/g.yaml: {NO_PLUGIN}",
    ),
    Refused(
        "a list of another name",
        {"o/kustomization.yaml": "generators: [g.yaml]\n", "o/g.yaml": "apiVersion: v1\nkind: X\nitems: []\n"},
        f"o/g.yaml: {NO_PLUGIN}",
    ),
    Refused(
        "another spelling of what kustomize has itself",
        {
            "o/kustomization.yaml": "generators: [g.yaml]\n",
            "o/g.yaml": "apiVersion: /builtin\nkind: ConfigMapGenerator\nFiles: [/etc/passwd]\n",
        },
        f"o/g.yaml: {NO_PLUGIN}",
    ),
    Refused(
        "a generator that kustomize may have in another version",
        {"o/kustomization.yaml": "generators: [g.yaml]\n", "o/g.yaml": "apiVersion: builtin\nkind: NewGenerator\n"},
        f"o/g.yaml: {NO_PLUGIN}",
    ),
    Refused(
        "a name that may be read as configuration",
        {"o/kustomization.yaml": "generators: ['{a: b}']\n", "o/{a: b}": HEAD},
        f"o/kustomization.yaml: generators[0].{NO_PLUGIN}",
    ),
    Refused(
        "another name that may be read as configuration",
        {"o/kustomization.yaml": "generators: ['&a {a: b}']\n", "o/&a {a: b}": HEAD},
        "o/kustomization.yaml: generators[0]: '&a {a: b}' may be read as more than a path\n  hint: kustomize tries it "
        "as configuration first: give the file a name of letters, digits, dots and dashes",
    ),
]


@each_row("case", REFUSED, ids=lambda case: case.why)
def test_what_may_not_be_built_is_refused_before_a_tool_runs(case: Refused) -> None:
    refusal = closure(case.files, "o").refusal
    assert refusal is not None
    assert str(refusal.problem) == case.said


class Tree(NamedTuple):
    why: str
    files: Mapping[str, str]
    want: list[str]
    chosen: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


OVERLAYS = {
    "base/kustomization.yaml": "",
    "eu/kustomization.yaml": "resources: [../base]\n",
    "us/kustomization.yaml": "resources: [../base]\n",
}
TREES = [
    Tree("what others build upon is no root", OVERLAYS, ["eu", "us"]),
    Tree("so it is where the others are left out", OVERLAYS, [], chosen=("base",)),
    Tree("a folder that the paths of the fleet name is built", OVERLAYS, ["base", "eu", "us"], named=("base",)),
    Tree("a component is no root, even without a user", {"c/kustomization.yaml": "kind: Component\n"}, []),
    Tree(
        "of a circle the first is built, so that kustomize names it",
        {"a/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "resources: [../a]\n"},
        ["a"],
    ),
    Tree("a folder alone is one", {"kustomization.yaml": "", "a/kustomization.yaml": ""}, ["", "a"]),
]


@each_row("case", TREES, ids=lambda case: case.why)
def test_the_folders_that_are_built(case: Tree) -> None:
    known = known_of(case.files)
    assert folders_to_build(known, case.chosen or known.folders, case.named) == case.want


def test_what_a_kustomization_names_is_remembered_without_what_it_says() -> None:
    files = {"kustomization.yaml": "resources: [a.yaml]\nsecretGenerator: [{literals: [password=hidden]}]\n"}
    cache = Memory()
    first = known_of(files, cache).kustomizations_at("")
    assert "hidden" not in repr(cache.values)
    again = Kustomizations.of(source_of(files).files, lambda _ids: {}, cache)
    assert again.kustomizations_at("") == first
