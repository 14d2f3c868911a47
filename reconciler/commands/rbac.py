"""``argosy rbac``: the rights that passes over a member need, as manifests."""

from typing import Any

import click

from reconciler.commands.options.checked_words import checked_object_name
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.log import Log
from reconciler.console.printing import print_output

SCOPES = ("Namespace", "Cluster")


@click.command(cls=DocumentedCommand)
@click.argument("revision", default="", metavar="[REV]")
@click.option("--cluster", required=True, metavar="NAME", help="The member whose rights are asked for.")
@click.option(
    "--scope",
    type=click.Choice(SCOPES, case_sensitive=False),
    default="Namespace",
    show_default=True,
    help="Namespace: Roles in the namespaces of the tree. Cluster: its kinds in all namespaces, new ones included.",
)
@click.option(
    "--service-account",
    "account",
    default="",
    metavar="NAME",
    callback=checked_object_name,
    help="The account that gets them  [default: argosy, or argosy-FLEET]",
)
@click.option("--token", "has_token", is_flag=True, help="With a Secret that holds a token of the account.")
@click.option("--controller", "is_controller", is_flag=True, help="Also the Lease of 'argosy run --lease'.")
@click.option(
    "--confirm",
    "is_confirming",
    is_flag=True,
    help="Also what apply --confirm needs: to delete Namespaces, CRDs and volumes, and to list everything in them.",
)
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", help="Output format.")
@click.pass_obj
def command(log: Log, /, output: str, scope: str, *, is_controller: bool, **options: Any) -> int:
    """Print the RBAC manifests that passes over a member need, made from what its tree holds  [default: the newest].

    They are a ServiceAccount in argosy-system, a ClusterRole, and a Role in each namespace of the tree, each with its
    binding: every verb on every kind that a pass asks for, and no other. Namespaces of the tree are among them, for a
    Role cannot be made before its namespace. The newest facts say what kinds are called; no member is asked.

    A tree with new kinds or namespaces needs more rights: print them again, and argosy doctor says which are missing.
    """
    from reconciler.check.rights import RightsOptions, rights_manifests
    from reconciler.check.roles import RoleScope
    from reconciler.repository import open_repository
    from reconciler.run.leader import LeaseName

    # As long as nobody names another one, it has this name in every cluster.
    lease = LeaseName(cluster=options["cluster"]).name if is_controller else ""

    with open_repository(log.repository, progress=log.transfer) as repository:
        manifests = rights_manifests(repository, RightsOptions(scope=RoleScope(scope), lease=lease, **options), log)
    print_output(manifests_as_json_list(manifests) if output == "json" else manifests_as_yaml(manifests), output)
    return 0


def manifests_as_yaml(manifests: Any) -> str:
    """Return manifests as documents of YAML."""
    from render.documents import emit

    return "---\n".join(emit(each).decode() for each in manifests)


def manifests_as_json_list(manifests: Any) -> str:
    """Return manifests as a List in JSON."""
    from reconciler.console.json_values import as_json

    return as_json({"apiVersion": "v1", "kind": "List", "items": list(manifests)})
