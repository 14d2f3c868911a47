"""The record of a pass: what is written down of it beside the reports of its members."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from reconciler.ledger.refusal import SourceRefusal
from reconciler.ledger.webhook_answers import Answers
from render.binding import Binding
from render.model import ObjectRef

from .observation import Observation

if TYPE_CHECKING:  # only a pass that records something needs it
    from reconciler.record.status_changes import StatusInputs
    from reconciler.source.desired import Desired


class PassRecord(Struct, frozen=True, kw_only=True):
    """The record of a pass beside its reports: the observation, the source, and the answers it rendered by, if it did.

    ``answers`` are None for a pass that applies what was rendered before; the recorded ones stay then. ``refusal`` is
    that of the newer source which such a pass was asked to render. ``recorded_folders`` are the ids of the folders
    that record the objects, if they are of this source and the commit that is applied (None: not known to be).
    """

    observation: Observation
    desired: "Desired"
    answers: Answers | None = None
    refusal: SourceRefusal | None = None
    recorded_folders: Mapping[str, str] | None = None

    def status_inputs(
        self, commit: str, bindings: Mapping[ObjectRef, Binding], observation: Observation | None = None
    ) -> "StatusInputs":
        """Return what the status files are made from, given the rendered commit that is applied and its bindings.

        ``observation`` is another one than that of the members which answered in time.
        """
        from reconciler.record.status_changes import StatusInputs
        from reconciler.source.desired import interpreter_of_source, known_scales
        from reconciler.source.facts import clusters_corrected_by_facts

        observation = observation or self.observation
        interpreter = observation.context.interpreter or interpreter_of_source(self.desired)
        scales = known_scales(self.desired, clusters_corrected_by_facts(self.desired.clusters, observation.facts))
        return StatusInputs(
            now=observation.now,
            members=frozenset(cluster.name for cluster in self.desired.clusters),
            commit=commit,
            bindings=bindings,
            templates={template.ref: template for template in self.desired.templates},
            interpreter=interpreter.with_scales(scales),
            states=observation.states,
            turned=observation.turned,
            facts={name: facts for name, facts in observation.facts.items() if name in observation.states},
            pending=observation.pending,
            answers=self.answers,
            schemas=observation.schemas,
            desired=self.desired,
            agents=observation.agents.files,
            refusal=self.refusal,
            words=observation.words,
            reporting=None if observation.context.is_of_agent else frozenset(self.observation.agents.tips),
        )
