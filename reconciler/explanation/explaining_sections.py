"""An explanation of an object as sections: what holds it, where it goes, what is changed on the way, what is kept."""

from collections.abc import Iterable, Iterator

from render.words import counted

from .explaining import Kept, ObjectExplanation, PolicyVerdict
from .explaining_decision import Shown, decision_sections
from .explaining_override_sections import overrides_section
from .sections import Section, section


def object_sections(found: ObjectExplanation, *, cluster: str = "", seats: bool = False) -> Iterator[Section]:
    """Yield everything about an object, or what concerns one cluster; ``seats``: divisions seat by seat."""
    where = f" ({found.path})" if found.path else ""
    yield Section(
        title=f"{found.ref}{where}",
        before=(f"{found.verdict[:1].upper()}{found.verdict[1:]}.", *_outcome(found, cluster)),
    )
    if found.policies:
        yield _policies(found.policies)
    if found.required_by:
        yield _required(found)
    if found.decision is not None:
        since = f"in rendered commit {found.decided_in[:12]}, source {found.decided_from[:12]}; kept since then"
        before = (f"Decided {since}.",) if found.decided_in else ()
        shown = Shown(cluster=cluster, seats=seats, before=before, facts=found.facts)
        yield from decision_sections(found.decision, found.rooms, shown)
    overrides = [each for each in found.overrides if not cluster or cluster in each.clusters]
    if overrides:
        yield overrides_section(overrides)
    kept = [each for each in found.kept if not cluster or cluster in each.clusters]
    if kept:
        yield _kept(kept)


def _outcome(found: ObjectExplanation, cluster: str) -> Iterator[str]:
    targets = [each for each in found.targets if cluster in {"", each.name}]
    own = {each.name for each in targets}
    along = sorted({each.name for binding in found.required_by for each in binding.clusters} - own)
    along = [name for name in along if cluster in {"", name}]
    if along:
        yield f"It goes along to {', '.join(along)}, with what requires it."
    elif not targets:
        yield f"It does not go to {cluster}." if cluster else "It goes nowhere."
    if targets:
        shown = ", ".join(f"{each.name} {each.replicas}" if each.replicas else each.name for each in targets)
        asked = "" if found.replicas is None else f"asks for {counted(found.replicas, 'replica')} and "
        yield f"It {asked}goes to {shown}."


def _policies(policies: Iterable[PolicyVerdict]) -> Section:
    rows = [
        (each.policy, "holds it" if each.holds else "lost", each.selects_by, str(each.priority), each.why, each.path)
        for each in policies
    ]
    return section("Policies that select it", ("POLICY", "VERDICT", "BY", "PRIORITY", "WHY", "FILE"), rows)


def _required(found: ObjectExplanation) -> Section:
    rows = [
        (f"{each.namespace}/{each.name}", " ".join(target.name for target in each.clusters))
        for each in found.required_by
    ]
    return section("Required by", ("BINDING", "CLUSTERS"), rows)


def _kept(kept: Iterable[Kept]) -> Section:
    rows = [(" ".join(each.clusters), each.reason, each.message) for each in kept]
    return section("Kept as an earlier commit had it", ("CLUSTERS", "REASON", "MESSAGE"), rows)
