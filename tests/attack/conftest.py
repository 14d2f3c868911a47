"""A repository for each attack."""

from pathlib import Path

import pytest

from tests.build import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """An empty repository with one commit."""
    return Repository.create(tmp_path / "fleet")
