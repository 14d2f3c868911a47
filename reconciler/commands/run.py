"""``argosy run``: the controller - passes over any number of fleets, on each push, on a schedule, and for drift."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import parse_seconds, with_unattended_options
from reconciler.commands.options.page_options import EntryOptions, with_entry_options
from reconciler.commands.options.settings_options import with_accepted_settings_option
from reconciler.console.idle_options import is_option_given
from reconciler.console.log import Log
from reconciler.members.options import DeliveryOptions
from render.notations import host_and_port_of_address

_CHANNELS = ("webhook", "slack", "teams", "github", "gitlab", "gitea", "events")
_PROVIDERS = ("github", "gitlab", "gitea", "forgejo", "bitbucket", "generic")

if TYPE_CHECKING:
    from reconciler.run.settings import RunSettings


def _parse_optional_seconds(context: click.Context, option: click.Parameter, value: str | None) -> float | None:
    return None if value is None else parse_seconds(context, option, value)


def _parse_optional_address(_context: click.Context, _option: click.Parameter, value: str | None) -> Any:
    found = None if value is None else host_and_port_of_address(value)
    if value is not None and found is None:
        raise click.BadParameter("write a port, or a host and a port, such as 0.0.0.0:8080 or [::]:8080")
    return found


def _parse_notice_channels(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> Any:
    pairs = [value.partition("=") for value in values]
    for kind, _, place in pairs:
        if kind not in _CHANNELS or not place:
            raise click.BadParameter(f"write KIND=FILE (events=CONTEXT), with one of {', '.join(_CHANNELS)}")
    return tuple({"kind": kind, "context" if kind == "events" else "file": place} for kind, _, place in pairs)


def _parse_optional_lease(_context: click.Context, _option: click.Parameter, value: str | None) -> Any:
    parts = ("" if value is None else value).split("/")
    if value is not None and (len(parts) > 3 or not all(parts)):
        raise click.BadParameter("write CONTEXT, CONTEXT/NAMESPACE or CONTEXT/NAMESPACE/NAME")
    return None if value is None else dict(zip(("cluster", "namespace", "name"), parts, strict=False))


def _parse_webhook_secrets(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> Any:
    pairs = [value.partition("=") for value in values]
    for provider, _, file in pairs:
        if provider not in _PROVIDERS or not file:
            raise click.BadParameter(f"write PROVIDER=FILE, with one of {', '.join(_PROVIDERS)}")
    return tuple((provider, file) for provider, _, file in pairs)


@click.command(
    cls=DocumentedCommand,
    epilog="SIGTERM: passes finish the clusters they are at, and the process ends within --grace; a second one ends it"
    " at once. SIGHUP: --settings is read again, and folders of repositories are looked through. Exit codes: 0 ended by"
    " SIGTERM; 130 by SIGINT.",
)
@click.argument("repositories", nargs=-1, metavar="[REPO]...")
@click.option(
    "--settings",
    "settings_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read settings from this file, and again at SIGHUP; 'argosy help run-settings' has its fields.",
)
@click.option(
    "--poll",
    callback=_parse_optional_seconds,
    metavar="TIME",
    help="Look at every source so often  [default: 30s for a remote; never for what tells of its changes]",
)
@click.option(
    "--drift",
    default="5m",
    show_default=True,
    callback=parse_seconds,
    metavar="TIME",
    help="Look at members so often where nothing happens.",
)
@click.option("--bootstrap", is_flag=True, help="Allow the first pass of a fleet: there is no rendered branch yet.")
@with_accepted_settings_option
@click.option(
    "--max-fleets",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Run passes over so many fleets at once.",
)
@click.option(
    "--pass-timeout",
    default="1h",
    show_default=True,
    callback=parse_seconds,
    metavar="TIME",
    help="Kill a longer pass.",
)
@click.option(
    "--grace",
    default="25s",
    show_default=True,
    callback=parse_seconds,
    metavar="TIME",
    help="Let passes go on so long after SIGTERM.",
)
@click.option(
    "--webhook",
    callback=_parse_optional_address,
    metavar="[HOST:]PORT",
    help="Let signed webhooks wake fleets: POST /webhook/PROVIDER[/FLEET]  [host: 127.0.0.1]",
)
@click.option(
    "--webhook-secret",
    "webhook_secrets",
    multiple=True,
    callback=_parse_webhook_secrets,
    metavar="PROVIDER=FILE",
    help=f"The secret of a provider's webhooks (repeatable): {', '.join(_PROVIDERS)}.",
)
@click.option(
    "--inside",
    callback=_parse_optional_address,
    metavar="[HOST:]PORT",
    help="Serve /metrics, /healthz, /readyz and the page of 'argosy ui'  [host: 127.0.0.1]",
)
@with_entry_options("ui-")
@click.option(
    "--notify",
    "channels",
    multiple=True,
    callback=_parse_notice_channels,
    metavar="KIND=FILE",
    help=f"Tell people once what changed, at the address or with the token in the file: {', '.join(_CHANNELS[:-1])}. "
    "events=CONTEXT writes Events of Kubernetes.",
)
@click.option(
    "--lease",
    callback=_parse_optional_lease,
    metavar="CONTEXT[/NAMESPACE[/NAME]]",
    help="Run passes only while holding this Lease, of several processes one  [argosy-system/argosy-run]",
)
@with_unattended_options
@click.pass_obj
def command(
    log: Log, /, repositories: tuple[str, ...], settings_file: Path | None, delivery: DeliveryOptions, **options: Any
) -> int:
    """Run reconcile passes for as long as this process lives  [default: over the repository of -C].

    REPO is a repository, its address, or a folder of repositories, each of which is a fleet. A pass over a fleet runs
    when its source changes, every few minutes to find what others changed in members (drift), and again, later each
    time, after it failed. A push to a repository on this machine is noticed at once; a remote is asked for its branch
    alone.

    With --inside the page of 'argosy ui' is served as well: to this machine, and to others who know the token of
    --ui-token-file, or for whom a proxy of --ui-trusted-proxy vouches.

    Each pass is that of 'argosy reconcile', in a process of its own. Whatever goes wrong in one - a source that is
    refused, a remote or clusters that do not answer, a full disk - is logged, and ends neither the process nor the
    passes of other fleets. The last good commit stays applied meanwhile.
    """
    locations, given = repositories or (log.repository,), _given_option_spellings()
    entry = EntryOptions.taken_from(options, "ui_")

    def read_settings() -> "RunSettings":
        from reconciler.run.leader import LeaseName
        from reconciler.run.notices.channels import Channel
        from reconciler.run.settings import RunSettings
        from reconciler.run.web.signatures import Provider
        from reconciler.run.web.webhooks import WebhookSecret

        pairs, lease = options["webhook_secrets"], options["lease"]
        secrets = tuple(WebhookSecret(provider=Provider(provider), file=file) for provider, file in pairs)
        channels = tuple(Channel.parse(each) for each in options["channels"])
        read = {"webhook_secrets": secrets, "lease": LeaseName(**lease) if lease else None, "channels": channels}
        settings = RunSettings(locations=locations, delivery=delivery, page=entry.rules(), **{**options, **read})
        if settings_file is not None:
            from reconciler.run.settings_file import SettingsFile

            settings = SettingsFile(path=settings_file, given=given).settings_over_options(settings)
        settings.check()
        return settings

    return _run_controller(read_settings, log)


def _given_option_spellings() -> dict[str, str]:
    """Return how each option that was given is written, by the name of its value in the settings."""
    params = click.get_current_context().command.params
    names = {str(each.name): each.opts[-1] if isinstance(each, click.Option) else "REPO" for each in params}
    given = {name: written for name, written in names.items() if is_option_given(name)}
    return {"locations" if name == "repositories" else name: written for name, written in given.items()}


def _run_controller(read_settings: Any, log: Log) -> int:
    import gc

    from reconciler.run.controller import Controller

    # Unlike other commands this one lives on, so cycles among its values have to be found.
    gc.enable()
    return Controller(read_settings, log, _page_of_fleets(log)).run()


def _page_of_fleets(log: Log) -> Any:
    """Return how the page of the controller's fleets is made; its templates are loaded when it is first asked for."""

    def make_page(entry: Any, locations: Any) -> Any:
        from functools import cache

        @cache
        def page() -> Any:
            from reconciler.pages.running import RunningPage

            return RunningPage(entry, locations, log)

        def answer_request(environ: Any, start_response: Any) -> Any:
            return page()(environ, start_response)

        return answer_request

    return make_page
