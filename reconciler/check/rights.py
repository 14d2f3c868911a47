"""The rights that passes over a member need, as RBAC manifests: by its tree, and by what earlier ones left there."""

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.fleet_context import FleetContext, context_and_source_of_commit
from reconciler.branches.reading import read_observed_inputs
from reconciler.branches.status_branch import read_inventories
from reconciler.console.log import Log
from reconciler.deliver.orphans import with_trusted_objects
from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.ledger.inventory import Inventory
from reconciler.ledger.member_schemas import KindVersion
from reconciler.members.discovery import Discovery
from reconciler.names.subjects import refuse_unknown_clusters
from reconciler.plans.applyset import ApplySet
from reconciler.plans.model import ClusterDesired
from reconciler.repository import Repository
from render.cluster import is_applied_by_own_agent
from render.errors import ConfigError
from render.model import Manifest, ObjectRef
from render.settings.fleet import Fleet

from .permissions import Need, needs_of, needs_of_object, needs_of_observation
from .recorded_kinds import kinds_recorded_of, line_of_guessed_kind
from .roles import Account, RoleScope, needs_across_namespaces, needs_to_write_roles, role_manifests, tree_namespaces

_LEASES = ("coordination.k8s.io", "leases")
_EVERYTHING = Need("", "*", "*", "list")


class RightsOptions(Struct, frozen=True, kw_only=True):
    """The rights asked for: of which member, for whom and how wide.

    ``is_confirming``: also what passes need that delete what has to be confirmed. ``lease`` is the Lease by which one
    of several controllers leads ("": none). ``is_for_agent``: the member has to pull.
    """

    cluster: str
    revision: str = ""
    account: str = ""
    is_for_agent: bool = False
    scope: RoleScope = RoleScope.NAMESPACE
    has_token: bool = False
    is_confirming: bool = False
    lease: str = ""


class _TreeThere(Struct, frozen=True, kw_only=True):
    """A member's tree, what earlier commits may have left there, its kinds and the ApplySet.

    ``scaled_kinds`` are those whose definitions tell how many replicas an object has.
    """

    desired: ClusterDesired
    held_objects: frozenset[ObjectRef]
    scaled_kinds: frozenset[KindVersion]
    discovery: Discovery
    applyset: ApplySet


def rights_manifests(repository: Repository, options: RightsOptions, log: Log) -> tuple[Manifest, ...]:
    """Return the manifests that let a ServiceAccount run passes over a member, for its tree at a rendered commit."""
    context, _desired, commit = context_and_source_of_commit(repository, options.revision)
    refuse_unknown_clusters([options.cluster], [cluster.name for cluster in context.members])
    if options.is_for_agent and not any(
        each.name == options.cluster and is_applied_by_own_agent(each) for each in context.members
    ):
        raise ConfigError(
            f"{options.cluster!r} does not pull, so that an agent would find no mirror",
            hint="write syncMode: Pull in its Cluster, commit that, and let a pass publish the mirror",
        )
    member = _tree_of_member(repository, context, commit, options, log)
    name = options.account or account_name(context.fleet)
    own = member.applyset.namespace
    account = Account(name=name, namespace=own, has_token=options.has_token)
    needs = frozenset(_needs_of_member(member, options) | _needs_to_read_decryption_keys(member, context.fleet))
    if options.scope is RoleScope.CLUSTER:
        return role_manifests(needs_across_namespaces(needs, own), account, ())
    return role_manifests(needs, account, tree_namespaces(member.desired, own))


def account_name(fleet: Fleet) -> str:
    """Return the name that the account of a fleet has unless somebody names another."""
    return "argosy" if fleet.name == "default" else f"argosy-{fleet.name}"


def _tree_of_member(
    repository: Repository, context: FleetContext, commit: str, options: RightsOptions, log: Log
) -> _TreeThere:
    commits, status = RenderedCommits(repository, context.members), context.status
    desired = commits.desired(options.cluster, commit)
    known = read_inventories(status, status.tip()).get(options.cluster, Inventory(cluster=options.cluster))
    held_objects = frozenset(with_trusted_objects(known, commits, commit).held_objects) - {
        item.ref for item in desired.objects
    }
    facts = read_observed_inputs(repository, status.tip()).facts.get(options.cluster)
    kinds = kinds_recorded_of(desired, held_objects, facts.status if facts else {})
    log.warn_of(map(line_of_guessed_kind, kinds.guessed))
    return _TreeThere(
        desired=desired,
        held_objects=held_objects,
        scaled_kinds=context.scaled_kinds or frozenset(),
        discovery=kinds.discovery,
        applyset=ApplySet.of_fleet(context.fleet.name, repository.first_commit(commit)),
    )


def _needs_of_member(member: _TreeThere, options: RightsOptions) -> set[Need]:
    needs = set(needs_of(member.desired, member.discovery, member.applyset, has_namespace=True))
    seeings = needs_of_observation(member.desired, member.discovery, member.scaled_kinds)
    needs |= {need for seeing in seeings for need in seeing.needs}
    needs |= set(needs_to_write_roles(member.desired))
    for ref in member.held_objects:
        resource = member.discovery.preferred_resource(ref.group, ref.kind)
        if resource:
            needed = needs_of_object(ref, replace(resource, is_namespaced=bool(ref.namespace)))
            needs |= {need for need in needed if need.verb != "create"}
    if options.lease:
        space = member.applyset.namespace
        needs |= {Need(space, *_LEASES, verb, options.lease) for verb in ("get", "update")}
    if options.is_confirming:
        needs |= _needs_of_confirmed_deletions(member)
    return needs


def _needs_to_read_decryption_keys(member: _TreeThere, fleet: Fleet) -> set[Need]:
    """Return what reading the keys takes that decrypt what SOPS encrypted."""
    secret = fleet.decryption.secret
    if secret is None or not any(item.encrypted for item in member.desired.objects):
        return set()
    return {Need(secret.namespace, "", "secrets", "get", secret.name)}


def _needs_of_confirmed_deletions(member: _TreeThere) -> set[Need]:
    """Return what deleting Namespaces, CRDs and volumes takes: first everything is listed that would go with them."""
    needs = {_EVERYTHING}
    for ref in (*(item.ref for item in member.desired.objects), *member.held_objects):
        resource = member.discovery.preferred_resource(ref.group, ref.kind)
        if resource:
            needs |= set(needs_of_object(ref, resource, is_confirmed=True))
    return needs
