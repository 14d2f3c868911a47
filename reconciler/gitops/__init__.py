"""Charts, kustomizations and the objects of Flux and Argo CD, read as their tools read them.

``tools`` is what a reading of a source is handed (``OtherTools`` of ``reconciler.source.reading``). It hands folders
and charts on to ``reconciler.building``, and gives back files of the source. ``folders`` has folders built,
``rendering`` charts; ``made_by_charts`` reads again what charts make. ``readers`` knows the objects of other tools, by
kind, and ``rounds`` builds what they deploy until nothing changes: what a folder makes may deploy further folders, or
change objects that do. The rooms ``flux``, ``argo`` and ``charts`` have what is known of each alone; ``chart_places``
says where charts of releases may come from.
"""
