"""The Lua scripts of ResourceInterpreterCustomizations, run in a sandbox with Karmada's library at their disposal."""
