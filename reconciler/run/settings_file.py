"""The settings file of a controller: RunSettings, read when the process starts and again at each SIGHUP.

A file that cannot be used is refused as a whole, every problem with its line. What stands in it goes before the
defaults of options; an option that was given as well is a problem, for nobody could see which of the two counts.
"""

from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.repository import is_address
from reconciler.run.notices.channels import Channel, ChannelKind
from reconciler.run.web.entry import name_of_host
from reconciler.run.web.signatures import Provider
from reconciler.run.web.webhooks import WebhookSecret
from render.admission import admit_as_kind
from render.admission.run_settings import run_settings_kind
from render.documents import Places, read_documents
from render.errors import ConfigError, InputError, Problem
from render.model import ARGOSY_API_VERSION
from render.notations import host_and_port_of_address, seconds_of_duration

from .leader import LeaseName
from .settings import RunSettings

KIND = "RunSettings"
_MOST_BYTES = 1 << 20
_OPTIONS: Mapping[str, str] = {
    "fleets": "locations",
    "poll": "poll",
    "drift": "drift",
    "bootstrap": "bootstrap",
    "acceptedSettings": "accepted_settings",
    "maxFleets": "max_fleets",
    "passTimeout": "pass_timeout",
    "grace": "grace",
    "webhook.address": "webhook",
    "webhook.secrets": "webhook_secrets",
    "inside": "inside",
    "ui.tokenFile": "ui_token_file",
    "ui.trustHeader": "ui_trust_header",
    "ui.trustedProxies": "ui_trusted_proxies",
    "ui.allowedHosts": "ui_allowed_hosts",
    "notifications": "channels",
    "lease": "lease",
    "members.kubeconfig": "kubeconfig",
    "members.kubeconfigs": "kubeconfigs",
    "members.inCluster": "in_cluster",
    "members.clusters": "clusters",
    "members.selector": "selector",
    "members.maxParallel": "max_parallel",
    "members.timeout": "timeout",
    "members.as": "as_user",
    "members.asGroups": "as_groups",
}
"""The option that says the same as a field, by the name of its value."""


class SettingsFile(Struct, frozen=True, kw_only=True):
    """The file, and the options given beside it: how each is written, by the name of its value."""

    path: Path
    given: Mapping[str, str]

    def settings_over_options(self, options: RunSettings) -> RunSettings:
        """Return the settings of options with those of the file; InputError says what is wrong in it, and where."""
        try:
            with self.path.open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
        except OSError as error:
            reason = (error.strerror or "unreadable").lower()
            raise ConfigError(f"the settings {self.path} cannot be read: {reason}") from error
        if len(content) > _MOST_BYTES:
            raise ConfigError(f"the settings {self.path} are larger than {_MOST_BYTES >> 20} MiB")
        spec, lines = self._admitted_spec(content), Places(content)
        said = {field: option for field, option in _OPTIONS.items() if _value_of_field(spec, field) is not None}
        twice = [
            Problem(
                str(self.path),
                lines.of_field(0, f"spec.{field}").line,
                f"spec.{field}",
                f"is given by {self.given[option]} as well",
                "say it in one place",
            )
            for field, option in said.items()
            if option in self.given
        ]
        if twice:
            raise self._refusal_for_problems(twice)
        return self._options_with_spec(options, spec)

    def _admitted_spec(self, content: bytes) -> Mapping[str, Any]:
        """Return the spec of the only document; InputError where it is none, or something is wrong with it."""
        documents, errors = read_documents(content)
        path = str(self.path)
        if errors:
            raise self._refusal_for_problems([Problem(path, each.line, "", each.message, each.hint) for each in errors])
        value = documents[0].value if len(documents) == 1 else None
        if not isinstance(value, dict) or (value.get("apiVersion"), value.get("kind")) != (ARGOSY_API_VERSION, KIND):
            hint = f"it begins with apiVersion: {ARGOSY_API_VERSION} and kind: {KIND}"
            raise self._refusal_for_problems([Problem(path, 1, "", f"must be one document of kind {KIND}", hint)])
        outcome, places = admit_as_kind(value, run_settings_kind()), Places(content)
        found = [replace(each, path=path, line=places.of_field(0, each.field).line) for each in outcome.problems]
        if found or outcome.object is None:
            raise self._refusal_for_problems(found)
        spec: Mapping[str, Any] = outcome.object["spec"]
        return spec

    def _refusal_for_problems(self, problems: list[Problem]) -> InputError:
        return InputError(problems, summary=f"the settings of {self.path.name} are not used")

    def _options_with_spec(self, options: RunSettings, spec: Mapping[str, Any]) -> RunSettings:
        fields = {name: value for name, value in self._named_values_in_spec(spec) if value is not None}
        delivery = {
            name: value for name, value in self._named_values_in_members(spec.get("members", {})) if value is not None
        }
        page = {name: value for name, value in self._named_values_of_page(spec.get("ui", {})) if value}
        return replace(
            options,
            **fields,
            page=replace(options.page, **page),
            delivery=replace(options.delivery, **delivery),
        )

    def _named_values_in_spec(self, spec: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        fleets, webhook, lease = spec.get("fleets"), spec.get("webhook", {}), spec.get("lease")
        if fleets:
            located = [(self._location_beside_settings(each["repository"]), each.get("name")) for each in fleets]
            yield "locations", tuple(location for location, _ in located)
            yield "names", {location: name for location, name in located if name}
        for field in ("poll", "drift", "passTimeout", "grace"):
            yield _OPTIONS[field], seconds_of_duration(spec[field]) if spec.get(field) else None
        yield "max_fleets", spec.get("maxFleets")
        yield "bootstrap", spec.get("bootstrap")
        accepted = spec.get("acceptedSettings")
        yield "accepted_settings", self._beside_file(accepted) if accepted else None
        if webhook:
            yield "webhook", host_and_port_of_address(webhook["address"])
            yield (
                "webhook_secrets",
                tuple(
                    WebhookSecret(provider=Provider(each["provider"]), file=self._beside_file(each["file"]))
                    for each in webhook["secrets"]
                ),
            )
        yield "inside", host_and_port_of_address(spec["inside"]) if spec.get("inside") else None
        if spec.get("notifications"):
            yield (
                "channels",
                tuple(
                    Channel(
                        kind=ChannelKind(each["kind"]),
                        file=self._beside_file(each["file"]) if each.get("file") else "",
                        context=each.get("context", ""),
                        api=each.get("api", ""),
                        project=each.get("project", ""),
                    )
                    for each in spec["notifications"]
                ),
            )
        if lease:
            named = {name: lease[name] for name in ("namespace", "name") if lease.get(name)}
            yield "lease", LeaseName(cluster=lease["context"], **named)

    def _named_values_of_page(self, page: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        yield "token_file", self._beside_file(page["tokenFile"]) if page.get("tokenFile") else None
        yield "header", page.get("trustHeader")
        yield "proxies", tuple(map(ip_network, page.get("trustedProxies", ())))
        yield "hosts", frozenset(map(name_of_host, page.get("allowedHosts", ())))

    def _named_values_in_members(self, members: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for field in ("inCluster", "selector", "as", "maxParallel"):
            yield _OPTIONS[f"members.{field}"], members.get(field)
        for field in ("kubeconfig", "kubeconfigs"):
            yield field, self._beside_file(members[field]) if members.get(field) else None
        for field in ("clusters", "asGroups"):
            yield _OPTIONS[f"members.{field}"], tuple(members[field]) if members.get(field) else None
        yield "timeout", seconds_of_duration(members["timeout"]) if members.get("timeout") else None

    def _beside_file(self, path: str) -> str:
        """Return a path that begins beside the file of settings, unless it is absolute."""
        return str(self.path.absolute().parent / path)

    def _location_beside_settings(self, location: str) -> str:
        return location if is_address(location) else self._beside_file(location)


def _value_of_field(spec: Mapping[str, Any], field: str) -> Any:
    value: Any = spec
    for name in field.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
