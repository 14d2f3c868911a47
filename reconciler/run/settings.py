"""The settings of a controller, and the pace that they mean for a fleet."""

from collections.abc import Mapping
from math import inf

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.members.options import DeliveryOptions
from reconciler.run.notices.channels import Channel
from reconciler.run.web.entry import NAMES_OF_THIS_MACHINE, EntryRules
from reconciler.run.web.webhooks import Address, WebhookSecret
from render.errors import ConfigError

from .leader import LeaseName
from .pacing import Pace

POLL_SECONDS = 30.0
"""The interval at which a remote is asked that tells nobody when it changes, unless somebody says otherwise."""


class RunSettings(Struct, frozen=True, kw_only=True):
    """The settings of a controller; times are in seconds.

    ``locations`` are repositories, addresses and folders of repositories, ``names`` those of some of them. ``poll`` is
    how often every source is looked at (None: remotes that tell nobody of a push, every 30 seconds). ``drift`` is how
    often members are looked at where nothing happened. ``grace`` is how long a pass may go on once it was told to
    stop, ``pass_timeout`` how long any may take. So many fleets as ``max_fleets`` are worked on at once. ``webhook`` is
    the public address, with the secrets that open it, and ``inside`` the one of metrics and health (None: not served).
    ``page`` says who may see the page there.
    ``accepted_settings`` is a file of Fleets whose settings are accepted.
    With a ``lease``, passes run only while this process holds it. ``channels`` are where people are told what changed.
    """

    locations: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    poll: float | None = None
    drift: float = 300.0
    grace: float = 25.0
    pass_timeout: float = 3600.0
    max_fleets: int = 4
    bootstrap: bool = False
    accepted_settings: str = ""
    webhook: Address | None = None
    webhook_secrets: tuple[WebhookSecret, ...] = ()
    inside: Address | None = None
    page: EntryRules = field(default_factory=EntryRules)
    lease: LeaseName | None = None
    channels: tuple[Channel, ...] = ()
    delivery: DeliveryOptions = field(default_factory=DeliveryOptions)

    def check(self) -> None:
        """Refuse an address for webhooks that nobody, or everybody, could use."""
        if self.webhook is not None and not self.webhook_secrets:
            raise ConfigError(
                "webhooks without a secret would let anybody start passes",
                hint="name the file of one: --webhook-secret github=FILE",
            )
        for secret in self.webhook_secrets:
            secret.read()
        self.page.check_words()
        for channel in self.channels:
            channel.check()
            if [each.name for each in self.channels].count(channel.name) > 1:
                raise ConfigError(
                    f"two channels are called {channel.name!r}", hint="give their files names that differ"
                )

    @property
    def page_entry(self) -> EntryRules | None:
        """The rules of who may see the page at the inside address; None: nobody may, for anybody could."""
        is_local = self.inside is not None and self.inside[0] in NAMES_OF_THIS_MACHINE
        entry = replace(self.page, is_local=is_local)
        return entry if entry.is_guarded else None

    def pace(self, *, is_notified: bool) -> Pace:
        """Return the pace of a fleet; ``is_notified``: somebody says when its source changes."""
        polled = inf if is_notified or self.webhook is not None else POLL_SECONDS
        return Pace(poll=polled if self.poll is None else self.poll, drift=self.drift)
