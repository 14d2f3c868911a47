"""No-op detection by managed fields against values: what differs, who owns it, and what is nobody's drift."""

import copy
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from reconciler.plans.field_paths import path_text
from reconciler.plans.ownership import (
    DifferenceKind,
    Owner,
    differences_from_wanted,
    fields_of_other_managers,
    managed_fields_entry,
    owned_part,
    owners_at,
)
from reconciler.plans.payload import LAST_APPLIED

from .fake_fields import owned_by_update, server_side_applied
from .tables import each_row

WEB: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "web",
                        "image": "nginx",
                        "args": ["-a", "-b"],
                        "env": [{"name": "A", "value": "1"}],
                        "ports": [{"containerPort": 80}],
                        "resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}},
                        "securityContext": {},
                    }
                ],
                "tolerations": [{"key": "a"}],
            },
        },
    },
}
FIELDS: dict[str, Any] = {
    "f:metadata": {"f:labels": {"f:app": {}}},
    "f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:template": {
            "f:metadata": {"f:labels": {"f:app": {}}},
            "f:spec": {
                "f:containers": {
                    'k:{"name":"web"}': {
                        ".": {},
                        "f:name": {},
                        "f:image": {},
                        "f:args": {},
                        "f:env": {'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}}},
                        "f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}},
                        "f:resources": {"f:limits": {"f:cpu": {}, "f:memory": {}}},
                        "f:securityContext": {},
                    }
                },
                "f:tolerations": {},
            },
        },
    },
}


def live_web() -> dict[str, Any]:
    """WEB as a server holds it: defaults added, quantities in canonical form, a second entry of a controller's."""
    live = copy.deepcopy(WEB)
    live["spec"]["strategy"] = {"type": "RollingUpdate"}
    container = live["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"limits": {"cpu": "1", "memory": "1Gi"}}
    container["ports"] = [{"containerPort": 80, "protocol": "TCP"}]
    container["imagePullPolicy"] = "Always"
    live["metadata"]["uid"] = "u"
    live["status"] = {"replicas": 2}
    return live


def changed(document: Any, path: list[Any], value: Any) -> Any:
    """A copy with another value at a path; None takes it out."""
    copied = copy.deepcopy(document)
    target = copied
    for step in path[:-1]:
        target = target[step]
    if value is None:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return copied


CONTAINER = ["spec", "template", "spec", "containers", 0]
TOLERATIONS = ["spec", "template", "spec", "tolerations"]
OWNED = ["f:spec", "f:template", "f:spec", "f:containers", 'k:{"name":"web"}']


class Case(NamedTuple):
    why: str
    want: Any
    live: Any
    fields: Any
    found: list[str]


CASES = [
    Case("defaults, canonical quantities and empty structs are no drift", WEB, live_web(), FIELDS, []),
    Case(
        "a value somebody took",
        WEB,
        live_web(),
        changed(FIELDS, ["f:spec", "f:replicas"], None),
        ["Lost .spec.replicas"],
    ),
    Case(
        "a value an old server changed without telling",
        WEB,
        changed(live_web(), ["spec", "replicas"], 5),
        FIELDS,
        ["Modified .spec.replicas"],
    ),
    Case(
        "a field the manifest dropped",
        changed(WEB, ["spec", "replicas"], None),
        live_web(),
        FIELDS,
        ["Dropped .spec.replicas"],
    ),
    Case(
        "a label the manifest gained",
        changed(WEB, ["metadata", "labels", "tier"], "front"),
        live_web(),
        FIELDS,
        ["Lost .metadata.labels.tier"],
    ),
    Case(
        "an item of a list somebody removed",
        WEB,
        changed(live_web(), [*CONTAINER, "env"], []),
        changed(FIELDS, [*OWNED, "f:env"], None),
        ['Lost .spec.template.spec.containers[name="web"].env'],
    ),
    Case(
        "an item the manifest gained",
        changed(WEB, [*CONTAINER, "env"], [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]),
        live_web(),
        FIELDS,
        ['Lost .spec.template.spec.containers[name="web"].env[name="B"]'],
    ),
    Case(
        "an item the manifest dropped",
        changed(WEB, [*CONTAINER, "env"], []),
        live_web(),
        FIELDS,
        ['Dropped .spec.template.spec.containers[name="web"].env[name="A"]'],
    ),
    Case(
        "a port by its number alone is the one whose protocol is the default",
        changed(WEB, [*CONTAINER, "ports"], [{"containerPort": 81}]),
        live_web(),
        FIELDS,
        [
            'Dropped .spec.template.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"]',
            'Lost .spec.template.spec.containers[name="web"].ports[containerPort=81]',
        ],
    ),
    Case(
        "another order of arguments",
        changed(WEB, [*CONTAINER, "args"], ["-b", "-a"]),
        live_web(),
        FIELDS,
        ['Modified .spec.template.spec.containers[name="web"].args'],
    ),
    Case("a null claims nothing", WEB | {"spec": {**WEB["spec"], "paused": None}}, live_web(), FIELDS, []),
    Case("an empty list claims nothing", WEB | {"spec": {**WEB["spec"], "items": []}}, live_web(), FIELDS, []),
    Case(
        "an item of a list that is one piece has more than is wanted: a default, or what an earlier manifest said",
        WEB,
        changed(live_web(), TOLERATIONS, [{"key": "a", "operator": "Equal"}]),
        FIELDS,
        ["FilledIn .spec.template.spec.tolerations"],
    ),
    Case(
        "a mapping that is one piece has more than is wanted",
        WEB,
        changed(live_web(), ["spec", "selector", "matchLabels", "version"], "1"),
        FIELDS,
        ["FilledIn .spec.selector"],
    ),
    Case(
        "an item of a list that is one piece lacks what is wanted and empty, which need not mean the same",
        changed(WEB, TOLERATIONS, [{"key": "a", "tolerationSeconds": 0}]),
        live_web(),
        FIELDS,
        ["FilledIn .spec.template.spec.tolerations"],
    ),
    Case(
        "an empty mapping that nobody owns may mean something else than none",
        changed(WEB, ["spec", "template", "spec", "affinity"], {}),
        live_web(),
        FIELDS,
        ["FilledIn .spec.template.spec.affinity"],
    ),
    Case(
        "a number of our own that is left out because it is zero",
        changed(WEB, ["spec", "minReadySeconds"], 0),
        live_web(),
        changed(FIELDS, ["f:spec", "f:minReadySeconds"], {}),
        [],
    ),
    Case(
        "items in another order, which nobody owns",
        changed(WEB, [*CONTAINER, "env"], [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]),
        changed(live_web(), [*CONTAINER, "env"], [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]),
        changed(FIELDS, [*OWNED, "f:env", 'k:{"name":"B"}'], {".": {}, "f:name": {}, "f:value": {}}),
        ['FilledIn .spec.template.spec.containers[name="web"].env'],
    ),
    Case(
        "an item that somebody put between those that are wanted",
        changed(WEB, [*CONTAINER, "env"], [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]),
        changed(
            live_web(),
            [*CONTAINER, "env"],
            [{"name": "A", "value": "1"}, {"name": "X", "value": "3"}, {"name": "B", "value": "2"}],
        ),
        changed(FIELDS, [*OWNED, "f:env", 'k:{"name":"B"}'], {".": {}, "f:name": {}, "f:value": {}}),
        [],
    ),
    Case(
        "a custom resource's quantity is stored as it is written",
        changed(WEB, ["apiVersion"], "example.com/v1"),
        live_web(),
        FIELDS,
        [f'FilledIn .spec.template.spec.containers[name="web"].resources.limits.{name}' for name in ("cpu", "memory")],
    ),
    Case(
        "somebody else's label is not looked at", WEB, changed(live_web(), ["metadata", "labels", "x"], "y"), FIELDS, []
    ),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_differences(case: Case) -> None:
    found = [
        f"{item.change} {path_text(item.path)}" for item in differences_from_wanted(case.want, case.live, case.fields)
    ]
    assert found == case.found


def test_two_protocols_of_one_port_are_told_apart() -> None:
    ports = [{"port": 53}, {"port": 53, "protocol": "UDP"}]
    want = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "dns"}, "spec": {"ports": ports}}
    live = {**want, "spec": {"ports": [{"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]}}
    tcp, udp = 'k:{"port":53,"protocol":"TCP"}', 'k:{"port":53,"protocol":"UDP"}'
    owned: Any = {tcp: {".": {}, "f:port": {}}, udp: {".": {}, "f:port": {}, "f:protocol": {}}}
    assert differences_from_wanted(want, live, {"f:spec": {"f:ports": owned}}) == ()


def test_finalizers_are_a_set() -> None:
    want = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x", "finalizers": ["a", "b"]}}
    live = {**want, "metadata": {"name": "x", "finalizers": ["theirs", "b"]}}
    fields: Any = {"f:metadata": {"f:finalizers": {".": {}, 'v:"a"': {}, 'v:"b"': {}}}}
    found = [f"{item.change} {path_text(item.path)}" for item in differences_from_wanted(want, live, fields)]
    assert found == ['Modified .metadata.finalizers[="a"]']


def with_entries(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "x", "managedFields": list(entries)}, "spec": {"a": 1, "b": 2, "c": 3}}


def an_entry(manager: str, fields: dict[str, Any], operation: str = "Update", **more: str) -> dict[str, Any]:
    return {"manager": manager, "operation": operation, "time": "2026-11-21T12:00:00Z", "fieldsV1": fields, **more}


OURS = an_entry("argosy", {"f:spec": {"f:a": {}}}, "Apply")


def test_our_entry_is_our_apply_alone() -> None:
    ours_by_update = an_entry("argosy", {"f:spec": {"f:b": {}}})
    of_status = an_entry("argosy", {"f:status": {}}, "Apply", subresource="status")
    assert managed_fields_entry(with_entries(ours_by_update, of_status), "argosy") is None
    assert managed_fields_entry(with_entries(ours_by_update, of_status, OURS), "argosy") == OURS


def test_owners_of_a_field_of_a_part_and_of_the_whole() -> None:
    live = with_entries(
        OURS,
        an_entry("field", {"f:spec": {"f:a": {}}}),
        an_entry("whole", {"f:spec": {}}),
        an_entry("inside", {"f:spec": {"f:a": {"f:x": {}}}}, subresource="scale"),
        an_entry("beside", {"f:spec": {"f:b": {}}}),
    )
    time = "2026-11-21T12:00:00Z"
    assert owners_at(live, ("spec", "a"), {"argosy"}) == (
        Owner("field", "", time),
        Owner("whole", "", time),
        Owner("inside", "scale", time),
    )


class Person(NamedTuple):
    manager: str
    is_person: bool


@each_row(
    "case",
    [
        Person("kubectl", True),
        Person("kubectl-client-side-apply", True),
        Person("kubectl-edit", True),
        Person("k9s", True),
        Person("Lens", True),
        Person("rancher", True),
        Person("kube-controller-manager", False),
        Person("helm", False),
        Person("argocd-controller", False),
    ],
    ids=lambda case: case.manager,
)
def test_tools_people_use_by_hand(case: Person) -> None:
    assert Owner(case.manager).is_person is case.is_person


def test_foreign_fields_are_what_people_own_and_we_do_not() -> None:
    live = with_entries(
        OURS,
        an_entry("kubectl-edit", {"f:spec": {"f:a": {}, "f:b": {}}, "f:status": {"f:x": {}}}),
        an_entry("kube-controller-manager", {"f:spec": {"f:c": {}}}),
        an_entry("kubectl", {"f:spec": {"f:c": {}}}, subresource="scale"),
        # Of a field that nothing of ours is left in, what the manifest asks for is no addition.
        an_entry("kubectl-set", {"f:items": {'k:{"name":"a"}': {".": {}, "f:v": {}}, 'k:{"name":"b"}': {".": {}}}}),
        # The notes of kubectl, and a label that servers set, are nobody's addition.
        an_entry("kubectl-client-side-apply", {"f:metadata": {"f:annotations": {".": {}, f"f:{LAST_APPLIED}": {}}}}),
        an_entry("kubectl-create", {"f:metadata": {"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}}}),
        an_entry("kubectl-annotate", {"f:metadata": {"f:annotations": {".": {}, "f:note": {}, "f:team": {}}}}),
    )
    want = {"metadata": {"annotations": {"team": "shop"}}, "spec": {"a": 1}, "items": [{"name": "a", "v": 1}]}
    handed_over = {("spec", "b"), ("spec", "c")}
    assert [path_text(path) for _, path in fields_of_other_managers(want, live, "argosy", handed_over)] == [
        '.items[name="b"]',
        ".metadata.annotations.note",
    ]
    assert [(owner.manager, path_text(path)) for owner, path in fields_of_other_managers(want, live, "argosy")] == [
        ("kubectl-edit", ".spec.b"),
        ("kubectl-set", '.items[name="b"]'),
        ("kubectl-annotate", ".metadata.annotations.note"),
    ]


def test_the_owned_part_is_what_sending_again_would_not_change() -> None:
    live = {
        "a": 1,
        "b": {"x": 1, "y": 2},
        "items": [{"name": "one", "v": 1, "w": 2}, {"name": "two"}],
        "set": ["p", "q"],
    }
    fields = {"f:b": {"f:x": {}}, "f:items": {'k:{"name":"one"}': {".": {}, "f:v": {}}}, "f:set": {'v:"q"': {}}}
    assert owned_part(live, fields) == {"b": {"x": 1}, "items": [{"name": "one", "v": 1}], "set": ["q"]}


NAMES = st.sampled_from(["a", "b", "c"])
TEXTS = st.text("xyz", min_size=1, max_size=2)
LABELS = st.dictionaries(NAMES, TEXTS)
ITEM = st.fixed_dictionaries({"name": NAMES}, optional={"value": TEXTS, "limits": LABELS})
ITEMS = st.lists(ITEM, max_size=3, unique_by=lambda item: str(item["name"]))
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "replicas": st.integers(0, 3),
        "paused": st.booleans(),
        "args": st.lists(TEXTS, max_size=2),
        "selector": LABELS,
        "containers": ITEMS,
        "nested": st.fixed_dictionaries({}, optional={"env": ITEMS, "image": TEXTS}),
    },
)
MANIFESTS = st.fixed_dictionaries(
    {
        "apiVersion": st.just("v1"),
        "kind": st.just("Thing"),
        "metadata": st.fixed_dictionaries({"name": st.just("x"), "labels": LABELS}),
        "spec": SPECS,
    }
)


@given(MANIFESTS, MANIFESTS)
def test_what_was_just_applied_has_no_differences(older: dict[str, Any], newer: dict[str, Any]) -> None:
    live: dict[str, Any] = {"metadata": {"name": "x"}}
    for manifest in (older, newer):
        before = copy.deepcopy((manifest, live))
        live, _ = server_side_applied(live, manifest, "argosy")
        entry = managed_fields_entry(live, "argosy")
        assert entry is not None
        found = differences_from_wanted(manifest, live, entry["fieldsV1"])
        assert [item for item in found if item.change is not DifferenceKind.FILLED_IN] == []
        assert (manifest, before[1]) == before or live is not before[1]


@given(MANIFESTS, MANIFESTS)
def test_a_manifest_differs_exactly_where_applying_it_would_change_something(
    older: dict[str, Any], newer: dict[str, Any]
) -> None:
    live, _ = server_side_applied({"metadata": {"name": "x"}}, older, "argosy")
    entry = managed_fields_entry(live, "argosy")
    assert entry is not None
    after, _ = server_side_applied(live, newer, "argosy")
    changes_something = _without_empty(after) != _without_empty(live)
    assert bool(differences_from_wanted(newer, live, entry["fieldsV1"])) >= changes_something


def _without_empty(value: Any) -> Any:
    """Empty values, which nobody can own, come and go unnoticed."""
    if isinstance(value, dict):
        solid = {key: _without_empty(item) for key, item in value.items()}
        return {key: item for key, item in solid.items() if not isinstance(item, dict | list) or item}
    return [_without_empty(item) for item in value] if isinstance(value, list) else value


@given(MANIFESTS, st.text(max_size=2))
def test_an_edit_of_a_wanted_label_is_always_seen(manifest: dict[str, Any], value: str) -> None:
    manifest["metadata"]["labels"] = {"a": "wanted"}
    live, _ = server_side_applied({"metadata": {"name": "x"}}, manifest, "argosy")
    edited = copy.deepcopy(live)
    edited["metadata"]["labels"]["a"] = f"edited {value}"
    edited = owned_by_update(live, edited, "kubectl-edit")
    entry = managed_fields_entry(edited, "argosy")
    assert entry is not None
    paths = [path_text(item.path) for item in differences_from_wanted(manifest, edited, entry["fieldsV1"])]
    assert paths
    assert all(path.startswith(".metadata") for path in paths)
