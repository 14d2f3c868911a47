"""The next rendered commit: the outcome of a source after the commit before, judged by the guards, and committed.

``inputs`` are what an ``outcome`` is made from, beside its source and its past; ``stumbles`` refuses a record that no
pass can go by. ``guarded_outcome`` gives the guards what they judge of an outcome. ``problems`` are the objects that
could not be placed or built, and ``rendered_objects`` checks the others against the schemas of their clusters, by
``checked_templates``. ``memory`` keeps what one process has read and made.
"""
