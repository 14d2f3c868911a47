"""Source of argosy.dev/v1alpha1: its schema, and the rules for addresses and versions."""

from typing import Any

from render.versions import UnusableRange, predicate_of_version_range

from .findings import Findings
from .schema import Record, Text
from .shared_schema import TEXT
from .urls import parse_url_address

_URL = Text(min_length=1)
_PLACES = {
    "git": ("revision", "tag", "branch", "ref", "semver"),
    "oci": ("digest", "tag", "semver"),
    "helm": ("version",),
    "http": ("digest",),
}
"""The places that a Source may name, each with the fields of which one at most says the version."""

_SCHEMES = {"git": ("https", "ssh", "file"), "oci": ("oci",), "helm": ("https", "http"), "http": ("https", "http")}
_REVISIONS = {"revision": (40, 64), "digest": (64,)}
_DIGEST = "sha256:"

SOURCE_SPEC = Record(
    {
        "git": Record({"url!": _URL, "revision": TEXT, "tag": TEXT, "branch": TEXT, "ref": TEXT, "semver": TEXT}),
        "oci": Record({"url!": _URL, "digest": TEXT, "tag": TEXT, "semver": TEXT}),
        "helm": Record({"url!": _URL, "chart!": Text(min_length=1), "version": TEXT}),
        "http": Record({"url!": _URL, "digest": TEXT}),
        "path": TEXT,
        "manifests": Text(choices=("Include", "Exclude")),
    }
)


def check_source(source: dict[str, Any], findings: Findings) -> None:
    """Report a Source that names no place or two, an address that is none, and versions that cannot be meant."""
    spec = source["spec"]
    named = [place for place in _PLACES if place in spec]
    if len(named) != 1:
        findings.problem("spec", "must have exactly one of git, oci, helm and http")
    for place in named:
        _check_repository_or_bucket(place, spec[place], findings)
    folder = spec.get("path", "")
    if folder.startswith("/") or ".." in folder.split("/"):
        findings.problem("spec.path", "leads out of the content of the Source")


def _check_repository_or_bucket(place: str, fields: dict[str, Any], findings: Findings) -> None:
    where = f"spec.{place}"
    if fault := _fault_of_url(fields["url"], _SCHEMES[place]):
        findings.problem(f"{where}.url", fault)
    written = [field for field in _PLACES[place] if fields.get(field)]
    if len(written) > 1:
        findings.problem(where, f"has {' and '.join(written)}, but one of them says the version")
    for field in written:
        if fault := _fault_of_version(field, fields[field]):
            findings.problem(f"{where}.{field}", fault)
    chart = fields.get("chart", "")
    if "/" in chart or chart.startswith(("-", ".")):
        findings.problem(f"{where}.chart", "is no name of a chart")


def _fault_of_url(url: str, schemes: tuple[str, ...]) -> str:
    """Say why an address cannot be fetched from; the password that it may have is never quoted."""
    is_short = "://" not in url and "@" in url.partition(":")[0]
    if is_short and "ssh" in schemes:
        return ""
    address = parse_url_address(url)
    wanted = " or ".join(f"{scheme}://" for scheme in schemes if scheme != "http")
    if address.fault or address.scheme not in schemes or not (address.host or address.scheme == "file"):
        return f"must be an address that begins with {wanted}"
    if address.has_user and address.scheme != "ssh":
        return "must have no user and no password; put them into the file of credentials"
    return "must have no '?' and no '#'" if address.query or address.fragment else ""


def _fault_of_version(field: str, text: str) -> str:
    if field in {"semver", "version"}:
        try:
            predicate_of_version_range(text)
        except UnusableRange as error:
            return f"is no range of versions: {error}"
        return ""
    if field in _REVISIONS:
        digits = text.removeprefix(_DIGEST) if field == "digest" else text
        is_whole = len(digits) in _REVISIONS[field] and not set(digits) - set("0123456789abcdef")
        if is_whole and (field != "digest" or text.startswith(_DIGEST)):
            return ""
        return "must be a whole commit id" if field == "revision" else "must be sha256: and 64 hexadecimal digits"
    return "" if text.isprintable() and not text.startswith("-") and " " not in text else "is no name"
