"""What silicon a DSP and its tensor engine take: hexsim's own estimate, in mm2 at 7 nm."""

from hexsim.platforms.areas.model import Area, area_of
from hexsim.platforms.areas.sheet import AreaSheet

__all__ = ["Area", "AreaSheet", "area_of"]
