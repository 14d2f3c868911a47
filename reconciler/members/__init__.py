"""Member clusters: which a command is for, and how they are reached, asked and listed.

``choice`` says which members a command is for, and ``ways`` how they are reached by its options and argosy.yaml.
``opening`` gives a client for each member. To open one, ``kubeconfig`` finds the context that reaches it, ``endpoint``
reads the address of its API server and the way there, ``credentials`` (with ``exec_plugins`` and ``auth_providers``)
and ``identity`` say who we are to it, and ``connection`` and ``client`` send requests. ``exchange`` has the values of
one request, ``refusals`` reads what a failed one means, and ``masking`` keeps secrets out of its message. ``discovery``
and ``listing`` ask what a member serves and holds. ``visits`` asks many members at once, within the reach of a command,
and ``patience`` says for how long slow ones are waited for. ``webhooks`` and ``webhook_transport`` ask interpreter
webhooks.
"""
