"""Bases of other repositories: built from the locked content of a Source, and refused where there is none."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.gitops.tools import GitOpsTools
from reconciler.locked.content import content_digest
from reconciler.locked.model import SourceType
from reconciler.locked.store import ContentStore
from reconciler.source.external import source_implied_by_place
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import Caches, SourceReading
from render.documents import emit
from tests.growth_of_builds import overlays_of_a_locked_base
from tests.sources import Content, source_of
from tests.test_building_flux import FLEET, MAP, a_kustomization
from tests.test_building_kustomize import a_builder, objects_of, said

CONTENT = {
    "base/kustomization.yaml": b"resources: [one.yaml, ../part]\n",
    "base/one.yaml": MAP.encode(),
    "part/kustomization.yaml": b"resources: [two.yaml]\n",
    "part/two.yaml": MAP.replace("one", "two").encode(),
    "crds/crd.yaml": MAP.replace("one", "crd").encode(),
}
GIT = {"url": "https://github.com/org/repo", "tag": "v1"}
SPEC = {"git": GIT}


def a_source(spec: Mapping[str, Any] = SPEC, name: str = "lib") -> bytes:
    head = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Source", "metadata": {"name": name}}
    return emit({**head, "spec": spec})


def a_lock(content: Mapping[str, bytes] = CONTENT, spec: Mapping[str, Any] = SPEC) -> bytes:
    resolved = {"commit": "a" * 40, "tag": "v1"}
    locked = {"name": "lib", "spec": spec, "resolved": resolved, "content": content_digest(content)}
    return emit({"apiVersion": "argosy.dev/v1alpha1", "kind": "Lock", "sources": [locked]})


def remote(files: Mapping[str, Content], store: ContentStore) -> Loaded:
    """Load a source whose lock names content that the cache has."""
    source = source_of({"lib.yaml": a_source(), "argosy.lock": a_lock(), **files})
    return load_source(
        source.files, SourceReading(source.read, caches=Caches(contents=store), other_tools=GitOpsTools(a_builder()))
    )


@pytest.fixture
def store(tmp_path: Path) -> ContentStore:
    store = ContentStore(tmp_path / "sources")
    store.put(CONTENT)
    return store


def overlay(text: str) -> dict[str, Content]:
    return {"apps/eu/kustomization.yaml": f"resources: ['{text}']\nnamePrefix: eu-\n"}


FORMS = [
    "https://github.com/org/repo//base?ref=v1",
    "https://github.com/org/repo.git//base?ref=v1&timeout=90s",
    "github.com/org/repo/base?ref=v1",
    "git@github.com:org/repo.git//base",
    "ssh://git@github.com/org/repo//base?ref=" + "a" * 40,
    "git::https://github.com/org/repo//base",
]


@pytest.mark.parametrize("text", FORMS)
def test_a_base_of_a_locked_source_is_built_from_its_content(text: str, store: ContentStore) -> None:
    found = remote(overlay(text), store)
    assert (objects_of(found), said(found)) == (["ConfigMap default/eu-one", "ConfigMap default/eu-two"], "")
    assert [(each.path, each.origin) for each in found.desired.templates] == [
        ("apps/eu/kustomization.yaml", "lib:base/one.yaml:1"),
        ("apps/eu/kustomization.yaml", "lib:part/two.yaml:1"),
    ]


def test_a_single_file_and_a_component_are_read_from_it_too(store: ContentStore) -> None:
    found = remote(overlay("https://raw.githubusercontent.com/org/repo/v1/crds/crd.yaml"), store)
    assert (objects_of(found), said(found)) == (["ConfigMap default/eu-crd"], "")


def test_a_folder_that_flux_deploys_may_build_upon_one(store: ContentStore) -> None:
    files = {"argosy.yaml": FLEET, "cluster/eu.yaml": a_kustomization("eu", "./apps/eu", targetNamespace="shop")}
    found = remote({**overlay("https://github.com/org/repo//base"), **files}, store)
    assert (objects_of(found), said(found)) == (["ConfigMap shop/eu-one", "ConfigMap shop/eu-two"], "")


def test_a_kustomization_of_flux_from_a_locked_repository_is_built(store: ContentStore) -> None:
    repository = emit(
        {
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "GitRepository",
            "metadata": {"name": "lib", "namespace": "flux-system"},
            "spec": {"url": "ssh://git@github.com/org/repo.git"},
        }
    )
    deployed = a_kustomization("lib", "./base", sourceRef={"kind": "GitRepository", "name": "lib"})
    found = remote({"argosy.yaml": FLEET, "a.yaml": deployed, "b.yaml": repository}, store)
    assert said(found) == ""
    assert [(str(each.ref), each.origin) for each in found.desired.templates if each.origin] == [
        ("ConfigMap default/one", "lib:base/one.yaml:1"),
        ("ConfigMap default/two", "lib:part/two.yaml:1"),
    ]


class Refused(NamedTuple):
    why: str
    files: Mapping[str, Content]
    said: str


WHERE = "apps/eu/kustomization.yaml:1: resources[0]:"
HERE = "https://github.com/org/repo//base"
REFUSED = [
    Refused(
        "nobody locked it",
        overlay("https://github.com/org/other//base"),
        f"{WHERE} https://github.com/org/other is not in argosy.lock\n  hint: lock it: argosy lock",
    ),
    Refused(
        "nobody locked it, and several need it",
        {
            **overlay("https://github.com/org/other//base"),
            "apps/us/kustomization.yaml": "resources: ['github.com/org/other/us?ref=main']\n",
        },
        f"{WHERE} https://github.com/org/other is not in argosy.lock (needed in 1 more place)\n"
        "  hint: lock it: argosy lock",
    ),
    Refused(
        "it is an artifact",
        overlay("oci://registry.example.com/base"),
        f"{WHERE} it is an artifact of a registry, which kustomize does not read\n"
        "  hint: write a Source of it, with manifests: Include",
    ),
    Refused(
        "its address has a signature",
        overlay("https://example.com/crds.yaml?token=hidden"),
        f"{WHERE} it is of a place that cannot be fetched from: http.url must have no '?' and no '#'",
    ),
    Refused(
        "it is no address that kustomize reads",
        overlay("example.com/org/repo"),
        f"{WHERE} 'example.com/org/repo' is not in this repository, and a build fetches nothing\n"
        "  hint: write a Source for it, and run argosy lock",
    ),
    Refused(
        "another version is locked",
        overlay(f"{HERE}?ref=v2"),
        f"{WHERE} it is asked for at 'v2', and Source 'lib' is locked at another version\n"
        "  hint: ask for the version of the Source, or leave it out",
    ),
    Refused(
        "the Source is not locked",
        {**overlay(HERE), "argosy.lock": emit({"apiVersion": "argosy.dev/v1alpha1", "kind": "Lock", "sources": []})},
        f"{WHERE} Source 'lib' is not in argosy.lock\n  hint: lock it: argosy lock",
    ),
    Refused(
        "its content is not in the cache",
        {**overlay(HERE), "argosy.lock": a_lock({"x": b"other"})},
        f"{WHERE} Source 'lib' (v1) is not in the cache\n  hint: fetch it: argosy lock --fetch",
    ),
    Refused(
        "it has no such folder",
        overlay("https://github.com/org/repo//none"),
        "apps/eu/kustomization.yaml: resources[0]: there is no '../../.argosy-sources/lib/none'\n"
        "  hint: it would be .argosy-sources/lib/none",
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_a_base_that_is_not_locked_is_refused(case: Refused, store: ContentStore) -> None:
    found = remote({**case.files, "x.yaml": MAP}, store)
    assert said(found) == case.said
    assert objects_of(found) == ["ConfigMap default/one"]


class Hostile(NamedTuple):
    why: str
    kustomization: str
    field: str


PLUGIN = "|\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: a}\n  files: [../../../secret.txt]\n"
HOSTILE = [
    Hostile("a resource", "resources: [../../../secret.yaml]", ":1: resources[0]: '../../../secret.yaml' leads out"),
    Hostile(
        "a file of a generator",
        "configMapGenerator: [{name: a, files: [x=../../../secret.txt]}]",
        ":1: configMapGenerator[0].files[0]: '../../../secret.txt' leads out",
    ),
    Hostile("a patch", "patches: [{path: ../../../p.yaml}]", ":1: patches[0].path: '../../../p.yaml' leads out"),
    Hostile(
        "an environment", "secretGenerator: [{envs: [../../../e]}]", ":1: secretGenerator[0].envs[0]: '../../../e'"
    ),
    Hostile(
        "a generator's configuration",
        f"generators:\n- {PLUGIN}",
        ":2: generators[0].files[0]: '../../../secret.txt' leads out",
    ),
]


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.why)
def test_content_reads_no_file_of_this_repository(case: Hostile, tmp_path: Path) -> None:
    hostile = {"base/kustomization.yaml": f"{case.kustomization}\n".encode()}
    store = ContentStore(tmp_path / "sources")
    store.put(hostile)
    own: dict[str, Content] = {"secret.yaml": MAP, "secret.txt": "hidden", "p.yaml": "a: 1\n", "e": "A=hidden\n"}
    found = remote({**overlay(HERE), **own, "argosy.lock": a_lock(hostile)}, store)
    assert said(found).startswith(f"lib:base/kustomization.yaml{case.field}")
    assert objects_of(found) == ["ConfigMap default/one"]


def test_content_may_change_without_the_kustomization(store: ContentStore) -> None:
    """The lock is what a build depends on, so that what it locks anew is built anew."""
    other = {**CONTENT, "part/two.yaml": MAP.replace("one", "three").encode()}
    store.put(other)
    found = remote({**overlay(HERE), "argosy.lock": a_lock(other)}, store)
    assert objects_of(found) == ["ConfigMap default/eu-one", "ConfigMap default/eu-three"]


# Bases that nobody wrote a Source of


OTHER = "https://github.com/org/other"
IGNORING = emit({"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"source": {"ignore": ["old"]}}})
CRD = "https://example.com/v1/crd.yaml"
PLACES = [
    (f"{OTHER}//base", SourceType.GIT, {"url": OTHER}),
    (f"{OTHER}/base?ref=v2&timeout=90s", SourceType.GIT, {"url": OTHER, "ref": "v2"}),
    (f"git::{OTHER}.git//base?ref={'a' * 40}", SourceType.GIT, {"url": f"{OTHER}.git", "revision": "a" * 40}),
    ("github.com/org/other/base?version=v2", SourceType.GIT, {"url": OTHER, "ref": "v2"}),
    ("git@github.com:org/other//base", SourceType.GIT, {"url": "git@github.com:org/other"}),
    ("git@github.com:org/other.git/base", SourceType.GIT, {"url": "git@github.com:org/other.git"}),
    ("ssh://git@example.com:22/a/b/c.git/base", SourceType.GIT, {"url": "ssh://git@example.com:22/a/b/c.git"}),
    ("https://example.com/org/x/_git/lib/base", SourceType.GIT, {"url": "https://example.com/org/x/_git/lib"}),
    ("file:///srv/other.git//base", SourceType.GIT, {"url": "file:///srv/other.git"}),
    (CRD, SourceType.HTTP, {"url": CRD}),
]


def implied(text: str, type_: SourceType, place: Mapping[str, str], content: Mapping[str, bytes]) -> dict[str, Content]:
    """An overlay upon an address, and a lock that has the content of its place."""
    source = source_implied_by_place(type_, place)
    entry = {"name": source.name, "spec": source.spec, "resolved": {"commit": "b" * 40}}
    lock = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Lock"}
    locked = [{**entry, "content": content_digest(content)}]
    return {**overlay(text), "argosy.lock": emit({**lock, "sources": locked})}


@pytest.mark.parametrize(("text", "type_", "place"), PLACES)
def test_an_address_implies_a_source_whose_content_is_built(
    text: str, type_: SourceType, place: Mapping[str, str], store: ContentStore
) -> None:
    content = {"base/kustomization.yaml": b"resources: [one.yaml]\n", "base/one.yaml": MAP.encode()}
    content = {"crd.yaml": MAP.encode()} if type_ is SourceType.HTTP else content
    store.put(content)
    found = remote({**implied(text, type_, place, content), "lib.yaml": MAP.replace("one", "two")}, store)
    assert (said(found), objects_of(found)) == ("", ["ConfigMap default/eu-one", "ConfigMap default/two"])
    name = source_implied_by_place(type_, place).name
    origin = found.desired.templates[0].origin
    assert origin == f"{name}:{'crd.yaml' if type_ is SourceType.HTTP else 'base/one.yaml'}:1"
    assert found.locked is not None
    assert found.locked.names == (name,)


def test_the_source_of_a_file_that_somebody_wrote_counts_more(store: ContentStore) -> None:
    content = {"crd.yaml": MAP.encode()}
    store.put(content)
    spec = {"http": {"url": CRD, "digest": f"sha256:{'a' * 64}"}}
    found = remote({**overlay(CRD), "lib.yaml": a_source(spec), "argosy.lock": a_lock(content, spec)}, store)
    assert (said(found), objects_of(found)) == ("", ["ConfigMap default/eu-one"])
    assert found.locked is not None
    assert found.locked.implied_sources == ()


def test_nothing_is_implied_by_what_is_not_built(store: ContentStore) -> None:
    inner = {**CONTENT, "other/kustomization.yaml": f"resources: ['{OTHER}//base']\n".encode()}
    store.put(inner)
    unread: dict[str, Content] = {"argosy.yaml": IGNORING, "old/kustomization.yaml": f"resources: ['{OTHER}//base']\n"}
    found = remote({**overlay(HERE), "argosy.lock": a_lock(inner), **unread, "x.yaml": MAP}, store)
    assert found.locked is not None
    assert (said(found), found.locked.implied_sources) == ("", ())


def test_what_content_builds_upon_in_turn_is_implied(store: ContentStore) -> None:
    inner = {"base/kustomization.yaml": f"resources: ['{OTHER}//base']\n".encode()}
    store.put(inner)
    source = source_implied_by_place(SourceType.GIT, {"url": OTHER})
    unlocked = f"{OTHER} is not in argosy.lock\n  hint: lock it: argosy lock"
    built = remote({**overlay(HERE), "argosy.lock": a_lock(inner)}, store)
    assert said(built) == f"lib:base/kustomization.yaml:1: resources[0]: {unlocked}"
    including = {"lib.yaml": a_source({**SPEC, "manifests": "Include"}), "argosy.lock": a_lock(inner)}
    included = remote(including, store)
    assert said(included) == f"lib.yaml:1: base/kustomization.yaml:1: resources[0]: {unlocked}"
    for found in (built, included):
        assert found.locked is not None
        assert found.locked.implied_sources == (source,)


def test_what_flux_builds_or_adds_of_another_repository_is_implied(store: ContentStore) -> None:
    deployed = a_kustomization("eu", "./apps/eu", components=[f"{OTHER}//part?ref=v1"])
    found = remote({"argosy.yaml": FLEET, "cluster/eu.yaml": deployed, **overlay(f"{OTHER}//base")}, store)
    assert found.locked is not None
    places = [{"url": OTHER}, {"url": OTHER, "ref": "v1"}]
    names = sorted(source_implied_by_place(SourceType.GIT, each).name for each in places)
    assert [each.name for each in found.locked.implied_sources] == names


def test_as_many_overlays_as_a_fleet_has_clusters_may_build_upon_one_locked_base(store: ContentStore) -> None:
    found = overlays_of_a_locked_base(1_500, store)()
    assert found.problems == ()
    assert len(found.desired.templates) == 1_500
