"""Random edits of a manifest, of the kinds that people make: things taken out, put back, changed, reordered, respelt.

An edit never touches what names an object, nor the fields that its ``fixed`` annotation lists.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from random import Random
from typing import Any

CUSTOM_GROUP = "shapes.example.com/"
"""The group of the custom resources."""
ADMISSION_GROUP = "admissionregistration.k8s.io/"
"""The group of the kinds that decide about writes."""
Steps = tuple[str | int, ...]
_NAMING = (
    ("apiVersion",),
    ("kind",),
    ("metadata", "name"),
    ("metadata", "namespace"),
    ("metadata", "annotations", "fixed"),
)
_MISSING: Any = object()
# Other values for texts of which not every one is allowed; any other text just becomes longer.
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "protocol": ("TCP", "UDP", "SCTP"),
    "pathType": ("Exact", "Prefix", "ImplementationSpecific"),
    "path": ("/", "/a", "/b/c"),
    "image": ("example.com/a:2", "example.com/b@sha256:" + "0" * 64),
    "imagePullPolicy": ("Always", "IfNotPresent"),
    "operator": ("In", "NotIn"),
    "effect": ("NoSchedule", "NoExecute", "PreferNoSchedule"),
    "cidr": ("10.0.0.0/8",),
    "whenUnsatisfiable": ("ScheduleAnyway", "DoNotSchedule"),
    "failurePolicy": ("Fail", "Ignore"),
    "concurrencyPolicy": ("Allow", "Replace", "Forbid"),
    "restartPolicy": ("Never", "OnFailure"),
    "sessionAffinity": ("None",),
    "scope": ("Namespaced", "Cluster", "*"),
    "internalTrafficPolicy": ("Cluster", "Local"),
    "persistentVolumeReclaimPolicy": ("Retain", "Delete"),
    "timeZone": ("Etc/UTC", "Europe/Berlin"),
    "ip": ("192.0.2.77",),
    "drop": ("ALL", "CHOWN"),
    "type": ("string",),
}
_SAME_QUANTITIES = {
    "500m": "0.5",
    "0.5": "500m",
    "1Gi": "1024Mi",
    "1024Mi": "1Gi",
    "1": "1000m",
    "1000m": "1",
    "2": "2000m",
    "10Gi": "10240Mi",
    "512Mi": "0.5Gi",
    "100m": "0.1",
    "4Gi": "4096Mi",
    "40000m": "40",
    "64Mi": "65536Ki",
    "250m": "0.25",
    "256Mi": "262144Ki",
}


class Draft:
    """A manifest while it is edited; ``whole`` is all that it may have, ``live`` what a server made of it."""

    def __init__(self, manifest: Mapping[str, Any], whole: Mapping[str, Any], live: Mapping[str, Any]) -> None:
        self.manifest: dict[str, Any] = deepcopy(dict(manifest))
        self.whole = whole
        self.live = live
        listed = str((whole["metadata"].get("annotations") or {}).get("fixed", "")).split()
        self.fixed = (*_NAMING, *(tuple(path.split(".")) for path in listed))

    def is_fixed(self, path: Steps) -> bool:
        """Return whether a field must stay, or holds one that must."""
        names = tuple(step for step in path if isinstance(step, str))
        return any(names[: len(fixed)] == fixed or fixed[: len(names)] == names for fixed in self.fixed)

    def places(self, wanted: Callable[[Any], bool]) -> list[Steps]:
        """Return the paths of the values that are wanted and may be edited."""
        return [path for path, value in _walked(self.manifest, ()) if wanted(value) and not self.is_fixed(path)]

    def put(self, path: Steps, value: Any) -> None:
        """Set the value at a path, or remove it."""
        parent: Any = self.manifest
        for step in path[:-1]:
            parent = parent[step]
        if value is _MISSING:
            del parent[path[-1]]
        else:
            parent[path[-1]] = deepcopy(value)


def _walked(value: Any, path: Steps) -> Iterator[tuple[Steps, Any]]:
    items: Any = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield (*path, step), item
        yield from _walked(item, (*path, step))


def value_of(value: Any, path: Steps) -> Any:
    """Return the value at a path, ``_MISSING`` where there is none."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return _MISSING
    return value


def _removal(draft: Draft, random: Random) -> bool:
    return _set_one(draft, random, draft.places(lambda _: True), lambda _value, _path: _MISSING)


def _removal_inside(draft: Draft, random: Random) -> bool:
    """Remove a field or an item somewhere inside a list, where a server may own the list as one piece."""
    places = [path for path in draft.places(lambda _: True) if any(isinstance(step, int) for step in path[:-1])]
    return _set_one(draft, random, places, lambda _value, _path: _MISSING)


def _removed_items(draft: Draft, random: Random) -> bool:
    places = [path for path in draft.places(lambda _: True) if isinstance(path[-1], int)]
    return _set_one(draft, random, places, lambda _value, _path: _MISSING)


def _return(draft: Draft, random: Random) -> bool:
    """Put something back that the whole manifest has."""
    missing = [
        path
        for path, _ in _walked(draft.whole, ())
        if not draft.is_fixed(path)
        and isinstance(path[-1], str)
        and isinstance(value_of(draft.manifest, path[:-1]), dict)
        and value_of(draft.manifest, path) is _MISSING
    ]
    return _set_one(draft, random, missing, lambda _value, path: value_of(draft.whole, path))


def _whole_list(draft: Draft, random: Random) -> bool:
    """Make a list again what it is in the whole manifest."""
    lists = [path for path in draft.places(lambda value: isinstance(value, list)) if _differs(draft, path)]
    return _set_one(draft, random, lists, lambda _value, path: value_of(draft.whole, path))


def _differs(draft: Draft, path: Steps) -> bool:
    whole = value_of(draft.whole, path)
    return isinstance(whole, list) and whole != value_of(draft.manifest, path)


def _default(draft: Draft, random: Random) -> bool:
    """Write something out that the server filled in."""
    filled = [
        path
        for path, _ in _walked(draft.live, ())
        if path[0] not in {"metadata", "status"}
        and not draft.is_fixed(path)
        and isinstance(path[-1], str)
        and isinstance(value_of(draft.manifest, path[:-1]), dict)
        and value_of(draft.manifest, path) is _MISSING
    ]
    return _set_one(draft, random, filled, lambda _value, path: value_of(draft.live, path))


def _other_scalar(draft: Draft, random: Random) -> bool:
    places = draft.places(lambda value: isinstance(value, str | int | float) or value is None)
    return _set_one(draft, random, places, lambda value, path: _other(value, path, random))


def _other(value: Any, path: Steps, random: Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + random.choice((1, 1, 2, -1))
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    if name in _TEXTS:
        return random.choice(_TEXTS[name])
    return f"{value or 'text'}{random.choice(('x', 'y', '2'))}"


def _null(draft: Draft, random: Random) -> bool:
    """Make a field null; in Kubernetes' own kinds none that holds others.

    There kubectl's server-side apply goes on holding what was in it, and Argosy takes it out.
    """
    is_custom = draft.whole["apiVersion"].startswith(CUSTOM_GROUP)
    values = draft.places(lambda value: is_custom or not isinstance(value, dict | list))
    return _set_one(draft, random, [path for path in values if isinstance(path[-1], str)], lambda _value, _path: None)


def _emptied(draft: Draft, random: Random) -> bool:
    places = draft.places(lambda value: isinstance(value, list | dict | str) and bool(value))
    # The group without a name is Kubernetes' core: a webhook over it would decide about all the other edits.
    is_admission = draft.whole["apiVersion"].startswith(ADMISSION_GROUP)
    apart = [path for path in places if not (is_admission and path[-2:-1] == ("apiGroups",))]
    return _set_one(draft, random, apart, lambda value, _path: type(value)())


def _reordered(draft: Draft, random: Random) -> bool:
    lists = draft.places(lambda value: isinstance(value, list) and len(value) > 1)
    return _set_one(draft, random, lists, lambda value, _path: [*value[1:], value[0]])


def _respelt(draft: Draft, random: Random) -> bool:
    places = draft.places(lambda value: not isinstance(value, bool | dict | list) and str(value) in _SAME_QUANTITIES)
    return _set_one(draft, random, places, lambda value, _path: _SAME_QUANTITIES[str(value)])


def _added_entry(draft: Draft, random: Random) -> bool:
    """Give a map of texts one more entry."""
    maps = draft.places(
        lambda value: isinstance(value, dict) and bool(value) and all(isinstance(item, str) for item in value.values())
    )
    added = {f"added{random.randrange(3)}": "1"}
    return _set_one(draft, random, maps, lambda value, _path: {**value, **added})


def _added_item(draft: Draft, random: Random) -> bool:
    """Give a list one more item, much like one that it has."""
    lists = draft.places(lambda value: isinstance(value, list) and bool(value))

    def longer(value: list[Any], path: Steps) -> list[Any]:
        item = deepcopy(random.choice(value))
        inner: Any = item if isinstance(item, dict) else [item]
        if not inner:
            return [*value, item]
        key = "name" if isinstance(item, dict) and "name" in item else random.choice([*_keys(inner)])
        inner[key] = _other(inner[key], (*path, 0), random) if not isinstance(inner[key], dict | list) else inner[key]
        return [*value, item if isinstance(item, dict) else inner[0]]

    return _set_one(draft, random, [path for path in lists if value_of(draft.manifest, path)[0]], longer)


def _keys(value: Any) -> list[Any]:
    return list(value) if isinstance(value, dict) else list(range(len(value)))


def _set_one(draft: Draft, random: Random, places: list[Steps], new: Callable[[Any, Steps], Any]) -> bool:
    if not places:
        return False
    path = random.choice(places)
    draft.put(path, new(value_of(draft.manifest, path), path))
    return True


_EDITS: Mapping[Callable[[Draft, Random], bool], int] = {
    _removal: 10,
    _removal_inside: 14,
    _removed_items: 8,
    _return: 14,
    _whole_list: 10,
    _default: 8,
    _other_scalar: 10,
    _null: 4,
    _emptied: 4,
    _reordered: 4,
    _respelt: 5,
    _added_entry: 5,
    _added_item: 5,
}


def edited(draft: Draft, random: Random) -> dict[str, Any]:
    """Return the manifest after one to three edits; never quite as it was."""
    before = deepcopy(draft.manifest)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        _one_edit(draft, random)
    while draft.manifest == before:
        _one_edit(draft, random)
    return draft.manifest


def equally_edited(draft: Draft, random: Random) -> dict[str, Any]:
    """Return the manifest after edits that may well come to the same object: defaults, order, other spellings."""
    for _ in range(random.choice((1, 2, 3))):
        random.choice((_default, _default, _respelt, _reordered, _removed_default))(draft, random)
    return draft.manifest


def _removed_default(draft: Draft, random: Random) -> bool:
    """Remove something small, which may be what the server fills in."""
    places = draft.places(lambda value: not isinstance(value, dict | list))
    return _set_one(draft, random, places, lambda _value, _path: _MISSING)


def _one_edit(draft: Draft, random: Random) -> None:
    edits = random.choices([*_EDITS], weights=[*_EDITS.values()], k=8)
    next((edit for edit in edits if edit(draft, random)), None)
