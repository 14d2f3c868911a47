"""Static weights that divide replicas as another federation's planner does, where there are such weights."""

from collections.abc import Mapping

from render.scheduling.webster import divide

from .planner import ANY_CLUSTER, Preference
from .units import Weight


def static_weights(
    total: int, preferences: Mapping[str, Preference], replicas: Mapping[str, int]
) -> tuple[Weight, ...]:
    """Return static weights that give every cluster what it has, none where there are none.

    There are none with bounds, and where a cluster gets no replicas: it keeps an object there, and here it has none.
    """
    if any(each.min_replicas or each.max_replicas is not None for each in preferences.values()):
        return ()
    fallback = preferences.get(ANY_CLUSTER)
    wishes = {name: preferences.get(name, fallback) for name in replicas}
    weight_by_cluster = {name: wish.weight if wish else 0 for name, wish in wishes.items()}
    if not replicas or not all(replicas.values()) or any(weight < 1 for weight in weight_by_cluster.values()):
        return ()
    if not is_divided_so(total, weight_by_cluster, replicas):
        return ()
    own = tuple(sorted(preferences.keys() & replicas.keys()))
    named = tuple(Weight(weight=weight_by_cluster[name], names=(name,)) for name in own)
    return named if fallback is None else (*named, Weight(weight=fallback.weight, excluded=own))


def is_divided_so(total: int, weight_by_cluster: Mapping[str, int], replicas: Mapping[str, int]) -> bool:
    """Say whether Karmada divides a total so by weights, whichever way it breaks ties between names.

    A total, or a weight, of more than 32 bits is none that Kubernetes takes.
    """
    if max(total, *weight_by_cluster.values()) > _MOST:
        return False
    return all(divide(total, weight_by_cluster, uid=uid) == dict(sorted(replicas.items())) for uid in _BOTH_WAYS)


_MOST = (1 << 31) - 1
_BOTH_WAYS = ("", "b")
"""An identity for which ties go to the smaller name, and one for which they go to the greater."""
