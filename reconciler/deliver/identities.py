"""The clusters that members are, by their UIDs, so that no two members of a fleet are delivered to as one cluster.

Kubeconfig contexts are copied, and then two of them lead to the same cluster. It would get the trees of both members,
and lose what only one of them does not want any more.
"""

import threading
from collections.abc import Mapping

from msgspec import Struct, field


class Identities(Struct, kw_only=True):
    """The UIDs of members: those that are recorded, and those that were observed and are not."""

    recorded: Mapping[str, str] = field(default_factory=dict)
    observed: dict[str, str] = field(default_factory=dict)
    turn: threading.Lock = field(default_factory=threading.Lock)

    def members_with_same_uid(self, member: str, uid: str) -> tuple[str, ...]:
        """Return the other members that are the cluster of a UID, which a member told just now.

        Where a member is recorded as that cluster, only others that are recorded so, too, count. Any thread may ask:
        of members that are not recorded and told nobody before, those that ask later have a twin.
        """
        with self.turn:
            self.observed.setdefault(member, uid)
            is_recorded = self.recorded.get(member) == uid
            known = self.recorded if is_recorded else {**self.observed, **self.recorded}
            return tuple(sorted(name for name, its in known.items() if its == uid != "" and name != member))
