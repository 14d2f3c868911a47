"""The members that a command is for: those its options choose, where argosy.yaml or the options say how to reach them.

Each command asks this once, so that what it observes, applies to and records are the same members.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping

import click

from reconciler.console.log import Log
from reconciler.names.subjects import refuse_unknown_clusters
from render.cluster import Cluster, is_applied_by_own_agent
from render.errors import UnknownName
from render.expressions import lazy_expression
from render.selectors import LabelSelector, Requirement, matches_labels
from render.settings.fleet import Fleet
from render.words import first_few, hint_of_most_similar_words

from .options import AccessOptions, names_of_reached_members

_LABEL_KEY = lazy_expression(r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", re.ASCII)
_LABEL_VALUE = lazy_expression(r"([A-Za-z0-9]([\w.-]*[A-Za-z0-9])?)?", re.ASCII)


def members_for_command(
    fleet: Fleet, members: Iterable[Cluster], options: AccessOptions, log: Log
) -> tuple[Cluster, ...]:
    """Return the members a command is for, and say which of them nothing says how to reach.

    UnknownName names a cluster that was asked for and is no member, and a selector by which no member is meant.
    """
    known = tuple(members)
    _refuse_selector_of_no_member(options, known)
    return members_for_pass(fleet, known, options, log)


def members_for_pass(fleet: Fleet, members: Iterable[Cluster], options: AccessOptions, log: Log) -> tuple[Cluster, ...]:
    """Return the same for one of many passes: the fleet may get a member that a selector means."""
    by_name = {cluster.name: cluster for cluster in members}
    refuse_unknown_choice(options, by_name)
    warn_of_unreachable_pull_members(by_name.values(), options, log)
    # Where nothing is said of any member, each is reached by the context named like it.
    reached = names_of_reached_members(fleet, options) or frozenset(by_name)
    wanted = tuple(
        cluster for cluster in members_chosen_by_options(by_name, options) if not is_applied_by_own_agent(cluster)
    )
    unreached = [cluster.name for cluster in wanted if cluster.name not in reached]
    if unreached:
        log.info(f"left alone, for argosy.yaml does not say how to reach them: {first_few(unreached)}")
    elif not wanted and not any(map(is_applied_by_own_agent, by_name.values())):
        log.info("no cluster is chosen")
    return tuple(cluster for cluster in wanted if cluster.name in reached)


def warn_of_unreachable_pull_members(members: Iterable[Cluster], options: AccessOptions, log: Log) -> None:
    """Say which of the members that are asked for by name pull, so that no command reaches them."""
    pulling = sorted(
        cluster.name for cluster in members if is_applied_by_own_agent(cluster) and cluster.name in options.clusters
    )
    if pulling:
        log.info(f"left to their agents, for they pull: {first_few(pulling)}")


def refuse_unknown_choice(options: AccessOptions, members: Iterable[str]) -> None:
    """Raise UnknownName for a cluster that is asked for and is no member, a usage error for a wrong selector."""
    refuse_unknown_clusters([*filter(None, [options.in_cluster]), *options.clusters], frozenset(members))
    parse_label_selector(options.selector)


def _refuse_selector_of_no_member(options: AccessOptions, members: Iterable[Cluster]) -> None:
    """Raise UnknownName for a selector by which no member is meant: the command would do nothing."""
    selector, known = parse_label_selector(options.selector), tuple(members)
    if selector is None or not known or any(matches_labels(selector, each.labels) for each in known):
        return
    labels = sorted({f"{key}={value}" for each in known for key, value in each.labels.items()})
    hint = hint_of_most_similar_words(options.selector, labels, "labels") if labels else "no cluster has any label"
    raise UnknownName(f"no cluster of the source has the labels {options.selector!r}", hint=hint)


def members_chosen_by_options(by_name: Mapping[str, Cluster], options: AccessOptions) -> Iterator[Cluster]:
    """Yield the members that are asked for, by name."""
    selector = parse_label_selector(options.selector)
    for name, cluster in sorted(by_name.items()):
        is_named = not options.clusters or name in options.clusters
        is_selected = selector is None or matches_labels(selector, cluster.labels)
        if is_named and is_selected and is_in_shard(name, *options.shard):
            yield cluster


def is_in_shard(cluster: str, index: int, count: int) -> bool:
    """Return whether a cluster is in shard ``index`` (from 1) of ``count``; other clusters that come or go move none.

    >>> [is_in_shard("member1", index, 2) for index in (1, 2)]
    [False, True]
    """
    number = int.from_bytes(hashlib.sha256(cluster.encode()).digest()[:8])
    return number % count == index - 1


def parse_label_selector(text: str) -> LabelSelector | None:
    """Read kubectl's ``key=value,key!=value,key,!key``; a usage error names what is no label expression."""
    if not text:
        return None
    return LabelSelector(match_expressions=tuple(_parse_requirement(part.strip()) for part in text.split(",")))


def _parse_requirement(text: str) -> Requirement:
    for sign, operator in (("!=", "NotIn"), ("==", "In"), ("=", "In")):
        key, matched, value = text.partition(sign)
        if matched:
            _refuse_what_is_no_label(text, key.strip(), value.strip())
            return Requirement(key=key.strip(), operator=operator, values=(value.strip(),))
    name = text.removeprefix("!").strip()
    _refuse_what_is_no_label(text, name)
    return Requirement(key=name, operator="DoesNotExist" if text.startswith("!") else "Exists")


def _refuse_what_is_no_label(text: str, key: str, value: str = "") -> None:
    """Raise a usage error for a part of a selector that no label can ever be."""
    if not _LABEL_KEY.fullmatch(key) or not _LABEL_VALUE.fullmatch(value):
        raise click.UsageError(f"--selector: {text!r} is no label expression; write key=value, key!=value, key or !key")
