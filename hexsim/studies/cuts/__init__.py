"""Price the cuts of a network into subnets, and find the fastest one.

`times` simulates the time of each layer on each engine, `prices` adds them up for a given cut,
`survey` explains one cut, `search` finds the fastest one.
"""

from hexsim.studies.cuts.chosen import chosen_sections, compiled_sections
from hexsim.studies.cuts.prices import Prices
from hexsim.studies.cuts.search import FastestCut, search
from hexsim.studies.cuts.survey import Survey, survey
from hexsim.studies.cuts.times import LayerTimes

__all__ = [
    "FastestCut",
    "LayerTimes",
    "Prices",
    "Survey",
    "chosen_sections",
    "compiled_sections",
    "search",
    "survey",
]
