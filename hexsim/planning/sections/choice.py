"""Sections found automatically, or given as ids and checked."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Protocol

from hexsim.datasheets.stacks.stack import Partitioning, PartitionRules
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.layers import Softmax
from hexsim.planning.sections import several, single
from hexsim.planning.sections.ids import id_of, listed, named
from hexsim.planning.sections.limits import hta_refusal
from hexsim.quantization.model import Model

_SOFTMAX_FIRST = "a softmax cannot be the first layer on the HTA"

Refusals = tuple[str | None, ...]
"""For each layer in order, why the HTA refuses it; None if it does not."""


class SectionRules(Protocol):
    """One generation of partition rules."""

    def automatic(self, network: Network, refusals: Refusals) -> tuple[range, ...]:
        """Return the sections with the largest coverage."""

    def check(self, network: Network, sections: Sequence[range], refusals: Refusals) -> None:
        """Raise HexsimError for a section that breaks a rule."""


RULES: Mapping[PartitionRules, SectionRules] = {"1.23": single, "1.25+": several}


def refusals(model: Model, release: Partitioning) -> Refusals:
    """Return why the HTA refuses each layer under a release.

    A softmax that would begin a section is refused too (measured: QNN 2.45 compiles none as the
    first layer of a graph).
    """
    verdicts: list[str | None] = []
    for layer in model.network.layers:
        refused = hta_refusal(layer, model, release)
        begins = not verdicts or verdicts[-1] is not None
        if refused is None and begins and isinstance(layer, Softmax):
            refused = _SOFTMAX_FIRST
        verdicts.append(refused)
    return tuple(verdicts)


def automatic(model: Model, release: Partitioning) -> tuple[range, ...]:
    """Return the sections that the compiler finds automatically; empty if none is allowed."""
    network = model.network
    return RULES[release.rules].automatic(network, refusals(model, release))


def from_ids(
    model: Model, ids: Sequence[tuple[int, int]], release: Partitioning
) -> tuple[range, ...]:
    """Return the sections that a user lists by the ids of their first and last layer.

    Ids of inputs are ignored. Raises HexsimError, with the layer and the nearest
    legal section, if a section is out of range, overlaps another, holds a layer that the HTA
    refuses, or breaks the rules of the release.
    """
    network = model.network
    sections = sorted((_range(network, *pair) for pair in ids), key=lambda section: section.start)
    for first, second in pairwise(sections):
        if second.start < first.stop:
            shorter = range(first.start, second.start)
            advice = (
                f"end the first one at {id_of(network, second.start - 1)}"
                if shorter
                else (f"start the second one at {id_of(network, first.stop)}")
            )
            raise HexsimError(
                f"the sections {listed(network, first)} and {listed(network, second)} overlap at "
                f"{named(network, second[0])}; {advice}"
            )
    refusals_by_layer = refusals(model, release)
    for section in sections:
        _require_taken(network, section, refusals_by_layer)
    RULES[release.rules].check(network, sections, refusals_by_layer)
    return tuple(sections)


def _range(network: Network, first: int, last: int) -> range:
    inputs, end = len(network.inputs), id_of(network, len(network.layers))
    if last >= end:
        legal = listed(network, range(max(0, min(first, end - 1) - inputs), end - inputs))
        raise HexsimError(
            f"the section {first}-{last} is out of range: the last layer of '{network.name}' is "
            f"{named(network, len(network.layers) - 1)}; the nearest legal section is {legal}"
        )
    if last < inputs:
        raise HexsimError(
            f"the section {first}-{last} holds inputs only; the first layer of '{network.name}' "
            f"is {named(network, 0)}"
        )
    return range(max(0, first - inputs), last - inputs + 1)


def _require_taken(network: Network, section: range, refusals_by_layer: Refusals) -> None:
    first = section[0]
    if refusals_by_layer[first] is None and isinstance(network.layers[first], Softmax):
        begin = f"begin the section at {named(network, first - 1)}"
        raise HexsimError(
            f"the section {listed(network, section)} begins with {named(network, first)}, and "
            f"{_SOFTMAX_FIRST}; {begin}"
        )
    refused = next((at for at in section if refusals_by_layer[at] is not None), None)
    if refused is None:
        return
    runs = several.runs(refusals_by_layer)
    inside = [range(max(r.start, section.start), min(r.stop, section.stop)) for r in runs]
    nearest = max(inside, key=len, default=range(0))
    if not nearest and runs:
        nearest = min(runs, key=lambda run: abs(run.start - section.start))
    advice = (
        f"the nearest legal section is {listed(network, nearest)}"
        if nearest
        else ("no other layer of the network can either")
    )
    raise HexsimError(
        f"the section {listed(network, section)} holds {named(network, refused)}, which cannot run "
        f"on the HTA ({refusals_by_layer[refused]}); {advice}"
    )
