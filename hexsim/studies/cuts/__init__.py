"""Price the cuts of a network into subnets (`prices`), explain one, and find the fastest."""

from hexsim.studies.cuts.prices import LayerTimes, Prices
from hexsim.studies.cuts.survey import compiled_sections, fastest_of, partition_of, survey

__all__ = ["LayerTimes", "Prices", "compiled_sections", "fastest_of", "partition_of", "survey"]
