"""Always-on: a network that is called every period, on the low-power island and on the DSP.

`tasks` says which work can run on the island and its cost there, `island` and `dsp` compute the
power of an alternative by part, and `comparison` compares both.
"""

from hexsim.studies.always_on.comparison import Where, always_on
from hexsim.studies.always_on.parts import PARTS

__all__ = ["PARTS", "Where", "always_on"]
