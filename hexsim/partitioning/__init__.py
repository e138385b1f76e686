"""Where a network could be cut, what each cut costs, and which cut is the fastest.

`times` asks the simulator what each layer takes on each engine, `prices` adds them up for a given
cut, `survey` explains one cut, `search` finds the fastest one.
"""

from hexsim.partitioning.prices import Prices
from hexsim.partitioning.search import Found, search
from hexsim.partitioning.sections import chosen_sections, compiled_sections
from hexsim.partitioning.survey import Survey, survey
from hexsim.partitioning.times import LayerTimes

__all__ = [
    "Found",
    "LayerTimes",
    "Prices",
    "Survey",
    "chosen_sections",
    "compiled_sections",
    "search",
    "survey",
]
