"""The past of a fleet: each rendered commit changed something for a reason, and what is there now comes from one.

Everything here is read from the commits that passes wrote. Where these do not record a reason, none is given.
"""
