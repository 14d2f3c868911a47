"""``python -m tests.floors``: the lowest version of each requirement, as requirements; ``make audit`` checks them."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def floors() -> Mapping[str, str]:
    """Return the lowest version of everything that is installed with Argosy."""
    requirements = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    found = [re.fullmatch(r"([A-Za-z0-9-]+)>=([0-9.]+)", requirement) for requirement in requirements]
    return {match[1]: match[2] for match in found if match}


if __name__ == "__main__":
    print("\n".join(f"{name}=={version}" for name, version in floors().items()))
