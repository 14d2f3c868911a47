"""Durations in settings: what is wrong with their text."""

from collections.abc import Iterator

from render.notations import seconds_of_duration
from render.syntax import quoted_text

from .setting import SettingFault


def faults_of_duration(text: str) -> Iterator[SettingFault]:
    """Yield what is wrong with a setting that is to be a time in whole seconds."""
    found = seconds_of_duration(text)
    if found is None or not found.is_integer():
        yield SettingFault("", f"{quoted_text(text)} is no time in whole seconds", "write it as '90m' or '24h'")
