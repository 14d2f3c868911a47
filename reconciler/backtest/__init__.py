"""A backtest: the recorded past of a fleet, replayed as other policies and settings would have had it.

``record`` finds the rendered commits of a time, and the commits of the status branch between them; ``inputs`` reads
what each of them recorded. ``course`` runs passes in memory, one after the other, and ``replay`` runs them over the
whole record. ``measures`` counts what happened, in truth and in the replay alike.
"""
