"""The image overrider: edits of registry, repository or tag of image references.

1. Find the images: those of all regular containers of the kinds Karmada knows, or the one a predicate names.
2. Split each by the grammar of container image references.
3. Edit one component by plain text and write the reference back. Karmada's traps are kept: adding is a suffix without
   a separator, a reference with tag and digest loses the digest, a tag value that is neither tag nor digest is ignored.
"""

import re
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from overrides.draft import Draft, Key
from overrides.errors import Refused
from overrides.pointer import as_pointer, escaped, index_of, missing
from overrides.policy import ImageOverrider, PlaintextOverrider

from .containers import containers_of
from .plaintext import operations, patch_draft

_TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}"
_HOST_LABEL = r"(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])"
_DOMAIN = rf"(?:{_HOST_LABEL}(?:\.{_HOST_LABEL})*|\[[A-Fa-f0-9:]+\])(?::[0-9]+)?"
_SEGMENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?:(?P<domain>{_DOMAIN})/)?(?P<path>{_SEGMENT}(?:/{_SEGMENT})*)(?::(?P<tag>{_TAG}))?(?:@(?P<digest>{_DIGEST}))?"
)
_ONLY_TAG = re.compile(_TAG)
_ONLY_DIGEST = re.compile(_DIGEST)
_DIGEST_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}
_LONGEST_PATH = 255


class ImageReference(Struct, frozen=True):
    """The components of an image; with a tag the digest is not kept."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    def __str__(self) -> str:
        name = f"{self.registry}/{self.repository}" if self.registry else self.repository
        if self.tag:
            return f"{name}:{self.tag}"
        return f"{name}@{self.digest}" if self.digest else name


def parse_image(image: str) -> ImageReference:
    """Split an image reference; a refusal does not quote the text, which may be a secret.

    >>> parse_image("registry.k8s.io:443/pause/pause:3.9")
    ImageReference(registry='registry.k8s.io:443', repository='pause/pause', tag='3.9', digest='')
    """
    match = _REFERENCE.fullmatch(image)
    if match is None:
        raise Refused(_why_unreadable(image))
    domain, path, tag, digest = match["domain"], match["path"], match["tag"] or "", match["digest"] or ""
    if len(path) > _LONGEST_PATH:
        raise Refused("has a repository longer than 255 characters")
    if digest and not _is_known_digest(digest):
        raise Refused("has a digest that is not sha256, sha384 or sha512 with all of its lower-case hex digits")
    registry, repository = _split_registry(f"{domain}/{path}" if domain else path)
    return ImageReference(registry, repository, tag, "" if tag else digest)


def with_component(image: ImageReference, overrider: ImageOverrider) -> ImageReference:
    """Return the image with one component added to, replaced or removed."""
    value = "" if overrider.operator == "remove" else overrider.value
    is_suffix = overrider.operator == "add"
    match overrider.component:
        case "Registry":
            return replace(image, registry=image.registry + value if is_suffix else value)
        case "Repository":
            return replace(image, repository=image.repository + value if is_suffix else value)
        case _ if overrider.operator == "remove":
            return replace(image, tag="", digest="")
        case _:
            return _with_version(image, (image.tag or image.digest) + value if is_suffix else value)


def override_images(draft: Draft, overrider: ImageOverrider) -> None:
    """Rewrite the images an overrider selects: all of a kind's regular containers, or the one of its predicate."""
    if overrider.predicate is not None:
        _override_predicate(draft, overrider, overrider.predicate)
        return
    for keys, container in containers_of(draft.root):
        image = container.get("image")
        try:
            new = _overridden(image, overrider)
        except Refused as refusal:
            raise Refused(f"{escaped((*keys, 'image'))} {refusal.message}") from None
        if new != image:
            draft.writable(keys)["image"] = new


def selected_images(manifest: Any, overrider: ImageOverrider) -> list[tuple[str, Any]]:
    """Return the images an overrider selects, each with its path."""
    if overrider.predicate is not None:
        return [(overrider.predicate, _addressed(manifest, overrider.predicate))]
    return [(escaped((*keys, "image")), container.get("image")) for keys, container in containers_of(manifest)]


def is_tag_or_digest(version: str) -> bool:
    """Say whether a text can stand as the tag or the digest of an image."""
    return bool(_ONLY_TAG.fullmatch(version) or _ONLY_DIGEST.fullmatch(version))


def _override_predicate(draft: Draft, overrider: ImageOverrider, path: str) -> None:
    if not path.startswith("/"):
        raise Refused(f"{path!r} is not a JSON pointer", hint=f"write {as_pointer(path)!r}", within=".predicate.path")
    image = _addressed(draft.root, path)
    try:
        new = _overridden(image, overrider)
    except Refused as refusal:
        raise Refused(f"{path} {refusal.message}") from None
    try:
        patch_draft(draft, operations([PlaintextOverrider(path=path, operator="replace", value=new)]))
    except Refused as refusal:
        raise Refused(refusal.message, within=".predicate.path") from None


def _addressed(manifest: Any, path: str) -> Any:
    """Return the value at a predicate's path.

    Karmada reads it by rules of its own: nothing is decoded, and an index must lead to a mapping.
    """
    steps = iter(path.strip("/").split("/"))
    node, keys = manifest, list[Key]()
    for step in steps:
        if not isinstance(node, dict) or step not in node:
            raise missing(keys, step, node, within=".predicate.path")
        node = node[step]
        keys.append(step)
        index = next(steps, None) if isinstance(node, list) else None
        if index is not None:
            place = _place(keys, index, node)
            node = node[place]
            keys.append(place)
    return node


def _place(keys: list[Key], index: str, items: list[Any]) -> int:
    place = None if index.startswith("-") else index_of(index, len(items))
    if place is None:
        raise missing(keys, index, items, within=".predicate.path")
    if not isinstance(items[place], dict):
        raise Refused(f"{escaped([*keys, place])} is not a mapping", within=".predicate.path")
    return place


def _overridden(image: Any, overrider: ImageOverrider) -> str:
    if image is not None and not isinstance(image, str):
        raise Refused("is not a string")
    return str(with_component(parse_image(image or ""), overrider))


def _split_registry(name: str) -> tuple[str, str]:
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return first, rest
    return "", name


def _with_version(image: ImageReference, version: str) -> ImageReference:
    if _ONLY_TAG.fullmatch(version):
        return replace(image, tag=version, digest="")
    if _ONLY_DIGEST.fullmatch(version):
        return replace(image, tag="", digest=version)
    return image


def _is_known_digest(digest: str) -> bool:
    algorithm, _, digits = digest.partition(":")
    return len(digits) == _DIGEST_LENGTHS.get(algorithm) and digits == digits.lower()


def _why_unreadable(image: str) -> str:
    if not image:
        return "holds no image"
    if _REFERENCE.fullmatch(image.lower()):
        return "has upper-case letters in the repository"
    return "is not an image: [registry/]repository[:tag][@digest]"
