"""What was seen in a cluster, as a value: identity, served kinds, our objects, and what could not be read."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.members.discovery import Discovery
from reconciler.members.exchange import Failure
from render.model import Manifest, ObjectRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One look at one cluster.

    ``live``: every object carrying our set's label, and those asked for by name. ``unlisted``: kinds, written
    ``Deployment.apps``, whose list failed; ``unread``: objects whose state is unknown. ``autoscaled``: workloads
    something else scales. ``parent``: the ApplySet's. ``failure``: why the cluster could not be looked at at all.
    """

    cluster: str
    uid: str = ""
    version: str = ""
    date: str = ""
    discovery: Discovery = field(default_factory=Discovery)
    live: Mapping[ObjectRef, Manifest] = field(default_factory=dict, repr=False)
    unlisted: Mapping[str, Failure] = field(default_factory=dict)
    unread: Mapping[ObjectRef, Failure] = field(default_factory=dict)
    autoscaled: frozenset[ObjectRef] = frozenset()
    parent: Manifest | None = field(default=None, repr=False)
    failure: Failure | None = None
