"""Emitted manifests against those that kubectl reads back."""

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from render.documents import emit, parse_documents
from tests.kubectl import Refused, objects_read

from .scalars import hazard_string

NUMBERS = (
    0, 1, -1, 7, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 1.5, -0.1, 1e-7, 1e21, 1.7e308, 5e-324, 2.0**63, -(2.0**64),
    123456.789, 1e16 + 0.0, 3.14159265358979,
)  # fmt: skip


class Difference(NamedTuple):
    """A value, the YAML we made of it, and what was read back."""

    value: Any
    data: bytes
    read: Any


def hazard_value(rng: Random, depth: int = 3) -> Any:
    """Any value that Kubernetes can hold, mostly strings."""
    kind = rng.random()
    if depth == 0 or kind < 0.5:
        return hazard_string(rng)
    if kind < 0.6:
        return rng.choice((*NUMBERS, None, True, False, rng.randrange(-(2**63), 2**63), rng.uniform(-1e6, 1e6), {}, []))
    if kind < 0.8:
        return {hazard_string(rng): hazard_value(rng, depth - 1) for _ in range(rng.randrange(4))}
    return [hazard_value(rng, depth - 1) for _ in range(rng.randrange(4))]


def manifest(rng: Random, number: int) -> dict[str, Any]:
    """A manifest with hazardous values of every kind in it."""
    return {
        "apiVersion": "v1",
        "kind": "Test",
        "metadata": {"name": f"f{number}-0", "annotations": {hazard_string(rng): hazard_string(rng)}},
        "data": {hazard_string(rng): hazard_string(rng) for _ in range(rng.randrange(4))},
        "spec": hazard_value(rng),
    }


def differences(values: list[dict[str, Any]]) -> Iterator[Difference]:
    """Yield the values that kubectl, or we ourselves, do not read back as they were."""
    files = [emit(value) for value in values]
    for value, data, theirs in zip(values, files, objects_read(files), strict=True):
        read = theirs if isinstance(theirs, Refused) else theirs[0]
        ours = parse_documents(data)[0].value
        if canonical(read) != canonical(value) or canonical(ours) != canonical(value):
            yield Difference(value, data, read)


def canonical(value: Any) -> str:
    """Return a value as text that tells types apart, not the order of keys; whole floats are what JSON makes them."""
    if isinstance(value, dict):
        members = (f"{key!r}:{canonical(value[key])}" for key in sorted(value))
        return f"{{{','.join(members)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(canonical, value))}]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return repr(int(value))
    return repr(value)
