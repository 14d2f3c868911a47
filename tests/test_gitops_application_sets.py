"""ApplicationSets of Argo CD: what their generators make, and the Applications that come of it."""

import contextlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from reconciler.building.requests import UnusableRequest
from reconciler.building.source_trees import SourceTree
from reconciler.gitops.argo.application_sets import applications_of
from reconciler.gitops.argo.generators.evaluation import Evaluation
from reconciler.gitops.argo.generators.parameters import Generators
from reconciler.gitops.argo.generators.syntax import TemplateError, parsed_template
from reconciler.gitops.argo.generators.texts import TemplateTexts
from reconciler.gitops.argo.generators.values import Budget, go_value
from render.documents import emit
from tests.build import a_cluster
from tests.sources import LINK, Content, Entry, source_of
from tests.tables import each_row

PARAMETERS: Mapping[str, Any] = go_value(
    {
        "name": "web",
        "path": {"path": "apps/Team_A/web", "segments": ["apps", "Team_A", "web"], "basename": "web"},
        "labels": {"env": "prod", "b": "2"},
        "count": 3,
        "big": 1_000_000,
        "share": 0.25,
        "on": True,
        "off": False,
        "none": None,
        "empty": "",
    }
)


class Made(NamedTuple):
    text: str
    want: str


MADE = [
    Made("plain", "plain"),
    Made("{{.name}}-{{ .path.basename }}", "web-web"),
    Made("{{index .path.segments 1 | normalize}}", "team-a"),
    Made("{{.count}} {{.big}} {{.share}} {{.on}}", "3 1e+06 0.25 true"),
    Made("{{.nothing}} {{.nothing.inner}} {{.none}}", "<no value> <no value> <no value>"),
    Made('{{ .nothing | default "x" }}{{ default "y" .empty }}', "xy"),
    Made("a {{- .name -}} b", "awebb"),
    Made("{{/* said */}}{{- /* more */ -}} a", "a"),
    Made("{{if .off}}a{{else if .on}}b{{else}}c{{end}}", "b"),
    Made("{{if and .on .empty}}a{{else}}b{{end}}{{if or .off .name}}c{{end}}{{if not .off}}d{{end}}", "bcd"),
    Made(
        '{{if eq .name "a" "web"}}a{{end}}{{if and (ge .count 3) (lt .count 4)}}b{{end}}{{if ne .name "x"}}c{{end}}',
        "abc",
    ),
    Made("{{range .path.segments}}[{{.}}]{{end}}{{range .nothing}}x{{else}}none{{end}}", "[apps][Team_A][web]none"),
    Made("{{range $key, $value := .labels}}{{$key}}={{$value}};{{$.name}} {{end}}", "b=2;web env=prod;web "),
    Made("{{with .path}}{{.basename}}{{end}}{{with .empty}}a{{else}}b{{end}}", "webb"),
    Made('{{$x := "a"}}{{if .on}}{{$x = "b"}}{{end}}{{$x}}', "b"),
    Made("{{(index .path.segments 0)}}{{ ((.labels).env) }}", "appsprod"),
    Made('{{printf "%s-%03d-%q-100%%" .name .count "a"}}', 'web-003-"a"-100%'),
    Made('{{ .name | upper | trimPrefix "W" | quote }}', '"EB"'),
    Made('{{ .path.path | replace "/" "-" | lower | trunc 6 | trimSuffix "-" }}', "apps-t"),
    Made('{{ splitList "/" .path.path | last }}{{ join "," .path.segments }}', "webapps,Team_A,web"),
    Made("{{ toYaml .labels | nindent 2 }}", '\n  b: "2"\n  env: prod'),
    Made('{{ toJson .labels }}{{ (fromJson "{\\"a\\": [1]}").a }}', '{"b":"2","env":"prod"}[1]'),
    Made('{{ dig "env" "x" .labels }}{{ dig "none" "x" .labels }}{{ hasKey .labels "b" }}', "prodxtrue"),
    Made('{{ get .labels "none" }}{{ ternary "a" "b" .on }}{{ len .path.segments }}{{ add 1 .count }}', "a34"),
    Made(
        '{{ slugify "A/B_C & D" }} {{ slugify 6 "feat/some-long" }} {{ slugify 12 true "feat/some-long" }}',
        "a-b_c-and-d feat-s feat-some",
    ),
    Made('{{ "a\\tb\\u0041" }}{{`\\n`}}', "a\tbA\\n"),
    Made("{{ .labels }}{{ list 1 .name }}", "map[b:2 env:prod][1 web]"),
    Made(
        '{{ get (dict "a" 1) "a" }}{{ (merge (dict "a" 1) (dict "a" 2 "b" 3)).b }}{{ without (list 1 2) 1 }}', "13[2]"
    ),
]


@each_row("case", MADE, ids=lambda case: case.text)
def test_a_template_makes_the_text_that_go_makes(case: Made) -> None:
    assert Evaluation(PARAMETERS, Budget()).text(parsed_template(case.text)) == case.want


class Refused(NamedTuple):
    text: str
    said: str


BOMB = "{{$x := list 1 2}}" + "{{$x = list $x $x}}" * 60 + "{{toJson $x}}"
REFUSED = [
    Refused("{{.name", "an action is not closed by }}, or holds what is no part of a template"),
    Refused("{{}}", "an action is empty"),
    Refused("{{end}}", "{{end}} ends nothing"),
    Refused("{{if .on}}", "{{if}} lacks its {{end}}"),
    Refused('{{template "x"}}', "{{template}} is not read here"),
    Refused("{{range .path.segments}}{{break}}{{end}}", "{{break}} is not read here"),
    Refused("{{ randAlphaNum 5 }}", "the function 'randAlphaNum' is not known here"),
    Refused('{{ env "HOME" }}', "the function 'env' is not known here"),
    Refused('{{ fail "no" }}', "it fails by itself: no"),
    Refused("{{ .name.first }}", "there is no field 'first' in what is no object"),
    Refused("{{ index .path.segments 7 }}", "index is out of range, or is of what has no items"),
    Refused("{{ lower 1 }}", "a function was given something else than a text"),
    Refused("{{ lower }}", "the function 'lower' cannot be used on what it is given"),
    Refused("{{ .name .name }}", "something that is no function is given arguments"),
    Refused("{{ $x }}", "the variable $x is not declared"),
    Refused("{{ (1 }}", "a parenthesis is not closed"),
    Refused("{{ 1x }}", "'1x' is no number"),
    Refused("{{ repeat 9999999 .name }}", "repeat makes more than 1048576 characters"),
    Refused("{{ indent 9999999 .name }}", "indent makes more than 1048576 characters"),
    Refused('{{ replace "" (repeat 100000 "x") (repeat 100000 "y") }}', "replace makes more than 1048576 characters"),
    Refused('{{ join (repeat 1000000 "x") (until 10) }}', "join makes more than 1048576 characters"),
    Refused("{{ until 99999999 }}", "a list has more than 10000 items"),
    Refused("{{ mul 9999999999 9999999999 }}", "a number does not fit into 64 bits"),
    Refused(
        "{{range until 9999}}{{range until 9999}}{{range until 9999}}{{end}}{{end}}{{end}}",
        "its templates take too many steps",
    ),
    Refused(BOMB, "its templates take too many steps"),
    Refused("{{if .on}}" * 50 + "{{end}}" * 50, "branches stand in each other too deeply"),
    Refused("{{ " + "(" * 60 + "1" + ")" * 60 + " }}", "parentheses stand in each other too deeply"),
    Refused('{{range until 30}}{{ repeat 99999 "x" }}{{end}}', "a template makes more than 1048576 characters"),
]


@each_row("case", REFUSED, ids=lambda case: case.text[:60])
def test_a_template_that_cannot_be_read_or_takes_too_much_is_refused(case: Refused) -> None:
    with pytest.raises(TemplateError) as caught:
        Evaluation(PARAMETERS, Budget(left=20_000)).text(parsed_template(case.text))
    assert str(caught.value) == case.said


def test_a_missing_key_is_an_error_where_the_options_say_so() -> None:
    texts = TemplateTexts.of({"goTemplate": True, "goTemplateOptions": ["missingkey=error"]})
    with pytest.raises(TemplateError, match=r"^there is no key 'b'$"):
        texts.fill_text("{{.a.b}}", {"a": {}})


FILES: Mapping[str, Content] = {
    "apps/web/one.yaml": "",
    "apps/api/deep/two.yaml": "",
    "apps/.hidden/x.yaml": "",
    "old/api/x.yaml": "",
    "envs/eu/config.json": '{"env": {"name": "eu", "size": 2}, "tags": ["a"]}',
    "envs/us/config.yaml": "- {name: us-1}\n- {name: us-2}\n",
    "envs/link.json": Entry(b"/etc/passwd", LINK),
    "envs/text.txt": "no object",
}
CLUSTERS = (
    {**a_cluster("eu-1", labels={"env": "prod"}), "spec": {"apiEndpoint": "https://10.0.0.1:6443"}},
    a_cluster("us-1", labels={"env": "test"}),
)


def generators(*, is_go: bool = False) -> Generators:
    source = source_of(FILES)

    def tree_of(path: str, url: Any, _revision: Any) -> SourceTree:
        if url not in {None, "here"}:
            raise UnusableRequest(path, f"{url} is another repository")
        return SourceTree(files=source.files, read=source.read)

    return Generators(TemplateTexts(is_go=is_go), CLUSTERS, tree_of)


class Sets(NamedTuple):
    why: str
    generator: Mapping[str, Any]
    names: list[str]
    text: str = "{{name}}"


def git(**spec: Any) -> dict[str, Any]:
    return {"git": {"repoURL": "here", **spec}}


def a_list(*elements: Any) -> dict[str, Any]:
    return {"list": {"elements": list(elements)}}


EU, US = {"name": "eu", "at": "x"}, {"name": "us", "at": "y"}
IN_PROD = {"matchLabels": {"env": "prod"}}
FLAT = [
    Sets("a list", a_list(EU, US), ["eu", "us"]),
    Sets("values of a list", a_list({"name": "a", "values": {"b": "c"}}), ["a-c"], "{{name}}-{{values.b}}"),
    Sets("YAML of a list", {"list": {"elementsYaml": "- {name: a}\n- {name: b}\n"}}, ["a", "b"]),
    Sets("an unknown parameter stays", a_list(EU), ["{{ none }}-eu"], "{{ none }}-{{ name }}"),
    Sets("a selector of parameters", {**a_list(EU, US), "selector": {"matchLabels": {"at": "y"}}}, ["us"]),
    Sets("clusters", {"clusters": {}}, ["eu-1", "us-1"]),
    Sets(
        "clusters by their labels",
        {"clusters": {"selector": IN_PROD, "values": {"v": "{{name}}!"}}},
        ["eu-1! https://10.0.0.1:6443 prod"],
        "{{values.v}} {{server}} {{metadata.labels.env}}",
    ),
    Sets(
        "clusters by the label of their Secrets",
        {"clusters": {"selector": {"matchLabels": {"argocd.argoproj.io/secret-type": "cluster"}}}},
        ["eu-1", "us-1"],
    ),
    Sets(
        "a Cluster without address has its name as one",
        {"clusters": {}},
        ["https://10.0.0.1:6443", "us-1"],
        "{{server}}",
    ),
    Sets(
        "folders",
        git(directories=[{"path": "apps/*"}, {"path": "apps/we?", "exclude": True}]),
        ["apps/api api api apps api"],
        "{{path}} {{path.basename}} {{path.basenameNormalized}} {{path[0]}} {{path[1]}}",
    ),
    Sets("a star is one step of a folder", git(directories=[{"path": "*/api"}]), ["apps/api", "old/api"], "{{path}}"),
    Sets(
        "files",
        git(files=[{"path": "envs/*.json"}, {"path": "envs/link.json", "exclude": True}]),
        ["eu 2 a envs/eu config.json eu"],
        "{{env.name}} {{env.size}} {{tags.0}} {{path}} {{path.filename}} {{path[1]}}",
    ),
    Sets("a list in a file", git(files=[{"path": "envs/*.yaml"}]), ["us-1", "us-2"]),
    Sets(
        "a prefix of paths, and values",
        git(files=[{"path": "envs/us/config.yaml"}], pathParamPrefix="my", values={"at": "{{my.path.basename}}"}),
        ["us", "us"],
        "{{values.at}}",
    ),
    Sets(
        "each with each",
        {"matrix": {"generators": [git(directories=[{"path": "apps/*"}]), {"clusters": {}}]}},
        ["api-eu-1", "api-us-1", "web-eu-1", "web-us-1"],
        "{{path.basename}}-{{name}}",
    ),
    Sets(
        "the second of a matrix by what the first one made",
        {"matrix": {"generators": [a_list(EU), git(files=[{"path": "envs/{{name}}/config.json"}])]}},
        ["eu-2"],
        "{{name}}-{{env.size}}",
    ),
    Sets(
        "a matrix in a matrix",
        {"matrix": {"generators": [{"matrix": {"generators": [a_list(EU), a_list({"b": "1"})]}}, a_list({"c": "2"})]}},
        ["eu-1-2"],
        "{{name}}-{{b}}-{{c}}",
    ),
    Sets(
        "by the value of a key",
        {
            "merge": {
                "mergeKeys": ["name"],
                "generators": [a_list(EU, US), a_list({"name": "us", "at": "z"}, {"name": "x"})],
            }
        },
        ["eu-x", "us-z"],
        "{{name}}-{{at}}",
    ),
]
GO = [
    Sets("any value of a list", a_list({"name": {"first": "a"}, "count": 2}), ["a-2"], "{{.name.first}}-{{.count}}"),
    Sets(
        "clusters",
        {"clusters": {"selector": IN_PROD, "values": {"v": "{{.name}}!"}}},
        ["eu-1! prod"],
        "{{.values.v}} {{.metadata.labels.env}}",
    ),
    Sets(
        "clusters as one list", {"clusters": {"flatList": True}}, ["eu-1,us-1,"], "{{range .clusters}}{{.name}},{{end}}"
    ),
    Sets(
        "folders",
        git(directories=[{"path": "apps/api/*"}]),
        ["apps/api/deep deep api"],
        "{{.path.path}} {{.path.basename}} {{index .path.segments 1}}",
    ),
    Sets(
        "files",
        git(files=[{"path": "envs/eu/*"}], pathParamPrefix="my"),
        ["eu 2 [a] envs/eu"],
        "{{.env.name}} {{.env.size}} {{.tags}} {{.my.path.path}}",
    ),
    Sets(
        "the first of a matrix counts, as far as it is not empty",
        {"matrix": {"generators": [a_list({"a": {"x": 1}, "b": ""}), a_list({"a": {"x": 2, "y": 3}, "b": "c"})]}},
        ["1 3 c"],
        "{{.a.x}} {{.a.y}} {{.b}}",
    ),
    Sets(
        "the later of merged ones counts, as far as it is not empty",
        {
            "merge": {
                "mergeKeys": ["n"],
                "generators": [a_list({"n": "a", "v": {"x": 1, "y": 2}}), a_list({"n": "a", "v": {"x": 3, "y": 0}})],
            }
        },
        ["3 2"],
        "{{.v.x}} {{.v.y}}",
    ),
    Sets(
        "a selector of nested parameters",
        {**a_list({"name": "a", "m": {"x": "1"}}, {"name": "b"}), "selector": {"matchLabels": {"m.x": "1"}}},
        ["a"],
        "{{.name}}",
    ),
]


@each_row("case", FLAT, ids=lambda case: case.why)
def test_parameters_are_filled_in_by_name(case: Sets) -> None:
    found = generators()
    assert [found.texts.fill_text(case.text, each) for each in found.parameter_sets("g", case.generator)] == case.names


@each_row("case", GO, ids=lambda case: case.why)
def test_parameters_are_filled_in_by_templates_of_go(case: Sets) -> None:
    found = generators(is_go=True)
    assert [found.texts.fill_text(case.text, each) for each in found.parameter_sets("g", case.generator)] == case.names


class Unusable(NamedTuple):
    why: str
    generator: Any
    said: str


MANY = a_list(*({f"k{number}": "v"} for number in range(50)))
DEEP: dict[str, Any] = {"matrix": {}}
for _ in range(5):
    DEEP = {"matrix": {"generators": [DEEP, EU]}}
UNUSABLE = [
    Unusable("none", {}, "g: must be one generator"),
    Unusable("two", {"list": {}, "git": {}}, "g: must be one generator"),
    Unusable(
        "pull requests",
        {"pullRequest": {}},
        "g.pullRequest: it asks a forge for its pull requests, which a render never does",
    ),
    Unusable(
        "repositories",
        {"scmProvider": {}},
        "g.scmProvider: it asks a forge for its repositories, which a render never does",
    ),
    Unusable("a plugin", {"plugin": {}}, "g.plugin: it asks a service, which a render never does"),
    Unusable(
        "decisions",
        {"clusterDecisionResource": {}},
        "g.clusterDecisionResource: it asks for objects of the cluster that Argo CD runs in, which a render never does",
    ),
    Unusable("one that is not known", {"magic": {}}, "g.magic: no generator that is known here"),
    Unusable("a number in a flat list", a_list({"a": 1}), "g.list.elements[0].a: must be a text"),
    Unusable("an element that is no object", a_list("a"), "g.list.elements[0]: must be an object"),
    Unusable("another repository", {"git": {"repoURL": "x", "files": []}}, "g.git.repoURL: x is another repository"),
    Unusable("neither files nor folders", git(), "g.git: names neither directories nor files"),
    Unusable("a link", git(files=[{"path": "envs/link.json"}]), "g.git: envs/link.json is a link, or too large"),
    Unusable(
        "what is no object",
        git(files=[{"path": "envs/text.txt"}]),
        "g.git: envs/text.txt is neither an object nor a list of objects",
    ),
    Unusable(
        "a matrix of one", {"matrix": {"generators": [a_list(EU)]}}, "g.matrix.generators: must be two generators"
    ),
    Unusable(
        "a matrix that differs",
        {"matrix": {"generators": [a_list(EU), a_list(US)]}},
        "g.matrix: both generators have 'at', with different values",
    ),
    Unusable(
        "no keys", {"merge": {"generators": [a_list(EU), a_list(US)]}}, "g.merge.mergeKeys: required, but missing"
    ),
    Unusable(
        "keys that do not tell sets apart",
        {"merge": {"mergeKeys": ["none"], "generators": [a_list(EU, US), a_list(US)]}},
        "g.merge: two sets of one generator have the same none",
    ),
    Unusable(
        "no selector",
        {"clusters": {"selector": {"matchExpressions": [{"key": "a", "operator": "Gt"}]}}},
        "g.clusters.selector: has an expression that Kubernetes does not read",
    ),
    Unusable(
        "a selector of a wrong shape", {"clusters": {"selector": [1]}}, "g.clusters.selector: is no selector of labels"
    ),
    Unusable(
        "too many",
        {
            "matrix": {
                "generators": [
                    MANY,
                    {"matrix": {"generators": [a_list(*({f"a{n}": "v"} for n in range(50))), a_list({"b": "1"})]}},
                ]
            }
        },
        "g.matrix: it makes more than 2000 sets of parameters",
    ),
    Unusable("too deep", DEEP, f"g{'.matrix.generators[0]' * 5}: generators stand in each other too deeply"),
]


@each_row("case", UNUSABLE, ids=lambda case: case.why)
def test_a_generator_that_cannot_be_read_is_a_problem_at_its_field(case: Unusable) -> None:
    with pytest.raises(UnusableRequest) as caught:
        generators().parameter_sets("g", case.generator)
    assert f"{caught.value.path}: {caught.value.message}" == case.said


TEMPLATE = {
    "metadata": {"name": "{{name}}", "labels": {"{{name}}": "x"}},
    "spec": {
        "project": "default",
        "source": {"repoURL": "here", "path": "apps/{{name}}"},
        "destination": {"name": "{{name}}"},
    },
}


def a_set(*found: Any, **spec: Any) -> dict[str, Any]:
    head = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ApplicationSet",
        "metadata": {"name": "s", "namespace": "argocd"},
    }
    return {**head, "spec": {"generators": list(found), "template": TEMPLATE, **spec}}


def an_application(name: str, **spec: Any) -> dict[str, Any]:
    written = {
        "project": "default",
        "source": {"repoURL": "here", "path": f"apps/{name}"},
        "destination": {"name": name},
    }
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd", "labels": {name: "x"}},
        "spec": {**written, **spec},
    }


def test_each_set_of_parameters_makes_an_application() -> None:
    assert applications_of(a_set(a_list(US), a_list(EU)), generators()) == [an_application("eu"), an_application("us")]


def test_a_generator_has_a_template_of_its_own_over_that_of_all() -> None:
    own = {"list": {"elements": [EU], "template": {"spec": {"destination": {"name": "", "server": "x"}}}}}
    found = applications_of(a_set(own, a_list(US)), generators())
    assert found == [an_application("eu", destination={"name": "eu", "server": "x"}), an_application("us")]


def test_a_patch_changes_an_application_by_its_parameters_but_not_its_project() -> None:
    template = {**TEMPLATE, "metadata": {"name": "{{.name}}", "labels": {"{{.name}}": "x"}}}
    template["spec"] = {
        **TEMPLATE["spec"],
        "source": {"repoURL": "here", "path": "apps/{{.name}}"},
        "destination": {"name": "{{.name}}"},
    }
    patch = (
        "spec:\n  project: other\n  source:\n    helm: {valueFiles: {{ toJson .files }}}\n"
        "{{- if .is_local }}\n  destination: {name: null}\n{{- end }}\n"
    )
    elements = [{"name": "eu", "files": ["a"]}, {"name": "us", "files": [], "is_local": True}]
    found = applications_of(
        a_set(a_list(*elements), goTemplate=True, template=template, templatePatch=patch), generators(is_go=True)
    )
    eu = {"repoURL": "here", "path": "apps/eu", "helm": {"valueFiles": ["a"]}}
    us = {"repoURL": "here", "path": "apps/us", "helm": {"valueFiles": []}}
    assert found == [an_application("eu", source=eu), an_application("us", source=us, destination={})]


SETS = [
    Unusable(
        "a field that is not known",
        a_set(magic=1),
        "spec.magic: no field that is known here, so that it might change anything",
    ),
    Unusable(
        "two of one name", a_set(a_list(EU, EU)), "spec.template.metadata.name: two of its Applications are called 'eu'"
    ),
    Unusable("no name", a_set(a_list(EU), template={}), "spec.template.metadata.name: required, but missing"),
    Unusable(
        "a text that is not closed",
        a_set(a_list(EU), template={"metadata": {"name": "{{name"}}),
        "spec.template: a parameter is not closed by }}",
    ),
    Unusable(
        "a patch that is no object",
        a_set(a_list(EU), templatePatch="- a"),
        "spec.templatePatch: with its parameters filled in it is no YAML object",
    ),
    Unusable(
        "a directive",
        a_set(a_list(EU), templatePatch="spec: {$patch: delete}"),
        "spec.templatePatch: directives of patches, such as $patch, are not read",
    ),
    Unusable(
        "a text that grows",
        a_set(a_list({"name": "x" * 200_000}), template={"metadata": {"name": "{{name}}" * 9}}),
        "spec.template: a text has more than 1048576 characters",
    ),
]


@each_row("case", SETS, ids=lambda case: case.why)
def test_an_application_set_that_cannot_be_read_makes_nothing(case: Unusable) -> None:
    with pytest.raises(UnusableRequest) as caught:
        applications_of(case.generator, generators())
    assert f"{caught.value.path}: {caught.value.message}" == case.said


WRONG: list[Any] = [
    1,
    "x",
    [1],
    [[1]],
    {"a": 1},
    [{"a": [1]}],
    True,
    [{"list": 1}],
    [{"git": {"files": [1], "repoURL": "here"}}],
]


@pytest.mark.parametrize("field", ["generators", "template", "templatePatch", "syncPolicy"])
def test_an_application_set_of_a_wrong_shape_is_no_crash(field: str) -> None:
    for value in WRONG:
        written = a_set(a_list(EU), **{field: value})
        with contextlib.suppress(UnusableRequest):
            assert emit({"items": applications_of(written, generators())})
