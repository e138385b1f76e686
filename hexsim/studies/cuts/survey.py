"""Explain one cut of a network: its subnets, the reason and the price of each cut, the share of the
network on the HTA, and the cost of each refused layer.

The cost of a refused layer is the time that the inference would save if the HTA ran it, as a layer
that streams through the engine, and the compiler cut the network again.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.display import DisplayTable, Shown
from hexsim.graph.ir import Network
from hexsim.layers import Opaque, UserDefined
from hexsim.planning.sections import RULES
from hexsim.planning.sections.ids import id_of, listed
from hexsim.planning.subnet import Subnet
from hexsim.runtimes import Engine, Runtime
from hexsim.studies.cuts.prices import Prices, placed
from hexsim.texts.figures import figure
from hexsim.timing.results import Result

_FLOAT_BYTES = 4


@dataclass(frozen=True)
class TimedSubnet:
    """One subnet: `ids` of its first and last layer, and its time without its edges."""

    runtime: Runtime
    engine: Engine
    ids: str
    layers: tuple[str, ...]
    macs: int
    us: float


@dataclass(frozen=True)
class Cut:
    """The cut behind a layer: the tensors that cross it to the next subnet, and its price.

    `conversion_us` is the change of layout, or between floats and codes at the CPU; `dispatch_us`
    is the hand-over.
    """

    after: str
    after_id: int
    reason: str
    tensors: tuple[str, ...]
    bytes: int
    conversion_us: float
    dispatch_us: float


@dataclass(frozen=True)
class RefusedLayer:
    """A layer that runs on HVX because the HTA refuses it, and the time that this costs."""

    layer: str
    id: int
    type: str
    reason: str
    cost_us: float


@dataclass(frozen=True, repr=False)
class Survey(Shown):
    """One cut. Shares are of the network, 0 .. 1; `refused` are the costliest layers first.

    `hvx_us` is the inference with no section at all.
    """

    pieces: tuple[TimedSubnet, ...]
    cuts: tuple[Cut, ...]
    layer_share: float
    mac_share: float
    total_us: float
    hvx_us: float
    refused: tuple[RefusedLayer, ...]

    def display_table(self) -> DisplayTable:
        """Return a row per subnet."""
        times = f"{figure(self.total_us)} us, without HTA {figure(self.hvx_us)} us"
        rows = tuple(
            (piece.ids, piece.runtime, piece.engine, len(piece.layers), piece.macs, piece.us)
            for piece in self.pieces
        )
        return DisplayTable(
            f"{len(self.pieces)} subnets, {times}",
            ("ids", "runtime", "engine", "layers", "macs", "us"),
            rows,
            "us",
        )


def survey(prices: Prices, sections: Sequence[range]) -> Survey:
    """Explain the cut that some HTA sections make."""
    network = prices.times.network
    subnets = prices.cut(sections)
    spans = placed(subnets)
    on_hta = [at for engine, span in spans if engine == "hta" for at in span]
    macs = sum(network.macs(network.layers[at]) for at in on_hta)
    result = prices.simulated(sections)
    return Survey(
        pieces=tuple(
            _piece(network, subnet, span, result)
            for subnet, (_, span) in zip(subnets, spans, strict=True)
        ),
        cuts=tuple(_cut(prices, subnets, spans, at) for at in range(len(spans) - 1)),
        layer_share=len(on_hta) / max(1, len(network.layers)),
        mac_share=macs / max(1, network.total_macs),
        total_us=result.total_us,
        hvx_us=prices.simulated(()).total_us,
        refused=_refused(prices),
    )


def _piece(network: Network, subnet: Subnet, span: range, result: Result) -> TimedSubnet:
    names = tuple(layer.name for layer in subnet.layers)
    return TimedSubnet(
        subnet.runtime,
        subnet.engine,
        listed(network, span),
        names,
        sum(map(network.macs, subnet.layers)),
        sum(layer.us for layer in result.layers if layer.name in names),
    )


def _cut(
    prices: Prices, subnets: Sequence[Subnet], spans: Sequence[tuple[Engine, range]], at: int
) -> Cut:
    times, network = prices.times, prices.times.network
    (engine, span), (next_engine, next_span) = spans[at], spans[at + 1]
    inputs, _ = network.boundary(subnets[at + 1].layers)
    tensors = tuple(name for name in inputs if name not in network.inputs)
    if "cpu" in (engine, next_engine):
        size = _FLOAT_BYTES * sum(math.prod(network.shape(name)) for name in tensors)
        if next_engine == "cpu":
            conversion, dispatch = prices.leave_us(span, prices.subnet(engine, span).us)
        else:
            conversion, dispatch = prices.enter_us(next_span)
    else:
        layout = times.to_d32 if next_engine == "hvx" else times.from_d32
        conversion = sum(map(layout, tensors))
        dispatch = prices.subnet(next_engine, next_span).dispatch_us
        size = sum(map(times.bytes, tensors))
    return Cut(
        network.layers[span[-1]].name,
        id_of(network, span[-1]),
        _reason(prices, subnets[at], subnets[at + 1], span, next_span),
        tensors,
        size,
        conversion,
        dispatch,
    )


def _reason(prices: Prices, left: Subnet, right: Subnet, before: range, after: range) -> str:
    """Return why two subnets are separate: the layer that the other's engine refuses."""
    for subnet in (right, left):
        if subnet.engine == "cpu":
            nodes = [layer for layer in subnet.layers if isinstance(layer, Opaque | UserDefined)]
            types = dict.fromkeys(node.type for node in nodes)
            return f"{', '.join(types)}: {subnet.reason}" if types else subnet.reason
    why, layers = prices.times.refusals, prices.times.network.layers
    refused = after[0] if right.engine == "hvx" else before[-1]
    if why[refused] is None and prices.times.platform.stack.partitioning.rules == "1.23":
        return "the 1.23 rules end a section where one tensor leaves it"
    if why[refused] is None:
        return "the list of sections ends here" if right.engine == "hvx" else "a section is listed"
    return f"{layers[refused].type} '{layers[refused].name}': {why[refused]}"


def _refused(prices: Prices) -> tuple[RefusedLayer, ...]:
    network, why = prices.times.network, prices.times.refusals
    rules = RULES[prices.times.platform.stack.partitioning.rules]
    now = prices.total_us(rules.automatic(network, why))
    inside = {at for engine, span in placed(prices.cut(())) if engine != "cpu" for at in span}
    layers = []
    for at, reason in enumerate(why):
        if reason is not None and at in inside:
            sections = rules.automatic(network, (*why[:at], None, *why[at + 1 :]))
            layer = network.layers[at]
            cost = max(0.0, now - prices.total_us(sections))
            layers.append(RefusedLayer(layer.name, id_of(network, at), layer.type, reason, cost))
    return tuple(sorted(layers, key=lambda refused: -refused.cost_us))
