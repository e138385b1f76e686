"""Decide which chip, runtime, quantiser mode and cut to use for a network, within limits.

`modes` has the ways to quantise and the question. `parts` computes times and answers of a choice
and stores them, `ranking` chooses among them, `changes` are tried on the network of the best one,
and `commands` reproduce the answer. `deciding` joins all of this. `files` compares instead a float
and a quantised file on every runtime, as they are loaded.
"""

from hexsim.studies.decision.deciding import decide
from hexsim.studies.decision.modes import MIXED, MODES, Mode, Question, parse_modes
from hexsim.studies.decision.ranking import PREFERENCES

__all__ = ["MIXED", "MODES", "PREFERENCES", "Mode", "Question", "decide", "parse_modes"]
