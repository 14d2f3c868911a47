"""The words of the settings that are one word."""

from enum import StrEnum


class NamespacePropagation(StrEnum):
    """The namespaces propagated with objects: those in use, all of the source (Karmada's), or those policies select."""

    NEEDED = "Needed"
    ALL = "All"
    EXPLICIT = "Explicit"


class ClaimMode(StrEnum):
    """The policy that claims a template: a function of the tree, or (Karmada's) the earlier one while it matches.

    With ``Sticky`` a better policy takes over only by preemption.
    """

    PURE = "Pure"
    STICKY = "Sticky"


class Rescheduling(StrEnum):
    """The events that reschedule a placed binding: Karmada's alone, or also a source that stops allowing a target."""

    SOURCE = "Source"
    KARMADA = "Karmada"


class TieBreak(StrEnum):
    """The cluster that gets the last replica of an equal division.

    ``Identity``: by the parity of a hash of ``metadata.uid``, or else of the ObjectRef. ``Name``: ascending, as Karmada
    does for an empty UID.
    """

    IDENTITY = "Identity"
    NAME = "Name"


class OnPolicyRemoval(StrEnum):
    """The fate of a binding whose policy is gone: it stays, released, or its objects are removed."""

    KEEP = "Keep"
    REMOVE = "Remove"


class Permission(StrEnum):
    """A yes or no to something risky."""

    ALLOW = "Allow"
    REFUSE = "Refuse"


class TemplateValidation(StrEnum):
    """The weight of what schemas say of templates: problems as far as it is certain, warnings, or nothing."""

    STRICT = "Strict"
    WARN = "Warn"
    OFF = "Off"
