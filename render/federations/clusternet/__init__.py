"""Clusternet: the clusters of a subscription, the division of its feeds, and what each cluster gets of them."""
