"""Names of rendered branches: where a remote has one that Argosy writes, the branch's name means what the remote has.

Passes read the remote's. A branch of that name in the clone came of a checkout or a work tree, and stays behind.
"""

from collections.abc import Callable

from .command import GitCommand
from .history import branch_and_suffix
from .refs import is_ref_name

TipOfRef = Callable[[str], str | None]
"""The commit at a whole ref name, None where there is none."""


def name_at_remote(git: GitCommand, revision: str, tip_of: TipOfRef, is_rendered: Callable[[str], bool]) -> str:
    """Return a revision of a rendered branch by the branch of a remote that has another tip; empty for any other one.

    Whoever writes a ref in full means that one.
    """
    branch, suffix = branch_and_suffix(revision)
    ref = f"refs/heads/{branch}"
    if branch.startswith("refs/") or not is_ref_name(ref):
        return ""
    tip = tip_of(ref)
    if tip is None or not is_rendered(tip):
        return ""
    known = git.text("for-each-ref", "--format=%(refname)", "refs/remotes").split()
    tips = {each: tip_of(each) for each in known if each.endswith(f"/{branch}")}
    found = [each for each, other in tips.items() if other is not None and other != tip and is_rendered(other)]
    return f"{found[0]}{suffix}" if len(found) == 1 else ""
