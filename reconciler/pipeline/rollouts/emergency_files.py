"""Emergencies that nobody has confirmed, by value at the root of the rendered branch (``emergencies.yaml``)."""

from collections.abc import Iterable

from msgspec import Struct

from reconciler.ledger.branch_file import FileFault, converted_to_struct, object_of_any_size, plain_data
from reconciler.pipeline.previous import RenderedTree, parse_file_at_root
from render.documents import emit
from render.model import ARGOSY_API_VERSION
from render.rollouts.emergencies import Emergency
from render.timing import instant_text, parse_instant

EMERGENCIES_FILE = "emergencies.yaml"
KIND = "UnconfirmedEmergencies"


class _RecordedEmergency(Struct, frozen=True, kw_only=True, omit_defaults=True):
    rollout: str
    group: str = ""
    change: str
    name: str
    reason: str
    by: str = ""
    signer: str = ""
    people: tuple[str, ...] = ()
    since: str


class _EmergenciesFile(Struct, frozen=True, kw_only=True):
    emergencies: tuple[_RecordedEmergency, ...] = ()


def emergencies_file(emergencies: Iterable[Emergency]) -> bytes:
    """Return the file that records emergencies; nothing where there are none."""
    found = tuple(
        _RecordedEmergency(
            rollout=each.rollout,
            group=each.group,
            change=each.change,
            name=each.name,
            reason=each.reason,
            by=each.by,
            signer=each.signer,
            people=each.people,
            since=instant_text(each.since),
        )
        for each in emergencies
    )
    if not found:
        return b""
    return emit({"apiVersion": ARGOSY_API_VERSION, "kind": KIND, **plain_data(_EmergenciesFile(emergencies=found))})


def parse_emergencies(content: bytes) -> tuple[Emergency, ...]:
    """Read emergencies back from their file; FileFault where it is not as it was written."""
    found = converted_to_struct(object_of_any_size(content), _EmergenciesFile)
    return tuple(_emergency_of_record(each) for each in found.emergencies)


def _emergency_of_record(recorded: _RecordedEmergency) -> Emergency:
    since = parse_instant(recorded.since)
    if since is None:
        raise FileFault(f"{recorded.since!r} is no time")
    return Emergency(
        rollout=recorded.rollout,
        group=recorded.group,
        change=recorded.change,
        name=recorded.name,
        reason=recorded.reason,
        by=recorded.by,
        signer=recorded.signer,
        people=recorded.people,
        since=since,
    )


def emergencies_of_tree(tree: RenderedTree) -> tuple[Emergency, ...]:
    """Return the emergencies that a rendered tree records; GitError where the file is not as it was written."""
    entry = tree.trees.entries(tree.root).get(EMERGENCIES_FILE) if tree.root else None
    if entry is None:
        return ()
    return parse_file_at_root(EMERGENCIES_FILE, tree.contents([entry.id])[entry.id], parse_emergencies)
