"""Whatever stands in an object, it is interpreted or refused with a reason; never anything else."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from render.interpreter import Interpreter, InterpreterError
from tests import test_render_interpreter_kinds as kinds
from tests import test_render_interpreter_thirdparty as thirdparty

INTERPRETER = Interpreter()
JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    float("inf"),
    10**30,
    "x",
    "",
    "-1",
    [],
    {},
    [1],
    {"a": 1},
    [[]],
    [{}],
    {"a": {}},
    "\ud800",
]
MANIFESTS: list[dict[str, Any]] = [
    *(case.template for module in (kinds, thirdparty) for case in module.SUMS),
    *(case.manifest for case in kinds.COUNTS),
    *(case.manifest for case in kinds.NEEDED),
    *(case.manifest for case in thirdparty.WISHES),
    *(case.manifest for case in thirdparty.PARTS),
    *(case.manifest for case in thirdparty.REFERS),
    *(thirdparty.an(case.kind, generation=1, status=case.status, replicas=2) for case in thirdparty.HEALTHS),
    *(case.desired for case in kinds.RETENTIONS),
    *(case.desired for case in thirdparty.KEPT),
]
STATUSES = [status for module in (kinds, thirdparty) for case in module.SUMS for status in case.items or ()]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything inside a value."""
    if isinstance(value, dict):
        entries = list(value.items())
    else:
        entries = list(enumerate(value)) if isinstance(value, list) else []
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


def spoiled(value: dict[str, Any], draw: Callable[[st.SearchStrategy[Any]], Any]) -> dict[str, Any]:
    """Return a copy with something odd in one place below spec, status or the like."""
    copied = deepcopy(value)
    found = [path for path in places(copied) if path[0] not in {"apiVersion", "kind", "metadata", "clusterName"}]
    if not found:
        return copied
    *path, last = draw(st.sampled_from(found))
    parent: Any = copied
    for key in path:
        parent = parent[key]
    parent[last] = deepcopy(draw(st.sampled_from(JUNK)))
    return copied


@given(st.data())
@settings(max_examples=200)
def test_an_answer_or_a_reason(data: st.DataObject) -> None:
    manifest = spoiled(data.draw(st.sampled_from(MANIFESTS)), data.draw)
    observed = spoiled(manifest, data.draw)
    items = [spoiled(data.draw(st.sampled_from(STATUSES)), data.draw) for _ in range(2)]
    for ask in (
        lambda: INTERPRETER.replicas(manifest),
        lambda: INTERPRETER.components(manifest),
        lambda: INTERPRETER.revise_replica(manifest, 3),
        lambda: INTERPRETER.replica_field(manifest),
        lambda: INTERPRETER.retain(manifest, observed),
        lambda: INTERPRETER.aggregate_status(manifest, items),
        lambda: INTERPRETER.dependencies(manifest),
        lambda: INTERPRETER.reflect_status(manifest),
        lambda: INTERPRETER.is_healthy(observed),
    ):
        with suppress(InterpreterError):
            ask()
