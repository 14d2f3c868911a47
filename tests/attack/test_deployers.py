"""Kustomizations and objects of other tools that somebody hostile writes: bounded, refused, and shown nothing."""

from collections.abc import Mapping
from typing import NamedTuple

import pytest

from render.documents import emit
from tests.sources import LINK, Content, Entry
from tests.test_building_application_sets import a_fleet, a_set
from tests.test_building_argo import FLEET as ARGO
from tests.test_building_argo import HERE, an_application
from tests.test_building_flux import FLEET as FLUX
from tests.test_building_flux import MAP, a_kustomization
from tests.test_building_kustomize import loaded, objects_of, said

GENERATOR = "configMapGenerator: [{{name: stolen, files: ['x={}']}}]\n"


def artifacts(pattern: str, target: str) -> bytes:
    """An ArtifactGenerator that copies by one pattern."""
    copy = {"from": pattern, "to": target}
    head = {"apiVersion": "source.extensions.fluxcd.io/v1beta1", "kind": "ArtifactGenerator"}
    metadata = {"name": "a", "namespace": "flux-system"}
    return emit({**head, "metadata": metadata, "spec": {"artifacts": [{"name": "cut", "copy": [copy]}]}})


CUT = {"kind": "ExternalArtifact", "name": "cut"}


class Attack(NamedTuple):
    why: str
    files: Mapping[str, Content]
    said: str


ATTACKS = [
    Attack("a path of Flux", {"a.yaml": a_kustomization("a", "/../../etc")}, "leads out of the repository"),
    Attack("a path of Argo CD", {"a.yaml": an_application("a", path="../../etc")}, "leads out of the repository"),
    Attack(
        "a folder of Argo CD that is a link",
        {"a.yaml": an_application("a", path="apps"), "apps": Entry(b"/etc", LINK)},
        "there is no folder",
    ),
    Attack(
        "a component that leads out",
        {"a.yaml": a_kustomization("a", "./apps", components=["../../etc"]), "apps/one.yaml": MAP},
        "'../../etc' leads out of the repository",
    ),
    Attack(
        "a component of another host",
        {"a.yaml": a_kustomization("a", "./apps", components=["http://127.0.0.1:1/x"]), "apps/one.yaml": MAP},
        "is not in this repository, and a build fetches nothing",
    ),
    Attack(
        "a file of a generator",
        {"a.yaml": a_kustomization("a", "./apps"), "apps/kustomization.yaml": GENERATOR.format("../../etc/passwd")},
        "'../../etc/passwd' leads out of the repository",
    ),
    Attack(
        "a link in a folder that Flux lists",
        {
            "a.yaml": a_kustomization("a", "./apps", namePrefix="x-"),
            "apps/kustomization.yaml": "resources: [link.yaml]\n",
            "apps/link.yaml": Entry(b"/etc/passwd", LINK),
        },
        "'link.yaml' is a symbolic link; links are never followed",
    ),
    Attack(
        "a patch from a file of this machine",
        {"a.yaml": a_kustomization("a", "./apps", patches=[{"path": "/etc/passwd"}]), "apps/one.yaml": MAP},
        "cannot build apps",
    ),
    Attack(
        "an artifact that is copied from outside",
        {
            "a.yaml": a_kustomization("a", "./", sourceRef=CUT),
            "b.yaml": artifacts("@repo/../../etc/**", "@artifact/"),
        },
        "there is no folder '.' in ExternalArtifact flux-system/cut",
    ),
    Attack(
        "an artifact that is copied to outside",
        {
            "a.yaml": a_kustomization("a", "./", sourceRef=CUT),
            "b.yaml": artifacts("@repo/apps/**", "@artifact/../../x"),
            "apps/one.yaml": MAP,
        },
        "leads out of the repository",
    ),
    Attack(
        "a function that is a program",
        {
            "a.yaml": a_kustomization("a", "./apps"),
            "apps/kustomization.yaml": "transformers: [t.yaml]\n",
            "apps/t.yaml": (
                "apiVersion: v1\nkind: Run\nmetadata:\n  name: a\n  annotations:\n"
                "    config.kubernetes.io/function: 'exec: {path: ./run.sh}'\n"
            ),
            "apps/run.sh": "#!/bin/sh\ntouch /tmp/ran\n",
        },
        "external plugins disabled",
    ),
    Attack(
        "variables that grow",
        {
            "a.yaml": a_kustomization("a", "./apps", postBuild={"substitute": {"A": "x" * 4_000_000}}),
            "apps/one.yaml": MAP.replace("b}", "'" + "${A}" * 10 + "'}"),
        },
        "what is filled in has more than 16777216 characters",
    ),
    Attack(
        "variables in each other",
        {
            "a.yaml": a_kustomization("a", "./apps", postBuild={"substitute": {"A": "x"}}),
            "apps/one.yaml": MAP.replace("b}", "'" + "${N:-" * 500 + "x" + "}" * 500 + "'}"),
        },
        "variables stand in each other too deeply",
    ),
]


@pytest.mark.parametrize("case", ATTACKS, ids=lambda case: case.why)
def test_an_attack_is_refused_and_the_rest_is_read(case: Attack) -> None:
    fleet = ARGO if "Argo" in case.why else FLUX
    here = an_application("here", path="more") + an_application("too", path="more2") if "Argo" in case.why else b"{}"
    found = loaded({"argosy.yaml": fleet, "x.yaml": MAP.replace("one", "x"), **case.files, "z.yaml": here})
    assert case.said in said(found)
    assert "ConfigMap default/x" in objects_of(found)
    assert not any("root:" in repr(each.manifest) for each in found.desired.templates)
    assert found.problems_that_block == ()


def test_a_folder_of_thousands_of_files_is_bounded() -> None:
    files: dict[str, Content] = {f"apps/{number}.yaml": "" for number in range(20_001)}
    found = loaded({"argosy.yaml": FLUX, "a.yaml": a_kustomization("a", "./apps"), **files})
    assert said(found) == "apps/kustomization.yaml: the build reads more than 20000 files"


def test_objects_that_deploy_ever_more_objects_are_bounded() -> None:
    """Each makes 36 others with names of their own, so that every round would have 36 times as many."""
    two = b"".join(
        a_kustomization(f"k-${{N}}-{each}", "./a", postBuild={"substitute": {"N": f"${{N}}{each}"}})
        for each in "abcdefghijklmnopqrstuvwxyz0123456789"
    )
    start = a_kustomization("a", "./a", postBuild={"substitute": {"N": "y"}})
    found = loaded({"argosy.yaml": FLUX, "a.yaml": start, "a/k.yaml": two, "x.yaml": MAP})
    assert said(found).endswith(": objects deploy each other in a circle")
    assert objects_of(found) == ["ConfigMap default/one"]


SETS = a_fleet("Application", "ApplicationSet").replace(b"    - argocd\n    - clusters\n", b"    - .\n")
IN_APPS = {"repoURL": HERE, "path": "apps"}


def many(count: int) -> dict[str, object]:
    """A generator of a list of so many elements."""
    return {"list": {"elementsYaml": "".join(f"- {{n{count}: '{number}'}}\n" for number in range(count))}}


def files_at(path: str) -> dict[str, object]:
    return {"git": {"repoURL": HERE, "files": [{"path": path}]}}


SET_ATTACKS = [
    Attack(
        "more Applications than anybody has",
        {"s.yaml": a_set(many(2_001), source=IN_APPS, name="a-{{n2001}}")},
        "it makes more than 2000 sets of parameters",
    ),
    Attack(
        "as many as two lists make together",
        {"s.yaml": a_set({"matrix": {"generators": [many(50), many(51)]}}, source=IN_APPS, name="a-{{n50}}-{{n51}}")},
        "it makes more than 2000 sets of parameters",
    ),
    Attack(
        "a file outside",
        {"s.yaml": a_set(files_at("../../etc/passwd"), source=IN_APPS, name="a"), "apps/one.yaml": MAP},
        "",
    ),
    Attack(
        "a link to a file outside",
        {"s.yaml": a_set(files_at("e.json"), source=IN_APPS, name="a"), "e.json": Entry(b"/etc/passwd", LINK)},
        "e.json is a link, or too large",
    ),
    Attack(
        "a path that parameters lead out",
        {
            "s.yaml": a_set(
                {"list": {"elements": [{"p": "../.."}]}}, source={**IN_APPS, "path": "apps/{{p}}/etc"}, name="a"
            )
        },
        "'apps/../../etc' leads out of the repository",
    ),
    Attack(
        "the environment of this machine",
        {"s.yaml": a_set(many(1), source=IN_APPS, name='{{ env "HOME" }}', goTemplate=True)},
        "the function 'env' is not known here",
    ),
    Attack(
        "a text that doubles",
        {
            "s.yaml": a_set(
                many(1), source=IN_APPS, name='{{$x := "ab"}}' + "{{$x = cat $x $x}}" * 40 + "{{$x}}", goTemplate=True
            )
        },
        "the function 'cat' makes more than 1048576 characters",
    ),
    Attack(
        "patterns that take long",
        {
            "s.yaml": a_set(files_at("*a" * 500), source=IN_APPS, name="a"),
            **{f"{'a' * 200}{number}.json": "" for number in range(20)},
        },
        "",
    ),
]


@pytest.mark.parametrize("case", SET_ATTACKS, ids=lambda case: case.why)
def test_an_application_set_of_somebody_hostile_makes_nothing(case: Attack) -> None:
    found = loaded({"argosy.yaml": SETS, "x.yaml": MAP.replace("one", "x"), **case.files})
    assert case.said in said(found)
    assert "ConfigMap default/x" in objects_of(found)
    assert not any("root:" in repr(each.manifest) for each in found.desired.templates)
    assert found.problems_that_block == ()
