"""The rules of SNPE 1.23: one section, from the first layer on, with one input and one output.

Source: SNPE 1.23 guide, AIP runtime: one HTA and one HNN subnet, a single input and output layer
each, and the HTA starts at the first layer.
"""

from collections.abc import Sequence

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.planning.sections.ids import listed, named


def is_single(network: Network, section: range) -> bool:
    """Tell whether the section has exactly one input and one output."""
    inputs, outputs = network.boundary(network.layers[section.start : section.stop])
    return len(inputs) == len(outputs) == 1


def automatic(network: Network, refusals: Sequence[str | None]) -> tuple[range, ...]:
    """Return the longest legal section, or nothing."""
    return legal(network, refusals)[-1:]


def check(network: Network, sections: Sequence[range], refusals: Sequence[str | None]) -> None:
    """Raise HexsimError if the sections break a rule, with the nearest legal cut."""
    first = sections[0]
    if len(sections) > 1:
        raise HexsimError(
            f"the 1.23 rules allow one HTA section, and {named(network, sections[1][0])} starts a "
            f"second one; {_advice(network, first, refusals)}"
        )
    if first.start:
        raise HexsimError(
            f"the section {listed(network, first)} starts at {named(network, first[0])}, and the "
            f"1.23 rules want it to start at {named(network, 0)}; "
            f"{_advice(network, first, refusals)}"
        )
    if not is_single(network, first):
        inputs, outputs = network.boundary(network.layers[first.start : first.stop])
        what = f"{len(outputs)} tensors leave it ({', '.join(outputs)})"
        if len(inputs) > 1:
            what = f"{len(inputs)} tensors come into it ({', '.join(inputs)})"
        raise HexsimError(
            f"the section {listed(network, first)} ends after {named(network, first[-1])}, where "
            f"{what}, and the 1.23 rules allow one; {_advice(network, first, refusals)}"
        )


def legal(network: Network, refusals: Sequence[str | None]) -> tuple[range, ...]:
    """Return all legal sections, the shortest first."""
    supported = next((at for at, why in enumerate(refusals) if why is not None), len(refusals))
    sections = (range(end) for end in range(1, supported + 1))
    return tuple(section for section in sections if is_single(network, section))


def _advice(network: Network, section: range, refusals: Sequence[str | None]) -> str:
    sections = legal(network, refusals)
    if not sections:
        return "the network has no legal section"
    nearest = min(sections, key=lambda candidate: abs(candidate.stop - section.stop))
    return f"the nearest legal section is {listed(network, nearest)}"
