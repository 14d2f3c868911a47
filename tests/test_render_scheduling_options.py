"""A fleet's switches as the scheduler's options."""

from typing import Any

from render.scheduling.options import SchedulingOptions
from render.settings.fleet import Fleet
from render.settings.reading import parse_fleet


def of(**spec: Any) -> SchedulingOptions:
    return SchedulingOptions.of(
        parse_fleet(
            {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}
        )
    )


def test_the_defaults_are_argosys() -> None:
    assert SchedulingOptions.of(Fleet()) == of() == SchedulingOptions()


def test_compatibility_turns_every_switch_to_karmadas() -> None:
    assert of(compatibility="Karmada") == SchedulingOptions.karmada()


def test_a_switch_that_is_written_wins() -> None:
    assert of(compatibility="Karmada", reserveCapacity=True).reserves_capacity
    assert not of(reserveCapacity=False).reserves_capacity
    assert of(tieBreak="Name").tie_break == "Name"
    assert of(rescheduling="Karmada").rescheduling == "Karmada"
