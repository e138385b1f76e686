"""Always-on: a network that is called every period, on the low-power island and on the DSP.

`tasks` says what may run on the island and what it takes there, `island` and `dsp` what an
alternative spends by part, and `comparison` sets both side by side.
"""

from hexsim.studies.always_on.comparison import AlwaysOn, Where, always_on
from hexsim.studies.always_on.parts import PARTS, Alternative, Part

__all__ = ["PARTS", "Alternative", "AlwaysOn", "Part", "Where", "always_on"]
