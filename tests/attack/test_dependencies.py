"""Nothing that is installed with Argosy has a version that is known to be vulnerable."""

import importlib.metadata

import pytest

from tests.floors import floors

SAFE_FROM = {
    "GitPython": "3.1.61",  # options and values of configuration that run commands or write files
    "PyYAML": "5.4",  # CVE-2020-14343: code run by a loader that was taken for safe
    "urllib3": "2.7.0",  # CVE-2026-44431 and 44432: headers sent elsewhere, content unpacked without bound
    "requests": "2.33.0",  # CVE-2024-47081 and CVE-2026-25645
    "certifi": "2024.7.4",  # CVE-2024-39689: authorities that are no longer trusted
    "idna": "3.15",  # CVE-2024-3651 and CVE-2026-45409: names that take very long
}
"""The first version of each without a known advisory."""


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())


@pytest.mark.parametrize("name", SAFE_FROM)
def test_no_version_with_a_known_advisory_may_be_installed(name: str) -> None:
    assert numbers(floors()[name]) >= numbers(SAFE_FROM[name])


@pytest.mark.parametrize("name", floors())
def test_what_is_installed_here_is_no_older_than_its_floor(name: str) -> None:
    assert numbers(importlib.metadata.version(name)) >= numbers(floors()[name])
