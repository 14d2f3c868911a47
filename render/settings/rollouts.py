"""``spec.rollouts``: the times at which changes of the source may, or may not, reach clusters, and who is asked."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from msgspec import Struct, field

from render.cron.occurrences import time_zone
from render.expressions import lazy_expression
from render.notations import WEEKDAYS, minutes_of_time, seconds_of_duration
from render.syntax import quoted_text
from render.timing import parse_instant

from .durations import faults_of_duration
from .rollout_sources import SOURCES, RolloutSource
from .setting import WAYS, FleetSetting, SettingFault, reach_of_limit

_REVIEWER = lazy_expression(r"(?:github|gitlab|gitea):[A-Za-z0-9._-]+", re.ASCII)
_SIGNER = lazy_expression(r"([A-Za-z0-9._@+-]+) ((?:ssh|ecdsa|sk)-[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,3})", re.ASCII)


class CoveredObjects(Struct, frozen=True, kw_only=True):
    """The objects and the clusters that a freeze or a window is about; an empty part of these means any.

    ``cluster_labels`` are texts such as ``env=production``, all of which a cluster has; ``kinds`` are named as
    ``Deployment.apps`` or ``ConfigMap``.
    """

    clusters: Annotated[
        tuple[str, ...], FleetSetting("clusters", "The clusters that it is about; left out means any.", min_length=1)
    ] = ()
    cluster_labels: Annotated[
        tuple[str, ...],
        FleetSetting(
            "clusterLabels",
            "Labels such as `env=production`: it is about the clusters that have all of them.",
            min_length=1,
        ),
    ] = ()
    regions: Annotated[
        tuple[str, ...],
        FleetSetting("regions", "The regions whose clusters it is about; left out means any.", min_length=1),
    ] = ()
    namespaces: Annotated[
        tuple[str, ...],
        FleetSetting(
            "namespaces",
            "The namespaces whose objects it is about; left out means any object, also those in no namespace.",
            min_length=1,
        ),
    ] = ()
    kinds: Annotated[
        tuple[str, ...],
        FleetSetting(
            "kinds",
            "The kinds of the objects, such as `Deployment.apps` or `ConfigMap`; left out means any.",
            min_length=1,
        ),
    ] = ()


COVERED = FleetSetting("", "The objects and the clusters that it is about.")


class FleetFreeze(Struct, frozen=True, kw_only=True):
    """A time at which no change reaches what it covers; times are RFC 3339 text (``begins``: "" is long ago)."""

    begins: Annotated[
        str, FleetSetting("from", "The beginning, such as `2026-12-20T00:00:00Z`; left out, it has begun.")
    ] = ""
    ends: Annotated[str, FleetSetting("until", "The end: a freeze ends by itself.")]
    reason: Annotated[
        str,
        FleetSetting("reason", "The reason, which is shown where something waits for the end.", min_length=1),
    ]
    covered: Annotated[CoveredObjects, COVERED] = field(default_factory=CoveredObjects)


class FleetWindow(Struct, frozen=True, kw_only=True):
    """A time at which changes may reach what it covers: days of the week, and times of the day in a time zone."""

    days: Annotated[
        tuple[str, ...],
        FleetSetting(
            "days",
            "The days of the week on which it begins.",
            choices={day: day for day in WEEKDAYS},
            is_default_empty=True,
        ),
    ] = WEEKDAYS
    begins: Annotated[str, FleetSetting("from", "The time of the day at which it begins, such as `09:30`.")]
    ends: Annotated[str, FleetSetting("to", "The time at which it ends; of the next day, where that is not later.")]
    time_zone: Annotated[
        str, FleetSetting("timeZone", "The time zone of both, such as `Europe/Berlin`.", shown="UTC")
    ] = "UTC"
    covered: Annotated[CoveredObjects, COVERED] = field(default_factory=CoveredObjects)


def _faults_of_freezes(freezes: Iterable[Mapping[str, Any]]) -> Iterator[SettingFault]:
    for index, freeze in enumerate(freezes):
        times = {name: parse_instant(freeze[name]) for name in ("from", "until") if freeze.get(name) is not None}
        for name, instant in times.items():
            if instant is None:
                message = f"{quoted_text(freeze[name])} is no time"
                yield SettingFault(f"[{index}].{name}", message, "write it as '2026-03-01T14:05:00Z'")
        begins, ends = times.get("from"), times.get("until")
        if begins and ends and begins >= ends:
            yield SettingFault(f"[{index}].until", "is not after its beginning", "write a later time")
        yield from _faults_of_labels(index, freeze)


def _faults_of_windows(windows: Iterable[Mapping[str, Any]]) -> Iterator[SettingFault]:
    for index, window in enumerate(windows):
        for name in ("from", "to"):
            if minutes_of_time(window[name]) is None:
                message = f"{quoted_text(window[name])} is no time of the day"
                yield SettingFault(f"[{index}].{name}", message, "write it as '09:30'")
        try:
            time_zone(window.get("timeZone") or "UTC")
        except LookupError as error:
            yield SettingFault(f"[{index}].timeZone", error.args[0], "write it as 'Europe/Berlin'")
        yield from _faults_of_labels(index, window)


def _faults_of_labels(index: int, entry: Mapping[str, Any]) -> Iterator[SettingFault]:
    for number, text in enumerate(entry.get("clusterLabels") or ()):
        if not text.partition("=")[1] or text.startswith("="):
            message = f"{quoted_text(text)} is no label with its value"
            yield SettingFault(f"[{index}].clusterLabels[{number}]", message, "write it as 'env=production'")


def _faults_of_signers(signers: Iterable[str]) -> Iterator[SettingFault]:
    seen: dict[str, str] = {}
    for index, signer in enumerate(signers):
        found = _SIGNER.fullmatch(signer)
        if found is None:
            hint = "write it as 'NAME ssh-ed25519 KEY', with a name of letters, digits and . _ @ + -"
            yield SettingFault(f"[{index}]", "is no name with a public SSH key", hint)
        elif seen.setdefault(found[2], found[1]) != found[1]:
            message = f"is the key of {seen[found[2]]} as well: one person would be two"
            yield SettingFault(f"[{index}]", message, "keep one of them", kind="Duplicate")


def _faults_of_reviewers(reviewers: Iterable[str]) -> Iterator[SettingFault]:
    seen: set[str] = set()
    for index, reviewer in enumerate(reviewers):
        if _REVIEWER.fullmatch(reviewer) is None:
            message = f"{quoted_text(reviewer)} is no user of a forge"
            yield SettingFault(f"[{index}]", message, "write it as 'github:NAME', 'gitlab:NAME' or 'gitea:NAME'")
        elif reviewer.casefold() in seen:
            yield SettingFault(f"[{index}]", "is named twice", "keep one of them", kind="Duplicate")
        seen.add(reviewer.casefold())


def _is_longer(before: str, after: str) -> bool:
    return (seconds_of_duration(after) or 0) > (seconds_of_duration(before) or 0)


class RolloutSettings(Struct, frozen=True, kw_only=True):
    """The calendar of the fleet: when changes of the source may reach which objects in which clusters.

    ``signers`` are the persons whose signatures are known, each as ``NAME TYPE KEY``.
    ``reviewers`` are the users of the forge whose reviews count, each as ``github:NAME``.
    ``sources`` are all that checks of rollouts may ask, beside members and the forge.
    """

    freezes: Annotated[
        tuple[FleetFreeze, ...],
        FleetSetting(
            "freezes",
            "Times at which no change reaches what they are about, whatever windows and rollout policies say.",
            faults=_faults_of_freezes,
        ),
    ] = ()
    windows: Annotated[
        tuple[FleetWindow, ...],
        FleetSetting(
            "windows",
            "The times at which changes reach what they are about, and at no other; without any, always.",
            faults=_faults_of_windows,
        ),
    ] = ()
    signers: Annotated[
        tuple[str, ...],
        FleetSetting(
            "signers",
            "The persons who say something about rollouts, as `NAME TYPE KEY` with a public SSH key, such as"
            " `alice@example.com ssh-ed25519 AAAA...`. Who signed the commit by which a RolloutControl came is known by"
            " these; a person may have several keys, and no key is that of two persons.",
            reach=WAYS,
            faults=_faults_of_signers,
        ),
    ] = ()
    reviewers: Annotated[
        tuple[str, ...],
        FleetSetting(
            "reviewers",
            "The users of the forge whose reviews count, as `github:NAME`, `gitlab:NAME` or `gitea:NAME`. A pass asks"
            " the forge once who approved of the merged pull request that a RolloutControl came with; its author does"
            " not count, and neither does a review of what was changed after it. Signers and reviewers are never added"
            " up, as one may be the other. Left out, the forge is not asked.",
            reach=WAYS,
            faults=_faults_of_reviewers,
        ),
    ] = ()
    sources: Annotated[tuple[RolloutSource, ...], SOURCES] = ()
    confirm_within: Annotated[
        str,
        FleetSetting(
            "confirmWithin",
            "How long a second person may take to confirm an emergency, such as `8h`; after that it is named as one"
            " that nobody has confirmed.",
            reach=reach_of_limit(_is_longer),
            faults=faults_of_duration,
        ),
    ] = "24h"


ROLLOUTS = FleetSetting(
    "rollouts",
    "When changes of the source may reach clusters: of what its freezes and windows are about, every cluster keeps the"
    " version that it has until it may get the newest. Replicas, failover and the repair of drift go on. Beside that,"
    " whom checks of rollouts may ask.",
    in_karmada="Karmada's changes reach clusters at once",
)
