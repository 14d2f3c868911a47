"""Settings that a person accepts: all of a pass, or those that a file outside of the repository has as well.

A change that waits is refused as a whole, and named, old -> new. The last good commit stays enforced meanwhile, by the
settings in force.

The file holds what is meant as it would stand in the source: Fleets for the settings of argosy.yaml, and Sources and
configurations of webhooks for the addresses at which somebody is asked. Each accepts what it says and nothing else.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.console.cleaning import without_passwords
from reconciler.locked.addresses import host_of
from reconciler.locked.lock_file import lock_path
from reconciler.locked.model import ExternalSource
from render.admission import admit
from render.documents import Places, read_documents
from render.errors import ConfigError, GuardRefused, InputError, Problem
from render.fleet_settings import SettingChange, SettingSubject, setting_changes
from render.model import ARGOSY_API_VERSION, Manifest
from render.settings.fleet import Fleet
from render.settings.reading import parse_fleet

from .outward_addresses import webhook_changes
from .removal_guard import NOTHING_COMMITTED

_MOST_BYTES = 1 << 20
_MOST_LISTED = 20
_ARE_TO_CHANGE = "settings that reach outside of the repository or weaken a guard are to change"
_FLEET, _SOURCE = "Fleet", "Source"
_WEBHOOKS = "ResourceInterpreterWebhookConfiguration"
_ACCEPTING = {
    (ARGOSY_API_VERSION, _FLEET),
    (ARGOSY_API_VERSION, _SOURCE),
    ("config.karmada.io/v1alpha1", _WEBHOOKS),
}
"""The kinds of documents by which settings are accepted."""

_OR = f"or is a {_SOURCE} or a {_WEBHOOKS}"


class Acceptance(Struct, frozen=True, kw_only=True):
    """The word of a person: that every setting of a source is meant, or what the settings ought to be.

    ``webhooks`` are the configurations of webhooks that may be asked, ``addresses`` those of Sources, and their hosts.
    """

    is_whole: bool = False
    fleets: tuple[Fleet, ...] = ()
    webhooks: tuple[Manifest, ...] = ()
    addresses: frozenset[str] = frozenset()

    @classmethod
    def read(cls, path: str, *, is_whole: bool = False) -> "Acceptance":
        """Read a file outside of the repository; ConfigError or InputError where it cannot be used."""
        return replace(_read_acceptance(Path(path)) if path else cls(), is_whole=is_whole)

    def still_waiting(self, changes: Iterable[SettingChange], fleet: Fleet) -> tuple[SettingChange, ...]:
        """Return the changes that led to a fleet and that nobody accepts."""
        waiting = tuple(each for each in changes if each.waits)
        if self.is_whole or not waiting:
            return ()
        others = [
            {each.field for each in setting_changes(meant, fleet)} for meant in self.fleets if meant.name == fleet.name
        ]
        known = {(each.field, each.after) for each in webhook_changes((), self.webhooks)}
        return tuple(each for each in waiting if not self._is_meant(each, others, known))

    def _is_meant(self, change: SettingChange, others: list[set[str]], webhooks: set[tuple[str, Any]]) -> bool:
        """Say whether the file has a change; ``others`` are the fields in which each of its Fleets is another one."""
        match change.subject:
            case SettingSubject.FIELD:
                return any(change.field not in fields for fields in others)
            case SettingSubject.WEBHOOK:
                return (change.field, change.after) in webhooks
            case SettingSubject.SOURCE:
                return change.after in self.addresses
            case SettingSubject.FOLDER:
                return False  # paths begin elsewhere then, and no file says from where


NOBODY = Acceptance()


def check_settings_are_accepted(
    waiting: Sequence[SettingChange], path: str, *, hint: str = "", consequence: str = NOTHING_COMMITTED
) -> None:
    """Raise GuardRefused for settings that wait for a person; ``path`` is the file they stand in."""
    if not waiting:
        return
    lines = [f"{_ARE_TO_CHANGE}{consequence}", *_lines_of_changes(waiting, path)]
    accepting = "if they are meant: argosy reconcile --accept-settings, or say them in the file of --accepted-settings"
    raise GuardRefused("\n".join(lines), hint=f"{accepting}; {hint}" if hint else accepting)


def error_with_waiting_settings(error: InputError, waiting: Sequence[SettingChange], path: str) -> InputError:
    """Return the error of a source with the settings that change beside its problems, which would hide them."""
    if not waiting:
        return error
    summary = "\n".join([f"{_ARE_TO_CHANGE}, too", *_lines_of_changes(waiting, path), error.summary])
    return InputError(error.problems, summary=summary, warnings=error.warnings)


def _lines_of_changes(waiting: Sequence[SettingChange], path: str) -> Iterator[str]:
    yield from (f"  {_place_of_setting(each, path)}{without_passwords(str(each))}" for each in waiting[:_MOST_LISTED])
    if len(waiting) > _MOST_LISTED:
        yield f"  and {len(waiting) - _MOST_LISTED} more"


def _place_of_setting(change: SettingChange, path: str) -> str:
    """Return the file that a setting stands in, as the beginning of a line; a webhook's name says enough."""
    if change.subject is SettingSubject.WEBHOOK or not path:
        return ""
    return f"{lock_path(path.rpartition('/')[0]) if change.subject is SettingSubject.SOURCE else path}: "


def changed_settings_on_one_line(changes: Iterable[SettingChange]) -> str:
    """Return changes of settings on one line, without passwords in addresses; empty where there are none."""
    changed_settings = "; ".join(map(str, changes))
    return without_passwords(f"settings: {changed_settings}") if changed_settings else ""


def _read_acceptance(path: Path) -> Acceptance:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {(error.strerror or 'unreadable').lower()}") from error
    if len(content) > _MOST_BYTES:
        raise ConfigError(f"{path} is larger than {_MOST_BYTES >> 20} MiB")
    documents, errors = read_documents(content)
    problems = [Problem(str(path), each.line, "", each.message, each.hint) for each in errors]
    admitted = []
    for number, value in [(number, each.value) for number, each in enumerate(documents) if each.value is not None]:
        if _api_version_and_kind(value) not in _ACCEPTING:
            hint = f"it begins with apiVersion: {ARGOSY_API_VERSION} and kind: Fleet"
            problems.append(Problem(str(path), 0, "", f"document {number + 1} is no Fleet", f"{hint}, {_OR}"))
            continue
        outcome, places = admit(value), Places(content)
        problems += (
            replace(each, path=str(path), line=places.of_field(number, each.field).line) for each in outcome.problems
        )
        if outcome.object is not None and not outcome.problems:
            admitted.append(outcome.object)
    if problems or not admitted:
        raise InputError(problems or [Problem(str(path), 0, "", "holds no Fleet")], summary="no settings are accepted")
    return _acceptance_of(admitted)


def _acceptance_of(admitted: Iterable[Manifest]) -> Acceptance:
    """Return what documents accept: settings, webhooks, and addresses of Sources with their hosts."""
    fleets, webhooks, addresses = [], [], set[str]()
    for each in admitted:
        if each["kind"] == _FLEET:
            fleets.append(parse_fleet(each))
        elif each["kind"] == _SOURCE:
            url = ExternalSource.of(each).place["url"]
            addresses |= {without_passwords(url), host_of(url)}
        else:
            webhooks.append(each)
    return Acceptance(fleets=tuple(fleets), webhooks=tuple(webhooks), addresses=frozenset(addresses))


def _api_version_and_kind(value: object) -> tuple[str, str]:
    return (str(value.get("apiVersion")), str(value.get("kind"))) if isinstance(value, dict) else ("", "")
