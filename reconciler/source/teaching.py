"""What a source teaches the interpreter: its customizations and its webhooks."""

from reconciler.source.desired import Desired
from render.interpreter import Interpreter
from render.interpreter.webhooks import Send


def interpreter_of(desired: Desired, send: Send | None = None) -> Interpreter:
    """Return the interpreter of a source; ``send`` asks webhooks (None: nobody does)."""
    return Interpreter.of((each.manifest for each in (*desired.customizations, *desired.webhooks)), send=send)
