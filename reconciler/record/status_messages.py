"""The message of a status commit: what turned in which clusters, in one line and a line for each of many."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from reconciler.branches.schemas import FOLDER as SCHEMAS
from reconciler.branches.status_branch import Files
from reconciler.deliver.results import ClusterReport
from reconciler.ledger.health import HealthFile
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.ledger.refusal import SourceRefusal
from reconciler.ledger.webhook_answers import AnswersFile
from render.words import counted_noun

from .status_changes import StatusInputs

_READY = {"True": "ready", "False": "not ready"}
_MOST_NAMED = 2
_MOST_LINES = 50


def status_message(inputs: StatusInputs, reports: Sequence[ClusterReport], files: Files) -> str:
    """Return the message of the commit that writes these files."""
    ready = {name: _READY.get(state.ready, "silent") for name, state in inputs.turned.items()}
    changed = [
        report for report in reports if f"clusters/{report.cluster}.yaml" in files and report.cluster not in ready
    ]
    ended = {report.cluster: ending for report in changed if (ending := _ending_of_apply(report))}
    facts = [
        name for name in _names_below("facts", files) if f"facts/{name}.yaml" not in {AnswersFile.PATH, HealthFile.PATH}
    ]
    schemas = _names_below(SCHEMAS, files)
    objects = Counter(path.split("/", 2)[1] for path in files if path.startswith("works/"))
    parts = [*_clusters_grouped_by_word(ready), *_clusters_grouped_by_word(ended)]
    parts += [f"facts of {_few_names_or_count(facts)}"] if facts else []
    parts += [f"schemas of {_few_names_or_count(schemas)}"] if schemas else []
    parts += [f"{counted_noun(objects.total(), 'object')} of {_few_names_or_count(sorted(objects))}"] if objects else []
    if inputs.refusal is not None and SourceRefusal.PATH in files:
        parts.append(f"source {inputs.refusal.source[:12]} is refused")
    subject = f"Apply {inputs.commit[:12]}" + (f": {', '.join(parts)}" if parts else "")
    names = sorted({*ready, *ended, *facts, *schemas, *objects})
    clusters_with_agents = {"facts": facts, "schemas": schemas}
    lines = [
        f"{name}: {', '.join(_words_about_cluster(name, (ready, ended), clusters_with_agents, objects))}"
        for name in names
    ]
    more = [f"{len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
    return "\n".join([subject, "", *lines[:_MOST_LINES], *more]) if len(names) > 1 else subject


def _names_below(folder: str, files: Files) -> list[str]:
    """Return the clusters of which a folder has a file."""
    paths = (path.removeprefix(f"{folder}/") for path in files if path.startswith(f"{folder}/"))
    return sorted(path.removesuffix(".yaml") for path in paths if path.endswith(".yaml"))


def _ending_of_apply(report: ClusterReport) -> str:
    """Return how the apply to a cluster ended, empty when all is done."""
    if report.failure is not None:
        return str(report.failure.kind)
    outcome = report.applied.outcome if report.applied else ApplyOutcome.CONVERGED
    return "" if outcome is ApplyOutcome.CONVERGED else str(outcome)


def _clusters_grouped_by_word(word_by_cluster: Mapping[str, str]) -> Iterable[str]:
    by_word: dict[str, list[str]] = {}
    for name, word in sorted(word_by_cluster.items()):
        by_word.setdefault(word, []).append(name)
    return [f"{_few_names_or_count(names)} {word}" for word, names in sorted(by_word.items())]


def _few_names_or_count(names: Sequence[str]) -> str:
    """Return a few names, or how many there are.

    >>> _few_names_or_count(["eu"]), _few_names_or_count(["eu", "us"]), _few_names_or_count(["ap", "eu", "us"])
    ('eu', 'eu and us', '3 clusters')
    """
    return " and ".join(names) if len(names) <= _MOST_NAMED else counted_noun(len(names), "cluster")


def _words_about_cluster(
    name: str,
    words: Iterable[Mapping[str, str]],
    clusters_with_agents: Mapping[str, Sequence[str]],
    objects: Mapping[str, int],
) -> Iterable[str]:
    yield from (word_by_cluster[name] for word_by_cluster in words if name in word_by_cluster)
    yield from (word for word, names in clusters_with_agents.items() if name in names)
    if name in objects:
        yield counted_noun(objects[name], "object")
