"""The difference of two revisions of the source, of a branch or a pull request, in every cluster."""

from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.repository import Repository
from render.errors import UnknownName
from render.timing import epoch_text

_BRANCHES, _OF_PASSES = "refs/heads/", "argosy/"


def _answer(look: Look) -> ViewAnswer:
    base, head = look.asked("base", "HEAD"), look.asked("head")
    branches = look.reader.in_repository(_branches)
    shown = {"base": base, "head": head, "asks": not head, "branches": branches}
    if not head:
        return ViewAnswer(shown=shown)
    ids = look.reader.in_repository(lambda repository: [_commit(repository, look, each) for each in (base, head)])
    return look.answer_of_command(("diff", *ids, *_time_of_answer(look)), **shown)


def _time_of_answer(look: Look) -> tuple[str, ...]:
    """Return the option that names the time for rules of time, where the fleet is shown as it was."""
    return ("--now", epoch_text(int(look.commits.now))) if look.commits.now else ()


def _branches(repository: Repository) -> list[str]:
    """Return the branches that may be compared: those of this clone, but for what passes write."""
    names = (each.removeprefix(_BRANCHES) for each in repository.refs(_BRANCHES))
    return sorted(each for each in names if not each.startswith(_OF_PASSES))


def _commit(repository: Repository, look: Look, revision: str) -> str:
    """Return a commit in full: ``HEAD`` is the source that is shown, ``#12`` a pull request whose ref is here."""
    if revision == "HEAD":
        return look.commits.source
    if revision.startswith("-"):
        raise UnknownName(f"{revision!r} is not a revision", hint="name a branch, a tag, a commit or a pull request")
    number = revision.removeprefix("#")
    if number == revision or not number.isdecimal():
        return repository.resolve(revision)
    refs = (f"refs/pull/{number}/head", f"refs/merge-requests/{number}/head")
    tip = next((tip for ref in refs if (tip := repository.tip(ref))), None)
    if tip is None:
        hint = f"git fetch origin refs/pull/{number}/head:refs/pull/{number}/head, or name its branch"
        raise UnknownName(f"pull request {number} is not in this clone", hint=hint)
    return tip


VIEW = PageView(
    name="diff",
    path="/diff",
    question="What would change?",
    template="diff.html",
    answer=_answer,
    group=ViewGroup.WHEN,
    label="Difference",
    key="d",
    icon="diff",
)
