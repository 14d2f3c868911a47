"""Schedules in cron's notation, and what a CronFederatedHPA makes of them.

``schedules`` reads the notation, ``occurrences`` finds when a schedule comes next, ``zones`` knows the time zones,
``rules`` has the values of a CronFederatedHPA, and ``execution`` runs its rules from one instant to another.
"""

from .occurrences import next_time
from .schedules import Every, FieldSchedule, Schedule, parse_schedule
from .zones import time_zone

__all__ = ["Every", "FieldSchedule", "Schedule", "next_time", "parse_schedule", "time_zone"]
