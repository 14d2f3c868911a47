"""Admission of Clusters: default grades, standardised ones, zones, and addresses as Go reads them."""

from typing import Any, NamedTuple

from render.admission import admit
from render.admission.urls import UrlAddress, parse_url_address

from .tables import each_row


def a_cluster(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "eu-1"},
        "spec": {"syncMode": "Push", **spec},
    }


def stored_spec(**spec: Any) -> Any:
    admitted = admit(a_cluster(**spec)).object
    assert admitted is not None
    return admitted["spec"]


def test_a_cluster_without_grades_gets_karmada_s() -> None:
    grades = [
        [model["grade"], *((each["name"], each["min"], each["max"]) for each in model["ranges"])]
        for model in stored_spec()["resourceModels"]
    ]
    assert grades == [
        [0, ("cpu", "0", "1"), ("memory", "0", "4Gi")],
        [1, ("cpu", "1", "2"), ("memory", "4Gi", "16Gi")],
        [2, ("cpu", "2", "4"), ("memory", "16Gi", "32Gi")],
        [3, ("cpu", "4", "8"), ("memory", "32Gi", "64Gi")],
        [4, ("cpu", "8", "16"), ("memory", "64Gi", "128Gi")],
        [5, ("cpu", "16", "32"), ("memory", "128Gi", "256Gi")],
        [6, ("cpu", "32", "64"), ("memory", "256Gi", "512Gi")],
        [7, ("cpu", "64", "128"), ("memory", "512Gi", "1Ti")],
        [8, ("cpu", "128", "9223372036854775807"), ("memory", "1Ti", "9223372036854775807")],
    ]


def test_grades_are_sorted_and_begin_at_nothing_and_have_no_end() -> None:
    models = [
        {"grade": 2, "ranges": [{"name": "memory", "min": "1024Mi", "max": "9Gi"}]},
        {"grade": 1, "ranges": [{"name": "memory", "min": "512Mi", "max": "1024Mi"}]},
    ]
    assert stored_spec(resourceModels=models)["resourceModels"] == [
        {"grade": 1, "ranges": [{"name": "memory", "min": "0", "max": "1Gi"}]},
        {"grade": 2, "ranges": [{"name": "memory", "min": "1Gi", "max": "9223372036854775807"}]},
    ]


def test_the_deprecated_zone_becomes_the_one_of_zones() -> None:
    spec = stored_spec(zone="a")
    assert (spec["zones"], "zone" in spec) == (["a"], False)


def test_nulls_are_what_go_reads_them_as() -> None:
    spec = stored_spec(zones=["a", None], region=None, proxyHeader={"x": None})
    assert (spec["zones"], spec.get("region"), spec["proxyHeader"]) == (["a", ""], None, {"x": ""})


def test_a_declared_status_is_kept() -> None:
    status = {"apiEnablements": [{"groupVersion": "v1"}], "resourceSummary": {"allocatable": {"cpu": 4}}}
    admitted = admit({**a_cluster(), "status": status}).object
    assert admitted is not None
    assert admitted["status"] == {
        "apiEnablements": [{"groupVersion": "v1"}],
        "resourceSummary": {"allocatable": {"cpu": "4"}},
    }


class Url(NamedTuple):
    why: str
    text: str
    want: UrlAddress


URLS = [
    Url(
        "all parts",
        "https://u:p@h:1/p?q#f",
        UrlAddress(scheme="https", has_user=True, host="h:1", query="q", fragment="f"),
    ),
    Url("a scheme is written small", "HTTPS://h", UrlAddress(scheme="https", host="h")),
    Url("a path is not a host", "10.0.0.1", UrlAddress()),
    Url("a word before a colon is a scheme", "proxy:3128", UrlAddress(scheme="proxy")),
    Url("a digit begins no scheme", "1.2.3.4:6443", UrlAddress(fault="a scheme such as https:// is missing")),
    Url("a colon alone", ":6443", UrlAddress(fault="the scheme before ':' is missing")),
    Url("a host without scheme", "//h/p", UrlAddress(host="h")),
    Url("three slashes without scheme", "///h", UrlAddress()),
    Url("three slashes with one", "file:///h", UrlAddress(scheme="file")),
    Url("an IPv6 host", "https://[::1]:6443", UrlAddress(scheme="https", host="[::1]:6443")),
    Url("a bracket too few", "https://[::1", UrlAddress(fault="a ']' is missing in the host")),
    Url("a port of letters", "https://h:x", UrlAddress(fault="':x' is no port")),
    Url("an empty port", "https://h:", UrlAddress(scheme="https", host="h:")),
    Url("a space in the host", "https://a b", UrlAddress(fault="the host has characters no host may have")),
    Url("a space in the path", "https://h/a b", UrlAddress(scheme="https", host="h")),
    Url("an escape in the host", "https://a%20b", UrlAddress(fault="the host has characters no host may have")),
    Url(
        "half an escape in the path", "https://h/%2", UrlAddress(fault="a '%' is followed by no two hexadecimal digits")
    ),
    Url("a control character", "https://h/\x01", UrlAddress(fault="it has a control character")),
    Url(
        "a user with a space",
        "https://u u@h",
        UrlAddress(fault="the part before '@' has characters that must be escaped"),
    ),
    Url("an empty query", "https://h?", UrlAddress(scheme="https", host="h")),
    Url("letters beyond ASCII", "https://größe", UrlAddress(scheme="https", host="größe")),
]


@each_row("case", URLS, ids=lambda case: case.why)
def test_an_address_is_read_as_go_does(case: Url) -> None:
    assert parse_url_address(case.text) == case.want
