"""Sentences about the fields of Karmada's kinds, by the ends of their paths: what stands in several kinds is said once.

A path ends with as many names as it takes to tell it from others; the longest end that is known counts.
"""

from collections.abc import Mapping

from .bindings import BINDING_FIELDS
from .clusters import CLUSTER_FIELDS
from .interpreters import INTERPRETER_FIELDS
from .overrides import OVERRIDE_FIELDS
from .policies import POLICY_FIELDS
from .scaling import SCALING_FIELDS

_SENTENCES: Mapping[str, str] = {
    **POLICY_FIELDS,
    **OVERRIDE_FIELDS,
    **CLUSTER_FIELDS,
    **INTERPRETER_FIELDS,
    **SCALING_FIELDS,
    **BINDING_FIELDS,
}


def sentence_about_field(path: str) -> str:
    """Return the sentence about a field, ``[]`` and ``*`` in its path aside; an empty text where there is none.

    >>> sentence_about_field("spec.placement.clusterAffinity.clusterNames")
    'The names of the clusters that are selected; left out, any.'
    """
    names = [name.removesuffix("[]") for name in path.split(".") if name != "*"]
    ends = (".".join(names[start:]) for start in range(len(names)))
    return next((_SENTENCES[end] for end in ends if end in _SENTENCES), "")
