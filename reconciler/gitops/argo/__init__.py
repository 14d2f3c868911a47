"""Objects of Argo CD: ``applications`` finds what each one deploys, and ``destinations`` the clusters it is for.

``releases`` reads their charts as HelmCharts. ``application_sets`` makes the Applications of an ApplicationSet, of what
its ``generators`` say.
"""
