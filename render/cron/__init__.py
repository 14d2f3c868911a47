"""Schedules in cron's notation, and what a CronFederatedHPA makes of them.

``schedules`` reads the notation, ``occurrences`` knows the time zones and finds when a schedule comes next, ``rules``
has the values of a CronFederatedHPA, and ``execution`` runs its rules from one instant to another.
"""

from .occurrences import next_time, time_zone
from .schedules import Every, FieldSchedule, Schedule, parse_schedule

__all__ = ["Every", "FieldSchedule", "Schedule", "next_time", "parse_schedule", "time_zone"]
