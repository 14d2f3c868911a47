"""Names of rendered branches: where a remote has one that Argosy writes, the branch's name means what the remote has.

Passes read the remote's. A branch of that name in the clone came of a checkout or a work tree, and stays behind.
"""

from typing import TYPE_CHECKING

from .history import branch_and_suffix
from .refs import is_ref_name
from .trailers import source_of_rendered_commit

if TYPE_CHECKING:
    from .access import Repository


def name_at_remote(repository: "Repository", revision: str) -> str:
    """Return a revision of a rendered branch by the branch of a remote that has another tip; empty for any other one.

    Whoever writes a ref in full means that one.
    """
    branch, suffix = branch_and_suffix(revision)
    ref = f"refs/heads/{branch}"
    if branch.startswith("refs/") or not is_ref_name(ref):
        return ""
    tip = repository.tip(ref)
    if tip is None or not source_of_rendered_commit(repository, tip):
        return ""
    known = repository.git.text("for-each-ref", "--format=%(refname)", "refs/remotes").split()
    found = [each for each in known if each.endswith(f"/{branch}") and _is_another_rendered_tip(repository, each, tip)]
    return f"{found[0]}{suffix}" if len(found) == 1 else ""


def _is_another_rendered_tip(repository: "Repository", ref: str, tip: str) -> bool:
    other = repository.tip(ref)
    return other is not None and other != tip and bool(source_of_rendered_commit(repository, other))
