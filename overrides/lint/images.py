"""Image values that no image can be made of."""

from collections.abc import Iterable, Iterator

from overrides.errors import LintFinding, Refused
from overrides.overriders.image import ImageReference, is_tag_or_digest, parse_image, with_component
from overrides.policy import ImageOverrider, OverridePolicy
from overrides.record import origin_of

_SAMPLE = ImageReference(registry="registry.example", repository="app", tag="v1")


def image_value_findings(policies: Iterable[OverridePolicy]) -> Iterator[LintFinding]:
    """Yield the image overriders whose value is ignored, or makes a reference that cannot be read."""
    for policy in policies:
        for rule in policy.rules:
            for index, overrider in enumerate(rule.overriders.image):
                message, hint = _complaint(overrider)
                if message:
                    field = f"{rule.path}.overriders.imageOverrider[{index}]"
                    yield LintFinding(origin=origin_of(policy), field=field, message=message, hint=hint)


def _complaint(overrider: ImageOverrider) -> tuple[str, str]:
    if overrider.component == "Tag":
        return _tag_complaint(overrider)
    image = str(with_component(_SAMPLE, overrider))
    try:
        read = parse_image(image)
    except Refused as refusal:
        return f"makes {image!r} of {str(_SAMPLE)!r}, which {refusal.message}", _scheme_hint(overrider.value)
    if overrider.component == "Registry" and overrider.operator != "remove" and overrider.value and not read.registry:
        hint = "a registry has a '.' or a ':', or is localhost"
        return f"makes {image!r} of {str(_SAMPLE)!r}, in which {overrider.value!r} is no registry", hint
    return "", ""


def _tag_complaint(overrider: ImageOverrider) -> tuple[str, str]:
    value, operator = overrider.value, overrider.operator
    if operator == "replace" and not is_tag_or_digest(value):
        message = f"is ignored: {value!r} is neither a tag nor a digest"
    elif operator == "add" and not is_tag_or_digest(f"x{value}"):
        message = f"is ignored: no tag can end with {value!r}"
    else:
        return "", ""
    bare = value.lstrip(":@")
    return message, f"write {bare!r}" if bare != value and is_tag_or_digest(bare) else ""


def _scheme_hint(value: str) -> str:
    _, scheme, rest = value.partition("://")
    return f"write {rest.rstrip('/')!r}" if scheme else ""
