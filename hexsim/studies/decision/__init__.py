"""Decide which chip, runtime, quantiser mode and cut to use for a network, within limits.

`modes` has the ways to quantise, `candidates` the costs and accuracy of one choice. `parts`
computes these and stores them, `limits` and `ranking` choose among them. `question` is the input,
`deciding` answers it, `changes` are tried on the network of the best choice, and `commands` prints
commands that reproduce the answer. `inferences` has the timelines of the best choices.
"""

from hexsim.studies.decision.candidates import CandidateAccuracy, DecisionCandidate, RuledOut, Timed
from hexsim.studies.decision.changes import TriedChange
from hexsim.studies.decision.deciding import Decision, decide
from hexsim.studies.decision.inferences import inferences
from hexsim.studies.decision.limits import Limits
from hexsim.studies.decision.modes import MIXED, MODES, Mode, parse_modes
from hexsim.studies.decision.question import Question
from hexsim.studies.decision.ranking import PREFERENCES, Preference

__all__ = [
    "MIXED",
    "MODES",
    "PREFERENCES",
    "CandidateAccuracy",
    "Decision",
    "DecisionCandidate",
    "Limits",
    "Mode",
    "Preference",
    "Question",
    "RuledOut",
    "Timed",
    "TriedChange",
    "decide",
    "inferences",
    "parse_modes",
]
