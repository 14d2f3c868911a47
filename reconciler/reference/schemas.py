"""JSON Schema of the kinds that people write, made from the very nodes that admission goes by, with their sentences."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from reconciler.outputs.document import document_schema
from reconciler.outputs.documents import DOCUMENTS
from render.admission.charts import HELM_CHART_SPEC
from render.admission.fleets import FLEET_SPEC
from render.admission.policy_tests import POLICY_TEST_SPEC
from render.admission.prices import PRICE_SPEC
from render.admission.resilience import RESILIENCE_SPEC
from render.admission.rollbacks import ROLLBACK_SPEC
from render.admission.rollouts import CONTROL_SPEC, ROLLOUT_SPEC
from render.admission.run_settings import RUN_SETTINGS_SPEC
from render.admission.schema import (
    Anything,
    DecimalNumber,
    Flag,
    ListOf,
    MapOf,
    Node,
    Portion,
    Quantity,
    Record,
    Text,
    Whole,
)
from render.admission.sources import SOURCE_SPEC
from render.model import ARGOSY_API_VERSION

from .fields import FLEET_FIELDS, HELM_CHART_FIELDS, POLICY_TEST_FIELDS, SOURCE_FIELDS, Field
from .karmada import KARMADA_KINDS, KarmadaKind, karmada_kinds
from .resilience_fields import RESILIENCE_FIELDS
from .rollout_fields import (
    CONTROL_FIELDS,
    FIELDS_OF_AFFINITY,
    ROLLBACK_FIELDS,
    ROLLOUT_FIELDS,
    fields_as_in_policies,
)

Shape = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
FieldAt = Callable[[str], Field | None]
"""Return what there is to say about the field at a path."""
RUN_SETTINGS_FIELDS: Mapping[str, Field] = {
    "metadata.name": Field("A name for people; nothing depends on it.", "default"),
    "spec.fleets": Field("The fleets that are kept; without it, those that the command line names."),
    "spec.fleets[].repository": Field("A repository, its address, or a folder of repositories, each of them a fleet."),
    "spec.fleets[].name": Field(
        "The name of the fleet in log lines, metrics and addresses of webhooks; unset, the last part of its address."
    ),
    "spec.poll": Field(
        "The interval at which every source is looked at; unset, remotes that tell nobody of a push are asked every 30"
        " seconds."
    ),
    "spec.drift": Field("The interval at which members are looked at where nothing happened.", "5m"),
    "spec.bootstrap": Field("The first pass of a fleet is allowed: there is no rendered branch yet.", False),
    "spec.acceptedSettings": Field(
        "A file of documents like argosy.yaml, one for each name of a fleet: changed settings that reach outside of a"
        " repository, or weaken a guard, are accepted where they stand in it, too. It is read for every pass."
    ),
    "spec.maxFleets": Field("The number of fleets that passes run over at once, up to 64.", 4),
    "spec.passTimeout": Field("The time after which a pass is killed.", "1h"),
    "spec.grace": Field("The time for which passes may go on after SIGTERM.", "25s"),
    "spec.webhook": Field("The public address, where signed webhooks wake fleets."),
    "spec.webhook.address": Field("The port, or the host and the port, such as `0.0.0.0:8080`."),
    "spec.webhook.secrets": Field("The secrets that webhooks are signed with."),
    "spec.webhook.secrets[].provider": Field("The sender of webhooks."),
    "spec.webhook.secrets[].file": Field("The file of the secret, which is read for every webhook."),
    "spec.inside": Field(
        "The address of `/metrics`, `/healthz`, `/readyz` and the page: a port, or a host and a port."
    ),
    "spec.ui": Field(
        "The rules of who may see the page at the inside address. Without them it is served to this machine alone."
    ),
    "spec.ui.tokenFile": Field("The file of a token that is asked for, of 16 bytes at least; read at each request."),
    "spec.ui.trustHeader": Field(
        "The header in which a proxy says who asks, such as `X-Forwarded-User`; it goes with `trustedProxies`."
    ),
    "spec.ui.trustedProxies": Field("The addresses and networks of the proxies that the header counts from."),
    "spec.ui.allowedHosts": Field("Further names by which the page may be asked for, such as that of the proxy."),
    "spec.notifications": Field("The channels by which people are told once what changed."),
    "spec.notifications[].kind": Field("The form of a channel."),
    "spec.notifications[].file": Field("The file with the address of a channel, or with the token of a forge."),
    "spec.notifications[].context": Field("The context of the cluster that Events are written to (kind: events)."),
    "spec.notifications[].api": Field("The address of a forge's API; unset, the address of the source says so."),
    "spec.notifications[].project": Field("The project on a forge; unset, the address of the source says so."),
    "spec.lease": Field("The Lease of which only the holder runs passes, where there are several controllers."),
    "spec.lease.context": Field("The context of the cluster that has the Lease."),
    "spec.lease.namespace": Field("The namespace of the Lease.", "argosy-system"),
    "spec.lease.name": Field("The name of the Lease.", "argosy-run"),
    "spec.members": Field("The choice of members, and how they are reached, as options of the same names say it."),
    "spec.members.kubeconfig": Field("A file of contexts, one named like each cluster."),
    "spec.members.kubeconfigs": Field("A folder with one kubeconfig for each cluster."),
    "spec.members.inCluster": Field("The member that the controller runs in."),
    "spec.members.clusters": Field("The only members that are applied to; unset, all.", []),
    "spec.members.selector": Field("The labels of the members that are applied to, such as `env=prod,tier`."),
    "spec.members.maxParallel": Field("The number of members that are worked on at once, up to 512.", 32),
    "spec.members.timeout": Field("The time for all that a pass does in one member.", "5m"),
    "spec.members.as": Field("The user that passes act as in members."),
    "spec.members.asGroups": Field("The groups that passes act as, with `as`.", []),
}
"""The fields of RunSettings."""

PRICE_FIELDS: Mapping[str, Field] = {
    "metadata.name": Field("The name of the list. Several are read in the order of their names."),
    "spec.currency": Field("The currency of all prices, by its three letters, such as `EUR`. A source has one."),
    "spec.prices": Field(
        "The prices of clusters. The first entry of all lists that selects a cluster, and has prices, counts there; a"
        " cluster that none selects has no price, and costs there are unknown, never 0."
    ),
    "spec.prices[].clusterAffinity": Field("The clusters that it is about; left out, all."),
    **fields_as_in_policies("spec.prices[].clusterAffinity", *FIELDS_OF_AFFINITY),
    "spec.prices[].perHour": Field(
        "The price of each resource for an hour: of a core of `cpu`, of a GiB of `memory`, `ephemeral-storage` and"
        " `hugepages-SIZE`, and of one of any other, such as `nvidia.com/gpu`. A number, or a text where it has more"
        " than 15 digits. What is not named is unknown there; `0` says that it is free."
    ),
    "spec.prices[].carbon": Field(
        "An experiment, which may change: the grams of CO2e for an hour of each resource, as in `perHour`. Of all"
        " entries that say any, the first that selects a cluster counts."
    ),
}
"""The fields of a PriceList."""


class InputKind(NamedTuple):
    """A kind that people write: one sentence, the schema of its spec, and the sentences about its fields."""

    about: str
    spec: Record
    fields: Mapping[str, Field]
    required: tuple[str, ...] = ()

    @property
    def schema(self) -> Record:
        """The schema of the whole document, but for its apiVersion and its kind."""
        is_named, is_specified = "metadata" in self.required, "spec" in self.required
        metadata = Record({"name!" if is_named else "name": Text()})
        return Record(
            {"metadata!" if is_named else "metadata": metadata, "spec!" if is_specified else "spec": self.spec}
        )


INPUTS: Mapping[str, InputKind] = {
    "Fleet": InputKind("The settings of a fleet, in argosy.yaml.", FLEET_SPEC, FLEET_FIELDS),
    "PolicyTest": InputKind(
        "A test of policies: where objects must go.", POLICY_TEST_SPEC, POLICY_TEST_FIELDS, ("metadata", "spec")
    ),
    "Source": InputKind(
        "Another repository or a chart, pinned by argosy.lock.", SOURCE_SPEC, SOURCE_FIELDS, ("metadata", "spec")
    ),
    "HelmChart": InputKind(
        "A chart that is rendered, and its values.", HELM_CHART_SPEC, HELM_CHART_FIELDS, ("metadata", "spec")
    ),
    "RolloutPolicy": InputKind(
        "How changes of objects of one namespace go out, wave by wave.",
        ROLLOUT_SPEC,
        ROLLOUT_FIELDS,
        ("metadata", "spec"),
    ),
    "ClusterRolloutPolicy": InputKind(
        "How changes of objects of any namespace, or of none, go out, wave by wave.",
        ROLLOUT_SPEC,
        ROLLOUT_FIELDS,
        ("metadata", "spec"),
    ),
    "RolloutControl": InputKind(
        "What a person asks of one change that goes out.", CONTROL_SPEC, CONTROL_FIELDS, ("metadata", "spec")
    ),
    "RollbackRequest": InputKind(
        "The splits that an earlier rendered commit had, to stand again.",
        ROLLBACK_SPEC,
        ROLLBACK_FIELDS,
        ("metadata", "spec"),
    ),
    "PriceList": InputKind(
        "What clusters charge for what workloads request.", PRICE_SPEC, PRICE_FIELDS, ("metadata", "spec")
    ),
    "ResiliencePolicy": InputKind(
        "The losses of clusters that objects of one namespace have to survive.",
        RESILIENCE_SPEC,
        RESILIENCE_FIELDS,
        ("metadata", "spec"),
    ),
    "ClusterResiliencePolicy": InputKind(
        "The losses of clusters that objects of any namespace, or of none, have to survive.",
        RESILIENCE_SPEC,
        RESILIENCE_FIELDS,
        ("metadata", "spec"),
    ),
    "RunSettings": InputKind(
        "The settings of a controller, for argosy run --settings.", RUN_SETTINGS_SPEC, RUN_SETTINGS_FIELDS, ("spec",)
    ),
}
"""Every kind of Argosy's own that people write."""


KINDS: Mapping[str, str] = {
    **{kind: each.about for kind, each in INPUTS.items()},
    **KARMADA_KINDS,
    **{each.kind: each.about for each in DOCUMENTS},
}
"""Every kind that ``argosy schema`` knows, with its sentence."""


def json_schema_of_kind(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind."""
    api_version, found = _api_version_and_schema_of_kind(kind)
    properties = {"apiVersion": {"const": api_version}, "kind": {"const": kind}, **found["properties"]}
    return {"$schema": DIALECT, "title": kind, **found, "properties": properties}


def _api_version_and_schema_of_kind(kind: str) -> tuple[str, Shape]:
    """Return the apiVersion of a kind, and the schema of what stands beside it."""
    if kind in INPUTS:
        found = INPUTS[kind]
        return ARGOSY_API_VERSION, _json_schema_of_object(found.about, found.schema, found.fields.get)
    if kind in KARMADA_KINDS:
        its = karmada_kinds()[kind]
        return its.api_version, _json_schema_of_object(its.about, its.schema, partial(field_of_karmada, its))
    return ARGOSY_API_VERSION, document_schema(next(each for each in DOCUMENTS if each.kind == kind))


def field_of_karmada(kind: KarmadaKind, path: str) -> Field | None:
    """Return what there is to say about a field; there is nothing about the items of a list or a map."""
    is_item = path.endswith(("[]", ".*"))
    return None if is_item or not kind.sentence(path) else Field(kind.sentence(path))


def _json_schema_of_object(about: str, schema: Record, field_at: FieldAt) -> Shape:
    shape = _json_schema_without_description(schema, "", lambda path: field_at(path.removeprefix(".")))
    # Labels and annotations may stand beside the name, as in any object.
    metadata = {**shape["properties"]["metadata"], "additionalProperties": True}
    required = ["apiVersion", "kind", *shape.get("required", ())]
    return {
        "description": about,
        **shape,
        "properties": {**shape["properties"], "metadata": metadata},
        "required": required,
    }


def json_schema_of_node(node: Node, path: str, field_at: FieldAt) -> Shape:
    """Return the JSON Schema of a node, with what there is to say about the field at its path."""
    shape, field = _json_schema_without_description(node, path, field_at), field_at(path)
    if field is None:
        return shape
    known = field.default if field.default is not None else getattr(node, "default", None)
    default = {} if known is None else {"default": known}
    return {"description": field.about, **shape, **default}


_SIMPLE: Mapping[type[Node], Shape] = {
    Flag: {"type": "boolean"},
    Quantity: {"type": ["string", "number"]},
    Portion: {"type": ["integer", "string"]},
    DecimalNumber: {"type": ["number", "string"], "minimum": 0},
    Anything: {},
}


def _json_schema_without_description(node: Node, path: str, field_at: FieldAt) -> Shape:
    match node:
        case Text():
            return _json_schema_of_text(node)
        case Whole():
            return {"type": "integer"} if node.minimum is None else {"type": "integer", "minimum": node.minimum}
        case ListOf():
            shape = {"type": "array", "items": json_schema_of_node(node.items, f"{path}[]", field_at)}
            return {**shape, "minItems": node.min_items} if node.min_items else shape
        case MapOf():
            return {"type": "object", "additionalProperties": json_schema_of_node(node.values, f"{path}.*", field_at)}
        case Record():
            return _json_schema_of_struct(node, path, field_at)
    return dict(_SIMPLE[type(node)])


def _json_schema_of_text(node: Text) -> Shape:
    words = [*node.choices, *(former for former, _ in node.former)]
    shape: Shape = {"type": "string", "enum": words} if words else {"type": "string"}
    lengths = {"minLength": node.min_length, "maxLength": node.max_length}
    return {**shape, **{name: length for name, length in lengths.items() if length}}


def _json_schema_of_struct(node: Record, path: str, field_at: FieldAt) -> Shape:
    fields = {name.removesuffix("!"): each for name, each in node.fields.items()}
    properties = {name: json_schema_of_node(each, f"{path}.{name}", field_at) for name, each in fields.items()}
    required = [name[:-1] for name in node.fields if name.endswith("!")]
    shape: Shape = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**shape, "required": required} if required else shape


def nodes_by_field_path(node: Node, path: str) -> Iterator[tuple[str, Node]]:
    """Yield every field below a node with its path; a list's items have the path of the list with ``[]``.

    >>> [path for path, _ in nodes_by_field_path(Record({"kinds": ListOf(Record({"kind!": Text()}))}), "spec")]
    ['spec.kinds', 'spec.kinds[].kind']
    """
    match node:
        case Record():
            for name, each in node.fields.items():
                inner = f"{path}.{name.removesuffix('!')}"
                yield inner, each
                yield from nodes_by_field_path(each, inner)
        case ListOf():
            yield from nodes_by_field_path(node.items, f"{path}[]")
