"""Ingresses of before networking.k8s.io/v1: which ones they are, and what becomes of them."""

from typing import Any, NamedTuple

from render.federations.ingresses import is_old_ingress, upgraded_ingress

from .tables import each_row

OLD = {"serviceName": "web", "servicePort": 80}
NEW = {"service": {"name": "web", "port": {"number": 80}}}
IN_A_BUCKET = {"resource": {"kind": "StorageBucket", "name": "static"}}


def an_ingress(**spec: Any) -> dict[str, Any]:
    return {"kind": "Ingress", "metadata": {"name": "web"}, "spec": spec}


def a_rule(*backends: Any) -> dict[str, Any]:
    return {"http": {"paths": [{"backend": each} for each in backends]}}


class Written(NamedTuple):
    why: str
    manifest: dict[str, Any]
    is_old: bool


WRITTEN = [
    Written("a backend for everything else", an_ingress(backend=OLD), True),
    Written("a backend of a path, after one of today", an_ingress(rules=[a_rule(NEW), a_rule(NEW, OLD)]), True),
    Written("backends of today", an_ingress(defaultBackend=NEW, rules=[a_rule(NEW, IN_A_BUCKET)]), False),
    Written("nothing at all", an_ingress(), False),
    Written("rules without paths", an_ingress(rules=[{"host": "a.example"}, {"http": {}}, a_rule(None)]), False),
    Written("another kind", an_ingress(backend=OLD) | {"kind": "Route"}, False),
    Written("no spec", {"kind": "Ingress", "metadata": {"name": "web"}}, False),
    Written("rules that are no list", an_ingress(backend=OLD, rules="all"), False),
    Written("a backend that is text", an_ingress(backend="serviceName"), False),
]


@each_row("case", WRITTEN, ids=lambda case: case.why)
def test_an_old_ingress_is_known_by_its_backends(case: Written) -> None:
    assert is_old_ingress(case.manifest) is case.is_old


class Upgrade(NamedTuple):
    why: str
    spec: dict[str, Any]
    want: dict[str, Any]


MADE_UP = {"pathType": "ImplementationSpecific"}
UPGRADES = [
    Upgrade("the backend for everything else", {"backend": OLD}, {"defaultBackend": NEW}),
    Upgrade(
        "a port that is named",
        {"backend": OLD | {"servicePort": "http"}},
        {"defaultBackend": {"service": {"name": "web", "port": {"name": "http"}}}},
    ),
    Upgrade(
        "a backend that is no service",
        {"rules": [a_rule(IN_A_BUCKET)]},
        {"rules": [{"http": {"paths": [MADE_UP | {"backend": IN_A_BUCKET}]}}]},
    ),
    Upgrade(
        "a path with a type of its own, and one that says nothing",
        {"rules": [{"host": "a", "http": {"paths": [{"path": "/", "pathType": "Exact", "backend": OLD}, {}]}}]},
        {
            "rules": [
                {
                    "host": "a",
                    "http": {"paths": [{"pathType": "Exact", "path": "/", "backend": NEW}, MADE_UP | {"backend": {}}]},
                }
            ]
        },
    ),
    Upgrade("a rule without paths", {"rules": [{"host": "a"}], "tls": []}, {"rules": [{"host": "a"}], "tls": []}),
]


@each_row("case", UPGRADES, ids=lambda case: case.why)
def test_an_old_ingress_becomes_one_of_today(case: Upgrade) -> None:
    made, (remark,) = upgraded_ingress(an_ingress(**case.spec))
    assert made == an_ingress(**case.want) | {"apiVersion": "networking.k8s.io/v1"}
    assert (remark.code, remark.message) == (
        "ingress-upgraded",
        "its paths have become networking.k8s.io/v1's, with pathType ImplementationSpecific",
    )
