"""Artifacts of OCI registries: charts as Helm pushes them, and files as Flux pushes them, by digest.

What a registry answers is compared with the digest it was asked for, so that a render depends on no tag.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from render.expressions import lazy_expression
from render.versions import newest_version_in_range

from .archives import unpacked_archive
from .content import MOST_BYTES, Files
from .download import Downloaded, Downloads, address_meant_by_server, scheme_for_registry, url_for_messages
from .model import ExternalSource, UnavailableSource

_MANIFEST = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"
_CHART = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
_MOST_OF_A_MANIFEST = 4 << 20
_MOST_PAGES = 50
_CHALLENGE = lazy_expression(r'(?<!\w)(\w++)="([^"]*+)"')
_NEXT = lazy_expression(r'<([^<>]+)>;\s*rel="?next"?')
_DIGEST = lazy_expression(r"sha256:[0-9a-f]{64}")


def resolved_artifact(source: ExternalSource, downloads: Downloads) -> Mapping[str, str]:
    """Return the tag that a Source means, and the digest of its manifest."""
    place = source.place
    registry = Registry.of(place["url"], downloads)
    if digest := place.get("digest"):
        return {"digest": digest}
    tag = place.get("tag") or "latest"
    if wanted := place.get("semver"):
        found = newest_version_in_range(registry.tags(), wanted)
        if found is None:
            raise UnavailableSource(f"{registry.shown_repository} has no tag in {wanted!r}")
        tag = found
    content = registry.manifest(tag)
    return {"tag": tag, "digest": f"sha256:{hashlib.sha256(content).hexdigest()}"}


def artifact_files(url: str, resolved: Mapping[str, str], downloads: Downloads) -> Files:
    """Return the files of exactly the artifact that was locked; those of a chart from its own folder on."""
    registry = Registry.of(url, downloads)
    layer = _content_layer(registry.manifest(resolved["digest"]), registry.shown_repository)
    data = registry.blob(layer["digest"])
    return unpacked_archive(data, registry.shown_repository, has_top_folder=layer.get("mediaType") == _CHART)


@dataclass(slots=True)
class Registry:
    """One repository of a registry; a token that it asks for is fetched once."""

    base: str
    name: str
    downloads: Downloads
    _token: str = field(default="", repr=False)

    @classmethod
    def of(cls, url: str, downloads: Downloads) -> "Registry":
        """Return the repository at an address such as ``oci://registry.example.com/charts/web``."""
        parts = urlsplit(url)
        host = "registry-1.docker.io" if parts.netloc == "docker.io" else parts.netloc
        return cls(f"{scheme_for_registry(host)}://{host}/v2/", quote(parts.path.strip("/")), downloads)

    @property
    def shown_repository(self) -> str:
        """The repository for messages."""
        return f"oci://{urlsplit(self.base).netloc}/{self.name}"

    def tags(self) -> list[str]:
        """Return all tags, page by page."""
        url, tags = f"{self.base}{self.name}/tags/list", list[str]()
        for _ in range(_MOST_PAGES):
            answer = self._get(url, most_bytes=_MOST_OF_A_MANIFEST)
            found = _json_object_of_answer(answer.content, self.shown_repository).get("tags")
            tags += [tag for tag in found if isinstance(tag, str)] if isinstance(found, list) else []
            following = _NEXT.search(answer.headers.get("link", ""))
            if following is None:
                return tags
            url = address_meant_by_server(answer.url, following[1])
            if urlsplit(url).netloc != urlsplit(self.base).netloc:
                break
        raise UnavailableSource(
            f"{self.shown_repository} has too many tags to read", hint="name one tag instead of a range"
        )

    def manifest(self, reference: str) -> bytes:
        """Return the manifest of a tag or a digest; that of a digest matches it."""
        url = f"{self.base}{self.name}/manifests/{quote(reference, safe=':')}"
        return self._get_matching_digest(url, reference, most_bytes=_MOST_OF_A_MANIFEST, accept=_MANIFEST)

    def blob(self, digest: str) -> bytes:
        """Return the content of a digest."""
        return self._get_matching_digest(
            f"{self.base}{self.name}/blobs/{digest}", digest, most_bytes=MOST_BYTES, accept="*/*"
        )

    def _get_matching_digest(self, url: str, reference: str, *, most_bytes: int, accept: str) -> bytes:
        content = self._get(url, most_bytes=most_bytes, accept=accept).content
        is_digest = reference.startswith("sha256:")
        if is_digest and f"sha256:{hashlib.sha256(content).hexdigest()}" != reference:
            raise UnavailableSource(f"{self.shown_repository} does not match the digest {reference[:19]}")
        return content

    def _get(self, url: str, *, most_bytes: int, accept: str = "application/json") -> Downloaded:
        """Ask once, and once more with the token that a registry may demand even of those it lets read."""
        denied = frozenset({401}) if not self._token else frozenset[int]()
        headers = {"Accept": accept} | ({"Authorization": f"Bearer {self._token}"} if self._token else {})
        answer = self.downloads.get(url, most_bytes=most_bytes, headers=headers, accepts=denied)
        if answer.status != 401:
            return answer
        self._token = self._new_token(answer.headers.get("www-authenticate", ""))
        return self._get(url, most_bytes=most_bytes, accept=accept)

    def _new_token(self, challenge: str) -> str:
        wanted = dict(_CHALLENGE.findall(challenge))
        realm = wanted.pop("realm", "")
        if not challenge.lower().startswith("bearer ") or not realm:
            raise UnavailableSource(
                f"{self.shown_repository} answered with 401",
                hint="credentials for it come from the file that ARGOSY_CREDENTIALS names",
                is_denied=True,
            )
        query = urlencode({name: wanted[name] for name in ("service", "scope") if name in wanted})
        realm = address_meant_by_server(self.base, realm)
        answer = self.downloads.get(f"{realm}?{query}", most_bytes=1 << 20)
        found = _json_object_of_answer(answer.content, url_for_messages(realm))
        token = found.get("token") or found.get("access_token")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise UnavailableSource(f"{url_for_messages(realm)} answered without a token")
        return token


def _content_layer(manifest: bytes, where: str) -> Mapping[str, Any]:
    """Return the layer that holds the files: the chart's, or the only one."""
    layers = _json_object_of_answer(manifest, where).get("layers")
    usable: list[Mapping[str, Any]] = (
        [each for each in layers if _is_usable_layer(each)] if isinstance(layers, list) else []
    )
    charts = [layer for layer in usable if layer.get("mediaType") == _CHART]
    found = charts or usable
    if len(found) != 1:
        raise UnavailableSource(f"{where} is neither a chart nor an artifact of one layer")
    return found[0]


def _is_usable_layer(layer: object) -> bool:
    return isinstance(layer, dict) and bool(_DIGEST.fullmatch(str(layer.get("digest"))))


def _json_object_of_answer(content: bytes, where: str) -> Mapping[str, Any]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnavailableSource(f"{where} answered with something else than JSON") from error
    if not isinstance(value, dict):
        raise UnavailableSource(f"{where} answered with something else than an object")
    return value
