"""The overriders of an override policy: one module per type of edit, and what several of them share."""

from typing import Any

from .command_args import ARGS_OVERRIDER, COMMAND_OVERRIDER
from .field import FIELD_OVERRIDER
from .image import IMAGE_OVERRIDER
from .labels import ANNOTATIONS_OVERRIDER, LABELS_OVERRIDER
from .overrider_type import OverriderType
from .plaintext import PLAINTEXT

OVERRIDER_TYPES: tuple[OverriderType[Any], ...] = (
    IMAGE_OVERRIDER,
    COMMAND_OVERRIDER,
    ARGS_OVERRIDER,
    LABELS_OVERRIDER,
    ANNOTATIONS_OVERRIDER,
    FIELD_OVERRIDER,
    PLAINTEXT,
)
"""Every type of overrider, in the order in which those of a rule apply, as in Karmada, whatever their order in YAML."""

RECORDED_TYPES = tuple(sorted(OVERRIDER_TYPES, key=lambda each: not each.is_recorded_first))
"""The same in the order of Karmada's API, in which they are recorded."""
