"""The persons who signed RolloutControls, by value at the root of the rendered branch (``speakers.yaml``)."""

import hashlib
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reconciler.ledger.branch_file import converted_to_struct, object_of_any_size, plain_data
from render.documents import emit
from render.model import ARGOSY_API_VERSION
from render.rollouts.policy import RolloutControl

SPEAKERS_FILE = "speakers.yaml"
KIND = "ControlSpeakers"
_DIGEST_LENGTH = 16

Speakers = Mapping[str, str]
"""The person who signed each RolloutControl, by the digest of the control."""


class _Speaker(Struct, frozen=True, kw_only=True):
    control: str
    digest: str
    signer: str


class _SpeakersFile(Struct, frozen=True, kw_only=True):
    speakers: tuple[_Speaker, ...] = ()


def digest_of_control(control: RolloutControl) -> str:
    """Return the digest of all that a control says, wherever it stands."""
    said = (control.name, control.rollout, control.group, control.change, control.verb, control.wave, control.reason)
    text = "\0".join((*map(str, said), control.by, control.at))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


def controls_with_speakers(controls: Iterable[RolloutControl], speakers: Speakers) -> tuple[RolloutControl, ...]:
    """Return controls with the persons who signed them."""
    return tuple(replace(each, verified_by=speakers.get(digest_of_control(each), "")) for each in controls)


def speakers_file(controls: Iterable[RolloutControl]) -> bytes:
    """Return the file that records who signed controls; nothing where nobody did."""
    found = tuple(
        _Speaker(control=each.name, digest=digest_of_control(each), signer=each.verified_by)
        for each in sorted(controls, key=lambda each: each.name)
        if each.verified_by
    )
    if not found:
        return b""
    plain = {"apiVersion": ARGOSY_API_VERSION, "kind": KIND, **plain_data(_SpeakersFile(speakers=found))}
    return emit(plain)


def parse_speakers(content: bytes) -> Speakers:
    """Read who signed controls; FileFault where the file is not as it was written."""
    found = converted_to_struct(object_of_any_size(content), _SpeakersFile)
    return {each.digest: each.signer for each in found.speakers}
