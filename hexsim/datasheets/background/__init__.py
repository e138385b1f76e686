"""Reads loads that share the DSP with a network: shipped ones, and files of the user."""

from pathlib import Path

from hexsim.datasheets.background.load import Background, Client
from hexsim.datasheets.datasheet import Shelf

__all__ = ["Background", "Client", "load", "names"]

_SHELF = Shelf(Background, "background load", Path(__file__).parent)
names, load = _SHELF.names, _SHELF.load
