"""RunSettings of argosy.dev/v1alpha1, the settings of a controller: their schema, and the rules for their values.

They stand in a file of the machine that ``argosy run`` runs on, never in a source: whoever may push there could
otherwise have secrets sent to a place of his own.
"""

from collections import Counter
from typing import Any

from render.addresses import is_ip_address_or_network
from render.expressions import lazy_expression
from render.model import ARGOSY_API_VERSION
from render.notations import host_and_port_of_address, seconds_of_duration
from render.syntax import quoted_text

from .findings import Findings
from .fleets import set_fleet_name
from .schema import INT32, Flag, ListOf, Record, Text, Whole
from .shared_schema import TEXT, TEXTS
from .stages import AdmittedKind
from .walking import Reading, walk_for_node

PROVIDERS = ("github", "gitlab", "gitea", "forgejo", "bitbucket", "generic")
FORGES = ("github", "gitlab", "gitea")
EVENTS = "events"
CHANNELS = ("webhook", "slack", "teams", *FORGES, EVENTS)
_GIVEN = Text(min_length=1)
_FLEET_NAME = lazy_expression(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TIMES = ("poll", "drift", "passTimeout", "grace")
_MOST_FLEETS, _MOST_PARALLEL = 64, 512

RUN_SETTINGS_SPEC = Record(
    {
        "fleets": ListOf(Record({"repository!": _GIVEN, "name": TEXT})),
        "poll": TEXT,
        "drift": TEXT,
        "bootstrap": Flag(),
        "acceptedSettings": TEXT,
        "maxFleets": Whole(INT32, minimum=1),
        "passTimeout": TEXT,
        "grace": TEXT,
        "webhook": Record(
            {
                "address!": _GIVEN,
                "secrets!": ListOf(Record({"provider!": Text(choices=PROVIDERS), "file!": _GIVEN}), min_items=1),
            }
        ),
        "inside": TEXT,
        "ui": Record(
            {
                "tokenFile": TEXT,
                "trustHeader": TEXT,
                "trustedProxies": TEXTS,
                "allowedHosts": TEXTS,
            }
        ),
        "notifications": ListOf(
            Record({"kind!": Text(choices=CHANNELS), "file": TEXT, "context": TEXT, "api": TEXT, "project": TEXT})
        ),
        "lease": Record({"context!": _GIVEN, "namespace": TEXT, "name": TEXT}),
        "members": Record(
            {
                "kubeconfig": TEXT,
                "kubeconfigs": TEXT,
                "inCluster": TEXT,
                "clusters": TEXTS,
                "selector": TEXT,
                "maxParallel": Whole(INT32, minimum=1),
                "timeout": TEXT,
                "as": TEXT,
                "asGroups": TEXTS,
            }
        ),
    }
)


def run_settings_kind() -> AdmittedKind:
    """Return the admission of RunSettings, which are in no source and so among no other kinds."""
    return AdmittedKind(
        api_version=ARGOSY_API_VERSION,
        kind="RunSettings",
        is_namespaced=False,
        schema=RUN_SETTINGS_SPEC,
        spec=walk_for_node(RUN_SETTINGS_SPEC, Reading(is_typed=False)),
        prepare=set_fleet_name,
        check=_check_run_settings,
    )


def _check_run_settings(settings: dict[str, Any], findings: Findings) -> None:
    """Report times and addresses that are none, numbers beyond their bounds, and names that are given twice."""
    spec = settings["spec"]
    members, webhook = spec.get("members", {}), spec.get("webhook", {})
    times = [(f"spec.{name}", spec.get(name)) for name in _TIMES]
    for field, text in [*times, ("spec.members.timeout", members.get("timeout"))]:
        if text and seconds_of_duration(text) is None:
            findings.problem(field, f"{quoted_text(text)} is no duration", hint="such as 90s, 5m or 1h")
    for field, text in (("spec.webhook.address", webhook.get("address")), ("spec.inside", spec.get("inside"))):
        if text and host_and_port_of_address(text) is None:
            findings.problem(
                field, f"{quoted_text(text)} is no address", hint="such as 8080, 0.0.0.0:8080 or [::]:8080"
            )
    _check_number_is_at_most("spec.maxFleets", spec.get("maxFleets"), _MOST_FLEETS, findings)
    _check_number_is_at_most("spec.members.maxParallel", members.get("maxParallel"), _MOST_PARALLEL, findings)
    _check_entry_to_page(spec.get("ui", {}), findings)
    if members.get("asGroups") and not members.get("as"):
        findings.problem("spec.members.asGroups", "goes with as, as for kubectl")
    _check_notice_channels(spec.get("notifications", ()), findings)
    _check_names_of_fleets(spec.get("fleets", ()), findings)


def _check_number_is_at_most(field: str, number: int | None, most: int, findings: Findings) -> None:
    if number and number > most:
        findings.problem(field, f"must be at most {most}, not {number}")


def _check_entry_to_page(page: Any, findings: Findings) -> None:
    for index, text in enumerate(page.get("trustedProxies", ())):
        if not is_ip_address_or_network(text):
            hint = "such as 10.0.0.7 or 10.0.0.0/8"
            findings.problem(f"spec.ui.trustedProxies[{index}]", f"{quoted_text(text)} is no address", hint=hint)
    if bool(page.get("trustHeader")) != bool(page.get("trustedProxies")):
        findings.problem("spec.ui", "trustHeader counts only from trustedProxies: one goes with the other")


def _check_notice_channels(channels: Any, findings: Findings) -> None:
    for index, each in enumerate(channels):
        if each["kind"] not in FORGES and (each.get("api") or each.get("project")):
            findings.problem(f"spec.notifications[{index}]", f"api and project go with {', '.join(FORGES)}")
        wanted, other = ("context", "file") if each["kind"] == EVENTS else ("file", "context")
        if not each.get(wanted):
            findings.required(f"spec.notifications[{index}].{wanted}")
        if each.get(other):
            findings.problem(f"spec.notifications[{index}].{other}", f"does not go with {each['kind']}")


def _check_names_of_fleets(fleets: Any, findings: Findings) -> None:
    names = Counter(each["name"] for each in fleets if each.get("name"))
    for index, each in enumerate(fleets):
        name, field = each.get("name"), f"spec.fleets[{index}].name"
        if name and not _FLEET_NAME.fullmatch(name):
            findings.problem(
                field, f"{quoted_text(name)} is no name of a fleet", hint="letters, digits, '.', '_' and '-'"
            )
        elif name and names[name] > 1:
            findings.problem(field, f"{quoted_text(name)} is the name of {names[name]} fleets", kind="Duplicate")
