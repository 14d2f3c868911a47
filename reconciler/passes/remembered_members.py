"""Members that a pass found as they have to be, in a form that the next pass repeats its report from.

A pass skips such a member by itself, whatever there is to do in others, where all that decided its report is the same:

1. the commit asks the same of it: its folder of the rendered tree, and the rules of its bindings;
2. its inventory and its Works are as that pass left them on the status branch;
3. it answers the same (``observe/idle_members.py``).

The source but for ordinary templates, the engine and the options of the command are those of the checkpoint.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, ValidationError, convert, field, to_builtins

from reconciler.deliver.report_rows import ReportRows
from reconciler.deliver.results import ClusterReport, ClusterResult, ObjectResult
from reconciler.ledger.inventory import ApplyOutcome, Inventory
from reconciler.observe.idle_members import IdleMember
from reconciler.plans.model import Action
from render.cluster import ResourceModel
from render.values import DiscreetStruct


class RememberedMember(DiscreetStruct, frozen=True, kw_only=True):
    """A member as a pass left it idle: its answers, the rendered commit it holds, and what the pass reported of it.

    ``works`` is the id of its folder on the status branch ("": none), ``until`` is when a status there may have to be
    written ("": never). ``unchanged`` counts its objects without a deviation, ``deviating`` are the others.
    """

    UNSHOWN = ("deviating",)

    answers: IdleMember
    commit: str
    works: str
    until: str = ""
    unchanged: int = 0
    deviating: tuple[ObjectResult, ...] = ()

    @property
    def cluster(self) -> str:
        """The member's name."""
        return self.answers.cluster

    @classmethod
    def of(cls, report: ClusterReport, answers: IdleMember, works: str, until: str) -> "RememberedMember":
        """Return a member by the report of a pass that found it as it has to be."""
        results = report.applied.results if report.applied else ()
        deviating = tuple(map(_repeatable_result, (each for each in results if each.yielded or each.foreign)))
        commit = report.applied.commit if report.applied else ""
        unchanged = len(results) - len(deviating)
        return cls(answers=answers, commit=commit, works=works, until=until, unchanged=unchanged, deviating=deviating)

    def is_recorded(self, inventory: Inventory, works: str, now: str) -> bool:
        """Return whether the status branch has of the member what the pass left there, and need not be written yet."""
        is_held = (inventory.uid, inventory.converged) == (self.answers.uid, self.commit) and not inventory.left
        return is_held and works == self.works and not (self.until and now >= self.until)

    def report(self, commit: str) -> ClusterReport:
        """Return the report of a pass over the member that finds it as it was."""
        applied = ClusterResult(
            cluster=self.cluster,
            commit=commit,
            results=self.deviating,
            unchanged_besides=self.unchanged,
            outcome=ApplyOutcome.CONVERGED,
        )
        has_unwell = bool(self.answers.unwell)
        return ClusterReport(cluster=self.cluster, applied=applied, is_repeated=True, has_unwell=has_unwell)


def _repeatable_result(result: ObjectResult) -> ObjectResult:
    """Return what a pass that does nothing says of an object again."""
    return ObjectResult(
        ref=result.ref,
        action=Action.UNCHANGED,
        reason=result.reason,
        message=result.message,
        yielded=result.yielded,
        foreign=result.foreign,
    )


class RememberedMembers(Struct, frozen=True, kw_only=True):
    """The members that the last pass left idle, by name, and what it recorded.

    ``recorded_folders`` are the ids of the folders of the status branch that record the objects, where that pass was
    over the same source and commit, else None.
    """

    members: Mapping[str, RememberedMember] = field(default_factory=dict)
    recorded_folders: Mapping[str, str] | None = None


class RememberedFleet(Struct, frozen=True, kw_only=True):
    """A fleet as a pass left it: the idle members, the models of their nodes, and the report of that pass.

    ``fleet_path`` is where its argosy.yaml is, ``options`` are those of the delivery as plain data. ``is_idle``: all
    members were idle but for the ``failed`` ones, and the pass wrote nothing; ``code`` is that which it ended with.
    ``failed`` are the members that could not be observed, with the reason; those of them that were idle before
    stay among ``members``. ``lines`` are for programs and ``-v``, and ``problems`` say the same in groups.
    """

    fleet_path: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    members: tuple[RememberedMember, ...] = ()
    models: Mapping[str, tuple[ResourceModel, ...]] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    rows: ReportRows = ReportRows()
    is_idle: bool = False
    failed: Mapping[str, str] = field(default_factory=dict)
    code: int = 0

    @property
    def answering(self) -> tuple[RememberedMember, ...]:
        """The idle members that answered."""
        return tuple(member for member in self.members if member.cluster not in self.failed)

    def by_name(self) -> dict[str, RememberedMember]:
        """Return the members by their names."""
        return {member.cluster: member for member in self.members}

    def plain(self) -> dict[str, Any]:
        """Return this as plain data."""
        plain: dict[str, Any] = to_builtins(self)
        return plain

    @classmethod
    def parse(cls, value: Mapping[str, Any] | None) -> "RememberedFleet":
        """Read it back; one without members where there is none, or something else."""
        try:
            return convert(value, cls) if value else cls()
        except ValidationError:
            return cls()
