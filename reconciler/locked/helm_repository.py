"""Charts of Helm repositories: found in index.yaml, downloaded, and compared with their digest."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urljoin

from render.documents import DocumentErrors, parse_documents
from render.versions import newest_version_in_range

from .archives import unpacked_archive
from .content import MOST_BYTES, Files
from .download import Downloads, address_meant_by_server, url_for_messages
from .model import ExternalSource, UnavailableSource

_MOST_OF_AN_INDEX = 64 << 20


def resolved_chart(source: ExternalSource, downloads: Downloads) -> Mapping[str, str]:
    """Return the newest version of a chart that a Source allows, its address, and the digest of its archive."""
    place = source.place
    base, name, wanted = place["url"].rstrip("/") + "/", place["chart"], place.get("version") or "*"
    where = f"{url_for_messages(base)}index.yaml"
    listed = _entries_of_content(
        downloads.get(urljoin(base, "index.yaml"), most_bytes=_MOST_OF_AN_INDEX).content, name, where
    )
    exact = next((entry for entry in listed if entry["version"] == wanted), None)
    version = wanted if exact else newest_version_in_range((entry["version"] for entry in listed), wanted)
    if version is None:
        known = ", ".join(entry["version"] for entry in listed[:5])
        raise UnavailableSource(
            f"{where} has no version of {name!r} in {wanted!r}", hint=f"the first it lists: {known}" if known else ""
        )
    entry = exact or next(entry for entry in listed if entry["version"] == version)
    url = address_meant_by_server(base, entry["urls"][0])
    data = downloads.get(url, most_bytes=MOST_BYTES).content
    digest, digest_in_index = f"sha256:{hashlib.sha256(data).hexdigest()}", str(entry.get("digest") or "")
    if digest_in_index and digest_in_index.removeprefix("sha256:") != digest.removeprefix("sha256:"):
        raise UnavailableSource(f"{url_for_messages(url)} does not match the digest in {where}")
    return {"version": version, "url": url, "digest": digest}


def chart_files(resolved: Mapping[str, str], downloads: Downloads) -> Files:
    """Return the files of exactly the chart that was locked, from its own folder on."""
    url, digest = resolved["url"], resolved["digest"]
    data = downloads.get(url, most_bytes=MOST_BYTES).content
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != digest:
        raise UnavailableSource(f"{url_for_messages(url)} does not match its locked digest {digest[:19]}")
    return unpacked_archive(data, url_for_messages(url), has_top_folder=True)


def _entries_of_content(content: bytes, name: str, where: str) -> list[dict[str, Any]]:
    """Return the usable entries of a chart in an index."""
    try:
        index = next(iter(parse_documents(content))).value
    except (DocumentErrors, StopIteration) as error:
        raise UnavailableSource(f"{where} is no index of charts") from error
    charts = index.get("entries") if isinstance(index, dict) else None
    if not isinstance(charts, dict):
        raise UnavailableSource(f"{where} is no index of charts")
    found = charts.get(name)
    if not isinstance(found, list):
        raise UnavailableSource(f"{where} has no chart {name!r}")
    return [entry for entry in found if _is_usable_index_entry(entry)]


def _is_usable_index_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("version"), str):
        return False
    urls: Iterable[object] = entry["urls"] if isinstance(entry.get("urls"), list) else ()
    return any(isinstance(url, str) for url in list(urls)[:1])
