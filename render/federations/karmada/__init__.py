"""Karmada itself: its objects stay as they are, without what its control plane wrote into them."""

from render.federations.federation import Federation, predicate_of_group_endings

KARMADA = Federation(
    name="karmada",
    title="Karmada",
    about="its own objects, without what a control plane wrote",
    is_of_type=predicate_of_group_endings(".karmada.io"),
    is_beside_any=True,
    rules={},
)
