"""The losses of clusters, regions and the like, supposed: of one that is chosen, or of each in turn."""

from collections.abc import Mapping

from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup

_OPTIONS: Mapping[str, str] = {
    "without": "--without-cluster",
    "region": "--without-region",
    "zone": "--without-zone",
    "provider": "--without-provider",
    "cordon": "--cordon",
}
"""The options of ``argosy simulate`` by the fields of the form that give their values."""
_DOMAINS = ("cluster", "region", "zone", "provider")


def _answer(look: Look) -> ViewAnswer:
    clusters = look.fleet_status()["clusters"] if look.commits.rendered else {}
    shown = {"clusters": sorted(clusters), "asked": {name: look.asked(name) for name in _OPTIONS}, "kind": ""}
    by = look.asked("by")
    if by in _DOMAINS:
        words = ("simulate", "--n-minus", "1", "--by", by, "--rev", look.commits.source)
        return look.answer_of_command(words, **{**shown, "kind": "losses", "by": by})
    supposed = tuple(f"{option}={look.asked(name)}" for name, option in _OPTIONS.items() if look.asked(name))
    if not supposed:
        return ViewAnswer(shown=shown)
    words_of_one = ("simulate", *supposed, "--rev", look.commits.source)
    return look.answer_of_command(words_of_one, **{**shown, "kind": "simulation"})


VIEW = PageView(
    name="whatif",
    path="/what-if",
    question="What if we lose it?",
    template="what_if.html",
    answer=_answer,
    group=ViewGroup.WHEN,
    label="What if",
    key="w",
    icon="whatif",
    is_of_now=True,
)
