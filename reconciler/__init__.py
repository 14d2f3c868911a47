"""The shell: Git, clusters, the clock and the command line around the pure core.

PyPI knows other packages named ``overrides``, ``render`` and ``reconciler``. Installed into one environment, the last
one wins file by file; that must show at once, with a name, and not as a missing attribute later.
"""

import overrides
import render

DISTRIBUTION = "argosy"
VERSION = "0.1.0"
"""The version of the distribution, as in pyproject.toml: looking it up among what is installed takes 17 ms a pass."""

for _package in (overrides, render):
    if getattr(_package, "DISTRIBUTION", "") != DISTRIBUTION:
        raise ImportError(
            f"the package '{_package.__name__}' at {_package.__file__} is not Argosy's: another distribution installed "
            "it over ours; give argosy an environment of its own (pipx, uv tool, a container)"
        )
