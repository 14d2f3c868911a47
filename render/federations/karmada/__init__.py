"""Karmada itself: its objects stay as they are, without what its control plane wrote into them."""

from render.federations.federation import Federation, of_groups

KARMADA = Federation(
    name="karmada",
    title="Karmada",
    about="its own objects, without what a control plane wrote",
    is_of_type=of_groups(".karmada.io"),
    is_beside_any=True,
    rules={},
)
