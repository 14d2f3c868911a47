"""The mutating webhooks and policies of a cluster as a value: they may change an object on its way into it."""

from msgspec import Struct

from reconciler.members.discovery import Resource

_ANY = "*"


class Admission(Struct, frozen=True, kw_only=True):
    """The mutating webhooks and policies of a cluster.

    ``digest`` stands for all of them in their versions, and is empty where nobody looked. ``rules`` are the groups and
    resources that they are about, as their rules write them; None where the cluster does not say.
    """

    digest: str = ""
    rules: frozenset[tuple[str, str]] | None = None

    def may_change(self, resource: Resource | None) -> bool:
        """Return whether any of them may be about the objects of a kind."""
        if self.rules is None or resource is None:
            return True
        groups, plurals = {_ANY, resource.group}, {_ANY, resource.plural}
        return any(group in groups and plural in plurals for group, plural in self.rules)
