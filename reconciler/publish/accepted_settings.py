"""Settings that a person accepts: all of a pass, or those that a file outside of the repository has as well.

A change that waits is refused as a whole, and named, old -> new. The last good commit stays enforced meanwhile, by the
settings in force.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from reconciler.console.cleaning import masked
from render.admission import admit
from render.documents import Places, read_documents
from render.errors import ConfigError, GuardRefused, InputError, Problem
from render.fleet_settings import SettingChange, setting_changes
from render.model import ARGOSY_API_VERSION, Manifest
from render.settings.fleet import Fleet
from render.settings.reading import fleet as parse_fleet

from .removal_guard import NOTHING_COMMITTED

_MOST_BYTES = 1 << 20
_MOST_LISTED = 20


class Acceptance(Struct, frozen=True, kw_only=True):
    """The word of a person: that every setting of a source is meant, or what the settings ought to be."""

    is_whole: bool = False
    fleets: tuple[Fleet, ...] = ()

    @classmethod
    def read(cls, path: str, *, is_whole: bool = False) -> "Acceptance":
        """Read the Fleets of a file outside of the repository; ConfigError or InputError where it cannot be used."""
        return cls(is_whole=is_whole, fleets=_read_fleets(Path(path)) if path else ())

    def still_waiting(self, changes: Iterable[SettingChange], fleet: Fleet) -> tuple[SettingChange, ...]:
        """Return the changes that led to a fleet and that nobody accepts."""
        waiting = tuple(each for each in changes if each.waits)
        if self.is_whole or not waiting:
            return ()
        for meant in self.fleets:
            if meant.name == fleet.name:
                others = {each.field for each in setting_changes(meant, fleet)}
                waiting = tuple(each for each in waiting if each.field in others)
        return waiting


NOBODY = Acceptance()


def check_settings(
    waiting: Sequence[SettingChange], path: str, *, hint: str = "", consequence: str = NOTHING_COMMITTED
) -> None:
    """Raise GuardRefused for settings that wait for a person; ``path`` is the file they stand in."""
    if not waiting:
        return
    lines = [f"settings that reach outside of the repository or weaken a guard are to change{consequence}"]
    where = f"{path}: " if path else ""
    lines += (f"  {where}{masked(str(each))}" for each in waiting[:_MOST_LISTED])
    if len(waiting) > _MOST_LISTED:
        lines.append(f"  and {len(waiting) - _MOST_LISTED} more")
    accepting = "if they are meant: argosy reconcile --accept-settings, or say them in the file of --accepted-settings"
    raise GuardRefused("\n".join(lines), hint=f"{accepting}; {hint}" if hint else accepting)


def settings_line(changes: Iterable[SettingChange]) -> str:
    """Return changes of settings on one line, without passwords in addresses; empty where there are none."""
    told = "; ".join(map(str, changes))
    return masked(f"settings: {told}") if told else ""


def _read_fleets(path: Path) -> tuple[Fleet, ...]:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {(error.strerror or 'unreadable').lower()}") from error
    if len(content) > _MOST_BYTES:
        raise ConfigError(f"{path} is larger than {_MOST_BYTES >> 20} MiB")
    documents, errors = read_documents(content)
    problems = [Problem(str(path), each.line, "", each.message, each.hint) for each in errors]
    values = [(number, each.value) for number, each in enumerate(documents) if each.value is not None]
    fleets: list[Fleet] = []
    for number, value in values:
        if not _is_fleet(value):
            hint = f"it begins with apiVersion: {ARGOSY_API_VERSION} and kind: Fleet"
            problems.append(Problem(str(path), 0, "", f"document {number + 1} is no Fleet", hint))
            continue
        outcome, places = admit(value), Places(content)
        lines = (
            replace(each, path=str(path), line=places.of_field(number, each.field).line) for each in outcome.problems
        )
        problems += lines
        if outcome.object is not None and not outcome.problems:
            fleets.append(parse_fleet(outcome.object))
    if problems or not fleets:
        raise InputError(problems or [Problem(str(path), 0, "", "holds no Fleet")], summary="no settings are accepted")
    return tuple(fleets)


def _is_fleet(value: object) -> bool:
    return isinstance(value, dict) and (value.get("apiVersion"), value.get("kind")) == (ARGOSY_API_VERSION, "Fleet")


def webhook_changes(before: Iterable[Manifest], after: Iterable[Manifest]) -> tuple[SettingChange, ...]:
    """Return the webhooks of the interpreter that are asked at another address, or that nobody asked before."""
    old, new = _addresses(before), _addresses(after)
    changed = (name for name in sorted(new) if old.get(name) != new[name])
    return tuple(SettingChange(field=name, before=old.get(name), after=new[name], waits=True) for name in changed)


def _addresses(manifests: Iterable[Manifest]) -> dict[str, str]:
    """Return where each webhook of the configurations is asked, and by whose authority it is believed."""
    found = {}
    for manifest in manifests:
        for webhook in manifest.get("webhooks") or ():
            client = webhook.get("clientConfig") or {}
            name = f"{manifest['kind']} {manifest['metadata']['name']}: {webhook.get('name')}"
            found[name] = _address(client)
    return found


def _address(client: Manifest) -> str:
    service = client.get("service") or {}
    place = client.get("url") or f"service {service.get('namespace')}/{service.get('name')}:{service.get('port', 443)}"
    path = f"{service.get('path')}" if service.get("path") else ""
    bundle = str(client.get("caBundle") or "")
    return masked(f"{place}{path}") + (
        f" by the authority {sha256(bundle.encode()).hexdigest()[:12]}" if bundle else ""
    )
