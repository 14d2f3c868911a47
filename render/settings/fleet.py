"""Fleet: the settings of argosy.yaml, each with a default; without the file, ``Fleet()``.

Where Git lacks what Karmada's answer depends on, a switch chooses between Argosy's default and Karmada's way.
``compatibility: Karmada`` turns all of them at once; a switch that is written wins over it.
"""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct, field

from render.patterns import UnusablePattern, check_pattern
from render.syntax import fault_of_dns_label, quoted_text

from .clusters import CLUSTERS, OTHERS, ClusterAccess
from .cost_guard import COST_GUARD, CostGuard
from .cron import CRON, CronSettings
from .decryption import DECRYPTION, DecryptionSettings
from .descheduler import DESCHEDULER, DeschedulerSettings
from .emission import EMIT, EmissionSettings
from .failover import FAILOVER, FailoverSettings
from .feature_gates import FEATURE_GATES, FeatureGates
from .field_rules import FIELD_RULES, FieldRule
from .kinds import KINDS, KindScope
from .movement_guard import MOVEMENT_GUARD, MovementGuard
from .moves import MOVES, MoveSettings
from .removal_guard import REMOVAL_GUARD, RemovalGuard
from .rendered import RENDERED, RenderedSettings
from .rollouts import ROLLOUTS, RolloutSettings
from .setting import (
    ALL_OF,
    NOT_DECIDED_BY_IT,
    OUTSIDE,
    WAY,
    FleetSetting,
    SettingFault,
    faults_of_each_value,
    reach_of_limit,
    reach_of_switch,
)
from .source import SOURCE, SourceSettings
from .switches import (
    ClaimMode,
    NamespacePropagation,
    OnPolicyRemoval,
    Permission,
    Rescheduling,
    TemplateValidation,
    TieBreak,
)

_STRICTNESS = (TemplateValidation.STRICT, TemplateValidation.WARN, TemplateValidation.OFF)


def _is_validation_laxer(before: TemplateValidation, after: TemplateValidation) -> bool:
    return _STRICTNESS.index(after) > _STRICTNESS.index(before)


def _faults_of_namespace(namespace: str) -> Iterator[SettingFault]:
    if namespace and (fault := fault_of_dns_label(namespace)):
        yield SettingFault("", fault, "write the name of a namespace, such as 'shop'")


def _fault_of_mirror_name(name: str) -> str:
    return "" if name == OTHERS else fault_of_dns_label(name)


def _fault_of_not_propagated_entry(entry: str) -> str:
    return "" if entry.strip("/.") else "names neither a kind nor a folder"


def _fault_of_path_pattern(pattern: str) -> str:
    try:
        check_pattern(pattern)
    except UnusablePattern as error:
        return f"{quoted_text(pattern)} is no regular expression: {error}"
    return ""


class Fleet(Struct, frozen=True, kw_only=True):
    """The settings of one fleet repository, in the order in which they are documented.

    ``name``: other than ``default``, branches are called ``argosy-<name>/...``.
    ``default_namespace``: written into namespaced objects and policies that have none.
    ``kinds``: the scope of kinds whose CRD is nowhere in the source.
    ``skipped_apis`` (``group``, ``group/version``, ``group/version/Kind,Kind``) and ``skipped_namespaces`` (regular
    expressions): templates that are never propagated, as by Karmada's flags of similar names.
    ``not_propagated``: kinds and folders of templates that are meant to go nowhere where no policy selects them.
    ``forgotten``: clusters that left the source, of which the branches keep nothing any more.
    ``emit``: the objects of other tools that are committed beside the trees.
    ``mirrors``: clusters whose folder is also published as a branch of its own (``*``: all).
    ``is_karmada_compatible``: ``compatibility: Karmada``.
    ``reserve_capacity``: each new placement lowers the capacity the rest of the pass sees.
    ``require_recorded_apis``: a cluster with no recorded APIs fits nothing (Karmada's) instead of everything.
    ``interprets_scale``: the scale subresource of a custom kind is its interpreter of last resort.
    ``secrets``: whether Secrets may be in the source.
    ``validation``: whether templates are checked against the schemas of their kinds.
    ``field_rules``: who gets a field that others write as well; the first that fits counts.
    ``clusters``: the members that are reached by kubeconfig contexts; ``kubeconfigs``: a folder with one kubeconfig a
    cluster, by which all are reached. With neither, passes render and leave members alone.
    ``path``: the file, from the root of the repository.
    """

    name: Annotated[
        str,
        FleetSetting(
            "metadata.name",
            "The name of the fleet. Any other name than `default` makes its branches `argosy-<name>/...`.",
            in_karmada=NOT_DECIDED_BY_IT,
            reach=OUTSIDE,
        ),
    ] = "default"
    source: Annotated[SourceSettings, SOURCE] = field(default_factory=SourceSettings)
    rendered: Annotated[RenderedSettings, RENDERED] = field(default_factory=RenderedSettings)
    mirrors: Annotated[
        tuple[str, ...],
        FleetSetting(
            "mirrors",
            "The clusters whose folder is published as a branch as well, `argosy/cluster/<cluster>`; `*` means all.",
            in_karmada=NOT_DECIDED_BY_IT,
            faults=faults_of_each_value(
                _fault_of_mirror_name, "write the name of a cluster, or '*' for all that are not named"
            ),
        ),
    ] = ()
    emit: Annotated[tuple[EmissionSettings, ...], EMIT] = ()
    default_namespace: Annotated[
        str,
        FleetSetting(
            "defaultNamespace",
            "The namespace of objects and policies that name none.",
            in_karmada=NOT_DECIDED_BY_IT,  # an export writes it into each
            faults=_faults_of_namespace,
        ),
    ] = "default"
    kinds: Annotated[tuple[KindScope, ...], KINDS] = ()
    namespaces: Annotated[
        NamespacePropagation,
        FleetSetting(
            "namespaces",
            "`Needed`: a namespace is propagated with the objects in it. `All`: every namespace goes to every cluster,"
            " as in Karmada. `Explicit`: only what policies select.",
            in_karmada="--controllers of karmada-controller-manager, and its label to skip one",
            is_tried=True,
        ),
    ] = NamespacePropagation.NEEDED
    skipped_apis: Annotated[
        tuple[str, ...],
        FleetSetting(
            "skippedAPIs",
            "What is never propagated: `group`, `group/version` or `group/version/Kind,Kind`, as in Karmada's flag.",
            in_karmada="--skipped-propagating-apis of karmada-controller-manager",
            reach=ALL_OF,
        ),
    ] = ()
    skipped_namespaces: Annotated[
        tuple[str, ...],
        FleetSetting(
            "skippedNamespaces",
            "Regular expressions of namespaces from which nothing is propagated.",
            in_karmada="--skipped-propagating-namespaces of karmada-controller-manager",
            reach=ALL_OF,
            faults=faults_of_each_value(_fault_of_path_pattern, "write a regular expression, such as 'kube-.*'"),
        ),
    ] = ("kube-.*",)
    not_propagated: Annotated[
        tuple[str, ...],
        FleetSetting(
            "notPropagated",
            "What no policy has to select: kinds, as `ConfigMap` or `Application.argoproj.io`, and folders or files"
            " with a `/`, relative to the folder of argosy.yaml. Nothing is said of such templates that go nowhere.",
            in_karmada=NOT_DECIDED_BY_IT,
            faults=faults_of_each_value(
                _fault_of_not_propagated_entry,
                "write a kind, such as 'ConfigMap' or 'Application.argoproj.io', or a folder with a '/'",
            ),
        ),
    ] = ()
    forgotten: Annotated[
        tuple[str, ...],
        FleetSetting(
            "forgotten",
            "The clusters that left the source and never come back. The next pass drops their folders from the rendered"
            " branch, and all that the status branch has of them; what they hold is pruned by nobody.",
            in_karmada=NOT_DECIDED_BY_IT,
            faults=faults_of_each_value(fault_of_dns_label, "write the name of a cluster that left the source"),
        ),
    ] = ()
    is_karmada_compatible: Annotated[
        bool,
        FleetSetting(
            "compatibility",
            "`Karmada` sets `claims`, `rescheduling`, `reserveCapacity`, `tieBreak`, `requireRecordedAPIs` and"
            " `interpretScale` as Karmada does; each may still be set by itself. It also writes `replicas: 1` where a"
            " template has none.",
            in_karmada=NOT_DECIDED_BY_IT,
            is_tried=True,
            choices={"Argosy": False, "Karmada": True},
        ),
    ] = False
    claims: Annotated[
        ClaimMode,
        FleetSetting(
            "claims",
            "`Pure`: the tree alone says which policy claims an object. `Sticky`: the policy that claimed it keeps it,"
            " as in Karmada.",
            in_karmada="Karmada's claims depend on the order of events",
            karmada=ClaimMode.STICKY,
            is_tried=True,
        ),
    ] = ClaimMode.PURE
    rescheduling: Annotated[
        Rescheduling,
        FleetSetting(
            "rescheduling",
            "`Source`: an object is also rescheduled if the source stops allowing one of its clusters, and a refusal"
            " ends with what it was for. `Karmada`: only when Karmada would.",
            in_karmada="Karmada reschedules by its own events",
            karmada=Rescheduling.KARMADA,
            is_tried=True,
        ),
    ] = Rescheduling.SOURCE
    reserve_capacity: Annotated[
        bool,
        FleetSetting(
            "reserveCapacity",
            "Each new placement lowers the capacity that the rest of the pass sees.",
            in_karmada="Karmada may overcommit at once",
            karmada=False,
            is_tried=True,
        ),
    ] = True
    tie_break: Annotated[
        TieBreak,
        FleetSetting(
            "tieBreak",
            "Who gets the last replica of an equal division: `Identity` goes by a hash of the object's UID or name,"
            " `Name` by the names of the clusters.",
            in_karmada="Karmada breaks ties by the UID of its own object",
            karmada=TieBreak.NAME,
            is_tried=True,
        ),
    ] = TieBreak.IDENTITY
    require_recorded_apis: Annotated[
        bool,
        FleetSetting(
            "requireRecordedAPIs",
            "A cluster whose APIs are not recorded fits nothing, as in Karmada; otherwise it fits everything.",
            in_karmada="Karmada always asks for recorded APIs",
            karmada=True,
            is_tried=True,
        ),
    ] = False
    interprets_scale: Annotated[
        bool,
        FleetSetting(
            "interpretScale",
            "Where nothing else interprets a custom kind, the scale subresource that the source or members define tells"
            " how many replicas an object has, and where a cluster's share is written.",
            in_karmada="Karmada divides such a kind only by a ResourceInterpreterCustomization or a webhook",
            karmada=False,
            is_tried=True,
        ),
    ] = True
    on_policy_removal: Annotated[
        OnPolicyRemoval,
        FleetSetting(
            "onPolicyRemoval",
            "`Keep`: objects that no policy selects any more stay as they are. `Remove`: they are removed.",
            in_karmada="Karmada keeps what a policy propagated",
            reach=reach_of_switch(OnPolicyRemoval.REMOVE),
        ),
    ] = OnPolicyRemoval.KEEP
    secrets: Annotated[
        Permission,
        FleetSetting(
            "secrets",
            "Whether Secrets may be in the source.",
            in_karmada=NOT_DECIDED_BY_IT,
            reach=reach_of_switch(Permission.ALLOW),
        ),
    ] = Permission.ALLOW
    validation: Annotated[
        TemplateValidation,
        FleetSetting(
            "validation",
            "What becomes of a template that the schema of its kind does not allow. `Strict`: it is a problem as far as"
            " that is certain, and a warning while the file stands as it did when it was last rendered. `Warn`: it is a"
            " warning. `Off`: schemas are not looked at.",
            in_karmada=NOT_DECIDED_BY_IT,
            reach=reach_of_limit(_is_validation_laxer),
        ),
    ] = TemplateValidation.STRICT
    removal_guard: Annotated[RemovalGuard, REMOVAL_GUARD] = field(default_factory=RemovalGuard)
    movement_guard: Annotated[MovementGuard, MOVEMENT_GUARD] = field(default_factory=MovementGuard)
    cost_guard: Annotated[CostGuard, COST_GUARD] = field(default_factory=CostGuard)
    feature_gates: Annotated[FeatureGates, FEATURE_GATES] = field(default_factory=FeatureGates)
    failover: Annotated[FailoverSettings, FAILOVER] = field(default_factory=FailoverSettings)
    descheduler: Annotated[DeschedulerSettings, DESCHEDULER] = field(default_factory=DeschedulerSettings)
    cron: Annotated[CronSettings, CRON] = field(default_factory=CronSettings)
    rollouts: Annotated[RolloutSettings, ROLLOUTS] = field(default_factory=RolloutSettings)
    moves: Annotated[MoveSettings, MOVES] = field(default_factory=MoveSettings)
    field_rules: Annotated[tuple[FieldRule, ...], FIELD_RULES] = ()
    decryption: Annotated[DecryptionSettings, DECRYPTION] = field(default_factory=DecryptionSettings)
    clusters: Annotated[tuple[ClusterAccess, ...], CLUSTERS] = ()
    kubeconfigs: Annotated[
        str,
        FleetSetting(
            "kubeconfigs",
            "A folder with one kubeconfig for each member; passes then apply to all of them.",
            in_karmada=NOT_DECIDED_BY_IT,
            reach=WAY,
            shown="",
        ),
    ] = ""
    path: str = ""

    @property
    def reachable_members(self) -> frozenset[str] | None:
        """The members with a way to reach them; None where that is all of them."""
        listed = frozenset(access.name for access in self.clusters)
        return None if self.kubeconfigs or OTHERS in listed else listed

    @property
    def is_reported_by_tools(self) -> bool:
        """True where passes read what other tools did."""
        return any(each.status is not None for each in self.emit)

    @property
    def branch_prefix(self) -> str:
        """The beginning of every branch name: ``argosy`` or ``argosy-<name>``."""
        return "argosy" if self.name == "default" else f"argosy-{self.name}"

    @property
    def rendered_branch(self) -> str:
        """The branch of the rendered trees and bindings."""
        return self.rendered.branch or f"{self.branch_prefix}/rendered"

    @property
    def proposed_branch(self) -> str:
        """The branch that a pull request asks to merge into the rendered one."""
        return f"{self.branch_prefix}/proposed"

    @property
    def status_branch(self) -> str:
        """The branch of the observed status."""
        return f"{self.branch_prefix}/status"

    def mirror_branch(self, cluster: str) -> str:
        """Return the branch that mirrors a cluster's folder."""
        return f"{self.branch_prefix}/cluster/{cluster}"

    def agent_branch(self, cluster: str) -> str:
        """Return the branch that a cluster's pull-mode agent alone writes."""
        return f"{self.branch_prefix}/agent/{cluster}"
