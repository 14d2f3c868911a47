"""Reports of agents about the objects that a command is about, beside the answers of members that were asked."""

import time
from collections.abc import Mapping, Sequence

from reconciler.console.log import Log
from reconciler.inspection.choosing import Chosen, error_of_nobody_to_ask, lines_about_pull_members
from reconciler.repository import open_repository
from reconciler.status.branches import read_recorded_fleet
from reconciler.status.reported_objects import ObjectsMeant, ReportedObjects, blocks_of_reports, reports_of_agents

_NAMESPACE = ("-n", "--namespace")
_ALL_NAMESPACES = frozenset({"-A", "--all-namespaces", "-A=true", "--all-namespaces=true"})
_HARMLESS = frozenset({"--show-events", "--chunk-size", "--request-timeout"})
"""The options of kubectl describe that do not choose objects; they are written with their values."""


def agent_reports(log: Log, chosen: Chosen, meant: ObjectsMeant) -> tuple[ReportedObjects, ...]:
    """Return what agents reported, and say for which of the named members that is nothing.

    ClusterError where there is neither a report nor anybody to ask.
    """
    reports = reports_of_agents(chosen.recorded, chosen.pulling, meant)
    telling = {each.cluster for each in reports}
    silent = [name for name in chosen.named_pulling if name not in telling]
    for line in lines_about_pull_members(chosen.recorded, silent, time.time()):
        log.info(line)
    if not (reports or chosen.names):
        raise error_of_nobody_to_ask()
    return reports


def objects_meant_for_kubectl(words: Sequence[str]) -> ObjectsMeant | None:
    """Return the objects that the words of ``kubectl describe`` mean; None where records cannot tell which.

    >>> objects_meant_for_kubectl(["deploy/web", "-n", "shop"]).names_by_word
    {'deploy': ('web',)}
    >>> objects_meant_for_kubectl(["deploy", "-l", "app=web"]) is None
    True
    """
    namespace, named, rest = "default", list[str](), iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if option in _NAMESPACE:
            namespace = value if equals else next(rest, "")
        elif word in _ALL_NAMESPACES:
            namespace = ""
        elif word.startswith("-") and not (equals and option in _HARMLESS):
            return None
        elif not word.startswith("-"):
            named.append(word)
    names_by_word = _names_by_word(named)
    return ObjectsMeant(names_by_word=names_by_word, namespace=namespace) if names_by_word else None


def _names_by_word(words: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    if not any("/" in word for word in words):
        return dict.fromkeys(words[0].split(","), tuple(words[1:])) if words else {}
    found: dict[str, tuple[str, ...]] = {}
    for word in words:
        kind, _, name = word.partition("/")
        found[kind] = (*found.get(kind, ()), *([name] if name else []))
    return found


def text_of_described_reports(log: Log, reports: Sequence[ReportedObjects]) -> str:
    """Return what agents reported as blocks, each with what the newest rendered commit tells its cluster."""
    if not reports:
        return ""
    with open_repository(log.repository, progress=log.transfer) as repository:
        branches = read_recorded_fleet(repository, log)
    return "\n".join(blocks_of_reports(reports, branches, time.time()))
