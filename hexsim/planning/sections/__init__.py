"""HTA sections: which runs of layers are compiled for the tensor engine of AIP.

A section is a range of layers by index. `limits` says which layers the engine takes, `single` and
`several` are the rules of two generations of the SDK, `automatic` finds sections, `from_ids` checks
those that a user lists, and `ids` numbers the layers for a user.
"""

from hexsim.planning.sections.choice import RULES, Refusals, automatic, from_ids, refusals
from hexsim.planning.sections.ids import Listed, all_listed, listed, parse

__all__ = [
    "RULES",
    "Listed",
    "Refusals",
    "all_listed",
    "automatic",
    "from_ids",
    "listed",
    "parse",
    "refusals",
]
