"""Divisions that do not mean what they seem to: kinds that are not divided at all, and numbers that are not divided.

A policy divides one number of an object. ``undivided`` finds the objects of which nothing tells or takes that number,
so that every cluster gets all of it. ``own_numbers`` and ``companions`` find the numbers that are about all replicas
and count in each cluster by themselves: fields of the object, and of what stands beside it. Karmada says nothing of
either. Each warning has the way out.
"""

from .lint import division_warnings
from .values import DividedTemplate, DivisionContext, DivisionRule, DivisionWarning

__all__ = ["DividedTemplate", "DivisionContext", "DivisionRule", "DivisionWarning", "division_warnings"]
