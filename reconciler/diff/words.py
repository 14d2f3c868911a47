"""The words that every form of a difference shares: its one-line summary, and lists of clusters."""

from collections.abc import Collection
from typing import Any

from overrides.changes import ChangedField
from overrides.jsontext import json_text
from overrides.secrecy import HIDDEN
from reconciler.console.cluster_lists import summarized_cluster_names
from reconciler.ledger.holds import RELEASED, ClusterHold
from reconciler.pipeline.pending import LAZY, SUSPENDED
from reconciler.pipeline.unselected import unselected_words
from render.fleet_settings import SettingChange
from render.model import ObjectRef
from render.words import counted_noun, first_few

from .difference import (
    PRESERVES,
    Allowance,
    ChangeAction,
    ChangedInput,
    DeliveryChange,
    Difference,
    PendingChange,
    Takeover,
    UnrenderedFile,
)

NO_POLICY = "no policy"
WAITS = " - waits until somebody accepts it, with argosy reconcile --accept-settings"
PRESERVED = ": it stays there, and is no longer ours (preserveResourcesOnDeletion)"
_LONGEST_VALUE = 100
_LED_IN = 20


def summary_of_difference(difference: Difference) -> str:
    """Return the difference in one line; every form begins with it, so that all tell the same numbers."""
    unselected = unselected_words(len(difference.unselected), "new template") if difference.unselected else ""
    if difference.is_empty:
        others = [unselected, _words_of_unrendered_files(difference)]
        named = ", ".join(each for each in others if each)
        return f"no difference in any cluster, {named}" if named else "no difference"
    parts = [
        _counted_unless_zero(len(difference.settings), "setting changes", "settings change"),
        _counted_unless_zero(len(difference.joined), "cluster joins", "clusters join"),
        _counted_unless_zero(len(difference.renamed), "cluster is renamed", "clusters are renamed"),
        _counted_unless_zero(len(difference.left), "cluster is disconnected", "clusters are disconnected"),
        _counted_unless_zero(len(difference.clusters), "cluster changes", "clusters change"),
        *(
            _counted_unless_zero(difference.count(action), f"object {action}", f"objects {action}")
            for action in ChangeAction
        ),
        _counted_unless_zero(len(difference.takeovers), "object changes hands", "objects change hands"),
        _counted_unless_zero(
            len({each.ref for each in difference.delivered}),
            "object is delivered by another rule",
            "objects are delivered by other rules",
        ),
        _counted_unless_zero(
            len(difference.taken), "object taken over by another folder", "objects taken over by other folders"
        ),
        _counted_unless_zero(len(difference.rollouts), "rollout", "rollouts"),
        _counted_unless_zero(len({each.ref for each in difference.pending}), "object pending", "objects pending"),
        _counted_unless_zero(
            len({each.ref for each in difference.ended}), "object no longer pending", "objects no longer pending"
        ),
        unselected,
        _movement_text(difference),
        _words_of_replicas_placed_anew(difference.replicas_placed_anew),
        _counted_unless_zero(len(difference.unplaced), "object ends in no cluster", "objects end in no cluster"),
        _counted_unless_zero(len(difference.problems), "new problem", "new problems"),
        _counted_unless_zero(len(difference.solved), "problem solved", "problems solved"),
    ]
    return ", ".join(part for part in parts if part)


def _words_of_unrendered_files(difference: Difference) -> str:
    return _counted_unless_zero(len(difference.unrendered), "file of the source differs", "files of the source differ")


def unrendered_file_words(each: UnrenderedFile) -> str:
    """Return a file of the source that is another one, and the policies in it that are.

    >>> changed = ChangedInput(name="PropagationPolicy shop/web", path="web.yaml", action=ChangeAction.CHANGED)
    >>> unrendered_file_words(UnrenderedFile(path="web.yaml", action=ChangeAction.CHANGED, policies=(changed,)))
    'web.yaml: PropagationPolicy shop/web changed'
    """
    policies = first_few([f"{policy.name} {policy.action}" for policy in each.policies])
    return f"{each.path}: {policies}" if policies else each.path


def setting_words(change: SettingChange) -> str:
    """Return a setting that is another one, and whether somebody has to accept it."""
    return f"{change}{WAITS if change.waits else ''}"


def allowance_words(allowance: Allowance) -> str:
    """Return what a change allows itself, and where it says so."""
    return f"{allowance.trailer} (commit {allowance.commit[:12]}, of this change itself)"


TEMPLATE = "its template"
_INTERPRETERS = ("ResourceInterpreterCustomization ", "ResourceInterpreterWebhookConfiguration ")
_OVERRIDES = ("OverridePolicy ", "ClusterOverridePolicy ")
_PLACING = ("PropagationPolicy ", "ClusterPropagationPolicy ")


def causes_of(difference: Difference, ref: ObjectRef, *, is_number: bool = False) -> tuple[ChangedInput, ...]:
    """Return the causes by which an object is another: policies divide its numbers, and overrides set its fields."""
    causes = difference.causes.get(ref, ())
    return tuple(each for each in causes if not each.name.startswith(_OVERRIDES if is_number else _PLACING))


def cause_words(difference: Difference, ref: ObjectRef, *, is_number: bool = False) -> str:
    """Return what else than its own template made an object another; empty where nothing did.

    Of its divided numbers, only what interprets its kind is told: the rest is what policies are for.
    """
    causes = [each for each in causes_of(difference, ref, is_number=is_number) if each.name != TEMPLATE]
    if is_number:
        causes = [each for each in causes if each.name.startswith(_INTERPRETERS)]
    named = [f"{each.name} ({', '.join(filter(None, [each.path, each.action]))})" for each in causes]
    return f"by {first_few(named)}" if named else ""


def note_of_origin(difference: Difference, ref: ObjectRef) -> str:
    """Return the file that an object was built from, as messages add it; "" for one that stands in a file."""
    origin = difference.origins.get(ref, "")
    return f" (from {origin})" if origin else ""


def _counted_unless_zero(number: int, one: str, many: str) -> str:
    return counted_noun(number, one, many) if number else ""


def _movement_text(difference: Difference) -> str:
    if not difference.moved_replicas:
        return ""
    replicas = counted_noun(difference.replicas, "replica")
    return f"{difference.moved_replicas} of {replicas} {'moves' if difference.moved_replicas == 1 else 'move'}"


def _words_of_replicas_placed_anew(count: int) -> str:
    return f"{counted_noun(count, 'replica')} {'is' if count == 1 else 'are'} placed anew" if count else ""


def sides_of_difference(difference: Difference) -> str:
    """Return both sides as ``bda8786b16cb..work tree``."""
    return "..".join(commit[:12] or "work tree" for commit in (difference.base, difference.head))


def pending_words(change: PendingChange, every: Collection[str], count: int = 1) -> str:
    """Return what is pending of so many objects, as the end of a sentence that begins with them."""
    if change.message:
        return change.message
    they, their, them = ("it", "its", "it") if count == 1 else ("they", "their", "them")
    states = {
        None: "which has what it would get" if len(change.clusters) == 1 else "which have what they would get",
        ChangeAction.ADDED: f"which would get {them}",
        ChangeAction.CHANGED: f"where {they} would change" if change.fields else f"where {their} replicas would change",
        ChangeAction.REMOVED: f"which would lose {them}",
    }
    return f"not dispatched to {summarized_cluster_names(change.clusters, every)}, {states[change.action]}"


def words_of_ended_pending(change: PendingChange, every: Collection[str]) -> str:
    """Return what is not pending any more of an object, as the end of a sentence that begins with it."""
    if change.reason == SUSPENDED:
        return f"no longer held back from {summarized_cluster_names(change.clusters, every)}"
    return "no longer waiting" if change.reason == LAZY else "scheduled again"


def takeover_words(takeover: Takeover) -> str:
    """Return the policy that claimed a template and the one that claims it now."""
    return f"{takeover.before or NO_POLICY} -> {takeover.after or NO_POLICY}"


def delivery_words(change: DeliveryChange) -> str:
    """Return the rule by which an object is delivered, what it means, and where it is not applied now."""
    if change.takes_over:
        meaning = "what others made in the clusters is taken over, but for other fleets"
    elif change.rule != PRESERVES:
        meaning = "what others made in the clusters stays theirs"
    elif change.after == "true":
        meaning = "what is removed stays in the clusters"
    else:
        meaning = "what is removed is deleted in the clusters"
    failed = f"; recorded as not applied in {first_few(tuple(change.failures))}" if change.failures else ""
    return f"{change.rule} {change.before} -> {change.after}: {meaning}{failed}"


def field_words(change: ChangedField) -> str:
    """Return what happens to a field, on one line."""
    before, after = value_texts(change)
    match change.operator:
        case "add":
            return f"{change.path}: added {after}"
        case "remove":
            return f"{change.path}: removed, was {before}"
    return f"{change.path}: {before} -> {after}"


def value_texts(change: ChangedField) -> tuple[str, str]:
    """Return a field's value before and after, each on one line: long ones from shortly before they differ.

    >>> before, after = value_texts(ChangedField(path="a", operator="replace", before="x" * 200, after="x" * 198 + "y"))
    >>> before, after
    ('...xxxxxxxxxxxxxxxxxxxxxx"', '...xxxxxxxxxxxxxxxxxxxxy"')
    """
    before, after = _json_safe_on_terminal(change.before), _json_safe_on_terminal(change.after)
    if change.operator != "replace" or max(len(before), len(after)) <= _LONGEST_VALUE:
        return _window_in_text(before, 0), _window_in_text(after, 0)
    pairs = enumerate(zip(before, after, strict=False))
    first_difference = next((index for index, (old, new) in pairs if old != new), min(len(before), len(after)))
    start = max(0, first_difference - _LED_IN)
    return _window_in_text(before, start), _window_in_text(after, start)


def _json_safe_on_terminal(value: Any) -> str:
    """Return a value as JSON that does nothing to a terminal."""
    text = value if value == HIDDEN else json_text(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def _window_in_text(text: str, start: int) -> str:
    if len(text) <= _LONGEST_VALUE and not start:
        return text
    end = start + _LONGEST_VALUE
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


def hold_words(cluster: str, hold: ClusterHold, *, is_ended: bool) -> tuple[str, str]:
    """Return what is said of a cluster that is held, and what becomes of the hold.

    ``is_ended``: a change ends whatever newer sources end.
    """
    if not is_ended:
        ending = "nothing here ends the hold"
    elif hold.outlasts_sources:
        when = "somebody releases it" if hold.until == RELEASED else hold.until
        ending = f"this does not end the hold: {cluster} gets nothing newer than {hold.commit[:12]} until {when}"
    else:
        ending = f"this ends the hold: {cluster} gets all that was rendered since {hold.commit[:12]}"
    return f"{cluster} is {hold}", ending
