"""A repository for each attack, and an address at which nobody is to be asked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.build import Repository

from .doors import Door, listening


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """An empty repository with one commit."""
    return Repository.create(tmp_path / "fleet")


@pytest.fixture
def door() -> Iterator[Door]:
    """A port that counts who comes."""
    with listening() as door:
        yield door
