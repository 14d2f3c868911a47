"""The image overrider: edits of registry, repository or tag of image references.

1. Find the images: those of all regular containers of the kinds Karmada knows, or the one a predicate names.
2. Split each by the grammar of container image references.
3. Edit one component by plain text and write the reference back. Karmada's traps are kept: adding is a suffix without
   a separator, a reference with tag and digest loses the digest, a tag value that is neither tag nor digest is ignored.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from overrides.draft import Draft, Key
from overrides.errors import Refused
from overrides.pointer import (
    escaped_pointer,
    first_field_of_pointer,
    index_of_token,
    pointer_meant_by_path,
    refusal_of_missing_segment,
)
from render.admission.findings import Findings
from render.admission.schema import Record, Text
from render.admission.shared_schema import TEXT
from render.expressions import lazy_expression
from render.model import Manifest

from .containers import containers_of
from .overrider_type import Change, Complaint, OverriderType, compile_one_by_one
from .plaintext import PlaintextOverrider, patch_draft, patch_operations_of
from .shared_admission import OPERATOR, check_json_pointer, warn_of_unusable_pointer

_TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}"
_HOST_LABEL = r"(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])"
_DOMAIN = rf"(?:{_HOST_LABEL}(?:\.{_HOST_LABEL})*|\[[A-Fa-f0-9:]+\])(?::[0-9]+)?"
_SEGMENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = lazy_expression(
    rf"(?:(?P<domain>{_DOMAIN})/)?(?P<path>{_SEGMENT}(?:/{_SEGMENT})*)(?::(?P<tag>{_TAG}))?(?:@(?P<digest>{_DIGEST}))?"
)
_ONLY_TAG = lazy_expression(_TAG)
_ONLY_DIGEST = lazy_expression(_DIGEST)
_DIGEST_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}
_LONGEST_PATH = 255


class ImageOverrider(Struct, frozen=True, kw_only=True):
    """An edit of one component (Registry, Repository, Tag) of image references; ``predicate`` is a JSON pointer."""

    component: str
    operator: str
    value: str = ""
    predicate: str | None = None


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
        raise Refused(_reason_image_is_unreadable(image))
    domain, path, tag, digest = match["domain"], match["path"], match["tag"] or "", match["digest"] or ""
    if len(path) > _LONGEST_PATH:
        raise Refused("has a repository longer than 255 characters")
    if digest and not _is_digest_of_known_algorithm(digest):
        raise Refused("has a digest that is not sha256, sha384 or sha512 with all of its lower-case hex digits")
    registry, repository = _split_registry(f"{domain}/{path}" if domain else path)
    return ImageReference(registry, repository, tag, "" if tag else digest)


def image_with_changed_component(image: ImageReference, overrider: ImageOverrider) -> ImageReference:
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
            return _image_with_version(image, (image.tag or image.digest) + value if is_suffix else value)


def override_images(draft: Draft, overrider: ImageOverrider) -> None:
    """Rewrite the images an overrider selects: all of a kind's regular containers, or the one of its predicate."""
    if overrider.predicate is not None:
        _override_image_at_predicate(draft, overrider, overrider.predicate)
        return
    for keys, container in containers_of(draft.root):
        image = container.get("image")
        try:
            new = _overridden_image(image, overrider)
        except Refused as refusal:
            raise Refused(f"{escaped_pointer((*keys, 'image'))} {refusal.message}") from None
        if new != image:
            draft.writable_container(keys)["image"] = new


def _selected_images(manifest: Any, overrider: ImageOverrider) -> list[tuple[str, Any]]:
    """Return the images an overrider selects, each with its path."""
    if overrider.predicate is not None:
        return [(overrider.predicate, _value_at_predicate_path(manifest, overrider.predicate))]
    return [(escaped_pointer((*keys, "image")), container.get("image")) for keys, container in containers_of(manifest)]


def _is_tag_or_digest(version: str) -> bool:
    """Say whether a text can stand as the tag or the digest of an image."""
    return bool(_ONLY_TAG.fullmatch(version) or _ONLY_DIGEST.fullmatch(version))


def _override_image_at_predicate(draft: Draft, overrider: ImageOverrider, path: str) -> None:
    if not path.startswith("/"):
        raise Refused(
            f"{path!r} is not a JSON pointer", hint=f"write {pointer_meant_by_path(path)!r}", within=".predicate.path"
        )
    image = _value_at_predicate_path(draft.root, path)
    try:
        new = _overridden_image(image, overrider)
    except Refused as refusal:
        raise Refused(f"{path} {refusal.message}") from None
    try:
        patch_draft(draft, patch_operations_of([PlaintextOverrider(path=path, operator="replace", value=new)]))
    except Refused as refusal:
        raise Refused(refusal.message, within=".predicate.path") from None


def _value_at_predicate_path(manifest: Any, path: str) -> Any:
    """Return the value at a predicate's path.

    Karmada reads it by rules of its own: nothing is decoded, and an index must lead to a mapping.
    """
    steps = iter(path.strip("/").split("/"))
    node, keys = manifest, list[Key]()
    for step in steps:
        if not isinstance(node, dict) or step not in node:
            raise refusal_of_missing_segment(keys, step, node, within=".predicate.path")
        node = node[step]
        keys.append(step)
        index = next(steps, None) if isinstance(node, list) else None
        if index is not None:
            place = _index_in_items(keys, index, node)
            node = node[place]
            keys.append(place)
    return node


def _index_in_items(keys: list[Key], index: str, items: list[Any]) -> int:
    place = None if index.startswith("-") else index_of_token(index, len(items))
    if place is None:
        raise refusal_of_missing_segment(keys, index, items, within=".predicate.path")
    if not isinstance(items[place], dict):
        raise Refused(f"{escaped_pointer([*keys, place])} is not a mapping", within=".predicate.path")
    return place


def _overridden_image(image: Any, overrider: ImageOverrider) -> str:
    if image is not None and not isinstance(image, str):
        raise Refused("is not a string")
    return str(image_with_changed_component(parse_image(image or ""), overrider))


def _split_registry(name: str) -> tuple[str, str]:
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return first, rest
    return "", name


def _image_with_version(image: ImageReference, version: str) -> ImageReference:
    if _ONLY_TAG.fullmatch(version):
        return replace(image, tag=version, digest="")
    if _ONLY_DIGEST.fullmatch(version):
        return replace(image, tag="", digest=version)
    return image


def _is_digest_of_known_algorithm(digest: str) -> bool:
    algorithm, _, digits = digest.partition(":")
    return len(digits) == _DIGEST_LENGTHS.get(algorithm) and digits == digits.lower()


def _reason_image_is_unreadable(image: str) -> str:
    if not image:
        return "holds no image"
    if _REFERENCE.fullmatch(image.lower()):
        return "has upper-case letters in the repository"
    return "is not an image: [registry/]repository[:tag][@digest]"


_SAMPLE = ImageReference(registry="registry.example", repository="app", tag="v1")


def _complaints_about_value(overrider: ImageOverrider) -> Iterator[Complaint]:
    """Yield why a value is ignored, or makes a reference that cannot be read."""
    if overrider.component == "Tag":
        yield from _complaints_about_tag(overrider)
        return
    image = str(image_with_changed_component(_SAMPLE, overrider))
    made = f"makes {image!r} of {str(_SAMPLE)!r}"
    try:
        read = parse_image(image)
    except Refused as refusal:
        yield Complaint(f"{made}, which {refusal.message}", _hint_about_scheme(overrider.value))
        return
    if overrider.component == "Registry" and overrider.operator != "remove" and overrider.value and not read.registry:
        hint = "a registry has a '.' or a ':', or is localhost"
        yield Complaint(f"{made}, in which {overrider.value!r} is no registry", hint)


def _complaints_about_tag(overrider: ImageOverrider) -> Iterator[Complaint]:
    value, operator = overrider.value, overrider.operator
    bare = value.lstrip(":@")
    hint = f"write {bare!r}" if bare != value and _is_tag_or_digest(bare) else ""
    if operator == "replace" and not _is_tag_or_digest(value):
        yield Complaint(f"is ignored: {value!r} is neither a tag nor a digest", hint)
    elif operator == "add" and not _is_tag_or_digest(f"x{value}"):
        yield Complaint(f"is ignored: no tag can end with {value!r}", hint)


def _hint_about_scheme(value: str) -> str:
    _, scheme, rest = value.partition("://")
    return f"write {rest.rstrip('/')!r}" if scheme else ""


def _complaints_about_damage(overrider: ImageOverrider, before: Manifest, after: Manifest) -> Iterator[Complaint]:
    """Yield what the next reader of the images could not use, or misses."""
    images = _selected_images(before, overrider), _selected_images(after, overrider)
    for (_, old), (_, new) in zip(*images, strict=True):
        if not _is_image_readable(new):
            yield Complaint("leaves what is no image")
        if overrider.component != "Tag" and "@" in (old or "") and "@" not in (new or ""):
            hint = "write the image in the template with a tag or a digest, not both"
            yield Complaint("drops the digest of an image that has a tag, too,", hint)


def _is_image_readable(image: str | None) -> bool:
    try:
        parse_image(image or "")
    except Refused:
        return False
    return True


def _parse_image_overrider(plain: Manifest) -> ImageOverrider:
    predicate = plain.get("predicate")
    return ImageOverrider(
        component=plain["component"],
        operator=plain["operator"],
        value=plain.get("value") or "",
        predicate=None if predicate is None else predicate["path"],
    )


def _plain_overrider(overrider: ImageOverrider) -> dict[str, Any]:
    predicate = {} if overrider.predicate is None else {"predicate": {"path": overrider.predicate}}
    value = {"value": overrider.value} if overrider.value else {}
    return {**predicate, "component": overrider.component, "operator": overrider.operator, **value}


def _change_of_overrider(overrider: ImageOverrider) -> Change:
    return partial(override_images, overrider=overrider)


def _fields_reached(overrider: ImageOverrider) -> Iterable[str | None]:
    if overrider.predicate is None:
        return ("spec",)
    # Karmada reads the image by the path's segments as they are, and writes it by the decoded ones.
    return (overrider.predicate.strip("/").partition("/")[0], *first_field_of_pointer(overrider.predicate))


def _pointer_of_overrider(overrider: ImageOverrider) -> str | None:
    return overrider.predicate


def _settings_of_overrider(overrider: ImageOverrider) -> Iterator[tuple[str, Any]]:
    if overrider.operator != "add":
        component = "" if overrider.operator == "remove" else overrider.value
        yield f"the {overrider.component.lower()} of {overrider.predicate or 'all images'}", component


def _check_image_overrider(entry: Manifest, path: str, findings: Findings) -> None:
    check_json_pointer((entry.get("predicate") or {}).get("path") or "", f"{path}.predicate.path", findings)


def _warn_of_ineffective_entry(entry: Manifest, path: str, findings: Findings) -> None:
    operator, value = entry["operator"], entry.get("value")
    if operator == "remove" and value:
        findings.warning(f"{path}.value", "means nothing with operator remove")
    elif not value and (operator == "add" or (operator == "replace" and entry["component"] == "Tag")):
        findings.warning(f"{path}.value", f"without a value, {operator} changes nothing")


def _warn_of_unchecked_entry(entry: Manifest, path: str, findings: Findings) -> None:
    warn_of_unusable_pointer((entry.get("predicate") or {}).get("path") or "", f"{path}.predicate.path", findings)


IMAGE_OVERRIDER = OverriderType(
    name="imageOverrider",
    item=Record(
        {
            "predicate": Record({"path!": TEXT}),
            "component!": Text(choices=("Registry", "Repository", "Tag")),
            "operator!": OPERATOR,
            "value": TEXT,
        }
    ),
    parse=_parse_image_overrider,
    plain=_plain_overrider,
    edits=compile_one_by_one(_change_of_overrider),
    reach=_fields_reached,
    pointer=_pointer_of_overrider,
    settings=_settings_of_overrider,
    check=_check_image_overrider,
    warn=_warn_of_ineffective_entry,
    warn_unchecked=_warn_of_unchecked_entry,
    complaints=_complaints_about_value,
    damage=_complaints_about_damage,
    idle_hint="images are found in Pods, ReplicaSets, Deployments, DaemonSets, StatefulSets and Jobs; elsewhere"
    " name the field by predicate.path",
    may_harm=False,
    may_annotate=False,
)
