"""Admission of Source: one place, an address that can be fetched from, and one version at most."""

from typing import Any, NamedTuple

from render.admission import admit

from .tables import each_row

GIT = {"url": "https://git.example.com/web"}
OCI = {"url": "oci://registry.example.com/web"}
HELM = {"url": "https://charts.example.com", "chart": "web"}


class Case(NamedTuple):
    why: str
    spec: dict[str, Any]
    want: list[str]


CASES = [
    Case("a branch", {"git": {**GIT, "branch": "main"}, "path": "deploy"}, []),
    Case("over ssh, in short", {"git": {"url": "git@git.example.com:web.git"}}, []),
    Case("an artifact", {"oci": {**OCI, "digest": f"sha256:{'a' * 64}"}}, []),
    Case("a chart", {"helm": {**HELM, "version": ">=1 <3"}}, []),
    Case("a ref of any kind", {"git": {**GIT, "ref": "refs/pull/1/head"}}, []),
    Case("a file", {"http": {"url": "https://example.com/crds.yaml", "digest": f"sha256:{'a' * 64}"}}, []),
    Case(
        "a file with a signature in its address",
        {"http": {"url": "https://example.com/crds.yaml?token=hidden"}},
        ["spec.http.url: must have no '?' and no '#'"],
    ),
    Case("no place", {"path": "x"}, ["spec: must have exactly one of git, oci, helm and http"]),
    Case("two places", {"git": GIT, "helm": HELM}, ["spec: must have exactly one of git, oci, helm and http"]),
    Case(
        "two versions",
        {"git": {**GIT, "tag": "v1", "branch": "main"}},
        ["spec.git: has tag and branch, but one of them says the version"],
    ),
    Case(
        "a scheme that runs a program",
        {"git": {"url": "ext::sh -c id"}},
        ["spec.git.url: must be an address that begins with https:// or ssh:// or file://"],
    ),
    Case(
        "a password",
        {"helm": {**HELM, "url": "https://me:hidden@charts.example.com"}},
        ["spec.helm.url: must have no user and no password; put them into the file of credentials"],
    ),
    Case("a folder outside", {"git": GIT, "path": "../x"}, ["spec.path: leads out of the content of the Source"]),
    Case("half a commit id", {"git": {**GIT, "revision": "abc123"}}, ["spec.git.revision: must be a whole commit id"]),
    Case(
        "half a digest",
        {"oci": {**OCI, "digest": "sha256:abc"}},
        ["spec.oci.digest: must be sha256: and 64 hexadecimal digits"],
    ),
    Case(
        "no range",
        {"helm": {**HELM, "version": "newest"}},
        ["spec.helm.version: is no range of versions: 'newest' is no version"],
    ),
    Case("an option to git", {"git": {**GIT, "branch": "--upload-pack=x"}}, ["spec.git.branch: is no name"]),
    Case("a path for a chart", {"helm": {**HELM, "chart": "../web"}}, ["spec.helm.chart: is no name of a chart"]),
    Case("no chart", {"helm": {"url": HELM["url"]}}, ["spec.helm.chart: required, but missing"]),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_admission(case: Case) -> None:
    manifest = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Source",
        "metadata": {"name": "web"},
        "spec": case.spec,
    }
    assert [str(problem) for problem in admit(manifest).problems] == case.want
