"""Documents of other federations with anything in any field: each is converted or refused, and nothing fails."""

import random
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

import pytest

from render.federations import federation_named
from render.federations.planner import gives_same_division
from render.federations.policies import files_of_written_objects, objects_written_for
from render.federations.units import Placed

from . import test_import_clusternet as clusternet
from . import test_import_federation_v1 as federation_v1
from . import test_import_karmada as karmada
from . import test_import_kubeadmiral as kubeadmiral
from . import test_import_kubefed as kubefed
from . import test_import_kubesphere as kubesphere
from . import test_import_liqo as liqo
from .federations import Document

JUNK: Sequence[Any] = (None, [], {}, "x", "", 5, -1, True, [None], {"a": None}, [1, "a"], {"a": {"b": [1]}}, 2**70, 1.5)
ROUNDS = 150
SOME = 12


def documents() -> dict[str, list[Document]]:
    """Return documents of each federation, those of the tables."""
    return {
        "kubefed": [kubefed.SERVICE_TYPE, kubefed.ROLE, *map(kubefed.member, kubefed.LABELS)]
        + [each for vector in kubefed.VECTORS for each in kubefed.documents_of(vector)],
        "kubesphere": kubesphere.DOCUMENTS,
        "clusternet": [clusternet.cluster(name, labels) for name, labels in clusternet.LABELS.items()]
        + [each for vector in (*clusternet.VECTORS, *clusternet.MORE) for each in clusternet.documents_of(vector)],
        "liqo": [
            *liqo.PEERS,
            liqo.offloading("x", namespaceMappingStrategy=liqo.SAME, terms=[liqo.IN_EU]),
            *liqo.objects("x"),
        ],
        "kubeadmiral": kubeadmiral.DOCUMENTS,
        "federation-v1": [*map(federation_v1.cluster, federation_v1.LABELS), federation_v1.no_selector()]
        + [
            {**each.given, "metadata": {**each.given["metadata"], "name": "x", "namespace": "y"}}
            for each in federation_v1.VECTORS
        ],
        "karmada": karmada.DOCUMENTS,
    }


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every field of a document."""
    if path:
        yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def broken(document: Document, chance: random.Random) -> Document:
    """Return a document with one field that is gone, or holds something else."""
    made = deepcopy(document)
    path = chance.choice([each for each in places(made) if each not in {("kind",), ("apiVersion",)}])
    holder: Any = made
    for key in path[:-1]:
        holder = holder[key]
    if chance.random() < 0.2:
        del holder[path[-1]]
    else:
        holder[path[-1]] = deepcopy(chance.choice(JUNK))
    return made


@pytest.mark.parametrize("name", documents())
def test_nothing_in_a_document_makes_a_conversion_fail(name: str) -> None:
    chance, given, federation = random.Random(7), documents()[name], federation_named(name)
    for _ in range(ROUNDS):
        chosen = [given[place] for place in sorted(chance.sample(range(len(given)), min(SOME, len(given))))]
        place = chance.randrange(len(chosen))
        chosen[place] = broken(chosen[place], chance)
        before = deepcopy(chosen)
        placed = [Placed(manifest=each, origin=f"f:{number}") for number, each in enumerate(chosen)]
        conversion = federation.convert(placed, {"c1": {}}).without_secrets()
        assert all(path.endswith(".yaml") for path in files_of_written_objects(objects_written_for(conversion)))
        assert chosen == before


def test_no_division_of_more_than_32_bits_is_tried() -> None:
    """Seats are given one by one where doubles are not exact any more, which would not end."""
    assert not gives_same_division(2**62, {"a": 1, "b": 3}, {"a": 2**60, "b": 3 * 2**60})
