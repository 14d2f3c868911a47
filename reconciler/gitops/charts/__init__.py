"""Charts: each HelmChart, and each release of another tool (``releases``), as requests for ``helm``.

``helm_charts`` joins the steps. ``classes`` are those of clusters that ask for the same, and ``requests`` the distinct
requests of them all.
"""
