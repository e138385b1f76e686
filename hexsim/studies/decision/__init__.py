"""Decide which chip, runtime, quantiser mode and cut to use for a network, within limits.

`modes` has the ways to quantise, the question, the ranking and the commands that reproduce the
answer. `parts` computes times and answers of a choice and stores them, `changes` (and `channels`)
are tried on the network of the best one. `deciding` joins all of this. `files` compares instead a
float and a quantised file on every runtime, as they are loaded.
"""

from hexsim.studies.decision.deciding import decide
from hexsim.studies.decision.modes import MIXED, MODES, Mode, Question, parse_modes

__all__ = ["MIXED", "MODES", "Mode", "Question", "decide", "parse_modes"]
