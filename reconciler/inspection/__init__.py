"""The objects of members as they are now, asked of their API servers: many members at once, each named in the answer.

Tables are the servers' own. A member that does not answer costs its own time, and is named.
"""
