"""Objects that others made, and manifests that may want the same of them: adopted if, and only if, no value changes.

Each object is made twice, in the same way, on two servers. On one of them the outcome is tried out without Argosy: what
kubectl's commands own becomes a manager's own by a change of the managed fields, and the manifest is applied twice with
force. Where that changes no value, Argosy must adopt the object on the other server; otherwise it must not touch it.
"""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from http import HTTPStatus
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.clusters import Member

from .changes import Draft, edited, equally_edited
from .comparison import compared, version
from .fleets import EditedFleet, apply_by_kubectl, lives_of, prepare
from .objects import Manifest, named, whole_objects

MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
_KUBECTL = (
    *("kubectl", "kubectl-client-side-apply", "kubectl-create", "kubectl-edit", "kubectl-patch", "kubectl-label"),
    *("kubectl-annotate", "kubectl-set", "kubectl-replace", "before-first-apply"),
)
_NOTE = "kubectl.kubernetes.io/last-applied-configuration"
_TRIAL = "trial"


class Way(NamedTuple):
    """A way in which an object comes to be: applied by kubectl or created by a manager, then perhaps patched."""

    applied: tuple[str, ...] | None = None
    created: str = ""
    patched: str = ""


WAYS: Mapping[str, Way] = {
    "kubectl create": Way(created="kubectl-create"),
    "kubectl apply": Way(applied=()),
    "kubectl apply --server-side": Way(applied=("--server-side",)),
    "kubectl create, kubectl edit": Way(created="kubectl-create", patched="kubectl-edit"),
    "kubectl create, a controller": Way(created="kubectl-create", patched="some-controller"),
    "kubectl apply, a controller": Way(applied=(), patched="some-controller"),
    "a controller": Way(created="some-controller"),
    "a controller, kubectl patch": Way(created="some-controller", patched="kubectl-patch"),
}
"""The ways in which the objects are made, by the words for them."""


class Misfit(NamedTuple):
    """One object that was adopted, or left alone, against what its values say."""

    name: str
    way: str
    what: str
    made: Any
    wanted: Any


class AdoptionOutcome(NamedTuple):
    """The outcome of a run: the pairs, those adopted, and what was wrong."""

    pairs: int
    adopted: int
    misfits: tuple[Misfit, ...]


class _Made(NamedTuple):
    way: str
    manifest: Manifest
    patch: Any


class _Pair(NamedTuple):
    way: str
    wanted: Manifest


class Adoptions:
    """A fleet of one member that finds everything there already, and the server on which that is tried out."""

    def __init__(self, ours: Member, trial: Member, folder: Path, *, seed: int, pairs: int) -> None:
        self.ours, self.trial, self.random = ours, trial, Random(seed)
        self.fleet = EditedFleet(ours, folder)
        wholes = whole_objects()
        named_objects = (named(wholes[number % len(wholes)], number) for number in range(pairs))
        self.whole = {each["metadata"]["name"]: each for each in named_objects}

    def run(self) -> AdoptionOutcome:
        """Make the objects, deliver the manifests, and compare."""
        for member in (self.ours, self.trial):
            prepare(member)
        pairs = self._rendered(self._pairs(self._made()))
        manifests = {name: pair.wanted for name, pair in pairs.items()}
        before = lives_of(self.ours, manifests)
        foretold, said = self._words("--dry-run", "server"), self._words()
        first = lives_of(self.ours, manifests)
        again = self._words()
        second = lives_of(self.ours, manifests)
        misfits = []
        for name, pair in pairs.items():
            words = (foretold.get(name, "unchanged"), said.get(name, "unchanged"), again.get(name, "unchanged"))
            what = _untruth((before[name], first[name], second[name]), words, pair, is_equal=self._is_equal(pair))
            misfits += [Misfit(name, pair.way, what, before[name], pair.wanted)] if what else []
        adopted = sum(1 for name in pairs if said.get(name) == "adopted")
        return AdoptionOutcome(len(pairs), adopted, tuple(misfits))

    def _words(self, *options: str) -> dict[str, str]:
        run = self.fleet.reached("apply", "-o", "json", *options)
        assert run.returncode in {0, 1}, run.stderr + run.stdout
        return self.fleet.words_of(run.stdout)

    def _made(self) -> dict[str, _Made]:
        """Make each object on both servers in a way that is drawn for it; those that both have count."""
        made: dict[str, _Made] = {}
        for name, whole in self.whole.items():
            manifest = edited(Draft(whole, whole, {}), self.random)
            is_plain = _has_no_null(manifest) and self._is_accepted(manifest)
            patch = _patch(whole, self.random)
            made[name] = _Made(self.random.choice(list(WAYS)), manifest if is_plain else whole, patch)
        for member in (self.ours, self.trial):
            for words, way in WAYS.items():
                _make(member, way, [each for each in made.values() if each.way == words])
        manifests = {name: each.manifest for name, each in made.items()}
        there = [lives_of(member, manifests) for member in (self.ours, self.trial)]
        return {name: each for name, each in made.items() if all(lives[name] for lives in there)}

    def _pairs(self, made: Mapping[str, _Made]) -> dict[str, _Pair]:
        lives = lives_of(self.trial, {name: each.manifest for name, each in made.items()})
        return {name: _Pair(each.way, self._wanted(name, each.manifest, lives[name])) for name, each in made.items()}

    def _wanted(self, name: str, made: Manifest, live: Any) -> Manifest:
        choice = self.random.randrange(10)
        for _ in range(8):
            draft = Draft(made, self.whole[name], live)
            wanted = deepcopy(made)
            if choice >= 4:
                wanted = equally_edited(draft, self.random) if choice < 7 else edited(draft, self.random)
            if _has_no_null(wanted) and self._is_accepted(wanted):
                return wanted
        return deepcopy(made)

    def _is_accepted(self, manifest: Manifest) -> bool:
        return bool(self.trial.dry_apply(manifest)[0] < HTTPStatus.MULTIPLE_CHOICES)

    def _rendered(self, pairs: Mapping[str, _Pair]) -> dict[str, _Pair]:
        """Render the manifests, and return the pairs in the tree; the source's checks leave some out."""
        self.fleet.commit({name: pair.wanted for name, pair in pairs.items()})
        run = self.fleet.argosy("render", "--commit", "--bootstrap")
        assert run.returncode in {0, 1}, run.stderr  # 1: some were left out
        files = {Path(path).stem for path in self.fleet.repository.files(under=f"clusters/{self.ours.name}")}
        return {name: pair for name, pair in pairs.items() if any(name in file for file in files)}

    def _is_equal(self, pair: _Pair) -> bool:
        """Return whether taking over what kubectl owns and applying the manifest changes no value, tried out."""
        path = f"{self.trial.path_of(pair.wanted)}/{pair.wanted['metadata']['name']}"
        before = self.trial.read(path)
        if pair.wanted["kind"] != "Namespace":
            steps = list(_taken_over(before))
            status, answer = self.trial.request("PATCH", path, steps, content_type=JSON_PATCH)
            assert status == HTTPStatus.OK, answer
        for _ in range(2):
            query = f"{path}?fieldManager={_TRIAL}&force=true"
            status, answer = self.trial.request("PATCH", query, pair.wanted, content_type=APPLY_PATCH)
            if status != HTTPStatus.OK:
                return False
        after = self.trial.read(path)
        return bool(_values(before, pair.wanted) == _values(after, pair.wanted))


def _untruth(lives: tuple[Any, Any, Any], words: tuple[str, str, str], pair: _Pair, *, is_equal: bool) -> str:
    """Return what is not true of an object; it is seen before a pass, after it and after the next.

    The words are those of a dry run, and of both passes.
    """
    foretold, said, again = words
    if (said == "adopted") is not is_equal:
        return f"{said}, and {'no value' if is_equal else 'a value'} would change"
    if foretold != said:
        return f"{said}, and a dry run said {foretold}"
    if said != "adopted":
        return "it was touched" if version(lives[0]) != version(lives[2]) else ""
    before, first, second = (_values(live, pair.wanted) for live in lives)
    if before != first or first != second:
        return "adopted, and a value changed"
    # A server writes an EndpointSlice anew whenever a field is applied that it drops.
    is_written = version(lives[1]) != version(lives[2])
    return "" if again == ("configured" if is_written else "unchanged") else f"adopted, and the next pass said {again}"


def _values(live: Any, manifest: Manifest) -> Any:
    values = deepcopy(compared(live, manifest))
    metadata = values["metadata"]
    notes = {key: value for key, value in metadata.pop("annotations", {}).items() if key != _NOTE}
    return {**values, "metadata": {**metadata, **({"annotations": notes} if notes else {})}}


def _taken_over(live: Any) -> Iterator[dict[str, Any]]:
    """Yield the steps by which kubectl's fields become those of the trial's manager."""
    entries = live["metadata"].get("managedFields") or []
    fields: dict[str, Any] = {}
    kept = []
    for entry in entries:
        if entry["manager"] in _KUBECTL and not entry.get("subresource"):
            fields = _joined(fields, entry["fieldsV1"])
        else:
            kept.append(entry)
    mine = {"manager": _TRIAL, "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": fields}
    taken = [{**mine, "apiVersion": live["apiVersion"]}] if fields else []
    yield {"op": "replace", "path": "/metadata/managedFields", "value": [*kept, *taken] or [{}]}


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {**one, **{key: _joined(one.get(key, {}), inner) for key, inner in other.items()}}


def _has_no_null(manifest: Manifest) -> bool:
    return ": null" not in json.dumps(manifest)


def _make(member: Member, way: Way, objects: list[_Made]) -> None:
    if way.applied is not None:
        apply_by_kubectl(member, (each.manifest for each in objects), *way.applied)
    for each in objects:
        path = member.path_of(each.manifest)
        if way.created:
            member.request("POST", f"{path}?fieldManager={way.created}", each.manifest)
        if way.patched:
            path = f"{path}/{each.manifest['metadata']['name']}?fieldManager={way.patched}"
            member.request("PATCH", path, each.patch, content_type=MERGE_PATCH)


def _patch(manifest: Manifest, random: Random) -> Any:
    """Return what somebody adds to an object or changes of it."""
    choices: list[Any] = [{"metadata": {place: {"by-somebody": "1"}}} for place in ("annotations", "labels")]
    if manifest["kind"] == "ConfigMap":
        choices += [{"data": {"by-somebody": "1"}}, {"data": {"level": "debug"}}]
    return random.choice(choices)
