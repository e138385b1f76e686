"""Kinds of kernels by name, in tables KINDS of one file per family of layers."""

from hexsim.discovery import joined
from hexsim.studies.probes._kind import KernelKind, Kinds, Sizes

__all__ = ["KINDS", "KernelKind", "Sizes"]

KINDS: Kinds = joined(__name__, "KINDS")
