"""What ``argosy diff --live`` does: look at the members and say what applying a rendered commit would change there."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from reconciler.report import Log
from reconciler.repository import open_repository

from .apply_command import applied_commit
from .deliveries import asked_of, deliver, exit_code, member_access
from .live_differences import as_json, as_text, live_changes


def show_live_difference(log: Log, revision: str, options: Mapping[str, Any], output: str) -> int:
    """Compare what members hold with a rendered commit and print what differs; return 1 when anything does."""
    # What changes is the answer itself; on stderr it would only stand a second time.
    told = replace(log, level=log.level - 1)
    with open_repository(log.repository, progress=log.transfer) as repository:
        fleetwide, _, commit = applied_commit(repository, revision)
        delivery = replace(asked_of(fleetwide, options, log), is_observing=True)
        access = member_access(fleetwide.fleet, options, str(repository.folder.work_tree or ""))
        reports = deliver(fleetwide, commit, delivery, access, told)
    click.echo(as_json(commit, reports) + "\n" if output == "json" else "".join(as_text(reports)), nl=False)
    code = exit_code(reports)
    return 1 if any(live_changes(report) for report in reports) else code
