"""``spec.cron``: the settings of CronFederatedHPAs."""

from typing import Annotated

from msgspec import Struct

from .setting import FleetSetting


class CronSettings(Struct, frozen=True, kw_only=True):
    """The settings of CronFederatedHPAs.

    ``deadline``: the seconds for which a rule of a CronFederatedHPA may fire late (None: for ever).
    """

    deadline: Annotated[
        int | None,
        FleetSetting(
            "startingDeadlineSeconds",
            "A firing that no pass found within so many seconds after it was due is not made up for, and is a failed"
            " run; left out, the latest one that was missed is made up for whenever a pass finds it.",
            in_karmada="Karmada's rules fire while its controller runs, and nothing that was missed is made up for",
        ),
    ] = None


CRON = FleetSetting("cron", "The settings of CronFederatedHPAs.", is_tried=True)
