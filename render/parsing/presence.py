"""Karmada's normalisation of what it writes: what is empty is left out, unless it stands behind a pointer.

Empty lists, maps and texts, zeros and ``false`` vanish. An empty object behind a pointer (``clusterAffinity: {}``)
stays, because there it means something.
"""

from typing import Any

Plain = dict[str, Any]


class Kept(dict[str, Any]):
    """An object behind a pointer: written even when it is empty."""


def present(**fields: Any) -> Plain:
    """Return the fields that are not empty, in their order.

    >>> present(clusterNames=[], labelSelector=Kept(), replicas=0, region="eu")
    {'labelSelector': {}, 'region': 'eu'}
    """
    return {
        name: dict(value) if type(value) is Kept else value
        for name, value in fields.items()
        if value or isinstance(value, Kept)
    }
