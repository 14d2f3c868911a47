"""The persons behind RolloutControls and changes, by value at the root of the rendered branch (``speakers.yaml``)."""

import hashlib
from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.branch_file import converted_to_struct, object_of_any_size, plain_data
from render.documents import emit
from render.model import ARGOSY_API_VERSION
from render.rollouts.policy import RolloutControl

from .origins import ChangeAuthors, OriginRule, Review, RolloutOrigins

SPEAKERS_FILE = "speakers.yaml"
KIND = "ControlSpeakers"
_DIGEST_LENGTH = 16

Speakers = Mapping[str, str]
"""The person who signed each RolloutControl, by the digest of the control."""


class _Speaker(Struct, frozen=True, kw_only=True):
    control: str
    digest: str
    signer: str


class _Reviewed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    control: str
    digest: str
    author: str
    reviewers: tuple[str, ...] = ()


class _AuthoredChange(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    commit: str
    base: str = ""
    authors: tuple[str, ...] = ()
    follows: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_forge_asked: bool = False


class _SpeakersFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    speakers: tuple[_Speaker, ...] = ()
    reviews: tuple[_Reviewed, ...] = ()
    changes: tuple[_AuthoredChange, ...] = ()


def digest_of_control(control: RolloutControl) -> str:
    """Return the digest of all that a control says, wherever it stands."""
    said = (control.name, control.rollout, control.group, control.change, control.verb, control.wave, control.reason)
    text = "\0".join((*map(str, said), control.by, control.at))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


def controls_with_speakers(
    controls: Iterable[RolloutControl], speakers: Speakers, rule: OriginRule
) -> tuple[RolloutControl, ...]:
    """Return controls with the persons who signed them, those whom the forge names, and who made their changes."""
    found = []
    for each in controls:
        digest = digest_of_control(each)
        spoken = replace(each, verified_by=speakers.get(digest, ""))
        found.append(rule.control_with_origin(spoken, rule.origins.reviews.get(digest)))
    return tuple(found)


def speakers_file(controls: Iterable[RolloutControl], origins: RolloutOrigins) -> bytes:
    """Return the file that records who stands behind controls and changes; nothing where nobody is known."""
    ordered = sorted(controls, key=lambda each: each.name)
    digests = [(each, digest_of_control(each)) for each in ordered]
    file = _SpeakersFile(
        speakers=tuple(
            _Speaker(control=each.name, digest=digest, signer=each.verified_by)
            for each, digest in digests
            if each.verified_by
        ),
        reviews=tuple(
            _Reviewed(control=each.name, digest=digest, author=review.author, reviewers=review.reviewers)
            for each, digest in digests
            if (review := origins.reviews.get(digest))
        ),
        changes=tuple(
            _AuthoredChange(
                commit=commit,
                base=each.base,
                authors=each.authors,
                follows=dict(each.follows),
                is_forge_asked=each.is_forge_asked,
            )
            for commit, each in sorted(origins.changes.items())
        ),
    )
    if file == _SpeakersFile():
        return b""
    return emit({"apiVersion": ARGOSY_API_VERSION, "kind": KIND, **plain_data(file)})


def parse_speakers(content: bytes) -> tuple[Speakers, RolloutOrigins]:
    """Read who stands behind controls and changes; FileFault where the file is not as it was written."""
    found = converted_to_struct(object_of_any_size(content), _SpeakersFile)
    reviews = {each.digest: Review(author=each.author, reviewers=each.reviewers) for each in found.reviews}
    changes = {
        each.commit: ChangeAuthors(
            base=each.base, authors=each.authors, follows=each.follows, is_forge_asked=each.is_forge_asked
        )
        for each in found.changes
    }
    return {each.digest: each.signer for each in found.speakers}, RolloutOrigins(reviews=reviews, changes=changes)
