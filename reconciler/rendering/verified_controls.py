"""RolloutControls with the persons whose signatures they have: by Git, or as a rendered commit records them.

Who said something is looked up once, in the pass that goes by it, and recorded by value in the rendered commit, so that
a replay needs neither the history of the source nor the program that checks signatures.
"""

from collections.abc import Iterable

from reconciler.branches.reading import Source
from reconciler.pipeline.previous import Previous, parse_file_at_root
from reconciler.pipeline.rollouts.origins import NO_ORIGINS, ChangeAuthors, RolloutOrigins, commits_of_change
from reconciler.pipeline.rollouts.speakers import SPEAKERS_FILE, Speakers, digest_of_control, parse_speakers
from reconciler.pipeline.rollouts.state_files import rollout_states_of_tree
from reconciler.repository import Repository
from reconciler.repository.signing import signer_of_commit, signer_of_file
from reconciler.source.desired import Desired
from render.errors import GitError
from render.rollouts.policy import RolloutControl, RolloutPolicy, RolloutVerb
from render.rollouts.state import RolloutState

MOST_COMMITS = 100
"""The commits of one change whose authors are looked for; of a longer one nobody is known to have made it."""


def speakers_of_controls(repository: Repository, source: Source, recorded: Speakers) -> Speakers:
    """Return who signed each control that matters by that, by the digests of the controls; ``recorded`` is believed."""
    desired, signers = source.desired, source.desired.fleet.rollouts.signers
    asked = [each for each in desired.rollout_controls if matters_who_says(each, desired.rollout_policies)]
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


def known_origins(repository: Repository, source: Source, previous: Previous | None) -> RolloutOrigins:
    """Return what is known of the origins of controls and changes, by the previous commit and by Git."""
    desired = source.desired
    states = tuple(rollout_states_of_tree(previous.tree).values()) if previous else ()
    if not source.commit or not _may_origins_matter(desired, states):
        return NO_ORIGINS
    recorded = recorded_speakers(repository, previous.tree.root)[1] if previous and previous.tree.root else NO_ORIGINS
    digests = {digest_of_control(each) for each in desired.rollout_controls}
    reviews = {digest: each for digest, each in recorded.reviews.items() if digest in digests}
    changes: dict[str, ChangeAuthors] = {}
    wanted = [*commits_of_change(states), source.commit]
    while wanted:
        if (commit := wanted.pop()) and commit not in changes:
            found = recorded.changes.get(commit) or _new_origin(repository, source, previous, states, commit)
            changes[commit] = found
            wanted += [each for several in found.follows.values() for each in several]
    return RolloutOrigins(reviews=reviews, changes=changes)


def _may_origins_matter(desired: Desired, states: Iterable[RolloutState]) -> bool:
    """Say whether anybody is known, and asked for."""
    settings, plans = desired.fleet.rollouts, (*desired.rollout_policies, *(each.plan for each in states))
    if not (settings.signers or settings.reviewers):
        return False
    return bool(desired.rollout_controls) or any(map(_asks_for_persons, plans))


def _new_origin(
    repository: Repository, source: Source, previous: Previous | None, states: Iterable[RolloutState], commit: str
) -> ChangeAuthors:
    """Return the origin of a change of which no earlier pass has recorded any, by its signatures alone."""
    is_newest = commit == source.commit and previous is not None and previous.source != commit
    base = previous.source if is_newest and previous is not None else ""
    signers = source.desired.fleet.rollouts.signers
    commits = commits_of_source_change(repository, source, base, commit, "--no-merges") if signers else ()
    names = {signer_of_commit(repository.git, each, signers) for each in commits or ()}
    follows = {each.name: each.commits for each in states if is_newest and not each.is_completed}
    return ChangeAuthors(base=base, authors=tuple(sorted(names - {""})), follows=follows)


def commits_of_source_change(
    repository: Repository, source: Source, base: str, commit: str, *options: str
) -> tuple[str, ...] | None:
    """Return the commits after one and up to another that changed more than RolloutControls; None if nobody knows.

    Without a ``base`` it is the last of these alone.
    """
    controls = sorted({each.path for each in source.desired.rollout_controls})
    excluded = (f":(top,exclude,literal){path}" for path in controls)
    where = (f"{base}..{commit}",) if base else ("-1", commit)
    command = (
        "--no-literal-pathspecs",
        "rev-list",
        f"--max-count={MOST_COMMITS + 1}",
        *options,
        *where,
        "--",
        ":/",
        *excluded,
    )
    try:
        found = repository.git.run(*command).stdout.decode().split()
    except GitError:
        return None
    return tuple(found) if len(found) <= MOST_COMMITS else None


def recorded_speakers(repository: Repository, tree: bytes) -> tuple[Speakers, RolloutOrigins]:
    """Return who stands behind controls and changes, as a rendered tree records it."""
    entry = next((each for each in repository.read_trees([tree])[tree] if each.text == SPEAKERS_FILE), None)
    if entry is None:
        return {}, NO_ORIGINS
    return parse_file_at_root(SPEAKERS_FILE, repository.read_blobs([entry.id])[entry.id], parse_speakers)


def matters_who_says(control: RolloutControl, policies: Iterable[RolloutPolicy]) -> bool:
    """Say whether a policy asks who somebody is; that of a rollout under way may be gone, and counts as one."""
    if control.verb in {RolloutVerb.EMERGENCY, RolloutVerb.CONFIRM}:
        return True
    policy = next((each for each in policies if str(each) == control.rollout), None)
    return policy is None or _asks_for_persons(policy)


def _asks_for_persons(policy: RolloutPolicy) -> bool:
    return bool(policy.approvers) or any(wave.approvals for wave in policy.waves)
