"""What a status commit says of itself: the clusters that became ready or ceased to be, new facts, how much else is new.

``git log`` of the status branch is read when something went wrong, so that its subjects name what changed and its
bodies say in which clusters; the files have the rest.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from reconciler.delivery.cluster_report import ClusterReport
from reconciler.passes.interpretations import FILE as ANSWERS_FILE
from reconciler.plans.inventory import Outcome
from render.words import counted

from .collecting import ClusterState

Files = Mapping[str, bytes | None]
_READY = {"True": "ready", "False": "not ready"}
_MOST_NAMED = 2
_MOST_LINES = 50


def status_message(
    commit: str, files: Files, reports: Sequence[ClusterReport], turned: Mapping[str, ClusterState]
) -> str:
    """Return the message of a commit that writes files; ``turned`` are clusters whose readiness is not what it was."""
    ready = {name: _READY.get(state.ready, "silent") for name, state in turned.items()}
    news = [report for report in reports if f"clusters/{report.cluster}.yaml" in files and report.cluster not in ready]
    ended = {report.cluster: word for report in news if (word := _ended(report))}
    facts = sorted(
        path.removeprefix("facts/").removesuffix(".yaml")
        for path in files
        if path.startswith("facts/") and path != f"facts/{ANSWERS_FILE}"
    )
    objects = Counter(path.split("/", 2)[1] for path in files if path.startswith("works/"))
    parts = [*_grouped(ready), *_grouped(ended)]
    parts += [f"facts of {_named(facts)}"] if facts else []
    parts += [f"{counted(objects.total(), 'object')} of {_named(sorted(objects))}"] if objects else []
    subject = f"Apply {commit[:12]}" + (f": {', '.join(parts)}" if parts else "")
    names = sorted({*ready, *ended, *facts, *objects})
    lines = [f"{name}: {', '.join(_words(name, (ready, ended), facts, objects))}" for name in names]
    more = [f"{len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
    return "\n".join([subject, "", *lines[:_MOST_LINES], *more]) if len(names) > 1 else subject


def _ended(report: ClusterReport) -> str:
    """Return how a pass over a cluster ended, unless all is done."""
    if report.failure is not None:
        return str(report.failure.kind)
    outcome = report.applied.outcome if report.applied else Outcome.CONVERGED
    return "" if outcome is Outcome.CONVERGED else str(outcome)


def _grouped(word_by_cluster: Mapping[str, str]) -> Iterable[str]:
    by_word: dict[str, list[str]] = {}
    for name, word in sorted(word_by_cluster.items()):
        by_word.setdefault(word, []).append(name)
    return [f"{_named(names)} {word}" for word, names in sorted(by_word.items())]


def _named(names: Sequence[str]) -> str:
    """Return a few names, or how many there are.

    >>> _named(["eu"]), _named(["eu", "us"]), _named(["ap", "eu", "us"])
    ('eu', 'eu and us', '3 clusters')
    """
    return " and ".join(names) if len(names) <= _MOST_NAMED else counted(len(names), "cluster")


def _words(
    name: str, words: Iterable[Mapping[str, str]], facts: Sequence[str], objects: Mapping[str, int]
) -> Iterable[str]:
    yield from (found[name] for found in words if name in found)
    if name in facts:
        yield "facts"
    if name in objects:
        yield counted(objects[name], "object")
