"""The split of an object as an earlier rendered commit had it, which is to stand again."""

from msgspec import Struct

from .model import TargetCluster
from .placement import Placement


class FormerSplit(Struct, frozen=True, kw_only=True):
    """The targets that an object had in an earlier rendered commit, and the affinity group by which it had them.

    ``replicas`` are all that it asked for then, ``placement`` is the one that its policy had. ``cluster``: only what
    this one had is to stand again ("": everything). ``request`` is the name of the request, as bindings record it.
    """

    request: str
    replicas: int = 0
    targets: tuple[TargetCluster, ...] = ()
    placement: Placement | None = None
    observed_affinity: str = ""
    cluster: str = ""

    @property
    def restored_targets(self) -> tuple[TargetCluster, ...]:
        """The targets that are to stand again."""
        return tuple(each for each in self.targets if self.cluster in {"", each.name})
