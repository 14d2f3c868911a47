"""Prices of clusters, as the source states them, and the cost of what is placed there.

``price_list`` has the values, ``cluster_prices`` the prices that count in each cluster, ``costs`` what bindings cost by
them, and ``amounts`` how money is written. All sums are exact.
"""
