"""Explain a cut of a network, and find the fastest one.

The cost of a refused layer is the time that the inference would save if the HTA ran it, as a layer
that streams through the engine, and the compiler cut the network again.

The fastest cut is found by dynamic programming over all legal HTA sections. The best cut of the
first n layers ends with some subnet, after the best cut of the layers before it. A subnet's price
does not depend on its neighbours, so this finds the fastest of all cuts by the prices of
`hexsim.studies.cuts.prices`. It is then simulated, as are the compiler's cut and no cut at all, and
the fastest of the three is chosen. Under the rules of SNPE 1.23, which allow one section from the
first layer on, the best legal section is chosen.
"""

import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from hexsim.datasheets.quantity import Estimate
from hexsim.deployment import AtLoad, Deployment, deploy
from hexsim.deployment.findings import findings_of
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import precision_of
from hexsim.errors import HexsimError, spelled
from hexsim.graph.ir import Network
from hexsim.layers import Opaque, UserDefined
from hexsim.planning.plan import Subnet
from hexsim.planning.sections import (
    RULES,
    all_listed,
    automatic,
    from_ids,
    id_of,
    legal_singles,
    listed,
    parse,
)
from hexsim.quantization.model import Model
from hexsim.records import dataclass
from hexsim.results.partition import CpuLayer, Cut, FastestCut, Partition, RefusedLayer, TimedSubnet
from hexsim.runtimes import Engine, FileForm, Runtime
from hexsim.studies.cuts.prices import LayerTimes, Prices, placed
from hexsim.studies.inferences import time_errors
from hexsim.studies.remedies import remedied
from hexsim.studies.uncertainty import Times, swept
from hexsim.texts.fields import taken
from hexsim.timing.results import Result

Sections = tuple[range, ...]
_FLOAT_BYTES = 4
_CPU_COSTS = ("us", "to_cpu_us", "from_cpu_us")


def partition_of(
    model: Model,
    platform: Platform,
    runtime: Runtime,
    hta_partitions: str | None = None,
    perf_profile: str | None = None,
    *,
    searching: bool = False,
) -> Partition:
    """Return how a model is cut for a runtime; HexsimError for a wrong list.

    `hta_partitions` lists sections for the HTA; with `searching` the fastest ones are found too. A
    float model is quantised where the runtime refuses floats.
    """
    platform.chip.require(runtime)
    platform.stack.require(runtime)
    refuses = platform.load_rule(runtime, quantized=model.quantized).effect == "refuse"
    form: FileForm = "quantised here" if refuses else "float"
    form = "quantised file" if model.quantized else form
    if runtime != "aip":
        if refuses:
            model = AtLoad(model.network, platform, overrides=model.own_overrides).model
        deployment = deploy(model, platform, runtime)
        cut = of_engine(deployment, perf_profile)
        lost = findings_of(deployment, perf_profile)
        return replace(cut, findings=lost, precision=precision_of(deployment, form))
    deployment = Deployment(model, platform, runtime)
    sections, source = chosen_sections(deployment, hta_partitions)
    prices = Prices(LayerTimes(deployment, perf_profile))
    fastest = search(prices) if searching else None
    lost = findings_of(deployment, perf_profile)
    words = precision_of(deployment, form)
    cut = replace(survey(prices, sections), precision=words, sections=source)
    return replace(cut, search=fastest, findings=lost)


def chosen_sections(deployment: Deployment, listed: str | None) -> tuple[tuple[range, ...], str]:
    """Return the sections and, in words, their source: listed by the user, of the file, automatic.

    Raises HexsimError if the list breaks a rule or is for another chip.
    """
    model, platform = deployment.model, deployment.platform
    chip, release = platform.chip, platform.stack.partitioning
    if listed is not None:
        parsed = parse(listed)
        if parsed.asic not in ("", chip.name, *chip.part_numbers):
            raise HexsimError(
                f"{spelled('hta_partitions')} lists sections for {parsed.asic}, and the chip is "
                f"{chip.name}"
            )
        if parsed.ranges is not None:
            return from_ids(model, parsed.ranges, release), "as listed"
    compiled = compiled_sections(deployment)
    if compiled and listed is None:
        return compiled, "of the file"
    return automatic(model, release), "automatic, as the quantiser compiles them"


def compiled_sections(deployment: Deployment) -> tuple[range, ...]:
    """The sections that the model holds for the chip."""
    index = {layer.name: at for at, layer in enumerate(deployment.network.layers)}
    return tuple(
        range(index[section.layers[0]], index[section.layers[-1]] + 1)
        for section in deployment.model.hta
        if section.chip == deployment.platform.chip.name
    )


def survey(prices: Prices, sections: Sequence[range]) -> Partition:
    """Explain the cut that some HTA sections make."""
    network = prices.times.network
    subnets = prices.cut(sections)
    spans = placed(subnets)
    on_hta = [at for engine, span in spans if engine == "hta" for at in span]
    macs = sum(network.macs(network.layers[at]) for at in on_hta)
    result = prices.simulated(sections)
    platform = prices.times.platform
    return Partition(
        network=network.name,
        chip=platform.chip.name,
        stack=platform.stack.name,
        software=platform.software,
        rules=platform.stack.partitioning.rules,
        graph=network,
        pieces=tuple(
            _piece(network, subnet, span, result)
            for subnet, (_, span) in zip(subnets, spans, strict=True)
        ),
        cuts=tuple(_cut(prices, subnets, spans, at) for at in range(len(spans) - 1)),
        layer_share=len(on_hta) / max(1, len(network.layers)),
        mac_share=macs / max(1, network.total_macs),
        total_us=result.total_us,
        hvx_us=prices.simulated(()).total_us,
        expected_errors=time_errors(platform, "aip"),
        refused=_refused(prices),
        on_cpu=_cpu_layers(prices.times.deployment, subnets, result),
    )


def _piece(network: Network, subnet: Subnet, span: range, result: Result) -> TimedSubnet:
    names = tuple(layer.name for layer in subnet.layers)
    return TimedSubnet(
        runtime=subnet.runtime,
        engine=subnet.engine,
        ids=listed(network, span),
        layers=names,
        macs=sum(map(network.macs, subnet.layers)),
        us=sum(layer.us for layer in result.layers if layer.name in names),
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
        after=network.layers[span[-1]].name,
        after_id=id_of(network, span[-1]),
        reason=_reason(prices, subnets[at], subnets[at + 1], span, next_span),
        tensors=tensors,
        bytes=size,
        conversion_us=conversion,
        dispatch_us=dispatch,
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
    costs: dict[int, float] = {}
    for at, reason in enumerate(why):
        if reason is not None and at in inside:
            sections = rules.automatic(network, (*why[:at], None, *why[at + 1 :]))
            costs[at] = max(0.0, now - prices.total_us(sections))
    worst = sorted(costs, key=lambda at: -costs[at])
    return tuple(_refusal(network, at, why[at] or "", costs[at]) for at in worst)


def _refusal(network: Network, at: int, reason: str, cost_us: float) -> RefusedLayer:
    layer = network.layers[at]
    return RefusedLayer(
        layer=layer.name, id=id_of(network, at), type=layer.type, reason=reason, cost_us=cost_us
    )


def of_engine(deployment: Deployment, perf_profile: str | None) -> Partition:
    """Return the subnets of a runtime with one engine, and the layers that it leaves to the CPU."""
    network, platform, subnets = deployment.network, deployment.platform, deployment.subnets
    parts = list(zip(subnets, (span for _, span in placed(subnets)), strict=True))
    taken = [layer for part, _ in parts if not part.is_fallback for layer in part.layers]
    result = deployment.simulate(perf_profile=perf_profile)
    return Partition(
        network=network.name,
        chip=platform.chip.name,
        stack=platform.stack.name,
        software=platform.software,
        rules=platform.stack.partitioning.rules,
        runtime=deployment.runtime,
        graph=network,
        pieces=tuple(_piece(network, part, span, result) for part, span in parts),
        layer_share=len(taken) / max(1, len(network.layers)),
        mac_share=sum(map(network.macs, taken)) / max(1, network.total_macs),
        total_us=result.total_us,
        expected_errors=time_errors(platform, deployment.runtime),
        on_cpu=_cpu_layers(deployment, subnets, result),
    )


def _cpu_layers(
    deployment: Deployment, subnets: Sequence[Subnet], result: Result
) -> tuple[CpuLayer, ...]:
    """Return the layers that the engine leaves to the CPU, the costliest first.

    `subnets` are those of `result`.
    """
    network = deployment.network
    index = {layer.name: at for at, layer in enumerate(network.layers)}
    timed = {layer.name: layer for layer in remedied(deployment, result).layers}
    layers = [
        taken(
            CpuLayer,
            timed[layer.name],
            layer=layer.name,
            id=id_of(network, index[layer.name]),
            type=layer.op_type if isinstance(layer, Opaque) else layer.type,
            reason=timed[layer.name].cpu_reason,
            subnet=number,
            cost_us=sum(getattr(timed[layer.name], key) for key in _CPU_COSTS),
        )
        for number, subnet in enumerate(subnets)
        for layer in subnet.layers
        if timed[layer.name].cpu_reason
    ]
    return tuple(sorted(layers, key=lambda layer: -(layer.cost_us or 0.0)))


@dataclass(frozen=True)
class Simulated:
    """The times of the cuts that may be the fastest, simulated, in us: none is the empty one."""

    default: Sections
    times_us: Mapping[Sections, float]

    @property
    def best(self) -> Sections:
        """The fastest of them."""
        return min(self.times_us, key=lambda cut: (self.times_us[cut], len(cut)))


def fastest_of(prices: Prices) -> Simulated:
    """Simulate the compiler's cut, none, and the fastest by the sum of prices."""
    default = automatic(prices.times.model, prices.times.platform.stack.partitioning)
    cuts = ((), default, candidate(prices))
    return Simulated(default, {cut: prices.simulated(cut).total_us for cut in cuts})


def search(prices: Prices) -> FastestCut:
    """Find the fastest sections for a network on a platform, and how sure the gain is."""
    times, cut_times = prices.times, fastest_of(prices)
    default, best, times_us = cut_times.default, cut_times.best, cut_times.times_us

    def gain(changed: Platform) -> Times:
        changed_prices = prices.on(changed)
        ratio = changed_prices.simulated(default).total_us / changed_prices.simulated(best).total_us
        return Times(ratio, ratio)

    if best == default:
        low = high = 1.0
    else:
        doubt = swept(times.platform, gain, "tensor engine")
        low, high = doubt.low.total_us, doubt.high.total_us
    return FastestCut(
        best=all_listed(times.network, best),
        default=all_listed(times.network, default),
        sections=best,
        best_us=times_us[best],
        default_us=times_us[default],
        hvx_us=times_us[()],
        gain=Estimate(value=times_us[default] / times_us[best], low=low, high=high),
    )


def candidate(prices: Prices) -> Sections:
    """Return the fastest sections by the sum of prices."""
    times = prices.times
    if times.platform.stack.partitioning.rules == "1.23":
        legal = legal_singles(times.network, times.refusals)
        return min(((), *((section,) for section in legal)), key=prices.total_us)
    sections: list[range] = []
    for segment in [span for engine, span in placed(prices.cut(())) if engine == "hvx"]:
        sections.extend(_fastest(prices, segment))
    return tuple(sections)


def _fastest(prices: Prices, segment: range) -> list[range]:
    """Return the sections of the fastest cut of a segment of layers inside aip."""
    why = prices.times.refusals
    best: list[tuple[float, int, Engine]] = [(0.0, segment.start, "hvx")]
    for stop in range(segment.start + 1, segment.stop + 1):
        options: list[tuple[float, int, Engine]] = []
        is_legal = True
        for start in range(stop - 1, segment.start - 1, -1):
            is_legal = is_legal and why[start] is None
            before = best[start - segment.start][0]
            span = range(start, stop)
            options.append((before + prices.subnet("hvx", span).us, start, "hvx"))
            if is_legal:
                options.append((before + prices.subnet("hta", span).us, start, "hta"))
        best.append(min(options, key=lambda option: option[0]))
    uncut = prices.subnet("hvx", segment)
    if uncut.us - uncut.dispatch_us <= best[-1][0]:
        return []
    sections, stop = [], segment.stop
    while stop > segment.start:
        _, start, engine = best[stop - segment.start]
        if engine == "hta":
            sections.append(range(start, stop))
        stop = start
    return sections[::-1]
