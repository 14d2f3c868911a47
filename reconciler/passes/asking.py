"""Asking interpreter webhooks what a render had no answer for, and rendering again by what they say."""

from dataclasses import replace

from reconciler.members.parallel import in_parallel
from reconciler.report import Log
from render.interpreter.webhooks import Send

from .interpretations import answers_file, asked, parsed_answers
from .one_pass import Outcome, run_pass
from .reading import Evidence

MOST_ROUNDS = 10
"""Replicas decide placements, placements what is revised: three rounds are the rule."""
_AT_ONCE = 16


def answered_pass(outcome: Outcome, evidence: Evidence, send: Send, log: Log) -> Outcome:
    """Ask what a pass left open and run it again, until nothing is; answers count as they are read back from files."""
    for _ in range(MOST_ROUNDS):
        questions = outcome.rendered.built.webhooks.open
        if not questions:
            break
        with log.timed("ask webhooks"):
            said = in_parallel(lambda question: asked(question, send), questions.values(), limit=_AT_ONCE)
        fresh = parsed_answers(answers_file(dict(zip(questions, said, strict=True))))
        evidence = replace(evidence, answers={**evidence.answers, **fresh})
        outcome = run_pass(outcome.repository, outcome.source, outcome.previous, evidence, log)
    return outcome
