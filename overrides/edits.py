"""The edits of a rule, compiled once.

In Karmada's order - image, command, args, labels, annotations, field, plaintext - whatever their order in YAML.
"""

from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct

from .draft import Draft
from .errors import Refused
from .identity import check_identity, identity_of, touches_identity
from .overriders.command_args import override_words
from .overriders.field import field_patch, override_field
from .overriders.image import override_images
from .overriders.labels import override_entries
from .overriders.plaintext import PatchOperation, operations, patch_draft
from .pointer import tokens_of
from .policy import Overriders

Change = Callable[[Draft], None]
"""Edits a draft in place; raises ``Refused``."""


class CompiledEdit(Struct, frozen=True):
    """One entry of an overrider list, or the whole plaintext patch; ``field`` is its place in the policy."""

    field: str
    change: Change


def compiled_edits(overriders: Overriders, path: str) -> tuple[CompiledEdit, ...]:
    """Compile the overriders at a field path of a policy, in the order they run."""
    return tuple(CompiledEdit(f"{path}.{field}", change) for field, change in _changes(overriders))


def _changes(overriders: Overriders) -> Iterator[tuple[str, Change]]:
    for index, image in enumerate(overriders.image):
        change = partial(override_images, overrider=image)
        tokens = tokens_of(image.predicate) if image.predicate else None
        yield f"imageOverrider[{index}]", _guarded(change) if tokens and touches_identity(tokens) else change
    for index, words in enumerate(overriders.command):
        yield f"commandOverrider[{index}]", partial(override_words, overrider=words, field="command")
    for index, words in enumerate(overriders.args):
        yield f"argsOverrider[{index}]", partial(override_words, overrider=words, field="args")
    for index, entries in enumerate(overriders.labels):
        yield f"labelsOverrider[{index}]", partial(override_entries, overrider=entries, field="labels")
    for index, entries in enumerate(overriders.annotations):
        yield f"annotationsOverrider[{index}]", partial(override_entries, overrider=entries, field="annotations")
    for index, field in enumerate(overriders.field):
        change = partial(override_field, overrider=field_patch(field))
        yield (
            f"fieldOverrider[{index}]",
            _guarded(change) if touches_identity(tokens_of(field.field_path) or ()) else change,
        )
    if overriders.plaintext:
        yield "plaintext", _patch(operations(overriders.plaintext))


def _patch(patch: tuple[PatchOperation, ...]) -> Change:
    change = partial(patch_draft, patch=patch)
    risky = [index for index, operation in enumerate(patch) if touches_identity(operation.tokens or ())]
    return _guarded(change, within=f"[{risky[-1]}]") if risky else change


def _guarded(change: Change, *, within: str = "") -> Change:
    def run(draft: Draft) -> None:
        before = identity_of(draft.root)
        change(draft)
        try:
            check_identity(before, draft.root)
        except Refused as refusal:
            raise Refused(refusal.message, hint=refusal.hint, within=within) from None

    return run
