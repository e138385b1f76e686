"""HTA sections: which runs of layers are compiled for the tensor engine of AIP.

A section is a range of layers by index. A layer that the engine refuses (`hta_refusal`) is in none:
rules for the layer alone are in `hexsim.layers.support`; activations have 8 bits, or 16 in later
releases, and weights 8 bits with one encoding per tensor (QNN HTA back end); the limits of a
release are the `hta_` entries of a stack's [partitioning] table.

The rules of SNPE 1.23: one section, from the first layer on, with one input and one output. Source:
SNPE 1.23 guide, AIP runtime: one HTA and one HNN subnet, a single input and output layer each, and
the HTA starts at the first layer.

The rules since SNPE 1.25: any number of sections, with any number of inputs and outputs. Automatic
sections are all runs of layers that the engine takes, because the SDK's compiler runs as much as
possible on it. A run without multiply-adds (pools and concats between refused layers) has no use
for a MAC array and stays on HVX; the SDK's own threshold is not published.

A user names sections by the ids of layers that `hexsim info` prints. As in snpe-dlc-info, the
network's inputs come first, so that the first layer of a network with one input has id 1. A list is
`0-11,15-20`, both ends included, optionally after the name of a chip or its part number:
`sm8150:0-20,40-60`; a name without a list selects automatic sections.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from hexsim.errors import HexsimError, spelled
from hexsim.graph.batches import as_nhwc
from hexsim.graph.ir import Layer, Network
from hexsim.layers import Softmax
from hexsim.layers.elementwise import Elementwise
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.float_layers import refusal_in
from hexsim.quantization.model import HtaSection, Model
from hexsim.records import dataclass

if TYPE_CHECKING:
    from hexsim.datasheets.stacks import Partitioning, PartitionRules

_WEIGHT_BITS = 8


def hta_refusal(layer: Layer, model: Model, release: Partitioning) -> str | None:
    """Return why the HTA refuses `layer` of `model` under `release`, None if it takes it."""
    network = model.network
    refused = refusal_in(model, layer, "hta") or _of_release(layer, network, release)
    if refused is None and model.quantized:
        refused = _of_encodings(layer, model, release)
    return refused


def _of_release(layer: Layer, network: Network, release: Partitioning) -> str | None:
    limit = release.hta_input_channels
    for name in layer.inputs:
        channels = as_nhwc(network.shape(name))[3]
        if limit is not None and name in network.inputs and channels > limit:
            return f"input '{name}' has {channels} channels and the HTA takes at most {limit}"
    constants = any(name in network.constants for name in layer.inputs)
    if isinstance(layer, Elementwise) and constants and not release.hta_constants:
        return "elementwise layers with a constant run on the HTA in later releases only"
    return None


def _of_encodings(layer: Layer, model: Model, release: Partitioning) -> str | None:
    for name in (*layer.inputs, *layer.outputs):
        encoding = model.activations.get(name)
        if encoding is not None and encoding.bitwidth not in release.hta_activation_bits:
            return f"activations of {encoding.bitwidth} bits do not run on the HTA of this release"
    weight = model.parameters.get(layer.parameters[0]) if layer.parameters else None
    if isinstance(weight, AxisEncoding):
        return "the HTA takes one weight encoding per tensor, not one per channel"
    if weight is not None and weight.bitwidth != _WEIGHT_BITS:
        return f"the HTA takes weights of {_WEIGHT_BITS} bits, not {weight.bitwidth}"
    return None


def taken_runs(refusals: Sequence[str | None]) -> tuple[range, ...]:
    """Return the maximal runs of layers that are not refused."""
    ranges = []
    for refused, run in groupby(range(len(refusals)), key=lambda at: refusals[at] is not None):
        indices = list(run)
        if not refused:
            ranges.append(range(indices[0], indices[-1] + 1))
    return tuple(ranges)


def multiplying_runs(network: Network, refusals: Sequence[str | None]) -> tuple[range, ...]:
    """Return the maximal runs of layers that are not refused and multiply."""
    return tuple(
        run for run in taken_runs(refusals) if any(network.macs(network.layers[at]) for at in run)
    )


_RANGE = r"\d{1,9}+(?:-\d{1,9}+)?+"
_LIST = re.compile(rf"(?:([A-Za-z]\w*+):)?+({_RANGE}(?:,{_RANGE})*+)?")


@dataclass(frozen=True)
class Listed:
    """One list: ids of first and last layer of each section, None for automatic sections.

    `asic` is the chip or part number in it, "" if there is none.
    """

    asic: str
    ranges: tuple[tuple[int, int], ...] | None


def parse(text: str) -> Listed:
    """Read one list; HexsimError if the text is not a list."""
    match = _LIST.fullmatch(re.sub(r"\s", "", text))
    if match is None or not any(match.groups()):
        raise HexsimError(
            f"{spelled('hta_partitions')} '{text}' is not a list of layer ids; write '0-11,15-20', "
            "'sm8150:0-20,40-60', or 'sm8150:' for automatic sections"
        )
    asic, ids = match.groups()
    if ids is None:
        return Listed(asic.lower(), None)
    pairs = [part.partition("-") for part in ids.split(",")]
    ranges = tuple((int(first), int(last or first)) for first, _, last in pairs)
    for first, last in ranges:
        if first > last:
            raise HexsimError(
                f"{spelled('hta_partitions')} '{text}' has the section {first}-{last}, which ends "
                f"before it starts; write {last}-{first}"
            )
    return Listed((asic or "").lower(), ranges)


def id_of(network: Network, index: int) -> int:
    """Return the id of the layer at an index."""
    return len(network.inputs) + index


def listed(network: Network, section: range) -> str:
    """Return the section as a user writes it."""
    first, last = id_of(network, section[0]), id_of(network, section[-1])
    return f"{first}-{last}" if first != last else f"{first}"


def all_listed(network: Network, sections: Sequence[range]) -> str:
    """Return sections as `parse` reads them, "" if there are none."""
    return ",".join(listed(network, section) for section in sections)


def named(network: Network, index: int) -> str:
    """Return a layer's name and id for a message."""
    return f"layer '{network.layers[index].name}' (id {id_of(network, index)})"


def is_single(network: Network, section: range) -> bool:
    """Tell whether the section has exactly one input and one output."""
    inputs, outputs = network.boundary(network.layers[section.start : section.stop])
    return len(inputs) == len(outputs) == 1


def longest_single(network: Network, refusals: Sequence[str | None]) -> tuple[range, ...]:
    """Return the longest legal section, or nothing."""
    return legal_singles(network, refusals)[-1:]


def require_single(
    network: Network, sections: Sequence[range], refusals: Sequence[str | None]
) -> None:
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


def legal_singles(network: Network, refusals: Sequence[str | None]) -> tuple[range, ...]:
    """Return all sections that the rules of SNPE 1.23 allow, the shortest first."""
    supported = next((at for at, why in enumerate(refusals) if why is not None), len(refusals))
    sections = (range(end) for end in range(1, supported + 1))
    return tuple(section for section in sections if is_single(network, section))


def _advice(network: Network, section: range, refusals: Sequence[str | None]) -> str:
    sections = legal_singles(network, refusals)
    if not sections:
        return "the network has no legal section"
    nearest = min(sections, key=lambda candidate: abs(candidate.stop - section.stop))
    return f"the nearest legal section is {listed(network, nearest)}"


@dataclass(frozen=True)
class SectionInfo:
    """One HTA section: `ids` of its first and last layer, its inputs and outputs.

    `mac_share` is its share of the network's MACs, 0 .. 1; `record_bytes` its size in the file.
    """

    chip: str
    ids: str
    first: str
    last: str
    layers: int
    macs: int
    mac_share: float
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    record_bytes: int


def hta_sections(model: Model) -> list[SectionInfo]:
    """Return the HTA sections of `model`, those of each chip in the order of the layers."""
    if not model.quantized:
        return []
    return [_section(section, model.network) for section in model.hta]


def _section(section: HtaSection, network: Network) -> SectionInfo:
    index = {layer.name: at for at, layer in enumerate(network.layers)}
    first, last = index[section.layers[0]], index[section.layers[-1]]
    layers = network.layers[first : last + 1]
    inputs, outputs = network.boundary(layers)
    macs = sum(map(network.macs, layers))
    return SectionInfo(
        chip=section.chip,
        ids=listed(network, range(first, last + 1)),
        first=layers[0].name,
        last=layers[-1].name,
        layers=len(layers),
        macs=macs,
        mac_share=macs / max(1, network.total_macs),
        inputs=inputs,
        outputs=outputs,
        record_bytes=len(section.record),
    )


_SOFTMAX_FIRST = "a softmax cannot be the first layer on the HTA"

Refusals = tuple[str | None, ...]
"""For each layer in order, why the HTA refuses it; None if it does not."""


@dataclass(frozen=True)
class SectionRules:
    """One generation of partition rules.

    `automatic` returns the sections with the largest coverage. `check` raises HexsimError for a
    section that breaks a rule; None if the rules have no limits.
    """

    automatic: Callable[[Network, Refusals], tuple[range, ...]]
    check: Callable[[Network, Sequence[range], Refusals], None] | None


RULES: Mapping[PartitionRules, SectionRules] = {
    "1.23": SectionRules(longest_single, require_single),
    "1.25+": SectionRules(multiplying_runs, None),
}


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
    if check := RULES[release.rules].check:
        check(network, sections, refusals_by_layer)
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
    taken = taken_runs(refusals_by_layer)
    inside = [range(max(r.start, section.start), min(r.stop, section.stop)) for r in taken]
    nearest = max(inside, key=len, default=range(0))
    if not nearest and taken:
        nearest = min(taken, key=lambda run: abs(run.start - section.start))
    advice = (
        f"the nearest legal section is {listed(network, nearest)}"
        if nearest
        else ("no other layer of the network can either")
    )
    raise HexsimError(
        f"the section {listed(network, section)} holds {named(network, refused)}, which cannot run "
        f"on the HTA ({refusals_by_layer[refused]}); {advice}"
    )
