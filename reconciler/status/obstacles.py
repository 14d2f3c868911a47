"""A reason why something that is waited for has not come true yet."""

from reconciler.record.cluster_files import ObjectReason


class Obstacle(ObjectReason, frozen=True, kw_only=True):
    """One reason why a wish has not come true: in a word and in a sentence, of a cluster and an object if of any."""

    text: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.text}\n  hint: {self.hint}" if self.hint else self.text
