"""``argosy cluster agent``: the manifests of the agent of a member that pulls."""

from pathlib import Path
from typing import Any

import click

from reconciler.commands.options.checked_words import checked_object_name, checked_schedule
from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.log import Log
from reconciler.console.printing import print_output

from .rbac import SCOPES, manifests_as_json_list, manifests_as_yaml

_LONGEST = 1 << 20


def _content_of_public_file(_context: click.Context, _option: click.Parameter, value: Path | None) -> str:
    if value is None:
        return ""
    with value.open("rb") as file:
        content = file.read(_LONGEST + 1)
    if len(content) > _LONGEST or b"PRIVATE KEY" in content:
        raise click.BadParameter(f"{value} is no such file: it is printed as it is, so it may hold no secret")
    return content.decode("utf-8", "replace")


@click.command(cls=DocumentedCommand)
@click.argument("name")
@click.option("--repository", default="", metavar="ADDRESS", help="Where it finds the fleet  [default: this remote]")
@click.option(
    "--known-hosts",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    callback=_content_of_public_file,
    metavar="FILE",
    help="The host keys of the Git server, pinned in a ConfigMap; required for SSH.",
)
@click.option(
    "--allowed-signers",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    callback=_content_of_public_file,
    metavar="FILE",
    help="Whose commits it takes, likewise.",
)
@click.option(
    "--secret",
    default="argosy-git",
    show_default=True,
    metavar="NAME",
    callback=checked_object_name,
    help="The Secret with its Git key.",
)
@click.option("--image", default="", metavar="IMAGE", help="The image it runs  [default: argosy:VERSION]")
@click.option(
    "--schedule",
    default="",
    metavar="CRON",
    callback=checked_schedule,
    help="Make it a CronJob, such as '*/5 * * * *'.",
)
@click.option(
    "--scope",
    type=click.Choice(SCOPES, case_sensitive=False),
    default="Namespace",
    show_default=True,
    help="Its rights: in the namespaces of its tree, or for the kinds of its tree in all namespaces.",
)
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", help="Output format.")
@click.pass_obj
def agent(log: Log, /, name: str, *, output: str, **options: Any) -> int:
    """Print the manifests of the agent of a member.

    They are its rights, its settings and its Deployment.

    The rights are those of 'argosy rbac', made from the newest tree of the member: print and apply them again when it
    gets new kinds or namespaces. The key for Git is in a Secret that you make, and never in Git: its identity for an
    address of SSH, a gitconfig for HTTPS. The key needs to read argosy/cluster/NAME and to push argosy/agent/NAME.
    """
    from reconciler.check.rights import RightsOptions, rights_manifests
    from reconciler.edit.agent_manifests import manifests_of_agent
    from reconciler.repository import open_repository

    scope = options.pop("scope")
    with open_repository(log.repository, progress=log.transfer) as repository:
        plan = _agent_plan(repository, name, options)
        rights = rights_manifests(
            repository, RightsOptions(cluster=name, scope=_role_scope(scope), is_for_agent=True), log
        )
    manifests = tuple(manifests_of_agent(plan, rights))
    print_output(manifests_as_json_list(manifests) if output == "json" else manifests_as_yaml(manifests), output)
    return 0


def _role_scope(name: str) -> Any:
    from reconciler.check.roles import RoleScope

    return RoleScope(name)


def _agent_plan(repository: Any, name: str, options: dict[str, Any]) -> Any:
    """Return what is to be set up; an error says what it lacks."""
    from reconciler.branches.known_fleets import read_fleet
    from reconciler.branches.publication import address_of_source_remote
    from reconciler.check.rights import account_name
    from reconciler.edit.agent_manifests import AgentPlan
    from reconciler.repository import is_address
    from reconciler.repository.location import address_and_secret_configuration
    from reconciler.repository.trailers import engine_version
    from render.errors import ConfigError

    fleet = read_fleet(repository, repository.resolve("HEAD"))
    address = options.pop("repository") or fleet.rendered.remote or address_of_source_remote(repository)
    if not is_address(address) or address.startswith("file:"):
        raise ConfigError(
            f"{address or 'this repository'!r} is no address that an agent could reach",
            hint="name it: --repository ssh://git@git.example.com/fleet.git",
        )
    image = options.pop("image") or f"argosy:{engine_version()}"
    plan = AgentPlan(
        cluster=name,
        fleet=fleet.name,
        repository=address_and_secret_configuration(address)[0],
        account=account_name(fleet),
        image=image,
        **options,
    )
    if plan.is_ssh and not plan.known_hosts:
        raise click.UsageError("--known-hosts is required for SSH: ssh-keyscan HOST, compared with what the host says")
    return plan
