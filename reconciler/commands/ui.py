"""``argosy ui``: the page over the fleet of a repository, served to a browser."""

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.commands.options.member_options import with_access_options_of_page
from reconciler.commands.options.page_options import EntryOptions, with_entry_options
from reconciler.console.log import Log
from render.notations import host_and_port_of_address

if TYPE_CHECKING:
    from reconciler.pages.reader import FleetReader
    from reconciler.run.web.entry import EntryRules


class UiOptions(Struct, frozen=True, kw_only=True):
    """The options of ``argosy ui``."""

    listen: tuple[str, int]
    opens_browser: bool
    entry: EntryOptions
    access_words: tuple[str, ...] = ()


def _parse_address(_context: click.Context, _option: click.Parameter, value: str) -> Any:
    found = host_and_port_of_address(value)
    if found is None:
        raise click.BadParameter("write a port, or a host and a port, such as 0.0.0.0:8400 or [::]:8400")
    return found


@click.command(
    cls=DocumentedCommand, epilog="Exit codes: 0 ended by SIGTERM; 3 the address cannot be served; 130 by ^C."
)
@click.option(
    "--listen",
    default="127.0.0.1:8400",
    show_default=True,
    callback=_parse_address,
    metavar="[HOST:]PORT",
    help="Serve the page here; port 0 takes one that is free.",
)
@with_entry_options("")
@with_access_options_of_page
@click.option("--open", "opens_browser", is_flag=True, help="Open the page in the browser of this machine.")
@click.pass_obj
def command(log: Log, /, **options: Any) -> int:
    """Look at the fleet in a browser.

    The page shows what the branches say, as they are known here: what is unwell, what changes, where each object is and
    why, as it is now or was at any time or commit. It writes nothing: what changes something is shown as a command to
    run. Each page names the command that prints the same, and has that command's JSON at its address with .json behind
    it. Where the repository holds several fleets, the first page lists them.

    Where members are reached, the pages of objects ask them for pods, events and logs, with the rights of whoever runs
    this command.

    It is served to this machine alone, unless a token is asked for or a proxy says who asks. A browser asks for the
    token as a password; programs send it as 'Authorization: Bearer TOKEN'. Nothing is encrypted: beyond this machine,
    put a proxy with TLS before it.
    """
    return serve_page(log, UiOptions(entry=EntryOptions.taken_from(options), **options))


def serve_page(log: Log, options: UiOptions) -> int:
    """Serve the page until somebody ends it."""
    import gc

    from msgspec.structs import replace

    from reconciler.run.web.entry import NAMES_OF_THIS_MACHINE

    entry = replace(options.entry.rules(), is_local=options.listen[0] in NAMES_OF_THIS_MACHINE)
    entry.check()
    readers = _readers_at(log.repository, options.access_words)
    # This command lives on, so cycles among its values have to be found.
    gc.enable()
    return _serve_until_ended(log, options, entry, readers)


def _serve_until_ended(log: Log, options: UiOptions, entry: "EntryRules", readers: "dict[str, FleetReader]") -> int:
    import signal

    from reconciler.pages.serving import PageApplication
    from reconciler.pages.web_pages import WebPages, read_ahead
    from reconciler.run.web.serving import WebServer

    ended: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: ended.append(number))
    for reader in readers.values():
        reader.follow(read_ahead)
    application = PageApplication(pages=WebPages(fleets=lambda: readers), entry=entry, log=log)
    server = WebServer(application, *options.listen)
    host = f"[{options.listen[0]}]" if ":" in options.listen[0] else options.listen[0]
    address = f"http://{host}:{server.port}/"
    log.info(f"the page is at {address}")
    if options.opens_browser:
        import webbrowser

        webbrowser.open(address)
    while not ended:
        signal.pause()
    server.close()
    for reader in readers.values():
        reader.close()
    return 130 if ended[0] == signal.SIGINT else 0


def _readers_at(location: str, access_words: tuple[str, ...]) -> "dict[str, FleetReader]":
    """Return what reads each fleet at a location, by the names of the fleets."""
    from reconciler.branches.fleet_folders import locations_of_fleets
    from reconciler.pages.reader import FleetReader

    places = locations_of_fleets(location)
    return {name: FleetReader(where, name, access_words=access_words) for name, where in places.items()}
