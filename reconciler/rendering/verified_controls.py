"""RolloutControls with the persons whose signatures they have: by Git, or as a rendered commit records them.

Who said something is looked up once, in the pass that goes by it, and recorded by value in the rendered commit, so that
a replay needs neither the history of the source nor the program that checks signatures.
"""

from collections.abc import Iterable

from reconciler.branches.reading import Source
from reconciler.pipeline.previous import parse_file_at_root
from reconciler.pipeline.rollouts.speakers import SPEAKERS_FILE, Speakers, digest_of_control, parse_speakers
from reconciler.repository import Repository
from reconciler.repository.signing import signer_of_file
from render.rollouts.policy import RolloutControl, RolloutPolicy, RolloutVerb


def speakers_of_controls(repository: Repository, source: Source, recorded: Speakers) -> Speakers:
    """Return who signed each control that matters by that, by the digests of the controls; ``recorded`` is believed."""
    desired, signers = source.desired, source.desired.fleet.rollouts.signers
    asked = [each for each in desired.rollout_controls if _matters_who_says(each, desired.rollout_policies)]
    known = {digest: recorded[digest] for each in asked if (digest := digest_of_control(each)) in recorded}
    if not signers or not source.commit:
        return known
    by_path: dict[str, str] = {}
    for each in asked:
        if (digest := digest_of_control(each)) not in known:
            if each.path not in by_path:
                by_path[each.path] = signer_of_file(repository.git, source.commit, each.path, signers)
            known[digest] = by_path[each.path]
    return {digest: name for digest, name in known.items() if name}


def recorded_speakers(repository: Repository, tree: bytes) -> Speakers:
    """Return who signed controls, as a rendered tree records it."""
    entry = next((each for each in repository.read_trees([tree])[tree] if each.text == SPEAKERS_FILE), None)
    if entry is None:
        return {}
    return parse_file_at_root(SPEAKERS_FILE, repository.read_blobs([entry.id])[entry.id], parse_speakers)


def _matters_who_says(control: RolloutControl, policies: Iterable[RolloutPolicy]) -> bool:
    """Say whether a policy asks who somebody is; that of a rollout under way may be gone, and counts as one."""
    if control.verb in {RolloutVerb.EMERGENCY, RolloutVerb.CONFIRM}:
        return True
    policy = next((each for each in policies if str(each) == control.rollout), None)
    return policy is None or bool(policy.approvers) or any(wave.approvals for wave in policy.waves)
