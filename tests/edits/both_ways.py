"""The same edits delivered twice: to one API server by ``kubectl apply --server-side``, to another by whole passes.

Nobody else writes to either server. After every batch the two must hold equal objects, and what Argosy says of each
object must be true.
"""

import http.client
import json
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.clusters import Member

from .changes import Draft, edited
from .comparison import Side, untruth, version
from .fleets import EditedFleet, apply_by_kubectl, lives_of, prepare, stated_for_kubectl
from .objects import Manifest, named, whole_objects

_REFUSED_OF_TEN = 1
_FORCED = ("--server-side", "--force-conflicts")


class Difference(NamedTuple):
    """One edit that did not come to the same, with all that is needed to see why."""

    name: str
    what: str
    before: Manifest
    after: Manifest
    theirs: Any
    ours: Any
    why: str = ""


class Outcome(NamedTuple):
    """The outcome of a batch of edits, each delivered both ways."""

    pairs: int
    refused: int
    unchanged: int
    differences: tuple[Difference, ...]


class BothWays:
    """A fleet of one member and a server beside it that kubectl applies to."""

    def __init__(
        self,
        ours: Member,
        theirs: Member,
        folder: Path,
        *,
        seed: int,
        copies: int,
        only: Collection[str] = (),
    ) -> None:
        self.ours, self.theirs, self.seed, self.batches = ours, theirs, seed, 0
        self.fleet = EditedFleet(ours, folder)
        prepare(theirs)
        wholes = (named(each, number) for number, each in enumerate(whole_objects() * copies))
        self.whole = {name: each for each in wholes if (name := each["metadata"]["name"]) in only or not only}
        self.current: dict[str, Manifest] = {}
        self.reasons: dict[str, str] = {}

    def first(self) -> Outcome:
        """Deliver every object for the first time, each with a few things left out."""
        self.current = {
            name: edited(Draft(whole, whole, {}), self._random_of(name)) for name, whole in self.whole.items()
        }
        self.current |= self._accepted_beginnings()
        return self._delivered({}, self.current, "--bootstrap")

    def _random_of(self, name: str) -> Random:
        """Return the randomness of one edit: an object's edits are the same whatever others are edited beside it."""
        return Random(f"{self.seed} {name} {self.batches}")

    def _accepted_beginnings(self) -> dict[str, Manifest]:
        with ThreadPoolExecutor(4) as pool:
            accepted = pool.map(lambda name: self._is_accepted(self.current[name]), self.current)
            refused = [name for name, is_accepted in zip(self.current, accepted, strict=True) if not is_accepted]
        # A new template whose text is null where it must not be is left out with a warning, not refused.
        refused += [name for name, manifest in self.current.items() if ": null" in json.dumps(manifest)]
        return {name: self.whole[name] for name in refused}

    def _is_accepted(self, manifest: Manifest) -> bool:
        try:
            return bool(self.theirs.dry_apply(manifest)[0] < HTTPStatus.MULTIPLE_CHOICES)
        except http.client.HTTPException:
            # The server hung up: it fell over what it was sent, which says nothing of whoever sent it.
            return False

    def batch(self) -> Outcome:
        """Edit every object, and deliver the edits both ways."""
        lives = lives_of(self.theirs, self.current)
        self.batches += 1

        def drawn(name: str) -> Manifest:
            random = self._random_of(name)
            tries = 1 if random.randrange(10) < _REFUSED_OF_TEN else 6
            for _ in range(tries):
                made = edited(Draft(self.current[name], self.whole[name], lives[name] or {}), random)
                if self._is_accepted(made):
                    break
            return made

        with ThreadPoolExecutor(4) as pool:
            after = dict(zip(self.current, pool.map(drawn, self.current), strict=True))
        return self._delivered(self.current, after)

    def _is_for_nobody(self, manifest: Manifest) -> bool:
        """Return whether no server creates an object of this manifest, though one that has it takes it as an edit.

        Server-side apply leaves out a piece that an edit made empty, such as a handler of nothing. The source's checks
        refuse that, for it could not be delivered to a cluster that joins.
        """
        name = manifest["metadata"]["name"]
        other = {**manifest, "metadata": {**manifest["metadata"], "name": f"{name}-anew"}}
        is_named_by_content = manifest["kind"] == "CustomResourceDefinition"
        return not is_named_by_content and self.theirs.dry_apply(other)[0] == HTTPStatus.UNPROCESSABLE_ENTITY

    def unrest(self) -> list[str]:
        """Take back what was refused, and return what one more pass does, which has nothing to do.

        What a server refuses when it is applied once more, as kubectl shows, was refused as well: it took it only while
        it was new.
        """
        taken = apply_by_kubectl(self.theirs, map(stated_for_kubectl, self.current.values()), *_FORCED)
        self.current = {name: each if name in taken else self.whole[name] for name, each in self.current.items()}
        self._pass(self.current)
        before = lives_of(self.ours, self.current)
        said = self._pass({})
        after = lives_of(self.ours, self.current)
        shown = self.fleet.reached("diff", "--live").stdout
        # Below stand the values that servers write otherwise than they are stated, such as a text that is empty.
        is_equal = shown.partition("\n")[0] == f"{self.ours.name}: equal"
        written = [f"{name} was written" for name in after if version(before[name]) != version(after[name])]
        words = [f"{name} is {said[name]}" for name in after if said.get(name, "unchanged") != "unchanged"]
        return [*written, *words, *([] if is_equal else [shown])]

    def _delivered(self, before: Mapping[str, Manifest], after: Mapping[str, Manifest], *options: str) -> Outcome:
        theirs_before, ours_before = lives_of(self.theirs, before), lives_of(self.ours, before)
        accepted = apply_by_kubectl(self.theirs, map(stated_for_kubectl, after.values()), *_FORCED)
        said = self._pass(after, *options)
        theirs_after, ours_after = lives_of(self.theirs, after), lives_of(self.ours, after)
        sides = (theirs_before, theirs_after, ours_before, ours_after)
        found = _differences(before, after, sides, said, accepted)
        if found:
            # A pass sends again what was not answered, and what it was before an edit that was refused. A server may
            # make something else of a manifest the second time, such as an empty piece that it left out at first, or
            # take out what it added to a new object. So kubectl sends these a second time as well.
            again = [(after if each.name in accepted else before).get(each.name) for each in found]
            apply_by_kubectl(self.theirs, [stated_for_kubectl(each) for each in again if each], *_FORCED)
            sides = (theirs_before, lives_of(self.theirs, after), ours_before, ours_after)
            found = _differences(before, after, sides, said, accepted)
            found = [
                each._replace(why=self.reasons.get(each.name, ""))
                for each in found
                if not (said.get(each.name, "").startswith("refused") and self._is_for_nobody(each.after))
            ]
        stricter = {name for name in accepted if said.get(name, "").startswith("refused")}
        self._carry_on(before, after, accepted, {each.name for each in found} | stricter)
        unchanged = sum(1 for name in after if name not in said)
        return Outcome(len(after), len(after) - len(accepted), unchanged, tuple(found))

    def _carry_on(
        self, before: Mapping[str, Manifest], after: Mapping[str, Manifest], accepted: set[str], given_up: set[str]
    ) -> None:
        """Go on from what was accepted; an object that differs is given up, for no later edit of it would tell."""
        reached = {**before, **{name: after[name] for name in accepted}}
        self.current = {name: manifest for name, manifest in reached.items() if name not in given_up}

    def _pass(self, after: Mapping[str, Manifest], *options: str) -> dict[str, str]:
        """Commit and run one whole pass; return the word about each object, ``refused`` where the source was."""
        if after:
            self.fleet.commit(after)
        refused: dict[str, str] = {}
        for _ in range(3):
            run = self.fleet.reached("reconcile", "-o", "json", "--allow-removal", "*=1000", *options)
            if run.returncode != 3:
                break
            found = {name: said for name, said in _refused_files(run.stderr).items() if name in after}
            assert found, run.stderr + run.stdout
            refused |= found
            self.fleet.commit({name: self.current.get(name, self.whole[name]) for name in found})
        assert run.returncode in {0, 1}, run.stderr + run.stdout
        self.reasons = self.fleet.reasons_of(run.stdout)
        return self.fleet.words_of(run.stdout) | refused


def _differences(
    before: Mapping[str, Manifest],
    after: Mapping[str, Manifest],
    sides: tuple[Mapping[str, Any], ...],
    said: Mapping[str, str],
    accepted: set[str],
) -> list[Difference]:
    """Return what is not true; ``sides`` are the live objects of kubectl and of Argosy, each before and after."""
    theirs_before, theirs_after, ours_before, ours_after = sides
    found = []
    for name, manifest in after.items():
        theirs = Side(theirs_before.get(name), theirs_after[name], manifest)
        ours = Side(ours_before.get(name), ours_after[name], manifest)
        what = untruth(said.get(name, "unchanged"), theirs, ours, is_accepted=name in accepted)
        if what:
            found.append(Difference(name, what, before.get(name, {}), manifest, theirs.after, ours.after))
    return found


def _refused_files(text: str) -> dict[str, str]:
    """Return the objects whose files the source's checks refuse, each with ``refused: `` and the reason."""
    lines = (line.removeprefix("objects/").partition(".yaml:1: ") for line in text.splitlines())
    return {name: f"refused: {why}" for name, is_problem, why in lines if is_problem}
