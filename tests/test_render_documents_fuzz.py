"""The fuzzer with fixed seeds, against a real kubectl; ``make fuzz`` runs it with fresh ones and many more cases."""

import pytest

from .fuzz.__main__ import emitted, read


@pytest.mark.parametrize("seed", [1, 2])
def test_kubectl_reads_what_we_read(seed: int) -> None:
    assert read(seed, 400) == []


@pytest.mark.parametrize("seed", [1, 2])
def test_kubectl_reads_back_what_we_emit(seed: int) -> None:
    assert emitted(seed, 250) == []
