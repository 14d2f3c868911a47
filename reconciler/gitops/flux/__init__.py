"""Objects of Flux: ``kustomizations`` finds the folder of each, and ``after_build`` makes Flux's changes to its output.

``variables`` fills in what ``postBuild`` names, as Flux does. ``releases`` reads HelmReleases as HelmCharts.
"""
