"""The silicon area of a DSP and its tensor engine: hexsim's own estimate, in mm2 at 7 nm."""

from hexsim.datasheets.areas.datasheet import AreaDatasheet
from hexsim.datasheets.areas.model import area_of

__all__ = ["AreaDatasheet", "area_of"]
