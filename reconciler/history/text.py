"""The history of something as text for people: an entry for each rendered commit, the newest first."""

from collections.abc import Iterable, Iterator

from reconciler.console.tables import text_table
from reconciler.diff.words import field_words
from render.timing import epoch_text
from render.words import counted_noun, first_few

from .bisecting import Turn
from .blame import Blame, ChangeOrigin
from .events import ObjectEvent
from .steps import RenderedStep
from .subjects import History
from .timeline import Timeline, TimelineEntry

_SHORT = 12
_MOST_FIELDS = 5
_NO_TIME = "later, at a time that it does not tell:"


def history_text(history: History, *, is_full: bool) -> Iterator[str]:
    """Yield a history; ``is_full``: every field that changed, and every cluster."""
    if not history.steps:
        yield "no rendered commit that is here changed anything of it\n"
        return
    for number, each in enumerate(history.steps):
        yield "\n" * bool(number) + _line_of_step(each.step)
        for event in each.events:
            yield from (f"  {line}\n" for line in _lines_of_event(event, history, is_full=is_full))
        yield from (f"  {line}\n" for line in _lines_of_unlisted_files(each.step))
    if history.has_more:
        yield "\nthere is more: --limit 0 shows all of it\n"
    elif history.is_cut_off:
        yield "\nthis clone has no earlier commits: git fetch --unshallow brings them\n"


def time_of_step(step: RenderedStep) -> str:
    """Return when a rendered commit was made as far as it tells: the time of its pass, or else of its source.

    A pass over the same source as before may have come at any time after that; then nothing is told ("").
    """
    return step.pass_time or (epoch_text(step.commit.time) if step.is_of_new_source else "")


def _line_of_step(step: RenderedStep) -> str:
    name = step.author.partition(" <")[0]
    subject = f": {step.subject}" if step.subject else ""
    return f"{time_of_step(step) or _NO_TIME} {step.id[:_SHORT]} of source {step.source[:_SHORT]} by {name}{subject}\n"


def _lines_of_unlisted_files(step: RenderedStep) -> Iterator[str]:
    """Yield how many files a commit changed in clusters, where these are too many to be looked at one by one."""
    if step.unlisted:
        yield f"{counted_noun(step.unlisted, 'file')} in clusters changed, too many to be read here: name an object,"
        yield "a cluster or a namespace, whose history tells of fields"


def _lines_of_event(event: ObjectEvent, history: History, *, is_full: bool) -> Iterator[str]:
    reasons = "; ".join(map(str, event.reasons))
    yield reasons if history.subject.ref is not None else f"{event.ref}: {reasons}"
    indent = "" if history.subject.ref is not None else "  "
    for words in words_of_event(event, is_full=is_full):
        yield f"{indent}{words}"


def words_of_event(event: ObjectEvent, *, is_full: bool) -> Iterator[str]:
    """Yield what an event changed: clusters, replicas and fields."""
    if moved := _words_of_replicas(event, is_full=is_full):
        yield f"replicas: {moved}"
    numbered = {each.cluster for each in event.replicas}
    gained = [name for name in event.gained if name not in numbered]
    lost = [name for name in event.lost if name not in numbered]
    if gained:
        yield f"{'is in' if event.step.is_cut_off else 'comes to'} {_names(gained, is_full=is_full)}"
    if lost:
        yield f"leaves {_names(lost, is_full=is_full)}"
    for change in event.changes:
        where = _names(change.clusters, is_full=is_full)
        fields = [words for words in map(field_words, change.fields) if not _tells_of_replicas(words, event)]
        shown = fields if is_full else fields[:_MOST_FIELDS]
        yield from (f"{where}: {words}" for words in shown)
        if more := len(fields) - len(shown):
            yield f"{where}: and {more} more fields; -v shows them"


def _tells_of_replicas(words: str, event: ObjectEvent) -> bool:
    return bool(event.replicas) and words.startswith("spec.replicas: ")


def _words_of_replicas(event: ObjectEvent, *, is_full: bool) -> str:
    clusters: dict[tuple[int, int], list[str]] = {}
    for each in event.replicas:
        clusters.setdefault((each.before, each.after), []).append(each.cluster)
    return ", ".join(
        f"{_names(names, is_full=is_full)} {after if event.step.is_cut_off else f'{before} -> {after}'}"
        for (before, after), names in clusters.items()
    )


def _names(names: Iterable[str], *, is_full: bool) -> str:
    listed = list(names)
    return ", ".join(listed) if is_full else first_few(listed)


def timeline_text(timeline: Timeline, *, is_full: bool) -> Iterator[str]:
    """Yield a timeline: a line for each commit, and below it what it moved, with its reasons."""
    if not timeline.entries:
        yield "no rendered commit that is here changed anything of it\n"
        return
    for entry in timeline.entries:
        yield _line_of_step(entry.step)
        yield f"  {_words_of_entry(entry)}\n"
        if names := [str(event.ref) for event in entry.events]:
            yield f"  {_names(names, is_full=is_full)} in {_names(entry.clusters, is_full=is_full) or 'no cluster'}\n"
            yield f"  {', '.join(f'{cause} {number}' for cause, number in entry.causes.items())}\n"
        yield from (f"  {line}\n" for line in _lines_of_unlisted_files(entry.step))
    if timeline.following:
        yield f"\nthere is more: --rev {timeline.following[:_SHORT]} goes on, and --limit 0 shows all of it\n"
    elif timeline.is_cut_off:
        yield "\nthis clone has no earlier commits: git fetch --unshallow brings them\n"


def _words_of_entry(entry: TimelineEntry) -> str:
    """Return what a commit changed, in numbers."""
    before, after = entry.replicas_before_and_after
    parts = [counted_noun(len(entry.events), "object"), counted_noun(len(entry.clusters), "cluster")]
    parts += [f"{counted_noun(entry.arrivals, 'arrival')}"] if entry.arrivals else []
    parts += [f"{counted_noun(entry.departures, 'departure')}"] if entry.departures else []
    parts += [f"replicas {before} -> {after}"] if before != after else []
    parts += [f"{counted_noun(entry.moved_replicas, 'replica')} moved"] if entry.moved_replicas else []
    parts += [f"{counted_noun(entry.other_bytes, 'object')} edited"] if entry.other_bytes else []
    return ", ".join(parts)


def blame_text(blame: Blame, *, is_full: bool) -> Iterator[str]:
    """Yield where an object's replicas and fields come from, as two tables."""
    yield f"{blame.ref} at {blame.commit[:_SHORT]}, claimed by {blame.policy or 'no policy'}\n\n"
    places: dict[tuple[str, ...], list[str]] = {}
    for place in blame.places:
        replicas = "-" if place.replicas is None else str(place.replicas)
        places.setdefault((replicas, *_words_of_origin(place.origin), _reasons(place.origin)), []).append(place.cluster)
    rows = [(_names(names, is_full=is_full), *row) for row, names in places.items()]
    yield text_table(("CLUSTERS", "REPLICAS", "SINCE", "COMMIT", "SOURCE", "AUTHOR", "WHY"), rows)
    fields = [
        (path, _names(each.clusters, is_full=is_full), *_words_of_origin(each.origin)[:3], each.rule)
        for each in blame.fields
        for path in each.paths
    ]
    yield "\n"
    yield text_table(("FIELD", "CLUSTERS", "SINCE", "COMMIT", "SOURCE", "RULE"), sorted(fields))
    if blame.rule_error:
        yield f"\nwhich rule sets a field is not known: {blame.rule_error}\n"


def turn_text(turn: Turn, condition: str, *, is_full: bool) -> Iterator[str]:
    """Yield since when a condition is so, or is no longer so, with what that commit changed."""
    yield f"{turn.ref}: {condition}\n" if turn.holds else f"{turn.ref}: it is not so now that {condition}\n"
    if turn.step is None:
        more = "; this clone has no earlier ones: git fetch --unshallow" if turn.is_cut_off else ""
        yield f"that is so in every rendered commit that is here{more}\n"
        return
    yield f"since {_line_of_step(turn.step)}"
    if turn.event is not None:
        yield f"  {'; '.join(map(str, turn.event.reasons))}\n"
        yield from (f"  {words}\n" for words in words_of_event(turn.event, is_full=is_full))
    if turn.step.before is not None:
        yield f"it was otherwise in {turn.step.before.id[:_SHORT]}\n"


def _words_of_origin(origin: ChangeOrigin) -> tuple[str, str, str, str]:
    step = origin.step
    if step is None:
        return ("-", "the oldest here, or older", "-", "-")
    return time_of_step(step) or "later", step.id[:_SHORT], step.source[:_SHORT], step.author.partition(" <")[0]


def _reasons(origin: ChangeOrigin) -> str:
    return "; ".join(map(str, origin.reasons))
