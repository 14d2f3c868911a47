"""Fleet: the settings of argosy.yaml, each with a default; without the file, ``Fleet()``.

Where Git lacks what Karmada's answer depends on, a switch chooses between Argosy's default and Karmada's way.
``compatibility: Karmada`` turns all of them at once; a switch that is written wins over it.
"""

from enum import StrEnum

from msgspec import Struct, field

from .guards import EvictionGuard, MovementGuard, RemovalGuard

OTHERS = "*"


class RenderedRelease(StrEnum):
    """A kind of another tool whose chart, folder or Applications may be rendered."""

    HELM_RELEASE = "HelmRelease"
    APPLICATION = "Application"
    KUSTOMIZATION = "Kustomization"
    APPLICATION_SET = "ApplicationSet"


class OtherFederation(StrEnum):
    """Another federation whose objects may be rendered as they stand."""

    KUBEFED = "KubeFed"
    KUBESPHERE = "KubeSphere"
    CLUSTERNET = "Clusternet"
    FEDERATION_V1 = "FederationV1"
    LIQO = "Liqo"


class SourceSettings(Struct, frozen=True, kw_only=True):
    """The files to read: those below ``paths`` (from argosy.yaml's folder), minus ``ignore`` (gitignore syntax).

    ``is_strict``: a file that cannot be used is a problem, also where no object was ever delivered from it.
    ``rendered``: the kinds whose charts and folders are rendered, instead of delivering them as they are.
    ``federations``: those whose objects are rendered as policies and templates.
    """

    paths: tuple[str, ...] = (".",)
    ignore: tuple[str, ...] = ()
    is_strict: bool = False
    rendered: tuple[RenderedRelease, ...] = ()
    federations: tuple[OtherFederation, ...] = (
        OtherFederation.KUBEFED,
        OtherFederation.KUBESPHERE,
        OtherFederation.CLUSTERNET,
    )


class PushMode(StrEnum):
    """The way of a new commit to the rendered branch: it is pushed there, or proposed for a person to merge."""

    BRANCH = "Branch"
    PULL_REQUEST = "PullRequest"


class ForgeKind(StrEnum):
    """The forges whose pull requests are known; Forgejo is asked as Gitea is."""

    GITHUB = "GitHub"
    GITLAB = "GitLab"
    GITEA = "Gitea"


class RenderedSettings(Struct, frozen=True, kw_only=True):
    """The branch trees are pushed to ("": ``argosy/rendered``), and its remote's name or address ("": the source's).

    ``forge`` is the kind of the forge that the remote is on; None where its address tells.
    """

    remote: str = ""
    branch: str = ""
    push: PushMode = PushMode.BRANCH
    forge: ForgeKind | None = None


class KindScope(Struct, frozen=True, kw_only=True):
    """A kind of any version, and whether its objects live in namespaces."""

    group: str
    kind: str
    is_namespaced: bool


class ClusterAccess(Struct, frozen=True, kw_only=True):
    """The way to a member: a kubeconfig context ("": named like the cluster) of a file ("": the usual one).

    The name ``*`` stands for every member that is not listed by its own.
    """

    name: str
    context: str = ""
    kubeconfig: str = ""


class NamespacePropagation(StrEnum):
    """The namespaces propagated with objects: those in use, all of the source (Karmada's), or those policies select."""

    NEEDED = "Needed"
    ALL = "All"
    EXPLICIT = "Explicit"


class ClaimMode(StrEnum):
    """The policy that claims a template: a function of the tree, or (Karmada's) the earlier one while it matches.

    With ``Sticky`` a better policy takes over only by preemption.
    """

    PURE = "Pure"
    STICKY = "Sticky"


class Rescheduling(StrEnum):
    """The events that reschedule a placed binding: Karmada's alone, or also a source that stops allowing a target."""

    SOURCE = "Source"
    KARMADA = "Karmada"


class TieBreak(StrEnum):
    """The cluster that gets the last replica of an equal division.

    ``Identity``: by the parity of a hash of ``metadata.uid``, or else of the ObjectRef. ``Name``: ascending, as Karmada
    does for an empty UID.
    """

    IDENTITY = "Identity"
    NAME = "Name"


class OnPolicyRemoval(StrEnum):
    """The fate of a binding whose policy is gone: it stays, released, or its objects are removed."""

    KEEP = "Keep"
    REMOVE = "Remove"


class FieldRuling(StrEnum):
    """The claim on a field: set at creation alone, left to whoever else owns it, or always as committed."""

    IGNORE = "Ignore"
    YIELD = "Yield"
    OWN = "Own"


class FieldRule(Struct, frozen=True, kw_only=True):
    """A rule about one field of some objects; an empty part of these means any, ``*`` in them stands for any text.

    ``path`` is written as in messages, such as ``.spec.template.spec.containers[*].image``. ``manager``: the field
    manager that owns the field, where it matters.
    """

    rule: FieldRuling
    path: str
    group: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    manager: str = ""


class SecretName(Struct, frozen=True):
    """A Secret in members, by namespace and name."""

    namespace: str
    name: str


class Permission(StrEnum):
    """A yes or no to something risky."""

    ALLOW = "Allow"
    REFUSE = "Refuse"


class NoExecuteEviction(StrEnum):
    """The bindings that taints of ClusterTaintPolicies evict: those whose policy has ``failover.cluster``, or all."""

    POLICY = "Policy"
    ALWAYS = "Always"


class FeatureGates(Struct, frozen=True, kw_only=True):
    """Karmada's feature gates that rules of time and of quotas ask.

    ``failover``: ClusterTaintPolicies taint clusters, and NoExecute taints evict over time. ``graceful_eviction``: a
    workload may fail over with purgeMode Gracefully. ``stateful_failover_injection``: state goes along.
    ``federated_quota_enforcement``: nothing is placed beyond a FederatedResourceQuota.
    """

    failover: bool = False
    graceful_eviction: bool = True
    stateful_failover_injection: bool = False
    federated_quota_enforcement: bool = True


class FailoverSettings(Struct, frozen=True, kw_only=True):
    """The settings of eviction: whom taints evict, how their copies leave where no policy says, and its guard."""

    no_execute_eviction: NoExecuteEviction = NoExecuteEviction.POLICY
    purge_mode: str = "Gracefully"
    grace_seconds: int = 600
    guard: EvictionGuard = field(default_factory=EvictionGuard)


class DeschedulerSettings(Struct, frozen=True, kw_only=True):
    """The descheduler: whether there is one, how long pods wait for a node before it acts, and its interval.

    For an interval after replicas were taken from a cluster, it gets no others of that workload.
    """

    is_enabled: bool = False
    threshold_seconds: int = 300
    interval_seconds: int = 120


class TemplateValidation(StrEnum):
    """The weight of what schemas say of templates: problems as far as it is certain, warnings, or nothing."""

    STRICT = "Strict"
    WARN = "Warn"
    OFF = "Off"


class Deployer(StrEnum):
    """A tool that applies folders of a Git branch to clusters."""

    ARGO_CD = "ArgoCD"
    FLUX = "Flux"


class Placing(StrEnum):
    """The place where such a tool runs: in one hub for all clusters, or in each member for itself."""

    HUB = "Hub"
    MEMBER = "Member"


class Grouping(StrEnum):
    """The objects of Argo CD: one ApplicationSet for all clusters, or Applications for each."""

    APPLICATION_SET = "ApplicationSet"
    APPLICATIONS = "Applications"


class ToolAccess(Struct, frozen=True, kw_only=True):
    """The way to where a tool runs, to read what it did: a kubeconfig context of a file, or the cluster we run in.

    ``{cluster}`` in ``context`` and ``kubeconfig`` stands for the name of a member, where the tool runs in each.
    """

    context: str = ""
    kubeconfig: str = ""
    is_in_cluster: bool = False


class EmissionSettings(Struct, frozen=True, kw_only=True):
    """The objects that passes commit for a tool; empty texts are the defaults of ``argosy emit``.

    ``status`` is how passes read what the tool did (None: they do not).
    """

    deployer: Deployer
    repository: str
    placing: Placing = Placing.HUB
    grouping: Grouping = Grouping.APPLICATION_SET
    namespace: str = ""
    git_secret: str = ""
    kubeconfig_secret: str = ""
    interval: str = ""
    project: str = ""
    status: ToolAccess | None = None


class Fleet(Struct, frozen=True, kw_only=True):
    """The settings of one fleet repository.

    ``name``: other than ``default``, branches are called ``argosy-<name>/...``.
    ``default_namespace``: written into namespaced objects and policies that have none.
    ``kinds``: the scope of kinds whose CRD is nowhere in the source.
    ``skipped_apis`` (``group``, ``group/version``, ``group/version/Kind,Kind``) and ``skipped_namespaces`` (regular
    expressions): templates that are never propagated, as by Karmada's flags of similar names.
    ``emit``: the objects of other tools that are committed beside the trees.
    ``mirrors``: clusters whose folder is also published as a branch of its own (``*``: all).
    ``is_karmada_compatible``: ``compatibility: Karmada``.
    ``reserve_capacity``: each new placement lowers the capacity the rest of the pass sees.
    ``require_recorded_apis``: a cluster with no recorded APIs fits nothing (Karmada's) instead of everything.
    ``secrets``: whether Secrets may be in the source.
    ``validation``: whether templates are checked against the schemas of their kinds.
    ``feature_gates`` and ``failover``: what happens by itself when clusters and workloads fail.
    ``descheduler``: what becomes of replicas that a cluster cannot start.
    ``cron_deadline``: the seconds for which a rule of a CronFederatedHPA may fire late (None: for ever).
    ``field_rules``: who gets a field that others write as well; the first that fits counts.
    ``decryption_secret``: a Secret in each member whose age keys decrypt what SOPS encrypted; ``key_services``: the
    addresses of services that may be asked for keys.
    ``clusters``: the members that are reached by kubeconfig contexts; ``kubeconfigs``: a folder with one kubeconfig a
    cluster, by which all are reached. With neither, passes render and leave members alone.
    """

    name: str = "default"
    source: SourceSettings = field(default_factory=SourceSettings)
    rendered: RenderedSettings = field(default_factory=RenderedSettings)
    mirrors: tuple[str, ...] = ()
    emit: tuple[EmissionSettings, ...] = ()
    default_namespace: str = "default"
    kinds: tuple[KindScope, ...] = ()
    skipped_apis: tuple[str, ...] = ()
    skipped_namespaces: tuple[str, ...] = ("kube-.*",)
    namespaces: NamespacePropagation = NamespacePropagation.NEEDED
    is_karmada_compatible: bool = False
    claims: ClaimMode = ClaimMode.PURE
    rescheduling: Rescheduling = Rescheduling.SOURCE
    reserve_capacity: bool = True
    tie_break: TieBreak = TieBreak.IDENTITY
    require_recorded_apis: bool = False
    on_policy_removal: OnPolicyRemoval = OnPolicyRemoval.KEEP
    secrets: Permission = Permission.ALLOW
    validation: TemplateValidation = TemplateValidation.STRICT
    removal_guard: RemovalGuard = field(default_factory=RemovalGuard)
    movement_guard: MovementGuard = field(default_factory=MovementGuard)
    feature_gates: FeatureGates = field(default_factory=FeatureGates)
    failover: FailoverSettings = field(default_factory=FailoverSettings)
    descheduler: DeschedulerSettings = field(default_factory=DeschedulerSettings)
    cron_deadline: int | None = None
    field_rules: tuple[FieldRule, ...] = ()
    decryption_secret: SecretName | None = None
    key_services: tuple[str, ...] = ()
    clusters: tuple[ClusterAccess, ...] = ()
    kubeconfigs: str = ""
    path: str = ""

    @property
    def reached(self) -> frozenset[str] | None:
        """The members with a way to reach them; None where that is all of them."""
        listed = frozenset(access.name for access in self.clusters)
        return None if self.kubeconfigs or OTHERS in listed else listed

    @property
    def is_told_by_tools(self) -> bool:
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
