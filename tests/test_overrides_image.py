"""The image overrider: Karmada's grammar, its operators and its traps."""

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overrides.draft import Draft
from overrides.errors import Refused
from overrides.overriders.image import (
    ImageOverrider,
    ImageReference,
    image_with_changed_component,
    override_images,
    parse_image,
)

from .tables import each_row

DIGEST = "sha256:50d858e0985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c"
IMAGE = "fictional.registry.example/imagename:v1.0.0"
SHA512 = "sha512:" + "0123456789abcdef" * 8


class Edit(NamedTuple):
    why: str
    image: str
    component: str
    operator: str
    value: str
    want: str


EDITS = [
    Edit("V25 adding to a registry appends", IMAGE, "Registry", "add", ".test",
         "fictional.registry.example.test/imagename:v1.0.0"),
    Edit("V26 a registry is replaced", IMAGE, "Registry", "replace", "fictional.registry.us",
         "fictional.registry.us/imagename:v1.0.0"),
    Edit("V27 a registry is removed whatever the value", IMAGE, "Registry", "remove", "x", "imagename:v1.0.0"),
    Edit("V28 adding to no registry sets one", "perl:5.34.0", "Registry", "add", "registry.k8s.io",
         "registry.k8s.io/perl:5.34.0"),
    Edit("V29 adding to a repository appends", IMAGE, "Repository", "add", "/nginx",
         "fictional.registry.example/imagename/nginx:v1.0.0"),
    Edit("V30 a repository is replaced", IMAGE, "Repository", "replace", "nginx",
         "fictional.registry.example/nginx:v1.0.0"),
    Edit("V31 removing a repository leaves no image", IMAGE, "Repository", "remove", "",
         "fictional.registry.example/:v1.0.0"),
    Edit("V32 a tag with a digest appended is neither, and ignored", IMAGE, "Tag", "add", DIGEST, IMAGE),
    Edit("V33 a digest replaces a tag", IMAGE, "Tag", "replace", DIGEST,
         f"fictional.registry.example/imagename@{DIGEST}"),
    Edit("V34 a tag is removed", IMAGE, "Tag", "remove", "", "fictional.registry.example/imagename"),
    Edit("V35 latest and a digest make an odd digest", "nginx:latest", "Tag", "add", DIGEST, f"nginx@latest{DIGEST}"),
    Edit("V36 beside a tag the digest is dropped", f"nginx:1.19@{DIGEST}", "Registry", "replace", "r.io",
         "r.io/nginx:1.19"),
    Edit("V37 adding to no tag sets one", "nginx", "Tag", "add", "v1", "nginx:v1"),
    Edit("V37 adding to a tag appends", "nginx:1.0", "Tag", "add", "-debug", "nginx:1.0-debug"),
    Edit("V38 a tag with its colon is ignored", "nginx:1.0", "Tag", "replace", ":v2", "nginx:1.0"),
    Edit("V38 a digest with its at sign is ignored", "nginx:1.0", "Tag", "replace", f"@{DIGEST}", "nginx:1.0"),
    Edit("V38 an empty tag is ignored", "nginx:1.0", "Tag", "replace", "", "nginx:1.0"),
    Edit("V39 a tag replaces a digest", f"nginx@{DIGEST}", "Tag", "replace", "v3", "nginx:v3"),
    Edit("V39 a digest is removed", f"nginx@{DIGEST}", "Tag", "remove", "", "nginx"),
    Edit("V39 adding to a digest appends hex", f"nginx@{DIGEST}", "Tag", "add", "ab", f"nginx@{DIGEST}ab"),
    Edit("V40 a first segment without dot is repository", "library/nginx:1", "Registry", "replace", "r.io",
         "r.io/library/nginx:1"),
    Edit("V40 and is not removed as a registry", "library/nginx:1", "Registry", "remove", "", "library/nginx:1"),
    Edit("V41 localhost is a registry", "localhost/app:1", "Registry", "remove", "", "app:1"),
    Edit("V41 a suffix lengthens a port", "localhost:5000/app", "Registry", "add", "1", "localhost:50001/app"),
    Edit("V42 a registry may be an address", "10.0.0.1:5000/a/b:1", "Repository", "replace", "c", "10.0.0.1:5000/c:1"),
    Edit("V43 docker.io is not left out", "docker.io/library/nginx", "Registry", "add", "-x",
         "docker.io-x/library/nginx"),
    Edit("V43 an empty registry removes it", "r.io/a:1", "Registry", "replace", "", "a:1"),
    Edit("a tag has up to 128 characters", "a:1", "Tag", "replace", "t" * 128, f"a:{'t' * 128}"),
    Edit("a longer tag is ignored", "a:1", "Tag", "replace", "t" * 129, "a:1"),
    Edit("a digest of 31 digits is ignored", "a:1", "Tag", "replace", "sha256:" + "a" * 31, "a:1"),
    Edit("a digest's algorithm is not looked at", "a:1", "Tag", "replace", "x+y:" + "A" * 32, "a@x+y:" + "A" * 32),
    Edit("a registry may be an IPv6 address", "[::1]:5000/a", "Tag", "add", "x", "[::1]:5000/a:x"),
    Edit("a registry may have upper case", "Reg.io/a", "Tag", "add", "x", "Reg.io/a:x"),
    Edit("a first segment in upper case is still repository", "Library/a", "Registry", "replace", "r.io",
         "r.io/Library/a"),
    Edit("dashes and a double underscore separate", "a--b__c/d.e:1", "Registry", "add", "r.io", "r.io/a--b__c/d.e:1"),
    Edit("a digest may be sha512", f"a@{SHA512}", "Registry", "add", "r.io", f"r.io/a@{SHA512}"),
    Edit("255 characters of path are not too many", "a" * 255, "Tag", "add", "x", f"{'a' * 255}:x"),
]  # fmt: skip


@each_row("case", EDITS, ids=lambda case: case.why)
def test_a_component_is_edited(case: Edit) -> None:
    overrider = ImageOverrider(component=case.component, operator=case.operator, value=case.value)
    assert str(image_with_changed_component(parse_image(case.image), overrider)) == case.want


class Unreadable(NamedTuple):
    why: str
    image: str
    want: str


NO_IMAGE = "is not an image: [registry/]repository[:tag][@digest]"
BAD_DIGEST = "has a digest that is not sha256, sha384 or sha512 with all of its lower-case hex digits"
UNREADABLE = [
    Unreadable("V44 empty", "", "holds no image"),
    Unreadable("V44 upper case", "Nginx", "has upper-case letters in the repository"),
    Unreadable("V44 an empty tag", "nginx:", NO_IMAGE),
    Unreadable("V44 two tags", "nginx:a:b", NO_IMAGE),
    Unreadable("V44 a scheme", "http://x/y", NO_IMAGE),
    Unreadable("V44 a short digest", "nginx@sha256:abc", NO_IMAGE),
    Unreadable("a digest of too few digits for its algorithm", "nginx@sha256:" + "a" * 32, BAD_DIGEST),
    Unreadable("a digest in upper case", "nginx@" + DIGEST.upper().replace("SHA", "sha"), BAD_DIGEST),
    Unreadable("a digest of another algorithm", "nginx@md5:" + "a" * 32, BAD_DIGEST),
    Unreadable("a path that is too long", "r.io/" + "a" * 256, "has a repository longer than 255 characters"),
    Unreadable("a line break after it", "nginx:1\n", NO_IMAGE),
    Unreadable("a digit that is not ASCII", "nginx:\u0661", NO_IMAGE),
    Unreadable("three underscores", "a___b", NO_IMAGE),
    Unreadable("a separator at the end", "a-", NO_IMAGE),
]


@each_row("case", UNREADABLE, ids=lambda case: case.why)
def test_what_is_no_image_is_refused_without_being_quoted(case: Unreadable) -> None:
    with pytest.raises(Refused) as refused:
        parse_image(case.image)
    assert refused.value.message == case.want


def test_a_reference_is_split_into_its_components() -> None:
    assert parse_image("registry.k8s.io:443/pause/pause:3.9") == ImageReference(
        registry="registry.k8s.io:443", repository="pause/pause", tag="3.9", digest=""
    )
    assert parse_image(f"a/b:1@{DIGEST}") == ImageReference(registry="", repository="a/b", tag="1", digest="")
    assert parse_image(f"a/b@{DIGEST}") == ImageReference(registry="", repository="a/b", tag="", digest=DIGEST)


@given(
    registry=st.sampled_from(["", "r.io", "localhost", "h:1", "a.b.c:443"]),
    repository=st.from_regex(r"[a-z0-9]{1,4}(/[a-z0-9]{1,4}){0,2}", fullmatch=True),
    tag=st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,9}", fullmatch=True),
)
def test_splitting_and_joining_is_the_identity(registry: str, repository: str, tag: str) -> None:
    reference = ImageReference(registry=registry, repository=repository, tag=tag)
    assert parse_image(str(reference)) == reference


def pods(kind: str, *images: str, **more: Any) -> dict[str, Any]:
    containers = [{"name": f"c{index}", "image": image} for index, image in enumerate(images)]
    pod = {"containers": containers, **more}
    return {"kind": kind, "spec": pod if kind == "Pod" else {"template": {"spec": pod}}}


class Found(NamedTuple):
    why: str
    manifest: dict[str, Any]
    predicate: str | None
    want: dict[str, Any]


CRON = "/spec/jobTemplate/spec/template/spec/containers/0/image"


def cron_job(image: str) -> dict[str, Any]:
    return {"kind": "CronJob", "spec": {"jobTemplate": {"spec": pods("Job", image)["spec"]}}}


FOUND = [
    *(
        Found(f"V45 every container of a {kind}", pods(kind, "a/b:1", "r.io/c:2"), None,
              pods(kind, "nginx:1", "r.io/nginx:2"))
        for kind in ("Pod", "ReplicaSet", "Deployment", "DaemonSet", "StatefulSet", "Job")
    ),
    Found("V46 a predicate names one", pods("Deployment", "a:1", "r.io/b:2"), "/spec/template/spec/containers/1/image",
          pods("Deployment", "a:1", "r.io/nginx:2")),
    Found("V47 a CronJob without predicate stays", cron_job("a:1"), None, cron_job("a:1")),
    Found("V47 a CronJob with predicate changes", cron_job("a:1"), CRON, cron_job("nginx:1")),
    Found("V49 init containers are not touched", pods("Pod", "a:1", initContainers=[{"image": "b:1"}]), None,
          pods("Pod", "nginx:1", initContainers=[{"image": "b:1"}])),
    Found("a field of any kind", {"kind": "Widget", "spec": {"image": "a:1"}}, "/spec/image",
          {"kind": "Widget", "spec": {"image": "nginx:1"}}),
    Found("no containers at all", {"kind": "Pod", "spec": {"containers": None}}, None,
          {"kind": "Pod", "spec": {"containers": None}}),
    Found("no spec at all", {"kind": "Job"}, None, {"kind": "Job"}),
]  # fmt: skip


@each_row("case", FOUND, ids=lambda case: case.why)
def test_the_images_of_a_manifest_are_found(case: Found) -> None:
    draft = Draft(case.manifest)
    override_images(
        draft, ImageOverrider(component="Repository", operator="replace", value="nginx", predicate=case.predicate)
    )
    assert draft.root == case.want


class NotFound(NamedTuple):
    why: str
    manifest: dict[str, Any]
    predicate: str | None
    want: str
    within: str = ".predicate.path"


PODS = pods("Deployment", "a:1")
NOT_FOUND = [
    NotFound("V48 no leading slash", PODS, "spec/containers/0/image",
             "'spec/containers/0/image' is not a JSON pointer"),
    NotFound("V48 a key that is missing", PODS, "/spec/nope/0/image", "'nope' does not exist in /spec"),
    NotFound("an index out of range", PODS, "/spec/template/spec/containers/1/image",
             "/spec/template/spec/containers has 1 item, so 1 is no index of it"),
    NotFound("an index that is none", PODS, "/spec/template/spec/containers/x/image",
             "/spec/template/spec/containers is a list, and 'x' is no index of it"),
    NotFound("an index from the end", PODS, "/spec/template/spec/containers/-1/image",
             "/spec/template/spec/containers has 1 item, so -1 is no index of it"),
    NotFound("an item that is no mapping", {"kind": "X", "args": ["a:1"]}, "/args/0",
             "/args/0 is not a mapping"),
    NotFound("the end of the path holds a mapping", PODS, "/spec/template", "/spec/template is not a string", ""),
    NotFound("a key that needs an escape", {"kind": "X", "a/b": "c:1"}, "/a~1b",
             "'a~1b' does not exist in the top level"),
    NotFound("a container without image", pods("Pod", ""), None, "/spec/containers/0/image holds no image", ""),
    NotFound("containers of another shape", {"kind": "Pod", "spec": {"containers": {}}}, None,
             "/spec/containers is not a list", ""),
    NotFound("a container of another shape", {"kind": "Pod", "spec": {"containers": ["a"]}}, None,
             "/spec/containers/0 is not a mapping", ""),
    NotFound("a spec of another shape", {"kind": "Pod", "spec": 1}, None, "/spec is not a mapping", ""),
    NotFound("an image of another shape", {"kind": "Pod", "spec": {"containers": [{"image": 1}]}}, None,
             "/spec/containers/0/image is not a string", ""),
]  # fmt: skip


@each_row("case", NOT_FOUND, ids=lambda case: case.why)
def test_an_image_that_is_not_there_is_refused(case: NotFound) -> None:
    with pytest.raises(Refused) as refused:
        override_images(
            Draft(case.manifest),
            ImageOverrider(component="Tag", operator="replace", value="1", predicate=case.predicate),
        )
    assert (refused.value.message, refused.value.within) == (case.want, case.within)
