"""PolicyTests run and updated, and interpreter customizations tried, without a cluster.

``runs`` selects the PolicyTests and runs them all; ``trials`` renders for one of them and compares, ``backtests`` does
so with a past that others replay. ``names`` refuses
names that nothing goes by, ``fields`` reads fields, ``reports`` prints the results, and ``updates`` writes expectations
back. ``customizations`` executes one operation of a resource interpreter customization.
"""
