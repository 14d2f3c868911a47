"""The limits of the removal guard, which a commit and the plan for a cluster share."""

from typing import NamedTuple

from render.settings.removal_guard import Place, RemovalGuard

from .tables import each_row


def places(count: int, namespace: str, kind: str) -> list[Place]:
    return [(namespace, kind)] * count


MANY = [*places(50, "other", "ConfigMap"), *places(40, "", "ClusterRole")]


class Removal(NamedTuple):
    why: str
    gone: list[Place]
    kept: list[Place]
    want: tuple[str, ...]


REMOVALS = [
    Removal("a few", places(10, "shop", "A"), places(20, "shop", "A"), ()),
    Removal("more than ten and than a fifth", places(11, "shop", "A"), places(19, "shop", "A"), ("more than 10",)),
    Removal("no more than a fifth", places(20, "shop", "A"), places(80, "shop", "A"), ()),
    Removal("more than a fifth", places(21, "shop", "A"), places(79, "shop", "A"), ("more than 20",)),
    Removal("everything, however little", places(1, "shop", "A"), [], ("everything it holds",)),
    Removal(
        "a whole namespace", places(6, "shop", "ConfigMap"), [*MANY, ("x", "ConfigMap")], ("all 6 of namespace shop",)
    ),
    Removal("a whole kind", places(6, "other", "Deployment.apps"), MANY, ("all 6 of kind Deployment.apps",)),
    Removal("five of a kind and namespace", places(5, "shop", "Deployment.apps"), MANY, ()),
    Removal(
        "no namespace is none",
        places(40, "", "ClusterRole"),
        places(170, "other", "ConfigMap"),
        ("all 40 of kind ClusterRole",),
    ),
    Removal(
        "every broken limit, in order",
        [*places(11, "b", "B"), *places(11, "a", "A")],
        places(30, "other", "ConfigMap"),
        (
            "more than 10",
            "all 11 of namespace a",
            "all 11 of namespace b",
            "all 11 of kind A",
            "all 11 of kind B",
        ),
    ),
]


@each_row("case", REMOVALS, ids=lambda case: case.why)
def test_what_a_removal_breaks(case: Removal) -> None:
    assert RemovalGuard().limits_broken_by(case.gone, [*case.gone, *case.kept]) == case.want


def test_limits_are_those_of_the_fleet() -> None:
    limits = RemovalGuard(count=1, percent=50, whole=2)
    assert limits.limits_broken_by(places(2, "shop", "A"), places(4, "shop", "A")) == ()
    assert limits.limits_broken_by(places(3, "shop", "A"), places(4, "shop", "A")) == ("more than 2",)
    assert limits.limits_broken_by(places(3, "shop", "A"), [*places(3, "shop", "A"), *MANY]) == (
        "all 3 of namespace shop",
        "all 3 of kind A",
    )
