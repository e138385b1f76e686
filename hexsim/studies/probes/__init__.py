"""Kinds of kernels by name, one file per family of layers; its table KINDS says which."""

from __future__ import annotations

from hexsim.discovery import joined
from hexsim.studies.probes._kind import Kind, Kinds, Sizes

__all__ = ["KINDS", "Kind", "Sizes"]

KINDS: Kinds = joined(__name__, "KINDS")
