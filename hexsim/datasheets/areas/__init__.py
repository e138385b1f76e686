"""The silicon area of a DSP and its tensor engine: hexsim's own estimate, in mm2 at 7 nm."""

from hexsim.datasheets.areas.datasheet import AreaDatasheet
from hexsim.datasheets.areas.model import Area, area_of

__all__ = ["Area", "AreaDatasheet", "area_of"]
