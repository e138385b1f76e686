"""Which chip, runtime, quantiser mode and cut to take for a network, within what is allowed.

`modes` are the ways to a file, `candidates` what one choice costs and is worth. `parts` compute
that and keep it, `limits` say what is allowed, `ranking` orders what is left. `question` is what is
asked, `deciding` answers it, `commands` are those that give the same figures again.
"""

from hexsim.studies.decision.candidates import CandidateAccuracy, DecisionCandidate, RuledOut, Timed
from hexsim.studies.decision.deciding import Decision, decide
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
    "decide",
    "parse_modes",
]
