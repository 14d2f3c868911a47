"""The guard against a rewound or rewritten source branch."""

from reconciler.pipeline.previous import Previous
from reconciler.repository import Repository
from reconciler.repository.failures import error_of_cut_off_history
from render.errors import GitError, GuardRefused


def check_rewind(
    repository: Repository, previous: Previous | None, commit: str, *, is_accepted: bool, hint: str = ""
) -> bool:
    """Say whether a source does not follow the one rendered before: a rewound or rewritten branch, refused unasked.

    ``hint`` is what to do instead of accepting it, where the source is not that of the branch.
    """
    if previous is None or previous.source == commit:
        return False
    try:
        repository.resolve(previous.source)
    except GitError as error:
        if repository.is_shallow:
            raise error_of_cut_off_history(previous.source, commit) from error
    else:
        if repository.is_ancestor(previous.source, commit):
            return False
    if is_accepted:
        return True
    raise GuardRefused(
        f"source {commit[:12]} does not follow {previous.source[:12]}, which the clusters were rendered from",
        hint=hint or "if the branch was rewound on purpose, pass --accept-rewind",
    )
