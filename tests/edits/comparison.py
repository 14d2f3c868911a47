"""The same object on two servers: all that they must agree on, and the truth of the word that Argosy has for it."""

import json
import re
from typing import Any

from .objects import Manifest

_SERVERS_OWN = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink")
_COUNTER = "deprecated.daemonset.template.generation"
_PART_OF = "applyset.kubernetes.io/part-of"
# Each server allocates these by itself.
_ALLOCATED = ("clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort")
# The source's checks are stricter here, and name the field: a text that is null was hardly meant to become empty, and
# what a schema requires kubectl refuses as well, where its own checks are not switched off as they are here.
_STRICTER = re.compile(r"must be .*, not null|required, but missing")
_FAILED = ("failed", "conflict", "blocked")


class Side:
    """One object on one of the servers, before an edit and after it."""

    def __init__(self, before: Manifest | None, after: Manifest | None, manifest: Manifest) -> None:
        self.before, self.after = compared(before, manifest), compared(after, manifest)
        self.is_written = version(before) != version(after)

    @property
    def has_changed(self) -> bool:
        return bool(self.before != self.after)


def version(live: Manifest | None) -> str:
    return live["metadata"]["resourceVersion"] if live else ""


def compared(live: Manifest | None, manifest: Manifest) -> Any:
    """Return what two servers must agree on."""
    if live is None:
        return None
    text = json.dumps({key: value for key, value in live.items() if key not in {"status", "kind", "apiVersion"}})
    found: Manifest = json.loads(text.replace(live["metadata"]["uid"], "the uid"))
    metadata = {key: value for key, value in found["metadata"].items() if key not in _SERVERS_OWN}
    labels = {key: value for key, value in metadata.pop("labels", {}).items() if key != _PART_OF}
    metadata["annotations"] = {key: each for key, each in metadata.get("annotations", {}).items() if key != _COUNTER}
    found["metadata"] = {**metadata, **({"labels": labels} if labels else {})}
    return _unallocated(found, manifest)


def _unallocated(live: Any, manifest: Any) -> Any:
    if isinstance(live, dict):
        given = manifest if isinstance(manifest, dict) else {}
        return {
            key: "allocated" if key in _ALLOCATED and key not in given else _unallocated(value, given.get(key))
            for key, value in live.items()
        }
    if isinstance(live, list):
        items = manifest if isinstance(manifest, list) else []
        return [_unallocated(item, items[number] if number < len(items) else None) for number, item in enumerate(live)]
    return live


def untruth(said: str, theirs: Side, ours: Side, *, is_accepted: bool) -> str:
    """Return what is not true of an object after an edit, empty where all is."""
    if said.startswith("refused") and _STRICTER.search(said):
        return "it was written" if ours.is_written and not theirs.is_written else ""
    if theirs.after != ours.after:
        return f"{said}, and the objects differ"
    if (said.startswith("refused") or said in _FAILED) is is_accepted:
        return f"{said}, and kubectl was {'not ' if is_accepted else ''}refused"
    return _untrue_word(said, has_changed=theirs.has_changed or ours.has_changed, is_written=ours.is_written)


def _untrue_word(said: str, *, has_changed: bool, is_written: bool) -> str:
    if said == "unchanged":
        return "unchanged, and it changed" if has_changed else ""
    if said in {"configured", "created"}:
        return "" if is_written else f"{said}, and nothing was written"
    return "" if said in _FAILED or said.startswith("refused") else f"{said}?"
