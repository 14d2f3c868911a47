"""The pods of an object in members as text for people: a table of pods, the events, and the end of a log."""

from collections.abc import Iterator, Mapping

from reconciler.console.text import Section, section_with_table
from reconciler.members.exchange import Failure
from render.timing import parse_instant

from .pods import PodsInMember
from .tables import age_text

Answers = Mapping[str, PodsInMember | Failure]


def sections_of_pods(answers: Answers, now: float) -> Iterator[Section]:
    """Yield what members answered; a member that failed is told of elsewhere."""
    found = {name: each for name, each in answers.items() if isinstance(each, PodsInMember)}
    pods = [
        (
            name,
            pod.name,
            f"{pod.ready}/{len(pod.containers)}",
            pod.state,
            str(pod.restarts),
            _age(pod.created, now),
            pod.node or "-",
        )
        for name, each in found.items()
        for pod in each.pods
    ]
    notes = tuple(
        f"{name}: {'the object is not there' if each.is_absent else _words_of_count(each)}"
        for name, each in found.items()
        if each.is_absent or each.count != len(each.pods) or not each.pods
    )
    yield section_with_table(
        "PODS", ("CLUSTER", "POD", "READY", "STATE", "RESTARTS", "AGE", "NODE"), pods, before=notes
    )
    events = [
        (name, _age(event.last, now), event.type, event.reason, event.about, event.message)
        for name, each in found.items()
        for event in each.events
    ]
    if events:
        yield section_with_table("EVENTS", ("CLUSTER", "AGO", "TYPE", "REASON", "ABOUT", "MESSAGE"), events)
    yield from (_section_of_log(name, each) for name, each in found.items() if each.log is not None)


def _words_of_count(found: PodsInMember) -> str:
    return f"the first {len(found.pods)} of {found.count} pods" if found.pods else "it has no pods there"


def _section_of_log(cluster: str, found: PodsInMember) -> Section:
    log = found.log
    if log is None:
        return Section(title="LOG")
    lines = log.lines if log.failure is None else (f"there is none: {log.failure}",)
    return Section(title=f"LOG {cluster} {log.pod} {log.container}", before=lines or ("it is empty",))


def _age(text: str, now: float) -> str:
    at = parse_instant(text)
    return age_text(now - at.timestamp()) if at is not None else "-"
